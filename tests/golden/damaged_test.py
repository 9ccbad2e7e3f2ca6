"""Every damaged or odd variant of one small trace ends as its manifest says: what was intact is stored, the damage is an
issue with its place, and an index whose trace has lost its end says so."""
import csv
import json
import random

from index_folder import run_any, told_of_events
from trace_cases import TRACES, equal, open_index, read_bytes, require, skip_without_traces

FOLDER = TRACES / "damaged"
WHOLE = "pretty.json"  # a variant nothing is wrong with: what an undamaged trace holds

SOURCES = ("damaged/pretty.json", "other/nsys_2gpu_before.sqlite", "other/rpd_matmul.rpd")
SEEDS = 12

REFUSED = {"empty.json": "empty", "html.json": "HTML", "lfs_pointer.json.gz": "git-lfs"}

# Issues of each file, where any are expected; {kind: count}. None: any count.
ISSUES = {
    "cut_mid_event.json": {"truncated": 1},
    "cut_between.json": {"truncated": 1},
    "cut_in_header.json": {"truncated": 1, "no_events": 1},
    "no_close.json": {"truncated": 1},
    "cut.json.gz": {"truncated": 1, "compressed_truncated": 1},
    "crc.json.gz": {"compressed_checksum": 1},
    "trailing_garbage.json.gz": {"compressed_trailing": 1},
    "array_no_close.json": {"truncated": 1},
    "bom.json": {"byte_order_mark": 1},
    "utf16.json": {"byte_order_mark": 1, "utf16": 1},
    "ctrl_char.json": {"repaired_text": 1},
    "raw_newline.json": {"repaired_text": 1},
    "bad_utf8.json": {"repaired_text": 1},
    "lone_surrogate.json": {"replaced_character": 1},
    "nul_escape.json": {"replaced_character": 1},
    "bad_escape.json": {"replaced_character": 1},
    "unescaped_quote.json": {"repaired_text": 1},
    "dur_NaN.json": {"bad_duration": 1},
    "dur_Infinity.json": {"bad_duration": 1},
    "dur_negInfinity.json": {"bad_duration": 1},
    "dur_nan.json": {"bad_duration": 1},
    "dur_inf.json": {"bad_duration": 1},
    "dur_1e400.json": {"bad_duration": 1},
    "dur_NA.json": {"bad_duration": 1},
    "dur_val__5.json": {"negative_duration": 1},
    "dur_val_null.json": {"missing_duration": 1},
    "dur_val_18446744073709551615.json": {"bad_duration": 1},
    "dur_val___.json": {"bad_duration": 1},
    "dup_key.json": {"duplicate_key": 1},
    "dup_top.json": {"duplicate_events_array": 1},
    "trailing_comma.json": {"stray_comma": 1},
    "leading_comma.json": {"stray_comma": 1},
    "two_docs.json": {"trailing_data": 1, "duplicate_events_array": 1},
    "null_event.json": {"not_an_object": None},
    "empty_obj.json": {"no_events": 1},
    "empty_events.json": {"no_events": 1},
    "null_events.json": {"no_events": 1, "events_not_an_array": 1},
    "deep.json": {"not_an_object": 1, "foreign_format": 1},
}
WITHOUT_PLACE = {"foreign_format", "no_events"}
INCOMPLETE = {"truncated", "truncated gzip"}


def element_count(name):
    """The number of elements of a variant that is valid JSON; None if it is not."""
    try:
        document = json.loads(read_bytes(FOLDER / name).decode("utf-8"))
    except (ValueError, RecursionError, EOFError):
        return None
    events = document if isinstance(document, list) else document.get("traceEvents")
    return len(events or [])


def rows_of(index):
    """How many rows the tables of events have."""
    database = open_index(index)
    return {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("kernel", "cpu_op", "runtime_call")}


def ingest_variant(name, index):
    return run_any("-q", "--force", "-o", index, FOLDER / name)


def refused_file(folder, name):
    result = ingest_variant(name, folder / "index")
    equal(result.returncode, 3, "exit code")
    require(REFUSED[name] in result.stderr, f"the message does not say why: {result.stderr!r}")
    equal(list(folder.iterdir()), [], "files left behind")


def check_issues(name, found):
    expected = ISSUES.get(name, {})
    equal(sorted(found), sorted(expected), "kinds of issues")
    for kind, count in expected.items():
        actual, offset, _ = found[kind]
        require(actual == count or count is None and actual > 0, f"{kind}: {actual} times, expected {count}")
        require(kind in WITHOUT_PLACE or offset is not None, f"{kind}: no byte offset")


def check_texts(index):
    """Each text of an index is UTF-8 without NUL."""
    database = open_index(index)
    database.text_factory = bytes
    tables = [name.decode() for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for _, column, *_ in list(database.execute(f'PRAGMA table_info("{table}")')):
            column = column.decode()
            for (text,) in database.execute(f'SELECT CAST("{column}" AS BLOB) FROM "{table}" WHERE typeof("{column}") = \'text\''):
                require(b"\0" not in text, f"{table}.{column} has a NUL: {text[:80]!r}")
                text.decode("utf-8")


def check_raw_bytes(folder, source, seed):
    """Bytes that no text may have, all over a trace or a database."""
    data, chance = bytearray(source.read_bytes()), random.Random(seed)
    for _ in range(60):
        begin = chance.randrange(200 if source.suffix != ".json" else 2, len(data))
        data[begin] = chance.choice((0, 0x80, 0xff, 0xc3))
    (folder / source.name).write_bytes(data)
    if run_any("-q", "--force", "-o", folder / "index", folder / source.name, code=(0, 3)).returncode == 0:
        check_texts(folder / "index")


def variant(folder, row, whole, rows):
    """`whole`, `rows`: events of the undamaged trace, and rows of its tables."""
    name, intact, index = row["file"], row["intact_events"], folder / "index"
    equal(ingest_variant(name, index).returncode, 0, "exit code")
    read, _, issues, complete = told_of_events(index)
    check_texts(index)
    check_issues(name, issues)
    equal(complete, row["kind"] not in INCOMPLETE and name not in ("no_close.json", "array_no_close.json"), "complete")
    if intact == "prefix":
        require(0 < read < whole, f"a prefix of {whole} events: {read}")
    elif name == "two_docs.json":
        equal(read, 2 * whole, "events read")
    elif row["kind"] in INCOMPLETE:
        equal(read, int(intact), "events read")
    elif row["valid_json"] == "yes" and name != "dup_top.json":
        equal(read, element_count(name) if name != "deep.json" else 1, "events read")
    else:
        equal((read, rows_of(index)), (whole, rows), "events read, rows")


def main(cases, folder):
    if not skip_without_traces(cases, FOLDER):
        with open(FOLDER / "MANIFEST.tsv", encoding="utf-8", newline="") as file:
            variants = list(csv.DictReader(file, delimiter="\t"))
        ingest_variant(WHOLE, folder / "index")
        whole, *_ = cases.run("undamaged", told_of_events, folder / "index")
        equal(whole, element_count(WHOLE), "events of the undamaged trace")
        rows = rows_of(folder / "index")
        for row in variants:
            if row["file"] in REFUSED:
                cases.run_apart(f"refused {row['file']}", refused_file, row["file"])
            else:
                cases.run_apart(row["file"], variant, row, whole, rows)
        for name in SOURCES:
            for seed in range(SEEDS):
                cases.run_apart(f"raw bytes {name} {seed}", check_raw_bytes, TRACES / name, seed)
