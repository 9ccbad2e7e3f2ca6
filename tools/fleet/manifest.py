#!/usr/bin/env python3
"""What became of each trace of a night: manifest.py LIST RECORDS [-o FOLDER]

LIST is the list that was submitted, RECORDS the folder that ingest_task.py wrote to. Every trace of LIST has one line in
FOLDER/manifest.jsonl: done, retry (its last attempt may be repeated), missing (no record: its node or its task died), failed
or skipped, with its index, node, attempts and error. FOLDER/retry.txt lists those to submit again, failed.txt those
for which that is no use. FOLDER is RECORDS/.. by default.

Exit: 0 all done or skipped; 6 there is something to submit again; 3 the rest failed.
"""
import argparse
import collections
import json
import os
import sys
from pathlib import Path

DONE, INPUT, TRANSIENT = 0, 3, 6


def read_records(folder):
    """{path: its records}; files that begin with a dot are unfinished."""
    records = collections.defaultdict(list)
    for file in sorted(folder.glob("[!.]*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            records[record["path"]].append(record)
    return records


def entry_of(trace, records):
    """The last that was done, else the last of all. An index that was removed since is missing again."""
    if not records:
        return {"path": trace, "outcome": "missing", "attempts": 0, "error": "no record of it: its node or its task died"}
    in_order = sorted(records, key=lambda record: record["time"])
    done = [record for record in in_order if record["outcome"] == "done"]
    entry = {**(done or in_order)[-1], "attempts": len(records)}
    if done and not os.path.isfile(entry["index"]):
        entry.update(outcome="missing", error=f"its index is gone: {entry['index']}")
    return entry


def write(path, text):
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8", errors="surrogateescape")
    os.replace(unfinished, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("records", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    folder = arguments.output or arguments.records.resolve().parent
    traces = dict.fromkeys(os.fsdecode(line) for line in arguments.list.read_bytes().split(b"\n") if line)
    records = read_records(arguments.records)
    entries = [entry_of(trace, records.get(trace, ())) for trace in traces]
    write(folder / "manifest.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries))
    for name, outcomes in (("retry.txt", ("retry", "missing")), ("failed.txt", ("failed",))):
        write(folder / name, "".join(entry["path"] + "\n" for entry in entries if entry["outcome"] in outcomes))
    counts = collections.Counter(entry["outcome"] for entry in entries)
    parts = [f"{counts[outcome]} {outcome}" for outcome in ("done", "retry", "missing", "failed", "skipped")]
    print(f"{len(entries)} traces: {', '.join(parts)}")
    sys.exit(TRANSIENT if counts["retry"] + counts["missing"] else INPUT if counts["failed"] else DONE)


if __name__ == "__main__":
    main()
