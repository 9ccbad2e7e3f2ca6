"""Every run of trace-query ends when its time is up, whatever it is about: many operations, one long call of a function,
a report. And it takes no more memory than it may. How long after its time a run ends is no matter here, only that it does
by itself and says so in one line."""
import json
import resource
import subprocess

from index_folder import leftovers, trace_file
from trace_cases import equal, program, require, run, scratch_folder

MOST_BYTES = 1400 << 20

# What each row of `c` costs a long time for, on texts of 60 MB where they help.
COUNTING = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
TEXT = "WITH t(s) AS MATERIALIZED (SELECT printf('%.*c', 60000000, 'a'))"
LONG_STATEMENTS = {
    "rows": f"{COUNTING} SELECT count(*) FROM c",
    "printf": f"{COUNTING} SELECT sum(length(printf('%.*c', 60000000 + x % 1000, 'x'))) FROM c",
    "instr": f"{TEXT} SELECT instr(s, substr(s, 1, 30000000) || 'b') FROM t",
    "replace": f"{TEXT} SELECT length(replace(s, substr(s, 1, 30000000) || 'b', 'c')) FROM t",
    "trim": "SELECT length(trim(printf('%.*c', 60000000, 'a'), replace(printf('%.*c', 1000000, 'x'), 'x', 'bc') || 'a'))",
    "regexp": f"{COUNTING}, {TEXT.removeprefix('WITH ')} SELECT sum(s REGEXP '(a|aa|b)*(aaaa|b){{200}}$') FROM t, c",
    "like": f"{TEXT} SELECT s LIKE '%' || substr(s, 1, 900) || 'b' FROM t",
    "hex": f"{COUNTING} SELECT sum(length(hex(printf('%.*c', 30000000, 'x')))) FROM c",
    "group_concat": f"{COUNTING} SELECT count(*) FROM (SELECT group_concat(x) FROM (SELECT x FROM c LIMIT 8000000)), c",
    "join": "SELECT count(*) FROM string a, string b, string c, string d, string e, string f",
}
# The same, and besides more memory than there may be.
LARGE_STATEMENTS = {
    "sort": f"{COUNTING}, n(x) AS (SELECT x FROM c LIMIT 100) SELECT length(s) FROM (SELECT printf('%.*c', 60000000, 'a') || "
            "x AS s FROM n ORDER BY 1)",
    "distinct": f"{COUNTING} SELECT count(DISTINCT printf('%.*c', 20000000, 'a') || x) FROM c",
    "median": f"{COUNTING} SELECT median(x) FROM c",
}


def one_line(result, what):
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    equal(len(lines), 1, f"{what}: lines of {result.stderr!r}")
    return lines[0]


def query(*words):
    return subprocess.run([program("trace-query"), *map(str, words)], capture_output=True, text=True, timeout=300)


def long_statement(index, name, statement):
    result = query("sql", index, statement, "--timeout", "0.5")
    equal(result.returncode, 5, f"{name}: exit code ({result.stderr})")
    require("the time limit of 0.5 s was reached" in one_line(result, name), result.stderr)


def large_statement(index, name, statement):
    result = query("sql", index, statement, "--timeout", "60", "--max-memory", "100M")
    equal(result.returncode, 5, f"{name}: exit code ({result.stderr})")
    require("out of memory" in one_line(result, name) and "--max-memory" in result.stderr, f"{name}: {result.stderr}")


def no_memory_beyond_the_limit():
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    require(most < MOST_BYTES, f"a run took {most >> 20} MiB")


def reports_end(index):
    """No report needs its time, but each would end."""
    for command in (("info",), ("kernels",), ("layers",), ("stacks",), ("verify",), ("compare", index)):
        result = query(*command, index, "--timeout", "0.000001")
        require(result.returncode in (0, 5), f"{command[0]}: exit {result.returncode} ({result.stderr})")
        if result.returncode == 5:
            require("the time limit of 1e-06 s was reached" in one_line(result, command[0]), result.stderr)
        result = query(*command, index, "--max-memory", "12M")
        require(result.returncode in (0, 5), f"{command[0]}: exit {result.returncode} ({result.stderr})")
        if result.returncode == 5:
            require("memory" in one_line(result, command[0]) or "limit" in result.stderr, result.stderr)


def nested_steps(folder):
    """`--method wafer` takes a kernel once for each step around it: no more of that than there is memory for."""
    steps = 6000
    events = []
    for i in range(steps):
        events.append({"ph": "X", "cat": "user_annotation", "name": "execute_context_0(0)_generation_8(8)", "pid": 1, "tid": 1,
                       "ts": i, "dur": 10 * steps - 2 * i})
        events.append({"ph": "X", "cat": "kernel", "name": f"gemm{i % 7}", "pid": 0, "tid": 7, "ts": steps + 2 * i, "dur": 1,
                       "args": {"device": 0, "stream": 7, "correlation": i}})
    trace = folder / "nested.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    index = folder / "nested.tracedb"
    run("trace-ingest", "-q", "-o", index, trace)
    result = query("compare", "--method", "wafer", "--max-memory", "150M", index, index)
    equal(result.returncode, 5, f"exit code ({result.stderr})")
    require("out of memory" in one_line(result, "wafer"), result.stderr)
    equal(query("compare", "--max-memory", "150M", index, index).returncode, 0, "exit code of our own comparison")


def nothing_of_an_output(folder, index):
    output = folder / "answer.csv"
    output.write_text("before")
    result = query("sql", index, "SELECT 1; " + LONG_STATEMENTS["instr"], "--timeout", "0.2", "--csv", "-o", output)
    equal(result.returncode, 5, f"exit code ({result.stderr})")
    equal(output.read_text(), "before", "the file of -o")
    equal(leftovers(folder), [], "leftovers")


def too_long_a_text(index):
    """Is refused at once, not made for seconds and then taken for NULL."""
    result = query("sql", index, "SELECT printf('%.*c', 2000000000, 'x')", "--timeout", "60")
    equal(result.returncode, 2, f"exit code ({result.stderr})")
    require("string or blob too big" in one_line(result, "printf"), result.stderr)


def no_limit(index):
    for options in (("--timeout", "0"), ("--max-memory", "0"), ("--timeout", "1e3", "--max-memory", "1.5G")):
        equal(query("kernels", index, *options).returncode, 0, f"exit code with {options}")
    for options in (("--timeout", "soon"), ("--timeout", "-1"), ("--max-memory", "much"), ("--max-memory", "-4")):
        equal(query("kernels", index, *options).returncode, 2, f"exit code with {options}")


def building_does_not_count(folder):
    """A report with little time may build an index as long as it takes."""
    trace = trace_file(folder / "slow.json", 20)
    result = query("sql", trace, "SELECT count(*) > 0 FROM kernel", "--timeout", "2", "--csv")
    equal((result.returncode, result.stdout.split()[-1]), (0, "1"), f"the answer ({result.stderr})")


def main(cases):
    with scratch_folder() as folder:
        index = folder / "t.json.tracedb"
        run("trace-ingest", "-q", trace_file(folder / "t.json", 1, "--layers", 2))
        for name, statement in LONG_STATEMENTS.items():
            cases.run(f"a long statement ends: {name}", long_statement, index, name, statement)
        for name, statement in LARGE_STATEMENTS.items():
            cases.run(f"a large statement ends: {name}", large_statement, index, name, statement)
        cases.run("no memory beyond the limit", no_memory_beyond_the_limit)
        cases.run("reports end", reports_end, index)
        cases.run("nested steps", nested_steps, folder)
        cases.run("nothing of an output", nothing_of_an_output, folder, index)
        cases.run("too long a text", too_long_a_text, index)
        cases.run("no limit", no_limit, index)
        cases.run("building does not count", building_does_not_count, folder)
