"""Figures of other tools against ours, and why they differ: reasons are rows of a table, and each has to be proved.

A reason names a rule of the other tool. Its model (reference_hta.py and the like) works the tool's figure out of the facts
in our index under any set of such rules; a difference is explained only by rules under which the model gives the other
tool's figure. Two words stand where a rule would:
  argued       the table says why, and no arithmetic shows it
  not offered  we have no such figure
Everything else is unexplained and fails; so does a row that explains nothing.
"""
import csv
import math
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from trace_cases import REFERENCE, TRACES, Skip, skip_without_traces

TABLE = Path(__file__).resolve().parents[1] / "golden/reference_reasons.tsv"
ARGUED, NOT_OFFERED = "argued", "not offered"


class Reason:
    def __init__(self, row):
        self.tool, self.trace, self.figure, self.rule, self.text = (row[key] for key in
                                                                    ("tool", "trace", "figure", "rule", "reason"))
        self.used = 0

    def covers(self, trace, figure):
        return fnmatchcase(trace, self.trace) and fnmatchcase(figure, self.figure)


def read_reasons(tool):
    with open(TABLE, newline="", encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return [reason for reason in map(Reason, csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
                if reason.tool == tool]


def same(ours, theirs, tolerance):
    """Numbers within the tolerance, or between the two bounds of ours; anything else equal."""
    if isinstance(ours, tuple):
        return isinstance(theirs, (int, float)) and ours[0] - 1e-9 <= theirs <= ours[1] + 1e-9
    numbers = [isinstance(value, (int, float)) and not isinstance(value, bool) for value in (ours, theirs)]
    if all(numbers):
        if math.isnan(theirs) or math.isnan(ours):
            return math.isnan(theirs) and math.isnan(ours)
        return abs(ours - theirs) <= tolerance + 1e-9 * abs(theirs)
    return ours == theirs and type(ours) is type(theirs)


class Figure:
    """One figure of the other tool: its name, their value and the precision of what they print, ours, and predict(rules),
    which gives theirs under some of their rules, or None where there is no model."""

    def __init__(self, name, theirs, ours, tolerance=0.0, predict=None):
        self.name, self.theirs, self.ours, self.tolerance, self.predict = name, theirs, ours, tolerance, predict


class Comparison:
    """All figures of one tool. Prints what does not agree, and the counts."""

    def __init__(self, tool, cases):
        self.tool, self.cases = tool, cases
        self.reasons = read_reasons(tool)
        self.compared = self.equal = 0
        self.explained = Counter()

    def trace(self, name, figures):
        """One case: no figure of this trace is unexplained. figures: called for them."""
        self.cases.run(name, self.check, name, figures)

    def check(self, trace, make_figures):
        figures = make_figures()
        before = self.compared, self.equal
        unexplained = [figure for figure in figures if not self.explains(trace, figure)]
        compared, equal = self.compared - before[0], self.equal - before[1]
        print(f"   {trace}: {compared} figures, {equal} equal, {compared - equal - len(unexplained)} with a reason, "
              f"{len(unexplained)} unexplained")
        assert compared, "no figures"
        assert not unexplained, "unexplained: " + "; ".join(self.describe(trace, figure) for figure in unexplained[:40])

    def describe(self, trace, figure):
        rules = frozenset(r.rule for r in self.reasons if r.covers(trace, figure.name)) - {ARGUED, NOT_OFFERED}
        model = f", with all rules {figure.predict(rules)!r}" if figure.predict else ""
        name = figure.name if len(figure.name) < 160 else f"{figure.name[:100]}...{figure.name[-50:]}"
        return f"\n  {name}: ours {figure.ours!r}, theirs {figure.theirs!r}{model}"

    def explains(self, trace, figure):
        self.compared += 1
        if same(figure.ours, figure.theirs, figure.tolerance):
            self.equal += 1
            return True
        reasons = [reason for reason in self.reasons if reason.covers(trace, figure.name)]
        found = self.proved(figure, [reason for reason in reasons if reason.rule not in (ARGUED, NOT_OFFERED)])
        if not found:
            missing = figure.ours is None
            found = [reason for reason in reasons if reason.rule == (NOT_OFFERED if missing else ARGUED)][:1]
        for reason in found:
            reason.used += 1
        if found:
            kind = figure.name.split("/")[0]
            self.explained[f"{kind}: " + " + ".join(reason.rule for reason in found)] += 1
        return bool(found)

    @staticmethod
    def proved(figure, reasons):
        """Reasons whose rules together give their figure in the model, none of which can be left out."""
        rules = {reason.rule: reason for reason in reversed(reasons)}  # the first row of a rule counts
        if figure.predict is None or not rules:
            return []

        def gives(some):
            return same(figure.predict(frozenset(some)), figure.theirs, figure.tolerance)

        chosen = sorted(rules)
        for rule in sorted(rules):
            if gives([rule]):
                return [rules[rule]]
        if not gives(chosen):
            return []
        for rule in sorted(rules):
            fewer = [other for other in chosen if other != rule]
            if gives(fewer):
                chosen = fewer
        return [rules[rule] for rule in chosen]

    def finish(self):
        self.cases.run("every reason explains something", self.check_reasons)
        reasons = sum(self.explained.values())
        print(f"[figures] {self.tool}: {self.compared} compared, {self.equal} equal, {reasons} explained, "
              f"{self.compared - self.equal - reasons} unexplained")
        for rules, count in self.explained.most_common():
            print(f"   {count:7d} {rules}")

    def check_reasons(self):
        idle = [f"{reason.rule} ({reason.trace}, {reason.figure})" for reason in self.reasons if not reason.used]
        assert not idle, "these rows of the table explain nothing: " + "; ".join(idle)


def compare_all(cases, folder, tool, references, figures_of):
    """The whole test of one tool: figures_of(reference, folder) are the figures of one trace."""
    if not references:
        cases.skip(tool, f"no figures here: {REFERENCE} (TRACEDB_REFERENCE names the folder)")
    elif not skip_without_traces(cases, TRACES / "kineto"):
        comparison = Comparison(tool, cases)
        for reference in references:
            comparison.trace(reference.name, lambda: figures_of(reference, folder))
        comparison.finish()


def trace_of(name):
    """The trace of a reference: dlrm_8rank__worker0 is the file worker0 of the folder dlrm_8rank."""
    path = TRACES / "kineto" / Path(*name.removesuffix(".json.gz").split("__"))
    for suffix in (".json.gz", ".json"):
        if path.with_name(path.name + suffix).exists():
            return path.with_name(path.name + suffix)
    raise Skip(f"no trace of this name: {path}")
