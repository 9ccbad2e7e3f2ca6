"""Classes of synthetic traces against their ground truth, and properties that hold for any names and rules."""
import itertools
import random

from made_events import index_of, kernel
from trace_cases import equal, planted, require, rows

FUSIONS = "add+rmsnorm,allreduce+rmsnorm,moe_gemm+silu,moe_routing,qk_norm+rope,rmsnorm+quant,rope+kvcache,silu+quant"
INSERTED = ("reduce", "sort", "softmax", "embedding", "sampling")


def classes(index, *options):
    return {row["name"]: row["class"] for row in rows("rules show", *options, index)}


def check_truth(folder, options):
    index, truth, _ = planted(folder, "--steps", 4, "--layers", 3, *options)
    equal(classes(index), {name: expected["class"] for name, expected in truth["names"].items()}, "classes of all names")


def check_tables(folder, seed):
    """Every name has one class, the same every time and in any company."""
    generator = random.Random(seed)
    words = ["gemm", "rms_norm", "TopK", "::", "<", ">", "(", ")", "at::native::", "quant", "_Z", "\u00e9", " ", ",", "moe",
             "{", "}", "->", "attention", "N", "S_", "I", "E", "5hello", "operator"]
    names = sorted({"".join(generator.choices(words, k=generator.randrange(1, 40))) for _ in range(300)})
    events = [kernel(name, i, 1) for i, name in enumerate(names)]
    seen = [classes(index_of(folder / "names.json", order, "--force")) for order in (events, list(reversed(events)))]
    equal(seen[0], seen[1], "classes of the same names in another order")
    require(len(seen[0]) > len(names) // 2, "names were lost")


def main(cases, _):
    inserts = list(itertools.chain.from_iterable(("--insert", name) for name in INSERTED))
    for vendor, moe, fusions, parallel in itertools.product(("amd", "nvidia"), ("on", "off"), ("", FUSIONS), ("1", "4")):
        options = ["--vendor", vendor, "--moe", moe, "--tensor-parallel", parallel, *inserts]
        if fusions:
            options += ["--fuse", fusions]
        cases.run_apart(f"truth {vendor} moe {moe} tp {parallel}{' fused' if fusions else ''}", check_truth, options)
    for vendor, model in itertools.product(("amd", "nvidia"), ("train", "vision+text", "encoder+decoder", "diffusion")):
        cases.run_apart(f"truth {vendor} {model}", check_truth, ["--vendor", vendor, "--model", model])
    for vendor, fusions, spelling in itertools.product(("amd", "nvidia"), ("add+rmsnorm,rope+kvcache", FUSIONS),
                                                       ("attention,add_norm,rope_cache", "inductor,rope_append")):
        cases.run_apart(f"truth {vendor} {spelling} of {fusions}", check_truth, ["--vendor", vendor, "--fuse", fusions, "--spelling", spelling, "--jittered-streams", "on"])
    for seed in range(3):
        cases.run_apart(f"names {seed}", check_tables, seed)
