#!/usr/bin/env python3
"""Which source files the commands spend their time in: what src/CMakeLists.txt should compile for speed.

  cmake --preset programs -B build/profiled -DCMAKE_CXX_FLAGS=-g1
  cmake --build build/profiled --target programs
  build/profiled/bin/make-trace --steps 1200 --output a.json      # --vendor nvidia: b.json
  benchmarks/hot_files.py build/profiled/bin a.json b.json

Samples of `perf record` (cpu-clock) by the file that defines the function. First the files of at least --share percent of
some command's time: the percentage, the command, "-Og" where the file is not compiled for speed. Then, for each command,
the share of all our files that are not. Indexes are built again, beside the traces."""
import argparse
import collections
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ("info", "ops", "kernels", "phases", "steps", "layers", "timeline", "gaps", "launches", "comms", "memcpys", "stacks",
           "sequences", "warnings")
KERNELS = "SELECT * FROM kernels LIMIT 200000"
REPETITIONS = 3
FEWEST = 8  # samples: fewer say nothing


def commands(bin_folder, baseline, candidate, out):
    query = bin_folder / "trace-query"
    yield "ingest", [bin_folder / "trace-ingest", "-q", "--force", baseline, candidate]
    for _ in range(REPETITIONS):
        for report in REPORTS:
            yield report, [query, report, baseline]
        for pair in ("compare", "align", "fusion"):
            yield pair, [query, pair, baseline, candidate]
        yield "page", [query, "compare", "-o", out / "page.html", baseline, candidate]
        yield "report", [query, "report", "-o", out / "report.html", baseline]
        yield "csv", [query, "sql", "--format", "csv", baseline, KERNELS]
    yield "export", [query, "export", "--phase", "decode", "-o", out / "trace.json", baseline]


def files_of_functions(program):
    """The source file of each symbol, relative to the checkout."""
    listing = subprocess.run(["nm", "-l", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\w+ \w (\S+)\t(.*):\d+$", listing, re.MULTILINE)
    return {symbol: str(Path(path).resolve().relative_to(ROOT)) for symbol, path in found
            if Path(path).resolve().is_relative_to(ROOT)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--share", type=float, default=0.4, metavar="PERCENT")
    options.add_argument("programs", type=lambda name: Path(name).resolve())
    options.add_argument("baseline")
    options.add_argument("candidate")
    options = options.parse_args()
    for_speed = set(re.findall(r"\S+\.cc\b", (ROOT / "src/CMakeLists.txt").read_text()))
    functions = {name: files_of_functions(options.programs / name) for name in ("trace-ingest", "trace-query")}
    samples = collections.Counter()
    of_file = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as out:
        data = f"{out}/perf.data"
        for name, command in commands(options.programs, options.baseline, options.candidate, Path(out)):
            subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "3000", "-o", data, "--", *command], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            listing = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso", "--no-demangle"], check=True,
                                     capture_output=True, text=True, errors="replace").stdout
            for symbol, program in re.findall(r"^\s*[0-9a-f]+ (\S+) \((.*)\)$", listing, re.MULTILINE):
                samples[name] += 1
                file = functions.get(Path(program).name, {}).get(symbol)
                if file:
                    of_file[file][name] += 1
    slow = collections.Counter()
    for file, counts in sorted(of_file.items()):
        fast = file.endswith(".h") or file.removeprefix("src/") in for_speed
        if not fast:
            slow.update(counts)
        share, name = max((100 * count / samples[name], name) for name, count in counts.items())
        if share >= options.share and counts[name] >= FEWEST:
            print(f"{share:5.1f} %  {name:9}  {'' if fast else '-Og':3}  {file}")
    for name in samples:
        print(f"{name}: {100 * slow[name] / samples[name]:.1f} % in files not compiled for speed")


if __name__ == "__main__":
    main()
