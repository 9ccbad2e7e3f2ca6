"""trace-query -o FILE: the name has what it had, or all of the answer; what is no regular file is written as it is."""
import os
import resource
import subprocess
import time
from pathlib import Path

from index_folder import trace_file
from trace_cases import equal, program, require, run, scratch_folder

LONG = "SELECT 'row'; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
OLD = "what was there before\n"


def query(*arguments, **options):
    return subprocess.run([program("trace-query"), *map(str, arguments)], capture_output=True, text=True, **options)


def prepared(folder):
    trace_file(folder / "a.json")
    run("trace-ingest", "-q", folder / "a.json")
    index, out = folder / "a.json.tracedb", folder / "out.csv"
    out.write_text(OLD)
    return index, out, run("trace-query", "kernels", "--csv", index).stdout


def unchanged(folder, out, what):
    equal(out.read_text(), OLD, f"{what}: content")
    equal(sorted(os.listdir(folder)), ["a.json", "a.json.tracedb", "out.csv"], f"{what}: files")


def replaced():
    with scratch_folder() as folder:
        index, out, answer = prepared(folder)
        out.chmod(0o604)
        run("trace-query", "kernels", "--csv", "-o", out, index)
        equal((out.read_text(), out.stat().st_mode & 0o777), (answer, 0o604), "content and rights")
        run("trace-query", "kernels", "--csv", "-o", folder / "new.csv", index)
        (folder / "plain").touch()
        equal((folder / "new.csv").read_text(), answer, "content of a new file")
        equal((folder / "new.csv").stat().st_mode, (folder / "plain").stat().st_mode, "rights of a new file")
        run("trace-query", "kernels", "--csv", "-o", "here.csv", index, cwd=folder)
        equal((folder / "here.csv").read_text(), answer, "content of a name without a folder")


def failures():
    with scratch_folder() as folder:
        index, out, _ = prepared(folder)
        equal(query("sql", "-o", out, index, "SELECT 1; SELECT nothing FROM nowhere").returncode, 2, "exit code")
        unchanged(folder, out, "wrong SQL")
        everything = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n"
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))  # noqa: E731
        result = query("sql", "-o", out, index, everything, preexec_fn=limit)
        equal((result.returncode, len(result.stderr.splitlines())), (5, 1), f"exit code and lines ({result.stderr})")
        unchanged(folder, out, "no room")
        equal(query("info", "-o", folder / "none/out", index).returncode, 5, "exit code without a folder")


def killed():
    with scratch_folder() as folder:
        index, out, _ = prepared(folder)
        process = subprocess.Popen([program("trace-query"), "sql", "-o", str(out), str(index), LONG])
        time.sleep(0.5)
        require(process.poll() is None, "the query without an end has ended")
        process.kill()
        process.wait()
        unchanged(folder, out, "killed")


def links():
    with scratch_folder() as folder:
        index, out, answer = prepared(folder)
        (folder / "link").symlink_to("out.csv")
        (folder / "dangling").symlink_to("made.csv")
        for name, target in (("link", out), ("dangling", folder / "made.csv")):
            run("trace-query", "kernels", "--csv", "-o", folder / name, index)
            require((folder / name).is_symlink(), f"{name}: is no link any more")
            equal(target.read_text(), answer, f"{name}: content")


def no_regular_files():
    with scratch_folder() as folder:
        index, _, answer = prepared(folder)
        equal(query("kernels", "--csv", "-o", "/dev/stdout", index).stdout, answer, "/dev/stdout")
        equal(query("kernels", "--csv", "-o", "/dev/null", index).returncode, 0, "exit code with /dev/null")
        require(not Path("/dev/null").is_file(), "/dev/null was replaced")
        os.mkfifo(folder / "pipe")
        reader = subprocess.Popen(["cat", str(folder / "pipe")], stdout=subprocess.PIPE, text=True)
        run("trace-query", "kernels", "--csv", "-o", folder / "pipe", index)
        equal(reader.communicate(timeout=60)[0], answer, "a FIFO")


def main(cases):
    cases.each((replaced, failures, killed, links, no_regular_files))
