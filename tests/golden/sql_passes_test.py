"""Tables, columns and functions of the passes in trace-query sql: the figures of the reports, under the same options; declared
in the schema. step, phase and the view steps: those of the reports, however these come by their steps. op, layer and layer_part:
what reports say of the same kernels, and what make-trace planted."""
import collections
import csv
import json
import re
import shutil
import sqlite3

from trace_cases import as_json, changing, equal, ingest, make_trace, planted, real_trace, refused, require, rows, run, sql

SERVE = ("--layers", 5, "--steps", 6, "--mix", "P,D*2", "--seed", 3, "--tensor-parallel", 2, "--vendor", "nvidia")
# Table, its columns, which the report has too (or what they are in the table), the report, options of both.
SAME = (
    ("kernels_by_name", "name, instances, total_time, busy", "kernels", ()),
    ("kernels_by_name", "name, instances, med", "kernels", ("--phase", "decode")),
    ("kernels_by_name", "name, instances, total_time", "kernels", ("--layer", "1..2")),
    ("kernels_by_pass", "name, pass, instances", "kernels --by pass", ()),
    ("kernel_launches", "name, grid, instances, registers, occupancy_pct", "kernels --by launch", ("--phase", "decode")),
    ("step_breakdown", "step, length, computing, other", "breakdown", ("--phase", "decode")),
    ("modules", "module, calls, device_self", "modules", ()),
    ("operator_modules", "name, module, calls", "operators --by module", ("--phase", "decode")),
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
                      "CREATE VIRTUAL TABLE temp.mine USING ops", "CREATE TEMP TABLE t(a)", "DROP VIEW temp.kernels",
                      "PRAGMA query_only=OFF", "INSERT INTO meta VALUES ('a', 'b')"):
        refused(2, "", "trace-query", "sql", index, statement)
    slow = run("trace-query", "sql", "--timeout", "0.2", index,
               "SELECT count(*) FROM idle_gaps a, idle_gaps b, idle_gaps c, idle_gaps d", check=False)
    equal([slow.returncode, "time limit" in slow.stderr], [5, True], slow.stderr)


WORDS = ["op", "stack", "layer", "layer_part", "input_dims", "hlo_module", "hlo_op", "hlo_opcode", "hlo_shape", "role", "role_source", "role_confidence_pct", "capture_op",
         "capture_module"]
PARTS = {"-1": (None, "head"), "-2": (None, "tail")}


def check_truth(index, labels):
    """Class and layer of every kernel, in the order of the trace on its stream."""
    found = sql(index, "SELECT stream, op, layer, layer_part, dur FROM kernels ORDER BY step, stream, ts")
    order = sorted(labels, key=lambda row: (int(row["step"]), int(row["stream"])))
    expected = [(int(row["stream"]), row["class"], *PARTS.get(row["layer"], (row["layer"], "layer")), int(row["dur"]))
                for row in order]
    expected = [(stream, op, None if layer is None else int(layer), part, dur) for stream, op, layer, part, dur in expected]
    equal([tuple(row.values()) for row in found], expected, "kernels")


def check_reports(index):
    """The same sums as ops and layers, also under other rules and steps."""
    for options in ((), ("--rules", "wafer")):
        sums = {row["op"]: row["s"] for row in sql(index, "SELECT op, sum(dur) s FROM kernels GROUP BY 1", *options)}
        key = next(key for key, value in rows("ops", index)[0].items() if isinstance(value, str))
        equal(sums, {row[key]: row["total_time"] for row in rows("ops", index, *options)}, f"ops {options}")
    for options in ((), ("--step-regex", r"generation_[1-9]")):
        sums = collections.Counter({f"[{row['p']}]" if row["p"] in ("head", "tail") else
                                    "[no layer]" if row["l"] is None else str(row["l"]): row["s"] for row in
                                    sql(index, "SELECT layer l, layer_part p, sum(dur) s FROM kernels GROUP BY 1, 2",
                                        *options)})
        equal(dict(sums), {row["layer"]: row["total_time"] for row in rows("layers", index, *options)}, f"layers {options}")


def check_launch_configs(index):
    """The same kernels as the view has, by what they were launched with."""
    columns = "name, grid, block, registers, shared_memory"
    sums = "count(*) instances, sum(dur) total_time, min(dur) min"
    expected = sql(index, f"SELECT {columns}, {sums} FROM kernels GROUP BY {columns}")
    equal(in_order(sql(index, f"SELECT {columns}, instances, total_time, min FROM kernel_launches")), in_order(expected), "kernel_launches")


def check_other_views(index):
    for view, name, ident in (("launches", "kernel", "kernel_id"), ("collectives", "kernel", "kernel_id")):
        require(sql(index, f"SELECT count(*) n FROM {view}")[0]["n"] > 0, view)
        odd = sql(index, f"SELECT count(*) n FROM {view} v JOIN kernels k ON k.id = v.{ident} "
                         f"WHERE v.op IS NOT k.op OR v.layer IS NOT k.layer OR v.op IS NOT op_class(v.{name})")
        equal(odd[0]["n"], 0, f"words of {view}")
    equal(sql(index, "SELECT op, sum(n) n FROM kernel_stats GROUP BY 1"),
          sql(index, "SELECT op, count(*) n FROM kernels GROUP BY 1"), "kernel_stats")


def check_function(index):
    found = sql(index, "SELECT op_class('ncclDevKernel_AllReduce_Sum') a, op_class('') b, op_class(NULL) c, "
                       "op_class(7) d, op_class(x'00ff') e, op_class('no such kernel ☃') f, kernel_layer(0) g, "
                       "kernel_layer(-1) h, kernel_layer(9e18) i, kernel_layer('x') j, kernel_layer(99999999999) k, "
                       "kernel_layer_part(0) l")[0]
    equal(found, dict(a="communication", b="other", c=None, d=None, e=None, f="other", g=None, h=None, i=None, j=None,
                      k=None, l=None), "functions")
    odd = sql(index, "SELECT count(*) n FROM kernels WHERE short_name IS NOT short_name(name)")
    equal(odd[0]["n"], 0, "short_name() and the column")
    long = sql(index, "SELECT op_class(printf('%.*c', 1000000, '<')) o")[0]["o"]
    equal(long, "other", "a long name")


def check_function_help(index):
    """Every function that is not SQLite's own is in the help and in the schema, with its meaning."""
    with sqlite3.connect(":memory:") as plain:
        stock = {row[0] for row in plain.execute("SELECT DISTINCT name FROM pragma_function_list")}
    found = {row["name"] for row in sql(index, "SELECT DISTINCT name FROM pragma_function_list")} - stock
    require({"median", "percentile", "stddev", "human_ns", "op_class"} <= found, f"functions: {found}")
    listed = {row["object"]: row["comment"] for row in rows("schema") if row["type"] == "function"}
    equal(set(listed) - {"regexp"}, found - {"regexp"}, "functions in the schema")
    require(listed["regexp"].startswith("text REGEXP pattern: "), "REGEXP")
    shown = run("trace-query", "sql", "--help").stdout
    for comment in listed.values():
        call, meaning = comment.split(": ", 1)
        require(any(line.split() == f"{call} {meaning}".split() for line in shown.splitlines()), f"help on {call}")
    one = rows("schema", "--object", "median")
    equal([row["object"] for row in one], ["median"], "--object")


def check_stock(index):
    """Another client sees the views of the index; ours as main.kernels."""
    database = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
    columns = [column[0] for column in database.execute("SELECT * FROM kernels LIMIT 0").description]
    database.close()
    require("op" not in columns, "op in the index")
    equal(list(sql(index, "SELECT * FROM main.kernels LIMIT 1")[0]), columns, "main.kernels")
    equal(list(sql(index, "SELECT * FROM kernels LIMIT 1")[0]), columns + WORDS, "kernels")
    listed = rows("schema", "--object", "kernels")
    equal([row["column"] for row in listed][1:], columns + WORDS, "trace-query schema")
    require(all(row["comment"] for row in listed), "a column without a comment")


def check_notes(index, column="layer", note="layers: ", of="layers: ", options=("--step-regex", "nothing")):
    """What limits the answer is said where that column was asked for, and not where it was not."""
    asked = run("trace-query", "sql", index, f"SELECT count({column}) FROM kernels", *options).stderr
    require(note in asked, f"no note on {column}: {asked}")
    silent = run("trace-query", "sql", index, "SELECT count(op) FROM kernels", *options).stderr
    require(of not in silent, f"a note on {column} that nobody asked for: {silent}")


def check_wrong_options(index):
    for rules in ("no-such-rules", "/dev/null/x"):
        for table in ("kernels", "ops"):
            run("trace-query", "sql", index, f"SELECT * FROM {table}", "--rules", rules, code=(2, 3))
    for option in (("--step", "3"), ("--phase", "decode"), ("--from", "1ms")):
        refused(2, f"{option[0]} selects in the tables of the passes", "trace-query", "sql", index, "SELECT count(*) FROM kernels", *option)
    equal(sql(index, "SELECT count(*) n FROM kernels WHERE kernel_selected(id)", "--step", "1..2"),
          sql(index, "SELECT count(*) n FROM kernels WHERE step IN (1, 2)"), "selected kernels")
    for statement in ("SELECT * FROM all_ops", "SELECT o.op FROM x.ops o"):
        require("--step: there are steps 0 to " in run("trace-query", "sql", f"x={index}", statement, "--step", "2,999").stderr, "a step that is not there")
    refused(2, "", "trace-query", "sql", index, "SELECT count(layer) FROM kernels", "--step-regex", "(")


def check_damaged(folder, index):
    """A damaged index is a damaged index, whatever the statement asks for."""
    path = folder / "damaged.tracedb"
    shutil.copy(index, path)
    with changing(path) as database:
        equal(database.execute("UPDATE packed_column SET data = x'00' WHERE name = 'name_id'").rowcount > 0, True, "damage")
    for statement in ("SELECT count(layer) FROM kernels", "SELECT op, count(*) FROM kernels GROUP BY op"):
        result = run("trace-query", "sql", path, statement, check=False)
        equal([result.returncode, "damaged" in result.stderr], [3, True], result.stderr)
    require(sql(path, "SELECT op FROM kernel_stats LIMIT 3"), "classes of names need no packed columns")


def check_empty(folder):
    source = folder / "empty.json"
    source.write_text('{"traceEvents": []}')
    index = ingest(source, folder / "empty.tracedb")
    equal(sql(index, "SELECT op, layer, layer_part, sum(dur) FROM kernels GROUP BY 1, 2, 3"), [], "no kernels")
    equal(sql(index, "SELECT kernel_layer(1) a, op_class('x') b"), [{"a": None, "b": "other"}], "functions")


TRAIN = ("--model", "train", "--layers", 3, "--steps", 4, "--seed", 5)
# What is asked, options of make-trace, options of trace-query.
TRACES_MADE = (
    ("marked", SERVE, ()),
    ("pattern", SERVE, ("--step-regex", r"generation_[1-9]")),
    ("no match", SERVE, ("--step-regex", "nothing")),
    ("inferred", (*SERVE, "--annotations", "off"), ()),
    ("training", TRAIN, ()),
    ("old training", (*TRAIN, "--dialect", "old"), ()),
)
README_QUERY = "SELECT layer, op, sum(dur) FROM kernels WHERE phase = 'decode' GROUP BY 1, 2"


def check_phases(index, options):
    """Sums by phase and by step are those of phases and steps; every view says the same of a kernel."""
    sums = {row["p"] or "[no step]": (row["n"], row["s"]) for row in
            sql(index, "SELECT phase p, count(*) n, sum(dur) s FROM kernels GROUP BY 1", *options)}
    equal(sums, {row["phase"]: (row["instances"], row["total_time"]) for row in rows("phases", index, *options)
                 if row["instances"]}, "phases")
    sums = {row["step"]: row["s"] for row in sql(index, "SELECT step, sum(dur) s FROM kernels GROUP BY 1", *options)}
    equal(sums, {row["step"]: row["total_time"] for row in rows("steps", index, *options) if row["kernels"]}, "steps")
    odd = sql(index, "SELECT count(*) n FROM collectives c JOIN kernels k ON k.id = c.kernel_id WHERE c.step IS NOT "
                     "k.step OR c.phase IS NOT k.phase", *options)
    equal(odd[0]["n"], 0, "collectives")


def check_view(index, options):
    keys = ("step", "phase", "kernels", "generation_tokens", "context_tokens")
    said = sql(index, "SELECT step, phase, kernels, coalesce(kernel_time, 0) AS total_time, generation_tokens, "
                      "context_tokens, name, dur FROM steps", *options)
    found = [row for row in rows("steps", index, *options) if row["step"] is not None]
    equal([[row[key] for key in keys] for row in said], [[row[key] for key in keys] for row in found], "view steps")
    equal([row["total_time"] for row in said], [row["total_time"] for row in found], "kernel time")
    equal([row["dur"] for row in said], [row["host"] for row in found], "host")
    figures = "sum(kernels), sum(kernel_time), min(gpu_ts), max(gpu_ts_end), min(first_kernel_id), max(last_kernel_id)"
    equal(list(sql(index, f"SELECT {figures} FROM steps", *options)[0].values()),
          list(sql(index, "SELECT count(*), sum(dur), min(ts), max(ts_end), min(id), max(id) FROM kernels WHERE step IS "
                          "NOT NULL", *options)[0].values()) if said else [None] * 6, "figures of the steps")


def check_columns(index):
    """The views of the index with other values, not other columns."""
    database = sqlite3.connect(f"file:{index}?mode=ro", uri=True)
    for view in ("kernels", "memcpys", "collectives", "steps"):
        columns = [column[0] for column in database.execute(f"SELECT * FROM {view} LIMIT 0").description]
        ours = run("trace-query", "sql", "--csv", index, f"SELECT * FROM {view} LIMIT 0").stdout.splitlines()[0]
        equal(ours.split(",")[:len(columns)], columns, view)
    database.close()


def check_copies(index, options):
    rows = sql(index, "SELECT m.step, m.phase, s.phase AS of_step FROM memcpys m LEFT JOIN steps s USING (step)", *options)
    require(all(row["phase"] == row["of_step"] for row in rows), "phase of a copy")


def check_readme(index):
    said = sql(index, README_QUERY)
    require(len(said) > 3, f"{len(said)} rows where steps are inferred")
    decode = next(row for row in rows("phases", index) if row["phase"] == "decode")
    equal(sum(row["sum(dur)"] for row in said), decode["total_time"], "kernel time in decode")


def check_odd_arguments(index):
    found = sql(index, "SELECT kernel_step(0) a, kernel_phase(-1) b, memory_step(9e18) c, memory_phase('x') d")[0]
    equal(set(found.values()), {None}, "functions")


def check_real(folder):
    index = ingest(real_trace("kineto/llama_tp4_vllm_h100.pt.trace.json.gz"), folder / "real.tracedb")
    check_readme(index)
    check_phases(index, ())
    check_view(index, ())


def main(cases, folder):
    index, _, labels = planted(folder, *SERVE)
    for table, columns, command, options in SAME:
        cases.run(f"{table} {' '.join(map(str, options))}", check_same, index, table, columns, command, options)
    cases.each((check_causes, check_schema, check_names, check_guards), index)
    cases.run("truth", check_truth, index, labels)
    cases.each((check_reports, check_launch_configs, check_other_views, check_function, check_function_help, check_stock,
                check_notes, check_wrong_options), index)
    cases.run("damaged", check_damaged, folder, index)
    cases.run("empty", check_empty, folder)
    for name, made, options in TRACES_MADE:
        trace = make_trace(folder / f"{name}.json", *made)
        index = ingest(trace, folder / f"{name}.tracedb")
        for check in (check_phases, check_view, check_copies):
            cases.run(f"{check.__name__} {name}", check, index, options)
        cases.run(f"columns {name}", check_columns, index)
        cases.run(f"odd arguments {name}", check_odd_arguments, index)
        if name == "inferred":
            cases.run("notes of steps", check_notes, index, "step", "steps: no annotation names a step", "steps: ", ())
            cases.run("readme", check_readme, index)
    cases.run("real", check_real, folder)
