"""The command line of trace-query: formats by the ending of a file, other spellings, environment variables, help."""
import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from trace_cases import equal, ingest, make_trace, program, refused, report_commands, require, run

SERVER = ("--layers", 2, "--steps", 3, "--mix", "P,D*2", "--batch", 4, "--seed", 11)


def query(*arguments, **options):
    return run("trace-query", *arguments, **options).stdout


def check_endings(index, folder):
    for name, begins in (("x.csv", "Input,Time (%),"), ("x.tsv", "Input\tTime (%)"), ("x.json", '{"schema"'),
                         ("x.jsonl", '{"input"'), ("x.md", "| "), ("x.txt", "Time  "),
                         ("a.csv/x", "Time  "), ("X", "Time  ")):
        (folder / name).parent.mkdir(exist_ok=True)
        query("kernels", "-q", "-o", folder / name, index)
        text = (folder / name).read_text()
        require(text.startswith(begins), f"{name} begins {text[:40]!r}")
    require(b"\r" not in (folder / "x.csv").read_bytes(), "lines of CSV end with \\n")
    query("kernels", "-q", "--format", "json", "-o", folder / "y.csv", index)
    json.loads((folder / "y.csv").read_text())
    query("kernels", "-q", "--tsv", "-o", folder / "z.csv", index)
    require("\t" in (folder / "z.csv").read_text(), "a flag loses to the ending")


def check_spellings(index, other):
    equal(query("kernels", "-q", "-n", "2", index), query("kernels", "-q", "--limit", "2", index), "-n")
    shares = [row["time_pct"] for row in json.loads(query("kernels", "-q", "--json", index))["rows"]]
    for percent in (0, 30.5, 90, 100):
        found = json.loads(query("kernels", "-q", "--json", "--cum", f"{percent}%", index))["rows"]
        enough = next(n for n in range(1, len(shares) + 1) if sum(shares[:n]) > percent - 1e-9)
        equal([row["name"] == "[others]" for row in found], [False] * enough + [True] * (enough < len(shares)), f"--cum {percent}")
        equal(round(sum(row["time_pct"] for row in found), 6), 100, f"shares of --cum {percent}")
    refused(2, "no shares that add up", "trace-query", "steps", "-q", "--cum", "90", index)
    refused(2, "percent from 0 to 100", "trace-query", "kernels", "-q", "--cum", "101", index)
    for name in ("trace-query", "trace-ingest"):
        equal(run(name, "-V").stdout, run(name, "--version").stdout, f"{name} -V")
    by_token = query("compare", "-q", "--section", "ledger", "--normalise", "token", "--csv", index, other)
    for words in (("--normalize", "token"), ("--normalize=token",)):
        equal(query("compare", "-q", "--section", "ledger", *words, "--csv", index, other), by_token, str(words))
    refused(2, "", "trace-query", "kernels", "--normalize", "token", index)


def check_info(index, trace):
    equal(query(index, "-q"), query("info", "-q", index), "an index alone")
    equal(query(trace, "-q", "--json"), query("info", "-q", "--json", trace), "a trace alone")
    require("no such file" in refused(3, "absent.json", "trace-query", "absent.json"), "what is wrong")
    require("did you mean 'kernels'" in run("trace-query", "kernel", check=False).stderr, "a mistyped command")
    equal(refused(2, "", "trace-query", index, "kernels"), f"trace-query: the command comes first: trace-query kernels {index}\n",
          "a command behind the trace")


def check_input_column(index):
    for command in report_commands():
        head = next(csv.reader(query(*command, "-q", "--csv", index).splitlines()))
        equal(head[0], "Input", f"first column of {command} as CSV")
        for line in query(*command, "-q", "--jsonl", index).splitlines():
            equal(json.loads(line)["input"], str(index), f"input of {command} as JSON lines")
    rows = json.loads(query("kernels", "-q", "--json", index))["rows"]
    require("input" not in rows[0], "a JSON document of one input says so in its head")


def check_environment(folder, trace):
    # A name too long for an index beside the trace: its index goes to the cache directory.
    long_name = folder / ("t" * 245 + ".json")
    shutil.copy(trace, long_name)
    environment = {**os.environ, "TRACEDB_CACHE_DIR": str(folder / "cache"), "XDG_CACHE_HOME": str(folder / "other")}
    query("kernels", "-q", long_name, env=environment)
    equal(len(list((folder / "cache").glob("*.tracedb"))), 1, "indexes in TRACEDB_CACHE_DIR")
    require(not (folder / "other").exists(), "XDG_CACHE_HOME was used")
    wafer = {**os.environ, "TRACEDB_RULES": "wafer"}
    equal(query("ops", "-q", trace, env=wafer), query("ops", "-q", "--rules", "wafer", trace), "TRACEDB_RULES")
    equal(query("ops", "-q", "--rules", "default", trace, env=wafer), query("ops", "-q", trace), "--rules wins")
    (folder / "empty.rules").write_text("# none yet\n")
    for words in (("ops", trace), ("compare", trace, trace), ("rules", "list")):
        said = run("trace-query", *words, "--rules", folder / "empty.rules").stderr
        equal(said.count("empty.rules: no rule, so that every kernel is of class other"), 1, f"{words}: {said}")


def check_selection(index):
    def names(*options):
        return {row["name"] for row in json.loads(query("kernels", "-q", "--json", *options, index))["rows"]}

    def total(*options):
        return sum(row["total_time"] for row in json.loads(query("ops", "-q", "--json", *options, index))["rows"])

    equal(total("--step", "0,2"), total("--step", "0") + total("--step", "2"), "steps 0 and 2")
    equal(total("--step", "0..1,2"), total("--step", "0..2"), "steps in parts")
    equal(total("--phase", "prefill,decode"), total("--step", "0.."), "all kinds of steps")
    equal(total("--phase", "decode", "--phase", "prefill"), total("--phase", "prefill,decode"), "a repeated option")
    equal(names("--op", "norm,rotary"), names("--op", "norm") | names("--op", "rotary"), "two classes")
    equal(total("--device", "0,0"), total(), "the only device")
    for options, said in ((("--op", "gemm"), "no such class; there are dense_gemm, moe_gemm"),
                          (("--op", "nrom"), "did you mean 'norm'"), (("--op", "norm,zzz"), "--op zzz: no such class"),
                          (("--device", "9"), "--device 9: there is 0"), (("--device", "0,9"), "there is 0"),
                          (("--stream", "99"), "--stream 99: there"), (("--phase", "decode,prefil"), "mean 'prefill'"),
                          (("--step", "1,x"), "--step x: give numbers"), (("--device", "x"), "--device x: give")):
        refused(2, said, "trace-query", "kernels", *options, index)
    require(query("kernels", "-q", "--op", "moe_gemm", "--csv", index).count("\n") == 1, "a class without kernels")


def check_inputs(folder, trace, index, other):
    runs = folder / "runs"
    (runs / "deep").mkdir(parents=True)
    shutil.copy(trace, runs / "a.json")
    shutil.copy(index, runs / "a.json.tracedb")  # of the trace beside it: not a second input
    shutil.copy(other, runs / "deep" / "only_index.tracedb")
    both = [str(runs / "a.json"), str(runs / "deep" / "only_index.tracedb")]

    def inputs(*arguments, **options):
        return json.loads(query("ops", "-q", "--json", *arguments, **options))["inputs"]

    equal(inputs(runs), both, "a folder")
    equal(inputs(f"{runs}/*.json"), both[:1], "a pattern")
    (folder / "list").write_text("\n".join(both) + "\n")
    equal(inputs("--files-from", folder / "list"), both, "a list")
    equal(inputs("--files-from", "-", input="\0".join(both)), both, "a list on standard input")
    equal(inputs(index, runs), [str(index), *both], "a file and a folder")
    with open(trace, "rb") as stream:
        streamed = json.loads(query("ops", "-q", "--json", "-", stdin=stream))
    equal(streamed["rows"], json.loads(query("ops", "-q", "--json", index))["rows"], "standard input")
    equal(streamed["inputs"], ["-"], "its name")
    for wanted in (index, other):  # nothing is kept under a name that is another file in the next run
        with open(trace if wanted == index else folder / "u.json", "rb") as stream:
            equal(json.loads(query("ops", "-q", "--json", "/dev/stdin", stdin=stream))["rows"],
                  json.loads(query("ops", "-q", "--json", wanted))["rows"], "/dev/stdin")
    require(not Path("/dev/stdin.tracedb").exists(), "an index among the devices")
    (folder / "fd").mkdir()
    shutil.copy(trace, folder / "fd" / "t.json")
    query("ops", "-q", folder / "fd" / "t.json")
    require((folder / "fd" / "t.json.tracedb").exists(), "a folder fd keeps its indexes")
    with open(trace, "rb") as stream:
        lost = run("trace-query", "ops", "-", check=False, stdin=stream, env={**os.environ, "TMPDIR": str(folder / "none")})
    equal((lost.returncode, lost.stderr.count("\n"), "TMPDIR" in lost.stderr), (5, 1, True), lost.stderr)
    (folder / "nothing").mkdir()
    refused(3, "no traces there", "trace-query", "ops", folder / "nothing")
    compared = json.loads(query("compare", "-q", "--json", "--section", "ledger", index, runs / "deep"))
    equal(compared["inputs"], [str(index), both[1]], "a candidate in a folder")


def check_bad_input(folder, index, other):
    bad = folder / "bad.json"
    bad.write_text("this is no trace")
    for options, name in (((), "table"), (("--json",), "JSON"), (("--csv",), "CSV"), (("--explain",), "SQL")):
        alone = query("ops", "-q", *options, index, other)
        mixed = run("trace-query", "ops", "-q", *options, index, bad, other, folder / "absent", check=False)
        equal((mixed.returncode, mixed.stdout), (3, alone), f"the others as {name}")
        equal([str(name) in line for name, line in zip((bad, folder / "absent"), mixed.stderr.splitlines())],
              [True, True], f"a line for each: {mixed.stderr}")
    kept = folder / "kept.csv"
    kept.write_text("old")
    none = run("trace-query", "ops", "-o", kept, bad, folder / "absent", check=False)
    equal((none.returncode, kept.read_text()), (3, "old"), "nothing was answered")
    equal(run("trace-query", "ops", "--device", "9", index, other, check=False).returncode, 2, "wrong for every input")
    verified = run("trace-query", "verify", "--csv", index, folder / "absent", check=False)
    require(verified.returncode == 3 and str(index) in verified.stdout, "verify of the others")
    compared = run("trace-query", "compare", "-q", "--section", "ledger", index, bad, other, code=3)
    equal(compared.stdout, query("compare", "-q", "--section", "ledger", index, other), "compare of the others")
    equal(run("trace-query", "compare", bad, index, check=False).returncode, 3, "a baseline that cannot be read")


TYPES = {"string": str, "number": (int, float), "array": list, "object": dict, "null": type(None)}


def faults(value, schema, place):
    """Where a value is not what a JSON Schema says, for the words that ours have."""
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(isinstance(value, TYPES[name]) and not isinstance(value, bool) for name in wanted):
        yield f"{place}: {value!r} is no {wanted}"
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r}, not {schema['const']!r}"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place}: {value!r} does not match {schema['pattern']!r}"
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}: no {name}"
    for name, member in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            yield from faults(value[name], member, f"{place}.{name}")
    for i, item in enumerate(value if isinstance(value, list) and "items" in schema else []):
        yield from faults(item, schema["items"], f"{place}[{i}]")
    if "anyOf" in schema and all(list(faults(value, one, place)) for one in schema["anyOf"]):
        yield f"{place}: fits none of {len(schema['anyOf'])} shapes"


def check_json_schemas(index, other):
    cases = [((*words, index), "rules_show" if words[0] == "rules" else words[0]) for words in report_commands()]
    cases += [(("ops", index, other), "ops"), (("timeline", "--per-stream", index), "timeline"),
              (("kernels", "--name", "none of these", index), "kernels"),
              (("align", index, other), "compare"), (("fusion", index, other), "compare"),
              (("compare", "--section", "all", index, other), "compare"), (("compare", index, other, "--gate", 1000), "compare"),
              (("compare", index, other, other), "compare")]
    for command, name in cases:
        schema = json.loads(query("schema", "--json-schema", name))
        document = json.loads(query(command[0], "-q", "--json", *command[1:]))
        equal(list(faults(document, schema, name)), [], " ".join(map(str, command)))
        del document["schema"]
        require(list(faults(document, schema, name)), f"{name}: the schema holds for anything")
    refused(2, "did you mean 'kernels'", "trace-query", "schema", "--json-schema", "kernel")


def check_columns_of_help(index, other):
    """`help REPORT`, `schema` and the JSON Schema name the columns that the report has."""
    for name in dict.fromkeys(words[0] for words in report_commands() if words[0] != "rules"):
        head = next(csv.reader(query(name, "-q", "--csv", "--timeunit", "ns", index).splitlines()))[1:]
        text = query("help", name)
        listed = {row["column"] for row in json.loads(query("schema", "--json", "--object", f"report {name}"))["rows"]}
        rows = json.loads(query(name, "-q", "--json", index))["rows"]
        keys = rows[0] if rows else {}
        for key in keys:
            require(re.search(rf"^{key} ", text, re.M), f"help {name} does not explain {key}")
            require(key in listed, f"schema does not list {key} of {name}")
        for column in head:
            require(column.removesuffix(" (ns)") in text, f"help {name} does not name {column}")
    for command, sections in (("aie", ("tiles", "system")), ("model", ("summary", "operators"))):
        for section in sections:
            require(f"Columns of {section}:" in query("help", command), f"help {command} does not explain {section}")
    for section in ("summary", "ledger", "alignment"):
        require(f"Columns of {section}:" in query("help", "compare"), f"help compare does not explain {section}")
    require("Columns" not in query("kernels", "--help"), "--help is about options")


def check_no_frame(index):
    """Where no frame is looked at, a line says what to do instead of a row that has all."""
    out = run("trace-query", "stacks", "--by", "line", "--own", "nosuch/*", index)
    require("--own 'nosuch/*' matches" in out.stderr and "[no own frame]" not in out.stdout, out.stdout + out.stderr)
    rows = json.loads(query("stacks", "-q", "--by", "line", "--own", "nosuch/*", "--json", index))["rows"]
    equal([row["frame"] for row in rows], ["[no own frame]"], "rows")


def check_help():
    text = query("stacks", "--help")
    order = [text.index(word) for word in ("Options of stacks", "--view", "Selection", "--phase", "Common options",
                                           "--format", "--timeout")]
    equal(order, sorted(order), "order of the help")
    for name in ("TRACEDB_CACHE_DIR", "TRACEDB_RULES", "TRACEDB_COLUMNS"):
        require(name in query("--help"), f"{name} is not in the help")


def check_full(folder):
    """What cannot be printed is an error, whatever prints it."""
    for command in (("trace-query", "help"), ("trace-query", "--help"), ("trace-query", "help", "ops"), ("trace-ingest", "--help"),
                    ("trace-ingest", "--stats", folder), ("trace-ingest", "--gc", "--dry-run", folder)):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([program(command[0]), *command[1:]], stdout=full, stderr=subprocess.PIPE, text=True)
        equal((done.returncode, done.stderr.count("not everything could be written")), (5, 1), f"{command}: {done.stderr}")


def main(cases, folder):
    trace = make_trace(folder / "t.json", *SERVER)
    index = ingest(trace, folder / "t.json.tracedb")
    other = ingest(make_trace(folder / "u.json", *SERVER, "--vendor", "amd"), folder / "u.tracedb")
    cases.run("formats by the ending of a file", check_endings, index, folder)
    cases.run("other spellings", check_spellings, index, other)
    cases.run("a trace in the place of a command", check_info, index, trace)
    cases.run("the column Input", check_input_column, index)
    cases.run("environment variables", check_environment, folder, trace)
    cases.run("lists and closed lists", check_selection, index)
    cases.run("folders, patterns and lists", check_inputs, folder, trace, index, other)
    cases.run("bad inputs among good ones", check_bad_input, folder, index, other)
    cases.each((check_json_schemas, check_columns_of_help), index, other)
    cases.run("order of the help", check_help)
    cases.run("a full device", check_full, folder)
    cases.run("no frame", check_no_frame, index)
