"""`compare TRACE --step N`: why one step takes longer than the others of its kind and batch."""
import json
from pathlib import Path

from compare_cases import compare
from report_page import read_page
from trace_cases import TRACES, as_json, equal, ingest, make_trace, refused, require, rows, run, skip_without_traces

STALL = 37_700_000  # ns
SLOW = 5_000_000
COMMON = ("--layers", 2, "--mix", "D", "--steps", 16, "--batch", 8, "--seed", 5, "--python-stacks", "off")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def shifted(document, at, ns):
    """All that begins at `at` us or later, later by so many ns."""
    for event in document["traceEvents"]:
        if event.get("ph") in ("X", "s", "f") and event["ts"] >= at:
            event["ts"] += ns / 1000


def made(folder, name, change):
    """A trace of decode steps that `change` makes of the usual one and the truth about it."""
    path = make_trace(folder / "usual.json", *COMMON)
    steps = json.loads(Path(f"{path}.truth.json").read_text(encoding="utf-8"))["steps"]
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document, steps)
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return ingest(folder / f"{name}.json", folder / f"{name}.tracedb")


def stalled(document, steps):
    shifted(document, steps[8]["ts"] / 1000, STALL)


def slowed(document, steps):
    """One kernel of step 7 takes longer, and all later work of the device comes later."""
    first, last = steps[7]["gpu_begin"] / 1000, steps[7]["gpu_end"] / 1000
    kernels = [event for event in document["traceEvents"] if event.get("cat") == "kernel" and first <= event["ts"] < last]
    slow = max(kernels, key=lambda event: event["dur"])
    end = slow["ts"] + slow["dur"]
    slow["dur"] += SLOW / 1000
    for event in document["traceEvents"]:
        if event.get("cat") in DEVICE and event["ts"] >= end - 1e-6:
            event["ts"] += SLOW / 1000
    return slow


def page(index, step, *options):
    return " ".join(run("trace-query", "compare", "-q", index, "--step", step, *options).stdout.split())


def reasons(index, step):
    return as_json("compare", index, "--step", step)["reasons"]


def check_stalled(folder):
    index = made(folder, "stalled", stalled)
    text = page(index, 7)
    require(text.startswith("step 7 is 37.7 ms longer than the usual decode step (period "), text)
    first = reasons(index, 7)[0]
    require(first["cause"] == "between_steps" and abs(first["change"] - STALL) < 0.01 * STALL, first)
    require("--step 7" in text and "$B" not in text and "Verdict" not in text, text)
    text = page(index, 4)
    require(text.startswith("step 4 takes as long as the usual decode step"), text)
    require("rare" not in text.split("Why")[0] and not any(row["cause"] == "rare_steps" for row in reasons(index, 4)), text)


def check_slowed(folder):
    index = made(folder, "slowed", slowed)
    text = page(index, 7)
    require(text.startswith("step 7 is 5.0"), text)
    first = reasons(index, 7)[0]
    require(first["cause"] == "operation" and abs(first["change"] - SLOW) < 0.02 * SLOW, first)


def check_use(folder):
    index = made(folder, "plain", lambda document, steps: None)
    for options, what in ((("--step", 7, "--gate", 5), "--gate does not go with --step"), (("--step", 99), "--step 99"),
                          (("--step", "x"), "--step x"), ((index, "--step", 7), "one trace"),
                          (("--step", 99), "the trace has 16 steps, counted from 0"),
                          (("--step", 7, "--phase", "prefill"), "--phase prefill: there is only decode")):
        refused(2, what, "trace-query", "compare", index, *options)
    run("trace-query", "compare", "-q", index, "--step", 7, "-o", folder / "step.html")
    _, data = read_page(folder / "step.html")
    equal([side["label"] for side in data["sides"]], ["the usual step", "step 7"], "sides of the page")


def without_others(document, steps, kept):
    """Device work of one step alone, or of all others."""
    begin, end = steps[7]["gpu_begin"] / 1000, steps[7]["gpu_end"] / 1000
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("cat") not in DEVICE or
                               (begin <= event["ts"] < end) == kept]


def check_not_compared(folder):
    """Each reason why a step cannot be compared is told as it is."""
    for name, kept, said in (("alone", True, "no other step of its kind and batch runs anything on a device"),
                             ("idle", False, "it runs nothing on a device")):
        index = made(folder, name, lambda document, steps, kept=kept: without_others(document, steps, kept))
        refused(2, said, "trace-query", "compare", "-q", index, "--step", 7)


def overlapping(document, steps):
    """The last kernel of step 7 runs on beside the next step, on a stream of its own."""
    first, last = steps[7]["gpu_begin"] / 1000, steps[7]["gpu_end"] / 1000
    kernel = max((event for event in document["traceEvents"] if event.get("cat") == "kernel" and first <= event["ts"] < last),
                 key=lambda event: event["ts"])
    kernel["dur"] = (steps[8]["gpu_begin"] + 100_000) / 1000 - kernel["ts"]
    kernel["tid"] = kernel["args"]["stream"] = 77


def check_overlapping(folder):
    """What runs in the time of another step is no gain of kernels that run at once, and no loss."""
    index = made(folder, "overlapping", overlapping)
    for step, sign in ((7, -1), (8, 1)):
        rows = {row["item"]: row for row in compare(index, "--step", step, "--section", "ledger")["ledger"]}
        require(rows.get("[concurrent kernels]", {"candidate": 0})["candidate"] <= 0, rows)
        change = rows["[other steps]"]
        require(change["baseline"] * sign <= 0 < change["candidate"] * sign and abs(change["candidate"]) <= 100_001, change)
        equal(sum(row["change"] for item, row in rows.items() if item not in ("[span]", "[period]", "[between steps]")),
              rows["[span]"]["change"], "the ledger closes")
        text = page(index, step)
        require("at once" not in text, text)


def before_recording(document, steps):
    """A kernel whose launch was not recorded, on a stream that a launched one follows on, runs between steps 0 and 1."""
    period = steps[2]["gpu_begin"] - steps[1]["gpu_begin"]
    gap, kernel = 0.18 * period, None
    first, last = steps[5]["gpu_begin"] / 1000, steps[5]["gpu_end"] / 1000
    for event in document["traceEvents"]:
        if event.get("cat") == "kernel" and first <= event["ts"] < last:
            kernel = event if kernel is None or event["ts"] > kernel["ts"] else kernel
    kernel["tid"] = kernel["args"]["stream"] = 77
    early = json.loads(json.dumps(kernel))
    early["args"].pop("correlation", None)
    early.update(ts=steps[0]["gpu_end"] / 1000, dur=gap / 1000)
    shifted(document, steps[1]["ts"] / 1000, gap)
    document["traceEvents"].append(early)


def check_before_recording(folder):
    """It is in the first period only: no reason why steps take longer, and the warning says what becomes of it."""
    usual, early = made(folder, "even", lambda document, steps: None), made(folder, "early", before_recording)
    equal([row for row in as_json("compare", usual, early)["reasons"] if row["cause"] == "no_step"], [], "reasons")
    (said,) = [row["text"] for row in compare(usual, early, "--section", "warnings")["warnings"] if row["code"] == "outside_steps"]
    require("1 kernel, 1 launched before the recording" in said and "left out" not in said, said)


def check_real(folder):
    """The longest of nine decode steps is told by what is longer in it."""
    index = ingest(TRACES / "kineto/llama_tp4_vllm_mi300x.pt.trace.json.gz", folder / "llama.tracedb")
    found = rows("steps", index)
    periods = {row["step"]: row["period"] for row in found if row["phase"] == "decode" and row["next_phase"] == "decode"}
    longest = max(periods, key=periods.get)
    text = page(index, longest)
    require(text.startswith(f"step {longest} is ") and "longer than the usual decode step" in text, text)


def main(cases, folder):
    cases.each((check_stalled, check_slowed, check_use, check_not_compared, check_overlapping, check_before_recording), folder)
    if not skip_without_traces(cases, TRACES):
        cases.run("a real trace", check_real, folder)
