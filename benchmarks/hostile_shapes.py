#!/usr/bin/env python3
"""CPU seconds and peak memory of ingest, and with --reports of every report, on traces of hostile shapes
(tests/support/hostile_shapes.py) at growing sizes: benchmarks/hostile_shapes.py [--sizes N,N,N] [SHAPE...]

Prints a row for each shape with the growth from the last size but one to the last, and at the end the largest. What
took less than 0.1 s is of no use for growth. Needs the programs of the release preset."""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(os.environ.get("TRACEDB_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "tests/support"))
import hostile_shapes  # noqa: E402

REPORTS = ("kernels", "ops", "phases", "steps", "layers", "timeline", "gaps", "launches", "comms", "memcpys", "stacks",
           "sequences", "warnings", "compare")


def measured(command, seconds):
    """CPU seconds and peak MB of a run; no seconds where it failed or took too long."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # noqa: E731
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=limit)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime if child.returncode == 0 else float("nan")
    return cpu, usage.ru_maxrss / 1024


def row(title, runs):
    growth = runs[-1][0] / max(runs[-2][0], 0.01)
    print(f"| {title} | " + " | ".join(f"{cpu:.2f}" for cpu, _ in runs) + f" | {growth:.1f} | {runs[-1][1]:.0f} |",
          flush=True)
    return growth if runs[-2][0] >= 0.1 or runs[-1][0] != runs[-1][0] else 0


def report_command(report, index):
    of_report = ["--section", "all", index] if report == "compare" else []
    return [BIN / "trace-query", report, "-q", "--csv", "--limit", "20", *of_report, index]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2000,20000,200000")
    parser.add_argument("--reports", action="store_true")
    parser.add_argument("--seconds", type=int, default=60, help="limit of one run")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    worst = 0
    print("| shape | " + " | ".join(f"CPU s, n = {n:,}" for n in sizes) + " | growth | peak MB |")
    print("| --- |" + " --- |" * (len(sizes) + 2))
    for name in options.shapes or hostile_shapes.SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            traces = [Path(folder) / f"{n}.json" for n in sizes]
            for n, trace in zip(sizes, traces):
                hostile_shapes.write(name, n, trace)
            ingest = [measured([BIN / "trace-ingest", "-q", trace], options.seconds) for trace in traces]
            worst = max(worst, row(name, ingest))
            for report in REPORTS if options.reports else ():
                runs = [measured(report_command(report, f"{trace}.tracedb"), options.seconds) for trace in traces]
                worst = max(worst, row(f"{name}: {report}", runs))
    print(f"largest growth: {worst:.1f} for {sizes[-1] / sizes[-2]:g} times the input")


if __name__ == "__main__":
    main()
