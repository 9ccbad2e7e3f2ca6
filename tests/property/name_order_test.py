"""Graph replays whose names are out of step with their times: a warning where that was planted, and nowhere else."""
import itertools
import json
import random

from trace_cases import equal, ingest, make_trace, require, run, scratch_folder

CODE = "names_out_of_step"
SEEDS = range(3)


def shape(chance):
    return ["--layers", chance.randint(8, 32), "--steps", chance.randint(3, 8), "--mix", chance.choice(["D", "P,D*3"]),
            "--moe", chance.choice(["on", "off"]), "--quantise", chance.choice(["on", "off"]),
            "--qk-norm", chance.choice(["on", "off"]), "--tensor-parallel", chance.choice([1, 4]),
            "--streams", chance.choice([1, 2]), "--python-stacks", chance.choice(["on", "off"]),
            "--batch", chance.choice([8, 64]), "--jitter", chance.choice([1, 3]), "--seed", chance.randrange(1, 10**6)]


def warnings(index):
    text = run("trace-query", "warnings", "-q", "--json", "--limit", 0, index).stdout
    return [row for row in json.loads(text)["rows"] if row["code"] == CODE]


def check(folder, options, planted):
    path = make_trace(folder / "trace.json", *options)
    truth = json.loads((folder / "trace.json.truth.json").read_text(encoding="utf-8"))
    found = warnings(ingest(path, folder / "index.tracedb"))
    equal(bool(found), planted, "warning of names out of step")
    if planted:
        require(truth["misnamed"]["count"] > 0, "nothing was planted")
        equal(len(found), 1, "warnings of names out of step")


def main(cases):
    for vendor, seed in itertools.product(("amd", "nvidia"), SEEDS):
        chance = random.Random(f"{vendor} {seed}")
        options = ["--vendor", vendor, *shape(chance)]
        for shift in (0, chance.randint(1, 3)):
            with scratch_folder() as folder:
                cases.run(f"{' '.join(map(str, options))}, names shifted by {shift}", check, folder,
                          [*options, "--shift-names", shift], shift > 0)
    for name, options in (("a branch beside", ("--jittered-streams", "on")), ("without graphs", ("--graphs", "off")),
                          ("slow layers", ("--slow", "dense_gemm@3=3")), ("diffusion", ("--model", "diffusion", "--layers", 4)),
                          ("a waiting collective", ("--tensor-parallel", 4, "--collective-wait", 900000))):
        with scratch_folder() as folder:
            cases.run(name, check, folder, ["--steps", 5, *options], False)
