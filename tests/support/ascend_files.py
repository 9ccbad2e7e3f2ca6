"""Makes one small run on an Ascend NPU and writes it as its profilers do: kernel table, database, Chrome trace."""
import json
import random
import sqlite3
from dataclasses import dataclass, field

PID, MAIN, QUEUE, DEVICE, STREAM = 4242, 4242, 4300, 3, 2
TYPES = ("MatMulV2", "Add", "RmsNorm", "FlashAttentionScore")
EPOCH = 1_736_408_883_704_643_212


@dataclass
class Kernel:
    type: str
    name: str
    start: int  # ns
    dur: int
    connection: int
    asked: int  # start of the operator
    launched: int  # start of the call

    @property
    def collective(self):
        return self.type.startswith("hcom_")


@dataclass
class Run:
    seed: int
    kernels: list = field(default_factory=list)

    def __post_init__(self):
        chance = random.Random(self.seed)
        at = EPOCH
        for place in range(40):
            op = TYPES[chance.randrange(len(TYPES))]
            name = f"aclnn{op}_{op}AiCore_{op}"
            if place % 10 == 9:
                op, name = "hcom_allReduce_", f"hcom_allReduce__586_{place // 10}_1"
            dur = chance.randrange(1_000, 900_000)
            self.kernels.append(Kernel(op, name, at + 400_000, dur, 900 + place, at, at + 100_000))
            at += 450_000 + dur
        self.step = (EPOCH - 1_000_000, at + 1_000_000)

    def expected(self, base):
        return [(kernel.type, kernel.start - base, kernel.dur, "comm" if kernel.collective else "compute", kernel.name)
                for kernel in self.kernels]


def micro(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def write_csv(run, path):
    head = ("Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
            "Wait Time(us),Block Dim,Input Shapes")
    rows = [f'50,{DEVICE},4294967295,{place},{"N/A" if k.collective else STREAM},{k.name},{k.type},'
            f'{"HCCL" if k.collective else "AI_CORE"},"{micro(k.start)}\t",{micro(k.dur)},0,24,"""64,128;128"""'
            for place, k in enumerate(run.kernels)]
    path.write_text("\r\n".join([head, *rows, ""]), newline="")


def write_database(run, path):
    database = sqlite3.connect(path)
    strings = {}

    def text(value):
        return strings.setdefault(value, len(strings))

    database.executescript("""
        CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO ENUM_API_TYPE VALUES (10000, 'node'), (50001, 'op'), (50002, 'queue'), (50003, 'trace');
        CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
        CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
                           globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER,
                           modelId INTEGER);
        CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER,
                                        mixBlockNum INTEGER, taskType INTEGER, opType INTEGER, inputShapes INTEGER);
        CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,
                                       groupName INTEGER, opId INTEGER PRIMARY KEY, dataType INTEGER, count NUMERIC,
                                       opType INTEGER);
        CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER,
                               name INTEGER);
        CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
                                  sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER,
                                  callchainId INTEGER, type INTEGER);
        CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);""")
    database.execute("INSERT INTO RANK_DEVICE_MAP VALUES (3, ?)", (DEVICE,))
    main, queue = PID << 32 | MAIN, PID << 32 | QUEUE

    def torch(start, end, name, connection=None):
        database.execute("INSERT INTO PYTORCH_API VALUES (?, ?, ?, ?, ?, -1, 0, NULL, NULL, NULL, 50001)",
                         (str(start), str(end), main, connection, text(name)))

    torch(*run.step, "ProfilerStep#50")
    for place, k in enumerate(run.kernels):
        torch(k.asked, k.asked + 50_000, f"aten::op{place % 3}", place)
        database.execute("INSERT INTO CONNECTION_IDS VALUES (?, ?)", (place, k.connection))
        database.execute("INSERT INTO CANN_API VALUES (?, ?, 10000, ?, ?, ?)",
                         (k.launched, k.launched + 20_000, queue, k.connection, text("launch")))
        if k.collective:
            database.execute("INSERT INTO COMMUNICATION_OP VALUES (?, ?, ?, ?, ?, ?, 4, 1024, ?)",
                             (text(k.name), k.start, k.start + k.dur, k.connection, text("group586"), place, text(k.type)))
            continue
        database.execute("INSERT INTO TASK VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 4294967295)",
                         (k.start, k.start + k.dur, DEVICE, k.connection, place, PID, text("KERNEL_AICORE"), STREAM, place))
        database.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?, 24, 0, ?, ?, ?)",
                         (text(k.name), place, text("AI_CORE"), text(k.type), text('"64,128;128"')))
    database.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", [(number, value) for value, number in strings.items()])
    database.commit()
    database.close()


def write_trace_view(run, path):
    """Names of processes last, as the profiler may write them."""
    hardware, hccl, cann = (PID << 10 | layer << 5 | DEVICE for layer in (13, 15, 7))
    events = [{"ph": "X", "name": "ProfilerStep#50", "pid": PID, "tid": MAIN, "ts": micro(run.step[0]),
               "dur": (run.step[1] - run.step[0]) / 1000, "cat": "cpu_op", "args": {"Sequence number": -1}}]
    for place, k in enumerate(run.kernels):
        pid, tid = (hccl, 0) if k.collective else (hardware, STREAM)
        events.append({"ph": "X", "name": f"aten::op{place % 3}", "pid": PID, "tid": MAIN, "ts": micro(k.asked), "dur": 50.0,
                       "cat": "cpu_op", "args": {"Sequence number": -1}})
        events.append({"name": "Node@launch", "pid": cann, "tid": QUEUE, "ts": micro(k.launched), "dur": 20.0, "ph": "X",
                       "args": {"Thread Id": QUEUE, "level": "node", "connection_id": k.connection}})
        args = {"connection_id": k.connection, "model id": 4294967295, "data_type": "FP32", "count": 1024}
        if not k.collective:
            args = {"Model Id": 4294967295, "Task Type": "AI_CORE", "Task Id": place, "connection_id": k.connection}
        events.append({"name": k.name, "pid": pid, "tid": tid, "ts": micro(k.start), "dur": k.dur / 1000, "ph": "X",
                       "args": args})
        ends = {"cat": "async_npu", "name": "torch_to_npu", "id": k.start, "bp": "e"}
        events.append({"ph": "s", "pid": PID, "tid": MAIN, "ts": micro(k.asked), **ends})
        events.append({"ph": "f", "pid": pid, "tid": tid, "ts": micro(k.start), **ends})
        ends = {"cat": "HostToDevice", "name": f"HostToDevice{place}", "id": str(10 ** 19 + place)}
        events.append({"ph": "s", "pid": cann, "tid": QUEUE, "ts": micro(k.launched), **ends})
        events.append({"ph": "f", "pid": pid, "tid": tid, "ts": micro(k.start), "bp": "e", **ends})
    events.append({"name": "EVENT_WAIT", "pid": hardware, "tid": STREAM, "ts": micro(EPOCH), "dur": 1.0, "ph": "X",
                   "args": {"Task Type": "EVENT_WAIT_SQE", "connection_id": 7}})
    for pid, name in ((hardware, "Ascend Hardware"), (hccl, "HCCL"), (cann, "CANN"), (PID, "Python")):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}})
    path.write_text(json.dumps(events))
