"""Classes of kernel names: hand-picked names of public libraries, and all names of the real traces, by a reviewed table."""
import fnmatch
import json
import re
from pathlib import Path

from trace_cases import TRACES, equal, ingest, kineto_traces, require, run, scratch_folder, skip_without_traces

HERE = Path(__file__).resolve().parent
UNRECOGNISED = ("other", "triton_fused")
MOST_UNRECOGNISED = 0.03  # of kernel time
NAMES_A_CALL = 100


def table(name):
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def rows(*arguments):
    return json.loads(run("trace-query", "rules", "-q", "--format", "json", *arguments).stdout)["rows"]


def explain(names):
    found = []
    for start in range(0, len(names), NAMES_A_CALL):
        found += rows("explain", "--", *names[start:start + NAMES_A_CALL])
    return found


def check_public_names():
    names = table("public_names.tsv") + table("public_names_fused.tsv") + table("public_names_ascend.tsv")
    require(len(names) >= 250, "the list of names was cut")
    wrong = [f"{name}: {row['class']} by {row['rule']}, expected {expected}"
             for (expected, name), row in zip(names, explain([name for _, name in names])) if row["class"] != expected]
    require(not wrong, "\n  ".join([f"{len(wrong)} of {len(names)} names", *wrong]))


def collapse(text):
    return re.sub(r"\d+", "#", text)


def fits(pattern, row):
    text = row["name"] if "<" in pattern else row["function"]
    if "<" in pattern:
        pattern = f"*{pattern.removeprefix('<')}*"
    return fnmatch.fnmatchcase(text if re.search(r"\d", pattern) else collapse(text), pattern)


def check_table(names, patterns):
    used, wrong = set(), []
    for row in explain(names):
        line = next((line for line in patterns if fits(line[1], row)), None)
        if line is None:
            wrong.append(f"no pattern for {row['function']} ({row['class']})")
        elif line[0] != row["class"]:
            wrong.append(f"{row['function']}: {row['class']} by {row['rule']}, expected {line[0]} ({line[1]})")
        used.add(line)
    wrong += [f"nothing fits {line[1]}" for line in patterns if line not in used]
    require(not wrong, "\n  ".join([f"{len(names)} names, {len(wrong)} lines differ", *wrong[:40]]))


def check_share(trace, folder, names):
    found = rows("show", ingest(trace, folder / "index.tracedb"))
    names.update(row["name"] for row in found)
    total = sum(row["total_time"] for row in found)
    unknown = [row for row in found if row["class"] in UNRECOGNISED]
    share = sum(row["total_time"] for row in unknown) / total if total else 0
    require(share <= MOST_UNRECOGNISED, f"{100 * share:.1f} % unrecognised: {[row['name'][:80] for row in unknown[:5]]}")
    equal({row["rule"] for row in unknown} - {None, "lookup.generated"}, set(), "rules of unrecognised kernels")


def main(cases):
    cases.run("names of public libraries", check_public_names)
    if not skip_without_traces(cases, TRACES / "kineto"):
        names = set()
        for trace in kineto_traces():
            with scratch_folder() as folder:
                cases.run(f"share of {trace.name}", check_share, trace, folder, names)
        cases.run("all names of the real traces", check_table, sorted(names), table("kernel_classes.tsv"))
