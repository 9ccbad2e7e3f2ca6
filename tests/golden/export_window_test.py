"""Windows of traces as Chrome JSON: they keep to the format, and trace-ingest reads from them the kernels, launches,
operators, python paths and flows of the trace."""
from collections import Counter
from pathlib import Path

from chrome_trace import checked_events, ns
from trace_cases import (TRACES, as_json, equal, ingest, issues_of, make_trace, open_index, open_packed, refused, require,
                         run)

# Of real traces: AMD and NVIDIA, training and inference, CPU operators with python frames, several streams, counters.
REAL = ("minitoy_train_mi250.json.gz", "deepseek_v3_train_h800.json", "bert_small_hf_mi300x.json.gz",
        "qwen15_05b_hf_h100.json.gz", "qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "gpu_only_mi210.json.gz",
        "cuda_sync_multi_stream_a100.json.gz", "gpu_user_annotation_gp100.json.gz", "old_gpu_metrics.json",
        "cupti_counters_a100.json.gz", "cpu_only_rank34.json.gz", "gpt_oss_vllm_decode_graph_mi300x.json.gz")
BASE = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'base_time_ns')"
# By time, so that rows of a window can be looked for among those of the trace.
KERNELS = f"""
SELECT k.ts + {BASE}, k.dur, n.name, d.ordinal, s.number, k.correlation, k.external_id, k.graph_id, k.graph_node_id, k.kind,
  r.ts + {BASE}, r.dur, t.value, r.correlation, r.external_id, r.kind, th.tid,
  (SELECT o.value FROM cpu_op c JOIN string o ON o.id = c.name_id WHERE c.id = k.cpu_op_id),
  (SELECT path FROM stacks WHERE id = k.stack_id),
  (SELECT v.value FROM annotation a JOIN string v ON v.id = a.name_id WHERE a.id = k.annotation_id),
  l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.registers, l.shared_memory, l.occupancy_pct,
  l.theoretical_occupancy_pct, l.blocks_per_sm, l.warps_per_sm, q.name, q.group_name, q.group_description, q.group_size,
  q.ranks, q.dtype, q.in_elements, q.out_elements, q.sequence, q.comms_id, q.source_rank,
  q.destination_rank
FROM kernel k JOIN kernel_name n ON n.id = k.name_id JOIN stream s ON s.id = k.stream_id JOIN device d ON d.id = s.device_id
LEFT JOIN runtime_call r ON r.id = k.launch_id LEFT JOIN string t ON t.id = r.name_id LEFT JOIN thread th ON th.id = r.thread_id
LEFT JOIN launch_config l ON l.id = k.launch_config_id LEFT JOIN collective q ON q.kernel_id = k.id WHERE """
COPIES = f"""
SELECT m.ts + {BASE}, m.dur, t.value, m.kind, m.direction, m.bytes, m.bandwidth_gb_s, d.ordinal, s.number, m.correlation,
  m.external_id, r.ts + {BASE}, r.dur FROM memory_op m JOIN string t ON t.id = m.name_id JOIN stream s ON s.id = m.stream_id
JOIN device d ON d.id = s.device_id LEFT JOIN runtime_call r ON r.id = m.launch_id WHERE """
TABLES = ("runtime_call", "cpu_op", "python_call", "annotation", "instant", "counter")


def rows(index, statement):
    return Counter(open_index(index).execute(statement).fetchall())


def one(index, statement):
    opened = open_packed if "python_call" in statement else open_index
    return opened(index).execute(statement).fetchone()[0]


def export(index, path, *options):
    result = run("trace-query", "export", *options, "-o", path, index)
    return path, checked_events(path), result.stderr


def check_window(folder, index, options, kernels, copies):
    """`kernels`, `copies`: the condition that says which rows of the index the options choose."""
    path, events, told = export(index, folder / "window.json", *options)
    again = ingest(path, folder / "window.tracedb")
    for what, statement, alias, condition in (("kernels", KERNELS, "k", kernels), ("copies", COPIES, "m", copies)):
        missing = rows(index, statement + condition)
        missing.subtract(rows(again, f"{statement} {alias}.id > 0"))
        equal([(row, n) for row, n in missing.items() if n], [], f"{what} that are in one of trace and window, {options}")
    links = sum(one(again, f"SELECT count(launch_id) FROM {table}") for table in ("kernel", "memory_op"))
    equal(Counter(event["ph"] for event in events)["f"], links, f"ends of flows, {options}")
    equal(one(again, "SELECT coalesce(sum(n), 0) FROM packed_block WHERE event_table = 'flow_unmatched'"), 0, f"flows without a partner, {options}")
    equal(one(again, "SELECT value FROM meta WHERE key = 'links_contradicted_by_flow'"), "0", f"flows that contradict, {options}")
    require(f"{one(again, 'SELECT count(*) FROM kernel')} kernel" in told, told)
    unknown = set(issues_of(again)) - set(issues_of(index)) - {"kernel_without_launch", "memory_op_without_launch"}
    if one(again, "SELECT count(*) FROM kernel") == 0:
        unknown.discard("no_device_events")
    equal(unknown, set(), f"issues of the window, {options}")
    return again, events


def check_whole(folder, index):
    again, events = check_window(folder, index, (), "k.id > 0", "m.id > 0")
    for table in TABLES:
        count = f"SELECT count(*) FROM {table}"
        equal(one(again, count), one(index, count), f"rows of {table}")
    passes = "SELECT pass, count(*) FROM kernel GROUP BY pass"
    equal(rows(again, passes), rows(index, passes), "passes of training")
    steps = "SELECT kind, count(*) FROM step GROUP BY kind"
    equal(rows(again, steps), rows(index, steps), "steps")
    return events


def check_times(folder, index):
    """The middle third of the trace's device time."""
    low, high = open_index(index).execute("SELECT min(ts), max(ts) FROM kernel").fetchone()
    if low is None:
        low, high = 0, 1000
    begin, end = low + (high - low) // 3, high - (high - low) // 3 + 1
    inside = "{0}.ts >= %d AND {0}.ts < %d" % (begin, end)
    check_window(folder, index, ("--from", begin, "--to", end), inside.format("k"), inside.format("m"))


def check_marks(events, index):
    marks = [event for event in events if event.get("cat") == "tracedb"]
    steps = [event["name"] for event in marks if event["name"].startswith("step ")]
    equal(steps, ["step 1 (decode)", "step 2 (decode)"], "marks of steps")
    layers = Counter(event["name"] for event in marks if event["name"].startswith("layer "))
    equal({layers[f"layer {layer}"] for layer in range(3)}, {2}, f"marks of layers {layers}")
    names = {event["name"] for event in marks}
    require({"qkv_proj", "attention", "gate_up"} <= names, f"roles among {names}")
    causes = {"host_wait", "kernel_wait", "graph_gap", "other", "unknown"}
    idle = sum(ns(event, "dur") for event in marks if event["name"] in causes)
    kernels = [event for event in events if event.get("cat") == "kernel"]
    require({event["args"]["step"] for event in kernels} == {1, 2}, "steps of the kernels")
    require(all({"op", "phase", "layer"} <= set(event["args"]) for event in kernels), "what is said of kernels")
    span = max(ns(event) for event in kernels) - min(ns(event) for event in kernels)
    require(0 < idle < span, f"{idle} ns idle of {span}")


def check_steps(folder, index):
    condition = "{0}.step_id IN (SELECT id FROM step WHERE sequence BETWEEN 1 AND 2)"
    again, events = check_window(folder, index, ("--step", "1..2"), condition.format("k"), condition.format("m"))
    equal(one(again, "SELECT count(*) FROM step"), 2, "steps of the window")
    check_marks(events, index)
    # A window of the window has the marks once.
    _, twice, _ = export(again, folder / "again.json")
    count = Counter(event["ph"] for event in events)
    flows = Counter(event["ph"] for event in twice)
    equal((flows["s"], flows["f"]), (count["s"], count["f"]), "flows of a window of the window")
    equal(sum(event["name"].startswith("step ") for event in twice if event.get("cat") == "tracedb"), 2, "its marks of steps")


def check_layer(folder, index):
    path, events, _ = export(index, folder / "layer.json", "--layer", 1, "--phase", "decode")
    kernels = [event for event in events if event.get("cat") == "kernel"]
    equal({event["args"]["layer"] for event in kernels}, {"1"}, "layers of the kernels")
    said = as_json("kernels", "--layer", 1, "--phase", "decode", index)["rows"]
    equal(len(kernels), sum(row["instances"] for row in said), "kernels of the layer")


def check_gaps(folder, index):
    gaps = as_json("gaps", "--each", "--limit", 2, index)["rows"][:2]
    _, events, _ = export(index, folder / "gaps.json", "--top-gaps", 2)
    for gap in gaps:
        begin, end = gap["ts"], gap["ts"] + gap["dur"]
        require(any(event.get("cat") == "tracedb" and event["name"] == gap["launch_cause"] and ns(event) == begin
                    and ns(event, "dur") == gap["dur"] for event in events), f"the gap at {begin} is no mark")
        devices = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
        require(any(ns(event) == end for event in devices), "what ended a gap is missing")
        require(any(ns(event) + ns(event, "dur") == begin for event in devices), "what came before a gap is missing")
    everything = one(index, "SELECT count(*) FROM kernel")
    require(len([event for event in events if event.get("cat") == "kernel"]) < everything, "all kernels are in the window")


def check_compare(folder, index, other):
    _, events, _ = export(index, folder / "both.json", "--compare", other, "--step", 1)
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    first, processes = {}, {}
    for side, source in (("A", index), ("B", other)):
        kernels = [event for event in events if event.get("cat") == "kernel" and names[event["pid"]].startswith(side)]
        first[side] = min(ns(event) for event in kernels)
        processes[side] = {pid for pid, name in names.items() if name.startswith(f"{side}: ")}
        condition = "step_id = (SELECT id FROM step WHERE sequence = 1)"
        equal(Counter((event["name"], ns(event, "dur")) for event in kernels),
              rows(source, f"SELECT n.name, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE {condition}"),
              f"kernels of {side}")
    equal(first["A"], first["B"], "start of the first kernels")
    equal(processes["A"] & processes["B"], set(), "processes that both sides have")
    equal(set(names), processes["A"] | processes["B"], "processes of one of the sides")


def check_refusals(folder, index, trace):
    for options, said in ((("--top-gaps", 0), "give 1 or more"), (("--format", "perfeto"), "did you mean 'perfetto'"),
                          (("--layer", "x y"), "--layer"), (("--report", "nosuch"), "no such report"),
                          (("--by", "x"), "does not apply to perfetto"),
                          (("--by", "x", "--format", "collapsed"), "use module or function"),
                          (("--top-gaps", 3, "--format", "speedscope"), "does not apply to speedscope"), (("--report", "ops", "--query", "SELECT 1"), "not both")):
        refused(2, said, "trace-query", "export", *options, index)
    for target in (trace, index):
        before = Path(target).read_bytes()
        equal(run("trace-query", "export", "-o", target, index, check=False).returncode, 2, f"-o {target}")
        equal(run("trace-query", "export", "-o", target, trace, "--compare", index, check=False).returncode, 2, f"-o {target}")
        equal(Path(target).read_bytes(), before, f"{target} was written over")
    equal(run("trace-query", "export", index, index, check=False).returncode, 2, "two traces without --compare")
    refused(5, "", "trace-query", "export", "-q", "-o", "/dev/full", index)
    for options in (("--name", "nosuchkernel"), ("--layer", 900), ("--step", 999999), ("--from", "9000s")):
        refused(2, "no kernel matches the selection", "trace-query", "export", "-q", *options, "-o", folder / "none.json", index)
        require(not (folder / "none.json").exists(), f"{options}: a file")


def check_made(cases, folder):
    server = ("--layers", 3, "--steps", 4, "--mix", "P,D*3", "--batch", 4, "--seed", 5, "--idle", 30000)
    kinds = {"server": ("--graphs", "off", "--streams", 3, "--tensor-parallel", 2, *server), "graphs": ("--vendor", "nvidia", *server),
             "train": ("--model", "train", "--layers", 3, "--steps", 2, "--seed", 3), "old": ("--dialect", "old", *server),
             "flows": ("--correlation", "off", *server), "orphans": ("--orphans", 4, "--shapes", "on", *server)}
    made = {}
    for name, options in kinds.items():
        trace = make_trace(folder / f"{name}.json", *options)
        made[name] = ingest(trace, folder / f"{name}.tracedb")
        cases.run(f"{name}, whole", check_whole, folder, made[name])
        cases.run(f"{name}, by time", check_times, folder, made[name])
    cases.each((check_steps, check_layer, check_gaps), folder, made["server"])
    cases.run("two traces", check_compare, folder, made["server"], made["graphs"])
    cases.run("refusals", check_refusals, folder, made["server"], folder / "server.json")


def check_real(folder, trace):
    index = ingest(trace, folder / "real.tracedb")
    check_whole(folder, index)
    check_times(folder, index)


def main(cases, folder):
    check_made(cases, folder)
    for name in REAL:
        trace = TRACES / "kineto" / name
        if trace.exists():
            cases.run(name, check_real, folder, trace)
        else:
            cases.skip(name, f"no real traces here: {trace.parent} does not have it (TRACEDB_TRACES names the folder)")
