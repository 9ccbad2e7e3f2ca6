"""`trace-query ranks` on made jobs: who is late, why, what the others lose and how far clocks are apart is what was
planted, and nobody is blamed where nothing was.

Tolerances: the loss within 10 % and 5 us a step (the noise of the kernels), clock offsets within 5 us (the ends of a
collective differ by up to 0.5 us), drifts within 5 ppm."""
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import (TRACES, Cases, Skip, equal, ingest, nanoseconds, read_trace, require, run,  # noqa: E402
                         scratch_folder)

CAUSES = {"compute": "compute", "host": "host", "copy": "copies"}
LAYERS = 3


def make(folder, name, options):
    job = folder / name
    run("make-trace", "job", "--layers", str(LAYERS), *options, job)
    return job, json.loads((folder / f"{name}.truth.json").read_text())["collectives"]


def ask(*arguments):
    document = json.loads(run("trace-query", "ranks", "-q", "--json", *arguments).stdout)
    return {section["section"]: section["rows"] for section in document["sections"]} | {"notes": document["warnings"]}


def near(actual, expected, tolerance, what):
    require(abs(actual - expected) <= tolerance, f"{what}: got {actual}, expected {expected} within {tolerance}")


def planted(seed):
    """What one job has, and the options that plant it."""
    dice = random.Random(seed)
    ranks = dice.choice([2, 3, 4, 8])
    steps = dice.choice([24, 30])
    late = dice.randrange(ranks)
    cause = list(CAUSES)[seed % 3]
    share = dice.choice([0.6, 0.8, 1])
    delay = dice.choice([60, 120, 300]) * 1000
    clocks = {rank: (dice.randrange(0, 5_000_000), dice.choice([0, 0, 40])) for rank in range(1, ranks)}
    options = ["--seed", seed, "--ranks", ranks, "--steps", steps, "--sequences", dice.choice(["on", "off"]),
               "--late", f"{late}:{cause}:{delay}:{share}"]
    for rank, (offset, drift) in clocks.items():
        options += ["--clock-of", f"{rank}:{offset}:{drift}"]
    return ranks, steps, late, cause, clocks, list(map(str, options))


def check_closed(tables):
    """Tables add up: time is waiting and transfer, waiting has a cause."""
    (job,) = tables["jobs"]
    everything = [row for row in tables["causes"] if row["rank"] == "[all]"][0]
    parts = [row for row in tables["causes"] if row["rank"] != "[all]"]
    equal(sum(row["caused"] for row in parts), job["exposed_waiting"], "sum of what was caused")
    equal(sum(row["collectives"] for row in parts), job["collectives"], "sum of collectives")
    equal(everything["caused"], job["exposed_waiting"], "[all] of the causes")
    rank_rows = [row for row in tables["ranks"] if row["rank"] != "[all]"]
    equal(sum(row["exposed_waiting"] for row in rank_rows), job["exposed_waiting"], "sum over ranks")
    for key in ("waiting", "transfer"):
        equal(sum(row[key] for row in rank_rows), sum(row[key] for row in tables["collectives"]), key)
    for row in tables["collectives"]:
        equal(row["waiting"] + row["transfer"], row["time"], "waiting and transfer")
    equal(sum(row["exposed_waiting"] for row in tables["steps"]), job["exposed_waiting"], "sum over steps")


def check_planted(seed, folder):
    ranks, steps, late, cause, clocks, options = planted(seed)
    job, truth = make(folder, f"job{seed}", options)
    tables = ask(job)
    (row,) = tables["jobs"]
    equal((row["ranks"], row["steps"], row["collectives"]), (ranks, steps, steps * LAYERS), "what was found")
    equal((row["straggler"], row["cause"]), (str(late), CAUSES[cause]), "who and why")
    expected = sum(one["waiting"] for one in truth if one["last"] == late) / (ranks - 1) / steps
    near(row["loss_per_step"], expected, expected * 0.1 + 5000, "loss per step")
    near(row["exposed_waiting"], sum(one["waiting"] for one in truth), 2000 * row["collectives"] * ranks, "all waiting")
    check_clocks(tables, clocks, truth)
    check_closed(tables)


def check_clocks(tables, clocks, truth):
    base = clocks.get(0, (0, 0))[0]
    for row in tables["ranks"]:
        if row["rank"] in ("0", "[all]"):
            continue
        offset, drift = clocks[int(row["rank"])]
        length = row["span"]
        near(row["clock_offset"], offset - base + drift * length / 2e6, 5000, f"clock of rank {row['rank']}")
        if drift * length / 1e6 > 20_000:
            near(row["clock_drift"] or 0, drift, 5, f"drift of rank {row['rank']}")


def check_even(seed, folder):
    ranks = [2, 3, 4, 8][seed % 4]
    job, truth = make(folder, f"even{seed}", ["--seed", str(1000 + seed), "--ranks", str(ranks), "--steps", "20"])
    tables = ask(job)
    (row,) = tables["jobs"]
    equal(row["straggler"], None, "nobody is to blame")
    require(row["headline"].startswith("no rank holds the others up"), row["headline"])
    near(row["exposed_waiting"], sum(one["waiting"] for one in truth), 2000 * row["collectives"] * ranks, "all waiting")
    check_closed(tables)


def check_parts(folder):
    """Missing and shortened ranks, another part of the run, one rank, several jobs."""
    job, _ = make(folder, "parts", ["--ranks", "4", "--steps", "12", "--missing", "2", "--shorten", "3=7"])
    tables = ask(job)
    equal(tables["jobs"][0]["ranks"], 3, "ranks there")
    require(any("1 of 4 ranks is not there (2)" in note for note in tables["notes"]),
            f"missing rank in {tables['notes']}")
    require(any("7 to 12 steps" in note for note in tables["notes"]), f"steps in {tables['notes']}")
    check_closed(tables)
    alone = ask(job / "rank0.json")
    require("rank 0 of 4 alone" in alone["jobs"][0]["headline"], alone["jobs"][0]["headline"])


def check_shifted(folder):
    """Without sequence numbers a rank that recorded less is matched where the ends fit."""
    options = ["--ranks", "2", "--steps", "20", "--sequences", "off", "--late", "1:host:200000", "--shorten", "1=16"]
    job, truth = make(folder, "shifted", options)
    (row,) = ask(job)["jobs"]
    equal((row["collectives"], row["straggler"], row["cause"]), (16 * LAYERS, "1", "host"), "matched from the start")


def check_several(folder):
    make(folder, "two/a", ["--ranks", "2", "--steps", "6"])
    make(folder, "two/b", ["--ranks", "4", "--steps", "6", "--stem", "worker"])
    for path in (folder / "two").glob("*.truth.json"):
        path.unlink()
    tables = ask(folder / "two")
    equal([(row["job"], row["ranks"]) for row in tables["jobs"]], [("a/rank*.json", 2), ("b/worker*.json", 4)], "jobs")
    equal([row["job"] for row in ask(folder / "two", "--job", "a/rank*.json")["jobs"]], ["a/rank*.json"], "one job")
    wrong = run("trace-query", "ranks", folder / "two", "--job", "a/rank", check=False)
    equal(wrong.returncode, 2, "no such job")


def check_one_folder_each(folder):
    job, _ = make(folder, "apart/j", ["--ranks", "3", "--steps", "6"])
    for rank in range(3):
        (job / f"r{rank}").mkdir()
        (job / f"rank{rank}.json").rename(job / f"r{rank}" / "trace.json")
    equal([(row["job"], row["ranks"]) for row in ask(job)["jobs"]], [("j/*/trace.json", 3)], "one folder for each rank")


def check_baseline(folder):
    """Two jobs rank by rank: nothing between a job and itself, the planted holdup between two, mirrored the other way."""
    usual = ["--ranks", "3", "--steps", "16"]
    before, _ = make(folder, "before", usual)
    after, _ = make(folder, "after", [*usual, "--late", "1:compute:500000"])
    same = ask(before, "--baseline", before)["compare"]
    equal([row["change"] for row in same], [0, 0, 0, 0], "a job against itself")
    rows, mirrored = ask(after, "--baseline", before)["compare"], ask(before, "--baseline", after)["compare"]
    parts = ("computation", "exposed_transfer", "exposed_waiting", "exposed_copy", "idle")
    for row, other in zip(rows, mirrored):
        equal(sum(row[part] for part in parts), row["change"], f"parts of rank {row['rank']}")
        equal([row[part] for part in parts], [-other[part] for part in parts], f"mirror of rank {row['rank']}")
        near(row["change"], 500_000, 10_000, f"change of rank {row['rank']}")
    near(rows[1]["computation"], 500_000, 15_000, "the late rank computes longer")
    near(rows[0]["exposed_waiting"], 500_000, 15_000, "the others wait longer")
    near(rows[-1]["computation"], 500_000, 30_000, "the job")
    text = " ".join(run("trace-query", "ranks", "-q", after, "--baseline", before).stdout.split("\n\n")[0].split())
    require(text.startswith("a step takes ") and "rank 1 sets the pace" in text and "us computing" in text, text)


def check_broken(folder):
    """A rank that cannot be read is named and the others answer; one that is cut short is said to be."""
    job, _ = make(folder, "broken", ["--ranks", "3", "--steps", "8"])
    whole = (job / "rank1.json").read_bytes()
    (job / "rank2.json").write_bytes(b"")
    (job / "rank1.json").write_bytes(whole[:len(whole) * 3 // 5])
    result = run("trace-query", "ranks", "--json", job, check=False)
    equal(result.returncode, 3, "exit code")
    require("rank2.json" in result.stderr, result.stderr)
    document = json.loads(result.stdout)
    (row,) = [section["rows"] for section in document["sections"] if section["section"] == "jobs"][0]
    equal(row["ranks"], 2, "ranks that can be read")
    require(0 < row["collectives"] < 8 * LAYERS, f"{row['collectives']} collectives of a rank that is cut short")
    # Without its end the document has no distributedInfo behind the events, but here it comes first.
    require(any("rank 1 is truncated" in note for note in document["warnings"]), document["warnings"])


def check_real():
    """The four recorded ranks of a job of eight, against sums made from the JSON alone."""
    place = TRACES / "kineto/dlrm_8rank"
    if not place.is_dir():
        raise Skip(f"{place} is not there")
    with scratch_folder() as folder:
        files = sorted(place.glob("*.json"))
        for path in files:
            ingest(path, folder / f"{path.name}.tracedb")
        tables = ask(*sorted(folder.glob("*.tracedb")))
    (row,) = tables["jobs"]
    equal((row["ranks"], row["world_size"], row["collectives"], row["by_sequence"]), (4, 8, 8, 0), "what was found")
    require(any("4 of 8 ranks are not there (4, 5, 6, 7)" in note for note in tables["notes"]), tables["notes"])
    offsets = [one["clock_offset"] for one in tables["ranks"][:4]]
    starts = {}
    for rank, path in enumerate(files):
        events = [event for event in read_trace(path)[0] if "nccl" in event["name"] and event["cat"].lower() == "kernel"]
        counts = {}
        for event in sorted(events, key=lambda one: one["ts"]):
            number = counts[event["name"]] = counts.get(event["name"], 0) + 1
            starts.setdefault((event["name"], number), []).append(nanoseconds(event["ts"]) - offsets[rank])
    expected = sum(max(times) - start for times in starts.values() for start in times)
    actual = sum(one["waiting"] for one in tables["collectives"])
    near(actual, expected, 2000 * len(starts), "waiting")
    check_closed(tables)


def check_no_job(folder):
    run("make-trace", "--layers", "2", "--steps", "2", folder / "plain.json")
    result = run("trace-query", "ranks", folder / "plain.json")
    require("names no rank of a job" in result.stderr, result.stderr)
    document = json.loads(run("trace-query", "ranks", "-q", "--json", folder / "plain.json").stdout)
    equal([row for section in document["sections"] for row in section["rows"]], [], "rows")


def main():
    cases = Cases()
    with scratch_folder() as folder:
        for seed in range(33):
            cases.run(f"planted, seed {seed}", check_planted, seed, folder)
        for seed in range(32):
            cases.run(f"nothing planted, seed {seed}", check_even, seed, folder)
        cases.run("ranks that are missing or shorter", check_parts, folder)
        cases.run("shorter without numbers", check_shifted, folder)
        cases.run("several jobs", check_several, folder)
        cases.run("a folder for each rank", check_one_folder_each, folder)
        cases.run("two jobs", check_baseline, folder)
        cases.run("ranks that are broken", check_broken, folder)
        cases.run("four real ranks of eight", check_real)
        cases.run("no job", check_no_job, folder)
    cases.finish()


if __name__ == "__main__":
    main()
