"""What takes for ever is given up in time with --timeout, and a run says that it is alive: bytes, MB/s, events/s and the
time left. No test here depends on how fast the machine is."""
import errno
import fcntl
import os
import re
import shutil
import subprocess
import threading
import time

from faults import require_shim, run_faulty
from index_folder import by_name, leftovers, read_summary, run_any, start, trace_file
from trace_cases import Skip, equal, program, require, scratch_folder

EVENT = b'{"ph":"X","cat":"cpu_op","name":"a","ts":%d,"dur":1,"pid":1,"tid":1},\n'
LINE = re.compile(r"^(?:\d+ of \d+ done  )?[0-9.]+ M?B  \d+ MB/s  \d+ events/s  (?:\d+ %  .* left|.* so far)")


def wait_for(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never happened")


class Feeder:
    """Writes into a FIFO until it is told to stop or nobody reads any more: silent after the head, or without an end."""

    def __init__(self, fifo, endless):
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.feed, args=(fifo, endless), daemon=True)
        self.thread.start()

    def feed(self, fifo, endless):
        try:
            with open(fifo, "wb", buffering=0) as pipe:
                pipe.write(b'{"traceEvents": [\n' + b"".join(EVENT % number for number in range(100)))
                number = 100
                while not self.done.wait(0 if endless else 0.05):
                    if endless:
                        pipe.write(b"".join(EVENT % (number + more) for more in range(500)))
                        number += 500
        except BrokenPipeError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join(10)


def given_up(result, folder, what):
    equal(result.returncode, 5, f"{what}: exit code ({result.stderr})")
    equal(len(result.stderr.splitlines()), 1, f"{what}: lines of {result.stderr!r}")
    require("not done after 1 s" in result.stderr, f"{what}: does not say why: {result.stderr}")
    equal(leftovers(folder), [], f"{what}: leftovers")
    equal(list(folder.glob("*.tracedb")), [], f"{what}: indexes")


def regular_file_that_blocks():
    """Some regular files have nothing yet when they are read, such as /proc/kmsg."""
    require_shim()
    with scratch_folder() as folder:
        trace = trace_file(folder / "blocking.json")
        result = run_faulty("-q", "--timeout", 1, trace, calls="read", path=trace.name, at=2, step=1, errno=errno.EAGAIN)
        result.stderr = result.stderr.decode(errors="replace")
        given_up(result, folder, "a regular file without bytes")


def source_without_end(endless):
    with scratch_folder() as folder:
        fifo = folder / "pipe.json"
        os.mkfifo(fifo)
        with Feeder(fifo, endless):
            given_up(run_any("-q", "--timeout", 1, fifo), folder, "a FIFO")


def nobody_writes():
    with scratch_folder() as folder:
        os.mkfifo(folder / "pipe.json")
        keep = os.open(folder / "pipe.json", os.O_RDWR)  # a writer is there and never writes
        given_up(run_any("-q", "--timeout", 1, folder / "pipe.json"), folder, "a silent FIFO")
        reader, writer = os.pipe()
        result = run_any("-q", "--timeout", 1, "-o", folder / "out.tracedb", "-", stdin=reader)
        given_up(result, folder, "standard input")
        for descriptor in (keep, reader, writer):
            os.close(descriptor)
        result = run_any("-q", "--index-dir", folder / "indexes", folder / "pipe.json")
        equal((result.returncode, "--output" in result.stderr), (2, True), "a FIFO whose index has no name")


def queries_of_silent_pipes():
    """The time limit of trace-query holds for what it reads, by whatever name; nothing is left in the temporary folder."""
    with scratch_folder() as folder:
        (folder / "tmp").mkdir()
        trace_file(folder / "good.json")
        variables = {**os.environ, "TMPDIR": str(folder / "tmp")}
        for name in ("pipe.json", "pipe.tracedb"):
            os.mkfifo(folder / name)
            keep = os.open(folder / name, os.O_RDWR)
            for words in (("kernels",), ("sql", "SELECT 1"), ("compare", folder / "good.json"), ("info",)):
                command, *more = words
                result = subprocess.run([program("trace-query"), command, "-q", "--timeout", "1", str(folder / name), *map(str, more)],
                                        capture_output=True, text=True, timeout=60, env=variables)
                equal((result.returncode, "time limit" in result.stderr), (5, True), f"{command} {name}: {result.stderr}")
                equal(list((folder / "tmp").iterdir()), [], f"{command} {name}: left in the temporary folder")
            os.close(keep)


def killed_reader_of_a_pipe():
    """What it leaves is removed by the next run; a folder of others, and one of a live run, is not."""
    with scratch_folder() as folder:
        temporary = folder / "tmp"
        for name in ("tracedb-others", "tracedb-abcdef"):
            (temporary / name).mkdir(parents=True)
            (temporary / name / "kept").write_text("x")
        trace = trace_file(folder / "good.json")
        os.mkfifo(folder / "pipe.json")
        keep = os.open(folder / "pipe.json", os.O_RDWR)
        variables = {**os.environ, "TMPDIR": str(temporary)}
        readers = [subprocess.Popen([program("trace-query"), "info", "-q", folder / "pipe.json"], env=variables,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        made = lambda: [path for path in temporary.glob("tracedb-??????") if list(path.glob("standard-input.*"))]  # noqa: E731
        wait_for(lambda: len(made()) == 2)
        readers[0].kill()
        readers[0].wait()
        with open(trace, "rb") as stream:
            subprocess.run([program("trace-query"), "info", "-q", "-"], stdin=stream, env=variables, check=True, capture_output=True)
        equal(len(made()), 1, "folders: that of the live run stays")
        readers[1].terminate()
        readers[1].wait()
        os.close(keep)
        equal(sorted(path.name for path in temporary.iterdir()), ["tracedb-abcdef", "tracedb-others"], "what is left")


def file_of_the_kernel():
    """A regular file that has nothing to read, and never will."""
    if not os.access("/proc/kmsg", os.R_OK):
        raise Skip("/proc/kmsg cannot be read: not root")
    for name, *words in (("trace-ingest", "-q", "--timeout", "2", "-o", os.devnull + "x"), ("trace-query", "info", "-q", "--timeout", "2")):
        with scratch_folder() as folder:
            words = [str(folder / "out") if word == os.devnull + "x" else word for word in words]
            result = subprocess.run([program(name), *words, "/proc/kmsg"], capture_output=True, text=True, timeout=60)
            require(result.returncode in (3, 5, 6), f"{name}: exit {result.returncode}: {result.stderr}")


def one_of_many():
    with scratch_folder() as folder:
        for name in ("a.json", "c.json"):
            trace_file(folder / name)
        os.mkfifo(folder / "b.json")
        keep = os.open(folder / "b.json", os.O_RDWR)
        result = run_any("-j1", "--timeout", 100, "--summary", folder / "summary", folder / "a.json", folder / "c.json")
        equal(result.returncode, 0, f"exit code of what is done in time ({result.stderr})")
        (folder / "a.json.tracedb").unlink()
        result = run_any("-j1", "--timeout", 5, "--summary", folder / "summary",
                         *(folder / name for name in ("a.json", "b.json", "c.json")))
        os.close(keep)
        equal(result.returncode, 3, f"exit code ({result.stderr})")
        summary = by_name(read_summary(folder / "summary"))
        equal({name: (record["status"], record["code"]) for name, record in summary.items()},
              {"a.json": ("built", 0), "b.json": ("failed", 5), "c.json": ("valid", 0)}, "summary")
        equal(leftovers(folder), [], "leftovers")


def lock_of_another_run():
    with scratch_folder() as folder:
        trace = trace_file(folder / "a.json")
        lock = folder / "a.json.tracedb.lock"
        with open(lock, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            result = run_any("-q", "--timeout", 1, trace)
        equal(result.returncode, 5, f"exit code ({result.stderr})")
        require(lock.exists(), "removed the lock of another run")


def lines_while_nothing_arrives():
    with scratch_folder() as folder:
        os.mkfifo(folder / "pipe.json")
        with Feeder(folder / "pipe.json", endless=False):
            process = start("--heartbeat", 0.1, folder / "pipe.json")
            lines = [process.stderr.readline().decode() for _ in range(5)]
            process.terminate()
            process.communicate()
        for line in lines:
            require(LINE.match(line), f"no line of progress: {line!r}")
            require("left" not in line, f"time left of a source without a size: {line!r}")


def lines_with_the_time_left():
    with scratch_folder() as folder:
        trace_file(folder / "a.json", 200)
        for arguments in ([], ["-j1", folder / "b.json"], ["--progress", "always"]):
            shutil.copy(folder / "a.json", folder / "b.json")
            result = run_any("--heartbeat", 0.001, "--force", *arguments, folder / "a.json")
            equal(result.returncode, 0, f"exit code ({result.stderr})")
            if "always" in arguments:  # redrawn five times a second: a fast machine may be done before the first
                lines = [line for line in re.split(r"[\r\n]*\x1b\[K|\n", result.stderr) if "events/s" in line]
            else:
                lines = [line for line in result.stderr.splitlines() if "events/s" in line]
                require(any("left" in line for line in lines), f"no time left: {result.stderr[:1000]}")
            for line in lines:
                require(LINE.match(line), f"no line of progress: {line!r}")
        equal(run_any("--progress", "never", "--heartbeat", 0.001, "--force", "-v", folder / "a.json")
              .stderr.count("events/s"), 0, "lines with --progress never")


def usage():
    for text in ("0", "-1", "soon", ""):
        equal(run_any("--timeout", text, "a.json").returncode, 2, f"exit code of --timeout {text!r}")


def main(cases):
    cases.run("source without an end", source_without_end, True)
    cases.run("source that falls silent", source_without_end, False)
    cases.run("regular file that blocks", regular_file_that_blocks)
    cases.each((nobody_writes, queries_of_silent_pipes, killed_reader_of_a_pipe, file_of_the_kernel, one_of_many,
                lock_of_another_run, lines_while_nothing_arrives, lines_with_the_time_left, usage))
