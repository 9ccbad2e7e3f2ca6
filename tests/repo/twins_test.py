#!/usr/bin/env python3
"""Checks that no two places of src and tools share more than ten lines of code, also with other names and numbers.
Rows of tables and lists of calls without arguments do not count: they differ in nothing but names, numbers and texts.

Usage: twins_test.py REPOSITORY
"""
import collections
import pathlib
import re
import sys

MOST_LINES = 10
# Lists of members and of enumerators look alike without being copies: code calls something in at least this many lines.
FEWEST_CALLS = 4
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\d[\w.\']*|\S')
KEYWORDS = set("if else for while do return const auto static struct class namespace switch case break continue using enum "
               "template typename try catch throw new delete public private".split())
COMMENT = re.compile(r"//.*")
ONLY_BRACKETS = re.compile(r"[{}()\[\];,]*")
ROW_OF_TABLE = re.compile(r'\{?".*')
BARE_CALL = re.compile(r"[\w.]+\(\);")


def shape_of(line):
    """The line with every name, number and text replaced by a mark of its sort."""
    def mark(token):
        if token[0] == '"':
            return '"'
        if token[0].isdigit():
            return "0"
        return token if token in KEYWORDS or not re.match(r"[A-Za-z_]", token) else "a"
    return " ".join(mark(token) for token in TOKEN.findall(line))


def code_lines(text):
    """(line number, shape) of the lines that hold code."""
    for number, line in enumerate(text.splitlines(), 1):
        line = COMMENT.sub("", line).strip()
        if line and not line.startswith("#") and not any(
                rule.fullmatch(line) for rule in (ONLY_BRACKETS, ROW_OF_TABLE, BARE_CALL)):
            yield number, shape_of(line)


def find_twins(files):
    """One problem per pair of places whose next MOST_LINES + 1 lines of code have the same shapes."""
    length = MOST_LINES + 1
    places = collections.defaultdict(list)
    for name, lines in files.items():
        for start in range(len(lines) - length + 1):
            shapes = tuple(shape for _, shape in lines[start:start + length])
            if sum("(" in shape for shape in shapes) >= FEWEST_CALLS:
                places[shapes].append((name, start))
    pairs = {(one, other) for group in places.values() for one in group for other in group
             if one < other and not (one[0] == other[0] and other[1] - one[1] < length)}
    for one, other in sorted(pairs):
        if ((one[0], one[1] - 1), (other[0], other[1] - 1)) not in pairs:
            yield " and ".join(f"{name}:{files[name][start][0]}" for name, start in (one, other)) + \
                f" share more than {MOST_LINES} lines of code"


def main():
    root = pathlib.Path(sys.argv[1])
    files = {path.relative_to(root).as_posix(): list(code_lines(path.read_text(encoding="utf-8")))
             for folder in ("src", "tools") for path in sorted((root / folder).rglob("*")) if path.suffix in (".cc", ".h")}
    problems = list(find_twins(files))
    print("\n".join(problems) or "no two places share code")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
