"""compare on pairs of synthetic traces: fusions planted on one side are found and no others, slowdowns are found where
they were planted, accounts close, a trace compared with itself shows nothing, and B against A mirrors A against B."""
import collections
import os
import random

from compare_cases import (BETWEEN, LEDGERS, check_closure, check_mirror, check_unchanged, compare, ledger_total)
from pair_options import PAIRS, fusion_pair, last_of
from planted_pairs import expected_fusions, found_fusions, kept_kernels, make_side
from trace_cases import equal, require, run

LEAST = 0.97  # of precision and recall


def check_period(sides, phase, rows):
    """The account closes over the period where most steps of the phase follow each other on both sides."""
    found = [side.counted(phase) for side in sides]
    total = ledger_total(rows, "[period]")
    equal(total is not None, all(periods for _, periods in found), f"{phase}: a period")
    for key, (steps, periods) in zip(("baseline", "candidate"), found if total else ()):
        between = sum(periods) - sum(step["gpu_end"] - step["gpu_begin"] for step in steps)
        equal(sum(row[key] for row in rows if row["item"] in BETWEEN), between / len(steps), f"{phase}: between steps, {key}")
        equal(total[key], sum(periods) / len(steps), f"{phase}: period of the {key}")


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


def check_slow(sides, ledgers, fused_classes):
    """What was slowed down takes the most time longer: its class, or the family where the sides name it differently."""
    (target,) = sides[1].truth["slow_targets"]
    everywhere = target["layer"] is None
    for kind in sorted(set(sides[0].kinds) & set(sides[1].kinds)):
        slowed = sides[1].slowed(kind)
        expected = set().union(*slowed.values())
        expected |= {name.split("_")[0] for name in expected if name.startswith("attention_")}
        # Of kernels that compute: how long collectives wait for other ranks is no property of this one.
        # Where the other side has it in a fused kernel, it is in the row of that fusion.
        expected |= {f"[fusion: {fused}]" for fused in fused_classes if set(fused.split("+")) & expected}
        rows = [row for row in ledgers["op" if everywhere else "layer,op"]
                if row["phase"] == kind and (row["item"] in expected or not row["item"].startswith("["))]
        if slowed and rows:
            worst = max(rows, key=lambda row: row["duration_effect"])
            require(worst["item"] in expected, f"{kind}: {worst} has the largest duration effect, not {expected}")
            if not everywhere:
                equal(worst["layer"], str(target["layer"]), f"{kind}: layer of the largest duration effect")


def check_apart(sides, ledger, warnings):
    """The time between steps is what changed, by what was planted; where the profiler slowed the host meanwhile, that is
    said."""
    gaps = [side.truth["options"]["step_gap_ns"] for side in sides]
    rows = [row for row in ledger if row["item"] in BETWEEN]
    require(rows or not all(side.counted(kind)[1] for side in sides for kind in set(side.kinds)), "no row between steps")
    for row in rows:
        planted = gaps[1] - gaps[0]
        require(abs(row["change"] - planted) < 0.05 * abs(planted) + 1e6, f"planted {planted} ns between steps: {row}")
    stacks = sides[0].truth["options"]["python_stacks"]
    equal("recording" in {row["code"] for row in warnings}, bool(stacks and rows), "warning of a host that records")


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
    if what == "model":
        (phase,) = {row["phase"] for row in there["ledger"]}
        for side in sides:
            side.call_steps(phase)
    if what != "shifted":
        score.count(*expected_fusions(*sides), found_fusions(there["fusion"]))
        check_kept(sides, there["alignment"])
    check_accounts(sides, ledgers, there)
    check_mirror(there, back)
    itself = indexes[len(what) % 2]
    check_unchanged(compare(itself, itself, "--section", "all"))
    equal("clocks" in {row["code"] for row in there["warnings"]}, what == "clock", "warning of clocks")
    if what in ("slower", "slower class", "model"):
        check_slow(sides, ledgers, {row["fused_op"] for row in there["fusion"]})
    if what == "apart":
        check_apart(sides, ledgers["op"], there["warnings"])
    if what == "insertion":
        check_insertion(sides, there["alignment"])
    if what == "nothing":
        equal({row["status"] for row in there["alignment"]}, {"same kernel"}, "pairs of two runs of one program")
    if what == "capture length":
        require("capture_length" in {row["code"] for row in there["warnings"]}, "no warning of the capture length")


def check_same_bytes(folder, options):
    indexes = [make_side(folder, name, last_of(own)).index for name, own in zip("ab", options)]
    for form in ("table", "csv", "tsv", "json", "jsonl", "markdown"):
        texts = {run("trace-query", "compare", "-q", "--section", "all", "--format", form, *indexes).stdout for _ in range(2)}
        equal(len(texts), 1, f"{form}: answers")


def check_gate(folder):
    """1 where something is slower beyond the gate, and only there."""
    common = ("--layers", 3, "--steps", 10, "--mix", "D")
    fast = make_side(folder, "fast", (*common, "--seed", 3)).index
    slow = make_side(folder, "slow", (*common, "--seed", 4, "--slow", "dense_gemm=1.3")).index
    other = make_side(folder, "other", (*common[:4], "--mix", "P")).index
    for sides, gate, code, said in (((fast, slow), 1, 1, "exceeds 1 %"), ((fast, slow), 50, 0, ""),
                                    ((slow, fast), 1, 0, ""), ((fast, fast), 0, 0, ""),
                                    ((fast, other), 1, 1, "nothing was compared")):
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


def main(cases, _):
    score = Score()
    chance = random.Random(int(os.environ.get("TRACEDB_SEED", "20240607")))
    for what, make, number in PAIRS:
        for place in range(number):
            options = make(chance, place)
            cases.run_apart(f"{what} {place}", check_pair, what, options, score)
    for name, check in (("gate", check_gate), ("three traces", check_three)):
        cases.run_apart(name, check)
    cases.run_apart("the same bytes again", check_same_bytes, fusion_pair(chance, 0))
    cases.run("precision and recall", score.check)
