#!/usr/bin/env python3
"""Checks what `trace-query schema` says: every table, view and column has a comment, and every table, view and column
that a comment names exists; and that what indexes hold of the schema changes with its version alone.

Usage: schema_test.py TRACE_QUERY
"""
import csv
import hashlib
import pathlib
import re
import subprocess
import sys

POINTER = re.compile(r"\bids? in (\w+)(?: and (\w+))?")
DOTTED = re.compile(r"\b([a-z]\w+)\.([a-z]\w+)\b")
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of each version of the index, what the scripts hash to that an index holds: an index with any other text, if only of a comment, is
# refused, so that a change of them needs a new version. packed.sql is free to change: no index holds it.
STORED = {7: "dd46f6be74a48d7b"}
NOT_OURS = {"src", "tools", "column_codec", "e", "nn", "trace"}  # of paths, abbreviations and names of the trace


def problems(rows):
    objects = {row["Object"] for row in rows}
    columns = {(row["Object"], row["Column"]) for row in rows}
    for row in rows:
        place = f"{row['Object']}.{row['Column']}".rstrip(".")
        comment = row["Comment"].strip()
        if not comment:
            yield f"{place}: has no comment"
        for match in POINTER.finditer(comment):
            for name in filter(None, match.groups()):
                if name not in objects and name not in ("kernels,",):
                    yield f"{place}: there is no table or view {name} ({comment!r})"
        for name, member in DOTTED.findall(comment):
            known = name not in objects or (name, member) in columns or name == "meta"
            if not known and name not in NOT_OURS:
                yield f"{place}: {name} has no column {member} ({comment!r})"


def unlisted(rows):
    """Columns that a script of a report declares and `schema` does not list."""
    listed = {}
    for row in rows:
        if row["Type"] == "report" and row["Column"]:
            listed.setdefault(row["Object"], []).append(row["Column"])
    for path in sorted((ROOT / "schema/reports").glob("*.sql")):
        declared = re.findall(r"^-- column: (\w+)", path.read_text(encoding="utf-8"), re.M)
        if declared and declared not in listed.values():
            yield f"{path.name}: no report that `schema` lists has its columns; see tools/trace_query/command.h"


def of_another_version():
    version = int(re.search(r"kSchemaVersion = (\d+)", (ROOT / "src/index/index.h").read_text(encoding="utf-8"))[1])
    texts = b"".join((ROOT / "schema" / name).read_bytes() for name in ("core.sql", "indexes.sql", "views.sql"))
    if hashlib.sha256(texts).hexdigest()[:16] != STORED.get(version):
        yield f"core.sql, indexes.sql or views.sql is not that of version {version}: indexes of that version would be refused"


def main():
    text = subprocess.run([sys.argv[1], "schema", "--csv"], capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(text.splitlines()))
    found = sorted({*problems(rows), *unlisted(rows), *of_another_version()})
    print("\n".join(found) or f"{len(rows)} comments name what there is")
    return 1 if found or len(rows) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
