"""Whatever ends a run, at whatever moment: a name ending in .tracedb is a whole index or is not there, nothing
half-made stays behind, and the next run does what is missing.

TRACEDB_KILL_ROUNDS sets the number of kills (default 15), TRACEDB_SEED the moments (long loops pass a random one),
TRACEDB_CROWD_ROUNDS how often eight processes meet at one trace (default 2)."""
import fcntl
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from index_folder import closing_line, kernels, leftovers, run_any, start, trace_file
from trace_cases import Skip, equal, installed, program, require, run

ROUNDS = int(os.environ.get("TRACEDB_KILL_ROUNDS", "15"))
SEED = int(os.environ.get("TRACEDB_SEED", "20240607"))
CROWD_ROUNDS = int(os.environ.get("TRACEDB_CROWD_ROUNDS", "2"))
STEPS = 120  # some 50 MB, a fraction of a second
CHANGE_ATTEMPTS = 20


def timed(*arguments):
    begin = time.monotonic()
    run("trace-ingest", "-q", *arguments)
    return time.monotonic() - begin


def kill_rounds(folder):
    chance = random.Random(SEED)
    print(f"{ROUNDS} kills, seed {SEED}")
    names = ("a.json", "b.json", "c.json")
    for name in names:
        trace_file(folder / name, STEPS // 2)
    seconds = timed("-j2", folder)
    expected = kernels(folder / "a.json.tracedb")
    for number in range(ROUNDS):
        fresh = number % 2 == 0
        if fresh:
            for name in names:
                (folder / f"{name}.tracedb").unlink(missing_ok=True)
        process = start("-q", "-j2", *([] if fresh else ["--force"]), folder)
        time.sleep(chance.uniform(0, 1.1 * seconds))
        process.kill()
        process.communicate()
        for index in folder.glob("*.tracedb"):
            equal(kernels(index), expected, f"round {number}: kernels of {index.name}")
        if number % 3 == 0:
            continued(folder, names, expected)
    continued(folder, names, expected)


def continued(folder, names, expected):
    run("trace-ingest", "-q", folder)
    equal(leftovers(folder), [], "leftovers after a clean run")
    for name in names:
        equal(kernels(folder / f"{name}.tracedb"), expected, f"kernels of {name}")


def signals(folder):
    trace = trace_file(folder / "a.json", STEPS)
    index = folder / "a.json.tracedb"
    seconds = timed(trace)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        codes = []
        for share in (0.15, 0.35, 0.55, 0.75, 0.9):
            index.unlink(missing_ok=True)
            process = start("-q", trace)
            time.sleep(share * seconds)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            codes.append(process.returncode)
            require(process.returncode in (0, 128 + number), f"{number!r}: exit {process.returncode}: {errors}")
            equal(leftovers(folder), [], f"{number!r}: leftovers")
            equal(index.exists(), process.returncode == 0, f"{number!r}: an index")
        require(128 + number in codes, f"{number!r} never came in time: {codes}")


def signal_in_a_batch(folder):
    for number in range(6):
        trace_file(folder / f"{number}.json", STEPS // 2)
    process = start("-j1", "--summary", folder / "summary", folder)
    while not list(folder.glob("*.tracedb")):
        time.sleep(0.005)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    equal(process.returncode, 143, f"exit code ({errors})")
    equal(leftovers(folder), [], "leftovers")
    counts = closing_line(errors.decode())
    require(counts["skipped"] > 0 and counts["failed"] == 0, f"closing line: {counts}")
    equal(len((folder / "summary").read_text().splitlines()), 6, "lines of the summary")
    done = len(list(folder.glob("*.tracedb")))
    counts = closing_line(run_any(folder).stderr)
    equal((counts["built"], counts["valid"]), (6 - done, done), "built and valid of the next run")


def signals_that_are_ignored(folder):
    def deaf():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does

    trace = trace_file(folder / "a.json", STEPS)
    process = start(trace, preexec_fn=deaf)
    time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    process.stderr.close()  # and nobody listens to what it says
    equal(process.wait(timeout=60), 0, "exit code")


def signal_while_a_pipe_is_silent(folder):
    os.mkfifo(folder / "pipe.json")
    for arguments in (["-o", folder / "a", folder / "pipe.json"], ["-o", folder / "a", "-"]):
        reader, writer = os.pipe()
        process = start("-q", *arguments, stdin=reader)
        time.sleep(0.3)
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise AssertionError(f"{arguments[-1]}: still waiting for the pipe") from error
        os.close(reader)
        os.close(writer)
        equal(process.returncode, 143, "exit code")
        equal(sorted(os.listdir(folder)), ["pipe.json"], "files")


def eight_at_once(folder):
    for place in (folder / str(number) for number in range(CROWD_ROUNDS)):
        place.mkdir()
        crowd(place)


def crowd(folder):
    trace = trace_file(folder / "a.json", STEPS // 2)
    os.utime(trace, (1_600_000_000, 1_600_000_000))
    processes = [start(trace) for _ in range(7)]
    query = subprocess.Popen([program("trace-query"), "info", trace], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    texts = [process.communicate(timeout=120)[1].decode() for process in processes]
    query.communicate(timeout=120)
    equal([process.returncode for process in processes], [0] * 7, f"exit codes ({texts})")
    equal(query.returncode, 0, "exit code of trace-query")
    built = sum("events = " in text for text in texts)
    require(built <= 1, f"built {built} times: {texts}")
    require(kernels(folder / "a.json.tracedb") > 0, "no kernels")
    equal(sorted(os.listdir(folder)), ["a.json", "a.json.tracedb"], "files")


def litter(folder):
    trace = trace_file(folder / "a.json")
    index, lock = folder / "a.json.tracedb", folder / "a.json.tracedb.lock"
    run("trace-ingest", "-q", trace)
    old = folder / "a.json.tracedb.abc123.partial"
    notes = folder / "a.json.tracedb.notes1.partial"
    notes.write_text("of somebody else")
    odd = folder / "a.json.tracedb.ABC-12.partial"
    odd.touch()
    shutil.copy(index, old)
    lock.touch()
    run("trace-ingest", "-q", trace)
    equal(leftovers(folder), [odd.name, notes.name], "left after a run over a valid index")
    index.unlink()
    old.touch()
    lock.touch()
    run("trace-ingest", "-q", trace)
    equal(leftovers(folder), [odd.name, notes.name], "left after a run that built")


def lock_that_is_held(folder):
    trace = trace_file(folder / "a.json")
    lock = folder / "a.json.tracedb.lock"
    partial = folder / "a.json.tracedb.abc123.partial"
    partial.touch()
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start(trace)
        time.sleep(0.7)
        require(process.poll() is None, "did not wait for the lock")
        require(partial.exists(), "removed a file of the holder")
        interrupted = start(trace)
        time.sleep(0.3)
        interrupted.send_signal(signal.SIGINT)
        equal(interrupted.wait(timeout=10), 130, "exit code of a process that waits and is interrupted")
        interrupted.stderr.close()
    _, errors = process.communicate(timeout=60)
    equal(process.returncode, 0, "exit code")
    require(b"waiting" in errors, f"did not say that it waits: {errors}")
    equal(leftovers(folder), [], "leftovers")


def append(trace):
    with open(trace, "ab") as file:
        file.write(b" ")


def replace(trace):
    """Another file of the same bytes takes its place: two copies take turns, so that no copying delays it."""
    copies = [trace.with_suffix(".copy0"), trace.with_suffix(".copy1")]
    for copy in copies:
        if not copy.exists():
            shutil.copy(trace, copy)
    other = next(copy for copy in copies if not os.path.samefile(copy, trace))
    new = trace.with_suffix(".new")
    os.link(other, new)
    os.replace(new, trace)


def write_with_old_time(trace):
    times = (trace.stat().st_atime_ns, trace.stat().st_mtime_ns)
    with open(trace, "r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(first)
    os.utime(trace, ns=times)


def source_changes(folder, change):
    trace = trace_file(folder / "a.json", STEPS)
    change(trace)
    # On a busy machine the whole ingest can fit between two changes, and then it succeeds by right.
    for _ in range(CHANGE_ATTEMPTS):
        process = start("-q", "--force", "--summary", folder / "summary", trace)
        while process.poll() is None:
            change(trace)
            time.sleep(0.005)
        _, errors = process.communicate()
        if process.returncode != 0:
            break
        (folder / "a.json.tracedb").unlink()
    equal(process.returncode, 6, f"exit code ({errors})")
    require('"status":"failed"' in (folder / "summary").read_text(), "the summary does not say it")
    require('"code":6' in (folder / "summary").read_text(), "the summary does not say why")
    equal(leftovers(folder), [], "files")
    run("trace-ingest", "-q", trace)


def source_changes_once(folder):
    trace = trace_file(folder / "a.json", STEPS)
    seconds = timed(trace)
    for share in (0.5, 0.3, 0.2, 0.1):
        process = start("-q", "--force", trace)
        time.sleep(share * seconds)
        in_time = process.poll() is None
        append(trace)
        _, errors = process.communicate(timeout=60)
        if in_time:
            equal(process.returncode, 0, f"exit code ({errors})")
            if process.returncode == 0 and verified(folder / "a.json.tracedb"):
                return
    raise Skip("the trace never changed in time")


def verified(index):
    return subprocess.run([program("trace-query"), "verify", index], capture_output=True).returncode == 0


def size_limit(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def file_size_limit(folder):
    trace = trace_file(folder / "a.json", STEPS // 4)
    run("trace-ingest", "-q", trace)
    size = (folder / "a.json.tracedb").stat().st_size
    (folder / "a.json.tracedb").unlink()
    for limit in (1, 1000, 16384, 100_000, size // 2, size - 16384, size - 1):
        no_room(run_any("-q", trace, preexec_fn=size_limit(limit)), folder, f"limit of {limit} bytes", size)
    spilling = run_any("-q", "--max-memory", "100K", trace, preexec_fn=size_limit(10_000))
    require("temporary file" in spilling.stderr, f"did not spill: {spilling.stderr}")
    no_room(spilling, folder, "no room for spilled data", size, 4)  # which needs room as well
    run_any("-q", trace, preexec_fn=size_limit(2 * size), code=0)


def no_room(result, folder, what, size, most=1.3):
    equal(result.returncode, 5, f"{what}: exit code ({result.stderr})")
    equal(len(result.stderr.splitlines()), 1, f"{what}: lines of {result.stderr!r}")
    equal(sorted(path.name for path in folder.iterdir() if path.suffix != ".json"), [], f"{what}: files")
    figures = re.search(r"; ([0-9.]+) MB were written, about ([0-9.]+) MB are needed", result.stderr)
    require(figures, f"{what}: does not say how much is needed: {result.stderr}")
    written, needed = (1e6 * float(figure) for figure in figures.groups())
    require(written <= 1.1 * size and 0.85 * size < needed < most * size, f"{what}: {size} bytes are needed: {result.stderr}")


def disk_of_many_sizes(folder):
    """A real file system that is full: SQLite notices in a statement, while it makes indexes, or in COMMIT."""
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    trace, disk = trace_file(folder / "a.json"), folder / "disk"
    disk.mkdir()
    run("trace-ingest", "-q", trace)
    index = Path(f"{trace}.tracedb").stat()
    for number in range(40):
        kilobytes = 16 + (index.st_blocks // 2 - 32) * number // 39  # pages of zeros take no room
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)],
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            raise Skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
        try:
            result = run_any("-q", "--threads", 1 + number % 2, "-o", disk / "index", trace)
            no_room(result, disk, f"disk of {kilobytes} kB", index.st_size)
        finally:
            subprocess.run(["umount", str(disk)], check=True)


def order_of_publishing(folder):
    """Power may fail at any time: bytes, then the file's fsync, then its name, then the fsync of the folder."""
    trace = trace_file(folder / "a.json")
    result = subprocess.run([installed("strace"), "-f", "-y", "-o", str(folder / "log"),
                             "-e", "trace=write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2",
                             program("trace-ingest"), "-q", str(trace)], capture_output=True, text=True)
    if not (folder / "a.json.tracedb").exists():
        raise Skip(f"strace does not work here: {result.stderr.strip()[:200]}")
    steps = []
    for line in (folder / "log").read_text(errors="replace").splitlines():
        call = line.split(None, 1)[1].partition("(")[0]
        if ".partial" in line and call.startswith("rename"):
            steps.append("rename")
        elif ".partial>" in line:
            steps.append("sync" if call.endswith("sync") else "write")
        elif f"<{folder}>" in line and call == "fsync":
            steps.append("sync folder")
    equal([step for step, after in zip(steps, [*steps[1:], None]) if step != after],
          ["write", "sync", "rename", "sync folder"], "order")


def main(cases, _):
    cases.each_apart((kill_rounds, signals, signal_in_a_batch, signals_that_are_ignored,
                      signal_while_a_pipe_is_silent, eight_at_once, litter, lock_that_is_held, source_changes_once,
                      file_size_limit, disk_of_many_sizes, order_of_publishing))
    for change in (append, replace, write_with_old_time):
        cases.run_apart(f"source changes: {change.__name__.replace('_', ' ')}", source_changes, change)
