"""Files of rocprofv3: JSON and databases of one made run give the same index, the sums of a real one are those of its
JSON, and what is cut, damaged or hostile is an issue or one line."""
import collections
import gzip
import json
import random
import re

from rocprof_files import PID, RocprofRun, ZERO
from trace_cases import (TRACES, as_json, changing, equal, ingest, issues_of, open_index, refused, require, run,
                         skip_without_traces, verify_index)

REAL = TRACES / "other" / "rocprofv3_908_results.json.gz"
CONTENT = {
    "kernels": "SELECT v.ts, v.dur, v.name, v.grid, v.block, v.shared_memory, v.stream, v.device, k.correlation, "
               "k.launch_id IS NOT NULL, k.step_id FROM kernels v JOIN kernel k ON k.id = v.id",
    "copies": "SELECT v.ts, v.dur, v.name, v.direction, v.bytes, v.stream, v.device, m.launch_id IS NOT NULL "
              "FROM memcpys v JOIN memory_op m ON m.id = v.id",
    "calls": "SELECT c.ts, c.dur, s.value, c.correlation FROM runtime_call c JOIN string s ON s.id = c.name_id",
    "steps": "SELECT name, kernels FROM steps",
    "instants": "SELECT i.ts, s.value FROM instant i JOIN string s ON s.id = i.name_id",
    "slices": "SELECT l.ts, l.dur, s.value FROM slice l JOIN string s ON s.id = l.name_id",
    "devices": "SELECT ordinal, vendor, name, used FROM device ORDER BY ordinal",
    "threads": "SELECT p.pid, t.tid FROM thread t JOIN process p ON p.id = t.process_id"}


def content(index):
    database = open_index(index)
    return {name: database.execute(statement).fetchall() for name, statement in CONTENT.items()}


def counts(index):
    return open_index(index).execute("SELECT coalesce(sum(read), 0), sum(stored), sum(skipped) FROM event_count").fetchone()


def made_run(folder):
    made = RocprofRun()
    made.write_json(folder / "1_results.json")
    made.write_json(folder / "2_results.json", indent=2)
    made.write_database(folder / "1_results.db")
    run("trace-ingest", "-q", folder)
    found = {path.name: content(f"{path}.tracedb") for path in folder.glob("*_results.*") if path.suffix != ".tracedb"}
    equal(len(found), 3, "files that are read")
    first = found["1_results.json"]
    for name, other in found.items():
        verify_index(folder / f"{name}.tracedb")
        equal(issues_of(folder / f"{name}.tracedb"), {}, f"issues of {name}")
        for table, rows in other.items():
            equal(rows, first[table], f"{table} of {name}")
    equal(first["kernels"][1], (15_500, 1_001, "copy(float*)", "4,3,1", "256,1,1", 128, 7, 1, 3, 1, 1), "a kernel")
    equal(first["copies"][0], (62_000, 1_000, "Memcpy HtoD (Host -> Device)", "HtoD", 4096, 7, 1, 1), "a copy")
    equal(first["steps"], [("ProfilerStep#0", 4), ("ProfilerStep#1", 4), ("ProfilerStep#2", 4)], "steps")
    equal(([row[1] for row in first["instants"]], [row[2] for row in first["slices"]]), (['a "mark"'], ["ncclAllReduce"]),
          "marks and other calls")
    equal([row[1:] for row in first["devices"]], [("amd", "AMD Instinct MI300X", 0), ("amd", "AMD Instinct MI300X", 1)], "devices")
    meta = dict(open_index(folder / "1_results.db.tracedb").execute("SELECT key, value FROM meta"))
    equal((meta["format"], meta["trace.tables_not_read"]), ("rocpd", '["rocpd_pmc_event_0195_7c1a"]'), "meta")
    require(int(meta["base_time_ns"]) == ZERO if "base_time_ns" in meta else True, f"time zero: {meta.get('base_time_ns')}")


def two_processes(folder):
    """Each counts its launches from one: a kernel belongs to a call of its own process."""
    made = RocprofRun()
    document = made.document()
    document["rocprofiler-sdk-tool"] += made.document(PID + 7)["rocprofiler-sdk-tool"]
    (folder / "1_results.json").write_text(json.dumps(document))
    for guid, pid in (("_0195_7c1a", PID), ("_0195_7c1b", PID + 7)):
        made.write_database(folder / "1_results.db", guid, pid)
    for name in ("1_results.json", "1_results.db"):
        index = verify_index(ingest(folder / name, folder / f"{name}.tracedb"))
        equal(issues_of(index), {}, f"issues of {name}")
        found = open_index(index).execute(
            "SELECT p.pid, count(*), count(k.step_id), count(DISTINCT k.launch_id), count(DISTINCT k.stream_id) FROM kernel k "
            "JOIN runtime_call c ON c.id = k.launch_id JOIN thread t ON t.id = c.thread_id JOIN process p ON p.id = t.process_id "
            "GROUP BY 1").fetchall()
        equal(found, [(PID, 12, 12, 12, 1), (PID + 7, 12, 12, 12, 1)], f"kernels of {name} by the process that launched them")


def unread_counters(folder):
    """What hardware counters counted has no place in an index: it is no damage, and no advice asks for it."""
    made = RocprofRun()
    document = made.document()
    document["rocprofiler-sdk-tool"][0]["callback_records"]["counter_collection"] = 2 * [
        {"thread_id": 1, "dispatch_data": {"dispatch_info": {"dispatch_id": 1}}, "records": [{"counter_id": {"handle": 7}, "value": 1.5}]}]
    (folder / "1_results.json").write_text(json.dumps(document))
    made.write_database(folder / "1_results.db")
    for name, table in (("1_results.json", "counter_collection"), ("1_results.db", "rocpd_pmc_event")):
        index = ingest(folder / name, folder / f"{name}.tracedb", "--strict")
        equal(issues_of(index), {}, f"issues of {name}")
        said = run("trace-query", "counters", index)
        require(f"the hardware counters of the trace ({table}) are not read" in said.stdout + said.stderr, f"{name}: {said}")
        require(table in run("trace-query", "info", index).stdout, f"info of {name} does not say that {table} is not read")
    equal(open_index(folder / "1_results.json.tracedb").execute(
        "SELECT read, stored, skipped, skip_reason FROM event_count WHERE category = 'counter_collection'").fetchall(), [(2, 0, 2, "not read")], "records of counters")


def compare_with_json(folder):
    """A database on one side, JSON on the other."""
    RocprofRun().write_json(folder / "a.json")
    RocprofRun().write_database(folder / "b_results.db")
    section, = as_json("compare", "--section", "kernels", folder / "a.json", folder / "b_results.db")["sections"]
    rows = [row for row in section["rows"] if "gemm" in str(row["baseline_kernel"])]
    require(rows, "compare finds no kernels")
    for row in rows:
        equal((row["baseline_kernel"], row["baseline"]), (row["candidate_kernel"], row["candidate"]), "one run, twice")


def cut_anywhere(folder):
    """Whatever the length, the records that are whole are kept, and an issue says that there were more."""
    made = RocprofRun(steps=2)
    made.write_json(folder / "whole.json")
    data = (folder / "whole.json").read_bytes()
    first = data.index(b'"buffer_records": {"kernel')
    for at in sorted(random.Random(3).sample(range(first + 40, len(data) - 5), 25)):
        path = folder / "cut.json"
        path.write_bytes(data[:at])
        index = verify_index(ingest(path, folder / "cut.tracedb", "--force"))
        equal(issues_of(index).get("truncated"), 1, f"cut at {at}: issues {issues_of(index)}")
        whole = data[first:at].count(b'"end_timestamp"')
        read = counts(index)[0]
        require(whole - 1 <= read <= whole, f"cut at {at}: {read} read of {whole}")


def damage_anywhere(folder):
    """Behind a block of zeros, a lost one or a quote reading goes on at the next whole record; a damaged head is no CSV table."""
    made = RocprofRun(steps=60, kernels=5)
    made.write_json(folder / "whole.json")
    data = (folder / "whole.json").read_bytes()
    first = data.index(b'"buffer_records": {"kernel')
    records = [(match.start(), match.end()) for match in re.finditer(rb'\{"size": 64, "kind".*?"end_timestamp": \d+', data[first:])]
    random_ = random.Random(5)
    places = [0, 1, 3, 20, 200, *random_.sample(range(first - 1500, len(data) - 600), 25)]
    for number, at in enumerate(places):
        size, new = ((512, bytes(512)), (512, b""), (1, b'"'), (1, b"}"))[number % 4] if number > 4 else (512, bytes(512))
        path = folder / "damaged.json"
        path.write_bytes(data[:at] + new + data[at + size:])
        index = ingest(path, folder / "damaged.tracedb", "--force")
        # Those behind the damage begin where they began, those that end in it are lost.
        whole = sum(first + end + 200 < at or first + begin >= at + size for begin, end in records)
        read, stored, skipped = counts(index)
        require(read >= whole and stored >= whole - 3, f"damage {number} at {at}: {stored} of {read} stored, {whole} are whole")
        equal(read, stored + skipped, "conservation")
        format_, = open_index(index).execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        lost = [kind for kind, in open_index(index).execute("SELECT kind FROM issue WHERE severity = 'data_loss'")]
        # What is lost, and a byte in a text, may leave valid JSON.
        equal((format_, lost != [] or new != bytes(512)), ("rocprofv3-json", True), f"damage {number} at {at}: format, issues")


def damaged_records(folder):
    document = RocprofRun().document()
    lists = document["rocprofiler-sdk-tool"][0]["buffer_records"]
    kernels, calls = lists["kernel_dispatch"], lists["hip_api"]
    kernels[0]["end_timestamp"] = kernels[0]["start_timestamp"] - 1
    del kernels[1]["start_timestamp"]
    kernels[2]["dispatch_info"]["kernel_id"] = 99
    kernels[3]["start_timestamp"] = 2 ** 63 - 1
    kernels[4] = None
    kernels[5]["dispatch_info"] = "none"
    kernels[6]["dispatch_info"]["grid_size"]["x"] = 10 ** 400
    calls[0]["kind"], calls[1]["operation"] = 77, -1
    lists["pc_sample_host_trap"] = [{"record": {"timestamp": 5}}]
    text = json.dumps(document).replace('"copy(float*)"', '"copy(\x01float*)"').encode().replace(b"gemm<float>", b"gemm<\xff>")
    path = folder / "odd.json"
    path.write_bytes(text)
    index = verify_index(ingest(path, folder / "odd.tracedb"))
    found = issues_of(index)
    # Of the two samples and the three records without times: skipped. The number with 400 digits makes its record none.
    for kind, number in {"negative_duration": 1, "missing_timestamp": 3, "bad_timestamp": 1, "malformed_event": 1, "repaired_text": 2,
                         "missing_name": 4}.items():
        equal(found.get(kind), number, f"{kind} in {found}")
    read, stored, skipped = counts(index)
    equal((read, skipped), (sum(map(len, lists.values())), 5), "events read and skipped")
    equal(read, stored + skipped, "conservation")


def nothing_in_it(folder):
    RocprofRun().write_json(folder / "whole.json")
    head = (folder / "whole.json").read_bytes().partition(b'"buffer_records": {"kernel')[0]
    cut_off = "rocprofv3 that is cut off before its kernels"
    for name, text, said in (("a.json", b'{"rocprofiler-sdk-tool": []}', 'without "buffer_records"'), ("cut.json", head, cut_off),
                             ("b.json", b'{"rocprofiler-sdk-tool": [{"metadata": 5', cut_off), ("cut.json.gz", gzip.compress(head)[:-50], cut_off),
                             ("c.json", b'{"rocprofiler-sdk-tool": {"buffer_records"', cut_off), ("d.json", b'{"rocprofiler-sdk-tool"]', "rocprofv3")):
        (folder / name).write_bytes(text)
        refused(3, said, "trace-ingest", "-q", folder / name)


def hostile_tables(folder):
    changes = {
        "types": ("UPDATE {kernel_dispatch} SET start = 'soon' WHERE id % 3 = 0", "UPDATE {kernel_dispatch} SET end = start - 1 WHERE id % 3 = 1",
                  "UPDATE {region} SET tid = x'00ff', event_id = NULL"),
        "texts": ("UPDATE {string} SET string = 'a' || char(0) || 'b'", "UPDATE {event} SET extdata = '{{\"message\": \"x'"),
        "no strings": ("DROP TABLE {string}",),
        "view": ("DROP TABLE {region}", "CREATE VIEW {region} AS SELECT 1 AS start"),
        "columns": ("DROP TABLE {kernel_dispatch}", "CREATE TABLE {kernel_dispatch} (id, start_id, end_id, track_id)",
                    "INSERT INTO {kernel_dispatch} VALUES (1, 1, 2, 1)"),
        "kernels": ("DELETE FROM {info_kernel_symbol}", "DELETE FROM {info_agent}", "DELETE FROM {event}")}
    wanted = {"types": "bad_timestamp", "texts": "replaced_character", "view": "unreadable_table", "columns": "unreadable_table",
              "kernels": "missing_name"}
    for name, statements in changes.items():
        path = folder / f"{name.replace(' ', '_')}_results.db"
        RocprofRun().write_database(path)
        names = collections.defaultdict(str)
        with changing(path) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
                names[table.removeprefix("rocpd_")] = f'"{table}_0195_7c1a"'
                database.execute(f"DROP VIEW {table}")
            for statement in statements:
                database.execute(statement.format(**names))
        index = verify_index(ingest(path, folder / "index.tracedb", "--force"))
        if name in wanted:
            require(wanted[name] in issues_of(index), f"{name}: {issues_of(index)}")


def real_json(folder):
    index = verify_index(ingest(REAL, folder / "index.tracedb"))
    document = json.load(gzip.open(REAL))["rocprofiler-sdk-tool"][0]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in document["kernel_symbols"]}
    wanted = collections.defaultdict(lambda: [0, 0])
    for record in document["buffer_records"]["kernel_dispatch"]:
        entry = wanted[names[record["dispatch_info"]["kernel_id"]]]
        entry[0] += 1
        entry[1] += record["end_timestamp"] - record["start_timestamp"]
    found = {name: [number, total] for name, number, total in open_index(index).execute(
        "SELECT n.name, s.n, s.total FROM kernel_name_sum s JOIN kernel_name n ON n.id = s.name_id")}
    equal(found, dict(wanted), "kernel sums")


def main(cases, _):
    cases.each_apart((made_run, two_processes, unread_counters, compare_with_json, cut_anywhere, damage_anywhere, damaged_records, nothing_in_it,
                      hostile_tables))
    if not skip_without_traces(cases, REAL.parent):
        cases.run_apart(REAL.name, real_json)
