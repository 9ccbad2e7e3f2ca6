"""compare sees what happens between steps: the period is the headline beside the span, the account closes over it, and
--gate fails where steps moved apart though every kernel takes as long as before."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from compare_cases import check_closure, check_mirror, compare, ledger_total  # noqa: E402
from trace_cases import Cases, equal, ingest, make_trace, require, run, scratch_folder  # noqa: E402

APART = 26_000_000  # ns from step to step
COMMON = ("--layers", 2, "--steps", 12, "--batch", 8, "--seed", 5, "--python-stacks", "off")


def moved_apart(path, moved, ns):
    """The same trace with step i and all that belongs to it later by i times `ns`."""
    steps = json.loads(Path(f"{path}.truth.json").read_text(encoding="utf-8"))["steps"]
    document = json.loads(path.read_text(encoding="utf-8"))
    starts = [step["ts"] for step in steps]
    for event in document["traceEvents"]:
        if event.get("ph") == "X" or event.get("ph") in ("s", "f"):
            at = round(event["ts"] * 1000)
            event["ts"] += (sum(start <= at for start in starts) - 1) * ns / 1000
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
    require(rows["overall"]["verdict"] == "worse", rows["overall"])
    equal(rows["overall: span"]["verdict"], "same", "overall by span")


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


def check_file(near, far, folder):
    path = folder / "baseline.json"
    run("trace-query", "compare", near, "--save-baseline", path)
    for side, code in ((far, 1), (near, 0)):
        done = run("trace-query", "compare", side, "--baseline-file", path, "--gate", 5, check=False)
        equal(done.returncode, code, f"{side.name} against a file: exit, {done.stderr}")
    require("decode, period" in run("trace-query", "compare", far, "--baseline-file", path, "--gate", 5,
                                    check=False).stderr, "the gate against a file does not name the period")


def check_alone(folder):
    """Steps that never follow one of their kind have no period: the account closes over the span."""
    near, far = pair(folder, "P,D")
    for phase, rows in check_closure(compare(near, far, "--section", "ledger")["ledger"]).items():
        equal(ledger_total(rows, "[period]"), None, f"{phase}: period")
    items = summary_of(near, far)
    require("decode: span" in items and "decode: period" not in items and "overall: span" not in items, items.keys())
    equal(gate(near, far, "--gate", 5)[0], 0, "the gate on spans alone: exit")


def main():
    cases = Cases()
    with scratch_folder() as folder:
        near, far = pair(folder, "P,D*5")
        for check in (check_summary, check_ledger, check_gate):
            cases.run(check.__name__.replace("_", " "), check, near, far)
        cases.run("check file", check_file, near, far, folder)
    with scratch_folder() as folder:
        cases.run("check alone", check_alone, folder)
    cases.finish()


if __name__ == "__main__":
    main()
