"""Runs trace-ingest with a system that fails on purpose: see fault_shim.c for what can be asked of it."""
import errno
import hashlib
import os
import subprocess
from pathlib import Path

from index_folder import ingest_command, kernels, leftovers
from trace_cases import BIN, Skip, equal, require

SHIM = BIN / "libfault-shim.so"
# SQLite closes and removes files without looking at the result; a lock or a journal that stays is cleared later.
MAY_SUCCEED = ("close", "unlink")


def require_shim():
    if not SHIM.exists():
        raise Skip(f"{SHIM} is not built (a build with a sanitizer has none)")


def run_faulty(*arguments, mark=None, clock=None, input=None, command=None, **fault):
    """`fault`: calls="write sync", path, at, step, errno, signal, after, as in the shim. stderr as text."""
    environment = dict(os.environ)
    calls = fault.pop("calls", "")
    if calls or clock:  # a run without faults needs no shim, which another user may not be able to read
        environment["LD_PRELOAD"] = str(SHIM)
    environment["FAULT_CALLS"] = "".join(f"{call} " for call in calls.split())
    for name, value in {"mark": mark, "clock": clock, **fault}.items():
        if value is not None:
            environment[f"FAULT_{name.upper()}"] = str(int(value)) if isinstance(value, int) else str(value)
    # In its sandbox the program could neither leave the shim's mark nor end by its signal.
    unconfined = ("--no-sandbox",) if calls else ()
    return subprocess.run(command or ingest_command(*unconfined, *arguments), input=input, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, env=environment)


def content(folder):
    """{name: hash of the bytes} of all files in a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in Path(folder).iterdir()}


def one_line(result, codes, what):
    text = result.stderr.decode(errors="replace")
    require(result.returncode in codes, f"{what}: exit {result.returncode}, expected {codes} ({text})")
    equal(text.count("\n"), 1, f"{what}: lines of {text!r}")
    require(text.startswith("trace-ingest: ") and "\x1b" not in text, f"{what}: {text!r}")


def failing_calls(calls, error, limit=1000, start=1, stride=1):
    """Faults for at = 1, 2, 3 ...: the caller stops when one was not reached."""
    for at in range(start, limit, stride):
        yield dict(calls=calls, errno=error, at=at), f"{calls} {at}, {errno.errorcode.get(error, error)}"
    raise AssertionError(f"{calls}: still not through after {limit} calls")


def sound(index, expected, what):
    equal(kernels(index), expected, f"{what}: kernels")


def nothing_left(folder, what):
    equal(leftovers(folder), [], f"{what}: leftovers")
