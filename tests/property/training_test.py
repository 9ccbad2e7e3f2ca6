"""Training: every kernel is in the step that its ProfilerStep says, whichever thread launched it, and has the pass that
autograd's sequence numbers, its thread and the optimizer's annotation say."""
import collections
import csv
import itertools
import json

from trace_cases import equal, ingest, make_trace, rows, run, scratch_folder

PASSES = ("forward", "backward", "optimizer")


def build(folder, options):
    path = make_trace(folder / "trace.json", "--model", "train", "--labels", folder / "labels.tsv", *options)
    truth = json.loads((folder / "trace.json.truth.json").read_text(encoding="utf-8"))
    with open(folder / "labels.tsv", encoding="utf-8") as file:
        labels = sorted(csv.DictReader(file, delimiter="\t"), key=lambda label: (int(label["stream"]), int(label["ts"])))
    return ingest(path, folder / "index.tracedb"), truth, labels


def kernels(index):
    text = run("trace-query", "sql", "-q", "--json", index,
               "SELECT stream, step, pass, dur FROM kernels ORDER BY stream, ts, id").stdout
    return json.loads(text)["rows"]


def check_steps(index, truth):
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


def check(folder, options):
    index, truth, labels = build(folder, options)
    stepped = "--annotations" not in options
    if stepped:
        check_steps(index, truth)
    check_kernels(index, labels, stepped)
    check_reports(index, labels)
    run("trace-query", "verify", index)


def main(cases):
    small = ("--layers", 4, "--steps", 5)
    for vendor, dialect, more in itertools.product(
            ("amd", "nvidia"), ("new", "old"),
            ((), ("--python-stacks", "off"), ("--tensor-parallel", 4, "--streams", 3), ("--annotations", "off"),
             ("--step-gap", 3000000, "--idle", 80000))):
        options = (*small, "--vendor", vendor, "--dialect", dialect, *more)
        with scratch_folder() as folder:
            cases.run(f"{vendor} {dialect} {' '.join(map(str, more))}", check, folder, options)
    with scratch_folder() as folder:
        cases.run("one step", check, folder, ("--layers", 3, "--steps", 1))
