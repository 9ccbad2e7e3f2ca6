"""timeline, gaps, launches, comms and memcpys of every real trace: their identities, what must add up, and all figures
against an independent reckoning; then a trace made by hand, whose figures can be read off."""
import json

from time_oracle import CAUSES, TimeOracle
from trace_cases import (TRACES, equal, ingest, kineto_traces, open_index, require, rows, run, scratch_folder,
                         skip_without_traces)

COMMANDS = ("timeline", "gaps", "launches", "comms", "memcpys")
COMPARED = ("span", "busy", "idle", "computation", "comm", "copy", "exposed_comm", "exposed_copy", "gaps")
SUMMARIES = ("mean", "min", "max")


def total(report, key):
    return sum(row[key] or 0 for row in report)


def devices_of(report):
    return [row for row in report if row["device"] not in SUMMARIES]


def check_identity(row):
    parts = ("computation", "exposed_comm", "exposed_copy", "idle")
    equal(sum(row[part] for part in parts), row["span"], "computation + exposed_comm + exposed_copy + idle")
    equal(row["busy"] + row["idle"], row["span"], "busy + idle")
    waits = ("host_wait", "kernel_wait", "graph_gap", "other_wait", "unknown_wait")
    equal(sum(row[wait] for wait in waits), row["idle"], "sum of the causes")
    equal(row["micro_idle"] + row["macro_idle"], row["idle"], "micro + macro idle")


def check_timeline(index, oracle):
    report = rows("timeline", index)
    for row in devices_of(report) + rows("timeline", index, "--per-stream"):
        if row["device"] not in SUMMARIES:
            check_identity(row)
    actual = {row["device"]: {key: row[key] for key in COMPARED} for row in devices_of(report)}
    equal(actual, {device: {key: row[key] for key in COMPARED} for device, row in oracle.timelines().items()},
          "timelines")
    summaries = {row["device"]: row for row in report if row["device"] in SUMMARIES}
    equal(sorted(summaries), sorted(SUMMARIES) if len(actual) > 1 else [], "rows over devices")
    if summaries:
        spans = [row["span"] for row in devices_of(report)]
        equal([summaries[name]["span"] for name in SUMMARIES],
              [sum(spans) / len(spans), min(spans), max(spans)], "spans over devices")
    return devices_of(report)


def check_gaps(index, oracle, timeline):
    report = rows("gaps", index, "--each")
    expected = oracle.gaps()
    equal([(row["device"], row["ts"], row["dur"], row["launch_cause"]) for row in report], expected, "gaps")
    equal(total(report, "dur"), total(timeline, "idle"), "sum of the gaps")
    for cause, column in zip(CAUSES, ("host_wait", "kernel_wait", "graph_gap", "other_wait", "unknown_wait")):
        equal(sum(gap[2] for gap in expected if gap[3] == cause), total(timeline, column), f"gaps of {cause}")
    between = sum(row["dur"] for row in report if row["cause"] == "[between steps]")
    equal(between, sum(row["between_steps"] or 0 for row in timeline), "idle between steps")
    for options in ((), ("--limit", "5"), ("--each", "--limit", "5"), ("--min-dur", "100us"), ("--min-dur", "1s"),
                    ("--each", "--min-dur", "20us")):
        some = rows("gaps", index, *options)
        require(len(some) <= 7 or "--limit" not in options, "more rows than asked for")
        equal(total(some, "dur"), total(timeline, "idle"), f"sum of gaps and the rest, {options}")
        equal(total(some, "instances"), len(expected), f"number of gaps with the rest, {options}")
        require(all(row["host_pct"] is None or 0 <= row["host_pct"] <= 100 for row in some), "host share")


def check_launches(index, oracle, kernels):
    report = rows("launches", index)
    equal(total(report, "kernels"), kernels, "kernels of all rows")
    expected = {call if call else "[no launch]": own for call, own in oracle.launches().items()}
    equal({row["call"] for row in report}, set(expected), "calls")
    for row in report:
        calls, own_kernels, api, delay, early, queue = expected[row["call"]]
        equal((row["instances"], row["kernels"], row["total_time"]), (calls, own_kernels, api), row["call"])
        if row["delay_avg"] is not None:
            delays = row["launching"]
            equal(round(row["delay_avg"] * delays), delay, f"delays of {row['call']}")
            equal(round(row["queue_avg"] * delays), queue, f"queueing of {row['call']}")
            equal(row["started_early"], early, f"kernels that start before {row['call']} returns")


def check_sums(index, database, timeline):
    comms = rows("comms", index)
    equal((total(comms, "instances"), total(comms, "total_time")),
          database.execute("SELECT count(*), coalesce(sum(dur), 0) FROM kernel WHERE kind LIKE 'comm%'").fetchone(), "comms")
    equal(total(comms, "busy"), total(timeline, "comm"), "busy time of comms")
    equal(total(comms, "exposed"), total(timeline, "exposed_comm"), "exposed time of comms")
    described = database.execute("SELECT count(*) FROM collective c JOIN kernel k ON k.id = c.kernel_id "
                                 "WHERE k.kind LIKE 'comm%'").fetchone()[0]
    equal(sum(row["instances"] for row in comms if row["ranks"] or row["dtype"] or row["group"]), described, "described")
    equal((total(rows("memcpys", index), "instances"), total(rows("memcpys", index), "total_time")),
          database.execute("SELECT count(*), coalesce(sum(dur), 0) FROM memory_op").fetchone(), "copies")


def check_windows(index, timeline):
    """Two windows that meet show no more and no less than the whole."""
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


def check_trace(trace, folder):
    index = ingest(trace, folder / "index.tracedb")
    database = open_index(index)
    oracle = TimeOracle(database)
    timeline = check_timeline(index, oracle)
    check_gaps(index, oracle, timeline)
    check_launches(index, oracle, database.execute("SELECT count(*) FROM kernel").fetchone()[0])
    check_sums(index, database, timeline)
    check_windows(index, timeline)
    check_selections(index)
    for command in COMMANDS:
        run("trace-query", command, index)
    database.close()


def event(category, name, ts, dur, stream=7, device=0, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream, "ts": ts, "dur": dur,
            "args": {"device": device, "stream": stream, **arguments}}


def call(name, ts, dur, correlation):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 50, "tid": 51, "ts": ts, "dur": dur,
            "args": {"correlation": correlation}}


def hand_made():
    collective = {"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 5000, "Out msg nelems": 5000,
                  "Group size": 4, "Process Group Name": "0"}
    return [call("cudaLaunchKernel", 0, 5, 1), event("kernel", "gemm", 10, 10, correlation=1),
            event("kernel", "ncclDevKernel_AllReduce", 15, 10, stream=9, **collective),
            call("cudaGraphLaunch", 12, 4, 2), event("kernel", "norm", 26, 4, correlation=2),
            event("kernel", "gemm", 31, 9, correlation=2),
            call("cudaLaunchKernel", 60, 10, 3), event("kernel", "gemm", 65, 5, correlation=3),
            event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 68, 12, bytes=24000),
            event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 74, 12, stream=9, bytes=12000),
            event("kernel", "gemm", 0, 50, device=1)]


def check_hand_made(folder):
    source = folder / "trace.json"
    source.write_text(json.dumps({"traceEvents": hand_made()}))
    index = ingest(source, folder / "index.tracedb")
    first = rows("timeline", index)[0]
    expected = {"span": 76, "computation": 28, "comm": 10, "exposed_comm": 5, "copy": 18, "exposed_copy": 16, "idle": 27,
                "host_wait": 25, "kernel_wait": 1, "graph_gap": 1, "other_wait": 0, "unknown_wait": 0, "micro_idle": 2,
                "macro_idle": 25, "begin": 10}
    equal({key: first[key] for key in expected}, {key: value * 1000 for key, value in expected.items()}, "timeline")
    equal((first["overlap_pct"], first["gaps"], first["micro_idle_limit"]), (50, 3, 10000), "timeline")
    equal([row["device"] for row in rows("timeline", index)], [0, 1, "mean", "min", "max"], "devices")
    longest, others = rows("gaps", index, "--each", "--limit", "1")
    expected = {"dur": 25000, "instances": 1, "ts": 40000, "device": 0, "cause": "host_wait", "before": "gemm",
                "next": "gemm", "next_kernel_id": 6, "host": "cudaLaunchKernel", "host_pct": 20, "host_op": None}
    equal({key: longest[key] for key in expected}, expected, "the longest gap")
    equal([others[key] for key in ("dur", "instances", "next")], [2000, 2, "[others]"], "the other gaps")
    launches = {row["call"]: row for row in rows("launches", index)}
    equal([launches["cudaLaunchKernel"][key] for key in ("instances", "kernels", "total_time", "delay_avg",
                                                         "started_early")], [2, 2, 15000, 2500, 1], "cudaLaunchKernel")
    equal([launches["cudaGraphLaunch"][key] for key in ("instances", "kernels", "kernels_per_call", "delay_avg",
                                                        "queue_avg")], [1, 2, 2, 10000, 6000], "cudaGraphLaunch")
    equal(launches["[no launch]"]["kernels"], 2, "kernels without a launch")
    comm = rows("comms", index)[0]
    equal([comm[key] for key in ("name", "instances", "total_time", "exposed", "bytes", "ranks", "alg_gb_per_s",
                                 "bus_gb_per_s")], ["allreduce", 1, 10000, 5000, 10000, 4, 1, 1.5], "comms")
    copies = rows("memcpys", index)[0]
    equal([copies[key] for key in ("instances", "total_time", "busy", "gb_per_s", "achieved_gb_per_s")],
          [2, 24000, 18000, 1.5, 2], "memcpys")
    equal(rows("memcpys", index, "--from", "70us")[0]["instances"], 1, "copies after a time")
    equal(first["idle"] - rows("timeline", index, "--kernel-wait", "1us")[0]["other_wait"], 26000, "--kernel-wait 1us")
    check_frame(index)


def check_frame(index):
    """What every report has: all formats, --explain, [others], a reason when it is empty."""
    for command in COMMANDS:
        for form in ("table", "csv", "tsv", "json", "jsonl", "markdown"):
            require(run("trace-query", command, "--format", form, index).stdout, f"{command} --format {form} is empty")
        recipe = run("trace-query", command, "--explain", index).stdout
        require("-- temp." in recipe and "SELECT" in recipe, f"{command} --explain: {recipe}")
        empty = run("trace-query", command, "--phase", "decode", index)
        require("the selection" in empty.stderr, f"{command} does not say why it is empty: {empty.stderr}")
    require("[others]" in run("trace-query", "launches", "--limit", "1", index).stdout, "no [others]")


def main(cases):
    with scratch_folder() as folder:
        cases.run("hand made", check_hand_made, folder)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            with scratch_folder() as folder:
                cases.run(trace.name, check_trace, trace, folder)
