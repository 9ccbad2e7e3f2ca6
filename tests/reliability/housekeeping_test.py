"""trace-ingest --stats and --gc: every file is counted, only what is provably an index of ours and can be built again is
removed, and runs at work are not disturbed."""
import fcntl
import hashlib
import os
import shutil
import subprocess
import threading
from collections import Counter
from pathlib import Path

from index_folder import (ingest_command, kernels, leftovers, read_summary, run_any, start, trace_file)
from trace_cases import equal, refused, require, run, without_rights

DAY = 86_400
LONG_AGO = 1_600_000_000


def fill(folder):
    """One of everything; returns {name of the file: its state}."""
    source = trace_file(folder / "source.trace")
    for name in ("valid.json", "stale.json", "orphan.json"):
        shutil.copy(source, folder / name)
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    run("trace-ingest", "-q", folder)
    (folder / "stale.json").write_bytes(source.read_bytes() + b"\n")
    (folder / "orphan.json").unlink()
    (folder / "text.tracedb").write_text("notes")
    (folder / "sqlite.tracedb").write_bytes(b"SQLite format 3\0" + bytes(5000))
    (folder / "link.tracedb").symlink_to("valid.json.tracedb")
    (folder / "cut.tracedb").write_bytes((folder / "valid.json.tracedb").read_bytes()[:40_000])
    (folder / "dead.json.tracedb.abc123.partial").touch()
    (folder / "dead.json.tracedb.lock").touch()
    (folder / "notes.abc123.partial").touch()
    return {"valid.json.tracedb": "valid", "stale.json.tracedb": "stale", "orphan.json.tracedb": "orphaned",
            "text.tracedb": "foreign", "sqlite.tracedb": "foreign", "link.tracedb": "foreign", "cut.tracedb": "unusable",
            "dead.json.tracedb.abc123.partial": "dead", "dead.json.tracedb.lock": "dead"}


def by_name(folder, *options):
    """{name: record} of the summary of a run, and the run."""
    lines = folder.with_suffix(".lines")
    lines.unlink(missing_ok=True)
    result = run_any(*options, "--summary", lines, folder)
    records = read_summary(lines) if lines.exists() else []
    return {Path(record["path"]).name: record for record in records}, result


def contents(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
            for path in Path(folder).iterdir()}


def statistics(folder):
    expected = fill(folder)
    before = contents(folder)
    records, result = by_name(folder, "--stats", "-v")
    equal(result.returncode, 0, f"exit code ({result.stderr})")
    equal({name: record["state"] for name, record in records.items()}, expected, "states")
    equal(records["valid.json.tracedb"]["bytes"], (folder / "valid.json.tracedb").stat().st_size, "bytes")
    table = {line.split()[0]: int(line.split()[1]) for line in result.stdout.splitlines()
             if line.split()[0] in {*expected.values(), "indexes", "leftovers"}}
    counts = Counter(expected.values())
    equal(table, dict(valid=1, stale=1, orphaned=1, unusable=1, foreign=3, indexes=4, leftovers=counts["dead"]),
          f"table ({result.stdout})")
    equal(contents(folder), before, "files")


def collection(folder):
    fill(folder)
    shutil.copy(folder / "stale.json.tracedb", folder / "of an earlier trace.tracedb")
    before = contents(folder)
    planned, result = by_name(folder, "--gc", "--dry-run")
    equal(result.returncode, 0, f"exit code ({result.stderr})")
    equal(contents(folder), before, "files after --dry-run")
    done, result = by_name(folder, "--gc")
    removed = {"stale.json.tracedb", "dead.json.tracedb.abc123.partial", "dead.json.tracedb.lock"}
    for records, word in ((planned, "would remove"), (done, "removed")):
        equal({name for name, record in records.items() if record["action"] == word}, removed, word)
    equal(contents(folder), {name: text for name, text in before.items() if name not in removed}, "files")
    require("kept 2 that cannot be rebuilt from a trace" in result.stdout, f"orphans not mentioned: {result.stdout}")
    equal(len([line for line in result.stdout.splitlines() if ": removed (" in line]), 3, "lines of removed files")
    _, result = by_name(folder, "--gc", "--orphans", "--max-size", 1)
    left = {"valid.json", "stale.json", "source.trace", "text.tracedb", "sqlite.tracedb", "link.tracedb",
            "cut.tracedb", "notes.abc123.partial"}
    equal(set(contents(folder)), left, f"files after the strictest run ({result.stdout})")
    equal((folder / "text.tracedb").read_text(), "notes", "a foreign file")


def by_age_and_size(folder):
    names = [f"{number}.json" for number in range(5)]
    for name in names:
        trace_file(folder / name)
    run("trace-ingest", "-q", folder)
    size = (folder / "0.json.tracedb").stat().st_size
    now = (folder / "0.json.tracedb").stat().st_mtime
    for number, name in enumerate(names):
        os.utime(folder / f"{name}.tracedb", (now - number * DAY, now - number * DAY))
    left = lambda: sorted(path.name[0] for path in folder.glob("*.tracedb"))  # noqa: E731
    equal(run_any("--gc", "--older-than", "84h", folder).returncode, 0, "exit code")
    equal(left(), ["0", "1", "2", "3"], "after --older-than")
    run_any("--gc", "--max-size", size * 3 - 1, folder)
    equal(left(), ["0", "1"], "after --max-size")
    run_any("--gc", "--max-size", "1G", "--older-than", "1w", folder)
    equal(left(), ["0", "1"], "where nothing is to be done")
    run_any("--gc", "--max-size", size * 2, folder)
    equal(left(), ["0", "1"], "where they have just that size")
    cut = folder / "cut.tracedb"
    cut.write_bytes((folder / "0.json.tracedb").read_bytes()[:size // 2])
    os.utime(cut, (0, 0))
    run_any("--gc", "--orphans", "--max-size", size * 2, folder)
    equal(left(), ["0", "c"], "what is no whole index counts, and stays")
    cut.unlink()
    equal(run_any("-q", folder).returncode, 0, "exit code of building again")
    equal(left(), [name[0] for name in names], "built again")


def cache_directory(folder):
    home = dict(os.environ, XDG_CACHE_HOME=str(folder / "home"))
    result = run_any("--stats", env=home)
    equal((result.returncode, "no cache directory" in result.stderr), (0, True), "without a cache directory")
    trace = trace_file(folder / "a.json")
    run("trace-ingest", "-q", "--index-dir", folder / "home/tracedb", trace)
    require("valid            1" in run_any("--stats", env=home).stdout, "not found in the cache directory")
    equal(run_any("--gc", env=home).returncode, 0, "exit code")
    equal(len(list((folder / "home/tracedb").iterdir())), 2, "files while the trace is there")
    trace.unlink()
    equal(run_any("--gc", env=home).returncode, 0, "exit code")
    equal(os.listdir(folder / "home/tracedb"), ["CACHEDIR.TAG"], "files after the trace went")


def runs_at_work(folder):
    fill(folder)
    index = folder / "stale.json.tracedb"
    partial = folder / "stale.json.tracedb.abc123.partial"
    partial.touch()
    with open(f"{index}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        records, result = by_name(folder, "--gc")
        equal(result.returncode, 0, f"exit code ({result.stderr})")
        require(index.exists() and partial.exists(), "removed files of a run at work")
        equal({records[path.name]["action"] for path in (index, partial)}, {"in use"}, "actions")
    run_any("--gc", folder)
    require(not index.exists() and not partial.exists(), "kept files of a run that ended")


def beside_a_run(folder):
    """A run over a folder of which indexes are being removed: it succeeds, and whatever is there is whole."""
    for number in range(6):
        trace_file(folder / f"{number}.json", 8)
        os.utime(folder / f"{number}.json", (LONG_AGO, LONG_AGO))
    run("trace-ingest", "-q", folder)
    expected = kernels(folder / "0.json.tracedb")
    removed, problems, done = [], [], threading.Event()

    def collect():
        while not done.is_set():
            result = run_any("--gc", "--max-size", 1, folder)
            removed.append(result.stdout.count(": removed ("))
            if result.returncode != 0:
                problems.append(result.stderr)

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        for number in range(12):
            process = start("-j2", *(["--force"] if number % 3 == 0 else []), folder)
            _, errors = process.communicate(timeout=120)
            equal(process.returncode, 0, f"exit code of run {number} ({errors.decode()})")
    finally:
        done.set()
        collector.join()
    equal(problems, [], "failures of --gc")
    require(sum(removed) > 0, "nothing was ever removed")
    run("trace-ingest", "-q", folder)
    equal({kernels(index) for index in folder.glob("*.tracedb")}, {expected}, "kernels")
    equal(leftovers(folder), [], "leftovers")


def no_permission(folder):
    command = without_rights(*ingest_command())
    (folder / "sub").mkdir()
    fill(folder / "sub")
    folder.chmod(0o755)
    (folder / "sub").chmod(0o555)
    before = contents(folder / "sub")
    result = subprocess.run([*command, "--gc", str(folder)], capture_output=True, text=True)
    (folder / "sub").chmod(0o700)
    equal(result.returncode, 5, f"exit code ({result.stderr})")
    equal(len(result.stderr.splitlines()), 3, f"lines of {result.stderr!r}")
    equal(contents(folder / "sub"), before, "files")
    if os.geteuid() == 0:
        result = subprocess.run([*command, "--stats", str(folder)], capture_output=True, text=True)
        equal(result.returncode, 3, f"exit code where a folder cannot be read ({result.stderr})")
    (folder / "sub").chmod(0o755)


def usage(folder):
    for options in (["--stats", "--gc"], ["--max-size", "1G"], ["--stats", "--dry-run"], ["--gc", "--force"],
                    ["--gc", "--older-than", "30"], ["--gc", "--max-size", "much"], ["--gc", "--older-than", "d"]):
        refused(2, "", "trace-ingest", *options, folder)
    equal(run_any("--gc", folder / "none").returncode, 3, "exit code for a folder that is not there")


def main(cases, _):
    cases.each_apart((statistics, collection, by_age_and_size, cache_directory, runs_at_work, beside_a_run, no_permission, usage))
