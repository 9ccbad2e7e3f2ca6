"""Outputs stored as files: compared as a whole, and written anew with --update."""
import difflib
import itertools

from trace_cases import require

SHOWN = 12  # lines of a difference


def check_stored(path, text):
    require(path.exists(), f"{path} does not exist: run this file with --update")
    expected = path.read_text(encoding="utf-8")
    lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "printed", lineterm="", n=0)
    require(text == expected, "the output changed (--update writes it anew):\n" + "\n".join(itertools.islice(lines, SHOWN)))


def store(folder, found):
    """Writes {file name: text}."""
    folder.mkdir(exist_ok=True)
    for name, text in found.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"wrote {len(found)} files to {folder}")
