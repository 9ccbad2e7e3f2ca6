"""Calls that fail while an index is written, one after the other until a run gets through: the old index stays, or
none, nothing half-made, one line and exit 5; the same with a process killed at each of those calls, and with memory
that runs out. Full disks: process_test.py. What goes wrong while the trace is read: sources_test.py."""
import errno
import os
import resource
import signal
import subprocess
import time

from faults import (MAY_SUCCEED, content, failing_calls, nothing_left, one_line, require_shim, run_faulty, sound)
from index_folder import kernels, run_any, trace_file
from trace_cases import equal, open_index, require, run

SMALL = ("--layers", 2)
MEMORY = ("--max-memory", "50K")  # so that temporary files are written too


class Desk:
    """A trace in a folder of its own and the folder its index goes to, which is the one that fails."""

    def __init__(self, folder):
        require_shim()
        self.trace = trace_file(folder / "t.json", 1, *SMALL)
        os.utime(self.trace, (1_600_000_000, 1_600_000_000))
        self.out = folder / "indexes"
        self.out.mkdir()
        self.index = self.out / "t.tracedb"
        self.mark = folder / "mark"
        self.arguments = ("-q", "--threads", 1, *MEMORY, "-o", self.index, self.trace)
        run("trace-ingest", *self.arguments)
        self.good, self.kernels = self.index.read_bytes(), kernels(self.index)

    def run(self, *options, **fault):
        self.mark.unlink(missing_ok=True)
        return run_faulty(*options, *self.arguments, mark=self.mark, path=str(self.out), **fault)

    def reached(self):
        return self.mark.exists()

    def lay(self, old):
        """The folder as it is before a run: with an old index or without."""
        for path in self.out.iterdir():
            path.unlink()
        if old:
            self.index.write_bytes(self.good)
        return content(self.out)

    def check_next(self, what):
        result = run_faulty(*self.arguments)
        equal(result.returncode, 0, f"{what}: exit code of the next run ({result.stderr})")
        sound(self.index, self.kernels, f"{what}: next run")
        nothing_left(self.out, f"{what}: next run")


def call_fails(folder, calls, error):
    """The n-th call fails, for every n, by turns over an old index and into an empty folder."""
    desk = Desk(folder)
    for fault, what in failing_calls(calls, error):
        before = desk.lay(old=fault["at"] % 2 == 0)
        result = desk.run("--force", **fault)
        if not desk.reached():
            equal(result.returncode, 0, f"{what}: exit code of the run that gets through ({result.stderr})")
            require(fault["at"] > 1, f"{calls}: never called")
            break
        check_failure(desk, result, before, calls, what)
    desk.check_next(calls)
    print(f"  {calls}: {fault['at'] - 1} calls, each failed once")


def check_failure(desk, result, before, calls, what):
    hit = desk.mark.read_text()
    what = f"{what} ({hit})"
    # Temporary files do without a nameless one, and an old index that is to be replaced need not be readable.
    places = {"create": desk.out.name, "open": desk.out.name, "read": desk.index.name}
    tolerated = calls in MAY_SUCCEED or hit.endswith(places.get(calls, "\0"))
    if result.returncode == 0 and tolerated:
        sound(desk.index, desk.kernels, what)
        if calls == "unlink":
            desk.check_next(what)
        return
    one_line(result, (5,), what)
    if hit.endswith(desk.out.name) and desk.index.exists():  # the folder's own sync comes after the rename
        sound(desk.index, desk.kernels, what)
    elif calls not in MAY_SUCCEED:
        equal(content(desk.out), before, f"{what}: files")


def calls_fail_from_then_on(folder):
    """A disk that is gone stays gone: removing what was begun may fail too, and the next run clears it away."""
    desk = Desk(folder)
    for at in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        what = f"everything fails from call {at} on"
        before = desk.lay(old=at % 2 == 0)
        result = desk.run("--force", calls="create write sync truncate rename unlink", errno=errno.EIO, at=at, step=1)
        one_line(result, (5,), what)
        after = content(desk.out)
        equal(after.get(desk.index.name), before.get(desk.index.name), f"{what}: the index")
        desk.check_next(what)


def calls_do_half_or_are_interrupted(folder):
    desk = Desk(folder)
    for error, step in ((0, 1), (0, 2), (errno.EINTR, 2)):
        desk.lay(old=False)
        what = f"errno {error}, step {step}"
        equal(desk.run(calls="write read", errno=error, at=1, step=step).returncode, 0, f"{what}: exit code")
        require(desk.reached(), f"{what}: never happened")
        require(desk.index.read_bytes() == desk.good, f"{what}: another index than without faults")


# Where a run is killed: the n-th call of a kind, before it or after it was done.
KILL_POINTS = [(calls, at, after) for calls, most in
               (("create", 4), ("write", 3), ("sync", 2), ("rename", 1), ("unlink", 4))
               for at in range(1, most + 1) for after in (0, 1)] + [("write", at, 0) for at in (9, 17, 31, 47, 62)]


def killed(folder):
    desk = Desk(folder)
    reached = set()
    for number, (calls, at, after) in enumerate(KILL_POINTS):
        what = f"killed {'after' if after else 'before'} {calls} {at}"
        old = number % 3 != 0
        desk.lay(old)
        result = desk.run("--force", calls=calls, at=at, signal=signal.SIGKILL, after=after)
        if not desk.reached():
            continue
        reached.add((calls, at, after))
        equal(result.returncode, -signal.SIGKILL, f"{what}: exit code")
        if old or desk.index.exists():
            sound(desk.index, desk.kernels, what)
        desk.check_next(what)
    require(len(reached) >= 20, f"points reached: {sorted(reached)}")
    require(("rename", 1, 1) in reached, "never killed between the rename and the end")
    print(f"  killed at {len(reached)} points")


def killed_while_noting_new_times(folder):
    """An index that is valid but does not trust the times of its trace is replaced by one that does."""
    desk = Desk(folder)
    time.sleep(2.1)  # times are noted only of a trace that has been at rest for two seconds
    reached = 0
    for calls in ("create", "write", "sync", "rename", "unlink"):
        for at in range(1, 20):
            desk.lay(old=True)
            os.utime(desk.index, (1_500_000_000, 1_500_000_000))
            result = desk.run(calls=calls, at=at, signal=signal.SIGKILL)
            if not desk.reached():
                equal(result.returncode, 0, f"{calls} {at}: exit code")
                require(desk.index.stat().st_mtime > 1_600_000_000, f"{calls} {at}: no times were noted")
                break
            reached += 1
            what = f"killed before {calls} {at}"
            equal(run("trace-query", "info", desk.index, check=False).returncode, 0, f"{what}: trace-query")
            desk.check_next(what)
    require(reached >= 5, f"killed {reached} times only: are new times noted?")
    print(f"  killed at {reached} points")


def summary_cannot_be_written(folder):
    desk = Desk(folder)
    for calls in ("create", "write", "close"):
        desk.lay(old=False)
        desk.mark.unlink(missing_ok=True)
        result = run_faulty("--summary", folder / "summary.jsonl", *desk.arguments, mark=desk.mark,
                            path="summary.jsonl", calls=calls, at=1, step=1, errno=errno.ENOSPC)
        require(desk.reached(), f"{calls}: never called")
        one_line(result, (5,), f"summary: {calls}")
        nothing_left(desk.out, calls)


def memory_runs_out(folder):
    """Address space from almost none to enough: always one line and no index, or the whole of it."""
    desk = Desk(folder)
    gzip = desk.trace.with_suffix(".json.gz")
    subprocess.run(["gzip", "-k", str(desk.trace)], check=True)
    ends = []
    for number, megabytes in enumerate([*range(16, 48), *range(48, 220, 16)]):
        trace = gzip if number % 2 else desk.trace
        what = f"{megabytes} MB of address space, {trace.name}"
        desk.lay(old=False)
        result = run_any("-q", "--threads", 2, "-o", desk.index, trace,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2))
        if "error while loading shared libraries" in result.stderr:
            continue  # it never ran
        require(result.returncode in (0, 5), f"{what}: exit {result.returncode}: {result.stderr}")
        equal(len(result.stderr.splitlines()), 0 if result.returncode == 0 else 1, f"{what}: {result.stderr!r}")
        nothing_left(desk.out, what)
        equal(desk.index.exists(), result.returncode == 0, f"{what}: an index")
        if result.returncode == 0:
            sound(desk.index, desk.kernels, what)
            (warnings,) = open_index(desk.index).execute("SELECT count(*) FROM issue WHERE severity <> 'info'").fetchone()
            equal(warnings, 0, f"{what}: warnings")
        ends.append(result.returncode)
    require(ends.count(5) >= 3 and ends[-1] == 0, f"exit codes: {ends}")
    print(f"  {ends.count(5)} runs without enough memory, {ends.count(0)} with enough")


FAULTS = (("create", errno.EIO), ("create", errno.EMFILE), ("create", errno.EDQUOT), ("open", errno.ENFILE),
          ("write", errno.EIO), ("write", errno.ENOSPC), ("write", errno.EDQUOT), ("read", errno.EIO),
          ("sync", errno.EIO), ("sync", errno.ENOSPC), ("rename", errno.EIO), ("rename", errno.ENOSPC),
          ("unlink", errno.EIO), ("close", errno.EIO))


def main(cases, _):
    for calls, error in FAULTS:
        cases.run_apart(f"every {calls} fails in turn: {errno.errorcode[error]}", call_fails, calls, error)
    cases.each_apart((calls_fail_from_then_on, calls_do_half_or_are_interrupted, killed,
                      killed_while_noting_new_times, summary_cannot_be_written, memory_runs_out))
