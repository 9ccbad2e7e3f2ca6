"""A model of TraceLens: what it says of the facts in our index by some of its rules, in microseconds.

Rows of operators are of those that launch work themselves; "direct" is the time in which that work ran, "subtree" that of
all below, too.
"""
import ast
import gc
import json
import statistics
from collections import defaultdict
from functools import lru_cache

from reference_index import deviation
from time_oracle import length, union

FLOAT = "float microseconds"
FILLS = "fills lost on ROCm"
MULTIMEM = "multimem computes"
CALLS = "calls without an operator are operators"
SYNTHETIC = "kernels of what has no model are operators"
NESTED = "below a listed operator nothing is listed"
KERNELS = "copies and fills are no kernels"
UNLAUNCHED = "without what has no launch"
COLLECTIVES = "direct time without communication"
WORK = {"compute": "computation", "comm": "comm", "comm_compute": "comm", "copy_kernel": "copy", "memcpy": "copy",
        "memset": "computation"}
ARGUMENTS = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")
SHORT_US = 10


def thread(name):
    return None if name == "Unknown" else name


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, (list, tuple)) else value


@lru_cache(maxsize=None)
def arguments_of(text):
    """A list of JSON as nested tuples. Thousands of operators have the same arguments."""
    return tuples(json.loads(text)) if text else None


def plain(text):
    """A list as they print it, of lists or of tuples, as nested tuples."""
    return tuples(ast.literal_eval(text)) if text else None


class Work:
    def __init__(self, row, raw_us):
        (self.ts, self.dur, self.name, self.kind, self.stream, self.launch, self.op, self.device) = row
        self.begin, self.end = self.ts, self.ts + (self.dur or 0)
        self.float_begin = raw_us(self.ts)
        self.float_end = self.float_begin + (self.dur or 0) / 1000

    def interval(self, rules):
        """In microseconds."""
        return (self.float_begin, self.float_end) if FLOAT in rules else (self.begin / 1000, self.end / 1000)


WORK_SQL = """
SELECT e.ts, e.dur, e.name, e.kind, s.number, e.launch_id, e.cpu_op_id, s.device_id FROM (
  SELECT k.ts, k.dur, n.name, k.kind, k.stream_id, k.launch_id, k.cpu_op_id FROM kernel k
  JOIN kernel_name n ON n.id = k.name_id
  UNION ALL SELECT m.ts, m.dur, t.value, m.kind, m.stream_id, m.launch_id, m.cpu_op_id FROM memory_op m
  JOIN string t ON t.id = m.name_id) e JOIN stream s ON s.id = e.stream_id ORDER BY e.ts"""
OP_SQL = """
SELECT o.id, o.parent_id, n.value, t.name, o.dur, o.sequence_number, s.dims, s.types, s.strides, s.concrete_inputs FROM cpu_op o
JOIN string n ON n.id = o.name_id LEFT JOIN op_shape s ON s.id = o.shape_id JOIN thread t ON t.id = o.thread_id
ORDER BY o.id"""
CALL_SQL = """
SELECT -r.id, NULL, n.value, t.name, r.dur, NULL, NULL, NULL, NULL, NULL FROM runtime_call r JOIN string n ON n.id = r.name_id
JOIN thread t ON t.id = r.thread_id WHERE r.cpu_op_id IS NULL ORDER BY r.id"""


class Op:
    def __init__(self, row):
        self.id, self.parent, self.name, self.thread, self.dur, self.sequence, *arguments = row
        self.arguments = tuple(map(arguments_of, arguments))
        self.own, self.below = [], []  # work it launched, and that with all that operators below it launched

    def key(self):
        return self.name, self.thread, *self.arguments
BACKWARD_SQL = """
SELECT o.sequence_number, min(o.id) FROM cpu_op o JOIN string n ON n.id = o.name_id
WHERE n.value GLOB 'autograd::engine::evaluate_function: *' AND o.sequence_number IS NOT NULL GROUP BY 1"""


class TraceLensModel:
    def __init__(self, index, theirs):
        gc.disable()  # as in trace_cases.read_trace
        self.index, self.theirs = index, theirs
        self.work = [Work(row, index.raw_us) for row in index.rows(WORK_SQL)]
        self.rocm = bool(index.value("SELECT 1 FROM device WHERE vendor = 'amd'"))

    @lru_cache(maxsize=None)
    def selected(self, rules):
        return [work for work in self.work if not (FILLS in rules and self.rocm and work.kind == "memset")
                and not (UNLAUNCHED in rules and work.launch is None)]

    @lru_cache(maxsize=None)
    def ops(self, rules):
        ops = {row[0]: Op(row) for row in self.index.rows(OP_SQL)}
        if CALLS in rules:
            ops.update({row[0]: Op(row) for row in self.index.rows(CALL_SQL)})
        for work in self.selected(rules):
            at = work.op or -(work.launch or 0)
            if at in ops:
                ops[at].own.append(work)
            while at in ops:
                ops[at].below.append(work)
                at = ops[at].parent
        return ops

    def launchers(self, rules):
        return [op for op in self.ops(rules).values() if op.own]

    @staticmethod
    def busy(works, rules):
        intervals = [work.interval(rules) for work in works]
        return length(union(intervals) if len(intervals) > 1 else intervals)

    def direct(self, op, rules):
        return self.busy([work for work in op.own if COLLECTIVES not in rules or WORK[work.kind] != "comm"], rules)

    @lru_cache(maxsize=None)
    def timeline(self, rules):
        sets = defaultdict(list)
        for work in self.selected(rules):
            kind = WORK[work.kind]
            if kind == "comm" and MULTIMEM in rules and not any(part in work.name for part in (
                    "nccl", "rccl", "cross_device_reduce")):
                kind = "computation"
            sets[kind].append(work.interval(rules))
        sets = {kind: union(intervals) for kind, intervals in sets.items()}
        computing, communicating, copying = (sets.get(kind, []) for kind in ("computation", "comm", "copy"))
        busy = union(computing + communicating + copying)
        out = {"span": busy[-1][1] - busy[0][0], "busy": length(busy), "computation": length(computing),
               "comm": length(communicating), "copy": length(copying)}
        out["idle"] = out["span"] - out["busy"]
        both = union(computing + communicating)
        out["exposed_comm"] = length(both) - out["computation"]
        out["exposed_copy"] = out["busy"] - length(both)
        return out

    @lru_cache(maxsize=None)
    def kernels(self, rules):
        groups = defaultdict(list)
        names = {op.id: op.name for op in self.ops(rules).values()}
        for work in self.selected(rules):
            if KERNELS in rules and work.kind in ("memcpy", "memset"):
                continue
            op = names.get(work.op or -(work.launch or 0), "")
            groups[op, work.name, str(work.stream)].append(work.dur / 1000)
        return groups

    @lru_cache(maxsize=None)
    def operator_sums(self, rules):
        sums = defaultdict(lambda: [0, 0.0, 0.0])
        for op in self.launchers(rules):
            own = sums[op.name]
            own[0] += 1
            own[1] += self.direct(op, rules)
            own[2] += self.busy(op.below, rules)
        return sums

    @lru_cache(maxsize=None)
    def sheet(self, rules, backward):
        """{(name, dims, types, strides): figures}"""
        groups = defaultdict(list)
        backwards = dict(self.index.rows(BACKWARD_SQL)) if backward else {}
        ops = self.ops(rules)
        for op in ops.values():
            if NESTED in rules and self.is_nested(op, rules):
                continue
            if backward:
                if op.sequence not in backwards or op.name.startswith("autograd::"):
                    continue
                own = Op((op.id, op.parent, op.name, op.thread, op.dur, None, *[None] * 4))
                own.arguments, own.below = op.arguments, ops[backwards[op.sequence]].below
                op = own
            groups[op.name, *op.arguments[:3]].append(op)
        return {key: self.statistics(some, rules) for key, some in groups.items()}

    @lru_cache(maxsize=None)
    def short_kernels(self, rules):
        groups = defaultdict(list)
        ops = self.ops(rules)
        for work in self.selected(rules):
            if work.dur / 1000 < SHORT_US:
                op = ops.get(work.op or -(work.launch or 0))
                dims, _, strides, concrete = op.arguments if op else [None] * 4
                groups[op.name if op else "", dims, strides, concrete, work.name].append(work.dur / 1000)
        return groups

    def of_span(self, values, rules=None):
        span = self.index.report("timeline")[0]["span"] / 1000 if rules is None else self.timeline(rules)["span"]
        return 100 * sum(values) / span

    @lru_cache(maxsize=None)
    def by_arguments(self, rules, every):
        """{(name, thread, arguments): figures} of what launched work; every: or has something below that did."""
        groups = defaultdict(list)
        for op in self.ops(rules).values() if every else self.launchers(rules):
            if not op.below or NESTED in rules and self.is_nested(op, rules):
                continue
            groups[op.key()].append(op)
            if SYNTHETIC in rules:
                for part in self.synthetic(op):
                    groups[part.key()].append(part)
        return {key: self.statistics(ops, rules) for key, ops in groups.items()}

    @lru_cache(maxsize=None)
    def listed(self):
        return {self.key(row) for row in self.theirs.get("unified_perf_summary", [])}

    @staticmethod
    def key(row):
        return row["name"], thread(row["thread_name"]), *(plain(row[column]) for column in ARGUMENTS)

    def is_nested(self, op, rules):
        ops = self.ops(rules)
        while op.parent in ops:
            op = ops[op.parent]
            if op.key() in self.listed():
                return True
        return False

    @staticmethod
    def synthetic(op):
        """An operator for each kernel that this one launched itself."""
        for work in op.own:
            part = Op((op.id, None, f"{op.name}->{work.name} (Synthetic Op)", op.thread, op.dur, None, *[None] * 4))
            part.arguments = op.arguments
            part.own = part.below = [work]
            yield part

    def statistics(self, ops, rules):
        out = {"count": len(ops)}
        for kind, values in (("direct", [self.direct(op, rules) for op in ops]),
                             ("subtree", [self.busy(op.below, rules) for op in ops]),
                             ("host", [op.dur / 1000 for op in ops])):
            for name, of in (("mean", statistics.fmean), ("median", statistics.median), ("min", min), ("max", max),
                             ("sum", sum)):
                out[f"{kind} {name}"] = of(values)
            out[f"{kind} std"] = deviation(values) if len(values) > 1 else None
        return out
