"""Models with several stacks of layers give back their ground truth: vision and text, encoder and decoder, diffusion."""
import collections
import csv
import itertools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, equal, ingest, make_trace, require, run, scratch_folder  # noqa: E402

PARTS = {"-1": "[head]", "-2": "[tail]", "-3": "[no layer]"}
# Of each model: its stacks in the ground truth, with the names that its modules give them.
MODELS = {
    "vision+text": {"vision": "CLIPVisionTransformer.CLIPEncoderLayer", "text": "CLIPTextTransformer.CLIPEncoderLayer"},
    "encoder+decoder": {"encoder": "WhisperEncoderLayer", "decoder": "WhisperDecoderLayer"},
    "diffusion": {"double": "FluxTransformerBlock", "single": "FluxSingleTransformerBlock"},
}


def report(command, index, *options):
    return json.loads(run("trace-query", command, "-q", "--json", *options, index).stdout)["rows"]


def build(folder, *options):
    path = make_trace(folder / "trace.json", "--labels", folder / "labels.tsv", *options)
    with open(folder / "labels.tsv", encoding="utf-8") as file:
        return ingest(path, folder / "index.tracedb"), list(csv.DictReader(file, delimiter="\t"))


def planted(labels, names):
    """Kernels and time by stack and layer."""
    cells = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        part = PARTS.get(label["layer"])
        cell = cells[(None, part) if part else (names[label["stack"]], label["layer"])]
        cell[0] += 1
        cell[1] += int(label["dur"])
    return dict(cells)


def found(index, *options):
    return {(row["stack"], row["layer"]): [row["instances"], row["total_time"]] for row in report("layers", index, "--limit", 0, *options)}


def check_selection(index, expected):
    """--layer and the columns of trace-query sql mean what `layers` says."""
    stack = next(stack for stack, _ in expected if stack)
    statement = f"SELECT count(*) n, sum(dur) total FROM kernels WHERE stack = '{stack}' AND layer = 1"
    row, = json.loads(run("trace-query", "sql", "-q", "--json", index, statement).stdout)["rows"]
    equal([row["n"], row["total"]], expected[stack, "1"], "sql")
    equal(found(index, "--layer", f"{stack}:1"), {(stack, "1"): expected[stack, "1"]}, "--layer STACK:1")
    total = sum(cell[1] for key, cell in expected.items() if key[0] == stack)
    equal(sum(row["total_time"] for row in report("kernels", index, "--limit", 0, "--layer", stack)), total, "--layer STACK")
    result = run("trace-query", "kernels", "--layer", 1, index, check=False)
    equal(result.returncode, 2, "--layer 1 of several stacks")
    require(f"{stack} " in result.stderr, result.stderr)


def check_modules(folder, model, *options):
    index, labels = build(folder, "--model", model, "--python-stacks", "on", *options)
    expected = planted(labels, MODELS[model])
    equal(found(index), expected, "layers")
    check_selection(index, expected)
    compared = json.loads(run("trace-query", "compare", "-q", "--json", "--section", "layers", "--limit", 0, index,
                              index).stdout)["sections"][0]["rows"]
    equal({row["layer"] for row in compared},
          {f"{stack}:{layer}" if stack else layer for stack, layer in expected}, "layers of a comparison")


def check_rhythm(folder, model, passes, *options):
    """Without modules, the addition behind a layer goes with the norm of the next one: counts differ by that alone."""
    index, labels = build(folder, "--model", model, "--python-stacks", "off", *options)
    expected = planted(labels, MODELS[model])
    names = dict(zip(MODELS[model].values(), ("stack 1", "stack 2")))
    cells = found(index)
    equal({key for key in cells if key[0]}, {(names[stack], layer) for stack, layer in expected if stack}, "layers")
    steps = len({label["step"] for label in labels})
    for (stack, layer), (n, _) in expected.items():
        if stack:
            require(abs(cells[names[stack], layer][0] - n) <= steps * passes * 4, f"{stack} {layer}: {cells} for {n}")
    facts = {row["item"]: row["value"] for row in report("info", index)}
    equal(facts["layers"].count(f"x {passes} passes"), 2 if passes > 1 else 0, facts["layers"])


def main():
    cases = Cases()
    for vendor, model, (first, second) in itertools.product(("amd", "nvidia"), MODELS, ((6, 3), (4, 9), (5, 5))):
        options = ("--layers", first, "--second-layers", second, "--steps", 3, "--vendor", vendor)
        for what, check, more in (("modules", check_modules, ()), ("rhythm", check_rhythm, (4 if model == "diffusion" else 1,))):
            with scratch_folder() as folder:
                cases.run(f"{vendor} {model} {first} and {second} by {what}", check, folder, model, *more, *options)
    cases.finish()


if __name__ == "__main__":
    main()
