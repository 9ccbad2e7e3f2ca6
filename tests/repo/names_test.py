#!/usr/bin/env python3
"""Checks that files named in documents and in comments exist: both outlive a renaming otherwise. That no two headers
define a type of one name: the linker would keep the functions of one for both. And that templates of a sentence between
which a condition chooses have places for the same figures: the one that is chosen seldom fails where a user is.

Usage: names_test.py REPOSITORY
"""
import pathlib
import re
import sys

FOLDERS = ("src", "tools", "schema", "tests", "benchmarks")
# `src/a/b.h` in a document: a path from the top, no pattern.
PATH = re.compile(r"`((?:" + "|".join(FOLDERS) + r"|\.ci|\.github)/[\w./-]+)`")
# (base/error.h), see error.h: in a comment of C++ or SQL. Headers of others are in angle brackets or known.
HEADER = re.compile(r"(?<![\w.<*-])((?:\w+/)*\w+\.h)\b")
COMMENT = re.compile(r"(?://|--)\s(.*)")
OF_OTHERS = {"sqlite3.h", "sqlite3ext.h", "simdjson.h", "transformer.h"}  # the last one is a module of a model
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TEXT = r'((?:"(?:\\.|[^"\\])*"\s*)+)'
CHOICE = re.compile(rf"\?\s*{TEXT}:\s*{TEXT}")
PLACEHOLDER = re.compile(r"[A-Z]{4,}")  # src/report/render_NAME.cc


def documents(root):
    yield from sorted(root.glob("*.md"))
    yield from sorted((root / ".github").glob("*.md"))
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.md"))


def names_in_documents(root):
    for path in documents(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in PATH.findall(line):
                if not PLACEHOLDER.search(name) and not (root / name).exists():
                    yield path, number, name


def names_in_comments(root):
    headers = {path.relative_to(root).as_posix() for folder in FOLDERS for path in (root / folder).rglob("*.h")}
    for folder in ("src", "tools", "schema"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cc", ".h", ".sql"):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                comment = COMMENT.search(line)
                for name in HEADER.findall(comment[1]) if comment else ():
                    if name not in OF_OTHERS and not any(f"/{known}".endswith(f"/{name}") for known in headers):
                        yield path, number, name


def types_of_one_name(root):
    """(name, files) of types that several headers define in one namespace; make-trace is a program without the library."""
    found = {}
    for folder in ("src", "tools/shared", "tools/trace_query", "tools/trace_ingest", "tools/sqlite_extension", "tests/support"):
        for path in sorted((root / folder).rglob("*.h")):
            text = path.read_text(encoding="utf-8")
            for name in TYPE.findall(text):
                found.setdefault((*NAMESPACE.findall(text), name), []).append(path.relative_to(root).as_posix())
    return [(key[-1], files) for key, files in found.items() if len(files) > 1]


def choices_of_other_figures(root):
    for path in sorted((root / "src").rglob("*.cc")):
        text = path.read_text(encoding="utf-8")
        for choice in CHOICE.finditer(text):
            first, second = (set(re.findall(r"\{([a-z_]+)", template)) for template in choice.groups())
            if first != second:
                yield path, 1 + text.count("\n", 0, choice.start()), first ^ second


def main():
    root = pathlib.Path(sys.argv[1])
    problems = [f"{path.relative_to(root)}:{number}: there is no {name}"
                for path, number, name in (*names_in_documents(root), *names_in_comments(root))]
    problems += [f"{' and '.join(files)} define {name}" for name, files in types_of_one_name(root)]
    problems += [f"{path.relative_to(root)}:{line}: only one of two templates has {names}" for path, line, names in choices_of_other_figures(root)]
    print("\n".join(problems) or "all named files exist, and no type is defined twice")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
