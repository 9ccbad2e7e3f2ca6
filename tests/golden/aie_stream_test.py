"""`aie --compat stream` against everything the stream project's program wrote for recorded cases: files, standard output
and exit code byte for byte. In all of these cases it succeeds; texts of Python are no result and differ."""
import json
import shlex
import subprocess

from trace_cases import TRACES, equal, program, skip_without_traces

GOLDEN = TRACES.parent / "golden/aie"
ABOUT_THE_RUN = ("stdout.txt", "stderr.txt", "exit_code")


def trace_of(options):
    size = "{M}_{K}_{N}".format(**options)
    return f"outputs/{options['hwid']}-gemm_{size}-{options['row']}_row_{options['col']}_col/traces/trace_mm_{size}.json"


def check(folder, case):
    expected = case / "expected"
    trace = folder / trace_of(json.loads((case / "args.json").read_text()))
    trace.parent.mkdir(parents=True)
    recorded = case / "input/trace.json"
    if recorded.exists():
        trace.write_bytes(recorded.read_bytes())
    arguments = shlex.split((case / "cmd.txt").read_text())[1:]
    result = subprocess.run([program("trace-query"), "aie", "--compat", "stream", *arguments], cwd=folder,
                            capture_output=True, check=False)
    equal(result.stdout, (expected / "stdout.txt").read_bytes(), "standard output")
    equal(result.returncode, int((expected / "exit_code").read_text()), "exit code")
    equal(result.stderr, (expected / "stderr.txt").read_bytes(), "standard error")
    names = {path.name for path in expected.iterdir()} - set(ABOUT_THE_RUN)
    equal({path.name for path in trace.parent.iterdir()} - {trace.name}, names, "files")
    for name in sorted(names):
        equal((trace.parent / name).read_bytes(), (expected / name).read_bytes(), name)


def main(cases, _):
    if not skip_without_traces(cases, GOLDEN):
        for case in sorted(GOLDEN.iterdir()):
            cases.run_apart(case.name, check, case)
