"""Shared by the Python tests: where things are, running our programs, and counting cases.

Each test file makes one Cases object, reports every case to it as ok, failed or skipped, and exits with finish():
0 passed, 1 something failed, 77 everything was skipped (ctest's SKIP_RETURN_CODE). Standard library only.
"""
import contextlib
import csv
import gc
import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("TRACEDB_BIN", ROOT / "build/release/bin")).resolve()
TRACES = Path(os.environ.get("TRACEDB_TRACES", ROOT / "../shared/traces"))
NOBODY = 65534
REFERENCE = Path(os.environ.get("TRACEDB_REFERENCE", ROOT / "../shared/reference"))
# What a shell starts in the background ignores Ctrl-C, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Skip(Exception):
    """Raised by a case that cannot run here; the text is the reason."""


def name_of(function):
    return function.__name__.removeprefix("check_").replace("_", " ")


class Cases:
    """Counts cases and prints one line for each. Those run apart have an empty folder of their own in `folder`, as their first
    argument, which is removed after them."""

    def __init__(self, folder):
        self.folder = folder
        self.passed = self.failed = self.skipped = 0

    def run(self, name, function, *arguments):
        """One case: it passes unless the function raises. Returns what the function returned."""
        try:
            result = function(*arguments)
        except Skip as reason:
            return self.skip(name, str(reason))
        except AssertionError as error:
            return self.fail(name, str(error) or "assertion failed")
        except Exception:  # a broken case must not hide the others
            return self.fail(name, traceback.format_exc())
        self.passed += 1
        print(f"ok {name}", flush=True)
        return result

    def each(self, functions, *arguments):
        """A case of each function, by its name."""
        for function in functions:
            self.run(name_of(function), function, *arguments)

    def run_apart(self, name, function, *arguments):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        result = self.run(name, function, folder, *arguments)
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def each_apart(self, functions, *arguments):
        for function in functions:
            self.run_apart(name_of(function), function, *arguments)

    def fail(self, name, text):
        self.failed += 1
        print(f"failed {name}: {text}", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skipped {name}: {reason}", flush=True)

    def finish(self):
        print(f"[cases] {self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        if self.failed:
            sys.exit(1)
        sys.exit(0 if self.passed else 77)


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(actual, expected, what):
    if actual != expected:  # the texts of what may be megabytes are made for a failure only
        raise AssertionError(f"{what}: got {actual!r}, expected {expected!r}")


def program(name):
    path = BIN / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not built (TRACEDB_BIN names the folder of the programs)")
    return str(path)


def installed(name):
    """The path of a program of others."""
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def without_rights(*command):
    """The command as a user who may do only what permissions allow: root may do all."""
    if os.geteuid() != 0:
        return list(command)
    prefix = [installed("setpriv"), f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if subprocess.run([*prefix, program("trace-ingest"), "--help"], capture_output=True).returncode != 0:
        raise Skip("the programs cannot be run as another user from where they are")
    return [*prefix, *command]


def report_commands():
    """The words of every table that a command prints of a trace: ("ops", "--by", "role"). A new report is in it."""
    words = {"rules_show": ("rules", "show")}
    listed = run("trace-query", "schema", "--csv").stdout.splitlines()
    objects = dict.fromkeys(row["Object"].split()[1:] and tuple(row["Object"].split()[1:])
                            for row in csv.DictReader(listed) if row["Type"] == "report")
    commands = [words.get(of[0], of) for of in objects if of[0] != "ls"]
    require(len(commands) > 20, commands)
    return commands


def run(name, *arguments, check=True, code=0, **options):
    """Runs one of our programs, which, if that is checked, ends with this code or one of these; output is captured as text."""
    result = subprocess.run([program(name), *map(str, arguments)], capture_output=True, text=True, timeout=600, **options)
    if check and result.returncode not in (code if isinstance(code, tuple) else (code,)):
        said = "\n".join((result.stdout[-2000:], result.stderr)).strip()
        raise AssertionError(f"{name} {' '.join(map(str, arguments))}: exit {result.returncode}, not {code}\n{said}")
    return result


def refused(code, said, *words, **options):
    """A program ends with this exit code, without output but one line, which says this. Returns the line."""
    result = run(*words, check=False, **options)
    equal((result.returncode, result.stdout, len(result.stderr.splitlines())), (code, "", 1), f"{words}: {result.stderr}")
    require(said in result.stderr, f"{words}: not {said!r} in {result.stderr}")
    return result.stderr


def as_json(*words):
    """What trace-query prints as JSON."""
    return json.loads(run("trace-query", *words, "-q", "--json").stdout)


def rows(report, *arguments):
    """The rows of a report, which is named by its words: all, where no option says otherwise."""
    return as_json(*report.split(), *arguments)["rows"]


def sql(index, statement, *options):
    return rows("sql", *options, index, statement)


def ingest(trace, index, *options):
    run("trace-ingest", "-q", *options, "-o", index, trace)
    return index


def open_index(index):
    return sqlite3.connect(f"{Path(index).resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def open_packed(index):
    """The same with tables of what is packed alone (schema/packed.sql), as trace-query has them."""
    database = open_index(index)
    for table in ("python_call", "flow_unmatched"):
        columns = [row["name"] for row in sql(index, f"SELECT name FROM pragma_table_info('{table}')")]
        columns = [name for name in columns if not name.startswith("group ")]
        database.execute(f"CREATE TEMP TABLE {table} ({', '.join(columns)})")
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join(':' + name for name in columns)})",
                             sql(index, f"SELECT * FROM {table}"))
    return database


@contextlib.contextmanager
def changing(path):
    """A database, or a new one, that is written to and then closed."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        yield database


def edit_database(path, *statements):
    """What SQL makes of a database, or of none."""
    with changing(path) as database:
        for statement in statements:
            database.execute(statement)


def verify_index(index):
    """`trace-query verify` finds no difference. Returns the index."""
    result = run("trace-query", "verify", "--json", index, check=False)
    rows = json.loads(result.stdout)["rows"]
    equal([row for row in rows if "FAILED" in str(row)], [], f"verify of {Path(index).name}")
    equal((result.returncode, rows == []), (0, False), f"verify of {Path(index).name}: exit code, no rows")
    return index


def issues_of(index):
    """How many issues of each kind an index has."""
    return dict(open_index(index).execute("SELECT kind, count FROM issue"))


def kineto_traces():
    """Every real Kineto trace, by name; empty where the folder is not there."""
    folder = TRACES / "kineto"
    files = [path for pattern in ("*.json", "*.json.gz") for path in folder.rglob(pattern)]
    return sorted(path for path in files if not path.name.endswith(".execution_details.json"))  # no trace: a list of some


def real_trace(name):
    """One of the real traces, by its path among them."""
    if not (TRACES / name).exists():
        raise Skip(f"no real traces here: {TRACES / name} does not exist (TRACEDB_TRACES names the folder)")
    return TRACES / name


def skip_without_traces(cases, folder):
    """True, and one skipped case, where the folder of real traces is absent."""
    if folder.is_dir():
        return False
    cases.skip(str(folder.name), f"no real traces here: {folder} does not exist (TRACEDB_TRACES names the folder)")
    return True


def read_bytes(path):
    data = Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def json_of(path):
    return json.loads(read_bytes(path))


def read_trace(path):
    """(events, top-level object or {}), numbers with a fraction as exact decimals. Garbage in cycles is not collected any more:
    among the millions of objects that tests make of events there is hardly any, and to look takes up to half of the time."""
    gc.disable()
    document = json.loads(read_bytes(path), parse_float=Decimal, strict=False)
    if isinstance(document, list):
        return document, {}
    return document.get("traceEvents") or [], document


def nanoseconds(value):
    """Microseconds, as number or text, to the nearest nanosecond, halves away from zero; None if unusable."""
    if type(value) is int:
        return value * 1000
    if isinstance(value, str):
        try:
            value = Decimal(value.strip())
        except ArithmeticError:
            return None
    if not isinstance(value, Decimal):
        return None
    return int((value * 1000).to_integral_value(ROUND_HALF_UP))


def make_trace(path, *options):
    """A synthetic trace: a few steps of a small model, with whatever else the options ask for."""
    run("make-trace", *options, "--output", path)
    return path


def planted(folder, *options, name="trace"):
    """The index of a synthetic trace, its ground truth, and the labels of its kernels in the order of launches."""
    path = make_trace(folder / f"{name}.json", "--labels", folder / f"{name}.tsv", *options)
    with open(folder / f"{name}.tsv", encoding="utf-8") as file:
        labels = list(csv.DictReader(file, delimiter="\t"))
    truth = json.loads((folder / f"{name}.json.truth.json").read_text(encoding="utf-8"))
    return ingest(path, folder / f"{name}.tracedb"), truth, labels
