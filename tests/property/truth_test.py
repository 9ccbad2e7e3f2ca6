"""The ground truth of synthetic traces is recovered exactly, whatever the options: classes, steps, layers and planted idle.
Options are drawn by chance, the same each time; both vendors."""
import collections
import random
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
from classes_test import classes
from steps_test import FUSIONS, LABELS, build, check_steps, rows
from trace_cases import equal, require, scratch_folder

SEEDS = range(6)
SPELLINGS = ("add_norm", "attention", "inductor", "rope_append", "rope_cache")
IDLE = 4_000_000  # ns: more than any wait that was not planted


def options_by_chance(chance):
    fusions = [fusion for fusion in FUSIONS.split(",") if chance.random() < 0.4]
    switches = {name: chance.choice(("on", "off")) for name in ("graphs", "python-stacks", "moe", "quantise", "qk-norm",
                                                                "jittered-streams", "correlation")}
    numbers = {"layers": chance.randrange(3, 8), "steps": chance.randrange(5, 10), "streams": chance.choice((1, 2, 3)),
               "tensor-parallel": chance.choice((1, 2, 8)), "batch": chance.choice((1, 16, 64)),
               "prompt-tokens": chance.choice((128, 2048)), "mixed-fraction": chance.choice((0, 0.3)),
               "jitter": chance.choice((0, 3, 10)), "idle": IDLE, "seed": chance.randrange(1, 1000),
               "step-gap": chance.choice((0, 2000000)),
               "spelling": ",".join(chance.sample(SPELLINGS, chance.choice((0, 1, 3))))}
    options = [part for name, value in {**switches, **numbers}.items() for part in (f"--{name}", value)]
    return options + (["--fuse", ",".join(fusions)] if fusions else [])


def check_classes(index, truth, labels):
    equal(classes(index), {name: expected["class"] for name, expected in truth["names"].items()}, "classes of all names")
    expected = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        expected[label["class"]][0] += 1
        expected[label["class"]][1] += int(label["dur"])
    equal({row["op"]: [row["instances"], row["total_time"]] for row in rows("ops", index)}, dict(expected),
          "kernels and time of each class")


def check_layers(index, labels):
    expected = collections.defaultdict(lambda: [0, 0])
    for label in labels:
        cell = expected[int(label["step"]), LABELS.get(label["layer"], label["layer"])]
        cell[0] += 1
        cell[1] += int(label["dur"])
    for step in sorted({step for step, _ in expected}):
        found = {row["layer"]: [row["instances"], row["total_time"]] for row in rows("layers", index, "--step", step)}
        equal(found, {layer: cell for (s, layer), cell in expected.items() if s == step}, f"layers of step {step}")


def check_idle(index, truth):
    (timeline,) = rows("timeline", index)
    zero = timeline["begin"] - truth["device_time"]["ts"]
    planted = sorted((step["planted_idle_ts"] + zero, step["planted_idle_ns"]) for step in truth["steps"])
    require(all(duration >= IDLE for _, duration in planted), "no idle was planted")
    waits = sorted((gap["ts"], gap["dur"]) for gap in rows("gaps", index, "--each")
                   if gap["launch_cause"] == "host_wait" and gap["dur"] >= IDLE)
    equal(waits, planted, "planted idle")


def check(folder, options):
    index, truth, labels = build(folder, options)
    check_classes(index, truth, labels)
    check_steps(index, truth)
    check_layers(index, labels)
    check_idle(index, truth)


def main(cases):
    for vendor in ("amd", "nvidia"):
        for seed in SEEDS:
            options = ["--vendor", vendor, *options_by_chance(random.Random(f"{vendor} {seed}"))]
            with scratch_folder() as folder:
                cases.run(" ".join(map(str, options)), check, folder, options)
