"""Every sentence of a page of compare against the raw traces, by the names of its figures: a sentence that is not known
here fails, and so does a figure that nothing here looks at. What a reason is of (cause, class, place, fused kernels) is
what the page's JSON says; each of its figures is summed up from the raw traces."""
import re
import statistics

from page_phase import Phase, statistic
from page_reasons import Reasons, check_interval
from page_text import Told, check_host_step, check_text, count, near, stands_in, texts_of
from trace_cases import equal, require

HEADINGS = {"Verdict (one run a side: run-to-run variance is unknown)", "Fusions", "Memory", "Findings", "Warnings",
            "Against the peaks of the devices"}


class Page(Reasons):
    """What is known of the page of two traces; `data`: its sections, and its sentences; `labels`: of the traces."""

    def __init__(self, data, raws, labels):
        self.data, self.raws = data, raws
        names = dict.fromkeys(row["phase"] for key in ("verdict", "reasons") for row in data[key])
        self.phases = {name: Phase(name, data, raws) for name in names if name != "[all]"}
        first = data["sentences"][0]["figures"]
        self.names = [first["baseline"], first["candidate"]]
        devices = [next(iter(raw.head.get("deviceProperties") or [{}])).get("name", "") for raw in raws]
        for name, known in zip(self.names, devices if devices[0] != devices[1] else labels):
            require(name in known, f"{name} is not {known}")
        self.devices = devices

    def check(self, sentences):
        """Fails where a sentence does not agree, or is not known."""
        rows = {name: 0 for name in ("fusion", "warning")}
        for sentence in sentences:
            kind, _, what = sentence["id"].partition(".")
            check_text(sentence)
            told = Told(sentence)
            phase = self.phases.get(told.get("phase"))
            if kind == "warning":
                rows["warning"] += 1
                self.warning(told)
            elif kind == "finding":
                self.finding(told)
            elif what == "fusion":
                rows["fusion"] += 1
                self.fusion(told, phase)
            elif what in ("more_fusions", "more_warnings"):
                key = what[len("more_"):-1]
                all_ = self.data["warnings"] if key == "warning" else [r for p in self.phases.values() for r in p.rows[key]]
                equal(told["n"], len(all_) - rows[key], "further ones")
            else:
                require(kind == "compare" and hasattr(self, what), f"a sentence that this test does not know: {sentence}")
                getattr(self, what)(told, phase)
            require(not told.unread, f"figures that this test does not look at: {told.unread} of {sentence}")

    def finding(self, told):
        """Its share is checked instant by instant in breakdown_test."""
        require(told["side"] in self.names and f"{100 * told['share']:.1f} %" in told["finding"], told.sentence)
        other = told.get("other.name")
        require(other is None or (other in self.names and other != told["side"] and told["other.other_share"] < told["share"]), told.sentence)

    @staticmethod
    def check_printed(text, sentences):
        """What is printed is these sentences and nothing else; returns the commands."""
        texts, commands = texts_of(text)
        said = [sentence["text"] for sentence in sentences]
        printed = [text if text in said else text.partition(" ")[2] for text in texts if text not in HEADINGS]
        equal(printed, said, "what is printed")
        return commands

    def memory(self, told, _):
        kinds = {"cpu": 0, "cuda": 1, "hip": 6}
        names = told["device"].split(" / ")
        for raw, name, key in zip(self.raws, (names[0], names[-1]), ("baseline", "candidate")):
            kind, _, number = name.partition(" ")
            equal(told[key], raw.peaks[kinds[kind], int(number or -1)], f"{key}'s peak of {name}")
        equal(told["change"], told["candidate"] - told["baseline"], "change of the peak")
        _, by = told.clause("by")  # golden.compare_host works it out
        require(by is None or by["operator"] and by["change"] * told["change"] > 0, told.sentence)
        _, at = told.clause("at")  # golden.sentences looks it up
        require(at is None or at["step"] >= 0, told.sentence)

    def roofline(self, told, _):
        """Its times are worked out in compare_host_test."""
        equal([told["baseline"], told["candidate"]], self.names, "sides")
        require(told["operator"] and told["shape"] and 0 < told["baseline_share"] <= 1.05 and 0 < told["candidate_share"] <= 1.05, told.sentence)
        near(told["hardware"] + told["efficiency"], told["change"], "sum")

    # The headline.

    def headline(self, told, phase):
        measure = "period" if phase.by_period else "span"
        a, b = (statistic(phase.samples(side, measure)) for side in (0, 1))
        near(told["baseline_time"], a, "baseline")
        near(told["candidate_time"], b, "candidate")
        equal((told.get("kind"), told["unit"], [told["baseline"], told["candidate"]]),
              (None if phase.name == "unknown" else f"{phase.name}: ", f"{'' if phase.by_period else ' of device span'} a step", self.names), "what is compared")
        kind, difference = told.clause("difference")
        ratio = max(a, b) / min(a, b)
        equal(kind, "as_long" if a == b else "ratio" if ratio >= 1.2 and (phase.by_period or a < b) else "share", "how it is said")
        if kind == "ratio":
            near(difference["ratio"], ratio, "ratio", 1e-6)
        elif kind == "share":
            near(difference["share"], abs(b / a - 1), "share", 1e-6)
        if kind != "as_long":
            equal(difference["how"], ("the throughput" if b < a else "as long") if kind == "ratio" else
                  ("less" if b < a else "longer"), "its sign")
        n, m = (len(phase.samples(side, measure)) for side in (0, 1))
        few, steps = told.clause("few_steps")
        equal(few, None if min(n, m) >= 5 else "one_step" if max(n, m) == 1 else "steps", "steps")
        if few == "steps":
            equal((steps["baseline"], steps["candidate"]), (n, m), "steps")
        told.get("chance")
        longer = int(phase.totals()[1] > phase.totals()[0])
        sides = {int(change[1] > change[0]) for change in map(phase.change_of, phase.rows["reasons"])}
        longer = longer if longer in sides or not sides else 1 - longer
        equal(told["why.who"], self.names[longer], "who takes longer")
        for part in ("why.most", "why.then"):
            if told.has(part):
                self.clause_of(phase, longer, *told.clause(part))

    @staticmethod
    def host_step(told, phase):
        check_host_step(told)
        for number, side in enumerate(("baseline", "candidate")):
            span = statistic(phase.samples(number, "span"))
            require(told.get(f"{side}_behind.time", -span) + span <= told[f"{side}_time"], f"behind the last work of the {side}: {told.sentence}")

    def span_worse(self, told, phase):
        self.change(told.clause("span")[1], phase)

    def clause_of(self, phase, longer, kind, told):
        """A fact about the side that takes longer: of one of the reasons."""
        cause, reasons = kind.partition(".")[2], phase.rows["reasons"]
        size = told["time"] if told.has("time") else told["change"]
        for row in (row for row in reasons if row["cause"] == cause):
            change = phase.change_of(row)
            more = (change[1] - change[0]) * (1 if longer else -1)  # by which that side takes longer
            idles = cause == "between_steps" and more > 0 and change[1 - longer] < 0.05 * change[longer]
            what = told.sentence["figures"].get(told.prefix + "what")
            if what in (None, self.what(row)) and abs(size - (change[longer] if idles else abs(more))) <= 1:
                break
        else:
            raise AssertionError(f"no reason says: {told.sentence}")
        equal(told.get("at.place"), {"[head]": "the head of the step", "[tail]": "the tail of the step"}.get(row["place"]),
              "place")
        told.get("what")
        if not idles:
            words = {"operation": ("more", "less") if told.has("n") else ("slower", "faster"), "fusion": ("slower", "faster"), "concurrency": ("less", "more"),
                     "between_steps": ("more", "less")}.get(cause, ("longer", "less"))
            equal(told["how"], words[more < 0], "its sign")
        if cause == "operation" and told.has("n"):
            for side, name in ((longer, "n"), (1 - longer, "other_n")):
                near(told[name], self.number_of(phase, side, row), "kernels", 0.05)
        if cause == "fusion":
            equal((told["n"], told["other_n"]), self.fusion_counts(phase, row, longer)[1:], "kernels")
            told.get("perhaps"), told.get("perhaps.confidence")
        if cause == "transition":
            equal(told["next"], row["place"][len("[before "):-1] + " step", "the next step")
        if told.has("host"):
            for kind, why in told.clause("host")[1].clauses("why"):
                if kind == "host":
                    self.host(phase, row, why["frame"], longer)
                else:
                    gaps, _, calls = phase.accounts[longer].host_waits()
                    near(why["calls"], calls / gaps, "calls a gap", 1e-6)
                    require(why["recording"] in self.recorded, why["recording"])

    recorded = ("python stacks", "shapes", "python stacks and shapes")

    # The verdict.

    def verdict(self, told, phase):
        for kind, part in told.clauses("of"):
            {"change": self.change, "tally": self.tally, "left_out": self.left_out}[kind](part, phase)

    def left_out(self, told, phase):
        side, parts = self.names.index(told["side"]), list(told.clauses("steps"))
        equal(sum(part["n"] for _, part in parts), phase.accounts[side].left_out, "steps left out")
        for _, part in parts:
            require(part.get("longest", part.get("times.least", 0)) > 0, told.sentence)
            part.get("times.to.most")

    def change(self, told, phase):
        samples = [phase.samples(side, told["measure"]) for side in (0, 1)]
        a, b = map(statistic, samples)
        near(told["change"], (b - a) / a, "change", 1e-6)
        kind, why = told.clause("why")
        steps = tuple(map(len, samples))
        if kind == "interval":
            low, high = why["low"], why["high"]
            equal((why["baseline_steps"], why["candidate_steps"]), steps, "steps")
            check_interval(samples, [end * a for end in (low, high)], 0.0006 * a)
            least = 0.05 * min(a, b)
            within = max(abs(low), abs(high)) * a <= least
            certain = ("better" if b < a else "worse") if low * high > 0 and abs(b - a) >= least else None
            return equal(told["verdict"], certain or ("same" if within else "inconclusive"), "verdict")
        equal(told["verdict"], "inconclusive", "verdict")
        if why["reason"] == "the kinds of steps differ":
            return require(phase.kinds[0] != phase.kinds[1], f"both have {phase.kinds[0]} steps")
        equal(why["reason"], f"{steps[0]}/{steps[1]} steps", "steps")
        return require(min(steps) < 5, "enough steps for a verdict")

    def tally(self, told, phase):
        if told["what"] == "layers":
            a, b = (account.layers() for account in phase.accounts)
            ratios = [b[layer] / a[layer] for layer in a if layer in b and a[layer] > 0 and b[layer] > 0]
        else:
            ratios = [row["candidate"] / row["baseline"] for row in self.aligned(phase) if not self.is_fused(row, phase)]
        numbers = {"slower": sum(r >= 1.01 for r in ratios), "faster": sum(1 / r >= 1.01 for r in ratios)}
        numbers["the same"] = len(ratios) - sum(numbers.values())
        equal((told["n"], told["parts"]), (max(numbers.values()), len(ratios)), told["what"])
        equal(numbers[told["how"]], told["n"], f"{told['what']} {told['how']}")
        near(told["median"], statistics.median(ratios) - 1, f"median of the {told['what']}", 1e-6)

    @staticmethod
    def is_fused(row, phase):
        """A kernel of a fusion beside one of its parts."""
        for one in phase.rows["fusion"]:
            by, other = (one["fused_by"], "baseline" if one["fused_by"] == "candidate" else "candidate")
            if row[f"{by}_kernel"] == one["fused_kernel"] and row[f"{other}_kernel"] in one["part_kernels"].split(" + "):
                return True
        return False

    # The rest of the page.

    def fusion(self, told, phase):
        row = next((row for row in phase.rows["fusion"] if abs(row["fused_time"] - told["time"]) <= 1 and
                    abs(row["parts_time"] - told["parts_time"]) <= 1), None)
        require(row, f"no fusion says: {told.sentence}")
        equal(told["who"], self.names[row["fused_by"] == "candidate"], "who fuses")
        require(stands_in(told["fused"], row["fused_kernel"]), row)
        for short, whole in zip(told["parts"].split(" + "), row["part_kernels"].split(" + "), strict=True):
            require(stands_in(short, whole), f"{short} is no name of {whole}")
        expected = self.accounted(phase) * row["support_pct"] / 100 * (0.5 if row["kind"] == "implied" else 1)
        near(told["confidence"], expected, "confidence", 1e-3)

    def accounted(self, phase):
        """The lesser part of the kernel time that has a partner, or is in a fusion."""
        list(self.aligned(phase))
        shares = []
        for side, key in ((0, "baseline"), (1, "candidate")):
            whole = phase.accounts[side].of(lambda _: True)[0]
            own = sum(row[key] for row in phase.rows["alignment"] if not row["status"].startswith("only"))
            shares.append(own / whole)
        return min(shares)

    def warning(self, told):
        side = told.get("side")
        require(told["severity"] in ("warning", "info"), told["severity"])
        if side is None:
            kinds = re.fullmatch(r"(\w+) steps of the baseline are compared with (\w+) steps of the candidate: only these "
                                 "remain", told["text"])
            return require(kinds and list(kinds.groups()) in [phase.kinds for phase in self.phases.values()], told.sentence)
        raw, text = self.raws[self.names.index(side[:-2])], told["text"]
        number = self.names.index(side[:-2])
        code = told.sentence["id"].partition(".")[2]
        if code == "host_bound":
            idle, waiting = (f"{100 * share:.0f} %" for share in raw.idle_shares())
            return require(text.startswith(f"host bound: from the first kernel of all steps to the last {idle} idle, {waiting} of that time waiting for work that was not launched when"), text)
        if code == "outside_steps":
            time = sum(e.end - e.begin for e in raw.outside) / sum(e.end - e.begin for e in raw.kernels)
            return require(text.startswith(f"{100 * time:.1f} % of the kernel time ({count(len(raw.outside))} kernel"), text)
        equal(code, "recording", "a warning that this test does not know")
        found, part, calls = self.phases[text.partition(":")[0]].accounts[number].host_waits()
        return require(f" in {100 * part:.0f} % of the period " in text and
                       f"({count(calls)} recorded calls in {found} gaps)" in text, text)

    def sides(self, told, _phase):
        equal([told["baseline"], told["candidate"]], self.devices, "devices")
