"""timeline, gaps, launches, comms, memcpys, phases and steps of traces made by hand, whose figures can be read off."""
import re

from made_events import call, event, index_of, kernel, on_device
from trace_cases import ROOT, equal, require, rows, run, sql

COMMANDS = ("timeline", "gaps", "launches", "comms", "memcpys")


def hand_made():
    collective = {"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 5000, "Out msg nelems": 5000,
                  "Group size": 4, "Process Group Name": "0"}
    return [call("cudaLaunchKernel", 0, 5, 1), kernel("gemm", 10, 10, correlation=1),
            kernel("ncclDevKernel_AllReduce", 15, 10, stream=9, **collective),
            call("cudaGraphLaunch", 12, 4, 2), kernel("norm", 26, 4, correlation=2), kernel("gemm", 31, 9, correlation=2),
            call("cudaLaunchKernel", 60, 10, 3), kernel("gemm", 65, 5, correlation=3),
            on_device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 68, 12, bytes=24000),
            on_device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 74, 12, stream=9, bytes=12000),
            kernel("gemm", 0, 50, device=1)]


def check_hand_made(folder):
    index = index_of(folder / "trace.json", hand_made())
    first = rows("timeline", index)[0]
    expected = {"span": 76, "computation": 28, "comm": 10, "exposed_comm": 5, "copy": 18, "exposed_copy": 16, "idle": 27,
                "host_wait": 25, "kernel_wait": 1, "graph_gap": 1, "other_wait": 0, "unknown_wait": 0, "micro_idle": 2,
                "macro_idle": 25, "begin": 10}
    equal({key: first[key] for key in expected}, {key: value * 1000 for key, value in expected.items()}, "timeline")
    equal((first["overlap_pct"], first["gaps"], first["micro_idle_limit"]), (50, 3, 10000), "timeline")
    equal([row["device"] for row in rows("timeline", index)], [0, 1, "mean", "min", "max"], "devices")
    (mean,) = [row for row in rows("timeline", index) if row["device"] == "mean"]
    equal((mean["utilization_pct"], mean["overlap_pct"]), (100 * mean["busy"] / mean["span"], 50), "shares of the mean")
    longest, others = rows("gaps", index, "--each", "--limit", "1")
    expected = {"dur": 25000, "instances": 1, "ts": 40000, "device": 0, "cause": "host_wait", "before": "gemm",
                "next": "gemm", "next_kernel_id": 6, "host": "cudaLaunchKernel", "host_pct": 20, "host_op": None}
    equal({key: longest[key] for key in expected}, expected, "the longest gap")
    equal([others[key] for key in ("dur", "instances", "next")], [2000, 2, "[others]"], "the other gaps")
    launches = {row["call"]: row for row in rows("launches", index)}
    equal([launches["cudaLaunchKernel"][key] for key in ("instances", "kernels", "total_time", "delay_avg",
                                                         "started_early")], [2, 2, 15000, 2500, 1], "cudaLaunchKernel")
    equal([launches["cudaGraphLaunch"][key] for key in ("instances", "kernels", "kernels_per_call", "delay_avg",
                                                        "queue_avg")], [1, 2, 2, 10000, 6000], "cudaGraphLaunch")
    equal(launches["[no launch]"]["kernels"], 2, "kernels without a launch")
    comm = rows("comms", index)[0]
    equal([comm[key] for key in ("name", "instances", "total_time", "exposed", "bytes", "ranks", "alg_gb_per_s",
                                 "bus_gb_per_s")], ["allreduce", 1, 10000, 5000, 10000, 4, 1, 1.5], "comms")
    for splits, bus in (([1250] * 4, 0.75), ([2500, 2500, 0, 0], 0.5), ([5000, 0, 0, 0], 0), ("[5000, ...", 0.75)):
        collective = {"Collective name": "all_to_allv", "dtype": "Half", "In msg nelems": 5000, "Out msg nelems": 5000, "Group size": 4, "In split size": splits}
        split = index_of(folder / "split.json", [kernel("ncclDevKernel_SendRecv", 15, 10, **collective)])
        equal(rows("comms", split)[0]["bus_gb_per_s"], bus, f"of {splits}")
    copies = rows("memcpys", index)[0]
    equal([copies[key] for key in ("instances", "total_time", "busy", "gb_per_s", "achieved_gb_per_s")],
          [2, 24000, 18000, 1.5, 2], "memcpys")
    equal(rows("memcpys", index, "--from", "70us")[0]["instances"], 1, "copies after a time")
    equal(first["idle"] - rows("timeline", index, "--kernel-wait", "1us")[0]["other_wait"], 26000, "--kernel-wait 1us")
    check_frame(index)


def check_selected(folder):
    """Where other work ran, and before it, a device was not idle for what is selected."""
    index = index_of(folder / "selected.json", [kernel("decode", 0, 10), kernel("decode", 20, 10), kernel("prefill", 32, 100),
                                                kernel("decode", 140, 10)])
    (lane,) = rows("timeline", index, "--name", "decode")
    equal([lane[key] for key in ("span", "busy", "idle", "unselected", "unknown_wait", "macro_idle", "micro_idle", "gaps")],
          [150000, 30000, 120000, 102000, 18000, 10000, 8000, 2], "timeline")
    found = rows("gaps", index, "--each", "--name", "decode")
    equal([(row["ts"], row["dur"], row["before"], row["next"]) for row in found],
          [(10000, 10000, "decode", "decode"), (132000, 8000, "prefill", "decode")], "gaps")
    equal(round(sum(row["idle_pct"] for row in found), 6), 100, "shares")
    equal(sql(index, "SELECT sum(time) AS t FROM gaps_by_cause", "--name", "decode"), [{"t": 18000}], "by cause")
    equal(sum(row["dur"] for row in rows("gaps", index, "--name", "decode", "--limit", 1)), 18000, "a group and the rest")
    # What begins at one moment is in no order.
    both = [kernel("other", 20, 50, 9), kernel("decode", 20, 10)]
    equal(*([(row["ts"], row["dur"]) for row in rows("gaps", index_of(folder / f"tie{i}.json", [kernel("decode", 0, 10), *order]), "--each", "--name", "decode")]
            for i, order in enumerate((both, both[::-1]))), "gaps before kernels of one moment")


def check_frame(index):
    """What every report has: all formats, --explain, [others], a reason when it is empty."""
    for command in COMMANDS:
        for form in ("table", "csv", "tsv", "json", "jsonl", "markdown"):
            require(run("trace-query", command, "--format", form, index).stdout, f"{command} --format {form} is empty")
        recipe = run("trace-query", command, "--explain", index).stdout
        require("-- temp." in recipe and "SELECT" in recipe, f"{command} --explain: {recipe}")
        empty = run("trace-query", command, "--phase", "decode", index)
        require("the selection" in empty.stderr, f"{command} does not say why it is empty: {empty.stderr}")
    require("[others]" in run("trace-query", "launches", "--limit", "1", index).stdout, "no [others]")


def check_two_devices(folder):
    """Busy of `phases` is of kernels, added up over devices; that of `steps` is of copies, too, on the busiest device."""
    index = index_of(folder / "two.json", [
        event("user_annotation", "ProfilerStep#1", 0, 9), *(call("cudaLaunchKernel", i, 1, i) for i in (1, 2, 3)),
        kernel("a", 10, 10, correlation=1), kernel("b", 15, 20, device=1, correlation=2),
        on_device("gpu_memcpy", "c", 20, 30, correlation=3)])
    phase, = rows("phases", index)
    step, = rows("steps", index)
    equal((phase["busy"], phase["gpu_span"], phase["total_time"]), (30000, 40000, 30000), "phases")
    equal((step["gpu_busy"], step["gpu_span"], step["total_time"]), (40000, 40000, 30000), "steps")
    head = run("trace-query", "phases", "-q", "--wide", index).stdout
    require("Kernel Busy" in head and "GPU Busy" in run("trace-query", "steps", "-q", "--wide", index).stdout, head)
    for name in ("schema/METRICS.md", "src/manual/glossary.md"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        require(re.search(r"[Kk]ernel [Bb]usy \(`phases`\):[^|]* kernel[^|]* added up over devices", text), f"{name} does not tell them apart")


def main(cases, _):
    cases.each_apart((check_hand_made, check_selected, check_two_devices))
