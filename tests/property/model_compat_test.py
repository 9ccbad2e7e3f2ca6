"""`model --compat msmodeling` on random models and profiles, hostile ones among them, against an independent account of
what the original does (support/reference_msmodeling.py)."""
import csv
import json
import os
import random
import sys
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import reference_msmodeling  # noqa: E402
from trace_cases import Cases, equal, run, scratch_folder  # noqa: E402

SEED = int(os.environ.get("TRACEDB_SEED", "20"))
ROUNDS = 60
OPS = ("aten.mm.default", "torch.ops.aten.mm.default", "aten.view.default", "tensor_cast.all_reduce.default",
       "tensor_cast.rms_norm.default", "torch.ops.torch.ops.aten.add.Tensor", "tensor_cast.ALL_REDUCE", "Überop")
KERNELS = ("MatMulV2", "RmsNorm", "hcom_allReduce_", "Add", "Übertype", "GroupedMatmul", "hcom_x_AicpuKernel")
KERNEL_TYPES = (*KERNELS, "MatMulV2,RmsNorm", " A , B ,, ", "P,P", ",", "?", "", None, 123, 1.5, True, ["a", "b'"],
                {"x": None, "y": "\"'"})
PARTS = ("[('MatMulV2', 9.0), ('hcom_allReduce_', 8.29)]", "[['A', 1.5], ['B', 2]]", "garbage", "[]", "[10, 20]",
         "(('A', 1.0),)", "{'A': 1.0}", "[('A', 1.0, 3)]", "[('A', True), (\"B\\u00fc\", -1e2),]", "[('A' 'B', 0x10)]",
         " [('A', 1_0.5)] # note", "[(u'A', +1.5), (r'B\\n', .5)]", "[('A', 1)", "[('A', 01)]", "[('A', 1.)\n,('B', 2)]",
         "[('A', -0.0)]", None, 5, [["A", 1]])
BAD_PARTS = ("[('A', 'x')]", "[('A', None)]", "[(['A'], 1)]", "[('A', b'x')]", "[('A', (1,))]")
DURATIONS = (0, 1, 7, 12.5, 0.05, 0.25, 1e16, -3, 123456789, 2.675, True)
BAD_DURATIONS = ("12", None, [1], 10**400)
STARTS = ("100.2", "100.9", "101.0", "1736413971558972.912\t", "1736413971558973.0", "-0.75", "0.75", "N/A", "", "1e3",
          "1,234.5", "nan", " 7 ", "1_0.5")
US = ("1.5", "  3.5  ", "1e1", "1_0", "-2.25", "0", "185.504", "0.05", "inf", "nan", "1e400", "0.25", "+.5")
BAD_US = ("N/A", "", "1,5", "0x10", "1__0", "٣x", "--1")
PASSES = ({}, {"n_forward_passes": 1}, {"n_forward_passes": 3}, {"n_forward_passes": 2.5}, {"n_forward_passes": 0},
          {"n_forward_passes": -1}, {"n_forward_passes": True}, {"n_forward_passes": 1e308}, {"n_forward_passes": 1e-3})
BAD_PASSES = ([], "x", {"n_forward_passes": "2"}, {"n_forward_passes": None}, {"n_forward_passes": 10**400})
MAPPING = {"aten.mm.default": {"kernel_type": "MatMulV2"}, "aten.view.default": {"zero_cost": True},
           "tensor_cast.rms_norm.default": {"zero_cost": "false"}, "aten.add.Tensor": {"kernel_type": ""},
           "tensor_cast.ALL_REDUCE": "text"}


def pick(random_, usual, bad, share):
    return random_.choice(bad if random_.random() < share else usual)


def event(random_, pid, bad):
    made = {"name": random_.choice(OPS), "ph": "X", "ts": 0, "dur": pick(random_, DURATIONS, BAD_DURATIONS, bad),
            "pid": pid, "args": {}}
    if random_.random() < 0.7:
        made["args"]["kernel_type"] = random_.choice(KERNEL_TYPES)
    if random_.random() < 0.4:
        made["args"]["sub_kernel_durations"] = pick(random_, PARTS, BAD_PARTS, bad)
    for key in ("dur", "args", "name", "pid"):
        if random_.random() < (0.05 if key in ("dur", "args") else bad / 3):
            del made[key]
    if random_.random() < bad / 3:
        made["args"] = random_.choice((None, [], "x", 5))
    if random_.random() < bad / 3:
        made["name"] = random_.choice((None, 5, ["x"]))
    return made


def trace(random_, bad):
    pids = random_.sample((1, 7, 2.5, 8, 16, 1736, -1, 3.0, True, 10**20), random_.choice((1, 1, 1, 2, 3, 5)))
    events = [event(random_, random_.choice(pids), bad) for _ in range(random_.randrange(25))]
    for pid in pids:
        name = random_.choice(("analytic", "Profiling (PID)", "my EMPIRICAL model", "x"))
        if random_.random() < 0.6 or not bad:
            args = pick(random_, ({"name": name},), ({}, {"name": None}, {"name": 3}), bad / 2)
            events.insert(0, {"name": "process_name", "ph": "M", "pid": pid, "args": args})
    if not bad:
        events.insert(0, {"name": "process_name", "ph": "M", "pid": pids[0], "args": {"name": "profiling"}})
    whole = {"traceEvents": events}
    if random_.random() < bad / 3:
        whole = random_.choice(([], {}, {"traceEvents": None}, {"traceEvents": "ab"}, {"traceEvents": {"a": 1}}, 3,
                                {"traceEvents": [3]}, "x"))
    text = json.dumps(whole, ensure_ascii=random_.random() < 0.5, indent=random_.choice((None, 1)))
    if random_.random() < bad / 3:
        text = random_.choice(("", "{", text[:-3], text.replace(":", ";", 1), text + "x", "[1,]", "{'a': 1}", "nul"))
    return text


def profile(random_, path, bad):
    heads = ["Step Id", "Name", "Type", "Start Time(us)", "Duration(us)", "Input Shapes"]
    for head in ("Type", "Start Time(us)", "Duration(us)"):
        if random_.random() < 0.05:
            heads.remove(head)
    if random_.random() < 0.1:
        heads.append("Type")
    ends = random_.choice(("\n", "\r\n", "\r"))
    rows = [heads]
    for _ in range(random_.randrange(30)):
        kind = random_.choice((*KERNELS, " MatMulV2 ", "", "  ", "xAicpuKernel", "AicpuKernel", "hcom_allGather_"))
        values = {"Type": kind, "Start Time(us)": random_.choice(STARTS + ("inf",) * (random_.random() < bad)),
                  "Duration(us)": pick(random_, US, BAD_US, bad / 2), "Name": "a \"quote\", and comma" + ends}
        row = [values.get(head, "16,5120;1") for head in heads]
        if random_.random() < bad / 3:
            row = row[:random_.randrange(len(row))]
        rows.append(row + ["extra"] * (random_.random() < 0.1))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\ufeff" if random_.random() < 0.05 else "")
        csv.writer(file, lineterminator=ends, quoting=random_.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))).writerows(rows)
        file.write(random_.choice(("", ends, ends * 2)))


def make(random_, folder):
    for name in ("traces", "results", "db"):
        (folder / name).mkdir()
    bad = random_.choice((0, 0, 0.1, 0.4))
    for _, m6, model, measured in reference_msmodeling.SCENARIOS:
        if random_.random() < 0.9:
            (folder / f"results/{m6}.json").write_text(json.dumps(pick(random_, PASSES, BAD_PASSES, bad / 3)))
        if random_.random() < 0.9:
            (folder / f"results/{model}.json").write_text(trace(random_, bad), encoding="utf-8")
        if random_.random() < 0.9:
            profile(random_, folder / f"traces/{measured}.csv", bad)
    if random_.random() < 0.3:
        return {}
    (folder / "db/op_mapping.yaml").write_text(json.dumps(MAPPING))  # JSON is YAML
    return MAPPING


def same_text(actual, expected, what):
    """Names the first line that differs."""
    for number, (own, other) in enumerate(zip_longest(actual.split("\n"), expected.split("\n"))):
        equal(own, other, f"{what}, line {number}")


def check(seed, folder):
    folder.mkdir()
    mapping = make(random.Random(seed), folder)
    code, out, errors, document = reference_msmodeling.compare(folder, mapping)
    result = run("trace-query", "model", "--compat", "msmodeling", "--trace-dir", "traces", "--data-dir", "db",
                 "--output", "out/op.json", check=False, cwd=folder)
    same_text(result.stdout, out, "standard output")
    equal(result.returncode, code, "exit code")
    own = result.stderr.rstrip("\n")
    equal(own if code == 0 else own.split("\n")[-1], errors, "standard error")
    written = folder / "out/op.json"
    equal(written.exists(), document is not None, "JSON file")
    if document is not None:
        same_text(written.read_text(encoding="utf-8"), document, "JSON")


def main():
    cases = Cases()
    with scratch_folder() as folder:
        for seed in range(SEED, SEED + ROUNDS):
            cases.run(f"seed {seed}", check, seed, folder / str(seed))
    cases.finish()


main()
