"""Steps that overlap, stall or warm up (METRICS 10): figures are means over the steps that count, the rest is told, and
nothing is concluded where there is no usual step."""
import json
import random

from compare_cases import check_closure, compare, ledger_total
from made_events import call, event, index_of, kernel
from timed_steps import ATTENTION, GEMM, MS, Kernel, device_idle, in_a_row, overlapping, write
from trace_cases import as_json, equal, ingest, require, rows, run

PAIRS = 40  # of each kind, without any change


def index(folder, name, steps):
    return ingest(write(folder / f"{name}.json", steps), folder / f"{name}.tracedb")


def page(*indexes):
    return as_json("compare", *indexes)


def gate(*arguments):
    done = run("trace-query", "compare", "-q", *arguments, check=False)
    return done.returncode, done.stdout + done.stderr


def verdicts(data):
    return {row["metric"]: row for row in data["verdict"] if row["phase"] == "decode"}


def check_overlap(folder):
    """The span says 9 % less, the period and the work 60 % more."""
    steps = [overlapping(12, 216 * MS, 110 * MS, apart=20 * MS), overlapping(12, 346 * MS, 100 * MS, apart=19 * MS)]
    sides = [index(folder, name, own) for name, own in zip("ab", steps)]
    rows = verdicts(page(*sides))
    equal(rows["period"]["verdict"], "worse", "period")
    require(abs(rows["period"]["change_pct"] - 60.2) < 0.1, rows["period"])
    equal((rows["span"]["verdict"], rows["span"]["reason"]), ("inconclusive", "steps overlap on the device"), "span")
    equal(gate(*sides, "--gate", 5)[0], 1, "gate")
    found = compare(*sides, "--section", "ledger")["ledger"]
    check_closure(found)
    require(all(row["item"] != "[overlap]" for row in found), "a row of overlap")
    for key, own in zip(("baseline", "candidate"), steps):
        idle = sum(row[key] for row in found if row["item"] in ("[idle]", "[between steps]"))
        require(abs(idle - device_idle(own) / 11) < 1, f"{key}: idle {idle}, the device {device_idle(own) / 11}")
        equal(ledger_total(found, "[period]")[key], (own[-1][0] - own[0][0]) / 11, f"{key}: period")
    first = " ".join(run("trace-query", "compare", "-q", *sides).stdout.split("\n\n")[0].split())
    require("longer" in first or "as long" in first, first)


def check_overlap_without_period(folder):
    """Steps of two kinds in turn have no period of their own; where they overlap, nothing is judged."""
    steps = overlapping(8, 216 * MS, 110 * MS)
    sides = []
    for name, own in (("a", steps), ("b", overlapping(8, 216 * MS, 180 * MS))):
        marks = write(folder / f"{name}.json", own, "{}").read_text(encoding="utf-8")
        document = json.loads(marks)
        for event in document["traceEvents"]:
            if event["cat"] == "user_annotation":
                event["name"] = f"execute_context_{int(event['name']) % 2}({512 * (int(event['name']) % 2)})_generation_8(8)"
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        sides.append(ingest(folder / f"{name}.json", folder / f"{name}.tracedb"))
    data = page(*sides)
    require(all(row["verdict"] == "inconclusive" for row in data["verdict"] if row["metric"] == "span"), data["verdict"])
    _, said = gate(*sides, "--gate", 5, "--gate-metric", "span")
    require("steps overlap on the device" in said, said)


def check_warm_up(folder):
    own = index(folder, "warm", in_a_row([1063 * MS, 3 * MS, 3 * MS]))
    text = run("trace-query", "report", "-q", own).stdout
    require("a decode step takes 3.00 ms (1 regular step; left out: 1 warm-up step of 1.06 s)" in " ".join(text.split()), text)


def check_kinds(folder):
    """Half of the steps stall: there is no usual step, and the page says so first."""
    chance = random.Random(3)
    stalls = [0 if number % 2 == 0 else chance.randrange(100, 670) * MS for number in range(31)]
    stalls[1] = 100 * MS
    stalls[3] = 670 * MS
    slow = index(folder, "slow", in_a_row([170 * MS] * 31, stalls))
    even = index(folder, "even", in_a_row([170 * MS] * 31))
    text = " ".join(run("trace-query", "report", "-q", slow).stdout.split())
    require("decode steps are of two kinds: 15 of 30 steps take 170 ms, 15 stall for 100 ms to 670 ms" in text, text)
    first = " ".join(run("trace-query", "compare", "-q", even, slow).stdout.split("\n\n")[0].split())
    require("no usual step to compare" in first and "15 stall for 100 ms to 670 ms" in first, first)
    data = page(even, slow)
    equal(data["reasons"], [], "reasons")
    equal({row["verdict"] for row in data["verdict"]}, {"inconclusive"}, "verdicts")
    equal(gate(even, slow, "--gate", 5, "--gate-inconclusive", "fail")[0], 1, "a gate of what is inconclusive")


def check_rare_on_two_devices(folder):
    """A step stalls for 210 ms on one device and for 214 ms on the other: one step, of one time."""
    steps = in_a_row([10 * MS] * 12, [0] * 6 + [200 * MS] + [0] * 5)
    path = write(folder / "devices.json", steps)
    document = json.loads(path.read_text())
    document["traceEvents"] += [
        {**event, "pid": 1, "ts": event["ts"] + (4000 if 1000 * event["ts"] >= steps[7][0] else 0), "args": {**event["args"], "device": 1}}
        for event in document["traceEvents"] if event["cat"] == "kernel"]
    path.write_text(json.dumps(document))
    stalled = ingest(path, folder / "devices.tracedb")
    left = {row["item"]: row for row in compare(stalled, stalled, "--section", "summary")["summary"]}["decode: left out"]
    equal(left["baseline"], "1 rare step of 212 ms", "a rare step on two devices")
    text = " ".join(run("trace-query", "report", "-q", stalled).stdout.split())
    require("10 steps: mean period" in text and "1 rare step of 212 ms, 1 step without a period" in text, text[-4000:])


def check_cut(folder):
    """A step that `export` cuts is no regular step, and said, one whose mark alone reaches further is; evaluation between steps of training is another kind."""
    def of_step(number):
        made = [event("user_annotation", f"ProfilerStep#{number}", 100 * number, 98)]
        for place in range(4):
            at, correlation = 100 * number + 5 + 20 * place, 10 * number + place + 1
            made += [call("cudaLaunchKernel", at, 2, correlation), kernel("gemm", at + 5, 15, correlation=correlation)]
        name = "aten::mm" if number == 1 else "autograd::engine::evaluate_function: MmBackward0"
        return made + [event("cpu_op", name, 100 * number + 1, 3)]

    whole = index_of(folder / "whole.json", [one for number in range(3) for one in of_step(number)])
    excerpt = folder / "excerpt.json"
    run("trace-query", "export", whole, "--from", "40us", "--to", "250us", "-o", excerpt)
    equal([row["phase"] for row in rows("steps", whole)], ["train", "unknown", "train"], "kinds of steps")
    by_marks = folder / "by_marks.json"
    run("trace-query", "export", whole, "--from", "4us", "--to", "284us", "-o", by_marks)
    again = folder / "again.json"
    run("trace-query", "export", ingest(excerpt, folder / "excerpt.tracedb"), "-o", again)
    for trace, left in ((whole, 0), (folder / "excerpt.tracedb", 2), (ingest(by_marks, folder / "by_marks.tracedb"), 0), (ingest(again, folder / "again.tracedb"), 2)):
        done = run("trace-query", "report", trace)
        equal("cut by the recording" in done.stdout + done.stderr, left > 0, f"report of {left} cut steps: {done.stdout[:2000]}{done.stderr}")
        said = run("trace-query", "steps", trace).stderr
        require(not left or f"{left} step{'s are' if left > 1 else ' is'} cut by the recording" in said, said)


def check_speeds(folder):
    """Two devices of different speeds: their steps are of two kinds, by device, and the first of the slow one warms nothing up."""
    events = [one for number in range(6) for device, period in ((1, 100), (0, 50))
              for one in (event("user_annotation", f"ProfilerStep#{number}", period * number + 1 - device, 0.7 * period, tid=device + 1),
                          call("cudaLaunchKernel", period * number + 2, 1, 2 * number + device + 1, device + 1),
                          kernel("gemm", period * number + 5, 0.6 * period, device=device, correlation=2 * number + device + 1))]
    said = " ".join(run("trace-query", "report", "--format", "markdown", index_of(folder / "speeds.json", events)).stdout.split())
    require("all on device 1" in said and "warm-up" not in said, said[:3000])


def check_few(folder):
    sides = [index(folder, name, in_a_row([dur * MS] * 3)) for name, dur in (("a", 10), ("b", 14))]
    equal({row["verdict"] for row in page(*sides)["verdict"]}, {"inconclusive"}, "verdicts of two regular steps")
    said = " ".join(gate(*sides)[1].split())
    require("(2 and 2 steps: too few to be sure)" in said, said)


def check_worse_span(folder):
    """The worse of period and span counts: a longer span is told beside a period of which nothing is known."""
    gaps = [gap * MS for gap in (25, 35, 27, 33, 30, 26, 34, 29, 31)]
    sides = [index(folder, name, in_a_row([dur * MS] * 9, gaps)) for name, dur in (("a", 10), ("b", 11))]
    for own, told in ((sides, True), (sides[::-1], False)):
        said = " ".join(gate(*own)[1].split())
        equal(" Of the device alone: span +10.0 %: worse (95 %: " in said, told, said)


def check_in_turn(folder):
    """Every second step takes a quarter longer: none is rare, and the same work one step later is no change."""
    sides = [index(folder, name, in_a_row([(8 + 2 * ((number + first) % 2)) * MS + number for number in range(12)]))
             for first, name in enumerate("ab")]
    data = page(*sides)
    equal(data["reasons"], [], "reasons")
    rows = verdicts(data)
    equal({(row["verdict"], row["baseline_steps"], row["candidate_steps"]) for row in rows.values() if row["metric"] == "period"},
          {("inconclusive", 11, 11)}, "verdict")
    status, said = gate(*sides, "--gate", 5)
    equal(status, 0, said)
    require("rare" not in said, said)


def check_uncertain(folder):
    """Six steps that scatter by a tenth: nothing is known of a change of 5 %, which neither headline nor gate denies."""
    sides = [index(folder, name, in_a_row([dur * MS // 10 for dur in own])) for name, own in
             (("a", (92, 108, 95, 103, 110, 94, 100)), ("b", (93, 110, 94, 106, 109, 96, 100)))]
    said = " ".join(gate(*sides)[1].split())
    require("no change beyond how steps differ: " in said and "time unchanged" not in said, said)
    table = gate(*sides, "--section", "steps", "--format", "table")[1]
    require("95 % from" in " ".join(table.split()) and "inconclusive" in table, f"the interval is left out: {table}")
    status, said = gate(*sides, "--gate", 5)
    equal((status, said.startswith("gate 5 %: inconclusive: decode, ")), (0, True), said)
    require("the 95 % interval of the change reaches +" in " ".join(said.split()), said)
    equal(gate(*sides, "--gate", 5, "--gate-inconclusive", "fail")[0], 1, "--gate-inconclusive fail")
    equal(gate(*sides, "--gate", 30, "--gate-inconclusive", "fail")[0], 0, "a gate beyond the interval")


def check_nothing_in_all(folder):
    """What attention gains idle time loses: the step takes as long, which is not said in one direction."""
    sides = []
    for name, dur in (("a", 4 * MS), ("b", 6 * MS)):
        steps = [(MS + number * 20 * MS, [Kernel(0, 5 * MS), Kernel(6 * MS, dur, ATTENTION), Kernel(14 * MS, MS)])
                 for number in range(8)]
        sides.append(index(folder, name, steps))
    said = " ".join(run("trace-query", "compare", "-q", *sides).stdout.split())
    require(": as long" in said and "What differs within decode, which takes as long: " in said and "Why" not in said, said)


def check_whole_traces(folder):
    """Twice as many steps are more kernels, not slower ones, of a trace and not of a step."""
    sides = [index(folder, name, in_a_row([10 * MS] * count)) for name, count in (("a", 8), ("b", 16))]
    said = " ".join(run("trace-query", "compare", "-q", "--normalise", "none", *sides).stdout.split())
    require("runs more kernels" in said and "by count alone" in said and "slower" not in said and "a step takes" not in said, said)


def noisy(chance, count, dur):
    return [round(dur * chance.uniform(0.99, 1.01)) for _ in range(count)]


def unchanged(chance):
    """A pair without any change but for what happens once: a stall, or a first step that warms up; or overlapping steps."""
    kind, dur, count = chance.choice(("stall", "warm up", "overlap")), chance.randrange(5, 200) * MS, chance.randrange(12, 40)
    sides = []
    for side in range(2):
        if kind == "overlap":
            sides.append(overlapping(count, dur, round(dur * chance.uniform(0.598, 0.602)), pieces=2))
            continue
        durations, gaps = noisy(chance, count, dur), noisy(chance, count, dur // 10)
        if kind == "stall" and side == 1:
            gaps[chance.randrange(2, count - 1)] += chance.randrange(2, 8) * dur
        if kind == "warm up" and side == 0:
            durations[0] *= chance.randrange(3, 9)
        sides.append(in_a_row(durations, gaps))
    return kind, sides


def check_unchanged(folder, chance):
    kind, steps = unchanged(chance)
    sides = [index(folder, name, own) for name, own in zip("ab", steps)]
    data = page(*sides)
    told = [row for row in data["reasons"] if row["cause"] != "rare_steps"]
    equal(told, [], f"{kind}: reasons of what did not change")
    equal(len(data["reasons"]), int(kind == "stall"), f"{kind}: rare steps")
    equal(verdicts(data)["period"]["verdict"], "same", f"{kind}: period")
    found = compare(*sides, "--section", "ledger,summary")
    check_closure(found["ledger"])
    left = {row["item"]: row for row in found["summary"]}.get("decode: left out")
    if kind != "overlap":
        side, words = (("baseline", "1 warm-up step of"), ("candidate", "1 rare step of"))[kind == "stall"]
        require(left and left[side].startswith(words), f"{kind}: {left}")
    equal(gate(*sides, "--gate", 2)[0], 0, f"{kind}: gate")


NORM, SILU = "rms_norm_kernel", "silu_and_mul_kernel"
KERNELS = (GEMM, ATTENTION, NORM, SILU, "rotary_embedding_kernel", "reshape_and_cache_kernel", "cutlass_gemm_bf16_64x64")
EVEN = (1,) * 12


def by_factors(path, factors, slow=None, mark="execute_context_0(0)_generation_64(64)", second=None):
    """Steps of seven kernels, which take the step's factor as long, and those of `slow` their own beside it; `second`: on
    another device, that by its factor."""
    steps, start = [], MS
    for factor in factors:
        kernels, at = [], 0
        for name in KERNELS * 4:
            kernels.append(Kernel(at, round(60_000 * factor * (slow or {}).get(name, 1)), name))
            at += kernels[-1].dur + 1000
        steps.append((start, kernels))
        start += 2 * at
    document = json.loads(write(path, steps, mark).read_text())
    if second:
        for event in [event for event in document["traceEvents"] if event["cat"] == "kernel"]:
            begin = max(start / 1000 for start, _ in steps if start <= 1000 * event["ts"])
            document["traceEvents"].append({**event, "pid": 1, "ts": begin + second * (event["ts"] - begin),
                                            "dur": second * event["dur"], "args": {**event["args"], "device": 1}})
    path.write_text(json.dumps(document))
    return ingest(path, path.with_suffix(".tracedb"))


def decoding(requests):
    return f"execute_context_0(0)_generation_{requests}({requests})"


NOISE = [(0.92, 1.08) * 6, (0.96, 1.12) * 6]  # of each step
# What both sides are, options, the causes that are told, whether clocks are warned of.
COMMON = {
    "clocks": ({"factors": EVEN}, {"factors": (1.08,) * 12}, (), {"clocks"}, True),
    "noise of whole steps": ({"factors": NOISE[0]}, {"factors": NOISE[1]}, (), set(), False),
    "steps of two kinds": ({"factors": EVEN}, {"factors": (1, 2) * 6}, (), set(), False),
    "one of two devices": ({"factors": EVEN, "second": 1}, {"factors": EVEN, "second": 1.2}, (), {"operation", "idle"}, False),
    "both devices": ({"factors": EVEN, "second": 1}, {"factors": (1.1,) * 12, "second": 1}, (), {"clocks"}, True),
    "more requests": ({"factors": EVEN}, {"factors": (1.08,) * 12, "mark": decoding(69)}, (), {"load"}, False),
    "more tokens": ({"factors": EVEN, "mark": "execute_context_1(1000)_generation_0(0)"},
                    {"factors": (1.08,) * 12, "mark": "execute_context_1(1080)_generation_0(0)"}, (), {"load"}, False),
    "few more requests": ({"factors": EVEN}, {"factors": (1.12,) * 12, "mark": decoding(66)}, (), {"clocks"}, True),
    "clocks, of traces": ({"factors": EVEN}, {"factors": (1.08,) * 12}, ("--normalise", "none"), {"clocks"}, True),
    "clocks, by token": ({"factors": EVEN}, {"factors": (1.08,) * 12}, ("--normalise", "token"), {"operation"}, True),
}


def check_common(folder):
    """One factor of all kernels: clocks, unless the load explains it, or steps and devices tell otherwise."""
    for what, (*sides, options, causes, warned) in COMMON.items():
        indexes = [by_factors(folder / f"{what} {name}.json", **side) for name, side in zip("ab", sides)]
        for pair in (indexes, indexes[::-1]):
            data = as_json("compare", *pair, *options)
            rows = [row for row in data["reasons"] if row["cause"] != "between_steps"]
            equal({row["cause"] for row in rows}, causes, f"{what}: causes")
            require(" kernels in " not in " ".join(sentence["text"] for sentence in data["sentences"]), f"{what}: more kernels")
            warnings = compare(*pair, *options, "--section", "warnings")["warnings"]
            equal("clocks" in {row["code"] for row in warnings}, warned, f"{what}: warning of clocks")
            equal(len({row["change"] > 0 for row in rows}), min(len(rows), 1), f"{what}: directions")
            for row in rows:
                if row["cause"] == "clocks":
                    require(row["low"] <= row["change"] + 1 and row["change"] - 1 <= row["high"], f"{what}: {row}")


def check_beyond_load(folder):
    """A quarter more requests explain a quarter more time of a kernel that takes half as much again."""
    for name, factor in ((SILU, 1.5), (NORM, 1.6)):
        indexes = [by_factors(folder / f"{name}.json", EVEN), by_factors(folder / f"{name} slow.json", EVEN, {name: factor}, decoding(80))]
        for pair, sign in ((indexes, 1), (indexes[::-1], -1)):
            rows = {row["cause"]: row for row in page(*pair)["reasons"] if row["cause"] != "between_steps"}
            equal(set(rows), {"load", "operation"}, f"{name}: causes")
            for cause, change in (("load", 60_000), ("operation", 240_000 * (factor - 1) - 60_000)):
                require(abs(rows[cause]["change"] - sign * change) < 10, f"{name}: {rows[cause]}")
            equal(rows["load"]["candidate"] - rows["load"]["baseline"], rows["load"]["change"], "times of the load")


def main(cases, folder):
    for check in (check_overlap, check_overlap_without_period, check_warm_up, check_kinds, check_rare_on_two_devices, check_cut, check_speeds, check_few, check_worse_span,
                  check_common, check_beyond_load, check_in_turn, check_uncertain, check_nothing_in_all, check_whole_traces):
        own = folder / check.__name__
        own.mkdir()
        cases.run(check.__name__, check, own)
    chance = random.Random(20261124)
    for number in range(PAIRS):
        own = folder / str(number)
        own.mkdir()
        cases.run(f"unchanged pair {number}", check_unchanged, own, chance)
