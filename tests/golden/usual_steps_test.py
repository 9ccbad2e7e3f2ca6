"""Steps that overlap, stall or warm up (METRICS 10): figures are means over the steps that count, the rest is told, and
nothing is concluded where there is no usual step."""
import json
import random

from compare_cases import check_closure, compare, ledger_total
from timed_steps import MS, device_idle, in_a_row, overlapping, write
from trace_cases import as_json, equal, ingest, require, run

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


def check_few(folder):
    sides = [index(folder, name, in_a_row([dur * MS] * 3)) for name, dur in (("a", 10), ("b", 14))]
    equal({row["verdict"] for row in page(*sides)["verdict"]}, {"inconclusive"}, "verdicts of two regular steps")


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


def main(cases, folder):
    for check in (check_overlap, check_overlap_without_period, check_warm_up, check_kinds, check_rare_on_two_devices, check_few):
        own = folder / check.__name__
        own.mkdir()
        cases.run(check.__name__, check, own)
    chance = random.Random(20261124)
    for number in range(PAIRS):
        own = folder / str(number)
        own.mkdir()
        cases.run(f"unchanged pair {number}", check_unchanged, own, chance)
