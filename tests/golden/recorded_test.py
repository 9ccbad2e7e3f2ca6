"""What few traces record: hardware counters, recomputation, generated kernels, split sizes, commands of MTIA devices. Figures of the
reports against the JSON, HTA and TraceLens; each rule on a made trace that breaks when the rule does."""
import csv
import gzip
import json
from collections import Counter, defaultdict

from made_events import call, event, index_of, kernel
from time_oracle import length, union
from trace_cases import REFERENCE, TRACES, equal, ingest, nanoseconds, open_index, read_trace, refused, require, rows, run, skip_without_traces, sql

CHECKPOINT = "/opt/torch/utils/checkpoint.py(1100): recompute_fn"
KERNEL_KEYS = ("kernel_backend", "kernel_hash", "kernel_file", "num_warps", "num_stages")


def real(stem):
    found = sorted((TRACES / "kineto").glob(stem + "*"))
    return found[0] if found else None


def launched(number, ts, dur, device_ts, name="k", tid=1):
    return [call("cudaLaunchKernel", ts, 1, number, tid), kernel(name, device_ts, dur, correlation=number)]


# Counters.

def counters(index, *options):
    return {(row["kernel"], row["operator"], row["metric"]) if "kernel" in row else (row["operator"], row["metric"]):
            (row["ranges"], row["value"], row["mean"]) for row in rows("counters", index, *options)}


def expected_counters(ranges):
    """Of (kernel, operators, {metric: value}) what the report has."""
    sums = defaultdict(list)
    for kernel, path, values in ranges:
        widths = [[values.get(f"smsp__sass_thread_inst_executed_op_{width}{kind}_pred_on.sum") for kind in ("add", "mul", "fma")] for width in "dfh"]
        flops = [add + mul + 2 * fma for add, mul, fma in (width for width in widths if None not in width)]
        for name, value in [*values.items(), *([("vector_flops", sum(flops))] if flops else [])]:
            sums[kernel, " > ".join(path) or "[none]", name].append(value)
    return {key: (len(values), float(sum(values)), sum(values) / len(values)) for key, values in sums.items()}


def counters_equal_hta(folder):
    trace, reference = real("cupti_counters_a100"), REFERENCE / "analyses/hta_more/cupti_counters_a100.json.gz"
    with gzip.open(reference) as file:
        told = json.load(file)["cupti"][0]
    ranges = [(range_["name"], range_["op_stack"], {k: v for k, v in range_.items() if k.startswith("smsp_")}) for range_ in told]
    index = ingest(trace, folder / "counters.tracedb")
    found = counters(index)
    equal(found, expected_counters(ranges), "counters")
    by_operator = counters(index, "--by", "operator")
    equal(by_operator, {key[1:]: value for key, value in expected_counters([("", *rest) for _, *rest in ranges]).items()},
          "counters by operator")


def made_counters(folder):
    fma, add, mul, half = (f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum" for name in ("ffma", "fadd", "fmul", "hadd"))
    ops = [event("cpu_op", "outer", 0, 100), event("cpu_op", "inner", 10, 20)]
    calls = [call("cudaLaunchKernel", ts, 1, ts) for ts in (12, 50)]
    ranges = [event("cuda_profiler_range", name, ts, 5, pid=0, tid=0, **args) for name, ts, args in
              (("a", 200, {fma: 10, add: 1, mul: 3, half: 5}), ("b", 210, {add: 4, "dram__throughput.avg": 2.5}))]
    paths = [["outer", "inner"], ["outer"]]
    whole = index_of(folder / "whole.json", ops + calls + ranges)
    told = [(r["name"], path, r["args"]) for r, path in zip(ranges, paths)]
    equal(counters(whole), expected_counters(told), "made counters")
    # A range without counters is one all the same.
    bare = index_of(folder / "bare.json", ops + calls + [ranges[0] | {"args": {}}, ranges[1]])
    equal(counters(bare), expected_counters(told[1:]), "a range without counters")
    # One range is missing: no operator is guessed. Two of one name and time are kept apart.
    for name, kept in (("missing", ranges[:1]), ("twins", [ranges[0], ranges[0] | {"args": {add: 7}}, ranges[1]])):
        index = index_of(folder / f"{name}.json", ops + calls + kept)
        equal(counters(index), expected_counters([(r["name"], [], r["args"]) for r in kept]), name)
        require("operators are not known" in run("trace-query", "counters", index).stderr, f"{name}: nothing is said")
    none = index_of(folder / "none.json", ops + calls)
    require("no range of hardware counters" in run("trace-query", "counters", none).stderr, "no ranges: nothing is said")


# Recomputation.

def recomputed(index):
    return {row["operator"]: row for row in rows("recompute", index)}


def recompute_equals_tracelens(folder):
    name = "resnet_checkpoint_ddp_mi300x"
    folder_of = REFERENCE / "analyses/tracelens_roofline" / name
    with gzip.open(folder_of / "ops_summary_recompute.csv.gz", "rt") as file:
        told = {row["name"]: row for row in csv.DictReader(file) if row["is_recompute"] == "True"}
    with gzip.open(folder_of / "gpu_timeline_recompute.csv.gz", "rt") as file:
        busy = next(row for row in csv.DictReader(file) if row["is_recompute"] == "True" and row["type"] == "busy_time")
    index = ingest(real(name), folder / "recompute.tracedb")
    found = recomputed(index)
    equal(set(found), set(told), "operators that are run again")
    for op, row in told.items():
        equal(found[op]["calls"], int(row["Count"]), f"calls of {op}")
        require(abs(found[op]["busy"] / 1000 - float(row["total_direct_kernel_time_sum"])) < 1, f"busy of {op}: {found[op]}")
        equal(found[op]["found_by"], "frames", op)
    total = sum(row["busy"] for row in found.values())
    require(abs(total / 1e6 - float(busy["time ms"])) < 0.01, f"busy {total}, TraceLens {busy}")


def training(recompute, frames):
    """Forward and backward of one operator, which the backward pass runs once more under `recompute`."""
    autograd = "autograd::engine::evaluate_function: "
    events = [event("cpu_op", "aten::mm", 10, 20, **{"Sequence number": 1, "Fwd thread id": 0}), *launched(1, 12, 30, 40)]
    events += [event("cpu_op", autograd + "CheckpointFunctionBackward", 100, 200, tid=2),
               event("cpu_op", "CheckpointFunctionBackward", 101, 198, tid=2)] if recompute else []
    events += [event("cpu_op", "aten::mm", 110, 10, tid=2), *launched(2, 112, 50, 120, tid=2)]
    events += [event("cpu_op", autograd + "MmBackward0", 150, 40, tid=2, **{"Sequence number": 1, "Fwd thread id": 1}),
               event("cpu_op", "MmBackward0", 151, 30, tid=2, **{"Sequence number": 1, "Fwd thread id": 1}),
               event("cpu_op", "aten::mm", 152, 10, tid=2), *launched(3, 154, 100, 200, tid=2)]
    if frames:
        events += [event("python_function", CHECKPOINT, 105, 30, tid=2, **{"Python id": 1, "Python parent id": None})]
    return events


def made_recomputation(folder):
    for name, recompute, frames, by in (("autograd", True, False, "autograd"), ("frames", False, True, "frames"), ("both", True, True, "frames")):
        index = index_of(folder / f"{name}.json", training(recompute, frames))
        found = recomputed(index)
        equal(set(found), {"aten::mm"}, name)
        row = found["aten::mm"]
        equal((row["calls"], row["kernels"], row["busy"], row["forward"], row["found_by"]), (1, 1, 50000, 30000, by), name)
        require(abs(row["share_pct"] - 100 * 50 / 150) < 0.01, f"{name}: {row}")
    twice = [*training(True, False), call("cudaLaunchKernel", 115, 1, 4, tid=2), kernel("k", 120, 50, device=1, correlation=4)]
    index = index_of(folder / "devices.json", twice)
    row = recomputed(index)["aten::mm"]
    equal((row["calls"], row["kernels"], row["busy"], row["share_pct"]), (1, 2, 100000, 50), "of two devices at the same time")
    row = next(row for row in rows("operators", index) if row["name"] == "aten::mm")
    equal((row["device_total"], row["device_busy"]), (230000, 230000), "operator on two devices at the same time")
    for name, events, why in (("no backward", launched(1, 1, 2, 3), "passes are not known: operators"),
                              ("no frames", training(False, False), "with_stack=True")):
        index = index_of(folder / f"{name}.json", events)
        equal(recomputed(index), {}, name)
        require(why in run("trace-query", "recompute", index).stderr, f"{name}: {run('trace-query', 'recompute', index).stderr}")


# Generated kernels, split sizes.

def generated_kernels(folder):
    asked = 0
    for trace in sorted((TRACES / "kineto").glob("*.json*")):
        events = read_trace(trace)[0]
        told = Counter((event["name"], *(str(event["args"].get(key, "")) for key in KERNEL_KEYS)) for event in events
                       if event.get("cat") == "cpu_op" and {"kernel_backend", "kernel_hash"} & event.get("args", {}).keys())
        splits = Counter(tuple(text_of(event["args"].get(f"{way} split size")) for way in ("In", "Out")) for event in events
                         if event.get("cat") == "kernel" and "Collective name" in event.get("args", {}))
        if not told and not splits:
            continue
        asked += 1
        index = ingest(trace, folder / "generated.tracedb")
        found = Counter()
        for row in rows("operators", index, "--generated"):
            found[row["name"], *(str(row[key] if row[key] is not None else "") for key in ("backend", "hash", "file", "warps", "stages"))] += row["calls"]
        equal(found, told, f"{trace.name}: generated kernels")
        view = Counter((row["name"], *(str(row[key] if row[key] is not None else "") for key in KERNEL_KEYS)) for row in sql(index, (
            "SELECT o.name, d.* FROM operator_details d JOIN cpu_ops o ON o.id = d.cpu_op_id WHERE kernel_backend IS NOT NULL")))
        equal(view, told, f"{trace.name}: the view of details")
        with open_index(index) as db:
            kept = Counter(db.execute("SELECT in_splits, out_splits FROM collective"))
        equal({key: n for key, n in kept.items() if any(key)}, {key: n for key, n in splits.items() if any(key)}, f"{trace.name}: split sizes")
    require(asked >= 4, f"{asked} traces with generated kernels or split sizes")


def text_of(value):
    return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))


# Kernels that wait longer for their launch than they run.

def short_launches(folder):
    """Waits: 3 us for 2 us, 1 us for 2 us, 30 us for 20 us; of another name 9 us for 4 us. The second kernel of a launch has no wait."""
    events = [*launched(1, 10, 2, 14), *launched(2, 20, 2, 22), *launched(3, 30, 20, 61), *launched(4, 90, 4, 100, "other"),
              kernel("k", 110, 1, correlation=4), *launched(5, 120, 0, 130, "none")]
    index = index_of(folder / "short.json", events)
    figures = lambda *words: {row["name"]: (row["n"], row["launched"], row["total_time"], row["delay_total"], row["delay_med"])
                              for row in rows("launches", index, *words)}
    equal(figures("--short", "10us"), {"k": (1, 3, 2000, 3000, 3000), "other": (1, 1, 4000, 9000, 9000), "none": (1, 1, 0, 9000, 9000)}, "below 10 us")
    equal(figures("--short", "1ms"), {"k": (2, 3, 22000, 33000, 16500), "other": (1, 1, 4000, 9000, 9000), "none": (1, 1, 0, 9000, 9000)}, "below 1 ms")
    equal(figures("--short", "10us", "--name", "other"), {"other": (1, 1, 4000, 9000, 9000)}, "of one name")
    equal(figures("--short", "1us"), {"none": (1, 1, 0, 9000, 9000)}, "below 1 us")
    said = run("trace-query", "launches", index, "--short", "1us", "--name", "k")
    require("that short" in said.stderr, f"nothing is said: {said}")
    refused(2, "soon", "trace-query", "launches", index, "--short", "soon")


# MTIA.

def mtia(folder):
    trace = real("mtia_inference")
    events = [event for event in read_trace(trace)[0] if event.get("cat") == "mtia_ccp_events"]
    index = ingest(trace, folder / "mtia.tracedb")
    waits = {"event_wait", "event_record"}
    with open_index(index) as db:
        equal(Counter(dict(db.execute("SELECT n.name, count(*) FROM kernel k JOIN kernel_name n ON n.id = k.name_id GROUP BY 1"))),
              Counter(e["name"] for e in events if e["name"] not in waits | {"dma_request"}), "kernels")
        equal(Counter(db.execute("SELECT s.number, m.bytes FROM memory_op m JOIN stream s ON s.id = m.stream_id")),
              Counter((e["args"]["stream"], e["args"]["size"]) for e in events if e["name"] == "dma_request"), "copies")
        equal(db.execute("SELECT count(*) FROM sync WHERE stream_id IS NOT NULL AND wait_stream IS NOT NULL").fetchone()[0],
              sum(e["name"] == "event_wait" for e in events), "waits")
        linked = db.execute("SELECT (SELECT count(*) FROM kernel WHERE launch_id IS NOT NULL) + (SELECT count(*) FROM memory_op WHERE launch_id "
                            "IS NOT NULL)").fetchone()[0]
        launches = sum(e["name"] not in waits and "correlation" in e["args"] for e in events)
        equal(linked, launches, "commands with a launch")
        equal(db.execute("SELECT DISTINCT vendor, ordinal FROM device WHERE used = 1").fetchall(), [("meta", 17)], "device")
    # HTA takes waits for work: so its busy time is that of all commands, cut to whole microseconds.
    with gzip.open(REFERENCE / "analyses/hta_more/mtia_inference.json.gz") as file:
        told = json.load(file)["temporal"][0]
    spans = [(nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in events]
    require(abs(length(union(spans)) / 1000 - (told["compute_time(us)"] + told["non_compute_time(us)"])) < len(events),
            f"all commands {length(union(spans))} ns, HTA {told}")
    work = length(union((nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in events if e["name"] not in waits))
    found = [row for row in rows("timeline", index) if str(row["device"]) == "17"]
    equal(sum(row["busy"] for row in found), work, "busy time of work alone")
    said = {row["code"]: row["suggestion"] for row in rows("warnings", index)}
    equal(said["before_recording"].partition("; ")[2], "wait for the device before the profiler starts", "no call of CUDA")


def main(cases, folder):
    cases.each_apart((made_counters, made_recomputation, short_launches))
    if skip_without_traces(cases, REFERENCE / "analyses"):
        return
    cases.each_apart((counters_equal_hta, recompute_equals_tracelens, generated_kernels, mtia))
