"""tools/fleet/warehouse/load.py against a stand-in for a server: an index that is not what it says is complained about, and
the others are loaded; names that begin with a dash are names."""
import contextlib
import io
import json
import os
import shutil
import sqlite3
import sys

from trace_cases import BIN, ROOT, equal, ingest, make_trace, require

sys.path[:0] = [str(ROOT / "tools/fleet/warehouse"), str(ROOT / "tools/fleet")]
import ingest_task  # noqa: E402
import load  # noqa: E402


class StandIn:
    """The ledger and the roll-up of one server, as far as the loader asks about them."""
    url = "stand-in"

    def __init__(self):
        self.ledger, self.staged, self.rollup = {}, {}, []

    def run(self, sql, rows=None, **_):
        if sql.startswith("INSERT INTO kernel_rollup_stage FORMAT"):
            self.rollup += load.csv.reader(b"".join(rows).decode().splitlines())
        elif sql.startswith("INSERT INTO loaded_trace_stage FORMAT"):
            self.staged = {line["trace_id"]: line for line in map(json.loads, sql.splitlines()[1:])}
        elif sql.startswith("ALTER TABLE loaded_trace_local"):
            self.ledger.update(self.staged)
        return ""

    def rows(self, sql):
        if "FROM kernel_rollup_stage GROUP BY" in sql:
            numbers = {row[2] for row in self.rollup}
            mine = {number: [row for row in self.rollup if row[2] == number] for number in numbers}
            return [[number, str(len(rows)), str(sum(int(row[11]) + int(row[12]) for row in rows)), str(sum(int(row[13]) for row in rows))]
                    for number, rows in mine.items()]
        if sql.startswith("SELECT trace_id, night"):
            return [[str(entry[name]) for name in ("trace_id", "night", "job", "tool_version", "content_hash", "kernels", "sum_ns")]
                    for number, entry in self.ledger.items() if number in sql]
        if sql.startswith("SELECT DISTINCT night FROM loaded_trace_stage"):
            return [["2026-11-20"]]
        return [["1"]] if sql.startswith("SELECT count()") else []


def run(server, *indexes, night="2026-11-20"):
    """(exit code, complaints, the line about all)"""
    arguments = load.argparse.Namespace(inputs=[str(index) for index in indexes], night=night, job="007", servers=[server], again=False,
                                        take_over=False)
    out, complaints = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaints):
        code = load.load(arguments)
    return code, complaints.getvalue(), out.getvalue()


def changed(index, path, **meta):
    shutil.copy(index, path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        for key, value in meta.items():
            database.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
        database.commit()
    return path


def bad_indexes(folder):
    """Each is complained about; the good one is loaded, its texts as texts."""
    good, other = (ingest(make_trace(folder / f"{name}.json", "--layers", 1, "--steps", 2, "--seed", seed, "--truth", os.devnull),
                          folder / f"{name}.json.tracedb") for seed, name in enumerate(("good", "other"), 1))
    (folder / "bad").mkdir()
    bad = [changed(other, folder / "bad" / f"{number}.tracedb", **meta) for number, meta in enumerate(
        ({"source_hash": "zz"}, {"kernels": "x"}, {"kernel_ns": ""}, {"kernels": "5"}, {"source_hash": "0" * 31 + "\u00e9"}))]
    server = StandIn()
    code, complaints, line = run(server, *bad, good)
    equal((code, line.split(", ")[0], len(complaints.splitlines())), (3, "6 indexes: 1 loaded", 5), complaints)
    equal({row[1] for row in server.rollup}, {"007"}, "job")
    equal([entry["job"] for entry in server.ledger.values()], ["007"], "job in the ledger")


def false_claims(folder):
    """Of two indexes of one hash the one whose trace has it is loaded; what is loaded stays."""
    (folder / "real").mkdir()
    traces = [make_trace(folder / "real" / f"{seed}.json", "--layers", 1, "--steps", 1 + seed, "--seed", seed, "--truth", os.devnull)
              for seed in (1, 2)]
    real, other = (ingest(trace, f"{trace}.tracedb") for trace in traces)
    digest, = sqlite3.connect(real).execute("SELECT value FROM meta WHERE key = 'source_hash'").fetchone()
    false = changed(other, folder / "real" / "false.tracedb", source_hash=digest)
    kernels, = sqlite3.connect(real).execute("SELECT value FROM meta WHERE key = 'kernels'").fetchone()
    for inputs in ((false, real), (real, false)):
        server = StandIn()
        code, complaints, line = run(server, *inputs)
        equal((code, line.split(", ")[0]), (3, "2 indexes: 1 loaded"), complaints)
        require("false.tracedb: claims" in complaints, complaints)
        equal([entry["kernels"] for entry in server.ledger.values()], [int(kernels)], "what is loaded")
    code, complaints, line = run(server, false)
    equal((code, line.split(", ")[0]), (3, "1 indexes: 0 loaded"), complaints)
    equal(run(server, real)[2].split(", ")[:2], ["1 indexes: 0 loaded", "1 there already"], "again")


def names_with_dashes(folder):
    (folder / "dash").mkdir()
    os.chdir(folder / "dash")
    make_trace("./-q.json", "--layers", 1, "--steps", 1, "--truth", os.devnull)
    ingest("./-q.json", "./-q.json.tracedb")
    server = StandIn()
    code, complaints, line = run(server, "-q.json.tracedb")
    equal((code, line.split(", ")[0]), (0, "1 indexes: 1 loaded"), complaints)
    equal(list(ingest_task.already_there(["-q.json"], None)), ["-q.json"], "indexes that are there")


def main(cases, folder):
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    cases.each((bad_indexes, false_claims, names_with_dashes), folder)
    os.chdir("/")
