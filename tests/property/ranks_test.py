"""`trace-query ranks` on made jobs: who is late, why, what the others lose and how far clocks are apart is what was
planted, and nobody is blamed where nothing was.

Tolerances: the loss within 10 % and 5 us a step (the noise of the kernels), clock offsets within 5 us (the ends of a
collective differ by up to 0.5 us), drifts within 5 ppm."""
import json
import random
import re
import shutil

from made_events import kernel, write_trace
from rank_jobs import CAUSES, LAYERS, ask, make, near
from trace_cases import (TRACES, Skip, equal, ingest, nanoseconds, open_index, read_trace, real_trace, refused, require, rows,
                         run)


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
    for key in ("waiting", "transfer", "undivided"):
        equal(sum(row[key] for row in rank_rows), sum(row[key] for row in tables["collectives"]), key)
    for row in tables["collectives"]:
        equal(row["waiting"] + row["transfer"] + row["undivided"], row["time"], "waiting and transfer")
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
    check_clocks(tables, clocks)
    check_closed(tables)
    equal([row["host"] for row in tables["ranks"]], [None] * (ranks + 1), "where hosts were, of which nothing is recorded")


def check_clocks(tables, clocks):
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
    most = max(one["caused"] for one in tables["ranks"] if one["rank"] != "[all]")
    equal("most of that for " in row["headline"], most > row["exposed_waiting"] / 2, f"most of it: {row['headline']}")
    near(row["exposed_waiting"], sum(one["waiting"] for one in truth), 2000 * row["collectives"] * ranks, "all waiting")
    check_closed(tables)


def check_two_late(folder):
    """Of two ranks that are late the last is named with what the others wait for it, and for the other one too."""
    job, _ = make(folder, "two_late", ["--ranks", "4", "--steps", "20", "--late", "2:copy:300000", "--late", "1:compute:300000"])
    said = ask(job)["jobs"][0]["headline"]
    require(re.search(r"for it \(\d+ us a step of that for rank [12], too\): ", said), said)


def check_two_groups(folder):
    """Who waits for a rank is who is in a group with it: what is lost is a share of the time of those."""
    own = folder / "two_groups"
    own.mkdir()
    lines = {rank: ["Step Id,Stream ID,Name,Type,Start Time(us),Duration(us)"] for rank in range(4)}
    at = dict.fromkeys(lines, 1e6)
    for place in range(40):
        for group, pair in ((100, (0, 1)), (200, (2, 3))):
            works = {rank: 1300 if rank == 3 else 1000 for rank in pair}
            end = max(at[rank] + works[rank] for rank in pair) + 200
            for rank in pair:
                begin = at[rank] + works[rank]
                lines[rank] += [f"{place // 4},2,mm,MatMulV2,{at[rank]},{works[rank]}",
                                f"{place // 4},N/A,hcom_allReduce__{group}_{place}_1,hcom_allReduce_,{begin},{end - begin}"]
                at[rank] = end
    for rank, text in lines.items():
        (own / f"job_rank{rank}_kernel_details.csv").write_text("\n".join([*text, ""]))
    (row,) = ask(own)["jobs"]
    equal(row["straggler"], "3", "straggler")
    near(row["loss_pct"], 100 * 39 * 300 / (40 * 1500), 0.01, "share of the time of rank 2")
    require("; 1 other waits 1.17 ms a step (19.5 %) for it" in row["headline"], row["headline"])


def check_unknown_size(folder):
    """Where no trace says how many ranks there are, nothing is said of all of them."""
    own = folder / "unknown_size"
    own.mkdir()
    for rank in range(2):
        shutil.copy(real_trace(f"ascend/level1_rank{rank}_kernel_details.csv"), own)
    headline = ask(own)["jobs"][0]["headline"]
    require(headline.startswith("no rank of the 2 recorded holds those recorded up: ") and "how many ranks the job has" in headline, headline)


def check_parts(folder):
    """Missing and shortened ranks, another part of the run, one rank, several jobs."""
    job, _ = make(folder, "parts", ["--ranks", "4", "--steps", "12", "--missing", "2", "--shorten", "3=7"])
    tables = ask(job)
    equal(tables["jobs"][0]["ranks"], 3, "ranks there")
    headline = tables["jobs"][0]["headline"]
    require("(of 4) holds those recorded up: " in headline and "those missing is not known" in headline, headline)
    late, _ = make(folder, "late", ["--ranks", "4", "--steps", "20", "--late", "1:compute:400000", "--shorten", "3=4"])
    near(ask(late)["jobs"][0]["loss_per_step"], 400_000, 10_000, "loss per step, one rank short")
    require(any("1 of 4 ranks is not there (2)" in note for note in tables["notes"]), f"missing rank in {tables['notes']}")
    require(any("7 to 12 steps" in note for note in tables["notes"]), f"steps in {tables['notes']}")
    check_closed(tables)
    alone = ask(job / "rank0.json")
    require("rank 0 of 4 alone" in alone["jobs"][0]["headline"], alone["jobs"][0]["headline"])


def check_breakdown(folder):
    """Of each rank, or of each device of one process, what `breakdown` says of its trace."""
    for options in ((), ("--one-process",)):
        job, _ = make(folder, f"breakdown{len(options)}", ["--ranks", "3", "--steps", "5", *options])
        tables = ask(job, "--section", "breakdown,step-breakdown")
        traces = sorted(job.glob("*.json"))
        steps = [{"rank": row["device"] if options else rank, **row} for rank, trace in enumerate(traces) for row in rows("breakdown", trace)]
        require(len(steps) == 3 * 5, f"{len(steps)} steps")
        equal([{name: value for name, value in row.items() if name != "job"} for row in tables["step-breakdown"]], steps, "steps of ranks")
        for row in tables["breakdown"]:
            for figure in ("length", "computing", "exposed_comm", "runtime", "other"):
                equal(row[figure], sum(one[figure] for one in steps if one["rank"] == row["rank"]), f"{figure} of rank {row['rank']}")


def check_shifted(folder):
    """Without sequence numbers a rank that recorded less is matched where the ends fit."""
    options = ["--ranks", "2", "--steps", "20", "--sequences", "off", "--late", "1:host:200000", "--shorten", "1=16"]
    job, truth = make(folder, "shifted", options)
    (row,) = ask(job)["jobs"]
    equal((row["collectives"], row["straggler"], row["cause"]), (16 * LAYERS, "1", "host"), "matched from the start")


def check_shorter(folder):
    """What the others lose is of the steps that the late rank is in."""
    for steps in (10, 4):
        options = ["--ranks", "4", "--steps", "20", "--late", "2:compute:300000", "--shorten", f"2={steps}"]
        job, _ = make(folder, f"shorter{steps}", options)
        (row,) = ask(job)["jobs"]
        equal(row["straggler"], "2", f"{steps} of 20 steps: straggler")
        near(row["loss_per_step"], 300_000, 30_000, f"{steps} of 20 steps: loss")
        near(row["loss_pct"], 14, 4, f"{steps} of 20 steps: share")


def check_replicas(folder):
    """Two jobs of one time in one folder: the number in the names that parts them tells the job, not the rank, nor what goes
    with it or is of one file. No clock gains seven percent."""
    for replica, clock in enumerate(("1", "1.1")):
        job, _ = make(folder, f"replica{replica}", ["--ranks", "2", "--steps", "20", "--clock", clock, "--late", f"{replica}:compute:300000"])
        for rank in range(2):
            (folder / "replicas").mkdir(exist_ok=True)
            start = [3000, 0][(rank + replica) % 2]
            text = (job / f"rank{rank}.json").read_text()
            text = re.sub(r'"ts": ?([0-9]+)', lambda found: f'"ts":{int(found[1]) + start}', text)
            (folder / f"replicas/n{rank}_x{replica}_r{rank}_{70 + 3 * rank + replica}.json").write_text(text)
    tables = ask(folder / "replicas")
    equal([row["straggler"] for row in tables["jobs"]], ["0", "1"], "stragglers")
    for row, name in zip(tables["ranks"], ("x0_r0", "x0_r1", "x1_r0", "x1_r1")):
        require(name in row["trace"] and abs(row["clock_drift"] or 0) < 50, row)
    mixed = [folder / "replicas/n0_x0_r0_70.json", folder / "replicas/n1_x1_r1_74.json"]
    require(all(abs(row["clock_drift"] or 0) < 1000 for row in ask(*mixed)["ranks"]), "a drift that no clock has")


def check_far_clocks(folder):
    """Ranks that complete each other are one job, however wrong a clock; for sets of runs, too."""
    for number in range(4):
        job, _ = make(folder, f"far/{number}", ["--ranks", "2", "--steps", "20", "--seed", str(number), "--clock-of", "1:7200000000000", "--late", "1:compute:300000"])
        tables = ask(job)
        equal([(row["ranks"], row["straggler"]) for row in tables["jobs"]], [(2, "1")], "one job")
        require(any(note.startswith("clocks 7200 s apart, set by") for note in tables["notes"]), tables["notes"])
        for truth in (folder / "far").glob("*.truth.json"):
            truth.unlink()
    sides = ("--baseline", folder / "far/0", folder / "far/1", "--candidate", folder / "far/2", folder / "far/3")
    document = json.loads(run("trace-query", "compare", "-q", "--json", *sides).stdout)
    equal([row["traces"] for row in document["sets"]], [2] * 4, "ranks are no runs")


def check_place(folder):
    """Each rank has its own device: one that any of them has can be selected."""
    job, _ = make(folder, "places", ["--ranks", "2", "--steps", "4"])
    for device in (0, 1):
        run("trace-query", "ranks", "-q", job, "--device", device)
        (n,) = json.loads(run("trace-query", "sql", "-q", "--json", job, "SELECT sum(instances) AS n FROM all_ops", "--device", device).stdout)["rows"]
        require(n["n"] > 0, n)
    for command in (("ranks", job), ("sql", job, "SELECT count(*) FROM all_ops")):
        refused(2, "--device 7: there are 0, 1", "trace-query", *command, "--device", "7")


def check_several(folder):
    make(folder, "two/a", ["--ranks", "2", "--steps", "6"])
    make(folder, "two/b", ["--ranks", "4", "--steps", "6", "--stem", "worker"])
    for path in (folder / "two").glob("*.truth.json"):
        path.unlink()
    tables = ask(folder / "two")
    equal([(row["job"], row["ranks"]) for row in tables["jobs"]], [("a/rank*.json", 2), ("b/worker*.json", 4)], "jobs")
    equal([row["job"] for row in ask(folder / "two", "--job", "a/rank*.json")["jobs"]], ["a/rank*.json"], "one job")
    refused(2, "", "trace-query", "ranks", folder / "two", "--job", "a/rank")


def check_alone(folder):
    """Among other traces: one sentence for those that are alone."""
    place = folder / "sorts"
    make(place, "pair", ["--ranks", "2", "--steps", "4"])
    for number in range(4):
        make(place, f"alone{number}", ["--ranks", "2", "--steps", "2", "--missing", "1", "--stem", f"x{number}y"])
    for path in place.glob("*.truth.json"):
        path.unlink()
    jobs = ask(place)["jobs"]
    equal(len(jobs), 5, f"jobs {[row['job'] for row in jobs]}")
    text = run("trace-query", "ranks", "-q", place).stdout.split("\n\n")[0]
    require("pair/rank*.json: no rank holds" in text and "alone0" not in text, text)
    require("4 jobs have one trace: who waits for whom takes two ranks and more" in text, text)


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
    check_undivided(folder, before, usual)
    for row, other in zip(rows, mirrored):
        equal(row["exposed_transfer"] + row["exposed_waiting"], row["exposed_comm"], f"communication of rank {row['rank']}")
        equal(sum(row[part] for part in parts), row["change"], f"parts of rank {row['rank']}")
        equal([row[part] for part in parts], [-other[part] for part in parts], f"mirror of rank {row['rank']}")
        near(row["change"], 500_000, 10_000, f"change of rank {row['rank']}")
    near(rows[1]["computation"], 500_000, 15_000, "the late rank computes longer")
    near(rows[0]["exposed_waiting"], 500_000, 15_000, "the others wait longer")
    near(rows[-1]["computation"], 500_000, 30_000, "the job")
    words = ("--json", "-q")
    equal(run("trace-query", "compare", *words, before, after).stdout,
          run("trace-query", "ranks", *words, after, "--baseline", before).stdout, "compare of two jobs")
    refused(2, "two jobs", "trace-query", "compare", before, after, before)
    for percent, code, word in ((5, 1, "FAILED"), (50, 0, "passed")):
        gated = run("trace-query", "compare", before, after, "--gate", percent, code=code).stdout
        require(f"gate {percent} %: {word}" in " ".join(gated.split()), gated)
    text = " ".join(run("trace-query", "ranks", "-q", after, "--baseline", before).stdout.split("\n\n")[0].split())
    require(text.startswith("a step takes ") and "rank 1 sets the pace (before: none): " in text and "us computing" in text, text)
    own = " ".join(run("trace-query", "ranks", "-q", after, "--baseline", after).stdout.split("\n\n")[0].split())
    require("; rank 1 sets the pace " in own, own)


def check_other_start(folder):
    """Who sets the pace, and by how much, does not depend on when ranks began to record."""
    jobs = {}
    for name, late in (("usual", ()), ("slower", ("--late", "1:compute:500000"))):
        for job in (name, f"{name}_apart"):
            jobs[job], _ = make(folder, f"start/{job}", ["--ranks", "3", "--steps", "12", *late])
        for rank in (1, 2):  # 20 ms before rank 0
            path = jobs[f"{name}_apart"] / f"rank{rank}.json"
            trace = json.loads(path.read_text())
            first = min((event for event in trace["traceEvents"] if event.get("cat") == "kernel" and "nccl" in event["name"]), key=lambda event: event["ts"])
            for event in trace["traceEvents"]:
                if event is not first and event.get("ph") == "X" and event["ts"] < first["ts"]:
                    event["ts"] -= 20_000
            first["ts"], first["dur"] = first["ts"] - 20_000, first["dur"] + 20_000
            path.write_text(json.dumps(trace))
    together, apart, skewed = (ask(jobs[after], "--baseline", jobs[before])["compare"] for before, after in (
        ("usual", "slower"), ("usual_apart", "slower_apart"), ("usual", "slower_apart")))
    for rows in (apart, skewed):
        near(rows[-1]["baseline"], together[-1]["baseline"], 20_000, "the job before")
        near(rows[-1]["change"], 500_000, 20_000, "the job")
        near(rows[-1]["computation"], 500_000, 30_000, "of that computing")
    # What ranks that began together wait at a first collective is not left out.
    for job, slower in (("first0", 0), ("first1", 500)):
        (folder / "start" / job).mkdir()
        for rank in range(3):
            end = 1000 + slower * (rank == 1)
            spans = (("ampere_sgemm", 0, end), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", end, 1100 + slower - end))
            write_trace(folder / "start" / job / f"rank{rank}.json", [kernel(name, 5000 + begin, dur) for name, begin, dur in spans], distributedInfo={"rank": rank, "world_size": 3})
    near(ask(folder / "start/first1", "--baseline", folder / "start/first0")["compare"][-1]["change"], 500_000, 50_000, "a job of one collective")
    words = ("trace-query", "ranks", "-q")
    for before, after, who in (("usual", "slower", "sets the pace (before: none)"), ("slower", "usual", "set the pace before (now: none)")):
        text = " ".join(run(*words, jobs[f"{after}_apart"], "--baseline", jobs[f"{before}_apart"]).stdout.split("\n\n")[0].split())
        require(f"; rank 1 {who}: " in text and "us computing" in text, text)


def check_undivided(folder, whole, usual):
    """What ranks take in collectives of which a member is not recorded is divided as the steps that have all of them."""
    (transfer,) = (row["latency"] for row in ask(whole)["collectives"])
    for name, options, some in (("gone", ("--missing", "1"), 0), ("short", ("--shorten", "1=6"), 18), ("last", ("--shorten", "1=15"), 45)):
        job, _ = make(folder, name, [*usual, "--late", "1:compute:500000", *options])
        tables = ask(job, "--baseline", whole)
        row = tables["compare"][0]
        near(row["exposed_comm"], 500_000, 15_000, f"{name}: communication")
        parts = [row[part] for part in ("exposed_transfer", "exposed_waiting", "exposed_undivided")]
        equal(None in parts, some == 0, f"{name}: its parts are not known")
        if some > 0:
            equal(sum(parts), row["exposed_comm"], f"{name}: its parts add up")
            for part, planted in zip(parts, (0, 500_000, 0)):
                near(part, planted, 15_000, f"{name}: its parts")
            require(None not in [tables["compare"][-1][part] for part in ("exposed_transfer", "exposed_waiting")], f"{name}: job")
        equal(row["computation"] + row["exposed_comm"] + row["exposed_copy"] + row["idle"], row["change"], f"{name}: parts")
        (row,) = tables["collectives"]
        equal(row["latency"] is None, some == 0, f"{name}: transfer is known")
        near(row["latency"] or transfer, transfer, 2000, f"{name}: transfer")
        require(any(f"{48 - some} of 48 collectives have members that are not recorded then" in note for note in tables["notes"]), tables["notes"])
    said = run("trace-query", "ranks", "-q", folder / "gone", "--baseline", whole).stdout.split("\n\n")[0]
    require("us exposed communication" in " ".join(said.split()).split("rank*.json")[0] and "transfer" not in said, said)


def check_host(folder):
    """Of a rank that its host makes late: the frame that is open while the device has nothing to do."""
    job, _ = make(folder, "host", ["--ranks", "3", "--steps", "12", "--late", "1:host:200000:1"])
    for rank in range(3):
        path = job / f"rank{rank}.json"
        trace = json.loads(path.read_text())
        calls = [event for event in trace["traceEvents"] if event.get("cat") == "cuda_runtime"]
        first, last = calls[0], calls[-1]
        begin = float(first["ts"])
        trace["traceEvents"].append({
            "ph": "X", "cat": "python_function", "name": f"train.py({rank + 10}): next_batch", "pid": first["pid"],
            "tid": first["tid"], "ts": begin, "dur": float(last["ts"]) + 1000 - begin,
            "args": {"Python id": 1, "Python parent id": None, "Python thread": 0}})
        path.write_text(json.dumps(trace))
    tables = ask(job)
    hosts = {row["rank"]: row["host"] for row in tables["ranks"]}
    equal(hosts["1"], "train.py(11): next_batch", "where the host of the late rank was")
    text = " ".join(run("trace-query", "ranks", "-q", job).stdout.split("\n\n")[0].split())
    require("host at train.py(11): next_batch (" in text, text)


def check_broken(folder):
    """A rank that cannot be read is named and the others answer; one that is cut short is said to be."""
    job, _ = make(folder, "broken", ["--ranks", "3", "--steps", "8"])
    whole = (job / "rank1.json").read_bytes()
    (job / "rank2.json").write_bytes(b"")
    (job / "rank1.json").write_bytes(whole[:len(whole) * 3 // 5])
    result = run("trace-query", "ranks", "--json", job, code=3)
    require("rank2.json" in result.stderr, result.stderr)
    document = json.loads(result.stdout)
    (row,) = [section["rows"] for section in document["sections"] if section["section"] == "jobs"][0]
    equal(row["ranks"], 2, "ranks that can be read")
    require(0 < row["collectives"] < 8 * LAYERS, f"{row['collectives']} collectives of a rank that is cut short")
    # Without its end the document has no distributedInfo behind the events, but here it comes first.
    require(any("rank 1 is truncated" in note for note in document["warnings"]), document["warnings"])


def planted_pipeline(seed):
    """What one pipeline has, and the options that plant it."""
    dice = random.Random(500 + seed)
    ranks = dice.choice([2, 3, 4, 8])
    microbatches = dice.choice([2, 4, 6])
    late = dice.randrange(ranks)
    cause = list(CAUSES)[seed % 3]
    delay = dice.choice([60, 120, 300]) * 1000
    options = ["--seed", seed, "--ranks", ranks, "--steps", 16, "--microbatches", microbatches]
    clocks = {rank: (dice.randrange(0, 5_000_000), dice.choice([0, 0, 40])) for rank in range(1, ranks)}
    for rank, (offset, drift) in clocks.items():
        options += ["--clock-of", f"{rank}:{offset}:{drift}"]
    return ranks, microbatches, late, cause, delay, clocks, [*map(str, options)]


def check_sends(tables, truth, ranks, microbatches):
    """Every send has its receive, and they wait as planted."""
    (row,) = tables["jobs"]
    sends = 16 * microbatches * 2 * (ranks - 1)
    equal((row["ranks"], row["steps"], row["collectives"], row["sends"]), (ranks, 16, sends, sends), "what was found")
    equal((row["single"], row["apart"], row["no_other_end"], row["unknown_peer"]), (0, 0, 0, 0), "what is left out")
    expected = {}
    for one in truth:
        name = f"send {one['from']} to {one['to']}"
        count, waiting = expected.get(name, (0, 0))
        expected[name] = (count + 1, waiting + one["waiting"])
    equal({one["name"] for one in tables["collectives"]}, set(expected), "pairs of ranks")
    for one in tables["collectives"]:
        count, waiting = expected[one["name"]]
        equal((one["collectives"], one["ranks"]), (count, 2), one["name"])
        near(one["waiting"], waiting, 5000 * count, f"waiting of {one['name']}")
    check_closed(tables)


def check_pipeline(seed, folder):
    ranks, microbatches, late, cause, delay, clocks, options = planted_pipeline(seed)
    job, truth = make(folder, f"pipeline{seed}", [*options, "--late", f"{late}:{cause}:{delay}"])
    tables = ask(job)
    check_sends(tables, truth, ranks, microbatches)
    check_clocks(tables, clocks)
    (row,) = tables["jobs"]
    equal((row["straggler"], row["cause"]), (str(late), CAUSES[cause]), "who and why")
    near(row["loss_per_step"], delay * microbatches, delay * microbatches * 0.1 + 30_000, "longer per step")
    require(f"rank {late} of {ranks} sets the pace" in row["headline"], row["headline"])


def check_short_pipeline(folder):
    """Three steps tell nothing about a stage, neither on all ranks nor on one; four do."""
    late = ("--ranks", "4", "--microbatches", "3", "--late", "3:compute:300000")
    for name, more, expected in (("three", ("--steps", "3"), "too few steps to tell which rank holds the others up"),
                                 ("one_short", ("--steps", "12", "--shorten", "0=3"), "too few steps to tell which rank"),
                                 ("four", ("--steps", "4"), "rank 3 of 4 sets the pace"),
                                 ("others_short", ("--steps", "12", "--shorten", "0=6"), "rank 3 of 4 sets the pace"),
                                 ("one_missing", ("--steps", "6", "--missing", "1"), "rank 3 of the 3 recorded (of 4) sets")):
        job, _ = make(folder, f"short_{name}", [*late, *more])
        (row,) = ask(job)["jobs"]
        headline = " ".join(row["headline"].split())
        require(headline.startswith(expected), f"{name}: {headline}")
        if "pace" in expected:
            near(row["loss_per_step"], 900_000, 100_000, f"{name}: longer per step")


def check_even_pipeline(seed, folder):
    ranks, microbatches, _, _, _, _, options = planted_pipeline(100 + seed)
    job, truth = make(folder, f"even_pipeline{seed}", options)
    tables = ask(job)
    check_sends(tables, truth, ranks, microbatches)
    equal(tables["jobs"][0]["straggler"], None, "no stage is to blame")


def check_devices(seed, folder):
    """The devices of one process are ranks, by one clock."""
    dice = random.Random(900 + seed)
    ranks, late, cause = dice.choice([2, 4, 8]), 1, list(CAUSES)[seed % 3]
    options = ["--seed", str(seed), "--ranks", str(ranks), "--steps", "12", "--one-process"]
    job, truth = make(folder, f"process{seed}", [*options, "--late", f"{late}:{cause}:200000"])
    tables = ask(job)
    (row,) = tables["jobs"]
    equal((row["ranks"], row["world_size"], row["collectives"]), (ranks, None, 12 * LAYERS), "what was found")
    equal((row["straggler"], row["cause"]), (f"device {late}", CAUSES[cause]), "who and why")
    near(row["exposed_waiting"], sum(one["waiting"] for one in truth), 2000 * row["collectives"] * ranks, "all waiting")
    equal({one["clock_offset"] for one in tables["ranks"][:-1]}, {0}, "one clock")
    equal(len({one["collectives"] for one in tables["ranks"][:-1]}), 1, "collectives of each device")
    require(f"the ranks are the {ranks} devices of one process" in tables["notes"], tables["notes"])
    check_closed(tables)
    even, _ = make(folder, f"even_process{seed}", options)
    equal(ask(even)["jobs"][0]["straggler"], None, "nobody is to blame")


def check_several_processes(folder):
    """Where each of several processes has several devices, one device is looked at, and a note says so."""
    job, _ = make(folder, "processes", ["--ranks", "2", "--steps", "4", "--one-process"])
    trace = json.loads((job / "trace.json").read_text())
    for rank in range(2):
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
        (job / f"rank{rank}.json").write_text(json.dumps(trace))
    (job / "trace.json").unlink()
    tables = ask(job)
    equal(tables["jobs"][0]["ranks"], 2, "ranks")
    require(f"rank 0: {4 * LAYERS} collectives are on its other devices not looked at" in tables["notes"], tables["notes"])


def check_peers(folder):
    """Peers in annotations are found, and where they are nowhere, and where a stage is missing, it is said."""
    usual = ["--ranks", "3", "--steps", "6", "--microbatches", "4"]
    said, _ = make(folder, "said", usual)
    older, _ = make(folder, "older", [*usual, "--peers", "annotations"])
    for key in ("causes", "steps", "collectives"):
        equal([[cell for column, cell in row.items() if column not in ("job", "host")] for row in ask(said)[key]],
              [[cell for column, cell in row.items() if column not in ("job", "host")] for row in ask(older)[key]], key)
    nowhere, _ = make(folder, "nowhere", [*usual, "--peers", "nowhere"])
    tables = ask(nowhere)
    (row,) = tables["jobs"]
    equal((row["collectives"], row["unknown_peer"], row["straggler"]), (0, 6 * 4 * 2 * 2 * 2, None), "without peers")
    require("192 sends and receives are of kernels of which the trace does not say with which rank, and could not be paired: left out"
            in tables["notes"], tables["notes"])
    gap, _ = make(folder, "gap", [*usual, "--missing", "1"])
    tables = ask(gap)
    equal(tables["jobs"][0]["no_other_end"], 6 * 4 * 2 * 2, "without a stage")
    require("96 sends and receives have no other end in these traces: left out" in tables["notes"], tables["notes"])


def check_real(folder):
    """The four recorded ranks of a job of eight, against sums made from the JSON alone."""
    place = TRACES / "kineto/dlrm_8rank"
    if not place.is_dir():
        raise Skip(f"{place} is not there")
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


def check_real_exchanges(folder, name, pairs):
    """Kernels of NCCL that say with nobody whom they exchange with, on the two devices of one process: the n-th of both."""
    path = real_trace(f"other/{name}")
    kernels = open_index(path).execute(
        "SELECT k.deviceId, k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
        "WHERE s.value LIKE '%SendRecv%' ORDER BY k.start").fetchall()
    first, second = ([(start, end) for device, start, end in kernels if device == one] for one in (0, 1))
    equal((len(first), len(second)), (pairs, pairs), "exchanges of each device")
    index = ingest(path, folder / "index.tracedb")
    tables = ask(index)
    said = " ".join(run("trace-query", "ranks", "-q", index).stdout.split())
    (row,) = tables["jobs"]
    equal((row["collectives"], row["unknown_peer"]), (pairs, 0), "paired")
    waits = {one["rank"]: one["waiting"] for one in tables["ranks"]}
    for place, (own, other) in enumerate(((first, second), (second, first))):
        near(waits[f"device {place}"], sum(max(b[0] - a[0], 0) for a, b in zip(own, other)), 1000, f"waiting of device {place}")
    require(f"in {pairs} collectives" in said and "no collective is on two" not in said, said[:300])
    check_closed(tables)


def check_no_job(folder):
    run("make-trace", "--layers", "2", "--steps", "2", folder / "plain.json")
    refused(2, "names no rank of a job", "trace-query", "ranks", "-q", "--json", folder / "plain.json")


def main(cases, folder):
    for seed in range(12):
        cases.run(f"planted, seed {seed}", check_planted, seed, folder)
    for seed in range(12):
        cases.run(f"nothing planted, seed {seed}", check_even, seed, folder)
    for seed in range(6):
        cases.run(f"pipeline, seed {seed}", check_pipeline, seed, folder)
    cases.run("pipelines of few steps", check_short_pipeline, folder)
    for seed in range(4):
        cases.run(f"pipeline with nothing planted, seed {seed}", check_even_pipeline, seed, folder)
    for seed in range(3):
        cases.run(f"devices of one process, seed {seed}", check_devices, seed, folder)
    cases.each((check_several_processes, check_peers, check_parts, check_two_late, check_two_groups, check_unknown_size, check_breakdown, check_shifted, check_shorter, check_replicas, check_far_clocks, check_place, check_several, check_alone,
                check_one_folder_each, check_baseline, check_other_start, check_host, check_broken), folder)
    cases.run_apart("four real ranks of eight", check_real)
    for name, pairs in (("nsys_2gpu_before.sqlite", 33), ("nsys_2gpu_after.sqlite", 31)):
        cases.run_apart(f"exchanges of {name}", check_real_exchanges, name, pairs)
    cases.run("no job", check_no_job, folder)
