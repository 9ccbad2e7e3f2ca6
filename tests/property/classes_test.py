"""Classes of synthetic traces against their ground truth, and properties that hold for any names and rules."""
import itertools
import json
import random

from trace_cases import equal, ingest, make_trace, require, run, scratch_folder

FUSIONS = "add+rmsnorm,allreduce+rmsnorm,moe_gemm+silu,moe_routing,qk_norm+rope,rmsnorm+quant,rope+kvcache,silu+quant"
INSERTED = ("reduce", "sort", "softmax", "embedding", "sampling")


def classes(index, *options):
    text = run("trace-query", "rules", "show", "-q", "--format", "json", *options, index).stdout
    return {row["name"]: row["class"] for row in json.loads(text)["rows"]}


def check_truth(folder, options):
    path = make_trace(folder / "trace.json", "--steps", 4, "--layers", 3, *options)
    truth = json.loads((folder / "trace.json.truth.json").read_text(encoding="utf-8"))
    found = classes(ingest(path, folder / "index.tracedb"))
    for name, expected in truth["names"].items():
        equal(found[name], expected["class"], name)
    equal(len(found), len(truth["names"]), "number of names")


def check_tables(folder, seed):
    """Every name has one class, the same every time and in any company."""
    generator = random.Random(seed)
    words = ["gemm", "rms_norm", "TopK", "::", "<", ">", "(", ")", "at::native::", "quant", "_Z", "\u00e9", " ", ",", "moe",
             "{", "}", "->", "attention", "N", "S_", "I", "E", "5hello", "operator"]
    names = sorted({"".join(generator.choices(words, k=generator.randrange(1, 40))) for _ in range(300)})
    events = [{"ph": "X", "cat": "kernel", "name": name, "ts": i, "dur": 1, "pid": 0, "tid": 7,
               "args": {"device": 0, "stream": 7}} for i, name in enumerate(names)]
    seen = []
    for order in (events, list(reversed(events))):
        path = folder / "names.json"
        path.write_text(json.dumps({"traceEvents": order}), encoding="utf-8")
        index = folder / "names.tracedb"
        index.unlink(missing_ok=True)
        seen.append(classes(ingest(path, index)))
    equal(seen[0], seen[1], "classes of the same names in another order")
    require(len(seen[0]) > len(names) // 2, "names were lost")


def main(cases):
    inserts = list(itertools.chain.from_iterable(("--insert", name) for name in INSERTED))
    for vendor, moe, fusions, parallel in itertools.product(("amd", "nvidia"), ("on", "off"), ("", FUSIONS), ("1", "4")):
        options = ["--vendor", vendor, "--moe", moe, "--tensor-parallel", parallel, *inserts]
        if fusions:
            options += ["--fuse", fusions]
        with scratch_folder() as folder:
            cases.run(f"truth {vendor} moe {moe} tp {parallel}{' fused' if fusions else ''}", check_truth, folder, options)
    for vendor, model in itertools.product(("amd", "nvidia"), ("train", "vision+text", "encoder+decoder", "diffusion")):
        with scratch_folder() as folder:
            cases.run(f"truth {vendor} {model}", check_truth, folder, ["--vendor", vendor, "--model", model])
    for vendor, fusions, spelling in itertools.product(("amd", "nvidia"), ("add+rmsnorm,rope+kvcache", FUSIONS),
                                                       ("attention,add_norm,rope_cache", "inductor,rope_append")):
        with scratch_folder() as folder:
            cases.run(f"truth {vendor} {spelling} of {fusions}", check_truth, folder,
                      ["--vendor", vendor, "--fuse", fusions, "--spelling", spelling, "--jittered-streams", "on"])
    for seed in range(3):
        with scratch_folder() as folder:
            cases.run(f"names {seed}", check_tables, folder, seed)
