"""A run over many traces: every file is accounted for, failures stay alone, what is done is not done again, and no file
of others is touched."""
import os
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

from index_folder import (by_name, closing_line, ingest_command, kernels, leftovers, read_summary, run_any, trace_file)
from trace_cases import equal, refused, require, run, without_rights


def fill(folder):
    """A tree with good and bad files; returns {name: expected status}."""
    good = trace_file(folder / "good.json")
    deep = folder / "one/two three"
    deep.mkdir(parents=True)
    (folder / "nothing").mkdir()
    shutil.copy(good, deep / "deep.json")
    subprocess.run(["gzip", "-k", str(deep / "deep.json")], check=True)
    shutil.copy(deep / "deep.json.gz", deep / "alone.json.gz")
    (deep / "cut.json").write_bytes(good.read_bytes()[:200_000])
    (folder / "bad.json").write_bytes(b"this is not a trace\n")
    (folder / "page.json").write_bytes(b"<html>404</html>")
    (folder / "notes.txt").write_bytes(b"no trace, and not named like one")
    (folder / "link.json").symlink_to("good.json")
    (folder / "dangling.json").symlink_to("nowhere.json")
    (deep / "up").symlink_to("../..")
    return {"good.json": "built", "deep.json": "built", "deep.json.gz": "skipped", "alone.json.gz": "built", "cut.json": "salvaged",
            "bad.json": "failed", "page.json": "failed", "dangling.json": "skipped"}


def whole_tree(folder):
    expected = fill(folder)
    first = run_any("--summary", folder / "summary.json", folder, code=3)
    summary = by_name(read_summary(folder / "summary.json"))
    equal({name: record["status"] for name, record in summary.items()}, expected, "status by file")
    equal(closing_line(first.stderr), {"valid": 0, **Counter(expected.values())}, "closing line")
    for name, record in summary.items():
        equal(record["error"] is None, record["status"] in ("built", "salvaged"), f"{name}: error given")
        equal(record["code"], 3 if record["status"] == "failed" else 0, f"{name}: code")
        indexed = record["index"] is not None and Path(record["index"]).is_file()
        equal(indexed, record["error"] is None, f"{name}: index")
        require(record["seconds"] >= 0 and set(record) >= {"bytes", "events", "issues"}, f"{name}: {record}")
    require(summary["cut.json"]["issues"] > 0 and summary["good.json"]["events"] > 1000, "issues and events")
    equal(leftovers(folder), [], "leftovers")
    again = run_any("--summary", folder / "summary.json", folder)
    statuses = Counter(record["status"] for record in read_summary(folder / "summary.json"))
    equal(statuses, Counter(valid=4, failed=2, skipped=2), f"second run ({again.stderr})")


def a_salvaged_trace_stays_one(folder):
    whole = trace_file(folder / "whole.json")
    cut = folder / "cut.json"
    cut.write_bytes(whole.read_bytes()[:200_000])
    for status in ("salvaged", "valid"):
        for options, code in (((), 0), (("--strict",), 4)):
            run_any("--summary", folder / "summary", *options, folder, code=code)
            summary = by_name(read_summary(folder / "summary"))
            record = summary["cut.json"]
            equal([record[key] for key in ("complete", "code")], [False, code], f"{status}: {options}")
            require(record["losses"] > 0, f"no losses: {record}")
            equal([summary["whole.json"][key] for key in ("complete", "losses", "code")], [True, 0, 0], "whole.json")


def usage():
    for options in (("--jobs", "0"), ("--jobs", "-1"), ("--jobs=-1",), ("--threads", "0"), ("--threads=-1",),
                    ("--threads", "many"), ("-j", "1.5"), ("--threads", "99999999999999999999")):
        refused(2, "", "trace-ingest", *options, "none.json")
    for option, meant in (("--keep", None), ("--keep-arg", "--keep-args"), ("--summry=x", "--summary")):
        said = refused(2, "unknown option", "trace-ingest", option, "none.json")
        require(meant is None or f"did you mean '{meant}'" in said, f"{option}: no suggestion: {said}")
    refused(2, "", "trace-ingest", "--summary")


def second_run_writes_nothing(folder):
    for name in ("a.json", "b.json"):
        trace_file(folder / name)
    time.sleep(2.1)  # at rest, so that nothing need be noted about it later
    run("trace-ingest", "-q", folder)
    before = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}
    result = run_any(folder)
    equal(closing_line(result.stderr), dict(built=0, valid=2, salvaged=0, failed=0, skipped=0), "closing line")
    after = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()}
    equal(after, before, "files")
    equal(run_any("--verify", folder).returncode, 0, "exit code of --verify")
    equal(closing_line(run_any("--no-stacks", folder).stderr)["built"], 2, "built under other options")
    equal(closing_line(run_any("--no-stacks", "--force", folder).stderr)["built"], 2, "built with --force")


def choice_of_files(folder):
    (folder / "sub").mkdir()
    for name in ("a.json", "b.trace", "sub/c.trace"):
        trace_file(folder / name)
    count = lambda *options: len(read_summary_of(folder, *options))  # noqa: E731
    equal(count("--include", "*.trace"), 2, "by name")
    equal(count("--include", "sub/*"), 1, "by path")
    equal(count("--include", "*"), 3, "all but our own files")
    (folder / "list").write_text(f"{folder}/a.json\n\n{folder}/b.trace\n")
    equal(closing_line(run_any("--files-from", folder / "list").stderr)["valid"], 2, "from a list")
    (folder / "list").write_bytes(f"{folder}/a.json\r\n\r\n{folder}/b.trace\r\n".encode())
    equal(closing_line(run_any("--files-from", folder / "list").stderr)["valid"], 2, "from a list made on Windows")
    run_any("--files-from", "-", input=f"{folder}/sub/c.trace\n", code=0)


def read_summary_of(folder, *options):
    run_any("--summary", folder.with_suffix(".summary"), *options, folder, code=0)
    return read_summary(folder.with_suffix(".summary"))


def foreign_files(folder):
    contents = {"text": b"my notes", "empty": b"", "sqlite": b"SQLite format 3\0" + bytes(200)}
    for kind, content in contents.items():
        trace = trace_file(folder / kind)
        index = folder / f"{kind}.tracedb"
        index.write_bytes(content)
        result = run_any("-q", trace)
        # What may hold a recording of another profiler is not replaced at all.
        equal(result.returncode, 2 if kind == "sqlite" else 5, f"{kind}: exit code")
        equal(len(result.stderr.splitlines()), 1, f"{kind}: lines of {result.stderr!r}")
        equal(index.read_bytes(), content, f"{kind}: content")
        equal(leftovers(folder), [], f"{kind}: leftovers")
        if kind == "sqlite":
            equal(run_any("-q", "--force", trace).returncode, 2, f"{kind}: exit code with --force")
            equal(index.read_bytes(), content, f"{kind}: content with --force")
            continue
        run("trace-ingest", "-q", "--force", trace)
        require(kernels(index) > 0, "no kernels")
    trace = trace_file(folder / "a.json")
    before = trace.read_bytes()
    require(run_any("-q", "--force", "-o", trace, trace).returncode in (2, 5), "the trace may be overwritten")
    equal(trace.read_bytes(), before, "the trace")


def damaged_indexes(folder):
    trace = trace_file(folder / "a.json")
    index = folder / "a.json.tracedb"
    run("trace-ingest", "-q", trace)
    good, count = index.read_bytes(), kernels(index)
    other_version = good[:60] + b"\0\0\0\7" + good[64:]
    for damage in (good[:100], good[:50_000], good[:100] + bytes(len(good) - 100), other_version):
        index.write_bytes(damage)
        run("trace-ingest", "-q", trace)
        equal(kernels(index), count, "kernels")
    index.write_bytes(good[:-16384] + b"\xff" * 16384)
    run("trace-ingest", "-q", "--verify", trace)
    equal(kernels(index), count, "kernels after --verify")


def failing_fast(folder):
    (folder / "a.json").write_bytes(b"no trace")
    for name in ("b.json", "c.json"):
        trace_file(folder / name)
    result = run_any("--jobs", 1, "--fail-fast", folder, code=3)
    equal(closing_line(result.stderr), dict(built=0, valid=0, salvaged=0, failed=1, skipped=2), "closing line")
    result = run_any("--jobs", 3, "--max-memory", "30M", folder)
    equal(closing_line(result.stderr), dict(built=2, valid=0, salvaged=0, failed=1, skipped=0), "closing line")
    equal(run_any("--keep-going", "--fail-fast", folder).returncode, 2, "exit code of contrary options")


def read_only_folder(folder):
    command = without_rights(*ingest_command())
    (folder / "traces").mkdir()
    (folder / "cache").mkdir()
    trace_file(folder / "traces/a.json")
    folder.chmod(0o755)
    (folder / "cache").chmod(0o777)
    (folder / "traces").chmod(0o555)
    user = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    for word in ("1 built", "1 valid"):
        result = subprocess.run([*command, "-j1", str(folder / "traces"), str(folder / "traces/none.json")],
                                capture_output=True, text=True, env=user, timeout=60)
        require(word in result.stderr, f"not {word}: {result.stderr}")
    cached = sorted(path.name for path in (folder / "cache/tracedb").iterdir())
    equal(len(cached), 2, f"files in the cache ({cached})")
    require("CACHEDIR.TAG" in cached, f"the cache is not marked as one: {cached}")
    (folder / "traces").chmod(0o755)


def main(cases, _):
    cases.run("usage", usage)
    cases.each_apart((whole_tree, a_salvaged_trace_stays_one, second_run_writes_nothing, choice_of_files,
                      foreign_files, damaged_indexes, failing_fast, read_only_folder))
