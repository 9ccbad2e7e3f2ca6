"""Writes the seeds of the fuzz targets: make_seeds.py FOLDER. Small traces in the shape of real ones, damage of every
kind done to them, numbers, compressed streams and changed indexes. The same every time; standard library only."""
import gzip
import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from ascend_files import Run, write_csv, write_database  # noqa: E402
from rocprof_files import RocprofRun  # noqa: E402
from xplane import gpu, json_events, space, tpu  # noqa: E402

THREAD = {"pid": 100, "tid": 101}


def event(category, name, ts, dur, args=None, track=THREAD, ph="X"):
    return {"ph": ph, "cat": category, "name": name, **track, "ts": ts, "dur": dur, "args": args or {}}


def stream(number):
    return {"pid": 0, "tid": number}


def events():
    """One of each kind, linked as a profiler links them."""
    return [
        {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "ts": 0.5, "args": {"name": "python3"}},
        {"ph": "M", "name": "thread_sort_index", "pid": 100, "tid": 101, "ts": 0.5, "args": {"sort_index": 7}},
        event("python_function", "main.py(3): serve", 10.001, 900, {"Python id": 1, "Python parent id": None}),
        event("python_function", "nn.Module: Linear_0", 11.5, 800, {"Python id": 2, "Python parent id": 1}),
        event("user_annotation", "step[DECODE bs=8]", 11.75, 700, {"External id": 9}),
        event("cpu_op", "aten::mm", 12, 100, {"External id": 10, "Sequence number": 4, "Input Dims": [[8, 16], []],
                                               "Input type": ["float", ""], "Concrete Inputs": ["", "1"]}),
        event("cuda_runtime", "cudaLaunchKernel", 13.25, 4.125, {"correlation": 77, "External id": 10}),
        event("hip_runtime", "hipMemcpyAsync", 20.5, 2, {"correlation": "78", "External id": 10}),
        event("kernel", "void gemm<float, 4>(int*)", 40, 12.875,
              {"device": 0, "stream": 7, "correlation": 77, "External id": 10, "grid": [1, 2, 3], "block": [64, 1, 1],
               "registers per thread": 32, "shared memory": 0, "warps per SM": 0.5, "blocks per SM": 0.25,
               "est. achieved occupancy %": 3}, stream(7)),
        event("kernel", "ncclDevKernel_AllReduce", 55, 20, {"device": 0, "stream": 9, "Collective name": "allreduce",
              "In msg nelems": 128, "Out msg nelems": 128, "Group size": 8, "dtype": "BFloat16",
              "Process Group Name": "tp", "Process Group Ranks": "[0, 1]"}, stream(9)),
        event("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 80, 3.5, {"device": 0, "stream": 7, "correlation": 78,
                                                                      "bytes": 4096, "kind": "HtoD"}, stream(7)),
        event("gpu_memset", "Memset (Device)", 90, 1, {"device": 0, "stream": 7, "bytes": 16}, stream(7)),
        event("gpu_user_annotation", "step[DECODE bs=8]", 40, 50, {"External id": 9}, stream(7)),
        event("Trace", "PyTorch Profiler (0)", 0, 1000, track={"pid": "Spans", "tid": "PyTorch Profiler"}),
        {"ph": "s", "id": 77, "cat": "ac2g", "name": "ac2g", "ts": 13.25, **THREAD},
        {"ph": "f", "id": 77, "bp": "e", "cat": "ac2g", "name": "ac2g", "ts": 40, **stream(7)},
        {"ph": "t", "id": "0x1F", "cat": "fwdbwd", "name": "fwdbwd", "ts": 14, **THREAD},
        {"ph": "B", "name": "outer", "cat": "custom", "ts": 100, **THREAD},
        {"ph": "E", "ts": 120.5, **THREAD},
        {"ph": "C", "name": "power", "ts": 15, "pid": 0, "args": {"watts": 310.5, "limit": "400"}},
        {"ph": "i", "name": "Record Window End", "s": "g", "ts": 999, "pid": "", "tid": ""},
        {"ph": "i", "name": "[memory]", "cat": "cpu_instant_event", "ts": 16, "args": {"Bytes": -64}, **THREAD},
    ]


def document(items, separator=",", header=True):
    text = separator.join(json.dumps(item, separators=(",", ":")) for item in items)
    if not header:
        return f"[{text}]"
    return ('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AMD Instinct","warpSize":64}],'
            '"distributedInfo":{"rank":3,"world_size":8},"baseTimeNanoseconds":1700000000000000000,'
            f'"traceEvents":[{text}],"traceName":"x"}}')


def damages(text):
    """{name: bytes} of a trace, damaged."""
    raw = text.encode()
    middle = len(raw) // 2
    some = json.dumps(events()[8], separators=(",", ":"))
    return {
        "cut_third": raw[:len(raw) // 3], "cut_last": raw[:-1], "cut_event_end": raw[:raw.rindex(b"}},{") + 2],
        "missing_comma": raw.replace(b"}},{", b"}} {", 1), "two_commas": raw.replace(b"}},{", b"}},,{", 1),
        "leading_comma": raw.replace(b"[{", b"[,{", 1), "trailing_comma": raw.replace(b"}]", b"},]"),
        "bad_utf8": raw.replace(b"serve", b"s\xff\xc3\xed\xa0\x80e"), "control": raw.replace(b"serve", b"se\x01\nrve"),
        "nul": raw.replace(b"serve", b"s\0ve"), "quote": raw.replace(b"serve", b'se"rve'),
        "escape": raw.replace(b"serve", b"s\\q\\u12\\ud800e\\"), "surrogates": raw.replace(b"serve", b"\\ud83d\\ude00"),
        "nan": raw.replace(b"12.875", b"NaN").replace(b"310.5", b"-Infinity").replace(b"900", b"N/A"),
        "huge": raw.replace(b"12.875", b"1e999").replace(b"900", b"9223372036854775.807").replace(b":77", b":1e99"),
        "longest": raw.replace(b"12.875", b"4611686018427387.903").replace(b'"ts":55', b'"ts":-4611686018427387.903'),
        "negative": raw.replace(b"12.875", b"-1").replace(b'"ts":12,', b'"ts":-12.0015,'),
        "types": raw.replace(b'"ts":12,', b'"ts":[12],').replace(b'"args":{', b'"args":[{}],"a":{', 3),
        "no_ts": raw.replace(b'"ts"', b'"tx"', 6), "twice": raw.replace(b'"ts":12,', b'"ts":1,"ts":12,'),
        "bom": b"\xef\xbb\xbf" + raw, "crlf": raw.replace(b",", b",\r\n"), "utf16": text.encode("utf-16"),
        "two_documents": raw + b"\n" + document(events()[:3]).encode(), "junk": raw + b"\0\0junk{",
        "two_arrays": raw[:-1] + b',"traceEvents":[' + some.encode() + b"]}", "no_array": b'{"traceEvents":{"a":1}}',
        "deep": raw.replace(b'"grid":[1', b'"grid":' + b"[" * 300 + b"1" + b"]" * 300 + b",[1"),
        "brackets": raw.replace(b'"grid":[1,2,3]', b'"grid":[1,2,3}'), "scalars": b'[1,"a",null,[],{},true,1.5,{"ph":7}]',
        "zeros": raw[:middle] + b"\0" * 200 + raw[middle + 200:], "colon": raw.replace(b'"name":', b'"name"', 2),
        "open_string": raw.replace(b'"cat":"cpu_op"', b'"cat":"cpu_op', 1), "lfs": b"version https://git-lfs\n",
        "base": raw.replace(b":1700000000000000000", b":9223372036854775807"), "html": b"<html>",
        "garbage": b"\0]" + raw, "no_start": raw[40:], "quotes": raw.replace(b'"name":"', b'"name":"q"'),
        "no_bracket": raw.replace(b'"warpSize":64}]', b'"warpSize":64}'), "no_commas": raw.replace(b"}},{", b"}} {"),
        "misnamed": raw.replace(b"traceEvents", b"traceEvent5"), "bad_header": raw.replace(b'"rank":3', b'"ra\xffnk":\xfe3'),
        "empty": b"", "space": b" \n", "nothing": b"{}", "no_events": b'{"traceEvents":[]}',
    }


def traces():
    full = document(events())
    out = {"full": full.encode(), "array": document(events(), header=False).encode(),
           "lines": json.dumps(json.loads(full), indent=1).encode()}
    for number, item in enumerate(events()):
        out[f"event_{number}"] = document([item], header=False).encode()
    return out | damages(document(events()[2:12]))


def numbers():
    texts = ("0 -0 1 -1 7.0 0.5 .5 5. . - + 1e3 1E+3 1e-3 12x 1..2 1e 1e+ 0x10 NaN inf -Infinity nan null 1e999 1e-999 "
             "1e-400 4.9e-324 1e-320 1e-5000 1.7976931348623157e308 1.7976931348623159e308 123456789012345678 "
             "9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 "
             "18446744073709551616 9223372036854775.807 9223372036854775.808 -9223372036854775.808 1234567890123456.789 "
             "00000000000000000000000000012.5 1700000000123456.7891 0.0000000000000000001e19 1e16 922337203685477580.7e-2 "
             "12345678 1234567: 12345678.12345678 0e99999999999999999999 1e9223372036854775808 +5 +-5").split(" ")
    return {f"number_{i}": text.encode() for i, text in enumerate(texts)} | {"empty": b"", "long": b"9" * 500 + b".25e-490"}


def streams():
    """Mode, piece size, then a file; or text that the target packs and damages itself."""
    text = document(events()[:8]).encode()
    packed = gzip.compress(text, mtime=0)
    named = b"\x1f\x8b\x08\x1e" + bytes(6) + b"\4\0AB\1\0name\0note\0" + bytes(2) + packed[10:]
    files = {"one": packed, "two": packed + gzip.compress(text[:99], mtime=0), "stored": gzip.compress(text, 0, mtime=0),
             "empty": gzip.compress(b"", mtime=0), "head": packed[:10], "cut": packed[:-5], "trailing": packed + b"junk",
             "zeros": packed + bytes(512), "checksum": packed[:-8] + bytes(8), "named": named, "magic": b"\x1f\x8b",
             "run": gzip.compress(bytes(70000), mtime=0), "flags": packed[:3] + b"\xff" + packed[4:],
             "dynamic": gzip.compress(bytes(i * i % 251 for i in range(3000)), 9, mtime=0), "plain": text}
    out = {f"file_{name}": b"\0\0\x40" + content for name, content in files.items()}
    for mode in range(1, 8):
        out[f"packed_{mode}"] = bytes([mode, 0, 33, mode % 5, 0, 20 * mode, 16, 1, 3, mode]) + text
    return out


def indexes():
    """Mode, then bytes of a file, SQL to run over a good index, or patches."""
    sql = {
        "meta_view": "ALTER TABLE meta RENAME TO m; CREATE VIEW meta AS SELECT * FROM m;",
        "endless": "DROP VIEW kernels; CREATE VIEW kernels AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r)"
                   " SELECT x AS name FROM r;",
        "cycle": "UPDATE stack SET parent_id = id; UPDATE frame SET name_id = 1;",
        "texts": "UPDATE string SET value = char(27) || '[31m=1+1|' || char(10); UPDATE kernel SET dur = 'x', ts = NULL;",
        "huge": "UPDATE kernel_name_sum SET total = 9223372036854775807; UPDATE kernel SET dur = 9223372036854775807;",
        "blobs": "UPDATE meta SET value = x'ff00fe' WHERE key <> 'complete'; UPDATE issue SET kind = x'00';",
        "real": "UPDATE kernel_name_sum SET sum_of_squares = -1e308; UPDATE memory_op SET bytes = -1, dur = 1e300;",
        "gone": "DELETE FROM string; DELETE FROM kernel_name; DROP VIEW memory_ops;",
        "columns": "DROP TABLE kernel_name_sum; CREATE TABLE kernel_name_sum(x); DROP TABLE issue;",
        "trigger": "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM meta; END; UPDATE meta SET value=1 WHERE"
                   " key='source_inode';",
        "schema": "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE x(a,', rootpage = 2"
                  " WHERE name = 'kernel';",
        "path": "UPDATE meta SET value = '/proc/self/mem' WHERE key = 'source_path'; UPDATE meta SET value='NaN'"
                " WHERE key LIKE 'kernel%';",
    }
    out = {f"sql_{name}": b"\1" + text.encode() for name, text in sql.items()}
    patches = {"page_size": b"\1\0\x10\3", "pages": b"\3\0\x1c\4\0\0\0\1", "schema_root": b"\3\2\x40\4\0\0\0\1",
               "cell": b"\0\0\x10\0\xff", "copy": b"\4\0\x10\0\0\x20\0\0\x08", "cut": b"\6\0\x50\0", "none": b"",
               "version": b"\1\0\x3f\2", "wal": b"\3\0\x12\2\2\2", "encoding": b"\1\0\x3b\2", "reserved": b"\1\0\x14\xff"}
    out |= {f"patch_{name}": b"\2" + patch for name, patch in patches.items()}
    out |= {"file_empty": b"\0", "file_magic": b"\0SQLite format 3\0" + bytes(84), "file_text": b"\0[1]"}
    return out


def small_database(path):
    """The bytes of a database, in the smallest pages."""
    database = sqlite3.connect(path)
    for statement in ("PRAGMA page_size = 512", "VACUUM"):
        database.execute(statement)
    database.close()
    return path.read_bytes()


def tables():
    """Which of the names the file has, then what is in it."""
    run, kernels = RocprofRun(steps=1, kernels=2), Run(seed=1)
    kernels.kernels = kernels.kernels[:4] + kernels.kernels[9:10]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_csv(kernels, folder / "kernels.csv")
        write_database(kernels, folder / "ascend.db")
        run.write_database(folder / "rocpd.db")
        nsys = sqlite3.connect(folder / "nsys.db")
        nsys.executescript("""
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'step 1');
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, demangledName, gridX);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 7, 1, 1, 4), (300, 200, 0, 7, 2, 9, NULL);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, 5, 1, 1);
            CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId);
            INSERT INTO NVTX_EVENTS VALUES (10, 900, 59, NULL, 5, 2);""")
        nsys.close()
        rpd = sqlite3.connect(folder / "rpd.db")
        rpd.executescript("""
            CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT); INSERT INTO rocpd_string VALUES (1, 'KernelExecution'), (2, 'k');
            CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id);
            INSERT INTO rocpd_op VALUES (1, 0, 3, 100, 200, 2, 1);
            CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id); INSERT INTO rocpd_api VALUES (1, 5, 6, 50, 60, 2, 1);
            CREATE TABLE rocpd_api_ops (api_id, op_id); INSERT INTO rocpd_api_ops VALUES (1, 1);""")
        rpd.close()
        table = (folder / "kernels.csv").read_bytes()
        out = {f"db_{path.stem}": b"\1" + small_database(path) for path in sorted(folder.glob("*.db"))}
    json_text = json.dumps(run.document()).encode()
    tiles = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "core_trace for tile2,1"}},
             {"name": "INSTR_EVENT_0", "ph": "B", "pid": 0, "tid": 0, "ts": 5}, {"name": "INSTR_EVENT_0", "ph": "E", "pid": 0, "tid": 0, "ts": 6},
             {"name": "INSTR_EVENT_1", "ph": "B", "pid": 0, "tid": 1, "ts": 78}, {"name": "INSTR_EVENT_1", "ph": "E", "pid": 0, "tid": 1, "ts": 79},
             {"name": "LOCK_STALL", "ph": "B", "pid": 0, "tid": 2, "ts": 80}]
    csv = {"whole": table, "bom": b"\xef\xbb\xbf" + table, "head": table.split(b"\r\n")[0], "cut": table[:-30], "quotes": table.replace(b"AI_CORE", b'"a ""b""\r\nc"'),
           "numbers": table.replace(b",24,", b",99999999999999999999,").replace(b"1736408883", b"-1"), "lines": table.replace(b"\r\n", b"\n"),
           "twice": table.replace(b"Duration(us)", b"Duration(us),Duration(us)"), "op_summary": table.replace(b"Type,", b"OP Type,")
           .replace(b"Start Time", b"Task Start Time").replace(b"Duration(us)", b"Task Duration(us)")}
    out |= {f"csv_{name}": b"\0" + content for name, content in csv.items()}
    out |= {"rocprof": b"\2" + json_text, "rocprof_cut": b"\2" + json_text[:-700], "tiles": b"\2" + json.dumps(tiles).encode()}
    spaces = {"gpu": space(gpu()), "texts": space(gpu(refs=False)), "tpu": space(tpu()), "no_names": space(gpu())[:-900]}
    out |= {f"xspace_{name}": b"\3" + content for name, content in spaces.items()}
    out["xla_json"] = b"\2" + json.dumps({"traceEvents": json_events() + [{}]}).encode()
    return out


def requests():
    token = "0123456789abcdef0123456789abcdef"
    heads = ("", "Connection: close\r\n", "Origin: http://localhost\r\n", "Origin: null\r\n", "If-None-Match: \"1\"\r\nAccept-Encoding: gzip\r\n", "Host: x\r\n")
    targets = ("", "t/kernels?i=a%2fb&op=gemm", "sql?q=SELECT+1%0A", "../x", "t?i=%00", "static/a.b.js", "x" * 9000)
    for piece in (b"\x00", b"\x06", b"\xff"):
        for target in targets:
            for head in heads:
                yield piece + f"GET /{token}/{target} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode()
        start = f"POST /{token}/sql HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"
        for body in ("Content-Length: 5\r\n\r\nq=1+2", "Transfer-Encoding: chunked\r\n\r\n3\r\nq=1\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
                     "Content-Length: 99999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nzz\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"):
            yield piece + (start + body).encode()


def messages():
    """Lines for the server for agents, whole and broken."""
    call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"sql","arguments":{"query":"SELECT 1"}}}'
    lines = [call % number for number in ("1", '"a\\u0000"', "1.5", "null", "[1]", "123456789012345678901234567890", "true")]
    lines += ['{"id":1,"id":2,"method":"ping"}', '{"method":"notifications/cancelled","params":{"requestId":"1"}}', '{"id":7,"result":{}}', "{}", "[]", '"x"',
              "garbage", '{"id":1,"method":5}', '{"id":1,"method":"ping","params":[]}', "", "\r", "[" * 5000, '{"id":"' + "\ud800" + '","method":"x"}']
    for piece in (b"\x00", b"\x06", b"\xff"):
        for end in ("\n", "\r\n", ""):
            yield piece + (end.join(lines) + end).encode("utf-8", "surrogatepass")
            yield from (piece + (line + end).encode("utf-8", "surrogatepass") for line in lines)


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    trace_seeds = traces()
    parts = {name: content.strip(b"[]") for name, content in trace_seeds.items() if len(content) < 4000}
    # In which the targets write elements beyond the sizes that are looked at twice.
    stretched_seeds = {name: content.replace(b"aten", b"\2\2\2").replace(b"main", b"\2")
                       for name, content in trace_seeds.items()}
    targets = {
        "cutter": {name: b"\x05\x11" + bytes([200 if i % 5 == 0 else 0]) + content
                   for i, (name, content) in enumerate(trace_seeds.items())}
                  | {f"large_{name}": b"\x05\x11" + bytes([64 + i % 64]) + content
                     for i, (name, content) in enumerate(stretched_seeds.items())},
        "decimal": numbers(),
        "events": {name: bytes([i % 2]) + content for i, (name, content) in enumerate(parts.items())},
        "inflate": streams(),
        "ingest": {name: bytes([(4 * i + i % 3) % 128, i % 32]) + content
                   for i, (name, content) in enumerate(trace_seeds.items())}
                  | {f"large_{name}": bytes([128 + 4 * i % 128, 255]) + content
                     for i, (name, content) in enumerate(stretched_seeds.items()) if i % 3 == 0},
        "index": indexes(),
        "tables": tables(),
        "message": {f"{number:03}": content for number, content in enumerate(messages())},
        "request": {f"{number:03}": content for number, content in enumerate(requests())},
    }
    for target, seeds in targets.items():
        (folder / target).mkdir(parents=True)
        for name, content in seeds.items():
            (folder / target / name).write_bytes(content)


if __name__ == "__main__":
    main()
