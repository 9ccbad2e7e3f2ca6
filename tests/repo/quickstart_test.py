#!/usr/bin/env python3
"""Checks tools/quickstart.sh with stand-ins for the package installer, cmake and the programs: what it refuses before it
builds, what it shows of the build, and what it keeps.

Usage: quickstart_test.py REPOSITORY
"""
import os
import pathlib
import shutil
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
    exit 0
    ;;
esac
echo "[1/3] Building CXX object src/first.cc.o"
echo "a warning"
if [ -e "$STUB_FOLDER/broken" ]; then
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
    if len(calls) != 2 or calls[0] != "--preset programs" or not calls[1].endswith("--target programs"):
        yield f"cmake was called with {calls}"
    (checkout.root / "own.json").write_text("{}", encoding="utf-8")
    checkout.run("own.json")
    calls = checkout.cmake_calls()
    if len(calls) != 1:
        yield "configures a folder that is configured already"


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


def check_failing_build(checkout):
    (checkout.stubs / "broken").touch()
    result = checkout.run()
    if result.returncode != 1 or "first.cc:1: error: broken" not in result.stderr or "ran" in result.stdout:
        yield f"failing build: exit {result.returncode}, {result.stderr!r}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(pathlib.Path(sys.argv[1]), pathlib.Path(folder))
        problems = [*check_refusals(checkout), *check_build(checkout), *check_answers(checkout), *check_failing_build(checkout)]
    print("\n".join(problems) or "the quick start refuses early, shows its progress and keeps its log")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
