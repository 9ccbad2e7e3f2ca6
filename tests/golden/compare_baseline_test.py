"""A baseline's figures in a file: compare --save-baseline and --baseline-file give what comparing the traces gives."""
import json

from compare_cases import compare
from trace_cases import equal, ingest, make_trace, require, run

COMMON = ("--layers", 2, "--steps", 14, "--mix", "P,D*6", "--batch", 8, "--python-stacks", "off", "--seed", 5)
BAD_INPUT = 3
USAGE = 2


def from_file(folder, *arguments, status=0):
    """The rows, or where there are none what is said on standard error."""
    done = run("trace-query", "compare", "--json", "--limit", 0, *arguments, cwd=folder, code=status)
    return json.loads(done.stdout)["sections"][0]["rows"] if done.stdout else done.stderr


def check_same_as_traces(folder):
    of_file = {(row["phase"], row["metric"]): row for row in from_file(folder, "slow.tracedb", "--baseline-file", "b.json")}
    of_traces = compare(folder / "usual.tracedb", folder / "slow.tracedb", "--section", "steps")["steps"]
    require(of_traces, "no steps compared")
    for row in of_traces:
        equal(of_file[(row["phase"], row["metric"])], row, f"{row['phase']} {row['metric']}")
    gemm = of_file[("decode", "op dense_gemm")]
    require(gemm["verdict"] == "worse" and gemm["ratio"] > 1.4, f"the slower operation: {gemm}")


def check_gate(folder):
    from_file(folder, "usual.tracedb", "--baseline-file", "b.json", "--gate", "1")
    from_file(folder, "slow.tracedb", "--baseline-file", "b.json", "--gate", "5", status=1)
    from_file(folder, "slow.tracedb", "--baseline-file", "b.json", "--gate", "500")


def check_devices(folder):
    whole = json.loads((folder / "b.json").read_text(encoding="utf-8"))
    for devices in (whole["devices"], "8 x another device"):
        (folder / "devices.json").write_text(json.dumps({**whole, "devices": devices}), encoding="utf-8")
        said = run("trace-query", "compare", "usual.tracedb", "--baseline-file", "devices.json", cwd=folder).stderr
        equal(f"against {devices}" in said, devices != whole["devices"], said)


def check_damage(folder):
    """One line, which names the file and what is wrong in it."""
    whole = json.loads((folder / "b.json").read_text(encoding="utf-8"))
    kind = whole["kinds"][0]
    span = kind["samples"]["span"]

    def changed(**members):
        return json.dumps({**whole, "kinds": [{**kind, **members}, *whole["kinds"][1:]]})

    def samples(**members):
        return changed(samples={**kind["samples"], **members})

    for name, text, said in (
            ("empty", "", ""), ("cut", json.dumps(whole)[:-40], ""), ("other", '{"rows": []}', ""), ("list", "[]", ""),
            ("kinds", json.dumps({**whole, "kinds": 5}), ""), ("kind", json.dumps({**whole, "kinds": [5]}), ""),
            ("no number of steps", changed(steps="many"), ""), ("too few steps", changed(steps=1), "not one value for each step"),
            ("no samples", changed(steps=-1, samples={}), "not one value for each step"),
            ("too many steps", changed(steps=200_000_000), "not one value for each step"),
            ("far too many steps", changed(steps=10**12), "not one value for each step"),
            ("a step without a value", samples(span=span[1:]), "not one value for each step"),
            ("a fraction", samples(span=[*span[1:], 1.5]), "no whole number"), ("null", samples(span=[*span[1:], None]), "no whole number"),
            ("text", samples(span=[*span[1:], "7"]), "no whole number"), ("a negative number", samples(span=[*span[1:], -7]), "below 0"),
            ("more values than steps", samples(**{"op norm": [1] * (kind["steps"] + 1)}), "more values than steps")):
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        told = from_file(folder, "usual.tracedb", "--baseline-file", f"{name}.json", status=BAD_INPUT)
        require(told.count("\n") == 1 and f"{name}.json" in told and said in told, f"{name}: {told}")
    from_file(folder, "usual.tracedb", "--baseline-file", "not-there.json", status=BAD_INPUT)
    from_file(folder, "usual.tracedb", "slow.tracedb", "--baseline-file", "b.json", status=USAGE)


def check_load(folder):
    """7 % more tokens, and nothing else; 7 % fewer, and a slower clock; so much slower that the load is not why."""
    for name, tokens, more in (("few", 4096, ()), ("many", 4400, ()), ("hidden", 4096, ("--clock", 1.08)), ("slower", 4400, ("--clock", 1.3))):
        ingest(make_trace(folder / f"{name}.json", "--layers", 2, "--steps", 24, "--mix", "P*2,D", "--prompt-tokens", tokens, "--jitter", 0.5,
                          "--python-stacks", "off", *more), folder / f"{name}.tracedb")
    for a, b, status, words, unsure in (("few", "many", 0, "more", True), ("many", "hidden", 0, "fewer", True), ("few", "slower", 1, "more", False)):
        run("trace-query", "compare", f"{a}.tracedb", "--save-baseline", f"{a}.kept", cwd=folder)
        for given in ((f"{a}.tracedb", f"{b}.tracedb"), (f"{b}.tracedb", "--baseline-file", f"{a}.kept")):
            done = run("trace-query", "compare", *given, "--phase", "prefill", "--gate", 3, cwd=folder, check=False)
            said = " ".join((done.stdout + done.stderr).split())
            equal((done.returncode, ": inconclusive: prefill, " in said), (status, unsure), f"{given}: {said}")
            equal("the load differs by 7.4 %: at equal load " in said, unsure, f"{given}: {said}")
            if len(given) == 2 and unsure:
                require(f" % {words} tokens a step" in said and " kernels are " not in said, said)
        of_file, of_traces = (compare(folder / f"{a}.tracedb", folder / f"{b}.tracedb", "--section", "steps")["steps"],
                              from_file(folder, f"{b}.tracedb", "--baseline-file", f"{a}.kept"))
        spans = [next(row for row in rows if (row["phase"], row["metric"]) == ("prefill", "span")) for rows in (of_file, of_traces)]
        equal(*spans, "of a file and of traces")
        require(max(spans[0]["high"] / spans[0]["baseline"], 0.07) - spans[0]["low"] / spans[0]["baseline"] > 0.07, "an interval without the load")


def main(cases, folder):
    for name, more in (("usual", ()), ("slow", ("--slow", "dense_gemm=1.5"))):
        ingest(make_trace(folder / f"{name}.json", *COMMON, *more), folder / f"{name}.tracedb")
    run("trace-query", "compare", "usual.tracedb", "--save-baseline", "b.json", cwd=folder)
    cases.each((check_same_as_traces, check_gate, check_devices, check_damage, check_load), folder)
