"""The reasons on a page of compare, each figure of them summed up from the raw traces."""
import functools
import itertools
import math
import random
import statistics

from page_phase import communicates, places_of, statistic
from page_text import near, stands_in
from trace_cases import equal, require

WORDS = {"dense_gemm": "GEMM", "moe_gemm": "MoE GEMM", "attention_decode": "decode attention", "moe_routing": "MoE routing"}
PLACES = {"[head]": "the head of the step", "[tail]": "the tail of the step"}
DRAWS = 2000


@functools.lru_cache(maxsize=None)
def student(dof, steps=4000):
    """What 2.5 % of Student's t distribution are above: cot(angle) sqrt(dof), of an angle whose sine has that power as weight."""
    weights = [math.sin((i + 0.5) * math.pi / 2 / steps) ** (dof - 1) for i in range(steps)]
    above, whole = 0, 2 * sum(weights)
    for i, weight in enumerate(weights):
        above += weight
        if above >= 0.025 * whole:
            return math.sqrt(dof) / math.tan((i + 1 - (above - 0.025 * whole) / weight) * math.pi / 2 / steps)
    return 0


def widened(samples):
    """By how much a sample's interval is wider than that of resamples."""
    errors = [statistics.variance(own) / len(own) if len(own) > 1 else 0 for own in samples]
    drawn = sum(error * (len(own) - 1) / len(own) for error, own in zip(errors, samples))
    if not drawn:
        return 1
    dof = sum(errors) ** 2 / sum(error ** 2 / max(len(own) - 1, 1) for error, own in zip(errors, samples))
    return math.sqrt(sum(errors) / drawn) * student(round(dof, 3)) / statistics.NormalDist().inv_cdf(0.975)


def check_interval(samples, ends, rounding):
    """The ends of the 95 % interval of the difference are within the bounds of own draws."""
    draw = random.Random(7)
    change, wider = statistic(samples[1]) - statistic(samples[0]), widened(samples)
    found = sorted(change + wider * (statistic(draw.choices(samples[1], k=len(samples[1]))) -
                                     statistic(draw.choices(samples[0], k=len(samples[0]))) - change) for _ in range(DRAWS))
    at = [found[int(part * (DRAWS - 1))] for part in (0.005, 0.06, 0.94, 0.995)]
    for end, least, most in zip(ends, (at[0], at[2]), (at[1], at[3])):
        require(least - rounding <= end <= most + rounding, f"an interval's end {end} is not in {least} .. {most}")


class Reasons:
    """A page's sections of reasons; `names`: of the traces."""

    def aligned(self, phase):
        """The pairs of kernels, whose times add up to those of the raw traces: by name at their places."""
        for layers, rows in itertools.groupby(phase.rows["alignment"], lambda row: row["layers"]):
            rows = list(rows)
            places = places_of(layers)
            for side, key in ((0, "baseline"), (1, "candidate")):
                raw, _ = phase.accounts[side].of(lambda event: event.place in places)
                near(sum(row[key] for row in rows), raw, f"kernels of {layers}, {key}")
                if all(row["support_pct"] == 100 for row in rows):
                    self.by_name(phase.accounts[side], places, [row for row in rows if row[key + "_kernel"]], key)
            yield from (row for row in rows if row["status"] in ("same kernel", "other kernel"))

    @staticmethod
    def by_name(account, places, rows, key):
        """Those that comparisons name otherwise (numbers and addresses in names) by their sum."""
        of_name = account.by_name(places)
        said = {row[key + "_kernel"] for row in rows}
        for name in said & of_name.keys():
            near(sum(row[key] for row in rows if row[key + "_kernel"] == name), of_name[name], name[:60])
        near(sum(row[key] for row in rows if row[key + "_kernel"] not in of_name),
             sum(time for name, time in of_name.items() if name not in said), "kernels of other names")

    def why(self, told, phase):
        totals = phase.totals()
        change = totals[1] - totals[0]
        near(told["change"], abs(change), "change")
        equal(told["how"], "more" if change > 0 else "less", "its sign")
        for name, total in zip(("baseline", "candidate"), totals):
            near(told[name], total, name)
        equal(told["measure"], "period" if phase.by_period else "span", "what is explained")
        steps = [len(account.steps) for account in phase.accounts]
        equal((told["step"], told["mean_of"]),
              ("a step" if phase.name == "unknown" else phase.name,
               "one regular step each" if steps == [1, 1] else "means of {} and {} regular steps".format(*steps)), "what it is of")
        phase.said = 0
        sizes = [abs(row["change"]) for row in phase.rows["reasons"] if row["cause"] != "transition"]
        equal(sizes, sorted(sizes, reverse=True), "order of the reasons")

    def rest(self, told, phase):
        rows = phase.rows["reasons"]
        near(told["rest"], phase.rest(), "the rest", 2)
        equal(told.clause("more")[1]["n"] if told.has("more") else 0, len(rows) - phase.said, "further reasons")
        told.get("more")

    def reason(self, told, phase):
        row = phase.rows["reasons"][phase.said]
        phase.said += 1
        equal(told["number"], phase.said, "number of a reason")
        times = phase.change_of(row)
        for key, time in zip(("baseline", "candidate"), times):
            near(row[key], time, f"{row['cause']} {row['op']}: {key}")
        change, total = times[1] - times[0], phase.totals()[1] - phase.totals()[0]
        near(told["change"], change, f"size of {row['cause']} {row['op']}")
        kind, share = told.clause("share")
        if kind == "of_change":
            near(share["share"], change / total, "share", 1e-4)
        elif kind == "of_direction":
            equal(share["how"], "slower" if change > 0 else "faster", "direction")
            self.share_of_direction(phase, change, share["share"])
        else:
            equal(row["cause"], "transition", "a reason without a share")
        require(told.get("against") is None or change * total < 0, "against what")
        cause, fact = told.clause("reason")
        equal(cause, f"reason.{row['cause']}", "cause")
        self.fact(fact, phase, row, times)
        self.evidence(fact, phase, row)
        equal(told.has("path"), row["path"] is not None and phase.said <= 3, "the first reasons have a path")
        if told.has("path"):
            kind, path = told.clause("path")
            near(path["without"], row["path_without"], "path without the reason", 1)
            require(abs(row["path"] - row["path_without"]) <= 1.001 * abs(row["change"]) + 1000,
                    f"the path changes by more than the reason: {row}")
            alike = abs(row["path_without"] - row["path"]) < 0.005 * row["path"]
            equal(kind, "path_alike" if alike else "path", "what is said of the path")
            if not alike:
                near(path["length"], row["path"], "path", 1)
            equal(row["path_certainty"], "inferred" if path.get("inferred") else "by the releases", "how sure the path is")

    @staticmethod
    def share_of_direction(phase, change, said):
        """Of all that changed in that direction: by class, and of each the head and the tail apart where that is more."""
        ops = {e.op for raw in phase.raws for e in raw.kernels if not communicates(e.op)}
        pairs = [[account.of(lambda e, op=op: e.op == op)[0] for account in phase.accounts] for op in ops]
        changes = [b - a for a, b in pairs]
        changes += [getattr(phase.accounts[1], key) - getattr(phase.accounts[0], key) for key in ("idle", "comm", "copy")]
        all_ = sum(other for other in changes if (other > 0) == (change > 0))
        near(said, change / all_, "share of its direction", 0.025)

    def fact(self, told, phase, row, times):
        """What a reason is about, and by how much."""
        if row["cause"] == "concurrency":
            near(told["saved_a"], -times[0], "saved")
            near(told["saved_b"], -times[1], "saved")
            return equal([told["baseline"], told["candidate"]], self.names, "who saves")
        for key, time in zip(("times.baseline", "times.candidate"), times):
            near(told[key], time, key)
        equal(told.get("at.place"), PLACES.get(row["place"]), "place")
        if row["cause"] == "fusion":
            least = min(entry[2]["confidence_pct"] for entry in phase.fusions if phase.is_of(entry[0], row["op"]))
            equal(told.clause("perhaps")[1] is not None, least < 70, "doubt about a fusion")
            near(100 * told.get("perhaps.confidence", least / 100), least, "confidence", 1e-6)
            side, n, other = self.fusion_counts(phase, row, int(row["candidate_n"] < row["baseline_n"]))
            return equal([told[name] for name in ("who", "what", "fused", "parts")],
                         [self.names[side], self.what(row), n, other], "a fusion")
        if row["cause"] == "transition":
            to = row["place"][len("[before "):-1]
            n, m = (len(account.gaps[phase.kind_of(side, to)]) for side, account in enumerate(phase.accounts))
            return equal([told[name] for name in ("next", "baseline_n", "candidate_n")], [f"{to} step", n, m], "gaps")
        if row["cause"] == "operation":
            alone = told.sentence["figures"].get(told.prefix + "kernels.by_count") == "by_count_alone"
            how = (("runs fewer kernels", "runs more kernels") if alone else ("faster", "slower"))[times[1] > times[0]]
            equal((told["what"], told["how"]), (self.what(row), how), "what and how")
            if row["layers"]:
                told.get("layers")
                equal((told["layers.moved"], told["layers.compared"]), self.moved(phase, row, times), "layers")
        if row["cause"] not in ("between_steps", "idle"):
            self.numbers(told, phase, row, times)

    def moved(self, phase, row, times):
        """Layers in which the class changed as the reason does, of those that have it."""
        layers = {e.place for raw in phase.raws for e in raw.kernels if isinstance(e.place, int)}
        if phase.fusions:  # which of a layer's kernels a fusion takes away is not known here
            equal(row["layers"], len(layers), "layers")
            return row["layers_moved"], len(layers)
        is_own = phase.own(row)
        own = [[account.of(lambda e: is_own(e) and e.place == layer)[0] for account in phase.accounts] for layer in layers]
        own = [pair for pair in own if any(pair)]
        return sum((b > a) == (times[1] > times[0]) and a != b for a, b in own), len(own)

    def numbers(self, told, phase, row, times):
        kind, kernels = told.clause("kernels")
        said = [kernels["candidate"]] * 2 if kind == "count" else [kernels["baseline"], kernels["candidate"]]
        for side, n in enumerate(said):
            near(n, self.number_of(phase, side, row), f"{row['cause']} {row['op']}: kernels", 1e-6 if kind != "count" else 0.05)
        by_count = kernels.get("by_count")
        if by_count:
            effect, other = kernels.get("by_count.effect"), kernels.get("by_count.other")
            self.by_count(phase, row, times[1] - times[0], effect)
            require(other is None or effect * other < 0, "effects against each other")

    @staticmethod
    def number_of(phase, side, row):
        account = phase.accounts[side]
        marks = {"[head]": {"head"}, "[tail]": {"tail"}}
        wanted = (lambda place: place in marks[row["place"]]) if row["place"] in marks else (
            lambda place: place not in getattr(phase, "places", set()))
        if row["cause"] == "copies":
            return sum(e.kind == "gpu_memcpy" for step in account.steps for e in step.events) / len(account.steps)
        if row["cause"] == "communication":
            return sum(n for place, n in account.comm_n.items() if row["place"] is None or wanted(place))
        is_own = phase.own(row)
        _, all_ = account.of(lambda e: is_own(e) and wanted(e.place))
        return all_ - phase.fused_of(side, row["op"])[1]

    def by_count(self, phase, row, change, effect):
        """The part that kernels without a partner make; all of it where no effect is said."""
        alone = [other for other in phase.rows["alignment"] if phase.is_of(other["op"] or other["candidate_op"], row["op"])
                 and not (other["baseline_kernel"] and other["candidate_kernel"])
                 or other["baseline_kernel"] and other["candidate_kernel"] and phase.is_of(other["op"], row["op"]) !=
                 phase.is_of(other["candidate_op"], row["op"])]
        list(self.aligned(phase))
        part = sum((other["candidate"] if phase.is_of(other["candidate_op"] or "", row["op"]) else 0) -
                   (other["baseline"] if phase.is_of(other["op"] or "", row["op"]) else 0) for other in alone)
        near(change if effect is None else effect, part, "by count", (0.05 if effect is None else 0.1) * abs(change))

    def evidence(self, told, phase, row):
        checks = {"interval": self.says_interval, "host": self.says_host, "baseline_waits": self.says_waits,
                  "candidate_waits": self.says_waits, "companions": self.says_companions, "roles": self.says_roles, "pair": self.says_pair}
        for name, check in checks.items():
            if told.has(name):
                check(phase, row, told.clause(name)[1])

    def says_interval(self, phase, row, told):
        ends = told["low"], told["high"]
        if row["cause"] == "between_steps":
            samples = [[gap[1] - gap[0] for gap in account.gaps[phase.name]] for account in phase.accounts]
        elif row["cause"] == "concurrency":
            samples = [[-saved for saved in account.saved] for account in phase.accounts]
        else:
            samples = [[sum(e.end - e.begin for e in step.events if e.kind == "kernel" and phase.is_of(e.op, row["op"]))
                        for step in account.steps] for account in phase.accounts]
        check_interval(samples, ends, 1)

    def says_host(self, phase, row, told):
        side = self.names.index(told["who"])
        require((row["change"] > 0) == side, f"{told['who']} does not wait longer")
        near(told["share"], self.host(phase, row, told["frame"], side), f"host in {told['frame']}", 0.0051)

    def host(self, phase, row, frame, side):
        """What the host is longer there than that of the other trace, of what its device waits longer: both of one wait in the mean."""
        frame = frame.strip("`")
        lines = [{name for _, name in account.lines_of(frame)} for account in phase.accounts]

        def stay(number):
            account = phase.accounts[number]
            if row["cause"] == "idle":
                gaps, waits = account.idle_gaps(), len(account.steps)
            else:
                to = row["place"][len("[before "):-1] if row["cause"] == "transition" else phase.name
                every = account.gaps[phase.kind_of(number, to)]
                gaps, waits = [gap[:2] for gap in every if gap[1] > gap[0]], len(every)
            any_line = number != side and all(lines) and lines[0] != lines[1]
            return account.host_time(frame, gaps, any_line) / waits, sum(end - begin for begin, end in gaps) / waits

        (at, waited), (other_at, other_waited) = stay(side), stay(1 - side)
        share = min((at - other_at) / (waited - other_waited), 1)
        require(share > 0.5, f"{frame}: only {share} of the time")
        return share

    def says_waits(self, phase, _row, told):
        found, _, number = phase.accounts[self.names.index(told["who"])].host_waits()
        equal((told["gaps"], told.get("calls.calls", 0)), (found, number), "gaps and calls")

    @staticmethod
    def says_companions(phase, row, told):
        for account, side in zip(phase.accounts, ("baseline", "candidate")):
            near(told.get(side, told["candidate"]), account.of(lambda e: phase.is_of(e.op, row["op"]) and e.ends_other)[1], f"companions, {side}", 0.05)

    def says_roles(self, phase, row, told):
        for _, part in told.clauses("of"):
            sums = [account.of(lambda e: phase.is_of(e.op, row["op"]) and e.role == part["role"])[0]
                    for account in phase.accounts]
            near(part["change"], sums[1] - sums[0], f"change of {part['role']}")

    def says_pair(self, phase, row, told):
        """The aligned pair of kernels that changed most as the reason did."""
        sums = {}
        for other in self.aligned(phase):
            if phase.is_of(other["op"], row["op"]) and phase.is_of(other["candidate_op"], row["op"]):
                key = other["baseline_kernel"], other["candidate_kernel"]
                sums[key] = sums.get(key, 0) + (other["candidate"] - other["baseline"]) * (1 if row["change"] > 0 else -1)
        most = max(sums, key=sums.get)
        equal((row["baseline_kernel"], row["candidate_kernel"]), most, "the pair that changed most")
        said = [told["name"]] * 2 if told.has("name") else [told["baseline"], told["candidate"]]
        require(not told.has("name") or most[0] == most[1], "not the same kernel")
        for short, name in zip(said, most):
            require(stands_in(short, name), f"{short} is no name of {name}")

    @staticmethod
    def what(row):
        op = WORDS.get(row["op"], row["op"]) or ""
        role = row.get("member") or row["role"] or ""
        return op if not role or (row["op"] or "").startswith(role) else f"{role} ({op})"

    def fusion_counts(self, phase, row, side):
        own = [entry for entry in phase.fusions if phase.is_of(entry[0], row["op"])]
        numbers = [sum(row["fused_n" if fuses == which else "parts_n"] for _, fuses, row in own) for which in (side, 1 - side)]
        return own[0][1], *numbers
