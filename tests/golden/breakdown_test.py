"""`breakdown`: rows against shares worked out here instant by instant, of synthetic and real traces; and against the TensorBoard
plugin where its steps are ours."""
import gzip
import json

import made_events
from made_events import call, event, index_of
from operator_work_test import trace_called
from sentences_test import check_report
from trace_cases import REFERENCE, equal, ingest, kineto_traces, make_trace, open_index, require, rows, run

SHARES = ("computing", "exposed_comm", "copy", "runtime", "data_loader", "operators", "other")
# Figures of the plugin's row of a step: its copies may overlap with communication, so of the device the sum alone.
DEVICE, RUNTIME, LOADER, LENGTH = slice(0, 4), 4, 5, 8


PASSES = ("forward", "backward", "optimizer", None)
# In this order of precedence: (share, pass), then nothing.
PARTS = [(share, step) for share in range(3) for step in PASSES] + [(3, None), (4, None), (5, None)]


def spans(index, device):
    """[(begin, end, place in PARTS)] of everything on a device and the host."""
    with open_index(index) as db:
        streams = {stream for stream, of in db.execute("SELECT id, device_id FROM stream") if of == device}
        out = [(ts, ts + dur, 2 if kind == "copy_kernel" else 1 if kind in ("comm", "comm_compute") else 0, step)
               for ts, dur, kind, stream, step in db.execute("SELECT ts, coalesce(dur, 0), kind, stream_id, pass FROM kernel") if stream in streams]
        out += [(ts, ts + dur, 0 if kind == "memset" else 2, step)
                for ts, dur, kind, stream, step in db.execute("SELECT ts, coalesce(dur, 0), kind, stream_id, pass FROM memory_op") if stream in streams]
        out += [(ts, ts + dur, 3, None) for ts, dur in db.execute("SELECT ts, coalesce(dur, 0) FROM runtime_call")]
        for table, share in (("cpu_op", 5), ("annotation", None)):
            for ts, dur, name in db.execute(f"SELECT e.ts, coalesce(e.dur, 0), s.value FROM {table} e JOIN string s ON s.id = e.name_id"):
                loads = name.startswith(("enumerate(DataLoader)#", "enumerate(DataPipe)#"))
                if loads or share:
                    out.append((ts, ts + dur, 4 if loads else share, None))
    return [(begin, end, PARTS.index((share, step))) for begin, end, share, step in out]


def parts_of(window, events):
    """Each instant goes to the first part that has an event then."""
    begin, end = window
    edges = sorted(edge for a, b, part in events if a < end and b > begin
                   for edge in ((max(a, begin), part, 1), (min(b, end), part, -1)))
    out, open_, at = [0] * (len(PARTS) + 1), [0] * len(PARTS), begin
    for time, part, change in [*edges, (end, 0, 0)]:
        out[next((i for i, count in enumerate(open_) if count), len(PARTS))] += time - at
        open_[part] += change
        at = time
    return out


def check_complete(index, found):
    """Without what TensorBoard leaves out: steps at the end that launch nothing, or less than 80 % of the one before."""
    launched = {row["step"]: row["n"] for row in rows("sql", index, "SELECT step, count(*) AS n FROM (SELECT step FROM kernels UNION ALL "
                "SELECT step FROM memcpys) WHERE step IS NOT NULL GROUP BY step")}
    last = max(launched, default=None)
    if last and launched[last] < 0.8 * launched.get(last - 1, 0):
        last -= 1
    equal(rows("breakdown", index, "--limit", 0, "--complete-only"), [row for row in found if last is None or row["step"] <= last], "complete steps")


def check_cut(folder):
    """Steps that launch so many kernels each, and how many of them are complete."""
    for launched, kept in (((5, 5, 4), 3), ((5, 5, 3), 2), ((5, 5, 3, 0), 2), ((5, 5, 5, 0, 0), 3), ((5, 3, 3), 3), ((3,), 1), ((0, 0), 2)):
        events = [event("user_annotation", f"ProfilerStep#{step}", 1000 * step, 900) for step in range(len(launched))]
        for step, count in enumerate(launched):
            for i in range(count):
                events += [call("cudaLaunchKernel", 1000 * step + 10 * i, 5, 10 * step + i + 1),
                           made_events.kernel("gemm", 1000 * step + 10 * i + 5, 4, correlation=10 * step + i + 1)]
        index = index_of(folder / f"{'_'.join(map(str, launched))}.json", events)
        for by in ((), ("--by", "phase")):
            found = rows("breakdown", index, "--complete-only", *by)
            left = len(launched) - kept
            said = run("trace-query", "breakdown", "--complete-only", *by, index).stderr
            equal(f"{left} step{'s' if left > 1 else ''} at the end left out: not complete" in said, left > 0, f"{launched}: {said}")
            equal(sum(row["steps"] for row in found) if by else len(found), kept, f"complete steps of {launched} {by}")


def check_rows(index):
    found = rows("breakdown", index, "--limit", 0)
    check_complete(index, found)
    by_pass = {(row["step"], row["device_id"], row["pass"]): row for row in rows("sql", index, "SELECT * FROM pass_breakdown")}
    for device in {row["device_id"] for row in rows("sql", index, "SELECT DISTINCT device_id FROM step_breakdown")}:
        events = spans(index, device)
        for row in rows("sql", index, f"SELECT * FROM step_breakdown WHERE device_id IS {device if device else 'NULL'}"):
            parts = parts_of((row["ts"], row["ts"] + row["length"]), events)
            equal([row[share] for share in SHARES],
                  [sum(time for time, (share, _) in zip(parts, PARTS) if share == i) for i in range(6)] + [parts[-1]], f"shares of step {row['step']}")
            for i, step in enumerate(PASSES):
                ours = by_pass.pop((row["step"], device, step or "[no pass]"), dict.fromkeys(SHARES, 0))
                equal([ours[share] for share in SHARES], [*parts[i:12:4], 0, 0, 0, 0], f"step {row['step']}, {step}")
            idle = by_pass.pop((row["step"], device, "[device idle]"))
            equal([idle[share] for share in SHARES], [0, 0, 0, *parts[12:]], f"step {row['step']}, device idle")
    equal(by_pass, {}, "passes of no step")
    for row in found:
        equal(sum(row[share] for share in SHARES), row["length"], "sum of the shares")
    return found


def check_occupied(index):
    """Multiprocessors with a block and occupancy, by device: blocks of all that run, at most one each, edge by edge."""
    windows = rows("sql", index, "SELECT device_id, ts, ts + length AS end FROM step_breakdown")
    with open_index(index) as db:
        names = dict(db.execute("SELECT id, coalesce(ordinal, name) FROM device"))
        kernels = db.execute("SELECT s.device_id, k.ts, k.ts + k.dur, l.blocks_per_sm, l.occupancy_pct FROM kernel k JOIN stream s ON s.id = "
                             "k.stream_id LEFT JOIN launch_config l ON l.id = k.launch_config_id WHERE k.dur > 0").fetchall()
    for row in rows("breakdown", index, "--by", "device"):
        if row["device"] in ("mean", "min", "max"):
            continue
        own = [window for window in windows if names.get(window["device_id"]) == row["device"]]
        running = [kernel[1:] for kernel in kernels if names[kernel[0]] == row["device"]]
        held = weight = time = 0
        edges = sorted(edge for a, b, blocks, _ in running if (blocks or 0) > 0 for edge in ((a, blocks), (b, -blocks)))
        for window in own:
            begin, end = window["ts"], window["end"]
            blocks = 0
            for (at, change), (after, _) in zip(edges, edges[1:]):
                blocks += change
                held += min(max(blocks, 0), 1) * max(min(after, end) - max(at, begin), 0)
            for a, b, _, occupancy in running:
                length = max(min(b, end) - max(a, begin), 0) if occupancy is not None and occupancy >= 0 else 0
                time, weight = time + length, weight + length * (occupancy or 0)
        length = sum(window["end"] - window["ts"] for window in own)
        for name, value in (("sm_pct", 100 * held / length if running and all((blocks or 0) > 0 for _, _, blocks, _ in running) else None), ("occupancy_pct", weight / time if time else None)):
            require((row[name] is None) == (value is None) and (value is None or abs(row[name] - value) < 1e-6 * max(1, value)),
                    f"{name} of device {row['device']}: {row[name]}, not {value}")


def check_sums(index):
    """What is by phase or device adds up to the rows; a selection picks rows and leaves their figures."""
    every = rows("breakdown", index, "--limit", 0)
    for by in ("phase", "device", "pass"):
        for share in ("length", *SHARES):
            equal(sum(row[share] for row in rows("breakdown", index, "--by", by, "--limit", 0) if row.get(by) not in ("mean", "min", "max")),
                  sum(row[share] for row in every), f"{share} by {by}")
    equal(rows("breakdown", index, "--step", every[-1]["step"]), [row for row in every if row["step"] == every[-1]["step"]], "one step")
    cut = every[0]["ts"] + every[0]["length"] // 2
    first = rows("breakdown", index, "--step", every[0]["step"], "--to", cut)[0]
    equal((first["ts"], first["length"]), (every[0]["ts"], cut - every[0]["ts"]), "a step that --to cuts")
    equal(rows("breakdown", index, "--phase", "none"), [], "steps of no kind")


def check_plugin(reference, index):
    """Lengths, device time, runtime calls and data loader of its steps, where it begins and ends them as we do and knows all work."""
    theirs = json.loads(gzip.decompress(reference.read_bytes()))
    ingest(trace_called(reference.name.removesuffix(".json.gz")), index)
    ours = {(row["name"] or "").removeprefix("ProfilerStep#"): row for row in rows("breakdown", index, "--limit", 0)}
    same = 0
    # The plugin does not know calls of the driver.
    drives = rows("sql", index, "SELECT count(*) AS n FROM runtime_call c JOIN string s ON s.id = c.name_id WHERE s.value GLOB 'cu[A-Z]*'")[0]["n"]
    for name, *figures in theirs.get("breakdown_us") or ():
        row = ours.get(name)
        if row is None or abs(row["length"] / 1000 - figures[LENGTH]) > 0.01:
            continue
        busy = sum(row[share] for share in SHARES[:3]) / 1000
        if abs(busy - sum(figures[DEVICE])) < 0.01:
            same += 1
            require(drives or abs(row["runtime"] / 1000 - figures[RUNTIME]) < 0.01, f"runtime of step {name}: {row['runtime']}, theirs {figures[RUNTIME]}")
            require(abs(row["data_loader"] / 1000 - figures[LOADER]) < 0.01, f"data loader of step {name}")
    gpu = theirs.get("gpu") or {}
    held = sum(known and abs(row["sm_pct"] - 100 * known["sm_efficiency"]) < 1e-4 and abs(row["occupancy_pct"] - known["occupancy_pct"]) < 1e-4
               for row in rows("breakdown", index, "--by", "device") if row["sm_pct"] and row["occupancy_pct"]
               for known in [gpu.get(str(row["device"]))])
    return same, held


def check_made(folder):
    for name, options in {"train": ("--model", "train", "--streams", 3), "serve": ("--mix", "P,D*4", "--streams", 2, "--tensor-parallel", 2)}.items():
        index = ingest(make_trace(folder / f"{name}.json", "--layers", 3, "--steps", 6, *options), folder / f"{name}.tracedb")
        equal(len(check_rows(index)), 6, "steps")
        check_sums(index)


    blocks = {"blocks per SM": 1.0, "warps per SM": 4.0, "est. achieved occupancy %": 50, "grid": [132, 1, 1], "block": [128, 1, 1]}
    some = index_of(folder / "some.json", [made_events.kernel("a", 100, 100, **blocks), made_events.kernel("b", 300, 500)])
    check_occupied(some)


def check_lost(folder):
    """A step of which no launch is recorded is judged where work of no launch runs in its time, of the devices of its process;
    where none does it runs nothing."""
    def steps(*begins, pid=1, tid=1):
        return [event("user_annotation", f"ProfilerStep#{i}", begin, 980, pid, tid) for i, begin in enumerate(begins)]

    def launched(begin, device=0):
        return [call("cudaLaunchKernel", begin + 10, 5, begin + 1), made_events.kernel("gemm", begin + 40, 800, device=device, correlation=begin + 1)]

    def lost(*begins, device=0):
        return [made_events.kernel("gemm", begin + 40, 800, device=device, correlation=90000 + begin) for begin in begins]

    for name, events, options, expected in (
            ("all", steps(0, 1000) + lost(0, 1000), (), [(0, 0, 800), (1, 0, 800)]),
            ("one of two", steps(0, 1000) + launched(0) + lost(1000), (), [(0, 0, 800), (1, 0, 800)]),
            ("on a device", steps(0, 1000) + lost(0) + lost(1000, device=1), ("--device", 1), [(1, 1, 800)]),
            ("where no other runs", steps(0, 1000) + launched(0) + lost(1000, device=1), (), [(0, 0, 800), (1, None, 0)]),
            ("of another process", steps(0) + launched(0) + steps(1000, pid=2) + lost(1000, device=1), (), [(0, 0, 800), (1, 1, 800)]),
            ("launched before it", steps(1000) + [call("cudaLaunchKernel", 10, 5, 7), made_events.kernel("warm-up", 900, 900, correlation=7)], (), [(0, None, 0)]),
            ("on another device", steps(0, 1000) + launched(0) + lost(1000, device=1), ("--device", 0), [(0, 0, 800)]),
            ("of a step", steps(0, 1000) + lost(0, 1000), ("--step", 1), [(1, 0, 800)]),
            ("on two", steps(0) + lost(0) + lost(0, device=1), (), [(0, 0, 800), (0, 1, 800)]),
            ("before and behind", steps(1000) + lost(0, 2000), (), [(0, None, 0)]),
            ("of a step that works", steps(0) + launched(0) + lost(0, device=1), (), [(0, 0, 800)]),
            ("in part", steps(0, 1000) + launched(0) + lost(1000) + launched(1000, device=1), (), [(0, 0, 800), (1, 0, 800), (1, 1, 800)]),
            ("none", steps(0) + [{**one, "name": "ProfilerStep#7"} for one in steps(5, tid=2)] + launched(0), (), [(0, 0, 800), (1, None, 0)])):
        index = index_of(folder / f"{name}.json", events)
        equal([(row["step"], row["device"], row["computing"] // 1000) for row in rows("breakdown", index, *options)], expected, f"launches lost: {name}")
    found = [row["text"] for row in rows("findings", folder / "all.tracedb") if row["finding"] == "busy"]
    require(found[0].startswith("devices are busy for 81.6 % of the time of the steps"), found)
    # Of two processes each device has the host of its own, which gaps name by an annotation of the loader, too.
    loader = "enumerate(DataLoader)#_Iter.__next__"
    two = index_of(folder / "two.json", [*steps(0), *steps(0, pid=2, tid=2), *launched(0), event("cuda_runtime", "cudaLaunchKernel", 10, 200, 2, 2, correlation=9),
                                         made_events.kernel("gemm", 300, 90, device=1, correlation=9), event("user_annotation", loader, 400, 300, 2, 2),
                                         event("cuda_runtime", "cudaLaunchKernel", 700, 5, 2, 2, correlation=8), made_events.kernel("relu", 705, 90, device=1, correlation=8)])
    equal([(row["device"], row["runtime"] // 1000, row["data_loader"] // 1000) for row in rows("breakdown", two)], [(0, 5, 0), (1, 205, 300)], "hosts of two processes")
    equal([row["host"] for row in rows("gaps", two, "--device", 1)], [loader], "what the host does in a gap")
    # The page does not say how long a step takes that lost most of its work.
    some = index_of(folder / "some.json", [*steps(*range(0, 6000, 1000)), *lost(*range(0, 6000, 1000)), *(one for begin in range(0, 6000, 2000) for one in (
        call("cudaLaunchKernel", begin + 850, 5, begin + 1), made_events.kernel("relu", begin + 860, 20, correlation=begin + 1)))])
    check_report(some)
    page = " ".join(run("trace-query", "report", "-q", "--format", "markdown", some).stdout.split())
    require("98 % of the kernel time during steps is in none, as its launches are not recorded: how long a step takes is not known" in page, page[:400])
    # It does where others run what is of no step: on another device, or launched beside the steps.
    others = [[event("cuda_runtime", "cudaLaunchKernel", 20 + stream, 1, 2, 2, correlation=stream),
               made_events.kernel("other", 40, 800, stream, device, correlation=stream)] for device in (0, 1) for stream in (20 + device, 30 + device)]
    beside = index_of(folder / "beside.json", steps(0) + launched(0) + sum(others, []))
    for options in ((), ("--device", 0)):
        page = run("trace-query", "report", "-q", "--format", "markdown", beside, *options).stdout
        require("a step spans 800 us" in page, page[:400])


def check_words(folder):
    """What stands out is said with its number, only beyond its limit, and not at all where that is asked for; by `breakdown`, the
    table of findings, the page of a trace and, of one side, that of a comparison."""
    def made(name, loading, kernel, reserved=10, more=()):
        ids = {"correlation": 3, "External id": 3}
        shapes = {"Input Dims": [[4, 8], [8, 2]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}
        events = [event("user_annotation", "ProfilerStep#1", 0, 100),
                  event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 0, loading),
                  event("cpu_op", "aten::mm", 10 + loading, 20, **{"External id": 3, **shapes}),
                  call("cudaLaunchKernel", 12 + loading, 2, **ids), made_events.kernel(kernel, 15 + loading, 80 - loading, **ids)]
        events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 12 + loading, "args": {
            "Device Type": 1, "Device Id": 0, "Addr": 64, "Bytes": 10, "Total Allocated": 10, "Total Reserved": reserved}})
        device = {"id": 0, "name": "Fancy", "computeMajor": 8, "computeMinor": 0, "totalGlobalMem": 1000}
        return index_of(folder / f"{name}.json", [*events, *more], deviceProperties=[device])

    def said(*given, options=()):
        return run("trace-query", "breakdown", *options, made(*given)).stderr

    loads = said("loads", 60, "volta_sgemm_64x32")
    for text in ("input bound: 60.0 % of the step", "devices are busy for 20.0 %", "tensor cores unused", "and 100.0 % of the device time is of operators"):
        require(text in loads, f"{text!r} is not said: {loads}")
    computes = said("computes", 4, "nvjet_tst_128x256")
    for text in ("input bound", "busy for", "tensor cores"):
        require(text not in computes, f"{text!r} is said: {computes}")
    full, empty = made("full", 60, "volta_sgemm_64x32", 910), made("empty", 4, "nvjet_tst_128x256")
    found = {row["finding"]: (row["share_pct"], row["stands_out"]) for row in rows("findings", full)}
    equal(found, {"data_loader": (60, 1), "busy": (20, 1), "tensor_cores": (100, 1), "memory": (91, 1), "exposed_comm": (0, 0)}, "findings")
    equal([row["stands_out"] for row in rows("findings", empty)], [0] * 4, "findings of a trace in which nothing stands out")
    for row in rows("findings", empty):
        require("bound" not in row["text"] and "nearly" not in row["text"], f"a share within its limit is blamed: {row}")
    page = run("trace-query", "report", full, "--format", "markdown").stdout
    both = run("trace-query", "compare", empty, full).stdout
    for text in ("input bound: 60.0 % of the step", "tensor cores unused", "nearly full: 91.0 % of the memory of cuda 0 is taken at the fullest moment of the trace, 98.9 % of that by the allocator alone"):
        for where in (page, both):
            require(" ".join(where.split()).count(text) == 1, f"{text!r} is not said once: {where}")
    require("data loader; empty: 4.0 %" in " ".join(both.split()), f"the other side's share is not said: {both}")
    require("* input bound" in page, f"an item of Markdown with a bullet of text: {page}")
    require("<li>input bound" in run("trace-query", "report", full).stdout, "an item of HTML with a bullet of text")
    # Of a kernel whose name does not say it, nothing is claimed; nor of steps that a selection of kernels leaves without work.
    unknown = made("unknown", 60, "triton_tem_fused_mm_0")
    equal([row["text"] for row in rows("findings", unknown) if row["finding"] == "tensor_cores"], [], "tensor cores of unknown kernels")
    for name in ("my_fancy_mm", "cutlass::MainloopSm90TmaGmmaWarpSpecialized<bf16>"):
        helper = [call("cudaLaunchKernel", 86, 2, 4, **{"External id": 3}), made_events.kernel("void cublasLt::splitKreduce_kernel<32>", 96, 30, correlation=4, **{"External id": 3})]
        equal([row["text"] for row in rows("findings", made("helper", 60, name, more=helper)) if row["finding"] == "tensor_cores"], [], f"{name} and its helper")
    equal([row["finding"] for row in rows("findings", full, "--name", "*nosuch*") if row["finding"] != "memory"], [], "findings about no kernel")
    norm = [event("cpu_op", "aten::native_batch_norm", 85, 10, **{"External id": 4, "Input Dims": [[4, 8]], "Input type": ["float"]}),
            call("cudaLaunchKernel", 86, 2, 4, **{"External id": 4}), made_events.kernel("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>", 96, 304, correlation=4, **{"External id": 4})]
    equal([row["share_pct"] for row in rows("findings", made("norm", 4, "volta_sgemm_64x32", more=norm)) if row["finding"] == "tensor_cores"], [20],
          "tensor cores beside a kernel that has no use for them")
    # No step waits for the loader of another thread.
    beside = made("beside", 4, "k", more=[event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 0, 90, 1, 9)])
    equal([row["share_pct"] for row in rows("findings", beside) if row["finding"] == "data_loader"], [4], "a loader on another thread")
    # Devices that are busy within steps far apart idle most of the time.
    events = [one for step in range(3) for one in (event("user_annotation", f"ProfilerStep#{step}", 1000 * step, 100),
                                                   call("cudaLaunchKernel", 1000 * step + 1, 2, correlation=step + 1),
                                                   made_events.kernel("k", 1000 * step + 5, 80, correlation=step + 1))]
    apart = index_of(folder / "apart.json", events)
    for options, found in (((), (1, True)), (("--step", "0,2"), (0, False))):
        (busy,) = [row for row in rows("findings", apart, *options) if row["finding"] == "busy"]
        equal((busy["stands_out"], "85.7 % of the time from the first step to the last is in none" in busy["text"]), found, busy["text"])
    # What waits between them waits for the loader.
    loads = index_of(folder / "between.json", events + [event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 1000 * step + 110, 800) for step in range(2)])
    (loading,) = [row for row in rows("findings", loads) if row["finding"] == "data_loader"]
    require(loading["stands_out"] and abs(loading["share_pct"] - 100 * 1600 / 2100) < 0.1, loading["text"])
    require(loading["text"].startswith("input bound: 76.2 % of the time from the first step to the last waits"), loading["text"])
    # A share below what is printed is not rounded up, and of kernels that no rule knows none is said not to communicate.
    little = index_of(folder / "little.json", [event("user_annotation", "ProfilerStep#1", 0, 10000), call("cudaLaunchKernel", 1, 2, 1),
                                               event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 5, 2), made_events.kernel("zk_1", 10, 9000, correlation=1)])
    texts = {row["finding"]: row["text"] for row in rows("findings", little)}
    require(texts["data_loader"].startswith("under 0.1 % of the step"), texts)
    require(texts["exposed_comm"].startswith("at least 0.0 % of the step"), texts)
    require("recognised as communication" in run("trace-query", "comms", little).stderr, "what is not recognised is said not to communicate")
    ranks = index_of(folder / "ranks.json", events + [event("user_annotation", f"ProfilerStep#{step}", 1000 * step + 10, 100, 2, 2) for step in range(3)])
    (busy,) = [row for row in rows("findings", ranks) if row["finding"] == "busy"]
    require("84.4 % of the time from the first step to the last is in none" in busy["text"], f"steps of two ranks: {busy}")
    # One long step, in which the loader starts, says nothing of the regular ones.
    first = index_of(folder / "first.json", [event("cpu_op", "enumerate(DataLoader)#_Iter.__next__", 2, 2890)] + [one for step, begin in enumerate([0, *range(3000, 3700, 100)]) for one in (
        event("user_annotation", f"ProfilerStep#{step}", begin, 100 if step else 3000), call("cudaLaunchKernel", begin + (1 if step else 2901), 2, step + 1),
        made_events.kernel("gemm", begin + (5 if step else 2910), 80, correlation=step + 1))])
    found = {row["finding"]: (row["share_pct"], row["stands_out"]) for row in rows("findings", first)}
    equal((found["data_loader"], found["busy"]), ((0, 0), (80, 0)), "a long first step")
    for words in (("report", first, "--format", "markdown"), ("compare", empty, first)):
        text = run("trace-query", *words).stdout
        require("input bound" not in text and "host bound" not in text, text)
    equal(rows("findings", apart, "--step", "9"), [], "findings of no step")
    require("was recorded" not in run("trace-query", "findings", apart, "--step", "9").stderr, "what is not selected is said not to be recorded")
    for pair in ((empty, empty), (full, full)):
        require("Findings" not in run("trace-query", "compare", *pair).stdout, "what both sides have is told as a difference")
    require("input bound" not in said("quiet", 60, "volta_sgemm_64x32", options=["--no-findings"]), "findings are said in spite of --no-findings")


def check_plugins(folder):
    references = sorted((REFERENCE / "analyses/tensorboard_more").glob("*.json.gz"))
    if references:
        found = [check_plugin(reference, folder / f"{reference.name}.tracedb") for reference in references]
        same, held = (sum(counts) for counts in zip(*found))
        require(same >= 12, f"only {same} steps of the plugin are ours")
        require(held >= 6, f"multiprocessors and occupancy of only {held} devices are the plugin's")


def check_trace(index):
    check_rows(index)
    check_occupied(index)


def main(cases, folder):
    cases.each_apart((check_made, check_cut, check_lost, check_words, check_plugins))
    for path in kineto_traces():
        cases.run_apart(path.name, lambda own, path=path: check_trace(ingest(path, own / "x.tracedb")))
