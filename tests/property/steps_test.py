"""Steps, phases and layers: synthetic traces give back their ground truth; every report adds up to the trace."""
import collections
import csv
import itertools
import json

from trace_cases import equal, ingest, make_trace, require, run, scratch_folder

FUSIONS = "add+rmsnorm,allreduce+rmsnorm,moe_gemm+silu,moe_routing,qk_norm+rope,rmsnorm+quant,rope+kvcache,silu+quant"
LABELS = {"-1": "[head]", "-2": "[tail]"}
REPORTS = (("steps",), ("phases",), ("layers",), ("layers", "--per-op"), ("kernels",), ("ops",))


def report(command, index, *options):
    text = run("trace-query", command, "-q", "--format", "json", "--limit", 0, *options, index).stdout
    return json.loads(text)


def rows(command, index, *options):
    return report(command, index, *options)["rows"]


def build(folder, options):
    path = make_trace(folder / "trace.json", "--labels", folder / "labels.tsv", *options)
    truth = json.loads((folder / "trace.json.truth.json").read_text(encoding="utf-8"))
    with open(folder / "labels.tsv", encoding="utf-8") as file:
        labels = list(csv.DictReader(file, delimiter="\t"))
    return ingest(path, folder / "index.tracedb"), truth, labels


def check_steps(index, truth):
    found = [row for row in rows("steps", index) if row["step"] is not None]
    equal(len(found), len(truth["steps"]), "number of steps")
    for row, step in zip(found, truth["steps"]):
        what = f"step {step['index']}"
        for key in ("context_requests", "context_tokens", "generation_requests", "generation_tokens", "kernels"):
            equal(row[key], step[key], f"{what}: {key}")
        equal([row["phase"], row["host"], row["total_time"]], [step["kind"], step["dur"], step["kernel_ns"]], what)
        equal(row["gpu_span"], step["gpu_end"] - step["gpu_begin"], f"{what}: span")
        equal(row["gpu_busy"], step["busy"], f"{what}: busy")
        equal(row["launch_lag"], step["gpu_begin"] - step["ts"], f"{what}: launch lag")
    for row, step, following in zip(found, truth["steps"], truth["steps"][1:]):
        equal((row["period"], row["host_period"]), (following["gpu_begin"] - step["gpu_begin"], following["ts"] - step["ts"]),
              f"step {step['index']}: periods")
    phases = {row["phase"]: row for row in rows("phases", index)}
    for kind, steps in itertools.groupby(sorted(truth["steps"], key=lambda step: step["kind"]), lambda s: s["kind"]):
        steps = list(steps)
        equal([phases[kind]["steps"], phases[kind]["instances"], phases[kind]["total_time"]],
              [len(steps), sum(s["kernels"] for s in steps), sum(s["kernel_ns"] for s in steps)], kind)


def check_inferred(index, truth):
    """The kernels that set the cut are the trace's; kinds follow from their names."""
    found = [row for row in rows("steps", index) if row["step"] is not None]
    equal([row["name"] for row in found], ["[inferred]"] * len(truth["steps"]), "steps")
    for row, step in zip(found, truth["steps"]):
        equal([row["phase"], row["kernels"], row["total_time"]], [step["kind"], step["kernels"], step["kernel_ns"]],
              f"inferred step {step['index']}")


def check_layers(index, labels):
    expected = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        cell = expected[int(label["step"]), LABELS.get(label["layer"], label["layer"])]
        cell[0] += 1
        cell[1] += int(label["dur"])
    steps = sorted({step for step, _ in expected})
    for step in (steps[0], steps[1], steps[-1]):
        found = {row["layer"]: [row["instances"], row["total_time"]]
                 for row in rows("layers", index, "--step", step)}
        equal(found, {layer: cell for (s, layer), cell in expected.items() if s == step}, f"layers of step {step}")
    total = collections.Counter()
    for (_, layer), cell in expected.items():
        total[layer] += cell[1]
    found = {row["layer"]: row["total_time"] for row in rows("layers", index)}
    equal(found, dict(total), "layers")
    for selection in ("2", "tail"):
        name = f"[{selection}]" if selection.isalpha() else selection
        equal(sum(row["total_time"] for row in rows("kernels", index, "--layer", selection)), total[name], f"--layer {selection}")


def check_closure(index):
    """Every report holds the same kernel time and the same kernels; so do the parts of a selection."""
    sums = {}
    for command, *options in REPORTS:
        found = rows(command, index, *options)
        count = "instances" if found and "instances" in found[0] else "kernels"
        sums[command, *options] = [sum(row["total_time"] for row in found), sum(row[count] for row in found)]
    require(len({tuple(value) for value in sums.values()}) == 1, f"reports differ: {sums}")
    whole = sums["kernels",]
    for option, parts in (("--phase", ("prefill", "decode", "mixed", "train", "other", "unknown", "none")),
                          ("--layer", ("0..", "head", "tail", "none"))):
        found = [row for part in parts for row in rows("ops", index, option, part)]
        equal([sum(row["total_time"] for row in found), sum(row["instances"] for row in found)], whole, option)


def check_pattern(index, truth):
    """A pattern that says what the grammar knows gives the same steps."""
    pattern = (r"^execute_context_(?<context_requests>\d+)\((?<context_tokens>\d+)\)_generation_"
               r"(?<generation_requests>\d+)\((?<generation_tokens>\d+)\)")
    for command in ("steps", "phases"):
        equal(rows(command, index, "--step-regex", pattern), rows(command, index), f"{command} by a pattern")
    equal(len([row for row in rows("steps", index, "--step-regex", "_generation_0") if row["step"] is not None]),
          sum(step["kind"] == "prefill" for step in truth["steps"]), "steps by a pattern that knows only prefill")
    equal(report("steps", index, "--step-regex", "nothing")["rows"][0]["name"], "[no step]", "a pattern without steps")


def check_order(index):
    for command, *options in REPORTS:
        texts = {run("trace-query", command, "-q", "--csv", *options, index).stdout for _ in range(2)}
        equal(len(texts), 1, f"{command}: answers")


def check_marked(folder, options):
    index, truth, labels = build(folder, options)
    check_steps(index, truth)
    check_layers(index, labels)
    check_closure(index)
    check_pattern(index, truth)
    check_order(index)


def check_unmarked(folder, options):
    index, truth, labels = build(folder, [*options, "--annotations", "off"])
    check_inferred(index, truth)
    check_layers(index, labels)
    check_closure(index)


def main(cases):
    base = ["--layers", 5, "--steps", 6, "--mixed-fraction", 0.2]
    models = ([], ["--moe", "on", "--tensor-parallel", 4], ["--fuse", FUSIONS], ["--streams", 1, "--quantise", "off"])
    for choice in itertools.product(range(2), range(2), range(2), range(4)):
        if sum(choice) % 2:  # half of all: every two choices meet
            continue
        vendor, stacks, graphs = ("amd", "nvidia")[choice[0]], ("on", "off")[choice[1]], ("on", "off")[choice[2]]
        more = models[choice[3]]
        options = [*base, "--vendor", vendor, "--python-stacks", stacks, "--graphs", graphs, *more]
        name = f"{vendor} stacks {stacks} graphs {graphs} {' '.join(map(str, more))}"
        with scratch_folder() as folder:
            cases.run(f"marked {name}", check_marked, folder, options)
        if stacks == "off":
            with scratch_folder() as folder:
                cases.run(f"unmarked {name}", check_unmarked, folder, options)
