"""Kernels as Parquet: what DuckDB wrote is read back by other readers, row by row as the index has it. Needs libduckdb.so,
which TRACEDB_DUCKDB names; readers are the npm packages hyparquet and parquet-wasm (with apache-arrow), in the folder
node_modules that TRACEDB_NODE_MODULES names. What is missing is skipped, and says so."""
import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path

from made_events import index_of, kernel
from trace_cases import Skip, equal, ingest, make_trace, open_index, require, rows, run

LIBRARY = os.environ.get("TRACEDB_DUCKDB") or "libduckdb.so"
COLUMNS = ("trace_id", "rank", "ts_ns", "dur_ns", "name", "short_name", "op", "device", "stream", "correlation", "kind", "step",
           "phase", "role", "layer", "stack", "layer_part", "grid_x", "registers")
STATEMENT = """SELECT (SELECT value FROM meta WHERE key = 'source_hash'),
  (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'rank'), ts + (SELECT CAST(value AS INTEGER) FROM meta WHERE key =
  'base_time_ns'), dur, name, short_name, op, device, stream, correlation, (SELECT kind FROM kernel WHERE id = kernels.id), step,
  phase, role, layer, stack, layer_part, (SELECT grid_x FROM launch_config WHERE id = launch_config_id), (SELECT registers FROM launch_config WHERE id =
  launch_config_id) FROM (SELECT *, (SELECT launch_config_id FROM kernel WHERE id = kernels.id) AS launch_config_id FROM kernels)
  kernels ORDER BY name, ts, id"""


def export(*arguments, **options):
    return run("trace-query", "export", "-q", *arguments, **options)


def check_without(index, folder):
    for library, said in (("/nonexistent/libduckdb.so", "cannot be loaded"), ("libc.so.6", "has no function duckdb_")):
        environment = {**os.environ, "TRACEDB_DUCKDB": library}
        refused = export("--format", "parquet", "-o", folder / "x.parquet", index, check=False, env=environment)
        equal((refused.returncode, len(refused.stderr.splitlines())), (5, 1), f"exit code and lines: {refused.stderr}")
        require(said in refused.stderr and "duckdb.org/install" in refused.stderr, refused.stderr)
    require(not (folder / "x.parquet").exists(), "a file without a library that writes it")
    equal(export("--format", "parquet", index, check=False).returncode, 2, "Parquet to standard output")


def rows_of(index, *options):
    """As trace-query has them, in text where numbers may be large."""
    found = rows("sql", *options, index, STATEMENT)
    return [list(row.values()) for row in found]


def check_readers(folder, index):
    modules = os.environ.get("TRACEDB_NODE_MODULES")
    if not modules or not shutil.which("node"):
        raise Skip("no readers of Parquet: TRACEDB_NODE_MODULES names no folder with hyparquet and parquet-wasm, or no node")
    export("-o", folder / "k.parquet", index)
    script = Path(__file__).resolve().parents[1] / "support" / "read_parquet.mjs"
    result = subprocess.run(["node", script, folder / "k.parquet", *COLUMNS], capture_output=True, text=True, timeout=120)
    require(result.returncode == 0, result.stderr[-500:])
    readers = json.loads(result.stdout)
    require(readers, "no reader is installed")
    expected = [[None if value is None else str(value) for value in row] for row in rows_of(index)]
    require(expected, "no rows")
    for name, rows in readers.items():
        equal(len(rows), len(expected), f"{name}: rows")
        for row, other in zip(rows, expected, strict=True):
            equal([None if value is None else str(value) for value in row], other, f"{name}")
    print(f"   readers: {', '.join(readers)}; {len(expected)} rows")


def duckdb_value(statement):
    """The first value of an answer of DuckDB."""
    library = ctypes.CDLL(LIBRARY)
    library.duckdb_value_int64.restype = ctypes.c_int64
    library.duckdb_value_int64.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_uint64 * 6)()
    equal(library.duckdb_open(None, ctypes.byref(database)), 0, "duckdb_open")
    equal(library.duckdb_connect(database, ctypes.byref(connection)), 0, "duckdb_connect")
    equal(library.duckdb_query(connection, statement.encode(), ctypes.byref(result)), 0, statement)
    value = library.duckdb_value_int64(ctypes.byref(result), 0, 0)
    library.duckdb_disconnect(ctypes.byref(connection))
    library.duckdb_close(ctypes.byref(database))
    return value


def check_folder(folder, index):
    """Several traces in one folder; a trace written twice counts once."""
    target = folder / "ware'house"
    total = 0
    for seed, job in ((1, "a/../b"), (2, "x" * 100), (1, "a/../b")):
        trace = make_trace(folder / f"{seed}.json", "--layers", 2, "--steps", 2, "--seed", seed)
        other = ingest(trace, folder / f"{seed}.tracedb")
        export("--format", "parquet", "--night", "2026-11-01", "--job", job, "-o", target, other)
        total = sum(open_index(folder / f"{n}.tracedb").execute("SELECT sum(dur) FROM kernel").fetchone()[0]
                    for n in {1, 2} if (folder / f"{n}.tracedb").exists())
    files = sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())
    equal([path.parts[:2] for path in files], [("night=2026-11-01", "job=a_.._b"), ("night=2026-11-01", f"job={'x' * 64}")], "folders")
    require(all(len(path.stem) == 32 for path in files), f"trace ids {files}")
    pattern = str(target / "*" / "*" / "*.parquet").replace("'", "''")
    equal(duckdb_value(f"SELECT CAST(sum(dur_ns) AS BIGINT) FROM read_parquet('{pattern}', hive_partitioning = true) "
                       "WHERE night = '2026-11-01'"), total, "time in the folder")
    export("--format", "parquet", "-o", target, "--job", "dated", index)
    require(any(path.name.startswith("night=20") for path in target.iterdir() if path.name != "night=2026-11-01"),
            "the night is not that of the trace")


def check_selection(folder, index):
    export("--phase", "decode", "--op", "attention*", "-o", folder / "part.parquet", index)
    found = rows("kernels", "--phase", "decode", "--op", "attention*", index)
    file = str(folder / "part.parquet")
    for what, expected in (("count(*)", sum(row["instances"] for row in found)),
                           ("CAST(sum(dur_ns) AS BIGINT)", sum(row["total_time"] for row in found))):
        equal(duckdb_value(f"SELECT {what} FROM read_parquet('{file}')"), expected, what)
    export("--name", "nosuchkernel", "-o", folder / "none.parquet", index)
    equal(duckdb_value(f"SELECT count(*) FROM read_parquet('{folder / 'none.parquet'}')"), 0, "rows of nothing")


def check_names(folder, _):
    """Texts are places in a list of up to 4096, of one byte or two, or texts of their own; they read alike."""
    for names in (3, 300, 5000):
        events = [kernel(f"k{i % names}<float>(int)", 10 * i, 5) for i in range(2 * names)]
        index = index_of(folder / f"names{names}.json", events)
        file = folder / f"names{names}.parquet"
        export("-o", file, index)
        for what in ("count(*)", "count(DISTINCT name)", "sum(length(name))", "sum(length(short_name))", "sum(length(op))",
                     "sum(dur{}) FILTER (WHERE name = 'k2<float>(int)')"):
            expected = run("trace-query", "sql", "-q", "--format", "tsv", index,
                           f"SELECT {what.format('')} FROM kernels").stdout.splitlines()[-1]
            got = duckdb_value(f"SELECT CAST({what.format('_ns')} AS BIGINT) FROM read_parquet('{file}')")
            equal(str(got), expected, f"{names} names: {what}")
        equal(duckdb_value(f"SELECT count(*) FROM read_parquet('{file}') WHERE phase IS NULL"), 2 * names, "no phase")


def check_atomic(folder, index):
    """A failure leaves the file that was there, and nothing beside it."""
    target = folder / "kept.parquet"
    target.write_bytes(b"old")
    limited = export("-o", target, index, check=False, preexec_fn=limit_file_size)
    equal((limited.returncode, len(limited.stderr.splitlines())), (5, 1), f"a limit on file sizes: {limited.stderr}")
    equal(target.read_bytes(), b"old", "the file that was there")
    equal([path.name for path in folder.iterdir() if "partial" in path.name], [], "left behind")
    export("-o", target, index)
    equal(target.read_bytes()[:4], b"PAR1", "the new file")


def limit_file_size():
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def main(cases, folder):
    trace = make_trace(folder / "t.json", "--layers", 3, "--steps", 4, "--mix", "P,D*3", "--tensor-parallel", 2, "--rank", 1,
                       "--orphans", 3, "--seed", 5)
    index = ingest(trace, folder / "t.tracedb")
    cases.run("without a library", check_without, index, folder)
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        raise Skip(f"{LIBRARY} cannot be loaded (TRACEDB_DUCKDB names the library)") from None
    for name, check in (("readers", check_readers), ("a folder of traces", check_folder), ("a selection", check_selection),
                        ("names", check_names),
                        ("a failure", check_atomic)):
        cases.run(name, check, folder, index)
