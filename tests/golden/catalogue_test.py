"""`trace-query ls` and `trend`: what a catalogue says of indexes is what the reports on each say, whatever becomes of the
cache of summaries; planted shifts are found, and nothing else."""
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

from trace_cases import as_json, equal, kineto_traces, open_index, program, refused, require, run, without_rights

DAY = 86_400 * 10**9
FIRST_DAY = 1_762_000_000 * 10**9


def make(path, date, *options, mix="D"):
    """A trace whose clock begins at a date, and its index beside it."""
    run("make-trace", "--layers", "2", "--mix", mix, "--steps", "6", "--python-stacks", "off", *options, path)
    Path(f"{path}.truth.json").unlink()
    text = path.read_text()
    begin = text.index('"baseTimeNanoseconds":') + len('"baseTimeNanoseconds":')
    end = min(place for place in (text.find("\n", begin), text.find(",", begin), text.find("}", begin)) if place > 0)
    path.write_text(text[:begin] + f" {date}" + text[end:])
    run("trace-ingest", "-q", path)
    return path


def rows(*arguments, env=None, check=True):
    return json.loads(run("trace-query", *arguments, "--json", check=check, env={**os.environ, **(env or {})}).stdout)


def ls(*arguments, env=None):
    return rows("ls", *arguments, env=env)["rows"]


def check_content(folder):
    trace = make(folder / "content" / "a.json", FIRST_DAY, "--vendor", "nvidia")
    shutil.copy(trace, folder / "content" / "new.json")
    listed = {row["name"]: row for row in ls(folder / "content")}
    equal(sorted(listed), ["a.json", "new.json"], "names")
    row = listed["a.json"]
    meta = dict(open_index(f"{trace}.tracedb").execute("SELECT key, value FROM meta"))
    equal((row["state"], row["vendor"], row["kernels"], row["gpu_time"]),
          ("indexed", meta["vendor"], int(meta["kernels"]), int(meta["kernel_ns"])), "facts")
    (phase,) = [one for one in as_json("phases", trace)["rows"] if one["phase"] == "decode"]
    equal((row["phase"], row["steps"], row["period"], row["span"]),
          ("decode", 6, round(phase["period"]), round(phase["gpu_span"])), "as in phases")
    equal(row["gpu"], "NVIDIA H100 80GB HBM3", "gpu")
    equal(rows("ls", folder / "content")["units"]["date_ns"], "ns", "unit of the date")
    equal((listed["new.json"]["state"], listed["new.json"]["kernels"]), ("not indexed", None), "a trace without an index")
    (folder / "content/a.json.gz").write_bytes(gzip.compress(trace.read_bytes()))
    (note,) = rows("ls", folder / "content")["warnings"]
    require(note.startswith("1 trace has no index yet"), f"one is another form of a trace that has: {note}")


def check_states(folder):
    place = folder / "states"
    trace = make(place / "a.json", FIRST_DAY)
    lost = make(place / "lost.json", FIRST_DAY)
    lost.unlink()
    (place / "broken.json.tracedb").write_bytes((place / "a.json.tracedb").read_bytes()[:40_000])
    trace.write_text(trace.read_text().replace("decode", "DECODE") + " ")
    result = run("trace-query", "ls", "--json", place, code=3)
    require("broken.json.tracedb" in result.stderr, result.stderr)
    states = {row["name"]: row["state"] for row in json.loads(result.stdout)["rows"]}
    equal(states, {"a.json": "out of date", "lost.json": "no trace", "broken.json.tracedb": "unusable"}, "states")
    told = rows("trend", place, check=False)["warnings"]
    require(f"1 index or folder is unusable and left out ({place}/broken.json.tracedb)" in told, told)
    for content in (b"", b"no index"):  # the command of its row, and the advice of its reason, replace it
        (place / "broken.json").write_bytes((folder / "content" / "a.json").read_bytes())
        (place / "broken.json.tracedb").write_bytes(content)
        (row,) = [row for row in rows("ls", place, check=False)["rows"] if row["state"] == "unusable"]
        require(row["trace"] == f"{place}/broken.json" and row["reason"].endswith("with trace-ingest --force"), row)
        run("trace-ingest", "-q", "--force", row["trace"])
        equal([one["state"] for one in ls(place / "broken.json.tracedb")], ["indexed"], "after its advice")
    (place / "broken.json").unlink()
    (place / "broken.json.tracedb").unlink()
    for arguments, code in (((), 0), (("--gate", "3", "--gate-inconclusive", "pass"), 3)):
        result = run("trace-query", "trend", "--json", place, *arguments, code=code)
        document = json.loads(result.stdout)
        equal([point["name"] for point in document["sections"][-1]["rows"]], ["lost.json"], "its runs")
        require("1 index is out of date and left out (a.json): run trace-ingest on the folder" in document["warnings"], document)


def check_closed(folder):
    """A folder that may not be read is never left out without a word, whatever is asked of its traces."""
    place, closed = folder / "closed", folder / "closed" / "late"
    for number in range(2):
        make(place / f"{number}.json", FIRST_DAY + number * DAY, "--seed", number)
    closed.chmod(0)
    asked = {("ls", place): 3, ("ls", closed): 3, ("ls", place, "--where", "kernels > 0 AND bytes > 1000"): 3, ("ls", place, "--where", "state = 'indexed'"): 0,
             ("trend", place, "--gate", 3, "--gate-inconclusive", "pass"): 3, ("kernels", place): 3, ("report", closed): 3,
             ("ranks", closed): 3, ("sql", place, "SELECT count(*) FROM all_kernels"): 3, ("compare", "--baseline", place / "0.json", closed, "--candidate", place / "1.json", "--gate", 50): 3}
    for words, code in asked.items():
        command = without_rights("env", f"TRACEDB_CACHE_DIR={folder}", program("trace-query"), *map(str, words))
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        equal((done.returncode, done.stderr.count(f"{closed}: Permission denied")), (code, int(code > 0)), f"{words}: {done.stderr}")
    closed.chmod(0o755)


def check_index_dir(folder):
    """Traces of one name each have their own index in the cache, where no server can open it."""
    place, cache = folder / "named", folder / "named-cache"
    for night in ("n1", "n2", "n3"):
        trace = make(place / night / "a.json", FIRST_DAY, "--seed", night[1])
        Path(f"{trace}.tracedb").unlink()
        if night != "n3":
            run("trace-ingest", "-q", "--index-dir", cache, trace)
    env = {"TRACEDB_CACHE_DIR": str(cache)}
    equal([(row["trace"], row["state"]) for row in ls(place, env=env)],
          [(f"{place}/n{n}/a.json", "indexed" if n < 3 else "not indexed") for n in (1, 2, 3)], "traces with indexes in the cache")
    for night in ("n1", "n2"):
        run("trace-query", "verify", "-q", place / night / "a.json", env=env)
    told = rows("ls", place, "--read-only", env=env)
    equal([row["trace"] for row in told["rows"]], [f"{place}/n3/a.json"], "what can be read")
    require("2 traces have their indexes in the cache directory: left out" in told["warnings"], told["warnings"])


def check_where(folder):
    place = folder / "content"
    equal([row["name"] for row in ls(place, "--where", "kernels > 0 AND vendor = 'nvidia'")], ["a.json"], "--where")
    equal(ls(place, "--where", "kernels > 1e9"), [], "none")
    for text, message in (("gpuu = 1", "--where: line 1, column 1: no such column: gpuu; did you mean 'gpu'?"),
                          ("steps > 1 AND\n nme = ''", "--where: line 2, column 2: no such column: nme"),
                          ("steps >", "--where: line 1, column 8: the expression is not complete")):
        error = run("trace-query", "ls", place, "--where", text, check=False).stderr
        require(message in error and "statement" not in error, error)
    for bad in ("nothing = 1", "1) UNION SELECT 1 --", "1); DELETE FROM catalogue; SELECT (1", "1; SELECT 2", "(", ""):
        refused(2, "", "trace-query", "ls", place, "--where", bad)


def without_cache(index):
    (row,) = ls(index, env={"TRACEDB_CACHE_DIR": str(index.parent / "no" / "cache")})
    return {key: value for key, value in row.items() if key not in ("name", "index_path", "trace_path", "bytes", "state")}


def check_stored(folder):
    """What ingest wrote is what the passes find, and counts only under the mark of the rules it was found by."""
    traces = [make(folder / "stored" / "made.json", FIRST_DAY), *(one for one in kineto_traces() if one.stat().st_size < 1 << 19)]
    for trace in traces:
        index = folder / "stored" / "x.tracedb"
        run("trace-ingest", "-q", "--force", "-o", index, trace)
        stored = without_cache(index)
        (text,) = open_index(index).execute("SELECT value FROM meta WHERE key = 'summary'").fetchone()
        mark, rest = text.split("\t", 1)

        def with_summary(change, *values):
            changed = folder / "stored" / "changed.tracedb"
            shutil.copy(index, changed)
            database = sqlite3.connect(changed, isolation_level=None)
            database.execute(change, values)
            database.close()
            return without_cache(changed)

        update = "UPDATE meta SET value = ? WHERE key = 'summary'"
        equal(with_summary("DELETE FROM meta WHERE key = 'summary'"), stored, f"{trace.name}: without")
        other = rest.replace("=", "=not ")
        equal(with_summary(update, f"{mark[::-1]}\t{other}"), stored, f"{trace.name}: by other rules")
        for damaged in ("", mark, "\t" * 9):
            equal(with_summary(update, damaged), stored, f"{trace.name}: damaged")
        if stored["framework"]:
            used = with_summary(update, f"{mark}\t{other}")
            equal(used["framework"], "not " + stored["framework"], f"{trace.name}: by these rules")


def check_cache(folder):
    """The same answer with a cache, without, with a broken one, and after each change of an index."""
    place = folder / "cache"
    for i in range(8):
        make(place / f"{i}.json", FIRST_DAY + i * DAY, "--seed", str(i))
    caches = folder / "caches"
    env = {"TRACEDB_CACHE_DIR": str(caches)}
    time.sleep(2.1)  # what changed a moment ago is not kept
    first = ls(place, env=env)
    content = (caches / "summaries").read_bytes()
    require(content.count(b"\n") == 9, f"{content.count(10)} lines in the cache")
    equal(ls(place, env=env), first, "from the cache")
    equal(ls(place, env={"TRACEDB_CACHE_DIR": str(folder / "file")}), first, "without one")
    for damaged in (content[:-7], content.replace(b"MI300X", b"MI400X"), b"", b"\0" * 5000, content + b"x"):
        (caches / "summaries").write_bytes(damaged)
        equal(ls(place, env=env), first, "with a damaged one")
    (caches / "summaries").write_bytes(content)
    shutil.copy(place / "3.json.tracedb", folder / "other.tracedb")
    run("trace-ingest", "-q", "--force", "-o", place / "3.json.tracedb", place / "5.json")
    changed = ls(place, env=env)
    equal([row["gpu_time"] for row in changed][3], first[5]["gpu_time"], "a replaced index")
    running = [subprocess.Popen([program("trace-query"), "ls", "--json", place], env={**os.environ, **env},
                                stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for process in running:
        equal(json.loads(process.communicate()[0])["rows"], changed, "at once")


def trend(*arguments, check=True):
    document = rows("trend", *arguments, check=check)
    return {section["section"]: section["rows"] for section in document["sections"]}


def check_trend(folder):
    place = folder / "nightly"
    for night in range(20):
        make(place / f"{19 - night:02}.json", FIRST_DAY + night * DAY, "--clock", "1.12" if night >= 12 else "1",
             "--idle", str(night * 7 % 5 * 1000))  # one seed: it decides where the clock of a trace begins
    (series,) = trend(place)["series"]
    equal((series["runs"], series["changes"], series["dated_by"]), (20, 1, "trace"), "one change")
    (date,) = [row["date"] for row in ls(place) if row["name"] == "07.json"]  # the 13th night
    equal(series["changed_at"], date, "when")
    require("(run 13 of 20)" in series["headline"] and " rose " in series["headline"], series["headline"])
    points = trend(place)["points"]
    equal([point["name"] for point in points], [f"{i:02}.json" for i in reversed(range(20))], "order of the dates")
    equal([point["run"] for point in points if point["change"]], [13], "the run that is flagged")
    equal(run("trace-query", "trend", place, "--gate", "5", check=False).returncode, 1, "--gate 5")
    equal(run("trace-query", "trend", place, "--gate", "50", check=False).returncode, 0, "--gate 50")
    equal(run("trace-query", "trend", place, "--gate", "five", check=False).returncode, 2, "--gate five")
    equal(trend(place)["series"], trend(place)["series"], "twice")
    gemm = trend(place, "--metric", "op:dense_gemm")["series"][0]
    equal(gemm["changes"], 1, "dense_gemm")
    require(11 < gemm["change_pct"] < 13, f"dense_gemm changed by {gemm['change_pct']} %, planted 12")
    (none,) = trend(place, "--metric", "kernel:no_such_kernel")["series"]
    equal((none["runs"], none["unknown"]), (0, 20), "a kernel that is nowhere")
    quiet = trend(place, "--where", f"date < '{date}'")["series"][0]
    equal((quiet["runs"], quiet["changes"]), (12, 0), "before the change")
    refused(2, "trace-query: --metric op:gemm: no such class; there are dense_gemm, moe_gemm\n",
            "trace-query", "trend", place, "--metric", "op:gemm")
    refused(2, "", "trace-query", "trend", place, "--metric", "speed")


def check_series(folder):
    """Unlike traces are different series."""
    place = folder / "unlike"
    for i, vendor in enumerate(["amd", "nvidia", "amd", "nvidia"]):
        make(place / f"{i}.json", FIRST_DAY + i * DAY, "--vendor", vendor)
    equal([row["runs"] for row in trend(place)["series"]], [2, 2], "a series for each device")
    (folder / "undated").mkdir()
    make(folder / "undated" / "a.json", 0)
    equal([row["dated_by"] for row in trend(folder / "undated")["series"]], ["file"], "dates of a clock without one")
    text = run("trace-query", "trend", "-q", place / "0.json", place / "1.json").stdout
    require("2 series have one run each" in text and "only run" not in text, f"one sentence for series of one run: {text}")


def check_runs(folder):
    """A run is one point, however many traces it has: ranks of a job, an index beside its trace and one elsewhere. Runs whose
    main phases differ are one series, of the phase that most of them have. --sets groups them by their paths."""
    place = folder / "runs"
    for commit, clock in (("aa11", 1), ("bb22", 1.1)):
        (place / commit).mkdir()
        for night in range(4):
            run("make-trace", "job", "--ranks", 2, "--seed", f"{night + 1}", "--clock", clock, place / commit / f"n{night}")
    jobs = [path for path in sorted(place.glob("*/n*")) if path.is_dir()]
    equal(len(jobs), 8, "jobs")
    run("trace-ingest", "--quiet", *jobs)
    answer = trend(place)
    equal([row["runs"] for row in answer["series"]], [8], "a run for each job")
    require({row["name"].rpartition("/")[0] for row in answer["points"]} == {f"{path.parent.name}/{path.name}" for path in jobs}, answer["points"])
    require(", 2 ranks" in answer["series"][0]["series"], answer["series"])
    sets = trend(place, "--sets", "/([a-z]+[0-9]+)/n")["sets"]
    equal([(row["set"], row["runs"]) for row in sets], [("aa11", 4), ("bb22", 4)], "sets")
    require(all(row["low"] <= row["mean"] <= row["high"] for row in sets), sets)
    require(0 < sets[1]["change_low"] <= sets[1]["change_pct"] <= sets[1]["change_high"] < 12, sets)
    refused(2, "trace-query: --sets x: give a group, such as /(commit-[^/]+)/\n", "trace-query", "trend", place, "--sets", "x")
    mixed = folder / "mixed"
    for night, mix in enumerate(("D*5,P", "P*3,D*3", "D*5,P", "D*5,P")):
        make(mixed / f"{night}.json", FIRST_DAY + night * DAY, "--seed", str(night), mix=mix)
    (series,) = trend(mixed)["series"]
    require(series["series"].endswith(", decode") and series["runs"] == 4, series)
    run("trace-ingest", "--quiet", "--index-dir", folder / "elsewhere", mixed / "0.json")
    equal(trend(mixed, folder / "elsewhere")["series"][0]["runs"], 4, "one trace with two indexes")
    shutil.copy(mixed / "0.json", mixed / "again.json")
    run("trace-ingest", "--quiet", mixed)
    answer = rows("trend", mixed)
    equal(answer["sections"][0]["rows"][0]["runs"], 4, "a trace and its copy")
    require(any(note.startswith("1 trace is a copy of another, which counts once: ") and
                note.endswith(f"{mixed}/again.json of {mixed}/0.json") for note in answer["warnings"]), answer["warnings"])


def check_undecided(folder):
    """Too few runs, and runs that show no change: the figures are said, and that nothing is known, not that nothing is."""
    place = folder / "undecided"
    for night, clock in enumerate([1, 1, 1, 1, 1, 1, 1.13, 1.3, 0.99, 1.2, 1.15, 1.25]):
        make(place / f"{night:02}.json", FIRST_DAY + night * DAY, "--clock", str(clock), "--seed", "7")
    (series,) = trend(place)["series"]
    values = [point["value"] for point in trend(place)["points"]]
    equal((series["runs"], series["changes"]), (12, 0), "no change is shown")
    require("no change shown in 12 runs: " in series["headline"] and "in the last, " in series["headline"], series["headline"])
    require(values[-1] > 1.1 * values[0], f"the last runs are no slower: {values}")
    few = run("trace-query", "trend", place / "00.json", place / "11.json", "--gate", "3", check=False)
    require("in 2 runs: too few to tell a change" in " ".join(few.stdout.split()), few.stdout)
    equal(few.returncode, 1, "a gate that judged nothing")
    require("1 of 1 series not judged: fewer than 10 runs" in few.stderr, few.stderr)
    for name, clocks, headline, code, gate in (
            ("newest", [1] * 10 + [1.3] * 2, "; 2 newest values are beyond all others", 1, ", or too few of a new level; it"),
            ("newer", [1] * 8 + [1.3] * 3, "; 3 newest values are beyond all others", 1, ", or too few of a new level; it"),
            ("lower", [1.3] * 11 + [1], "; 1 newest value is beyond all others", 0, ""),
            ("one_night", [1] * 5 + [1.3] + [1] * 6, "; 1 value stands out: ", 0, ""),
            ("rising", [1 + night / 100 for night in range(12)], " % steadily from ", 1, " %")):
        for night, clock in enumerate(clocks):
            make(folder / name / f"{night:02}.json", FIRST_DAY + night * DAY, "--clock", str(clock), "--seed", "7")
        (series,) = trend(folder / name)["series"]
        gated = run("trace-query", "trend", folder / name, "--gate", "3", check=False)
        require(headline in series["headline"] and gate in gated.stderr, f"{name}: {series['headline']} {gated.stderr}")
        equal(gated.returncode, code, f"{name}: a gate of 3 %")


def on_two_devices(trace):
    """Every kernel runs on a second device, too."""
    document = json.loads(trace.read_text())
    for event in [one for one in document["traceEvents"] if "correlation" in one.get("args", {})]:
        arguments = {**event["args"], "correlation": event["args"]["correlation"] + 10**7}
        device = {"pid": 1} if event["cat"] == "kernel" else {}
        document["traceEvents"].append({**event, **device, "args": {**arguments, **({"device": 1} if device else {})}})
    trace.write_text(json.dumps(document))
    run("trace-ingest", "-q", "--force", trace)


def check_cut(folder):
    """Kernels of a trace that was cut off are not known, and a second device that does the same is no more work."""
    for night in range(14):
        trace = make(folder / "cut" / f"{night:02}.json", FIRST_DAY + night * DAY, "--clock", "1.3" if night >= 7 else "1", "--seed", str(night))
        text = trace.read_text()
        if night >= 7:
            trace.write_text(text[:len(text) // 2])
            run("trace-ingest", "-q", "--force", trace, code=(0, 3))
        trace = make(folder / "second" / f"{night:02}.json", FIRST_DAY + night * DAY, "--seed", str(night))
        if night >= 7:
            on_two_devices(trace)
    for metric in ("period", "op:dense_gemm", "span"):
        (series,) = trend(folder / "cut", "--metric", metric)["series"]
        equal((series["runs"], series["unknown"], series["changes"]), (14, 0, 1) if metric == "period" else (7, 7, 0), f"{metric}: {series['headline']}")
        (series,) = trend(folder / "second", "--metric", metric)["series"]
        equal(series["changes"], 0, f"{metric} of two devices: {series['headline']}")
    said = run("trace-query", "trend", folder / "cut").stderr
    require("7 traces were cut off, and nobody knows which kernels are lost: of these there is a period alone" in said, said)


def check_new_work(folder):
    """Kernels that earlier runs did not have are work from 0 on, not unknown of those."""
    for night in range(20):
        make(folder / "new" / f"{night:02}.json", FIRST_DAY + night * DAY, "--quantise", "on" if night >= 13 else "off")
    given = ("trend", folder / "new", "--metric", "op:quantise")
    (series,) = trend(*given[1:])["series"]
    equal((series["runs"], series["unknown"], series["changes"], series["before"], series["change_pct"]), (20, 0, 1, 0, None), "from 0")
    counts = {row["kernels"] for row in ls(folder / "new")}
    equal(len(counts), 2, "kernels with and without quantisation")
    require(f"; kernels of a trace of 6 steps: {min(counts)} -> {max(counts)}" in series["headline"], series["headline"])
    gated = run("trace-query", *given, "--gate", "3", check=False)
    require(gated.returncode == 1 and ": new" in gated.stderr, gated.stderr)
    for night in range(20):
        make(folder / "more" / f"{night:02}.json", FIRST_DAY + night * DAY, "--quantise", "on" if night >= 13 else "off", "--prompt-tokens", "5000" if night >= 13 else "4096", mix="P")
    gated = run("trace-query", "trend", folder / "more", "--metric", "op:quantise", "--gate", "3", check=False)
    require(gated.returncode == 1 and ": new" in gated.stderr and "not judged" not in gated.stderr, f"no load makes work of none: {gated.stderr}")


def check_load(folder):
    """More tokens from a run on: the load is named, and the gate does not fail by it."""
    for night in range(14):
        make(folder / "load" / f"{night:02}.json", FIRST_DAY + night * DAY, "--prompt-tokens", "4400" if night >= 7 else "4096", mix="P")
        make(folder / "far" / f"{night:02}.json", FIRST_DAY + night * DAY, "--prompt-tokens", "5000" if night >= 7 else "4096", mix="P")
        make(folder / "even" / f"{night:02}.json", FIRST_DAY + night * DAY, *(("--prompt-tokens", "3640", "--clock", "1.13") if night >= 11 else ("--prompt-tokens", "4096")),
             "--idle", str(night * 7 % 5 * 100_000), mix="P")
    even = run("trace-query", "trend", folder / "even", "--gate", "3", check=False)
    require(even.returncode == 1 and "loads more than 10 % apart" in even.stderr and
            ", at 11.1 % less load a step from 2025-12-24 18:23 (run 12) on" in " ".join(even.stdout.split()), f"{even.stdout} {even.stderr}")
    for night in range(24):
        tokens, clock = ("3640", "1.22") if night >= 17 else ("4096", "1.08" if night >= 10 else "1")
        make(folder / "then" / f"{night:02}.json", FIRST_DAY + night * DAY, "--prompt-tokens", tokens, "--clock", clock, "--idle", str(night * 7 % 5 * 100_000), mix="P")
    then = " ".join(run("trace-query", "trend", folder / "then").stdout.split())
    require("(run 11 of 24)" in then and then.count("less load a step") == 1 and "% less load a step from 2025-12-30 18:23 (run 18) on" in then, f"the time first, then the load: {then}")
    for night in range(14):
        tokens = 4096 + 40 * (night * 7 % 5) if night < 13 else 4290
        make(folder / "last" / f"{night:02}.json", FIRST_DAY + night * DAY, "--prompt-tokens", str(tokens), "--clock", f"{4096 / tokens * (1.05 if night == 13 else 1):.4f}", mix="P")
    last = " ".join(run("trace-query", "trend", folder / "last").stdout.split())
    require("1 newest value is beyond all others of the level, at 2.7 % more load a step, too few for a change" in last, last)
    far = run("trace-query", "trend", folder / "far", "--gate", "50", code=1)
    require("1 of 1 series not judged: fewer than 10 runs, or loads more than 10 % apart; it fails" in far.stderr, far.stderr)
    require("14 runs have no set by --sets: of set -" in run("trace-query", "trend", folder / "far", "--sets", "(zzz)").stderr, "no run matches")
    (_, after) = trend(folder / "far", "--sets", r"/(?:0[7-9]|1\d)(\.)json$")["sets"]
    require(after["change_pct"] is None and 20 < after["load_pct"] < 25, after)
    for metric in ("period", "op:dense_gemm"):
        given = ("trend", folder / "load", "--metric", metric, "--gate", "3")
        require(", at 7.4 % more load a step" in rows(*given)["sections"][0]["rows"][0]["headline"], rows(*given))
        gated = run("trace-query", *given, "--gate-inconclusive", "fail", check=False)
        (_, after) = trend(*given[1:4], "--sets", r"/(?:0[7-9]|1\d)(\.)json$")["sets"]
        require(after["change_low"] < after["change_pct"] < after["change_high"] and 7 < after["load_pct"] < 8, after)
        require(gated.returncode == 1 and ", inconclusive: the load differs by 7.4 %: at equal load -" in gated.stderr, gated.stderr)
        change, low = (float(one) for one in re.search(r": ([+.0-9]+) %, .* at equal load ([-.0-9]+) to", gated.stderr).groups())
        ratio = 4096 / 4400
        plain = 100 * ((1 + change / 100) * (1 + 1 / ratio) / 2 * ratio - (1 + 1 / ratio) / 2)  # as much as the load
        equal(low < plain - 0.1, metric == "period", f"{metric}: attention grows by more: {low} {plain}")


def check_width(folder):
    """On a narrow terminal the figures by which runs are told apart stay."""
    text = run("trace-query", "ls", "-q", "--width", "80", folder / "content").stdout
    for head in ("Name", "Steps", "Kernels", "GPU Time", "Period"):
        require(head in text, f"no {head} in 80 columns: {text}")


def main(cases, folder):
    for name in ("content", "states", "closed/late", "stored", "cache", "nightly", "unlike", "undecided", "newest", "newer", "lower", "one_night", "cut", "second", "rising", "load", "far", "new", "more", "even", "then", "last", "runs", "mixed", "elsewhere", "named/n1", "named/n2", "named/n3"):
        (folder / name).mkdir(parents=True)
    (folder / "file").write_text("no folder")
    cases.each((check_content, check_width, check_states, check_closed, check_index_dir, check_where, check_stored, check_cache, check_trend,
                check_series, check_runs, check_undecided, check_load, check_cut, check_new_work), folder)
