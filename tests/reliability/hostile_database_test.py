"""Databases that are small and seem large: what ingest of one takes in memory is bounded by the bytes of its file."""
import sqlite3
import subprocess
import sys

from shared_pages import share_text
from trace_cases import equal, issues_of, make_trace, open_index, program, require, run, scratch_folder

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
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size=4096")
    database.executescript(schema)
    for i in range(2, ROWS + 1):
        for statement in row.split("; "):
            database.execute(statement, (i,) * (1 if "?1" in statement else 0))
    database.commit()
    database.close()
    share_text(path, table, ROWS, SIZE)
    equal(ingest_within(path, MOST + path.stat().st_size), 0, "exit code")
    require(issues_of(f"{path}.tracedb").get("oversized_table") or issues_of(f"{path}.tracedb").get("oversized_header"),
            f"issues {issues_of(f'{path}.tracedb')}")
    events, = open_index(f"{path}.tracedb").execute("SELECT sum(stored) FROM event_count").fetchone()
    equal(events, ROWS - 1, "events stored")


def many_values(folder):
    """Top-level values beyond what is kept of them, each small."""
    path = folder / "metadata.rpd"
    database = sqlite3.connect(path)
    database.executescript(TABLES["metadata"][1])
    database.executemany("INSERT INTO rocpd_metadata VALUES (?, ?)", ((f"k{i}", "v") for i in range(1_500_000)))
    database.execute(TABLES["metadata"][2], (5,))
    database.commit()
    database.close()
    equal(ingest_within(path, MOST + path.stat().st_size), 0, "exit code")
    require(issues_of(f"{path}.tracedb").get("oversized_header"), f"issues {issues_of(f'{path}.tracedb')}")


def texts_as_needed(folder):
    """The first row of an id counts; texts that no row refers to are not read, damaged ones are told."""
    path = folder / "small.sqlite"
    database = sqlite3.connect(path)
    database.executescript(TABLES["nsys"][1].replace("id INTEGER PRIMARY KEY, value TEXT", "id, value"))
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "one"), (3, "three"), (3, "other"), ("2", "two"), (5, None), (9, "nine"), (1, "later")])
    database.executemany(TABLES["nsys"][2], [(1,), (2,), (3,), (4,), (5,), (9,)])
    database.commit()
    database.close()
    equal(ingest_within(path, MOST), 0, "exit code")
    names = open_index(f"{path}.tracedb").execute("SELECT n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY ts")
    equal([name for name, in names], ["one", "two", "three", "", "", "nine"], "names")


def shared_texts_of_an_index(folder):
    """They are refused before anybody reads them."""
    index = folder / "t.json.tracedb"
    run("trace-ingest", "-q", make_trace(folder / "t.json", "--layers", 2))
    with sqlite3.connect(index) as database:
        database.execute("DELETE FROM string")
    database.close()
    share_text(index, "string", ROWS, SIZE)
    result = subprocess.run([program("trace-query"), "gaps", str(index)], capture_output=True, text=True, timeout=60)
    equal((result.returncode, result.stdout, result.stderr.count("\n")), (3, "", 1), result.stderr)
    require("the table string" in result.stderr and "trace-ingest --force" in result.stderr, result.stderr)


def main(cases):
    with scratch_folder() as folder:
        for name in TABLES:
            cases.run(f"texts that share their pages: {name}", shared_texts, folder, name)
        cases.each((many_values, texts_as_needed, shared_texts_of_an_index), folder)
