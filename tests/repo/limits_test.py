#!/usr/bin/env python3
"""Checks the sizes of files, and that no mark of unfinished work is left.

Usage: limits_test.py REPOSITORY
"""
import pathlib
import re
import sys

FOLDERS = ("src", "tools", "schema", "tests", "benchmarks")
MOST_LINES = 600
MOST_BYTES = 1_000_000
# Written so that this file does not find itself.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def problems_of(path):
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        yield f"{len(content)} bytes, more than {MOST_BYTES}"
    if b"\0" in content or path.suffix in (".gz", ".zst"):
        return
    if path.name == "package-lock.json":  # written by npm
        return
    lines = content.decode("utf-8", errors="replace").split("\n")
    if len(lines) - 1 > MOST_LINES:
        yield f"{len(lines) - 1} lines, more than {MOST_LINES}"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"line {number}: a mark of unfinished work"


def main():
    root = pathlib.Path(sys.argv[1])
    problems = [f"{path.relative_to(root)}: {problem}" for path in sources(root) for problem in problems_of(path)]
    print("\n".join(problems) or "all files are within the limits")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
