"""What trace-query shows by default: how many rows, what it says of a device without a name, SQL that begins with a comment."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from trace_cases import Cases, equal, require, run, scratch_folder  # noqa: E402

KERNELS = 40
SHOWN = 30


def trace():
    events = [{"ph": "X", "cat": "kernel", "name": f"kernel_{i}", "pid": 6, "tid": 1, "ts": 100 + 10 * i, "dur": 1 + i,
               "args": {"device": 6, "stream": 1}} for i in range(KERNELS)]
    devices = [{"id": i, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992} for i in range(4)]
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}


def rows(index, *options):
    return len(run("trace-query", "kernels", "-q", *options, index).stdout.splitlines()) - 2


def check_rows(index, folder):
    equal(rows(index), SHOWN + 1, "rows of the default table")
    equal(rows(index, "--limit", "0"), KERNELS, "rows of --limit 0")
    equal(rows(index, "--markdown"), KERNELS, "rows of markdown")
    equal(len(json.loads(run("trace-query", "kernels", "--json", index).stdout)["rows"]), KERNELS, "rows of JSON")
    run("trace-query", "kernels", "-o", folder / "table.txt", index)
    equal(len((folder / "table.txt").read_text().splitlines()) - 2, KERNELS, "rows in a file")
    require("[others] is 10 more rows; --limit 0 shows all" in run("trace-query", "kernels", index).stderr, "no note")


def check_device(index):
    expected = "amd, not described by the trace (it lists 4 x AMD Instinct MI300X)"
    shown = run("trace-query", "info", index).stdout
    require(expected in shown, f"info does not say {expected!r}:\n{shown}")


def check_issues(index):
    require("a device the trace does not describe" in run("trace-query", "issues", index).stdout, "no meaning shown")


def check_comment(index):
    equal(run("trace-query", "sql", "--csv", index, "-- how many\nSELECT count(*) AS n FROM kernel").stdout.split(),
          ["n", str(KERNELS)], "answer to SQL that begins with a comment")


def main():
    cases = Cases()
    with scratch_folder() as folder:
        source, index = folder / "trace.json", folder / "trace.json.tracedb"
        source.write_text(json.dumps(trace()))
        run("trace-ingest", "-q", source)
        cases.run("rows shown", check_rows, index, folder)
        cases.run("a device that is not described", check_device, index)
        cases.run("issues say what they mean", check_issues, index)
        cases.run("SQL that begins with a comment", check_comment, index)
    cases.finish()


if __name__ == "__main__":
    main()
