"""Reasons of compare on pairs of synthetic traces: one to three causes are planted in a pair, and the reasons that are
given first are those, in order of their size, which the generator's ground truth says; no others are given. Compared the
other way round, the reasons are the same with the opposite sign; a trace has none against itself."""
import collections
import json
import os
import random

from page_commands import check_commands
from planted_pairs import counted_steps
from time_oracle import length, union, without
from trace_cases import equal, planted, require, run

PAIRS = 32
LEAST = 0.95       # of precision and recall
NEAR = 0.2         # sizes that differ by less may change places
STEPS = 8
# Class, as --slow has it, and factors; each is at least a few percent of a step.
SLOW = (("dense_gemm", (1.2, 1.4)), ("attention_decode", (2.0, 2.5)), ("norm", (2.5, 4)), ("activation", (3, 4)),
        ("rotary", (3, 4)))
FUSIONS = ("add+rmsnorm", "rmsnorm+quant", "silu+quant", "qk_norm+rope")


class Side:
    """A trace that was made and ingested, and the times of its decode steps."""

    def __init__(self, folder, name, options):
        self.index, truth, labels = planted(folder, *options, name=name)
        self.steps = truth["steps"]
        self.decode, _ = counted_steps(self.steps, "decode")
        self.fusions = truth["fusions"]
        decode = {step["index"] for step in self.decode}
        self.times = collections.Counter()  # ns of (layer, role, class), in all decode steps
        computes, talks = [], []
        for row in labels:
            if int(row["step"]) in decode:
                self.times[int(row["layer"]), row["role"], row["class"]] += int(row["dur"])
                work = talks if row["class"] == "communication" else computes
                work.append((int(row["ts"]), int(row["ts"]) + int(row["dur"])))
        self.exposed = length(without(union(talks), union(computes))) / len(self.decode)
        self.idle = sum(step["gpu_end"] - step["gpu_begin"] - step["busy"] for step in self.decode) / len(self.decode)

    def time(self, wanted):
        """Mean ns a step of the kernels that are wanted by (layer, role, class)."""
        return sum(time for key, time in self.times.items() if wanted(*key)) / len(self.decode)

    def between(self):
        after = {step["index"]: after for step, after in zip(self.steps, self.steps[1:])}
        return sum(after[step["index"]]["gpu_begin"] - step["gpu_end"] for step in self.decode) / len(self.decode)

    def before_prefill(self):
        gaps = [after["gpu_begin"] - step["gpu_end"] for step, after in zip(self.steps, self.steps[1:])
                if (step["kind"], after["kind"]) == ("decode", "prefill")]
        return sum(gaps) / len(gaps)


# A planted cause: options of one side, what a reason for it looks like, and its size in ns a step.
class Planted:
    def __init__(self, options, matches, size, host=None):
        self.options, self.matches, self.size, self.host = options, matches, size, host


def family(op):
    return "attention" if op.startswith("attention") else op


def slow_class(chance, layers):
    name, factors = chance.choice(SLOW)
    size = lambda a, b: b.time(lambda _, __, own: own == name) - a.time(lambda _, __, own: own == name)  # noqa: E731
    return Planted(["--slow", f"{name}={chance.choice(factors)}"],
                   lambda row: row["cause"] == "operation" and family(row["op"]) == family(name) and row["place"] is None,
                   size)


def slow_layer(chance, layers):
    name, layer = chance.choice(("dense_gemm", "attention_decode")), chance.randrange(layers)
    at = lambda own_layer, _, own: own == name and own_layer == layer  # noqa: E731
    return Planted(["--slow", f"{name}@{layer}={chance.choice((3, 5))}"],
                   lambda row: row["cause"] == "operation" and family(row["op"]) == family(name) and
                   row["place"] == str(layer), lambda a, b: b.time(at) - a.time(at))


def host_wait(chance, layers):
    frame = chance.choice(("serve/scheduler.py(71): schedule", "serve/tokens.py(1208): detokenize"))
    return Planted(["--step-gap", chance.choice((300_000, 3_000_000, 26_000_000)), "--gap-frame", frame],
                   lambda row: row["cause"] == "between_steps", lambda a, b: b.between() - a.between(), frame)


def idle(chance, layers):
    wait = chance.choice((250_000, 900_000))
    return Planted(["--idle", wait], lambda row: row["cause"] == "idle", lambda a, b: b.idle - a.idle)


def fusion(chance, layers):
    """Fused in one side: its parts are all of the class in the layers."""
    name = chance.choice(FUSIONS)

    def size(a, b):
        own = [fusion for fusion in b.fusions if fusion["fusion"] == name]
        roles = {role for fusion in own for role in (fusion["role"], *fusion["parts"])}
        return b.time(lambda _, role, __: role in roles) - a.time(lambda _, role, __: role in roles)

    return Planted(["--fuse", name], lambda row: row["cause"] == "fusion", size)


def clock(chance, layers):
    factor = chance.choice((1.08, 1.15, 1.3))
    return Planted(["--clock", factor], lambda row: row["cause"] == "clocks",
                   lambda a, b: (factor - 1) * (a.exposed + a.time(lambda _, __, own: own not in ("communication", "copy"))))


def communication(chance, layers):
    wait = chance.choice((400_000, 2_000_000))
    return Planted(["--collective-wait", wait], lambda row: row["cause"] == "communication", lambda a, b: b.exposed - a.exposed)


def batch(chance, layers):
    computes = lambda _, __, own: own not in ("communication", "copy")  # noqa: E731
    return Planted(["--batch", chance.choice((64, 128))], lambda row: row["cause"] == "load",
                   lambda a, b: b.time(computes) - a.time(computes))


MAKERS = (slow_class, slow_layer, host_wait, idle, fusion, clock, communication, batch)
# Causes that change the same kernels: no account can tell one from the other.
APART = ({slow_class, batch}, {slow_class, clock}, {slow_class, slow_layer}, {slow_class, fusion}, {slow_layer, clock},
         {fusion, batch}, {clock, batch}, {slow_layer, fusion}, {fusion, clock})


def draw(chance, place):
    """Causes of a pair: each kind comes as often as the others."""
    chosen = [MAKERS[place % len(MAKERS)]]
    for _ in range(chance.choice((0, 1, 2))):
        fitting = [one for one in MAKERS if one not in chosen and not any({one, own} in APART for own in chosen)]
        chosen.append(chance.choice(fitting))
    return chosen


class Score:
    def __init__(self):
        self.planted = self.recalled = self.given = self.right = 0

    def check(self):
        precision, recall = self.right / self.given, self.recalled / self.planted
        print(f"  {self.planted} causes planted, {self.recalled} found; {self.given} reasons given, {self.right} right: "
              f"precision {precision:.4f}, recall {recall:.4f}")
        require(self.planted > PAIRS, f"only {self.planted} causes were planted")
        require(min(precision, recall) >= LEAST, f"precision {precision:.4f}, recall {recall:.4f}")


def largest(sizes):
    """The numbers of those that come first, until 90 % of all that was planted is explained."""
    order = sorted(range(len(sizes)), key=lambda number: -abs(sizes[number]))
    whole = sum(map(abs, sizes))
    return [number for place, number in enumerate(order) if sum(abs(sizes[before]) for before in order[:place]) < 0.9 * whole]


def reasons(*indexes):
    text = run("trace-query", "compare", "-q", "--json", "--phase", "decode", *indexes).stdout
    return [row for row in json.loads(text)["reasons"]]


def key_of(row):
    return row["phase"], row["cause"], row["op"], row["place"], row["layers_moved"], row["layers"]


def check_mirror(rows, back):
    """Reasons of equal size may change places."""
    equal(sorted((repr(key_of(row)), -row["change"]) for row in back),
          sorted((repr(key_of(row)), row["change"]) for row in rows), "reasons the other way round")


def check_transitions(rows, a, b, planted):
    """A host that waits after each step waits before those of another kind, too."""
    if not planted:
        return equal(rows, [], "transitions")
    for row in rows:
        size = b.before_prefill() - a.before_prefill()
        require(row["place"] == "[before prefill]" and abs(row["change"] - size) < 0.1 * size + 30_000, f"{size} ns, not {row}")


def check_host(cause, row, recorded):
    """Where the host was, if its stacks are recorded; that is the function in which it waits."""
    if cause.host:
        equal(row["host"], cause.host if recorded else row["host"], "where the host waits")
        require(not recorded or row["host_pct"] > 50, f"{row['host_pct']} % of the time")


def path_of(index):
    """Mean ns of the critical path of a decode step."""
    rows = json.loads(run("trace-query", "critical-path", "-q", "--json", "--phase", "decode", "--by", "step", index).stdout)["rows"]
    return sum(row["time"] for row in rows) / len(rows)


def check_paths(rows, b, single):
    """What a reason brings alone is no more than it changed."""
    for row in rows:
        if row["path"] is None:
            require(row["cause"] not in ("operation", "clocks") or row["place"] in ("[head]", "[tail]") or row["member"] or
                    not row["candidate"], f"no path without {row}")
            continue
        brought = row["path"] - row["path_without"]
        require(-1000 <= brought * (1 if row["change"] > 0 else -1) <= abs(row["change"]) + 1000, f"{brought} ns by {row['change']}")
        require("inferred" in row["path_certainty"], "what calls wait for is not recorded")
        if single:  # steps before one of another kind are not compared
            wanted = path_of(b.index)
            require(abs(row["path"] - wanted) < 0.01 * wanted, f"path of {row['path']} ns, the report {wanted}")


def check_alone(folder):
    """Without the only cause the path is the baseline's; kernels do not vary here."""
    common = ["--layers", 4, "--steps", 8, "--mix", "D", "--streams", 1, "--python-stacks", "off", "--jitter", 0]
    base = Side(folder, "base", common).index
    for place, cause in enumerate((("--slow", "dense_gemm=1.4"), ("--slow", "dense_gemm=0.7"), ("--slow", "attention_decode@2=6"),
                                   ("--slow", "norm=4"), ("--clock", "1.2"))):
        slow = Side(folder, f"slow{place}", [*common, *cause]).index
        (row,) = reasons(base, slow)
        wanted, own = path_of(base), path_of(slow)
        require(abs(row["path_without"] - wanted) < 0.005 * wanted and abs(row["path"] - own) < 0.005 * own and
                abs(own - wanted) > 0.01 * wanted, f"{cause}: {row['path']} -> {row['path_without']}, planted {own} -> {wanted}")


def check_pair(folder, chance, place, score):
    layers = chance.randint(5, 8)
    made = draw(chance, place)
    causes = [make(chance, layers) for make in made]
    common = ["--layers", layers, "--steps", STEPS * (1 if place % 3 else 2), "--mix", "P,D*7" if place % 3 == 0 else "D",
              "--tensor-parallel", 2, "--streams", chance.choice((1, 2, 3)), "--jitter", chance.choice((0.3, 1)),
              "--python-stacks", "on" if host_wait in made and place % 2 == 0 else "off", "--moe", chance.choice(("on", "off")), "--vendor", chance.choice(("amd", "nvidia"))]
    a, b = (Side(folder, name, [*common, "--seed", chance.randrange(1, 10**6), *own])
            for name, own in (("a", ()), ("b", [part for cause in causes for part in cause.options])))
    every = reasons(a.index, b.index)
    rows = [row for row in every if row["cause"] != "transition"]
    check_transitions([row for row in every if row["cause"] == "transition"], a, b, host_wait in made)
    check_paths(rows, b, place % 3 != 0)
    sizes = [cause.size(a, b) for cause in causes]
    if batch in made and slow_layer in made:  # which has its own reason
        sizes[made.index(batch)] -= sizes[made.index(slow_layer)]
    found = [next((rank for rank, row in enumerate(rows) if cause.matches(row)), None) for cause in causes]
    asked = largest(sizes)
    score.planted += len(asked)
    score.recalled += sum(found[number] is not None for number in asked)
    score.given += len(rows)
    score.right += sum(rank is not None for rank in found)
    told = [(row["cause"], row["op"], row["place"], row["change"]) for row in rows]
    planted = [(cause.options, round(size)) for cause, size in zip(causes, sizes)]
    if any(found[number] is None for number in asked) or len(rows) != sum(rank is not None for rank in found):
        print(f"  planted {planted}; reasons {told}")
    for cause, size, rank in zip(causes, sizes, found):
        if rank is None:
            continue
        check_host(cause, rows[rank], "on" in common[common.index("--python-stacks"):][:2])
        change = rows[rank]["change"]
        require(abs(change - size) < 0.1 * abs(size) + 30_000, f"planted {cause.options}: {size:.0f} ns, not {change}")
        for other_size, other in zip(sizes, found):
            if other is not None and abs(size) > (1 + NEAR) * abs(other_size):
                require(rank < other, f"{planted} in another order: {told}")
    check_mirror(every, reasons(b.index, a.index))
    if place % 8 == 0:
        check_commands(run("trace-query", "compare", "-q", a.index, b.index).stdout)
    equal(reasons(a.index, a.index), [], "reasons of a trace against itself")


def main(cases, _):
    score = Score()
    chance = random.Random(int(os.environ.get("TRACEDB_SEED", "20251122")))
    for place in range(PAIRS):
        cases.run_apart(f"pair {place}", check_pair, chance, place, score)
    cases.run_apart("alone", check_alone)
    cases.run("precision and recall", score.check)
