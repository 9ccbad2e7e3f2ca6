"""A campaign of hostile indexes over all reports: bits that flipped, pages that changed places, ids, times and parents
that lie, views in the place of tables, texts and files without end. Every run ends by itself, in one line where it
fails, within limits of time and memory; and no report is another one than of the good index because of a bit in a packed
column. Each index follows from its number alone: TRACEDB_HOSTILE_INDEXES=300 is the long form, TRACEDB_HOSTILE_FIRST
repeats one."""
import contextlib
import os
import random
import sqlite3
import subprocess
import tempfile

from index_folder import trace_file
from trace_cases import changing, equal, program, report_commands, require, run

INDEXES = int(os.environ.get("TRACEDB_HOSTILE_INDEXES", "30"))
FIRST = int(os.environ.get("TRACEDB_HOSTILE_FIRST", "0"))
LONG = INDEXES > 100
PAGE = 16384
MOST_BYTES = 800 << 20
LIMITS = ("--timeout", "30", "--max-memory", "600M")

REPORTS = [*report_commands(), ("kernels", "--layer", "0.."), ("stacks", "--modules"), ("stacks", "--by", "line"),
           ("compare",), ("compare", "--section", "all"), ("compare", "--gate", "5"), ("compare", "--method", "wafer"),
           ("align",), ("fusion",), ("sql", "SELECT * FROM kernels"), ("sql", "SELECT step, op, layer, sum(dur) FROM kernels "
                                                                       "GROUP BY 1, 2, 3"),
           ("sql", "SELECT * FROM stacks"), ("sql", "SELECT * FROM meta")]
PAIRS = ("compare", "align", "fusion")
TABLES = ("string", "device", "process", "thread", "stream", "kernel_name", "launch_config", "kernel", "memory_op",
          "runtime_call", "op_shape", "cpu_op", "frame", "stack", "annotation", "step")
REFERENCES = (("kernel", "name_id"), ("kernel", "stream_id"), ("kernel", "launch_id"), ("kernel", "cpu_op_id"),
              ("kernel", "stack_id"), ("kernel", "annotation_id"), ("kernel", "step_id"), ("kernel", "launch_config_id"),
              ("memory_op", "stream_id"), ("memory_op", "step_id"), ("runtime_call", "name_id"), ("runtime_call", "thread_id"),
              ("cpu_op", "name_id"), ("cpu_op", "parent_id"), ("stack", "parent_id"), ("stack", "frame_id"),
              ("frame", "name_id"), ("annotation", "name_id"), ("annotation", "parent_id"), ("stream", "device_id"),
              ("step", "annotation_id"), ("kernel_name_sum", "name_id"))
NUMBERS = (2**31, 2**32, 2**32 - 1, 2**62, 2**63 - 1, -1, -(2**62), 0, 134217727)
ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless) SELECT {} FROM endless"


def arguments(report, index, other):
    command, *options = report
    if command == "rules":
        return [command, options[0], index, *LIMITS]
    if command == "sql":
        return [command, index, *options, *LIMITS]
    return [command, *options, *LIMITS, *([other, index] if command in PAIRS else [index])]


def ask(words, output):
    """(exit code, standard output if asked for, standard error) of a run. The most memory that this process ever took
    counts as that of whatever it starts, so large things are made and read elsewhere."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program("trace-query"), *map(str, words)], stderr=errors,
                                   stdout=subprocess.PIPE if output else subprocess.DEVNULL)
        answer = process.stdout.read() if output else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if output:
            process.stdout.close()
        errors.seek(0)
        require(usage.ru_maxrss * 1024 < MOST_BYTES, f"{' '.join(map(str, words))} took {usage.ru_maxrss >> 10} MiB")
        return process.returncode, answer, errors.read().decode(errors="replace")


def check(report, index, other, what, output=False):
    code, output, errors = ask(arguments(report, index, other), output)
    text = f"{what}: {' '.join(map(str, report))}: exit {code}: {errors.strip()[-300:]}"
    too_big = report[0] == "sql" and "string or blob too big" in errors
    require(code in (0, 1, 3, 5) or too_big, text)
    if code in (3, 5):
        failures = [line for line in errors.splitlines() if not line.startswith("note: ")]
        equal(len(failures), 1, f"lines of {text}")
        require(code == 3 or "limit" in errors or "out of memory" in errors or "--max-memory" in errors, text)
    return code, output


def edited(good, path, *statements):
    path.write_bytes(good)
    with changing(path) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            with contextlib.suppress(sqlite3.IntegrityError):  # an id twice: as good as none
                database.execute(statement)


def flipped_bits(chance, good, path):
    damaged = bytearray(good)
    flips = chance.choice((1, 1, 1, 4, 64))
    for _ in range(flips):
        damaged[chance.randrange(100, len(damaged))] ^= 1 << chance.randrange(8)
    path.write_bytes(damaged)
    return f"{flips} flipped bits"


def swapped_pages(chance, good, path):
    damaged = bytearray(good)
    for _ in range(chance.choice((1, 1, 5))):
        a, b = (chance.randrange(1, len(damaged) // PAGE) * PAGE for _ in range(2))
        damaged[a:a + PAGE], damaged[b:b + PAGE] = damaged[b:b + PAGE], damaged[a:a + PAGE]
    path.write_bytes(damaged)
    return "swapped pages"


def noise(chance, good, path):
    damaged = bytearray(good)
    at = chance.randrange(PAGE, len(damaged) - 600)
    damaged[at:at + 512] = chance.choice((bytes(512), chance.randbytes(512), b"\xff" * 512))
    path.write_bytes(damaged)
    return "a block of noise"


def lying_ids(chance, good, path):
    table, number = chance.choice(TABLES), chance.choice(NUMBERS)
    which = chance.choice(("(SELECT min(id) FROM {0})", "(SELECT max(id) FROM {0})")).format(table)
    edit = f"UPDATE OR IGNORE {table} SET id = {number} WHERE id = {which}"
    edited(good, path, edit)
    return edit


def lying_references(chance, good, path):
    (table, column), number = chance.choice(REFERENCES), chance.choice(NUMBERS)
    edit = f"UPDATE OR IGNORE {table} SET {column} = {number} WHERE rowid % {chance.choice((1, 3))} = 0"
    edited(good, path, "DELETE FROM packed_column", edit)
    return edit


def lying_times(chance, good, path):
    table, column = chance.choice(("kernel", "memory_op", "runtime_call", "cpu_op", "annotation")), chance.choice(("ts", "dur"))
    edit = f"UPDATE {table} SET {column} = {chance.choice(NUMBERS)} WHERE id % {chance.choice((1, 3))} = 0"
    edited(good, path, "DELETE FROM packed_column", edit)
    return edit


def circles(chance, good, path):
    table = chance.choice(("stack", "cpu_op", "annotation"))
    edit = f"UPDATE {table} SET parent_id = {chance.choice(('id', 'id + 1', '(SELECT max(id) FROM ' + table + ')'))}"
    edited(good, path, edit)
    return edit


def views_for_tables(chance, good, path):
    path.write_bytes(good)
    table = chance.choice(TABLES + ("meta", "issue", "event_count", "kernel_name_sum"))
    with changing(path) as database:
        columns = ", ".join(f"n AS \"{row[1]}\"" for row in database.execute(f"PRAGMA table_info({table})"))
        for view in [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]:
            if chance.random() < 0.5:
                database.execute(f"DROP VIEW {view}")
        database.execute(f"DROP TABLE {table}")
        database.execute(f"CREATE VIEW {table} AS {ENDLESS.format(columns)}")
    return f"a view without end for {table}"


def huge_texts(chance, good, path):
    size = chance.choice((1_000_000, 30_000_000, 300_000_000) if LONG else (1_000_000, 10_000_000))
    table, edit = chance.choice((("meta", "UPDATE meta SET value = {} WHERE key = 'vendor'"),
                                 ("string", "UPDATE string SET value = {} WHERE id = (SELECT name_id FROM annotation)"),
                                 ("kernel_name", "UPDATE kernel_name SET name = {}, short_name = name WHERE id = 1"),
                                 ("device", "UPDATE device SET name = {}"), ("issue", "INSERT INTO issue VALUES ({}, "
                                                                             "'warning', 1, NULL, NULL)")))
    path.write_bytes(good)
    subprocess.run(["sqlite3", path, edit.format(f"replace(hex(zeroblob({size // 2})), '00', 'a(')")], check=True)
    return f"a text of {size} bytes in {table}"


def files_of_holes(chance, good, path):
    source = path.with_suffix(".holes")
    size = 1 << chance.choice((31, 36, 41))
    with open(source, "wb") as file:
        file.truncate(size)
    edited(good, path, f"UPDATE meta SET value = '{source}' WHERE key = 'source_path'",
           f"UPDATE meta SET value = '{size}' WHERE key = 'source_size'",
           "DELETE FROM meta WHERE key = 'source_sample_hash'")
    if chance.random() < 0.5:  # the index has holes too
        os.truncate(path, 1 << 36)
        with open(path, "r+b") as file:
            file.seek(28)
            file.write(((1 << 36) // PAGE).to_bytes(4, "big"))
    return f"files of holes, {size} bytes"


KINDS = (flipped_bits, swapped_pages, noise, lying_ids, lying_references, lying_times, circles, views_for_tables, huge_texts,
         files_of_holes)


def made(folder):
    trace = trace_file(folder / "good.json", 2, "--layers", 3)
    run("trace-ingest", "-q", trace)
    trace.unlink()
    return folder / "good.json.tracedb"


def campaign(folder, numbers):
    good = made(folder)
    content = good.read_bytes()
    index = folder / "hostile.tracedb"
    ends = {}
    for number in numbers:
        chance = random.Random(number)
        what = f"index {number}: " + KINDS[number % len(KINDS)](chance, content, index)
        for report in REPORTS if LONG else chance.sample(REPORTS, 5):
            code, _ = check(report, index, good, what)
            ends[code] = ends.get(code, 0) + 1
    print(f"{sum(ends.values())} runs over {len(numbers)} indexes, by exit code: {dict(sorted(ends.items()))}")


def packed_bits(folder, how_many):
    """Bits of second copies of columns: the same answer as before, or none. (Those of Python calls: hostile_index.)"""
    good = made(folder)
    content = good.read_bytes()
    database = sqlite3.connect(good)
    blocks = [row[0] for row in database.execute(
        "SELECT data FROM packed_column WHERE length(data) > 24 AND event_table IN ('kernel', 'runtime_call')")]
    database.close()
    places = [(content.find(block[:24]), min(len(block), 200)) for block in blocks]
    reports = [("kernels",), ("ops",), ("phases",), ("steps",), ("timeline",), ("launches",), ("layers",)]
    answers = {report: check(report, good, good, "the good index", True)[1] for report in reports}
    chance = random.Random(4)
    refused = 0
    index = folder / "hostile.tracedb"
    for number in range(how_many):
        at, size = chance.choice(places)
        damaged = bytearray(content)
        damaged[at + chance.randrange(size)] ^= 1 << chance.randrange(8)
        index.write_bytes(damaged)
        for report in reports if LONG else chance.sample(reports, 3):
            code, output = check(report, index, good, f"bit {number} of packed columns", True)
            refused += code == 3
            require(code == 3 or (code == 0 and output == answers[report]), f"bit {number}: another answer of {report[0]}")
    require(refused > 0, "no bit was noticed")


def main(cases, _):
    cases.run_apart(f"{INDEXES} hostile indexes", campaign, range(FIRST, FIRST + INDEXES))
    cases.run_apart("bits of packed columns", packed_bits, 200 if LONG else 8)
