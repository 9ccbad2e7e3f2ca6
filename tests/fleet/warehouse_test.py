"""tools/fleet/warehouse on two ClickHouse servers: what is loaded is what the indexes say, once; a killed server is an
error, never part of an answer; and a current version gives the same answers."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

from chdb import Chdb
from local_servers import require_fleet
from made_events import event, index_of, kernel
from mini_clickhouse import WAREHOUSE, MiniClickHouse, ServerError, make_tables, statements
from trace_cases import BIN, equal, ingest, make_trace, require, rows, run, sql

NIGHTS = ("2026-11-19", "2026-11-20")
RANKS, SLOW_RANK = 4, 2
SLOWER = 1.5  # attention kernels of decode in the second night
QUESTIONS = {
    "nights": {},
    "regressions": {"job": "llama", "phase": "decode", "since": NIGHTS[1], "ratio": "1.05"},
    "grown_kernels": {"job": "llama", "before": NIGHTS[0], "after": NIGHTS[1]},
    "worst_ranks": {"job": "llama", "since": NIGHTS[1]},
    "communication": {"since": NIGHTS[0]},
}


class Warehouse:
    """Two servers, and a folder NIGHT/llama with the traces of each night."""

    def __init__(self, folder, cluster):
        self.folder, self.cluster = folder, cluster
        self.programs = folder / "bin"
        self.programs.mkdir()
        for number, night in enumerate(NIGHTS):
            job = folder / night / "llama"
            job.mkdir(parents=True)
            for rank in range(RANKS):
                options = ["--tensor-parallel", str(RANKS), "--rank", str(rank), "--seed", str(10 * number + rank), "--steps", "4",
                           "--layers", "3", "--truth", os.devnull]
                options += ["--slow", f"attention_decode={SLOWER}"] if number else []
                options += ["--clock", "1.5"] if (number, rank) == (1, SLOW_RANK) else []
                trace = make_trace(job / f"rank{rank}.json", *options)
                ingest(trace, f"{trace}.tracedb")
        for server in cluster.servers:
            make_tables(server, "tables.sql", "cluster.sql")

    def indexes(self, night):
        return sorted((self.folder / night / "llama").glob("*.tracedb"))

    def command(self, night, inputs, *options):
        servers = [word for server in self.cluster.servers for word in ("--server", server.url)]
        return [sys.executable, WAREHOUSE / "load.py", "--night", night, *servers, *options, *inputs]

    def variables(self):
        return {**os.environ, "PATH": f"{self.programs}:{BIN}:{os.environ['PATH']}", "TRACEDB_CACHE_DIR": str(self.folder / "cache")}

    def load(self, night, inputs, *options):
        """(exit code, what it printed)"""
        result = subprocess.run(self.command(night, inputs, *options), env=self.variables(), capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def changed_load(self, change):
        """The same of a load of the second night in which a statement of Python changed something."""
        words = self.command(NIGHTS[1], self.indexes(NIGHTS[1]), "--again")
        program = f"import os, signal, sys\nsys.path.insert(0, {str(WAREHOUSE)!r})\nimport load\n{change}\nload.main()"
        result = subprocess.run([sys.executable, "-c", program, *words[2:]], env=self.variables(), capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def ask(self, sql, server=0):
        return [line.split("\t") for line in self.cluster.servers[server].run(sql).splitlines()]

    def totals(self):
        """Traces, kernels and time in the roll-up and in the ledger."""
        rollup = self.ask("SELECT uniqExact(trace_id), sum(n + untimed), sum(sum_ns) FROM kernel_rollup")
        ledger = self.ask("SELECT count(), sum(kernels), sum(sum_ns) FROM loaded_trace")
        equal(ledger, rollup, "ledger against roll-up")
        return [int(figure) for figure in rollup[0]]

    def stand_in(self, text):
        """A trace-query that does otherwise for sql; anything else is as ever."""
        path = self.programs / "trace-query"
        path.write_text(f'#!/bin/sh\nif [ "$1" = sql ]; then\n{text}\nfi\nexec {BIN}/trace-query "$@"\n', encoding="utf-8")
        path.chmod(0o755)


def of_indexes(indexes):
    """[traces, kernels, ns] by the stored tables of the indexes."""
    figures = []
    for index in indexes:
        with contextlib.closing(sqlite3.connect(index)) as database:
            figures.append(database.execute("SELECT 1, count(*), sum(dur) FROM kernel").fetchone())
    return [sum(column) for column in zip(*figures)]


def question(name, values):
    words = [f"{key}={value}" for key, value in values.items()]
    command = [sys.executable, WAREHOUSE / "question.py", WAREHOUSE / f"queries/{name}.sql", *words]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    require(result.returncode == 0, result.stderr)
    return result.stdout


def loads_both_nights(house):
    first, second = (house.indexes(night) for night in NIGHTS)
    manifest = house.folder / "manifest.jsonl"
    entries = [{"outcome": "done", "index": str(index)} for index in first] + [{"outcome": "retry", "index": None}]
    manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    code, text = house.load(NIGHTS[0], [manifest])
    equal((code, text), (0, "4 indexes: 4 loaded, 0 there already, 0 not loadable\n"), "first night")
    equal(house.totals(), of_indexes(first), "after the first night")
    broken = house.folder / "broken.tracedb"
    broken.write_bytes(b"SQLite format 3\0 and no more")
    code, text = house.load(NIGHTS[1], [*second[:2], broken, house.folder / "none.tracedb"])
    equal((code, text.splitlines()[0]), (3, "4 indexes: 2 loaded, 0 there already, 2 not loadable"), text)
    equal(house.load(NIGHTS[1], second)[0], 0, "second night")
    equal(house.totals(), of_indexes([*first, *second]), "after both")
    shards = [house.ask("SELECT count() FROM loaded_trace_local", server)[0][0] for server in (0, 1)]
    require("0" not in shards, f"traces by server: {shards}")


def rows_are_those_of_the_indexes(house):
    for index in house.indexes(NIGHTS[1]):
        with contextlib.closing(sqlite3.connect(index)) as database:
            digest, = database.execute("SELECT value FROM meta WHERE key = 'source_hash'").fetchone()
            by_name = database.execute("SELECT name, count(*), sum(dur), min(dur), max(dur) FROM kernels GROUP BY 1 ORDER BY 1").fetchall()
        where = f"WHERE trace_id = {int(digest[:16], 16) >> 1}"
        found = house.ask(f"SELECT name, sum(n), sum(sum_ns), min(min_ns), max(max_ns) FROM kernel_rollup {where} GROUP BY name ORDER BY name")
        equal([[name, *map(int, rest)] for name, *rest in found], [list(row) for row in by_name], f"{index.name}: by name")
        for column in ("phase", "layer", "op"):
            sql = f"SELECT coalesce({column}, '\\N') AS k, count(*), sum(dur) FROM kernels GROUP BY 1"
            expected = rows("sql", index, sql)
            found = house.ask(f"SELECT {column}, sum(n), sum(sum_ns) FROM kernel_rollup {where} GROUP BY {column}")
            equal(sorted(found), sorted([str(value) for value in row.values()] for row in expected), f"{index.name}: by {column}")


def counts_once(house):
    before = house.totals()
    for options, loaded in (((), 0), (("--again",), RANKS)):
        code, text = house.load(NIGHTS[1], house.indexes(NIGHTS[1]), *options)
        equal((code, text.split()[2]), (0, str(loaded)), f"again {options}: {text}")
        equal(house.totals(), before, f"again {options}")
    copy = house.folder / "copy"
    shutil.copytree(house.folder / NIGHTS[1] / "llama", copy)
    code, text = house.load(NIGHTS[1], [*copy.glob("*.tracedb"), *house.indexes(NIGHTS[1])], "--job", "llama")
    equal((code, house.totals()), (0, before), f"under another path: {text}")
    require(text.endswith(f"{RANKS} of the same traces as others\n"), text)
    code, text = house.load("2026-11-21", house.indexes(NIGHTS[1]))
    equal((code, house.totals()), (0, before), f"as another night: {text}")
    require("--again moves it" in text, text)
    equal(house.load("2026-11-21", house.indexes(NIGHTS[1])[:1], "--again")[0], 0, "moved")
    equal((house.totals(), house.ask("SELECT count() FROM loaded_trace WHERE night = '2026-11-21'")), (before, [["1"]]), "moved")
    equal(house.load(NIGHTS[1], house.indexes(NIGHTS[1])[:1], "--again")[0], 0, "moved back")
    equal((house.totals(), len(house.ask("SELECT DISTINCT night FROM kernel_rollup"))), (before, 2), "moved back")


def a_trace_that_was_written_again(house):
    """The rows of what its path had before are gone."""
    index = house.indexes(NIGHTS[0])[0]
    trace = index.with_suffix("")
    saved = house.folder / "saved.json"
    shutil.copy2(trace, saved)
    make_trace(trace, "--seed", "99", "--steps", "2", "--layers", "2", "--truth", os.devnull)
    code, text = house.load(NIGHTS[0], [index])
    equal(code, 3, f"an index that is out of date ({text})")
    for source in (None, saved):
        if source:
            shutil.copy2(source, trace)
        run("trace-ingest", "-q", trace)
        code, text = house.load(NIGHTS[0], [index])
        equal((code, text), (0, "1 indexes: 1 loaded, 0 there already, 0 not loadable\n"), "the new form")
        equal(house.totals(), of_indexes([*house.indexes(NIGHTS[0]), *house.indexes(NIGHTS[1])]), "only the new form")


def killed_loads(house):
    before = house.totals()
    house.cluster.servers[0].run("TRUNCATE TABLE loaded_trace_local")  # as if it was killed before the ledger
    for night in NIGHTS:
        equal(house.load(night, house.indexes(night))[0], 0, "what has no entry in the ledger")
    equal(house.totals(), before, "after a load without ledger")
    code, _ = house.changed_load("load.Load.publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)")
    equal(code, -signal.SIGKILL, "killed with a full stage")
    equal(house.totals(), before, "nothing of it is visible")
    code, text = house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again")
    require(code == 6 and "--take-over" in text, f"exit {code}: {text}")
    equal(house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again", "--take-over")[0], 0, "taken over")
    equal(house.totals(), before, "taken over")


def counts_that_do_not_agree(house):
    before = house.totals()
    house.stand_in(f'{BIN}/trace-query "$@" | head -n -1\nexit')
    code, text = house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again")
    (house.programs / "trace-query").unlink()
    require(code == 3 and "4 indexes: 0 loaded" in text and "but its rows have" in text, f"exit {code}: {text}")
    equal(house.totals(), before, "no index is what it says")
    code, text = house.changed_load("load.Trace.rows = lambda trace: open(trace.file, 'rb').readlines()[2:]")
    require(code == 6 and "nothing was loaded" in text, f"exit {code}: {text}")
    equal(house.totals(), before, "rows lost on their way")
    equal(house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again")[0], 0, "the stage is free again")


def answers(house):
    answer = {name: house.ask(question(name, values)) for name, values in QUESTIONS.items()}
    equal([row[:4] + row[7:] for row in answer["nights"]], [[night, "llama", "4", "0", "0", "0"] for night in NIGHTS], "nights")
    with contextlib.closing(sqlite3.connect(house.indexes(NIGHTS[0])[0])) as database:
        names = {name for name, in database.execute("SELECT DISTINCT name FROM kernels")}
    slower = [row for row in answer["regressions"] if float(row[3]) > 1.2]
    require(slower and all(row[0] in names for row in slower), f"regressions: {answer['regressions']}")
    ops = {row[0] for row in house.ask("SELECT DISTINCT op FROM kernel_rollup WHERE name IN ("
                                       + ", ".join("'" + row[0].replace("'", "\\'") + "'" for row in slower) + ")")}
    require(ops and all("attention" in op for op in ops), f"what became slower is {ops}")
    equal([answer["worst_ranks"][0][:2], len(answer["worst_ranks"])], [[NIGHTS[1], str(SLOW_RANK)], RANKS], "worst rank")
    require(float(answer["worst_ranks"][0][4]) > 1.3, f"worst rank: {answer['worst_ranks'][0]}")
    require(answer["grown_kernels"] and all(float(row[3]) > 0 for row in answer["grown_kernels"]), "kernels that grew")
    share = house.ask("SELECT sumIf(sum_ns, op = 'communication') / sum(sum_ns) FROM kernel_rollup")[0][0]
    equal([len(answer["communication"]), answer["communication"][0][5]], [1, share], "share of communication")
    name = slower[0][0]
    over_nights = house.ask(question("one_kernel", {"job": "llama", "name": name}))
    equal({row[0] for row in over_nights}, set(NIGHTS), "one kernel")
    for words in ((), ("since=2026-11-20", "job=x"), ("since=yesterday",)):
        command = [sys.executable, WAREHOUSE / "question.py", WAREHOUSE / "queries/communication.sql", *words]
        equal(subprocess.run(command, capture_output=True, check=False).returncode, 2, f"parameters {words}")


def rows_that_came_back(house):
    """As after a crash of an old version, which brings replaced partitions back: visible, and gone after another load."""
    before = house.totals()
    for server in house.cluster.servers:
        for table in ("kernel_rollup", "loaded_trace"):
            server.run(f"INSERT INTO {table}_local SELECT * FROM {table}_local WHERE night = '{NIGHTS[1]}'")
    nights = house.ask(question("nights", {}))
    require([row[2:4] for row in nights] == [["4", "0"], ["4", "4"]], f"nights: {nights}")
    equal(house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again")[0], 0, "load")
    equal(house.totals(), before, "each once")


def a_dead_server(house):
    """Error, not half an answer, whatever the client's settings are; nothing is loaded; all is there afterwards."""
    before = house.totals()
    house.cluster.kill(1)
    for name, values in QUESTIONS.items():
        for settings in ({}, {"skip_unavailable_shards": 1}):
            try:
                answer = house.cluster.servers[0].run(question(name, values), **settings)
            except ServerError as error:
                require("279" in str(error) or "210" in str(error), str(error))
            else:
                raise AssertionError(f"{name} {settings}: answers {answer}")
    code, text = house.load("2026-11-22", house.indexes(NIGHTS[1]), "--again")
    equal(code, 6, f"load ({text})")
    house.cluster.start(1)
    equal(house.totals(), before, "after the restart")
    code, text = house.load(NIGHTS[1], house.indexes(NIGHTS[1]), "--again")
    equal((code, house.totals()), (0, before), f"load after the restart ({text})")


def a_current_version(house):
    """Tables, views and queries in ClickHouse of today, with its own parameters, over the same rows."""
    with Chdb(house.folder / "chdb") as current:
        compare_with(house, current)
        print(f"current version: {current.run('SELECT version()').strip()}")


def compare_with(house, current):
    for file in ("tables.sql", "single.sql"):
        for statement in statements(file):
            current.run(statement)
    for table in ("kernel_rollup", "loaded_trace"):
        rows = house.cluster.servers[0].run(f"SELECT * FROM {table} FORMAT CSV")
        current.run(f"INSERT INTO {table}_local FORMAT CSV {rows}")
    for name, values in QUESTIONS.items():
        expected = [line.split("\t") for line in house.cluster.servers[0].run(question(name, values)).splitlines()]
        for key, value in values.items():
            current.run(f"SET param_{key} = '{value}'")
        for sql in (question(name, values), (WAREHOUSE / f"queries/{name}.sql").read_text(encoding="utf-8")):
            found = [line.split("\t") for line in current.run(sql).splitlines()]
            equal([[rounded(cell) for cell in row] for row in found], [[rounded(cell) for cell in row] for row in expected], name)


def rounded(cell):
    try:
        return float(f"{float(cell):.12g}")
    except ValueError:
        return cell


def odd_traces(house):
    """Names that are hostile to CSV, SQL and the terminal, unknown durations, and a trace without kernels."""
    names = ['a,b"c', "back\\slash\\n", "\\N", "=1+1", "'); DROP TABLE kernel_rollup_local; --", "snow\N{SNOWMAN}", "tab\there", "new\nline", ""]
    events = [kernel(name, 1000 + 10 * number, 5) for number, name in enumerate(names)]
    del events[0]["dur"]
    cpu = [event("cpu_op", "aten::mm", 1, 2)]
    job = house.folder / "odd"
    job.mkdir()
    for name, content in (("names", events), ("empty", cpu)):
        index_of(job / f"{name}.json", content)
    indexes = sorted(job.glob("*.tracedb"))
    code, text = house.load("2026-11-30", indexes)
    equal((code, text.split()[2]), (0, "2"), text)
    shown = sql(indexes[1], "SELECT name, count(dur) AS n FROM kernels GROUP BY 1")
    rows = [json.loads(line) for server in house.cluster.servers for line in server.run(
        "SELECT name, toInt32(n) AS n, toInt32(untimed) AS untimed FROM kernel_rollup_local WHERE job = 'odd' FORMAT JSONEachRow").splitlines()]
    escaped = {row["name"].replace("\t", "\\x09").replace("\n", "\\x0a"): row["n"] for row in shown}
    equal({row["name"]: row["n"] for row in rows}, escaped, "names")
    equal(sum(row["n"] + row["untimed"] for row in rows), len(events), "kernels with and without duration")
    equal(house.ask("SELECT count(), sum(kernels) FROM loaded_trace WHERE job = 'odd'"), [["2", str(len(events))]], "ledger")
    equal(house.load("2026-11-30", indexes)[1].split()[2], "0", "again")


def on_clickhouse(cases, folder):
    require_fleet()
    with MiniClickHouse(folder / "clickhouse") as cluster:
        house = Warehouse(folder, cluster)
        # The dead server before anything is replaced: see rows_that_came_back.
        cases.each((loads_both_nights, rows_are_those_of_the_indexes, a_dead_server, counts_once,
                    a_trace_that_was_written_again, killed_loads, counts_that_do_not_agree, answers,
                    rows_that_came_back, a_current_version, odd_traces), house)


def main(cases, folder):
    cases.run("two servers start and leave nothing behind", on_clickhouse, cases, folder)
