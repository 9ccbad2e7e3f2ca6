"""Profiles of XLA: a real run in both forms against its truth, and generated ones of NVIDIA's GPUs and of TPUs, whole and damaged."""
import json
import random
import shutil

from trace_cases import TRACES, Skip, equal, ingest, refused, require, rows, run, sql, verify_index
from xplane import Plane, gpu, json_events, message, metadata, program, space, tpu

RUN = TRACES / "xla"
GOLDEN = TRACES.parent / "golden/xla/jax_conv_mi300.json"


def table(index, statement):
    return [tuple(row.values()) for row in sql(index, statement)]


def real(folder, ending):
    trace = RUN / f"jax_conv_mi300.{ending}"
    if not trace.is_file() or not GOLDEN.is_file():
        raise Skip(f"{trace.name} is not here")
    index = folder / f"{ending}.tracedb"
    verify_index(ingest(trace, index, "--force"))
    return index, json.loads(GOLDEN.read_text())


def check_sums_of_a_real_run(folder):
    for ending in ("xplane.pb", "trace.json.gz"):
        index, truth = real(folder, ending)
        equal(table(index, "SELECT name, count(*) AS n, sum(dur) AS ns FROM kernels GROUP BY name ORDER BY name"),
              sorted((name, own["count"], own["total_rounded_ns"]) for name, own in truth["kernels"]["by_name"].items()), "kernels by name")
        equal(sorted(table(index, "SELECT hlo_module, hlo_op, name, count(*) AS n, sum(dur) AS ns FROM kernels GROUP BY 1, 2, 3")),
              sorted((own["hlo_module"], own["hlo_op"], own["kernel"], own["count"], own["total_rounded_ns"])
                     for own in truth["kernels"]["by_hlo_op"]), "kernels by HLO operation")
        streams = {(device["ordinal"], line["stream"]): (line["kernels"]["count"] + line["memcpys"]["count"], line["total_ps"] // 1000)
                   for device in truth["devices"] for line in device.get("lines", []) if line["events"]}
        found = table(index, "SELECT device, stream, count(*) AS n, sum(dur) AS ns FROM (SELECT device, stream, dur FROM kernels UNION ALL "
                             "SELECT device, stream, dur FROM memcpys) GROUP BY 1, 2")
        equal({row[:2]: row[2:] for row in found}, streams, "events by stream")
        equal(table(index, "SELECT name, count(*) AS n, sum(bytes) AS b, sum(dur) AS ns FROM memcpys GROUP BY 1"),
              [(name.split()[1], own["count"], own["bytes"], own["total_ps"] // 1000)
               for name, own in truth["memcpys"]["by_device_and_name"].items()], "copies")


def check_links_of_a_real_run(folder):
    index, truth = real(folder, "xplane.pb")
    counts = table(index, "SELECT count(launch_id) AS l, count(CASE WHEN a LIKE 'PjitFunction(%' THEN 1 END) AS p FROM "
                          "(SELECT launch_id, (SELECT value FROM annotation n JOIN string s ON s.id = n.name_id WHERE n.id = annotation_id) AS a "
                          "FROM kernel UNION ALL SELECT launch_id, (SELECT value FROM annotation n JOIN string s ON s.id = n.name_id "
                          "WHERE n.id = annotation_id) FROM memory_op)")
    # Copies are asked for by Python before the function runs.
    equal(counts[0][0], truth["links_to_the_user"]["with_launch"], "device events with a call")
    framed = table(index, "SELECT count(stack_id) AS n FROM memory_op")[0][0]
    equal(framed, truth["links_to_the_user"]["reaching_a_python_frame"], "launches that reach Python")
    equal(table(index, "SELECT count(*) AS n FROM kernels WHERE annotation LIKE 'PjitFunction(%'"), [(25,)], "kernels in a function")
    for op in truth["hlo_modules"][-1]["ops_of_kernels"]:
        own = truth["hlo_modules"][-1]["ops_of_kernels"][op]
        found = table(index, f"SELECT DISTINCT hlo_opcode, hlo_shape, cpu_op FROM kernels WHERE hlo_op = '{op}'")
        equal(found, [(own["opcode"], own["shape"], own["op_name"])], op)
        frames = table(index, "WITH RECURSIVE up(id, parent_id, frame_id) AS (SELECT id, parent_id, frame_id FROM stack WHERE id = "
                              f"(SELECT stack_id FROM kernels WHERE hlo_op = '{op}' LIMIT 1) UNION ALL SELECT b.id, b.parent_id, b.frame_id "
                              "FROM up JOIN stack b ON b.id = up.parent_id) SELECT s.value FROM up JOIN frame f ON f.id = up.frame_id "
                              "JOIN string s ON s.id = f.name_id")
        equal([text.replace("(", ":", 1).replace("): ", " ", 1) for (text,) in frames], own["stack"], f"source of {op}")
    configs = table(index, "SELECT grid, block, registers, count(*) AS n FROM kernels GROUP BY 1, 2, 3 ORDER BY 1")
    equal(configs, sorted((own["grid"], own["block"], None, own["count"]) for own in truth["kernels"]["launch_configs"]), "configurations")
    equal(table(index, "SELECT count(*) AS n FROM python_calls"), [(truth["host"]["python_calls"],)], "Python calls")


def check_forms_of_a_real_run_are_equal(folder):
    ask = ("SELECT k.correlation, n.name, k.dur, k.hlo_op, r.dur AS called, s.value AS call FROM kernels k JOIN kernel_name n ON n.name = "
           "k.name LEFT JOIN runtime_call r ON r.id = k.launch_id LEFT JOIN string s ON s.id = r.name_id GROUP BY k.id ORDER BY 1")
    forms = [real(folder, ending)[0] for ending in ("xplane.pb", "trace.json.gz")]
    equal(*(table(index, ask) for index in forms), "kernels and their calls")
    require("in its only run" in run("trace-query", "trend", *forms).stdout, "two forms of one run are two runs in time")
    # The other form counts only with an index of its own.
    for ending in ("xplane.pb", "trace.json.gz"):
        (folder / "forms").mkdir(exist_ok=True)
        shutil.copy(RUN / f"jax_conv_mi300.{ending}", folder / "forms")
    ingest(folder / "forms/jax_conv_mi300.trace.json.gz", folder / "forms/jax_conv_mi300.trace.json.gz.tracedb")
    require("in its only run" in run("trace-query", "trend", folder / "forms").stdout, "a form without an index takes the other's place")
    # The protobuf alone has shapes, from the program: recording them slowed no host.
    require("slows the host" not in run("trace-query", "compare", *forms).stdout, "two forms of one run are said to be recorded unlike")


def made(folder, planes, name="host.xplane.pb", **more):
    trace, index = folder / name, folder / (name + ".tracedb")
    trace.write_bytes(space(planes, **more))
    verify_index(ingest(trace, index, "--force"))
    return index


def check_gpu(folder):
    index = made(folder, gpu(), f2="3 events were dropped", f3="a warning", f4=["one", "two"])
    equal(table(index, "SELECT name, hlo_op, op, kind, pass, count(*) AS n, sum(dur) AS ns FROM kernels GROUP BY name, hlo_op ORDER BY hlo_op, name"), [
        ("graph_kernel", None, "other", "compute", "forward", 2, 2000),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "all-reduce-start.5", "communication", "comm", "forward", 2, 3000),
        ("sm90_xmma_gemm_bf16", "cublas-gemm.2", "dense_gemm", "compute", "forward", 2, 3000),
        ("sm90_xmma_gemm_bf16", "cublas-gemm.4", "dense_gemm", "compute", "backward", 2, 3000),
        ("loop_add_fusion", "loop_add_fusion.6", "elementwise", "compute", "forward", 2, 3000),
        ("loop_convert_fusion", "loop_convert_fusion.1", "copy", "compute", "forward", 2, 3000),
        ("loop_convert_fusion", "loop_convert_fusion.3", "copy", "compute", "forward", 2, 3000)], "operations")
    equal(table(index, "SELECT DISTINCT registers, shared_memory, grid, block, theoretical_occupancy_pct FROM kernels WHERE grid IS NOT NULL"),
          [(38, 4096, "160,1,1", "1024,1,1", 50.0)], "configuration")
    planes = gpu()
    planes[1].line(15, "Stream #15(Compute)", [(f"k{percent}", place * 1_000_000, 1000, {"kernel_details": "regs:8 grid:1,1,1 block:64,1,1",
                                                                                       "theoretical_occupancy_pct": percent})
                                               for place, percent in enumerate((37.5, 0.0))])
    equal(table(made(folder, planes, "occupancy.xplane.pb"), "SELECT name, theoretical_occupancy_pct FROM kernels WHERE stream = 15 ORDER BY name"),
          [("k0.0", None), ("k37.5", 37.5)], "occupancy as a stat")
    equal(table(index, "SELECT step, annotation, module, count(*) AS n FROM kernels GROUP BY 1, 2, 3 ORDER BY 1, 3"),
          [(step, "PjitFunction(f)", module, n) for step in (0, 1) for module, n in ((None, 3), ("mlp", 4))], "step, function and module")
    equal(table(index, "SELECT name FROM steps ORDER BY step"), [("train 0",), ("train 1",)], "steps")
    issues = dict(table(index, "SELECT kind, sample FROM issue"))
    equal({kind: issues.get(kind) for kind in ("dropped_events", "profiler_message", "kernel_without_hlo")},
          {"dropped_events": "3 events were dropped", "profiler_message": "a warning", "kernel_without_hlo": "graph_kernel"}, "issues")
    equal(table(index, "SELECT value FROM meta WHERE key IN ('trace.hostnames', 'base_time_ns', 'vendor') ORDER BY key"),
          [(str(1_700_000_000_000_000_000 + 1000),), ('["one","two"]',), ("nvidia",)], "facts")
    hlo = rows("ops", index, "--by", "hlo")
    equal({row["hlo_op"]: (row["opcode"], row["target"], row["shape"], row["instances"]) for row in hlo}["cublas-gemm.2"],
          ("custom-call", "__cublas$gemm", "f32[8,128]", 2), "ops --by hlo")
    # The same kernel of two operations, or of two shapes, is not one.
    equal(len([row for row in rows("kernels", index) if row["name"].startswith("loop_convert_fusion")]), 2, "rows of kernels")
    equal(table(made(folder, gpu(refs=False), "texts.xplane.pb"), "SELECT name, hlo_op, dur, step FROM kernels ORDER BY id"),
          table(index, "SELECT name, hlo_op, dur, step FROM kernels ORDER BY id"), "refs and texts")
    apart = made(folder, gpu(apart=True), "apart.xplane.pb")
    ask = ("SELECT k.name, k.step, k.annotation, k.cpu_op, o.dur AS d FROM kernels k JOIN kernel r ON r.id = k.id LEFT JOIN cpu_op o ON o.id = "
           "r.cpu_op_id WHERE k.hlo_op IS NOT NULL ORDER BY k.id")
    equal([(*row[:4], row[4] + 500) for row in table(index, ask)], table(apart, ask), "calls on a line of their own")
    said = run("trace-query", "compare", index, index).stdout
    require("7 of 7 aligned kernels" in " ".join(said.split()) and "2 of 2 layers the same" in said, f"compared with itself: {said}")


def check_many_stacks(folder):
    """Events are stored by the thousand: each keeps its own call path."""
    planes = gpu()
    planes[1].line(16, "Stream #16(Compute)", [(f"k{place % 5}", place * 2_000_000, 1_000_000, {
        "correlation_id": 1000 + place, "hlo_op": f"op.{place // 1000}", "hlo_module": "jit_f",
        "name": f"jit(f)/scope_{place // 1000}/mul"}) for place in range(12_000)])
    planes[2].line(17, "calls", [("cuLaunchKernel", place * 2_000_000, 1_000, {"correlation_id": 1000 + place}) for place in range(12_000)])
    index = made(folder, planes, "stacks.xplane.pb")
    found = table(index, "SELECT DISTINCT k.hlo_op, s.value FROM kernels k JOIN kernel r ON r.id = k.id JOIN stack b ON b.id = r.stack_id "
                         "JOIN frame f ON f.id = b.frame_id JOIN string s ON s.id = f.name_id WHERE k.stream = 16 ORDER BY 2")
    equal(sorted(found), sorted((f"op.{i}", f"nn.Module: scope_{i}") for i in range(12)), "paths")


def check_tpu(folder):
    index = made(folder, tpu())
    equal(table(index, "SELECT hlo_op, hlo_module, op, kind, count(*) AS n, sum(dur) AS ns FROM kernels GROUP BY 1 ORDER BY 1"), [
        ("all-gather-start.3", "jit_f", "communication", "comm", 1, 30_000),
        ("fusion.2", "jit_f", "dense_gemm", "compute", 6, 2 * (20_001 + 10_000 + 5_000)),
        ("while.1", "jit_f", "other", "compute", 6, 2 * rounded(50_000_000 - 30_000_500))], "own times")
    equal(table(index, "SELECT name, bytes FROM memcpys"), [("copy-start.4", 4096)], "asynchronous copies")
    equal(table(index, "SELECT step, count(*) AS n FROM kernels WHERE stream = 'XLA Ops' GROUP BY 1"), [(0, 6), (1, 6)], "runs of the program are the steps")
    equal(table(index, "SELECT count(launch_id) AS l, count(cpu_op_id) AS o FROM kernel"), [(13, 13)], "links")
    # The time of a loop is in pieces around what runs in it, all of one operator.
    equal(table(index, "SELECT ts, dur FROM kernels WHERE hlo_op = 'while.1' AND step = 0 ORDER BY ts"),
          [(10_000, 2_000), (32_001, 8_000), (50_000, 10_000)], "pieces of a loop")
    equal(table(index, "SELECT count(DISTINCT cpu_op_id) FROM kernel k JOIN kernels v USING (id) WHERE hlo_op = 'while.1'"), [(2,)], "loops")
    equal({(row["host_self"], row["host_total"]) for row in rows("operators", index) if row["calls"]}, {(0, 0)}, "time on the host of what runs on the device")
    equal({row["operators"] for row in rows("breakdown", index)}, {0}, "the same")
    # What is in flight keeps no device busy.
    equal([(row["computing"], row["exposed_comm"], row["copy"]) for row in rows("breakdown", index)], [(55_000, 0, 0)] * 2, "busy")
    equal({row["dur"] for row in rows("gaps", index, "--each") if row["cause"] != "[between steps]"}, {10_000}, "idle")
    equal({row["gpu_busy"] for row in rows("steps", index)}, {55_000}, "busy time of steps")
    found = {row["hlo_op"]: (row["category"], row["flops"], row["bytes_accessed"], row["shape"], row["op_name"]) for row in rows("ops", index, "--by", "hlo")}
    equal(found["fusion.2"], ("convolution fusion", 2048, 512, "f32[8,128]", "jit(f)/layers_0/dot_general"), "what XLA says")
    equal(table(index, "SELECT DISTINCT module, input_dims FROM kernels WHERE hlo_op = 'fusion.2'"), [("layers_0", "[[64]]")], "layers, operands")
    # A collective around an operation stays one, for others have one there, too.
    around = Plane("/device:TPU:0").line(2, "XLA Modules", [("jit_f(11)", 0, 90_000_000, {})])
    for name, code in (("all-reduce.1", "all-reduce"), ("fusion.2", "fusion")):
        around.named(text_of(name, code), name)
    around.line(3, "XLA Ops", [(text_of("all-reduce.1", "all-reduce"), 0, 50_000_000, {}), (text_of("fusion.2", "fusion"), 10_000_000, 20_000_000, {})])
    equal(table(made(folder, [around], "around.xplane.pb"), "SELECT hlo_op, ts, dur FROM kernels ORDER BY ts"), [("all-reduce.1", 0, 30_000), ("fusion.2", 10_000, 20_000)], "a collective")
    # With a line of steps they are those.
    planes = tpu()
    planes[1].line(1, "Steps", [("41", 0, 95_000_000, {}), ("42", 100_000_000, 90_000_000, {})])
    equal(table(made(folder, planes), "SELECT name FROM steps ORDER BY step"), [("step 41",), ("step 42",)], "steps")


def check_work_of_a_tpu(folder):
    """By category and path where opcode and name do not say it: a product of matrices is a convolution to its compiler."""
    cases = [("fusion.2", "fusion", "convolution fusion", "jit(f)/layers_0/dot_general:", "dense_gemm"),
             ("fusion.3", "fusion", "convolution fusion", "jit(f)/conv_general_dilated:", "convolution"),
             ("add_fusion.4", "fusion", "convolution fusion", "jit(f)/add:", "convolution"),
             ("convolution.5", "convolution", "convolution", "jit(f)/dot_general:", "dense_gemm"),
             ("convolution.6", "convolution", "convolution", "jit(f)/conv_general_dilated:", "convolution"),
             ("fusion.7", "fusion", "loop fusion", "jit(f)/add:", "elementwise"), ("fusion", "fusion", "input fusion", "", "reduce"),
             ("convert_reduce_fusion.8", "fusion", "loop fusion", "jit(f)/reduce_sum:", "reduce"), ("fusion.9", "fusion", "custom fusion", "", "other")]
    device = Plane("/device:TPU:0")
    for op, code, category, path, _ in cases:
        device.named(text_of(op, code), op, hlo_category=category, **({"tf_op": path} if path else {}))
    ops = [(text_of(op, code), place * 1_000_000, 900_000, {}) for place, (op, code, *_) in enumerate(cases)]
    device.line(2, "XLA Modules", [("jit_f(11)", 0, 90_000_000, {})]).line(3, "XLA Ops", ops)
    equal(table(made(folder, [device], "work.xplane.pb"), "SELECT hlo_op, op FROM kernels ORDER BY ts"), [(case[0], case[-1]) for case in cases], "classes")


def text_of(op, code):
    return f"%{op} = f32[8]{{0}} {code}(%p)"


def check_steps_of_a_gpu(folder):
    """The line of steps holds what any stream of the device does in their time."""
    device = Plane("/device:GPU:0", device_vendor="Nvidia")
    steps = [(str(step), step * 100_000_000, 90_000_000, {}) for step in range(3)]
    kernels = [[("k", step * 100_000_000 + place * 20_000_000, 9_000_000, {}) for step in range(3)] for place in range(3)]
    device.line(13, "Stream #13(Compute)", kernels[0] + kernels[1]).line(-5, "Steps", steps).line(14, "Stream #14", kernels[2])
    equal(table(made(folder, [device]), "SELECT step, count(*) AS n FROM kernels GROUP BY 1"), [(0, 3), (1, 3), (2, 3)], "kernels by step")


def two_tpus(both_run):
    """By plane and line: two programs in turn on each of two devices, their copies and collectives, and the calls."""
    planes = {}
    for device in range(2):
        stats = [{"run_id": run_ if both_run else 2 * run_ + device, "device_ordinal": device} for run_ in range(1, 7)]
        starts = [30_000_000 + run_ * 60_000_000 + device * 100_000 for run_ in range(6)]
        planes[f"/device:TPU:{device}"] = {
            (2, "XLA Modules"): [(f"jit_f{run_ % 2}({5 + run_ % 2})", at, 50_000_000, stats[run_]) for run_, at in enumerate(starts)],
            (3, "XLA Ops"): [event for run_, at in enumerate(starts) for event in
                             (("dot.1", at, (20 - 9 * (run_ % 2)) * 1_000_000, {}), ("call-done.2", at + 30_000_000, 4_000_000, {}))],
            (4, "Async XLA Ops"): [event for at in starts for event in (
                ("copy-start.3", at, 7_000_000, {}), ("all-gather-start.4", at, 3_000_000, {}), ("fusion-start.5", at, 2_000_000, {}))]}
        calls = [("DoEnqueueProgram", at - (20 - 9 * device) * 1_000_000, 500_000, stats[run_]) for run_, at in enumerate(starts)]
        planes.setdefault("/host:CPU", {})[8 + device, "main"] = calls
    return dict(sorted(planes.items()))


def events_of(planes, host=""):
    """As JSON writes planes."""
    out = []
    for name, lines in planes.items():
        pid = 701 if "host" in name else 1 + int(name[-1])
        pid += 1000 if host == "b " else 0
        out.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": host + name}})
        for (tid, line), events in lines.items():
            out.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line}})
            out += [{"ph": "X", "pid": pid, "tid": tid, "ts": (1_000_000 + at) / 1e6, "dur": length / 1e6, "name": event,
                     "args": {key: str(value) for key, value in stats.items()}} for event, at, length, stats in events]
    return out


OF_A_TPU = ("SELECT k.device, k.stream, k.hlo_module, k.hlo_op, k.kind, k.step, count(*) AS n, sum(k.dur) AS ns, min(r.ts - k.ts) AS called FROM "
            "kernels k JOIN kernel q ON q.id = k.id LEFT JOIN runtime_call r ON r.id = q.launch_id GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6")


def check_forms_and_orders_of_a_tpu(folder):
    """Events in the order of planes, of time, or in none: the same run, that of the protobuf."""
    planes = two_tpus(both_run=False)
    whole = []
    for name, lines in planes.items():
        whole.append(Plane(name))
        for (number, line), events in lines.items():
            whole[-1].line(number, line, [(text_of(one, one.split(".")[0]) if "." in one else one, *more) for one, *more in events])
    ask = [OF_A_TPU, "SELECT name, count(*) AS n, sum(dur) AS ns FROM memcpys GROUP BY 1", "SELECT name, dur FROM steps ORDER BY step"]
    expected = [table(made(folder, whole), one) for one in ask]
    equal(expected[1], [("copy-start.3", 12, 12 * 7_000)], "copies")
    equal([row[3:] for row in expected[0] if row[:3] == (0, "XLA Ops", "jit_f0")], [
        (op, "compute", step, 1, ns, called) for op, ns, called in (("call-done.2", 4_000, -50_000), ("dot.1", 20_000, -20_000)) for step in range(3)], "kernels")
    equal({row[3:5] for row in expected[0] if row[1] == "Async XLA Ops"}, {("all-gather-start.4", "comm")}, "collectives")
    events = events_of(planes)
    shuffled = random.Random(5).sample(events, len(events))
    for name, order in (("planes", lambda event: 0), ("time", lambda event: event.get("ts", 0)), ("none", shuffled.index)):
        trace, index = folder / f"{name}.trace.json", folder / f"{name}.tracedb"
        trace.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": sorted(events, key=order) + [{}]}))
        verify_index(ingest(trace, index))
        equal([table(index, one) for one in ask], expected, name)


def check_runs_of_several_devices(folder):
    """A run is of the devices that take part, and its calls say which; two hosts of one file have devices of their own."""
    for both in (True, False):
        trace, index = folder / f"{both}.trace.json", folder / f"{both}.tracedb"
        trace.write_text(json.dumps({"traceEvents": events_of(two_tpus(both), "a ") + (events_of(two_tpus(both), "b ") if both else [])}))
        verify_index(ingest(trace, index))
        lags = table(index, "SELECT d.ordinal, d.name, k.ts - r.ts AS lag, count(*) AS n, count(DISTINCT p.name) AS hosts FROM kernel k JOIN stream s ON "
                            "s.id = k.stream_id JOIN device d ON d.id = s.device_id JOIN kernel_name m ON m.id = k.name_id JOIN runtime_call r ON r.id = k.launch_id "
                            "JOIN thread t ON t.id = r.thread_id JOIN process p ON p.id = t.process_id WHERE m.name LIKE '%dot.1' GROUP BY d.id, lag ORDER BY d.id")
        equal([row[2:] for row in lags], [(20_000, 6, 1), (11_000, 6, 1)] * (2 if both else 1), f"{both}: {lags}")
        one = run("trace-query", "ops", index, "--device", 0, check=False)
        equal((one.returncode, "the devices have no numbers" in one.stderr), (2, True) if both else (0, False), f"a device by its number: {one.stderr}")


def check_odd_planes(folder):
    """What a device is called is said, whatever else is not; a length below 0 is none."""
    index = made(folder, [Plane("/device:TPU:0", device_type_string="TPU v5p").line(3, "XLA Ops", [(text_of("dot.1", "dot"), 0, 1_000_000, {})])])
    equal(table(index, "SELECT name FROM device"), [("TPU v5p",)], "device")
    kernels = [("a", 0, 1_000_000, {}), ("b", 2_000_000, -1_000_000, {})]
    index = made(folder, [Plane("/device:GPU:0", device_vendor="Nvidia").line(3, "Stream #3", kernels)])
    equal(table(index, "SELECT name, dur FROM kernels ORDER BY ts"), [("a", 1000), ("b", None)], "kernels")
    equal(table(index, "SELECT kind, count FROM issue WHERE severity <> 'info'"), [("negative_duration", 1)], "issues")


def check_made_profiles(folder):
    """Calls and time of each HLO op as make-trace planted them; layers forward and backward, steps, links, of two hosts."""
    for form, *options in (("gpu",), ("graphs",), ("scan",), ("tpu",), ("gpu", "--annotations", "off"), ("graphs", "--annotations", "off")):
        run("make-trace", "--xla", form, "--layers", "4", "--steps", "3", "--hosts", "2", *options, "-o", folder / form)
        truth = json.loads((folder / form / "truth.json").read_text())
        for host in truth["hosts"]:
            index = verify_index(ingest(folder / form / f"{host['host']}.xplane.pb", folder / f"{form}{host['host']}.tracedb", "--strict"))
            calls = "count(DISTINCT k.cpu_op_id)" if form == "tpu" else "count(*)"
            found = table(index, f"SELECT coalesce(hlo_op, ''), {calls} AS n, sum(v.dur) AS ns FROM kernels v JOIN kernel k USING (id) GROUP BY 1 ORDER BY 1")
            equal(found, sorted((op, total["calls"], total["ns"]) for op, total in host["ops"].items()), f"{form}: HLO ops")
            equal(table(index, "SELECT count(*) FROM memcpys"), [(host["copies"],)], f"{form}: copies")
            if options:
                notes = run("trace-query", "steps", index).stderr
                require("3 steps by the runs of jit_train_step, which have 100 % of the kernel time" in notes, notes)
            equal(table(index, "SELECT DISTINCT step FROM kernels ORDER BY 1"), [(0,), (1,), (2,)], f"{form}: steps")
            equal(table(index, "SELECT count(*) FROM kernel WHERE launch_id IS NULL"), [(0,)], f"{form}: links")
            equal({row["calls"] for row in rows("modules", index)}, {None}, f"{form}: calls of modules, which are not recorded")
            if form == "graphs":  # what a command buffer runs is not told
                continue
            layers = table(index, "SELECT layer, pass, count(*) AS n FROM kernels WHERE layer IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2")
            equal(layers, [(layer, way, 3 * 4) for layer in range(4) for way in ("backward", "forward")], f"{form}: layers")
            # The backward pass begins with the last layer.
            order = table(index, "SELECT layer FROM kernels WHERE step = 1 AND op = 'dense_gemm' ORDER BY ts")
            equal([layer for layer, in order], [0, 1, 2, 3, 3, 2, 1, 0], f"{form}: order of layers")
    # More operations than the least number of a run.
    run("make-trace", "--xla", "tpu", "--layers", "6", "--steps", "8", "--hosts", "2", "-o", folder / "long")
    long = ingest(folder / "long" / "host0.xplane.pb", folder / "long.tracedb")
    equal(table(long, "SELECT count(*) FROM kernel WHERE cpu_op_id IS NULL"), [(0,)], "tpu: operations without operator")
    equal([row["value"] for row in rows("info", long) if row["item"].startswith("kernel time in a step")], [100.0], "share in steps")
    # Collectives in flight beside operations that follow each other: these are the path.
    path = {row["what"]: row["time"] for row in rows("critical-path", long, "--step", "1")}
    require(path["computation"] > 0.8 * sum(path.values()), f"tpu: path {path}")


def check_program_runs(folder):
    """Without annotations: the runs of the program with most device time, of the same place on each device; no run without
    work, none of another program, none where devices ran it another number of times."""
    for name, left_out, expected in (("all", (), [0, 1]), ("unrecorded", ((0, 2), (1, 2)), []), ("unequal", ((1, 0), (1, 1)), [])):
        devices, host, link = [], Plane("/host:CPU"), 0
        for device in (0, 1):
            kernels, calls = [], []
            for run_, program in enumerate(("jit_f", "jit_g", "jit_f", "jit_f")):
                begin = 100_000_000 * run_ + 1_000_000 * device
                calls.append((f"{program}:XLA GPU module", begin, 50_000_000, {}))
                if run_ == 3 or (device, run_) in left_out:  # the recording of devices ends first
                    continue
                link += 1
                calls.append(("cuLaunchKernel", begin + 1_000_000, 500_000, {"correlation_id": link}))
                kernels.append(("k", begin + 60_000_000, 9_000_000 if program == "jit_g" else 8_000_000, {"correlation_id": link}))
            devices.append(Plane(f"/device:GPU:{device}", device_vendor="Nvidia").line(7, "Stream #7(Compute)", kernels))
            host.line(device + 1, f"py_xla_execute/{device}", calls)
        index = made(folder, [*devices, host], f"{name}.xplane.pb")
        steps = table(index, "SELECT step, count(*) AS n FROM kernels WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1")
        equal(steps, [(step, 2) for step in expected], f"{name}: kernels of steps")
        equal(table(index, "SELECT name FROM steps"), [("jit_f",)] * len(steps), f"{name}: steps")


def check_runs_in_turn(folder):
    """Runs of one device are steps of their own, whatever threads launch them; a program that ran once is none."""
    for name, thread_of in (("one", lambda _: 0), ("in turn", lambda run_: run_ % 2), ("blocks", lambda run_: run_ // 4)):
        lines, kernels = [[], []], []
        for run_ in range(9):
            begin, length, program = 100_000_000 * run_, 900_000_000 if run_ == 8 else 9_000_000, "jit_init" if run_ == 8 else "jit_f"
            lines[thread_of(min(run_, 7))] += [(f"{program}:XLA GPU module", begin, 50_000_000, {}),
                                               ("cuLaunchKernel", begin + 1_000_000, 500_000, {"correlation_id": run_ + 1})]
            kernels.append(("k", begin + 20_000_000, length, {"correlation_id": run_ + 1}))
        host = Plane("/host:CPU")
        for place, events in enumerate(lines):
            host.line(place + 1, f"pool/{place}", events)
        index = made(folder, [Plane("/device:GPU:0", device_vendor="Nvidia").line(7, "Stream #7(Compute)", kernels), host], f"{name}.xplane.pb")
        equal(table(index, "SELECT step, count(*) AS n FROM kernels WHERE step IS NOT NULL GROUP BY 1 ORDER BY 1"), [(step, 1) for step in range(8)], name)
        require("8 steps by the runs of jit_f, which have 7 % of the kernel time" in run("trace-query", "steps", index).stderr, name)


def check_path_of_devices(folder):
    """One device alone that is slower, or both: what a reason brings is not known of steps on several devices."""
    def profile(name, times, turned=False):
        devices, host = [], Plane("/host:CPU")
        for device, time in enumerate(times):
            kernels, calls, begin = [], [], 0
            for step in range(6):
                link = 10 * step + device + 1
                calls += [("jit_f:XLA GPU module", 100_000_000 * step, 5_000_000, {}),
                          ("cuLaunchKernel", 100_000_000 * step + 1_000_000, 500_000, {"correlation_id": link})]
                begin = max(begin, 100_000_000 * step + 3_000_000)
                kernels.append(("sgemm_128", begin, time, {"correlation_id": link}))
                begin += time
            devices.append(Plane(f"/device:GPU:{device}", device_vendor="Nvidia").line(7, "Stream #7(Compute)", kernels))
            host.line(device + 1, f"pool/{device}", calls)
        return made(folder, [*(devices[::-1] if turned else devices), host], f"{name}.xplane.pb")
    def slower(*indexes):
        reasons = json.loads(run("trace-query", "compare", "-q", "--json", *indexes).stdout)["reasons"]
        return [row for row in reasons if row["cause"] == "operation"]
    base = profile("base", (20_000_000, 20_000_000))
    for name, times in (("one", (20_000_000, 60_000_000)), ("both", (60_000_000, 60_000_000))):
        pair = base, profile(name, times)
        equal([row["path"] for row in slower(*pair)], [None], name)
        # A step lasts as long as on the slower device.
        said = " ".join(run("trace-query", "compare", "-q", *pair).stdout.split())
        require("span +200.0 %: worse" in said, f"{name}: {said}")
    # Devices are told by their numbers, whichever comes first.
    turned = " ".join(run("trace-query", "compare", "-q", profile("straight", (20_000_000, 60_000_000)),
                          profile("turned", (20_000_000, 60_000_000), turned=True)).stdout.split())
    require(turned.startswith("time unchanged"), turned)
    # Where the host is ahead, a path holds the kernels of several steps.
    equal([row["path"] for row in slower(profile("full", (150_000_000,)), profile("fuller", (200_000_000,)))], [None], "steps that queue")
    (row,) = slower(profile("a", (20_000_000,)), profile("b", (60_000_000,)))
    equal((row["path"] - row["path_without"], row["change"]), (40_000, 40_000), "of one device")


def check_refusals(folder):
    for words, said in ((("--xla", "gpu", "--vendor", "amd"), "--vendor does not go with --xla"), (("--xla", "tpu", "--annotations", "off"), "--annotations: a TPU"), (("--hosts", "2"), "--hosts: only with --xla"), (("--xla", "x"), "not one of")):
        refused(2, said, "make-trace", *words, "-o", folder / "x")


def check_loops(folder):
    """Iterations are layers by device, however many kernels an operation has; of other loops, and of a pass cut short, they are none."""
    forward, backward = "jit(f)/jit(main)/jvp(M)/while/body/layers/{}", "jit(f)/jit(main)/transpose(jvp(M))/while/body/layers/{}"
    for path, back, times, expected in ((forward, None, 0, [0, 1, 2]), (forward, backward, 3, [0, 1, 2, 2, 1, 0]), (forward, backward, 2, [0, 1, 2, None, None]),
                                        ("jit(f)/jit(main)/while/body/decode/{}", None, 0, [None] * 3),
                                        ("jit(f)/jit(main)/while/body/while/body/layers/{}", None, 0, [None] * 3)):
        ops = [(1, "dot.1", path.format("dot")), (2, "fusion.2", path.format("add"))] + ([(3, "dot.3", back.format("dot")), (4, "fusion.4", back.format("add"))] if back else [])
        order = [op for _ in range(3) for op in ops[:2]] + [op for _ in range(times) for op in ops[2:]]
        devices, calls, link = [], [], 0
        for device in (0, 1):
            kernels = []
            for place, (_, op, _) in enumerate(order):
                for part in range(2 if op.startswith("dot") else 1):
                    link += 1
                    at = place * 10_000_000 + part * 3_000_000
                    calls.append(("cuLaunchKernel", at + device * 1_000_000, 500_000, {"correlation_id": link}))
                    kernels.append((op.split(".")[0], at + 2_000_000, 1_000_000, {"correlation_id": link, "hlo_op": op, "hlo_module": "jit_f", "program_id": 7}))
            devices.append(Plane(f"/device:GPU:{device}", device_vendor="Nvidia").line(7, "Stream #7(Compute)", kernels))
        host = Plane("/host:CPU").line(1, "python", [("train", 0, 200_000_000, {"step_num": 0}), ("PjitFunction(f)", 0, 190_000_000, {})] + calls)
        code = [program(7, "jit_f", [(key, op, "fusion", (11, (8, 8)), {"f7": message(f2=text)}) for key, op, text in ops])]
        index = made(folder, [metadata(code), *devices, host])
        for device in (0, 1):
            found = [layer for layer, in table(index, f"SELECT layer FROM kernels WHERE device = {device} AND name = 'fusion' ORDER BY ts")]
            equal(found, expected, f"{path}, {times} backward, device {device}")
            twice = [layer for layer, in table(index, f"SELECT layer FROM kernels WHERE device = {device} AND name = 'dot' ORDER BY ts")]
            equal(twice, [layer for layer in expected for _ in range(2)], f"{path}, kernels of one operation")


def rounded(ps):
    return (ps + 500) // 1000


def check_whatever_is_cut_or_changed(folder):
    """No end and no byte makes it crash, and what is kept adds up."""
    whole = space(gpu()[1:])
    trace, index = folder / "cut.xplane.pb", folder / "cut.tracedb"
    seed = random.Random(7)
    pieces = [whole[:end] for end in range(0, len(whole), 37)]
    for _ in range(150):
        changed = bytearray(whole)
        for _ in range(seed.randint(1, 4)):
            changed[seed.randrange(len(changed))] = seed.randrange(256)
        pieces.append(bytes(changed))
    kept = 0
    for data in pieces:
        trace.write_bytes(data)
        index.unlink(missing_ok=True)
        done = run("trace-ingest", trace, "-o", index, "--force", check=False)
        require(done.returncode in (0, 3), f"{len(data)} bytes: exit {done.returncode}: {done.stderr}")
        require("\n" not in done.stderr.strip() or done.returncode == 0, f"more than one line: {done.stderr}")
        if done.returncode == 0:
            kept += 1
            verify_index(index)
    require(kept > len(pieces) // 3, f"only {kept} of {len(pieces)} were read")


def check_a_cut_file_keeps_whole_planes(folder):
    planes = gpu()[1:]
    device = len(space(planes[:1]))
    whole = space(planes)
    (folder / "a.xplane.pb").write_bytes(whole[:device + 700])
    ingest(folder / "a.xplane.pb", folder / "a.tracedb")
    equal(table(folder / "a.tracedb", "SELECT count(*) AS n FROM kernel"), [(14,)], "kernels of the whole plane")
    sample, = table(folder / "a.tracedb", "SELECT sample FROM issue WHERE kind = 'truncated'")
    equal(sample, ("whole planes: /device:GPU:0",), "what is whole")
    lost, = table(folder / "a.tracedb", "SELECT sum(skipped) AS n FROM event_count")[0]
    require(lost > 5, f"{lost} events are counted as lost")
    # Names of events stand behind the events: those of a plane that is cut there are counted, its names are not.
    counts = []
    for name, data in (("whole", whole), ("names", whole[:-1])):
        (folder / f"{name}.xplane.pb").write_bytes(data)
        ingest(folder / f"{name}.xplane.pb", folder / f"{name}.tracedb")
        counts.append(table(folder / f"{name}.tracedb", "SELECT sum(read) AS n FROM event_count"))
    equal(*counts, "events of a plane without all of its names")


def check_what_is_no_profile(folder):
    cases = {"empty.xplane.pb": (b"", "exceeds 2 GiB"), "text.xplane.pb": (space(gpu()).decode("utf8", "replace").encode(), "copied as text"),
             "host.xplane.riegeli": (b"riegeli", "Riegeli"), "other.xplane.pb": (b"\x7fELF" + bytes(99), "no XSpace"),
             "memory.prof": (message(f1=message(f1=1, f2=2)) + message(f6=["", "space", "bytes"]), "pprof")}
    for name, (data, said) in cases.items():
        (folder / name).write_bytes(data)
        refused(3, said, "trace-ingest", folder / name)


def check_folders(folder):
    """A folder of a run: one index a host; of both forms of one host the protobuf."""
    where = folder / "plugins/profile/2026_01_01"
    where.mkdir(parents=True)
    for host in ("a", "b"):
        (where / f"{host}.xplane.pb").write_bytes(space(gpu()))
    (where / "a.trace.json").write_text(json.dumps({"traceEvents": json_events() + [{}]}))
    done = run("trace-ingest", folder)
    equal(sorted(path.name for path in where.glob("*.tracedb")), ["a.xplane.pb.tracedb", "b.xplane.pb.tracedb"], "indexes")
    require("a.trace.json" in done.stderr + done.stdout, f"the other form is not named: {done.stderr}")


def check_advice(folder):
    """What a profile lacks is said with what JAX records it by, and nothing of PyTorch's profiler."""
    trace, index = folder / "b.trace.json", folder / "b.tracedb"
    trace.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": json_events() + [{}]}))
    ingest(trace, index)
    for report, advice in (("steps", "jax.profiler.StepTraceAnnotation"), ("layers", "jax.named_scope"), ("stacks", "python_tracer_level=1"),
                           ("modules", "layers are by its scopes"), ("memory", "at most what allocators count"), ("warnings", "")):
        done = run("trace-query", report, index)
        require(advice in done.stderr, f"{report}: {advice} is not said: {done.stderr}")
        for word in ("with_stack", "profile_memory", "torch"):
            require(word not in done.stderr + done.stdout, f"{report}: {word} of a profile of XLA: {done.stderr}")


def check_json(folder):
    trace, index = folder / "b.trace.json", folder / "b.tracedb"
    text = json.dumps({"displayTimeUnit": "ns", "traceEvents": json_events() + [{}]})
    # Names of processes may come behind many of threads.
    threads = json.dumps([{"ph": "M", "name": "thread_name", "pid": 701, "tid": 10**6 + i, "args": {"name": "t"}} for i in range(100)])[1:-1]
    for written in (text, text.replace('": ', '" : '), text.replace("[", f"[{threads}, ", 1)):
        trace.write_text(written)
        verify_index(ingest(trace, index, "--force"))
        equal(table(index, "SELECT name, short_name, dur, hlo_op, op, launch_id FROM kernels"), [("k.kd", "k", 2001, "dot.1", "dense_gemm", 1)], "kernel")
        equal(table(index, "SELECT direction, bytes, dur FROM memcpys"), [("HtoD", 64, 0)], "copy")
        equal(table(index, "SELECT count(*) AS n FROM issue WHERE severity <> 'info'"), [(0,)], "issues")
        equal(table(index, "SELECT value FROM meta WHERE key = 'format'"), [("xla-json",)], "format")
    trace.write_text(text[:-60])
    require(run("trace-ingest", trace, "-o", folder / "strict.tracedb", "--strict", check=False).returncode != 0, "--strict takes a cut one")
    cut = folder / "cut.tracedb"
    verify_index(ingest(trace, cut))
    equal(table(cut, "SELECT count(*) AS n FROM kernels"), [(1,)], "what is before the end")
    equal(table(cut, "SELECT count(*) AS n FROM issue WHERE kind = 'truncated'"), [(1,)], "that it is cut")
    # What is called like the sign of an event is no damage.
    trace.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": [*json_events(), {**json_events()[-1], "name": "ph", "args": {"ph": 1}}, {}]}))
    ingest(trace, cut, "--force")
    equal(table(cut, "SELECT count(*) AS n FROM issue WHERE severity <> 'info'"), [(0,)], "issues of a name that looks like a sign")
    # Behind damage the events go on, and what was lost is counted.
    events = json_events()
    kernel = json.dumps(next(event for event in events if event.get("name", "").startswith("k.kd")))
    for damage in (kernel[:-1], kernel.replace('"ph"', '"ph', 1), kernel[:len(kernel) // 2], kernel + "]", '"', "}" + kernel[1:]):
        texts = [json.dumps(event) for event in events]
        texts.insert(texts.index(kernel), damage)
        trace.write_text('{"displayTimeUnit": "ns", "traceEvents": [' + ", ".join(texts) + ", {}]}")
        verify_index(ingest(trace, cut, "--force"))
        (kernels,) = table(cut, "SELECT count(*) AS n FROM kernels")
        (issues,) = table(cut, "SELECT count(*) AS n FROM issue WHERE severity <> 'info'")
        require(kernels[0] == 1 + (damage == kernel + "]") and issues[0] > 0, f"{kernels[0]} kernels, {issues[0]} issues with {damage!r}")


def main(cases, folder):
    cases.each_apart([check_sums_of_a_real_run, check_links_of_a_real_run, check_forms_of_a_real_run_are_equal, check_gpu, check_many_stacks, check_tpu, check_work_of_a_tpu, check_steps_of_a_gpu, check_forms_and_orders_of_a_tpu, check_runs_of_several_devices, check_odd_planes, check_made_profiles, check_program_runs, check_runs_in_turn, check_path_of_devices, check_refusals, check_loops,
                      check_a_cut_file_keeps_whole_planes, check_whatever_is_cut_or_changed, check_what_is_no_profile, check_folders, check_advice, check_json])
