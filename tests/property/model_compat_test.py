"""`model --compat msmodeling` on random models and profiles, faulty ones among them, against an independent account of
what the original does (support/reference_msmodeling.py). Where that ends with a traceback, ours is one line."""
import csv
import json
import os
import random
from itertools import zip_longest

import reference_msmodeling
from trace_cases import equal, require, run

SEED = int(os.environ.get("TRACEDB_SEED", "20"))
ROUNDS = 60
OPS = ("aten.mm.default", "torch.ops.aten.mm.default", "aten.view.default", "tensor_cast.all_reduce.default",
       "tensor_cast.rms_norm.default", "torch.ops.torch.ops.aten.add.Tensor", "tensor_cast.ALL_REDUCE", "Überop")
KERNELS = ("MatMulV2", "RmsNorm", "hcom_allReduce_", "Add", "Übertype", "GroupedMatmul", "hcom_x_AicpuKernel")
KERNEL_TYPES = (*KERNELS, "MatMulV2,RmsNorm", " A , B ,, ", "P,P", ",", "?", "", None, 123, 1.5, True)
PARTS = ("[('MatMulV2', 9.0), ('hcom_allReduce_', 8.29)]", "[['A', 1.5], ['B', 2]]", "garbage", "[]", "[10, 20]",
         "(('A', 1.0),)", "{'A': 1.0}", "[('A', 1.0, 3)]", "[('A', 1)", "[('A', 01)]", "[('A', 1.5)\n,('B', 2)]",
         "[('it\\'s', -0.0), (\"A\", 1e-05)]", None, 5, [["A", 1]])
BAD_PARTS = ("[('A', 'x')]", "[('A', None)]", "[(['A'], 1)]", "[('A', (1,))]")
DURATIONS = (0, 1, 7, 12.5, 0.05, 0.25, 1e16, -3, 123456789, 2.675, True)
BAD_DURATIONS = ("12", None, [1])
STARTS = ("100.2", "100.9", "101.0", "1736413971558972.912\t", "1736413971558973.0", "-0.75", "0.75", "N/A", "", "1e3",
          "1,234.5", " 7 ")
US = ("1.5", "  3.5  ", "1e1", "-2.25", "0", "185.504", "0.05", "0.25")
BAD_US = ("N/A", "", "1,5", "0x10", "1__0", "٣x", "--1")
PASSES = ({}, {"n_forward_passes": 1}, {"n_forward_passes": 3}, {"n_forward_passes": 2.5}, {"n_forward_passes": 0},
          {"n_forward_passes": -1}, {"n_forward_passes": True}, {"n_forward_passes": 1e-3})
BAD_PASSES = ([], "x")
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
    pids = random_.sample((1, 7, 2.5, 8, 16, 1736, -1, 3.0, True), random_.choice((1, 1, 1, 2, 3, 5)))
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
        values = {"Type": kind, "Start Time(us)": random_.choice(STARTS),
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


def compat(folder):
    return run("trace-query", "model", "--compat", "msmodeling", "--trace-dir", "traces", "--data-dir", "db",
               "--output", "out/op.json", check=False, cwd=folder)


def check(seed, folder):
    folder.mkdir()
    mapping = make(random.Random(seed), folder)
    code, out, errors, document = reference_msmodeling.compare(folder, mapping)
    result = compat(folder)
    same_text(result.stdout, out, "standard output")
    equal(result.returncode, 3 if code else 0, "exit code")
    *warnings, last = result.stderr.splitlines() or [""]
    if code:
        require(last.startswith("trace-query: ") and all(line.startswith("Warning: ") for line in warnings), result.stderr)
        require(any(f"{name}/" in last for name in ("traces", "results")), f"names no file: {last}")
    else:
        equal(result.stderr.rstrip("\n"), errors, "standard error")
    written = folder / "out/op.json"
    equal(written.exists(), document is not None, "JSON file")
    if document is not None:
        same_text(written.read_text(encoding="utf-8"), document, "JSON")


USUAL = {"m6": "{}", "model": json.dumps({"traceEvents": [event(random.Random(1), 1, 0)]}),
         "profile": "Type,Start Time(us),Duration(us)\nA,1,2\n"}
SLICE = '{"traceEvents": [{"ph": "X", "pid": 1, "name": "a", "dur": 1, "args": %s}]}'
# What Python takes in some of these, and we do not.
REFUSED = {
    "passes that are a text": ("m6", '{"n_forward_passes": "2"}', "n_forward_passes"),
    "NaN for passes": ("m6", '{"n_forward_passes": NaN}', "not JSON"),
    "NaN in a model": ("model", SLICE.replace("1, \"args", "NaN, \"args") % "{}", "not JSON"),
    "a list of kernels": ("model", SLICE % '{"kernel_type": ["a"]}', "event 1: its kernel_type"),
    "part without time": ("model", SLICE % """{"kernel_type": "a", "sub_kernel_durations": "[('a', None)]"}""", "event 1: "),
    "two pids": ("model", '{"traceEvents": [{"ph": "X", "pid": 7}, {"ph": "X", "pid": 16}]}', "2 pids: 16, 7"),
    "endless duration": ("profile", "Type,Duration(us)\nA,1\nB,inf\n", "line 3: Duration(us) 'inf'"),
    "row without a duration": ("profile", "Type,Duration(us)\nA\n", "line 2: no cell for the column 'Duration(us)'"),
    "type in another encoding": ("profile", "Type,Duration(us)\n\udcff,1\n", "line 2: the type is no UTF-8"),
    "mapping that is a list": ("mapping", "[a]", "no mapping of operators")}


def check_refused(folder, what, text, message):
    folder.mkdir()
    _, m6, model, profile_name = reference_msmodeling.SCENARIOS[0]
    files = {"m6": f"results/{m6}.json", "model": f"results/{model}.json", "profile": f"traces/{profile_name}.csv",
             "mapping": "db/op_mapping.yaml"}
    for name in ("results", "traces", "db"):
        (folder / name).mkdir()
    for name, content in {**USUAL, what: text}.items():
        (folder / files[name]).write_bytes(content.encode(errors="surrogateescape"))
    result = compat(folder)
    last = result.stderr.splitlines()[-1]
    equal((result.returncode, (folder / "out/op.json").exists()), (3, False), "exit code, JSON file")
    require(last.startswith(f"trace-query: {files[what]}") and message in last, last)


def main(cases, folder):
    for seed in range(SEED, SEED + ROUNDS):
        cases.run(f"seed {seed}", check, seed, folder / str(seed))
    for number, (name, refused) in enumerate(REFUSED.items()):
        cases.run(name, check_refused, folder / f"refused{number}", *refused)
