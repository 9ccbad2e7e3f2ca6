"""tools/fleet/ingest_task.py and manifest.py without a scheduler: exit codes, records, repeated submissions, copies from
a local disk. Whatever becomes of a trace, the manifest names it."""
import os
import re
import shutil
import sys
import threading
import time
from pathlib import Path

from night import FLEET, Night
from trace_cases import BIN, equal, require, verify_index

KILLED_ONCE = """#!/bin/sh
if [ ! -e "$0.done" ]; then touch "$0.done"; kill -9 $$; fi
exec {program} "$@"
"""


def all_done_and_again(folder):
    night = Night(folder)
    time.sleep(2.1)  # an index trusts the time stamp of a trace that rested, and is then never noted anew
    equal(night.manifest(), (6, dict.fromkeys(("a.json", "b.json", "c.json"), "missing")), "manifest before")
    equal(night.task(0, chunk=2)[0], 0, "first task")
    equal(night.manifest()[1], {"a.json": "done", "b.json": "done", "c.json": "missing"}, "manifest after one task")
    equal(night.listed("retry.txt"), ["c.json"], "retry.txt")
    equal([night.task(number, chunk=2)[0] for number in (1, 2)], [0, 0], "second task, and one behind the list")
    equal(night.manifest()[0], 0, "manifest after all")
    equal({entry["status"] for entry in night.entries.values()}, {"built"}, "status")
    built = {name: os.stat(entry["index"]).st_mtime_ns for name, entry in night.entries.items()}
    equal(night.task(0, "--run", "again")[0], 0, "all again in one task")
    equal(night.manifest()[0], 0, "manifest")
    equal({(entry["status"], entry["attempts"]) for entry in night.entries.values()}, {("valid", 2)}, "nothing is built twice")
    equal({name: os.stat(entry["index"]).st_mtime_ns for name, entry in night.entries.items()}, built, "indexes untouched")
    verify_index(night.entries["a.json"]["index"])
    os.unlink(night.entries["b.json"]["index"])
    equal(night.manifest(), (6, {"a.json": "done", "b.json": "missing", "c.json": "done"}), "an index that was removed")


def failures_stay_alone(folder):
    night = Night(folder)
    (folder / "bad.json").write_text("no trace\n", encoding="utf-8")
    night.write_list(("a.json", "bad.json", "absent.json", "b.json"))
    code, error = night.task()
    equal(code, 3, f"exit code ({error})")
    equal(night.manifest(), (3, {"a.json": "done", "bad.json": "failed", "absent.json": "failed", "b.json": "done"}), "manifest")
    equal((night.listed("retry.txt"), night.listed("failed.txt")), ([], ["bad.json", "absent.json"]), "lists")
    require("bad.json" in night.entries["bad.json"]["error"], "the error names the file")


def killed_program(folder):
    night = Night(folder)
    night.add_program("trace-ingest", KILLED_ONCE.format(program=BIN / "trace-ingest"))
    equal(night.task()[0], 6, "killed by a signal: again")
    equal(night.manifest(), (6, dict.fromkeys(night.entries, "retry")), "manifest")
    equal(night.task(attempt=1)[0], 0, "second attempt")
    equal(night.manifest()[0], 0, "manifest")


def full_disk(folder):
    night = Night(folder)
    equal([night.task(attempt=attempt, limit=30_000)[0] for attempt in (0, 3)], [5, 1], "exit codes: again, given up")
    equal(night.manifest(), (6, dict.fromkeys(night.entries, "retry")), "manifest")
    equal({entry["code"] for entry in night.entries.values()}, {5}, "code")
    equal(night.task(attempt=1, limit=30_000, chunk=1)[0], 5, "one trace")
    equal(night.task(0, "--run", "tomorrow", trace_list=folder / "retry.txt")[0], 0, "the list of those to retry")
    equal(night.manifest()[0], 0, "manifest")


def changing_trace(folder):
    """6, of the program and of the task: the trace grows while it is read."""
    night = Night(folder, ("a.json",))
    stop = threading.Event()

    def append():
        with open(folder / "a.json", "ab") as file:
            while not stop.wait(0.0005):
                file.write(b" ")
                file.flush()
    writer = threading.Thread(target=append)
    writer.start()
    try:
        for _ in range(50):  # the writer may get no time while a trace this small is read; it has grown since, though
            code, error = night.task()
            if code != 0:
                break
    finally:
        stop.set()
        writer.join()
    equal(code, 6, f"exit code ({error})")
    equal(night.task(attempt=1)[0], 0, "once it is complete")
    equal(night.manifest()[0], 0, "manifest")


def local_disk(folder):
    night = Night(folder)
    scratch, indexes = folder / "local", folder / "out/indexes"
    scratch.mkdir()
    for place, options in ((folder, ()), (indexes, ("--index-dir", indexes))):
        equal(night.task(0, "--scratch", scratch, *options)[0], 0, "exit code")
        equal(night.manifest()[0], 0, "manifest")
        equal({Path(entry["index"]).parent for entry in night.entries.values()}, {place}, "where the indexes are")
        equal(list(scratch.iterdir()), [], "nothing is left on the local disk")
        verify_index(night.entries["a.json"]["index"])
        before = {name: os.stat(entry["index"]).st_mtime_ns for name, entry in night.entries.items()}
        dead = place / f".{Path(night.entries['a.json']['index']).name}.node.1.copy"
        dead.write_bytes(b"left by a dead node")
        killed = scratch / "tracedb-fleet-killed"
        killed.mkdir()
        for leftover in (dead, killed):
            os.utime(leftover, (time.time() - 90_000,) * 2)
        os.unlink(night.entries["b.json"]["index"])
        equal(night.task(0, "--scratch", scratch, "--run", f"again{len(options)}", *options)[0], 0, "again")
        night.manifest()
        equal([entry["status"] for entry in night.entries.values()], ["valid", "built", "valid"], "only what is missing")
        equal({name: os.stat(entry["index"]).st_mtime_ns == before[name] for name, entry in night.entries.items()},
              {"a.json": True, "b.json": False, "c.json": True}, "indexes untouched")
        os.unlink(night.entries["a.json"]["index"])
        equal(night.task(0, "--scratch", scratch, "--run", f"third{len(options)}", *options)[0], 0, "a third time")
        require(not dead.exists(), "the copy of a dead node is still there")
        shutil.rmtree(night.records)
        for index in place.glob("*.tracedb"):
            index.unlink()


def odd_names(folder):
    names = ("a b.json", "q'\"$(x).json", os.fsdecode(b"not-utf8-\xff.json"), "-dash.json", "[ab]*.json")
    night = Night(folder, names)
    (folder / "local").mkdir()
    for options in ((), ("--scratch", folder / "local", "--index-dir", folder / "indexes")):
        equal(night.task(0, *options)[0], 0, "exit code")
        equal(night.manifest(), (0, dict.fromkeys(names, "done")), "manifest")
        for entry in night.entries.values():
            require(os.path.isfile(entry["index"]), entry["index"])


def kubernetes_codes():
    """The Indexed Job repeats what ingest_task.py wants repeated, and what a killed container exits with."""
    text = (FLEET / "ingest.k8s.yaml").read_text(encoding="utf-8")
    lists = re.findall(r"action: (\w+).*?operator: (\w+)\s+values: \[([\d, ]+)\]", text, re.S)
    sys.path.insert(0, str(FLEET))
    import ingest_task
    codes = ", ".join(map(str, (*ingest_task.REQUEUED, 137)))
    equal([(action, operator, values) for action, operator, values in lists],
          [("Ignore", "In", codes), ("FailIndex", "NotIn", codes)], "rules")  # the first match spans the rule without codes


def main(cases, _):
    cases.each_apart((all_done_and_again, failures_stay_alone, killed_program, full_disk, changing_trace, local_disk,
                      odd_names))
    cases.run("kubernetes codes", kubernetes_codes)
