"""What trace-query says where it is asked for what is not there, or by words of other tools: exit codes and one line each.
Too little data is told as such and never as "no"."""
import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

from trace_cases import equal, ingest, make_trace, program, real_trace, refused, require, run

SERVER = ("--layers", 2, "--steps", 8, "--mix", "P,D*7", "--batch", 4, "--seed", 11)
KINDS = "use prefill, decode, mixed, train, other, unknown, unit or none"

# Arguments, exit code, and what standard error says; A, B: two traces, RANKS: a job, NIGHTS: three runs, OUT: a folder.
REFUSED = [
    *[((command, "A", *more, "--phase", "decod"), 2, f"--phase decod: {KINDS}; did you mean 'decode'?")
      for command, *more in (("ops",), ("timeline",), ("sql", "SELECT 1"), ("compare", "B"), ("align", "B"),
                             ("fusion", "B"), ("trend",), ("ranks",), ("report",), ("compare", "B", "--gate", "5"))],
    (("compare", "A", "B", "--phase", "decode,prefil"), 2, "did you mean 'prefill'?"),
    (("compare", "A", "--baseline-file", "OUT/b.json", "--gate", "5", "--phase", "decod"), 2, KINDS),
    *[(words, 2, f"no format has the ending {ending}; there are {first}")
      for words, ending, first in ((("ops", "A", "-o", "OUT/x.xlsx"), ".xlsx", ".txt, .csv"),
                                   (("ops", "A", "-o", "OUT/x.html"), ".html", ".txt, .csv"),
                                   (("compare", "A", "B", "-o", "OUT/x.xlsx"), ".xlsx", ".txt, .csv"),
                                   (("sql", "A", "SELECT 1", "-o", "OUT/x.db"), ".db", ".txt, .csv"),
                                   (("report", "A", "-o", "OUT/x.doc"), ".doc", ".html, .htm, .txt"),
                                   (("export", "A", "-o", "OUT/x.json.gz"), ".gz", ".json, .speedscope.json"))],
    (("diff", "A", "B"), 2, "no command 'diff': trace-query compare BASELINE CANDIDATE"),
    (("ui", "A"), 2, "trace-query report TRACE -o x.html"),
    (("summary", "A"), 2, "trace-query info TRACE"),
    (("stats", "A"), 2, "trace-query kernels TRACE"),
    (("kernels", "--top", "5", "A"), 2, "unknown option --top: use -n N, --limit N"),
    (("kernels", "--filter=x", "A"), 2, "unknown option --filter: use --name, --op, --phase"),
    (("report", "A", "B", "-o", "OUT/x.html"), 2, "trace-query compare A B -o OUT/x.html"),
    (("ranks", "A", "B"), 2, "2 traces name no rank of a job"),
    (("ranks", "A"), 2, "1 trace names no rank of a job"),
    (("sql", "A", "SELECT nosuch FROM kernels"), 2, "no such column: nosuch; kernels has id, name, short_name, "),
    (("sql", "A", "SELECT k.total FROM kernels k JOIN steps s ON s.id = k.step"), 2, "; steps has "),
    (("sql", "A", "SELECT duration FROM memcpys"), 2, "did you mean 'dur'?; memcpys has id, "),
]

# A gate that judged nothing is no gate.
GATES = [
    (("compare", "A", "B", "--phase", "mixed", "--gate", "5"), 1, "nothing was compared: it fails"),
    (("compare", "A", "B", "--phase", "mixed", "--gate", "5", "--gate-inconclusive", "pass"), 0, "nothing was compared"),
    (("compare", "A", "B", "--phase", "mixed", "--gate", "5", "--gate-inconclusive", "fail"), 1, "nothing was compared"),
    (("compare", "A", "--baseline-file", "OUT/b.json", "--gate", "5", "--phase", "mixed"), 1, "nothing was compared"),
    (("compare", "A", "--baseline-file", "OUT/b.json", "--gate", "5", "--phase", "mixed", "--gate-inconclusive", "pass"),
     0, "nothing was compared"),
    (("compare", "A", "A", "--gate", "5"), 0, ""),
    (("compare", "A", "A", "--gate", "5 %"), 0, ""),
    (("compare", "A", "A", "--gate", "5%%"), 2, "--gate 5%%: give percent"),
    (("trend", "NIGHTS", "--gate", "5% %"), 2, "--gate 5% %: give percent"),
    (("trend", "NIGHTS", "--gate", "5"), 1, "gate: 1 of 1 series not judged: fewer than 10 runs; it fails"),
    (("trend", "NIGHTS", "--gate", "5", "--gate-inconclusive", "pass"), 0, "1 of 1 series not judged"),
    (("trend", "NIGHTS", "--gate", "5", "--phase", "mixed"), 1, "gate: no run to judge; it fails"),
    (("trend", "NIGHTS", "--gate-inconclusive", "pass"), 2, "--gate-inconclusive needs --gate"),
]


def given(places, words):
    return [places.get(word, word.replace("OUT", places["OUT"])) for word in words]


def ask(places, words, **options):
    return run("trace-query", *given(places, words), check=False, **options)


def check_refused(places, words, code, said):
    for name, path in places.items():
        said = said.replace(f" {name} ", f" {path} ").replace("OUT", places["OUT"])
    refused(code, said, "trace-query", *given(places, words))
    equal(list(Path(places["OUT"]).glob("x.*")), [], f"{words}: files")


def check_gates(places):
    run("trace-query", "compare", "-q", "--save-baseline", f"{places['OUT']}/b.json", places["A"])
    for words, code, said in GATES:
        result = ask(places, words)
        equal(result.returncode, code, f"{words}: {result.stdout} {result.stderr}")
        require(said in result.stderr, f"{words}: {result.stderr}")
    said = ask(places, GATES[0][0]).stdout
    require("gate 5 %: FAILED, since it could judge nothing: nothing was compared" in said, said)
    document = json.loads(ask(places, (*GATES[0][0], "--json")).stdout)
    equal([row["outcome"] for row in document["gate"]], ["fail"], "the gate as data")


def check_few(places):
    """Neither of one step nor of three runs is it said that the time is unchanged."""
    page = ask(places, ("compare", "A", "A", "--phase", "prefill"))
    require("time unchanged" not in page.stdout and "(+0.0 %), inconclusive: " in page.stdout, page.stdout)
    require("time unchanged: " in ask(places, ("compare", "A", "A", "--phase", "decode")).stdout, "of seven steps")
    trend = ask(places, ("trend", "NIGHTS")).stdout
    require("no change" not in trend and " us in 3 runs: too few to tell a change" in trend.replace("\n", " "), trend)


def check_one_file(places):
    for b, said in (("A", f"baseline and candidate are one file: {places['A']}"),
                    ("COPY", "have one content: the trace is compared with itself")):
        require(said in ask(places, ("compare", "A", b)).stderr, f"compare A {b}")
    require("itself" not in ask(places, ("compare", "A", "B")).stderr, "compare of two")


NOTHING = (("--name", "nosuch"), ("--phase", "mixed"), ("--step", "77"), ("--from", "900s"), ("--op", "moe_gemm"),
           ("--phase", "mixed", "--step", "0"))
REPORTS = ("ops", "kernels", "layers", "timeline", "gaps", "launches", "comms", "memcpys", "stacks", "sequences",
           "warnings", "report", "ranks", "export")


def check_nothing(places, report):
    """A selection that matches nothing says so on standard error, whatever the format."""
    known = run("trace-query", report, "--help").stdout
    forms = {"report": ((),), "export": ((),)}.get(report, ((), ("--csv",), ("--json",)))
    for selection in NOTHING:
        if not all(f"{option} X" in known for option in selection[::2]):
            continue
        for form in forms:
            result = ask(places, (report, "RANKS" if report == "ranks" else "A", *selection, *form))
            require(any(word in result.stderr for word in ("match", "there are", "there is", "has no")),
                    f"{report} {selection} {form}: {result.stderr!r}")


def check_terminal(places):
    for more in ((), ("--format", "collapsed"), ("--format", "csv"), ("--report", "ops")):
        controller, terminal = pty.openpty()
        result = subprocess.run([program("trace-query"), "export", places["A"], *more], stdout=terminal,
                                stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        os.close(controller)
        equal((result.returncode, "as in -o window.json" in result.stderr), (2, True), f"export {more}: {result.stderr}")


def check_keys(places):
    """What a row is about stays, however narrow the table."""
    for words, key in ((("kernels", "A"), "Name"), (("ops", "A"), "Operation"), (("trend", "NIGHTS", "B"), "Series"),
                       (("ranks", "RANKS", "OTHER", "--section", "ranks"), "Job"),
                       (("ranks", "RANKS", "OTHER", "--section", "collectives"), "Job"),
                       (("ranks", "RANKS", "--section", "collectives"), "Rank"), (("ls", "RANKS"), "Rank")):
        for width in (30, 50, 80):
            lines = ask(places, (*words, "-q", "--width", str(width))).stdout.splitlines()
            rule = next(i for i, line in enumerate(lines) if line.startswith("--"))
            require(key in lines[rule - 1].split(), f"{words} at {width}: {lines[max(0, rule - 2):rule + 2]}")
            equal([line for line in lines if len(line) > width], [], f"{words} at {width}")


def check_unknown(folder):
    """Steps of no known kind have no --phase, and no sentence begins with the word for a vendor or for none."""
    plain = ("--layers", 2, "--steps", 6, "--mix", "D", "--annotations", "off", "--seed", 5)
    a, b = (make_trace(folder / f"{name}.json", *plain, "--vendor", name) for name in ("nvidia", "amd"))
    for words in (("compare", a, b), ("compare", a, a)):
        text = run("trace-query", *words).stdout
        require("--phase unknown" not in text, text)
        require(not text.startswith(("nvidia", "amd", "unknown")), text)


def check_ranks(folder):
    """Few collectives do not show that nobody holds the others up."""
    job = shutil.copytree(real_trace("kineto/dlrm_8rank"), folder / "dlrm", ignore=shutil.ignore_patterns("*.tracedb"))  # indexes go beside their traces
    text = run("trace-query", "ranks", "-q", job).stdout.replace("\n", " ")
    require("no rank holds the others up" not in text, text)
    require("too few collectives to be sure (" in text and " caused most (93 %) of the 550 us a step that each waits for late ranks" in text, text)


def main(cases, folder):
    places = {"A": make_trace(folder / "t.json", *SERVER), "B": make_trace(folder / "u.json", *SERVER, "--vendor", "nvidia"),
              "COPY": folder / "copy.json", "RANKS": folder / "job", "OTHER": folder / "other", "NIGHTS": folder / "nights",
              "OUT": folder / "out"}
    (folder / "out").mkdir()
    (folder / "nights").mkdir()
    shutil.copy(places["A"], places["COPY"])
    for name in ("job", "other"):
        run("make-trace", "job", "--layers", 2, "--ranks", 4, folder / name)
    for i in range(3):
        trace = make_trace(folder / "nights" / f"{i}.json", *SERVER, "--clock", 1 + i / 10)
        ingest(trace, f"{trace}.tracedb")
    for name in ("A", "B", "COPY"):
        ingest(places[name], f"{places[name]}.tracedb")
    run("trace-ingest", "-q", folder / "job", folder / "other")
    places = {name: str(path) for name, path in places.items()}
    for words, code, said in REFUSED:
        cases.run(" ".join(words), check_refused, places, words, code, said)
    for name, check in (("gates", check_gates), ("few steps and runs", check_few), ("one file", check_one_file),
                        ("export on a terminal", check_terminal), ("key columns", check_keys)):
        cases.run(name, check, places)
    for report in REPORTS:
        cases.run(f"nothing for {report}", check_nothing, places, report)
    cases.each((check_unknown, check_ranks), folder)
