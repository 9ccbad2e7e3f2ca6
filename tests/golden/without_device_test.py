"""A trace without a kernel, copy or fill says so in its first line, with what it looks like and what to record instead:
JSON of other programs, recordings of the host alone, empty ones. --strict fails where the format is one whose device
events are not read; the events of all stay in the table slice."""
import gzip
import json
import re

from trace_cases import equal, ingest, issues_of, open_index, real_trace, require, rows, run, sql

NO_DEVICE = "no kernel, copy or fill is in it"


def x(name, cat=None, **more):
    event = {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 10, "dur": 5, **more}
    return event if cat is None else {**event, "cat": cat}


def named(*processes):
    return [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in enumerate(processes, 1)]


def trace(*events, **members):
    return {"traceEvents": list(events), **members}


# Name: document, what it is called, a word of the advice. Each as its program writes it, with as little as tells it.
FOREIGN = {
    "chromium": (trace({"ph": "M", "cat": "__metadata", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "CrBrowserMain"}},
                       x("RunTask", "toplevel")), "Chromium", "torch.profiler"),
    "chromium header": (trace(x("RunTask"), metadata={"clock-domain": "LINUX_CLOCK_MONOTONIC"}), "Chromium", "torch.profiler"),
    "viztracer": (trace(x("f (a.py:1)", "FEE"), viztracer_metadata={"version": "0.16"}), "VizTracer", "torch.profiler"),
    "rocprof v1": (trace(*named("CPU HIP API", "COPY", "GPU0"),
                         x("hipMemcpy", args={"BeginNs": "1", "EndNs": "2", "DurationNs": "1"}), x("gemm.kd", pid=3)),
                   "rocprof version 1", "rocprofv3 --kernel-trace"),
    "rocprofiler-systems": (trace(x("gemm", "rocm_kernel_dispatch"), x("main", "host")), "rocprofiler-systems", "rocpd"),
    "unitrace": (trace(*named("HOST<node>(1)", "DEVICE<node>(2)"), x("zeCommandListAppend", "cpu_op"), x("gemm", "gpu_op", pid=2)),
                 "unitrace", "ProfilerActivity.XPU"),
    "hltv": (trace(*named("Gaudi 0"), x("TPC"), x("MME")), "Gaudi", "table slice"),
    "onnx runtime": ([x("model_loading_uri", "Session"), x("MatMul_kernel_time", "Node", args={"op_name": "MatMul"})],
                     "ONNX Runtime", "nsys profile"),
    "neuron": (trace(*named("NeuronCore 0"), x("Matmult")), "Neuron", "table slice"),
    "tensorflow timeline": (trace(*named("/job:localhost/replica:0/task:0/device:CPU:0 Compute"), x("MatMul", "Op")),
                            "TensorFlow", "nsys profile"),
    "rpd json": (trace({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Hip 7"}}, x("gemm")), "rpd2tracing", ".rpd"),
    "memory timeline": ([[1, 2, 3], [[4], [5]]], "memory timeline", "export_chrome_trace"),
    "list": ([1, 2, 3], "no events", "exported"),
    "another": (trace(x("work", "mine"), {"ph": "C", "name": "n", "pid": 1, "ts": 1, "args": {"a": 1}}), "another program", "torch.profiler"),
}
# Of the host alone, or empty: --strict is as before.
HOST = {
    "kineto": (trace(x("aten::mm", "cpu_op"), x("step", "user_annotation"), schemaVersion=1), NO_DEVICE, "ProfilerActivity"),
    "device in pairs": (trace(x("gemm", "kernel", ph="B"), x("gemm", "kernel", ph="E", ts=20)), "pairs of B and E", "one X with its dur"),
    "operators": (trace(x("aten::mm", "cpu_op")), NO_DEVICE, "ProfilerActivity"),
    "xla": (trace(*named("/device:GPU:0", "/host:CPU"), x("fusion")), "XLA", "jax.profiler.trace"),
    "empty object": ({}, "holds 0 events", "exported"),
    "no events": (trace(), "holds 0 events", "exported"),
    "empty list": ([], "holds 0 events", "exported"),
}
# Of which nothing is to be said.
DEVICE = {
    "kernel": trace(x("gemm", "kernel")),
    "copy alone": trace(x("Memcpy HtoD", "gpu_memcpy")),
    "kernel in a browser": trace(x("gemm", "kernel"), x("RunTask", "toplevel"), viztracer_metadata={}),
}
REAL = {"other/rpd_matmul.json": "rpd2tracing"}
REAL_HOST = {"cpu_only_rank34": "", "no_rank": "", "cupti_counters_a100": "trace-query counters",
             }
PROTOBUF = {"cpu.pb.gz": (b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x10", "pprof")}


def first_lines(path, folder):
    """The first line that ingest, info, a report and a page write."""
    index = folder / "index.tracedb"
    built = run("trace-ingest", "-o", index, path)
    page = folder / "page.html"
    run("trace-query", "report", "-q", index, "-o", page)
    return index, {"ingest": built.stderr.splitlines()[0], "info": run("trace-query", "info", "-q", index).stdout.splitlines()[2],
                   "kernels": run("trace-query", "kernels", index).stderr.splitlines()[0],
                   "phases": run("trace-query", "phases", index).stderr.splitlines()[0],
                   "warnings": rows("warnings", index)[0]["finding"],
                   "page": re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"))[1]}


def check(folder, path, words, advice, strict, slices=None):
    index, said = first_lines(path, folder)
    for where, line in said.items():
        # A table may break the cell: its first line then has the begin of the sentence.
        for word in (words,) if where == "info" else (words, advice):
            require(word in line or (where == "info" and line.split()[-1] in word), f"{where}: {line!r} has no {word!r}")
    info = rows("info", index)[0]
    equal(info["item"], "without a device", "first row of info")
    require(words in info["value"] and advice in info["value"], info["value"])
    equal(run("trace-ingest", "-q", "--strict", "-o", folder / "strict.tracedb", path, check=False).returncode, strict, "--strict")
    equal(run("trace-ingest", "-q", "--strict", "-o", folder / "strict.tracedb", path, check=False).returncode, strict,
          "--strict of a valid index")
    if slices is not None:
        database = open_index(index)
        equal(database.execute("SELECT (SELECT count(*) FROM slice), (SELECT count(*) FROM cpu_op)").fetchone(), (slices, 0),
              "events that can be asked for")
        equal(sql(index, "SELECT count(*) AS n FROM slice"), [{"n": slices}], "slices that sql counts")
        equal(dict(database.execute("SELECT key, value FROM meta"))["format"], "chrome-json", "format")
    facts = {row["item"]: row["value"] for row in rows("info", index)}
    if slices is not None:
        require("framework" not in facts, "a framework of which nothing is known")


def check_made(folder, document, words, advice, strict, slices=None):
    path = folder / "trace.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    check(folder, path, words, advice, strict, slices)


def slices_of(document):
    events = document if isinstance(document, list) else document["traceEvents"]
    return sum(isinstance(event, dict) and event.get("ph") == "X" for event in events)


def check_device(folder, document):
    path = folder / "trace.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    result = run("trace-ingest", "--strict", "-o", folder / "index.tracedb", path)
    require(NO_DEVICE not in result.stderr, result.stderr)
    equal(set(issues_of(folder / "index.tracedb")) & {"no_events", "no_device_events", "foreign_format"}, set(), "issues")


def check_unread(folder):
    """Events of the device that are damaged are no recording of the host alone."""
    (folder / "trace.json").write_text(json.dumps(trace(x("gemm", "kernel", ts="soon"), x("aten::mm", "cpu_op"))), encoding="utf-8")
    said = run("trace-query", "kernels", ingest(folder / "trace.json", folder / "index.tracedb")).stderr.splitlines()[0]
    require("no event of the device could be read" in said and "issues" in said, said)


def check_compare(folder):
    """The page of a comparison says it first, too."""
    for name, document in (("a.json", DEVICE["kernel"]), ("b.json", FOREIGN["viztracer"][0])):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    text = run("trace-query", "compare", "-q", folder / "a.json", folder / "b.json").stdout
    require("VizTracer" in text.split("\n\n")[0].replace("\n", " "), text)


def check_real(folder, name, words):
    check(folder, real_trace(name), words, "", 4)


def check_real_host(folder, name):
    check(folder, real_trace(f"kineto/{name}.json.gz"), NO_DEVICE, REAL_HOST[name], 0)


def check_protobuf(folder, name, content, word):
    """gzip around what is no trace of Perfetto."""
    (folder / name).write_bytes(gzip.compress(content + bytes(40)))
    result = run("trace-ingest", "-o", folder / "index.tracedb", folder / name, code=3)
    require(word in result.stderr and "Perfetto" not in result.stderr, result.stderr)


def check_steps(folder):
    """`ls` counts the steps that the host marks, as `phases` does."""
    marked = [x(f"ProfilerStep#{i}", "user_annotation", ts=100 * i, dur=90) for i in range(5)]
    for name, events, steps in (("marked", marked, 5), ("not marked", [], 0)):
        path = folder / f"{name}.json"
        path.write_text(json.dumps(trace(x("aten::mm", "cpu_op"), *events, schemaVersion=1)))
        run("trace-ingest", "-q", path)
        row, = rows("ls", path)
        phases = rows("phases", path)
        equal((row["steps"], sum(phase["steps"] or 0 for phase in phases)), (steps, steps), f"{name}: steps of ls and of phases")


def main(cases, _):
    for name, (document, words, advice) in FOREIGN.items():
        cases.run_apart(name, check_made, document, words, advice, 4, slices_of(document))
    for name, (document, words, advice) in HOST.items():
        cases.run_apart(name, check_made, document, words, advice, 0)
    for name, document in DEVICE.items():
        cases.run_apart(name, check_device, document)
    cases.each_apart((check_unread, check_compare, check_steps))
    for name, (content, word) in PROTOBUF.items():
        cases.run_apart(name, check_protobuf, name, content, word)
    for name, words in REAL.items():
        cases.run_apart(name, check_real, name, words)
    for name in REAL_HOST:
        cases.run_apart(name, check_real_host, name)
