#!/usr/bin/env python3
"""Times the warehouse of tools/fleet on two ClickHouse servers on this machine (Debian's package): loading roll-up rows, and
questions over generated nights. Medians of three, after one run that does not count.

Usage: warehouse.py [--ranks 2000] [--nights 30] [--names 1000] [--load-rows 2000000] [--folder DIR]
"""
import argparse
import csv
import io
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/support"))
from mini_clickhouse import WAREHOUSE, MiniClickHouse, make_tables  # noqa: E402

FIRST_NIGHT, SLOWER = "2026-11-01", 1.2
QUESTIONS = {
    "regressions": {"job": "llama", "phase": "", "since": "2026-11-20", "ratio": "1.05"},
    "grown_kernels": {"job": "llama", "before": "2026-11-19", "after": "2026-11-20"},
    "worst_ranks": {"job": "llama", "since": "2026-11-30"},
    "communication": {"since": "2026-11-30"},
    "one_kernel": {"job": "llama", "name": "void kernel_7<__nv_bfloat16, 128>(int)"},
    "nights": {},
}
# One row per trace and name; a trace is whole on one server. Name 77 is slower from 20 November on.
ROWS = """
SELECT toDate('{first}') + night AS night, 'llama' AS job, trace AS trace_id, toInt32(trace % {ranks}) AS rank, 'AMD Instinct MI300X' AS gpu,
  'LlamaForCausalLM' AS model, concat('void kernel_', toString(k), '<__nv_bfloat16, 128>(int)') AS name,
  if(k % 20 = 0, 'communication', 'dense_gemm') AS op, if(k % 3 = 0, 'prefill', 'decode') AS phase, 'stack 1' AS stack,
  toInt32(k % 64) AS layer, toUInt64(1 + k % 7) AS n, toUInt64(0) AS untimed,
  toUInt64(n * (1000 + 13 * k) * if(k = 77 AND night >= toDate('2026-11-20'), {slower}, 1) + cityHash64(trace, k) % 100) AS sum_ns,
  toUInt64(900 + k) AS min_ns, toUInt64(2000 + 20 * k) AS max_ns, toUInt64(1000 + 13 * k) AS p50_ns, toUInt64(1900 + 19 * k) AS p95_ns
FROM (SELECT toUInt64(number / {names}) * {shards} + {shard} + {night} * {ranks} AS trace, number % {names} AS k, toUInt64({night}) AS night
  FROM numbers({number}))
"""


def on_all(servers, work):
    threads = [threading.Thread(target=work, args=(number, server)) for number, server in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rows_of(arguments, night, shard, shards):
    return ROWS.format(first=FIRST_NIGHT, ranks=arguments.ranks, slower=SLOWER, names=arguments.names, night=night, shard=shard,
                       shards=shards, number=arguments.ranks // shards * arguments.names)


def generate(arguments, cluster):
    def fill(shard, server):
        for night in range(arguments.nights):
            server.run("INSERT INTO kernel_rollup_local " + rows_of(arguments, night, shard, len(cluster.servers)))
            server.run(f"INSERT INTO loaded_trace_local (night, job, trace_id, rank, complete, kernels, sum_ns) SELECT night, job, trace_id, "
                       f"any(rank), 1, sum(n), sum(sum_ns) FROM kernel_rollup_local WHERE night = toDate('{FIRST_NIGHT}') + {night} "
                       "GROUP BY night, job, trace_id")
    on_all(cluster.servers, fill)


def time_load(arguments, cluster):
    """Rows a second: text that exists already, as load.py sends it, into a stage on each server at once, until it is there."""
    nights = max(1, arguments.load_rows // (arguments.ranks * arguments.names)) if arguments.load_rows else 0
    shards = len(cluster.servers)
    texts = ["".join(server.run(rows_of(arguments, night, shard, shards) + "FORMAT CSV") for night in range(nights)).encode()
             for shard, server in enumerate(cluster.servers)]

    def load(shard, server):
        server.run("CREATE TABLE kernel_rollup_stage AS kernel_rollup_local")
        text = texts[shard]
        server.run("INSERT INTO kernel_rollup_stage FORMAT CSV", rows=(text[i:i + (1 << 18)] for i in range(0, len(text), 1 << 18)))

    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        on_all(cluster.servers, load)
        seconds.append(time.perf_counter() - start)
        count = sum(int(server.run("SELECT count() FROM kernel_rollup_stage")) for server in cluster.servers)
        on_all(cluster.servers, lambda _, server: server.run("DROP TABLE kernel_rollup_stage"))
    taken = statistics.median(seconds)
    print(f"| load, {count:,} rows, {sum(map(len, texts)) / 1e6:,.0f} MB of CSV | {taken:.2f} s | {count / taken / 1e3:,.0f} k rows/s |")


def time_questions(cluster):
    for name, values in QUESTIONS.items():
        words = [f"{key}={value}" for key, value in values.items()]
        sql = subprocess.run([sys.executable, WAREHOUSE / "question.py", WAREHOUSE / f"queries/{name}.sql", *words], check=True,
                             capture_output=True, text=True).stdout
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            answer = cluster.servers[0].run(sql)
            seconds.append(time.perf_counter() - start)
        first = next(csv.reader(io.StringIO(answer), delimiter="\t"), [])
        print(f"| {name} | {statistics.median(seconds[1:]):.2f} s | {'; '.join(first)[:110]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("ranks", 2000), ("nights", 30), ("names", 1000), ("load-rows", 2_000_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", default=None, help="for the servers' data (a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder, prefix="tracedb-warehouse-") as folder, MiniClickHouse(folder) as cluster:
        for server in cluster.servers:
            make_tables(server, "tables.sql", "cluster.sql")
        time_load(arguments, cluster)
        start = time.perf_counter()
        generate(arguments, cluster)
        rows, size = cluster.servers[0].run("SELECT count() FROM kernel_rollup").strip(), 0
        for server in cluster.servers:
            size += int(server.run("SELECT sum(bytes) FROM system.parts WHERE active AND table = 'kernel_rollup_local'"))
        print(f"| generated: {int(rows):,} rows | {time.perf_counter() - start:.0f} s | {size / int(rows):.1f} bytes a row on disk |", flush=True)
        time_questions(cluster)


if __name__ == "__main__":
    main()
