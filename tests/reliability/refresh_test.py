"""A valid index of a touched trace is given the new stat of its trace: whatever is killed then, the index is whole, needs
no journal, and nothing stays behind. Journals of other programs are understood.

TRACEDB_KILL_ROUNDS sets the number of kills (default 15), TRACEDB_SEED the moments (long loops pass a random one)."""
import os
import random
import shutil
import sqlite3
import time
from pathlib import Path

from index_folder import closing_line, kernels, leftovers, run_any, start, trace_file
from trace_cases import equal, refused, require, run

ROUNDS = int(os.environ.get("TRACEDB_KILL_ROUNDS", "15"))
SEED = int(os.environ.get("TRACEDB_SEED", "20240607"))
LONG_AGO = 1_600_000_000
STEPS = 60


def distrust(index):
    """As if the trace had not been at rest when the index was made: it is hashed, and its stat is noted anew."""
    os.utime(index, (LONG_AGO, LONG_AGO))


def killed_while_refreshing(folder):
    chance = random.Random(SEED)
    print(f"{ROUNDS} kills, seed {SEED}")
    trace, index = trace_file(folder / "a.json", STEPS), folder / "a.json.tracedb"
    run("trace-ingest", "-q", trace)
    expected = kernels(index)
    time.sleep(2.1)  # a stat is noted only of a trace that has been at rest for two seconds
    distrust(index)
    inode = index.stat().st_ino
    begin = time.monotonic()
    run("trace-ingest", "-q", trace)
    seconds = time.monotonic() - begin
    require(index.stat().st_ino != inode, "the index did not take the new stat")
    for number in range(1, ROUNDS + 1):
        distrust(index)
        process = start("-q", trace)
        time.sleep(chance.uniform(0, 1.1 * seconds))
        process.kill()
        process.communicate()
        equal(kernels(index), expected, f"round {number}: kernels")
        equal(list(folder.glob("*-journal")), [], f"round {number}: journals")
        equal(run("trace-query", "info", "--no-ingest", index, check=False).returncode, 0, f"round {number}: exit code of trace-query")
    distrust(index)
    equal(closing_line(run_any(folder, folder / "none.json").stderr)["valid"], 1, "valid in the end")
    equal(leftovers(folder), [], "leftovers")


def changed_by_another_program(folder):
    """Leaves the index and the journal as a client leaves them that is killed in the middle of a change."""
    index = folder / "a.json.tracedb"
    client = sqlite3.connect(index, isolation_level=None)
    client.execute("PRAGMA cache_size = 1")  # so that changed pages are written before the end
    client.execute("BEGIN IMMEDIATE")
    client.execute("UPDATE kernel SET dur = dur + 1")
    for path in (index, Path(f"{index}-journal")):
        shutil.copy(path, folder / f"{path.name}.copy")
    client.execute("ROLLBACK")
    client.close()
    for name in ("a.json.tracedb", "a.json.tracedb-journal"):
        os.replace(folder / f"{name}.copy", folder / name)


def hot_journal(folder):
    trace, index = trace_file(folder / "a.json"), folder / "a.json.tracedb"
    run("trace-ingest", "-q", trace)
    whole = kernels(index)
    changed_by_another_program(folder)
    before = index.read_bytes()
    refused(3, "", "trace-query", "info", "--no-ingest", index)
    run("trace-ingest", "-q", "--gc", folder)
    equal((index.read_bytes(), Path(f"{index}-journal").exists()), (before, True), "left alone by --gc")
    equal(run_any("-q", trace).returncode, 0, "exit code of trace-ingest")
    equal(kernels(index), whole, "kernels")
    equal(leftovers(folder), [], "leftovers")
    run("trace-query", "info", "--no-ingest", index)


def finished_journals(folder):
    trace, index = trace_file(folder / "a.json"), folder / "a.json.tracedb"
    run("trace-ingest", "-q", trace)
    journal = Path(f"{index}-journal")
    for content in (b"", bytes(512)):
        for clear in ([trace], ["--gc", folder]):
            journal.write_bytes(content)
            run("trace-query", "info", "--no-ingest", index)
            run("trace-ingest", "-q", *clear)
            equal(leftovers(folder), [], f"leftovers after {clear[0]}")
    journal.write_text("my notes")
    run("trace-ingest", "-q", trace)
    run("trace-ingest", "-q", "--gc", "--orphans", "--max-size", "1", folder)
    equal(sorted(os.listdir(folder)), ["a.json", journal.name], "files beside a foreign one")


def main(cases, _):
    cases.each_apart((killed_while_refreshing, hot_journal, finished_journals))
