#!/usr/bin/env python3
"""Loads indexes into the warehouse: load.py --night 2026-11-20 [--server URL]... MANIFEST.jsonl|INDEX...

A manifest is that of ../manifest.py; of it, what is done is loaded. Rows go into a stage beside the tables. Only when they
agree with the indexes, a night is published: its partition is attached, or replaced where it had rows of the same traces;
then the ledger says so. A trace counts once: by its content, under whatever path, and only its newest form if the file at
a path has changed. What the ledger has is passed over, so a load may be repeated at any time, also one that was killed.

--server is repeated for each server of the cluster, in the same order every time; tables are made with tables.sql.
CLICKHOUSE_USER and CLICKHOUSE_PASSWORD are used if set. trace-query is on the PATH.

Exit: 0 loaded, or there already; 2 usage; 3 some indexes cannot be read, the others are loaded; 5 a server refuses; 6 try
again: a server is down, another load is at work, or the counts do not agree. Nothing is published by halves of a trace.
"""
import argparse
import concurrent.futures
import contextlib
import csv
import datetime
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from server import Server, ServerError, Unreachable, quoted

USAGE, INPUT, RESOURCE, TRANSIENT = 2, 3, 5, 6
TABLES = ("kernel_rollup", "loaded_trace")  # in the order in which they are published
ROLLUP = Path(__file__).with_name("rollup.sql")
BLOCK = 1 << 18
TABLE_EXISTS = 57  # ClickHouse's code
INDEXES_A_CALL = 1000  # of trace-query ls


class Unloadable(Exception):
    """Why an index, or all, cannot be loaded now."""


class Trace:
    """What the ledger says of a trace. `catalogue` is its row of trace-query ls."""

    def __init__(self, catalogue, night, job):
        self.index, self.night = catalogue["index_path"], night
        address = f"{Path(self.index).resolve().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            self.meta = dict(database.execute("SELECT key, value FROM meta"))
        self.content_hash = self.meta["source_hash"]
        if not re.fullmatch("[0-9a-f]{32}", self.content_hash):
            raise ValueError(f"source_hash is no hash: {self.content_hash!r}")
        self.number = int(self.content_hash[:16], 16) >> 1  # SQLite binds signed numbers
        self.source = self.meta["source_path"]
        self.kernels, self.sum_ns = int(self.meta["kernels"]), int(self.meta["kernel_ns"])
        self.job = job or Path(self.source).parent.name
        self.catalogue = catalogue
        self.rollup_rows = 0

    def identity(self):
        """As the ledger returns it: what is the same need not be loaded again."""
        return [str(self.number), self.night, self.job, self.meta["tool_version"]]

    def claims(self):
        """What two indexes of one trace have in common."""
        return [self.content_hash, str(self.kernels), str(self.sum_ns)]

    def is_verified(self):
        """Whether the trace is there, and has the hash."""
        return os.path.isfile(self.source) and subprocess.run(
            ["trace-query", "verify", "-q", "--", self.index], capture_output=True, check=False).returncode == 0

    def ledger_row(self):
        names = ("rank", "world_size", "gpu", "model", "framework", "format", "date_ns")
        return {"night": self.night, "job": self.job, "trace_id": str(self.number), "content_hash": self.content_hash,
                "source": self.source, **{name: self.catalogue[name] for name in names},
                "complete": self.catalogue["complete"], "steps": self.catalogue["steps"], "kernels": self.kernels,
                "sum_ns": str(self.sum_ns), "rollup_rows": self.rollup_rows,
                "tool_version": self.meta["tool_version"],
                "loaded_at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")}

    def roll_up(self, folder):
        """A file with the roll-up as CSV, in the columns of the table. Unloadable where it is not what the index says."""
        self.file = Path(folder, str(self.number))
        command = ["trace-query", "sql", "-f", ROLLUP, "--csv", "--raw-cells", "--no-ingest", "-q"]
        values = {"night": self.night, "job": self.job, "trace_id": self.number,
                  **{name: self.catalogue[name] for name in ("rank", "gpu", "model")}}
        for name, value in values.items():
            kind = ":text" if isinstance(value, str) else ""
            command += ["--param", f"{name}{kind}={chr(92) + 'N' if value is None else value}"]
        with open(self.file, "wb") as file:
            query = subprocess.run([*command, "--", self.index], stdout=file, stderr=subprocess.PIPE, check=False)
        if query.returncode != 0:
            raise Unloadable(f"{self.index}: {query.stderr.decode(errors='replace').strip()}")
        with open(self.file, encoding="utf-8", newline="") as file:
            rows = [(int(row["n"]) + int(row["untimed"]), int(row["sum_ns"])) for row in csv.DictReader(file)]
        self.rollup_rows = len(rows)
        found = [sum(column) for column in zip(*rows)] or [0, 0]
        if found != [self.kernels, self.sum_ns]:
            raise Unloadable(f"{self.index}: kernels and ns are {[self.kernels, self.sum_ns]}, but its rows have {found}")

    def rows(self):
        """The roll-up as blocks."""
        with open(self.file, "rb") as file:
            file.readline()  # names of the columns
            while block := file.read(BLOCK):
                yield block


def find_indexes(inputs):
    """Paths of indexes, from manifests and arguments."""
    for given in inputs:
        if given.endswith(".jsonl"):
            try:
                entries = [json.loads(line) for line in Path(given).read_text(encoding="utf-8").splitlines()]
                yield from [entry["index"] for entry in entries if entry["outcome"] == "done"]
            except (ValueError, KeyError, TypeError) as error:
                raise Unloadable(f"{given}: no manifest: {error!r}") from error
        else:
            yield given


def catalogue(indexes):
    """The rows of trace-query ls."""
    for first in range(0, len(indexes), INDEXES_A_CALL):
        command = ["trace-query", "ls", "--json", "--limit", "0", "--", *indexes[first:first + INDEXES_A_CALL]]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode not in (0, INPUT) or not result.stdout:
            raise Unloadable(f"trace-query ls: {result.stderr.strip()}")
        yield from json.loads(result.stdout)["rows"]


def read_traces(indexes, night, job):
    """({content: trace}, complaints). One content is one trace, however many indexes have it."""
    complaints = [f"{index}: no such file" for index in indexes if not os.path.isfile(index)]
    traces = {}
    for row in catalogue([index for index in indexes if os.path.isfile(index)]):
        if row["state"] not in ("indexed", "no trace"):
            complaints.append(f"{row['index_path'] or row['trace']}: {row['state']}; run trace-ingest, then load it again")
            continue
        try:
            trace = Trace(row, night, job)
            other = traces.setdefault(trace.number, trace)
            if other.claims() == trace.claims():
                continue
            if not other.is_verified() and trace.is_verified():
                traces[trace.number], trace, other = trace, other, trace
            complaints.append(f"{trace.index}: claims to be of the trace that {other.index} is of, with other contents")
        except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
            complaints.append(f"{row['index_path']}: no hash of the trace, or no index: {error!r}")
    return traces, complaints


def roll_up_all(traces, folder):
    """(those that can be loaded, complaints about the others)"""
    good, complaints = [], []
    for trace in traces:
        try:
            trace.roll_up(folder)
            good.append(trace)
        except (Unloadable, csv.Error, KeyError, TypeError, ValueError) as error:
            complaints.append(str(error) if isinstance(error, Unloadable) else f"{trace.index}: no roll-up: {error!r}")
    return good, complaints


def listed(traces):
    return ", ".join(str(trace.number) for trace in traces)


class Load:
    """One load of a night. Shards by trace; a trace that is anywhere in the way is removed there."""

    def __init__(self, servers, night):
        self.servers, self.night = servers, night
        self.in_the_way, self.stages = [], []

    def clear_the_way(self, new, all_of_them):
        """Notes which rows are in the way of the new traces: their own of an earlier load, and those of what lay at their path
        before, which is known by what lies there now."""
        sources = ", ".join(quoted(trace.source) for trace in new if trace.catalogue["state"] == "indexed") or "''"
        replaced = {int(number) for number, in self.ask(
            f"SELECT trace_id FROM loaded_trace_local WHERE night = '{self.night}' AND source IN ({sources})")}
        self.in_the_way = sorted(replaced - {trace.number for trace in all_of_them} | {trace.number for trace in new})

    def keep_new(self, traces, again):
        """(those that the ledger has not, those that it has under another night or job, those that claim to be of a trace that
        it has with other contents)."""
        ledger = {row[0]: row for row in self.ask(
            "SELECT trace_id, night, job, tool_version, content_hash, kernels, sum_ns FROM loaded_trace_local "
            f"WHERE trace_id IN ({listed(traces)})")}
        new, elsewhere, false = [], [], []
        for trace in traces:
            entry = ledger.get(str(trace.number))
            if again or entry is None:
                new.append(trace)
            elif entry[4:] != trace.claims() and not trace.is_verified():
                false.append(trace)
            elif entry[1:3] != trace.identity()[1:3]:
                elsewhere.append(trace)
            elif entry[:4] != trace.identity():
                new.append(trace)
        return new, elsewhere, false

    def ask(self, sql):
        return [row for server in self.servers for row in server.rows(sql)]

    def lock(self, take_over):
        """The stage is the lock: its tables can be made only once."""
        for server in self.servers:
            for table in TABLES:
                if take_over:
                    server.run(f"DROP TABLE IF EXISTS {table}_stage")
                try:
                    server.run(f"CREATE TABLE {table}_stage AS {table}_local")
                except ServerError as error:
                    if f"Code: {TABLE_EXISTS}" not in str(error):
                        raise
                    raise Unloadable(f"{server.url}: {table}_stage exists: another load is at work, or one was killed; when "
                                     "none is at work, repeat this with --take-over") from error
                self.stages.append((server, table))

    def unlock(self):
        """What of it can be reached."""
        for server, table in self.stages:
            with contextlib.suppress(Unreachable):
                server.run(f"DROP TABLE IF EXISTS {table}_stage")

    def fill_stage(self, traces):
        """Each server takes its traces one after the other, all servers at once."""
        def fill(shard):
            server = self.servers[shard]
            mine = [trace for trace in traces if trace.number % len(self.servers) == shard]
            if not mine:
                return
            server.run("INSERT INTO kernel_rollup_stage FORMAT CSV", rows=(block for trace in mine for block in trace.rows()),
                       format_csv_allow_single_quotes=0)  # a name may begin with one
            lines = "\n".join(json.dumps(trace.ledger_row()) for trace in mine)
            server.run("INSERT INTO loaded_trace_stage FORMAT JSONEachRow\n" + lines)
            self.check(server, mine)
        with concurrent.futures.ThreadPoolExecutor(len(self.servers)) as pool:
            for done in [pool.submit(fill, shard) for shard in range(len(self.servers))]:
                done.result()

    @staticmethod
    def check(server, traces):
        """The stage has what the indexes have: rows, kernels and their time."""
        counted = {int(row[0]): row[1:] for row in server.rows(
            "SELECT trace_id, count(), sum(n + untimed), sum(sum_ns) FROM kernel_rollup_stage GROUP BY trace_id")}
        for trace in traces:
            expected = [str(trace.rollup_rows), str(trace.kernels), str(trace.sum_ns)]
            found = counted.get(trace.number, ["0", "0", "0"])
            if found != expected:
                raise Unloadable(f"{trace.index}: rows, kernels and ns are {expected}, but {found} at {server.url}; nothing was loaded")

    def publish(self, server, table):
        """Night by night in one step each. Rows that are in the way are left out of what replaces a night."""
        numbers = ", ".join(map(str, self.in_the_way))
        occupied = {night for night, in server.rows(f"SELECT DISTINCT night FROM {table}_local WHERE trace_id IN ({numbers})")}
        staged = {night for night, in server.rows(f"SELECT DISTINCT night FROM {table}_stage")}
        for night in sorted(occupied):
            server.run(f"INSERT INTO {table}_stage SELECT * FROM {table}_local WHERE night = '{night}' AND trace_id NOT IN ({numbers})")
        for night in sorted(occupied | staged):
            if server.rows(f"SELECT count() FROM {table}_stage WHERE night = '{night}'") == [["0"]]:
                server.run(f"ALTER TABLE {table}_local DROP PARTITION '{night}'")
            else:
                verb = "REPLACE" if night in occupied else "ATTACH"
                server.run(f"ALTER TABLE {table}_local {verb} PARTITION '{night}' FROM {table}_stage")

    def run(self, traces, take_over):
        try:
            self.lock(take_over)
            self.fill_stage(traces)
            for table in TABLES:
                for server in self.servers:
                    self.publish(server, table)
        finally:
            self.unlock()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="MANIFEST|INDEX")
    parser.add_argument("--night", required=True, help="date of the night, YYYY-MM-DD")
    parser.add_argument("--job", help="name of the job (folder of each trace)")
    parser.add_argument("--server", action="append", help="http://127.0.0.1:8123")
    parser.add_argument("--database", default="default")
    parser.add_argument("--again", action="store_true", help="load also what the ledger has, and move it to this night and job")
    parser.add_argument("--take-over", action="store_true", help="remove the stage of a load that was killed")
    arguments = parser.parse_args()
    try:
        arguments.night = str(datetime.date.fromisoformat(arguments.night))
        arguments.servers = [Server(url, arguments.database) for url in arguments.server or ["http://127.0.0.1:8123"]]
    except ValueError as error:
        parser.error(str(error))
    return arguments


def load(arguments):
    indexes = list(find_indexes(arguments.inputs))
    traces, complaints = read_traces(indexes, arguments.night, arguments.job) if indexes else ({}, [])
    one = Load(arguments.servers, arguments.night)
    new, elsewhere, false = one.keep_new(list(traces.values()), arguments.again) if traces else ([], [], [])
    complaints += [f"{trace.index}: claims to be of a trace that is loaded, with other contents" for trace in false]
    with tempfile.TemporaryDirectory(prefix="tracedb-load-") as folder:
        good, unsound = roll_up_all(new, folder)
        for complaint in [*complaints, *unsound]:
            print(f"load: {complaint}", file=sys.stderr)
        for trace in elsewhere:
            print(f"load: {trace.index}: is loaded under another night or job; --again moves it here", file=sys.stderr)
        if good:
            one.clear_the_way(good, traces.values())
            one.run(good, arguments.take_over)
    there = len(traces) - len(new) - len(false)
    complaints += unsound
    twice = len(indexes) - len(good) - there - len(complaints)
    print(f"{len(indexes)} indexes: {len(good)} loaded, {there} there already, {len(complaints)} not loadable"
          + (f", {twice} of the same traces as others" if twice else ""))
    return INPUT if complaints else 0


def main():
    csv.field_size_limit(1 << 30)  # names may be long
    arguments = parse_arguments()
    try:
        sys.exit(load(arguments))
    except (Unloadable, Unreachable) as error:
        print(f"load: {error}", file=sys.stderr)
        sys.exit(TRANSIENT)
    except (ServerError, OSError) as error:
        print(f"load: {error}", file=sys.stderr)
        sys.exit(RESOURCE)


if __name__ == "__main__":
    main()
