"""Models with several stacks of layers: each stack is found and named apart, and its layers are numbered in it, in every
step and every pass over it; with modules exactly, without modules by the rhythm of the kernels."""
import bisect
import collections
import itertools
import json

from trace_cases import equal, ingest, make_trace, planted, require, rows, run, sql

MODELS = {
    "vision and text": ("--model", "vision+text", "--layers", 24, "--second-layers", 12),
    "two equal towers": ("--model", "vision+text", "--layers", 8, "--second-layers", 8),
    "encoder and decoder": ("--model", "encoder+decoder", "--layers", 8),
    "more decoder than encoder": ("--model", "encoder+decoder", "--layers", 6, "--second-layers", 32),
    "diffusion": ("--model", "diffusion", "--layers", 19, "--second-layers", 38, "--passes", 4),
    "diffusion in one pass": ("--model", "diffusion", "--layers", 5, "--second-layers", 9, "--passes", 1),
}
# Share of kernels whose layer is right where only the rhythm of the kernels tells: it does not say with which kernel a
# layer begins.
CLOSE = 0.85


def build(folder, options):
    index, truth, labels = planted(folder, *options)
    labels.sort(key=lambda label: (int(label["stream"]), int(label["ts"])))
    return index, truth, labels, sql(index, "SELECT stream, stack, layer, dur FROM kernels ORDER BY stream, ts, id")


def places(labels, rows):
    """{stack of the model: {(stack, layer number there, stack found, layer found): kernels}}."""
    out = collections.defaultdict(collections.Counter)
    for label, row in zip(labels, rows, strict=True):
        equal(row["dur"], int(label["dur"]), "duration of a labelled kernel")
        out[label["stack"]][int(label["layer"]), row["stack"], row["layer"]] += 1
    return out


def check_stacks(truth, rows):
    """As many stacks as the model has, each with as many layers."""
    layers = collections.defaultdict(set)
    for row in rows:
        if row["layer"] is not None:
            layers[row["stack"]].add(row["layer"])
    expected = [list(range(stack["layers"])) for stack in truth["stacks"]]
    equal(sorted(sorted(found) for found in layers.values()), sorted(expected), f"layers of the stacks {sorted(layers)}")


def check_modules(truth, labels, rows):
    check_stacks(truth, rows)
    names = set()
    for stack, counts in places(labels, rows).items():
        found = {(name, layer) for layer, name, _ in counts}
        if stack == "":  # what is in no layer
            equal({layer for _, _, layer in counts}, {None}, "layers of kernels between stacks")
            continue
        require(all(layer == number for layer, _, number in counts), f"{stack}: {counts}")
        equal(len({name for name, _ in found}), 1, f"{stack}: names")
        names.add(next(iter(found))[0])
    equal(len(names), len(truth["stacks"]), f"names of stacks: {names}")


def check_rhythm(truth, labels, rows):
    check_stacks(truth, rows)
    for stack, counts in places(labels, rows).items():
        if stack == "":
            continue
        by_name = collections.Counter()
        for (layer, name, number), kernels in counts.items():
            by_name[name] += kernels if layer == number else 0
        name, right = by_name.most_common(1)[0]
        require(right >= CLOSE * sum(counts.values()), f"{stack}, found as {name}: {right} of {sum(counts.values())}")


def architecture(index):
    found = rows("info", index)
    (value,) = [row["value"] for row in found if row["item"] == "architecture"]
    return value


def check_twins(folder):
    """Two stacks of like layers: without modules they look like two passes over one, and that is said."""
    path = make_trace(folder / "trace.json", "--model", "diffusion", "--layers", 6, "--second-layers", 9, "--passes", 3,
                      "--python-stacks", "off", "--steps", 2)
    done = run("trace-query", "layers", ingest(path, folder / "index.tracedb"))
    for layers in (6, 9):
        said = f"3 passes over {layers} layers by rhythm: 3 stacks of like layers would look the same"
        require(said in done.stderr, done.stderr)
    path = make_trace(folder / "other.json", "--model", "diffusion", "--layers", 6, "--second-layers", 9, "--passes", 3,
                      "--python-stacks", "on", "--steps", 2)
    done = run("trace-query", "layers", ingest(path, folder / "other.tracedb"))
    require("by rhythm" not in done.stderr, done.stderr)


def check(folder, options, modules):
    index, truth, labels, rows = build(folder, (*options, "--python-stacks", modules))
    if modules == "on":
        check_modules(truth, labels, rows)
    else:
        check_rhythm(truth, labels, rows)
    said = architecture(index)
    diffuses = modules == "on" and "diffusion" in options
    equal("diffusion" in said, diffuses, f"architecture {said}")
    text = run("trace-query", "phases", "-q", "--json", index).stdout
    phases = {row["phase"] for row in json.loads(text)["rows"]}
    require(not phases & {"decode", "prefill", "mixed"}, f"phases of a model that serves no tokens: {phases}")


def check_devices(folder, options):
    """The devices of a process may have some of the layers each, or all of them: there are as many layers."""
    whole = make_trace(folder / "whole.json", *options, "--python-stacks", "on", "--graphs", "off")
    document = json.loads(whole.read_text())
    kernels = sorted((event for event in document["traceEvents"] if event.get("cat") == "kernel"), key=lambda event: event["ts"])
    steps = collections.defaultdict(list)
    calls = {event["args"]["correlation"]: event["ts"] for event in document["traceEvents"] if event.get("cat") == "cuda_runtime"}
    marks = sorted(event["ts"] for event in document["traceEvents"] if event.get("cat") == "user_annotation" and event["name"].startswith("execute"))
    for event in kernels:
        steps[bisect.bisect(marks, calls.get(event["args"]["correlation"], event["ts"]))].append(event)
    for own in steps.values():
        for event in own[len(own) // 2:]:
            event["pid"] = event["args"]["device"] = 1
    (folder / "spread.json").write_text(json.dumps(document))
    layers = []
    for name in ("whole", "spread"):
        index = ingest(folder / f"{name}.json", folder / f"{name}.tracedb")
        layers.append(sql(index, "SELECT layer, count(*) AS n FROM kernels WHERE layer IS NOT NULL GROUP BY 1 ORDER BY 1"))
    equal(len(layers[0]), 6, "layers")
    equal(layers[1], layers[0], "layers on two devices")


def main(cases, _):
    for (name, options), vendor, modules in itertools.product(MODELS.items(), ("amd", "nvidia"), ("on", "off")):
        cases.run_apart(f"{name}, {vendor}, modules {modules}", check, (*options, "--steps", 4, "--vendor", vendor), modules)
    cases.run_apart("passes that may be stacks", check_twins)
    cases.run_apart("layers on two devices", check_devices, ("--layers", 6, "--mix", "P,D*3", "--steps", 8, "--vendor", "nvidia"))
