"""`modules` and `operators --by module`: figures against sums worked out here from the tables of the index, of synthetic and real
traces; and against TraceLens' tree of modules and its operators by module."""
import csv
import gzip
import io
from collections import defaultdict

from made_events import event, index_of
from operator_work_test import trace_called
from time_oracle import length, union
from trace_cases import REFERENCE, equal, ingest, kineto_traces, make_trace, open_index, refused, require, rows, run

PREFIX = "nn.Module: "
FIGURES = ("calls", "host_total", "host_self", "device_total", "device_self", "device_busy", "kernels")
# Modules whose union of device time TraceLens gives as less than ours; the kernels of each follow each other, so that it should be
# their sum, as ours is.
LESS_BUSY = {"resnet_checkpoint_ddp_mi300x": 32, "llama_tp4_vllm_h100": 4}


def class_of(name):
    head, _, number = name.rpartition("_")
    return head if head and number.isdigit() else name


def module_paths(db, by_class):
    """{stack: tuple of modules on it, outermost first}, and {stack: itself a module's}."""
    frames = {frame: name for frame, name in db.execute("SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id")}
    paths, own = {None: ()}, set()
    for stack, parent, frame in db.execute("SELECT id, parent_id, frame_id FROM stack ORDER BY id"):
        paths[stack] = paths[parent]
        if frames[frame].startswith(PREFIX):
            name = frames[frame].removeprefix(PREFIX)
            paths[stack] += (class_of(name) if by_class else name,)
            own.add(stack)
    return paths, own


def forward_paths(db, paths):
    """{operator: path of the forward operator that has its sequence number, or that of one around it}"""
    ops = {op: (parent, (process, number) if isinstance(number, int) and number >= 0 else None) for op, parent, number, process in db.execute(
        "SELECT o.id, o.parent_id, o.sequence_number, t.process_id FROM cpu_op o JOIN thread t ON t.id = o.thread_id")}

    def numbers(op):
        while op in ops:
            if ops[op][1]:
                yield op, ops[op][1]
            op = ops[op][0]

    last = {}
    for op, stack in db.execute("SELECT cpu_op_id, stack_id FROM kernel WHERE pass = 'forward'"):
        for around, number in numbers(op) if paths.get(stack) else ():
            if around >= last.get(number, (0,))[0]:
                last[number] = around, paths[stack]
    return lambda op: next((last[number][1] for _, number in numbers(op) if number in last), ())


def expected(index, tree, backward=False):
    """{class, or path of the tree: figures}"""
    out = defaultdict(lambda: dict.fromkeys(FIGURES, 0) | {"spans": []})
    with open_index(index) as db:
        paths, own = module_paths(db, not tree)
        follow = forward_paths(db, paths) if backward else lambda op: ()
        keys = (lambda path: [path[:i + 1] for i in range(len(path))]) if tree else (lambda path: [*dict.fromkeys(path)])
        innermost = (lambda path: path) if tree else (lambda path: path[-1])
        for table in ("kernel", "memory_op"):
            for ts, dur, stack, op in db.execute(f"SELECT ts, coalesce(dur, 0), stack_id, cpu_op_id FROM {table}"):
                path = paths[stack] or follow(op)
                none = "[no stack]" if stack is None else "[no module]"
                out[innermost(path) if path else none]["device_self"] += dur
                for key in keys(path) if path else [none]:
                    out[key]["device_total"] += dur
                    out[key]["kernels"] += table == "kernel"
                    out[key]["spans"].append((ts, ts + dur))
        for row in rows("sql", index, "SELECT stack_id, count(*) AS calls, total(dur) AS time FROM python_call GROUP BY 1"):
            if row["stack_id"] not in own:
                continue
            path, time = paths[row["stack_id"]], int(row["time"])
            figures = out[innermost(path)]
            figures["calls"] += row["calls"]
            figures["host_self"] += time
            figures["host_total"] += 0 if not tree and path[-1] in path[:-1] else time
            if len(path) > 1:
                out[innermost(path[:-1])]["host_self"] -= time
    for key, figures in out.items():
        figures["device_busy"] = length(union(figures.pop("spans")))
        if isinstance(key, str) and key.startswith("["):
            figures.update(calls=None, host_total=None, host_self=None)
    return dict(out)


def found(index, tree, *options):
    out, path = {}, ()
    for row in rows("modules", index, "--limit", 0, *(("--tree",) if tree else ()), *options):
        key = row["module"]
        if tree and not key.startswith("["):
            key = path = (*path[:row["depth"]], key)
        require(key not in out, f"{key} twice")
        out[key] = {name: row[name] for name in FIGURES}
    return out


def check_trace(index):
    for tree in (False, True):
        ours, theirs = found(index, tree), expected(index, tree)
        equal(sorted(map(str, ours)), sorted(map(str, theirs)), "modules")
        for key, figures in theirs.items():
            equal(ours[key], figures, f"{key}")
    every = sum(row["device_self"] for row in rows("operators", index, "--limit", 0, "--by", "module"))
    equal(every, sum(figures["device_self"] for figures in found(index, False).values()), "device time of operators by module")


def check_training(folder):
    index = ingest(make_trace(folder / "t.json", "--model", "train", "--layers", 3, "--steps", 3), folder / "t.tracedb")
    check_trace(index)
    for tree in (False, True):
        equal(found(index, tree, "--backward"), expected(index, tree, True), "with the backward pass")
    without, followed = (found(index, False, *options)["[no stack]"]["device_self"] for options in ((), ("--backward",)))
    require(followed < without / 5, f"{followed} of {without} ns of the backward pass have no module")
    first = found(index, False, "--step", 0)
    require(all(figures["calls"] is None for figures in first.values()), "calls of a selection are known")
    said = run("trace-query", "modules", "--step", 0, index).stderr
    require("of a selection" in said, f"it is not said why there are no calls: {said}")


def check_processes(folder):
    """Ranks in one trace: both count their sequence numbers from 0, and their modules differ."""
    events = []

    def add(cat, name, pid, tid, ts, dur, **args):
        events.append(event(cat, name, ts, dur, pid, tid, **args))

    for pid, module in ((1, "Alpha_0"), (2, "Beta_0")):
        add("python_function", f"nn.Module: {module}", pid, 10, 0, 90, **{"Python id": pid, "Python parent id": None})
        for step, (tid, ts, name) in enumerate(((10, 10, "aten::mm"), (11, 200, "autograd::engine::evaluate_function: MmBackward0"))):
            launch = pid * 10 + step
            add("cpu_op", name, pid, tid, ts, 20, **{"Sequence number": 5, "External id": launch} | ({"Fwd thread id": 1} if step else {}))
            add("cuda_runtime", "cudaLaunchKernel", pid, tid, ts + 5, 2, correlation=launch, **{"External id": launch})
            add("kernel", "gemm", pid - 1, 7, ts + 10, 3 * pid, correlation=launch, device=pid - 1, stream=7, **{"External id": launch})
    index = index_of(folder / "p.json", events)
    equal({key: figures["device_self"] for key, figures in found(index, False, "--backward").items()}, {"Alpha": 6000, "Beta": 12000},
          "backward work of two processes")
    equal(found(index, False, "--backward"), expected(index, False, True), "with the backward pass")
    refused(2, "--backward needs --by module", "trace-query", "operators", "--backward", index)


def read(path):
    with gzip.open(path) as file:
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))


def check_tracelens(folder, index):
    """Calls, host and device time of every module, and of every operator by module that has a name there."""
    ingest(trace_called(folder.name), index)
    if (folder / "nn_module_tree.csv.gz").exists():
        ours = {"/" + "/".join(key): figures for key, figures in found(index, True).items() if isinstance(key, tuple)}
        less = 0
        for row in read(folder / "nn_module_tree.csv.gz"):
            figures = ours[row["path"]]
            equal(figures["calls"], int(row["calls"]), f"calls of {row['path']}")
            require(abs(figures["host_total"] / 1000 - float(row["host_us"])) < 0.02, f"host time of {row['path']}: {figures}, theirs {row}")
            busy = float(row["gpu_busy_us"])
            require(busy < figures["device_total"] / 1000 + 0.02, f"device time of {row['path']}: {figures}, theirs {row}")
            less += abs(figures["device_busy"] / 1000 - busy) > 0.02
        equal(less, LESS_BUSY.get(folder.name, 0), "modules with another device time")
    if (folder / "ops_by_module.csv.gz").exists() and folder.name not in LESS_BUSY:
        ours = {(row["name"], row["module"]): row for row in rows("operators", index, "--limit", 0, "--by", "module")}
        for row in read(folder / "ops_by_module.csv.gz"):
            module = row["parent_module"].removeprefix(PREFIX)
            mine = next((ours[key] for key in ((row["name"], name) for name in (module, "[no module]", "[no stack]")) if key in ours), None)
            if mine is None:
                require("Launch" in row["name"], f"{row['name']} of {module} is missing")  # a call, where there is no operator
                continue
            equal(mine["calls"], int(row["Count"]), f"calls of {row['name']} in {module}")


def main(cases, folder):
    cases.each_apart((check_training, check_processes))
    for path in kineto_traces():
        cases.run_apart(path.name, lambda own, path=path: check_trace(ingest(path, own / "x.tracedb")))
    for reference in sorted((REFERENCE / "analyses/tracelens_roofline").glob("*")):
        cases.run_apart(f"TraceLens {reference.name}", lambda own, reference=reference: check_tracelens(reference, own / "x.tracedb"))
