"""Tables of the passes in trace-query sql: the figures of the reports, under the same options; declared in the schema."""
import csv
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, equal, ingest, make_trace, require, run, scratch_folder  # noqa: E402

SERVE = ("--layers", 5, "--steps", 6, "--mix", "P,D*2", "--seed", 3, "--tensor-parallel", 2, "--vendor", "nvidia")
# Table, its columns, the report, that report's columns, options of both.
SAME = (
    ("kernels_by_name", "name n, n i, total t, busy b", "kernels", "name n, instances i, total_time t, busy b", ()),
    ("kernels_by_name", "name n, n i, median m", "kernels", "name n, instances i, med m", ("--phase", "decode")),
    ("kernels_by_name", "name n, n i, total t", "kernels", "name n, instances i, total_time t", ("--layer", "1..2")),
    ("kernels_by_pass", "name n, pass p, n i", "kernels --by pass", "name n, pass p, instances i", ()),
    ("ops", "op o, names k, n i, p99 p", "ops", "op o, names k, instances i, p99 p", ()),
    ("ops", "op o, n i, total t", "ops", "op o, instances i, total_time t", ("--rules", "wafer", "--device", "0")),
    ("ops_by_pass", "op o, pass p, total t", "ops --by pass", "op o, pass p, total_time t", ()),
    ("layers", "layer l, n i, step_time s", "layers", "layer l, instances i, step_time s", ()),
    ("layers", "layer l, n i", "layers", "layer l, instances i", ("--step-regex", "generation_[1-9]")),
    ("layer_ops", "layer l, op o, total t", "layers --per-op", "layer l, op o, total_time t", ("--phase", "decode")),
    ("layers_by_pass", "layer l, pass p, n i", "layers --by pass", "layer l, pass p, instances i", ()),
    ("timeline", "span s, idle i, comm c, exposed_comm e, kernels k", "timeline",
     "span s, idle i, comm c, exposed_comm e, kernels k", ("--from", "1ms")),
    ("timeline", "busy b, host_wait h, micro_idle m", "timeline", "busy b, host_wait h, micro_idle m",
     ("--per-stream", "--micro-idle", "3us", "--kernel-wait", "1us")),
    ("idle_gaps", "ts s, dur d, cause c, step p", "gaps --each", "ts s, dur d, launch_cause c, step p",
     ("--step", "1..2")),
    ("idle_gaps", "ts s, dur d, cause c", "gaps --each", "ts s, dur d, launch_cause c", ("--per-stream",)),
    ("gap_groups", "gaps n, time t, coalesce(host, '[not recorded]') h, python_calls p", "gaps",
     "instances n, dur t, host h, python_calls p", ("--phase", "decode")),
    ("step_figures", "step s, kernels k, period p, gpu_span g, steady y", "steps",
     "step s, kernels k, period p, gpu_span g, steady y", ()),
    ("phases", "phase p, steps s, total t, busy b", "phases", "phase p, steps s, total_time t, busy b", ()),
    ("phases", "phase p, steps s, total t", "phases", "phase p, steps s, total_time t", ("--steady",)),
    ("launch_calls", "call c, calls n, kernels k, delay_median d", "launches",
     "call c, instances n, kernels k, delay_med d", ("--phase", "decode")),
    ("comms", "coalesce(name, '[no name]') n, n i, exposed e, busy b", "comms", "name n, instances i, exposed e, busy b",
     ()),
    ("copies", "kind || coalesce(' ' || direction, '') o, n i, bytes b", "memcpys", "operation o, instances i, bytes b",
     ()),
    ("call_tree", "frame f, total t, self s", "stacks --json", "frame f, total_time t, self_time s", ()),
    ("sequences", "sequence q, n i, total t", "sequences", "sequence q, instances i, total_time t",
     ("--length", 4, "--least", 3)),
    ("kernel_classes", "class c, rule r", "rules show", "class c, rule r", ()),
)


def sql(index, statement, *options):
    return json.loads(run("trace-query", "sql", "-q", "--json", *options, index, statement).stdout)["rows"]


def report(command, index, *options):
    words = command.replace(" --json", "").split()
    return json.loads(run("trace-query", *words, "-q", "--json", "--limit", 0, *options, index).stdout)["rows"]


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(list(row.values())))


def check_same(index, table, columns, command, keys, options):
    pairs = [key.rsplit(" ", 1) for key in keys.split(", ")]
    expected = [{short: row[key] for key, short in pairs} for row in report(command, index, *options)
                if row.get("device") not in ("mean", "min", "max")]
    require(expected, f"{command} {options}: no rows to compare")
    equal(in_order(sql(index, f"SELECT {columns} FROM {table}", *options)), in_order(expected), table)


def check_causes(index):
    for options in ((), ("--phase", "decode"), ("--per-stream",)):
        lanes = sql(index, "SELECT * FROM timeline", *options)
        found = {}
        for row in sql(index, "SELECT cause, sum(gaps) n, sum(time) t FROM gaps_by_cause GROUP BY 1", *options):
            found[row["cause"]] = row["t"]
        expected = {cause: sum(lane[cause] for lane in lanes) for cause in
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
        one = json.loads(run("trace-query", "schema", "--json", "--object", table).stdout)["rows"]
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


def main():
    cases = Cases()
    with scratch_folder() as folder:
        index = ingest(make_trace(folder / "trace.json", *SERVE), folder / "index.tracedb")
        for table, columns, command, keys, options in SAME:
            cases.run(f"{table} {' '.join(map(str, options))}", check_same, index, table, columns, command, keys, options)
        for check in (check_causes, check_schema, check_names, check_guards):
            cases.run(check.__name__, check, index)
    cases.finish()


if __name__ == "__main__":
    main()
