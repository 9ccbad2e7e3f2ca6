"""timeline, gaps, launches and comms of synthetic traces: the generator's ground truth exactly, planted idle times as
host waits, and random traces of several devices against a slow reckoning."""
import random

from made_events import event, index_of, on_device
from time_oracle import TimeOracle
from trace_cases import equal, open_index, planted, require, rows

SHAPES = {
    "amd graphs": ("--vendor", "amd", "--layers", 4),
    "nvidia collectives": ("--vendor", "nvidia", "--tensor-parallel", 4, "--layers", 4),
    "copies on their own stream": ("--streams", 3, "--tensor-parallel", 2, "--layers", 3),
    "eager": ("--graphs", "off", "--layers", 3),
    "one stream, moe": ("--streams", 1, "--moe", "on", "--layers", 3),
    "lost launches": ("--orphans", 7, "--layers", 3),
    "fused collectives": ("--vendor", "nvidia", "--tensor-parallel", 2, "--layers", 3, "--fuse", "allreduce+rmsnorm"),
    "fused on amd": ("--tensor-parallel", 2, "--layers", 3, "--fuse", "allreduce+rmsnorm,rmsnorm+quant"),
    "rank 3": ("--rank", 3, "--tensor-parallel", 4, "--layers", 2),
    "a branch beside": ("--jittered-streams", "on", "--tensor-parallel", 2, "--streams", 3, "--layers", 3),
    "steps apart": ("--step-gap", 7000000, "--gap-calls", 50, "--layers", 3),
    "a waiting collective": ("--tensor-parallel", 4, "--collective-wait", 3000000, "--layers", 3),
    "training": ("--model", "train", "--tensor-parallel", 2, "--layers", 3),
    "diffusion": ("--model", "diffusion", "--layers", 2, "--vendor", "nvidia"),
}
DEVICE_TIME = ("span", "busy", "idle", "computation", "comm", "copy", "exposed_comm", "exposed_copy")


def check_truth(folder, options):
    index, truth, _ = planted(folder, "--steps", 8, "--idle", 150000, *options)
    (timeline,) = rows("timeline", index)
    equal({key: timeline[key] for key in DEVICE_TIME}, {key: truth["device_time"][key] for key in DEVICE_TIME}, "times")
    equal(timeline["device"], truth["device_time"]["device"], "device")
    fused = [value for name, value in truth["classes"].items() if name.startswith("communication+")]
    apart = [row for row in rows("comms", index) if row["kind"] == "comm_compute"]
    equal([sum(row[key] for row in apart) for key in ("instances", "total_time")],
          [sum(value[key] for value in fused) for key in ("count", "ns")], "collectives fused with computation")
    equal(timeline["fused_comm"] > 0, bool(fused), "their time")
    launches = {row["call"]: row for row in rows("launches", index)}
    missing = launches.pop("[no launch]", {"kernels": 0})
    equal(missing["kernels"], truth["kernels_without_launch"], "kernels without a launch")
    equal(sum(row["kernels"] for row in launches.values()), truth["kernels_with_launch"], "kernels with a launch")
    graphs = [row["instances"] for call, row in launches.items() if "Graph" in call]
    equal(sum(graphs), truth["graph_launches"], "graph launches")
    zero = timeline["begin"] - truth["device_time"]["ts"]
    waits = {(gap["ts"], gap["dur"]) for gap in rows("gaps", index, "--each") if gap["launch_cause"] == "host_wait"}
    idle = {(step["planted_idle_ts"] + zero, step["planted_idle_ns"]) for step in truth["steps"]}
    require(all(duration >= 150000 for _, duration in idle), "no idle was planted")
    require(idle <= waits, f"planted, but no host wait: {sorted(idle - waits)[:3]}")
    for index_of_step, step in enumerate(truth["steps"][:3]):
        own = rows("timeline", index, "--step", index_of_step)
        equal(own[0]["kernels"], step["kernels"], f"kernels of step {index_of_step}")
        require(own[0]["busy"] <= step["busy"], f"step {index_of_step} is busier than it was")


def random_trace(seed):
    """Several devices and streams, overlapping work, graphs, calls without kernels, zero durations."""
    chance = random.Random(seed)
    events = []
    for correlation in range(1, 40):
        name = chance.choice(["cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaStreamSynchronize"])
        ts = chance.randrange(3000)
        events.append(event("cuda_runtime", name, ts / 10, chance.randrange(1, 90) / 10, 9000, 9001, correlation=correlation))
        copies = name == "cudaMemcpyAsync"
        for _ in range(chance.choice([0, 1, 3]) if "Graph" in name else chance.choice([0, 1, 1])):
            kernel = chance.choice(["gemm", "ncclDevKernel_AllReduce", "__amd_rocclr_copyBuffer", "norm",
                                    "all_reduce_rms_norm"])
            events.append(device_event(chance, "gpu_memcpy" if copies else "kernel",
                                       "Memcpy HtoD (Host -> Device)" if copies else kernel, ts, correlation))
    for _ in range(10):
        events.append(device_event(chance, "kernel", chance.choice(["orphan", "rccl_orphan"]), 0, None))
        events.append(device_event(chance, "gpu_memset", "Memset (Device)", 0, None))
    return events


def device_event(chance, category, name, after, correlation):
    device, stream = chance.randrange(2), chance.randrange(3)
    arguments = {"bytes": chance.randrange(1000)} | ({} if correlation is None else {"correlation": correlation})
    return on_device(category, name, (after + chance.randrange(400)) / 10, chance.choice([0, *range(1, 90)]) / 10, stream, device, **arguments)


def check_random(folder, seed):
    index = index_of(folder / "trace.json", random_trace(seed))
    database = open_index(index)
    oracle = TimeOracle(database)
    timeline = [row for row in rows("timeline", index) if row["device"] not in ("mean", "min", "max")]
    expected = oracle.timelines()
    equal([row["device"] for row in timeline], sorted(expected), "devices")
    for row in timeline:
        equal({key: row[key] for key in expected[row["device"]]}, expected[row["device"]], f"device {row['device']}")
    for options, wait in (((), 2000), (("--kernel-wait", "9us"), 9000)):
        gaps = [(gap["device"], gap["ts"], gap["dur"], gap["launch_cause"]) for gap in rows("gaps", index, "--each", *options)]
        equal(sorted(gaps), sorted(oracle.gaps(wait)), "gaps")
    for limit in (1, 4):
        some = rows("gaps", index, "--limit", limit)
        equal(sum(gap["dur"] for gap in some), sum(row["idle"] for row in timeline), f"idle with --limit {limit}")
    launches = oracle.launches()
    for row in rows("launches", index):
        calls, kernels, api, delay, early, queue = launches.pop(None if row["call"] == "[no launch]" else row["call"])
        equal((row["instances"], row["kernels"], row["total_time"]), (calls, kernels, api), row["call"])
        if row["delay_avg"] is not None:
            sums = (round(row["delay_avg"] * row["launching"]), row["started_early"],
                    round(row["queue_avg"] * row["launching"]))
            equal(sums, (delay, early, queue), f"delays of {row['call']}")
    require(not launches, f"not reported: {list(launches)}")
    equal(sum(row["exposed"] for row in rows("comms", index)), sum(row["exposed_comm"] for row in timeline), "exposed")
    equal(sum(row["instances"] for row in rows("memcpys", index)),
          database.execute("SELECT count(*) FROM memory_op").fetchone()[0], "copies")
    database.close()


def main(cases, _):
    for name, options in SHAPES.items():
        cases.run_apart(name, check_truth, options)
    for seed in range(12):
        cases.run_apart(f"random {seed}", check_random, seed)
