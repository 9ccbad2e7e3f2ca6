"""The kind of a kernel and its class say the same of communication: for every name of public libraries, and for every
kernel of the real traces. So do the reports: what is communication in `ops` is in `comms` and in `timeline`."""
import json
from pathlib import Path

from trace_cases import TRACES, equal, ingest, kineto_traces, require, run, scratch_folder, skip_without_traces, sql

NAMES = Path(__file__).with_name("public_names.tsv")
# What the trace itself describes as a collective is one, whatever its name.
DISAGREE = """SELECT DISTINCT op, kind, name FROM kernels
WHERE (op LIKE '%communication%') <> (kind LIKE 'comm%') AND id NOT IN (SELECT kernel_id FROM collective)
   OR op LIKE '%communication%+%' AND kind = 'comm' OR op LIKE '%+%communication%' AND kind = 'comm'"""


def names_of_libraries():
    table = [line.split("\t") for line in NAMES.read_text().splitlines() if line and not line.startswith("#")]
    with scratch_folder() as folder:
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * place, "dur": 5,
                   "args": {"device": 0, "stream": 7}} for place, (_, name) in enumerate(table)]
        (folder / "names.json").write_text(json.dumps({"traceEvents": events}))
        index = ingest(folder / "names.json", folder / "index.tracedb")
        equal(sql(index, DISAGREE), [], "names whose kind is not that of their class")
        wanted = sum("communication" in op for op, _ in table)
        found = sql(index, "SELECT count(*) AS n FROM collectives")[0]
        equal(found["n"] if isinstance(found, dict) else found[0], wanted, "rows of collectives")


def real(trace):
    with scratch_folder() as folder:
        index = ingest(trace, folder / "index.tracedb")
        equal(sql(index, DISAGREE), [], "kernels whose kind is not that of their class")


def expert_parallel():
    """DeepEP: communication in all three reports."""
    with scratch_folder() as folder:
        index = ingest(TRACES / "kineto/deepseek_v3_train_h800.json", folder / "index.tracedb")
        names = run("trace-query", "comms", "-q", "--csv", index).stdout
        require("dispatch" in names and "combine" in names, "comms has no dispatch and combine")


def main(cases):
    cases.run("names of libraries", names_of_libraries)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            cases.run(trace.name, real, trace)
        cases.run("expert parallel", expert_parallel)
