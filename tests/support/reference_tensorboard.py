"""Figures of the TensorBoard plugin of the PyTorch profiler beside ours, each with the model of its rules
(reference_tb_trees.py, reference_tb_steps.py). It prints microseconds.
"""
from collections import defaultdict
from functools import lru_cache

from reference_reasons import Figure
from reference_tb_steps import ROLES, Steps
from reference_tb_trees import BELOW


class TensorBoard(Steps):
    def __init__(self, index, theirs, flows):
        super().__init__(index, flows)
        self.theirs = theirs

    def figures(self):
        yield from self.step_figures()
        yield from self.device_metric_figures()
        yield from self.operator_figures()
        yield from self.kernel_figures()
        yield from self.kernel_operator_figures()
        yield from self.module_figures()
        yield from self.memory_figures()

    def step_figures(self):
        none = frozenset()
        names = [row["name"].removeprefix("ProfilerStep#") for row in self.index.report("steps")
                 if (row["name"] or "").startswith("ProfilerStep#")]
        yield Figure("steps/names", self.theirs["steps_names"], names, 0, lambda rules: [w[0] for w in self.windows(rules)])
        for number, (name, row) in enumerate(zip(self.theirs["steps_names"], self.theirs["steps"])):
            for column, role in enumerate(ROLES):
                yield Figure(f"steps/{number}: {name}/{role}", row[column], at(self.costs(none), number, column), 0.001,
                             lambda rules, n=number, c=column: at(self.costs(rules), n, c))
            for column, value in self.theirs["overlap"][number].items():
                yield Figure(f"overlap/{number}: {name}/{column}", value, at(self.overlaps(none), number, column), 0.001,
                             lambda rules, n=number, c=column: at(self.overlaps(rules), n, c))

    def device_metric_figures(self):
        for kind in ("util", "sm", "occ", "tc"):
            for device, value in self.theirs[kind].items():
                yield Figure(f"{kind}/device {device}", value, self.device_figure(int(device), kind, frozenset()), 1e-6,
                             lambda rules, d=int(device), kind=kind: self.device_figure(d, kind, rules))

    def device_figure(self, device, kind, rules):
        if kind == "tc":
            times = [(row["matrix_units"], row["total_time"]) for row in
                     self.index.report("kernels", "--by", "launch", "--limit", 0, "--device", device)]
            return sum(time for uses, time in times if uses == "yes") / max(1, sum(time for _, time in times))
        return self.device_figures(rules).get(device, {}).get(kind)

    def our_operators(self):
        """{(name, shape): figures} by SQL: an operator, what it launched itself, and what all below it launched."""
        rows = self.index.rows(OUR_OPERATORS_SQL)
        sums = defaultdict(lambda: defaultdict(float))
        for name, dims, *values in rows:
            for column, value in zip(("calls", "host", "self_host", "dev", "self_dev"), values):
                sums[name, self.shape(dims)][column] += value
        return sums

    def operator_figures(self):
        by_shape = self.our_operators()
        by_name = defaultdict(lambda: defaultdict(float))
        for (name, _), values in by_shape.items():
            for column, value in values.items():
                by_name[name][column] += value
        for row in self.theirs["ops"]:
            for column in ("calls", "host", "self_host", "dev", "self_dev"):
                yield Figure(f"ops/{row['name']}/{column}", row[column], by_name.get(row["name"], {}).get(column), 0.001,
                             lambda rules, name=row["name"], c=column: self.operator_sums(rules).get(name, {}).get(c))
        for row in self.theirs["ops_shape"]:
            key = row["name"], row["shape"]
            for column in ("calls", "host", "dev"):
                yield Figure(f"ops_shape/{key[0]}/{key[1]}/{column}", row[column], by_shape.get(key, {}).get(column), 0.001,
                             lambda rules, key=key, c=column: self.operator_sums(rules, True).get(key, {}).get(c))

    def kernel_figures(self):
        ours = {row["name"]: row for row in self.index.report("kernels")}
        shape = {row["name"]: row for row in self.index.query(KERNEL_SHAPE_SQL)}
        yield Figure("kernels/rows", len(self.theirs["kernels"]), len(ours))
        for row in self.theirs["kernels"]:
            mine = ours.get(row["name"])
            values = mine and {"count": mine["instances"], "sum": mine["total_time"] / 1000, "mean": mine["avg"] / 1000,
                               "max": mine["max"] / 1000, "min": mine["min"] / 1000,
                               "blocks_per_sm": shape[row["name"]]["blocks"], "occupancy": shape[row["name"]]["occupancy"],
                               "tc_used": {"yes": True, "no": False}.get(shape[row["name"]]["matrix_units"], "not known")}
            for column, value in (values or {}).items():
                yield Figure(f"kernels/{row['name']}/{column}", row[column], value, 1e-6)

    def kernel_operator_figures(self):
        ours = {(name, op, *self.launch(config)): (calls, time / 1000)
                for name, op, calls, time, *config in self.index.rows(KERNEL_OPERATOR_SQL)}
        for row in self.theirs["kops"]:
            key = (row["name"], row["op"], str(row["grid"]), str(row["block"]), row["regs"] or 0, row["smem"] or 0)
            for at_, column in enumerate(("calls", "total")):
                yield Figure(f"kops/{row['op']}/{row['name']} {key[2]} {key[3]}/{column}", row[column],
                             ours.get(key, (None, None))[at_], 0.001,
                             lambda rules, key=key, at_=at_: self.kernel_operators(rules).get(key, (None, None))[at_])

    @lru_cache(maxsize=None)
    def module_sums(self, rules):
        sums = defaultdict(lambda: defaultdict(float))
        for root in self.trees(rules).values():
            for node in root.modules() if BELOW in rules else root.nodes():
                if node.kind == "module":
                    for column, value in (("occ", 1), ("ops", sum(c.is_operator() for c in node.children)),
                                          ("host", node.end - node.begin), ("self_host", node.own_host),
                                          ("dev", node.device), ("self_dev", node.own_device)):
                        sums[node.name][column] += value
        return sums

    def module_figures(self):
        ours, tree = self.our_modules(), self.module_sums(frozenset())
        for row in self.theirs["modules"]:
            mine = tree.get(row["name"], {}) | ours.get(row["name"], {})
            for column in ("occ", "ops", "host", "self_host", "dev", "self_dev"):
                yield Figure(f"modules/{row['name']}/{column}", row[column], mine.get(column), 0.001,
                             lambda rules, n=row["name"], c=column: self.module_sums(rules).get(n, {}).get(c))

    def our_modules(self):
        """{module: calls, their time, and the time of the kernels whose python stack passes it}"""
        out = {name.removeprefix("nn.Module: "): {"occ": calls, "host": host / 1000, "dev": 0.0}
               for name, calls, host in self.index.rows(
                   "SELECT n.value, count(*), sum(c.dur) FROM python_call c JOIN stack s ON s.id = c.stack_id "
                   "JOIN frame f ON f.id = s.frame_id JOIN string n ON n.id = f.name_id "
                   "WHERE n.value GLOB 'nn.Module: *' GROUP BY 1")}
        for name, device in self.index.rows(MODULE_DEVICE_SQL):
            out[name.removeprefix("nn.Module: ")]["dev"] = device / 1000
        return out

    def memory_figures(self):
        ours = {row["device"]: row["peak"] for row in self.index.report("memory")}
        for key, value in (self.theirs.get("peaks") or {}).items():
            kind, number = key.strip("()").rsplit(", ", 1)
            yield Figure(f"peaks/{key}", value, ours.get(f"cuda {number}" if "CUDA" in kind else "cpu"))
        within = {row["device"]: row["n"] for row in self.index.query(ALLOCATING_SQL)}
        for device, value in (self.theirs["mem"] or {}).items():
            yield Figure(f"mem/{device}", value, within.get(device.replace("CPU", "cpu").replace("GPU", "cuda ")))


ALLOCATING_SQL = """
WITH RECURSIVE up(device, id) AS (
  SELECT device, cpu_op_id FROM memory_events WHERE cpu_op_id IS NOT NULL
  UNION SELECT up.device, o.parent_id FROM up JOIN cpu_op o ON o.id = up.id WHERE o.parent_id IS NOT NULL)
SELECT up.device, count(DISTINCT o.name_id) AS n FROM up JOIN cpu_op o ON o.id = up.id GROUP BY 1"""
OUR_OPERATORS_SQL = """
WITH launched(op, device) AS (
  SELECT cpu_op_id, sum(dur) FROM (SELECT cpu_op_id, dur FROM kernel UNION ALL SELECT cpu_op_id, dur FROM memory_op)
  WHERE cpu_op_id IS NOT NULL GROUP BY 1),
up(id, op, device) AS (
  SELECT op, op, device FROM launched
  UNION ALL SELECT o.parent_id, up.op, up.device FROM up JOIN cpu_op o ON o.id = up.id WHERE o.parent_id IS NOT NULL),
below(id, device) AS (SELECT id, sum(device) FROM up GROUP BY id),
inner_time(id, dur) AS (SELECT parent_id, sum(dur) FROM cpu_op WHERE parent_id IS NOT NULL GROUP BY 1)
SELECT n.value, s.dims, count(*), sum(o.dur) / 1000.0, (sum(o.dur) - coalesce(sum(i.dur), 0)) / 1000.0,
       coalesce(sum(b.device), 0) / 1000.0, coalesce(sum(l.device), 0) / 1000.0
FROM cpu_op o JOIN string n ON n.id = o.name_id LEFT JOIN op_shape s ON s.id = o.shape_id
LEFT JOIN inner_time i ON i.id = o.id LEFT JOIN below b ON b.id = o.id LEFT JOIN launched l ON l.op = o.id
GROUP BY 1, 2"""
KERNEL_SHAPE_SQL = """
SELECT name, matrix_units, coalesce(sum(blocks_per_sm * total_time) / sum(total_time), 0) AS blocks,
       coalesce(sum(occupancy_pct * total_time) / sum(total_time), 0) AS occupancy
FROM kernel_launches GROUP BY name"""
KERNEL_OPERATOR_SQL = """
SELECT n.name, coalesce(t.value, 'CallTreeRoot'), count(*), sum(k.dur), l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y,
       l.block_z, l.registers, l.shared_memory
FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN cpu_op o ON o.id = k.cpu_op_id
LEFT JOIN string t ON t.id = o.name_id LEFT JOIN launch_config l ON l.id = k.launch_config_id
GROUP BY n.name, 2, l.id"""
MODULE_DEVICE_SQL = """
WITH RECURSIVE launched(stack, device) AS (
  SELECT stack_id, sum(dur) FROM (SELECT stack_id, dur FROM kernel UNION ALL SELECT stack_id, dur FROM memory_op)
  WHERE stack_id IS NOT NULL GROUP BY 1),
up(stack, at, device) AS (
  SELECT stack, stack, device FROM launched
  UNION ALL SELECT up.stack, s.parent_id, up.device FROM up JOIN stack s ON s.id = up.at WHERE s.parent_id IS NOT NULL)
SELECT name, sum(device) FROM (
  SELECT DISTINCT up.stack, n.value AS name, up.device FROM up JOIN stack s ON s.id = up.at JOIN frame f ON f.id = s.frame_id
  JOIN string n ON n.id = f.name_id WHERE n.value GLOB 'nn.Module: *') GROUP BY name"""


def at(rows, number, column):
    return rows[number][1][column] if number < len(rows) else None
