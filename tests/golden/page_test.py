"""The page that compare prints of pairs of real traces, number for number against sums of the raw JSON: periods, spans,
time between steps, idle time, exposed communication and copies, times of operation classes by kernel names, and where the
host is between steps.

Which kernels and copies a step has is what `trace-query sql` says; all else is summed here. The commands on the page are
run. Needs the folder of real traces (TRACEDB_TRACES)."""
import json
import re
import statistics
import sys
import typing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from page_commands import check_commands  # noqa: E402
from time_oracle import length, union, without  # noqa: E402
from trace_cases import (TRACES, Cases, equal, ingest, nanoseconds, read_trace, require, run, scratch_folder,  # noqa: E402
                         skip_without_traces)

FOLDER = TRACES / "kineto"
LINES, WIDTH = 60, 80
# By pair: files, the phase, what the first line says, the largest causes in order.
PAIRS = {
    "llama_tp4": (("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz"), "decode",
                  "decode: H100 needs 18.9 ms a step where MI300X needs 45.1 ms: 2.38 times",
                  ("between_steps", "operation", "communication")),
    "qwen3_30b": (("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz"),
                  "decode", "decode: B300 needs 7.51 ms a step where MI300X needs 12.4 ms: 1.65 times",
                  ("operation", "concurrency", "fusion")),
    "qwen15_05b": (("qwen15_05b_hf_mi300x.json.gz", "qwen15_05b_hf_h100.json.gz"), "unknown",
                   "H100 needs 34.9 ms a step where MI300X needs 33.1 ms: 5.3 % longer.",
                   ("operation", "operation", "operation", "operation")),
    "timesformer": (("timesformer_hf_mi300x.json.gz", "timesformer_hf_h100.json.gz"), "unknown",
                    "H100 needs 160 ms a step where MI300X needs 121 ms: 1.32 times as long.",
                    ("operation", "operation", "operation", "copies")),
    "fusion_moe": (("fusion_moe_unfused_mi300x.json", "fusion_moe_fused_h100.json"), "unknown",
                   "H100 needs 800 us a step where MI300X needs 1.26 ms: 1.57 times", ("fusion", "idle")),
    "fusion_attention": (("fusion_attention_fused_mi300x.json", "fusion_attention_unfused_h100.json"), "unknown",
                         "H100 needs 790 us a step where MI300X needs 350 us: 2.26 times as long.", ("fusion",)),
    "dlrm": (("dlrm_8rank/worker0.pt.trace.json", "dlrm_8rank/worker1.pt.trace.json"), "train",
             "train: worker1 needs 18.5 ms a step where worker0 needs 13.0 ms: 1.42 times as", ("communication",)),
}
# The sum that ends a split-K product is part of it.
IN_STEPS = """SELECT step, phase, ts, layer_part AS part,
    CASE WHEN op = 'reduce' AND (name LIKE 'Cijk%' OR name LIKE '%splitK%') THEN 'dense_gemm' ELSE op END AS op
  FROM kernels UNION ALL SELECT step, phase, ts, NULL, kind FROM memcpys"""
COMM = re.compile(r"nccl|rccl|cross_device_reduce|all_?reduce|allgather", re.I)


class Step(typing.NamedTuple):
    begin: int
    end: int
    events: list


class Raw:
    """The device's work of a trace, and its steps of one phase."""

    def __init__(self, path, index, phase):
        events, _ = read_trace(path)
        self.device, self.python = [], []
        for event in events:
            if event.get("ph") != "X":
                continue
            kind, begin, dur = event.get("cat"), nanoseconds(event.get("ts")), nanoseconds(event.get("dur"))
            if kind in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.device.append((begin, begin + dur, kind, event["name"]))
            elif kind == "python_function":
                self.python.append((begin, begin + dur, event["name"]))
        self.device.sort()
        rows = json.loads(run("trace-query", "sql", "-q", "--json", "--max-rows", 0, index, IN_STEPS).stdout)["rows"]
        origin = self.device[0][0] - min(row["ts"] for row in rows)  # an index counts from another moment
        steps = {}
        for row in rows:
            if row["step"] is not None:
                steps.setdefault(row["step"], (row["phase"], {}))[1][row["ts"] + origin] = (row["op"], row["part"])
        every = [self.step_of(starts, own) for _, (own, starts) in sorted(steps.items())]
        kinds = [own for _, (own, _) in sorted(steps.items())]
        self.steps = [step for step, kind in zip(every, kinds) if kind == phase]
        self.next = [every[place + 1].begin if place + 1 < len(every) and kinds[place + 1] == phase else None
                     for place, kind in enumerate(kinds) if kind == phase]

    def step_of(self, starts, kind):
        """The device's events that start when the step's do."""
        own = [(*event, *starts[event[0]]) for event in self.device if event[0] in starts]
        require(own, f"no event of a {kind} step in the trace")
        return Step(own[0][0], max(event[1] for event in own), own)


class Account:
    """Means over the steps, in ns: spans, idle and exposed time, kernels by name."""

    def __init__(self, raw):
        self.raw = raw
        self.span = self.mean([step.end - step.begin for step in raw.steps])
        compute, comm, copy, busy = [], [], [], []
        for step in raw.steps:
            own = step.events
            computes = union([e[:2] for e in own if e[2] == "gpu_memset" or (e[2] == "kernel" and not COMM.search(e[3]))])
            talks = without(union([e[:2] for e in own if e[2] == "kernel" and COMM.search(e[3])]), computes)
            others = union([*computes, *talks])
            copies = without(union([e[:2] for e in own if e[2] == "gpu_memcpy"]), others)
            compute.append(length(computes))
            comm.append(length(talks))
            copy.append(length(copies))
            busy.append(length(union([*others, *copies])))
        self.comm, self.copy = self.mean(comm), self.mean(copy)
        self.idle = self.span - self.mean(busy)
        self.periods = [after - step.begin for step, after in zip(raw.steps, raw.next) if after is not None]
        between = [after - step.end for step, after in zip(raw.steps, raw.next) if after is not None]
        self.between = self.mean(between) if between else None

    @staticmethod
    def mean(values):
        return sum(values) / len(values)

    def of_class(self, op, wanted):
        """Kernels of a class, and of those that are finer, at the wanted places."""
        return self.mean([sum(end - begin for begin, end, kind, _, own, part in step.events
                              if kind == "kernel" and wanted(part) and (not op or own == op or own.startswith(op + "_")))
                          for step in self.raw.steps])


def brief(ns):
    """As the page writes times."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        value = abs(ns) / factor
        if value >= 0.9995:
            decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
            return f"{'-' if ns < 0 else ''}{value:.{decimals}f} {unit}"
    return f"{round(ns)} ns"


def near(actual, expected, what):
    require(abs(actual - expected) <= 1 + 1e-9 * abs(expected), f"{what}: {actual}, of the raw trace {expected}")


def is_head(part):
    return part in ("head", "tail", None)


def check_reason(row, rows, accounts):
    """The two times of a reason; 0 where an alignment says which kernels it is of: fusions, and classes that these are
    taken from."""
    figures = {"between_steps": "between", "idle": "idle", "copies": "copy"}
    split = [other for other in rows if (other["cause"], other["op"]) == (row["cause"], row["op"]) and other["place"]]
    if row["cause"] in figures:
        expected = [getattr(account, figures[row["cause"]]) for account in accounts]
    elif row["cause"] == "communication" and not split:
        expected = [account.comm for account in accounts]
    elif row["cause"] == "fusion" and len(rows) < 3:  # the pairs that are nothing else
        expected = [account.of_class("", lambda _: True) for account in accounts]
    elif row["cause"] == "operation" and not split and not any(other["cause"] == "fusion" for other in rows):
        expected = [account.of_class(row["op"], lambda _: True) for account in accounts]
        if row["layers"] and abs(row["baseline"] - expected[0]) > 1:  # head and tail changed by too little to be said
            expected = [account.of_class(row["op"], lambda part: not is_head(part)) for account in accounts]
    else:
        return 0
    near(row["baseline"], expected[0], f"{row['cause']} {row['op']} of the baseline")
    near(row["candidate"], expected[1], f"{row['cause']} {row['op']} of the candidate")
    near(row["change"], expected[1] - expected[0], f"{row['cause']} {row['op']}: change")
    return 1


def check_host(raw, frame, share):
    """The frame at which the launching thread is for most of the time between steps, innermost of files that are python."""
    gaps = [(step.end, after) for step, after in zip(raw.steps, raw.next) if after is not None]
    at_frame = union([call[:2] for call in raw.python if call[2] == frame])
    require(at_frame, f"no call of {frame} in the trace")
    inside = sum(length(union([[max(begin, a), min(end, b)] for a, b in at_frame if a < end and b > begin]))
                 for begin, end in gaps)
    whole = sum(end - begin for begin, end in gaps)
    require(inside >= share * whole * 0.999, f"{frame} is open in {inside} of {whole} ns")
    require(share > 0.5, f"{frame}: only {share} of the time")


def check_page(folder, name, files, phase, first, causes):
    indexes = [ingest(FOLDER / file, folder / (Path(file).name + ".tracedb")) for file in files]
    page = run("trace-query", "compare", "-q", *indexes).stdout
    lines = page.splitlines()
    require(len(lines) <= LINES, f"{len(lines)} lines")
    require(max(map(len, lines)) <= WIDTH, f"a line of {max(map(len, lines))} characters")
    require(lines[0].startswith(first), f"first line: {lines[0]}")
    data = json.loads(run("trace-query", "compare", "-q", "--json", *indexes).stdout)
    rows = [row for row in data["reasons"] if row["phase"] == phase]
    equal(tuple(row["cause"] for row in rows)[:len(causes)], causes, "causes")
    accounts = [Account(Raw(FOLDER / file, index, phase)) for file, index in zip(files, indexes)]
    verdicts = {row["metric"]: row for row in data["verdict"] if row["phase"] == phase}
    for side, account in zip(("baseline", "candidate"), accounts):
        near(verdicts["span"][side], statistics.median([step.end - step.begin for step in account.raw.steps]), f"span, {side}")
        if "period" in verdicts:
            near(verdicts["period"][side], statistics.median(account.periods), f"period, {side}")
    known = sum(check_reason(row, rows, accounts) for row in rows)
    print(f"  {name}: {known} of {len(rows)} reasons of {phase} summed up from the raw traces")
    require(known > 0, "no reason is summed up from the raw traces")
    check_commands(page)
    text = " ".join(page.split())
    for row in rows[:2]:
        size = ("+" if row["change"] > 0 else "") + brief(row["change"])
        require(f"{row['rank']}. {size} (" in text, f"the page has no reason {row['rank']} of {size}")
    for row in rows:
        if row["cause"] == "between_steps" and row["host"]:
            check_host(accounts[row["change"] > 0].raw, row["host"], row["host_pct"] / 100)


def check_markdown(folder):
    sides = [folder / (Path(file).name + ".tracedb") for file in PAIRS["llama_tp4"][0]]
    text = run("trace-query", "compare", "-q", "--markdown", *sides).stdout
    require(text.startswith("## decode: H100 needs"), text[:80])
    require("\n### Why decode takes 26.0 ms less" in text, "no heading of the reasons")
    require(len(text.encode()) < 20_000, f"{len(text.encode())} bytes")


def main():
    cases = Cases()
    if not skip_without_traces(cases, FOLDER):
        with scratch_folder() as folder:
            for name, pair in PAIRS.items():
                cases.run(name, check_page, folder, name, *pair)
            cases.run("Markdown", check_markdown, folder)
    cases.finish()


if __name__ == "__main__":
    main()
