"""`trace-query aie` on made traces of tiles: what was planted is found again, and beside it what the stream project's
program says of the same trace (--compat stream), which several of these faults mislead."""
import json
import re
import sqlite3

from trace_cases import as_json, equal, ingest, open_index, refused, require, rows, run

ORIGINAL = "--M 64 --K 64 --N 64 --m 8 --k 8 --n 8 --row 1 --col 1 --hwid h".split()
FOLDER = "outputs/h-gemm_64_64_64-1_row_1_col/traces"
SMALL = ["--tiles", "2", "--iterations", "5", "--kernels", "8"]


def make(folder, options):
    trace = folder / "trace.json"
    run("make-trace", "aie", *SMALL, *options, trace)
    truth = json.loads((folder / "trace.json.truth.json").read_text())["tiles"]
    return trace, truth


def ours(*arguments):
    document = as_json("aie", *arguments)
    return {section["section"]: section["rows"] for section in document["sections"]}


def theirs(folder, trace, warmup=0, iterations=99):
    """The files of the original, by tile."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    (place / "trace_mm_64_64_64.json").write_bytes(trace.read_bytes())
    run("trace-query", "aie", "--compat", "stream", *ORIGINAL, "--warmup", warmup, "--iterations", iterations, cwd=folder)
    return [json.loads(path.read_text()) for path in sorted(place.glob("tile*.json"))]


def total(core):
    return sum(row["num_kernels"] for row in core["iterations"])


# options of make-trace; whether the original finds other kernels than there are; its iterations where they are wrong
CASES = {
    "clean": ([], False, None),
    "one lost end": (["--lose-ends", "1"], False, None),
    "four lost ends shift all later pairs of the original": (["--lose-ends", "4", "--gap-cycles", "300"], True, None),
    "lost starts": (["--lose-starts", "3"], False, None),
    "lost starts and ends": (["--lose-starts", "2", "--lose-ends", "3"], False, None),
    "back to back: the original loses every second kernel": (["--gap-cycles", "0"], True, None),
    "back to back with lost ends": (["--gap-cycles", "0", "--lose-ends", "2"], True, None),
    "starts twice": (["--double-starts", "5"], False, None),
    "two kinds of kernels: the original drops the short ones": (["--second-kernel-cycles", "12"], True, None),
    "a stall before the first kernel: the original counts an empty iteration": (["--leading-stall"], False, 6),
    "old names of events": (["--old-names"], True, 0),
    "a lost end of a long stall": (["--lose-stall-ends", "1", "--leading-stall"], False, None),
}


def check(folder, options, misled, iterations):
    trace, truth = make(folder, options)
    sections = ours(trace)
    for tile, planted in zip(sections["tiles"], truth):
        for key, column in (("tile", "tile"), ("kernels", "kernels"), ("lost_ends", "orphan_starts"),
                            ("lost_starts", "orphan_ends"), ("doubled", "duplicates"), ("min", "min"), ("max", "max")):
            equal(tile[column], planted[key], f"{planted['tile']}: {column}")
        equal(tile["iterations"], planted["iterations"], "iterations")
    said = run("trace-query", "aie", trace).stderr
    equal(said.count("1 stall without an end"), 2 if "--lose-stall-ends" in options else 0, said)
    equal(len(sections["system"]), sections["tiles"][0]["iterations"] + 2, "system rows")
    if "--lose-stall-ends" in options:
        found, whole = (tables["tiles"][0]["lock_stall_pct"] for tables in (sections, ours(make(folder, options[2:])[0])))
        require(abs(found - whole) < 0.1, f"{found} % in lock stalls, of which {whole} % are there")
    for core, planted in zip(theirs(folder, trace), truth):
        equal(total(core) != planted["kernels"], misled, f"the original, with {total(core)} kernels, is misled")
        if iterations is not None:
            equal(core["detected_total_iterations"], iterations, "iterations of the original")


def check_same_name(folder):
    """The original writes both tiles into one file."""
    trace, truth = make(folder, ["--same-name", "--lose-ends", "3"])
    equal([row["tile"] for row in ours(trace)["tiles"]], ["tile2,0", "tile2,0 (pid 1)"], "tiles")
    equal(len(theirs(folder, trace)), 1, "files of the original")


def pulse(name, begin, end):
    return [{"name": name, "ts": begin, "ph": "B", "pid": 0, "tid": 0}, {"name": name, "ts": end, "ph": "E", "pid": 0, "tid": 0}]


def check_short_stalls(folder):
    """Once the end of one short stall is lost, the original takes every later one for a long one."""
    events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "core_trace for tile3,1"}}]
    for time in range(0, 10000, 1000):
        stall = pulse("LOCK_STALL", time, time + 30)
        events += stall[:1] if time == 2000 else stall
        events += pulse("INSTR_EVENT_0", time + 40, time + 41) + pulse("INSTR_EVENT_1", time + 89, time + 90)
    trace = folder / "trace.json"
    trace.write_text(json.dumps(events))
    tile = ours(trace)["tiles"][0]
    equal((tile["kernels"], tile["iterations"]), (10, 1), "kernels, iterations")
    equal(theirs(folder, trace)[0]["detected_total_iterations"], 8, "iterations of the original")


def check_lost_boundary(folder):
    """Where a tile lacks a boundary, the system has the iterations that are at the same time on both."""
    trace, _ = make(folder, [])
    whole = ours(trace)["system"]
    events = json.loads(trace.read_text())
    stalls = [event for event in events if event["name"] == "LOCK_STALL" and event["pid"] == events[-1]["pid"]]
    edges = sorted(stalls, key=lambda event: event["ts"])[2:4]  # the stall between the second iteration and the third
    equal([event["ph"] for event in edges], ["B", "E"], "a stall")
    trace.write_text(json.dumps([event for event in events if event not in edges]))
    sections = ours(trace)
    equal([row["iterations"] for row in sections["tiles"]], [5, 4], "iterations")
    equal(sections["system"][:-2], [row for row in whole[:-2] if row["iteration"] not in ("1", "2")], "system")
    for options in ((), ("--tile", sections["tiles"][1]["tile"])):
        said = run("trace-query", "aie", trace, *options).stderr
        require("4 iterations, 3 of which at the time of one of the 5 on another" in said and "pipeline" in said, said)
        require(" has 16 kernels, others 8: an edge between two may be lost; no rate of it is known" in said, said)
    rates = [row["gmacs_per_second"] for row in ours(trace, "--work", "1000", "--tile", sections["tiles"][1]["tile"])["iterations"]]
    equal([rate is None for rate in rates], [False, True, False, False], f"rates: {rates}")


def without(events, pid, is_lost):
    return [event for event in events if event["ph"] == "M" or event["pid"] != pid or not is_lost(event["ts"])]


def check_lost_iterations(folder):
    """Tiles whose recordings begin and end at other iterations have those in common that are at the same time."""
    trace, _ = make(folder, [])
    whole = ours(trace)["system"][:5]
    events = json.loads(trace.read_text())
    stalls = sorted(event["ts"] for event in events if event["name"] == "LOCK_STALL" and event["pid"] == 0)
    late = without(events, 0, lambda ts: ts < stalls[0])
    trace.write_text(json.dumps(late))
    sections = ours(trace, "--warmup", "1")
    equal([row["phase"] for row in sections["iterations"]], ["perf"] * 4 + ["warmup"] + ["perf"] * 4, "phases")
    equal([row["iteration"] for row in sections["iterations"]], [1, 2, 3, 4, 0, 1, 2, 3, 4], "numbers, as the system has them")
    equal(sections["system"][:-2], whole[1:], "the system without the first iteration, which one tile lacks")
    trace.write_text(json.dumps(without(late, 1, lambda ts: ts > stalls[-1])))
    equal([(row["tiles"], row["wall"]) for row in ours(trace)["system"][:-2]], [(2, row["wall"]) for row in whole[1:4]],
          "the system where each tile lacks another iteration")
    require("4 iterations, 3 of which" in run("trace-query", "aie", trace).stderr, "what is left out is said")


def check_hang(folder):
    """A tile that never leaves its last stall is in it, as far as its other events show."""
    events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "core_trace for tile3,1"}}]
    for time in range(0, 1000, 100):
        events += pulse("INSTR_EVENT_0", time, time + 1) + pulse("INSTR_EVENT_1", time + 89, time + 90)
    events += pulse("STREAM_STALL", 992, 995)[:1] + pulse("LOCK_STALL", 1000, 2000)[:1] + pulse("PORT_RUNNING_0", 2000, 10000)
    trace = folder / "trace.json"
    trace.write_text(json.dumps(events))
    tile = ours(trace)["tiles"][0]
    equal((tile["kernels"], tile["lock_stall_pct"], tile["stream_stall_pct"]), (10, 90.0, 0.08), "kernels, stalls")
    said = run("trace-query", "aie", trace).stderr
    require("1 last stall has no end, taken to last until the last event of any core, 9000 cycles later" in said.replace(",0", "0"), said)
    require("1 stall without an end" in said, said)
    # Its begin is the last event of the tile, another stall begins with it, and another core goes on.
    other = [{**event, "pid": 1} for event in [*events[:1], *pulse("LOCK_STALL", 9999, 10000)]]
    trace.write_text(json.dumps([*events[:-2], {**events[-3], "name": "MEMORY_STALL"}, *other]))
    tile = ours(trace)["tiles"][0]
    equal((tile["lock_stall_pct"], tile["memory_stall_pct"], tile["last_ts"], tile["coverage_pct"]), (90.0, 90.0, 1000, 100.0), "a hang")
    said = run("trace-query", "aie", trace).stderr.replace(",0", "0")
    require("2 last stalls have no end, taken to last until the last event of any core, 9000 cycles later" in said, said)
    # A vector instruction that begins with a stall is something else.
    trace.write_text(json.dumps([*events[:-2], *pulse("INSTR_VECTOR", 1000, 10000)]))
    equal(ours(trace)["tiles"][0]["lock_stall_pct"], 0, "no stall beside a vector instruction")


def check_one_tile(folder):
    """What is said of a tile does not depend on which others are shown."""
    trace, _ = make(folder, [])
    work = ("--work", "48128", "--warmup", "1")
    events = json.loads(trace.read_text())
    trace.write_text(json.dumps(without(events, 1, lambda ts: ts < max(event["ts"] for event in events if "ts" in event) / 2)))
    whole, one = ours(trace, *work), ours(trace, *work, "--tile", "tile2,1")
    for section in ("tiles", "iterations"):
        equal(one[section], [row for row in whole[section] if row["tile"] == "tile2,1"], section)
    require(one["tiles"][0]["coverage_pct"] < 60, one["tiles"])
    equal(one["system"][-1]["gmacs_per_second"], one["tiles"][0]["gmacs_per_second"], "rate of the one that is shown")


def check_forms(folder):
    """The same trace as an object, and with the names of processes at its end."""
    trace, _ = make(folder, [])
    whole, events = ours(trace), json.loads(trace.read_text())
    for name, document in (("object", {"traceEvents": events}), ("late names", sorted(events, key=lambda event: event["ph"] == "M"))):
        other = folder / f"{name}.json"
        other.write_text(json.dumps(document))
        equal(ours(other), whole, name)
        equal([row["kind"] for row in rows("issues", other)], [row["kind"] for row in rows("issues", trace)], f"{name}: issues")
    core = [event for event in events if event["pid"] == 0]
    padding = [{"name": "thread_name", "ph": "M", "pid": 0, "tid": slot, "args": {"name": f"slot {slot}"}} for slot in range(99)]
    for sign in ("INSTR_VECTOR", "MEMORY_STALL", "STREAM_STALL", "CASCADE_STALL", "InstrEvent0", ""):
        first = pulse(sign, 0, 1) * 99 if sign else core[:1]
        other.write_text(json.dumps({"traceEvents": [*first, *padding, *core]}))
        run("trace-ingest", "-q", "--force", "-o", folder / "form.tracedb", other)
        equal(dict(open_index(folder / "form.tracedb").execute("SELECT key, value FROM meta"))["format"], "aie", f"known by {sign or 'core_trace'}")


def check_words(folder):
    """Cycles are called so wherever people read them; nobody waits but the tile; no steps are told of."""
    slow, _ = make(folder, ["--kernel-cycles", "150"])
    other = folder / "slow.json"
    slow.rename(other)
    trace, _ = make(folder, [])
    indexes = [ingest(path, path.with_suffix(".tracedb")) for path in (trace, other)]
    series = run("trace-query", "trend", *indexes, "--metric", "op:other")
    require("Value (cycles)" in series.stdout and " us" not in series.stdout, series.stdout)
    require("times are cycles" in run("trace-query", "export", trace, "-o", folder / "w.json").stderr, "cycles in Perfetto")
    window = json.loads((folder / "w.json").read_text())["traceEvents"]
    names = [event["args"]["name"] for event in window if event["name"] in ("process_name", "thread_name")]
    require("device: AI Engine" in names and not any(name.endswith(" ") or " :" in name for name in names), names)
    require("Tile (%)" in run("trace-query", "timeline", trace).stdout, "who waits")
    for words in (("report", trace, "--format", "markdown"), ("compare", trace, other)):
        text = " ".join(run("trace-query", *words).stdout.replace("\\", "").split())
        require("tile in `LOCK_STALL`" in text or words[0] == "compare", text)
        require("host in" not in text and "within the step" not in text and "kernels at once" not in text and "another step" not in text, text)


def check_index(folder):
    """The normal reports and SQL know the tiles; the index is the same for any number of threads, and adds up."""
    trace, truth = make(folder, ["--lose-ends", "2", "--lose-starts", "1"])
    indexes = [ingest(trace, folder / f"{threads}.tracedb", "--threads", threads) for threads in (1, 3)]
    equal(indexes[0].read_bytes() == indexes[1].read_bytes(), True, "same bytes")
    run("trace-query", "verify", indexes[0])
    facts = {row["item"]: row["value"] for row in rows("info", indexes[0]) if row["section"] == "events"}
    equal((facts["used in others"], facts["skipped"]), (sum(row["ph"] in "EM" for row in json.loads(trace.read_text())), 0),
          "events that other rows have, and that are lost")
    planted = sum(tile["kernels"] for tile in truth)
    found = rows("kernels", indexes[0])
    equal((found[0]["instances"], found[0]["total_time"]), (planted, sum(tile["total"] for tile in truth)), "kernels")
    equal(rows("ops", indexes[0])[0]["instances"], planted, "ops")
    with sqlite3.connect(indexes[0]) as index:
        equal(index.execute("SELECT st.number, count(*) FROM kernel k JOIN stream st ON st.id = k.stream_id "
                            "GROUP BY 1 ORDER BY 1").fetchall(),
              [(tile["tile"], tile["kernels"]) for tile in truth], "kernels by tile")
        equal(index.execute("SELECT value FROM meta WHERE key = 'format'").fetchone(), ("aie",), "format")
        equal(index.execute("SELECT DISTINCT dur FROM slice s JOIN string n ON n.id = s.name_id "
                            "WHERE n.value = 'LOCK_STALL'").fetchall(), [(6000,)], "stalls in cycles")


def check_options(folder):
    trace, truth = make(folder, ["--lose-ends", "2"])
    whole = ours(trace, "--gemm", "64,64,64", "--peak-macs", "256", "--warmup", "1", "--iterations", "3")
    phases = [row["phase"] for row in whole["iterations"][:5]]
    equal(phases, ["warmup", "perf", "perf", "perf", "extra"], "phases")
    equal([row["iteration"] for row in whole["system"]], ["1", "2", "3", "mean", "all"], "measured iterations")
    span = whole["iterations"][1]["span"]
    equal(whole["iterations"][1]["gmacs_per_second"], 64.0**3 / 2 * 1.25 / span, "rate of a tile")
    equal(whole["iterations"][1]["utilisation_pct"], 100 * (64.0**3 / 2) / (256 * span), "utilisation")
    halved = ours(trace, "--work", 64**3, "--cores", "4", "--clock-ghz", "2.5")
    equal(halved["iterations"][1]["gmacs_per_second"], 64.0**3 / 4 * 2.5 / span, "rate with --cores and --clock-ghz")
    work = 64 * span * 2.5 * 2  # what 2.5 of the two cores that are traced, or five in all, could do
    overfull = run("trace-query", "aie", trace, "--work", work, "--json")
    needed = int(re.search(r"more than 2 cores can do .* give --cores \(at least (\d+)\)", overfull.stderr)[1])
    for cores in (needed - 1, needed):
        said = run("trace-query", "aie", trace, "--work", work, "--cores", cores).stderr
        equal(f"at least {needed}" in said, cores < needed, f"said of {cores} cores")
    tile, system = (json.loads(overfull.stdout)["sections"][at]["rows"][0] for at in (1, 2))
    equal((tile["gmacs_per_second"], tile["utilisation_pct"], system["utilisation_pct"]), (None, None, None), "above 100 %")
    equal(system["gmacs_per_second"], work * 1.25 / system["runtime"], "rate of the array, however many cores")
    equal(ours(trace, "--boundaries", "none")["tiles"][0]["iterations"], 1, "no boundaries")
    equal(ours(trace, "--boundaries", "gap=1000")["tiles"][0]["iterations"], 5, "boundaries by gap")
    equal([row["kernels"] for row in ours(trace, "--boundaries", "count=20")["iterations"]][:2], [20, 18], "by count")
    counted = ours(trace, "--boundaries", "count=20", "--work", "1000")
    for row in counted["iterations"]:
        equal(row["gmacs_per_second"] is None, row["kernels"] < 20, f"the rate of a part of an iteration: {row}")
    *known, part, mean, _ = counted["system"]
    equal((part["gmacs_per_second"], part["utilisation_pct"]), (None, None), "the rate of the last part")
    equal(mean["gmacs_per_second"], sum(row["gmacs_per_second"] for row in known) / len(known), "mean rate of the others")
    equal(len(ours(trace, "--tile", "*,1")["tiles"]), 1, "--tile")
    begin_to_begin = ours(trace, "--kernel-events", "INSTR_EVENT_0:B,INSTR_EVENT_1:B")["tiles"][0]
    equal(begin_to_begin["median"], whole["tiles"][0]["median"] - 1, "as mlir-aie counts")
    equal(len(ours(trace, trace)["tiles"]), 4, "tiles of two traces")


def check_bad_input(folder):
    """One line or a note for everything odd, and never silence."""
    def answer(name, events, *options, code=0):
        trace = folder / f"{name}.json"
        trace.write_text(json.dumps(events))
        return run("trace-query", "aie", *options, trace, code=code).stderr

    core = {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "core_trace for tile2,1"}}
    start = {"name": "INSTR_EVENT_0", "ph": "B", "pid": 0, "tid": 0, "ts": 5}
    require("no cores" in answer("memory", [{**core, "args": {"name": "mem_trace for tile2,1"}}, start]), "no cores")
    require("not of AI Engine" in answer("other", {"traceEvents": [{**start, "name": "a", "ph": "X", "dur": 1}]}), "other format")
    require("no pair among" in answer("unpaired", [core, start]), "no pairs")
    odd = [core, start, {**start, "ts": "x"}, {**start, "name": "INSTR_EVENT_1", "ph": "E", "ts": 1e300}]
    answer("numbers", odd)
    issues = run("trace-query", "issues", folder / "numbers.json").stdout
    require("bad_timestamp" in issues, f"unreadable numbers are issues: {issues}")
    for option in (("--gemm", "1,2"), ("--boundaries", "gap=x"), ("--outlier", "3"), ("--kernel-events", "a:B"),
                   ("--clock-ghz", "0"), ("--section", "tile"), ("--compat", "strem"), ("--gemm", "1,2,3", "--work", "5")):
        refused(2, "", "trace-query", "aie", *option, folder / "unpaired.json")


def check_cut(folder):
    """What is whole in a file that was cut off is kept, and an issue says that the end is missing."""
    trace, _ = make(folder, [])
    text = trace.read_bytes()
    whole = ours(trace)["tiles"]
    for share in (0.3, 0.6, 0.9):
        cut = folder / "cut.json"
        cut.write_bytes(text[:int(len(text) * share)])
        index = folder / "cut.tracedb"
        run("trace-ingest", "-q", "--force", "-o", index, cut)
        found = open_index(index)
        equal(found.execute("SELECT count FROM issue WHERE kind = 'truncated'").fetchall(), [(1,)], f"issue at {share}")
        equal(found.execute("SELECT value FROM meta WHERE key = 'complete'").fetchall(), [("0",)], "the index says it")
        read, stored, skipped = found.execute("SELECT sum(read), sum(stored), sum(skipped) FROM event_count").fetchone()
        equal(read, stored + skipped, "conservation")
        whole_events = text[:int(len(text) * share)].count(b'"ph"')
        require(whole_events - 1 <= read <= whole_events, f"{read} read of {whole_events} at {share}")
        kernels = sum(tile["kernels"] for tile in ours(index)["tiles"])
        require(0 < kernels < sum(tile["kernels"] for tile in whole), f"{kernels} kernels at {share}")
        result = run("trace-query", "aie", index)
        require("truncated" in result.stderr, f"aie does not say that the end is missing: {result.stderr}")


def check_cut_iterations(folder):
    """A recording that ends or begins inside an iteration: it is told that this one counts in means with fewer kernels."""
    trace, _ = make(folder, [])
    written = json.loads(trace.read_text())
    names = [event for event in written if event["ph"] == "M"]
    events = [event for event in written if event["ph"] in "BE" and event["pid"] == written[0]["pid"]]
    kernels = [event["ts"] for event in events if event["name"] == "INSTR_EVENT_1" and event["ph"] == "E"]
    require("no rate" not in run("trace-query", "aie", trace).stderr, "of a whole recording")
    for kept, said in ((lambda ts: ts <= kernels[-6], " has 3 kernels, others 8: the recording may end in it; no rate of it is known"),
                       (lambda ts: ts > kernels[5], " has 2 kernels, others 8: the recording may begin in it; no rate of it is known")):
        trace.write_text(json.dumps([*names, *(event for event in events if kept(event["ts"]))]))
        require(said in run("trace-query", "aie", trace).stderr, said)
        rates = [row["gmacs_per_second"] for row in ours(trace, "--work", "1000")["iterations"]]
        equal((rates.count(None), len(set(rates) - {None}) > 0), (1, True), f"rates: {rates}")


def check_model(folder):
    """Cycles are no time: model refuses a trace of tiles on either side, and answers the other scenarios."""
    trace, _ = make(folder, [])
    run("make-trace", "--ascend", "9", folder / "made")
    model, profile = folder / "made/model.json", folder / "made/kernel_details.csv"
    for odd in (("name=odd", f"model={trace}", f"profile={profile}"), ("name=odd", f"model={model}", f"profile={trace}")):
        result = run("trace-query", "model", "--scenario", ",".join(odd), "--scenario", f"name=good,model={model},profile={profile}",
                     "--json", code=3)
        lines = [line for line in result.stderr.splitlines() if "cycles" in line]
        require(len(lines) == 1 and "trace-query aie" in lines[0] and str(trace) in lines[0], result.stderr)
        require("good" in result.stdout, "the other scenario is answered")


def check_speedscope(folder):
    """Cycles are no nanoseconds there, either."""
    trace, _ = make(folder, [])
    document = json.loads(run("trace-query", "export", "-q", trace, "--format", "speedscope").stdout)
    equal({profile["unit"] for profile in document["profiles"]}, {"none"}, "unit")


def main(cases, _):
    for name, (options, misled, iterations) in CASES.items():
        cases.run_apart(name, check, options, misled, iterations)
    for function in (check_same_name, check_short_stalls, check_lost_boundary, check_lost_iterations, check_hang, check_one_tile,
                     check_forms, check_words, check_index, check_options, check_bad_input, check_cut, check_cut_iterations,
                     check_model, check_speedscope):
        cases.run_apart(function.__name__, function)
