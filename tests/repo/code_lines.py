#!/usr/bin/env python3
"""Prints how much code there is, by room: lines that are neither blank nor comment, and C++ files.

Usage: code_lines.py REPOSITORY
"""
import collections
import pathlib
import sys

FOLDERS = ("src", "tools", "tests", "schema", "benchmarks")
SLASHES = (".cc", ".h", ".js", ".css")  # // and /* */; the others have # or --
COMMENTS = {**dict.fromkeys(SLASHES, "//"), ".py": "#", ".sh": "#", ".cmake": "#", ".sql": "--"}


def code_lines(path):
    count, in_comment = 0, False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        text = line.strip()
        if in_comment:
            in_comment = "*/" not in text
        elif path.suffix in SLASHES and text.startswith("/*"):
            in_comment = "*/" not in text
        else:
            count += bool(text) and not text.startswith(COMMENTS[path.suffix])
    return count


def main():
    root = pathlib.Path(sys.argv[1])
    lines, files = collections.Counter(), collections.Counter()
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in COMMENTS and "__pycache__" not in path.parts:
                parts = path.relative_to(root).parts
                for room in {folder, "/".join(parts[:2]) if len(parts) > 2 else folder}:
                    lines[room] += code_lines(path)
                    files[room] += path.suffix in (".cc", ".h")
    print(" lines files  room")
    for room in sorted(lines):
        print(f"{lines[room]:6} {files[room]:5}  {room}")
    both = ("src", "tools")
    print(f"{sum(lines[room] for room in both):6} {sum(files[room] for room in both):5}  src + tools")


if __name__ == "__main__":
    main()
