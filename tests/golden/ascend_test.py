"""Ascend's own files: what their kernel tables, databases and traces become, from files made here and from real ones.

The real level 1 files come with op_statistic.csv, the profiler's own sums by operation type: kernels must say the same.
"""
import csv
import json

from ascend_files import DEVICE, MAIN, PID, Run, micro, write_csv, write_database, write_trace_view
from report_page import Document
from trace_cases import (TRACES, edit_database, equal, ingest, issues_of, nanoseconds, open_index, read_trace, require, rows,
                         run, skip_without_traces, verify_index)

ASCEND = TRACES / "ascend"
SUMS = """SELECT n.name, s.n, s.total, s.min, s.max FROM kernel_name_sum s JOIN kernel_name n ON n.id = s.name_id"""


def sums(index):
    return {name: numbers for name, *numbers in open_index(index).execute(SUMS)}


def statistics(folder, rank):
    """Counts and extremes are equal; sums differ by at most what the rows of the table were rounded by, each 0.5 ns."""
    for kind in ("kernel_details.csv", "trace_view.json"):
        trace = ASCEND / f"level1_rank{rank}_{kind}"
        index = verify_index(ingest(trace, folder / f"{kind}.tracedb"))
        found = sums(index)
        for row in csv.DictReader((ASCEND / f"level1_rank{rank}_op_statistic.csv").open()):
            n, total, least, most = found[row["OP Type"]]
            equal(n, int(row["Count"]), f"{row['OP Type']} in {kind}")
            if kind == "kernel_details.csv":
                equal((least, most), (nanoseconds(row["Min Time(us)"]), nanoseconds(row["Max Time(us)"])), row["OP Type"])
                require(abs(total - nanoseconds(row["Total Time(us)"])) <= n, f"{row['OP Type']}: {total} ns")
        table = list(csv.DictReader((ASCEND / f"level1_rank{rank}_kernel_details.csv").open()))
        equal(sum(numbers[0] for numbers in found.values()), len(table), f"kernels of {kind}")


def every_row(folder, name):
    """Any version of the table: a kernel for each row, named by its type, with the row's time."""
    index = verify_index(ingest(ASCEND / name, folder / "index.tracedb"))
    rows = list(csv.DictReader((ASCEND / name).open()))
    wanted = sorted((row["Type"], nanoseconds(row["Start Time(us)"].strip()), nanoseconds(row["Duration(us)"])) for row in rows)
    base = int(open_index(index).execute("SELECT value FROM meta WHERE key = 'base_time_ns'").fetchone()[0])
    found = sorted((kernel, ts + base, dur) for kernel, ts, dur in open_index(index).execute(
        "SELECT n.name, k.ts, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id"))
    equal(found, wanted, "kernels")


def real_database(folder):
    path = ASCEND / "ascend_pytorch_profiler_0.db"
    index = verify_index(ingest(path, folder / "index.tracedb"))
    database = open_index(path)
    wanted = dict(database.execute("""
            SELECT s.value, count(*) FROM COMPUTE_TASK_INFO c JOIN TASK t USING (globalTaskId)
            JOIN STRING_IDS s ON s.id = c.opType GROUP BY 1 UNION ALL
            SELECT s.value, count(*) FROM COMMUNICATION_OP c JOIN STRING_IDS s ON s.id = c.opType GROUP BY 1"""))
    equal({name: numbers[0] for name, numbers in sums(index).items()}, wanted, "kernels by type")
    found = open_index(index).execute("SELECT (SELECT count(*) FROM runtime_call), (SELECT count(*) FROM kernel "
                                      "WHERE cpu_op_id IS NULL), (SELECT count(*) FROM kernel WHERE launch_id IS NULL), "
                                      "(SELECT group_concat(name) FROM steps)").fetchone()
    equal(found, (710, 0, 0, "ProfilerStep#50"), "calls, kernels without operator and without launch, steps")
    said = run("trace-query", "memory", index).stderr
    require("OP_MEMORY" in said and "are not read" in said and "profile_memory" not in said, f"of allocations: {said}")
    # HCCL's names of types have sizes.
    require(all(row["bytes"] for row in rows("comms", index)), "bytes of collectives")


def one_run(folder):
    """One made run in all three forms: the same kernels, times, collectives and steps."""
    made = Run(seed=7)
    files = {"kernel_details.csv": write_csv, "ascend_pytorch_profiler_3.db": write_database,
             "trace_view.json": write_trace_view}
    found = {}
    for name, write in files.items():
        write(made, folder / name)
        index = verify_index(ingest(folder / name, folder / f"{name}.tracedb"))
        found[name] = open_index(index).execute(
            "SELECT n.name, k.ts, k.dur, k.kind, t.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id "
            "LEFT JOIN task_info t ON t.launch_config_id = k.launch_config_id ORDER BY k.ts, k.dur").fetchall()
    base = min(kernel.start for kernel in made.kernels)
    equal(found["kernel_details.csv"], made.expected(base), "kernels of the table")
    for name in list(files)[1:]:
        first = found[name][0][1]
        equal([(n, ts - first, *rest) for n, ts, *rest in found[name]], found["kernel_details.csv"], f"kernels of {name}")
    linked = open_index(folder / "ascend_pytorch_profiler_3.db.tracedb").execute(
        "SELECT count(*), count(k.launch_id), count(k.cpu_op_id), count(k.step_id) FROM kernel k").fetchone()
    equal(linked, (len(made.kernels),) * 4, "kernels, with launch, operator and step, of the database")
    view = open_index(folder / "trace_view.json.tracedb").execute(
        "SELECT count(*), count(k.launch_id), count(k.cpu_op_id), count(k.step_id) FROM kernel k").fetchone()
    equal(view, linked, "the same of trace_view.json")
    rank = run("trace-query", "sql", "--csv", folder / "ascend_pytorch_profiler_3.db.tracedb",
               "SELECT value FROM meta WHERE key = 'rank'").stdout.split()[1]
    equal(rank, "3", "rank")
    # Without flows to operators launches are of the step of their process, and calls are on its threads.
    view = json.loads((folder / "trace_view.json").read_text())
    wait = {"ph": "X", "name": "AscendCL@aclrtSynchronizeStream", "pid": PID << 10 | 7 << 5 | DEVICE, "tid": MAIN,
            "ts": micro(base - 390_000), "dur": 5.0, "args": {"level": "acl", "connection_id": 1}}
    (folder / "no_flows.json").write_text(json.dumps([*(event for event in view if event.get("cat") != "async_npu"), wait]))
    database = open_index(ingest(folder / "no_flows.json", folder / "no_flows.tracedb"))
    equal(database.execute("SELECT count(launch_id), count(cpu_op_id), count(step_id) FROM kernel").fetchone(),
          (len(made.kernels), 0, len(made.kernels)), "kernels with launch, operator and step of a trace without flows to operators")
    equal(database.execute("SELECT o.ts < c.ts, o.thread_id = c.thread_id FROM runtime_call c JOIN string s ON s.id = c.name_id "
                           "JOIN cpu_op o ON o.id = c.cpu_op_id WHERE s.value GLOB '*Synchronize*'").fetchall(), [(1, 1)],
          "a call inside an operator")
    (breakdown,) = rows("breakdown", folder / "no_flows.tracedb")
    require(breakdown["computing"] > 0 and breakdown["exposed_comm"] > 0, f"the device is not idle: {breakdown}")
    # Others pack the process by hundreds; of small numbers the process is none that the profiler draws.
    for cann, hardware, caller in ((PID * 100 + 2, 804, PID), (2, 0, 2), (PID << 10, PID, PID << 10)):
        pids = {PID << 10 | 7 << 5 | DEVICE: cann, PID << 10 | 13 << 5 | DEVICE: hardware}
        (folder / "packed.json").write_text(json.dumps([
            event | {"pid": pids.get(event["pid"], event["pid"])} for event in view if caller == PID or event["pid"] != PID]))
        found = open_index(ingest(folder / "packed.json", folder / "packed.tracedb")).execute(
            "SELECT DISTINCT p.pid FROM runtime_call c JOIN thread t ON t.id = c.thread_id JOIN process p ON p.id = t.process_id")
        equal(found.fetchall(), [(caller,)], f"process of the calls of {cann}")
    compared = run("trace-query", "compare", "--section", "kernels", "--csv", folder / "kernel_details.csv",
                   folder / "trace_view.json").stdout
    require("MatMulV2" in compared, "compare of table and trace names no kernel")


def second_rows(folder):
    """A collective that the table has on a stream and on none is one kernel, whichever row comes first; so are equal rows
    of a table without streams."""
    made = Run(seed=7)
    write_csv(made, folder / "once_kernel_details.csv")
    head, *lines = (folder / "once_kernel_details.csv").read_text().split("\n")[:-1]
    forms = {"behind": [], "before": [], "streamless": []}
    for line, kernel in zip(lines, made.kernels):
        twin = line.replace("N/A", "7", 1).replace(kernel.name, "aclnn_hcom_allReduce_")
        for form, pair in (("behind", (line, twin)), ("before", (twin, line)), ("streamless", (line, line))):
            forms[form] += pair if kernel.collective else (line,)
    query = ("SELECT n.name, k.ts, k.dur, t.name, c.group_name, c.sequence FROM kernel k JOIN kernel_name n ON n.id = k.name_id "
             "LEFT JOIN task_info t ON t.launch_config_id = k.launch_config_id LEFT JOIN collective c ON c.kernel_id = k.id ORDER BY k.ts")
    once = open_index(ingest(folder / "once_kernel_details.csv", folder / "once.tracedb")).execute(query).fetchall()
    for form, table in forms.items():
        text = "\n".join([head, *table, ""])
        (folder / f"{form}_kernel_details.csv").write_text(text.replace("Stream ID", "Other") if form == "streamless" else text)
        index = verify_index(ingest(folder / f"{form}_kernel_details.csv", folder / f"{form}.tracedb"))
        equal(open_index(index).execute(query).fetchall(), once, f"kernels, second rows {form}")
        equal(open_index(index).execute("SELECT count(*) FROM slice").fetchone(), (4,), "second rows as slices")
    # Two that start together on two streams, each with its second row.
    table = folder / "together_kernel_details.csv"
    for order in ((5, "N/A", 6, "N/A"), ("N/A", 5, "N/A", 6), (5, 6, "N/A", "N/A")):
        given = zip(("1", "1.2", "1", "1.2") if order[1] == 6 else ("1", "1", "1.2", "1.2"), order)
        table.write_text("\n".join(["Type,Start Time(us),Duration(us),Stream ID",
                                    *(f"hcom_allReduce_,{ts},{100 if ts == '1' else 400},{stream}" for ts, stream in given), ""]))
        found = open_index(ingest(table, folder / "together.tracedb")).execute("SELECT dur FROM kernel ORDER BY ts").fetchall()
        equal(found, [(100_000,), (400_000,)], f"collectives of two streams: {order}")


def unnamed_tasks(folder):
    """Tasks of which no operation is recorded are kernels by their type, but for those that a named one brings along."""
    made = Run(seed=7)
    computing = [kernel for kernel in made.kernels if not kernel.collective]
    changes = {"none": ("DROP TABLE COMPUTE_TASK_INFO",),
               "half": ("DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId % 2",),
               "null": ("DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId % 2", "UPDATE TASK SET connectionId = NULL"),
               "graph": ("DELETE FROM COMPUTE_TASK_INFO WHERE globalTaskId % 2", "UPDATE TASK SET connectionId = 4294967295"),
               "fill": ("INSERT INTO TASK SELECT startNs - 10, startNs, deviceId, connectionId, 1000, globalPid, taskType, 0, "
                        "streamId, 1000, modelId FROM TASK LIMIT 1",)}
    for name, statements in changes.items():
        path = folder / f"{name}_profiler.db"
        write_database(made, path)
        edit_database(path, *statements)
        index = verify_index(ingest(path, folder / f"{name}.tracedb"))
        unnamed = 0 if name == "fill" else sum(name == "none" or place % 2 for place, k in enumerate(made.kernels) if not k.collective)
        said = {kind: n for kind, n in issues_of(index).items() if kind in ("unnamed_kernel", "unknown_task")}
        equal(said, {"unnamed_kernel": unnamed} if unnamed else {}, f"{name}: kernels without a name")
        equal(sums(index).get("KERNEL_AICORE", [0])[0], unnamed, f"{name}: named by type")
        found = open_index(index).execute("SELECT count(*), sum(dur) FROM kernel WHERE kind = 'compute'").fetchone()
        equal(found, (len(computing), sum(kernel.dur for kernel in computing)), f"{name}: what computes")


def types_of_tasks(folder):
    """Kernels of any type that the runtime has for them; of a type that is not known it is said that no kernel is made of it."""
    made = Run(seed=7)
    computing = sum(not kernel.collective for kernel in made.kernels)
    for kind, kernels in (("KERNEL_MIX_AIC", len(made.kernels)), ("KERNEL_MIX_AIV", len(made.kernels)), ("NEW_CORE", len(made.kernels) - computing)):
        view, base = folder / f"{kind}_trace_view.json", folder / f"{kind}_profiler.db"
        write_trace_view(made, view)
        view.write_text(view.read_text().replace('"Task Type": "AI_CORE"', f'"Task Type": "{kind}"'))
        write_database(made, base)
        edit_database(base, "DROP TABLE COMPUTE_TASK_INFO", f"UPDATE STRING_IDS SET value = '{kind}' WHERE value = 'KERNEL_AICORE'")
        for path in (view, base):
            index = verify_index(ingest(path, folder / f"{path.name}.tracedb"))
            equal(open_index(index).execute("SELECT count(*) FROM kernel").fetchone(), (kernels,), f"kernels of {path.name}")
            equal(open_index(index).execute("SELECT count, sample FROM issue WHERE kind = 'unknown_task'").fetchall(),
                  [(computing, kind)] if kind == "NEW_CORE" else [], f"unknown tasks of {path.name}")


def device_of_collectives(folder):
    """Of several devices the tasks of a collective say which it is on; of no known task it is not known."""
    path = folder / "two_profiler.db"
    write_database(Run(seed=7), path)
    edit_database(path, "CREATE TABLE COMMUNICATION_TASK_INFO (globalTaskId INTEGER, taskType INTEGER, opId INTEGER)",
                  "INSERT INTO COMMUNICATION_TASK_INFO SELECT 1000 + opId, 0, opId FROM COMMUNICATION_OP WHERE opId <> 39",
                  "INSERT INTO COMMUNICATION_TASK_INFO SELECT 2000 + opId, 0, opId FROM COMMUNICATION_OP",
                  "INSERT INTO TASK SELECT startNs, endNs, NULL, connectionId, 2000 + opId, 1, 0, 0, 9, opId, 4294967295 "
                  "FROM COMMUNICATION_OP",
                  "INSERT INTO TASK SELECT startNs, endNs, 4 + (opId = 29), connectionId, 1000 + opId, 1, 0, 0, 9, opId, "
                  "4294967295 FROM COMMUNICATION_OP WHERE opId <> 39")
    found = open_index(ingest(path, folder / "two.tracedb")).execute(
        "SELECT d.ordinal FROM kernel k JOIN stream s ON s.id = k.stream_id JOIN device d ON d.id = s.device_id "
        "WHERE k.kind = 'comm' ORDER BY k.ts").fetchall()
    equal(found, [(4,), (4,), (5,), (None,)], "devices of collectives")


def one_source_of_a_run(folder):
    """Of a folder that the profiler wrote, one index is made, and one line says of what, and what was left alone."""
    made = Run(seed=5)
    output = folder / "host_1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    write_csv(made, output / "kernel_details.csv")
    write_trace_view(made, output / "trace_view.json")
    (output / "communication.json").write_text('{"step": {}}')
    for chosen, left in (("trace_view.json", ("kernel_details.csv",)),
                         ("ascend_pytorch_profiler_3.db", ("kernel_details.csv", "trace_view.json"))):
        if chosen.endswith(".db"):
            write_database(made, output / chosen)
        result = run("trace-ingest", "--progress", "never", "--summary", folder / "summary.jsonl", folder)
        lines = [line for line in result.stderr.splitlines() if "same run" in line]
        equal(len(lines), 1, f"lines about it in {result.stderr}")
        require(f"{chosen}: read" in lines[0] and f"same run: {', '.join(left)} " in lines[0], lines[0])
        require((output / f"{chosen}.tracedb").exists(), f"no index of {chosen}")
        records = [json.loads(line) for line in (folder / "summary.jsonl").read_text().splitlines()]
        equal(sorted(record["status"] for record in records), ["built"] + ["skipped"] * (len(left) + 1), "status of all files")
    equal(sorted(path.name for path in output.glob("*.tracedb")),
          ["ascend_pytorch_profiler_3.db.tracedb", "trace_view.json.tracedb"], "indexes")
    run("trace-ingest", "-q", output / "kernel_details.csv")
    require((output / "kernel_details.csv.tracedb").exists(), "a file that is named is read")
    (folder / "cut").mkdir()
    write_csv(made, folder / "cut/kernel_details.csv")
    whole = (output / "trace_view.json").read_text()
    for text in ("", "{bad", "[]", whole[:len(whole) * 4 // 5]):
        (folder / "cut/trace_view.json").write_text(text)
        result = run("trace-ingest", "--progress", "never", "--force", folder / "cut", check=False)
        require(result.returncode == 3 and "trace_view.json: " in result.stderr and "same run" not in result.stderr, result.stderr)
        equal([path.name for path in (folder / "cut").glob("*.tracedb")], ["kernel_details.csv.tracedb"], "of a trace without events, or cut off")
    write_database(made, folder / "cut/ascend_pytorch_profiler_3.db")
    result = run("trace-ingest", "--progress", "never", "--force", folder / "cut")
    require("same run: kernel_details.csv, trace_view.json " in result.stderr, f"no matter beside a fuller one: {result.stderr}")
    run("make-trace", "--ascend", "9", folder / "made")
    result = run("trace-ingest", "--progress", "never", folder / "made", check=False)
    require("same run" not in result.stderr, f"a model and its profile are no run: {result.stderr}")
    equal(sorted(path.name for path in (folder / "made").glob("*.tracedb")),
          ["kernel_details.csv.tracedb", "model.json.tracedb"], "indexes of a model and its profile")


def no_file_beside(folder):
    """A database is read where it is, and nothing is written beside it but the index."""
    path = folder / "msprof_1.db"
    write_database(Run(seed=1), path)
    before = path.read_bytes()
    (folder / "out").mkdir()
    ingest(path, folder / "out/index.tracedb")
    equal((path.read_bytes(), sorted(file.name for file in folder.iterdir())), (before, ["msprof_1.db", "out"]), "the folder")


def covered(intervals):
    total, until = 0, None
    for begin, end in sorted(intervals):
        begin = begin if until is None else max(begin, until)
        if end > begin:
            total, until = total + end - begin, end
    return total


def waiting_share(path):
    """Of the time of collectives: a Notify_Wait runs, and no task that moves data."""
    events = read_trace(path)[0]
    planes = {(event["pid"], event["tid"]) for event in events
              if event["name"] == "thread_name" and event["args"]["name"].startswith("Plane ")}
    span = {id(event): (nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"]))
            for event in events if event["ph"] == "X"}
    tasks = [event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) in planes]
    time = waiting = 0
    for event in events:
        if event["ph"] != "X" or not event["name"].startswith("hcom_"):
            continue
        begin, end = span[id(event)]
        inside = [(task["name"], max(span[id(task)][0], begin), min(span[id(task)][1], end)) for task in tasks]
        moves = [(a, b) for name, a, b in inside if not name.startswith("Notify")]
        waits = [(a, b) for name, a, b in inside if name == "Notify_Wait"]
        time, waiting = time + end - begin, waiting + covered(moves + waits) - covered(moves)
    return time, waiting


def missing_ranks(folder):
    """Two of eight ranks: who holds the others up is not known, and that they wait is."""
    paths = [ASCEND / f"level1_rank{rank}_trace_view.json" for rank in (0, 1)]
    indexes = [ingest(path, folder / f"{path.name}.tracedb") for path in paths]
    sums = [waiting_share(path) for path in paths]
    share = round(100 * sum(waiting for _, waiting in sums) / sum(time for time, _ in sums))
    equal(share, 96, "share by the JSON")
    result = run("trace-query", "ranks", *indexes)
    said = " ".join(result.stdout.split())
    require(f"6 ranks of 8 are not there" in said and f"in {share} % of the time of their collectives" in said, said[:300])
    require("holds the others up is not known" in said and "6 of 8 ranks are not there (2, 3, 4, 5, 6, 7)" in result.stderr, result.stderr)
    comms = rows("comms", indexes[0])
    equal({row["ranks"] for row in comms}, {8}, "ranks of the group")
    page = " ".join(" ".join(Document(run("trace-query", "report", "-q", indexes[0]).stdout).words).split())
    require(f"of the time of collectives {round(100 * sums[0][1] / sums[0][0])} % is waiting for other ranks" in page, page[:400])
    require("look there first" not in page, page[:400])


def two_processes(folder):
    """Traces of two ranks in one file number their connections alike: each device's work is launched by its own process."""
    single = json.loads((ASCEND / "level1_rank0_trace_view.json").read_text())
    other = json.loads((ASCEND / "level1_rank1_trace_view.json").read_text())
    query = ("SELECT d.ordinal, p.pid, count(*) FROM kernel k JOIN stream s ON s.id = k.stream_id JOIN device d ON d.id = s.device_id LEFT JOIN "
             "runtime_call r ON r.id = k.launch_id LEFT JOIN thread t ON t.id = r.thread_id LEFT JOIN process p ON p.id = t.process_id GROUP BY 1, 2")
    alone = [row for rank in (0, 1) for row in
             open_index(ingest(ASCEND / f"level1_rank{rank}_trace_view.json", folder / f"{rank}.tracedb")).execute(query)]
    require(all(pid is not None for _, pid, _ in alone), alone)
    for name, events in (("two", single + other), ("turned", other + single)):
        (folder / f"{name}.json").write_text(json.dumps(events))
        equal(sorted(open_index(ingest(folder / f"{name}.json", folder / f"{name}.tracedb")).execute(query)), sorted(alone), name)


def devices_in_turn(folder):
    """The device that begins a step first alternates: its steps still follow each other."""
    for lead in ("first", "turns"):
        written = ["Step Id,Device_id,Task ID,Type,Start Time(us),Duration(us),Stream ID"]
        for step in range(6):
            for device in (0, 1):
                begin = step * 1000 + (5 if device != (step % 2 if lead == "turns" else 0) else 0)
                written += [f"{step},{device},{step * 2 + device},MatMulV2,{begin},900,2", f"{step},{device},{step * 2 + device},Cast,{begin + 900},0,2"]
        path = folder / f"{lead}_kernel_details.csv"
        path.write_text("\n".join((*written, "")))
        found = rows("steps", ingest(path, folder / f"{lead}.tracedb"))
        equal([row["kernels"] for row in found], [4] * 6, "kernels of no length at the end of a step")
        equal([row["host_period"] for row in found], [1_000_000] * 5 + [None], lead)
        require(all(abs(row["period"] - 1_000_000) <= 5000 for row in found[:-1]), f"{lead}: periods {[row['period'] for row in found]}")


def order_of_rows(folder):
    """Rows of two devices in any order of the file: the same answers, devices by their numbers."""
    written = [f"{step},{device},{device * 9 + place},{kind},{step * 1000 + place * 100},{dur},2" for step in range(3) for device in (0, 1)
               for place, (kind, dur) in enumerate((("MatMulV2", 40), ("RmsNorm", 30), ("Cast", 30)))]
    answers = []
    for name, order in (("given", written), ("turned", written[::-1])):
        path = folder / f"{name}_kernel_details.csv"
        path.write_text("\n".join(("Step Id,Device_id,Task ID,Type,Start Time(us),Duration(us),Stream ID", *order, "")))
        index = ingest(path, folder / f"{name}.tracedb")
        answers.append([[{key: row[key] for key in row if not key.endswith("_id")} for row in rows(report, index)]
                        for report in ("breakdown", "gaps --each", "gaps", "timeline", "kernels", "steps")])
    require(answers[1] == answers[0], "rows turned round")
    equal([row["device"] for row in answers[0][0]], [0, 1] * 3, "devices")


def fed_threads(folder):
    """Where the thread that launches has nothing open, the one that feeds it has."""
    index = ingest(ASCEND / "level1_rank0_trace_view.json", folder / "index.tracedb")
    gaps = rows("gaps", "--each", index)
    idle = sum(gap["dur"] for gap in gaps)
    known = sum(gap["dur"] for gap in gaps if gap["host"] not in (None, "[not recorded]"))
    require(known > 0.9 * idle, f"the host is known in {100 * known / idle:.0f} % of the idle time")


def main(cases, _):
    cases.each_apart((one_run, second_rows, unnamed_tasks, types_of_tasks, device_of_collectives, one_source_of_a_run, no_file_beside, devices_in_turn, order_of_rows))
    if not skip_without_traces(cases, ASCEND):
        for rank in (0, 1):
            cases.run_apart(f"op_statistic of rank {rank}", statistics, rank)
        for name in ("advisor_kernel_details.csv", "level1_rank0_kernel_details.csv", "level2_kernel_details.csv"):
            cases.run_apart(name, every_row, name)
        cases.each_apart((real_database, missing_ranks, fed_threads, two_processes))
