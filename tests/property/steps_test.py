"""Classes, steps, phases, layers and planted idle: synthetic traces give back their ground truth, whatever the options,
also where these are drawn by chance, the same each time; every report adds up to the trace. Training: every kernel is in
the step that its ProfilerStep says, whichever thread launched it, and has the pass that autograd's sequence numbers, its
thread and the optimizer's annotation say."""
import collections
import itertools
import random

from trace_cases import equal, planted, require, rows, run, sql

FUSIONS = "add+rmsnorm,allreduce+rmsnorm,moe_gemm+silu,moe_routing,qk_norm+rope,rmsnorm+quant,rope+kvcache,silu+quant"
LABELS = {"-1": "[head]", "-2": "[tail]"}
SEEDS = range(6)
SPELLINGS = ("add_norm", "attention", "inductor", "rope_append", "rope_cache")
IDLE = 4_000_000  # ns: more than any wait that was not planted
REPORTS = (("steps",), ("phases",), ("layers",), ("layers", "--per-op"), ("kernels",), ("ops",))


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
    for step in sorted({step for step, _ in expected}):
        found = {row["layer"]: [row["instances"], row["total_time"]] for row in rows("layers", index, "--step", step)}
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
    equal(rows("steps", index, "--step-regex", "nothing")[0]["name"], "[no step]", "a pattern without steps")


def check_order(index):
    for command, *options in REPORTS:
        texts = {run("trace-query", command, "-q", "--csv", *options, index).stdout for _ in range(2)}
        equal(len(texts), 1, f"{command}: answers")


def check_marked(folder, options):
    index, truth, labels = planted(folder, *options)
    check_steps(index, truth)
    check_layers(index, labels)
    check_closure(index)
    check_pattern(index, truth)
    check_order(index)


def check_unmarked(folder, options):
    index, truth, labels = planted(folder, *options, "--annotations", "off")
    check_inferred(index, truth)
    check_layers(index, labels)
    check_closure(index)


def options_by_chance(chance):
    fusions = [fusion for fusion in FUSIONS.split(",") if chance.random() < 0.4]
    switches = {name: chance.choice(("on", "off")) for name in ("graphs", "python-stacks", "moe", "quantise", "qk-norm",
                                                                "jittered-streams", "correlation")}
    numbers = {"layers": chance.randrange(3, 8), "steps": chance.randrange(5, 10), "streams": chance.choice((1, 2, 3)),
               "tensor-parallel": chance.choice((1, 2, 8)), "batch": chance.choice((1, 16, 64)),
               "prompt-tokens": chance.choice((128, 2048)), "mixed-fraction": chance.choice((0, 0.3)),
               "jitter": chance.choice((0, 3, 10)), "idle": IDLE, "seed": chance.randrange(1, 1000),
               "step-gap": chance.choice((0, 2000000)),
               "spelling": ",".join(chance.sample(SPELLINGS, chance.choice((0, 1, 3))))}
    options = [part for name, value in {**switches, **numbers}.items() for part in (f"--{name}", value)]
    return options + (["--fuse", ",".join(fusions)] if fusions else [])


def check_classes(index, truth, labels):
    equal({row["name"]: row["class"] for row in rows("rules show", index)}, {name: expected["class"] for name, expected in truth["names"].items()}, "classes of all names")
    expected = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        expected[label["class"]][0] += 1
        expected[label["class"]][1] += int(label["dur"])
    equal({row["op"]: [row["instances"], row["total_time"]] for row in rows("ops", index)}, dict(expected),
          "kernels and time of each class")


def check_idle(index, truth):
    (timeline,) = rows("timeline", index)
    zero = timeline["begin"] - truth["device_time"]["ts"]
    idle = sorted((step["planted_idle_ts"] + zero, step["planted_idle_ns"]) for step in truth["steps"])
    require(all(duration >= IDLE for _, duration in idle), "no idle was planted")
    waits = sorted((gap["ts"], gap["dur"]) for gap in rows("gaps", index, "--each")
                   if gap["launch_cause"] == "host_wait" and gap["dur"] >= IDLE)
    equal(waits, idle, "planted idle")


def check_truth(folder, options):
    index, truth, labels = planted(folder, *options)
    check_classes(index, truth, labels)
    check_steps(index, truth)
    check_layers(index, labels)
    check_idle(index, truth)


PASSES = ("forward", "backward", "optimizer")


def kernels(index):
    return sql(index, "SELECT stream, step, pass, dur FROM kernels ORDER BY stream, ts, id")


def check_steps_training(index, truth):
    found = rows("steps", index)
    equal([row["name"] for row in found], [step["name"] for step in truth["steps"]], "steps, and nothing outside of them")
    for row, step in zip(found, truth["steps"]):
        what = f"step {step['name']}"
        equal([row["phase"], row["kernels"], row["total_time"]], ["train", step["kernels"], step["kernel_ns"]], what)
        equal([row["gpu_span"], row["gpu_busy"]], [step["gpu_end"] - step["gpu_begin"], step["busy"]], f"{what}: device")


def check_kernels(index, labels, stepped):
    for row, label in zip(kernels(index), labels, strict=True):
        what = f"step {label['step']}, layer {label['layer']}, {label['role']}"
        equal(row["dur"], int(label["dur"]), f"{what}: duration")
        equal(row["pass"], label["pass"], f"{what}: pass")
        if stepped:
            equal(row["step"], int(label["step"]), f"{what}: step")


def check_reports(index, labels):
    """Passes of every report add up to the kernels with that label."""
    expected = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        expected[label["pass"]][0] += 1
        expected[label["pass"]][1] += int(label["dur"])
    for name in PASSES:
        count = sum(row["instances"] for row in rows("ops", index, "--by", "pass") if row["pass"] == name)
        equal(count, expected[name][0], f"ops --by pass: kernels {name}")
    total = collections.Counter()
    for row in rows("ops", index, "--by", "pass"):
        total[row["pass"]] += row["total_time"]
    equal(dict(total), {name: values[1] for name, values in expected.items()}, "ops --by pass: time")


def check_training(folder, options):
    index, truth, labels = planted(folder, "--model", "train", *options)
    labels.sort(key=lambda label: (int(label["stream"]), int(label["ts"])))
    stepped = "--annotations" not in options
    if stepped:
        check_steps_training(index, truth)
    check_kernels(index, labels, stepped)
    check_reports(index, labels)
    run("trace-query", "verify", index)


def main(cases, _):
    base = ["--layers", 5, "--steps", 6, "--mixed-fraction", 0.2]
    models = ([], ["--moe", "on", "--tensor-parallel", 4], ["--fuse", FUSIONS], ["--streams", 1, "--quantise", "off"])
    for choice in itertools.product(range(2), range(2), range(2), range(4)):
        if sum(choice) % 2:  # half of all: every two choices meet
            continue
        vendor, stacks, graphs = ("amd", "nvidia")[choice[0]], ("on", "off")[choice[1]], ("on", "off")[choice[2]]
        more = models[choice[3]]
        options = [*base, "--vendor", vendor, "--python-stacks", stacks, "--graphs", graphs, *more]
        name = f"{vendor} stacks {stacks} graphs {graphs} {' '.join(map(str, more))}"
        cases.run_apart(f"marked {name}", check_marked, options)
        if stacks == "off":
            cases.run_apart(f"unmarked {name}", check_unmarked, options)
    for vendor in ("amd", "nvidia"):
        for seed in SEEDS:
            options = ["--vendor", vendor, *options_by_chance(random.Random(f"{vendor} {seed}"))]
            cases.run_apart(" ".join(map(str, options)), check_truth, options)
    small = ("--layers", 4, "--steps", 5)
    for vendor, dialect, more in itertools.product(
            ("amd", "nvidia"), ("new", "old"),
            ((), ("--python-stacks", "off"), ("--tensor-parallel", 4, "--streams", 3), ("--annotations", "off"),
             ("--step-gap", 3000000, "--idle", 80000))):
        options = (*small, "--vendor", vendor, "--dialect", dialect, *more)
        cases.run_apart(f"{vendor} {dialect} {' '.join(map(str, more))}", check_training, options)
    cases.run_apart("one step", check_training, ("--layers", 3, "--steps", 1))
