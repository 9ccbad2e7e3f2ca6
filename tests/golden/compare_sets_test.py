"""Sets of runs: compare --baseline X... --candidate Y..., and two folders. The statistics have unit tests on generated
sums; here they are asked through files: false alarms, a planted change, ranks of jobs, pairs, gates, wrong use."""
import gzip
import json
import re
import shutil
from pathlib import Path

from compare_cases import compare as compare_two
from trace_cases import equal, require, run

COMMON = {"--layers": 4, "--steps": 14, "--mix": "D", "--python-stacks": "off", "--batch": 16, "--run-noise": 1,
          "--step-gap": 100_000}


def make_runs(folder, runs, seed, *options):
    """Runs of one job, without their truth, ingested."""
    folder.mkdir(exist_ok=True)
    asked = {**COMMON, "--seed": seed, "--runs": runs, **dict(zip(options[::2], options[1::2]))}
    run("make-trace", *(word for option in asked.items() for word in option), folder / "run.json")
    for truth in folder.glob("*.truth.json"):
        truth.unlink()
    run("trace-ingest", "--quiet", folder)
    return sorted(folder.glob("run-*.json"), key=lambda path: int(path.stem.split("-")[1]))


def compare(*arguments):
    """{section: rows} of two sets."""
    document = json.loads(run("trace-query", "compare", "-q", "--json", *arguments).stdout)
    equal(document["schema"], "tracedb.compare_sets/1", "schema")
    check_shape(document)
    return {name: rows for name, rows in document.items() if name not in ("schema", "inputs", "sections", "warnings")}


def check_shape(document):
    """As its JSON Schema has it."""
    schema = json.loads(run("trace-query", "schema", "--json-schema", "compare_sets").stdout)["properties"]
    equal(schema["sections"], {"type": "array", "maxItems": 0}, "sections")
    for name, rows in document.items():
        if name not in ("schema", "inputs", "sections", "warnings"):
            required = set(schema[name]["items"]["required"])
            require(all(set(row) == required for row in rows), f"{name}: {rows[:1]}, not {required}")
    require(all((row["speed_pct"] is None) == (row["period_at_equal_speed"] is None) for row in document["runs"]), "what is not known is null")


def compare_sets(baseline, candidate, *options):
    return compare("--baseline", *baseline, "--candidate", *candidate, *options)


def alarmed(row):
    return row["verdict"] in ("worse", "better")


def check_false_alarms(folder):
    """20 sets of 3 + 3 runs of one job. 5 % of them and two sigma of chance are 2.9 of 20."""
    runs = make_runs(folder / "same", 120, 11)
    alarms = {"period": 0, "period at equal speed": 0}
    reasons = 0
    for first in range(0, 120, 6):
        found = compare_sets(runs[first:first + 3], runs[first + 3:first + 6])
        for row in found["verdict"]:
            alarms[row["metric"]] += alarmed(row)
        reasons += bool(found["reasons"])
        check_closed(found)
    require(all(count <= 2 for count in alarms.values()), alarms)
    require(reasons <= 2, f"reasons in {reasons} of 20")


def check_closed(found):
    total = {}
    for row in found["ledger"]:
        if row["item"] == "[all steps]":
            require(abs(total.pop(row["phase"]) - row["change"]) == 0, row)
            require(abs(row["candidate"] - row["baseline"] - row["change"]) <= 1, row)
        else:
            total[row["phase"]] = total.get(row["phase"], 0) + row["change"]
    equal(total, {}, "phases whose rows have no total")


def mirrored(found):
    """What the sides swapped must say, exactly."""
    out = {"verdict": [], "ledger": []}
    for row in found["verdict"]:
        swapped = {"worse": "better", "better": "worse"}
        out["verdict"].append((row["metric"], row["candidate"], row["baseline"],
                               swapped.get(row["verdict"], row["verdict"])))
    for row in found["ledger"]:
        ends = [None if row[end] is None else -row[end] for end in ("high", "low")]
        out["ledger"].append((row["item"], row["candidate"], row["baseline"], -row["change"], *ends, row["q_value"]))
    return out


def as_mirrored(found):
    return {"verdict": [(row["metric"], row["baseline"], row["candidate"], row["verdict"])
                        for row in found["verdict"]],
            "ledger": [(row["item"], row["baseline"], row["candidate"], row["change"], row["low"], row["high"],
                        row["q_value"]) for row in found["ledger"]]}


def check_planted_change(folder):
    """One matrix product takes 30 % longer: 2 % of the period. It is seen, and is the first reason."""
    baseline, candidate = make_runs(folder / "a", 5, 1), make_runs(folder / "b", 5, 2, "--slow", "qkv_gemm=1.3")
    found = compare_sets(baseline, candidate)
    equal([row["verdict"] for row in found["verdict"] if row["metric"] == "period at equal speed"], ["worse"], "verdict")
    first = found["reasons"][0]
    equal((first["item"], first["runs_agreeing"], first["run_pairs"]), ("dense_gemm (qkv_proj)", 25, 25), "reason")
    longer = 0.3 * first["baseline"]
    require(abs(first["change"] - longer) < 0.1 * longer, first)
    require(first["low"] <= longer <= first["high"] or abs(first["change"] - longer) < 0.03 * longer, first)
    check_closed(found)
    equal(as_mirrored(compare_sets(candidate, baseline)), mirrored(found), "the sides swapped")
    equal(as_mirrored(compare_sets(baseline[::-1], candidate[2:] + candidate[:2])), as_mirrored(found), "another order")
    equal(compare(folder / "a", folder / "b"), found, "two folders")
    for options, code, said in ((("--gate", 1), 1, "gate 1 %: FAILED: decode, period"), (("--gate", 10), 0, "passed"),
                                (("--gate", 1, "--gate-metric", "period-at-equal-speed"), 1, "at equal speed: +"),
                                (("--gate", 1.2, "--gate-strict"), 0, "inconclusive")):
        done = run("trace-query", "compare", folder / "a", folder / "b", *options, code=code)
        require(said in " ".join(done.stdout.split()), f"{options}: {done.stdout}")
    page = run("trace-query", "compare", folder / "a", folder / "b", "--width", 80).stdout
    require(page.count("\n") <= 30 and all(len(line) <= 80 for line in page.splitlines()), page)
    stalled = [row["rare_steps"] for row in found["runs"]]
    require(1 in stalled and max(stalled) == 1, f"stalled steps: {stalled}")


def check_level_of_a_run(folder):
    """Two runs a side have no speed, and decode steps of one batch no slope of load: the level of a run is the mean
    period that `compare` of two traces finds."""
    runs = make_runs(folder / "a", 4, 5)
    found = compare_sets(runs[:2], runs[2:])
    (total,) = [row for row in compare_two(runs[0], runs[1], "--section", "ledger")["ledger"] if row["item"] == "[period]"]
    levels = [row["period"] for row in found["runs"] if row["side"] == "baseline"]
    for level, period in zip(levels, (total["baseline"], total["candidate"])):
        require(abs(level - period) <= 1, f"{level} against {period}")
    equal((found["verdict"][1]["low"], found["verdict"][1]["reason"]), (None, "fewer than 3 runs a side"), "speed of two runs")


def check_pairs(folder):
    baseline, candidate = make_runs(folder / "a", 4, 6), make_runs(folder / "b", 3, 7)
    by_date = compare_sets(baseline[::-1], candidate, "--paired")
    by_name = compare_sets(baseline, candidate, "--pair-by", "name")
    equal(by_date, by_name, "pairs by date and by name")
    left = [row["name"] for row in by_date["sets"] if row["left_out"]]
    equal(left, ["run-4.json"], "the run without a partner")
    equal({row["run_pairs"] for row in by_date["ledger"] if row["item"] != "[all steps]"}, {3}, "pairs")
    baseline[0].write_text(re.sub(r'("baseTimeNanoseconds":) *\d+', r"\1 1000000000", baseline[0].read_text()))
    dates = [row["date"] for row in compare_sets(baseline, candidate)["sets"]]
    equal([date is None for date in dates], [True] + [False] * 6, f"only of a clock without an epoch the date is not known: {dates}")


def check_jobs(folder):
    """The ranks of a job are one run, whichever folders they lie in."""
    for side, more in (("a", ()), ("b", ()), ("c", ("--late", "1:compute:300000"))):
        for number in range(3):
            (folder / side).mkdir(exist_ok=True)
            run("make-trace", "job", "--ranks", 2, "--seed", 10 * number + ord(side), *more, folder / side / f"night{number}")
    for truth in folder.glob("*/*.truth.json"):
        truth.unlink()
    found = compare(folder / "a", folder / "b")
    equal([row["traces"] for row in found["sets"]], [2] * 6, "traces of a run")
    require(all(row["baseline_runs"] == 3 for row in found["verdict"]), found["verdict"])
    one = run("trace-query", "compare", folder / "a/night0", folder / "b/night0", "--gate", 50)
    require("one run a side: run-to-run variance is unknown" in " ".join(one.stdout.split()) and "[job]" in one.stdout, one.stdout)
    late = text_of(folder / "a", folder / "c")
    require("[exposed communication], with waiting for other ranks: +" in late, late)


def refused(*arguments, code=2):
    done = run("trace-query", "compare", *arguments, code=code)
    require(len(done.stderr.splitlines()) == 1 or code != 2, done.stderr)
    return done.stderr


def check_wrong_use(folder):
    a, b = make_runs(folder / "a", 3, 1), make_runs(folder / "b", 3, 2)
    other = make_runs(folder / "c", 2, 3, "--vendor", "nvidia")
    said = refused(*a, "--", *b)
    require(f"compare --baseline {' '.join(map(str, a))} --candidate {' '.join(map(str, b))}" in said, said)
    copy = Path(shutil.copy(a[0], folder / "copy.json"))
    require("are one trace" in refused("-q", "--baseline", *a, "--candidate", *b, copy), "the same trace twice")
    said = refused("--baseline", *a, other[0], "--candidate", *b)
    require("of several kinds: GPU: " in said and "run-1.json" in said and "--mixed" in said, said)
    run("trace-query", "compare", "--baseline", *a, other[0], "--candidate", *b, "--mixed")
    require("no run of that name" in refused(folder / "a", folder / "b", "--leave-out", "nobody"), "--leave-out")
    require("is left" in refused(folder / "a", folder / "b", "--leave-out", "run-*"), "all left out")
    require("--candidate is not given" in refused("--baseline", *a), "one side")
    require("sets of runs" in refused(folder / "a", folder / "b", "--by", "op"), "--by")
    require("sets of runs" in refused(a[0], b[0], "--paired"), "--paired with two traces")
    broken = folder / "broken.json"
    broken.write_text("no trace")
    done = run("trace-query", "compare", "--baseline", *a, broken, "--candidate", *b, "--gate", 50, code=3)
    require("broken.json" in done.stderr and "3 and 3 runs" in " ".join(done.stdout.split()), done.stderr)
    refused("--baseline", broken, folder / "none.json", "--candidate", *b, code=3)
    speeds = run("trace-query", "compare", "--baseline", *a, "--candidate", *other).stdout
    require("another GPU" in " ".join(speeds.split()), speeds)
    # A trace of PyTorch's profiler that names no framework may be of any.
    for known, renamed, differs in (('"vllm::', '"own::', False), ('"own::', '"sgl::', True)):
        for path in a:
            path.write_text(path.read_text().replace(known, renamed))
        equal("another framework" in text_of("--baseline", *a, "--candidate", *b), differs, renamed)


def text_of(*arguments, **options):
    return " ".join(run("trace-query", "compare", "-q", *arguments, **options).stdout.split())


def check_not_surer(folder):
    """What is not known is not said: another load that no run tells the effect of, rare steps, a gate's own metric, kinds of
    time that a side does not have."""
    a = make_runs(folder / "a", 5, 1)
    more = make_runs(folder / "more", 5, 2, "--batch", 17)
    found = compare_sets(a, more, "--gate", 2, "--gate-inconclusive", "pass")
    require("the load differs by 6.2 %" in found["verdict"][0]["reason"], found["verdict"][0])
    equal((found["gate"][-1]["outcome"], found["reasons"]), ("inconclusive", []), "another load")
    scattered = [make_runs(folder / f"batch{batch}", 2, batch, "--batch", batch) for batch in (15, 16, 17)]
    judged = compare_sets([runs[0] for runs in scattered], [runs[1] for runs in scattered[::-1]])["verdict"][0]
    require(judged["low"] is not None, f"loads that scatter alike on both sides: {judged}")
    many = make_runs(folder / "many", 20, 3)
    stalled = [run for i, run in enumerate(many, 1) if i % 3 == 0]
    text = text_of("--baseline", *(run for run in many[:8] if run not in stalled), "--candidate", *stalled[:5], "--gate", 5)
    require("; without rare long steps, which add +" in text, f"the gate is of regular steps: {text}")
    require("Without rare long steps, which add " in text and "the candidate has 5 of" in text, text)
    require("No part is sure" not in text, text)
    mirrored = text_of("--baseline", *stalled[:5], "--candidate", *(run for run in many[:8] if run not in stalled))
    require("% more to the baseline (the candidate has 0 of" in mirrored, mirrored)
    clock = make_runs(folder / "clock", 5, 4, "--clock", 1.06)
    slow = make_runs(folder / "slow", 2, 9, "--slow", "qkv_gemm=2")
    candidate = [run for i, run in enumerate(many[9:17], 10) if i % 3 != 0] + slow[:1]
    told = text_of("--baseline", *many[:9], "--candidate", *candidate).split("Runs that stand out candidate run-1.json, ")
    require(told[-1].startswith("decode: dense_gemm (qkv_proj): ") and "[rare steps]" in told[-1], f"rare steps come last: {told[-1]}")
    text = text_of("--baseline", *a, "--candidate", *clock, "--gate", 2, "--gate-metric", "period-at-equal-speed")
    require("gate 2 %: passed: decode, period at equal speed: " in text, text)
    norms = compare_sets(a, make_runs(folder / "norms", 5, 5, "--slow", "norm=1.3"))
    require(norms["reasons"] and all(row["item"].startswith("norm") for row in norms["reasons"]), norms["reasons"])
    mixed = ("--mix", "P,D,P,D,D,P,D,P,D,P")
    apart = compare_sets(a, make_runs(folder / "apart", 5, 6, *mixed), "--phase", "decode")
    equal({row["metric"] for row in apart["verdict"]}, {"span", "span at equal speed"}, "where one side has no periods")
    for row in compare_sets(a[:2], more[:2], "--mixed")["verdict"]:
        require(row["verdict"] == "inconclusive", row)


def check_told(folder):
    """Ranks that are not there, runs that cannot be read, pairs that are none."""
    for side, options in (("a", ()), ("b", ("--missing", 1))):
        (folder / side).mkdir()
        for number in range(2):
            run("make-trace", "job", "--ranks", 3, "--seed", 5 * number + ord(side), *options, folder / side / f"n{number}")
    for truth in folder.glob("*/*.truth.json"):
        truth.unlink()
    found = compare(folder / "a", folder / "b")
    equal(sum("1 of 3 ranks are not there (1)" in text for text in json.loads(run(
        "trace-query", "compare", "-q", "--json", folder / "a", folder / "b").stdout)["warnings"]), 2, "missing ranks")
    equal(len(found["sets"]), 4, "runs")
    more = text_of(folder / "a", folder / "b").replace(" \\ ", " ").split(": waiting and transfer) ")[1]
    require(re.fullmatch(r"trace-query compare --baseline \S+/a/n\d --candidate \S+/b/n\d", more), f"two jobs: {more}")
    require(run(*more.split(), "-q").stdout.startswith("a step takes "), more)
    c, d = make_runs(folder / "c", 3, 1), make_runs(folder / "d", 3, 2)
    d[0].write_text("no trace")
    Path(f"{d[0]}.tracedb").unlink()
    done = run("trace-query", "compare", "--baseline", *c, "--candidate", *d, "--paired", check=False)
    text = " ".join(done.stdout.split())
    require("cannot be read, and is left out" in text and "a pair is not of one night" in text, text)
    equal((done.returncode, done.stderr.count("trace-query: ")), (3, 1), f"a run that cannot be read: {done.stderr}")
    require("one trace: a run counts once" in refused("-q", "--candidate", *c, "--baseline-file", saved(folder, c)), "a file's runs")
    one = run("trace-query", "compare", "-q", "--baseline", c[0], "--candidate", c[1], "--runs").stdout
    require("run-1.json" in one and "At equal speed" in one, one)
    require("no such file" in refused(folder / "c", folder / "nowhere", code=3), "a folder that is not there")
    require("--phase train: there are " in refused(folder / "c", folder / "a", "--mixed", "--phase", "train"), "a phase that is not there")


def check_worst_phase(folder):
    """The headline and what follows are of the phase that is surely worse by most, not of the longest."""
    usual = ("--mix", "P*4,D*8", "--run-noise", 0.3)
    a, b = make_runs(folder / "a", 3, 1, *usual), make_runs(folder / "b", 3, 2, *usual, "--slow", "attention_decode=2")
    equal([row["phase"] for row in compare_sets(a, b)["verdict"]][::2], ["prefill", "decode"], "the longest first")
    text = text_of("--baseline", *a, "--candidate", *b)
    require(text.startswith("decode: the candidate's period is ") and " slower " in text[:80], text[:200])
    require(text.index(" decode, period: worse") < text.index(" prefill, "), text)
    require(text_of("--baseline", *b, "--candidate", *a).startswith("prefill: "), "nothing is worse")
    fused = text_of("--baseline", *a, "--candidate", *make_runs(folder / "c", 3, 3, *usual, "--fuse", "add+rmsnorm"))
    for reasons in fused.split("Reasons (")[1:]:  # work that moved to another part: both
        require(" elementwise: -" in reasons and " norm: +" in reasons, reasons)


def saved(folder, runs):
    run("trace-query", "compare", "--baseline", *runs, "--save-baseline", folder / "saved.json")
    return folder / "saved.json"


def check_one_run(folder):
    a, b = make_runs(folder / "a", 3, 1), make_runs(folder / "b", 3, 2)
    done = run("trace-query", "compare", "--baseline", a[0], "--candidate", b[0], b[1], "--gate", 2)
    require("run-to-run variance is unknown" in " ".join(done.stdout.split()), done.stdout)
    judged = compare_sets(a, b[:1])["verdict"][0]
    require(judged["low"] < judged["change_pct"] < judged["high"], judged)
    two = run("trace-query", "compare", "--baseline", a[0], "--candidate", b[0]).stdout
    equal(two, run("trace-query", "compare", a[0], b[0]).stdout, "one trace a side")


def check_nothing_to_judge(folder):
    """No number of runs would make a verdict: the gate fails, and there is no figure of what is not known."""
    a, other = make_runs(folder / "a", 3, 1), make_runs(folder / "b", 2, 2, "--layers", 6)[:1]
    sides = ("--candidate", *other, "--baseline-file", saved(folder, a))
    for options, code in (((), 1), (("--gate-inconclusive", "pass"), 0), (("--gate-metric", "period-at-equal-speed"), 1)):
        done = run("trace-query", "compare", *sides, "--gate", 2, *options, code=code)
        require("FAILED, since it could judge nothing" in done.stdout or code == 0, done.stdout)
    period, equal_speed = compare(*sides)["verdict"]
    require("other work" in period["reason"] and period["baseline"] > 0 and period["change_pct"] is None, period)
    equal([equal_speed[key] for key in ("baseline", "candidate", "change_pct")], [None] * 3, "at equal speed, which is not known")
    short = make_runs(folder / "short", 2, 3, "--steps", 3)
    none = compare_sets(a, short, "--mixed")
    equal([(row["candidate_runs"], row["candidate"], row["change_pct"]) for row in none["verdict"]], [(0, None, None)] * 2, "no level")
    refused("--baseline", *a, "--candidate", *short, "--mixed", "--gate", 2, code=1)


def check_architecture(folder):
    """Another architecture is other work for sets, too; a roll-up that is kept says so as well."""
    options = ("--mix", "P,D*6", "--batch", 8)
    a, moe = (make_runs(folder / name, 3, seed, *options, "--moe", on) for name, seed, on in (("a", 1, "off"), ("m", 2, "on")))
    for _ in range(2):
        for row in compare_sets(a, moe, "--phase", "decode")["verdict"]:
            require("other architecture, by its kernels: transformer, against transformer, MoE" in row["reason"], row)
    mixed = ("--baseline", *a, moe[0], "--candidate", *moe[1:])
    said = refused(*mixed)
    require("of several kinds: architecture: " in said and "(--mixed compares them all the same with --allow-different-work)" in said, said)
    for row in compare_sets(a + moe[:1], moe[1:], "--mixed", "--allow-different-work", "--phase", "decode")["verdict"]:
        require(row["change_pct"] is not None or row["metric"] != "period", row)


def check_forms(folder):
    """A run counts once where its profiler wrote it in two forms, or it lies beside itself compressed; that is told."""
    a, b = make_runs(folder / "a", 4, 1), make_runs(folder / "b", 3, 2)
    (folder / "a/run-1.json.gz").write_bytes(gzip.compress(a[0].read_bytes()))
    (folder / "a/other.json.gz").write_bytes(gzip.compress(a[0].read_bytes().replace(b'"ts":', b'"ts": ')))
    for path, name in ((a[2], "two.trace.json"), (a[3], "twotrace_view.json")):
        path.rename(folder / "a" / name)
        Path(f"{path}.tracedb").unlink()
    found = compare(folder / "a", folder / "b")
    equal([row["name"] for row in found["sets"] if row["side"] == "baseline"],
          ["other.json.gz", "run-1.json", "run-2.json", "twotrace_view.json"], "runs")
    equal(compare("--baseline", *(folder / "a").glob("*.*z"), *(folder / "a").glob("*.json"), "--candidate", folder / "b")["verdict"],
          found["verdict"], "named one by one")
    said = run("trace-query", "compare", folder / "a", folder / "b").stdout
    require("2 traces left out: another form of a run that is there" in " ".join(said.split()), said)
    names = json.loads(run("trace-query", "sql", "-q", "--json", folder / "a", "SELECT DISTINCT index_name FROM all_kernel_stats").stdout)
    equal(len(names["rows"]), 4, f"indexes of a folder: {names['rows']}")


def check_two_traces(folder):
    """One trace a side: a stalled step moves no amount out of its own interval."""
    a, b = make_runs(folder / "a", 6, 6), make_runs(folder / "b", 6, 5, "--slow", "attention_decode=1.3")
    judged = 0
    for baseline in a:
        for candidate in (b[2], b[5]):  # they have the stalls
            for row in json.loads(run("trace-query", "compare", "-q", "--json", baseline, candidate).stdout)["reasons"]:
                if row["low"] is None:
                    continue
                judged += 1
                require(row["low"] <= row["change"] <= row["high"], row)
    require(judged >= 10, f"{judged} reasons with an interval")


def check_earlier_runs(folder):
    """One run tonight, judged by the runs of a file and by those of a folder: the variance is theirs."""
    a, b = make_runs(folder / "a", 5, 1), make_runs(folder / "b", 2, 2, "--clock", 1.3)
    file = folder / "week.json"
    run("trace-query", "compare", "--baseline", folder / "a", "--save-baseline", file)
    saved = compare("--candidate", b[0], "--baseline-file", file)
    asked = compare_sets(a, b[:1])
    for section in ("verdict", "ledger", "runs"):
        equal(saved[section], asked[section], f"{section} from a file")
    equal(compare(b[0], "--baseline-file", file), saved, "a candidate without its option")
    for options, code in ((("--baseline-file", file), 1), ((a[1], "--history", folder / "a"), 1)):
        sides = (options[0], b[0], *options[1:]) if options[0] == a[1] else (b[0], *options)
        run("trace-query", "compare", *sides, "--gate", 5, code=code)
    (judged,) = [row for row in compare(a[1], b[0], "--history", folder / "a")["verdict"] if row["metric"] == "period"]
    equal((judged["baseline_runs"], judged["candidate_runs"], judged["verdict"]), (1, 1, "worse"), "by a history")
    mixed = folder / "mixed"
    make_runs(mixed, 2, 3, "--vendor", "nvidia")
    for path in (folder / "a").glob("*.tracedb"):
        shutil.copy(path, mixed / path.name.replace("run-", "other-"))
    told = json.loads(run("trace-query", "compare", "--json", a[1], b[0], "--history", mixed).stdout)
    equal([row for row in told["verdict"] if row["metric"] == "period"], [judged], "a run of another GPU in the history")
    require(any("2 runs of other kinds left out of the history: GPU: " in one for one in told["warnings"]), told["warnings"])
    wide, narrow = judged["high"] - judged["low"], asked["verdict"][0]["high"] - asked["verdict"][0]["low"]
    require(wide > 1.2 * narrow, f"two runs of known variance are less sure than five and one: {wide}, {narrow}")
    run("trace-query", "compare", "--baseline", folder / "a", "--leave-out", "run-[12].json", "--save-baseline", file)
    left = compare("--candidate", b[0], "--baseline-file", file)
    equal([row["name"] for row in left["sets"]], ["run-3.json", "run-4.json", "run-5.json", "run-1.json"], "runs in a file")
    few = run("trace-query", "compare", a[0], b[0], "--history", folder / "b").stdout
    require("3 are needed" in " ".join(few.split()), few)
    whole = file.read_text()
    file.write_text(whole[:len(whole) // 2])
    require("not JSON, or cut off" in refused("--candidate", b[0], "--baseline-file", file, code=3), "a file that is cut off")
    require("no such file" in refused("--candidate", b[0], "--baseline-file", folder / "none.json", code=3), "no file")
    file.write_text(whole.replace("\\t", "\\t?", 3))
    require("save the baseline anew" in refused("--candidate", b[0], "--baseline-file", file, code=3), "a damaged file")


def check_page(folder):
    """HTML: a picture of the runs and a waterfall with intervals, and the tables."""
    a, b = make_runs(folder / "a", 3, 1), make_runs(folder / "b", 3, 2)
    page = folder / "x.html"
    run("trace-query", "compare", "--baseline", *a, "--candidate", *b, "-o", page)
    text = page.read_text()
    for part in ('"kind":"dots"', '"kind":"waterfall"', '"b_names":["run-1.json","run-2.json","run-3.json"]', "Detectable"):
        require(part in text.replace('": ', '":'), part)


def check_cache(folder):
    """A roll-up that is kept says what the trace does; one that is damaged is made anew."""
    a, b = make_runs(folder / "a", 3, 1), make_runs(folder / "b", 3, 2)
    environment = {"TRACEDB_CACHE_DIR": str(folder / "cache"), "PATH": "/usr/bin:/bin"}

    def ask():
        return run("trace-query", "compare", "--json", "--baseline", *a, "--candidate", *b, env=environment).stdout
    first = ask()
    kept = sorted((folder / "cache/runs").iterdir())
    equal(len(kept), 6, "files in the cache")
    equal(ask(), first, "from the cache")
    kept[0].write_bytes(kept[0].read_bytes().replace(b"\t1", b"\t2", 1))
    kept[1].write_bytes(b"")
    equal(ask(), first, "from a damaged cache")


def main(cases, folder):
    cases.each_apart((check_false_alarms, check_planted_change, check_level_of_a_run, check_pairs, check_jobs, check_worst_phase,
                      check_wrong_use, check_not_surer, check_told, check_one_run, check_nothing_to_judge, check_architecture, check_forms, check_two_traces, check_earlier_runs, check_page, check_cache))
