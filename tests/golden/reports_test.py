"""Every report that is about kernels, copies, calls, times, steps, layers and stacks against a reckoning from the JSON of the
trace: real traces and synthetic ones of both vendors. What adds up in the reports of times is looked at in every trace, also in
ones of random events; what `warnings` and `info` measure is what the other reports show."""
import random
import re
import statistics
import sys
from collections import defaultdict
from functools import lru_cache

import trace_cases
from made_events import call, event, index_of, kernel, on_device, write_trace
from report_oracle import ReportOracle
from time_oracle import CAUSES, TimeOracle, length, union
from trace_cases import (TRACES, Skip, equal, ingest, kineto_traces, make_trace, open_index, read_trace, require, run,
                         skip_without_traces, sql)

# Python is slow: stacks are looked up one by one in traces of up to so many elements.
MOST_FOR_STACKS = 60_000
LEAST = {"unclassified": 3, "no_launch": 1, "clock_order": 1, "graph_collapsed": 1, "no_operator": 5, "no_stack": 5,
         "no_step": 5, "no_layer": 20, "before_recording": 1, "host_bound": 30, "lost_kernels": 2}  # percent, from which a warning speaks
SYNTHETIC = {
    "amd": ("--vendor", "amd", "--tensor-parallel", 4, "--layers", 4, "--steps", 5, "--python-stacks", "on", "--streams", 3),
    "nvidia": ("--vendor", "nvidia", "--tensor-parallel", 2, "--moe", "on", "--layers", 3, "--steps", 5, "--streams", 3),
    "lost launches": ("--vendor", "nvidia", "--graphs", "off", "--orphans", 9, "--layers", 3, "--steps", 4),
}
# Traces whose layers are modules of one kind, one after the other.
LAYER_MODULES = {"qwen15_05b_hf": "Qwen2DecoderLayer", "bert_small_hf": "BertLayer", "timesformer_hf": "TimesformerLayer",
                 "qwen3_8b_sglang_prefill": "Qwen3DecoderLayer"}
SUMMARIES = ("mean", "min", "max")
WAITS = ("host_wait", "kernel_wait", "graph_gap", "other_wait", "unknown_wait")


@lru_cache(maxsize=None)
def rows(report, index, *options):
    """No index changes here: a report of it is asked for once."""
    return trace_cases.rows(report, index, *options)


def total(report, key):
    return sum(row[key] or 0 for row in report)


def devices_of(report):
    return [row for row in report if row["device"] not in SUMMARIES]


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
    equal({row["device"]: {key: row[key] for key in expected[row["device"]]} for row in devices_of(rows("timeline", index))},
          expected, "timelines")
    causes, found, gaps = defaultdict(int), defaultdict(int), rows("gaps", index, "--each")
    for _, _, dur, cause in oracle.gaps():
        causes[cause] += dur
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
        found = {row["sequence"]: (row["instances"], row["total_time"]) for row in rows("sequences", index, "--length", size)}
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
    """Kernels in no step and without a launch that come before the first one with a launch on their stream, and whose
    correlation is not above that of the first recorded call."""
    steps = sql(index, "SELECT step, correlation FROM kernels ORDER BY ts, id")
    recorded = [call.correlation for call in oracle.call_events.values() if call.correlation]
    kernels, first = oracle.kernels(), {}
    for place, kernel in enumerate(kernels):
        if kernel.launch is not None:
            first.setdefault(kernel.stream, place)
    return {kernel.id for place, (kernel, row) in enumerate(zip(kernels, steps, strict=True))
            if kernel.launch is None and row["step"] is None and place < first.get(kernel.stream, 0)
            and (row["correlation"] or 0) <= recorded[0]}


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


# Of calls that launch kernels elsewhere; none in a capture is looked at.
LOST = """SELECT 100.0 * sum(lost) / sum(n), sum(lost) FROM (SELECT count(*) AS n, sum(id NOT IN (SELECT launch_id FROM kernel WHERE launch_id > 0
          UNION SELECT launch_id FROM memory_op WHERE launch_id > 0)) AS lost FROM runtime_call WHERE kind = 'launch' AND NOT EXISTS (
          SELECT 1 FROM string WHERE value GLOB '*StreamBeginCapture*') GROUP BY name_id) WHERE lost < n"""


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
    expected["lost_kernels"] = open_index(index).execute(LOST).fetchone()
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
    facts = {(row["section"], row["item"]): row["value"] for row in rows("info", index)}
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


class Steps:
    """The step marks of threads, and the device events launched inside each."""

    def __init__(self, oracle):
        self.marks = sorted((mark for track in oracle.reference.step_tracks.values() for mark in track.events),
                            key=lambda mark: (mark.ts, -mark.end, mark.position))
        if not self.marks:
            raise Skip("no thread has step marks")
        for i, mark in enumerate(self.marks):
            if any(other.ts < mark.end for other in self.marks[i + 1:]):
                raise Skip("step marks inside or beside each other: which count is not for this check to say")
        self.events = defaultdict(list)
        self.rest = []
        for event in oracle.events:
            mark = self.mark_of(oracle, event)
            (self.events[mark.position] if mark else self.rest).append(event)

    @staticmethod
    def mark_of(oracle, event):
        reference = oracle.reference
        call = oracle.call_events.get(event.launch)
        track = reference.step_tracks.get(call.track) if call else None
        found = track.innermost(call.ts) if track else []
        if not found and call:
            found = reference.process_steps(call)
        if not found and call and "GraphLaunch" in call.name:  # replayed from a thread outside the step's own
            found = [mark for (pid, _), other in reference.step_tracks.items() if pid == call.track[0]
                     for mark in other.innermost(call.ts)]
        if not found and reference.gpu_step_tracks:
            raise Skip("device annotations name steps too")
        return found[0] if found else None


def figures(events):
    kernels = [event for event in events if event.is_kernel]
    devices = defaultdict(list)
    for event in events:
        devices[event.device].append((event.ts, event.end))
    return {"kernels": len(kernels), "total_time": sum(kernel.dur for kernel in kernels),
            "gpu_span": max((max(end for _, end in own) - min(ts for ts, _ in own) for own in devices.values()),
                            default=None),
            "gpu_busy": max((length(union(own)) for own in devices.values()), default=None)}


def device_periods(steps):
    """Of each mark: from its first event on a device that runs its kernels to that of the next mark of its thread there."""
    out, latest, before = [None] * len(steps.marks), {}, {}
    for place, mark in enumerate(steps.marks):
        previous = before.get(mark.track)
        before[mark.track] = place
        events = steps.events[mark.position]
        for device in {event.device for event in events if event.is_kernel}:
            first = min(event.ts for event in events if event.device == device)
            earlier = latest.get(device)
            latest[device] = (place, first)
            if earlier and earlier[0] == previous and first > earlier[1]:
                out[previous] = max(out[previous] or 0, first - earlier[1])
    return out


def check_steps(index, oracle):
    steps = Steps(oracle)
    found = [row for row in rows("steps", index) if row["step"] is not None]
    equal([row["name"] for row in found], [mark.name for mark in steps.marks], "names of steps")
    for row, mark in zip(found, steps.marks):
        events = steps.events[mark.position]
        expected = figures(events)
        expected["host"] = mark.dur
        expected["launch_lag"] = min(event.ts for event in events) - mark.ts if events else None
        equal({key: row[key] for key in expected}, expected, mark.name)
    by_track = defaultdict(list)
    for row, mark in zip(found, steps.marks):
        by_track[mark.track].append((row, mark))
    for own in by_track.values():
        periods = [after.ts - before.ts for (_, before), (_, after) in zip(own, own[1:])]
        equal([row["host_period"] for row, _ in own], [*periods, None], "periods of the host")
    for row, period in zip(found, device_periods(steps)):
        if row["period_on"] != "host":
            equal(row["period"], period, f"{row['name']}: period")
    check_phases(index, found, steps)


def check_phases(index, found, steps):
    phases = {row["phase"]: row for row in rows("phases", index)}
    groups = defaultdict(list)
    for row, mark in zip(found, steps.marks):
        groups[row["phase"]].append((row, steps.events[mark.position]))
    for phase, own in groups.items():
        kernels = [event for _, events in own for event in events if event.is_kernel]
        actual = phases[phase]
        equal((actual["steps"], actual["instances"], actual["total_time"]),
              (len(own), len(kernels), sum(kernel.dur for kernel in kernels)), phase)
        for key in ("gpu_span", "host", "launch_lag"):
            values = [row[key] for row, _ in own if row[key] is not None]
            equal(actual[key], statistics.median(values) if values else None, f"{key} of {phase}")
    outside = [event for event in steps.rest if event.is_kernel]
    rest = [phases[name] for name in ("[no step]", "[launched before the recording]") if name in phases]
    equal((sum(row["instances"] for row in rest), sum(row["total_time"] for row in rest)),
          (len(outside), sum(kernel.dur for kernel in outside)), "kernels in no step")


def check_layers(index, oracle, module):
    prefix = f"nn.Module: {module}_"
    layers = {}
    for kernel in oracle.kernels():
        inside = next((frame for frame in oracle.stack(kernel) if frame.startswith(prefix)), None)
        if inside:
            count, total = layers.get(inside, (0, 0))
            layers[inside] = (count + 1, total + kernel.dur)
    require(len(layers) > 1, f"no modules {module}")
    found = [(row["instances"], row["total_time"]) for row in rows("layers", index) if row["layer"].isdigit()]
    equal(found, list(layers.values()), "kernels and time of each layer, in the order in which they run")


def check_identity(row):
    parts = ("computation", "exposed_comm", "exposed_copy", "idle")
    equal(sum(row[part] for part in parts), row["span"], "computation + exposed_comm + exposed_copy + idle")
    equal(row["busy"] + row["idle"], row["span"], "busy + idle")
    equal(sum(row[wait] for wait in WAITS) + row["unselected"], row["idle"], "sum of the causes")
    equal(row["micro_idle"] + row["macro_idle"] + row["unselected"], row["idle"], "micro + macro idle")


def check_sums_of_times(index, oracle):
    timeline = devices_of(rows("timeline", index))
    for row in timeline + devices_of(rows("timeline", index, "--per-stream")):
        check_identity(row)
    summaries = {row["device"]: row["span"] for row in rows("timeline", index) if row["device"] in SUMMARIES}
    spans = [row["span"] for row in timeline]
    equal(summaries, dict(zip(SUMMARIES, (sum(spans) / len(spans), min(spans), max(spans)))) if len(spans) > 1 else {},
          "spans over devices")
    report, expected = rows("gaps", index, "--each"), oracle.gaps()
    for options, wait in (((), 2000), (("--kernel-wait", "9us"), 9000)):
        found = [(row["device"], row["ts"], row["dur"], row["launch_cause"]) for row in rows("gaps", index, "--each", *options)]
        equal(found, oracle.gaps(wait), f"gaps {options}")
    equal(total(report, "dur"), total(timeline, "idle"), "sum of the gaps")
    for cause, column in zip(CAUSES, WAITS):
        equal(sum(gap[2] for gap in expected if gap[3] == cause), total(timeline, column), f"gaps of {cause}")
    between = sum(row["dur"] for row in report if row["cause"] == "[between steps]")
    equal(between, total(timeline, "between_steps"), "idle between steps")
    for options in ((), ("--limit", "1"), ("--each", "--limit", "5"), ("--min-dur", "100us"), ("--min-dur", "1s"),
                    ("--each", "--min-dur", "20us")):
        some = rows("gaps", index, *options)
        require(len(some) <= 7 or "--limit" not in options, "more rows than asked for")
        equal(total(some, "dur"), total(timeline, "idle"), f"sum of gaps and the rest, {options}")
        equal(total(some, "instances"), len(expected), f"number of gaps with the rest, {options}")
        require(all(row["host_pct"] is None or 0 <= row["host_pct"] <= 100 for row in some), "host share")


def check_sums_of_copies(index, database):
    timeline = devices_of(rows("timeline", index))
    comms = rows("comms", index)
    equal((total(comms, "instances"), total(comms, "total_time")),
          database.execute("SELECT count(*), coalesce(sum(dur), 0) FROM kernel WHERE kind LIKE 'comm%'").fetchone(), "comms")
    equal(total(comms, "busy"), total(timeline, "comm"), "busy time of comms")
    equal(total(comms, "exposed"), total(timeline, "exposed_comm"), "exposed time of comms")
    described = database.execute("SELECT count(*) FROM collective c JOIN kernel k ON k.id = c.kernel_id "
                                 "WHERE k.kind LIKE 'comm%'").fetchone()[0]
    equal(sum(row["instances"] for row in comms if row["ranks"] or row["dtype"] or row["group"]), described, "described")
    copies = rows("memcpys", index)
    equal((total(copies, "instances"), total(copies, "total_time")),
          database.execute("SELECT count(*), coalesce(sum(dur), 0) FROM memory_op").fetchone(), "copies")


def check_windows(index):
    """Two windows that meet show no more and no less than the whole."""
    timeline = devices_of(rows("timeline", index))
    if not timeline or timeline[0]["span"] < 2:
        return
    device = str(timeline[0]["device"])
    if not device.isdigit():
        return
    middle = str(timeline[0]["begin"] + timeline[0]["span"] // 2)
    halves = [rows("timeline", index, "--device", device, *half)[0] for half in (("--to", middle), ("--from", middle))]
    for key in ("span", "busy", "idle", "computation", "exposed_comm", "exposed_copy", "host_wait", "macro_idle"):
        equal(halves[0][key] + halves[1][key], timeline[0][key], f"{key} of two halves")
    for half in halves:
        check_identity(half)


def check_selections(index):
    """A selection means the same in every report, also of steps that are inferred."""
    for selection in (("--phase", "decode"), ("--phase", "none"), ("--step", "0..1")):
        kernels = total(rows("kernels", index, *selection), "instances")
        equal(total(devices_of(rows("timeline", index, *selection)), "kernels"), kernels, f"timeline {selection}")
        equal(total(rows("launches", index, *selection), "kernels"), kernels, f"launches {selection}")
    for row in devices_of(rows("timeline", index, "--step", "0")):
        check_identity(row)


def check_times_of_index(index, database):
    """What the tables of the index say, of whatever trace."""
    oracle = TimeOracle(database)
    for check in (check_times, check_launches, check_sums_of_times):
        check(index, oracle)
    check_sums_of_copies(index, database)
    check_windows(index)
    check_selections(index)
    for command in ("timeline", "gaps", "launches", "comms", "memcpys"):
        run("trace-query", command, index)


def check_trace(cases, name, trace, folder):
    index = cases.run(f"{name} ingest", ingest, trace, folder / f"{name}.tracedb")
    if index is None:
        return
    database = open_index(index)
    cases.run(f"{name} times of the index", check_times_of_index, index, database)
    raw = read_trace(trace)[0]
    oracle = cases.run(f"{name} reading", ReportOracle, raw, database)
    if oracle is None:
        return
    checks = [check_kernels, check_ops, check_times, check_launches, check_comms, check_copies, check_sequences,
              check_warnings, check_issues, check_steps]
    if len(raw) <= MOST_FOR_STACKS:
        checks.append(check_stacks)
    for check in checks:
        cases.run(f"{name} {check.__name__.removeprefix('check_')}", check, index, oracle)
    for part, module in LAYER_MODULES.items():
        if name.startswith(part):
            cases.run(f"{name} layers", check_layers, index, oracle, module)


def numbered_annotations(path):
    """A step in which annotations name the layers, around kernels without any rhythm."""
    events = [event("user_annotation", "ProfilerStep#1", 0, 900)]
    for layer in range(8):
        begin = 100 * layer
        events.append(event("user_annotation", f"model.layers.{layer}", begin + 10, 80))
        for i, name in enumerate(("gemm", "zzz", "elementwise")):
            correlation = 3 * layer + i + 1
            launch = begin + 20 + 10 * i
            events.append(call("cudaLaunchKernel", launch, 3, correlation))
            events.append(kernel(name, launch + 1000, 5 + i, correlation=correlation))
    return write_trace(path, events)


def random_trace(seed):
    """Several devices and streams, overlapping work, graphs, calls without kernels, zero durations."""
    chance = random.Random(seed)
    events = []
    for correlation in range(1, 40):
        name = chance.choice(["cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaStreamSynchronize"])
        ts = chance.randrange(3000)
        events.append(event("cuda_runtime", name, ts / 10, chance.randrange(1, 90) / 10, 9000, 9001, correlation=correlation))
        copies = name == "cudaMemcpyAsync"
        for _ in range(chance.choice([0, 1, 3]) if "Graph" in name else chance.choice([0, 1, 1])):
            work = chance.choice(["gemm", "ncclDevKernel_AllReduce", "__amd_rocclr_copyBuffer", "norm", "all_reduce_rms_norm"])
            events.append(device_event(chance, "gpu_memcpy" if copies else "kernel",
                                       "Memcpy HtoD (Host -> Device)" if copies else work, ts, correlation))
    for _ in range(10):
        events.append(device_event(chance, "kernel", chance.choice(["orphan", "rccl_orphan"]), 0, None))
        events.append(device_event(chance, "gpu_memset", "Memset (Device)", 0, None))
    return events


def device_event(chance, category, name, after, correlation):
    device, stream = chance.randrange(2), chance.randrange(3)
    arguments = {"bytes": chance.randrange(1000)} | ({} if correlation is None else {"correlation": correlation})
    return on_device(category, name, (after + chance.randrange(400)) / 10, chance.choice([0, *range(1, 90)]) / 10, stream, device, **arguments)


def main(cases, folder):
    only = sys.argv[1:]
    for seed in () if only else range(12):
        index = index_of(folder / f"random {seed}.json", random_trace(seed))
        cases.run(f"random {seed}", check_times_of_index, index, open_index(index))
    if not only:
        check_trace(cases, "numbered annotations", numbered_annotations(folder / "numbered.json"), folder)
    for name, options in SYNTHETIC.items():
        if not only or name in only:
            check_trace(cases, name, make_trace(folder / f"{name}.json", *options), folder)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            if not only or any(part in trace.name for part in only):
                check_trace(cases, trace.name, trace, folder)
