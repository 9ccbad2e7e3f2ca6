"""Indexes that were cut, damaged or planted, through the programs: trace-query answers or says in one line to ingest again,
a batch builds them anew, and nothing of the attempt stays behind. Sweeps within the process, also under the sanitizers:
tests/unit/index/files_test.cc. Databases that are small and seem large: what ingest of one takes in memory is bounded by
the bytes of its file."""
import os
import random
import signal
import subprocess
import sys

from faults import nothing_left
from index_folder import kernels, run_any, trace_file
from shared_pages import share_text
from trace_cases import changing, edit_database, equal, issues_of, make_trace, open_index, program, refused, require, run

COMMANDS = (("info",), ("kernels", "--limit", "3"), ("verify",), ("sql", None, "SELECT count(*), sum(dur) FROM kernels"),
            ("compare", "--section", "all"))


class Victim:
    def __init__(self, folder):
        self.folder = folder
        self.trace = trace_file(folder / "t.json", 1, "--layers", 2)
        run("trace-ingest", "-q", self.trace)
        self.index = folder / "t.json.tracedb"
        self.good, self.kernels = self.index.read_bytes(), kernels(self.index)

    def query(self, what, refused=False):
        """All commands on the index as it is now."""
        for command, *options in COMMANDS:
            arguments = [command, self.index] + [option for option in options if option is not None]
            if command == "compare":
                arguments.append(self.index)
            result = subprocess.run([program("trace-query"), *map(str, arguments)], capture_output=True, timeout=60)
            text = result.stderr.decode()
            if text.startswith("note: baseline and candidate are one file"):  # as asked here
                text = text.partition("\n")[2]
            allowed = (3,) if refused else (0, 1, 3)
            require(result.returncode in allowed, f"{what}: {command}: exit {result.returncode} ({text})")
            if result.returncode == 3:
                equal(text.count("\n"), 1, f"{what}: {command}: lines of {text!r}")
                require("trace-ingest" in text, f"{what}: {command}: no advice in {text!r}")

    def rebuild(self, what, *options):
        """A batch leaves a good index behind, whatever lay there."""
        result = run_any(*options, self.folder)
        equal(result.returncode, 0, f"{what}: exit code of a batch ({result.stderr})")
        equal(kernels(self.index), self.kernels, f"{what}: kernels")
        nothing_left(self.folder, what)


def cut(folder):
    victim = Victim(folder)
    size = len(victim.good)
    for keep in (16, 100, 101, 16384, 3 * 16384, size // 2, size - 16384, size - 1):
        victim.index.write_bytes(victim.good[:keep])
        victim.query(f"cut to {keep} bytes", refused=True)
        if keep >= 100:  # less is not recognised as ours, and not replaced without --force
            victim.rebuild(f"cut to {keep} bytes")


def flipped(folder):
    victim = Victim(folder)
    chance = random.Random(11)
    for number in range(24):
        damaged = bytearray(victim.good)
        page = chance.randrange(len(damaged) // 16384) * 16384
        for at in (page + chance.randrange(12) + (100 if page == 0 else 0), page + 16383 - chance.randrange(300)):
            damaged[at] ^= 1 << chance.randrange(8)
        victim.index.write_bytes(damaged)
        victim.query(f"flips {number} in page {page // 16384}")
        if number % 4 == 0:
            victim.rebuild(f"flips {number}", "--verify")


# Values that no ingest writes. Packed copies of the columns would hide them.
PLANTED = (
    "UPDATE kernel SET name_id = 2147483647 WHERE id % 3 = 0",
    "UPDATE kernel SET name_id = -5 WHERE id % 3 = 0",
    "UPDATE kernel SET dur = 9223372036854775807 WHERE id % 5 = 0",
    "UPDATE kernel SET dur = 4611686018427387904",
    "UPDATE kernel SET dur = -9223372036854775807",
    "UPDATE kernel SET ts = -9223372036854775807 WHERE id % 5 = 0",
    "UPDATE kernel SET ts = 1000000000 - ts",
    "UPDATE kernel SET stream_id = 4294967290 WHERE id % 7 = 0",
    "UPDATE kernel SET launch_config_id = 4294967295",
    "UPDATE kernel SET step_id = 4294967290 WHERE id % 7 = 0",
    "UPDATE kernel SET kind = 'nonsense'",
    "UPDATE step SET id = id + 4294967000",
    "UPDATE stream SET device_id = 4294967290",
    "UPDATE string SET value = replace(value, 'DecoderLayer_1', 'DecoderLayer_2000000000')",
    "DELETE FROM kernel_name",
    "DELETE FROM launch_config",
    "DELETE FROM step",
    "DELETE FROM stream",
)


def planted_values(folder):
    victim = Victim(folder)
    for edit in PLANTED:
        victim.index.write_bytes(victim.good)
        edit_database(victim.index, "DELETE FROM packed_column", edit)
        for options in (("compare", "--section", "all", victim.index, victim.index), ("steps", victim.index)):
            result = run("trace-query", *options, check=False)
            require(result.returncode in (0, 3), f"{edit}: {options[0]}: exit {result.returncode} ({result.stderr})")


# Packed copies of columns that do not fit the table.
UNFIT = (
    "UPDATE packed_column SET n = n - 1 WHERE name = 'dur'",
    "UPDATE packed_column SET n = 65536 WHERE name = 'name_id'",
    "UPDATE packed_column SET data = CAST(substr(data, 1, 20) AS BLOB) WHERE name = 'ts'",
    "UPDATE packed_column SET data = zeroblob(length(data))",
    "UPDATE packed_column SET data = CAST(data || x'00' AS BLOB) WHERE name = 'stream_id'",
    "UPDATE packed_column SET block = 7 WHERE name = 'launch_id'",
    "UPDATE packed_column SET hash = hash + 1 WHERE name = 'stack_id'",
    "UPDATE packed_column SET event_table = 'other' WHERE event_table = 'kernel'",
    "DELETE FROM packed_column WHERE name = 'dur'",
    "DELETE FROM kernel WHERE id > 40",
    "DELETE FROM runtime_call WHERE id > 40",
    "DELETE FROM kernel_name WHERE id % 2",
    "DELETE FROM stack",
    "UPDATE stack SET parent_id = id",
    "UPDATE cpu_op SET name_id = 2000000000 WHERE id % 2",
)


ARRAYS = {"kernels": ("name", "dur_us", "ts_end", "stream", "cpu_op", "module"), "launches": ("call", "queue_delay")}


def views_of_arrays(folder):
    """The views of trace-query sql that answer from arrays refuse, or say what the views of the index say."""
    victim = Victim(folder)
    refused = 0
    for edit, *without in [(text,) for text in UNFIT] + [(text, "") for text in PLANTED]:
        victim.index.write_bytes(victim.good)
        edit_database(victim.index, *["DELETE FROM packed_column"] * len(without), edit)
        for view, column in [(view, column) for view, columns in ARRAYS.items() for column in columns]:
            key = "id" if view == "kernels" else "kernel_id"
            own, plain = ((("trace-query", "sql", "-q", "--csv", victim.index,
                            f"SELECT {key}, {column} FROM {where}{view} ORDER BY {key}, {column}"))
                          for where in ("", "main."))
            answer = run(*own, check=False)
            what = f"{edit}: {view}.{column}: {answer.stderr}"
            require(answer.returncode in (0, 3), f"{what}: exit {answer.returncode}")
            if answer.returncode == 3:
                refused += 1
                require("trace-ingest" in answer.stderr and answer.stderr.count("\n") == 1, what)
            else:
                require(answer.stdout == run(*plain).stdout, f"{what} another answer")
    require(refused > 10, f"refused {refused} times")


# Blocks of Python calls, which no table has besides, and a word of what is said; None: nothing need be.
OF_CALLS = "packed_column SET {} WHERE event_table = 'python_call' AND name = '{}'"
BLOCKS = (
    ("UPDATE " + OF_CALLS.format("data = zeroblob(length(data))", "ts"), "lost"),
    ("UPDATE " + OF_CALLS.format("n = 65536", "thread_id"), "lost"),
    ("UPDATE " + OF_CALLS.format("block = 1", "dur"), "lost"),
    ("DELETE FROM packed_column WHERE event_table = 'python_call' AND name = 'stack_id'", "lost"),
    ("UPDATE packed_block SET n = 1 << 60", "packed_block"),
    ("UPDATE packed_block SET n = -1", "packed_block"),
    ("UPDATE packed_block SET n = n - 1", "lost"),
    ("UPDATE packed_block SET first_ts = 1 << 62, last_ts = -1, latest_end = NULL", None),
    ("DELETE FROM packed_block", None),
)


def blocks_of_calls(folder):
    """A damaged block loses its calls, and says so; what cannot be a block is refused; kernels stay as they are."""
    victim = Victim(folder)
    without_calls = {report: run("trace-query", report, "--csv", "-q", victim.index).stdout for report in ("kernels", "breakdown")}
    for edit, word in BLOCKS:
        victim.index.write_bytes(victim.good)
        with changing(victim.index) as database:
            equal(database.execute(edit).rowcount > 0, True, f"{edit}: changes rows")
        for report, answer in without_calls.items():
            equal(run("trace-query", report, "--csv", "-q", victim.index).stdout, answer, f"{edit}: {report}")
        for words in (("gaps",), ("timeline",), ("compare", victim.index), ("export", "-o", folder / "window.json"),
                      ("report", "-o", folder / "page.html"),
                      ("sql", "SELECT * FROM python_calls ORDER BY dur DESC LIMIT 3"),
                      ("sql", "SELECT * FROM python_calls_at(1, 1000000)")):
            command, options = words[0], [victim.index, *words[1:]]
            result = run("trace-query", command, *options, check=False)
            require(result.returncode in (0, 3), f"{edit}: {command}: exit {result.returncode} ({result.stderr})")
            require(result.returncode == 0 or result.stderr.count("trace-query:") == 1, f"{edit}: {result.stderr}")
            if word and command in ("gaps", "report", "sql"):
                require(word in result.stderr, f"{edit}: {command} does not say {word!r}: {result.stderr}")
        found = run("trace-query", "verify", victim.index, check=False)
        require(found.returncode != 0 and "FAILED" in found.stdout, f"{edit}: verify finds nothing")


def planted_journal(folder):
    """A journal that somebody laid beside the index is not played back into it."""
    victim = Victim(folder)
    journal = folder / "t.json.tracedb-journal"
    page = victim.good[16384:2 * 16384]
    header = bytes.fromhex("d9d505f920a163d7") + b"".join(
        number.to_bytes(4, "big") for number in (1, 0, len(victim.good) // 16384, 512, 16384))
    record = (2).to_bytes(4, "big") + bytes(len(page)) + bytes(4)
    journal.write_bytes(header.ljust(512, b"\0") + record)
    before = victim.index.read_bytes()
    victim.query("a journal")
    require(victim.index.read_bytes() == before, "trace-query has changed the index")
    victim.rebuild("a journal", "--force")
    require(not journal.exists(), "the journal lies beside the new index")


def wrong_journal_mode(folder):
    victim = Victim(folder)
    subprocess.run(["sqlite3", str(victim.index), "PRAGMA journal_mode=WAL"], check=True, capture_output=True)
    victim.query("write-ahead logging", refused=True)
    equal(sorted(os.listdir(folder)), ["t.json", "t.json.tracedb"], "files")
    victim.rebuild("write-ahead logging")


def reader_that_has_seen_enough(folder):
    victim = Victim(folder)
    for command in (("kernels", "--limit", "0"), ("schema",), ("sql", "SELECT * FROM kernels a, kernels b LIMIT 99999")):
        arguments = [command[0], *([] if command[0] == "schema" else [victim.index]), *command[1:]]
        process = subprocess.Popen([program("trace-query"), *map(str, arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
        require(process.wait(timeout=60) in (0, -signal.SIGPIPE), f"{command[0]}: exit {process.returncode}")
        equal(errors, b"", f"{command[0]}: said")


ROWS, SIZE = 400, 4 << 20  # of texts
MOST = 256 << 20  # and the file
TABLES = {
    "nsys": ("StringIds", """CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (id, name); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, streamId,
        shortName);""", "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?1 * 1000, ?1 * 1000 + 500, 0, 7, ?1)"),
    "thread names": ("StringIds", """CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (id, name); CREATE TABLE ThreadNames (nameId, globalTid);
        CREATE TABLE OSRT_API (start, "end", globalTid, nameId);""",
        "INSERT INTO ThreadNames VALUES (2, ?1); INSERT INTO OSRT_API VALUES (?1 * 1000, ?1 * 1000 + 500, ?1, 0)"),
    "rpd": ("rocpd_string", """CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT); CREATE TABLE rocpd_op (id
        INTEGER PRIMARY KEY, start, "end", gpuId, queueId, description_id, opType_id);""",
        "INSERT INTO rocpd_op VALUES (?1, ?1 * 1000, ?1 * 1000 + 500, 0, 0, ?1, 0)"),
    "rocpd": ("rocpd_string", """CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT); CREATE TABLE
        rocpd_info_process (id, pid); CREATE TABLE rocpd_memory_copy (start, "end", name_id);""",
        "INSERT INTO rocpd_memory_copy VALUES (?1 * 1000, ?1 * 1000 + 500, ?1)"),
    "ascend": ("STRING_IDS", """CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE CANN_API (startNs,
        endNs, type, globalTid, connectionId, name); CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); CREATE TABLE PYTORCH_API
        (startNs, endNs, globalTid, name);""", "INSERT INTO PYTORCH_API VALUES (?1 * 1000, ?1 * 1000 + 500, 5, ?1)"),
    # Texts in the rows themselves.
    "metadata": ("rocpd_metadata", """CREATE TABLE rocpd_metadata (tag, value); CREATE TABLE rocpd_string (id, string);
        CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, start, "end", gpuId, queueId, description_id, opType_id);""",
        "INSERT INTO rocpd_op VALUES (?1, ?1 * 1000, ?1 * 1000 + 500, 0, 0, 0, 0)"),
}


def ingest_within(path, most, *options):
    """What ingest says, and the most memory that it took: measured in a process of its own, for that of its parent counts."""
    code = ("import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
            "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    result = subprocess.run([sys.executable, "-I", "-c", code, program("trace-ingest"), "-q", *options, str(path)],
                            capture_output=True, text=True, timeout=600)
    code, kilobytes = map(int, result.stdout.split()[-2:])
    require(kilobytes * 1024 < most, f"{kilobytes >> 10} MiB of memory for a file of {path.stat().st_size >> 20} MiB")
    return code


def shared_texts(folder, name):
    table, schema, row = TABLES[name]
    path = folder / f"{name.replace(' ', '_')}.sqlite"
    with changing(path) as database:
        database.execute("PRAGMA page_size=4096")
        database.executescript(schema)
        for i in range(2, ROWS + 1):
            for statement in row.split("; "):
                database.execute(statement, (i,) * (1 if "?1" in statement else 0))
    share_text(path, table, ROWS, SIZE)
    equal(ingest_within(path, MOST + path.stat().st_size), 0, "exit code")
    require(issues_of(f"{path}.tracedb").get("oversized_table") or issues_of(f"{path}.tracedb").get("oversized_header"),
            f"issues {issues_of(f'{path}.tracedb')}")
    events, = open_index(f"{path}.tracedb").execute("SELECT sum(stored) FROM event_count").fetchone()
    equal(events, ROWS - 1, "events stored")


def many_values(folder):
    """Top-level values beyond what is kept of them, each small."""
    path = folder / "metadata.rpd"
    with changing(path) as database:
        database.executescript(TABLES["metadata"][1])
        database.executemany("INSERT INTO rocpd_metadata VALUES (?, ?)", ((f"k{i}", "v") for i in range(1_500_000)))
        database.execute(TABLES["metadata"][2], (5,))
    equal(ingest_within(path, MOST + path.stat().st_size), 0, "exit code")
    require(issues_of(f"{path}.tracedb").get("oversized_header"), f"issues {issues_of(f'{path}.tracedb')}")


def texts_as_needed(folder):
    """The first row of an id counts; texts that no row refers to are not read, damaged ones are told."""
    path = folder / "small.sqlite"
    with changing(path) as database:
        database.executescript(TABLES["nsys"][1].replace("id INTEGER PRIMARY KEY, value TEXT", "id, value"))
        database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "one"), (3, "three"), (3, "other"), ("2", "two"), (5, None), (9, "nine"), (1, "later")])
        database.executemany(TABLES["nsys"][2], [(1,), (2,), (3,), (4,), (5,), (9,)])
    equal(ingest_within(path, MOST), 0, "exit code")
    names = open_index(f"{path}.tracedb").execute("SELECT n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY ts")
    equal([name for name, in names], ["one", "two", "three", "", "", "nine"], "names")


def shared_texts_of_an_index(folder):
    """They are refused before anybody reads them."""
    index = folder / "t.json.tracedb"
    run("trace-ingest", "-q", make_trace(folder / "t.json", "--layers", 2))
    edit_database(index, "DELETE FROM string")
    share_text(index, "string", ROWS, SIZE)
    require("trace-ingest --force" in refused(3, "the table string", "trace-query", "gaps", index), "no advice")


def main(cases, folder):
    cases.each_apart((cut, flipped, planted_values, views_of_arrays, blocks_of_calls, planted_journal, wrong_journal_mode,
                      reader_that_has_seen_enough))
    for name in TABLES:
        cases.run(f"texts that share their pages: {name}", shared_texts, folder, name)
    cases.each((many_values, texts_as_needed, shared_texts_of_an_index), folder)
