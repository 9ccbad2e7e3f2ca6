"""`aie --compat stream` against an independent implementation of the same rules: random traces with every fault known,
odd values, damaged documents and wrong options. Files, standard output, exit code and the last line of standard error
must be equal byte for byte."""
import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, equal, program, scratch_folder  # noqa: E402

ORACLE = Path(__file__).resolve().parents[1] / "support/stream_oracle.py"
SEED = int(os.environ.get("TRACEDB_SEED", 1))
ARGUMENTS = "--M 64 --K 48 --N 32 --m 8 --k 8 --n 8 --row 2 --col 1 --hwid npu --warmup 1 --iterations 3"
FOLDER = "outputs/npu-gemm_64_48_32-2_row_1_col/traces"
TRACE = f"{FOLDER}/trace_mm_64_48_32.json"


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


ODD_VALUES = [None, True, 1.9, -0.5, "7", " 1_2 ", "x", "it's", "", "1.5", [1], {}, float("nan"), float("inf"), 10**17]
ODD_PIDS = [0, 0.0, False, True, 1, "0", None, 1.5, "é\n", [0], {"a": 1}]
NAMES = ["core_trace for tile2,1", "core_trace for tile2,2", "core_trace for x for tile2,1", "prefix core_trace",
         "core_trace for a/b", "core_trace for index", "core_trace for aggregate_perf", "core_trace for é漢😀",
         "mem_trace for tile2,1", "", None, 5, ["x"], "core_trace for ", "core_trace for \ud800"]


def odd_event(noise):
    kind = noise.choice(["INSTR_EVENT_0", "INSTR_EVENT_1", "LOCK_STALL", "process_name", "PORT_RUNNING_0"])
    event = {"name": kind, "ph": noise.choice("BEBEM"), "pid": noise.choice(ODD_PIDS), "ts": noise.choice(ODD_VALUES)}
    if kind == "process_name":
        event["args"] = noise.choice([{"name": noise.choice(NAMES)}, {}, None, []])
    for key in list(event):
        if noise.random() < 0.05:
            del event[key]
    return noise.choice([event] * 12 + [3, None, "text", [], 1.5])


def document_of(noise):
    events = []
    for pid in range(noise.randrange(4)):
        name = noise.choice(NAMES[:2]) if noise.random() < 0.7 else noise.choice(NAMES)
        events += core_events(noise, noise.choice([pid, pid, ODD_PIDS[pid]]), name)
    if noise.random() < 0.3:
        events += [odd_event(noise) for _ in range(noise.randrange(3))]
    if noise.random() < 0.5:
        noise.shuffle(events)
    text = json.dumps(noise.choice([events] * 20 + [{"traceEvents": events}, {}, "text", "", 5, None]),
                      indent=noise.choice([None, 1]), ensure_ascii=noise.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass")
    if noise.random() < 0.2 and data:
        at = noise.randrange(len(data))
        data = noise.choice([data[:at], data[:at] + b"}" + data[at:], data[:at] + b"\xff" + data[at:], b"\xef\xbb\xbf" + data])
    return data


ARGUMENT_CASES = ["", "--warmup -3", "--warmup 0 --iterations 0", "--iterations 99", "--M x", "--M", "--h y", "--iter=5",
                  "--hw npu", "--foo 1", "pos", "--M 1_0", "--row 0 --col 7", "-- a", "--hwid 'a b'", "--N -32"]


def outcome(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    lines = result.stderr.decode("utf-8", "replace").splitlines()
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return {"exit": result.returncode, "stdout": result.stdout, "stderr": lines[-1] if result.returncode else None,
            "files": files}


def check(data, arguments, folder):
    commands = {"ours": [program("trace-query"), "aie", "--compat", "stream"], "oracle": [sys.executable, "-I", ORACLE]}
    seen = {}
    for side, command in commands.items():
        place = folder / side
        (place / FOLDER).mkdir(parents=True)
        if data is not None:
            (place / TRACE).write_bytes(data)
        seen[side] = outcome([*command, *shlex.split(ARGUMENTS), *shlex.split(arguments)], place)
    for what in ("exit", "stderr", "stdout", "files"):
        equal(seen["ours"][what], seen["oracle"][what], what)


def main():
    cases = Cases()
    noise = random.Random(SEED)
    for number in range(int(os.environ.get("TRACEDB_AIE_CASES", 25))):
        with scratch_folder() as folder:
            cases.run(f"trace {SEED}.{number}", check, document_of(noise), "", folder)
    for arguments in ARGUMENT_CASES:
        with scratch_folder() as folder:
            cases.run(f"options {arguments!r}", check, document_of(random.Random(SEED)), arguments, folder)
    with scratch_folder() as folder:
        cases.run("no trace", check, None, "", folder)
    with scratch_folder() as folder:
        cases.run("no folder", check, None, "--M 65", folder)
    cases.finish()


if __name__ == "__main__":
    main()
