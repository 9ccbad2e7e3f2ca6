"""Names that nobody should give to files: each works alone, in a folder, in a list, in the summary and in messages,
and what is printed is one line without a byte that a terminal obeys."""
import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

from faults import nothing_left
from index_folder import closing_line, trace_file
from trace_cases import equal, program, require

NAMES = (b"line\nfeed.json", b"return\r.json", b"tab\t.json", b"quote'\"`.json", b"back\\slash.json", b" blank .json",
         b"not-utf8-\xff\xfe.json", b"escape-\x1b[31m\x1b]0;x\x07.json", b"bidi-\xe2\x80\xae.json",
         b"c1-\xc2\x9b31m.json", b"--help", b"-o", b"-", b"50%s %n {} {0}.json", b"file:x?mode=ro&immutable=1",
         b"semi;colon|pipe&$(x).json", b"*.json", b"[a].json", b"#hash.json", b":memory:", b"x.tracedb.json",
         b"percent%20%00.json", b"drop'); DROP TABLE kernel;--.json", b"-dash.json",
         b"long-" + b"x" * 200 + b".json")
LONGEST = 255
OBEYED = set(range(32)) - {10} | {127}


def run_in(folder, *arguments, name="trace-ingest", **environment):
    """With bytes as arguments, in the folder; output as bytes."""
    command = [program(name), *(part if isinstance(part, bytes) else str(part) for part in arguments)]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          env={**os.environ, "XDG_CACHE_HOME": str(Path(folder).parent / "cache"), **environment})


def harmless(output, what):
    require(not OBEYED & set(output), f"{what}: control characters in {output!r}")
    text = output.decode()  # raises where it is no UTF-8
    require(not set(text) & set("\u202e\x9b\u2066\u200f"), f"{what}: obeyed characters in {text!r}")


def usable(folder, name):
    try:
        with open(os.path.join(os.fsencode(folder), name), "xb"):
            return True
    except OSError as error:
        print(f"skipped name {name!r}: the file system refuses it: {error}")
        return False


def recorded_path(index):
    """meta.source_path as bytes; raises where other clients of SQLite could not read it as text."""
    database = sqlite3.connect(os.fsdecode(index))
    text = database.execute("SELECT value FROM meta WHERE key = 'source_path'").fetchone()[0]
    database.close()
    return re.sub(rb"\\x([0-9a-f]{2})", lambda escape: bytes.fromhex(escape[1].decode()), text.encode())


class Names:
    def __init__(self, folder):
        self.folder = folder / "traces"
        self.folder.mkdir()
        trace_file(folder / "source.json", 1, "--layers", 2)
        self.bytes = (folder / "source.json").read_bytes()
        self.names = [name for name in NAMES if usable(self.folder, name)]

    def path(self, name):
        return os.path.join(os.fsencode(self.folder), name)

    def fill(self, content):
        for name in self.names:
            with open(self.path(name), "wb") as file:
                file.write(content)


def each_alone(folder):
    names = Names(folder)
    names.fill(names.bytes)
    for name in names.names:
        given = b"./" + name if name.startswith(b"-") else name  # as every shell user knows
        result = run_in(names.folder, given)
        equal(result.returncode, 0, f"{name!r}: exit code ({result.stderr})")
        harmless(result.stderr, f"{name!r}")
        require(os.path.exists(names.path(name + b".tracedb")), f"{name!r}: no index")
        equal(recorded_path(names.path(name + b".tracedb")), names.path(name), "path of the trace in the index")
        for command in ("info", "verify"):
            query = run_in(names.folder, command, given + b".tracedb", name="trace-query")
            equal(query.returncode, 0, f"trace-query {command} {name!r}: exit code ({query.stderr})")
            harmless(query.stdout + query.stderr, f"trace-query {command} {name!r}")
        query = run_in(names.folder, "info", given, "--format", "json", name="trace-query")
        equal(query.returncode, 0, f"trace-query info {name!r}: exit code ({query.stderr})")
        json.loads(query.stdout)
    own = names.names[1]
    equal(run_in(names.folder, "--force", "--", b"--help").returncode, 0, "exit code of a name after --")
    equal(run_in(names.folder, "-q", "--force", "-o", names.path(b"\xff\n"), own).returncode, 0, "exit code of -o")
    nothing_left(names.folder, "each alone")


def all_together(folder):
    names = Names(folder)
    names.fill(names.bytes)
    result = run_in(names.folder, "--include", "*", "--summary", folder / "summary", "-v", ".")
    equal(result.returncode, 0, f"exit code ({result.stderr})")
    harmless(result.stderr, "a folder")
    equal(summary_names(folder / "summary"), sorted(names.names), "names in the summary")
    equal(summary_names(folder / "summary", "index"), sorted(name + b".tracedb" for name in names.names), "indexes in the summary")
    (folder / "list").write_bytes(b"".join(names.path(name) + b"\0" for name in names.names))
    result = run_in(names.folder, "--files-from", folder / "list")
    equal(closing_line(result.stderr.decode())["valid"], len(names.names), "valid from a list")
    lined = [name for name in names.names if b"\n" not in name and name != b"-"]
    (folder / "list").write_bytes(b"\n".join(names.path(name) for name in lined))
    result = run_in(names.folder, "--files-from", folder / "list")
    equal(closing_line(result.stderr.decode())["valid"], len(lined), "valid from a list of lines")


def summary_names(path, field="path"):
    records = [json.loads(line) for line in path.read_bytes().decode().splitlines()]
    return sorted(os.path.basename(bytes.fromhex(record[f"{field}_hex"]) if f"{field}_hex" in record
                                   else os.fsencode(record[field])) for record in records)


def complaints(folder):
    """No trace under any of these names, or nothing at all: one line each."""
    names = Names(folder)
    names.fill(b"no trace")
    result = run_in(names.folder, "-q", "--include", "*", "--summary", folder / "summary", ".")
    equal(result.returncode, 3, f"exit code ({result.stderr})")
    harmless(result.stderr, "a folder")
    equal(result.stderr.count(b"\n"), len(names.names), f"lines of {result.stderr!r}")
    equal(summary_names(folder / "summary"), sorted(names.names), "names in the summary")
    for name in names.names:
        os.unlink(names.path(name))
        given = b"./" + name if name.startswith(b"-") else name
        for command in ((given,), (b"-o", given, given), (b"--files-from", given), (b"--index-dir", given, given)):
            one_harmless_line(run_in(names.folder, *command), command)
        if not any(sign in name for sign in (b"*", b"?", b"[")):  # what is no file is a pattern of files
            for command in (("sql", given, "SELECT 1"), ("info", given)):
                one_harmless_line(run_in(names.folder, *command, name="trace-query"), command)
        (folder / "list").write_bytes(names.path(name) + b"\0")
        one_harmless_line(run_in(names.folder, "-q", "--files-from", folder / "list"), name)
    equal(os.listdir(names.folder), [], "files")


def one_harmless_line(result, what):
    require(result.returncode in (2, 3, 5), f"{what}: exit {result.returncode} ({result.stderr})")
    equal(result.stderr.count(b"\n"), 1, f"{what}: lines of {result.stderr!r}")
    harmless(result.stderr, what)


def long_names(folder):
    """The index of a name that leaves no room for a suffix goes to the cache, and is found there."""
    names = Names(folder)
    for length in (231, 232, 233, 240, 247, 248, LONGEST):
        name = b"x" * (length - 5) + b".json"
        with open(names.path(name), "wb") as file:
            file.write(names.bytes + b" " * length)
        equal(run_in(names.folder, "-q", name).returncode, 0, f"{length} bytes: exit code")
        require(b"valid" in run_in(names.folder, name).stderr, f"{length} bytes: not found again")
        query = run_in(names.folder, "info", "--no-ingest", name, name="trace-query")
        equal(query.returncode, 0, f"{length} bytes: trace-query ({query.stderr})")
        for options in (("--index-dir", folder / "own"),):
            equal(run_in(names.folder, "-q", *options, name).returncode, 0, f"{length} bytes: {options}")
            require(b"valid" in run_in(names.folder, *options, name).stderr, f"{length} bytes: {options}: not found")
    beside = [name for name in os.listdir(names.folder) if name.endswith(".tracedb")]
    equal(sorted(map(len, beside)), [239, 240], "lengths of the names of indexes beside their traces")
    result = run_in(names.folder, "-q", "-o", b"y" * LONGEST, name)
    one_harmless_line(result, "-o with a name that is too long")
    nothing_left(folder, "long names")


def deep_folders(folder):
    """Paths longer than SQLite takes (some 500 bytes): the index goes to the cache. Longer than the system takes: one line."""
    names = Names(folder)
    at = names.folder
    for depth in range(5):
        at = at / ("d" * 120)
        at.mkdir()
        (at / "t.json").write_bytes(names.bytes + b" " * depth)
        for given in (at / "t.json", os.path.relpath(at / "t.json", names.folder)):
            equal(run_in(names.folder, "-q", given).returncode, 0, f"depth {depth}: exit code")
            require(b"valid" in run_in(names.folder, given).stderr, f"depth {depth}: not found again")
        result = run_in(at, "-q", "t.json", XDG_CACHE_HOME=str(folder / "cache"))
        equal(result.returncode, 0, f"depth {depth}: exit code from within ({result.stderr})")
    result = run_in(names.folder, "-q", "-o", at / "index", at / "t.json")
    one_harmless_line(result, "-o with a path that is too long")
    require(b"too long" in result.stderr, f"says {result.stderr}")
    deeper = names.folder / "deeper"
    deeper.mkdir()
    too_long = make_deep(deeper, names.bytes)
    one_harmless_line(run_in(names.folder, "-q", too_long), "a path that no system call takes")
    result = run_in(names.folder, "--include", "*.json", ".")
    counts = closing_line(result.stderr.decode())
    equal((result.returncode, counts["valid"]), (3, 5), f"a folder with such paths: exit code, valid ({result.stderr})")
    subprocess.run(["rm", "-rf", str(deeper)], check=True)
    nothing_left(folder, "deep folders")


def make_deep(folder, content):
    """Below the longest path the system takes: made step by step. Returns the path."""
    steps = ["e" * 200] * 25
    descriptor = os.open(folder, os.O_RDONLY)
    for step in steps:
        os.mkdir(step, dir_fd=descriptor)
        inner = os.open(step, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    file = os.open("t.json", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=descriptor)
    os.write(file, content)
    os.close(file)
    os.close(descriptor)
    return os.path.join(str(folder), *steps, "t.json")


def main(cases, _):
    cases.each_apart((each_alone, all_together, complaints, long_names, deep_folders))
