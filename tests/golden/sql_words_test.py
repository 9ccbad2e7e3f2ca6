"""op, layer and layer_part in trace-query sql: what reports say of the same kernels, and what make-trace planted."""
import collections
import csv
import shutil
import sqlite3

from trace_cases import equal, ingest, make_trace, require, rows, run, scratch_folder, sql

OPTIONS = ("--layers", 5, "--steps", 6, "--mix", "P,D*2", "--seed", 3, "--tensor-parallel", 2, "--vendor", "nvidia")
WORDS = ["op", "stack", "layer", "layer_part", "input_dims", "role", "role_source", "role_confidence_pct", "capture_op",
         "capture_module"]
PARTS = {"-1": (None, "head"), "-2": (None, "tail")}


def check_truth(index, labels):
    """Class and layer of every kernel, in the order of the trace on its stream."""
    found = sql(index, "SELECT stream, op, layer, layer_part, dur FROM kernels ORDER BY step, stream, ts")
    order = sorted(labels, key=lambda row: (int(row["step"]), int(row["stream"])))
    expected = [(int(row["stream"]), row["class"], *PARTS.get(row["layer"], (row["layer"], "layer")), int(row["dur"]))
                for row in order]
    expected = [(stream, op, None if layer is None else int(layer), part, dur)
                for stream, op, layer, part, dur in expected]
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
        equal(dict(sums), {row["layer"]: row["total_time"] for row in rows("layers", index, *options)},
              f"layers {options}")


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
    listed = {row["object"]: row["comment"] for row in rows("schema")
              if row["type"] == "function"}
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


def check_still_safe(index):
    for statement in ("CREATE TEMP TABLE t(a)", "DROP VIEW temp.kernels", "PRAGMA query_only=OFF",
                      "INSERT INTO meta VALUES ('a', 'b')"):
        result = run("trace-query", "sql", index, statement, check=False)
        equal(result.returncode, 2, statement)


def check_notes(index):
    """What limits the answer is said where layers were asked for, and not where they were not."""
    asked = run("trace-query", "sql", index, "SELECT count(layer) FROM kernels", "--step-regex", "nothing").stderr
    require("layers: " in asked, f"no note about layers: {asked}")
    silent = run("trace-query", "sql", index, "SELECT count(op) FROM kernels", "--step-regex", "nothing").stderr
    require("layers: " not in silent, f"a note about layers that nobody asked for: {silent}")


def check_wrong_options(index):
    statement = "SELECT 1 FROM kernels"
    for options in (("--rules", "no-such-rules"), ("--rules", "/dev/null/x")):
        require(run("trace-query", "sql", index, statement, *options, check=False).returncode in (2, 3), options)
    bad = run("trace-query", "sql", index, "SELECT count(layer) FROM kernels", "--step-regex", "(", check=False)
    equal(bad.returncode, 2, "a wrong --step-regex")


def check_damaged(folder, index):
    """A damaged index is a damaged index, whatever the statement asks for."""
    path = folder / "damaged.tracedb"
    shutil.copy(index, path)
    database = sqlite3.connect(path)
    database.execute("UPDATE packed_column SET data = x'00' WHERE name = 'name_id'")
    database.commit()
    changed = database.execute("SELECT count(*) FROM packed_column WHERE name = 'name_id'").fetchone()[0]
    database.close()
    if changed:
        result = run("trace-query", "sql", path, "SELECT count(layer) FROM kernels", check=False)
        equal([result.returncode, "damaged" in result.stderr], [3, True], result.stderr)
        result = run("trace-query", "sql", path, "SELECT op, count(*) FROM kernels GROUP BY op", check=False)
        equal([result.returncode, "damaged" in result.stderr], [3, True], result.stderr)
    require(sql(path, "SELECT op FROM kernel_stats LIMIT 3"), "classes of names need no packed columns")


def check_empty(folder):
    source = folder / "empty.json"
    source.write_text('{"traceEvents": []}')
    index = ingest(source, folder / "empty.tracedb")
    equal(sql(index, "SELECT op, layer, layer_part, sum(dur) FROM kernels GROUP BY 1, 2, 3"), [], "no kernels")
    equal(sql(index, "SELECT kernel_layer(1) a, op_class('x') b"), [{"a": None, "b": "other"}], "functions")


def main(cases):
    with scratch_folder() as folder:
        path = make_trace(folder / "trace.json", "--labels", folder / "labels.tsv", *OPTIONS)
        with open(folder / "labels.tsv", encoding="utf-8") as file:
            labels = list(csv.DictReader(file, delimiter="\t"))
        index = ingest(path, folder / "index.tracedb")
        cases.run("truth", check_truth, index, labels)
        cases.each((check_reports, check_other_views, check_function, check_function_help, check_stock,
                    check_still_safe, check_notes, check_wrong_options), index)
        cases.run("damaged", check_damaged, folder, index)
        cases.run("empty", check_empty, folder)
