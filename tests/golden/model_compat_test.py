"""`model --compat msmodeling`: files, standard output and exit code of the original, byte for byte. In all of
these cases it succeeds; texts of Python are no result and differ."""
import os
import shutil
import subprocess

from trace_cases import TRACES, equal, program, scratch_folder, skip_without_traces

GOLDEN = TRACES.parent / "golden/ascend"


def writable_copy(source, target):
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)


def check(case, folder):
    writable_copy(case / "input", folder)
    command = (case / "cmd.txt").read_text(encoding="utf-8").split()
    result = subprocess.run([program("trace-query"), "model", "--compat", "msmodeling", *command[1:]], cwd=folder,
                            capture_output=True, timeout=60)
    expected = case / "expected"
    equal(result.returncode, int((expected / "exit_code").read_text(encoding="utf-8")), "exit code")
    equal(result.stdout.decode(), (expected / "stdout.txt").read_text(encoding="utf-8"), "standard output")
    equal(result.stderr.decode(), (expected / "stderr.txt").read_text(encoding="utf-8"), "standard error")
    outputs = sorted(path.name for path in expected.iterdir() if path.name not in
                     ("stdout.txt", "stderr.txt", "exit_code"))
    written = folder / "out"
    equal(sorted(path.name for path in written.iterdir()) if written.exists() else [], outputs, "files written")
    for name in outputs:
        equal((written / name).read_bytes(), (expected / name).read_bytes(), name)


def main(cases):
    if skip_without_traces(cases, GOLDEN):
        return
    with scratch_folder() as folder:
        for case in sorted(GOLDEN.glob("case*")):
            cases.run(case.name, check, case, folder / case.name)
