"""Classes of kernel names: hand-picked names of public libraries, and all names of the real traces, by a reviewed table. The
kind of a kernel and its class say the same of communication: for every name of public libraries, and for every kernel of the
real traces. So do the reports: what is communication in `ops` is in `comms` and in `timeline`."""
import fnmatch
import json
import re
from pathlib import Path

from made_events import index_of, kernel
from trace_cases import TRACES, Skip, equal, ingest, kineto_traces, open_index, require, run, skip_without_traces, sql

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


def check_share(index, names):
    with open_index(index) as db:
        if db.execute("SELECT 1 FROM device WHERE used = 1 AND vendor = 'meta'").fetchone():
            raise Skip("kernels of MTIA are the user's programs: their names are of no library")
    found = rows("show", index)
    names.update(row["name"] for row in found)
    total = sum(row["total_time"] for row in found)
    unknown = [row for row in found if row["class"] in UNRECOGNISED]
    share = sum(row["total_time"] for row in unknown) / total if total else 0
    require(share <= MOST_UNRECOGNISED, f"{100 * share:.1f} % unrecognised: {[row['name'][:80] for row in unknown[:5]]}")
    equal({row["rule"] for row in unknown} - {None, "lookup.generated"}, set(), "rules of unrecognised kernels")


NAMES = Path(__file__).with_name("public_names.tsv")
# What the trace itself describes as a collective is one, whatever its name.
DISAGREE = """SELECT DISTINCT op, kind, name FROM kernels
WHERE (op LIKE '%communication%') <> (kind LIKE 'comm%') AND id NOT IN (SELECT kernel_id FROM collective)
   OR op LIKE '%communication%+%' AND kind = 'comm' OR op LIKE '%+%communication%' AND kind = 'comm'"""


def names_of_libraries(folder):
    table = [line.split("\t") for line in NAMES.read_text().splitlines() if line and not line.startswith("#")]
    index = index_of(folder / "names.json", [kernel(name, 10 * place, 5) for place, (_, name) in enumerate(table)])
    equal(sql(index, DISAGREE), [], "names whose kind is not that of their class")
    wanted = sum("communication" in op for op, _ in table)
    found = sql(index, "SELECT count(*) AS n FROM collectives")[0]
    equal(found["n"] if isinstance(found, dict) else found[0], wanted, "rows of collectives")


def check_kinds(index):
    equal(sql(index, DISAGREE), [], "kernels whose kind is not that of their class")


def expert_parallel(folder):
    """DeepEP: communication in all three reports."""
    index = ingest(TRACES / "kineto/deepseek_v3_train_h800.json", folder / "index.tracedb")
    names = run("trace-query", "comms", "-q", "--csv", index).stdout
    require("dispatch" in names and "combine" in names, "comms has no dispatch and combine")


def main(cases, folder):
    cases.run("names of public libraries", check_public_names)
    cases.run_apart("names of libraries", names_of_libraries)
    if not skip_without_traces(cases, TRACES / "kineto"):
        names = set()
        for trace in kineto_traces():
            index = ingest(trace, folder / f"{trace.name}.tracedb")
            cases.run(f"share of {trace.name}", check_share, index, names)
            cases.run(f"kinds of {trace.name}", check_kinds, index)
        cases.run("all names of the real traces", check_table, sorted(names), table("kernel_classes.tsv"))
        cases.run_apart("expert parallel", expert_parallel)
