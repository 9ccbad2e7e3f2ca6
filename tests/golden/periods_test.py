"""One period: from the start of a step's work on the device to that of the next. `phases`, `steps`, `ls`, `trend`, `compare`,
the page and the recipes name the same figure where they name the same steps; the host's is `host_period`."""
import json
import statistics
from collections import Counter

from made_events import call, event, index_of, kernel
from report_page import report_page
from trace_cases import (TRACES, as_json, equal, ingest, kineto_traces, make_trace, require, rows, run,
                         skip_without_traces)

SERVER = ("--layers", 2, "--mix", "P,D*5", "--steps", 18, "--batch", 8, "--seed", 3, "--python-stacks", "off")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
OTHERS = ("other/nsys_2gpu_after.sqlite", "other/nsys_2gpu_before.sqlite", "other/rocprofv3_908_results.json.gz", "other/rpd_matmul.rpd",
          "ascend/advisor_trace_view.json", "ascend/ascend_pytorch_profiler_0.db", "ascend/level1_rank0_kernel_details.csv",
          "ascend/level1_rank0_trace_view.json", "ascend/level2_kernel_details.csv", "aie/npu_matmul_256x768x768.json")


def steps_of(index):
    return [row for row in rows("steps", index) if row["step"] is not None]


def recipe(name, index, *keys):
    return {row["phase"]: tuple(row[key] for key in keys) for row in rows("sql", "--recipe", name, index)}


def check_phases(index, found):
    """Medians over the steps that one of the same kind follows; tokens of the same steps."""
    phases = {row["phase"]: row for row in rows("phases", index) if not row["phase"].startswith("[")}
    usual = recipe("step_times", index, "periods", "period_median_ns")
    for phase, row in phases.items():
        own = [step for step in found if step["phase"] == phase and step["next_phase"] == phase]
        for key in ("period", "host_period"):
            values = [step[key] for step in own if step[key] is not None]
            equal(row[key], statistics.median(values) if values else None, f"{phase}: {key}")
        equal({step["period_on"] for step in own} or {None}, {row["period_on"]}, f"{phase}: on which clock")
        equal(usual[phase], (len(own), row["period"]), f"{phase}: recipe step_times")
        tokens = [(step["context_tokens"] or 0) + (step["generation_tokens"] or 0) for step in own
                  if step["context_tokens"] is not None or step["generation_tokens"] is not None]
        if tokens and sum(tokens):
            expected = sum(tokens) * 1e9 / sum(step["period"] for step in own)
            require(abs(row["tokens_per_s"] - expected) <= 0.06, f"{phase}: {row['tokens_per_s']} tokens/s, not {expected}")
    return phases


def check_catalogue(index, folder, phases):
    """`ls` and `trend` name the period of the phase that they name."""
    (listed,) = rows("ls", index.parent, "--where", f"index_path LIKE '%{index.name}'")
    if listed["phase"] is None:
        return
    own = phases[listed["phase"]]["period"]
    equal(listed["period"], None if own is None else int(own + 0.5), "ls")
    trend = as_json("trend", index, "--phase", listed["phase"])
    points = next(section["rows"] for section in trend["sections"] if section["section"] == "points")
    run("trace-query", "compare", index, "--save-baseline", folder / "regular.json")
    kinds = json.loads((folder / "regular.json").read_text(encoding="utf-8"))["kinds"]
    regular = next(kind["samples"].get("period", []) for kind in (*kinds, {"kind": listed["phase"], "samples": {}})
                   if kind["kind"] == listed["phase"])
    # The mean of regular steps; the median where there are under three, or no usual ones.
    verdicts = as_json("compare", index, index, "--section", "verdict")["verdict"]
    barred = any(row["phase"] == listed["phase"] and row["reason"] in ("two kinds of steps", "what repeats is no step")
                 for row in verdicts)
    (value,) = [point["value"] for point in points]
    if len(regular) < 3 or barred:
        equal(value, listed["period"], "trend")
    else:
        require(abs(value - statistics.mean(regular)) <= 1, f"trend: {value}, not {statistics.mean(regular)}")


def check_compared(index, folder, found):
    """Those that `compare` and the page count are periods of steps, each once."""
    known = Counter((step["phase"], step["period"]) for step in found if step["next_phase"] == step["phase"] and step["period_on"] == "device")
    path = folder / "samples.json"
    run("trace-query", "compare", index, "--save-baseline", path)
    samples = [(kind["kind"], period) for kind in json.loads(path.read_text())["kinds"] for period in kind["samples"].get("period", ())]
    equal(Counter(samples) - known, Counter(), "periods that compare alone knows")
    for phase in {phase for phase, _ in known}:
        require(any(kind == phase for kind, _ in samples), f"{phase}: compare knows no period")
    _, data = report_page(index, folder / "page.html")
    for picture in data["pictures"]:
        if picture["kind"] == "distribution" and picture["measure"] == "period" and picture["phase"] in {phase for phase, _ in known}:
            shown = Counter((picture["phase"], value) for value in picture["sides"][0]["values"])
            equal(shown - known, Counter(), f"{picture['phase']}: periods that the page alone knows")


def check_trace(trace, index, folder):
    ingest(trace, index)
    found = steps_of(index)
    phases = check_phases(index, found)
    if as_json("info", index) and phases:
        check_catalogue(index, folder, phases)
    if any(step["kernels"] for step in found):
        check_compared(index, folder, found)
    index.unlink()


def stretched(path, longer, factor):
    """The same run on a device that takes longer for all that it does."""
    document = json.loads(path.read_text(encoding="utf-8"))
    device = [event for event in document["traceEvents"] if event.get("cat") in DEVICE]
    begin = min(event["ts"] for event in device)
    for event in device:
        event["ts"], event["dur"] = begin + (event["ts"] - begin) * factor, event["dur"] * factor
    longer.write_text(json.dumps(document), encoding="utf-8")
    return longer


def check_stretched(folder):
    """A slower device is seen by every report, though the host's marks are where they were."""
    path = make_trace(folder / "usual.json", *SERVER)
    usual = ingest(path, folder / "usual.tracedb")
    longer = ingest(stretched(path, folder / "longer.json", 1.15), folder / "longer.tracedb")
    before, after = ({row["phase"]: row for row in rows("phases", index)} for index in (usual, longer))
    require(abs(after["decode"]["period"] / before["decode"]["period"] - 1.15) < 1e-4, (before, after))
    equal(after["decode"]["host_period"], before["decode"]["host_period"], "the host's")
    equal(after["decode"]["period_on"], "device", "on which clock")
    points = [section["rows"] for section in as_json("trend", "--phase", "decode", usual, longer)["sections"]
              if section["section"] == "points"][0]
    shorter, taller = sorted(point["value"] for point in points)
    require(abs(taller / shorter - 1.15) < 1e-4, points)
    check_gate(path, folder)


def check_gate(path, folder):
    """`trend --gate 3` fails where ten nights of such a device follow ten of the usual one."""
    place = folder / "nights"
    place.mkdir()
    for night in range(20):
        document = json.loads(stretched(path, folder / "night.json", 1.15 if night >= 10 else 1).read_text(encoding="utf-8"))
        document["baseTimeNanoseconds"] = 1_700_000_000_000_000_000 + night * 86_400_000_000_000
        (place / f"{night:02}.json").write_text(json.dumps(document), encoding="utf-8")
    run("trace-ingest", "-q", place)
    gated = run("trace-query", "trend", "--phase", "decode", "--gate", 3, place, check=False)
    require(gated.returncode == 1 and "+15.0 %" in gated.stderr, f"--gate 3: {gated.returncode} {gated.stderr} {gated.stdout}")
    require("decode period rose 15.0 %" in " ".join(gated.stdout.split()), gated.stdout)


def check_host_only(folder):
    """Steps that run nothing on a device have the period of the host, which is marked."""
    events = [event("user_annotation", f"ProfilerStep#{i}", 1000 * i, 900) for i in range(4)]
    index = index_of(folder / "host.json", [*events, kernel("gemm", 9000, 10)])
    equal([(row["period"], row["period_on"], row["host_period"]) for row in steps_of(index)],
          [(1_000_000, "host", 1_000_000)] * 3 + [(None, None, None)], "steps")
    (phase,) = [row for row in rows("phases", index) if row["phase"] != "[no step]"]
    equal((phase["period"], phase["period_on"]), (1_000_000, "host"), "phases")
    said = run("trace-query", "phases", index).stderr
    require("no kernel is in a step: periods are those of the host" in said, said)
    (row,) = rows("ls", index)
    equal((row["period"], row["period_on"]), (1_000_000, "host"), "ls")
    require("Period On" in run("trace-query", "ls", index).stdout, "ls for people")
    require(", on the host: " in " ".join(run("trace-query", "trend", index).stdout.split()), "trend")


def check_rounded(folder):
    """Marks that overlap by their last digit follow each other; what is inside of another is no step of its own."""
    marks = [event("user_annotation", f"ProfilerStep#{i}", 1000 * i, 1000.2) for i in range(6)]
    inside = event("user_annotation", "ProfilerStep#9", 1000.1, 800)
    work = [one for i in range(6) for one in (call("cudaLaunchKernel", 1000 * i + 10, 5, i + 1), kernel("gemm", 1000 * i + 20, 900, correlation=i + 1))]
    for name, events in (("rounded", marks), ("nested", [*marks, inside])):
        index = index_of(folder / f"{name}.json", [*events, *work])
        for options in ((), ("--step-regex", "ProfilerStep#.*")):
            equal([(row["name"], row["kernels"]) for row in rows("steps", index, *options) if row["step"] is not None],
                  [(f"ProfilerStep#{i}", 1) for i in range(6)], f"{name} {options}")


def check_unsaid(folder):
    """What a pattern does not say of steps that have it is not known, and what another kind of steps has is none of theirs."""
    names = ["execute_context_1(64)_generation_0(0)"] * 2 + ["execute_context_0(0)_generation_8(9)"] * 4 + ["execute_context_2(32)_generation_4(4)"]
    events = [one for i, name in enumerate(names) for one in (
        event("user_annotation", name, 1000 * i, 900), call("cudaLaunchKernel", 1000 * i + 10, 5, i + 1),
        kernel("gemm", 1000 * i + 20, 800, correlation=i + 1))]
    index = index_of(folder / "unsaid.json", events)
    tokens, requests = r"context_\d+\((?<context>\d+)\)_generation_\d+\((?<generation>\d+)\)", r"context_(?<context_requests>\d+)\S+tion_(?<generation_requests>\d+)"
    for pattern, expected in (
            (None, {"prefill": (1, 128, 64_000), "decode": (8, 36, 9000), "mixed": (6, 36, None)}),
            (tokens, {"prefill": (None, 128, 64_000), "decode": (None, 36, 9000), "mixed": (None, 36, None)}),
            (requests, {"prefill": (1, None, None), "decode": (8, None, None), "mixed": (6, None, None)}),
            (r"context_\d+\((?<context>\d+)\)_generation_(?<generation_requests>\d+)",
             {"prefill": (None, 128, 64_000), "decode": (8, None, None), "mixed": (None, None, None)}),
            (r"context_(?<context_requests>\d+)\(\d+\)_generation_\d+\((?<generation>\d+)\)",
             {"prefill": (1, None, None), "decode": (None, 36, 9000), "mixed": (None, None, None)})):
        options = ("--step-regex", pattern) if pattern else ()
        equal({row["phase"]: (row["requests"], row["tokens"], row["tokens_per_s"]) for row in rows("phases", index, *options)}, expected, f"{pattern}")
        rates = {row["phase"]: row["tokens_per_s"] for row in rows("steps", index, *options) if row["period_on"] and row["next_phase"] == row["phase"]}
        equal(rates, {phase: rate for phase, (_, _, rate) in expected.items() if phase != "mixed"}, f"steps: {pattern}")


def check_named(folder):
    """The DDP run of the issue: the host runs ahead, and no step can end sooner than the device is busy with it."""
    index = ingest(TRACES / "kineto/resnet_checkpoint_ddp_mi300x.json.gz", folder / "ddp.tracedb")
    (phase,) = [row for row in rows("phases", index) if row["phase"] == "train"]
    equal((round(phase["period"] / 1e4), round(phase["host_period"] / 1e4)), (1898, 1639), "10 us")


def main(cases, folder):
    cases.each((check_stretched, check_host_only, check_rounded, check_unsaid), folder)
    cases.run("made server", check_trace, make_trace(folder / "server.json", *SERVER), folder / "server.tracedb", folder)
    if not skip_without_traces(cases, TRACES):
        cases.run("a host that runs ahead", check_named, folder)
        others = [TRACES / name for name in OTHERS]
        for trace in [*kineto_traces(), *(path for path in others if path.exists())]:
            cases.run(f"{trace.name}", check_trace, trace, folder / f"{trace.name}.tracedb", folder)
