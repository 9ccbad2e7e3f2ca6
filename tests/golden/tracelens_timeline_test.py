"""`trace-query timeline` against the times another tool published for the same traces.

Theirs are in double microseconds since the epoch, so each end of an interval is off by up to an eighth of a nanosecond
or more. They leave work without a launch out, unless no work has one; where a trace has some, ours is made of the rest
by SQL.
"""
import csv
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import (REFERENCE, TRACES, Cases, Skip, equal, ingest, open_index, require, run,  # noqa: E402
                         scratch_folder, skip_without_traces)
from time_oracle import TimeOracle  # noqa: E402

COLUMNS = {"computation_time": "computation", "exposed_comm_time": "exposed_comm", "exposed_memcpy_time": "exposed_copy",
           "busy_time": "busy", "idle_time": "idle", "total_time": "span", "total_comm_time": "comm",
           "total_memcpy_time": "copy"}
NS_PER_EVENT = 0.25


def reference_times(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return {COLUMNS[row["type"]]: float(row["time ms"]) * 1e6 for row in csv.DictReader(file)}


def launched_only(index):
    database = open_index(index)
    oracle = TimeOracle(database)
    oracle.events = [event for event in oracle.events if event.launch is not None]
    (times,) = oracle.timelines().values()
    database.close()
    return times


def check(trace, reference, folder):
    if not trace.exists():
        raise Skip(f"{trace} does not exist")
    index = ingest(trace, folder / "index.tracedb")
    report = json.loads(run("trace-query", "timeline", "-q", "--json", index).stdout)["rows"]
    equal(len(report), 1, "devices")
    events = report[0]["kernels"] + report[0]["memory_ops"]
    database = open_index(index)
    launched = sum(database.execute(f"SELECT count(launch_id) FROM {table}").fetchone()[0]
                   for table in ("kernel", "memory_op"))
    database.close()
    ours = report[0] if launched in (0, events) else launched_only(index)
    for column, expected in reference_times(reference).items():
        require(abs(ours[column] - expected) <= 1 + NS_PER_EVENT * events,
                f"{column}: {ours[column]} ns, expected {expected} ns")


def main():
    cases = Cases()
    references = sorted((REFERENCE / "tracelens").glob("*.gpu_timeline.csv"))
    if not references:
        cases.skip("tracelens", f"no timelines here: {REFERENCE / 'tracelens'} (TRACEDB_REFERENCE names the folder)")
    elif not skip_without_traces(cases, TRACES / "kineto"):
        for reference in references:
            name = reference.name.removesuffix(".gpu_timeline.csv")
            with scratch_folder() as folder:
                cases.run(name, check, TRACES / "kineto" / f"{name}.json.gz", reference, folder)
    cases.finish()


if __name__ == "__main__":
    main()
