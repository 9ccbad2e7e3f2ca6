"""Shared by the reliability tests: what lies in a folder of traces and indexes, and whether it may lie there."""
import json
import os
import sqlite3
import subprocess
from pathlib import Path

from trace_cases import equal, make_trace, open_index, program, require, run

OWN_SUFFIXES = (".lock", ".partial", "-journal", "-wal", "-shm")


def leftovers(folder):
    """Names of whatever a run must not leave behind."""
    return sorted(path.name for path in Path(folder).rglob("*")
                  if path.name.endswith(OWN_SUFFIXES) or path.name.startswith(".tracedb-spool"))


def kernels(index):
    """The number of kernels of a sound, finished index; AssertionError if it is not one."""
    try:
        database = open_index(index)
        equal(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", f"{index.name}: integrity_check")
        complete = database.execute("SELECT value FROM meta WHERE key = 'complete'").fetchone()
        require(complete is not None, f"{index.name}: published before it was finished")
        count = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
        database.close()
    except sqlite3.Error as error:
        raise AssertionError(f"{index.name}: {error}") from error
    return count


def trace_file(path, steps=3, *options):
    """A synthetic trace, without the ground truth beside it."""
    make_trace(path, "--steps", steps, "--truth", os.devnull, *options)
    return path


def ingest_command(*arguments):
    return [program("trace-ingest"), *map(str, arguments)]


def start(*arguments, **options):
    return subprocess.Popen(ingest_command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)


def run_any(*arguments, code=None, **options):
    """Runs trace-ingest, which may end with any code if none is given; output as text, whatever bytes are in it."""
    return run("trace-ingest", *arguments, check=code is not None, code=code, errors="replace", **options)


# Issues that say something about the run rather than about damage.
ORDINARY = {"unmatched_flow", "unknown_device", "kernel_without_launch", "kernel_without_step", "python_parent_missing"}


def told_of_events(index):
    """(events read, events stored, {issue: (count, offset, sample)}, whether the trace is complete); all events are accounted for."""
    database = open_index(index)
    equal(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity_check")
    sums = "coalesce(sum(read), 0), coalesce(sum(stored), 0), coalesce(sum(skipped), 0)"
    read, stored, skipped = database.execute(f"SELECT {sums} FROM event_count").fetchone()
    equal(stored + skipped, read, "events accounted for")
    issues = {kind: (count, offset, sample or "") for kind, count, offset, sample in
              database.execute("SELECT kind, count, offset, sample FROM issue") if kind not in ORDINARY}
    return read, stored, issues, database.execute("SELECT value FROM meta WHERE key = 'complete'").fetchone()[0] == "1"


def read_summary(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_name(summary):
    return {Path(record["path"]).name: record for record in summary}


def closing_line(stderr):
    """{"built": 3, ...} of the last line of a batch."""
    parts = stderr.splitlines()[-1].rsplit(" in ", 1)[0].split(", ")
    return {part.split()[1]: int(part.split()[0]) for part in parts}
