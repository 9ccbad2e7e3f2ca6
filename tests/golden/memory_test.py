"""`memory`: figures of real traces against the reference, which is worked out from the JSON; and made allocations with leaks,
memory from before the trace, addresses that are used again, several devices and missing totals, against what was planted."""
import gzip
import json
import random

from made_events import call, event, index_of, kernel, on_device, write_trace
from operator_work_test import trace_called
from trace_cases import REFERENCE, equal, ingest, refused, require, rows, run

KINDS = {0: "cpu", 1: "cuda", 6: "hip", 9: "xla", 12: "xpu", 19: "mtia"}


def device_name(kind, number):
    return KINDS[kind] if number < 0 else f"{KINDS[kind]} {number}"


def ours(index, device):
    """What the reference calls its figures, from the table."""
    where = f"FROM memory_events WHERE device = '{device}'"
    one = rows("sql", index, f"""SELECT count(*) AS events, sum(bytes > 0) AS allocations, sum(bytes < 0) AS frees, total(max(bytes, 0)) AS bytes_allocated,
        -total(min(bytes, 0)) AS bytes_freed, total(bytes) AS net_bytes, sum(bytes > 0 AND ended_by IS NULL AND has_address) AS alive_at_end,
        total(iif(bytes > 0 AND ended_by IS NULL AND has_address, bytes, 0)) AS bytes_alive_at_end, max(has_address) AS has_addresses,
        sum(bytes < 0 AND ended_id IS NULL AND has_address) AS frees_of_unknown_addresses,
        sum(ended_id IS NOT NULL AND (bytes > 0 OR -bytes <> (SELECT a.bytes FROM memory_events a WHERE a.id = e.ended_id)))
          AS address_reused_or_size_differs {where.replace('memory_events', 'memory_events e')}""")[0]
    return {key: bool(value) if key == "has_addresses" else int(value or 0) for key, value in one.items()}


def check_reference(reference, index):
    theirs = json.loads(reference.read_text())
    ingest(trace_called(reference.name.removesuffix(".json")), index)
    report = {row["device"]: row for row in rows("memory", index)}
    annotations = {row["v"] for row in rows("sql", index, "SELECT DISTINCT s.value AS v FROM annotation a JOIN string s ON s.id = a.name_id")}
    for key, figures in theirs["devices"].items():
        device = device_name(*map(int, key.split("/")))
        mine = ours(index, device)
        for name, value in mine.items():
            equal(value, figures[name], f"{name} of {device}")
        row = report[device]
        totals = figures["peak_total_allocated"] is not None
        equal(row["peak"], figures["peak_total_allocated"] if totals else figures["peak_of_deltas"], f"peak of {device}")
        equal(row["peak_reserved"], figures["peak_total_reserved"], f"peak reserved of {device}")
        equal(row["relative"], 0 if totals else figures["events"], f"events of {device} without a total")
        first = rows("sql", index, f"SELECT ts, allocated, bytes FROM memory_events WHERE device = '{device}' ORDER BY id LIMIT 1")[0]
        if totals:
            equal(row["peak_ts"] - first["ts"], figures["peak_ts_ns_from_first"], f"when {device} peaks")
            equal(first["allocated"], figures["first_total_allocated"], f"first total of {device}")
            equal(row["last"], figures["last_total_allocated"], f"last total of {device}")
            equal(row["before"], first["allocated"] - first["bytes"], f"what {device} had before")
        at_peak = {row["what"]: row["bytes"] for row in rows("memory", "--at", "peak", "--limit", 0, index) if row["device"] == device}
        alive = {name: size for name, size in at_peak.items() if name not in ("[before the trace]", "[addresses not recorded]")}
        equal(sum(at_peak.values()), row["peak"], f"sum of what {device} has at the peak")
        equal(sum(alive.values()), figures["bytes_live_at_peak_allocated_in_trace"], f"what of {device} the trace allocated")
        for name, size in figures["live_at_peak_by_operator"].items():
            equal(alive.get("[none]" if name == "(no operator)" else name), size, f"{name} at the peak of {device}")
        by = {row["what"]: [row["allocations"], row["allocated"], -row["freed"]] for row in rows("memory", "--by", "operator", "--limit", 0, index)
              if row["device"] == device}
        for name, counts in figures["by_operator"].items():
            if name != "(no operator)" and name not in annotations:  # old profilers call annotations operators
                equal(by[name], counts, f"{name} on {device}")


def check_plugin(reference, index):
    """The plugin's allocations by operator; it knows CUDA and the CPU, and takes annotations of old profilers for operators."""
    theirs = json.loads(gzip.decompress(reference.read_bytes())).get("memory_by_operator") or {}
    if not theirs:
        return 0
    ingest(trace_called(reference.name.removesuffix(".json.gz")), index)
    at = theirs["columns"].index("self_allocation"), theirs["columns"].index("self_allocations")
    compared = 0
    mine = {(row["device"], row["what"]): row for row in rows("memory", "--by", "operator", "--limit", 0, index)}
    for device, by_operator in theirs["devices"].items():
        for name, values in by_operator.items():
            row = mine.get((device.replace("CPU", "cpu").replace("GPU", "cuda "), name), {"allocated": 0, "allocations": 0})
            if name.startswith(("aten::", "c10d::")):
                equal((row["allocated"], row["allocations"]), tuple(values[column] for column in at), f"{name} on {device}")
                compared += 1
    return compared


def check_plugins(folder):
    references = sorted((REFERENCE / "analyses/tensorboard_more").glob("*.json.gz"))
    compared = sum(check_plugin(reference, folder / f"{reference.name}.tracedb") for reference in references)
    require(compared > 60 or not references, f"only {compared} operators of the plugin compared")


def planted(path, seed, totals=True, addresses=True):
    """Allocations and frees of two devices and the CPU in nested operators and steps; what is true of them."""
    rng = random.Random(seed)
    events, truth, ts = [], {}, 1000
    for step in range(6):
        begin = ts
        for _ in range(40):
            kind, number = rng.choice([(1, 0), (6, 1), (0, -1)])
            own = truth.setdefault(device_name(kind, number), {"total": 5000, "alive": {}, "peak": 0, "leaks": {}, "unknown": 0})
            name = rng.choice(["aten::empty", "aten::cat"])
            events.append(event("cpu_op", name, ts, 5, 1, 7))
            if own["alive"] and rng.random() < 0.45:
                address = rng.choice(sorted(own["alive"]))
                size = -own["alive"].pop(address)[0]
            elif rng.random() < 0.05:
                address, size = rng.randrange(1 << 40, 1 << 41), -64  # allocated before the trace
                own["unknown"] += 1
            else:
                address, size = rng.randrange(1 << 47), rng.randrange(1, 1 << 20)
                own["alive"][address] = size, step
            own["total"] += size
            own["peak"] = max(own["peak"], own["total"])
            args = {"Device Type": kind, "Device Id": number, "Bytes": size}
            args |= {"Addr": address} if addresses else {}
            args |= {"Total Allocated": own["total"], "Total Reserved": 1 << 24} if totals else {}
            events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 7, "ts": ts + 2, "args": args})
            ts += 10
        for own in truth.values():
            for size, made in own["alive"].values():
                if made == step - 2:
                    own["leaks"][made] = own["leaks"].get(made, 0) + size
        events.append(event("user_annotation", f"ProfilerStep#{step}", begin - 1, ts - begin, 1, 7))
    rng.shuffle(events)
    write_trace(path, events)
    return truth


def check_planted(folder):
    for seed in range(4):
        path = folder / f"p{seed}.json"
        truth = planted(path, seed)
        index = ingest(path, folder / f"p{seed}.tracedb")
        found = {row["device"]: row for row in rows("memory", index)}
        leaks = rows("memory", "--leaks", "--limit", 0, index)
        for device, own in truth.items():
            row = found[device]
            equal((row["peak"], row["last"], row["before"], row["relative"]), (own["peak"], own["total"], 5000, 0), f"totals of {device}")
            equal(row["alive"], sum(size for size, _ in own["alive"].values()), f"alive on {device}")
            equal(ours(index, device)["frees_of_unknown_addresses"], own["unknown"], f"unknown frees on {device}")
            mine = {}
            for leak in leaks:
                if leak["device"] == device:
                    mine[leak["step"]] = mine.get(leak["step"], 0) + leak["bytes"]
            equal(mine, own["leaks"], f"leaks of {device}")
            middle = max(row["ts"] for row in rows("memory", "--curve", "--limit", 0, index)) // 2
            last = [row for row in rows("memory", "--curve", "--limit", 0, index) if row["ts"] <= middle and row["device"] == device][-1]
            equal(sum(row["bytes"] for row in rows("memory", "--at", middle, "--by", "step", index) if row["device"] == device), last["allocated"],
                  f"what {device} has in the middle")


def check_missing(folder):
    """No totals, no addresses, no allocations, and an index from before they were kept."""
    truth = planted(folder / "t.json", 9, totals=False)
    index = ingest(folder / "t.json", folder / "t.tracedb")
    for row in rows("memory", index):
        equal((row["peak"], row["before"], row["peak_reserved"]), (truth[row["device"]]["peak"] - 5000, None, None), "figures without totals")
    planted(folder / "a.json", 9, addresses=False)
    index = ingest(folder / "a.json", folder / "a.tracedb")
    equal({row["alive"] for row in rows("memory", index)}, {None}, "alive without addresses")
    equal({row["what"] for row in rows("memory", "--at", "peak", index)}, {"[addresses not recorded]"}, "at the peak without addresses")
    for at, told in (("1us", False), ("3600s", True)):
        said = run("trace-query", "memory", "--at", at, index).stderr
        equal("nothing is recorded of memory after " in said, told, f"memory at {at}: {said}")
    require("addresses" in run("trace-query", "memory", "--leaks", index).stderr, "it is not said that leaks cannot be known")
    said = run("trace-query", "memory", index_of(folder / "n.json", [event("cpu_op", "a", 1, 1)])).stderr
    require("profile_memory=True" in said, f"it is not said how to record allocations: {said}")
    for wrong in (("--by", "kernel"), ("--curve", "--leaks"), ("--at", "noon")):
        refused(2, "", "trace-query", "memory", *wrong, index)


def check_some_totals(folder):
    """An event without a total goes on from the last one; a device that is nearly full is said."""
    def allocation(ts, size, **args):
        return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": ts} | args}

    events = [allocation(1, 100, **{"Total Allocated": 5100, "Total Reserved": 9500}), allocation(2, 300), allocation(3, 50, **{"Total Allocated": 5450})]
    index = index_of(folder / "s.json", [*events, kernel("k", 1, 1)], deviceProperties=[{"id": 0, "name": "Fancy", "totalGlobalMem": 10000}])
    equal([row["allocated"] for row in rows("memory", "--curve", index)], [5100, 5400, 5450], "totals")
    said = run("trace-query", "memory", index).stderr
    for text in ("cuda 0 is nearly full: 95.0 %", "some or all events have no totals"):
        require(text in said, f"{text!r} is not said: {said}")


def memory(ts, size, tid=1, kind=1, number=0, pid=1, **args):
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": pid, "tid": tid, "ts": ts, "args": {"Device Type": kind, "Device Id": number, "Bytes": size} | args}


def said(index, *options):
    return run("trace-query", "memory", *options, index).stderr


def check_unknown(folder):
    """What the trace does not tell is said, and nothing else is."""
    steps = [event("user_annotation", f"ProfilerStep#{i}", 1000 * i, 900) for i in range(5)]
    launched = [e for i in range(5) for e in (call("cudaLaunchKernel", 1000 * i + 100, 10, i + 1), kernel("k", 1000 * i + 150, 600, correlation=i + 1))]
    bare = index_of(folder / "bare.json", steps + launched + [memory(1000 * i + 50, 1000) for i in range(5)])
    text = said(bare, "--leaks")
    require("addresses of cuda 0 are not recorded" in text and "no step" not in text, f"leaks without addresses: {text}")
    some = index_of(folder / "some.json", [*steps, *launched, memory(60, 64, kind=0, number=-1), *(memory(1000 * i + 50, 1000, Addr=i) for i in range(5))])
    text = said(some, "--leaks")
    require("addresses of cpu are not recorded" in text, f"the device without addresses is not named: {text}")
    equal([row["step"] for row in rows("memory", "--leaks", some)], [0, 1, 2], "leaks beside a device without addresses")
    # Steps of two processes: what each frees two steps later is no leak.
    two = index_of(folder / "two.json", [one for pid in (1, 2) for i in range(6) for one in (
        event("user_annotation", f"ProfilerStep#{i}", 1000 * i + 100 * pid, 800, pid, pid),
        memory(1000 * i + 100 * pid + 20, 1000, pid, number=pid, pid=pid, Addr=16 * i + pid),
        *([memory(1000 * i + 100 * pid + 30, -1000, pid, number=pid, pid=pid, Addr=16 * (i - 2) + pid)] if i >= 2 else []))])
    equal(rows("memory", "--leaks", two), [], "leaks of two processes")
    for by in ("line", "stack", "module"):
        require("no Python stacks: profile with with_stack=True" in said(some, "--by", by), f"--by {by} without stacks is not explained")
    require("Python stacks" not in said(some, "--by", "operator"), "operators need no stacks")
    stacks = index_of(folder / "stacks.json", [event("python_function", name, ts, dur) for name, ts, dur in (("a.py(1): f", 0, 99), ("b.py(2): g", 10, 80))] + [memory(20, 100), memory(95, 50)])
    for by, expected in (("line", {"b.py(2): g": 100, "a.py(1): f": 50}), ("stack", {"a.py(1): f;b.py(2): g": 100, "a.py(1): f": 50}), ("size", {"100 bytes": 100, "50 bytes": 50})):
        equal({row["what"]: row["allocated"] for row in rows("memory", "--by", by, stacks)}, expected, f"by {by}")
    none = index_of(folder / "none.json", [*launched, *(memory(1000 * i + 50, 1000, Addr=i) for i in range(5))])
    image = index_of(folder / "image.json", [*launched, *(memory(1000 * i + 50, 1000, Addr=i) for i in range(5)),
                                             *(on_device("gpu_user_annotation", f"ProfilerStep#{i}", 1000 * i + 140, 650) for i in range(5))])
    for options in (("--leaks",), ("--by", "step")):
        require("steps" in said(none, *options) and "two behind" not in said(none, *options), f"{options} without steps: {said(none, *options)}")
        require("without marks on the host" in said(image, *options), f"{options} with steps of the device: {said(image, *options)}")


def check_before(folder):
    """What was there before the first event: by its total, or by what is freed."""
    def at(index, *options):
        return [(row["bytes"], row["what"]) for row in rows("memory", "--at", *options, index)]

    first = [event("cpu_op", "a", 0, 100), memory(10, 500, Addr=1, **{"Total Allocated": 2500}), memory(30, -500, Addr=1, **{"Total Allocated": 2000})]
    index = index_of(folder / "first.json", first)
    equal((at(index, "5us"), at(index, "10us")), ([(2000, "[before the trace]")], [(2000, "[before the trace]"), (500, "a")]), "before the first event")
    index = index_of(folder / "free.json", [event("cpu_op", "a", 0, 100), memory(10, -100, Addr=1), memory(20, 50, Addr=2)])
    equal((rows("memory", index)[0]["peak"], at(index, "peak"), at(index, "5us")), (50, [(50, "a")], [(100, "[before the trace]")]), "a free first")
    index = index_of(folder / "late.json", [event("cpu_op", "a", 0, 100), memory(10, 50, Addr=1), memory(20, 50, Addr=2, **{"Total Allocated": 700})])
    equal([row["allocated"] for row in rows("memory", "--curve", index)], [650, 700], "before the first total")
    index = index_of(folder / "huge.json", [memory(10 * i, 1 << 62, Addr=i) for i in range(1, 5)])
    equal([what for _, what in at(index, "peak")], ["[none]"], "more than can be counted")
    twice = [memory(10, 1000, Addr=1, **{"Total Allocated": 1000}), memory(20, 500, Addr=1, **{"Total Allocated": 1500})]
    index = index_of(folder / "twice.json", twice)
    equal(at(index, "peak"), [(1000, "[not known]"), (500, "[none]")], "an address allocated twice")
    equal([row["count"] for row in rows("issues", index) if row["kind"] == "allocated_twice"], [1], "issues of an address allocated twice")


def check_devices(folder):
    """Kinds without a name stay apart, processes on one device are added, and the host's memory is not the device's."""
    head = {"deviceProperties": [{"id": 0, "name": "Fancy", "totalGlobalMem": 10000}]}
    kinds = index_of(folder / "kinds.json", [memory(kind, kind, kind=kind) for kind in (0, 1, 2, 13, 14, 15)], **head)
    equal({row["device"]: (row["peak"], row["device_pct"] is None) for row in rows("memory", kinds) if row["peak"]},
          {"cuda 0": (1, False), "type-2 0": (2, False), "mps 0": (13, True), "type-14 0": (14, False), "type-15 0": (15, False)}, "kinds of devices")
    totals = [(1, 10, 1000, 1000, 2000), (2, 20, 300, 300, 500), (1, 30, -1000, 0, 2000), (2, 40, -300, 0, 500)]
    index = index_of(folder / "two.json", [memory(ts, size, pid=pid, Addr=16, **{"Total Allocated": total, "Total Reserved": held}) for pid, ts, size, total, held in totals])
    row = rows("memory", index)[0]
    equal((row["peak"], row["peak_reserved"], row["alive"], row["last"]), (1300, 2500, 0, 0), "two processes on a device")
    equal([row["bytes"] for row in rows("memory", "--at", "peak", index)], [1300], "of two processes at the peak")
    late = [memory(1, 500, **{"Total Allocated": 600, "Total Reserved": 2000}), memory(2, -50, pid=2, **{"Total Allocated": 900, "Total Reserved": 3000}),
            memory(3, -500, **{"Total Allocated": 100, "Total Reserved": 1500})]
    (row,) = rows("memory", index_of(folder / "late.json", late))
    equal((row["before"], row["peak"], row["fragmented_pct"]), (1050, 1550, 69), "a process whose first event comes later held memory before it")
    equal(rows("issues", index), [row for row in rows("issues", index) if row["kind"] != "allocated_twice"], "each process has its addresses")


def check_steps_of_threads(folder):
    """A server's steps are of their own thread, an iteration is of all threads of its process."""
    server = [event("user_annotation", "execute_context_1(8)_generation_0(0)", ts, dur, 1, tid) for ts, dur, tid in ((0, 900, 1), (50, 100, 2), (1000, 900, 1))]
    trained = event("user_annotation", "ProfilerStep#7", 1200, 900, 3)
    work = [call("cudaLaunchKernel", 100, 10, 1), kernel("k", 150, 600, correlation=1)]
    # Thread, process, time, step.
    asked = [(1, 1, 500, 0), (2, 1, 70, 1), (2, 1, 600, None), (3, 1, 70, None), (1, 1, 950, None), (1, 1, 1100, 2), (9, 3, 1500, 3), (9, 1, 1500, None)]
    events = [memory(ts, 10 + i, tid, pid=pid, Addr=i) for i, (tid, pid, ts, _) in enumerate(asked)]
    index = index_of(folder / "threads.json", [*server, trained, *work, *events])
    found = {row["bytes"]: row["step"] for row in rows("sql", index, "SELECT bytes, step FROM memory_events")}
    equal(found, {10 + i: step for i, (*_, step) in enumerate(asked)}, "steps of threads")


def check_hostile(folder):
    """Numbers as large as there are, and events that are none."""
    big = (1 << 63) - 1
    args = [{"Device Type": 1, "Device Id": 0, "Bytes": big, "Addr": 1, "Total Allocated": big}, {"Device Type": 1, "Device Id": 0, "Bytes": -big - 1},
            {"Device Type": 1, "Device Id": 0, "Bytes": big, "Addr": 1, "Total Allocated": -big}, {"Device Type": "x", "Bytes": 5},
            {"Device Type": 99, "Device Id": big, "Bytes": "7", "Addr": "0x10", "Total Reserved": []}, {}]
    events = [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": i, "args": arg} for i, arg in enumerate(args)]
    index = index_of(folder / "h.json", events)
    for options in ((), ("--by", "line"), ("--at", "peak"), ("--leaks",), ("--curve",)):
        run("trace-query", "memory", *options, index)
    run("trace-query", "verify", index)


def main(cases, folder):
    cases.each_apart((check_planted, check_missing, check_some_totals, check_unknown, check_before, check_devices, check_steps_of_threads, check_hostile, check_plugins))
    for reference in sorted((REFERENCE / "analyses/memory").glob("*.json")):
        cases.run_apart(reference.name, lambda own, reference=reference: check_reference(reference, own / "x.tracedb"))
