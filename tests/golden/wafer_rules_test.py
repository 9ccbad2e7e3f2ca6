"""The rule set `wafer` against the classes and patterns that tool gave to every distinct name of real pairs of traces."""
import gzip
import json
from collections import defaultdict

from trace_cases import TRACES, Skip, equal, ingest, require, run, scratch_folder

GOLDEN = TRACES.parent / "golden/wafer"
TOLERANCE = 1e-9  # sums of doubles there, of integers here; times of a kernel are whole ns here


def trace_of(pair, side):
    """Side 1 is AMD. The pair's name is the trace's without its device."""
    devices = ("mi300x",) if side == 1 else ("h100", "b300", "b200")
    names = [GOLDEN / pair / "input" / f"trace{side}_{'amd' if side == 1 else 'nvidia'}.json"]
    names += [path for device in devices for path in sorted((TRACES / "kineto").glob(f"{pair}_{device}.*"))]
    found = [path for path in names if path.exists()]
    if not found:
        raise Skip("its trace is not here")
    return found[0]


def check(pair, side, folder):
    with gzip.open(GOLDEN / pair / f"trace{side}.json.gz", "rt", encoding="utf-8") as file:
        golden = json.load(file)
    index = ingest(trace_of(pair, side), folder / "index.tracedb")
    text = run("trace-query", "rules", "show", "--rules", "wafer", "-q", "--format", "json", index).stdout
    rows = {row["name"]: row for row in json.loads(text)["rows"]}
    equal(len(rows), len(golden["kernel_names"]), "distinct names")
    sums, expected_sums = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0.0])
    for expected in golden["kernel_names"]:
        row = rows[expected["name"]]
        equal((row["class"], row["pattern"], row["instances"]),
              (expected["op"], expected["pattern"], expected["count"]), expected["name"])
        sums[row["class"]][0] += row["instances"]
        sums[row["class"]][1] += row["total_time"]
    for key, total in golden["op_phase"].items():
        expected_sums[key.split("|")[0]][0] += total["count"]
        expected_sums[key.split("|")[0]][1] += total["total_us"] * 1000
    equal(sorted(sums), sorted(expected_sums), "classes")
    for name, (count, total) in sums.items():
        equal(count, expected_sums[name][0], f"instances of {name}")
        slack = count + TOLERANCE * total  # a fraction of a ns is cut off each
        require(abs(total - expected_sums[name][1]) <= slack, f"total of {name}: {total}, expected {expected_sums[name][1]}")


def main(cases):
    if not GOLDEN.is_dir():
        cases.skip("wafer", f"no results of that tool here: {GOLDEN} does not exist")
    else:
        for pair in sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()):
            for side in (1, 2):
                with scratch_folder() as folder:
                    cases.run(f"{pair} {side}", check, pair, side, folder)
