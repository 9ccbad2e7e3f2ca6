"""Damage in the head of traces and in every name: a campaign with fixed seeds. Every event that is whole in the file is
stored or counted, of its category and phase, and every broken one is counted, told by a count made here, from the bytes.

TRACEDB_LONG=1 runs all of it."""
import json
import os
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path

from index_folder import run_any
from trace_cases import TRACES, equal, kineto_traces, nanoseconds, open_index, read_bytes, require

LONG = bool(os.environ.get("TRACEDB_LONG"))
REAL = ("damaged/pretty.json", "damaged/one_line.json", "damaged/array.json", "damaged/events_first.json",
        "kineto/torch_compile_triton_mi300x.json.gz", "kineto/moe_micro_b300.json.gz",
        "kineto/fusion_moe_unfused_mi300x.json", "kineto/gpu_only_mi210.json.gz")
PUNCTUATION = '{}[]",:'
HEAD = 10_000  # bytes in which blocks of zeros begin
# Of one-byte damages, zeroed blocks, quotes in names and garbage: all of them, and how many of them where time is short.
SHARES = {"byte": (1200, 110), "zeros": (500, 50), "quotes": (200, 25), "garbage": (200, 25)}
LOST = (40, 4)  # blocks that are missing, of the beginning of every real trace


def made_event(number):
    kind = number % 4
    common = f'"pid": {0 if kind == 0 else 100}, "tid": 7, "ts": {1000 + 10 * number}.5'
    if kind == 0:
        return (f'{{"ph": "X", "cat": "kernel", "name": "gemm<int, {{{number}}}>(float*)", {common}, "dur": {number}.25, "args": '
                f'{{"stream": 7, "device": 0, "correlation": {number}, "grid": [1, 2, 3], "block": [64, 1, 1]}}}}')
    if kind == 1:
        return (f'{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", {common}, "dur": {number}.5, "args": '
                f'{{"External id": {number}, "Input Dims": [[1, 2], []], "list": [{{"a": 1}}, {{"b": 2}}]}}}}')
    if kind == 2:
        return f'{{"ph": "s", "id": {number}, {common}, "cat": "ac2g", "name": "ac2g"}}'
    return f'{{"name": "cudaLaunchKernel", "cat": "cuda_runtime", "ph": "X", {common}, "dur": {number}}}'


def made_traces():
    """{name: bytes} in the layouts that profilers write."""
    devices = ",\n".join(f'    {{\n      "id": {i}, "name": "AMD Instinct MI300X", "totalGlobalMem": 1{i},\n'
                         f'      "warpSize": 64, "maxGrid": [1, 2, {{"x": [3]}}]\n    }}' for i in range(4))
    before = ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n' + devices + '\n  ],\n  "hip_version": 602,\n'
              '  "distributedInfo": {"backend": "nccl", "rank": 3, "pg_config": [{"pg": "0", "ranks": [0, 1]}]},\n'
              '  "metadata": {"a": {"b": [{}, [], "x]}\\""]}}, "baseTimeNanoseconds": 1700000000000000000,\n  ')
    events = [made_event(i) for i in range(60)]
    after = ',\n  "traceName": "x.json",\n  "displayTimeUnit": "ms"\n}\n'
    lines = before + '"traceEvents": [\n  ' + ",\n  ".join(events) + "\n  ]" + after
    last = '{"metadata": {"a": 1}, "traceEvents": [' + ", ".join(events) + "], " + before.strip()[1:].rstrip(", \n") + "}"
    return {"lines": lines.encode(), "header behind": last.encode(),
            "array": ("[\n" + ",\n".join(events) + "\n]\n").encode(),
            "minified": json.dumps(json.loads(lines), separators=(",", ":")).encode()}


class Trace:
    """A sound trace, and where its events are."""

    def __init__(self, name, data, most=None):
        self.name, self.data = name, data
        self.text = data.decode("latin-1")  # one character a byte
        self.events = []  # (first byte, behind the last, category, phase, name, duration)
        self.find_events(most)
        if most:  # of the events: what follows them is left out
            end = "]}" if self.text.lstrip().startswith("{") else "]"
            self.text = self.text[:self.events[-1][1]] + end
            self.data = self.text.encode("latin-1")

    def find_events(self, most):
        at = self.text.index("[") if self.text.lstrip().startswith("[") else self.list_of_events()
        decoder = json.JSONDecoder(parse_float=Decimal)
        while True:
            at += 1
            while self.text[at] in " \t\r\n":
                at += 1
            if self.text[at] == "]":
                break
            event, end = decoder.raw_decode(self.text, at)
            self.events.append((at, end, event.get("cat"), event.get("ph"), event.get("name"), event.get("dur")))
            at = end
            while self.text[at] in " \t\r\n":
                at += 1
            if self.text[at] == "]" or len(self.events) == most:
                break
        require(len(self.events) > 0, f"{self.name}: no events")

    def list_of_events(self):
        return self.text.index("[", self.text.index('"traceEvents"'))

    def outside(self):
        """Places of punctuation that belongs to no event."""
        first, last = self.events[0][0], self.events[-1][1]
        between = [event[1] for event in self.events[:40]]  # commas, mostly
        places = [*range(first), *range(last, len(self.data)), *between]
        return [at for at in places if self.text[at] in PUNCTUATION]

    def whole(self, edits):
        """The events that none of the edits (first byte, behind the last) touches."""
        return [event for event in self.events
                if not any(begin < event[1] and max(end, begin + 1) > event[0] for begin, end in edits)]


def changed(trace, edits):
    """The bytes with [(first, behind the last, new bytes)] put in."""
    data = bytearray(trace.data)
    for begin, end, new in sorted(edits, reverse=True):
        data[begin:end] = new
    return bytes(data), [(begin, end) for begin, end, _ in edits]


def one_byte(trace, random_):
    at = random_.choice(trace.outside())
    other = random_.choice([b" ", b"\0", b"x", b"", b"\xff", *(bytes([byte]) for byte in PUNCTUATION.encode())])
    if random_.random() < 0.2:
        return changed(trace, [(at, at, other or b'"')])  # one too many
    return changed(trace, [(at, at + 1, other)])


def zeros(trace, random_):
    size = random_.choice((512, 4096))
    at = random_.randrange(0, min(HEAD, len(trace.data) - size) if len(trace.data) > size else 1)
    return changed(trace, [(at, min(at + size, len(trace.data)), bytes(min(size, len(trace.data) - at)))])


def quotes(trace, random_):
    """A quote in every name, or in the names of one in three; half of the time the header is damaged too."""
    edits = []
    every = random_.choice((1, 1, 3))
    for number, (begin, end, *_) in enumerate(trace.events):
        name = trace.text.find('"name"', begin, end)
        if number % every or name < 0:
            continue
        start = trace.text.index('"', trace.text.index(":", name)) + 1
        stop = trace.text.index('"', start)
        if stop == start or "\\" in trace.text[start:stop]:
            continue
        at = random_.randrange(start, stop)
        edits.append((at, at, b'"'))
    head = [at for at in trace.outside() if at < trace.events[0][0]]
    if len(head) > 3 and random_.random() < 0.5:
        at = random_.choice(head[:-1])
        edits.append((at, at + 1, b" "))
    return changed(trace, edits)


def lost(trace, random_):
    """Without zeros in its place: what is left may be valid JSON, and mean something else."""
    size = random_.choice((512, 512, 4096))
    at = random_.randrange(1, max(2, trace.events[0][0] + 1000))
    return changed(trace, [(at, min(at + size, len(trace.data)), b"")])


def garbage(trace, random_):
    new = random_.choice((b"\0", b"]", b"}", b"x", b",", b'"', b"<", b"[", b"{", b":", b"\0" * 512, b"\0" * 4096, b"\n\0\1",
                          b"log: started\n", random_.randbytes(random_.randrange(1, 300))))
    begin = 0 if random_.random() < 0.7 else random_.randrange(0, 3)
    return changed(trace, [(0, begin, new)])


DAMAGES = {"byte": one_byte, "zeros": zeros, "quotes": quotes, "garbage": garbage, "lost": lost}


def facts(index):
    database = open_index(index)
    read = Counter()
    for category, phase, count in database.execute("SELECT category, ph, sum(read) FROM event_count GROUP BY 1, 2"):
        read[category, phase] += count
    timed = Counter(database.execute("SELECT n.name, k.dur FROM kernel k JOIN kernel_name n ON n.id = k.name_id"))
    timed += Counter(database.execute("SELECT s.value, o.dur FROM cpu_op o JOIN string s ON s.id = o.name_id"))
    unbalanced = database.execute("SELECT count(*) FROM event_count WHERE read <> stored + skipped").fetchone()[0]
    lost = {kind: count for kind, count in database.execute("SELECT kind, count FROM issue WHERE severity <> 'info'")}
    for _ in database.execute("SELECT * FROM meta"):
        pass  # valid text
    equal(unbalanced, 0, "kinds of events that are not accounted for")
    return read, timed, lost


def is_text(name):
    return isinstance(name, str) and name.isprintable() and name.isascii()


def check(trace, damaged, edits, kind, folder):
    """Ingests the damaged trace, and holds it against what is whole in it."""
    (folder / "trace.json").write_bytes(damaged)
    whole = trace.whole(edits)
    run_any("-q", "--force", "-o", folder / "index", folder / "trace.json", code=0 if whole else (0, 3))
    if not whole:
        return
    read, timed, lost = facts(folder / "index")
    expected = Counter((category, phase) for _, _, category, phase, _, _ in whole)
    missing = expected - read
    require(not missing, f"of {len(whole)} whole events missing, by category and phase: {dict(missing)}; issues {lost}")
    named = Counter((name, nanoseconds(dur)) for _, _, category, phase, name, dur in whole
                    if phase == "X" and category in ("kernel", "Kernel", "cpu_op") and is_text(name) and dur is not None)
    wrong = named - timed
    require(not wrong, f"whole events missing, by name and duration: {list(wrong)[:3]}; issues {lost}")
    touched = len(trace.events) - len(whole)
    # Of two events a lost block may make one.
    require(not touched or lost or kind == "lost", f"{touched} events are damaged, and no issue says so")
    if kind == "quotes":
        equal(sum(read.values()), len(trace.events), f"events read, {touched} of them with a quote in the name")


def campaign(folder, kind, trace, count, seed):
    random_ = random.Random(seed)
    for number in range(count):
        damaged, edits = DAMAGES[kind](trace, random_)
        try:
            check(trace, damaged, edits, kind, folder)
        except AssertionError as error:
            if os.environ.get("TRACEDB_KEEP"):
                Path(os.environ["TRACEDB_KEEP"]).write_bytes(damaged)
            raise AssertionError(f"damage {number} at {edits[0][0]} of {len(damaged)} bytes: {error}") from None


def lost_blocks(folder, path, seed):
    """Of the beginning of a trace: its first 200 events."""
    for number, trace in enumerate([Trace(path.name, read_bytes(path), 200)] if path else
                                   [Trace(name, data) for name, data in made_traces().items()]):
        campaign(folder, "lost", trace, LOST[0 if LONG else 1], 100 * seed + number)


def traces():
    found = [Trace(name, data) for name, data in made_traces().items()]
    for name in REAL:
        if (TRACES / name).is_file():
            found.append(Trace(name, read_bytes(TRACES / name)))
    return found


def main(cases, _):
    subjects = traces()
    for kind, (all_of_them, some) in SHARES.items():
        count = -(-(all_of_them if LONG else some) // len(subjects))
        for seed, trace in enumerate(subjects):
            cases.run_apart(f"{kind}: {count} damages of {trace.name}", campaign, kind, trace, count, seed)
    for seed, path in enumerate([None, *kineto_traces()]):
        cases.run_apart(f"lost: blocks of {path.name if path else 'what is made'}", lost_blocks, path, seed)
