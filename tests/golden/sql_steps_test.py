"""step, phase and the view steps in trace-query sql: those of the reports, however these come by their steps."""
import json
import sqlite3

from trace_cases import TRACES, Skip, equal, ingest, make_trace, require, rows, run, scratch_folder, sql

SERVE = ("--layers", 5, "--steps", 6, "--mix", "P,D*2", "--seed", 3, "--tensor-parallel", 2, "--vendor", "nvidia")
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
    sums = {row["step"]: row["s"] for row in
            sql(index, "SELECT step, sum(dur) s FROM kernels GROUP BY 1", *options)}
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


def check_notes(index):
    asked = run("trace-query", "sql", index, "SELECT count(step) FROM kernels").stderr
    require("steps: no annotation names a step" in asked, f"no note about inferred steps: {asked}")
    silent = run("trace-query", "sql", index, "SELECT count(*) FROM kernels").stderr
    require("steps: " not in silent, f"a note about steps that nobody asked for: {silent}")


def check_readme(index):
    said = sql(index, README_QUERY)
    require(len(said) > 3, f"{len(said)} rows where steps are inferred")
    decode = next(row for row in rows("phases", index) if row["phase"] == "decode")
    equal(sum(row["sum(dur)"] for row in said), decode["total_time"], "kernel time in decode")


def check_odd_arguments(index):
    found = sql(index, "SELECT kernel_step(0) a, kernel_phase(-1) b, memory_step(9e18) c, memory_phase('x') d")[0]
    equal(set(found.values()), {None}, "functions")


def check_real(folder):
    trace = TRACES / "kineto" / "llama_tp4_vllm_h100.pt.trace.json.gz"
    if not trace.exists():
        raise Skip(f"no real traces here: {trace} does not exist (TRACEDB_TRACES names the folder)")
    index = ingest(trace, folder / "real.tracedb")
    check_readme(index)
    check_phases(index, ())
    check_view(index, ())


def main(cases):
    with scratch_folder() as folder:
        for name, made, options in TRACES_MADE:
            trace = make_trace(folder / f"{name}.json", *made)
            index = ingest(trace, folder / f"{name}.tracedb")
            for check in (check_phases, check_view, check_copies):
                cases.run(f"{check.__name__} {name}", check, index, options)
            cases.run(f"columns {name}", check_columns, index)
            cases.run(f"odd arguments {name}", check_odd_arguments, index)
            if name == "inferred":
                cases.run("notes", check_notes, index)
                cases.run("readme", check_readme, index)
        cases.run("real", check_real, folder)
