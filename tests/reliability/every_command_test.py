"""Every command once, on two traces. Built with sanitizers (TRACEDB_BIN=build/asan/bin), a report of theirs is a
failure: the answers are what other tests look at."""
import os
import re
import sys
from pathlib import Path

for options in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    os.environ[options] = "exitcode=66:" + os.environ.get(options, "")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import equal, make_trace, require, run

ONE = "a.json"
TWO = (ONE, "b.json")
# What a command is asked; the others are asked about the first trace.
WORDS = {"report": (ONE, "-o", "one.html"), "compare": (*TWO, "-o", "two.html"), "align": TWO, "fusion": TWO,
         "ranks": ("job",), "ls": (".",), "trend": (*TWO, "--metric", "span"), "rules": ("list",), "schema": (),
         "model": ("ascend/model.json", "ascend/kernel_details.csv", "--op-map", "ascend/op_mapping.yaml"),
         "aie": ("tiles.json",), "export": (ONE, "-o", "window.json"),
         "sql": (*TWO, "SELECT op, layer, role, sum(dur) FROM all_kernels GROUP BY 1, 2, 3"),
         "stacks": (ONE, "--view", "tree")}
AGAIN = {"report of ranks": ("report", "job", "-o", "ranks.html"), "compare without a page": ("compare", *TWO),
         "sql of passes": ("sql", ONE, "SELECT * FROM gaps_by_cause; SELECT * FROM phases; SELECT * FROM sequences"),
         "folded stacks": ("export", ONE, "-o", "stacks.folded"), "sentences of all": ("warnings", *TWO)}


def ask(folder, name, *words):
    result = run(name, *words, check=False, cwd=folder)
    require("Sanitizer" not in result.stderr and "runtime error" not in result.stderr, result.stderr[:4000])
    require(result.returncode in (0, 1), f"{' '.join(words)}: exit {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def main(cases, folder):
    for seed, name in enumerate(TWO, 3):
        make_trace(folder / name, "--layers", 2, "--steps", 4, "--seed", seed, "--shapes", "on", "--truth", "/dev/null")
    run("make-trace", "job", "--ranks", 2, "--steps", 3, folder / "job")
    run("make-trace", "aie", "--tiles", "2", "--iterations", "3", "--kernels", "4", folder / "tiles.json")
    run("make-trace", "--ascend", 30, folder / "ascend")
    cases.run("trace-ingest", ask, folder, "trace-ingest", "-j", "2", *TWO, "job")
    help_text = run("trace-query", "--help").stdout
    names = re.findall(r"^  ([a-z]+) ", help_text.partition("Commands:")[2].partition("\n\n")[0], re.M)
    equal(set(WORDS) - set(names), set(), "words for what is no command")
    require(len(names) > 25, names)
    for name in (name for name in names if name != "serve"):  # which runs until it is ended: serve_test.py
        cases.run(name, ask, folder, "trace-query", name, *WORDS.get(name, (ONE,)))
    for name, words in AGAIN.items():
        cases.run(name, ask, folder, "trace-query", *words)
    for words in (("--stats", "."), ("--gc", "--dry-run", ".")):
        cases.run(words[0], ask, folder, "trace-ingest", *words)
