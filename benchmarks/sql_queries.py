"""SQL at a million kernels: the usual questions and the recipes of the cookbook, in CPU seconds of whole processes.

python3 benchmarks/sql_queries.py [--index FILE] [--size 1G] [--repetitions 3] [--duckdb FOLDER] [--no-recipes]

Each question is asked in three ways: trace-query sql; Python's sqlite3, which reads the plain views of the file (only where
the question needs no pass, and names no column that only trace-query sql has); and DuckDB with one thread over the same
rows as a table of its own, the upper anchor. FOLDER is one in which `npm install @duckdb/node-api` was run; without it, or
without node, DuckDB is left out. For DuckDB the figure is of the query alone: opening and node are not counted. Answers of
trace-query and of the plain views are compared.

The index is made by make-trace and trace-ingest, and kept for the next run. Figures are medians, those of
the plain views of one run; a first run warms.
"""
import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from workloads import BIN, WORK, machine  # noqa: E402

QUERIES = {
    "by short_name": "SELECT short_name, count(*), sum(dur) FROM kernels GROUP BY short_name",
    "by name": "SELECT name, count(*), sum(dur) FROM kernels GROUP BY name",
    "by op": "SELECT op, count(*), sum(dur) FROM kernels GROUP BY op",
    "by phase": "SELECT phase, count(*), sum(dur) FROM kernels GROUP BY phase",
    "by step": "SELECT step, count(*), sum(dur) FROM kernels GROUP BY step",
    "by layer": "SELECT layer, count(*), sum(dur) FROM kernels GROUP BY layer",
    "by layer and op": "SELECT layer, op, count(*), sum(dur) FROM kernels GROUP BY layer, op",
    "by stream": "SELECT stream, count(*), sum(dur) FROM kernels GROUP BY stream",
    "by cpu_op": "SELECT cpu_op, count(*), sum(dur) FROM kernels GROUP BY cpu_op",
    "by module": "SELECT module, count(*), sum(dur) FROM kernels GROUP BY module",
    "of one phase": "SELECT count(*), sum(dur) FROM kernels WHERE phase = 'decode'",
    "of some steps": "SELECT count(*), sum(dur) FROM kernels WHERE step BETWEEN 100 AND 200",
    "of a time, by name": "SELECT short_name, sum(dur) FROM kernels WHERE ts BETWEEN 1000000000 AND 9000000000 "
                          "GROUP BY short_name",
    "top 10 by dur": "SELECT id, name, dur FROM kernels ORDER BY dur DESC, id LIMIT 10",
    "by dur_us": "SELECT dur_us, count(*) FROM kernels GROUP BY dur_us",
    "histogram, in two steps": "SELECT dur / 1000 AS us, sum(n) FROM (SELECT dur, count(*) AS n FROM kernels GROUP BY dur) "
                               "GROUP BY us",
    "histogram": "SELECT dur / 1000 AS us, count(*) FROM kernels GROUP BY us",
    "by time, 1 ms each": "SELECT ts / 1000000 AS ms, sum(dur) FROM kernels GROUP BY ms",
    "long or short": "SELECT dur > 10000 AS is_long, count(*) FROM kernels GROUP BY is_long",
    "histogram of each op": "SELECT op, dur / 1000 AS us, count(*) FROM kernels GROUP BY op, us",
    "launches by call": "SELECT call, count(*), avg(queue_delay) FROM launches GROUP BY call",
    "launches by kernel": "SELECT kernel, count(*), avg(launch_delay) FROM launches GROUP BY kernel",
    "kernel_stats": "SELECT short_name, sum(total) FROM kernel_stats GROUP BY short_name",
    "count": "SELECT count(*) FROM kernels",
}
ONLY_OURS = ("op", "layer")
EXPORTED = {"kernels": "id, name, short_name, ts, dur, dur_us, stream, step, phase, cpu_op, module, op, layer",
            "launches": "kernel_id, kernel, call, launch_delay, queue_delay",
            "kernel_stats": "short_name, total"}
DUCK = """
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const [file, tables, queries, repetitions] = JSON.parse(process.argv[1]);
  const db = await (await DuckDBInstance.create(file, { threads: '1' })).connect();
  for (const [name, csv] of Object.entries(tables))
    await db.run(`CREATE TABLE IF NOT EXISTS ${name} AS SELECT * FROM read_csv('${csv}', header = true, sample_size = -1)`);
  const out = {};
  for (const [name, sql] of Object.entries(queries)) {
    const runs = [];
    for (let i = 0; i <= repetitions; i++) {
      const before = process.cpuUsage();
      await db.runAndReadAll(sql.replace(/ \\/ 1000/g, ' // 1000'));
      const used = process.cpuUsage(before);
      if (i) runs.push((used.user + used.system) / 1000);
    }
    out[name] = runs.sort((a, b) => a - b)[runs.length >> 1];
  }
  console.log(JSON.stringify(out));
})();
"""


def cpu_ms(command):
    """Of a process and its children; and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), text


def median(command, repetitions):
    cpu_ms(command)
    return statistics.median(cpu_ms(command)[0] for _ in range(repetitions))


def made_index(size):
    path = WORK / f"sql_{size}.tracedb"
    if not path.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        trace = path.with_suffix(".json")
        subprocess.run([BIN / "make-trace", "--seed", "14", "--target-size", size, "--output", trace], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([BIN / "trace-ingest", "-q", "-o", path, trace], check=True)
        trace.unlink()
    return path


def asked(index, sql):
    return [BIN / "trace-query", "sql", "-q", "--json", index, sql]


def plain(index, sql):
    """The same by Python's sqlite3; None: trace-query sql alone has such columns."""
    words = sql.replace(",", " ").split()
    if any(word in words for word in ONLY_OURS):
        return None
    text = ("import sqlite3, sys; d = sqlite3.connect('file:' + sys.argv[1] + '?immutable=1', uri=True); "
            "[None for _ in d.execute(sys.argv[2])]")
    return [sys.executable, "-I", "-c", text, index, sql]


def same_answer(index, sql):
    rows = [tuple(row.values()) for row in json.loads(subprocess.run(asked(index, sql), check=True, capture_output=True,
                                                                     text=True).stdout)["rows"]]
    return rows == sqlite3.connect(f"file:{index}?immutable=1", uri=True).execute(sql).fetchall()


def duckdb_times(index, folder, repetitions):
    """By name of the query; None, and why on standard error, where it cannot be asked."""
    node = shutil.which("node")
    missing = "node is not installed" if node is None else "--duckdb FOLDER is not given" if folder is None else None
    if missing is None:
        found = subprocess.run([node, "-e", "require('@duckdb/node-api')"], cwd=folder, capture_output=True, text=True)
        missing = f"{folder} has no @duckdb/node-api" if found.returncode else None
    if missing is not None:
        print(f"DuckDB: skipped: {missing}", file=sys.stderr)
        return None
    WORK.mkdir(parents=True, exist_ok=True)
    tables = {}
    for name, columns in EXPORTED.items():
        tables[name] = str(WORK / f"{Path(index).stem}.{name}.csv")
        with open(tables[name], "w") as file:
            subprocess.run([BIN / "trace-query", "sql", "-q", "--csv", index, f"SELECT {columns} FROM {name}"], check=True,
                           stdout=file)
    database = WORK / f"{Path(index).stem}.duckdb"
    database.unlink(missing_ok=True)
    argument = json.dumps([str(database), tables, QUERIES, repetitions])
    found = subprocess.run([node, "-e", DUCK, argument], cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def ask_queries(index, chosen):
    duck = duckdb_times(index, chosen.duckdb, chosen.repetitions) or {}
    print("| question | trace-query sql | plain views, sqlite3 | DuckDB, the query alone |\n|---|---|---|---|")
    for name, sql in QUERIES.items():
        stock = plain(index, sql)
        own = median(asked(index, sql), chosen.repetitions)
        other = "" if stock is None else f"{cpu_ms(stock)[0]:.0f}"
        if stock is not None and "phase" not in sql and "step" not in sql and not same_answer(index, sql):
            sys.exit(f"{name}: the plain views answer otherwise")
        print(f"| {name} | {own:.0f} | {other} | {f'{duck[name]:.0f}' if name in duck else ''} |", flush=True)


def ask_recipes(index, repetitions):
    listed = subprocess.run([BIN / "trace-query", "sql", "--recipes", "--json"], check=True, capture_output=True, text=True)
    times = {}
    for row in json.loads(listed.stdout)["rows"]:
        name = row["recipe"]
        times[name] = median([BIN / "trace-query", "sql", "-q", "--csv", "--recipe", name, index], repetitions)
    print("\n| recipe | CPU ms |\n|---|---|")
    for name, time in sorted(times.items(), key=lambda entry: entry[1]):
        print(f"| {name} | {time:.0f} |")
    print(f"\n{len(times)} recipes: {sum(time <= 150 for time in times.values())} in at most 150 ms, "
          f"{sum(time > 500 for time in times.values())} in more than 500 ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--size", default="1G")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--duckdb", type=Path)
    parser.add_argument("--no-recipes", action="store_true")
    chosen = parser.parse_args()
    index = str((chosen.index or made_index(chosen.size)).resolve())
    kernels = sqlite3.connect(f"file:{index}?immutable=1", uri=True).execute("SELECT count(*) FROM kernel").fetchone()[0]
    print(f"{machine()}; {kernels} kernels; median CPU ms of {chosen.repetitions}; {' '.join(map(os.fspath, sys.argv))}\n")
    ask_queries(index, chosen)
    if not chosen.no_recipes:
        ask_recipes(index, chosen.repetitions)


if __name__ == "__main__":
    main()
