"""Every real Kineto trace: counts, conservation and links of our index against an independent reading in Python."""
import sys
from collections import Counter

from kineto_reference import Reference
from trace_cases import (TRACES, equal, ingest, kineto_traces, nanoseconds, open_packed, read_trace, require,
                         skip_without_traces)

COUNTS = {
    "kernel": "SELECT count(*), coalesce(sum(dur), 0) FROM kernel",
    "cpu_op": "SELECT count(*), coalesce(sum(dur), 0) FROM cpu_op",
    "python_call": "SELECT count(*), coalesce(sum(dur), 0) FROM python_call",
    "runtime_call": "SELECT count(*), coalesce(sum(dur), 0) FROM runtime_call",
    "memcpy": "SELECT count(*), coalesce(sum(dur), 0) FROM memory_op WHERE kind = 'memcpy'",
    "memset": "SELECT count(*), coalesce(sum(dur), 0) FROM memory_op WHERE kind = 'memset'",
    "annotation_user": "SELECT count(*), coalesce(sum(dur), 0) FROM annotation WHERE kind = 'user'",
    "annotation_gpu": "SELECT count(*), coalesce(sum(dur), 0) FROM annotation WHERE kind = 'gpu'",
}
EVENT_TABLES = ("kernel", "memory_op", "runtime_call", "cpu_op", "python_call", "annotation", "slice", "instant",
                "counter", "flow_unmatched")


def check_counts(reference, database):
    for kind, query in COUNTS.items():
        events = reference.events[kind]
        expected = (len(events), sum(event.dur or 0 for event in events))
        equal(database.execute(query).fetchone(), expected, f"{kind} (count, total ns)")


def check_kernel_rows(reference, database):
    """Each kernel's name, time and duration, exactly. Only the common zero of all times is the index's own choice."""
    rows = database.execute("SELECT ts, dur, name FROM kernel k JOIN kernel_name n ON n.id = k.name_id").fetchall()
    kernels = reference.events["kernel"]
    if not kernels:
        return
    zero = min(event.ts for event in kernels) - min(row[0] for row in rows)
    expected = Counter((event.ts - zero, event.dur, event.name) for event in kernels)
    difference = Counter(rows) - expected
    require(not difference, f"{sum(difference.values())} kernels differ, e.g. {next(iter(difference), None)}")


def check_conservation(reference, database):
    rows = database.execute("SELECT category, ph, read, stored, skipped FROM event_count").fetchall()
    for category, ph, read, stored, skipped in rows:
        equal(stored + skipped, read, f"stored + skipped of category {category}, ph {ph}")
    equal(sum(row[2] for row in rows), reference.elements, "events read")
    read = Counter()
    for category, ph, count, _, _ in rows:
        read[category, ph] += count
    equal(dict(read), dict(reference.read), "events read by (category, ph)")
    equal(sum(n for (_, ph), n in read.items() if ph in ("s", "t", "f")), reference.flows, "flow events read")
    stored = sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in EVENT_TABLES)
    counted = database.execute("SELECT count(*) FROM counter c JOIN string s ON s.id = c.category_id WHERE s.value = 'cuda_profiler_range'").fetchone()[0]
    equal(stored - counted, sum(row[3] for row in rows), "rows in the event tables, but for counters of ranges, which are slices")


def check_flows(raw_events, reference, database):
    """Every launch link that a flow of the trace shows is confirmed by it, none contradicted."""
    flows = [event for event in raw_events if isinstance(event, dict) and event.get("ph") in ("s", "f")]
    key = lambda event: (event.get("cat"), event.get("name"), event.get("id"))
    starts = {}
    for event in flows:
        if event["ph"] == "s":
            starts[key(event)] = min(nanoseconds(event["ts"]), starts.get(key(event), nanoseconds(event["ts"])))
    ends = {(event["id"], event["pid"], event["tid"], nanoseconds(event["ts"])) for event in flows
            if event["ph"] == "f" and starts.get(key(event), 2 ** 63) <= nanoseconds(event["ts"])}
    expected = sum((event.correlation, *event.track, event.ts) in ends
                   and bool(reference.runtime_by_correlation.get(event.correlation))
                   for kind in ("kernel", "memcpy", "memset") for event in reference.events[kind])
    said = dict(database.execute("SELECT key, CAST(value AS INTEGER) FROM meta WHERE key LIKE 'links_%_by_flow'"))
    equal(said, {"links_confirmed_by_flow": expected, "links_contradicted_by_flow": 0, "links_made_by_flow": 0}, "flows")


def check_links(found, what):
    """None for each that is right, else what is wrong of it."""
    checked = list(found)
    wrong = [one for one in checked if one is not None]
    require(not wrong, f"{len(wrong)} of {len(checked)} {what} differ; first: {wrong[:2]}")


KERNELS = """SELECT k.ts, k.dur, n.name, k.correlation, k.launch_id, r.ts, r.correlation, k.cpu_op_id, r.cpu_op_id, k.stack_id, r.stack_id,
s.value FROM kernel k JOIN kernel_name n ON n.id = k.name_id LEFT JOIN runtime_call r ON r.id = k.launch_id
LEFT JOIN step ON step.id = k.step_id LEFT JOIN annotation a ON a.id = step.annotation_id LEFT JOIN string s ON s.id = a.name_id"""
CALLS = """SELECT r.ts, r.dur, n.value, r.correlation, o.external_id, o.ts, m.value, r.stack_id FROM runtime_call r
JOIN string n ON n.id = r.name_id LEFT JOIN cpu_op o ON o.id = r.cpu_op_id LEFT JOIN string m ON m.id = o.name_id"""


class Links:
    """The links of one trace: its kernels and runtime calls, found again in the index by time and correlation."""

    def __init__(self, reference, database):
        self.reference, self.database = reference, database
        ours = database.execute("SELECT min(ts) FROM (SELECT ts FROM kernel UNION ALL SELECT ts FROM runtime_call)")
        timed = reference.events["kernel"] + reference.events["runtime_call"]
        self.zero = min(event.ts for event in timed) - ours.fetchone()[0] if timed else 0

    def matched(self, kind, statement):
        """(event, row) pairs. Those alike in name, time and correlation are interchangeable."""
        rows = {}
        for row in self.database.execute(statement):
            rows.setdefault(row[:4], []).append(row)
        for event in self.reference.events[kind]:
            same = rows.get((event.ts - self.zero, event.dur, event.name, event.correlation))
            require(same, f"not in the index: {event.kind} {event.name[:80]!r}, correlation {event.correlation}")
            yield event, same.pop()

    def kernels(self):
        """(event, row, the calls of its correlation)"""
        for event, row in self.matched("kernel", KERNELS):
            yield event, row, self.reference.runtime_by_correlation.get(event.correlation, []) if event.correlation else []

    def launches(self):
        for event, row, calls in self.kernels():
            expected = {call.ts - self.zero for call in calls}
            right = row[5] in expected if expected else row[4] is None
            yield None if right else (event.name[:60], event.correlation, row[5], sorted(expected))

    def operators(self):
        for call, row in self.matched("runtime_call", CALLS):
            expected = {(name, ts - self.zero) for name, ts in self.reference.op_names(call)}
            right = (row[6], row[5]) in expected if expected else row[5] is None
            yield None if right else (call.name, call.correlation, call.external_id, row[4:7])

    def kernel_inherits(self):
        """A kernel's operator and stack are those of its launch."""
        for event, row, _ in self.kernels():
            if row[4] is not None:
                yield None if row[7] == row[8] and row[9] == row[10] else (event.name[:60], event.correlation, row[7:11])

    def stack_paths(self):
        """Path of names by stack id; a parent's id is smaller than its children's."""
        paths = {None: ()}
        for stack, parent, name in self.database.execute(
                "SELECT stack.id, stack.parent_id, string.value FROM stack JOIN frame ON frame.id = stack.frame_id"
                " JOIN string ON string.id = frame.name_id ORDER BY stack.id"):
            paths[stack] = paths[parent] + (name,)
        return paths

    def stacks(self):
        """Of calls that launch kernels."""
        paths = self.stack_paths()
        launching = {event.correlation for event in self.reference.events["kernel"] if event.correlation}
        for call, row in self.matched("runtime_call", CALLS):
            if call.correlation in launching:
                expected = self.reference.stack_paths(call.track, call.ts)
                yield None if paths[row[7]] in expected else (call.name, call.correlation, paths[row[7]][-3:],
                                                              [path[-3:] for path in list(expected)[:2]])

    def steps(self):
        for event, row, calls in self.kernels():
            expected = self.reference.step_names(event, calls[0] if calls else None)
            right = row[11] in expected if expected else row[11] is None
            yield None if right else (event.name[:60], event.correlation, row[11], sorted(expected))


def check_trace(cases, trace, folder):
    name = str(trace.relative_to(TRACES))
    raw_events = read_trace(trace)[0]
    reference = Reference(raw_events)
    index = cases.run(f"{name} ingest", ingest, trace, folder / "index.tracedb", "--force")
    if index is None:
        return
    database = open_packed(index)
    cases.run(f"{name} counts", check_counts, reference, database)
    cases.run(f"{name} conservation", check_conservation, reference, database)
    cases.run(f"{name} kernel rows", check_kernel_rows, reference, database)
    cases.run(f"{name} flows", check_flows, raw_events, reference, database)
    if reference.events["kernel"] or reference.events["runtime_call"]:
        links = Links(reference, database)
        for found in (links.launches, links.operators, links.kernel_inherits, links.stacks, links.steps):
            cases.run(f"{name} {found.__name__}", check_links, found(), found.__name__)
    database.close()
    index.unlink()


def main(cases, folder):
    if not skip_without_traces(cases, TRACES / "kineto"):
        only = sys.argv[1:]
        for trace in kineto_traces():
            if not only or any(part in trace.name for part in only):
                check_trace(cases, trace, folder)
