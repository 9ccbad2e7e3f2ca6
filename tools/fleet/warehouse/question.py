#!/usr/bin/env python3
"""Prints a query of the warehouse with its parameters filled in, for a client of any version:

    question.py queries/regressions.sql job=llama phase=decode since=2026-11-20 ratio=1.05 | clickhouse-client

A current ClickHouse fills them in itself: clickhouse-client --param_job=llama ... --queries-file queries/regressions.sql
"""
import datetime
import re
import sys
from pathlib import Path

PARAMETER = re.compile(r"\{(\w+):(\w+)\}")


def literal(kind, text):
    """The value as SQL; ValueError if it is none of its type."""
    if kind == "Date":
        return f"toDate('{datetime.date.fromisoformat(text)}')"
    if kind == "Float64":
        return repr(float(text))
    if kind == "String":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    raise ValueError(f"parameters of type {kind} are not known")


def fill_in(sql, values):
    """ValueError where a parameter has no value, a wrong one, or is none of the query's."""
    kinds = dict(PARAMETER.findall(sql))
    if set(kinds) != set(values):
        raise ValueError(f"the query has the parameters {', '.join(kinds) or 'none'}, given: {', '.join(values) or 'none'}")
    literals = {name: literal(kind, values[name]) for name, kind in kinds.items()}
    return PARAMETER.sub(lambda match: literals[match[1]], sql)


def main():
    if len(sys.argv) < 2 or any("=" not in word for word in sys.argv[2:]):
        sys.exit("usage: question.py QUERY.sql [NAME=VALUE]...")
    try:
        values = dict(word.split("=", 1) for word in sys.argv[2:])
        print(fill_in(Path(sys.argv[1]).read_text(encoding="utf-8"), values))
    except (OSError, ValueError) as error:
        print(f"question: {sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
