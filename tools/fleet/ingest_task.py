#!/usr/bin/env python3
"""One task of an array job: ingests its part of a list of traces, and records what became of each.

    ingest_task.py --task N [--chunk 1] [--attempt 0] LIST RECORDS [-- OPTIONS OF trace-ingest]

LIST has one path a line; task N takes lines N * chunk + 1 to (N + 1) * chunk. RECORDS is a folder that all tasks share:
each attempt writes one file, a JSON line for each trace. Indexes lie beside the traces, or in --index-dir; with
--scratch they are built on a local disk and copied there. A trace whose index is valid costs a look at it, so the whole
list may be submitted again at any time. manifest.py tells what is left.

Exit: 0 all done; 5 disk, memory or permission, and 6 try again: requeue the task; anything else: do not. After
--attempts attempts a task that would be requeued exits with 1; its traces stay in the list of those to retry.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DONE, RESOURCE, TRANSIENT, GAVE_UP, INPUT = 0, 5, 6, 1, 3
REQUEUED = (RESOURCE, TRANSIENT)
OLD_SECONDS = 24 * 3600  # no task takes that long: who made it is dead


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("records", type=Path)
    parser.add_argument("--task", type=int, required=True, help="number of this task, from 0")
    parser.add_argument("--chunk", type=int, default=1, help="traces a task (1)")
    parser.add_argument("--attempt", type=int, default=0, help="how often the task was requeued")
    parser.add_argument("--attempts", type=int, default=4, help="give up after so many (4)")
    parser.add_argument("--run", default=f"{socket.gethostname()}.{os.getpid()}", help="names the submission in RECORDS")
    parser.add_argument("--index-dir", type=Path, help="folder for the indexes (beside the traces)")
    parser.add_argument("--scratch", type=Path, help="build on this local disk, then copy")
    argv = sys.argv[1:]
    split = argv.index("--") if "--" in argv else len(argv)
    arguments = parser.parse_args(argv[:split])
    arguments.options = argv[split + 1:]
    if arguments.task < 0 or arguments.chunk < 1:
        parser.error("--task counts from 0, --chunk is at least 1")
    return arguments


def traces_of_task(arguments):
    lines = [line for line in arguments.list.read_bytes().split(b"\n") if line]
    first = arguments.task * arguments.chunk
    return [os.fsdecode(line) for line in lines[first:first + arguments.chunk]]


def environment():
    """Without a home: an index must not end in the cache folder of whichever node the task ran on."""
    return {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "TRACEDB_CACHE_DIR")}


def path_of(line, field="path"):
    """The bytes of a name that is no UTF-8 stand beside its text."""
    return os.fsdecode(bytes.fromhex(line[f"{field}_hex"])) if f"{field}_hex" in line else line[field]


def ingest(traces, directory, options):
    """The exit code of trace-ingest and the summary by trace; a killed program leaves lines out or half written. No file
    of its own, which a killed task would leave behind."""
    with os.fdopen(os.memfd_create("summary"), "rb") as summary:
        command = ["trace-ingest", "--files-from", "-", "--summary", f"/proc/self/fd/{summary.fileno()}", "--progress", "never", *options]
        if directory:
            command += ["--index-dir", directory]
        chunk = b"".join(os.fsencode(trace) + b"\n" for trace in traces)
        code = subprocess.run(command, input=chunk, env=environment(), pass_fds=[summary.fileno()], check=False).returncode
        lines = [json.loads(text) for text in summary.read().split(b"\n")[:-1]]
    return 128 - code if code < 0 else code, {path_of(line): line for line in lines}


def record_of(trace, line, program_code):
    """Outcome done, retry, failed, or skipped: a file that need not be read, such as a second form of a run."""
    if line is None or line["error"] == "interrupted":
        killed = program_code >= 128
        error = f"trace-ingest ended with {program_code}" + ("" if killed else " and left this trace out")
        return {"path": trace, "index": None, "status": "failed", "outcome": "retry" if killed else "failed",
                "code": TRANSIENT if killed else program_code or INPUT, "error": error}
    outcome = {"built": "done", "valid": "done", "salvaged": "done", "skipped": "skipped"}.get(line["status"], "failed")
    if line["code"] in REQUEUED:
        outcome = "retry"
    return {**line, "path": trace, "index": path_of(line, "index"), "outcome": outcome}


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_old(folder, pattern):
    """What tasks left that were killed."""
    for leftover in folder.glob(pattern):
        if time.time() - leftover.stat().st_mtime > OLD_SECONDS:
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)


def copy_index(index, trace, directory):
    """Under its name only when it is complete and on the disk. Two tasks that copy the same trace use different names."""
    folder = Path(directory) if directory else Path(trace).parent
    target = folder / (Path(index).name if directory else Path(trace).name + ".tracedb")
    folder.mkdir(parents=True, exist_ok=True)
    remove_old(folder, f".{glob_escaped(target.name)}.*.copy")
    copy = folder / f".{target.name}.{socket.gethostname()}.{os.getpid()}.copy"
    try:
        shutil.copyfile(index, copy)
        sync(copy)
        os.replace(copy, target)
        sync(folder)
    finally:
        copy.unlink(missing_ok=True)
    return str(target)


def glob_escaped(name):
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def already_there(traces, directory):
    """Those with a valid index at its final place, with that."""
    variables = {**environment(), **({"TRACEDB_CACHE_DIR": str(directory)} if directory else {})}
    existing = [trace for trace in traces if os.path.isfile(trace)]
    if not existing:
        return {}
    result = subprocess.run(["trace-query", "ls", "--json", "--limit", "0", "--", *existing], env=variables,
                            capture_output=True, text=True, check=False)
    if result.returncode not in (DONE, INPUT):
        raise OSError(f"trace-query ls: {result.stderr.strip()}")
    rows = {row["trace"]: row for row in json.loads(result.stdout)["rows"] if row["state"] == "indexed"}
    return {trace: rows[trace] for trace in existing if trace in rows}


def ingest_by_scratch(traces, arguments):
    there = already_there(traces, arguments.index_dir)
    records = [{"path": trace, "index": row["index_path"], "status": "valid", "seconds": 0.0, "bytes": None, "events": None,
                "issues": None, "code": DONE, "error": None, "outcome": "done"} for trace, row in there.items()]
    missing = [trace for trace in traces if trace not in there]
    if not missing:
        return records
    remove_old(arguments.scratch, "tracedb-fleet-*")
    with tempfile.TemporaryDirectory(prefix="tracedb-fleet-", dir=arguments.scratch) as local:
        code, summary = ingest(missing, Path(local), arguments.options)
        for trace in missing:
            record = record_of(trace, summary.get(trace), code)
            if record["outcome"] == "done":
                try:
                    record["index"] = copy_index(record["index"], trace, arguments.index_dir)
                except OSError as error:
                    record.update(outcome="retry", status="failed", index=None, code=RESOURCE,
                                  error=f"{trace}: cannot copy its index: {error}")
            records.append(record)
    return records


def write_records(records, arguments):
    """Atomically: what is in the folder is whole."""
    arguments.records.mkdir(parents=True, exist_ok=True)
    name = f"{arguments.run}_{arguments.task}_{arguments.attempt}.jsonl"
    facts = {"task": arguments.task, "attempt": arguments.attempt, "run": arguments.run, "time": time.time(),
             "node": os.environ.get("SLURMD_NODENAME") or os.environ.get("NODE_NAME") or socket.gethostname()}
    unfinished = arguments.records / f".{name}"
    with open(unfinished, "w", encoding="utf-8", errors="surrogateescape") as file:
        for record in records:
            file.write(json.dumps({**record, **facts}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, arguments.records / name)


def exit_code(records, attempt, attempts):
    codes = [record["code"] for record in records if record["outcome"] == "retry"]
    if codes:
        return codes[0] if attempt + 1 < attempts else GAVE_UP
    failed = [record["code"] for record in records if record["outcome"] == "failed"]
    return (failed[0] if len(failed) == 1 and len(records) == 1 else INPUT) if failed else DONE


def main():
    arguments = parse_arguments()
    try:
        traces = traces_of_task(arguments)
        if not traces:
            records = []
        elif arguments.scratch:
            records = ingest_by_scratch(traces, arguments)
        else:
            code, summary = ingest(traces, arguments.index_dir, arguments.options)
            records = [record_of(trace, summary.get(trace), code) for trace in traces]
        write_records(records, arguments)
    except OSError as error:
        print(f"ingest_task: {error}", file=sys.stderr)
        sys.exit(RESOURCE if arguments.attempt + 1 < arguments.attempts else GAVE_UP)
    sys.exit(exit_code(records, arguments.attempt, arguments.attempts))


if __name__ == "__main__":
    main()
