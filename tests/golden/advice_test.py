"""What is said of traces of every format: advice asks for nothing that the format cannot hold, kernels belong to calls of
their own process, causes of idle time are named where the trace has them, and cycles are no microseconds."""
import html
import json
import re
from pathlib import Path

from compare_cases import compare
from made_events import call, event, index_of, kernel
from trace_cases import TRACES, as_json, equal, ingest, make_trace, open_index, require, run, skip_without_traces

# Words of PyTorch's profiler, and the formats that can hold what they ask for.
ADVICE = {"with_stack": {"kineto", "ascend-trace-view", "ascend-db"}, "--capture": {"kineto"}, "torch.cuda": {"kineto"},
          "record_shapes": {"kineto"}, "profile_memory": {"kineto", "ascend-trace-view"}, "profiler_metrics": {"kineto"},
          "start the profiler before the work": {"kineto"}, "record CPU activities": {"kineto"},
          "PyTorch's profiler": {"kineto"}, "record python stacks": {"kineto", "ascend-trace-view", "ascend-db"}}
REPORTS = ("info", "warnings", "phases", "layers", "timeline", "gaps", "stacks", "comms", "kernels", "memory", "counters", "operators")


def traces():
    for folder in ("kineto", "other", "ascend", "aie", "xla"):
        for path in sorted((TRACES / folder).rglob("*")):
            if path.is_file() and path.suffix in (".json", ".gz", ".sqlite", ".rpd", ".csv", ".db"):
                yield path


def rows(report, index, *options):
    document = as_json(report, *options, index)
    return document["rows"] if "rows" in document else document["sections"][0]["rows"]


def shown(report, index):
    result = run("trace-query", report, "--width", 0, index, check=False)
    return result.stdout + result.stderr


def check_advice(trace, index):
    if run("trace-ingest", "-q", "--force", "-o", index, trace, check=False).returncode != 0:
        return 0  # no trace: a table beside one
    name = dict(open_index(index).execute("SELECT key, value FROM meta"))["format"]
    page = run("trace-query", "report", "-q", index).stdout
    text = "\n".join([*(shown(report, index) for report in REPORTS), html.unescape(page)])
    for words, formats in ADVICE.items():
        require(name in formats or name == "chrome-json" or words not in text, f"{name}: {words}")
    return 1


def check_processes(index):
    """Each kernel of Nsight Systems is launched by the process that its row names, or by none."""
    database = open_index(index)
    other = database.execute("""SELECT count(*) FROM kernel k JOIN stream s ON s.id = k.stream_id JOIN runtime_call r ON r.id = k.launch_id
        JOIN thread t ON t.id = r.thread_id WHERE t.process_id <> (SELECT t2.process_id FROM kernel k2 JOIN stream s2 ON s2.id = k2.stream_id
        JOIN runtime_call r2 ON r2.id = k2.launch_id JOIN thread t2 ON t2.id = r2.thread_id WHERE s2.device_id = s.device_id
        GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)""").fetchone()[0]
    equal([other, issues(index).get("launch_after_kernel", 0)], [0, 0], "kernels of another process, launched after they began")


def issues(index):
    return dict(open_index(index).execute("SELECT kind, count FROM issue"))


def check_before_first_kernel(index):
    """98 % of the idle time is one gap before the first kernel: no host holds the kernels up by it."""
    found = {row["code"]: row["share_pct"] for row in rows("warnings", index)}
    first, last = open_index(index).execute("SELECT min(ts), max(ts + dur) FROM kernel").fetchone()
    waits = sum(max(0, min(row["ts"] + row["dur"], last) - max(row["ts"], first)) for row in rows("gaps", index, "--each")
                if row["ts"] is not None and row["launch_cause"] == "host_wait")
    require(abs(found.get("host_bound", 0) - 100 * waits / (last - first)) < 1, f"{found} {waits} of {last - first}")


def check_tiles(index, stalled):
    """Gaps of a tile are at what stalled it; times are whole numbers of cycles."""
    figures = rows("timeline", index)[0]
    equal(figures["host"], stalled, "what stalled the tile")
    for report in ("timeline", "gaps", "kernels", "info"):
        text = run("trace-query", report, "-q", index).stdout
        require(not re.search(r" us\b", text) and "cycles" in text, text)
    for words in (("report",), ("compare", index), ("compare", index, "--section", "ledger")):
        text = run("trace-query", words[0], "-q", index, *words[1:]).stdout.partition("<script")[0]
        require(not re.search(r"[\d(] ?[num]s\b", text) and "cycles" in text, f"{words}: {text}")
    equal(rows("ls", index)[0]["gpu_time"], None, "time of a trace that counts cycles")


def check_no_stalls(folder):
    """A slice that is called a stall says nothing of what the host did, but on the tiles of AI Engines."""
    events = [kernel("gemm", 0, 10), kernel("gemm", 100, 10), event("mine", "frontend stall", 12, 80, 5, 5)]
    figures = rows("timeline", index_of(folder / "stall.json", events, schemaVersion=1))[0]
    equal((figures["idle"] > 0, figures["host"]), (True, None), "where the host was")


def check_no_graphs(folder):
    """Where no graph was replayed, none is blamed for kernels without a stack."""
    path = make_trace(folder / "stacks.json", "--layers", 2, "--mix", "D", "--steps", 4, "--python-stacks", "on", "--graphs", "off")
    document = json.loads(path.read_text(encoding="utf-8"))
    calls = [event for event in document["traceEvents"] if event.get("cat") == "python_function"]
    late = sorted(event["ts"] for event in calls)[len(calls) // 2]
    document["traceEvents"] = [event for event in document["traceEvents"] if event.get("cat") != "python_function" or
                               event["ts"] + event["dur"] < late]
    path.write_text(json.dumps(document), encoding="utf-8")
    said = {row["code"]: row["suggestion"] for row in rows("warnings", ingest(path, folder / "stacks.tracedb"))}
    equal(said.get("no_stack"), "launched by a thread without Python calls", "why kernels have no stack")


def check_cut(folder):
    """What is missing with the end of a trace may have been recorded: nothing asks for it."""
    path = folder / "cut.json"
    path.write_text(json.dumps({"traceEvents": [kernel("gemm", ts, 10) for ts in range(0, 2000, 20)]})[:-3], encoding="utf-8")
    said = {row["code"]: row["suggestion"] for row in rows("warnings", ingest(path, folder / "cut.tracedb"))}
    equal({code: text for code, text in said.items() if code.startswith("no_") and code != "no_layer"},
          dict.fromkeys(("no_launch", "no_operator", "no_stack", "no_step"), "the missing part of the trace may tell it"), "advice")


def check_lost_launches(folder):
    """A kernel whose operator is recorded was not launched before the recording."""
    def said(operators):
        events = []
        for i in range(100):
            at = 1000 * i
            events += [event("user_annotation", f"ProfilerStep#{i}", at, 900)] + operators * [event("cpu_op", "aten::mm", at + 10, 60, **{"External id": i + 1001})]
            events += [call("cudaLaunchKernel", at + 20, 5, i + 1)] if i >= 40 else []
            events.append(kernel("gemm", at + 200, 500, correlation=i + 1, **({"External id": i + 1001} if operators else {})))
        return {row["code"]: row["count"] for row in rows("warnings", index_of(folder / f"operators{operators}.json", events))}

    for operators, code, other in ((1, "no_launch", "before_recording"), (0, "before_recording", "no_launch")):
        found = said(operators)
        equal((found.get(code), other in found), (40, False), f"of {operators} operators a launch: {found}")


def check_unlinked(folder):
    """What is said of kernels without a launch, an operator or a stack is of these kernels."""
    def said(name, events, **head):
        return {row["code"]: (row["finding"], row["suggestion"]) for row in rows("warnings", index_of(folder / f"{name}.json", events, **head))}

    # Two processes launch under the same correlations: the calls are there, and only the trace of each by itself tells which is whose.
    both = [item | {"pid": pid} for pid in (11, 12) for i in range(1, 21) for item in (event("cpu_op", "aten::mm", 100 * i, 60), call("cudaLaunchKernel", 100 * i + 5, 5, i))]
    found = said("merged", both + [kernel("gemm", 100 * i + 50 + more, 20, correlation=i) for i in range(1, 21) for more in (0, 25)])
    require("not told apart" in found["no_launch"][0] and "ingest the trace of each by itself" in found["no_operator"][1], found)
    require("kernel_without_launch" not in issues(folder / "merged.tracedb"), "the launches are in the trace")
    # Some launches are lost, whose kernels have operators by their numbers; some kernels were launched before.
    events = [kernel("gemm", 10 * i, 9, correlation=i) for i in range(20)]
    for i in range(20, 120):
        at = 1000 * i
        events += [event("cpu_op", "aten::mm", at, 60, **{"External id": i + 1001}), event("python_function", "app.py(3): run", at - 1, 70),
                   kernel("gemm", at + 200, 9, correlation=i, **{"External id": i + 1001})]
        events += [call("cudaLaunchKernel", at + 20, 5, i)] if i == 20 or i % 5 else []
    found = said("lost", events, with_stack=1)
    require("operator" not in found["no_launch"][1] and "record CPU" not in found["no_launch"][1], found)
    equal(found["no_stack"][1], "launched before the recording began or by calls that are not in the trace", "why kernels have no stack")
    # A few calls of two processes say nothing of those that are not there.
    found = said("few", both[:4] + both[40:44] + [kernel("gemm", 100 * i + 50, 20, correlation=i + 500 * (i > 2)) for i in range(1, 20)])
    require("not in the trace" in found["no_launch"][0] and "by itself" not in found["no_operator"][1], found)
    # The same events twice, on one stream or on two that begin together; not twins of coarse times, or of a graph.
    pairs = [item for i in range(40) for item in (call("cudaLaunchKernel", 10 * i, 1, i + 1), kernel("gemm", 10 * (i // 2) + 5, 4, 7 + i % 2, correlation=i + 1))]
    twins = [item | {"tid": 7} if item["cat"] == "kernel" else item for item in pairs]
    replay = [call("cudaGraphLaunch", 0, 1, 1)] + [kernel("gemm", 5 + i // 2, 1, correlation=1, **{"graph node id": i}) for i in range(40)]
    for name, doubled, told in (("twice", events, True), ("streams", pairs, True), ("twins", twins, False), ("nodes", replay, False)):
        found = said(name, doubled * (2 if told else 1))
        equal(("repeated" in found, "lost_kernels" in found), (told, False), f"{name}: {found}")
    # What Kineto logged of losses, and only that.
    for words, told in (("WARNING:2026 CuptiActivityApi.cpp:1] Dropped 12 activity records", True), ("Event buffer overflow: 1234 events lost", True),
                        ("0 records dropped", False), ("No events were dropped", False), ("dropout layers: 5, backend dropped to eager", False)):
        for logged in ([words], words):
            equal("dropped_events" in said("logged", events, WARNING=logged), told, words)


def check_replays(folder):
    """Who records no launches does not launch kernels one by one."""
    def made(launch):
        events = [kernel("gemm", 100 * i + 10, 60, correlation=i + 1) for i in range(200)]
        return index_of(folder / f"by{launch}.json", events + [call(launch, 100 * i, 5, i + 1) for i in range(200) if launch])

    for launch, told in (("cudaLaunchKernel", True), ("", False)):
        found = {row["code"] for row in compare(made("cudaGraphLaunch"), made(launch), "--section", "warnings")["warnings"]}
        equal("graphs" in found, told, f"graphs beside launches by '{launch}'")


def check_lost_kernels(folder):
    """Launches without a kernel among others are told, but for those of captures and of host functions."""
    def made(name, launch, lost=(), more=()):
        events = [call(launch, 100 * i, 5, i + 1) for i in range(200)]
        return index_of(folder / f"{name}.json", [*events, *more, *(kernel("gemm", 100 * i + 10, 60, correlation=i + 1) for i in range(200) if i not in lost)])

    capture = [call("cudaStreamBeginCapture", 4990, 5, 1001), call("cudaStreamEndCapture", 9990, 5, 1002)]
    hosts = [call("cudaLaunchHostFunc", 100 * i + 50, 5, 1001 + i) for i in range(200)]
    sides = {name: made(name, *how) for name, how in {
        "some": ("cudaLaunchKernel", range(5, 200, 10)), "few": ("cudaLaunchKernel", (9, 99)), "captured": ("cudaLaunchKernel", range(50, 100), capture),
        "hosts": ("cudaLaunchKernel", (), hosts), "last": ("cudaLaunchKernel", range(150, 200)), "graphs": ("cudaGraphLaunch",)}.items()}
    for name, index in sides.items():
        found = {row["code"]: (row["share_pct"], row["count"]) for row in rows("warnings", index)}.get("lost_kernels")
        equal(found, {"some": (10, 20), "last": (25, 50)}.get(name), name)
    for name, told in (("some", True), ("few", False)):
        found = {row["code"] for row in compare(sides["hosts"], sides[name], "--section", "warnings")["warnings"]}
        equal("lost_kernels" in found, told, f"a comparison with {name}")


def check_types(folder):
    """Operators of the same shapes in another type are told, and stand beside each other."""
    def made(*types):
        events = []
        for i, of in enumerate(types * 12):
            at = 1000 * i
            shown = {"Input Dims": [[64, 64], [64, 64]], "Input type": of and [of, of]}
            events += [event("user_annotation", f"ProfilerStep#{i}", at, 900), call("cudaLaunchKernel", at + 20, 5, i + 1),
                       event("cpu_op", "aten::mm", at + 10, 60, **{key: value for key, value in shown.items() if value}),
                       kernel("gemm", at + 200, 500, correlation=i + 1)]
        return index_of(folder / f"types{len(list(folder.iterdir()))}.json", events)

    half, eight = "c10::Half", "c10::Float8_e4m3fn"
    for a, b, pair in (([half], [eight], "Half -> Float8_e4m3fn"), ([half, half, eight], [half], None), ([half], [None], None), ([half], [half], None)):
        found = compare(made(*a), made(*b), "--section", "warnings,roofline")
        told = [row["text"].partition(": ")[2] for row in found["warnings"] if row["code"] == "types"]
        equal(told, ["most work of linear layer operators is in Half in the baseline, in Float8_e4m3fn in the candidate"] if pair else [], f"{a}, {b}")
        equal([row["types"] for row in found["roofline"] if "->" in row["types"]], [pair] if pair else [], f"{a}, {b}: rows")


def check_cut_before_kernels(folder):
    """Nor do kernels, of which the missing part may have some."""
    path = folder / "early.json"
    path.write_text(json.dumps({"traceEvents": [event("cpu_op", "aten::mm", ts, 10) for ts in range(0, 2000, 20)]})[:-3], encoding="utf-8")
    said = {row["code"]: row["suggestion"] for row in rows("warnings", ingest(path, folder / "early.tracedb"))}
    equal(said.get("no_kernels"), "they may be in the part that is missing", "advice")


def check_slowed(folder):
    """What recording a few calls takes is no reason of long waits; nor are stacks of which there are none, but for those left out."""
    def said(calls, *options, **head):
        events = []
        for step in range(6):
            begin = 100000 * step
            events += [event("user_annotation", f"ProfilerStep#{step}", begin, 100000), call("cudaLaunchKernel", begin + 60000, 5, step + 1),
                       kernel("gemm", begin + 60010, 40000, correlation=step + 1)]
            events += [event("cpu_op", "aten::mm", begin + 1000 + i * 50000 // calls, 1, **{"Input Dims": [[4, 8], [8, 2]]}) for i in range(calls)]
        return run("trace-query", "report", "--format", "table", index_of(folder / f"slowed{calls}.json", events, *options, record_shapes=1, **head)).stdout

    require("profiler's" not in said(100), said(100))
    require("record once without shapes" in " ".join(said(5000).split()), said(5000))
    require("recording python stacks" not in said(100, with_stack=1), said(100, with_stack=1))
    left_out = said(5000, "--no-stacks", with_stack=1)
    require("record once without python stacks and shapes" in " ".join(left_out.split()), left_out)


def check_units(folder):
    """Repeating units have no verdict, which is said once, and a gate on them judges nothing."""
    sides = [ingest(TRACES / f"other/nsys_2gpu_{name}.sqlite", folder / f"{name}.tracedb") for name in ("before", "after")]
    text = " ".join(run("trace-query", "compare", "-q", *sides).stdout.split())
    require(text.startswith("unit: no usual step to compare: what repeats is no step. Verdict"), text)
    for options, code in (((), 1), (("--gate-inconclusive", "pass"), 0)):
        done = run("trace-query", "compare", "-q", *sides, "--gate", 5, *options, check=False)
        equal((done.returncode, "could judge nothing" in done.stdout), (code, code == 1), done.stdout)


def check_lost_ends(index):
    vector = {row["tile"]: row["vector_pct"] for row in rows("aie", index, "--section", "tiles")}
    equal(set(vector.values()), {None}, "share of an activity of which every end is lost")
    begins, = (row for row in rows("info", index) if row["item"] == "begins at")
    require(str(begins["value"]).endswith(" cycles"), f"begins at {begins}")


def check_operators(index):
    """Kernels without a launch have their operators by flows: nothing says that they have none."""
    said = {row["code"]: row["suggestion"] for row in rows("warnings", index)}
    require("no_operator" not in said and "operator" not in said["no_launch"], said)


def check_layers(index):
    """A forward and a backward pass of 28 layers are not 42 and 14 layers."""
    said = {row["item"]: row["value"] for row in rows("info", index)}
    equal(said["layers"], "not known", "layers of training without host calls")


def check_truth(folder):
    """What make-trace planted lies beside its trace and is no trace."""
    make_trace(folder / "made" / "a.json", "--truth", folder / "made" / "a.truth.json")
    require((folder / "made" / "a.truth.json").exists(), "no truth")
    equal([Path(row["trace"]).name for row in rows("ls", folder / "made")], ["a.json"], "traces of the folder")


def check_bandwidths(index, rated):
    """A note about bandwidths stands under a table that has some."""
    equal(["bandwidths" in shown("comms", index), any(row["alg_gb_per_s"] for row in rows("comms", index))], [rated] * 2, "bandwidths")


def check_vendor_folder(folder):
    """The folder of Ascend's profiler names the rank of the trace in it."""
    for rank in (0, 1):
        output = folder / f"host_{rank + 10}_2024_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        (output / "trace_view.json").write_bytes((TRACES / f"ascend/level1_rank{rank}_trace_view.json").read_bytes())
        index = ingest(output / "trace_view.json", output / "trace_view.json.tracedb")
        equal(dict(open_index(index).execute("SELECT key, value FROM meta"))["rank"], str(rank), "rank")


def main(cases, folder):
    (folder / "made").mkdir()
    cases.each((check_truth, check_no_stalls, check_no_graphs, check_cut, check_cut_before_kernels, check_lost_launches, check_unlinked, check_replays, check_lost_kernels, check_types, check_slowed), folder)
    if not skip_without_traces(cases, TRACES / "other"):
        for trace in traces():
            cases.run(f"advice: {trace.name}", check_advice, trace, folder / "advice.tracedb")
        def indexed(name):
            return ingest(TRACES / name, folder / "one.tracedb", "--force")
        for name in ("before", "after"):
            cases.run(f"processes: {name}", check_processes, indexed(f"other/nsys_2gpu_{name}.sqlite"))
        cases.run("repeating units", check_units, folder)
        cases.run("before the first kernel", check_before_first_kernel, indexed("other/rpd_matmul.rpd"))
        cases.run("no bandwidths", check_bandwidths, indexed("other/nsys_2gpu_after.sqlite"), False)
        cases.run("bandwidths", check_bandwidths, indexed("kineto/nccl_args_a100.json.gz"), True)
        cases.run("tiles", check_tiles, indexed("aie/npu_matmul_256x768x768.json"), "LOCK_STALL")
        cases.run("lost ends", check_lost_ends, indexed("aie/old_trace_mm.json"))
        cases.run("operators by flows", check_operators, indexed("ascend/advisor_trace_view.json"))
        cases.run("layers of training", check_layers, indexed("ascend/level2_kernel_details.csv"))
        cases.run("folders of Ascend's profiler", check_vendor_folder, folder)
