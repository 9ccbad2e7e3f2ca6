"""The same trace gives the same index, byte for byte, for any number of threads and any chunk size; a compressed trace
gives the same tables as its plain twin. All of it holds for damaged traces too."""
import gzip
import hashlib
import os

from trace_cases import TRACES, equal, ingest, make_trace, open_index, read_bytes, require

THREADS = (1, 2, 3)
CHUNK_SIZES = (64, 1000, 64 << 10, 1 << 20, 4 << 20)
REAL = ("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "fusion_moe_unfused_mi300x.json",
        "dlrm_8rank/worker3.pt.trace.json")


def digest(index):
    return hashlib.sha256(index.read_bytes()).hexdigest()


def check_layouts(folder, trace):
    expected = digest(ingest(trace, folder / "default.tracedb"))
    for threads in THREADS:
        for size in CHUNK_SIZES:
            index = folder / f"{threads}_{size}.tracedb"
            ingest(trace, index, "--threads", str(threads), "--chunk-size", str(size))
            equal(digest(index), expected, f"sha256 with {threads} threads, chunks of {size} bytes")
            index.unlink()


def tables(index):
    """{table: rows}; facts about the file itself, which differ between a trace and its compressed copy, left out."""
    database = open_index(index)
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"
                                                " AND name NOT LIKE 'sqlite_%' ORDER BY name")]
    require("kernel" in names, "no table called kernel")
    contents = {name: database.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall() for name in names}
    contents["meta"] = [row for row in contents["meta"] if not row[0].startswith("source_")]
    return contents


def check_gzip(folder, trace):
    text = read_bytes(trace)
    plain, packed, members = folder / "plain.json", folder / "packed.json.gz", folder / "members.json.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    cut = len(text) // 3
    members.write_bytes(gzip.compress(text[:cut]) + gzip.compress(text[cut:]))
    expected = tables(ingest(plain, folder / "plain.tracedb"))
    for twin in (packed, members):
        actual = tables(ingest(twin, folder / "twin.tracedb", "--force"))
        for table, rows in expected.items():
            require(actual.get(table) == rows, f"{twin.name}: table {table} differs")


def damaged(trace, path):
    """A copy with damage of many kinds: quotes and brackets too many and too few, holes, pieces missing, a long event."""
    text = bytearray(read_bytes(trace))
    step = len(text) // 40
    for k, damage in enumerate((b'"', b"}", b"{", b"]", b"[", b"\\", b'"},{"', b"\0" * 300, b",", b"\xff", b"\n") * 3):
        at = step * (k + 2) + k
        text[at:at + (len(damage) if k % 2 else 0)] = damage
    text[step * 37:step * 37 + 1500] = b""
    long_event = b'{"ph":"X","ts":1,"args":{"list":[' + b" " * 70000 + b"1]},"
    at = text.index(b'{"ph"' if b'{"ph"' in text else b"{\n", step * 38)
    text[at:at] = long_event
    path.write_bytes(text)
    os.utime(path, (1, 1))
    return path


def main(cases, folder):
    synthetic = cases.run("make-trace", make_trace, folder / "synthetic.json", "--vendor", "amd", "--steps", "3")
    training = cases.run("make-trace of training", make_trace, folder / "training.json", "--model", "train", "--steps", "3",
                         "--layers", "4", "--correlation", "off")
    traces = [trace for trace in (synthetic, training) if trace]
    for trace in list(traces):
        os.utime(trace, (1, 1))  # an index says whether its trace had been at rest, and this one is new
        traces.append(cases.run("damage", damaged, trace, folder / "damaged.json"))
    for name in REAL:
        trace = TRACES / "kineto" / name
        if trace.exists():
            traces.append(trace)
        else:
            cases.skip(name, f"{trace} does not exist (TRACEDB_TRACES names the folder of real traces)")
    for trace in traces:
        for check in (check_layouts, check_gzip):
            cases.run_apart(f"{trace.name} {check.__name__.removeprefix('check_')}", check, trace)
