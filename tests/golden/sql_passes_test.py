"""Tables of the passes in trace-query sql: the figures of the reports, under the same options; declared in the schema."""
import csv
import json
import re

from trace_cases import as_json, equal, ingest, make_trace, require, rows, run, scratch_folder, sql

SERVE = ("--layers", 5, "--steps", 6, "--mix", "P,D*2", "--seed", 3, "--tensor-parallel", 2, "--vendor", "nvidia")
# Table, its columns, which the report has too (or what they are in the table), the report, options of both.
SAME = (
    ("kernels_by_name", "name, instances, total_time, busy", "kernels", ()),
    ("kernels_by_name", "name, instances, med", "kernels", ("--phase", "decode")),
    ("kernels_by_name", "name, instances, total_time", "kernels", ("--layer", "1..2")),
    ("kernels_by_pass", "name, pass, instances", "kernels --by pass", ()),
    ("ops", "op, names, instances, p99", "ops", ()),
    ("ops", "op, instances, total_time", "ops", ("--rules", "wafer", "--device", "0")),
    ("ops_by_pass", "op, pass, total_time", "ops --by pass", ()),
    ("layers", "layer, instances, step_time", "layers", ()),
    ("layers", "layer, instances", "layers", ("--step-regex", "generation_[1-9]")),
    ("layer_ops", "layer, op, total_time", "layers --per-op", ("--phase", "decode")),
    ("layers_by_pass", "layer, pass, instances", "layers --by pass", ()),
    ("timeline", "span, idle, comm, exposed_comm, kernels", "timeline", ("--from", "1ms")),
    ("timeline", "busy, host_wait, micro_idle", "timeline", ("--per-stream", "--micro-idle", "3us", "--kernel-wait", "1us")),
    ("idle_gaps", "ts, dur, cause AS launch_cause, step", "gaps --each", ("--step", "1..2")),
    ("idle_gaps", "ts, dur, cause AS launch_cause", "gaps --each", ("--per-stream",)),
    ("gap_groups", "instances, dur, coalesce(host, '[not recorded]') AS host, python_calls", "gaps", ("--phase", "decode")),
    ("step_figures", "step, kernels, period, gpu_span, steady", "steps", ()),
    ("phases", "phase, steps, total_time, busy", "phases", ()),
    ("phases", "phase, steps, total_time", "phases", ("--steady",)),
    ("launch_calls", "call, instances, kernels, delay_med", "launches", ("--phase", "decode")),
    ("comms", "coalesce(name, '[no name]') AS name, instances, exposed, busy", "comms", ()),
    ("copies", "kind || coalesce(' ' || direction, '') AS operation, instances, bytes", "memcpys", ()),
    ("call_tree", "frame, total_time, self_time", "stacks --json", ()),
    ("sequences", "sequence, instances, total_time", "sequences", ("--length", 4, "--least", 3)),
    ("kernel_classes", "class, rule", "rules show", ()),
)


def report(command, index, *options):
    words = command.replace(" --json", "").split()
    return as_json(*words, *options, index)["rows"]


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(list(row.values())))


def check_same(index, table, columns, command, options):
    keys = re.findall(r"(?:^|, )(?:[^,]*\([^)]*\)[^,]* AS |\w+ AS )?(\w+)(?=,|$)", columns)
    expected = [{key: row[key] for key in keys} for row in report(command, index, *options)
                if row.get("device") not in ("mean", "min", "max")]
    require(expected, f"{command} {options}: no rows to compare")
    equal(in_order(sql(index, f"SELECT {columns} FROM {table}", *options)), in_order(expected), table)


def check_causes(index):
    for options in ((), ("--phase", "decode"), ("--per-stream",)):
        lanes = sql(index, "SELECT * FROM timeline", *options)
        found = {}
        for row in sql(index, "SELECT cause, sum(gaps) n, sum(time) t FROM gaps_by_cause GROUP BY 1", *options):
            found[row["cause"]] = row["t"]
        expected = {cause: sum(lane[cause if "_" in cause else f"{cause}_wait"] for lane in lanes) for cause in
                    ("host_wait", "kernel_wait", "graph_gap", "other", "unknown")}
        equal(found, {cause: time for cause, time in expected.items() if time}, f"causes {options}")


def check_schema(index):
    """Every column of every table of a pass has a type, and a meaning in words; what is listed can be selected."""
    listed = list(csv.DictReader(run("trace-query", "schema", "--csv").stdout.splitlines()))
    passes = {}
    for row in listed:
        if row["Type"] == "pass" and row["Column"]:
            require(row["Data Type"] in ("INTEGER", "REAL", "TEXT") and row["Comment"], row)
            passes.setdefault(row["Object"], []).append(row["Column"])
    require({table for table, *_ in SAME} <= set(passes), sorted(passes))
    for table, columns in passes.items():
        names = [row["name"] for row in sql(index, f"SELECT name FROM pragma_table_info('{table}')")]
        equal(names, columns, table)
        one = rows("schema", "--object", table)
        equal([row["column"] for row in one][1:], columns, f"schema --object {table}")
        require(table in run("trace-query", "sql", "--help").stdout, f"{table} in the help")


def check_names(index):
    """The index's own tables and views keep their names."""
    for view in ("launches", "stacks", "steps", "gaps", "kernels", "memcpys"):
        rows = run("trace-query", "schema", "--json", "--object", view).stdout
        equal({row["type"] for row in json.loads(rows)["rows"]}, {"view"}, view)
    joined = sql(index, "SELECT count(*) n FROM idle_gaps g JOIN kernels k ON k.id = g.after_kernel_id")
    require(joined[0]["n"] > 0, "joined with a view")


def check_guards(index):
    for statement in ("DELETE FROM timeline", "INSERT INTO ops SELECT * FROM ops", "DROP TABLE ops",
                      "CREATE VIRTUAL TABLE temp.mine USING ops"):
        equal(run("trace-query", "sql", index, statement, check=False).returncode, 2, statement)
    slow = run("trace-query", "sql", "--timeout", "0.2", index,
               "SELECT count(*) FROM idle_gaps a, idle_gaps b, idle_gaps c, idle_gaps d", check=False)
    equal([slow.returncode, "time limit" in slow.stderr], [5, True], slow.stderr)
    wrong = run("trace-query", "sql", index, "SELECT * FROM ops", "--rules", "/dev/null/x", check=False)
    require(wrong.returncode in (2, 3), wrong.stderr)


def main(cases):
    with scratch_folder() as folder:
        index = ingest(make_trace(folder / "trace.json", *SERVE), folder / "index.tracedb")
        for table, columns, command, options in SAME:
            cases.run(f"{table} {' '.join(map(str, options))}", check_same, index, table, columns, command, options)
        cases.each((check_causes, check_schema, check_names, check_guards), index)
