"""The cookbook of trace-query sql: every recipe answers for a made server or training trace what is stored in
tests/golden/cookbook, and answers on the index of every real trace.

`python3 tests golden.cookbook --update` writes what is answered now; look at the differences before they are committed."""
import json
import sys
from pathlib import Path

from made_events import call, event, kernel, on_device, write_trace
from recipes import all_recipes
from stored_texts import check_stored, store
from trace_cases import (ROOT, TRACES, equal, ingest, kineto_traces, make_trace, open_index, refused, require, rows,
                         run, skip_without_traces)

EXPECTED = Path(__file__).resolve().parent / "cookbook"
SERVER = ("--vendor", "nvidia", "--layers", 3, "--steps", 8, "--mix", "P,D*7", "--batch", 8, "--tensor-parallel", 2,
          "--streams", 3, "--shapes", "on", "--slow", "dense_gemm@1=2", "--seed", 11)
TRAINING = ("--model", "train", "--layers", 2, "--steps", 3, "--shapes", "on", "--seed", 12)
OTHERS = {"annotations": "training", "low_occupancy": "loader", "busy_over_time": "loader", "synchronisations": "loader"}
REAL = ("kineto/llama_tp4_vllm_mi300x.pt.trace.json.gz", "kineto/resnet_checkpoint_ddp_mi300x.json.gz",
        "kineto/flux1_xdit_mi300x.json.gz", "ascend/level1_rank0_trace_view.json", "other/nsys_2gpu_before.sqlite")


def loader_trace(path):
    """Kernels of 10 us every 100 us, of low, high and unknown occupancy; from 300 to 690 us the data loader works and nothing
    is launched; a fill that ends within its slow call, a copy that its call waits for, and a synchronisation."""
    kernels = [(0, "narrow", 10), (100, "narrow", 20), (200, "wide", 60), (700, "unknown", 0), (800, "wide", 10),
               (900, "narrow", 24)]
    events = [kernel(name, ts, 10, **{"correlation": ts, "est. achieved occupancy %": occupancy}) for ts, name, occupancy in kernels]
    events.append(event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 300, 390))
    for name, ts, on in (("cudaMemsetAsync", 920, ("gpu_memset", "Memset (Device)", 922, 5)),
                         ("cudaMemcpyAsync", 950, ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 955, 10))):
        events += [call(name, ts, 20, ts), on_device(*on, correlation=ts, bytes=4096)]
    events.append(call("cudaStreamSynchronize", 980, 5, 980))
    return write_trace(path, events)


def listed():
    return rows("sql", "--recipes")


def answer(index, recipe, *options):
    return run("trace-query", "sql", "-q", "--csv", "--recipe", recipe, *options, index).stdout


def answers(index, recipe, **values):
    """The rows of a recipe, none left out."""
    values = {**{name: value for name, value in {"top": 100000, "least": 0}.items() if f":{name} " in PARAMETERS[recipe]}, **values}
    bound = [word for name, value in values.items() for word in ("--param", f"{name}={value}")]
    return rows("sql", "--recipe", recipe, *bound, index)


def check_list(recipes):
    files = sorted(path.stem for path in (ROOT / "schema" / "cookbook").glob("*.sql"))
    equal([recipe["recipe"] for recipe in recipes], files, "recipes")
    require(len(files) >= 25, f"{len(files)} recipes")
    text = run("trace-query", "sql", "--recipes").stdout
    require(all(name in text for name in files), text)


def check_recipe(recipe, index):
    text = answer(index, recipe)
    require(len(text.splitlines()) > 1, f"{recipe} finds nothing")
    check_stored(EXPECTED / f"{recipe}.csv", text)


def check_parameters(index):
    equal(len(answer(index, "top_kernels", "--param", "top=3").splitlines()), 4, "rows of top=3")
    for words in (("--recipe", "top_kernels", "--param", "topp=3", index), ("--recipe", "top_kernel", index),
                  ("--recipe", "top_kernels", index, "SELECT 1"), ("--recipe", "top_kernels", "-f", "x", index)):
        refused(2, "", "trace-query", "sql", *words)


def total(index, recipe, *columns):
    """Sums of columns over the rows of a recipe that leaves none out."""
    rows = answers(index, recipe)
    return [sum(row[column] or 0 for row in rows) for column in columns]


PARAMETERS = {recipe["recipe"]: recipe["parameters"] for recipe in listed()}


def rows_of(index, command, *options):
    return rows(command, *options, index)


def keyed(rows, keys, values):
    """Sums of values by key; those that are not 0."""
    out = {}
    for row in rows:
        sums = out.setdefault(tuple(row[key] for key in keys.split()), [0] * len(values.split()))
        for place, value in enumerate(values.split()):
            sums[place] += row[value] or 0
    return {key: sums for key, sums in out.items() if any(sums)}


# recipe: its keys and figures, the report of the same question with its options, its keys and figures.
REPORTS = {
    "top_kernels": ("kernel", "n total_ns median_ns p99_ns max_ns", ("kernels",), "name", "instances total_time med p99 max"),
    "exposed_communication": ("collective", "n total_ns exposed_ns", ("comms",), "name", "instances total_time exposed"),
    "layer_times": ("layer op", "n total_ns", ("layers", "--per-op"), "layer op", "instances total_time"),
    "concurrency": ("device", "busy_ns", ("timeline",), "device", "busy"),
    "busy_over_time": ("device", "busy_ns kernels", ("timeline",), "device", "busy kernels"),
    "copy_sizes": ("", "bytes", ("memcpys",), "", "bytes"),
    "streams": ("op", "n total_ns", ("ops",), "op", "instances total_time"),
    "op_by_phase": ("op", "n total_ns", ("ops",), "op", "instances total_time"),
    "kernel_lengths": ("", "n total_ns", ("ops",), "", "instances total_time"),
    "collective_waits": ("", "n total_ns", ("comms",), "", "instances total_time"),
    "idle_causes": ("", "gaps total_ns", ("gaps",), "", "instances dur"),
    "step_times": ("phase", "steps", ("phases",), "phase", "steps"),
    "slowest_steps": ("step", "gpu_span_ns kernel_time_ns period_ns", ("steps",), "step", "gpu_span total_time period"),
    "launch_bound_steps": ("step", "kernels gpu_span_ns gpu_busy_ns period_ns launch_lag_ns", ("steps",), "step",
                           "kernels gpu_span gpu_busy period launch_lag"),
}
# recipe: its keys and figures, and the same of the tables of the index, which other tests compare with the JSON.
BLOCKS = ("FROM runtime_call r JOIN string t ON t.id = r.name_id WHERE (r.kind = 'sync' AND t.value NOT LIKE '%query%' AND "
          "t.value NOT LIKE '%streamwait%') OR (r.kind = 'copy' AND (t.value NOT LIKE '%async%' OR EXISTS (SELECT 1 FROM memory_op m "
          "WHERE m.kind = 'memcpy' AND m.launch_id = r.id AND m.ts + m.dur <= r.ts + r.dur)))")
TABLES = {
    "annotations": ("annotation", "own_n own_ns", None),
    "host_calls": ("call kind", "n total_ns", "SELECT t.value, r.kind, count(*), sum(r.dur) FROM runtime_call r JOIN string t ON "
                   "t.id = r.name_id GROUP BY 1, 2"),
    "synchronisations": ("call", "n total_ns", f"SELECT t.value, count(*), sum(r.dur) {BLOCKS} GROUP BY 1"),
    "host_operators": ("", "n total_ns waiting_ns", "SELECT count(*), sum(dur), (SELECT coalesce(sum(r.dur), 0) FROM runtime_call r "
                       f"WHERE r.cpu_op_id IS NOT NULL AND r.id IN (SELECT r.id {BLOCKS})) FROM cpu_op"),
    "small_copies": ("direction", "n bytes total_ns", "SELECT direction, count(*), sum(bytes), sum(dur) FROM memory_op WHERE "
                     "kind = 'memcpy' AND bytes <= 65536 AND direction IN ('HtoD', 'DtoH') GROUP BY 1"),
    "short_kernels": ("kernel", "n total_ns calls_total_ns", "SELECT n.name, count(*), sum(k.dur), sum(r.dur) FROM kernel k JOIN "
                      "kernel_name n ON n.id = k.name_id JOIN runtime_call r ON r.id = k.launch_id WHERE r.kind = 'launch' GROUP BY 1 "
                      "HAVING total(k.dur < r.dur) > 0"),
    "unlinked_kernels": ("", "total_ns no_operator_ns", "SELECT sum(dur), sum(dur) FILTER (WHERE cpu_op_id IS NULL) FROM kernel"),
}


def check_reports(index):
    """What a recipe says is what the report of the same question says."""
    phases = {row["phase"]: row for row in rows_of(index, "phases")}
    for recipe, (keys, figures, report, report_keys, report_figures) in REPORTS.items():
        reported = [row for row in rows_of(index, *report) if row.get("step", 0) is not None and row.get("phase", "x")[0] != "["]
        reported = [row for row in reported if row.get("device", 0) not in ("mean", "min", "max")]
        rows = answers(index, recipe)
        wanted = keyed(reported, report_keys, report_figures)
        if recipe in ("slowest_steps", "launch_bound_steps"):
            wanted = {key: value for key, value in wanted.items() if key in keyed(rows, keys, figures)}
        equal(keyed(rows, keys, figures), wanted, recipe)
    own = {row["phase"]: row["period_median_ns"] for row in answers(index, "step_times")}
    equal(own, {phase: phases[phase]["period"] if own[phase] else own[phase] for phase in own}, "periods of step_times")
    bound = answers(index, "launch_bound_steps", top=10**9)
    for row in bound:
        equal(row["idle_pct"], max(0, round(100 * (row["period_ns"] - row["gpu_busy_ns"]) / row["period_ns"], 2)), f"step {row['step']}: idle")
    # Other work may fill what a step's span leaves idle: without a period nothing can be said of it.
    followed = [row["step"] for row in rows_of(index, "steps") if row.get("step") is not None and row["period_on"] == "device" and row["period"]]
    equal(sorted(row["step"] for row in bound), followed, "steps that another follows")
    ops = {row["op"]: (row["instances"], row["total_time"]) for row in rows_of(index, "ops")}
    for recipe in ("tiny_kernels", "unfused_kernels"):
        for (op,), sums in keyed(answers(index, recipe), "op", "n total_ns").items():
            equal(tuple(sums), ops[op], f"{recipe}: {op}")
    gemms = [value for op, value in ops.items() if "gemm" in op]
    equal(total(index, "gemm_shapes", "n", "total_ns"), [sum(column) for column in zip(*gemms)] or [0, 0], "gemm_shapes")
    names = {row["name"]: (row["instances"], row["total_time"]) for row in rows_of(index, "kernels")}
    for recipe, values in (("unsteady_kernels", {}), ("low_occupancy", {"below": 101})):
        for row in answers(index, recipe, **values):
            known = names[row["kernel"]]
            require(row["n"] <= known[0] and row["total_ns"] <= known[1] and (recipe == "low_occupancy" or row["n"] == known[0]), row)
    steps_of = {(row["stack"], row["layer"]): row["steps"] for row in rows_of(index, "layers")}
    parts = [row for row in rows_of(index, "layers", "--per-op") if row["op"] != "communication" and "communication" not in row["op"]]
    for row in answers(index, "uneven_layers", above=-100):
        layer = (row["stack"], str(row["layer"]))
        if steps_of[layer] == 1:
            same = [part["total_time"] for part in parts if (part["stack"], part["layer"]) == layer]
            equal(row["in_a_step_ns"], sum(same), f"layer {layer}")


def check_tables(index):
    database = open_index(index)
    for recipe, (keys, figures, query) in TABLES.items():
        rows = answers(index, recipe)
        if query is None:
            n = database.execute("SELECT count(*), total(dur) FROM kernel").fetchone()
            equal(total(index, recipe, *figures.split()), list(n), recipe)
            continue
        width = len(keys.split())
        wanted = {row[:width]: [cell or 0 for cell in row[width:]] for row in database.execute(query)}
        equal(keyed(rows, keys, figures), wanted, recipe)
    steps = {row["name"]: (row["kernels"], row["total_time"]) for row in rows_of(index, "steps") if row["step"] is not None}
    for row in answers(index, "annotations"):
        if row["annotation"] in steps:
            equal((row["n"], row["total_ns"]), steps[row["annotation"]], f"annotations: {row['annotation']}")


def check_closed(index):
    """Recipes that divide the kernel time divide all of it."""
    run_sql = run("trace-query", "sql", "-q", "--csv", index, "SELECT count(*), sum(dur) FROM kernel").stdout
    n, time = (float(cell) for cell in run_sql.splitlines()[1].split(","))
    for recipe in ("top_kernels", "streams", "op_by_phase", "kernel_lengths"):
        equal(total(index, recipe, "n", "total_ns"), [n, time], recipe)
    equal(total(index, "unlinked_kernels", "total_ns"), [time], "unlinked_kernels")
    equal(total(index, "busy_over_time", "kernels"), [n], "busy_over_time")
    busy = run("trace-query", "sql", "-q", "--csv", index, "SELECT sum(busy) FROM timeline").stdout.splitlines()[1]
    equal(total(index, "concurrency", "busy_ns"), [float(busy)], "concurrency")


def check_real(trace, index):
    """One run for all recipes."""
    ingest(trace, index, "--force")
    result = run("trace-query", "sql", "-q", "--jsonl", "-f", "-", index, input=all_recipes())
    for line in result.stdout.splitlines():
        json.loads(line)


def main(cases, folder):
    traces = {"server": make_trace(folder / "server.json", *SERVER), "loader": loader_trace(folder / "loader.json"),
              "training": make_trace(folder / "training.json", *TRAINING)}
    indexes = {name: ingest(trace, folder / f"{name}.tracedb") for name, trace in traces.items()}
    recipes = listed()
    index_of = {row["recipe"]: indexes[OTHERS.get(row["recipe"], "server")] for row in recipes}
    if sys.argv[1:] == ["--update"]:
        store(EXPECTED, {f"{name}.csv": answer(index, name) for name, index in index_of.items()})
        return
    cases.run("list", check_list, recipes)
    for name, index in index_of.items():
        cases.run(name, check_recipe, name, index)
    cases.run("parameters", check_parameters, indexes["server"])
    for name in ("server", "training"):
        cases.run(f"closed: {name}", check_closed, indexes[name])
    if not skip_without_traces(cases, TRACES / "kineto"):
        for name in REAL:
            index = ingest(TRACES / name, folder / "real.tracedb", "--force")
            cases.run(f"as reports: {name}", check_reports, index)
            cases.run(f"as tables: {name}", check_tables, index)
        for trace in kineto_traces():
            cases.run(f"all recipes: {trace.name}", check_real, trace, folder / "real.tracedb")
