"""Kernel time by call path as folded stacks and for speedscope, of one trace and of two: sums to the nanosecond, the same
paths in both; tables, which other commands write; names made to harm, in every format."""
import json
import re
from collections import Counter

from chrome_trace import checked_events
from made_events import event, kernel, write_trace
from trace_cases import TRACES, equal, ingest, make_trace, open_index, refused, require, rows, run

SERVER = ("--layers", 2, "--steps", 3, "--mix", "P,D*2", "--batch", 4, "--graphs", "off", "--seed", 11)
CHOICES = ((), ("--by", "module"), ("--by", "line"), ("--modules",), ("--each-module",), ("--own", "vllm/*"),
           ("--phase", "decode"), ("--step", "1", "--by", "module"))
HOSTILE = ("<script>alert(1)</script>", '"},{"ph":"X', "a;b 5", "\x1b[31mred", "\u202eevil", "line\nfeed 7", "nul\x00", "x" * 100000,
           "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace"), "</svg>", "\\u0022")


def export(index, *options):
    return run("trace-query", "export", "-q", *options, index).stdout


def kernel_time(index, *options):
    selection = [word for at, word in enumerate(options) if {word, options[at - 1] if at else ""} & {"--phase", "--step"}]
    found = rows("kernels", *selection, index)
    return sum(row["total_time"] for row in found)


def folded(text):
    """Time by path."""
    lines = [line.rpartition(" ") for line in text.splitlines()]
    equal(len({path for path, _, _ in lines}), len(lines), "paths, each once")
    return {path: int(time) for path, _, time in lines}


def check_collapsed(index):
    for options in CHOICES:
        paths = folded(export(index, "--format", "collapsed", *options))
        equal(sum(paths.values()), kernel_time(index, *options), f"sum of the paths, {options}")
        equal(paths, folded(run("trace-query", "stacks", "-q", "--view", "collapsed", *options, index).stdout), f"stacks, {options}")


def check_paths(index):
    paths = folded(export(index, "--format", "collapsed"))
    by_stack = Counter()
    for path, time in open_index(index).execute(
            "SELECT s.path, sum(k.dur) FROM kernel k LEFT JOIN stacks s ON s.id = k.stack_id GROUP BY k.stack_id"):
        by_stack[path or "[no stack]"] += time
    equal(paths, dict(by_stack), "paths of the index")


def check_difference(index, other):
    for options in CHOICES[:4]:
        sides = [folded(export(path, "--format", "collapsed", *options)) for path in (index, other)]
        both = {}
        for line in export(index, "--format", "collapsed", "--compare", other, *options).splitlines():
            path, baseline, candidate = line.rsplit(" ", 2)
            both[path] = (int(baseline), int(candidate))
        equal(both, {path: tuple(side.get(path, 0) for side in sides) for path in {**sides[0], **sides[1]}}, f"{options}")
    mirrored = export(other, "--format", "collapsed", "--compare", index)
    swapped = [" ".join([path, b, a]) for path, a, b in
               (line.rsplit(" ", 2) for line in export(index, "--format", "collapsed", "--compare", other).splitlines())]
    equal(mirrored.splitlines(), swapped, "the other way round")


def profile_times(document, profile):
    """What the schema of speedscope asks of a sampled profile; time by path."""
    equal(sorted(profile), ["endValue", "name", "samples", "startValue", "type", "unit", "weights"], "members of a profile")
    equal((profile["type"], profile["unit"], profile["startValue"]), ("sampled", "nanoseconds", 0), "kind of profile")
    equal(len(profile["samples"]), len(profile["weights"]), "weights")
    equal(sum(profile["weights"]), profile["endValue"], "end of a profile")
    frames = document["shared"]["frames"]
    return {tuple(frames[frame]["name"] for frame in sample): weight
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True)}


def check_speedscope(folder, index, other):
    run("trace-query", "export", "-q", "--compare", other, "-o", folder / "x.speedscope.json", index)
    document = json.loads((folder / "x.speedscope.json").read_text(encoding="utf-8"))
    equal(document["$schema"], "https://www.speedscope.app/file-format-schema.json", "schema")
    equal(sorted(document), ["$schema", "activeProfileIndex", "exporter", "name", "profiles", "shared"], "members")
    for frame in document["shared"]["frames"]:
        require(isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line"}, f"frame {frame}")
    require(any(frame.get("file") and frame["line"] > 0 for frame in document["shared"]["frames"]), "no frame has a file")
    for profile, path in zip(document["profiles"], (index, other), strict=True):
        times = profile_times(document, profile)
        equal(sum(times.values()), kernel_time(path), "kernel time")
        lines = Counter({";".join(frame.replace(";", ",") for frame in frames): time for frames, time in times.items()})
        equal(dict(lines), folded(export(path, "--format", "collapsed")), "paths")


def check_tables(folder, index):
    for options, words in ((("--format", "csv", "--report", "ops"), ("ops", "--format", "csv")),
                           (("--report=ops", "--format=jsonl", "--phase", "decode"), ("ops", "--jsonl", "--phase", "decode")),
                           (("--format", "tsv"), ("sql", "--tsv")), (("--format", "jsonl", "--query", "SELECT 1 AS a"), ("sql", "--jsonl"))):
        statement = () if words[0] != "sql" else ("SELECT 1 AS a" if "--query" in options else "SELECT * FROM kernels",)
        equal(export(index, *options), run("trace-query", words[0], "-q", *words[1:], index, *statement).stdout, f"{options}")
    equal(export(index, "--format", "jsonl", "--phase", "decode", "--op=norm*"),
          run("trace-query", "sql", "-q", "--jsonl", index, "SELECT * FROM kernels WHERE phase = 'decode' AND op GLOB 'norm*'").stdout, "selected kernels")
    refused(2, "no kernel matches the selection; --step: there are steps 0 to ", "trace-query", "export", index, "--step", "999", "-o", folder / "no.csv")
    equal((folder / "no.csv").exists(), False, "a table without a kernel")
    run("trace-query", "export", "-q", "-o", folder / "k.tsv", index)
    rows = (folder / "k.tsv").read_text(encoding="utf-8").splitlines()
    equal(len(rows) - 1, open_index(index).execute("SELECT count(*) FROM kernel").fetchone()[0], "rows of the kernel table")


def hostile_trace(path):
    events = []
    for number, name in enumerate(HOSTILE):
        ts, launch = number * 100, {"correlation": number + 1, "External id": number + 1}
        events += [{"ph": "M", "name": "process_name", "pid": 10 + number, "tid": 0, "args": {"name": name}},
                   {"ph": "M", "name": "thread_name", "pid": 10 + number, "tid": 1, "args": {"name": name}},
                   event("python_function", name, ts, 90, 10 + number, **{"Python id": number + 1, "Python parent id": None}),
                   event("cpu_op", name, ts + 1, 80, 10 + number, **{"External id": number + 1, "Input type": [name]}),
                   event("cuda_runtime", "cudaLaunchKernel", ts + 2, 3, 10 + number, **launch),
                   event(name, name, ts, 2, name, name),
                   {"ph": "C", "cat": name, "name": name, "pid": 10 + number, "ts": ts, "args": {name: 1.5}},
                   {"ph": "i", "cat": name, "name": name, "pid": 10 + number, "tid": 1, "ts": ts},
                   kernel(name, ts + 20, 7, **{"Collective name": name, **launch})]
    return write_trace(path, events, traceName=HOSTILE[0], **{"<script>": HOSTILE[1]})


def check_hostile(folder):
    index = ingest(hostile_trace(folder / "hostile.json"), folder / "hostile.tracedb")
    run("trace-query", "export", "-q", "-o", folder / "window.json", index)
    events = checked_events(folder / "window.json")
    names = [event["name"] for event in events if event.get("cat") == "kernel"]
    stored = [name.replace("\x00", "\ufffd") for name in HOSTILE]  # what an index can hold
    equal(names, stored, "names of kernels")
    threads = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    equal(set(stored) - threads, set(), "names of threads")
    again = ingest(folder / "window.json", folder / "again.tracedb")
    equal(open_index(again).execute("SELECT n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.id").fetchall(),
          [(name,) for name in stored], "names read again")
    paths = folded(export(index, "--format", "collapsed"))
    equal((len(paths), sum(paths.values())), (len(set(HOSTILE)), 7000 * len(HOSTILE)), "folded stacks of hostile names")
    require(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]", "".join(paths)), "a path with control characters")
    document = json.loads(export(index, "--format", "speedscope"))
    equal({frame["name"] for frame in document["shared"]["frames"]}, set(stored), "frames of hostile names")


def main(cases, folder):
    index = ingest(make_trace(folder / "a.json", *SERVER), folder / "a.tracedb")
    other = ingest(make_trace(folder / "b.json", *SERVER[:-1], 12, "--vendor", "nvidia"), folder / "b.tracedb")
    cases.each((check_collapsed, check_paths), index)
    cases.run("folded stacks of two traces", check_difference, index, other)
    cases.run("speedscope", check_speedscope, folder, index, other)
    cases.run("tables", check_tables, folder, index)
    cases.run("hostile names", check_hostile, folder)
    real = TRACES / "kineto" / "timesformer_hf_mi300x.json.gz"
    if real.exists():
        cases.run(real.name, check_collapsed, ingest(real, folder / "real.tracedb"))
    else:
        cases.skip(real.name, f"no real traces here: {real.parent} does not have it (TRACEDB_TRACES names the folder)")
