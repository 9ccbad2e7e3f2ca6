#!/usr/bin/env python3
"""Checks tools/quickstart.sh with stand-ins for the package installer, cmake and the programs: what it refuses before it
builds, what it shows of the build, and what it keeps.

Usage: quickstart_test.py REPOSITORY
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

CMAKE = r"""#!/bin/sh
echo "$@" >>"$STUB_FOLDER/cmake_calls"
case $1 in
  --build) ;;
  *)
    mkdir -p build/release
    touch build/release/build.ninja
    echo "$*" | sed -n 's/.*-D\(TRACEDB_OPTIMIZE\)=\([A-Z]*\).*/\1:BOOL=\2/p' >build/release/CMakeCache.txt
    exit 0
    ;;
esac
echo "[1/3] Building CXX object src/first.cc.o"
echo "a warning"
if [ -e "$STUB_FOLDER/interrupt" ] && grep -q '=ON' build/release/CMakeCache.txt; then
  kill -INT 0  # as Ctrl-C: the whole process group
  sleep 9
fi
if [ -e "$STUB_FOLDER/broken" ] || { [ -e "$STUB_FOLDER/broken_optimized" ] && grep -q '=ON' build/release/CMakeCache.txt; }; then
  echo "first.cc:1: error: broken"
  exit 1
fi
echo "[3/3] Linking CXX executable bin/trace-query"
"""
PROGRAM = '#!/bin/sh\necho "$(basename "$0") ran"\necho "$(basename "$0") $1" >>"$STUB_FOLDER/programs"\n'


def write_script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


class Checkout:
    """A folder with the script and stand-ins for all it calls."""

    def __init__(self, repository, folder):
        self.root = folder / "checkout"
        self.stubs = folder / "stubs"
        (self.root / "tools").mkdir(parents=True)
        shutil.copy(repository / "tools/quickstart.sh", self.root / "tools/quickstart.sh")
        write_script(self.root / "tools/install_dependencies.sh", '#!/bin/sh\ntouch "$STUB_FOLDER/installed"\n')
        write_script(self.stubs / "cmake", CMAKE)
        for program in ("make-trace", "trace-ingest", "trace-query"):
            write_script(self.root / "build/release/bin" / program, PROGRAM)

    def run(self, *arguments):
        for trace in ("cmake_calls", "installed"):
            (self.stubs / trace).unlink(missing_ok=True)
        environment = {**os.environ, "PATH": f"{self.stubs}:{os.environ['PATH']}", "STUB_FOLDER": str(self.stubs)}
        return subprocess.run(["tools/quickstart.sh", *arguments], cwd=self.root, env=environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60, start_new_session=True)

    def cmake_calls(self):
        path = self.stubs / "cmake_calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def check_refusals(checkout):
    """Each is one line, and nothing was installed or built before."""
    (checkout.root / "folder").mkdir()
    (checkout.root / "empty.json").touch()
    (checkout.root / "good.json").write_text("{}", encoding="utf-8")
    for arguments, status, text in ((["missing.json"], 3, "missing.json: no such file"), (["folder"], 3, "is a folder"),
                                    (["empty.json"], 3, "empty.json: is empty"), (["--fast"], 2, "unknown option --fast"),
                                    (["good.json", "missing.json"], 3, "missing.json")):
        result = checkout.run(*arguments)
        if result.returncode != status or text not in result.stderr:
            yield f"{arguments}: exit {result.returncode}, {result.stderr!r}"
        if checkout.cmake_calls() or (checkout.stubs / "installed").exists():
            yield f"{arguments}: installs or builds before it refuses"
    if "usage:" not in checkout.run("--help").stdout:
        yield "--help says no usage"


def check_build(checkout):
    result = checkout.run()
    if result.returncode != 0:
        yield f"exit {result.returncode}: {result.stderr!r}"
    if "[3/3]" not in result.stderr or "a warning" in result.stderr:
        yield f"progress: {result.stderr!r}"
    if "a warning" not in (checkout.root / "build/quickstart.log").read_text(encoding="utf-8"):
        yield "the log lacks the output of the build"
    if "trace-query ran" not in result.stdout or "Where to go next" not in result.stdout:
        yield f"standard output: {result.stdout!r}"
    calls = checkout.cmake_calls()
    programs = "--target trace-ingest trace-query make-trace"
    if (len(calls) != 4 or calls[0] != "--preset programs -DTRACEDB_OPTIMIZE=OFF"
            or not calls[1].endswith(programs) or calls[2] != "-DTRACEDB_OPTIMIZE=ON build/release"
            or not calls[3].endswith("--target programs")):
        yield f"cmake was called with {calls}"
    if "TRACEDB_OPTIMIZE:BOOL=ON" not in (checkout.root / "build/release/CMakeCache.txt").read_text(encoding="utf-8"):
        yield "leaves programs that are not optimized"
    (checkout.root / "own.json").write_text("{}", encoding="utf-8")
    checkout.run("own.json")
    calls = checkout.cmake_calls()
    if len(calls) != 1:
        yield "configures a folder that is configured already"
    if not calls[0].endswith("--target trace-ingest trace-query"):
        yield f"builds what a trace of one's own does not need: {calls}"


def check_interrupted_build(checkout):
    """Programs of a first build that was not followed by the second are optimized the next time."""
    cache = checkout.root / "build/release/CMakeCache.txt"
    cache.write_text("TRACEDB_OPTIMIZE:BOOL=OFF\n", encoding="utf-8")
    checkout.run()
    if "TRACEDB_OPTIMIZE:BOOL=ON" not in cache.read_text(encoding="utf-8") or len(checkout.cmake_calls()) != 3:
        yield f"after an interrupted build: {checkout.cmake_calls()}"


def check_answers(checkout):
    """A pair is compared; of one trace the first questions are answered."""
    for traces, expected in (((), ["compare"]), (("good.json",), ["info", "ops", "phases", "timeline"]),
                             (("good.json", "good.json"), ["compare"])):
        (checkout.stubs / "programs").unlink(missing_ok=True)
        checkout.run(*traces)
        lines = (checkout.stubs / "programs").read_text(encoding="utf-8").splitlines()
        shown = [line.split()[1] for line in lines if line.startswith("trace-query ")]
        if shown != expected:
            yield f"{traces}: shows {shown}"


def check_failing_optimization(checkout):
    """The answers and the hints are there, and the next run does not begin with what failed."""
    (checkout.root / "build/release/build.ninja").unlink()
    (checkout.stubs / "broken_optimized").touch()
    for run in ("first", "second"):
        result = checkout.run()
        cache = (checkout.root / "build/release/CMakeCache.txt").read_text(encoding="utf-8")
        if (result.returncode != 1 or "compare" not in result.stdout or "Where to go next" not in result.stdout
                or "optimizing failed" not in result.stderr or "TRACEDB_OPTIMIZE:BOOL=OFF" not in cache):
            yield f"{run} failing optimization: exit {result.returncode}, {result.stdout!r}, {result.stderr!r}, {cache!r}"
    (checkout.stubs / "broken_optimized").unlink()
    if checkout.run().returncode != 0:
        yield "does not recover from a failed optimization"


def check_interrupt(checkout):
    """Ctrl-C while the programs are optimized leaves those of the first build, and the next run goes on from there."""
    (checkout.root / "build/release/build.ninja").unlink()
    (checkout.stubs / "interrupt").touch()
    result = checkout.run()
    cache = (checkout.root / "build/release/CMakeCache.txt").read_text(encoding="utf-8")
    if result.returncode != 130 or "Where to go next" not in result.stdout or "TRACEDB_OPTIMIZE:BOOL=OFF" not in cache:
        yield f"Ctrl-C: exit {result.returncode}, {result.stdout!r}, {result.stderr!r}, {cache!r}"
    (checkout.stubs / "interrupt").unlink()
    if checkout.run().returncode != 0:
        yield "does not recover from Ctrl-C"


def check_failing_build(checkout):
    (checkout.stubs / "broken").touch()
    result = checkout.run()
    if result.returncode != 1 or "first.cc:1: error: broken" not in result.stderr or "ran" in result.stdout:
        yield f"failing build: exit {result.returncode}, {result.stderr!r}"


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        problems = [*check_refusals(checkout), *check_build(checkout), *check_interrupted_build(checkout),
                    *check_answers(checkout), *check_failing_optimization(checkout), *check_interrupt(checkout),
                    *check_failing_build(checkout)]
    print("\n".join(problems) or "the quick start refuses early, shows its progress and keeps its log")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
