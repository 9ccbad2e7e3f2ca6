#!/usr/bin/env python3
"""Runs named workloads on one trace and prints one table: benchmarks/run.sh [options] [WORKLOAD...]

  ingest     trace-ingest of the plain file               ingest_gz  the same, gzip-compressed
  floor      a bare simdjson On-Demand walk of the file   rival      a Python loader (orjson if importable)
  ingest_cold  trace-ingest of the plain file, taken out of the page cache before each run
  open       opening and validating the index, in process
  info kernels  trace-query reports from the index, whole process

Each file is read once before the first run and each workload run once before it is timed, ingest_cold and the rival
excepted. Figures are medians of the repetitions. CPU seconds are user + system of the process, from
getrusage; they are the figure to compare where the machine is shared. Peak RSS starts at this driver's own 16 MB.
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"
WORK = Path(tempfile.gettempdir()) / "tracedb-bench"
AMPLIFY = ROOT / "../shared/tools/amplify.py"
REAL = ROOT / "../shared/traces/kineto/llama_tp4_vllm_mi300x.pt.trace.json.gz"
WORKLOADS = ("ingest", "ingest_gz", "ingest_cold", "floor", "rival", "open", "info", "kernels")


def note(text):
    print(text, file=sys.stderr, flush=True)


def measured(command):
    """One run: wall and CPU seconds, peak RSS of this child alone, its standard output."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=output, cwd=WORK)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"exit {child.returncode}: {' '.join(map(str, command))}")
        output.seek(0)
        return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024,
                "output": output.read()}


def repeated(command, repetitions, warm_up=True):
    if warm_up:
        measured(command)
    runs = [measured(command) for _ in range(repetitions)]
    return {"wall_s": statistics.median(run["wall"] for run in runs),
            "wall_min_s": min(run["wall"] for run in runs),
            "cpu_s": statistics.median(run["cpu"] for run in runs),
            "peak_rss_bytes": max(run["rss"] for run in runs),
            "repetitions": repetitions}, runs[-1]["output"]


def warm(path):
    with open(path, "rb", buffering=0) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass


def forget(path):
    """Takes the file out of the page cache."""
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Bench:
    def __init__(self, trace, options):
        self.trace, self.options = trace, options
        self.index = WORK / f"{trace.name}.tracedb"
        self.bytes = trace.stat().st_size
        self.results = {}

    def run(self, workload):
        note(f"{workload} ...")
        warm(self.trace)
        self.results[workload] = getattr(self, workload)()

    def throughput(self, result, events=None):
        result["mb_per_s"] = self.bytes / 1e6 / result["wall_s"]
        result["cpu_s_per_gb"] = result["cpu_s"] / (self.bytes / 1e9)
        if events:
            result["events_per_s"] = events / result["wall_s"]
        return result

    def ingest_command(self, trace, index):
        command = [BIN / "trace-ingest", "-q", "--force", "-o", index, trace]
        return command + (["--threads", self.options.threads] if self.options.threads else [])

    def ingest(self):
        result, _ = repeated(self.ingest_command(self.trace, self.index), self.options.repetitions)
        result["index_bytes"] = self.index.stat().st_size
        result["index_ratio"] = result["index_bytes"] / self.bytes
        result.update(self.counts())
        return self.throughput(result, result["events"])

    def counts(self):
        import sqlite3
        database = sqlite3.connect(f"{self.index.as_uri()}?mode=ro", uri=True)
        events = database.execute("SELECT sum(read) FROM event_count").fetchone()[0]
        kernels = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
        database.close()
        return {"events": events, "kernels": kernels}

    def ingest_cold(self):
        runs = []
        for _ in range(self.options.repetitions):
            forget(self.trace)
            runs.append(repeated(self.ingest_command(self.trace, self.index), 1, warm_up=False)[0])
        result = sorted(runs, key=lambda run: run["wall_s"])[len(runs) // 2]
        result["wall_min_s"] = min(run["wall_min_s"] for run in runs)
        result["repetitions"] = len(runs)
        return self.throughput(result)

    def ingest_gz(self):
        packed = WORK / f"{self.trace.name}.gz"
        if not packed.exists() or packed.stat().st_mtime_ns < self.trace.stat().st_mtime_ns:
            note("compressing once ...")
            tool = shutil.which("pigz") or "gzip"
            with open(packed, "wb") as output:
                subprocess.run([tool, "-6", "-n", "-c", str(self.trace)], stdout=output, check=True)
        warm(packed)
        index = WORK / f"{packed.name}.tracedb"
        result, _ = repeated(self.ingest_command(packed, index), self.options.repetitions)
        index.unlink()
        result["gz_bytes"] = packed.stat().st_size
        return self.throughput(result)

    def floor(self):
        result, output = repeated([BIN / "tracedb-floor", self.trace], self.options.repetitions)
        walk = json.loads(output)
        result["cut_s"] = walk["cut_seconds"]
        result["events"] = walk["events"]
        return self.throughput(result, walk["events"])

    def rival(self):
        command = [sys.executable, "-I", ROOT / "benchmarks/rival_loader.py", self.trace]
        result, output = repeated(command, self.options.rival_repetitions, warm_up=False)
        loaded = json.loads(output)
        result["parser"] = loaded["parser"]
        result["events"] = loaded["events"]
        return self.throughput(result, loaded["events"])

    def need_index(self):
        if not self.index.exists():
            measured(self.ingest_command(self.trace, self.index))

    def open(self):
        self.need_index()
        result, output = repeated([BIN / "tracedb-open", self.index, "101"], 1)
        opened = json.loads(output)
        result["wall_s"], result["first_s"] = opened["median_seconds"], opened["first_seconds"]
        result["cpu_s"] = None  # of 101 openings: not the figure wanted
        return result

    def query(self, *arguments):
        self.need_index()
        return repeated([BIN / "trace-query", *arguments, self.index], max(5, self.options.repetitions))[0]

    def info(self):
        return self.query("info", "--format", "json")

    def kernels(self):
        return self.query("kernels", "--format", "csv", "--limit", "20")


def ratios(results):
    """What the targets are about, from this run alone."""
    ingest, found = results.get("ingest"), {}
    if not ingest:
        return found
    for name, key, top, bottom in (("rival / ingest, wall", "wall_s", "rival", "ingest"),
                                   ("rival / ingest, CPU", "cpu_s", "rival", "ingest"),
                                   ("ingest / floor, wall", "wall_s", "ingest", "floor"),
                                   ("ingest / floor, CPU", "cpu_s", "ingest", "floor"),
                                   ("gz / plain ingest, wall", "wall_s", "ingest_gz", "ingest"),
                                   ("gz / plain ingest, CPU", "cpu_s", "ingest_gz", "ingest")):
        if top in results and bottom in results:
            found[name] = results[top][key] / results[bottom][key]
    return found


def machine():
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "load_before": round(os.getloadavg()[0], 2),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            "system": platform.platform(), "time": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds")}


def cell(value, scale=1.0, digits=2):
    return "-" if value is None else f"{value * scale:,.{digits}f}"


def seconds_text(value):
    return f"{value * 1e3:.3f} ms" if value < 0.1 else f"{value:.2f} s"


def table(results):
    head = ("workload", "wall", "best", "CPU s", "MB/s", "Mevents/s", "CPU-s/GB", "RSS MB", "runs")
    rows = [head]
    for name, result in results.items():
        rows.append((name, seconds_text(result["wall_s"]), seconds_text(result["wall_min_s"]) if name != "open" else "-",
                     cell(result["cpu_s"]), cell(result.get("mb_per_s"), 1, 0), cell(result.get("events_per_s"), 1e-6),
                     cell(result.get("cpu_s_per_gb")), cell(result["peak_rss_bytes"], 1e-6, 0),
                     str(101 if name == "open" else result["repetitions"])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join("| " + " | ".join(text.ljust(width) if i == 0 else text.rjust(width)
                                       for i, (text, width) in enumerate(zip(row, widths))) + " |" for row in rows)


def synthetic_trace(size, vendor):
    path = WORK / f"synthetic_{vendor}_{size}.json"
    if not path.exists():
        note(f"making {path} ...")
        part = path.with_suffix(".part.json")
        subprocess.run([BIN / "make-trace", "--vendor", vendor, "--target-size", size, "--output", part], check=True,
                       stdout=subprocess.DEVNULL)
        part.rename(path)
    return path


# A profiler lists operators first and kernels last; a file in order of time spares ingest most of its sorting.
ORDERS = {"": 100, "_in_order": 1}


def real_shape_traces(size):
    """A real trace repeated to the size wanted, in each order; none where the real traces are not there."""
    if not (AMPLIFY.exists() and REAL.exists()):
        note(f"no real-shape trace: {AMPLIFY} or {REAL} does not exist")
        return []
    paths = []
    for order, segments in ORDERS.items():
        paths.append(WORK / f"real_{size.lower()}{order}.json")
        if paths[-1].exists():
            continue
        note(f"making {paths[-1]} ...")
        part = paths[-1].with_suffix(".part.json")
        subprocess.run([sys.executable, "-I", AMPLIFY, REAL, part, "--size", size, "--segments", str(segments)], check=True,
                       stdout=subprocess.DEVNULL)
        part.rename(paths[-1])
    return paths


def options():
    parser = argparse.ArgumentParser(prog="benchmarks/run.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; default: all")
    parser.add_argument("--size", default="100M", help="size of the generated traces, e.g. 100M, 1G (default 100M)")
    parser.add_argument("--shape", choices=("synthetic", "real", "both"), default="both",
                        help="make-trace's trace, a real one repeated (needs ../shared), or both (default)")
    parser.add_argument("--file", type=Path, help="a plain JSON trace of your own instead")
    parser.add_argument("--vendor", choices=("amd", "nvidia"), default="amd", help="of the synthetic trace")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N")
    parser.add_argument("--rival-repetitions", type=int, default=1, metavar="N")
    parser.add_argument("--threads", type=int, help="for trace-ingest; default: its own choice")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured as JSON")
    chosen = parser.parse_args()
    unknown = set(chosen.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))} (there are {', '.join(WORKLOADS)})")
    chosen.workloads = [name for name in WORKLOADS if not chosen.workloads or name in chosen.workloads]
    return chosen


def traces(chosen):
    if chosen.file:
        return [chosen.file.resolve()]
    found = []
    if chosen.shape in ("synthetic", "both"):
        found.append(synthetic_trace(chosen.size, chosen.vendor))
    if chosen.shape in ("real", "both"):
        found += real_shape_traces(chosen.size)
    return found


def main():
    chosen = options()
    WORK.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine(), "traces": []}
    for trace in traces(chosen):
        bench = Bench(trace, chosen)
        report["traces"].append({"file": trace.name, "bytes": bench.bytes, "results": bench.results})
        print(f"\n{trace.name}: {bench.bytes / 1e6:,.1f} MB\n")
        for workload in chosen.workloads:
            bench.run(workload)
        report["traces"][-1]["ratios"] = found = ratios(bench.results)
        print(table(bench.results))
        ingest = bench.results.get("ingest")
        if ingest:
            print(f"\n{ingest['events']:,} events, {ingest['kernels']:,} kernels; "
                  f"index {ingest['index_bytes'] / 1e6:,.1f} MB = {ingest['index_ratio']:.1%} of the JSON")
        for name, ratio in found.items():
            print(f"{name}: {ratio:.2f}x")
    facts = report["machine"]
    print(f"\n{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB; load before: {facts['load_before']}; "
          f"{facts['time']}")
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
