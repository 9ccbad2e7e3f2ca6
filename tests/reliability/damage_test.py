"""Damage generated here, one kind at a time: how many events survive, and what the issue says; a trace cut off at every
byte; nesting and strings beyond measure, in bounded memory.

TRACEDB_LONG=1 adds the string of 2 GB."""
import gzip
import os
import resource
import subprocess
from pathlib import Path

from index_folder import run_any, told_of_events
from trace_cases import equal, open_index, program, require

EVENTS = 5
DAMAGED = 2  # the event the damage is in


def event(number, name=None, ts=None, dur="2.5"):
    return (f'\n  {{\n    "ph": "X", "cat": "cpu_op", "name": "{name or f"op{number}"}", "pid": 1, "tid": 2,\n'
            f'    "ts": {ts or f"{number}0.5"}, "dur": {dur},\n    "args": {{"External id": {number}, "grid": [1, 2]}}\n  }}')


def trace(number=EVENTS, **damage):
    """A trace of so many events, one of which is made with `damage`."""
    events = [event(i, **(damage if i == DAMAGED else {})) for i in range(number)]
    return '{"schemaVersion": 1, "traceEvents": [' + ",".join(events) + "\n], \"traceName\": \"x\"}\n"


def place(text, of):
    """Byte offset of a piece of a trace in its UTF-8 form."""
    return len(text[:text.index(of)].encode())


START = place(trace(), event(DAMAGED)) + len("\n  ")  # where the damaged event begins
WHOLE = trace()
TO_CUT = trace(3)  # the first event, one between others and the last


def edited(old, new, text=WHOLE):
    require(old in text, f"nothing to damage: {old!r}")
    return text.replace(old, new, 1)


# name: (bytes, events stored, {issue: (count, offset, beginning of the sample)}, complete). Offsets of None are free.
def table():
    rows = {}

    def row(name, content, stored, issues, complete=1):
        rows[name] = (content if isinstance(content, bytes) else content.encode(), stored, issues, complete)

    in_event = lambda kind, sample="": {kind: (1, START, sample)}  # noqa: E731
    row("sound", WHOLE, 5, {})
    row("invalid UTF-8", WHOLE.encode().replace(b"op2", b"o\xffp"), 5, in_event("repaired_text", "{"))
    row("control character", edited("op2", "o\x01p"), 5, in_event("repaired_text", "{"))
    row("raw newline", edited("op2", "o\np"), 5, in_event("repaired_text", "{"))
    row("quotes in a name", edited("op2", 'operator"" _x "y"z'), 5, in_event("repaired_text", "{"))
    row("odd quote", edited("op2", 'o"p'), 5, in_event("repaired_text", "{"))
    row("odd quote in a key", edited('"cat": "cpu_op", "name": "op2"', '"c"at": "cpu_op", "name": "op2"'), 4,
        in_event("malformed_event", "{"))
    row("odd quote in a number", edited("20.5", '20".5'), 4, in_event("malformed_event", "{"))
    row("odd quote between events", edited(event(DAMAGED), '"' + event(DAMAGED)), 5,
        {"stray_text": (1, START - len("\n  "), '"')})
    row("bad escape", edited("op2", "C:\\\\q\\q"), 5, {"replaced_character": (1, START, "C:")})
    row("escape at the end", edited('"op2"', '"op2\\"'), 4, in_event("malformed_event", "{"))
    for number in ("NaN", "nan", "Infinity", "-Infinity", "inf", "N/A", "1e400", "1e999", "18446744073709551616"):
        row(f"dur {number}", trace(dur=number), 5, in_event("bad_duration", number))
    row("dur negative", trace(dur="-5"), 5, in_event("negative_duration", "-5"))
    row("dur null", trace(dur="null"), 5, in_event("missing_duration"))
    row("dur missing", edited(', "dur": 2.5,\n    "args": {"External id": 2', ',\n    "args": {"External id": 2'), 5,
        in_event("missing_duration"))
    row("dur -0", trace(dur="-0"), 5, {})
    for number in ("NaN", "1e999", "9223372036854775808", "\"soon\"", "[1]", "{}", "true", "\"\""):
        row(f"ts {number}", trace(ts=number), 4, in_event("bad_timestamp", number))
    row("ts null", trace(ts="null"), 4, in_event("bad_timestamp", "null"))
    row("ts missing", edited('"ts": 20.5, ', ""), 4, in_event("missing_timestamp", '"op2"'))
    row("name of a wrong type", edited('"op2"', "[7]"), 5, in_event("missing_name", "[7]"))
    row("args of wrong types", edited('"External id": 2', '"External id": "two"'), 5, in_event("bad_number", "two"))
    row("2^64 in args", edited('"External id": 2', '"External id": 18446744073709551616'), 5,
        in_event("bad_number", "18446744073709551616"))
    row("unknown phase", edited(f'"ph": "X", "cat": "cpu_op", "name": "op2"', '"ph": "?", "cat": "cpu_op", "name": "op2"'),
        4, in_event("unsupported_phase", "?"))
    row("duplicate key", edited('"name": "op2"', '"name": "a", "name": "op2"'), 5, in_event("duplicate_key", '"op2"'))
    row("duplicate args", edited('"name": "op2"', '"args": {}, "name": "op2"'), 5, in_event("duplicate_key", '"op2"'))
    row("trailing comma", edited("\n]", ",\n]"), 5, {"stray_comma": (1, None, "")})
    row("leading comma", edited('"traceEvents": [', '"traceEvents": [,'), 5, {"stray_comma": (1, None, "")})
    row("double comma", WHOLE.replace("},\n", "},,\n", 1), 5, {"stray_comma": (1, None, "")})
    row("missing comma", WHOLE.replace("},\n", "}\n", 1), 5, {"missing_comma": (1, None, "")})
    row("not an object", WHOLE.replace("},\n", "}, null, 5,\n", 1), 5, {"not_an_object": (2, None, "null")})
    row("missing brace", edited('"External id": 2, "grid": [1, 2]}', '"External id": 2, "grid": [1, 2]'), 4,
        in_event("malformed_event", "{"))
    row("brace too many", edited('"External id": 2, "grid": [1, 2]}', '"External id": 2, "grid": [1, 2]}}'), 5,
        {"stray_text": (1, None, "}")})
    row("bracket too many", edited('"External id": 2, "grid": [1, 2]', '"External id": 2, "grid": [1, 2]]'), 4,
        in_event("malformed_event", "{"))
    row("missing bracket", edited('"External id": 2, "grid": [1, 2]', '"External id": 2, "grid": [1, 2'), 4,
        in_event("malformed_event", "{"))
    row("brackets that do not match", edited('"External id": 2, "grid": [1, 2]', '"External id": 2, "grid": [1, 2}'), 4,
        in_event("malformed_event", "{"))
    row("bracket among events", WHOLE.replace("},\n", "}],\n", 1), 5, {"stray_text": (1, None, "]")})
    row("hole of zeros", edited(event(2) + "," + event(3), event(2)[:30] + "\0" * 200 + event(3)[60:]), 3,
        in_event("malformed_event", "{"))
    row("missing piece", edited(event(2) + "," + event(3), event(2)[:100] + event(3)[-30:]), 3,
        in_event("malformed_event", "{"))
    in_header = WHOLE.replace('"traceEvents": [', '"deviceProperties": [{"id": 0, "name": "V100"}, ')
    row("events in the header", in_header, 5, {"malformed_header": (1, place(in_header, '[{"id"'), '[{"id": 0')})
    row("events deep in the header", in_header.replace('[{"id": 0,', '{"a": {"b": [{"id": 0,').replace('], "traceName"', ']}}, "traceName"'),
        5, {"malformed_header": (1, None, '{"a"'), "trailing_data": (1, None, "")})
    row("an event in the header and others", edited('"schemaVersion": 1', '"other": {"a": [' + event(7) + "]}"), 6,
        {"malformed_header": (1, None, '{"a"'), "trailing_data": (1, None, "")})
    row("header", edited('"schemaVersion": 1', '"schemaVersion": "1'), 5, {"malformed_header": (1, None, "")})
    row("byte order mark", b"\xef\xbb\xbf" + WHOLE.encode(), 5, {"byte_order_mark": (1, 0, "")})
    row("CRLF", WHOLE.replace("\n", "\r\n"), 5, {})
    for order in ("le", "be"):
        row(f"UTF-16 {order}", WHOLE.encode(f"utf-16-{order}"), 5, {"utf16": (1, 0, "")})
    row("UTF-16 with mark", WHOLE.encode("utf-16"), 5, {"utf16": (1, 0, ""), "byte_order_mark": (1, 0, "")})
    row("UTF-16, half a pair", WHOLE.encode("utf-16-le").replace("op2".encode("utf-16-le"), b"o\x00\x00\xd8"), 5,
        {"utf16": (1, 0, ""), "replaced_character": (1, place(WHOLE, "op2") + 1, "")})
    row("two documents", WHOLE + WHOLE, 10, {"trailing_data": (1, len(WHOLE), '{"schemaVersion'),
                                             "duplicate_events_array": (1, None, "")})
    row("text behind", WHOLE + "junk", 5, {"trailing_data": (1, len(WHOLE), "junk")})
    row("events twice", edited('"traceName": "x"', '"traceEvents": []'), 5, {"duplicate_events_array": (1, None, "")})
    packed = gzip.compress(WHOLE.encode())
    row("gzip", packed, 5, {})
    row("gzip in two members", gzip.compress(WHOLE.encode()[:99]) + gzip.compress(WHOLE.encode()[99:]), 5, {})
    row("gzip, bad CRC", packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:], 5, {"compressed_checksum": (1, None, "")})
    row("gzip, trailing zeros", packed + b"\0" * 512, 5, {"compressed_trailing": (1, None, "")})
    row("gzip without its end", packed[:-8], 5, {"compressed_truncated": (1, None, "")}, 0)
    row("no end", WHOLE[:WHOLE.index("\n]")], 5, {"truncated": (1, None, "")}, 0)
    row("cut in an event", WHOLE[:START + 50], 2, {"truncated": (1, START, "{")}, 0)
    return rows


def ingest(path, index):
    return run_any("-q", "--force", "-o", index, path)


def facts(index):
    """(events stored, their rows, {issue: (count, offset, sample)}, complete)"""
    _, stored, issues, complete = told_of_events(index)
    issues.pop("no_device_events", None)
    (form,) = open_index(index).execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    (rows,) = open_index(index).execute(f"SELECT count(*) FROM {'slice' if form == 'chrome-json' else 'cpu_op'}").fetchone()
    return stored, rows, issues, complete


def check(folder, name, content, stored, issues, complete):
    (folder / "trace.json").write_bytes(content)
    result = ingest(folder / "trace.json", folder / "index")
    equal(result.returncode, 0, f"exit code ({result.stderr.strip()})")
    actual_stored, rows, actual, actual_complete = facts(folder / "index")
    equal({kind: count for kind, (count, _, _) in actual.items()}, {kind: row[0] for kind, row in issues.items()}, "issues")
    equal((actual_stored, rows), (stored, stored), "events stored, operators")
    equal(actual_complete, complete, "complete")
    for kind, (_, offset, sample) in issues.items():
        require(actual[kind][1] is not None, f"{kind}: no offset")
        if offset is not None:
            equal(actual[kind][1], offset, f"{kind}: offset")
        require(len(actual[kind][2].encode()) <= 200, f"{kind}: long sample")
        require(actual[kind][2].startswith(sample), f"{kind}: sample {actual[kind][2]!r}, expected {sample!r}")


def cut_everywhere(folder, content, whole_at, name):
    """Cut off at any byte: refused, or salvaged and said to be incomplete; never fewer events than are whole."""
    for size in range(len(content)):
        path = folder / name
        path.write_bytes(content[:size])
        result = ingest(path, folder / "index")
        require(result.returncode in (0, 3), f"cut at {size}: exit {result.returncode}: {result.stderr}")
        if result.returncode == 3:
            require(size < whole_at(1) and not (folder / "index").exists(), f"cut at {size}: refused")
            continue
        stored, _, issues, complete = facts(folder / "index")
        expected = sum(1 for i in range(1, 4) if whole_at(i) <= size)
        require(stored >= expected, f"cut at {size}: {stored} events of {expected}")
        finished = name.endswith(".json") and size >= len(content.rstrip())
        equal(complete, finished, f"cut at {size}: complete")
        require(finished or any(kind.endswith("truncated") for kind in issues), f"cut at {size}: {issues}")
        (folder / "index").unlink()


def cut_plain(folder):
    ends = [place(TO_CUT, event(i)) + len(event(i)) for i in range(3)]
    cut_everywhere(folder, TO_CUT.encode(), lambda count: ends[count - 1], "cut.json")


def cut_gzip(folder):
    cut_everywhere(folder, gzip.compress(TO_CUT.encode(), mtime=0), lambda count: 10**9, "cut.json.gz")


def piped(folder, pieces, limit_mb, check_result):
    """Feeds a trace through standard input; the whole run must do with `limit_mb` of memory."""
    index = folder / "index"
    process = subprocess.Popen([program("trace-ingest"), "-q", "--threads", "2", "-o", str(index), "-"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for piece in pieces:
            process.stdin.write(piece)
        process.stdin.close()
    except BrokenPipeError:
        pass
    error = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    require(process.returncode in (0, 3), f"exit {process.returncode}: {error}")
    require(usage.ru_maxrss < limit_mb * 1024, f"{usage.ru_maxrss / 1024:.0f} MB of memory, {limit_mb} allowed")
    check_result(facts(index) if process.returncode == 0 else None)


def around(middle, tail=b"]}"):
    yield b'{"traceEvents": [' + event(1).encode() + b","
    yield from middle
    yield b"," + event(3).encode() + tail


def survivors(count, *kinds):
    def check_result(found):
        require(found is not None, "refused")
        equal(found[1], count, "operators stored")
        require(any(kind in found[2] for kind in kinds) if kinds else not found[2], f"issues: {sorted(found[2])}")
    return check_result


def nesting(folder, depth, opening, closing, closed):
    middle = [opening * depth, b"1", closing * (depth if closed else 0)]
    piped(folder, around(middle), 300, survivors(2, "not_an_object", "malformed_event", "stray_text", "unsupported_phase"))


def long_string(folder, size, limit_mb, *kinds):
    piece = b"x" * (1 << 20)
    middle = [b'{"ph":"X","cat":"cpu_op","name":"', *[piece] * (size >> 20), b'","pid":1,"tid":2,"ts":1,"dur":1}']
    piped(folder, around(middle), limit_mb, survivors(2 if kinds else 3, *kinds))


def without_sanitizer():
    """Address and thread sanitizers need memory of their own; then only the outcome counts."""
    symbols = Path(program("trace-ingest")).read_bytes()
    return b"__asan_init" not in symbols and b"__tsan_init" not in symbols


def main(cases, _):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, row in table().items():
        cases.run_apart(name, check, name, *row)
    cases.each_apart((cut_plain, cut_gzip))
    if without_sanitizer():
        for depth in (100_000, 1_000_000):
            cases.run_apart(f"lists {depth} deep", nesting, depth, b"[", b"]", True)
            cases.run_apart(f"objects {depth} deep", nesting, depth, b'{"a":', b"}", True)
            cases.run_apart(f"lists {depth} deep, never closed", nesting, depth, b"[", b"]", False)
        cases.run_apart("a string of 20 MB", long_string, 20 << 20, 450)
        if os.environ.get("TRACEDB_LONG"):
            cases.run_apart("a string of 2 GB", long_string, 2 << 30, 450, "oversized_event")
        else:
            cases.skip("a string of 2 GB", "it takes a while: set TRACEDB_LONG=1")
    else:
        cases.skip("nesting and long strings", "the programs are built with a sanitizer, which needs memory of its own")
