"""compare on pairs of synthetic traces: fusions planted on one side are found and no others, slowdowns are found where
they were planted, accounts close, a trace compared with itself shows nothing, and B against A mirrors A against B."""
import collections
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from compare_cases import (BETWEEN, LEDGERS, check_closure, check_mirror, check_unchanged, compare,  # noqa: E402
                           ledger_total)
from planted_pairs import expected_fusions, found_fusions, kept_kernels, make_side  # noqa: E402
from trace_cases import Cases, equal, require, run, scratch_folder  # noqa: E402

FUSIONS = ("add+rmsnorm", "allreduce+rmsnorm", "moe_gemm+silu", "moe_routing", "qk_norm+rope", "rmsnorm+quant",
           "rope+kvcache", "silu+quant")
VENDORS = (("amd", "nvidia"), ("nvidia", "amd"), ("amd", "amd"), ("nvidia", "nvidia"))
SLOW = ("dense_gemm", "quantise", "rotary", "kv_cache", "attention_decode", "activation", "norm")
INSERTED = ("reduce", "sort", "elementwise", "norm", "quantise", "gate_up_gemm", "moe_gemm_1")
LEAST = 0.95  # of precision and recall


def shape(chance):
    """Options that both sides share: the same model under the same load."""
    options = ["--layers", chance.randint(4, 6), "--mix", chance.choice(["P,D*3", "D", "P,D*2,M", "P*2,D*2,M"]),
               "--batch", chance.choice([8, 32, 64]), "--moe", chance.choice(["on", "off"]),
               "--quantise", chance.choice(["on", "on", "off"]), "--qk-norm", chance.choice(["on", "on", "off"]),
               "--tensor-parallel", chance.choice([1, 1, 2, 4]), "--streams", chance.choice([1, 2, 3])]
    return options + ["--python-stacks", chance.choice(["on", "on", "off"])]


def way(chance):
    """Options that a side has for itself."""
    return ["--seed", chance.randrange(1, 10**6), "--steps", chance.randint(8, 12), "--idle",
            chance.choice([0, 0, 90000]), "--graphs", chance.choice(["on", "on", "off"])]


def fuse(chance):
    chosen = chance.sample(FUSIONS, chance.choice([0, 2, 3, 4, 6]))
    return ["--fuse", ",".join(chosen)] if chosen else []


def vendors(place):
    return [("--vendor", name) for name in VENDORS[place % len(VENDORS)]]


def fusion_pair(chance, place):
    a, b = vendors(place)
    common = shape(chance)
    return [*common, *a, *way(chance), *fuse(chance)], [*common, *b, *way(chance), *fuse(chance)]


def same_pair(chance, place):
    """Two runs of one program."""
    vendor = vendors(2 + place % 2)[0]
    common = [*shape(chance), *vendor, *fuse(chance)]
    return [*common, *way(chance)], [*common, *way(chance)]


def slow_pair(chance, place):
    """With little noise, so that what was planted is what stands out."""
    a, b = [[*side, "--jitter", "0.3"] for side in same_pair(chance, place)]
    return a, [*b, "--slow", f"{SLOW[place % len(SLOW)]}@{chance.randint(1, 3)}={chance.choice([1.8, 2.5])}"]


def clock_pair(chance, place):
    a, b = same_pair(chance, place)
    return a, [*b, "--clock", (1.12, 0.9, 1.06, 0.8)[place % 4]]


def insert_pair(chance, place):
    sides = same_pair(chance, place)
    where = chance.choice(["", f"@{chance.randint(0, 3)}"])
    sides[place % 2].extend(["--insert", INSERTED[place % len(INSERTED)] + where])
    return sides


def everything_pair(chance, place):
    a, b = fusion_pair(chance, place)
    return [*a, "--insert", INSERTED[place % len(INSERTED)]], [*b, "--slow", "dense_gemm@2=2", "--insert", "sort@1"]


def mixed_pair(chance, place):
    """One vendor, other fusions, and a kernel more, which may be like its neighbours: all others must keep their equal."""
    vendor = vendors(2 + place % 2)[0]
    common = [*shape(chance), *vendor]
    sides = [*common, *way(chance), *fuse(chance)], [*common, *way(chance), *fuse(chance)]
    sides[place % 2].extend(["--insert", INSERTED[-1 - place % len(INSERTED)]])
    return sides


def long_capture_pair(chance, place):
    a, b = fusion_pair(chance, place)
    return [*a, "--steps", 5], [*b, "--steps", 24]


PAIRS = (("fusions", fusion_pair, 24), ("nothing", same_pair, 4), ("slower", slow_pair, 8), ("clock", clock_pair, 4),
         ("insertion", insert_pair, 7), ("mixed", mixed_pair, 7), ("everything", everything_pair, 4), ("capture length", long_capture_pair, 4))


def last_of(options):
    """The last value of each option, as make-trace cannot take one twice."""
    values = {options[i]: options[i + 1] for i in range(0, len(options), 2)}
    return [part for pair in values.items() for part in pair]


def between_steps(side, phase):
    """ns between steps of the phase that follow each other, scaled to all of them and rounded half away from zero, as a
    sum, and the number of steps; None where none follow each other."""
    steps = side.truth["steps"]
    gaps = [after["gpu_begin"] - step["gpu_end"] for step, after in zip(steps, steps[1:])
            if step["kind"] == after["kind"] == phase]
    if not gaps:
        return None
    runs = sum(step["kind"] == phase for step in steps)
    size, rest = divmod(abs(sum(gaps)) * runs, len(gaps))
    size += 2 * rest >= len(gaps)
    return (size if sum(gaps) >= 0 else -size), runs


def check_period(sides, phase, rows):
    """The account closes over the period where steps of the phase follow each other on both sides."""
    found = [between_steps(side, phase) for side in sides]
    period = ledger_total(rows, "[period]")
    equal(period is not None, None not in found, f"{phase}: a period")
    for side, key, between in zip(sides, ("baseline", "candidate"), found if period else ()):
        total, steps = between
        span, _ = side.mean_of_steps(phase, lambda step: step["gpu_end"] - step["gpu_begin"])
        equal(sum(row[key] for row in rows if row["item"] in BETWEEN), total / steps, f"{phase}: between steps, {key}")
        equal(period[key], (span + total) / steps, f"{phase}: period of the {key}")


def check_ledger(sides, ledger):
    """Rows add up to the change of the span and of the period, which are the generator's, as is the idle time."""
    by_phase = check_closure(ledger)
    for phase, rows in by_phase.items():
        total = ledger_total(rows, "[span]")
        (idle,) = [row for row in rows if row["item"] == "[idle]"]
        for side, key in zip(sides, ("baseline", "candidate")):
            span, steps = side.mean_of_steps(phase, lambda step: step["gpu_end"] - step["gpu_begin"])
            busy, _ = side.mean_of_steps(phase, lambda step: step["busy"])
            equal(total[key], span / steps, f"{phase}: span of the {key}")
            equal(idle[key], (span - busy) / steps, f"{phase}: idle time of the {key}")
        check_period(sides, phase, rows)
    return by_phase


def check_accounts(sides, ledgers, found):
    phases = set(sides[0].kinds) & set(sides[1].kinds)
    for by, ledger in ledgers.items():
        equal(set(check_ledger(sides, ledger)), phases, f"phases of the ledger by {by}")
    for section in ("operations", "kernels"):
        for phase in phases:
            for key, side in zip(("baseline", "candidate"), sides):
                time, steps = side.mean_of_steps(phase, lambda step: step["kernel_ns"])
                rows = [row for row in found[section] if row["phase"] == phase]
                mine = sum(row[key] for row in rows if row.get("op") not in ("memcpy", "memset"))
                require(abs(mine - time / steps) < 1, f"{section}, {phase}: {mine} of {time / steps} ns of the {key}")


def planted_slow(side):
    (target,) = side.truth["slow_targets"]
    return target["target"], str(target["layer"])


def check_slow(side, ledger):
    op, layer = planted_slow(side)
    for kind in sorted(set(side.kinds)):
        planted = [kernel for kernel in side.sequences(kind)[layer] if kernel[1] == op]
        # Of kernels that compute: how long collectives wait for other ranks is no property of this one.
        rows = [row for row in ledger if row["phase"] == kind and not row["item"].startswith("[")]
        if planted and rows:
            worst = max(rows, key=lambda row: row["duration_effect"])
            equal((worst["item"], worst["layer"]), (op, layer), f"{kind}: largest duration effect")


def check_insertion(sides, alignment):
    """All kernels keep their partner but the one that was planted."""
    for name, side in zip(("baseline", "candidate"), sides):
        targets = side.truth["inserted_targets"]
        if not targets:
            continue
        (target,) = targets
        each = side.truth["options"]["layers"] if target["layer"] is None else 1
        for phase in {row["phase"] for row in alignment}:
            alone = [row for row in alignment if row["phase"] == phase and row["status"] != "same kernel"]
            equal({row["status"] for row in alone}, {f"only {name}"}, f"{phase}: pairs beside the insertion")
            equal(sum(row[f"{name}_n"] for row in alone), each, f"{phase}: kernels without partner a step")


def check_kept(sides, alignment):
    """What both sides run in the same place is paired, whatever stands around it."""
    found = collections.Counter()
    for row in alignment:
        if row["status"] == "same kernel":
            found[row["phase"], row["baseline_kernel"]] += row["baseline_n"]
    for key, kernels in kept_kernels(*sides).items():
        require(found[key] >= kernels, f"{key}: {found[key]} of {kernels} kernels a step have their equal as partner")


class Score:
    def __init__(self):
        self.planted = self.found = self.right = 0

    def count(self, expected, crossing, found):
        right = {key for key, counts in found.items() if expected.get(key) == counts}
        asked = {key: counts for key, counts in found.items() if key in right or key[:3] not in crossing}
        self.planted += len(expected)
        self.found += len(asked)
        self.right += len(right)
        for key in sorted(set(expected) - right):
            print(f"  missed {key[:3]} {expected[key]}: {key[3]}; reported: {found.get(key)}")
        for key in sorted(set(asked) - right):
            print(f"  invented {key[:3]} {asked[key]}: {key[3]}")

    def check(self):
        require(self.planted > 100, f"only {self.planted} fusions were planted")
        precision, recall = self.right / self.found, self.right / self.planted
        print(f"  {self.planted} findings planted, {self.found} found, {self.right} of them right: "
              f"precision {precision:.4f}, recall {recall:.4f}")
        require(min(precision, recall) >= LEAST, f"precision {precision:.4f}, recall {recall:.4f}")


def check_pair(folder, what, options, score):
    sides = [make_side(folder, name, last_of(own)) for name, own in zip("ab", options)]
    indexes = [side.index for side in sides]
    there = compare(*indexes, "--section", "all")
    back = compare(*reversed(indexes), "--section", "all")
    ledgers = {by: compare(*indexes, "--section", "ledger", "--by", by)["ledger"] for by in LEDGERS}
    score.count(*expected_fusions(*sides), found_fusions(there["fusion"]))
    check_accounts(sides, ledgers, there)
    check_kept(sides, there["alignment"])
    check_mirror(there, back)
    itself = indexes[len(what) % 2]
    check_unchanged(compare(itself, itself, "--section", "all"))
    equal("clocks" in {row["code"] for row in there["warnings"]}, what == "clock", "warning of clocks")
    if what == "slower":
        check_slow(sides[1], ledgers["layer,op"])
    if what == "insertion":
        check_insertion(sides, there["alignment"])
    if what == "nothing":
        equal({row["status"] for row in there["alignment"]}, {"same kernel"}, "pairs of two runs of one program")
    if what == "capture length":
        require("capture_length" in {row["code"] for row in there["warnings"]}, "no warning of the capture length")


def check_same_bytes(folder, options):
    indexes = [make_side(folder, name, last_of(own)).index for name, own in zip("ab", options)]
    for form in ("table", "csv", "tsv", "json", "jsonl", "markdown"):
        texts = {run("trace-query", "compare", "-q", "--section", "all", "--format", form, *indexes).stdout
                 for _ in range(2)}
        equal(len(texts), 1, f"{form}: answers")


def check_gate(folder):
    """1 where something is slower beyond the gate, and only there."""
    common = ("--layers", 3, "--steps", 10, "--mix", "D")
    fast = make_side(folder, "fast", (*common, "--seed", 3)).index
    slow = make_side(folder, "slow", (*common, "--seed", 4, "--slow", "dense_gemm=1.3")).index
    other = make_side(folder, "other", (*common[:4], "--mix", "P")).index
    for sides, gate, code, said in (((fast, slow), 1, 1, "exceeds 1 %"), ((fast, slow), 50, 0, ""),
                                    ((slow, fast), 1, 0, ""), ((fast, fast), 0, 0, ""),
                                    ((fast, other), 1, 0, "nothing was compared")):
        for metric in ("worse", "span", "busy", "period", "kernel_time"):
            result = run("trace-query", "compare", "--section", "summary", "--gate", gate, "--gate-metric", metric, *sides,
                         check=False)
            what = f"--gate {gate} --gate-metric {metric}, {sides[0].name} and {sides[1].name}"
            equal(result.returncode, code, f"{what}: exit code ({result.stderr})")
            require(said in result.stderr, f"{what}: not {said!r} but {result.stderr!r}")


def check_three(folder):
    """What each of two candidates is compared to does not depend on the other."""
    common = ("--layers", 3, "--steps", 8, "--mix", "D")
    names = {"base": ("--seed", 3), "fused": ("--seed", 4, "--fuse", "rope+kvcache"), "other": ("--vendor", "nvidia")}
    base, *others = [make_side(folder, name, (*common, *own)).index for name, own in names.items()]
    both = compare(base, *others, "--section", "fusion,alignment")
    for number, other in enumerate(others, 1):
        alone = compare(base, other, "--section", "fusion,alignment")
        for section, rows in alone.items():
            equal(both[f"{section} {number} ({other.name})"], rows, f"{section} of candidate {number}")


def main():
    cases = Cases()
    score = Score()
    chance = random.Random(20240607)
    for what, make, number in PAIRS:
        for place in range(number):
            options = make(chance, place)
            with scratch_folder() as folder:
                cases.run(f"{what} {place}", check_pair, folder, what, options, score)
    for name, check in (("gate", check_gate), ("three traces", check_three)):
        with scratch_folder() as folder:
            cases.run(name, check, folder)
    with scratch_folder() as folder:
        cases.run("the same bytes again", check_same_bytes, folder, fusion_pair(chance, 0))
    cases.run("precision and recall", score.check)
    cases.finish()


if __name__ == "__main__":
    main()
