"""Commands that work on several threads say the same for any number of them. Built with the thread sanitizer
(TRACEDB_BIN=build/tsan/bin) they also race for nothing: a report of it is a failure."""
import os
import sys
from pathlib import Path

os.environ["TSAN_OPTIONS"] = "exitcode=66"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import equal, make_trace, require, run

STATEMENTS = ("SELECT name, count(*), sum(dur) FROM all_kernels GROUP BY name",
              "SELECT * FROM (SELECT op, layer, count(*), sum(dur) FROM all_kernels GROUP BY 1, 2)",
              "SELECT index_name, phase, median(dur) FROM all_kernels GROUP BY 1, 2; SELECT count(*) FROM all_launches",
              "SELECT * FROM all_kernels LIMIT 5")


def say(*words, code=0):
    result = run(*words, code=code)
    require("ThreadSanitizer" not in result.stderr, result.stderr[:4000])
    return result.stdout


def check_sql(place):
    for statement in STATEMENTS:
        answers = [say("trace-query", "sql", "-q", "--csv", place, statement, "--threads", n) for n in (1, 2, 4)]
        equal(answers[1:], answers[:1] * 2, statement)
    say("trace-query", "sql", "-q", place, "SELECT count(*) FROM all_kernels a, all_kernels b, all_kernels c",
        "--threads", 4, "--timeout", "0.3", code=5)


def check_ingest(folder, place):
    say("trace-ingest", "-q", "-j", 4, place)
    for job in ("job", "pipeline", "process"):
        say("trace-ingest", "-q", "-j", 2, folder / job)


def main(cases, folder):
    place = folder / "set"
    place.mkdir()
    for seed in range(10):
        make_trace(place / f"t{seed}.json", "--layers", 2, "--steps", 3 + seed % 5, "--seed", seed, "--truth", "/dev/null")
    for name, options in (("job", ["--late", "1:compute:200000"]), ("pipeline", ["--microbatches", 3]),
                          ("process", ["--one-process"])):
        run("make-trace", "job", "--ranks", 3, "--steps", 5, *options, folder / name)
    cases.run("ingest", check_ingest, folder, place)
    cases.run("sql", check_sql, place)
    for words in (("ls", place), ("ranks", folder / "job"), ("ranks", folder / "pipeline"), ("ranks", folder / "process"),
                  ("trend", place, "--metric", "span"), ("kernels", place), ("timeline", place),
                  ("compare", place / "t0.json", place / "t1.json"),
                  ("report", place / "t0.json", "-o", folder / "page.html")):
        cases.run(" ".join(map(str, words[:1])), say, "trace-query", *words)
