"""Files as rocprofv3 writes them, made up: one run as JSON and as a database (schema version 3)."""
import json
import sqlite3

ZERO = 63_857_000_000_000
HIP, MARKER, DISPATCH, COPY, RCCL = 1, 2, 3, 4, 5
DOMAINS = [("NONE", []), ("HIP_RUNTIME_API", ["hipLaunchKernel", "hipMemcpyAsync"]),
           ("MARKER_CORE_RANGE_API", ["roctxMarkA", "roctxRangePushA"]), ("KERNEL_DISPATCH", ["NONE", "ENQUEUE", "COMPLETE"]),
           ("MEMORY_COPY", ["NONE", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"]), ("RCCL_API", ["ncclAllReduce"])]
SYMBOLS = [(0, "", ""), (1, "_Z4gemmPf.kd", "void gemm<float>(float*)"), (2, "_Z4copyPf.kd", "copy(float*)")]
PID, TID = 4242, 4243
AGENTS = [(10, 1, 0, "AMD EPYC", 0), (11, 2, 0, "AMD Instinct MI300X", 304), (12, 2, 1, "AMD Instinct MI300X", 304)]


class RocprofRun:
    """Steps, each with `kernels` launches and one copy; kernel i of a step starts 5 us after its launch."""

    def __init__(self, steps=3, kernels=4):
        self.regions, self.dispatches, self.copies, self.messages = [], [], [], {}
        correlation = 0
        for step in range(steps):
            begin, correlation = ZERO + step * 100_000, correlation + 1
            self.regions.append((MARKER, 1, correlation, begin, begin + 90_000))
            self.messages[correlation] = f"ProfilerStep#{step}"
            for place in range(kernels):
                start, correlation = begin + 10_000 * place, correlation + 1
                self.regions.append((HIP, 0, correlation, start + 500, start + 1_500))
                self.dispatches.append((correlation, start + 5_500, start + 6_500 + place, 1 + place % 2, 7))
            correlation += 1
            self.regions.append((HIP, 1, correlation, begin + 60_000, begin + 61_000))
            self.copies.append((correlation, begin + 62_000, begin + 63_000, 1, 4096))
        correlation += 1
        self.regions.append((MARKER, 0, correlation, begin + 1, begin + 1))
        self.messages[correlation] = 'a "mark"'
        self.regions.append((RCCL, 0, correlation + 1, begin + 2, begin + 3))

    def document(self, pid=PID):
        def record(kind, operation, correlation, start, end, **more):
            return {"size": 64, "kind": kind, "operation": operation, "thread_id": TID,
                    "correlation_id": {"internal": correlation, "external": 0}, "start_timestamp": start, "end_timestamp": end, **more}

        def handle(number):
            return {"handle": number}

        def xyz(x, y):
            return {"x": x, "y": y, "z": 1}

        lists = {"kernel_dispatch": [
            record(DISPATCH, 2, correlation, start, end, stream_id=handle(stream), dispatch_info={
                "size": 72, "agent_id": handle(12), "queue_id": handle(16), "kernel_id": kernel, "dispatch_id": correlation,
                "private_segment_size": 0, "group_segment_size": 128, "workgroup_size": xyz(256, 1), "grid_size": xyz(1000, 3)})
            for correlation, start, end, kernel, stream in self.dispatches]}
        for name, kind in (("hip_api", HIP), ("marker_api", MARKER), ("rccl_api", RCCL)):
            lists[name] = [record(*region) for region in self.regions if region[0] == kind]
        lists["memory_copy"] = [
            record(COPY, operation, correlation, start, end, dst_agent_id=handle(12), src_agent_id=handle(10), bytes=size,
                   stream_id=handle(7)) for correlation, start, end, operation, size in self.copies]
        return {"rocprofiler-sdk-tool": [{
            "metadata": {"pid": pid, "init_time": ZERO - 5, "fini_time": ZERO + 9, "command": ["/usr/bin/python3", "train.py"]},
            "agents": [{"size": 312, "id": handle(agent), "type": kind, "cu_count": units, "wave_front_size": 64, "name": "gfx942",
                        "product_name": name, "logical_node_type_id": number} for agent, kind, number, name, units in AGENTS],
            "counters": [],
            "strings": {"callback_records": [], "buffer_records": [{"kind": kind, "operations": names} for kind, names in DOMAINS],
                        "marker_api": [{"key": key, "value": text} for key, text in self.messages.items()]},
            "code_objects": [], "kernel_symbols": [
                {"size": 88, "kernel_id": number, "kernel_name": mangled, "formatted_kernel_name": name}
                for number, mangled, name in SYMBOLS],
            "host_functions": [], "summary": [], "callback_records": {"counter_collection": []}, "buffer_records": lists}]}

    def write_json(self, path, indent=None):
        path.write_text(json.dumps(self.document(), indent=indent))

    def write_database(self, path, guid="_0195_7c1a", pid=PID):
        database = sqlite3.connect(path)
        tables = {
            "metadata": "tag TEXT, value TEXT", "string": "guid TEXT, string TEXT",
            "info_process": "guid TEXT, nid INTEGER, pid INTEGER, command TEXT",
            "info_thread": "guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT",
            "info_agent": "guid TEXT, type TEXT, absolute_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT, extdata JSONB",
            "info_kernel_symbol": "guid TEXT, kernel_name TEXT, display_name TEXT",
            "track": "guid TEXT, pid INTEGER, tid INTEGER, name_id INTEGER",
            "event": "guid TEXT, category_id INTEGER, stack_id INTEGER, correlation_id INTEGER, extdata JSONB",
            "region": "guid TEXT, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, event_id INTEGER",
            "sample": "guid TEXT, track_id INTEGER, timestamp BIGINT, event_id INTEGER",
            "kernel_dispatch": "guid TEXT, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER, "
                               "stream_id INTEGER, start BIGINT, end BIGINT, group_segment_size INTEGER, workgroup_size_x INTEGER, "
                               "workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, "
                               "grid_size_z INTEGER, event_id INTEGER",
            "memory_copy": "guid TEXT, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, name_id INTEGER, dst_agent_id INTEGER, "
                           "src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER",
            "pmc_event": "guid TEXT, event_id INTEGER, value REAL"}
        for name, columns in tables.items():
            database.execute(f'CREATE TABLE "rocpd_{name}{guid}" (id INTEGER PRIMARY KEY, {columns})')
            database.execute(f'CREATE VIEW IF NOT EXISTS "rocpd_{name}" AS SELECT * FROM "rocpd_{name}{guid}"')
        ids = {}

        def text(value):
            if value not in ids:
                ids[value] = insert("string", string=value)
            return ids[value]

        def insert(table, **values):
            return database.execute(
                f'INSERT INTO "rocpd_{table}{guid}" ({", ".join(values)}) VALUES ({", ".join("?" * len(values))})',
                list(values.values())).lastrowid

        def event(kind, correlation, extdata="{}"):
            return insert("event", category_id=text(DOMAINS[kind][0]), stack_id=correlation, correlation_id=0, extdata=extdata)

        insert("metadata", tag="schema_version", value="3")
        insert("info_process", id=PID, pid=pid, command="/usr/bin/python3 train.py")
        insert("info_thread", id=TID, pid=PID, tid=TID)
        for agent, kind, number, name, units in AGENTS:
            insert("info_agent", id=agent, type="CPU" if kind == 1 else "GPU", type_index=number, name="gfx942", product_name=name,
                   extdata=json.dumps({"cu_count": units, "wave_front_size": 64}))
        for number, mangled, name in SYMBOLS[1:]:
            insert("info_kernel_symbol", id=number, kernel_name=mangled, display_name=name)
        for kind, operation, correlation, start, end in self.regions:
            message = self.messages.get(correlation)
            number = event(kind, correlation, json.dumps({"message": message}) if message else "{}")
            if start == end:
                track = insert("track", pid=PID, tid=TID, name_id=text(DOMAINS[kind][0]))
                insert("sample", track_id=track, timestamp=start, event_id=number)
            else:
                insert("region", pid=PID, tid=TID, start=start, end=end, name_id=text(DOMAINS[kind][1][operation]), event_id=number)
        for correlation, start, end, kernel, stream in self.dispatches:
            insert("kernel_dispatch", pid=PID, tid=TID, agent_id=12, kernel_id=kernel, queue_id=16, stream_id=stream, start=start,
                   end=end, group_segment_size=128, workgroup_size_x=256, workgroup_size_y=1, workgroup_size_z=1, grid_size_x=1000,
                   grid_size_y=3, grid_size_z=1, event_id=event(DISPATCH, correlation))
        for correlation, start, end, operation, size in self.copies:
            insert("memory_copy", pid=PID, tid=TID, start=start, end=end, name_id=text(DOMAINS[COPY][1][operation]), dst_agent_id=12,
                   src_agent_id=10, size=size, stream_id=7, event_id=event(COPY, correlation))
        insert("pmc_event", event_id=1, value=1.5)
        database.commit()
        database.close()
