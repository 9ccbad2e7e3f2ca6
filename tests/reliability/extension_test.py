"""libtracedb_sqlite.so in databases and programs that are not what it is made for: it answers in one line or works, never
ends the program, and changes no file."""
import hashlib
import os
import random
import shutil
import subprocess
from pathlib import Path

from extension import LIBRARY, by_python, by_shell, uri_of
from trace_cases import BIN, Skip, edit_database, equal, ingest, make_trace, require

OPTIONS = ("--steps", 4, "--seed", 5, "--layers")
OPS = ["sql", "SELECT op, instances, total_time FROM ops ORDER BY 1"]
WORDS = ["sql", "SELECT op, phase, layer, count(*) AS n FROM kernels GROUP BY 1, 2, 3"]
PLAIN = ["sql", "SELECT median(column1) AS m, human_ns(1500) AS h, op_class('ncclDevKernel_AllReduce') AS o FROM (VALUES (1), (3))"]
PLAIN_ROWS = [{"m": 2.0, "h": "1.500 us", "o": "communication"}]
OBEYED = {chr(code) for code in range(32)} | {chr(127), "\x9b", "\u202e"}


def digest(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


class Folder:
    """A trace and its index; copies of the index to spoil."""

    def __init__(self, folder):
        self.folder = folder
        self.trace = make_trace(folder / "trace.json", *OPTIONS, 3)
        self.index = ingest(self.trace, folder / "trace.json.tracedb")
        self.ops = by_python(uri_of(self.index), OPS)[0]["rows"]
        require(len(self.ops) > 3, "operations")

    def copy(self, name, *statements):
        path = Path(shutil.copy(self.index, self.folder / name))
        edit_database(path, *statements)
        return path


def one_line(answer, *words):
    text = answer.get("error", "")
    require(text and not OBEYED & set(text) and all(word in text for word in words), f"{words}: {answer}")


def plain(answer):
    equal(answer.get("rows"), PLAIN_ROWS, f"functions without an index: {answer}")


def not_an_index(files):
    path = files.folder / "other.db"
    edit_database(path, "CREATE TABLE ops AS SELECT 'mine' AS op, 1 AS instances, 2 AS total_time")
    for uri, named in ((uri_of(path, "rw"), "other.db"), ("file::memory:", "the open database")):
        own, timeline, words, functions = by_python(
            uri, OPS, ["sql", "SELECT * FROM timeline"], ["sql", "SELECT kernel_step(1)"], PLAIN)
        one_line(timeline, named, "not an index")
        one_line(words, named, "not an index")
        plain(functions)
        if named == "other.db":
            equal(own["rows"], [{"op": "mine", "instances": 1, "total_time": 2}], "a table of the database")


def in_memory(files):
    rows, messages = by_shell(":memory:", f"{OPS[1]}; {PLAIN[1]}", f".restore '{files.index}'")
    require("an index in memory" in messages and rows == [], f"{rows} {messages}")
    rows, messages = by_shell(":memory:", "SELECT count(*) > 0 AS n FROM kernels", f".restore '{files.index}'")
    equal((rows, messages), ([{"n": 1}], ""), "the views of the index")


def other_states(files):
    """What an index must not be, and what the answer names."""
    later = files.copy("later.tracedb", "PRAGMA user_version = 99")
    changed = files.copy("changed.tracedb", "CREATE TABLE mine (x)")
    unfinished = files.copy("unfinished.tracedb", "DELETE FROM meta WHERE key = 'complete'")
    logged = files.copy("logged.tracedb", "PRAGMA journal_mode = WAL")
    for path, word in ((later, "another version"), (changed, "changed by another program"), (unfinished, "never finished"),
                       (logged, "another version")):
        ops, median = by_python(uri_of(path), OPS, ["sql", "SELECT median(column1) AS m FROM (VALUES (1), (3))"])
        one_line(ops, path.name, word)
        equal(median["rows"], [{"m": 2.0}], "a function that asks no index")
    plain(by_python(uri_of(later), PLAIN)[0])


def trace_changed(files):
    folder = files.folder / "stale"
    folder.mkdir()
    trace = Path(shutil.copy(files.trace, folder / "t.json"))
    index = ingest(trace, folder / "t.json.tracedb")
    with open(trace, "a", encoding="utf-8") as file:
        file.write(" ")
    for answer in by_python(uri_of(index), OPS, WORDS):
        one_line(answer, "t.json.tracedb", "out of date", "trace-ingest")
    trace.unlink()
    ops, notes = by_python(uri_of(index), OPS, ["sql", "SELECT tracedb_notes() AS n"])
    equal(ops["rows"], files.ops, "without the trace")
    require("not checked against its trace" in notes["rows"][0]["n"], notes)


def hostile_names(files):
    folder = files.folder / "names\x1b[31m\n"
    folder.mkdir()
    index = shutil.copy(files.copy("later2.tracedb", "PRAGMA user_version = 99"), folder / "x\x07\u202e.tracedb")
    one_line(by_python(uri_of(index), OPS)[0], "another version", "\\x1b")


def twice(files):
    first, second, third = by_python(uri_of(files.index), OPS, ["load"], OPS, ["load"], WORDS)
    equal((first["rows"], second["rows"]), (files.ops, files.ops), "loaded twice")
    require(third["rows"], third)


def several(files):
    """Connections and threads do not know of each other."""
    other = ingest(make_trace(files.folder / "other.json", *OPTIONS, 2), files.folder / "other.json.tracedb")
    first, second = by_python(uri_of(files.index), OPS, ["open", uri_of(other)], OPS)
    require(first["rows"] == files.ops and second["rows"] != files.ops, "two indexes")
    for mode in ("ro", "rw", "ro&immutable=1", "ro&cache=shared"):
        ops, words = by_python(uri_of(files.index, mode), OPS, WORDS, threads=4)
        equal(ops.get("rows"), files.ops, f"four threads, mode={mode}: {ops}")
        require(words.get("rows"), f"four threads, mode={mode}: {words}")


def settings_of_the_host(files):
    """Whatever the host has set stays, and does not matter."""
    before = "PRAGMA query_only = ON"
    ops, setting = by_python(uri_of(files.index), OPS, ["sql", "PRAGMA query_only"], before=before)
    equal((ops["rows"], setting["rows"]), (files.ops, [{"query_only": 1}]), before)
    for before in ("PRAGMA temp_store = FILE", "PRAGMA case_sensitive_like = ON", "PRAGMA trusted_schema = OFF",
                   "CREATE TEMP TABLE kernel (id)", "CREATE TEMP TABLE mine AS SELECT 7 AS x", "BEGIN"):
        ops, words = by_python(uri_of(files.index), OPS, WORDS, before=before)
        equal(ops.get("rows"), files.ops, f"{before}: {ops}")
        require(words.get("rows"), f"{before}: {words}")
    mine = by_python(uri_of(files.index), ["sql", "SELECT x FROM mine"], before="CREATE TEMP TABLE mine AS SELECT 7 AS x")
    equal(mine[0]["rows"], [{"x": 7}], "a temporary table of the host")
    rolled, again = by_python(uri_of(files.index), ["script", "ROLLBACK"], OPS, ["sql", "SELECT count(*) AS n FROM kernels"],
                              before="BEGIN")
    equal(rolled["rows"], files.ops, "after ROLLBACK")
    require(again["rows"][0]["n"] > 0, "the views of the index after ROLLBACK")
    taken = by_python(uri_of(files.index), OPS, before="CREATE TEMP VIEW kernels AS SELECT 1 AS mine")
    one_line(taken[0], "kernels already exists")


def replaced(files):
    """The figures of two files are not mixed."""
    index, other = files.copy("old.tracedb"), files.copy("new.tracedb")
    count = ["sql", "SELECT count(*) AS n FROM kernel"]
    _, ops, words = by_python(uri_of(index), count, ["replace", str(other), str(index)], OPS, WORDS)
    one_line(ops, "old.tracedb", "open it again")
    one_line(words, "old.tracedb", "open it again")


def rules_of_the_environment(files):
    os.environ["TRACEDB_RULES"] = "/dev/null/no\nrules"
    try:
        one_line(by_python(uri_of(files.index), OPS)[0], "rules")
        os.environ["TRACEDB_RULES"] = "wafer"
        require(by_python(uri_of(files.index), OPS)[0]["rows"] != files.ops, "other rules")
    finally:
        del os.environ["TRACEDB_RULES"]


def damaged(files):
    """Bytes changed anywhere: rows or one line, and Python goes on."""
    chance = random.Random(7)
    content = files.index.read_bytes()
    for number in range(25):
        spoiled = bytearray(content)
        for _ in range(chance.choice((1, 20, 2000))):
            spoiled[chance.randrange(100, len(spoiled))] = chance.randrange(256)
        path = files.folder / "spoiled.tracedb"
        path.write_bytes(spoiled[:chance.choice((len(spoiled), len(spoiled), len(spoiled) // 2))])
        for answer in by_python(uri_of(path), OPS, WORDS, ["sql", "SELECT * FROM idle_gaps"], PLAIN):
            if "rows" not in answer:
                one_line(answer)


def host(*arguments):
    program = BIN / "extension-host"
    if not program.exists():
        raise Skip("extension-host is not built: there is no static library of SQLite")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


def static_host(files):
    """In a program that has SQLite linked statically, loaded or in every connection."""
    expected = "".join(f"{row['op']}|{row['instances']}|{row['total_time']}\n" for row in files.ops)
    for mode in ("load", "auto"):
        result = host(mode, LIBRARY, files.index, OPS[1])
        equal((result.returncode, result.stdout), (0, expected), f"{mode}: {result}")
        result = host(mode, LIBRARY, ":memory:", OPS[1])
        equal((result.returncode, "not an index" in result.stdout), (1, True), f"{mode} in memory: {result}")
    for mode, words in (("old", "needs SQLite 3.40 or later; this program has 3.37.2"), ("two", "two copies of SQLite")):
        result = host(mode, LIBRARY)
        equal((result.returncode, words in result.stdout, result.stdout.count("\n")), (1, True, 1), f"{mode}: {result}")


def main(cases, folder):
    if not LIBRARY.exists():
        raise Skip(f"{LIBRARY} is not built")
    files = cases.run("an index", Folder, folder)
    if files is None:
        return
    before = digest(files.folder)
    cases.each((twice, settings_of_the_host, static_host, rules_of_the_environment, in_memory), files)
    cases.run("no file is changed", equal, digest(files.folder), before, "files")
    cases.each((not_an_index, other_states, trace_changed, hostile_names, several, replaced, damaged), files)
