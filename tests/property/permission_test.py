"""What compare may say of generated pairs: of other work neither ratio, verdict nor gate, of kernels with wrong names no
reason, and of kernels of one class that moved against each other two reasons. The same work stays comparable. Graph replays whose
names are out of step with their times: a warning where that was planted, and nowhere else."""
import itertools
import random

from compare_cases import check_closure, compare
from trace_cases import as_json, equal, ingest, make_trace, planted, refused, require, rows, run

PAIRS = 16  # of other shapes, and of names out of step
WHOLE = 4
RATIOS = (" % less", " % longer", " times the throughput", " times as long", " slower", " faster", "better", "worse")


def shape(chance):
    """Of both traces of a pair."""
    return {"--layers": chance.randint(6, 24), "--steps": chance.randint(6, 9), "--mix": "D", "--batch": 32,
            "--python-stacks": chance.choice(["on", "off"]), "--moe": chance.choice(["on", "off"]), "--shapes": "on"}


def pair(folder, common, own):
    """The candidate is made as the baseline, but for its own options."""
    indexes = []
    for name, options in (("a", common), ("b", {**common, **own})):
        words = [word for option, value in options.items() for word in (option, value)]
        indexes.append(ingest(make_trace(folder / f"{name}.json", *words), folder / f"{name}.tracedb"))
    return indexes


def reasons(indexes):
    document = as_json("compare", *indexes)
    return document["reasons"]


def page(indexes, *options):
    return " ".join(run("trace-query", "compare", "-q", *indexes, *options).stdout.split())


def check_other(folder, common, own, what):
    indexes = pair(folder, common, own)
    text = page(indexes)
    require(what in text.split("Verdict")[0], f"headline: {text[:400]}")
    before_warnings = text.split("Warnings")[0]
    require(not any(word in before_warnings for word in RATIOS), f"other work is rated: {before_warnings}")
    found = compare(*indexes, "--section", "steps,ledger,warnings")
    equal({row["verdict"] for row in found["steps"]}, {"inconclusive"}, "verdicts")
    require("other_work" in {row["code"] for row in found["warnings"]}, "no warning")
    check_closure(found["ledger"])
    refused(2, "", "trace-query", "compare", *indexes, "--gate", 5)
    allowed = page(indexes, "--allow-different-work")
    require(any(word in allowed for word in RATIOS), f"nothing is rated: {allowed[:400]}")


def check_same(folder, common, own):
    indexes = pair(folder, common, own)
    found = compare(*indexes, "--section", "warnings")
    require("other_work" not in {row["code"] for row in found["warnings"]}, f"other work: {found}")
    require("--allow-different-work" not in page(indexes), "a headline of other work")


def check_names(folder, common, shift):
    indexes = pair(folder, common, {"--shift-names": shift})
    text = page(indexes)
    require("under the name of another kernel" in text.split("Verdict")[0], f"headline: {text[:400]}")
    found = compare(*indexes, "--section", "fusion,warnings,ledger")
    causes = reasons(indexes)
    equal(found["fusion"], [], "fusions")
    equal(causes, [], "reasons: only names differ")
    require("clocks" not in {row["code"] for row in found["warnings"]}, "clocks by names")
    check_closure(found["ledger"])


def check_members(folder, common, slower, faster):
    """Two roles of one class of kernels: their sum is small, or has the sign of one of them."""
    indexes = pair(folder, common, {"--slow": f"{slower}=1.6,{faster}=0.5"})
    found = compare(*indexes, "--section", "ledger")
    check_closure(found["ledger"])
    own = [row for row in reasons(indexes) if row["cause"] == "operation" and row["op"] == "dense_gemm"]
    equal({row["change"] > 0 for row in own}, {True, False}, f"signs of the reasons: {own}")
    (row,) = [row for row in found["ledger"] if row["item"] == "dense_gemm"]
    equal(sum(one["change"] for one in own), row["change"], "reasons of a row add up to it")


def check_seed(cases, seed, whole):
    """`whole`: also what stays comparable."""
    chance = random.Random(seed)
    common = {**shape(chance), "--seed": seed + 1}
    if not whole:
        common = {**common, "--layers": chance.randint(3, 6)}
    layers = common["--layers"]
    eager = {**common, "--graphs": "off", "--annotations": "off", "--vendor": chance.choice(["amd", "nvidia"])}

    def run_case(name, check, *arguments):
        cases.run_apart(f"{name} {seed}", check, *arguments)

    run_case("other shapes", check_other, eager, {"--batch": chance.choice([4, 512])}, "linear layer of [")
    run_case("names out of step", check_names, common, chance.randint(1, 3))
    if not whole:
        return
    run_case("other model", check_other, common, {"--layers": layers + chance.randint(3, 20)}, f"{layers} layers, against ")
    for name, own in (("other vendor", {"--vendor": "nvidia"}), ("sharded", {"--tensor-parallel": 4}),
                      ("annotated load", {"--batch": 64}), ("without graphs", {"--graphs": "off"}),
                      ("without shapes", {"--shapes": "off", "--graphs": "off"}), ("fused", {"--fuse": "add+rmsnorm"})):
        run_case(f"the same work: {name}", check_same, common, own)
    run_case("members of a class", check_members, {**common, "--jitter": 0}, *chance.sample(["qkv_gemm", "o_gemm"], 2))


CODE = "names_out_of_step"
SEEDS = range(3)


def graph_options(chance):
    return ["--layers", chance.randint(8, 32), "--steps", chance.randint(3, 8), "--mix", chance.choice(["D", "P,D*3"]),
            "--moe", chance.choice(["on", "off"]), "--quantise", chance.choice(["on", "off"]),
            "--qk-norm", chance.choice(["on", "off"]), "--tensor-parallel", chance.choice([1, 4]),
            "--streams", chance.choice([1, 2]), "--python-stacks", chance.choice(["on", "off"]),
            "--batch", chance.choice([8, 64]), "--jitter", chance.choice([1, 3]), "--seed", chance.randrange(1, 10**6)]


def check_misnamed(folder, options, misnamed):
    index, truth, _ = planted(folder, *options)
    require(truth["misnamed"]["count"] > 0 or not misnamed, "nothing was planted")
    equal([row["code"] for row in rows("warnings", index) if row["code"] == CODE], [CODE] * misnamed, "names out of step")


def main(cases, _):
    for seed in range(PAIRS):
        check_seed(cases, seed, seed < WHOLE)
    for vendor, seed in itertools.product(("amd", "nvidia"), SEEDS):
        chance = random.Random(f"{vendor} {seed}")
        options = ["--vendor", vendor, *graph_options(chance)]
        for shift in (0, chance.randint(1, 3)):
            cases.run_apart(f"{' '.join(map(str, options))}, names shifted by {shift}", check_misnamed, [*options, "--shift-names", shift], shift > 0)
    for name, options in (("a branch beside", ("--jittered-streams", "on")), ("without graphs", ("--graphs", "off")),
                          ("slow layers", ("--slow", "dense_gemm@3=3")), ("diffusion", ("--model", "diffusion", "--layers", 4)),
                          ("a waiting collective", ("--tensor-parallel", 4, "--collective-wait", 900000))):
        cases.run_apart(name, check_misnamed, ["--steps", 5, *options], False)
