"""Every report that is about kernels, copies, calls and stacks against a reckoning from the JSON of the trace: real traces
and synthetic ones of both vendors. And what `warnings` and `info` measure is what the other reports show."""
import json
import re
import sys
from collections import defaultdict

from report_oracle import ReportOracle
from trace_cases import (TRACES, equal, ingest, kineto_traces, make_trace, open_index, read_trace, require, rows, run,
                         scratch_folder, skip_without_traces, sql)

# Python is slow: stacks are looked up one by one in traces of up to so many elements.
MOST_FOR_STACKS = 60_000
LEAST = {"unclassified": 3, "no_launch": 1, "clock_order": 1, "graph_collapsed": 1, "no_operator": 5, "no_stack": 5,
         "no_step": 5, "no_layer": 20, "before_recording": 1, "host_bound": 30}  # percent, from which a warning speaks
SYNTHETIC = {
    "amd": ("--vendor", "amd", "--tensor-parallel", 4, "--layers", 4, "--steps", 5, "--python-stacks", "on"),
    "nvidia": ("--vendor", "nvidia", "--tensor-parallel", 2, "--moe", "on", "--layers", 3, "--steps", 5, "--streams", 3),
    "lost launches": ("--vendor", "nvidia", "--graphs", "off", "--orphans", 9, "--layers", 3, "--steps", 4),
}


def near(actual, expected, what):
    if actual is None or expected is None:
        equal(actual, expected, what)
    else:
        require(abs(actual - expected) <= 1e-9 * max(abs(actual), abs(expected)) + 1e-9,
                f"{what}: got {actual!r}, expected {expected!r}")


def check_groups(found, expected, label):
    equal(sorted(row[label] for row in found), sorted(expected), f"rows by {label}")
    whole = sum(figures["total_time"] for figures in expected.values())
    for row in found:
        figures = expected[row[label]]
        for key, value in figures.items():
            near(row[key], value, f"{key} of {row[label][:80]}")
        near(row["avg"], figures["total_time"] / figures["instances"], f"avg of {row[label][:80]}")
        if whole:
            near(row["time_pct"], 100 * figures["total_time"] / whole, f"share of {row[label][:80]}")


def check_kernels(index, oracle):
    check_groups(rows("kernels", index), oracle.kernel_groups(lambda name: name), "name")


def check_ops(index, oracle):
    classes = {row["name"]: row["class"] for row in rows("rules show", index)}
    check_groups(rows("ops", index), oracle.kernel_groups(lambda name: classes[name]), "op")


def check_times(index, oracle):
    expected = oracle.timelines()
    for row in rows("timeline", index):
        if row["device"] not in ("mean", "min", "max"):
            equal({key: row[key] for key in expected[row["device"]]}, expected[row["device"]], f"device {row['device']}")
    gaps = rows("gaps", index, "--each")
    causes = defaultdict(int)
    for _, _, dur, cause in oracle.gaps():
        causes[cause] += dur
    found = defaultdict(int)
    for row in gaps:
        found[row["launch_cause"]] += row["dur"]
    equal(dict(found), dict(causes), "idle time by cause")
    equal(sorted(row["dur"] for row in gaps), sorted(gap[2] for gap in oracle.gaps()), "lengths of gaps")


def check_launches(index, oracle):
    expected = {call or "[no launch]": figures for call, figures in oracle.launches().items()}
    found = rows("launches", index)
    equal(sorted(row["call"] for row in found), sorted(expected), "calls")
    for row in found:
        calls, kernels, api, delay, early, queue = expected[row["call"]]
        equal((row["instances"], row["kernels"], row["total_time"]), (calls, kernels, api), row["call"])
        if row["delay_avg"] is not None:
            sums = (round(row["delay_avg"] * row["launching"]), row["started_early"],
                    round(row["queue_avg"] * row["launching"]))
            equal(sums, (delay, early, queue), f"delay, early starts and pure queue delay of {row['call']}")


def check_comms(index, oracle):
    found = defaultdict(list)
    for row in rows("comms", index):
        described = row["dtype"] is not None or row["ranks"] is not None
        found[row["name"], row["ranks"], row["dtype"], row["bytes"] if described else None].append(row)
    expected = oracle.collectives()
    equal(sorted(map(str, found)), sorted(map(str, expected)), "collectives")
    for what, (count, total, exposed, algorithm, bus) in expected.items():
        some = found[what]  # several where groups of ranks differ: rows of their own
        equal((sum(row["instances"] for row in some), sum(row["total_time"] for row in some)), (count, total), what)
        if len(some) == 1:
            if len(expected) == 1:
                equal(some[0]["exposed"], exposed, f"exposed time of {what}")
            near(some[0]["alg_gb_per_s"], algorithm, f"algorithm bandwidth of {what}")
            if bus is not None:
                near(some[0]["bus_gb_per_s"], bus, f"bus bandwidth of {what}")


def check_copies(index, oracle):
    found = {row["operation"]: row for row in rows("memcpys", index)}
    expected = oracle.copies()
    equal(sorted(found), sorted(expected), "operations")
    for what, (count, total, size, busy, speed, achieved) in expected.items():
        row = found[what]
        equal((row["instances"], row["total_time"], row["bytes"], row["busy"]), (count, total, size, busy), what)
        near(row["gb_per_s"], speed, f"bandwidth of {what}")
        near(row["achieved_gb_per_s"], achieved, f"achieved bandwidth of {what}")


def check_sequences(index, oracle):
    for size in (2, 4):
        expected = {" > ".join(names): figures for names, figures in oracle.sequences(size).items()}
        found = {row["sequence"]: (row["instances"], row["total_time"])
                 for row in rows("sequences", index, "--length", size)}
        equal(found, expected, f"sequences of {size}")


def without_address(frame):
    return re.sub(r" at 0x[0-9a-fA-F]*", "", frame)


def check_stacks(index, oracle):
    self_time, total_time = defaultdict(int), defaultdict(int)
    for kernel in oracle.kernels():
        path = [without_address(frame) for frame in oracle.stack(kernel)] or ["[no stack]"]
        self_time[path[-1]] += kernel.dur
        for frame in set(path):
            total_time[frame] += kernel.dur
    found = {row["frame"]: (row["self_time"], row["total_time"]) for row in rows("stacks", index, "--view", "flat")}
    equal(found, {frame: (self_time[frame], time) for frame, time in total_time.items()}, "time by frame")
    everything = sum(self_time.values())
    for view in ("tree", "callers"):
        equal(sum(row["self_time"] for row in rows("stacks", index, "--view", view)), everything, f"self time, {view}")
    lines = run("trace-query", "stacks", "-q", "--view", "collapsed", index).stdout.splitlines()
    equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines), everything, "sum of the collapsed stacks")


def launched_before(index, oracle):
    """Kernels in no step and without a launch that come before the first one with a launch on their stream."""
    steps = sql(index, "SELECT step FROM kernels ORDER BY ts, id")
    kernels, first = oracle.kernels(), {}
    for place, kernel in enumerate(kernels):
        if kernel.launch is not None:
            first.setdefault(kernel.stream, place)
    return {kernel.id for place, (kernel, row) in enumerate(zip(kernels, steps, strict=True))
            if kernel.launch is None and row["step"] is None and place < first.get(kernel.stream, 0)}


def shares(index, oracle):
    """{code: (percent of the kernel time, kernels)}, from the JSON or from the report it is about."""
    def of_rows(report, holds, count):
        whole = sum(row["total_time"] for row in report)
        some = [row for row in report if holds(row)]
        return (100 * sum(row["total_time"] for row in some) / whole if whole else None), sum(row[count] for row in some)

    ops, steps, layers = rows("ops", index), rows("steps", index), rows("layers", index)
    stacks = [row for row in rows("stacks", index, "--view", "flat") if row["frame"] == "[no stack]"]
    without_stack = sum(row["total_time"] for row in stacks), sum(row["instances"] for row in stacks)
    whole = sum(row["total_time"] for row in ops)
    before = launched_before(index, oracle)
    return {
        "before_recording": oracle.share(lambda kernel: kernel.id in before),
        "no_launch": oracle.share(lambda kernel: kernel.launch is None and kernel.id not in before),
        "graph_collapsed": oracle.share(lambda kernel: kernel.launch and oracle.calls[kernel.launch][2] == "graph_launch"),
        "clock_order": oracle.share(lambda kernel: kernel.launch and oracle.calls[kernel.launch][0] > kernel.ts),
        "no_operator": oracle.share(oracle.no_operator),
        "no_stack": (100 * without_stack[0] / whole if whole else None, without_stack[1]),
        "unclassified": of_rows(ops, lambda row: row["op"] in ("other", "triton_fused"), "instances"),
        "no_step": of_rows(steps, lambda row: row["name"] == "[no step]", "kernels"),
        "no_layer": of_rows(layers, lambda row: not row["layer"].isdigit(), "instances"),
    }


def window_of_steps(index, oracle):
    """Where the devices are looked at for waits: from the first kernel of a step to the last; without steps, of all."""
    statement = "SELECT min(ts) FILTER (WHERE step IS NOT NULL) AS first, max(ts + dur) FILTER (WHERE step IS NOT NULL) AS last, min(ts) AS begin, max(ts + dur) AS \"end\" FROM kernels"
    (row,) = sql(index, statement)
    if row["begin"] is None:
        return 0, 2**63 - 1
    if row["first"] is None:
        row["first"], row["last"] = row["begin"], row["end"]
    base = min(kernel.ts for kernel in oracle.kernels()) - row["begin"]  # of the clock of the JSON
    return base + row["first"], base + row["last"]


def check_warnings(index, oracle):
    found = {row["code"]: row for row in rows("warnings", index)}
    expected = shares(index, oracle)
    first, last = window_of_steps(index, oracle)
    gaps = [(min(ts + dur, last) - max(ts, first), cause) for _, ts, dur, cause in oracle.gaps() if ts < last and ts + dur > first]
    devices = defaultdict(list)
    for event in oracle.events:
        devices[event.device] += [moment for moment in ((max(event.ts, first), min(event.end, last)),) if moment[0] < moment[1]]
    spans = sum(max(end for _, end in own) - min(begin for begin, _ in own) for own in devices.values() if own)
    waits = sum(dur for dur, cause in gaps if cause == "host_wait")
    expected["host_bound"] = 100 * waits / spans if spans else None, len(gaps)
    for code, (share, count) in expected.items():
        if share is None or share < LEAST[code]:
            require(code not in found, f"{code} speaks at {share} %")
            continue
        require(code in found, f"{code} is silent at {share} %")
        near(found[code]["share_pct"], share, f"share of {code}")
        equal(found[code]["count"], count, f"kernels of {code}")
    issues = {row["kind"]: row["count"] for row in rows("issues", index) if row["severity"] != "info"}
    equal({code: row["count"] for code, row in found.items() if code not in expected and row["count"] is not None},
          issues, "issues among the warnings")
    check_info(index, oracle, expected)


def check_issues(index, oracle):
    """Kernels and copies without a launch, and launches after their kernel, are counted."""
    found = {row["kind"]: row["count"] for row in rows("issues", index)}
    equal(found.get("kernel_without_launch", 0), sum(event.launch is None for event in oracle.events), "without a launch")
    early = sum(event.launch is not None and oracle.calls[event.launch][0] > event.ts for event in oracle.events)
    equal(found.get("launch_after_kernel", 0), early, "launches after their kernel")
    facts = rows("info", index)
    equal({row["item"]: row["value"] for row in facts if row["section"] == "issues" and row["item"] != "none"},
          {f"{row['kind']} ({row['severity']})": row["count"] for row in rows("issues", index)}, "issues in info")


def check_info(index, oracle, expected):
    facts = {(row["section"], row["item"]): row["value"]
             for row in rows("info", index)}
    kernels = oracle.kernels()
    counts = {"kernels": len(kernels), "distinct kernel names": len({oracle.name(kernel) for kernel in kernels}),
              "copies and fills": len(oracle.events) - len(kernels), "runtime calls": len(oracle.calls),
              "cpu operators": len(oracle.reference.events["cpu_op"]),
              "python calls": len(oracle.reference.events["python_call"])}
    for item, count in counts.items():
        equal(facts["content", item], count, item)
    if not kernels:
        return
    equal(facts["content", "kernel time"], sum(kernel.dur for kernel in kernels), "kernel time")
    early, count = expected["before_recording"]
    equal(facts["coverage", "kernels without a launch"], expected["no_launch"][1] + count, "kernels without a launch")
    near(facts.get(("coverage", "kernel time launched before the recording"), 0), early, "launched before the recording")
    lanes = oracle.timelines().values()
    near(facts["time", "idle share of the devices"],
         100 * sum(lane["idle"] for lane in lanes) / max(sum(lane["span"] for lane in lanes), 1), "idle share")
    equal(("time", "host bound") in facts, (expected["host_bound"][0] or 0) >= LEAST["host_bound"], "host bound")
    for item, code in (("a launch", "no_launch"), ("an operator", "no_operator"), ("a python stack", "no_stack"),
                       ("a class", "unclassified"), ("a layer", "no_layer")):
        name = f"kernel time in {item}" if code == "no_layer" else f"kernel time with {item}"
        near(facts["coverage", name], 100 - expected[code][0] - (early if code == "no_launch" else 0), name)
    in_step = [value for (section, item), value in facts.items() if section == "coverage" and "in a step" in item]
    equal(len(in_step), 1, "shares of kernel time in a step")
    near(in_step[0], 100 - expected["no_step"][0] - early, "kernel time in a step")


def check_trace(cases, name, trace, folder):
    index = cases.run(f"{name} ingest", ingest, trace, folder / "index.tracedb")
    if index is None:
        return
    database = open_index(index)
    raw = read_trace(trace)[0]
    oracle = cases.run(f"{name} reading", ReportOracle, raw, database)
    if oracle is None:
        return
    checks = [check_kernels, check_ops, check_times, check_launches, check_comms, check_copies, check_sequences,
              check_warnings, check_issues]
    if len(raw) <= MOST_FOR_STACKS:
        checks.append(check_stacks)
    for check in checks:
        cases.run(f"{name} {check.__name__.removeprefix('check_')}", check, index, oracle)
    database.close()


def numbered_annotations(path):
    """A step in which annotations name the layers, around kernels without any rhythm."""
    def event(category, name, tid, ts, dur, **arguments):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": arguments}

    events = [event("user_annotation", "ProfilerStep#1", 1, 0, 900)]
    for layer in range(8):
        begin = 100 * layer
        events.append(event("user_annotation", f"model.layers.{layer}", 1, begin + 10, 80))
        for i, name in enumerate(("gemm", "zzz", "elementwise")):
            correlation = 3 * layer + i + 1
            launch = begin + 20 + 10 * i
            events.append(event("cuda_runtime", "cudaLaunchKernel", 1, launch, 3, correlation=correlation))
            events.append(event("kernel", name, 7, launch + 1000, 5 + i, device=0, stream=7, correlation=correlation))
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def main(cases):
    only = sys.argv[1:]
    if not only:
        with scratch_folder() as folder:
            check_trace(cases, "numbered annotations", numbered_annotations(folder / "trace.json"), folder)
    for name, options in SYNTHETIC.items():
        if not only or name in only:
            with scratch_folder() as folder:
                check_trace(cases, name, make_trace(folder / "trace.json", *options), folder)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            if not only or any(part in trace.name for part in only):
                with scratch_folder() as folder:
                    check_trace(cases, trace.name, trace, folder)
