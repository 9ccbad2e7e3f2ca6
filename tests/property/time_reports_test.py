"""timeline, gaps, launches and comms of synthetic traces: the generator's ground truth exactly, and planted idle times as host waits.
Random traces against a slow reckoning: golden/reports_test.py."""
from trace_cases import equal, planted, require, rows

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


def main(cases, _):
    for name, options in SHAPES.items():
        cases.run_apart(name, check_truth, options)
