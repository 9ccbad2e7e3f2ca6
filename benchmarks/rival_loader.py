#!/usr/bin/env python3
"""rival_loader.py TRACE.json: loads a trace the way Python comparison tools do, as the benchmark's rival. Our own code.

The whole document is parsed at once (orjson if importable, else json), then one pass sorts the events into dicts:
kernels, operators by External id, python intervals, phases from annotations. Each kernel gets its operator or python
stack (by its own start time, cached by name), its phase, and a class by substrings of its name (also cached by name).
Prints one JSON line. Nothing is kept: the next comparison starts again.
"""
import bisect
import json
import sys
import time
from collections import Counter, defaultdict

try:
    import orjson
    PARSER, parse = f"orjson {orjson.__version__}", orjson.loads
except ImportError:
    PARSER, parse = "json", json.loads

MAX_LOOK_BACK = 999
MAX_DEPTH = 50
CLASSES = (  # first match wins
    (("attention", "fmha"), "attention"),
    (("reshape_and_cache",), "kv_cache"),
    (("_matmul_ogs_", "bmm_"), "moe_gemm"),
    (("topk", "routing", "bitmatrix", "moe_forward"), "moe_routing"),
    (("finalize",), "moe_finalize"),
    (("rsqrt", "layernorm", "rmsnorm"), "norm"),
    (("cijk_", "nvjet_", "cublaslt", "wvsplitk", "gemm"), "dense_gemm"),
    (("triton_poi", "triton_red", "triton_per"), "triton"),
    (("at::native::",), "elementwise"),
    (("sort", "merge"), "sort"),
    (("reduce",), "reduce"),
    (("copy",), "copy"),
)


def classify(name):
    lower = name.lower()
    for words, label in CLASSES:
        if any(word in lower for word in words):
            return label
    return "other"


def phase_of(name):
    parts = name.split("_")
    tokens = 0
    for word, following in zip(parts, parts[1:]):
        if word == "context" and "(" in following and ")" in following:
            text = following[following.index("(") + 1:following.index(")")]
            tokens = int(text) if text.isdigit() else 0
    return "prefill" if tokens > 0 and "generation_0" in name else "decode"


class Stacks:
    """Python intervals of all threads, to be searched backwards from a time."""

    def __init__(self, intervals):
        self.intervals = sorted(intervals)
        self.starts = [interval[0] for interval in self.intervals]
        self.by_id = {interval[3]: interval for interval in self.intervals if interval[3] is not None}

    def at(self, time_us):
        last = bisect.bisect_right(self.starts, time_us) - 1
        inside = [self.intervals[i] for i in range(last, max(last - MAX_LOOK_BACK, 0), -1)
                  if self.intervals[i][1] >= time_us]
        if not inside:
            return []
        frame = min(inside, key=lambda interval: (interval[2], interval[3] or 0))
        names = []
        while frame and len(names) < MAX_DEPTH:
            names.append(frame[5])
            frame = self.by_id.get(frame[4])
        return names[::-1]


def one_pass(events):
    kernels, operators, intervals, phases = [], {}, [], []
    for event in events:
        category = event.get("cat")
        if category == "kernel":
            arguments = event.get("args", {})
            kernels.append({"name": event["name"], "ts": event["ts"], "dur": event.get("dur", 0),
                            "correlation": arguments.get("correlation"), "external_id": arguments.get("External id")})
        elif category == "cpu_op":
            external_id = event.get("args", {}).get("External id")
            if external_id is not None:
                operators[external_id] = event["name"]
        elif category == "python_function":
            arguments = event.get("args", {})
            start, duration = event["ts"], event.get("dur", 0)
            intervals.append((start, start + duration, duration, arguments.get("Python id"),
                              arguments.get("Python parent id"), event["name"]))
        elif category == "user_annotation" and event["name"].startswith("execute_context"):
            phases.append((event["ts"], event["ts"] + event["dur"], phase_of(event["name"])))
    return kernels, operators, intervals, sorted(phases)


def annotate(kernels, operators, stacks, phases):
    classes, stack_of_name = {}, {}
    starts = [phase[0] for phase in phases]
    for kernel in kernels:
        name = kernel["name"]
        if name not in classes:
            classes[name] = classify(name)
        kernel["class"] = classes[name]
        kernel["operator"] = operators.get(kernel["external_id"])
        if kernel["operator"] is None:
            if name not in stack_of_name:
                stack_of_name[name] = stacks.at(kernel["ts"])
            kernel["stack"] = stack_of_name[name]
        i = bisect.bisect_right(starts, kernel["ts"]) - 1
        kernel["phase"] = phases[i][2] if i >= 0 and kernel["ts"] <= phases[i][1] else "decode"


def main(path):
    start = time.perf_counter()
    with open(path, "rb") as file:
        document = parse(file.read())
    parsed = time.perf_counter()
    kernels, operators, intervals, phases = one_pass(document["traceEvents"])
    annotate(kernels, operators, Stacks(intervals), phases)
    by_correlation = defaultdict(list)
    for kernel in kernels:
        by_correlation[kernel["correlation"]].append(kernel)
    print(json.dumps({
        "parser": PARSER, "events": len(document["traceEvents"]), "kernels": len(kernels), "operators": len(operators),
        "python_calls": len(intervals), "correlations": len(by_correlation),
        "classes": Counter(kernel["class"] for kernel in kernels), "parse_seconds": round(parsed - start, 3),
        "seconds": round(time.perf_counter() - start, 3)}))


if __name__ == "__main__":
    main(sys.argv[1])
