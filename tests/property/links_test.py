"""Kernels without correlation: flows tell which operator launched each, never an External id of another numbering, and
never what starts after the kernel."""
import csv
import itertools
import json
import sqlite3

from trace_cases import equal, ingest, make_trace, open_index, require, run, scratch_folder

STATEMENT = """
SELECT k.ts, k.dur, n.name, l.correlation, s.value AS cpu_op, o.ts AS begun FROM kernel k
JOIN kernel_name n ON n.id = k.name_id LEFT JOIN runtime_call l ON l.id = k.launch_id
LEFT JOIN cpu_op o ON o.id = k.cpu_op_id LEFT JOIN string s ON s.id = o.name_id ORDER BY k.ts, k.id"""


def build(folder, name, *options):
    path = make_trace(folder / f"{name}.json", "--labels", folder / f"{name}.tsv", *options)
    truth = json.loads((folder / f"{name}.json.truth.json").read_text(encoding="utf-8"))
    with open(folder / f"{name}.tsv", encoding="utf-8") as file:
        labels = sorted(csv.DictReader(file, delimiter="\t"), key=lambda label: int(label["ts"]))
    return ingest(path, folder / f"{name}.tracedb"), labels, truth


def kernels(index):
    database = open_index(index)
    database.row_factory = sqlite3.Row
    rows = database.execute(STATEMENT).fetchall()
    database.close()
    return rows


def check(folder, options):
    index, labels, truth = build(folder, "untold", "--correlation", "off", *options)
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
        index, _, _ = build(folder, name, "--correlation", name, *options)
        found.append([(row["name"], row["cpu_op"]) for row in kernels(index)])
    equal(found[1], found[0], "operators")


def main(cases):
    small = ("--layers", 3, "--steps", 5, "--mix", "P,D*2")
    for vendor, graphs, dialect in itertools.product(("amd", "nvidia"), ("on", "off"), ("new", "old")):
        options = (*small, "--vendor", vendor, "--graphs", graphs, "--dialect", dialect)
        with scratch_folder() as folder:
            cases.run(f"{vendor} graphs {graphs} {dialect}", check, folder, (*options, "--tensor-parallel", 2))
        with scratch_folder() as folder:
            cases.run(f"with and without, {vendor} graphs {graphs} {dialect}", check_same, folder, options)
    with scratch_folder() as folder:
        cases.run("orphans", check, folder, (*small, "--orphans", 7))
    with scratch_folder() as folder:
        cases.run("two threads", check, folder, ("--model", "train", "--layers", 3, "--steps", 2))
