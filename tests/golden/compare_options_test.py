"""What compare does with what it is asked: options that say nothing in a mode are refused and not ignored, a phase that
is not there is named, files of baselines that do not fit together are refused, and tables say what their rows are."""
import json

from trace_cases import as_json, edit_database, equal, ingest, make_trace, refused, require, run

SHAPE = ("--layers", 3, "--steps", 12, "--mix", "P,D*5", "--batch", 8, "--tensor-parallel", 2, "--vendor", "amd")


class Pair:
    def __init__(self, folder):
        self.folder = folder
        self.a, self.b = (ingest(make_trace(folder / f"{name}.json", *SHAPE, "--seed", seed, *more), folder / f"{name}.tracedb")
                          for name, seed, more in (("a", 3, ()), ("b", 4, ("--slow", "dense_gemm=3"))))

    def compare(self, *options, traces=2):
        return run("trace-query", "compare", *(self.a, self.b)[2 - traces:], *options)

    def refused(self, *options, says, traces=2):
        refused(2, says, "trace-query", "compare", *(self.a, self.b)[2 - traces:], *options)

    def baseline(self):
        path = self.folder / "baseline.json"
        run("trace-query", "compare", self.a, "--save-baseline", path)
        return path


def other_method(pair):
    for option in (("--gate", 5), ("--by", "layer"), ("--normalise", "none"), ("--gate-metric", "busy"),
                   ("--save-baseline", pair.folder / "x.json"), ("--baseline-file", pair.folder / "x.json")):
        pair.refused("--method", "wafer", *option, says=option[0])
    require(not (pair.folder / "x.json").exists(), "a file that was refused is there")


def baseline_options(pair):
    path = pair.baseline()
    for option in (("--section", "ledger"), ("--by", "layer"), ("--normalise", "none")):
        pair.refused("--baseline-file", path, *option, says=option[0], traces=1)
    for option in (("--gate", 5), ("--phase", "decode")):
        pair.refused("--save-baseline", path, *option, says=option[0], traces=1)


def baseline_phase(pair):
    path = pair.baseline()
    both = json.loads(pair.compare("--baseline-file", path, "--json", traces=1).stdout)["sections"][0]["rows"]
    one = json.loads(pair.compare("--baseline-file", path, "--json", "--phase", "dec*", traces=1).stdout)
    equal({row["phase"] for row in both}, {"decode", "prefill"}, "phases")
    equal({row["phase"] for row in one["sections"][0]["rows"]}, {"decode"}, "phases of --phase dec*")


def metric_without_gate(pair):
    pair.refused("--gate-metric", "busy", says="--gate-metric needs --gate")


def no_such_phase(pair):
    result = pair.compare("--section", "ledger", "--phase", "mixed")
    require("--phase mixed: there are decode, prefill" in result.stderr, result.stderr)
    require("nothing is compared" in result.stderr, result.stderr)


def unknown_gate(pair):
    """One prefill step is followed by decode steps: prefill has no period, and no gate passes that in silence."""
    result = pair.compare("--section", "summary", "--gate", 1000, "--gate-metric", "period")
    require("gate: prefill, period: not known for both traces" in result.stderr, result.stderr)
    narrow = pair.compare("--section", "gate", "--gate", 1000, "--gate-metric", "period", "--width", 40).stdout
    require("inconclusive: prefill, period to decode: +" in " ".join(narrow.split()), narrow)


def ledger_rows(pair, by):
    rows = json.loads(pair.compare("--section", "ledger", "--by", by, "--json").stdout)["sections"][0]["rows"]
    keys = [(row["phase"], row.get("layer"), row["item"], row.get("kernel")) for row in rows]
    equal(len(set(keys)), len(keys), f"ledger by {by}: rows with the same name")
    for row in rows:
        whole = row["item"] in ("[concurrent kernels]", "[idle]", "[between steps]", "[span]", "[period]")
        require((row["layer"] is None) == whole, f"ledger by {by}: layer of {row}")


def named_rows(pair):
    for by in ("layer", "layer,op", "layer,role", "kernel"):
        ledger_rows(pair, by)


def named_rest(pair):
    for section in ("ledger", "operations", "layers", "kernels", "steps", "alignment"):
        table = pair.compare("--section", section, "--limit", 2).stdout
        equal(table.count("[others]"), 2, f"{section}: rows [others] of two phases")


def whole_summary(pair):
    table = pair.compare("--section", "summary", "--limit", 2).stdout
    require("\noverall " in table and "[others]" not in table, table)


def one_table_a_phase(pair):
    """A third trace has kernels in every phase that the first candidate has not: they are rows of the same tables."""
    third = ingest(make_trace(pair.folder / "third.json", "--layers", 2, "--steps", 8, "--mix", "P,D*3", "--insert", "sort",
                              "--python-stacks", "off"), pair.folder / "third.tracedb")
    for section in ("ledger", "operations", "layers", "roles", "steps"):
        text = run("trace-query", "compare", "-q", "--section", section, "--limit", 0, pair.a, pair.b, third).stdout
        titles = [line for line in text.splitlines() if line.startswith(f"{section}: ")]
        equal(sorted(titles), [f"{section}: decode", f"{section}: prefill"], "titles of tables")


def few_steps(pair):
    """Two steps give no verdict: the summary says what many layers, operations and kernels say, tables for people leave
    out columns that would say "inconclusive" in every row, and data keeps them."""
    shape = ("--layers", 8, "--steps", 2, "--mix", "D", "--jitter", "0.3")
    a, b = (ingest(make_trace(pair.folder / f"few{seed}.json", *shape, "--seed", seed, *more),
                   pair.folder / f"few{seed}.tracedb") for seed, more in ((3, ()), (4, ("--clock", 1.1))))
    rows = as_json("compare", "--section", "summary", a, b)
    told = {row["item"]: row for row in rows["sections"][0]["rows"]}
    require("8 of 8 layers slower, median +" in told["decode: layers"]["verdict"], told["decode: layers"])
    require(8 < told["decode: layers"]["change_pct"] < 12, told["decode: layers"])
    require("operations slower" in told["decode: operations"]["verdict"], told["decode: operations"])
    require("aligned kernels slower" in told["decode: aligned"]["verdict"], told["decode: aligned"])
    back = run("trace-query", "compare", "-q", "--section", "summary", b, a).stdout
    require("8 of 8 layers faster, median -" in back, back)
    for section in ("operations", "layers", "steps"):
        table = run("trace-query", "compare", "-q", "--section", section, a, b).stdout
        require("Verdict" not in table and "95 %" not in table, table)
        named = run("trace-query", "compare", "-q", "--section", section, "--columns", "verdict,low", a, b).stdout
        require("inconclusive" in named, named)
        data = as_json("compare", "--section", section, a, b)
        equal({row["verdict"] for row in data["sections"][0]["rows"]}, {"inconclusive"}, f"{section}: verdicts")
    for name, cause in ((None, "suspect clocks or power"), ("Fancy 9000", "suspect other devices, clocks or power")):
        if name:
            edit_database(b, f"UPDATE device SET name = '{name}'")
        said = run("trace-query", "compare", "-q", "--section", "warnings", "--wide", a, b).stdout
        require(cause in " ".join(said.split()), said)
    unit = ingest(make_trace(pair.folder / "unit.json", *shape, "--seed", 4, "--clock", 100), pair.folder / "unit.tracedb")
    said = run("trace-query", "compare", "-q", "--section", "warnings", "--wide", a, unit).stdout
    require("suspect another unit of time" in " ".join(said.split()), said)
    many = run("trace-query", "compare", "-q", "--section", "summary,operations", pair.a, pair.b, "--phase", "decode").stdout
    require("layers slower" not in many and "Verdict" in many.split("operations")[1], many)


def too_long(pair):
    """More kernels in one sequence than can be laid side by side: what has a partner is unknown, not nothing."""
    trace = pair.folder / "long.json"
    with trace.open("w", encoding="utf-8") as file:
        file.write('{"traceEvents":[')
        for at in range(200_001):
            file.write('%s{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"stream":7}}'
                       % ("," if at else "", at % 7 if at % 3 else at % 11, 2 * at))
        file.write("]}")
    index = ingest(trace, pair.folder / "long.tracedb")
    document = json.loads(run("trace-query", "compare", "-q", "--json", "--section", "summary,warnings,alignment", index,
                              pair.a).stdout)
    sections = {section["section"]: section["rows"] for section in document["sections"]}
    equal(sections["alignment"], [], "pairs")
    aligned = [row for row in sections["summary"] if row["item"].endswith(": aligned")]
    equal([(row["baseline"], row["candidate"]) for row in aligned], [("unknown", "unknown")], "aligned")
    require("too many to align" in json.dumps(sections["warnings"]), "no warning")
    require("only the candidate has steps: each is compared with the whole of the other trace" in json.dumps(sections),
            "not said that whole steps are compared with a trace")
    require("has a partner" not in json.dumps(sections["warnings"]), "a share of what is unknown")


def main(cases, folder):
    pair = Pair(folder)
    cases.each((other_method, baseline_options, baseline_phase, metric_without_gate,
                no_such_phase, unknown_gate, named_rows, named_rest, few_steps, whole_summary, one_table_a_phase,
                too_long), pair)
