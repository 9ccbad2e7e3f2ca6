"""Every sentence of a page of compare against the raw traces: a sentence that is not known here fails. What a reason is of
(cause, class, place, fused kernels) is what the page's JSON says; each of its numbers is summed up from the raw traces."""
import re
import statistics

from page_phase import Phase
from page_reasons import Reasons
from page_text import brief, count, groups, parts_of, sections_of
from trace_cases import equal, require


class Page(Reasons):
    """What is known of the page of two traces; `data`: rows of its sections."""

    def __init__(self, data, raws, labels):
        self.data, self.raws, self.labels, self.said, self.sections = data, raws, labels, 0, []
        names = dict.fromkeys(row["phase"] for key in ("verdict", "reasons") for row in data[key])
        self.phases = {name: Phase(name, data, raws) for name in names if name != "[all]"}

    def check(self, text):
        """The number of sentences that agree; fails where one does not, or is not known."""
        self.sections, self.said = sections_of(text), 0
        equal(self.sections[0].heading.split(" needs ")[0].rsplit(" ", 1)[-1], self.sides()[1], "who is compared")
        self.headline(self.sections[0].heading)
        handlers = {"Verdict": self.verdict, "Why": self.why, "Fusions": self.fusions, "Warnings": self.warnings,
                    "More": self.more}
        for section in self.sections[1:]:
            word = section.heading.split(" ")[0]
            require(word in handlers, f"a section that this test does not know: {section.heading}")
            handlers[word](section)
        return self.said

    def count(self):
        self.said += 1

    def sides(self):
        """The names of the traces: the last word of the device that only one has, else a part of the file's name."""
        devices = [next(iter(raw.head.get("deviceProperties") or [{}])).get("name", "") for raw in self.raws]
        found = re.search(r"(\S+) needs T.* where (\S+) needs".replace("T", r"[\d.]+ \w+"), self.sections[0].heading)
        require(found, self.sections[0].heading)
        names = [found[2], found[1]]
        for side, name in enumerate(names):
            known = devices if devices[0] != devices[1] else self.labels
            require(name in known[side], f"{name} is not the side {side}")
        return names

    def side_of(self, name):
        return self.sides().index(name)

    def phase_of(self, mark):
        return self.phases["unknown" if mark in ("step", "a step") else mark]

    # The headline.

    def headline(self, text):
        phase_name, candidate, time_b, baseline, time_a, rest = groups(
            r"(?:(\w+): )?(\S+) needs T a step where (\S+) needs T: (.*)\.", text, "the headline")
        phase = self.phases[phase_name or "unknown"]
        measure = "period" if phase.by_period else "span"
        a, b = (statistics.median(phase.median(side, measure)) for side in (0, 1))
        equal((time_a, time_b), (brief(a), brief(b)), "the headline's times")
        how, _, why = rest.partition(". ")
        ratio = max(a, b) / min(a, b)
        expected = (f"{ratio:.2f} times {'the throughput' if b < a else 'as long'}" if ratio >= 1.2 else
                    f"{100 * abs(b / a - 1):.1f} % {'less' if b < a else 'longer'}")
        n, m = (len(phase.median(side, measure)) for side in (0, 1))
        few = "" if min(n, m) > 1 else " (one step each)" if n == m else f" ({n} and {m} steps)"
        equal(how, expected + few, "the headline's difference and steps")
        self.count()
        longer = int(phase.totals()[1] > phase.totals()[0])
        subject = (baseline, candidate)[longer]
        for clause in parts_of(why):
            clause = re.sub(rf"^{re.escape(subject)}(?:'s| (?=\w))", lambda m: "its" if m[0].endswith("'s") else "", clause)
            self.clause(phase, longer, re.sub(r"^it (?=\w)", "", clause.strip()))

    def clause(self, phase, longer, text):
        """Of the headline: a fact about the side that takes longer."""
        for row in phase.rows["reasons"]:
            change = phase.change_of(row)
            more = (change[1] - change[0]) * (1 if longer else -1)  # by which that side takes longer
            expected = self.clause_pattern(phase, row, change, longer, more)
            found = re.fullmatch(expected, text) if expected else None
            if found:
                if found.groupdict().get("host"):
                    self.host(phase, row, found["host"], longer)
                if found.groupdict().get("calls"):
                    gaps, _, calls = phase.accounts[longer].host_waits()
                    equal(found["calls"], count(calls / gaps), "calls a gap")
                return self.count()
        raise AssertionError(f"no reason says: {text}")

    def clause_pattern(self, phase, row, change, longer, more):
        size, waits = re.escape(brief(abs(more))), "longer" if more > 0 else "less"
        place = {"[head]": " in the head of the step", "[tail]": " in the tail of the step"}.get(row["place"], "")
        slows = r"(?:; part of it is the recording of [a-z ]+: (?P<calls>[\d,]+) calls a gap)?"
        host = rf"(?: \(host in `(?P<host>[^`]+)`{slows}\))?"
        what = re.escape(self.what(row))
        if row["cause"] == "between_steps":
            if change[1 - longer] < 0.05 * change[longer]:
                return rf"idles {re.escape(brief(change[longer]))} between steps{host}"
            return rf"takes {size} {'more' if more > 0 else 'less'} between steps{host}"
        if row["cause"] == "fusion":
            _, n, other = self.fusion_counts(phase, row, longer)
            return rf"its {what} in {n} instead of {other} kernels is {size} {'slower' if more > 0 else 'faster'}"
        return {"idle": rf"idles {size} {waits} within the step{host}",
                "communication": rf"waits {size} {waits} for communication{place}",
                "copies": rf"waits {size} {waits} for copies{place}",
                "operation": rf"its {what} kernels{place} are {size} {'slower' if more > 0 else 'faster'}",
                "concurrency": rf"runs {'fewer' if more > 0 else 'more'} kernels at once \({size}\)"}.get(row["cause"])

    # The verdict.

    def verdict(self, section):
        for item in section.items:
            phase = self.phase_of(item.mark)
            for part in parts_of(item.text):
                self.tally(phase, part) if " of " in part else self.change(phase, part)

    def change(self, phase, text):
        measure, percent, verdict, inside = groups(
            r"(period to \w+|period|span) ([+-][\d.]+) %: (better|worse|same|inconclusive) \((.*)\)", text, "a verdict")
        samples = [phase.median(side, measure) for side in (0, 1)]
        a, b = map(statistics.median, samples)
        equal(percent, f"{100 * (b - a) / a:+.1f}", f"change of {measure}")
        self.count()
        if inside == "the load differs":
            require(phase.kinds[0] != phase.kinds[1], f"both have {phase.kinds[0]} steps")
        elif verdict == "inconclusive":
            equal(inside, f"{len(samples[0])}/{len(samples[1])} steps", "steps")
            require(min(map(len, samples)) < 5, "enough steps for a verdict")
        else:
            low, high, n, m = groups(r"95 %: ([+-][\d.]+) \.\. ([+-][\d.]+) %; (\d+) and (\d+) steps", inside,
                                     "an interval")
            equal((int(n), int(m)), tuple(map(len, samples)), "steps")
            self.interval(samples, [float(end) * a / 100 for end in (low, high)], 0.0006 * a)
            certain = float(low) * float(high) > 0 and abs(b - a) >= 0.05 * min(a, b)
            equal(verdict, ("better" if b < a else "worse") if certain else "same", "verdict")

    def tally(self, phase, text):
        n, all_, what, verdict, median = groups(
            r"(\d+) of (\d+) (layers|aligned kernels) (slower|faster|the same), median ([+-][\d.]+) %", text, "a tally")
        if what == "layers":
            a, b = (account.layers() for account in phase.accounts)
            ratios = [b[layer] / a[layer] for layer in a if layer in b and a[layer] > 0 and b[layer] > 0]
        else:
            ratios = [row["candidate"] / row["baseline"] for row in self.aligned(phase)]
        numbers = {"slower": sum(r > 1 for r in ratios), "faster": sum(r < 1 for r in ratios)}
        numbers["the same"] = len(ratios) - sum(numbers.values())
        equal((int(n), int(all_)), (numbers[verdict], len(ratios)), f"{what} {verdict}")
        equal(numbers[verdict], max(numbers.values()), f"most {what}")
        equal(median, f"{100 * (statistics.median(ratios) - 1):+.1f}", f"median of the {what}")
        self.count()

    # The rest of the page.

    def fusions(self, section):
        said = 0
        rows = [(phase, row) for phase in self.phases.values() for row in phase.rows["fusion"]]
        for item in section.items:
            if item.text.startswith("more"):
                equal(f"{item.mark} {item.text}", f"{len(rows) - said} more: --section fusion", "further fusions")
                continue
            require(said < len(rows), f"no fusion says: {item.text}")
            phase, row = rows[said]
            said += 1
            name, fused, own, parts, other, confidence = groups(
                r"(\S+) runs (\S.*) \(T\) for (.*) \(T\); confidence (\d+) %", item.text, "a fusion")
            equal(self.side_of(name), int(row["fused_by"] == "candidate"), "who fuses")
            equal((own, other), (brief(row["fused_time"]), brief(row["parts_time"])), "times of a fusion")
            self.named(fused, row["fused_kernel"])
            for short, whole in zip(parts.split(" + "), row["part_kernels"].split(" + "), strict=True):
                self.named(short, whole)
            expected = self.accounted(phase) * row["support_pct"] / 100 * (0.5 if row["kind"] == "implied" else 1)
            equal(confidence, f"{100 * expected:.0f}", "confidence")
            self.count()

    def accounted(self, phase):
        """The lesser part of the kernel time that has a partner, or is in a fusion."""
        list(self.aligned(phase))
        shares = []
        for side, key in ((0, "baseline"), (1, "candidate")):
            whole = phase.accounts[side].of(lambda _: True)[0]
            own = sum(row[key] for row in phase.rows["alignment"] if not row["status"].startswith("only"))
            shares.append(own / whole)
        return min(shares)

    def warnings(self, section):
        for number, item in enumerate(section.items):
            if item.text.startswith("more"):
                equal(f"{item.mark} {item.text}", f"{len(self.data['warnings']) - number} more: --section warnings",
                      "further warnings")
                continue
            require(item.mark in ("warning", "info"), item.mark)
            self.warning(item.text)
            self.count()

    def warning(self, text):
        side = next((side for side, name in enumerate(self.sides()) if text.startswith(f"{name}: ")), None)
        if side is None:
            kinds = groups(r"(\w+) steps of the baseline are compared with (\w+) steps of the candidate: only these remain",
                           text, "a warning")
            compared = [phase.kinds for phase in self.phases.values()]
            return require(list(kinds) in compared, f"no steps of {kinds} are compared")
        raw, text = self.raws[side], text.split(": ", 1)[1]
        if text.startswith("host bound"):
            said = groups(r"host bound: (\d+) % idle, (\d+) % of the time waiting for the host to launch work "
                          r"\(trace-query gaps says where it was\)", text, "a warning")
            return equal(said, tuple(f"{100 * share:.0f}" for share in raw.idle_shares()), "idle shares")
        if "outside of steps" in text:
            share, n = groups(
                r"([\d.]+) % of the kernel time \(([\d,]+) kernels?\) is outside of steps and is left out", text, "a warning")
            time = sum(e.end - e.begin for e in raw.outside) / sum(e.end - e.begin for e in raw.kernels)
            return equal((share, n), (f"{100 * time:.1f}", count(len(raw.outside))), "kernels outside of steps")
        name, share, calls, gaps = groups(
            r"(\w+): in (\d+) % of the period the device waits between steps for a host that records [a-z ]+ "
            r"\(([\d,]+) recorded calls in (\d+) gaps\): part of that is the profiler's; see the span as well", text,
            "a warning")
        found, part, number = self.phases[name].accounts[side].host_waits()
        equal((share, calls, int(gaps)), (f"{100 * part:.0f}", count(number), found), "a host slowed by recording")

    def more(self, section):
        devices = [next(iter(raw.head.get("deviceProperties") or [{}])).get("name", "") for raw in self.raws]
        equal(section.heading, f"More (A, the baseline: {devices[0]}; B: {devices[1]})", "devices")
        require(section.commands and not section.items, "what more there is are commands")
        self.count()
