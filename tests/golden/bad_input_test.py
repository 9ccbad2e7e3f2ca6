"""What is no trace is refused with one line that names the file and the reason, exit 3, and leaves nothing behind;
a trace without events is a valid index that says so."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, Skip, equal, open_index, program, require, run, scratch_folder  # noqa: E402

NOBODY = 65534

# File name, content, a word of the reason that must be in the message.
REFUSED = [
    ("text.json", b"this is not a trace\n", "JSON"),
    ("number.json", b"42\n", "JSON|trace|events"),
    ("binary.json", bytes(range(256)) * 16, "JSON"),
    ("empty.json", b"", "empty"),
    ("blank.json", b" \n\n", "empty|JSON"),
    ("lfs_pointer.json.gz", b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
     "LFS"),
    ("page.json", b"<!DOCTYPE html>\n<html><body>404 not found</body></html>\n", "HTML"),
    ("page_lower.json", b"\n  <html><head></head></html>", "HTML"),
]

WITHOUT_EVENTS = [
    ("no_events.json", b'{"schemaVersion": 1, "traceEvents": []}'),
    ("empty_array.json", b"[]"),
    ("empty_object.json", b"{}"),
    ("null_events.json", b'{"traceEvents": null}'),
]


def refuse(path, reason, folder, command=None):
    """Runs trace-ingest on something that is no trace, as users do: the index would go beside it."""
    before = sorted(os.listdir(folder))
    result = subprocess.run([*(command or [program("trace-ingest")]), "-q", str(path)],
                            capture_output=True, text=True, timeout=60)
    equal(result.returncode, 3, "exit code")
    equal(result.stdout, "", "standard output")
    lines = result.stderr.splitlines()
    equal(len(lines), 1, f"lines on stderr ({result.stderr!r})")
    require(path.name in lines[0], f"the message does not name the file: {lines[0]!r}")
    require(any(word.lower() in lines[0].lower() for word in reason.split("|")),
            f"the message does not say why ({reason}): {lines[0]!r}")
    equal(sorted(os.listdir(folder)), before, "files in the folder")


def refuse_content(name, content, reason):
    with scratch_folder() as folder:
        (folder / name).write_bytes(content)
        refuse(folder / name, reason, folder)


def refuse_directory():
    """A folder without traces in it: named as input, there is nothing to ingest."""
    with scratch_folder() as folder:
        (folder / "nothing.json").mkdir()
        refuse(folder / "nothing.json", "no trace|directory|folder", folder)


def refuse_missing():
    with scratch_folder() as folder:
        refuse(folder / "absent.json", "no such file|not found|does not exist", folder)


def refuse_unreadable():
    command = None
    if os.geteuid() == 0:  # root reads everything: become somebody else
        if not shutil.which("setpriv"):
            raise Skip("root can read every file, and setpriv is not installed")
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", program("trace-ingest")]
        if subprocess.run([*command, "--help"], capture_output=True).returncode != 0:
            raise Skip("the programs cannot be run as another user from where they are")
    with scratch_folder() as folder:
        folder.chmod(0o777)
        (folder / "secret.json").write_bytes(b'{"traceEvents": []}')
        (folder / "secret.json").chmod(0)
        refuse(folder / "secret.json", "permission", folder, command)


def accept_without_events(name, content):
    with scratch_folder() as folder:
        (folder / name).write_bytes(content)
        run("trace-ingest", "-q", folder / name)
        database = open_index(folder / f"{name}.tracedb")
        equal(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity_check")
        equal(database.execute("SELECT count(*) FROM kernel").fetchone()[0], 0, "kernels")
        issues = [row[0] for row in database.execute("SELECT kind FROM issue")]
        database.close()
        require(any("event" in kind for kind in issues), f"no issue says that there are no events: {issues}")
        for command in ("info", "kernels", "memcpys", "issues"):
            run("trace-query", command, folder / name)


def main():
    cases = Cases()
    for name, content, reason in REFUSED:
        cases.run(f"refused {name}", refuse_content, name, content, reason)
    cases.run("refused directory", refuse_directory)
    cases.run("refused missing", refuse_missing)
    cases.run("refused unreadable", refuse_unreadable)
    for name, content in WITHOUT_EVENTS:
        cases.run(f"without events {name}", accept_without_events, name, content)
    cases.finish()


if __name__ == "__main__":
    main()
