"""Every damaged or odd variant of one small trace ends as its manifest says: what was intact is stored, the damage is an
issue with its place, and an index whose trace has lost its end says so."""
import csv
import json
import random
import subprocess

from trace_cases import TRACES, equal, open_index, program, read_bytes, require, skip_without_traces

FOLDER = TRACES / "damaged"
WHOLE = "pretty.json"  # a variant nothing is wrong with: what an undamaged trace holds

SOURCES = ("damaged/pretty.json", "other/nsys_2gpu_before.sqlite", "other/rpd_matmul.rpd")
SEEDS = 12

# Issues that say something about the run rather than about damage.
ORDINARY = {"unmatched_flow", "unknown_device", "kernel_without_launch", "kernel_without_step", "python_parent_missing"}

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


def facts(index):
    database = open_index(index)
    one = lambda sql: database.execute(sql).fetchone()[0]  # noqa: E731
    found = {
        "read": one("SELECT coalesce(sum(read), 0) FROM event_count"),
        "accounted": one("SELECT coalesce(sum(stored + skipped), 0) FROM event_count"),
        "kernels": one("SELECT count(*) FROM kernel"),
        "ops": one("SELECT count(*) FROM cpu_op"),
        "calls": one("SELECT count(*) FROM runtime_call"),
        "complete": one("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'complete'"),
        "issues": {kind: (count, offset, sample) for kind, count, offset, sample in
                   database.execute("SELECT kind, count, offset, sample FROM issue") if kind not in ORDINARY},
    }
    equal(one("PRAGMA integrity_check"), "ok", "integrity_check")
    database.close()
    return found


def ingest_variant(name, index):
    return subprocess.run([program("trace-ingest"), "-q", "--force", "-o", str(index), str(FOLDER / name)],
                          capture_output=True, text=True, errors="replace", timeout=300)


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
    database.close()


def check_raw_bytes(folder, source, seed):
    """Bytes that no text may have, all over a trace or a database."""
    data, chance = bytearray(source.read_bytes()), random.Random(seed)
    for _ in range(60):
        begin = chance.randrange(200 if source.suffix != ".json" else 2, len(data))
        data[begin] = chance.choice((0, 0x80, 0xff, 0xc3))
    (folder / source.name).write_bytes(data)
    result = subprocess.run([program("trace-ingest"), "-q", "--force", "-o", str(folder / "index"), str(folder / source.name)],
                            capture_output=True, timeout=300)
    require(result.returncode in (0, 3), f"exit code {result.returncode}: {result.stderr!r}")
    if result.returncode == 0:
        check_texts(folder / "index")


def variant(folder, row, whole):
    name, intact = row["file"], row["intact_events"]
    result = ingest_variant(name, folder / "index")
    equal(result.returncode, 0, f"exit code ({result.stderr.strip()})")
    found = facts(folder / "index")
    check_texts(folder / "index")
    check_issues(name, found["issues"])
    equal(found["accounted"], found["read"], "events accounted for")
    equal(found["complete"], 0 if row["kind"] in INCOMPLETE or name in ("no_close.json", "array_no_close.json") else 1,
          "complete")
    if intact == "prefix":
        require(0 < found["read"] < whole["read"], f"a prefix of {whole['read']} events: {found['read']}")
    elif name == "two_docs.json":
        equal(found["read"], 2 * whole["read"], "events read")
    elif row["kind"] in INCOMPLETE:
        equal(found["read"], int(intact), "events read")
    elif row["valid_json"] == "yes" and name != "dup_top.json":
        equal(found["read"], element_count(name) if name != "deep.json" else 1, "events read")
    else:
        equal(found["read"], whole["read"], "events read")
        for table in ("kernels", "ops", "calls"):
            equal(found[table], whole[table], table)


def main(cases, folder):
    if not skip_without_traces(cases, FOLDER):
        with open(FOLDER / "MANIFEST.tsv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        ingest_variant(WHOLE, folder / "index")
        whole = cases.run("undamaged", facts, folder / "index")
        equal(whole["read"], element_count(WHOLE), "events of the undamaged trace")
        for row in rows:
            if row["file"] in REFUSED:
                cases.run_apart(f"refused {row['file']}", refused_file, row["file"])
            else:
                cases.run_apart(row["file"], variant, row, whole)
        for name in SOURCES:
            for seed in range(SEEDS):
                cases.run_apart(f"raw bytes {name} {seed}", check_raw_bytes, TRACES / name, seed)
