"""make-trace: its ground truth equals an independent count of the file it wrote, and the file is well formed."""
import collections
import csv
import decimal
import gzip
import json
import pathlib

from time_oracle import length, union
from trace_cases import make_trace, read_bytes, run

ALL_FUSIONS = "add+rmsnorm,rmsnorm+quant,silu+quant,rope+kvcache,qk_norm+rope,moe_routing,moe_gemm+silu,allreduce+rmsnorm"
SMALL = ["--layers", "4", "--steps", "7", "--prefill-fraction", "0.2", "--mixed-fraction", "0.2"]
VARIANTS = [
    [],
    ["--vendor", "nvidia"],
    ["--vendor", "nvidia", "--graphs", "off", "--shapes", "on", "--streams", "3", "--idle", "150000"],
    ["--graphs", "off", "--tensor-parallel", "4", "--rank", "2", "--moe", "on", "--orphans", "5"],
    ["--tensor-parallel", "8", "--fuse", ALL_FUSIONS, "--vendor", "nvidia", "--streams", "1"],
    ["--moe", "on", "--fuse", ALL_FUSIONS, "--insert", "elementwise", "--slow", "dense_gemm@2=1.5", "--clock", "1.1"],
    ["--python-stacks", "off", "--annotations", "off", "--quantise", "off", "--qk-norm", "off", "--jitter", "0"],
    ["--dialect", "old", "--vendor", "nvidia", "--graphs", "off", "--shapes", "on"],
    ["--dialect", "old", "--idle", "70000", "--streams", "3"],
    ["--step-gap", "5000000", "--gap-calls", "40", "--moe", "on", "--jittered-streams", "on"],
    ["--fuse", ALL_FUSIONS, "--spelling", "attention,add_norm,rope_cache"],
    ["--spelling", "attention,inductor,rope_append", "--fuse", "rope+kvcache", "--vendor", "nvidia"],
    ["--step-gap", "3000000", "--gap-calls", "20", "--python-stacks", "off", "--jittered-streams", "on",
     "--tensor-parallel", "4", "--vendor", "nvidia"],
    ["--model", "train", "--tensor-parallel", "2", "--shapes", "on"],
    ["--model", "train", "--dialect", "old", "--vendor", "nvidia", "--shapes", "on"],
    ["--model", "train", "--annotations", "off", "--python-stacks", "off", "--streams", "1", "--idle", "90000"],
    ["--model", "vision+text", "--vendor", "nvidia"],
    ["--model", "encoder+decoder", "--second-layers", "3", "--step-gap", "70000"],
    ["--correlation", "off", "--orphans", "3"],
    ["--correlation", "off", "--vendor", "nvidia", "--tensor-parallel", "2", "--collective-wait", "4000000"],
    ["--shift-names", "3"],
    ["--model", "diffusion", "--passes", "3", "--slow", "sdpa@5=2"],
]
KERNEL = {"kernel", "Kernel"}
DEVICE = KERNEL | {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
RUNTIME = {"cuda_runtime", "cuda_driver", "Runtime"}
HOST = {"cpu_op", "Operator", "user_annotation", "python_function"} | RUNTIME


def make(path, options):
    truth = pathlib.Path(f"{make_trace(path, *options)}.truth.json")
    return json.loads(read_bytes(path), parse_float=decimal.Decimal), json.loads(truth.read_text(encoding="utf-8"))


def ns(value):
    exact = decimal.Decimal(value) * 1000
    assert exact == int(exact), value
    return int(exact)


def span(event):
    begin = ns(event["ts"])
    return begin, begin + ns(event["dur"])


def check_counts(events, truth):
    counted = collections.defaultdict(collections.Counter)
    for event in events:
        counted[event["ph"]][event.get("cat", "")] += 1
    assert {ph: dict(categories) for ph, categories in counted.items()} == truth["events"], (counted, truth["events"])
    names, classes = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    for event in (event for event in events if event.get("cat") in KERNEL):
        for table, key in ((names, event["name"]), (classes, truth["names"][event["name"]]["class"])):
            table[key][0] += 1
            table[key][1] += ns(event["dur"])
    assert {name: [value["count"], value["ns"]] for name, value in truth["names"].items()} == names
    assert {name: [value["count"], value["ns"]] for name, value in truth["classes"].items()} == classes
    total = [sum(values[at] for values in names.values()) for at in (0, 1)]
    assert total == [truth["kernels"]["count"], truth["kernels"]["ns"]]
    parts = truth["layers"] + [truth["head"], truth["tail"], truth["between"]]
    assert total == [sum(part["count"] for part in parts), sum(part["ns"] for part in parts)]
    assert total == [sum(step["kernels"] for step in truth["steps"]), sum(step["kernel_ns"] for step in truth["steps"])]


def check_nesting(events):
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event.get("cat") in HOST:
            begin, end = span(event)
            rows[event["pid"], event["tid"]].append((begin, -end, event["name"]))
    for row in rows.values():
        open_ends = []
        for begin, negative_end, name in sorted(row):
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or -negative_end <= open_ends[-1], name
            open_ends.append(-negative_end)


def check_python(events, truth):
    calls = {e["args"]["Python id"]: e for e in events if e.get("cat") == "python_function"}
    depth = {None: 0}
    for number in sorted(calls):
        parent = calls[number]["args"]["Python parent id"]
        depth[number] = depth[parent] + 1
        if parent is not None:
            outer, inner = span(calls[parent]), span(calls[number])
            assert outer[0] <= inner[0] and inner[1] <= outer[1], calls[number]
    assert max(depth.values()) == truth["max_python_depth"]


def check_launches(events, truth):
    calls, started, ended = {}, collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") in RUNTIME:
            calls[event["args"]["correlation"]] = event
        if event["ph"] in "sf" and event["cat"] != "fwdbwd":
            (started if event["ph"] == "s" else ended)[event["id"]] += 1
    ends = {(event["pid"], event["tid"], event["ts"]): event["id"] for event in events if event["ph"] == "f"}
    links = {id(event): event["args"].get("correlation", ends.get((event["pid"], event["tid"], event["ts"])))
             for event in events if event.get("cat") in DEVICE}
    kernels = [event for event in events if event.get("cat") in KERNEL]
    linked = [event for event in kernels if links[id(event)] in calls]
    assert len(linked) == truth["kernels_with_launch"]
    assert len(kernels) - len(linked) == truth["kernels_without_launch"]
    assert len(calls) == truth["runtime_calls"] and sum(started.values()) == truth["launching_calls"]
    for event in (event for event in events if event.get("cat") in DEVICE):
        call = calls.get(links[id(event)])
        assert call is None or ns(event["ts"]) >= span(call)[1 if "Graph" not in call["name"] else 0], event["name"]
        assert call is None or started[links[id(event)]] == 1
    graph = [event for event in linked if "GraphLaunch" in calls[links[id(event)]]["name"]]
    assert len(graph) == truth["graph_kernels"]
    assert not any("External id" in event["args"] for event in graph)
    assert sum("GraphLaunch" in call["name"] for call in calls.values()) == truth["graph_launches"]


def check_device_time(events, truth):
    streams, sets = collections.defaultdict(list), collections.defaultdict(list)
    for event in (event for event in events if event.get("cat") in DEVICE):
        streams[event["tid"]].append(span(event))
        name = truth["names"][event["name"]]["class"] if event["cat"] in KERNEL else ""
        copy = event["cat"] in ("gpu_memcpy", "Memcpy") or name == "copy"
        sets["comm" if name.startswith("communication") else "copy" if copy else "computation"].append(span(event))
    for row in streams.values():
        row.sort()
        assert all(before[1] <= after[0] for before, after in zip(row, row[1:])), "events of a stream overlap"
    everything = [item for row in streams.values() for item in row]
    expected = truth["device_time"]
    for name in ("computation", "comm", "copy"):
        assert length(union(sets[name])) == expected[name], name
    without_copy = length(union(sets["computation"] + sets["comm"]))
    assert without_copy - expected["computation"] == expected["exposed_comm"]
    assert length(union(everything)) - without_copy == expected["exposed_copy"]
    assert length(union(everything)) == expected["busy"]
    assert max(e for _, e in everything) - min(b for b, _ in everything) == expected["span"]
    parts = ("computation", "exposed_comm", "exposed_copy", "idle")
    assert sum(expected[part] for part in parts) == expected["span"]
    for step in truth["steps"]:
        begin, end = step["planted_idle_ts"], step["planted_idle_ts"] + step["planted_idle_ns"]
        assert not any(b < end and begin < e for b, e in everything if begin < end), step
        assert step["planted_idle_ns"] >= truth["options"]["idle_ns"] - 1000
        assert step["planted_idle_ns"] > 0 or step["planted_idle_ts"] == 0, "a time for what was not planted"


def check_steps(events, truth):
    annotations = sorted((span(e), e["name"]) for e in events
                         if e.get("cat") in ("user_annotation", "Operator")
                         and e["name"].startswith(("execute_context", "ProfilerStep#")))
    for ((begin, end), name), step in zip(annotations, truth["steps"]):
        assert [begin, end - begin] == [step["ts"], step["dur"]]
        assert name == step["name"]
        assert name.startswith("ProfilerStep#") or name == \
            "execute_context_{context_requests}({context_tokens})_generation_{generation_requests}(" \
            "{generation_tokens})".format(**step)
    assert len(annotations) in (0, len(truth["steps"]))


def check_all(trace, truth):
    events = trace["traceEvents"]
    check_counts(events, truth)
    check_nesting(events)
    if truth["options"]["python_stacks"]:
        check_python(events, truth)
    check_launches(events, truth)
    check_device_time(events, truth)
    check_steps(events, truth)


def check_variants(folder):
    for number, variant in enumerate(VARIANTS):
        for seed in (1, 99):
            path = folder / f"variant{number}_{seed}.json"
            try:
                check_all(*make(path, [*SMALL, "--seed", str(seed), *variant]))
            except AssertionError:
                print("failed:", variant, "seed", seed)
                raise


def check_determinism(folder):
    one, same, other, packed = (folder / name for name in ("a.json", "b.json", "c.json", "d.json.gz"))
    for path, seed in ((one, "5"), (same, "5"), (other, "6"), (packed, "5")):
        make(path, [*SMALL, "--seed", seed])
    assert one.read_bytes() == same.read_bytes() == gzip.decompress(packed.read_bytes())
    assert one.read_bytes() != other.read_bytes()


def check_planted(folder):
    base = [*SMALL, "--seed", "3", "--jitter", "0"]
    _, plain = make(folder / "plain.json", base)
    _, fused = make(folder / "fused.json", [*base, "--fuse", "silu+quant"])
    steps = len(plain["steps"])
    assert [f["count"] for f in fused["fusions"]] == [4 * steps] and not plain["fusions"]
    assert plain["kernels"]["count"] - fused["kernels"]["count"] == 4 * steps
    _, slow = make(folder / "slow.json", [*base, "--slow", "norm=2"])
    assert slow["classes"]["norm"]["ns"] == 2 * plain["classes"]["norm"]["ns"]
    assert slow["classes"]["dense_gemm"] == plain["classes"]["dense_gemm"]
    _, more = make(folder / "more.json", [*base, "--insert", "sort@1"])
    assert more["inserted"]["count"] == steps and more["classes"]["sort"]["count"] == steps
    assert more["layers"][0] == plain["layers"][0]


def check_gap(folder):
    """Steps apart: what a step does stays, only the time between steps grows."""
    base = [*SMALL, "--seed", "3"]
    _, close = make(folder / "close.json", base)
    trace, apart = make(folder / "apart.json", [*base, "--step-gap", "20000000", "--gap-calls", "1000"])
    for key in ("kernels", "gpu_end", "busy"):
        begins = [[step[key] - (step["gpu_begin"] if key == "gpu_end" else 0) for step in truth["steps"]]
                  for truth in (close, apart)]
        assert begins[0] == begins[1], key
    for one, other in ((0, 1), (3, 4)):
        longer = [truth["steps"][other]["ts"] - truth["steps"][one]["ts"] for truth in (close, apart)]
        assert longer[1] - longer[0] == 20_000_000, longer
    calls = [span(e)[0] for e in trace["traceEvents"] if e.get("name") == "vllm/v1/core/sched/scheduler.py(212): schedule"]
    first, second = apart["steps"][:2]
    assert sum(first["ts"] + first["dur"] <= ts < second["ts"] for ts in calls) == 1000


def check_jittered_streams(folder):
    """The order of starts differs from step to step; that of each stream does not."""
    for graphs in ("on", "off"):
        labels = folder / "labels.tsv"
        make(folder / "jittered.json", ["--layers", "6", "--steps", "5", "--mix", "D", "--graphs", graphs,
                                        "--jittered-streams", "on", "--labels", str(labels)])
        steps = collections.defaultdict(list)
        for row in csv.DictReader(labels.read_text(encoding="utf-8").splitlines(), delimiter="\t"):
            steps[row["step"]].append((int(row["ts"]), row["stream"], row["layer"], row["role"]))
        orders = [[kernel[1:] for kernel in sorted(step)] for step in steps.values()]
        assert len({tuple(order) for order in orders}) == 5
        for stream in {kernel[0] for kernel in orders[0]}:
            assert len({tuple(kernel for kernel in order if kernel[0] == stream) for order in orders}) == 1
        assert all([kernel[1] for kernel in order] == sorted((kernel[1] for kernel in order), key=layer_order)
                   for order in orders), "kernels of two layers cross"


def layer_order(layer):
    return {"-1": -1, "-2": 1 << 30}.get(layer, int(layer))


def check_training(folder):
    """Each backward operator has the sequence number and the flow of its forward, on a thread of its own."""
    trace, truth = make(folder / "train.json", ["--model", "train", "--layers", "3", "--steps", "2"])
    events = trace["traceEvents"]
    ops = [event for event in events if event.get("cat") == "cpu_op" and "Sequence number" in event["args"]]
    threads = {event["tid"] for event in ops}
    assert len(threads) == 2
    forward = {event["args"]["Sequence number"]: event for event in ops if event["args"]["Fwd thread id"] == 0}
    backward = [event for event in ops if event["args"]["Fwd thread id"] == 1]
    assert len(forward) * 2 == len(backward) > 20
    for event in backward:
        assert span(forward[event["args"]["Sequence number"]])[1] <= span(event)[0]
    flows = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            flows[event["id"]][event["ph"]] = (event["tid"], ns(event["ts"]))
    by_place = {(event["tid"], span(event)[0]): event for event in ops}
    for flow in flows.values():
        begin, end = by_place[flow["s"]], by_place[flow["f"]]
        assert begin["args"]["Sequence number"] == end["args"]["Sequence number"] and begin["tid"] != end["tid"]
    assert len(flows) == len(forward)
    for step in truth["steps"]:
        assert sum(part["ns"] for part in step["passes"].values()) == step["kernel_ns"]
        assert min(part["count"] for part in step["passes"].values()) > 0


def check_stacks(folder):
    """Layers are labelled by stack and by their number in it, in every pass."""
    for model, expected, passes in (("vision+text", {"vision": 6, "text": 3}, 1), ("diffusion", {"double": 6, "single": 12}, 2),
                                    ("encoder+decoder", {"encoder": 6, "decoder": 6}, 1)):
        labels = folder / "labels.tsv"
        make(folder / "stacks.json", ["--model", model, "--layers", "6", "--steps", "2", "--passes", "2", "--labels",
                                      str(labels)])
        found = collections.Counter()
        for row in csv.DictReader(labels.read_text(encoding="utf-8").splitlines(), delimiter="\t"):
            found[row["stack"], int(row["layer"]), row["iteration"]] += 1
        layers = {key for key in found if key[1] >= 0}
        assert layers == {(stack, layer, str(turn)) for stack, count in expected.items() for layer in range(count)
                          for turn in range(passes)}, layers


def check_missing_correlation(folder):
    base = [*SMALL, "--seed", "3", "--graphs", "off"]
    told, _ = make(folder / "told.json", base)
    untold, _ = make(folder / "untold.json", [*base, "--correlation", "off"])
    ids = [[event["args"].get("External id") for event in trace["traceEvents"] if event.get("cat") in DEVICE]
           for trace in (told, untold)]
    assert len(ids[0]) == len(ids[1]) and all(one != other for one, other in zip(*ids))
    assert not any("correlation" in event["args"] for event in untold["traceEvents"] if event.get("cat") in DEVICE)
    assert sum(event["ph"] == "f" for event in untold["traceEvents"]) == sum(event["ph"] == "f" for event in told["traceEvents"])


def check_shifted_names(folder):
    """In part of each replay names belong to other kernels; times stay."""
    base = ["--layers", "6", "--steps", "4", "--mix", "D", "--seed", "3"]
    right, truth = make(folder / "right.json", base)
    shifted, misnamed = make(folder / "shifted.json", [*base, "--shift-names", "2"])
    events = [[event for event in trace["traceEvents"] if event.get("cat") in KERNEL] for trace in (right, shifted)]
    assert [(e["ts"], e["dur"]) for e in events[0]] == [(e["ts"], e["dur"]) for e in events[1]]
    wrong = sum(one["name"] != other["name"] for one, other in zip(*events))
    assert 0.2 * len(events[0]) < wrong <= misnamed["misnamed"]["count"] and truth["misnamed"]["count"] == 0


def check_waiting_collective(folder):
    base = ["--layers", "3", "--steps", "4", "--seed", "3", "--tensor-parallel", "4"]
    kernels = [[event["dur"] for event in make(folder / "wait.json", [*base, *more])[0]["traceEvents"]
                if event.get("cat") in KERNEL] for more in ([], ["--collective-wait", "5000000"])]
    longer = [other - one for one, other in zip(*kernels)]
    assert collections.Counter(longer) == {0: len(longer) - 4, 5000: 4}


def check_target_size(folder):
    path = folder / "sized.json"
    make(path, ["--layers", "4", "--target-size", "3M"])
    assert 0.95 < path.stat().st_size / 3e6 < 1.1, path.stat().st_size


def check_usage_errors(folder):
    for bad in (["--fuse", "x"], ["--slow", "norm"], ["--insert", "nothing"], ["--vendor", "other"], ["--layers", "0"],
                ["--prefill-fraction", "7"], ["--prefill-fraction", "0.6", "--mixed-fraction", "0.5"], ["--clock", "0"],
                ["--slow", "norm=0"], ["--spelling", "x"], ["--model", "x"], ["--collective-wait", "5"], ["--model", "train", "--moe", "on"]):
        result = run("make-trace", *bad, folder / "bad.json", check=False)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, (bad, result)
    assert not (folder / "bad.json").exists()
    assert "example:" in run("make-trace", "--help").stdout


def main(cases, folder):
    cases.each((check_variants, check_determinism, check_planted, check_gap, check_jittered_streams, check_training,
                check_stacks, check_missing_correlation, check_shifted_names, check_waiting_collective,
                check_target_size, check_usage_errors), folder)
