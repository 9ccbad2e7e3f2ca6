"""Kernels without correlation: flows tell which operator launched each, never an External id of another numbering, and
never what starts after the kernel."""
import itertools
import sqlite3

from trace_cases import equal, open_index, planted, require, run

STATEMENT = """
SELECT k.ts, k.dur, n.name, l.correlation, s.value AS cpu_op, o.ts AS begun FROM kernel k
JOIN kernel_name n ON n.id = k.name_id LEFT JOIN runtime_call l ON l.id = k.launch_id
LEFT JOIN cpu_op o ON o.id = k.cpu_op_id LEFT JOIN string s ON s.id = o.name_id ORDER BY k.ts, k.id"""


def kernels(index):
    database = open_index(index)
    database.row_factory = sqlite3.Row
    rows = database.execute(STATEMENT).fetchall()
    return rows


def check(folder, options):
    index, truth, labels = planted(folder, "--correlation", "off", *options)
    labels.sort(key=lambda label: int(label["ts"]))
    linked = 0
    for row, label in zip(kernels(index), labels, strict=True):
        what = f"step {label['step']}, layer {label['layer']}, {label['role']}"
        equal(row["dur"], int(label["dur"]), what)
        if row["correlation"] is None:
            equal(row["cpu_op"], None, f"{what}: operator without a launch")
            continue
        linked += 1
        equal(row["correlation"], int(label["correlation"]), f"{what}: launch")
        equal(row["cpu_op"], label["operator"] or None, f"{what}: operator")
        require(row["begun"] is None or row["begun"] <= row["ts"], f"{what}: the operator starts after the kernel")
    equal(linked, truth["kernels_with_launch"], "kernels with a launch")
    run("trace-query", "verify", index)


def check_same(folder, options):
    """With and without correlations the same kernels have the same operators."""
    found = []
    for name in ("on", "off"):
        index, _, _ = planted(folder, "--correlation", name, *options, name=name)
        found.append([(row["name"], row["cpu_op"]) for row in kernels(index)])
    equal(found[1], found[0], "operators")


def main(cases, _):
    small = ("--layers", 3, "--steps", 5, "--mix", "P,D*2")
    for vendor, graphs, dialect in itertools.product(("amd", "nvidia"), ("on", "off"), ("new", "old")):
        options = (*small, "--vendor", vendor, "--graphs", graphs, "--dialect", dialect)
        cases.run_apart(f"{vendor} graphs {graphs} {dialect}", check, (*options, "--tensor-parallel", 2))
        cases.run_apart(f"with and without, {vendor} graphs {graphs} {dialect}", check_same, options)
    cases.run_apart("orphans", check, (*small, "--orphans", 7))
    cases.run_apart("two threads", check, ("--model", "train", "--layers", 3, "--steps", 2))
