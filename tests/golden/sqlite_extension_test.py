"""libtracedb_sqlite.so answers in Python's sqlite3 and in the stock shell of SQLite what trace-query sql answers: tables
of the passes, columns that the passes add, functions and all recipes."""
import subprocess

from extension import LIBRARY, by_python, by_shell, uri_of
from recipes import recipes
from trace_cases import TRACES, Skip, equal, ingest, kineto_traces, make_trace, require, rows, skip_without_traces

SERVER = ("--vendor", "nvidia", "--layers", 3, "--steps", 6, "--mix", "P,D*5", "--tensor-parallel", 2, "--streams", 3,
          "--shapes", "on", "--seed", 21)
VIEWS = ("kernels", "kernel_stats", "launches", "collectives", "memcpys", "steps")
STATEMENTS = (
    "SELECT op, phase, stack, layer, layer_part, role, count(*) n, sum(dur) t FROM kernels GROUP BY 1, 2, 3, 4, 5, 6",
    "SELECT phase, median(dur) m, percentile(dur, 99) p, stddev(dur) s, bounded_sum(dur) b FROM kernels GROUP BY 1",
    "SELECT id, median(dur) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) m FROM kernels ORDER BY id LIMIT 50",
    "SELECT stream, busy_ns(ts, dur) b, overlap_ns(ts, dur) o, human_ns(sum(dur)) h FROM kernels GROUP BY 1",
    "SELECT short_name(name) s, op_class(name) o, name REGEXP 'gemm|Gemm' r FROM kernel_stats ORDER BY name",
    "SELECT k.op, g.cause, sum(g.dur) t FROM idle_gaps g JOIN kernels k ON k.id = g.after_kernel_id GROUP BY 1, 2",
    "SELECT kernel_step(id) s, kernel_phase(id) p, kernel_layer(id) l, kernel_role(id) r FROM kernel ORDER BY id LIMIT 99",
    "SELECT op_class(NULL) a, op_class(7) b, short_name(NULL) c, kernel_layer(0) d, kernel_step(-1) e, busy_ns(NULL, 1) f",
    "SELECT count(*) n FROM main.kernels",
)


def passes():
    listed = rows("schema")
    return [row["object"] for row in listed if row["type"] == "pass" and not row["column"]]


def alike(found, expected):
    """Reals as far as they are printed."""
    if isinstance(found, float) or isinstance(expected, float):
        return found is not None and expected is not None and abs(found - expected) <= 1e-9 * max(abs(found), abs(expected))
    if isinstance(found, dict):
        return isinstance(expected, dict) and list(found) == list(expected) and all(map(alike, found.values(), expected.values()))
    return found == expected


def same_rows(found, expected, what):
    equal(len(found), len(expected), f"{what}: rows")
    for row, (one, other) in enumerate(zip(found, expected)):
        require(alike(one, other), f"{what}: row {row}: got {one}, expected {other}")


def by_program(index, statement, parameters=None):
    values = [part for name, value in (parameters or {}).items() for part in ("--param", f"{name}={value}")]
    return rows("sql", *values, index, statement)


def check_python(index, asked):
    steps = [["sql", statement, parameters or {}] for statement, parameters in asked]
    for (statement, parameters), found in zip(asked, by_python(uri_of(index), *steps), strict=True):
        require("rows" in found, f"{statement}: {found}")
        same_rows(found["rows"], by_program(index, statement, parameters), statement)


def check_shell(index, statements):
    for statement in statements:
        rows, messages = by_shell(index, statement)
        equal(messages, "", statement)
        same_rows(rows, by_program(index, statement), statement)


def symbols(*options):
    result = subprocess.run(["nm", "-D", *options, LIBRARY], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Skip(f"nm: {result.stderr}")
    return [line.split()[-1] for line in result.stdout.splitlines()]


def check_symbols():
    """Only the entry point is seen, and SQLite is called by the host's table of functions alone."""
    equal(symbols("--defined-only"), ["sqlite3_tracedbsqlite_init"], "what the library exports")
    equal([name for name in symbols("--undefined-only") if name.startswith("sqlite3")], [], "what it needs of SQLite")


def check_notes(folder):
    """The file that is asked, and what a reader must know of steps that were inferred."""
    trace = make_trace(folder / "plain.json", *SERVER, "--annotations", "off")
    index = ingest(trace, folder / "plain.tracedb")
    answers = by_python(uri_of(index), ["sql", "SELECT tracedb_index() f"], ["sql", "SELECT count(phase) n FROM kernels"],
                        ["sql", "SELECT tracedb_notes() n"])
    equal(answers[0]["rows"], [{"f": str(index)}], "tracedb_index()")
    require("steps: " in answers[2]["rows"][0]["n"], answers)


def check_installed(folder):
    """cmake --install puts it where programs look."""
    build = LIBRARY.parents[1]
    result = subprocess.run(["cmake", "--install", build, "--prefix", folder / "prefix"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        raise Skip(f"not all of it is built: {result.stderr.splitlines()[-1]}")
    found = [path.relative_to(folder / "prefix") for path in (folder / "prefix").rglob("libtracedb_sqlite.so")]
    require(len(found) == 1 and found[0].parts[-2] == "tracedb" and found[0].parts[0].startswith("lib"), found)


def check_real(trace, folder):
    index = ingest(trace, folder / "real.tracedb", "--force")
    check_python(index, [(f"SELECT * FROM {table}", None) for table in ("timeline", "ops", "layers", "gaps_by_cause")] +
                 [(STATEMENTS[0], None), ("SELECT * FROM kernels LIMIT 100", None)])


def main(cases, folder):
    if not LIBRARY.exists():
        raise Skip(f"{LIBRARY} is not built")
    index = ingest(make_trace(folder / "server.json", *SERVER), folder / "server.tracedb")
    tables = [f"SELECT * FROM {table}" for table in passes()] + [f"SELECT * FROM {view}" for view in VIEWS]
    cases.run("symbols", check_symbols)
    cases.run("tables, Python", check_python, index, [(statement, None) for statement in tables])
    cases.run("statements, Python", check_python, index, [(statement, None) for statement in STATEMENTS])
    cases.run("recipes, Python", check_python, index, [(sql, values) for _, sql, values in recipes()])
    cases.run("shell", check_shell, index, [*STATEMENTS, *tables[:8]])
    cases.each((check_notes, check_installed), folder)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces()[::8]:
            cases.run(f"real: {trace.name}", check_real, trace, folder)
