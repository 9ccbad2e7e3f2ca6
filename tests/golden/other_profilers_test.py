"""Databases of Nsight Systems and rocmProfileData, made here and real ones, and hostile ones of any profiler: every row is
stored or counted, and whatever is wrong with a database is an issue or one line, never a crash."""
import json
import random
import sqlite3

from ascend_files import Run, write_database
from made_events import kernel as kernel_event
from made_events import write_trace
from report_page import Document
from trace_cases import (TRACES, as_json, edit_database, equal, ingest, issues_of, open_index, require, run,
                         skip_without_traces, verify_index)

OTHER = TRACES / "other"
ZERO = 1_000_000


def make_nsys(path):
    database = sqlite3.connect(path)
    database.executescript(f"""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'cudaLaunchKernel_v7000'), (3, 'worker'),
                                     (4, 'cudaMemcpyAsync_v3020');
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
        INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 132);
        CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER,
            gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
            staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
            correlationId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
            nameId INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
        CREATE TABLE SCHED_EVENTS (start INTEGER); INSERT INTO SCHED_EVENTS VALUES (1);""")
    thread = (1 << 48) | (77 << 24) | 78
    database.execute("INSERT INTO ThreadNames VALUES (3, ?)", (thread,))
    for step in range(3):
        at = ZERO + step * 100_000
        database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL)", (at, at + 90_000, f"ProfilerStep#{step}", thread))
        for place in range(5):
            start, correlation = at + 10_000 * place, 1 + step * 10 + place
            database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL)",
                             (start, start + 3_000, f"aten::mm, seq = {place}, op_id = {correlation}, sizes = [[2, 3], []]", thread))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 2)",
                             (start + 500, start + 1_500, thread, correlation))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, 0, 1, 1, 32, 4, 2, 1, 128, 1, 1, 100, 28)",
                             (start + 4_000, start + 4_000 + 100 * place, correlation))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 4)", (at + 60_000, at + 61_000, thread, 1000 + step))
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 7, ?, 4096, 1, 1, 2)",
                         (at + 62_000, at + 63_000, 1000 + step))
    database.execute("INSERT INTO NVTX_EVENTS VALUES (?, NULL, 34, 'a mark', ?, NULL)", (ZERO, thread))
    database.execute("INSERT INTO NVTX_EVENTS VALUES (?, NULL, 75, 'a domain', ?, NULL)", (ZERO, thread))
    database.commit()
    database.close()


def made_nsys(folder):
    make_nsys(folder / "run.sqlite")
    index = verify_index(ingest(folder / "run.sqlite", folder / "run.tracedb"))
    database = open_index(index)
    kernel = database.execute(
        "SELECT name, dur, grid, block, registers, shared_memory, cpu_op, stream, device FROM kernels WHERE id = 2").fetchone()
    equal(kernel, ("void gemm<float>(float*)", 100, "4,2,1", "128,1,1", 32, 128, "aten::mm", 7, 0), "a kernel")
    counts = database.execute(
        "SELECT (SELECT count(*) FROM kernel WHERE launch_id IS NOT NULL AND step_id IS NOT NULL),"
        "(SELECT count(*) FROM memcpys WHERE direction = 'HtoD' AND bytes = 4096 AND name = 'Memcpy HtoD (Pinned -> Device)'),"
        "(SELECT group_concat(kernels) FROM steps), (SELECT count(*) FROM cpu_op), (SELECT count(*) FROM instant),"
        "(SELECT name FROM thread LIMIT 1), (SELECT dims FROM op_shape), (SELECT name FROM device)").fetchone()
    equal(counts, (15, 3, "5,5,5", 15, 1, "worker", "[[2, 3], []]", "NVIDIA H100"), "links, copies, steps, operators, marks")
    meta = dict(database.execute("SELECT key, value FROM meta"))
    equal((meta["format"], meta["vendor"], meta["base_time_ns"], meta["trace.tables_not_read"]),
          ("nsys-sqlite", "nvidia", str(1_700_000_000_000_000_000 + ZERO), '["SCHED_EVENTS"]'), "meta")
    require("SCHED_EVENTS" in run("trace-query", "info", index).stdout, "info does not say what is not read")
    said = run("trace-query", "memory", index)
    require("CUDA_GPU_MEMORY_USAGE_EVENTS" in said.stdout + said.stderr, f"advice for another profiler: {said}")
    # The same run as the PyTorch profiler would have it: one side of a comparison each.
    write_trace(folder / "trace.json", [kernel_event("void gemm<float>(float*)", 1000 + 100 * step + 10 * place + 4, 0.1 * place,
                                                     correlation=step * 10 + place) for step in range(3) for place in range(5)])
    section, = as_json("compare", "--section", "kernels", folder / "run.sqlite", folder / "trace.json")["sections"]
    pairs = [(row["baseline_kernel"], row["candidate_kernel"]) for row in section["rows"]]
    require(("void gemm<float>(float*)",) * 2 in pairs, f"compare pairs no kernel of the two formats: {pairs}")


def open_ranges(folder):
    """A range that is open when the recording ends does so then, which the last event tells."""
    make_nsys(folder / "run.sqlite")
    edit_database(folder / "run.sqlite", "UPDATE NVTX_EVENTS SET end = NULL WHERE text = 'ProfilerStep#2'")
    index = verify_index(ingest(folder / "run.sqlite", folder / "run.tracedb"))
    equal(open_index(index).execute("SELECT name, dur, kernels FROM steps ORDER BY step").fetchall(),
          [("ProfilerStep#0", 90_000, 5), ("ProfilerStep#1", 90_000, 5), ("ProfilerStep#2", 63_000, 5)], "steps")
    equal(open_index(index).execute("SELECT kind, count FROM issue WHERE kind LIKE '%range%' OR kind LIKE '%duration%'").fetchall(),
          [("open_range", 1)], "issues")


def kinds_of_copies(folder):
    """Kinds 11 to 13 are migrations of unified memory."""
    make_nsys(folder / "run.sqlite")
    edit_database(folder / "run.sqlite", "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 11 + (correlationId - 1000), srcKind = 4, dstKind = 5")
    found = open_index(ingest(folder / "run.sqlite", folder / "run.tracedb")).execute("SELECT direction, name FROM memcpys ORDER BY ts").fetchall()
    equal(found, [(way, f"Memcpy {way} (Managed -> Device Static)") for way in ("HtoD", "DtoH", "DtoD")], "copies")


def recorded_waits(folder):
    """Rows of waits may all name device 0: the context, of which kernels tell the device, says where they are."""
    path = folder / "run.sqlite"
    make_nsys(path)
    call = "SELECT start + 5000, start + 9000, globalTid, 2000 + correlationId, 5 FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = 4"
    edit_database(
        path, "INSERT INTO StringIds VALUES (5, 'cudaStreamSynchronize_v3020')", f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME {call}",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN contextId INTEGER",
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET contextId = 2, deviceId = 1, globalPid = (1 << 48) | (77 << 24)",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
        "correlationId INTEGER, globalPid INTEGER, syncType INTEGER)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT start + 10, end - 10, 0, 2, 7, correlationId, (1 << 48) | (77 << 24), 3 "
        "FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = 5",
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1, 2, 0, 2, 4294967295, 9, (1 << 48) | (77 << 24), 1)")
    index = verify_index(ingest(path, folder / "run.tracedb"))
    found = open_index(index).execute("SELECT t.value, s.stream_id IS NOT NULL, d.ordinal, s.correlation, l.pid FROM sync s "
                                      "JOIN string t ON t.id = s.name_id LEFT JOIN stream q ON q.id = s.stream_id LEFT JOIN device d ON d.id = q.device_id "
                                      "JOIN (SELECT i.ts, p.pid FROM slice i JOIN process p ON p.id = i.process_id) l ON l.ts = s.ts ORDER BY s.id").fetchall()
    equal(found, [("Event Sync", 0, None, 9, 1), *(("Stream Sync", 1, 1, 3000 + step, 1) for step in range(3))], "what is waited for")
    said = run("trace-query", "critical-path", index)
    require("does not record what calls and streams wait for" not in said.stdout + said.stderr, f"waits are recorded: {said}")


def whole_graphs(folder):
    """Kernels of graphs that were traced as a whole are not there: no rule for their names helps. What the profiler says it lost is told."""
    path = folder / "run.sqlite"
    make_nsys(path)
    edit_database(path, "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER)",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE SELECT end + 10, end + 9000, 0, 7, correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                  "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT)",
                  "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'Number of CUDA events collected: 12.'), (3, 'Not all CUDA events might have been collected.')")
    said = {row["code"]: row for row in as_json("warnings", ingest(path, folder / "run.tracedb"))["rows"]}
    require("--cuda-graph-trace=node" in said["whole_graph"]["finding"] and "--rules" not in said["unclassified"]["suggestion"], said)
    equal(said["dropped_events"]["count"], 1, "what the profiler lost")


def two_processes(folder):
    """Each counts its launches, and the devices that it sees, from the same numbers: links go by process, and devices are
    those of the machine."""
    for gpus in (1, 2):
        path = folder / f"{gpus}.sqlite"
        make_nsys(path)
        changes = ["CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)",
                   f"INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 77), ({gpus - 1}, 0, 78)",
                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = (1 << 48) | (77 << 24)"]
        for table, column in (("KERNEL", "globalPid"), ("RUNTIME", "globalTid")):
            changes += [f"CREATE TEMP TABLE other AS SELECT * FROM CUPTI_ACTIVITY_KIND_{table}",
                        f"UPDATE other SET {column} = {column} + (1 << 24)",
                        f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} SELECT * FROM other", "DROP TABLE other"]
        edit_database(path, *changes)
        index = verify_index(ingest(path, folder / f"{gpus}.tracedb"))
        found = open_index(index).execute(
            "SELECT p.pid, v.device, v.stream, count(DISTINCT k.stream_id), count(DISTINCT k.launch_id), count(*) FROM kernel k "
            "JOIN kernels v ON v.id = k.id JOIN runtime_call c ON c.id = k.launch_id JOIN thread t ON t.id = c.thread_id "
            "JOIN process p ON p.id = t.process_id GROUP BY 1, 2, 3").fetchall()
        equal(found, [(77, 0, 7, 1, 15, 15), (78, gpus - 1, 7, 1, 15, 15)], f"kernels of two processes on {gpus}")


def real_nsys(folder, name):
    index = verify_index(ingest(OTHER / name, folder / "index.tracedb"))
    wanted = open_index(OTHER / name).execute(
        "SELECT s.value, count(*), sum(end - start), min(end - start), max(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
        "JOIN StringIds s ON s.id = k.demangledName GROUP BY 1 ORDER BY 1").fetchall()
    found = open_index(index).execute(
        "SELECT n.name, s.n, s.total, s.min, s.max FROM kernel_name_sum s JOIN kernel_name n ON n.id = s.name_id "
        "ORDER BY 1").fetchall()
    equal(found, wanted, "kernel sums")
    linked, kernels, operators = open_index(index).execute(
        "SELECT count(launch_id), count(*), count(cpu_op_id) FROM kernel").fetchone()
    require(linked > 0.98 * kernels and operators > 0.9 * kernels, f"{linked} of {kernels} linked, {operators} with operator")


def real_units(folder):
    """What repeats in both is a block with a long and a short attention: no step, and no verdict on it. Two devices are
    no two samples."""
    names = ("nsys_2gpu_before.sqlite", "nsys_2gpu_after.sqlite")
    indexes = [ingest(OTHER / name, folder / f"{name}.tracedb") for name in names]
    counts = []
    for index in indexes:
        done = run("trace-query", "steps", "--json", "--limit", 0, index)
        steps = [row for row in json.loads(done.stdout)["rows"] if row["step"] is not None]
        equal({row["phase"] for row in steps}, {"unit"}, "kinds")
        require("repeating units, no steps, are inferred" in done.stderr and any(f"confidence {share}" in done.stderr for share in (0.69, 0.71)), done.stderr)
        counts.append(len(steps))
    document = as_json("compare", *indexes, "--section", "steps")
    (rows,) = [section["rows"] for section in document["sections"] if section["section"] == "steps"]
    equal({row["verdict"] for row in rows}, {"inconclusive"}, "verdicts")
    require(all(row["baseline_steps"] <= counts[0] and row["candidate_steps"] <= counts[1] for row in rows), f"{counts}: {rows}")
    page = " ".join(run("trace-query", "compare", "-q", *indexes).stdout.split())
    require("what repeats is no step" in page and "worse" not in page, page[:500])
    report = " ".join(" ".join(Document(run("trace-query", "report", "-q", indexes[1]).stdout).words).split())
    require("a repeating unit takes" in report and "a step takes" not in report, report[:400])


def real_rpd(folder):
    index = verify_index(ingest(OTHER / "rpd_matmul.rpd", folder / "index.tracedb"))
    found = open_index(index).execute(
        "SELECT (SELECT count(*) FROM kernel), (SELECT count(*) FROM memory_op), (SELECT count(*) FROM runtime_call), "
        "(SELECT count(*) FROM kernel WHERE launch_id IS NULL), (SELECT sum(dur) FROM kernel), "
        "(SELECT group_concat(DISTINCT direction) FROM memory_op)").fetchone()
    wanted = open_index(OTHER / "rpd_matmul.rpd").execute(
        "SELECT (SELECT count(*) FROM op WHERE opType = 'KernelExecution'), (SELECT count(*) FROM op WHERE opType LIKE 'Copy%' OR opType LIKE 'Fill%'),"
        "(SELECT count(*) FROM rocpd_api), 0, (SELECT sum(end - start) FROM op WHERE opType = 'KernelExecution')").fetchone()
    equal(found[:5], wanted, "kernels, copies, calls")
    equal(set(found[5].split(",")), {"HtoD", "DtoH"}, "directions")


def refused(path, *words):
    result = run("trace-ingest", "-q", "-o", f"{path}.tracedb", path, check=False)
    require(result.returncode == 3, f"exit {result.returncode}: {result.stderr}")
    lines = result.stderr.strip().splitlines()
    require(len(lines) <= 2 and all(word in lines[0] for word in words), f"says {lines}")


def hostile_tables(folder):
    """Views, virtual tables, generated columns, wrong types, missing columns and tables in place of the profiler's own."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS startNs, i AS endNs, i AS id FROM n"
    changes = {
        "view": ("DROP TABLE TASK", f"CREATE VIEW TASK AS {endless}"),
        "endless steps": (f"CREATE VIEW STEP_TIME AS {endless}",),
        "virtual": ("DROP TABLE TASK", "CREATE VIRTUAL TABLE TASK USING fts4(startNs, endNs, globalTaskId, streamId)"),
        "columns": ("DROP TABLE TASK", "CREATE TABLE TASK (startNs INTEGER)", "INSERT INTO TASK VALUES (1)"),
        "generated": ("ALTER TABLE TASK RENAME TO OLD", "CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, "
                      "globalTaskId AS (length(hex(zeroblob(100000000)))), streamId)", "INSERT INTO TASK SELECT startNs, endNs, "
                      "deviceId, connectionId, streamId FROM OLD"),
        "no strings": ("DROP TABLE STRING_IDS", "CREATE TABLE STRING_IDS (id TEXT, value BLOB)"),
        "types": ("UPDATE TASK SET startNs = 'soon', streamId = x'00ff', deviceId = 1e300 WHERE taskId % 3 = 0",
                  "UPDATE TASK SET endNs = startNs - 1 WHERE taskId % 3 = 1", "UPDATE TASK SET endNs = NULL WHERE taskId % 3 = 2"),
        "numbers": ("UPDATE TASK SET startNs = 9223372036854775807", "UPDATE COMMUNICATION_OP SET startNs = -9223372036854775808",
                    "UPDATE CANN_API SET globalTid = -1, connectionId = 9223372036854775807"),
        "texts": ("UPDATE STRING_IDS SET value = 'a' || char(0) || 'b' WHERE id % 2", "UPDATE STRING_IDS SET value = CAST(x'ff' AS TEXT) WHERE id % 3 = 0"),
        "no times": ("DELETE FROM TASK",),
    }
    for name, statements in changes.items():
        path = folder / f"{name.replace(' ', '_')}_profiler.db"
        write_database(Run(seed=3), path)
        edit_database(path, *statements)
        run("trace-ingest", "-q", "-o", folder / "index.tracedb", "--force", path)
        verify_index(folder / "index.tracedb")
        found = issues_of(folder / "index.tracedb")
        if name in ("view", "virtual", "columns", "generated", "endless steps"):
            require("unreadable_table" in found, f"{name}: {found}")
        if name == "types":
            require(found.get("bad_timestamp") and found.get("negative_duration") and found.get("missing_duration"), f"{found}")
        if name == "texts":
            require(found.get("replaced_character"), f"{found}")
        if name == "no times":
            require(found.get("missing_timestamp"), f"{found}")


def damaged(folder):
    """Cut and overwritten anywhere: an index that adds up, or one line."""
    chance = random.Random(11)
    whole = folder / "run_profiler.db"
    write_database(Run(seed=5), whole)
    data = whole.read_bytes()
    salvaged = 0
    for turn in range(60):
        broken = bytearray(data)
        at = chance.randrange(len(data))
        if turn % 2:
            del broken[at:]
        else:
            size = chance.choice((1, 16, 512, 4096))
            broken[at:at + size] = chance.randbytes(len(broken[at:at + size]))
        path = folder / "broken_profiler.db"
        path.write_bytes(broken)
        result = run("trace-ingest", "-q", "--force", "-o", folder / "index.tracedb", path, check=False)
        require(result.returncode in (0, 3), f"turn {turn}: exit {result.returncode}: {result.stderr}")
        require(result.returncode == 0 or len(result.stderr.strip().splitlines()) <= 2, result.stderr)
        if result.returncode == 0:
            verify_index(folder / "index.tracedb")
            salvaged += 1
    require(salvaged > 0, "nothing was salvaged")


def journals_and_pipes(folder):
    path = folder / "run_profiler.db"
    write_database(Run(seed=2), path)
    (folder / "run_profiler.db-wal").write_bytes(b"x" * 100)
    refused(path, "-wal", "checkpoint")
    (folder / "run_profiler.db-wal").unlink()
    result = run("trace-ingest", "-q", "-o", folder / "index.tracedb", "-", check=False, stdin=path.open("rb"))
    require(result.returncode == 3 and "database" in result.stderr, f"a pipe: {result.stderr}")
    (folder / "other.db").write_bytes(b"")
    edit_database(folder / "foreign.db", "CREATE TABLE t (a)")
    refused(folder / "foreign.db", "SQLite database", "not a tracedb index")


def query_builds(folder):
    """trace-query takes a database as it takes any trace."""
    make_nsys(folder / "run.sqlite")
    table = run("trace-query", "kernels", "--csv", folder / "run.sqlite").stdout
    require("gemm" in table and (folder / "run.sqlite.tracedb").exists(), "kernels of a database")
    found = sorted(path.name for path in folder.iterdir())
    equal(found, ["run.sqlite", "run.sqlite.tracedb"], "files beside the database")


def main(cases, _):
    cases.each_apart((made_nsys, kinds_of_copies, recorded_waits, whole_graphs, two_processes, query_builds, hostile_tables, damaged, journals_and_pipes))
    if not skip_without_traces(cases, OTHER):
        for name in ("nsys_2gpu_before.sqlite", "nsys_2gpu_after.sqlite"):
            cases.run_apart(name, real_nsys, name)
        cases.each_apart((real_units, real_rpd))
