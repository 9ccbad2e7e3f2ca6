"""FLOPs and bytes of operators: every argument set of the reference, exactly, as table operator_work has them; and gemms and
roofline against the sums of that table."""
import csv
import gzip
import io
import json

from made_events import call, event, index_of, kernel, on_device
from trace_cases import REFERENCE, TRACES, edit_database, equal, ingest, make_trace, refused, require, rows, run

SETS = "SELECT name, shape, w.types, concrete_inputs, flops, bytes FROM operator_work w LEFT JOIN op_shape s ON s.id = w.shape_id"


def tuples(text):
    """JSON as the reference writes keys: nested tuples, as Python prints them."""
    def convert(value):
        return tuple(map(convert, value)) if isinstance(value, list) else value

    return str(convert(json.loads(text))) if text is not None else "()"


def reference_sets(path):
    csv.field_size_limit(1 << 27)
    with gzip.open(path) as file:
        return {(row["name"], row["dims"], row["types"], row["concrete"]): tuple(int(row[key]) if row[key] else None for key in ("flops", "bytes"))
                for row in csv.DictReader(io.TextIOWrapper(file, encoding="utf-8"))}


def trace_called(name):
    """dlrm_8rank__worker0 is the file worker0.pt.trace.json.gz of the folder dlrm_8rank."""
    *folder, file = name.split("__")
    found = [path for path in sorted((TRACES / "kineto").joinpath(*folder).glob(f"{file}.*")) if path.name.removesuffix(".gz").endswith(".json")]
    plain = [path for path in found if path.name in (f"{file}.json.gz", f"{file}.json")] or found
    equal(len(plain), 1, f"traces called {name}")
    return plain[0]


def check_sets(reference, index):
    ingest(trace_called(reference.name.removesuffix(".csv.gz")), index)
    ours = {(row["name"], *(tuples(row[key]) for key in ("shape", "types", "concrete_inputs"))): (row["flops"], row["bytes"])
            for row in rows("sql", index, SETS)}
    theirs = reference_sets(reference)
    for key, figures in theirs.items():
        equal(ours.get(key), figures, f"FLOPs and bytes of {key}")


def check_sums(folder):
    """Each device event is in one row; gemms are the rows of roofline that are products."""
    index = ingest(make_trace(folder / "s.json", "--layers", 3, "--steps", 4, "--graphs", "off", "--shapes", "on"), folder / "s.tracedb")
    for options in ((), ("--step", 1)):
        where = f"WHERE step_id = (SELECT id FROM step WHERE sequence = {options[1]})" if options else ""
        total = sum(rows("sql", index, f"SELECT total(dur) AS t FROM {table} {where}")[0]["t"] for table in ("kernel", "memory_op"))
        roofline = rows("roofline", index, "--limit", 0, *options)
        equal(sum(row["busy"] for row in roofline), total, f"busy of roofline {options}")
        products = rows("gemms", index, "--limit", 0, *options)
        require(products, "no product of matrices was planted")
        for figure in ("busy", "calls", "flops", "bytes"):
            equal(sum(row[figure] for row in products), sum(row[figure] for row in roofline if row["family"] == "gemm"), f"{figure} of gemms {options}")
        for row in products:
            equal(row["flops"], 2 * row["calls"] * row["b"] * row["m"] * row["n"] * row["k"], f"FLOPs of {row}")


def check_words(folder):
    """A device without peaks, and shapes that cannot be, are said."""
    index = ingest(make_trace(folder / "w.json", "--layers", 2, "--steps", 2, "--graphs", "off", "--shapes", "on"), folder / "w.tracedb")
    edit_database(index, "UPDATE device SET name = 'Fancy 9000', memory_bytes = NULL",
                  """UPDATE op_shape SET dims = replace(dims, '[[', '[[-') WHERE id = (
                     SELECT shape_id FROM cpu_op o JOIN string s ON s.id = o.name_id WHERE s.value IN ('aten::mm', 'aten::addmm', 'aten::linear') LIMIT 1)""")
    said = run("trace-query", "gemms", index).stderr
    for text in ("Fancy 9000", "bad shape: ", "a dimension is negative"):
        require(text in said, f"{text!r} is not said: {said}")
    graphs = ingest(make_trace(folder / "g.json", "--layers", 2, "--steps", 2, "--shapes", "off"), folder / "g.tracedb")
    require("no product of matrices has its sizes: shapes not recorded; record them" in run("trace-query", "gemms", graphs).stderr, "an empty table without a reason")
    equal({row["peak_pct"] for row in rows("gemms", index)}, {None}, "shares of unknown peaks")
    own = folder / "own.rules"
    own.write_text("device Fancy | - | -" + " | 50" * 10 + " | 1000 | - | - | measured | a benchmark of mine\n")
    for row in rows("gemms", index, "--devices", own):
        if row["busy"] and row["flops"]:
            require(abs(row["peak_pct"] - row["flops"] / row["busy"] / 1000 / 50 * 100) < 1e-6, f"share of the peak given: {row}")
    require("a benchmark of mine, measured" in run("trace-query", "roofline", "--devices", own, index).stderr, "the source of a peak is not said")
    product = {"External id": 1, "Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]}
    for name, least in (("triton_poi_fused_add_0", False), ("ampere_sgemm_128x64_tn", True), ("fused_gemm_allreduce", True), ("kernel_xyz_0", True)):
        events = [event("cpu_op", "aten::mm", 0, 10, 1, 1, **product), call("cudaLaunchKernel", 2, 2, 1, **{"External id": 1}),
                  call("cudaGraphLaunch", 20, 2, 2), kernel("ampere_sgemm_128x64_tn", 6, 10, correlation=1, **{"External id": 1}),
                  kernel(name, 30, 10, correlation=2)]
        said = run("trace-query", "roofline", index_of(folder / f"{least}.json", events, deviceProperties=[{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}])).stderr
        require(("MFU at least " if least else "MFU ") in said and ("that multiply matrices, or may, are of no operator" in said) == least, f"MFU beside {name}: {said}")
    # A product inside an operator that has kernels of products itself; a device that does next to nothing.
    at = [{"id": i, "name": "NVIDIA A100-SXM4-40GB"} for i in range(2)]
    around = [event("user_annotation", "ProfilerStep#0", 0, 100), event("cpu_op", "vllm::moe_forward", 0, 40, 1, 7, **{"External id": 3}), event("cpu_op", "aten::mm", 2, 10, 1, 1, **{**product, "Input Dims": [[512, 512]] * 2}),
              call("cudaLaunchKernel", 4, 2, 1, **{"External id": 1}), call("cudaLaunchKernel", 20, 2, 2, **{"External id": 3}),
              kernel("ampere_sgemm_128x64_tn", 6, 10, correlation=1, **{"External id": 1})]
    def mfu(number, *more):
        said = run("trace-query", "roofline", index_of(folder / f"around{number}.json", [*around, *more], deviceProperties=at)).stderr
        return said.partition("MFU ")[2].partition(":")[0]
    inside = kernel("fused_moe_kernel", 30, 600, correlation=2, **{"External id": 3})
    require(mfu(0, inside).startswith("at least "), "MFU without the kernels around a product")
    copied = [call("cudaMemsetAsync", 60, 2, 5), on_device("gpu_memset", "Memset (Device)", 90, 1, 9, 1, correlation=5)]
    fills = kernel("fill_kernel", 30, 60, correlation=2, **{"External id": 3})
    equal(mfu(1, fills, *copied), mfu(2, fills), "MFU beside a device that fills once")
    fifth = {**product, "External id": 5, "Input Dims": [[512, 512]] * 2}
    once = [event("cpu_op", "aten::mm", 60, 4, 1, 3, **fifth), call("cudaLaunchKernel", 61, 1, 5, **{"External id": 5}, tid=3),
            kernel("ampere_sgemm_128x64_tn", 90, 2, 9, 1, correlation=5, **{"External id": 5})]
    equal(mfu(3, fills, *once), mfu(2, fills), "MFU beside a device that multiplies once")
    own.write_text("device Fancy | fast\n")
    refused(3, f"{own}:1: ", "trace-query", "gemms", "--devices", own, index)


def check_peaks(folder):
    """TF32 by the whole name of a kernel; copies of the host have no roof; what is not known is no sum; more than the roof is marked."""
    def work(number, name, dims, kind, *device):
        args = {"External id": number, "Input Dims": dims, "Input type": [kind] * len(dims)}
        at = number * 1000
        return [event("cpu_op", name, at, 10, **args), call("cudaLaunchKernel", at + 2, 2, number, **{"External id": number}),
                on_device(device[0], device[1], at + 6, 10, correlation=number, **{"External id": number}, **dict(device[2:]))]

    matrices = [[512, 512], [512, 512]]
    events = [*work(1, "aten::mm", matrices, "float", "kernel", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)"),
              *work(2, "aten::mm", [[8192, 8192], [8192, 8192]], "c10::bfloat16", "kernel", "ampere_bf16_s16816gemm"),
              *work(3, "aten::copy_", [[1 << 20], [1 << 20]], "float", "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", ("bytes", 1 << 22)),
              *work(4, "aten::mm", [], "float", "kernel", "ampere_sgemm_128x64_tn")]
    index = index_of(folder / "p.json", events, deviceProperties=[{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}])
    found = {row["shape"]: row for row in rows("roofline", index, "--limit", 0)}
    product, large, copied = found["[[512,512],[512,512]]"], found["[[8192,8192],[8192,8192]]"], found["[[1048576],[1048576]]"]
    require(abs(product["peak_pct"] - 100 * 2 * 512**3 / 10_000 / 156_000) < 1e-6, f"TF32 is held against another peak: {product}")
    equal((product["mark"], large["mark"]), (None, "!"), "marks of rows, and of that above its roof")
    mfu = {}
    for devices in (1, 2):
        both = [{**one, **({"pid": device} if one["cat"] == "kernel" else {}), "tid": one["tid"] + 20 * device, "ts": one["ts"] + device * 5000,
                 "args": one["args"] | {key: one["args"][key] + 100 * device for key in ("External id", "correlation") if key in one["args"]}
                         | ({"device": device} if one["cat"] == "kernel" else {})}
                for device in range(devices) for one in [*work(1, "aten::mm", [[512, 512]] * 2, "float", "kernel", "ampere_sgemm_a"),
                                                         *work(3, "aten::mm", [[512, 512]] * 2, "float", "kernel", "ampere_sgemm_a")]]
        said = run("trace-query", "gemms", index_of(folder / f"{devices}.json", both,
                                                    deviceProperties=[{"id": i, "name": "NVIDIA A100-SXM4-40GB"} for i in range(devices)])).stderr
        mfu[devices] = said.partition("MFU ")[2].partition(":")[0]
    require(mfu[1] and mfu[1] == mfu[2], f"MFU of one and of two devices that do the same: {mfu}")
    equal((copied["bytes"], copied["roof_pct"], copied["missing"]), (1 << 23, None, "no roof: copies to or from the host"), "a copy from the host")
    require("!: more than 105 % of the roof" in run("trace-query", "gemms", index).stderr, "what ! is is not said")
    rest = rows("operators", index, "--by", "shape", "--limit", 1)[-1]
    equal(rows("gemms", index, "--limit", 1)[-1]["flops"], None, "FLOPs of [others], some of which are not known")
    require(rest["calls"] is not None, f"sums that are known are lost: {rest}")


def check_calls(folder):
    """FLOPs and rates are of whole calls: not of one whose work is partly not selected or not timed, nor of one around another."""
    half = "c10::BFloat16"

    def work(number, *kernels, name="aten::mm", dims=((512, 512), (512, 512)), types=(half, half), **more):
        args = {"External id": number, "Input Dims": [list(one) for one in dims], "Input type": list(types), **more}
        begin = event("cpu_op", name, number * 1000, 900, **args)
        return [begin, *(one for place, (called, dur) in enumerate(kernels) for one in (
            call("cudaLaunchKernel", number * 1000 + 10 + 100 * place, 2, 10 * number + place, **{"External id": number}),
            without_duration(kernel(called, number * 1000 + 20 + 100 * place, dur, correlation=10 * number + place, **{"External id": number}))))]

    def without_duration(one):
        return {key: value for key, value in one.items() if key != "dur" or value is not None}

    linear = event("cpu_op", "aten::linear", 990, 990, **{"External id": 9, "Input Dims": [[512, 512], [512, 512]], "Input type": [half, half]})
    scale = [call("cudaLaunchKernel", 1950, 2, 99, **{"External id": 9}), kernel("scale", 1960, 5, correlation=99, **{"External id": 9})]
    scaled = {"dims": ((64, 64), (64, 64), (), (), (), (), (), ()), "types": ("c10::Float8_e4m3fn",) * 2 + ("",) * 4 + ("Scalar", "Scalar")}
    behind = [event("cpu_op", "aten::mm", 0, 90, **{"External id": 1, "Input Dims": [[512, 512]] * 2, "Input type": [half] * 2}), kernel("other", 40, 500),
              call("cudaLaunchKernel", 10, 2, 1, **{"External id": 1}), kernel("gemm", 541, 20, correlation=1, **{"External id": 1})]
    split = [*work(1, ("gemm", 20), ("reduce", 5)), *work(2, ("gemm", 20), ("reduce", 5))]
    for name, events, options, column, expected in (
            ("a filter", split, ("--name", "gemm"), "flops", [None]),
            ("a filter", split, ("--name", "gemm"), "tflops", [None]),
            ("a filter", split, ("--name", "reduce"), "bound", [None]),
            ("no filter", split, (), "flops", [4 * 512**3]),
            ("work before it that is not selected", behind, ("--name", "gemm"), "bound", ["memory"]),
            ("no duration", [*work(1, ("gemm", 20)), *work(2, ("gemm", None))], (), "flops", [2 * 512**3]),
            ("no duration", [*work(1, ("gemm", 20)), *work(2, ("gemm", None))], (), "tflops", [2 * 512**3 / 20e6]),
            ("one around another", [linear, *work(1, ("gemm", 20)), *scale], (), "flops", [2 * 512**3, None]),
            ("the wider type", work(1, ("gemm", 20), types=("c10::Float8_e4m3fn", half)), (), "type", [half]),
            ("a type of results", work(1, ("gemm", 20), name="aten::_scaled_mm", **scaled, **{"Concrete Inputs": [""] * 6 + ["6", "True"]}), (), "bytes",
             [2 * 64 * 64 + 4 * 64 * 64]),
            ("no type of results", work(1, ("gemm", 20), name="aten::_scaled_mm", **scaled), (), "bytes", [2 * 64 * 64 + 2 * 64 * 64])):
        index = index_of(folder / f"{name}.json", events, deviceProperties=[{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}])
        equal([row[column] for row in rows("gemms", index, *options)], expected, f"{column} of products with {name}")
        said = run("trace-query", "gemms", index, *options).stderr
        equal("left out of FLOPs" in said, name in ("a filter", "no duration"), f"what is said of {name}: {said}")


def check_backends(folder):
    """A convolution is the framework's, whatever backend it calls; that of the backend where no other is recorded."""
    def called(name, begin, dur, number, values):
        return event("cpu_op", name, begin, dur, **{"External id": number, "Input Dims": [[1, 4, 8, 8], [6, 2, 3, 3], *[[]] * (len(values) - 2)],
                                                    "Input type": ["float", "float", *[""] * (len(values) - 2)], "Concrete Inputs": values})

    outer = called("aten::convolution", 0, 900, 1, ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"])
    inner = [called("aten::cudnn_convolution", 100, 700, 2, ["", "", "[1, 1]", "[2, 2]", "[1, 1]", "2", "False", "False", "True"]),
             call("cudaLaunchKernel", 200, 2, 1, **{"External id": 2}), kernel("conv", 300, 20, correlation=1, **{"External id": 2})]
    for events, expected in (([outer, *inner], "aten::convolution"), (inner, "aten::cudnn_convolution")):
        found = rows("roofline", index_of(folder / f"{len(events)}.json", events))
        equal([(row["name"], row["calls"], row["flops"]) for row in found], [(expected, 1, 3456)], "work of a convolution")


def check_mfu(folder):
    """Of a selection it is by the lengths of its steps: of steps that are equal it is the same, whichever are selected."""
    shapes = {"Input Dims": [[512, 512], [512, 512]], "Input type": ["c10::BFloat16"] * 2}
    steps = [event("user_annotation", f"ProfilerStep#{i}", 100 * i, 50) for i in range(3)]
    work = [one for i in range(4) for one in (event("cpu_op", "aten::mm", 100 * i + 5, 20, **{"External id": i, **shapes}),
                                              call("cudaLaunchKernel", 100 * i + 6, 2, i + 1), kernel("gemm", 100 * i + 10, 10, correlation=i + 1))]
    device = {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]}
    some, none = index_of(folder / "some.json", steps + work, **device), index_of(folder / "none.json", work, **device)
    beside = [one for i in range(3) for one in ({**steps[i], "tid": 2}, event("cpu_op", "aten::mm", 100 * i + 5, 20, 1, 2, **{"External id": 10 + i, **shapes}),
                                                call("cudaLaunchKernel", 100 * i + 6, 2, 10 + i, 2), kernel("gemm", 100 * i + 25, 10, correlation=10 + i))]
    both = index_of(folder / "both.json", steps + work + beside, **device)
    for index, options, length, of in ((some, (), 50, "150 us of 3 steps on"), (both, (), 25, "150 us of 6 steps on"), (some, ("--step", 1), 50, "50.0 us of 1 step on"),
                                       (some, ("--step", "0,2"), 50, "100 us of 2 steps on"), (some, ("--from", "20us", "--step", "2"), 50, "50.0 us of 1 step on"),
                                       (none, (), 310 / 4, "310 us from the first to the last work selected of")):
        said = run("trace-query", "roofline", index, *options).stderr
        mfu = 100 * 2 * 512**3 / 312e6 / length
        require(f"MFU {mfu:.1f} %: " in said and f"by the {of} the device{'' if index == none else ' (windows of breakdown)'}" in said, f"MFU of {options}: not {mfu:.2f} % in {said}")


def check_without_work(folder):
    """Reports of what a trace does not have say just that."""
    step = [event("user_annotation", f"ProfilerStep#{i}", i * 100, 90) for i in range(2)]
    host = index_of(folder / "h.json", [*step, event("cpu_op", "aten::add", 5, 10), call("cudaLaunchKernel", 6, 2, 1)])
    equal({row["busy_pct"] for row in rows("breakdown", host)}, {None}, "busy of devices that were not recorded")
    require("devices are busy" not in run("trace-query", "breakdown", host).stderr, "devices that were not recorded are called idle")
    allocated = [event("cpu_op", "aten::empty", 5, 10),
                 {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1, "ts": 6,
                  "args": {"Total Reserved": 64, "Total Allocated": 64, "Bytes": 64, "Addr": 9, "Device Id": 0, "Device Type": 1}}]
    leaks = index_of(folder / "l.json", [*step, *allocated])
    device = index_of(folder / "d.json", [kernel("k", 10, 100), kernel("k", 10, 40, device=1), kernel("k", 900, 100, device=1)])
    equal({row["finding"] for row in rows("findings", device)}, {"busy", "exposed_comm"}, "findings without a host")
    equal([row["device"] for row in rows("breakdown", device, "--device", 0)], [0], "a device of a trace without steps")
    require({0, 1} <= {row["device"] for row in rows("timeline", device, "--from", "60us", "--to", "800us")}, "a device that is idle in a window is left out")
    for report, index, said in ((("recompute",), device, "passes are not known: operators"), (("ops", "--by", "pass"), device, "passes are not known"),
                                (("queue",), host, "does not record both launches and what they start"),
                                (("queue", "--bandwidth"), host, "the trace has no copies of known size and duration"),
                                (("critical-path", "--slack"), index_of(folder / "n.json", []), "the trace has no kernels, copies or fills"),
                                (("memory", "--leaks"), leaks, "no step has two behind it")):
        words = run("trace-query", *report, index).stderr
        require(said in words, f"{report}: {words}")


def main(cases, folder):
    cases.each_apart((check_sums, check_words, check_peaks, check_calls, check_backends, check_mfu, check_without_work))
    for reference in sorted((REFERENCE / "analyses/model").glob("*.csv.gz")):
        cases.run_apart(reference.name.split(".")[0], lambda own, reference=reference: check_sets(reference, own / "x.tracedb"))
