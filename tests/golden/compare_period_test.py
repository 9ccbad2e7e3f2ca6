"""compare sees what happens between steps: the period is the headline beside the span, the account closes over it, and
--gate fails where steps moved apart though every kernel takes as long as before."""
import json
from pathlib import Path

from compare_cases import check_closure, check_mirror, compare, ledger_total
from made_events import call, event, index_of, kernel
from trace_cases import as_json, equal, ingest, make_trace, require, run

APART = 26_000_000  # ns from step to step
COMMON = ("--layers", 2, "--steps", 12, "--batch", 8, "--seed", 5, "--python-stacks", "off")


def moved_apart(path, moved, ns, before=""):
    """The same trace with each step and all that belongs to it later by `ns` more than the one before, or each step of
    the kind `before`."""
    steps = json.loads(Path(f"{path}.truth.json").read_text(encoding="utf-8"))["steps"]
    document = json.loads(path.read_text(encoding="utf-8"))
    starts = [step["ts"] for step in steps[1:] if before in ("", step["kind"])]
    for event in document["traceEvents"]:
        if event.get("ph") == "X" or event.get("ph") in ("s", "f"):
            at = round(event["ts"] * 1000)
            event["ts"] += sum(start <= at for start in starts) * ns / 1000
    moved.write_text(json.dumps(document), encoding="utf-8")
    return moved


def pair(folder, mix):
    path = make_trace(folder / "near.json", *COMMON, "--mix", mix)
    near = ingest(path, folder / "near.tracedb")
    return near, ingest(moved_apart(path, folder / "far.json", APART), folder / "far.tracedb")


def gate(*arguments):
    done = run("trace-query", "compare", "--section", "summary", *arguments, check=False)
    return done.returncode, done.stderr


def summary_of(*sides):
    return {row["item"]: row for row in compare(*sides, "--section", "summary")["summary"]}


def check_summary(near, far):
    rows = summary_of(near, far)
    require(rows["decode: period"]["verdict"] == "worse", rows["decode: period"])
    require(rows["decode: span"]["verdict"] == "same", rows["decode: span"])
    require(abs(rows["decode: span"]["change_pct"]) < 0.1, rows["decode: span"])
    require(rows["decode: tokens/s"]["change_pct"] < -90, rows["decode: tokens/s"])
    # More than a fifth of it is of too few: the one gap before another kind of steps, and two steps of that.
    equal(rows["overall"]["verdict"], "inconclusive: decode: 1/1 steps", "overall")
    equal(rows["overall: span"]["verdict"], "inconclusive: prefill: 2/2 steps", "overall by span")
    for options, expected in (((), False), (("--normalise", "token"), True)):
        text = " ".join(run("trace-query", "compare", "-q", near, far, *options).stdout.split())
        equal(" A token takes " in text, expected, f"{options}: {text[:300]}")


def check_ledger(near, far):
    for by in ("op", "layer", "layer,op", "kernel"):
        rows = check_closure(compare(near, far, "--section", "ledger", "--by", by)["ledger"])["decode"]
        (between,) = [row for row in rows if row["item"] == "[between steps]"]
        require(abs(between["change"] - APART) <= 1000, f"by {by}: {between}")
        equal(between["change"], between["duration_effect"], f"by {by}: effect of what lies between steps")
        require(abs(ledger_total(rows, "[span]")["change"]) < 1000, f"by {by}: the span")
        equal(rows[0], between, f"by {by}: the largest change")
    check_mirror(compare(near, far, "--section", "all"), compare(far, near, "--section", "all"))


def check_gate(near, far):
    code, said = gate(near, far, "--gate", 5)
    equal(code, 1, f"--gate 5: exit, {said}")
    require("decode, period" in said and "exceeds 5 %" in said, said)
    equal(gate(near, far, "--gate", 5, "--gate-metric", "worse")[0], 1, "--gate-metric worse: exit")
    equal(gate(near, far, "--gate", 5, "--gate-metric", "span")[0], 0, "--gate-metric span: exit")
    equal(gate(far, near, "--gate", 5)[0], 0, "the other way round: exit")


def check_file(near, far, folder, what="decode, period"):
    path = folder / "baseline.json"
    run("trace-query", "compare", near, "--save-baseline", path)
    for side, code in ((far, 1), (near, 0)):
        run("trace-query", "compare", side, "--baseline-file", path, "--gate", 5, code=code)
    require(what in run("trace-query", "compare", far, "--baseline-file", path, "--gate", 5, check=False).stderr,
            "the gate against a file does not name the period")


def made(folder, name, *options):
    path = make_trace(folder / f"{name}.json", *COMMON[:-2], "--mix", "D", *options)
    return ingest(path, folder / f"{name}.tracedb")


def warnings_of(*sides):
    return [row for row in compare(*sides, "--section", "warnings")["warnings"] if row["code"] == "recording"]


def check_host(folder):
    """A gap in which the host works and its calls are recorded: the period is what it is, with that caveat."""
    near = made(folder, "near", "--python-stacks", "on")
    for name, calls, what in (("stacks", ("--python-stacks", "on"), "python stacks"),
                              ("shapes", ("--python-stacks", "off", "--shapes", "on"), "shapes")):
        usual = near if name == "stacks" else made(folder, "usual", *calls)
        waits = made(folder, name, *calls, "--step-gap", APART, "--gap-calls", 12000)
        code, said = gate(usual, waits, "--gate", 5)
        equal(code, 1, f"{name}: --gate 5: exit, {said}")
        require(" for the recording host, " in said and " of the period, " in said and " 120" in said, f"{name}: {said}")
        longer = made(folder, f"{name}_longer", *calls, "--step-gap", 2 * APART, "--gap-calls", 12000)
        for before, explains in ((usual, True), (waits, False)):  # as many calls explain no change
            page = " ".join(run("trace-query", "compare", "-q", before, longer).stdout.split())
            equal(f"part of it is the recording of {what}: 12," in page, explains, f"{name} after {before.name}: {page[:400]}")
        rows = summary_of(usual, waits)
        equal(rows["decode: period"]["verdict"], "worse", f"{name}: period")
        equal(rows["decode: span"]["verdict"], "same", f"{name}: span")
        calls, _, rest = rows["decode: recorded calls"]["candidate"].partition(" ")
        require(rest == "in 11 gaps" and 0 <= int(calls) - 11 * 12000 < 11 * 100, f"{name}: {calls} {rest}")
        (warning,) = [row for row in warnings_of(usual, waits) if row["side"] == "candidate"]
        require(what in warning["text"] and f"({int(calls):,} recorded calls in 11 gaps)" in warning["text"], warning)
        table = run("trace-query", "compare", "-q", "--section", "summary", usual, waits).stdout
        require("for the recording host" in table, table)
        check_mirror(compare(usual, waits, "--section", "all"), compare(waits, usual, "--section", "all"))


def check_recorded_differently(folder):
    near = made(folder, "with", "--python-stacks", "on", "--step-gap", APART, "--gap-calls", 12000)
    far = made(folder, "without", "--python-stacks", "off")
    for sides in ((near, far), (far, near)):
        rows = summary_of(*sides)
        equal(rows["decode: period"]["verdict"], "inconclusive: recorded differently", "period")
        equal((rows["decode: span"]["verdict"], rows["overall"]["verdict"]), ("same", "same"), "span and overall")
        require("overall: span" not in rows, "overall is by span alone")
        code, said = gate(*sides, "--gate", 5)
        equal(code, 0, f"--gate 5: exit, {said}")
        require("decode, period: recorded differently: judged by span" in said, said)
        require(any(row["side"] == "both" and "python stacks" in row["text"] for row in warnings_of(*sides)),
                "no warning that periods are not compared")
        path = folder / "baseline.json"
        run("trace-query", "compare", sides[0], "--save-baseline", path)
        done = run("trace-query", "compare", sides[1], "--baseline-file", path, "--gate", 5)
        require("recorded differently: judged by span" in done.stderr, done.stderr)
    slow = made(folder, "slow", "--python-stacks", "off", "--slow", "dense_gemm=2")
    equal(gate(near, slow, "--gate", 5)[0], 1, "--gate 5 by span: exit")


def check_old_file(folder):
    """A baseline file of before says nothing of how its trace was recorded: it is compared as it was."""
    near = made(folder, "old", "--python-stacks", "on")
    path = folder / "old_baseline.json"
    run("trace-query", "compare", near, "--save-baseline", path)
    text = json.loads(path.read_text(encoding="utf-8"))
    equal(text.pop("recording"), {"stacks": True, "shapes": False}, "what the file says of recording")
    for kind in text["kinds"]:
        del kind["waits"]
    path.write_text(json.dumps(text), encoding="utf-8")
    other = made(folder, "other", "--python-stacks", "off")
    rows = as_json("compare", other, "--baseline-file", path)["sections"][0]["rows"]
    equal({row["verdict"] for row in rows if row["metric"] == "period"}, {"same"}, "verdict of the period")


def check_alone(folder):
    """Steps that never follow one of their kind have no period, and the account closes over the span; what lies between
    them and those of the other kind is compared, and judged."""
    near, far = pair(folder, "P,D")
    for phase, rows in check_closure(compare(near, far, "--section", "ledger")["ledger"]).items():
        equal(ledger_total(rows, "[period]"), None, f"{phase}: period")
    rows = summary_of(near, far)
    require("decode: span" in rows and "decode: period" not in rows, rows.keys())
    for item in ("decode: period to prefill", "prefill: period to decode", "overall"):
        require(rows[item]["verdict"] == "worse", rows[item])
    equal(rows["overall: span"]["verdict"], "same", "overall by span")
    code, said = gate(near, far, "--gate", 5)
    equal(code, 1, f"--gate 5: exit, {said}")
    require("gate: decode, period to prefill: +" in said and "prefill, period to decode" in said, said)
    equal(gate(near, far, "--gate", 5, "--gate-metric", "period")[0], 1, "--gate-metric period: exit")
    equal(gate(near, far, "--gate", 5, "--gate-metric", "span")[0], 0, "--gate-metric span: exit")
    equal(gate(far, near, "--gate", 5)[0], 0, "the other way round: exit")
    check_mirror(compare(near, far, "--section", "all"), compare(far, near, "--section", "all"))
    check_file(near, far, folder, "decode, period to prefill")


def check_return(folder):
    """A long gap before each prefill alone: the period from decode to decode does not know it."""
    path = make_trace(folder / "near.json", *COMMON[:3], "24", *COMMON[4:], "--mix", "P,D*3")
    near = ingest(path, folder / "near.tracedb")
    far = ingest(moved_apart(path, folder / "far.json", APART, "prefill"), folder / "far.tracedb")
    rows = summary_of(near, far)
    for item in ("decode: period", "prefill: period to decode", "overall: span"):
        equal(rows[item]["verdict"], "same", item)
    for item in ("decode: period to prefill", "overall"):
        equal(rows[item]["verdict"], "worse", item)
    equal(gate(near, far, "--gate", 5)[0], 1, "--gate 5: exit")


def check_before_others(folder):
    """Longer waits before prefill steps, of no decode step's period: sets, their file and a trend judge them as a pair does."""
    sides = {name: folder / name for name in ("a", "b", "all")}
    for place in sides.values():
        place.mkdir()
    for i in range(12):
        path = make_trace(folder / f"{i:02}.json", "--layers", 2, "--steps", 28, "--batch", 8, "--seed", i, "--python-stacks", "off", "--mix", "P,D*3")
        name = f"{i:02}.json"
        moved = moved_apart(path, sides["all"] / name, 2_000_000 if i > 5 else 0, "prefill")
        moved.write_text(json.dumps(json.loads(moved.read_text()) | {"baseTimeNanoseconds": 1_750_000_000_000_000_000 + i * 10 ** 14}))
        for side, own in (("a", i < 3), ("b", i > 8)):
            if own:
                (sides[side] / name).write_bytes((sides["all"] / name).read_bytes())
    for place in sides.values():
        run("trace-ingest", "--quiet", place)
    a, b = sides["a"], sides["b"]
    run("trace-query", "compare", "--baseline", a, "--save-baseline", folder / "week.json")
    for name, words in {"pair": ("compare", a / "00.json", b / "09.json"), "sets": ("compare", a, b), "one phase": ("compare", a, b, "--phase", "decode"),
                        "file": ("compare", b / "09.json", "--baseline-file", folder / "week.json"), "trend": ("trend", sides["all"])}.items():
        done = run("trace-query", *words, "--gate", 3, check=False)
        said = " ".join((done.stdout + done.stderr).split())
        equal(done.returncode, 1, f"{name}: exit, {said}")
        require("period to prefill" in said or "decode to prefill" in said, f"{name}: {said}")
    equal(run("trace-query", "compare", b, a, "--gate", 3, check=False).returncode, 0, "the other way round")
    def series_of(place):
        return next(section["rows"] for section in as_json("trend", place, "--phase", "decode")["sections"] if section["section"] == "series")
    series = series_of(sides["all"])
    equal([(row["series"].rpartition(", ")[2], row["changes"]) for row in series], [("decode", 0), ("decode to prefill", 1)], "series")
    equal(len(series_of(a)), 1, "series of what did not change")


def served(path, number, steps):
    """The index of a run on a day of its own, of steps (prefill tokens or None, requests, us, us of waiting behind)."""
    events, at = [], 1000
    for i, (tokens, requests, dur, wait) in enumerate(steps):
        mark = f"0(0)_generation_{requests}({requests})" if tokens is None else f"1({tokens})_generation_0(0)"
        dur += (7 * number + 3 * i) % 5
        events += [event("user_annotation", f"execute_context_{mark}", at, dur + 9), call("cudaLaunchKernel", at + 1, 2, i + 1),
                   kernel("gemm", at + 5, dur, correlation=i + 1)]
        at += dur + 10 + wait
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events, "baseTimeNanoseconds": 1_750_000_000_000_000_000 + number * 10 ** 14}))
    run("trace-ingest", "-q", path)


def check_no_alarm_before_others(folder):
    """Of runs that differ in warm-up, stalls and mixes of prompts alone no gate fails or is left open by steps before another kind."""
    decode = (None, 8, 400, 0)

    def warm(i):
        return [(64, 0, 900 * (1 + 5 * (7 * i % 10)), 0)] + [decode] * 3 + ([(64, 0, 900, 0)] + [decode] * 3) * 12

    def stalled(i):
        return [(64, 0, 900, 9000 if (n + i) % 11 == 5 and i % 3 else 0) if n % 4 == 0 else decode for n in range(60)]

    def mixed(i):
        prompts = [4096 if n < 7 + (i % 4) * 2 else 512 for n in range(20)]
        return [one for tokens in prompts for one in ((tokens, 0, tokens, 0), *[decode] * 3)]
    for name, steps in (("warm", warm), ("stalled", stalled), ("mixed", mixed)):
        for i in range(10):
            served(folder / f"{name}-{i % 2}" / f"{i}.json", i, steps(i))
        done = run("trace-query", "compare", folder / f"{name}-0", folder / f"{name}-1", "--gate", 3, check=False)
        said = " ".join(done.stdout.split())
        require(done.returncode == 0 and "gate 3 %: passed: " in said, f"{name}: {said}")
    once = folder / "once" / "0.json"
    served(once, 0, ([decode] * 3 + [(None, 8, 400, 0), (64, 0, 900, 0)]) * 8 + [decode] * 3 + [(None, 8, 400, 99000), (64, 0, 900, 0)])
    require("until another kind begins" not in run("trace-query", "phases", once).stderr, "one stall is no other population")
    for i in range(8):
        served(folder / f"few-{i % 2}" / f"{i}.json", i, ([decode] * 5 + [(None, 8, 400, 3000 * (i % 2)), (64, 0, 900, 0)]) * 2)
    warnings = as_json("compare", folder / "few-0", folder / "few-1")["warnings"]
    require("decode to prefill: not judged: no run of the baseline has a level" in warnings, warnings)


def check_trend_of_others(folder):
    """Waits behind prefill steps are in no period of decode steps, but in the trend."""
    for i in range(14):
        served(folder / "after" / f"{i:02}.json", i, ([(64, 0, 900, 800 * (i > 6))] + [(None, 8, 400, 0)] * 3) * 5)
    after = run("trace-query", "trend", folder / "after", "--phase", "decode", "--gate", 3, check=False)
    require(after.returncode == 1 and "prefill to decode: +" in after.stderr, after.stdout + after.stderr)


def check_trend_of_loads(folder):
    """A load that varies by one within runs and halves between them: steps within runs do not tell what that does."""
    for i in range(14):
        served(folder / "halved" / f"{i:02}.json", i, [(None, (60 if i < 7 else 34) + n % 3 - 1, 400, 0) for n in range(12)])
    halved = run("trace-query", "trend", folder / "halved", "--gate", 3, check=False)
    require(halved.returncode == 1 and "loads more than 10 % apart" in halved.stderr, halved.stdout + halved.stderr)


def check_populations(folder):
    """Decode steps before another kind take eight times as long as the others, and in one trace half as long again: they are in
    no period, which is said where periods are."""
    def made(name, factor):
        events, at = [], 1000
        for number, (mark, dur) in enumerate((("0(0)_generation_8(8)", 800 * factor), ("1(64)_generation_0(0)", 50),
                                              *[("0(0)_generation_8(8)", 100)] * 2) * 8):
            dur += number % 5
            events += [event("user_annotation", f"execute_context_{mark}", at, dur + 9), call("cudaLaunchKernel", at + 1, 2, number + 1),
                       kernel("gemm", at + 5, dur, correlation=number + 1)]
            at += dur + 10
        return index_of(folder / f"{name}.json", events)
    a, b = made("a", 1), made("b", 1.5)
    said = " ".join(run("trace-query", "compare", "-q", a, b).stdout.split())
    require("- Of steps that another kind follows: period to prefill +49." in said, said)
    require(any("decode: 8 of 24 steps take 812 us until another kind begins" in one for one in as_json("phases", a)["warnings"]), as_json("phases", a)["warnings"])
    require("8 take 812 us until another kind begins" in " ".join(run("trace-query", "report", a, "--format", "table").stdout.split()), "report")


def main(cases, folder):
    near, far = pair(folder, "P,D*5")
    cases.each((check_summary, check_ledger, check_gate), near, far)
    cases.run("check file", check_file, near, far, folder)
    for check in (check_alone, check_return, check_before_others, check_no_alarm_before_others, check_trend_of_others, check_trend_of_loads, check_populations, check_host, check_recorded_differently, check_old_file):
        cases.run_apart(check.__name__.replace("_", " "), check)
