"""`aie --compat stream` against an independent implementation of the same rules: random traces with every fault known.
Files and standard output must be equal byte for byte; what the program rejects, and what it takes but no trace has, is one
line on standard error."""
import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from stream_oracle import trace_of
from trace_cases import equal, program, require

ORACLE = Path(__file__).resolve().parents[1] / "support/stream_oracle.py"
SEED = int(os.environ.get("TRACEDB_SEED", 1))
USUAL = {"M": 64, "K": 48, "N": 32, "m": 8, "k": 8, "n": 8, "row": 2, "col": 1, "hwid": "npu", "warmup": 1, "iterations": 3}


def pulse(pid, name, begin, end):
    return [{"name": name, "ts": begin, "ph": "B", "pid": pid, "tid": 0},
            {"name": name, "ts": end, "ph": "E", "pid": pid, "tid": 0}]


def core_events(noise, pid, name):
    """A core at work, with lost and doubled events, kernels of two kinds and stalls of every length."""
    events = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}]
    time = noise.choice([0, 0, 5000, -700])
    usual, gap = noise.choice([10, 73, 100, 2000]), noise.choice([0, 0, 5, 60])
    for _ in range(noise.randrange(30)):
        if noise.random() < 0.3:
            stall = noise.choice([1, usual, 20 * usual - 1, 20 * usual, 50 * usual])
            events += pulse(pid, "LOCK_STALL", time, time + stall)
            time += stall + noise.choice([0, 1, 3])
        length = noise.choice([usual, usual, usual, usual + 1, usual // 3, usual * 3, usual * 3 + 1, usual // 10 + 1])
        events += pulse(pid, "INSTR_EVENT_0", time, time + 1)
        events += pulse(pid, "INSTR_EVENT_1", time + length - 1, time + length)
        if noise.random() < 0.1:
            events += pulse(pid, "INSTR_EVENT_0", time + noise.choice([1, usual // 4, usual // 2]), time + 2)
        time += length + gap
    lost = noise.choice([0, 0, 0.05, 0.2])
    return [event for event in events if noise.random() >= lost]


ODD_TIMES = [True, 1.9, -0.5, "7", 10**17]
ODD_PIDS = [0, 0.0, False, True, 1, "0", None, 1.5, "é\n"]
NAMES = ["core_trace for tile2,1", "core_trace for tile2,2", "core_trace for x for tile2,1", "prefix core_trace",
         "core_trace for index", "core_trace for aggregate_perf", "core_trace for é漢😀", "mem_trace for tile2,1", "", None,
         "core_trace for "]


def odd_event(noise):
    kind = noise.choice(["INSTR_EVENT_0", "INSTR_EVENT_1", "LOCK_STALL", "process_name", "PORT_RUNNING_0"])
    event = {"name": kind, "ph": noise.choice("BEBEM"), "pid": noise.choice(ODD_PIDS), "ts": noise.choice(ODD_TIMES)}
    if kind == "process_name":
        event["args"] = noise.choice([{"name": noise.choice(NAMES)}, {}])
    for key in ("name", "ph", "pid", "args"):
        if noise.random() < 0.05:
            event.pop(key, None)
    return event


def document_of(noise):
    events = []
    for pid in range(noise.randrange(4)):
        name = noise.choice(NAMES[:2]) if noise.random() < 0.7 else noise.choice(NAMES)
        events += core_events(noise, noise.choice([pid, pid, ODD_PIDS[pid]]), name)
    if noise.random() < 0.3:
        events += [odd_event(noise) for _ in range(noise.randrange(3))]
    if noise.random() < 0.5:
        noise.shuffle(events)
    text = json.dumps(events, indent=noise.choice([None, 1]), ensure_ascii=noise.random() < 0.5)
    return text.encode()


CORE = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "core_trace for a/b"}}]
MARK = {"name": "INSTR_EVENT_0", "ph": "B", "pid": 1, "ts": 5}
# What the program rejects, and, where marked, what it takes and we do not.
REJECTED = {
    "no list": {"traceEvents": []}, "a text": "x", "a number for an event": [3], "arguments that are no object":
    [{**CORE[0], "args": None}], "the name of a process is a list": [{**CORE[0], "args": {"name": ["x"]}}],  # taken
    "a tile that leaves the folder": CORE, "no time": [{"name": "LOCK_STALL", "ph": "E"}], "a bad time":
    [{**MARK, "ts": "x"}], "a time that is NaN": [{**MARK, "ts": float("nan")}], "a large time": [{**MARK, "ts": 10**30}],
    "a time of another script": [{**MARK, "ts": " 1_2 "}],  # taken
    "a NaN anywhere": [{**MARK, "extra": float("nan")}],  # taken
    "a surrogate": [{**MARK, "extra": "\ud800"}],  # taken
    "a pid that is a list": [{**MARK, "pid": [1]}]}
DAMAGED = {"cut off": b'[{"name": "a"', "nothing": b"", "text behind its end": b"[]}", "no UTF-8": b'["\xff"]',
           "a comma too many": b"[1,]"}
OPTIONS = ("warmup -3", "warmup 0 iterations 0", "iterations 99", "row 0 col 7", "hwid a=b", "N -32")
WRONG_OPTIONS = ("--foo 1", "pos", "-- a", "--compat strem", "--M")


def outcome(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {"exit": result.returncode, "stdout": result.stdout, "stderr": result.stderr, "files": files}


def arguments_of(options):
    words = iter(options.split())
    return [f"--{name}={value}" for name, value in {**USUAL, **dict(zip(words, words))}.items()]


def prepared(folder, data, options):
    """In a folder with the trace: its name."""
    given = dict(argument[2:].split("=", 1) for argument in arguments_of(options))
    trace = folder / trace_of(argparse.Namespace(**given))
    trace.parent.mkdir(parents=True)
    trace.write_bytes(data)
    return trace


def check(folder, data, options):
    commands = {"ours": [program("trace-query"), "aie", "--compat", "stream"], "oracle": [sys.executable, "-I", ORACLE]}
    seen = {}
    for side, command in commands.items():
        prepared(folder / side, data, options)
        seen[side] = outcome([*command, *arguments_of(options)], folder / side)
    equal(seen["oracle"]["exit"], 0, "exit code of the oracle")
    for what in ("exit", "stderr", "stdout", "files"):
        equal(seen["ours"][what], seen["oracle"][what], what)


def check_rejected(folder, data):
    trace = prepared(folder, data, "")
    result = outcome([program("trace-query"), "aie", "--compat", "stream", *arguments_of("")], folder)
    lines = result["stderr"].decode().splitlines()
    equal((result["exit"], result["stdout"], len(lines), list(result["files"])),
          (3, b"", 1, [str(trace.relative_to(folder))]), "exit code, standard output, lines of standard error, files")
    require(lines[0].startswith(f"trace-query: {trace.relative_to(folder)}: "), lines[0])


def check_wrong_options(folder, words):
    result = outcome([program("trace-query"), "aie", "--compat", "stream", *arguments_of(""), *words.split()], folder)
    equal((result["exit"], len(result["stderr"].splitlines()), result["files"]), (2, 1, {}), "exit code, lines, files")


def main(cases, folder):
    noise = random.Random(SEED)
    for number in range(int(os.environ.get("TRACEDB_AIE_CASES", 25))):
        cases.run_apart(f"trace {SEED}.{number}", check, document_of(noise), "")
    for options in OPTIONS:
        cases.run_apart(f"options {options!r}", check, document_of(random.Random(SEED)), options)
    damaged = {name: json.dumps(document).encode() for name, document in REJECTED.items()} | DAMAGED
    for name, data in damaged.items():
        cases.run_apart(name, check_rejected, data)
    for words in WRONG_OPTIONS:
        cases.run_apart(f"wrong options {words!r}", check_wrong_options, words)
    result = outcome([program("trace-query"), "aie", "--compat", "stream", *arguments_of("")], folder)
    cases.run("no trace", equal, (result["exit"], len(result["stderr"].splitlines())), (3, 1), "exit code, lines")
