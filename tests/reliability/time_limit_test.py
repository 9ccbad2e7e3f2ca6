"""What takes for ever is given up in time with --timeout, and a run says that it is alive: bytes, MB/s, events/s and the
time left. No test here depends on how fast the machine is. Every run of trace-query ends when its time is up, whatever it
is about: many operations, one long call of a function, a report. And it takes no more memory than it may. How long after
its time a run ends is no matter here, only that it does by itself and says so in one line."""
import errno
import fcntl
import os
import re
import resource
import shutil
import subprocess
import threading
import time

from faults import require_shim, run_faulty
from index_folder import by_name, leftovers, read_summary, run_any, start, trace_file
from made_events import event, index_of, kernel
from trace_cases import Skip, equal, program, refused, require, run

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


def regular_file_that_blocks(folder):
    """Some regular files have nothing yet when they are read, such as /proc/kmsg."""
    require_shim()
    trace = trace_file(folder / "blocking.json")
    result = run_faulty("-q", "--timeout", 1, trace, calls="read", path=trace.name, at=2, step=1, errno=errno.EAGAIN)
    result.stderr = result.stderr.decode(errors="replace")
    given_up(result, folder, "a regular file without bytes")


def source_without_end(folder, endless):
    fifo = folder / "pipe.json"
    os.mkfifo(fifo)
    with Feeder(fifo, endless):
        given_up(run_any("-q", "--timeout", 1, fifo), folder, "a FIFO")


def nobody_writes(folder):
    os.mkfifo(folder / "pipe.json")
    keep = os.open(folder / "pipe.json", os.O_RDWR)  # a writer is there and never writes
    given_up(run_any("-q", "--timeout", 1, folder / "pipe.json"), folder, "a silent FIFO")
    reader, writer = os.pipe()
    result = run_any("-q", "--timeout", 1, "-o", folder / "out.tracedb", "-", stdin=reader)
    given_up(result, folder, "standard input")
    for descriptor in (keep, reader, writer):
        os.close(descriptor)
    refused(2, "--output", "trace-ingest", "-q", "--index-dir", folder / "indexes", folder / "pipe.json")


def queries_of_silent_pipes(folder):
    """The time limit of trace-query holds for what it reads, by whatever name; nothing is left in the temporary folder."""
    (folder / "tmp").mkdir()
    trace_file(folder / "good.json")
    variables = {**os.environ, "TMPDIR": str(folder / "tmp")}
    for name in ("pipe.json", "pipe.tracedb"):
        os.mkfifo(folder / name)
        keep = os.open(folder / name, os.O_RDWR)
        for words in (("kernels",), ("sql", "SELECT 1"), ("compare", folder / "good.json"), ("info",)):
            command, *more = words
            refused(5, "time limit", "trace-query", command, "-q", "--timeout", "1", folder / name, *more, env=variables)
            equal(list((folder / "tmp").iterdir()), [], f"{command} {name}: left in the temporary folder")
        os.close(keep)


def killed_reader_of_a_pipe(folder):
    """What it leaves is removed by the next run; a folder of others, and one of a live run, is not."""
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


def file_of_the_kernel(folder):
    """A regular file that has nothing to read, and never will."""
    if not os.access("/proc/kmsg", os.R_OK):
        raise Skip("/proc/kmsg cannot be read: not root")
    for name, *words in (("trace-ingest", "-o", folder / "out"), ("trace-query", "info")):
        run(name, *words, "-q", "--timeout", "2", "/proc/kmsg", code=(3, 5, 6))


def one_of_many(folder):
    for name in ("a.json", "c.json"):
        trace_file(folder / name)
    os.mkfifo(folder / "b.json")
    keep = os.open(folder / "b.json", os.O_RDWR)
    run_any("-j1", "--timeout", 100, "--summary", folder / "summary", folder / "a.json", folder / "c.json", code=0)
    (folder / "a.json.tracedb").unlink()
    result = run_any("-j1", "--timeout", 5, "--summary", folder / "summary",
                     *(folder / name for name in ("a.json", "b.json", "c.json")))
    os.close(keep)
    equal(result.returncode, 3, f"exit code ({result.stderr})")
    summary = by_name(read_summary(folder / "summary"))
    equal({name: (record["status"], record["code"]) for name, record in summary.items()},
          {"a.json": ("built", 0), "b.json": ("failed", 5), "c.json": ("valid", 0)}, "summary")
    equal(leftovers(folder), [], "leftovers")


def lock_of_another_run(folder):
    trace = trace_file(folder / "a.json")
    lock = folder / "a.json.tracedb.lock"
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = run_any("-q", "--timeout", 1, trace)
    equal(result.returncode, 5, f"exit code ({result.stderr})")
    require(lock.exists(), "removed the lock of another run")


def lines_while_nothing_arrives(folder):
    os.mkfifo(folder / "pipe.json")
    with Feeder(folder / "pipe.json", endless=False):
        process = start("--heartbeat", 0.1, folder / "pipe.json")
        lines = [process.stderr.readline().decode() for _ in range(5)]
        process.terminate()
        process.communicate()
    for line in lines:
        require(LINE.match(line), f"no line of progress: {line!r}")
        require("left" not in line, f"time left of a source without a size: {line!r}")


def lines_with_the_time_left(folder):
    trace_file(folder / "a.json", 200)
    for arguments in ([], ["-j1", folder / "b.json"], ["--progress", "always"]):
        shutil.copy(folder / "a.json", folder / "b.json")
        result = run_any("--heartbeat", 0.001, "--force", *arguments, folder / "a.json", code=0)
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
        run("trace-ingest", "--timeout", text, "a.json", code=2)


MOST_BYTES = 1400 << 20

# What each row of `c` costs a long time for, on texts of 60 MB where they help.
COUNTING = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
TEXT = "WITH t(s) AS MATERIALIZED (SELECT printf('%.*c', 60000000, 'a'))"
LONG_STATEMENTS = {
    "rows": f"{COUNTING} SELECT count(*) FROM c",
    "printf": f"{COUNTING} SELECT sum(length(printf('%.*c', 60000000 + x % 1000, 'x'))) FROM c",
    "instr": f"{TEXT} SELECT instr(s, substr(s, 1, 30000000) || 'b') FROM t",
    "replace": f"{TEXT} SELECT length(replace(s, substr(s, 1, 30000000) || 'b', 'c')) FROM t",
    "trim": "SELECT length(trim(printf('%.*c', 60000000, 'a'), replace(printf('%.*c', 1000000, 'x'), 'x', 'bc') || 'a'))",
    "regexp": f"{COUNTING}, {TEXT.removeprefix('WITH ')} SELECT sum(s REGEXP '(a|aa|b)*(aaaa|b){{200}}$') FROM t, c",
    "like": f"{TEXT} SELECT s LIKE '%' || substr(s, 1, 900) || 'b' FROM t",
    "hex": f"{COUNTING} SELECT sum(length(hex(printf('%.*c', 30000000, 'x')))) FROM c",
    "group_concat": f"{COUNTING} SELECT count(*) FROM (SELECT group_concat(x) FROM (SELECT x FROM c LIMIT 8000000)), c",
    "join": "SELECT count(*) FROM string a, string b, string c, string d, string e, string f",
}
# The same, and besides more memory than there may be.
LARGE_STATEMENTS = {
    "sort": f"{COUNTING}, n(x) AS (SELECT x FROM c LIMIT 100) SELECT length(s) FROM (SELECT printf('%.*c', 60000000, 'a') || "
            "x AS s FROM n ORDER BY 1)",
    "distinct": f"{COUNTING} SELECT count(DISTINCT printf('%.*c', 20000000, 'a') || x) FROM c",
    "median": f"{COUNTING} SELECT median(x) FROM c",
}


def one_line(result, what):
    lines = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    equal(len(lines), 1, f"{what}: lines of {result.stderr!r}")
    return lines[0]


def long_statement(index, name, statement):
    result = run("trace-query", "sql", index, statement, "--timeout", "0.5", code=5)
    require("the time limit of 0.5 s was reached" in one_line(result, name), result.stderr)


def large_statement(index, name, statement):
    result = run("trace-query", "sql", index, statement, "--timeout", "60", "--max-memory", "100M", code=5)
    require("out of memory" in one_line(result, name) and "--max-memory" in result.stderr, f"{name}: {result.stderr}")


def no_memory_beyond_the_limit():
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    require(most < MOST_BYTES, f"a run took {most >> 20} MiB")


def reports_end(index):
    """No report needs its time, but each would end."""
    for command in (("info",), ("kernels",), ("layers",), ("stacks",), ("verify",), ("compare", index)):
        result = run("trace-query", *command, index, "--timeout", "0.000001", code=(0, 5))
        if result.returncode == 5:
            require("the time limit of 1e-06 s was reached" in one_line(result, command[0]), result.stderr)
        result = run("trace-query", *command, index, "--max-memory", "12M", code=(0, 5))
        if result.returncode == 5:
            require("memory" in one_line(result, command[0]) or "limit" in result.stderr, result.stderr)


def nested_steps(folder):
    """`--method wafer` takes a kernel once for each step around it: no more of that than there is memory for."""
    steps = 6000
    events = []
    for i in range(steps):
        events.append(event("user_annotation", "execute_context_0(0)_generation_8(8)", i, 10 * steps - 2 * i))
        events.append(kernel(f"gemm{i % 7}", steps + 2 * i, 1, correlation=i))
    index = index_of(folder / "nested.json", events)
    result = run("trace-query", "compare", "--method", "wafer", "--max-memory", "150M", index, index, code=5)
    require("out of memory" in one_line(result, "wafer"), result.stderr)
    run("trace-query", "compare", "--max-memory", "150M", index, index)


def nothing_of_an_output(folder, index):
    output = folder / "answer.csv"
    output.write_text("before")
    run("trace-query", "sql", index, "SELECT 1; " + LONG_STATEMENTS["instr"], "--timeout", "0.2", "--csv", "-o", output, code=5)
    equal(output.read_text(), "before", "the file of -o")
    equal(leftovers(folder), [], "leftovers")


def too_long_a_text(index):
    """Is refused at once, not made for seconds and then taken for NULL."""
    result = run("trace-query", "sql", index, "SELECT printf('%.*c', 2000000000, 'x')", "--timeout", "60", code=2)
    require("string or blob too big" in one_line(result, "printf"), result.stderr)


def no_limit(index):
    for options in (("--timeout", "0"), ("--max-memory", "0"), ("--timeout", "1e3", "--max-memory", "1.5G")):
        run("trace-query", "kernels", index, *options)
    for options in (("--timeout", "soon"), ("--timeout", "-1"), ("--max-memory", "much"), ("--max-memory", "-4")):
        run("trace-query", "kernels", index, *options, code=2)


def building_does_not_count(folder):
    """A report with little time may build an index as long as it takes."""
    trace = trace_file(folder / "slow.json", 20)
    result = run("trace-query", "sql", trace, "SELECT count(*) > 0 FROM kernel", "--timeout", "2", "--csv")
    equal(result.stdout.split()[-1], "1", "the answer")


def main(cases, folder):
    cases.run_apart("source without an end", source_without_end, True)
    cases.run_apart("source that falls silent", source_without_end, False)
    cases.run_apart("regular file that blocks", regular_file_that_blocks)
    cases.each_apart((nobody_writes, queries_of_silent_pipes, killed_reader_of_a_pipe, file_of_the_kernel,
                      one_of_many, lock_of_another_run, lines_while_nothing_arrives, lines_with_the_time_left))
    cases.run("usage", usage)
    index = folder / "t.json.tracedb"
    run("trace-ingest", "-q", trace_file(folder / "t.json", 1, "--layers", 2))
    for name, statement in LONG_STATEMENTS.items():
        cases.run(f"a long statement ends: {name}", long_statement, index, name, statement)
    for name, statement in LARGE_STATEMENTS.items():
        cases.run(f"a large statement ends: {name}", large_statement, index, name, statement)
    cases.run("no memory beyond the limit", no_memory_beyond_the_limit)
    cases.run("reports end", reports_end, index)
    cases.run("nested steps", nested_steps, folder)
    cases.run("nothing of an output", nothing_of_an_output, folder, index)
    cases.each((too_long_a_text, no_limit), index)
    cases.run("building does not count", building_does_not_count, folder)
