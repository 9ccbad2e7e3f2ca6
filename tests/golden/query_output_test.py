"""What trace-query shows by default: how many rows, what it says of a device without a name, SQL that begins with a comment."""
import csv
import io
import json
import re
from pathlib import Path

from made_events import kernel, write_trace
from trace_cases import as_json, edit_database, equal, make_trace, refused, require, run, sql

KERNELS = 40
SHOWN = 30


def trace(last_device="AMD Instinct MI210"):
    events = [kernel(f"kernel_{i}", 100 + 10 * i, 1 + i, 1, 6) for i in range(KERNELS)]
    devices = [{"id": i, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992} for i in range(4)]
    devices[-1]["name"] = last_device
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}


def rows(index, *options):
    return len(run("trace-query", "kernels", "-q", *options, index).stdout.splitlines()) - 2


def check_rows(index, folder):
    equal(rows(index), SHOWN + 1, "rows of the default table")
    equal(rows(index, "--limit", "0"), KERNELS, "rows of --limit 0")
    equal(rows(index, "--markdown"), KERNELS, "rows of markdown")
    equal(len(as_json("kernels", index)["rows"]), KERNELS, "rows of JSON")
    run("trace-query", "kernels", "-o", folder / "table.txt", index)
    equal(len((folder / "table.txt").read_text().splitlines()) - 2, KERNELS, "rows in a file")
    require("[others] is 10 more rows; --limit 0 shows all" in run("trace-query", "kernels", index).stderr, "no note")


def check_device(index, folder):
    """A device that the trace does not list by number is of the one model that it lists, if it lists only one."""
    source = folder / "one_model.json"
    source.write_text(json.dumps(trace("AMD Instinct MI300X")))
    for asked, expected in ((index, "amd, not described by the trace (it lists 4 others)"),
                            (source, "AMD Instinct MI300X (amd, 206 GB)")):
        shown = run("trace-query", "info", asked).stdout
        require(expected in shown, f"info does not say {expected!r}:\n{shown}")


def check_issues(index):
    require("that the trace does not describe" in run("trace-query", "issues", index).stdout, "no meaning shown")


def check_comment(index):
    equal(run("trace-query", "sql", "--csv", index, "-- how many\nSELECT count(*) AS n FROM kernel").stdout.split(),
          ["n", str(KERNELS)], "answer to SQL that begins with a comment")


def check_missing_steps(folder):
    """A selection that fits nothing says what there is."""
    served = make_trace(folder / "served.json", "--layers", 2, "--steps", 3, "--mix", "P,D*2", "--seed", 5)
    for command in ("ops", "kernels", "timeline", "gaps", "stacks", "launches", "memcpys", "layers", "ops --by role"):
        for options, expected in ((("--phase", "train"), "--phase train: there are prefill, decode"),
                                  (("--phase", "decode,mixed"), "--phase mixed: there are prefill, decode"),
                                  (("--step", "2,77"), "--step: there are steps 0 to 2"),
                                  (("--step", "3.."), "--step: there are steps 0 to 2")):
            said = run("trace-query", *command.split(), *options, served).stderr.splitlines()
            equal([line for line in said if "there are" in line], [f"note: {expected}"], f"{command} {options}")
    one = make_trace(folder / "one.json", "--layers", 2, "--steps", 1, "--mix", "P", "--seed", 5)
    for options, expected in ((("--phase", "decode"), "--phase decode: there is only prefill"),
                              (("--step", "1"), "--step: there is only step 0")):
        require(f"note: {expected}\n" in run("trace-query", "ops", *options, one).stderr, f"{options} of one step")
    said = run("trace-query", "export", "--compare", one, served, "-o", folder / "two.json", "--phase", "decode").stderr
    require(f"note: {one}: --phase decode: there is only prefill\n" in said, f"which of two traces: {said}")
    for options in (("--phase", "decode,none"), ("--step", "..2"), ("--step", "1")):
        require("there are" not in run("trace-query", "ops", *options, served).stderr, options)


def check_damaged_index(folder):
    """The trace is given, so an index that cannot be used is made anew, as trace-ingest does."""
    source = folder / "damaged.json"
    source.write_text(json.dumps(trace()))
    run("trace-ingest", "-q", source)
    index = Path(f"{source}.tracedb")
    good = index.read_bytes()
    facts = {row["item"]: row["value"] for row in json.loads(run("trace-query", "info", "--json", index).stdout)["rows"] if row["section"] == "events"}
    said = "{read} events read = {stored} stored + {used in others} used in others + {skipped} skipped".format_map(facts)
    require(said in run("trace-query", "verify", "--wide", index).stdout, f"as info has it: {said}")
    edit_database(index, "DELETE FROM meta WHERE key = 'events_used'")
    for command in (("info",), ("verify", "--wide")):
        require("used in others or skipped" in run("trace-query", *command, index).stdout, "what an upgraded index does not tell apart is")
    edit_database(index, "DELETE FROM meta WHERE key = 'complete'")
    require(run("trace-query", "kernels", index, check=False).returncode == 3, "an unfinished index was taken")
    for damage in (index.read_bytes(), good[:100] + bytes(len(good) - 100), good[:50_000]):
        index.write_bytes(damage)
        equal(run("trace-query", "kernels", "--no-ingest", source, check=False).returncode, 3, "exit with --no-ingest")
        equal(rows(source), SHOWN + 1, "rows from a trace with a damaged index")


def check_refused(folder):
    (folder / "empty").mkdir()
    for path, reason in ((folder / "empty", "no traces there"), (folder / "absent", "no such file"), ("/dev/null", "regular file")):
        require(str(path) in refused(3, reason, "trace-query", "kernels", path), f"{path} is not named")


def check_usage(index):
    for arguments in (("--formt", "csv"), ("--format",), ("--lim", "3"), ("-Z",), ("--limit", "-1")):
        refused(2, "", "trace-query", "kernels", index, *arguments)
    require("did you mean '--format'" in run("trace-query", "kernels", index, "--formt=csv", check=False).stderr,
            "no suggestion")


def check_nul(index):
    refused(2, "", "trace-query", "sql", index, "-", input="SELECT 1;\0")


def check_without_arguments():
    """A command that needs arguments says so in one line."""
    commands = re.findall(r"^  ([a-z]+) ", run("trace-query", "--help").stdout, re.M)
    asking = 0
    for command in commands:
        result = run("trace-query", command, check=False)
        if result.returncode == 0:
            continue
        equal(result.returncode, 2, f"exit code of {command}")
        lines = result.stderr.splitlines()
        require(len(lines) == 1 and "\\x" not in lines[0] and command in lines[0], f"{command}: {result.stderr!r}")
        asking += 1
    require(asking > 15, f"only {asking} of {commands} need arguments")


def check_several_inputs(index, folder):
    other = write_trace(folder / "other.json", trace()["traceEvents"][:2])
    run("trace-ingest", "-q", other)
    inputs = [str(index), f"{other}.tracedb"]
    expected = [inputs[0]] * KERNELS + [inputs[1]] * 2
    document = as_json("kernels", *inputs)
    equal(document["inputs"], inputs, "inputs of JSON")
    equal([row["input"] for row in document["rows"]], expected, "input of each row of JSON")
    lines = run("trace-query", "kernels", "--jsonl", *inputs).stdout.splitlines()
    equal([json.loads(line)["input"] for line in lines], expected, "input of each row of JSON lines")
    table = list(csv.reader(io.StringIO(run("trace-query", "kernels", "--csv", *inputs).stdout)))
    equal([row[0] for row in table], ["Input", *expected], "first column of CSV")
    require("input" not in as_json("kernels", index)["rows"][0], "one input")
    checks = as_json("verify", *inputs)
    equal({row["input"] for row in checks["rows"]}, set(inputs), "inputs of verify")
    missing = run("trace-query", "kernels", "--json", index, folder / "absent", check=False)
    equal((missing.returncode, json.loads(missing.stdout)["inputs"]), (3, [str(index)]), "the document without an input")
    people = run("trace-query", "kernels", *inputs).stdout
    require(all(f"{name}\n\n" in people for name in inputs), "tables for people are not named")


def check_several_statements(index):
    text = "SELECT count(*) AS n FROM kernel; SELECT 7 AS seven, 'x' AS t"
    rows = [{"statement": 1, "n": KERNELS}, {"statement": 2, "seven": 7, "t": "x"}]
    equal(sql(index, text), rows, "rows of JSON")
    lines = run("trace-query", "sql", "--jsonl", index, text).stdout.splitlines()
    equal([json.loads(line) for line in lines], rows, "rows of JSON lines")
    equal(run("trace-query", "sql", "--csv", index, text).stdout.split(), ["n", str(KERNELS), "seven,t", "7,x"], "CSV")
    equal(sql(index, "SELECT 1 AS a"), [{"a": 1}], "one")
    refused(2, "statement 2", "trace-query", "sql", "--json", index, "SELECT 1; SELECT nme FROM kernel")


def check_cells(index):
    """What a text was can be told from its cell; numbers with a unit are no formulas."""
    texts = ["a\nb", "a\\x0ab", "C:\\temp", "\x1b[31m", "-5 ns", "=1+1", "-1+2", "-cmd", 'say "x",y', "\uff1d1"]
    select = "SELECT value AS v FROM json_each(:t)"
    shown = run("trace-query", "sql", "--csv", index, select, "--param", f"t={json.dumps(texts)}").stdout
    require("\x1b" not in shown, "an escape sequence reached standard output")
    cells = [row[0] for row in csv.reader(io.StringIO(shown))][1:]
    equal(cells, ["a\\x0ab", "a\\x5cx0ab", "C:\\temp", "\\x1b[31m", "-5 ns", "'=1+1", "'-1+2", "'-cmd", 'say "x",y', "'\uff1d1"],
          "cells")
    undone = [re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), cell) for cell in cells]
    equal([cell.removeprefix("'") for cell in undone], texts, "texts from cells")


def main(cases, folder):
    source, index = folder / "trace.json", folder / "trace.json.tracedb"
    source.write_text(json.dumps(trace()))
    run("trace-ingest", "-q", source)
    cases.each((check_rows, check_device), index, folder)
    cases.each((check_issues, check_comment), index)
    cases.each((check_missing_steps, check_damaged_index, check_refused), folder)
    cases.run("wrong options", check_usage, index)
    cases.run("commands without arguments", check_without_arguments)
    cases.run("several inputs", check_several_inputs, index, folder)
    cases.each((check_several_statements, check_cells, check_nul), index)
