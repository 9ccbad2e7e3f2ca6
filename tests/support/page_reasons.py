"""The reasons on a page of compare, each number of them summed up from the raw traces."""
import itertools
import random
import re
import statistics

from page_phase import communicates, places_of
from page_text import brief, count, groups, parts_of, signed
from trace_cases import equal, require

WORDS = {"dense_gemm": "GEMM", "moe_gemm": "MoE GEMM", "attention_decode": "decode attention", "moe_routing": "MoE routing"}
DRAWS = 2000


def near(actual, expected, what):
    require(abs(actual - expected) <= 1 + 1e-9 * abs(expected), f"{what}: {actual}, of the raw trace {expected}")


def interval(samples):
    """Bounds that the ends of the 95 % interval of the difference of the medians must be within, by own draws."""
    draw = random.Random(7)
    found = sorted(statistics.median(draw.choices(samples[1], k=len(samples[1]))) -
                   statistics.median(draw.choices(samples[0], k=len(samples[0]))) for _ in range(DRAWS))
    at = [found[int(part * (DRAWS - 1))] for part in (0.005, 0.06, 0.94, 0.995)]
    return (at[0], at[1]), (at[2], at[3])


class Reasons:
    """A page's sections of reasons; `sides`: the names of the traces, `said`: how many sentences were checked."""

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

    def why(self, section):
        name, time, direction, measure, a, b = groups(
            r"Why (.+) takes T (more|less): (period|span) T -> T \(mean of a step\)", section.heading, "a heading")
        phase = self.phase_of(name)
        totals = phase.totals()
        equal((time, direction, a, b), (brief(abs(totals[1] - totals[0])), "more" if totals[1] > totals[0] else "less",
                                        *map(brief, totals)), section.heading)
        equal(measure, "period" if phase.by_period else "span", "what is explained")
        self.count()
        rows = phase.rows["reasons"]
        sizes = [abs(row["change"]) for row in rows if row["cause"] != "transition"]
        equal(sizes, sorted(sizes, reverse=True), "order of the reasons")
        said = [item for item in section.items if item.mark != "rest"]
        for number, (item, row) in enumerate(zip(said, rows), 1):
            equal(item.mark, f"{number}.", "number of a reason")
            self.reason(phase, row, item.text)
        part = [b - a for a, b in (phase.change_of(row) for row in rows if row["cause"] != "transition")]
        rest = totals[1] - totals[0] - sum(part)
        if len(section.items) == len(said):
            require(abs(rest) <= 0.01 * abs(totals[1] - totals[0]) + 2 and len(said) == len(rows), "a rest is not said")
        else:
            self.rest(section.items[-1].text, rest, len(rows) - len(said))

    def rest(self, text, rest, unsaid):
        more, time = groups(r"(?:(\d+) more reasons?: --section reasons; )?T in rows that are small or noise", text,
                            "the rest")
        equal((int(more or 0), time), (unsaid, signed(rest)), "the rest")
        self.count()

    def reason(self, phase, row, text):
        size, share, text = groups(r"T(?: \((-?\d+ %(?: of what is \w+)?)\))?(?: against it:)? (.*)", text, "a reason")
        times = phase.change_of(row)
        for key, time in zip(("baseline", "candidate"), times):
            near(row[key], time, f"{row['cause']} {row['op']}: {key}")
        change = times[1] - times[0]
        equal(size, signed(change), f"size of {row['cause']} {row['op']}")
        total = phase.totals()[1] - phase.totals()[0]
        if share and share.endswith("%"):
            equal(share, f"{100 * change / total:.0f} %", "share")
        elif share:
            self.share_of_direction(phase, change, share)
        else:
            equal(row["cause"], "transition", "a reason without a share")
        first, *tails = parts_of(text)
        self.fact(phase, row, times, first)
        for tail in tails:
            self.evidence(phase, row, tail)
        self.count()

    @staticmethod
    def share_of_direction(phase, change, share):
        """Of all that changed in that direction: by class, and of each the head and the tail apart where that is more."""
        ops = {e.op for raw in phase.raws for e in raw.kernels if not communicates(e.op)}
        pairs = [[account.of(lambda e, op=op: e.op == op)[0] for account in phase.accounts] for op in ops]
        changes = [b - a for a, b in pairs]
        changes += [getattr(phase.accounts[1], key) - getattr(phase.accounts[0], key) for key in ("idle", "comm", "copy")]
        all_ = sum(other for other in changes if (other > 0) == (change > 0))
        said = int(share.split(" ")[0])
        require(abs(said - 100 * change / all_) <= 2, f"{share}: by class {100 * change / all_:.1f} %")

    def fact(self, phase, row, times, text):
        """What a reason says first."""
        times_text = f"{brief(times[0])} -> {brief(times[1])}"
        place = {"[head]": " in the head of the step", "[tail]": " in the tail of the step"}.get(row["place"], "")
        if row["cause"] == "concurrency":
            a, b = self.sides()
            return equal(text, f"kernels that run at once: they save {brief(-times[0])} in {a}, {brief(-times[1])} in {b}",
                         "fact")
        if row["cause"] == "fusion":
            side, n, other = self.fusion_counts(phase, row, int(row["candidate_n"] < row["baseline_n"]))
            return equal(text, f"fusion: {self.sides()[side]} does {self.what(row)} in {n} instead of {other} kernels: "
                         f"{times_text}", "fact")
        if row["cause"] == "transition":
            to = row["place"][len("[before "):-1]
            n, m = (len(account.gaps[phase.kind_of(side, to)]) for side, account in enumerate(phase.accounts))
            return equal(text, f"before the next {to} step, beside the step itself: {times_text} (mean of {n} and {m} gap"
                         f"{'s' if m != 1 else ''})", "fact")
        waits = {"between_steps": "between steps", "idle": "idle within the step"}
        if row["cause"] in waits:
            return equal(text, f"{waits[row['cause']]}: {times_text}", "fact")
        how = ""
        if row["cause"] == "operation":
            how = " slower" if times[1] > times[0] else " faster"
            if row["layers"]:
                how += f" in {self.moved(phase, row, times)} layers"
        head = {"communication": "exposed communication", "copies": "exposed copies"}.get(row["cause"]) or self.what(row)
        counts = groups(re.escape(f"{head}{place}{how}: {times_text}") + r" \((.*)\)", text, "a reason")[0]
        self.numbers(phase, row, times, counts)

    def moved(self, phase, row, times):
        """Layers in which the class changed as the reason does, of those that have it."""
        layers = {e.place for raw in phase.raws for e in raw.kernels if isinstance(e.place, int)}
        own = [[account.of(lambda e: phase.is_of(e.op, row["op"]) and e.place == layer)[0] for account in phase.accounts]
               for layer in layers] if len(phase.fusions) == 0 else None
        if own is None:  # which of a layer's kernels a fusion takes away is not known here
            equal(row["layers"], len(layers), "layers")
            return f"{row['layers_moved']} of {len(layers)}"
        own = [pair for pair in own if any(pair)]
        return f"{sum((b > a) == (times[1] > times[0]) and a != b for a, b in own)} of {len(own)}"

    def numbers(self, phase, row, times, text):
        a, b, _, by_count = groups(r"([\d.,]+)(?: -> ([\d.,]+))? (kernels?|collectives?|copies|copy)"
                                   r"(?:, (by count alone|[+-][\d.]+ \w+ of it by count))?", text, "a number of kernels")
        equal((a, b or a), (count(row["baseline_n"]), count(row["candidate_n"])), "numbers of kernels")
        for side, key in ((0, "baseline_n"), (1, "candidate_n")):
            near(row[key], self.number_of(phase, side, row), f"{row['cause']} {row['op']}: {key}")
        if by_count:
            self.by_count(phase, row, times[1] - times[0], by_count)

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
        _, all_ = account.of(lambda e: phase.is_of(e.op, row["op"]) and wanted(e.place))
        return all_ - phase.fused_of(side, row["op"])[1]

    def by_count(self, phase, row, change, text):
        """The part that kernels without a partner make."""
        alone = [other for other in phase.rows["alignment"] if phase.is_of(other["op"] or other["candidate_op"], row["op"])
                 and not (other["baseline_kernel"] and other["candidate_kernel"])
                 or other["baseline_kernel"] and other["candidate_kernel"] and phase.is_of(other["op"], row["op"]) !=
                 phase.is_of(other["candidate_op"], row["op"])]
        list(self.aligned(phase))
        part = sum((other["candidate"] if phase.is_of(other["candidate_op"] or "", row["op"]) else 0) -
                   (other["baseline"] if phase.is_of(other["op"] or "", row["op"]) else 0) for other in alone)
        if text == "by count alone":
            require(abs(part / change - 1) <= 0.05, f"by count {part} of {change}")
        else:
            require(abs(part - row["count_effect"]) <= 0.1 * abs(change), f"by count {part}, said {row['count_effect']}")
            equal(text, f"{signed(row['count_effect'])} of it by count", "by count")

    def evidence(self, phase, row, text):
        role = r"[a-z_]+ [+-][\d.]+ [mun]?s"
        sentences = ((r"95 %: T \.\. T", self.says_interval),
                     (r"host of (\S+) in `(.*)` for (\d+) % of it", self.says_host),
                     (r"(\S+) waits for its host in (\d+) gaps?: ([\d,]+) recorded calls? adds? to that", self.says_waits),
                     (rf"({role}(?:, {role})*)", self.says_roles), (r"same kernel: (.*)", self.says_same),
                     (r"(\S.*) -> (\S.*)", self.says_pair))
        for pattern, check in sentences:
            try:
                found = groups(pattern, text, "")
            except AssertionError:
                continue
            return check(phase, row, *found)
        raise AssertionError(f"evidence that this test does not know: {text}")

    def says_interval(self, phase, row, low, high):
        equal((low, high), (signed(row["low"]), signed(row["high"])), "interval")
        if row["cause"] == "between_steps":
            samples = [[gap[1] - gap[0] for gap in account.gaps[phase.name]] for account in phase.accounts]
        else:
            samples = [[sum(e.end - e.begin for e in step.events if e.kind == "kernel" and phase.is_of(e.op, row["op"]))
                        for step in account.steps] for account in phase.accounts]
        self.interval(samples, (row["low"], row["high"]), 1)
        self.count()

    @staticmethod
    def interval(samples, ends, rounding):
        for end, (least, most) in zip(ends, interval(samples)):
            require(least - rounding <= end <= most + rounding, f"an interval's end {end} is not in {least} .. {most}")

    def says_host(self, phase, row, name, frame, share):
        side = self.side_of(name)
        require((row["change"] > 0) == side, f"{name} does not wait longer")
        said = int(share) / 100
        actual = self.host(phase, row, frame, side)
        require(abs(actual - said) < 0.0051, f"{frame} is open in {actual} of the time, said {said}")
        self.count()

    def host(self, phase, row, frame, side):
        account = phase.accounts[side]
        if row["cause"] == "idle":
            gaps = account.idle_gaps()
        else:
            to = row["place"][len("[before "):-1] if row["cause"] == "transition" else phase.name
            gaps = [gap[:2] for gap in account.gaps[phase.kind_of(side, to)]]
        share = account.host_share(frame, gaps)
        require(share > 0.5, f"{frame}: only {share} of the time")
        return share

    def says_waits(self, phase, _row, name, gaps, calls):
        found, _, number = phase.accounts[self.side_of(name)].host_waits()
        equal((int(gaps), calls), (found, count(number)), "gaps and calls")
        self.count()

    def says_roles(self, phase, row, text):
        for part in text.split(", "):
            role, time = part.split(" ", 1)
            sums = [account.of(lambda e: phase.is_of(e.op, row["op"]) and e.role == role)[0] for account in phase.accounts]
            equal(time, signed(sums[1] - sums[0]), f"change of {role}")
            self.count()

    def says_pair(self, phase, row, first, second):
        """The aligned pair of kernels that changed most as the reason did."""
        sums = {}
        for other in self.aligned(phase):
            if phase.is_of(other["op"], row["op"]) and phase.is_of(other["candidate_op"], row["op"]):
                key = other["baseline_kernel"], other["candidate_kernel"]
                sums[key] = sums.get(key, 0) + (other["candidate"] - other["baseline"]) * (1 if row["change"] > 0 else -1)
        most = max(sums, key=sums.get)
        equal((row["baseline_kernel"], row["candidate_kernel"]), most, "the pair that changed most")
        for short, name in zip((first, second), most):
            self.named(short, name)
        self.count()

    def says_same(self, phase, row, name):
        equal(row["baseline_kernel"], row["candidate_kernel"], "kernels")
        self.says_pair(phase, row, name, name)

    @staticmethod
    def named(short, name):
        """The words that are left of a name stand in it."""
        for part in re.findall(r"[^\W_]+(?:_[^\W_]+)*", short):
            require(part in name, f"{short} is no name of {name}")

    @staticmethod
    def what(row):
        op = WORDS.get(row["op"], row["op"]) or ""
        role = row["role"] or ""
        return op if not role or (row["op"] or "").startswith(role) else f"{role} ({op})"

    def fusion_counts(self, phase, row, side):
        own = [entry for entry in phase.fusions if phase.is_of(entry[0], row["op"])]
        numbers = [sum(row["fused_n" if fuses == which else "parts_n"] for _, fuses, row in own)
                   for which in (side, 1 - side)]
        return own[0][1], *map(count, numbers)
