"""`export --replay`: the program is run with a torch of our own that notes what its operators are called with. Against the arguments of a
made trace, argument by argument, and of real ones, set by set."""
import ast
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict

from made_events import event, index_of
from trace_cases import equal, ingest, kineto_traces, open_index, read_trace, refused, require, run

# Enough of torch to call operators by their schemas: each call is a line of calls.jsonl.
TORCH = '''
import json, types
class dtype:
    def __init__(self, name): self.name, self.is_floating_point = name, "float" in name
for _name in ("int64", "int32", "uint8", "uint16", "bool", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn"):
    globals()[_name] = dtype(_name)
class Tensor:
    def __init__(self, size): self.size, self.shape, self.strides, self.type = size, [size], None, "float"
    def to(self, type): self.type = type.name; return self
    def as_strided(self, shape, strides):
        assert all(n == 0 for n in shape) or sum((n - 1) * s for n, s in zip(shape, strides)) < self.size, (shape, strides, self.size)
        self.shape, self.strides = shape, strides; return self
    def reshape(self, shape):
        count = 1
        for n in shape: count *= n
        assert count == self.size, (shape, self.size)
        self.shape = shape; return self
def randn(size, device): assert device == "cpu"; return Tensor(size)
zeros = randn
cuda = types.SimpleNamespace(is_available=lambda: False)
def device(name): return "device " + name
class Place:
    def __init__(self, name, kwarg_only): self.name, self.kwarg_only, self.default_value = name, kwarg_only, "its default"
    def has_default_value(self): return self.name == "text"
def plain(value):
    if isinstance(value, Tensor): return [value.type, value.shape, value.strides]
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value
class Overload:
    def __init__(self, name, places): self.name, self._schema = name, types.SimpleNamespace(arguments=[Place(n, k) for n, k in places])
    def __call__(self, *values, **named):
        if self.name == "wrong": raise TypeError("not these")
        with open("calls.jsonl", "a") as file: print(json.dumps([self.name, plain(list(values)), {k: plain(v) for k, v in named.items()}]), file=file)
class Packet:
    def __init__(self, overloads):
        self.all = overloads
        for name, places in overloads.items(): setattr(self, name, Overload(name, places))
    def overloads(self): return list(self.all)
ops = types.SimpleNamespace(aten=types.SimpleNamespace(**{name: Packet(all) for name, all in json.load(open("schemas.json")).items()}))
'''
SCHEMAS = {"addmm": {"out": [["a", False]] * 6, "wrong": [["x", False]] * 5,
                     "default": [["self", False], ["mat1", False], ["mat2", False], ["beta", True], ["alpha", True]]},
           "text": {"default": [["self", False], ["text", True], ["device", True]]}, "save": {"default": [["filename", False]]},
           "many": {"default": [[f"a{i}", False] for i in range(9)]}}
HOSTILE = "\"); import os; os.system('touch pwned') #\\\n'''"


def op(name, dims, types, strides=None, values=None, ts=1):
    args = {"Input Dims": dims, "Input type": types} | ({"Input Strides": strides} if strides is not None else {}) | (
        {"Concrete Inputs": values} if values is not None else {})
    return event("cpu_op", name, ts, 1, **args)


def program(folder, events, name, *options):
    index = index_of(folder / "trace.json", events)
    run("trace-query", "export", index, "--replay", name, "-o", folder / "replay.py", *options)
    return folder / "replay.py"


def calls_of(path, check=True):
    folder = path.parent
    (folder / "torch.py").write_text(TORCH)
    (folder / "schemas.json").write_text(json.dumps(SCHEMAS))
    (folder / "calls.jsonl").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, path.name], cwd=folder, capture_output=True, text=True)
    if not check:
        return done
    equal(done.returncode, 0, done.stderr)
    lines = [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]
    return list({json.dumps(line): line for line in lines}.values()), done.stdout


def arguments_are_the_traces(folder):
    events = [op("aten::addmm", [[8], [4, 2], [2, 8], [], []], ["c10::BFloat16", "c10::BFloat16", "float", "Scalar", "Scalar"],
                 [[0], [1, 4], [], [], []], ["", "", "", "1", "0.5"], ts) for ts in (1, 3)]
    events.append(op("aten::addmm", [[], [0, 2], [2, 8], [], []], ["float", "float", "float", "Scalar", "Scalar"], None, ["", "", "", "1", "inf"]))
    calls, out = calls_of(program(folder, events, "aten::addmm"))
    equal(calls, [["default", [["bfloat16", [8], [0]], ["bfloat16", [4, 2], [1, 4]], ["float32", [2, 8], None]], {"beta": 1, "alpha": 0.5}],
                  ["default", [["float32", [], None], ["float32", [0, 2], None], ["float32", [2, 8], None]], {"beta": 1, "alpha": float("inf")}]], "addmm")
    require("2 in the trace" in out and "1 in the trace" in out, out)


def kinds_of_arguments(folder):
    dims = [[[4], [1, 3]], [5], [], [3], [], [], [], [], [2]]
    types = ["TensorList", "unsigned short", "", "bool", "ScalarList", "Scalar", "Scalar", "Scalar", "c10::Float8_e4m3fn"]
    values = ["", "", "", "", "[3, 3]", "True", "cuda:0", HOSTILE, ""]
    calls, _ = calls_of(program(folder, [op("aten::many", dims, types, None, values)], "aten::many"))
    equal(calls, [["default", [[["float32", [4], None], ["float32", [1, 3], None]], ["uint16", [5], None], None, ["bool", [3], None], [3, 3], True,
                               "cuda:0", HOSTILE, ["float8_e4m3fn", [2], None]], {}]], "many")
    require(not (folder / "pwned").exists(), "a text of the trace was run")


def what_is_not_recorded(folder):
    """Texts and devices are never: the default of the operator, and the device of the program."""
    calls, _ = calls_of(program(folder, [op("aten::text", [[4], [], []], ["float", "", ""], None, ["", "", ""])], "aten::text"))
    equal(calls, [["default", [["float32", [4], None]], {"text": "its default", "device": "device cpu"}]], "text")
    for name, why in (("aten::save", "works on files"), ("aten::unknown", "no such operator here"), ("other::op", "no such operator here")):
        done = calls_of(program(folder, [op(name, [[]], ["Scalar"], None, ["'/x'"])], name), check=False)
        require(done.returncode == 1 and why in done.stderr and "Traceback" not in done.stderr, f"{name}: {done.stderr}")


def what_cannot_be_run(folder):
    lost = calls_of(program(folder, [op("aten::addmm", [[2], []], ["float", "Scalar"])], "aten::addmm"), check=False)
    require(lost.returncode == 1 and "does not record an argument" in lost.stderr, lost.stderr)
    both = program(folder, [*(op("aten::addmm", [[2], []], ["float", "Scalar"], ts=ts) for ts in (1, 2)),
                            op("aten::addmm", [[2], [2, 2], [2, 2], [], []], ["float"] * 3 + ["Scalar"] * 2, None, ["", "", "", "1", "1"], 3)], "aten::addmm")
    done = calls_of(both, check=False)
    require(done.returncode == 1 and "does not record an argument" in done.stderr and "1 in the trace: [[2],[2,2]" in done.stdout,
            f"a set that can be run beside one that cannot: {done.stderr} {done.stdout}")
    wrong = calls_of(program(folder, [op("aten::addmm", [[2]], ["float"], None, [""])], "aten::addmm"), check=False)
    require(wrong.returncode == 1 and "no overload takes these 1 arguments" in wrong.stderr, wrong.stderr)
    index = index_of(folder / "some.json", [event("kernel", "k", 20, 1, 0, 7), event("cpu_op", "aten::bare", 9, 1),
                                            op("MmBackward0", [[2]], ["float"])])
    for name in ("::", "aten::{cases}", "{operator}::{cases}", "aten::a b", "aten::"):
        refused(2, "no such name", "trace-query", "export", index, "--replay", name, "-o", folder / "never.py")
    for name, why in (("aten::none", "no such operator"), ("aten::bare", "record_shapes=True"), ("MmBackward0", "no such name")):
        refused(2, why, "trace-query", "export", index, "--replay", name, "-o", folder / "never.py")
        require(not (folder / "never.py").exists(), f"{name}: a file was written")
    refused(2, "does not apply", "trace-query", "export", index, "--replay", "aten::bare", "--top-gaps", "3", "-o", folder / "never.py")


def tokens_that_are_no_json(folder):
    """Ingest keeps what a trace has in place of a list: no such text becomes code, and no list cut short another call."""
    calls = "+str(__import__('os').mkdir('pwned'))+"
    text = json.dumps({"traceEvents": [op("aten::addmm", "DIMS", "TYPES", "STRIDES", "VALUES"), op("aten::addmm", [[2], [2]], ["float"], ts=9)]})
    for name, token in (("DIMS", calls), ("TYPES", "+str()+"), ("STRIDES", "+str()+"), ("VALUES", "+str())#")):
        text = text.replace(f'"{name}"', token)
    (folder / "trace.json").write_text(text)
    index = ingest(folder / "trace.json", folder / "trace.tracedb")
    said = run("trace-query", "export", index, "--replay", "aten::addmm", "-o", folder / "replay.py").stderr
    lost = calls_of(folder / "replay.py", check=False)
    require(lost.returncode == 1 and "cannot be made" in lost.stderr, lost.stderr)
    require("Traceback" not in lost.stderr and not (folder / "pwned").exists(), f"{lost.stderr}")
    with open_index(index) as db:
        bad = db.execute("SELECT count(*) FROM op_shape WHERE NOT json_valid(dims)").fetchone()[0]
    require(("1 set of arguments without" in said) == (bad > 0), said)


def real_operators(folder):
    asked = 0
    for trace in kineto_traces():
        told = defaultdict(Counter)
        for event in read_trace(trace)[0]:
            args = event.get("args") or {}
            if event.get("cat") in ("cpu_op", "Operator") and re.fullmatch(r"\w+(::\w+)+", event["name"]) and "Input type" in args and "Input Dims" in args:
                told[event["name"]][json.dumps([args["Input Dims"], args["Input type"], args.get("Input Strides"), args.get("Concrete Inputs")])] += 1
        if not told:
            continue
        index = ingest(trace, folder / "x.tracedb")
        for name in sorted(told, key=lambda name: -sum(told[name].values()))[:3]:
            asked += 1
            text = run("trace-query", "export", index, "--replay", name, "-o", "-").stdout
            cases = next(ast.literal_eval(node.value) for node in ast.parse(text).body
                         if isinstance(node, ast.Assign) and node.targets[0].id == "CASES")
            equal(Counter({json.dumps([json.loads(part) for part in case]): calls for calls, *case in cases}), told[name], f"{name} of {trace.name}")
    require(asked > 40, f"{asked} operators of real traces")


def main(cases, folder):
    cases.each_apart((arguments_are_the_traces, kinds_of_arguments, what_is_not_recorded, what_cannot_be_run, tokens_that_are_no_json))
    if kineto_traces():
        cases.run_apart("real operators", real_operators)
    else:
        cases.skip("real operators", "no real traces here")
