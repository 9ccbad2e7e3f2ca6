"""How well trace-ingest keeps the cores busy with a folder of small traces: one job of one thread against a job per core.

python3 benchmarks/batch_jobs.py [--traces 200] [--size 5M] [--repetitions 3]

Build first (benchmarks/run.sh does). Traces are make-trace's, each with its own seed, kept for the next run. Figures are
medians; the runs with one job and with several take turns, so that both see the same load of a shared machine.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from workloads import BIN, WORK, machine  # noqa: E402


def traces(count, size):
    folder = WORK / f"batch_{count}x{size}"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"trace_{number:03}.json"
        if not path.exists():
            part = path.with_suffix(".part")
            subprocess.run([BIN / "make-trace", "--seed", str(number + 1), "--vendor", ("amd", "nvidia")[number % 2],
                            "--target-size", size, "--output", part], check=True, stdout=subprocess.DEVNULL)
            part.rename(path)
    return folder


def run(folder, jobs):
    """Wall and CPU seconds."""
    start, before = time.monotonic(), os.times()
    subprocess.run([BIN / "trace-ingest", "-q", "--force", "--jobs", str(jobs), "--threads", str(jobs), folder],
                   check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=200)
    parser.add_argument("--size", default="5M")
    parser.add_argument("--repetitions", type=int, default=3)
    chosen = parser.parse_args()
    folder = traces(chosen.traces, chosen.size)
    jobs = len(os.sched_getaffinity(0))
    run(folder, jobs)  # warms the files
    runs = {1: [], jobs: []}
    for _ in range(chosen.repetitions):
        for number in runs:
            runs[number].append(run(folder, number))
    size = sum(path.stat().st_size for path in folder.glob("*.json"))
    wall = {}
    for number, pairs in runs.items():
        wall[number] = statistics.median(pair[0] for pair in pairs)
        cpu = statistics.median(pair[1] for pair in pairs)
        print(f"{chosen.traces} traces, {size / 1e6:,.0f} MB, {number} job(s): {wall[number]:.2f} s, "
              f"{size / 1e6 / wall[number]:,.0f} MB/s, {cpu / wall[number]:.2f} cores busy")
    print(f"{jobs} jobs against 1: {wall[1] / wall[jobs]:.2f}x as fast")
    facts = machine()
    print(f"{facts['cpu']}, {facts['cores']} cores; load before: {facts['load_before']}; {facts['time']}")


if __name__ == "__main__":
    main()
