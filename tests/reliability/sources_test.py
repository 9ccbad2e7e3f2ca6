"""What can be wrong with the trace as a file: reads that fail, links of all kinds, permissions, clocks that lie. The
index is right, or there is none and one line says why; nothing is written where a link leads."""
import errno
import os
import subprocess
from pathlib import Path

from faults import content, failing_calls, nothing_left, one_line, require_shim, run_faulty
from index_folder import closing_line, ingest_command, kernels, run_any, trace_file
from trace_cases import Skip, equal, installed, require, run, without_rights

SMALL = ("--layers", 2)
YEAR = 365 * 86400


def small_trace(path):
    return trace_file(path, 1, *SMALL)


def compressed(trace, tool, suffix):
    subprocess.run([installed(tool), "-q", "-k", str(trace)], check=True)
    return trace.with_name(trace.name + suffix)


def reads_fail(folder, make):
    """Every call on the trace fails in turn; what was there before stays."""
    require_shim()
    trace = make(small_trace(folder / "t.json"))
    run("trace-ingest", "-q", "--threads", 1, trace)
    for calls, error in (("read", errno.EIO), ("read", errno.ESTALE), ("open", errno.EIO), ("open", errno.ESTALE)):
        for fault, what in failing_calls(calls, error):
            before = content(folder)
            (folder / "mark").unlink(missing_ok=True)
            result = run_faulty("-q", "--force", "--threads", 1, trace, mark=folder / "mark", **fault,
                                path=f"{folder}/{trace.name}")
            if not (folder / "mark").exists():
                equal(result.returncode, 0, f"{what}: exit code")
                break
            hit = (folder / "mark").read_text()
            (folder / "mark").unlink()
            if ".tracedb" in hit:
                continue  # of the index: see faults_test.py
            one_line(result, (3, 5), f"{what} ({hit})")
            equal(content(folder), before, f"{what}: files")


def reads_are_short_or_interrupted(folder):
    require_shim()
    plain = small_trace(folder / "t.json")
    for trace in (plain, compressed(plain, "gzip", ".gz")):
        run("trace-ingest", "-q", "--threads", 1, "-o", folder / "good", trace)
        for error, step in ((0, 1), (0, 2), (errno.EINTR, 2), (errno.EINTR, 3)):
            what = f"{trace.name}, errno {error}, step {step}"
            result = run_faulty("-q", "--threads", 1, "-o", folder / "index", trace, calls="read", path=trace.name,
                                at=1, step=step, errno=error, mark=folder / "mark")
            equal(result.returncode, 0, f"{what}: exit code ({result.stderr})")
            require((folder / "mark").exists(), f"{what}: never happened")
            require((folder / "index").read_bytes() == (folder / "good").read_bytes(), f"{what}: another index")
            for name in ("mark", "index"):
                (folder / name).unlink()


def standard_input_fails(folder):
    require_shim()
    trace = small_trace(folder / "t.json").read_bytes()
    for error, step, codes in ((errno.EIO, 1, (3, 5)), (0, 1, (0,)), (errno.EINTR, 2, (0,))):
        result = run_faulty("-q", "-o", folder / "index", "-", calls="read", path="pipe:", at=2, step=step,
                            errno=error, mark=folder / "mark", input=trace)
        require(result.returncode in codes, f"errno {error}: exit {result.returncode} ({result.stderr})")
        require((folder / "mark").exists(), f"errno {error}: never happened")
        equal((folder / "index").exists(), result.returncode == 0, f"errno {error}: an index")
        nothing_left(folder, f"errno {error}")


def links_to_traces(folder):
    (folder / "store").mkdir()
    trace = small_trace(folder / "store/t.json")
    (folder / "link.json").symlink_to("store/t.json")
    (folder / "hard.json").hardlink_to(trace)
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "dangling.json").symlink_to("nowhere.json")
    (folder / "loop").symlink_to(".")
    for name in ("link.json", "hard.json", "store/../link.json"):
        run("trace-ingest", "-q", folder / name)
        require(kernels(folder / f"{name}.tracedb") > 0, f"{name}: no index under its own name")
    equal(sorted(os.listdir(folder / "store")), ["t.json"], "files beside the real trace")
    for name in ("loop.json", "dangling.json"):
        result = run_faulty("-q", folder / name)
        one_line(result, (3,), name)
    before = sorted(os.listdir(folder))
    result = run_any(folder, code=0)
    counts = closing_line(result.stderr)
    equal((counts["failed"], counts["skipped"]), (0, 2), f"failed and skipped ({result.stderr})")
    equal(sorted(os.listdir(folder)), before, "files")


def planted_links(folder):
    """Links where our own files go: never written through, whatever they lead to."""
    trace = small_trace(folder / "t.json")
    index, victim, own = folder / "t.json.tracedb", folder / "victim", folder / "own"
    run("trace-ingest", "-q", "-o", own, trace)
    victim.write_text("of somebody else")
    os.utime(trace, (1_500_000_000, 1_500_000_000))
    plans = (("", victim, (), 5), ("", folder / "nowhere", (), 5), ("", victim, ("--force",), 0), ("", own, (), 0),
             ("", own, ("--force",), 0), (".lock", victim, (), 5), (".lock", folder / "nowhere", (), 5),
             ("-journal", victim, (), 0), ("-journal", victim, ("--force",), 0))
    for suffix, target, options, code in plans:
        what = f"a link at '{suffix}' to {target.name} {options}"
        link = Path(f"{index}{suffix}")
        link.symlink_to(target)
        before = (victim.read_bytes(), own.read_bytes(), own.stat().st_mtime_ns)
        result = run_faulty("-q", *options, trace)
        equal(result.returncode, code, f"{what}: exit code ({result.stderr})")
        if code:
            one_line(result, (code,), what)
        equal((victim.read_bytes(), own.read_bytes(), own.stat().st_mtime_ns), before, f"{what}: target")
        require(not (folder / "nowhere").exists(), f"{what}: a file was made where it leads")
        for path in (link, index):
            path.unlink(missing_ok=True)
        equal(sorted(os.listdir(folder)), ["own", "t.json", "victim"], f"{what}: files")


def planted_things(folder):
    """Other things than files in our places."""
    trace = small_trace(folder / "t.json")
    for suffix in ("", ".lock"):
        for make in (os.mkdir, os.mkfifo):
            place = f"{trace}.tracedb{suffix}"
            make(place)
            what = f"{make.__name__} at '{suffix}'"
            result = run_faulty("-q", trace)
            equal(result.stderr.count(b"\n"), 1 if result.returncode else 0, f"{what}: lines of {result.stderr}")
            require(os.path.lexists(place), f"{what}: is gone")
            require(result.returncode in (0, 5), f"{what}: exit {result.returncode}")
            if os.path.isdir(place):
                os.rmdir(place)
            else:
                os.unlink(place)
            Path(f"{trace}.tracedb").unlink(missing_ok=True)


def temporary_is_made_anew(folder):
    trace = small_trace(folder / "t.json")
    result = subprocess.run([installed("strace"), "-f", "-o", str(folder / "log"), "-e", "trace=open,openat,mmap,fcntl,flock",
                             "-y", *ingest_command("-q", trace)], capture_output=True, text=True)
    if not (folder / "t.json.tracedb").exists():
        raise Skip(f"strace does not work here: {result.stderr.strip()[:200]}")
    lines = (folder / "log").read_text(errors="replace").splitlines()
    made = [line for line in lines if ".partial" in line and "O_CREAT" in line]
    require("O_EXCL" in made[0] and "O_NOFOLLOW" in made[0], f"the temporary is opened by {made[0]}")
    lock = [line for line in lines if ".lock" in line and "open" in line]
    require(lock and all("O_NOFOLLOW" in line for line in lock), f"the lock is opened by {lock}")
    mapped = [line for line in lines if "mmap" in line and str(folder) in line]
    equal(mapped, [], "files mapped into memory: network file systems and cut files forbid it")


def hard_links_of_indexes(folder):
    trace = small_trace(folder / "t.json")
    run("trace-ingest", "-q", trace)
    index, other = folder / "t.json.tracedb", folder / "snapshot"
    other.hardlink_to(index)
    before = other.read_bytes()
    run("trace-ingest", "-q", "--force", "--no-stacks", trace)
    require(other.read_bytes() == before, "the other name of the old index was written through")
    require(index.stat().st_ino != other.stat().st_ino, "the index was not replaced as a name")


def names_in_the_trace(folder):
    """Nothing a trace says names a file."""
    (folder / "a/b").mkdir(parents=True)
    trace = small_trace(folder / "a/b/t.json")
    text = trace.read_text().replace('"traceEvents"', '"traceName":"../../evil.json","traceEvents"', 1)
    trace.write_text(text)
    run("trace-ingest", "-q", trace)
    run("trace-ingest", "-q", "--index-dir", folder / "a/b/cache", trace)
    run("trace-ingest", "-q", folder / "a/b/../b/t.json")
    equal(sorted(path.name for path in folder.rglob("*") if path.is_file() and "cache" not in str(path)),
          ["t.json", "t.json.tracedb"], "files")


def unreadable(folder):
    command = without_rights(*ingest_command())
    traces = folder / "traces"
    (traces / "closed").mkdir(parents=True)
    small_trace(traces / "good.json")
    small_trace(traces / "secret.json").chmod(0)
    small_trace(traces / "closed/c.json")
    folder.chmod(0o755)
    traces.chmod(0o777)
    (traces / "closed").chmod(0)
    one_line(run_faulty(command=[*command, "-q", traces / "secret.json"]), (3,), "a file")
    one_line(run_faulty(command=[*command, "-q", traces / "closed/c.json"]), (3,), "in a folder")
    batch = run_faulty(command=[*command, traces])
    (traces / "closed").chmod(0o755)
    equal(batch.returncode, 3, f"exit code of a batch ({batch.stderr})")
    counts = closing_line(batch.stderr.decode())
    equal((counts["built"], counts["failed"]), (1, 2), f"built and failed ({batch.stderr})")
    nothing_left(traces, "unreadable")


def stale_index_of_another_user(folder):
    """In a folder like /tmp it can neither be used nor replaced: the new one goes to the cache, and is found there."""
    if os.geteuid() != 0:
        raise Skip("only root can be two users")
    traces, cache = folder / "traces", folder / "cache"
    for path, mode in ((folder, 0o755), (traces, 0o1777), (cache, 0o777)):
        path.mkdir(exist_ok=True)
        path.chmod(mode)
    trace = small_trace(traces / "t.json")
    run("trace-ingest", "-q", trace)
    sidecar = (traces / "t.json.tracedb").read_bytes()
    edit_in_place(trace)
    command = ["env", f"XDG_CACHE_HOME={cache}", *without_rights(*ingest_command(trace))]
    for word in (b"rows", b"valid"):
        result = run_faulty(command=command)
        equal(result.returncode, 0, f"exit code ({result.stderr})")
        require(word in result.stderr, f"expected {word}: {result.stderr}")
    equal((traces / "t.json.tracedb").read_bytes(), sidecar, "the other user's index")
    equal(len(list(cache.rglob("*.tracedb"))), 1, "indexes in the cache")


def edit_in_place(trace):
    """Another content of the same size, and the old time put back."""
    times = (trace.stat().st_atime_ns, trace.stat().st_mtime_ns)
    data = trace.read_bytes()
    changed = data.replace(b'"cat": "kernel"', b'"cat": "kornel"', 1)
    require(changed != data, "nothing to edit")
    with open(trace, "r+b") as file:
        file.write(changed)
    os.utime(trace, ns=times)


def clocks_lie(folder):
    """Whatever the clocks said at the ingest and say now, an edited trace is seen, an untouched one stays valid."""
    require_shim()
    for then in (-YEAR, 0, YEAR):
        for now in (-YEAR, 0, YEAR):
            for time in (0, 4_102_444_800):  # 1970 and 2100
                what = f"clock {then} s wrong, then {now} s, trace of {time}"
                trace = small_trace(folder / f"{then} {now} {time}.json")
                index = trace.with_name(f"{trace.name}.tracedb")
                os.utime(trace, (time, time))
                equal(run_faulty("-q", trace, clock=then).returncode, 0, f"{what}: exit code")
                require(b"valid" in run_faulty(trace, clock=now).stderr, f"{what}: untouched, but rebuilt")
                before = kernels(index)
                edit_in_place(trace)
                equal(run_faulty("-q", trace, clock=now).returncode, 0, f"{what}: exit code")
                require(kernels(index) < before, f"{what}: the edit was not seen")


def main(cases, _):
    for name, make in (("plain", lambda trace: trace), ("gzip", lambda trace: compressed(trace, "gzip", ".gz"))):
        cases.run_apart(f"reads fail: {name}", reads_fail, make)
    cases.each_apart((reads_are_short_or_interrupted, standard_input_fails, links_to_traces, planted_links,
                      planted_things, temporary_is_made_anew, hard_links_of_indexes, names_in_the_trace, unreadable,
                      stale_index_of_another_user, clocks_lie))
