"""Every sentence of compare, report, ranks and trend over the folder of real traces, by the names of its figures: amounts, signs
and shares are those of the tables beside them (which other tests compute from the raw JSON), the verdict has the steps it
needs, and no trace differs from itself. A sentence without a check fails, so does a figure that no check looks at, and
what is printed is these sentences. page_test.py sums up those of some pairs from the raw JSON. Needs TRACEDB_TRACES."""
import json
import re
import shutil
import statistics
from functools import lru_cache
from html import unescape
from pathlib import Path

from made_events import index_of, kernel, on_device
from made_pairs import MADE
from page_sentences import Page
from page_text import Told, check_change, check_host_step, check_load, check_text, near
from trace_cases import TRACES, as_json, equal, ingest, make_trace, require, run, skip_without_traces, sql

FOLDER = TRACES / "kineto"
SECTIONS = "verdict,reasons,sentences,fusion,warnings,memory,roofline"
WORDS = {"the throughput": -1, "less": -1, "faster": -1, "more": 1, "longer": 1, "slower": 1, "as long": 1}


def sections_of(document):
    return {**document, **{section["section"]: section["rows"] for section in document["sections"]}}


def check_all(sentences, checks, printed):
    for sentence in sentences:
        check_text(sentence)
        told = Told(sentence)
        name = sentence["id"].partition(".")
        check = checks.get(sentence["id"]) or checks.get(name[0] + ".*")
        require(check, f"a sentence that this test does not know: {sentence}")
        check(told)
        require(not told.unread, f"figures that this test does not look at: {told.unread} of {sentence}")
        require(" ".join(sentence["text"].split()) in " ".join(printed.split()), f"not printed: {sentence['text']}")


@lru_cache(maxsize=None)
def findings_of(index):
    return {row["finding"]: row for row in as_json("findings", index)["rows"]}


def check_finding(told, *indexes):
    """Of one of them, and of no other as much."""
    tables = [findings_of(index) for index in indexes]
    name = told.sentence["id"].partition(".")[2]
    texts = [table[name]["text"] if name in table else None for table in tables]
    require(told["finding"] in texts, told.sentence)
    own = tables[texts.index(told["finding"])][name]
    require(own["stands_out"] == 1, told.sentence)
    near(100 * told["share"], own["share_pct"], "share", 1e-6)
    other = told.get("other.other_share")
    if other is not None:
        require(told["side"] != told["other.name"] and 100 * other < own["share_pct"], told.sentence)
        require(any(abs(table[name]["share_pct"] - 100 * other) < 1e-6 for table in tables if name in table), told.sentence)


class Compared:
    """The sentences of a pair against its tables."""

    def __init__(self, data, *indexes):
        self.data, self.said, self.indexes = data, {}, indexes
        self.checks = {f"compare.{name[4:]}": getattr(self, name) for name in dir(self) if name.startswith("say_")}
        self.checks["warning.*"] = self.warning
        self.checks["finding.*"] = lambda told: told.get("side") and check_finding(told, *indexes)

    def rows(self, section, told):
        return [row for row in self.data[section] if row["phase"] == told["phase"]]

    def say_nothing(self, told):
        equal(self.data["reasons"], [], "reasons")

    def say_without_device(self, told):
        equal(self.data["reasons"], [], "reasons")
        require(told["trace"] and ("no kernel, copy or fill" in told["why"] or " 0 events" in told["why"]), told.sentence)

    def say_unchanged(self, told):
        told.get("kind"), told.get("unit"), check_load(told, told["change"])
        row = self.rows("verdict", told)[0]
        near(told["baseline_time"], row["baseline"], "time")
        near(100 * told["change"], row["change_pct"], "change", 1e-6)
        require(abs(told["change"]) < 0.05 and not any(r["cause"] != "recording" for r in self.rows("reasons", told)), told.sentence)
        if told.sentence["id"] != "compare.alike":
            equal(told.get("least") is None, self.may_be_chance(row), "whether it may be chance")
            beyond = max(-row["low"], row["high"]) >= 0.05 * min(row["baseline"], row["candidate"])
            equal(told.sentence["id"] == "compare.uncertain", beyond and self.may_be_chance(row), "whether that is certain")

    say_little = say_unchanged

    def say_uncertain(self, told):
        row = self.rows("verdict", told)[0]
        for end in ("low", "high"):
            near(told[end], row[end] / row["baseline"], end, 1e-6)
        self.say_unchanged(told)

    @staticmethod
    def may_be_chance(row):
        return row["verdict"] != "inconclusive" and row["low"] <= 0 <= row["high"]

    def say_alike(self, told):
        equal(told["reason"], self.rows("verdict", told)[0]["reason"], "why it is inconclusive")
        self.say_unchanged(told)

    def say_times(self, told):
        told.get("kind"), told.get("unit"), told.get("phase")
        require(min(told["baseline_time"], told["candidate_time"]) <= 0, "a ratio would say more")

    def say_step_and_whole(self, told):
        told.get("kind"), told.get("stepping"), told.get("whole")
        row = self.rows("verdict", told)[0]
        equal(sorted([told["step_time"], told["whole_time"]]), sorted([row["baseline"], row["candidate"]]), "times")

    def say_no_usual_step(self, told):
        told.get("kind")
        require(all(row["verdict"] == "inconclusive" for row in self.rows("verdict", told)), "a verdict without a usual step")
        for _, side in told.clauses("why"):
            for name in [name for name in told.unread if name.startswith(side.prefix)]:
                require(told.sentence["figures"][name], name)
                told.unread.discard(name)

    def say_headline(self, told):
        row = self.rows("verdict", told)[0]
        a, b = told["baseline_time"], told["candidate_time"]
        equal((a, b), (row["baseline"], row["candidate"]), "times")
        kind, difference = told.clause("difference")
        equal(kind == "as_long", a == b, "whether it is as long")
        if kind != "as_long":
            near(difference[kind], max(a, b) / min(a, b) if kind == "ratio" else abs(b / a - 1), "difference", 1e-6)
            equal(WORDS[difference["how"]], 1 if b > a else -1, "its sign")
        spans = "device span" in told.sentence["figures"].get("unit", "")
        equal(kind == "ratio", max(a, b) / min(a, b) >= 1.2 and (a < b or not spans), "how it is said")
        told.get("kind"), told.get("unit"), check_load(told, b / a - 1)
        equal(bool(told.get("chance")), self.may_be_chance(row) and row["low"] < row["high"], "whether it may be chance")
        self.names = [told["baseline"], told["candidate"]]
        few, steps = told.clause("few_steps")
        n = [row["baseline_steps"], row["candidate_steps"]]
        if few == "steps":
            equal([steps["baseline"], steps["candidate"]], n, "steps")
        equal(few == "one_step", n == [1, 1] and told.sentence["figures"].get("unit", "").endswith(" a step") and few is not None, "one step")
        for part in ("why.most", "why.then"):
            if told.has(part):
                self.clause(*told.clause(part), self.names.index(told["why.who"]), self.rows("reasons", told))

    say_host_step = staticmethod(check_host_step)

    def say_span_worse(self, told):
        rows = {row["metric"]: row for row in self.rows("verdict", told)}
        part = told.clause("span")[1]
        check_change(part, rows[part["measure"]])
        equal((part["verdict"], rows["period"]["verdict"] == "worse"), ("worse", False), "the worse of both")

    @staticmethod
    def clause(kind, told, longer, reasons):
        size, sign = told["time" if told.has("time") else "change"], 1 if longer else -1
        require(any(row["cause"] == kind.partition(".")[2] and
                    abs(size - (row[("baseline", "candidate")[longer]] if told.has("time") else abs(row["change"]))) <= 1 and
                    (told.has("time") or kind == "clause.concurrency" or WORDS[told["how"]] == (1 if row["change"] * sign > 0 else -1))
                    for row in reasons), f"no reason says: {told.sentence}")
        for name in [name for name in told.unread if name.startswith(told.prefix)]:
            told.unread.discard(name)  # words of the reason, which says them again

    def say_other_work(self, told):
        row = self.rows("verdict", told)[0]
        told.get("kind"), told.get("baseline_unit"), told.get("candidate_unit")
        equal((told["baseline_time"], told["candidate_time"]), (row["baseline"], row["candidate"]), "times")
        equal(row["verdict"], "inconclusive", "a verdict on other work")
        require(told["baseline"] and told["candidate"], told.sentence)
        require(any(w["code"] == "other_work" and w["text"].endswith(told["work"]) for w in self.data["warnings"]), "no warning")

    def say_no_verdict(self, told):
        equal(told["reason"], "other work", "why there is none")
        require(not any(row["verdict"] in ("better", "worse", "same") for row in self.rows("verdict", told)), told.sentence)

    def say_names_out_of_step(self, told):
        require(told["name"] and 0 < told["share"] <= 1, told.sentence)
        require(any(w["code"] == "names_out_of_step" for w in self.data["warnings"]), "no warning")
        require(not any(row["op"] for row in self.rows("reasons", told)), "a reason by kernel")

    def say_verdict(self, told):
        rows = {row["metric"]: row for row in self.rows("verdict", told)}
        for kind, part in told.clauses("of"):
            if kind == "tally":
                require(0 < part["n"] <= part["parts"] and part["what"] and part["how"] in ("slower", "faster", "the same", "both"),
                        told.sentence)
                equal(part["how"] == "both", part.get("how.faster") is not None and 2 * part["n"] <= part["parts"], "whether it is most")
                part.get("median")
                continue
            if kind == "left_out":
                require(part["side"], "whose steps")
                for _, steps in part.clauses("steps"):
                    require(steps["n"] > 0 and steps.get("longest", steps.get("times.least", 0)) > 0, told.sentence)
                    steps.get("times.to.most")
                continue
            row = rows["period" if part["measure"] == "time" and "span" not in rows else {"time": "span"}.get(
                part["measure"], part["measure"])]
            if kind == "unknown":
                continue
            if kind == "no_change":
                equal((part["reason"], row["verdict"]), ("only one trace has steps", "inconclusive"), "a step against a whole trace")
                continue
            check_change(part, row)

    def say_why(self, told):
        self.total = told["candidate"] - told["baseline"]
        near(told["change"], abs(self.total), "change", 2)
        equal(WORDS[told["how"]], 1 if self.total > 0 else -1, "its sign")
        for name in ("step", "measure", "mean_of"):
            require(told[name], name)
        told.get("phase")

    def say_within(self, told):
        self.total = 0
        require(told["candidate"] and told["step"] and told["measure"] and told["mean_of"], told.sentence)
        told.get("phase")

    def say_beside(self, told):
        told.get("phase"), told.get("step")
        self.total = 0

    def say_reason(self, told):
        row = self.rows("reasons", told)[told["number"] - 1]
        self.said[told["phase"]] = told["number"]
        equal(told["change"], row["change"], "change")
        kind, share = told.clause("share")
        if kind == "of_change":
            near(share["share"], row["change"] / self.total, "share", 1e-3)
        elif kind:
            equal(WORDS[share["how"]], 1 if row["change"] > 0 else -1, "direction")
            require(0 < share["share"] <= 1 + 1e-9, "a share of its direction")
        told.get("against")
        cause, fact = told.clause("reason")
        equal(cause, f"reason.{row['cause']}", "cause")
        for name, effect in told.sentence["figures"].items():
            if name.endswith("by_count.effect"):
                require(effect * (row["candidate_n"] - row["baseline_n"]) > 0 and row["cause"] != "copies", f"{effect} ns by count: {row}")
        if row["next_step"] and row["next_step"]["command"] == "steps":
            require("phase" not in row["next_step"]["options"], "an option that steps does not take")
        if fact.has("times"):
            near(fact["times.candidate"] - fact["times.baseline"], row["change"], "times", 2)
            equal((fact["times.baseline"], fact["times.candidate"]), (row["baseline"], row["candidate"]), "times")
        if row["cause"] == "fusion":
            least = min(one["confidence_pct"] for one in self.rows("fusion", told) if one["fused_op"] == row["op"])
            equal(fact.has("perhaps"), least < 70, f"a fusion of {least} % confidence")
        if fact.get("how") in WORDS:
            equal(WORDS[fact["how"]], 1 if row["change"] > 0 else -1, "its sign")
        for name, value in ((n, v) for n, v in told.sentence["figures"].items() if n in told.unread):
            told.unread.discard(name)
            require(value is not None and (isinstance(value, str) or value == value), f"{name} is not known")
            if name.endswith((".low", ".high")) and cause != "reason.clocks":
                near(value, row[name.rpartition(".")[2]], name)
        if cause == "reason.operation" and row["low"] is not None:
            require(row["low"] - 1 <= row["change"] <= row["high"] + 1, f"an interval of something else: {row}")

    def say_rest(self, told):
        rows = self.rows("reasons", told)
        parts = sum(row["change"] for row in rows if row["cause"] not in ("transition", "recording"))
        verdict = self.rows("verdict", told)[0]
        near(told["rest"], (self.total if rows else verdict["candidate"] - verdict["baseline"]) - parts, "rest", 2)
        equal(told.get("more.n", 0), len(rows) - self.said.get(told["phase"], 0), "more reasons")
        told.unread.clear()

    def say_fusion(self, told):
        require(any(abs(row["fused_time"] - told["time"]) <= 1 and abs(row["parts_time"] - told["parts_time"]) <= 1 and
                    abs(row["confidence_pct"] / 100 - told["confidence"]) < 1e-6 for row in self.rows("fusion", told)),
                f"no fusion says: {told.sentence}")
        require(told["who"] and told["fused"] and " + " in told["parts"], told.sentence)

    def say_more_fusions(self, told):
        require(0 < told["n"] < len(self.data["fusion"]), told.sentence)

    def say_more_warnings(self, told):
        require(0 < told["n"] < len(self.data["warnings"]), told.sentence)

    def say_memory(self, told):
        rows = [row for row in self.data["memory"] if row["device"] == told["device"]]
        equal((rows[0]["what"], told["baseline"], told["candidate"], told["change"]), ("[peak]", *(rows[0][key] for key in ("baseline", "candidate", "change"))), "peak")
        require(abs(told["change"]) >= max(1_000_000, rows[0]["baseline"] / 100), told.sentence)
        _, by = told.clause("by")
        if by:
            equal((by["operator"], by["change"]), (rows[1]["what"], rows[1]["change"]), "by what")
            require(by["change"] * told["change"] > 0, told.sentence)
        higher, at = told["change"] > 0, told.clause("at")[1]
        device = told["device"].split(" / ")[-higher]
        (peak,) = sql(self.indexes[higher], f"SELECT step FROM memory_events WHERE device = '{device}' ORDER BY allocated DESC, id LIMIT 1")
        equal(at and at["step"], peak["step"], "step of the higher peak")

    def say_roofline(self, told):
        told["baseline"], told["candidate"]
        rows = [row for row in self.data["roofline"] if row["operator"] == told["operator"] and row["hardware"] is not None]
        near_row = [row for row in rows if abs(row["change"] - told["change"]) <= 1 and abs(row["hardware"] - told["hardware"]) <= 1
                    and abs(row["baseline_roof_pct"] - 100 * told["baseline_share"]) < 1e-6
                    and abs(row["candidate_roof_pct"] - 100 * told["candidate_share"]) < 1e-6]
        require(near_row and told["shape"].split("…")[0] in near_row[0]["shape"], told.sentence)
        near(told["hardware"] + told["efficiency"], told["change"], "sum", 1)

    def say_more_kinds(self, told):
        require(told["n"] > 0, told.sentence)

    def say_sides(self, told):
        require(told["baseline"] and told["candidate"], told.sentence)

    def warning(self, told):
        told.get("side")
        code = told.sentence["id"].partition(".")[2]
        require({"code": code, "severity": told["severity"], "text": told["text"]} in
                [{key: row[key] for key in ("code", "severity", "text")} for row in self.data["warnings"]], told.sentence)


def check_pair(a, b):
    """Returns what is said of it in one line."""
    data = sections_of(as_json("compare", "--section", SECTIONS, a, b))
    text = run("trace-query", "compare", "-q", a, b).stdout
    Page.check_printed(text, data["sentences"])
    check_all(data["sentences"], Compared(data, a, b).checks, text)
    if a == b:
        equal(data["reasons"], [], "reasons of no change")
        require(not any(row["verdict"] in ("better", "worse") for row in data["verdict"]), "a trace differs from itself")
        require(not any(sentence["id"] in ("compare.why", "compare.headline") for sentence in data["sentences"]), "a change")
    return " ".join(text.split())


class Reported:
    """The sentences of a page of one trace against the ledger that `compare` makes of it, class by class."""
    ROWS = {"idle": "[idle]", "between": "[between steps]", "comm": "[exposed communication]", "copy": "[exposed copies]",
            "other": "[no step]", "between_other": "[no step, between steps]"}

    def __init__(self, index):
        self.index = index
        data = sections_of(json.loads(run("trace-query", "compare", "-q", "--json", "--by", "class", "--section",
                                          "ledger,verdict", index, index).stdout))
        self.ledger = {(row["phase"], row["item"]): row for row in data["ledger"]}
        self.verdicts = {(row["phase"], row["metric"].partition(" ")[0]): row for row in data["verdict"]}
        self.warnings = as_json("warnings", index)["rows"]
        self.parts = {}  # of a phase: the sum of those said
        self.checks = {f"report.{name[4:]}": getattr(self, name) for name in dir(self) if name.startswith("say_")}
        self.checks["warning.*"] = self.warning
        self.checks["finding.*"] = lambda told: check_finding(told, index)

    def total(self, told):
        phase = told["phase"]
        row = self.ledger.get((phase, "[period]")) or self.ledger.get((phase, "[span]"))
        return row["baseline"] if row else self.verdicts[phase, "span"]["baseline"]

    def share(self, told, *rows):
        phase = told["phase"]
        return sum(self.ledger.get((phase, row), {"baseline": 0})["baseline"] for row in rows) / self.total(told)

    def idle(self, told):
        return self.share(told, "[idle]", "[between steps]")

    def say_without_device(self, told):
        require(told["why"], told.sentence)
        equal(self.ledger, {}, "rows of the ledger")

    def say_no_kernels(self, told):
        equal(self.ledger, {}, "rows of the ledger")
        equal(bool(told.get("where")), sql(self.index, "SELECT count(*) AS n FROM kernel")[0]["n"] > 0, "kernels outside of steps")

    def say_headline(self, told):
        require(told["devices"] and told.get("step", "the trace"), told.sentence)
        near(told["time"], self.total(told), "time", 1)
        measure = {"takes": "period", "spans": "span", "overlaps with others and takes": "span"}[told.get("takes", "spans")]
        row = self.verdicts[told["phase"], measure]
        equal((told.get("n", row["baseline_steps"]), told.get("mean") is not None), (row["baseline_steps"], row["baseline_steps"] > 1),
              "steps that the time is of")
        kind, why = told.clause("verdict")
        idle, comm = self.idle(told), self.share(told, "[exposed communication]")
        if kind in ("idle", "idle_and_comm"):
            near(why["idle"], idle, "idle", 1e-6)
            require(idle >= 0.3 and why["advice"], told.sentence)
            how, host = why.clause("host")
            if host:
                require(how == "turns" or (host["frame"] and 0.5 <= host["share"] <= 1 + 1e-9), told.sentence)
                require((slowed := host.clause("slowed")[1]) is None or (slowed["what"] and slowed["calls"] > 0), told.sentence)
        if kind in ("comm", "idle_and_comm"):
            near(why["comm"], comm, "communication", 1e-6)
        if kind == "idle_and_comm":
            near(why["none"], idle + comm, "computes nothing", 1e-6)
        if kind == "busy":
            near(why["busy"], 1 - idle, "busy", 1e-6)
            shares = [part["share"] for _, part in why.clauses("most") if part["what"]]
            equal(shares, sorted(shares, reverse=True), "order")
            rows = [idle, self.share(told, "[no step]", "[no step, between steps]"),
                    *(row["baseline"] / self.total(told) for (phase, _), row in self.ledger.items() if phase == told["phase"])]
            require(all(any(abs(share - row) < 1e-6 for row in rows) for share in shares), f"shares: {shares} {rows}")
        require(kind is not None or self.total(told) == 0, "no verdict")
        self.left_out(told)
        if lag := told.clause("lag")[1]:
            beside = sum(part["time"] for part in (lag.clause("before")[1], lag.clause("behind")[1]) if part)
            require(lag["step"] and 0 < beside <= lag["host"] and (lag.get("medians") or told["phase"] == "trace"), told.sentence)

    say_whole_trace = say_headline

    def say_outside_steps(self, told):
        require(told["devices"] and told["step"] and told["phase"] and 0.5 < told["share"] <= 1, told.sentence)

    def say_two_kinds(self, told):
        self.kinds(told.clause("kinds")[1])
        require(told["devices"] and told["phase"] and told["step"], told.sentence)

    @staticmethod
    def kinds(kinds):
        equal(kinds["steps"], kinds["fast"] + kinds["slow"], "steps")
        for name in [name for name in kinds.unread if name.startswith(kinds.prefix)]:
            require(kinds.sentence["figures"][name], name)
            kinds.unread.discard(name)

    @staticmethod
    def left_out(told):
        of = told.clause("left_out")[1]
        for kind, steps in of.clauses("steps") if of else ():
            require(steps["n"] > 0, told.sentence)
            require(kind == "without_period" or steps.get("longest", steps.get("times.least", 0)) > 0, told.sentence)
            steps.get("times.to.most")

    def say_steps(self, told):
        near(told["time"], self.total(told), "time", 1)
        near(told["busy"], 1 - self.idle(told), "busy", 1e-6)
        row = self.verdicts[told["phase"], told["measure"]]
        equal((told.get("steps.n", row["baseline_steps"]), told.get("mean") is not None), (row["baseline_steps"], row["baseline_steps"] > 1),
              "steps that the time is of")
        if told.has("comm"):
            near(told["comm.share"], self.share(told, "[exposed communication]"), "communication", 1e-6)
        if told.has("kinds"):
            self.kinds(told.clause("kinds")[1].clause("of")[1])
        require(told.get("tokens.per_s", 1) > 0 and not re.search(r"e\+\d", told.sentence["text"]), told.sentence)
        self.left_out(told)

    def say_where(self, told):
        near(told["time"], self.total(told), "time", 1)
        require(told["step"] and told["measure"] in ("period", "span"), told.sentence)
        told.get("mean"), told.get("phase")

    def say_part(self, told):
        kind, what = told.clause("what")
        rows = [self.ledger[told["phase"], self.ROWS[kind]]] if kind in self.ROWS else [
            row for (phase, item), row in self.ledger.items() if phase == told["phase"] and item[0] != "["]
        near(told["share"], told["time"] / self.total(told), "share", 1e-6)
        n = what.get("n")
        require(any(abs(row["baseline"] - told["time"]) <= 1 and (n is None or abs(row["baseline_n"] - n) < 0.01) for row in rows),
                f"no row of the ledger: {told.sentence}")
        self.parts[told["phase"]] = self.parts.get(told["phase"], 0) + told["time"]
        require(kind != "op" or what["op"], told.sentence)
        most = what.clause("most")[1]
        require(most is None or (most["name"] and 0 < most["share"] <= 1 + 1e-6), told.sentence)
        host = told.clause("host")[1]
        require(host is None or (host["frame"] and 0.5 <= host["share"] <= 1 + 1e-9), told.sentence)

    def say_rest(self, told):
        near(told["time"], self.total(told) - self.parts.get(told["phase"], 0), "rest", 2)
        near(told["share"], told["time"] / self.total(told), "share", 1e-6)
        equal(told.get("twice") is not None, told["time"] < 0, "why it is negative")

    def warning(self, told):
        share = told.get("amount.share")
        require(any((told["finding"], told["advice"]) == (row["finding"], row["suggestion"]) and
                    (share is None) == (row["share_pct"] is None) and abs(100 * (share or 0) - (row["share_pct"] or 0)) < 1e-6
                    for row in self.warnings), told.sentence)


def check_report(index):
    html = run("trace-query", "report", "-q", index).stdout
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
    printed = unescape(re.sub(r"<[^>]*>", "", html))
    check_all(data["sentences"], Reported(index).checks, printed)
    require(data["sentences"], "nothing is said")


def check_ranks(folder):
    document = as_json("ranks", folder)
    text = run("trace-query", "ranks", "-q", folder).stdout
    job, sections = sections_of(document)["jobs"][0], sections_of(document)

    def even(told):
        late = {row["rank"]: row["caused"] for row in sections["ranks"] if row["rank"] != "[all]"}
        most = max(late, key=lambda rank: late[rank] or 0)
        equal((told["who"], told["who.who"], told["who.of.ranks.recorded"], told["who.of.ranks.size"]),
              ("too_few", f"rank {most}", job["ranks"], str(job["world_size"])), "who")
        equal(told["missing"], "unknown", "what they wait for ranks that are not there")
        near(told["who.share"], late[most] / sum(filter(None, late.values())), "its share", 1e-6)
        near(told["who.late.time"], sum(filter(None, late.values())) / job["ranks"] / job["steps"], "for late ranks, each")
        equal((told["who.late"], told["all"]), ("a_step", "in all, "), "of what")
        equal(told["who.collectives"], job["collectives"], "too few")
        equal(told["wait"], "a_step", "of what")
        near(told["wait.time"], job["exposed_waiting"] / job["ranks"] / job["steps"], "waiting of a rank")
        spans = sum(row["span"] for row in sections["ranks"] if row["rank"] != "[all]")
        near(told["share"], job["exposed_waiting"] / spans, "its share of the time", 1e-6)
        equal(told["in.collectives"], job["collectives"], "collectives")
        require(told["most"] == "first" and 0.5 < told["most.share"] <= 1, "where most of it is")

    check_all(document["sentences"], {"ranks.even": even}, text)


def check_trend(folder):
    document = as_json("trend", folder)
    sections, text = sections_of(document), run("trace-query", "trend", "-q", folder).stdout

    def values(told):
        label = told.sentence["about"]
        return [row["value"] for row in sections["points"] if row["series"] == label and row["value"] is not None]

    def of(check):
        return lambda told: require(told["what"] and check(told, values(told)), told.sentence)

    check_all(document["sentences"], {
        "trend.unknown": of(lambda told, known: known == []),
        "trend.one": of(lambda told, known: [told["value"]] == known),
        "trend.even": of(lambda told, known: (told["runs"], told["last"], told["before"]) == (
            len(known), known[-1], statistics.median(known[:-1]))),
        "trend.few": of(lambda told, known: (told["runs"], told["values"].count(",") + 1) == (len(known), len(known))),
        "trend.single": lambda told: require(told["metric"] == "period" and told["series"] == sum(
            sum(row["series"] == one["series"] for row in sections["points"]) == 1 for one in sections["series"]), told.sentence),
    }, text)


# What kernels a warning of a trace is about: those it counts, and whose time is its share of all.
BEFORE = ("launch_id IS NULL AND step IS NULL AND ts < (SELECT min(l.ts) FROM kernels l WHERE l.launch_id IS NOT NULL AND "
          "l.device = kernels.device AND l.stream = kernels.stream) AND coalesce(correlation, 0) <= (SELECT c.correlation FROM "
          "runtime_call c WHERE c.correlation > 0 ORDER BY c.id LIMIT 1)")  # launched before the recording
AFFECTED = {"no_step": f"step IS NULL AND NOT coalesce({BEFORE}, 0)", "no_launch": f"launch_id IS NULL AND NOT coalesce({BEFORE}, 0)", "no_operator": "cpu_op IS NULL",
            "no_stack": "stack_id IS NULL", "unclassified": "op = 'other'", "no_layer": "layer IS NULL",
            "unknown_duration": "dur IS NULL"}


def check_warnings(index):
    """Of one trace: the columns are the figures of the sentence."""
    found = as_json("warnings", index)["rows"]
    sums = ", ".join(f"count(*) FILTER (WHERE {which}) AS {code}_n, coalesce(100.0 * sum(dur) FILTER (WHERE {which}) / "
                     f"sum(dur), 0) AS {code}" for code, which in AFFECTED.items())
    told = sql(index, f"SELECT {sums} FROM kernels")[0]
    for row in found:
        require(row["finding"] and row["severity"] in ("data_loss", "warning", "info"), row)
        if row["code"] in AFFECTED:
            equal(row["count"], told[row["code"] + "_n"], f"kernels of {row['code']}")
            near(row["share_pct"] or 0, told[row["code"]], f"share of {row['code']}", 1e-6)


# Changes that are small, of counts alone, or partly a fusion's.
USUAL, MOE = ("--seed", 1, "--mix", "D", "--steps", 12, "--layers", 12), ("--moe", "on", "--steps", 10, "--mix", "D", "--layers", 8)
TWO_STACKS, FEW = ("--model", "encoder+decoder", "--steps", 8, "--layers", 8), ("--mix", "P", "--steps", 8, "--layers", 4, "--prompt-tokens", 4096)
PLANTED = {"another load": (FEW, (*FEW[:-1], 4400), ", for that or another cause"), "a load that hides a change": (FEW, (*FEW[:-1], 4400, "--clock", 0.93), "inconclusive: the load differs by 7.4 %"),
           "a slower clock": (USUAL, (*USUAL, "--clock", 1.01), "little changed"),
           "a slower kind of attention": (USUAL, (*USUAL, "--slow", "attention=1.5"), "decode attention kernels are"),
           "members of a role against each other": (TWO_STACKS, (*TWO_STACKS, "--slow", "encoder_fc1_gemm=2", "--slow", "decoder_fc1_gemm=0.2",
                                                                 "--slow", "encoder_qkv_gemm=0.6"), "MT128x128x64 (GEMM) kernels are 1.10 ms"),
           "a role that one side lacks": (USUAL, (*USUAL, "--qk-norm", "off"), " norm kernels ("),
           "a model with experts": (USUAL, (*USUAL, "--moe", "on"), "other architecture, by its kernels: transformer"),
           "jitter": (USUAL, (*USUAL, "--jittered-streams", "on"), "which may be chance"),
           "more passes": (("--model", "diffusion", "--steps", 8, "--layers", 8), ("--model", "diffusion", "--steps", 8, "--layers", 8, "--passes", 6), "instead of"),
           "fusions": (MOE, (*MOE, "--vendor", "nvidia", "--fuse", "moe_gemm+silu,moe_routing,rope+kvcache,rmsnorm+quant"), "")}


def check_planted(folder, ours, theirs, said):
    pair = [ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb") for name, options in (("ours", ours), ("theirs", theirs))]
    for sides in (pair, pair[::-1]):
        require(said in check_pair(*sides), said)


def check_made(folder, ours, theirs, said):
    pair = [index_of(folder / f"{name}.json", events) for name, events in (("ours", ours), ("theirs", theirs))]
    check_pair(*pair[::-1])
    text = check_pair(*pair)
    for each in said:
        require(each in text, f"{each}: {text}")


def check_stray(folder):
    """Work of no step that ends 40 us after the last of the step and lies 5 us alone within it: a row for each."""
    events = [event for begin in range(1000, 2200, 300) for event in
              (on_device("gpu_user_annotation", f"ProfilerStep#{begin}", begin, 250), kernel("gemm", begin + 5, 40),
               kernel("gemm", begin + 55, 40), kernel("gemm", begin + 155, 40), kernel("stray", begin + 150, 85, stream=9))]
    check_report(index_of(folder / "stray.json", events))


def main(cases, folder):
    cases.run("work of no step", check_stray, folder)
    for check, table in ((check_planted, PLANTED), (check_made, MADE)):
        for name, sides in table.items():
            (folder / name).mkdir()
            cases.run(name, check, folder / name, *sides)
    if not skip_without_traces(cases, FOLDER):
        indexes = []
        for trace in sorted([*FOLDER.glob("*.json*"), *(FOLDER / "dlrm_8rank").glob("*.json")]):
            index = folder / (trace.name + ".tracedb")
            made = run("trace-ingest", "-q", "-o", index, trace, check=False)
            indexes += [index] if made.returncode == 0 else []
        for a, b in zip(indexes, [*indexes[1:], indexes[0]]):
            cases.run(f"warnings of {a.name}", check_warnings, a)
            cases.run(f"report of {a.name}", check_report, a)
            for pair in ((a, a), (a, b), (b, a)):
                cases.run(" and ".join(path.name.removesuffix(".tracedb") for path in pair), check_pair, *pair)
        job = Path(shutil.copytree(FOLDER / "dlrm_8rank", folder / "dlrm_8rank"))  # indexes go beside their traces
        cases.each((check_ranks, check_trend), job)
