"""A model of HolisticTraceAnalysis: what it says of the facts in our index by some of its rules, in microseconds."""
import itertools
import re
from collections import Counter, defaultdict
from functools import lru_cache

from reference_index import describe, deviation
from time_oracle import length, union

FLOAT = "float microseconds"                  # times since the epoch in doubles: steps of 0.25 us
SYNC = "synchronisation is GPU work"          # events of category cuda_sync that have a stream
OPERATORS = "operators with a stream are kernels"
FILLS = "fills are memory operations"
NCCL = "only nccl communicates"
PAIRS = "a gap between every two neighbours"  # also of 0 or less, and to the last that began, not the last to end
GRAPHS = "gaps in graphs by their launch"
WHOLE = "whole microseconds of each piece"
FIRST = "no launch: the first event's"          # of the file, as its row number is 0
OVERLAP = "annotations by overlap"
ARGUMENT = "argument stream"
TIES = "order of equal times"
CALLS = "launches by a list of names"
TYPES = {"computation": "COMPUTATION", "comm": "COMMUNICATION", "copy": "MEMORY"}
WORK = {"compute": "computation", "comm": "comm", "comm_compute": "comm", "copy_kernel": "copy", "memcpy": "copy",
        "memset": "computation"}
KERNEL_WAIT_NS = 30_000
QUEUE_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaMemcpyAsync",
               "cudaMemsetAsync", "hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
               "hipMemcpyWithStream"}
STATISTICS = ("count", "mean", "std", "min", "25%", "50%", "75%", "max")


def short(name):
    """As HTA cuts the names of annotations: without what is in brackets."""
    return re.sub(r"\([^()]*\)", "", name)


class Work:
    """One event on a stream: a kernel, a copy or fill, or what HTA takes for one."""

    def __init__(self, ts, dur, name, kind, stream, launch, launch_kind):
        self.ts, self.dur, self.name, self.kind, self.stream = ts, dur or 0, name, kind, stream
        self.launch, self.launch_kind = launch, launch_kind
        self.begin, self.end = self.ts, self.ts + self.dur


WORK_SQL = """
SELECT e.ts, e.dur, e.name, e.kind, s.number, r.ts, r.kind, e.launch_id FROM (
  SELECT k.ts, k.dur, n.name, k.kind, k.stream_id, k.launch_id FROM kernel k JOIN kernel_name n ON n.id = k.name_id
  UNION ALL
  SELECT m.ts, m.dur, t.value, m.kind, m.stream_id, m.launch_id FROM memory_op m JOIN string t ON t.id = m.name_id) e
JOIN stream s ON s.id = e.stream_id LEFT JOIN runtime_call r ON r.id = e.launch_id"""

SYNC_SQL = """
SELECT s.ts, s.dur, n.value FROM slice s JOIN string c ON c.id = s.category_id JOIN string n ON n.id = s.name_id
JOIN event_argument a ON a.event_table = 'slice' AND a.event_id = s.id
WHERE c.value = 'cuda_sync' AND json_extract(a.args, '$.stream') <> -1"""
OPERATOR_SQL = """
SELECT o.ts, o.dur, n.value FROM cpu_op o JOIN string n ON n.id = o.name_id
JOIN event_argument a ON a.event_table = 'cpu_op' AND a.event_id = o.id
WHERE json_extract(a.args, '$.stream') <> -1"""


class HtaModel:
    def __init__(self, index, first_event_us):
        self.index = index
        self.first_event = round(first_event_us * 1000) - index.raw_base_ns  # of the file
        self.work = [Work(*row[:7]) for row in index.rows(WORK_SQL)]

    @lru_cache(maxsize=None)
    def events(self, rules):
        """Everything on the device, in microseconds, in order of start."""
        found = list(self.work)
        if SYNC in rules:
            found += [Work(*row, "sync", None, None, None) for row in self.index.rows(SYNC_SQL)]
        if OPERATORS in rules:
            found += [Work(*row, "compute", None, None, None) for row in self.index.rows(OPERATOR_SQL)]
        for event in found:
            event.begin = self.time(event.ts, rules)
            event.end = event.begin + event.dur / 1000
        return sorted(found, key=lambda event: event.begin)

    def time(self, ts, rules):
        """Microseconds since the first event."""
        return self.index.raw_us(ts) - self.index.raw_us(0) if FLOAT in rules else ts / 1000

    def kind(self, event, rules):
        work = WORK.get(event.kind, event.kind)
        if FILLS in rules and event.kind == "memset":
            return "copy"
        if NCCL in rules and work == "comm" and not re.match("nccl", event.name):
            return "computation"
        return work

    @lru_cache(maxsize=None)
    def sets(self, rules):
        found = defaultdict(list)
        for event in self.events(rules):
            found[self.kind(event, rules)].append((event.begin, event.end))
        return {kind: union(intervals) for kind, intervals in found.items()}

    @lru_cache(maxsize=None)
    def temporal(self, rules):
        all_work = union((event.begin, event.end) for event in self.events(rules))
        out = {"kernel_time": all_work[-1][1] - all_work[0][0]}
        out["idle_time"] = out["kernel_time"] - length(all_work)
        out["compute_time"] = length(self.sets(rules).get("computation", []))
        out["non_compute_time"] = out["kernel_time"] - out["idle_time"] - out["compute_time"]
        for name in ("idle_time", "compute_time", "non_compute_time"):
            out[f"{name}_pctg"] = 100 * out[name] / out["kernel_time"]
        return out

    @lru_cache(maxsize=None)
    def types(self, rules):
        """{type: us}, times where several ran at once by themselves."""
        edges = []
        for kind, intervals in self.sets(rules).items():
            if kind not in TYPES:
                continue
            for begin, end in intervals:
                edges += [(begin, 1, kind), (end, -1, kind)]
        edges.sort(key=lambda edge: edge[0])
        out = defaultdict(float)
        running = defaultdict(int)
        for (at, change, kind), after in zip(edges, edges[1:]):
            running[kind] += change
            name = " overlapping ".join(TYPES[kind] for kind in TYPES if running[kind])
            piece = after[0] - at
            out[name] += int(piece) if WHOLE in rules else piece
        out.pop("", None)
        return dict(out)

    @lru_cache(maxsize=None)
    def gaps(self, rules):
        """{(stream, cause): [gap]} in microseconds."""
        out = defaultdict(list)
        last = {}
        for event in self.events(rules):
            if event.stream is None:
                continue
            free = last.get(event.stream)
            if free is not None and (PAIRS in rules or event.begin > free and event.dur):
                cause = self.cause(event, free, rules)
                out[event.stream, cause].append(event.begin - free)
            if PAIRS in rules or free is None:
                last[event.stream] = event.end
            else:
                last[event.stream] = max(free, event.end)
        return out

    def cause(self, event, free, rules):
        launch = event.launch and self.time(event.launch, rules)
        if event.launch is None:
            if FIRST not in rules:
                return "unknown"
            launch = self.time(self.first_event, rules)
        if event.launch_kind == "graph_launch" and GRAPHS not in rules:
            return "graph_gap"
        if launch > free:
            return "host_wait"
        return "kernel_wait" if event.begin - free < KERNEL_WAIT_NS / 1000 else "other"

    def overlap(self, rules):
        sets = self.sets(rules)
        communication = sets.get("comm", [])
        both = length(communication) + length(sets.get("computation", [])) - length(
            union(communication + sets.get("computation", [])))
        return 100 * both / length(communication) if communication else None

    def type_share(self, name, rules):
        types = self.types(rules)
        return 100 * types.get(name, 0) / sum(types.values())

    @lru_cache(maxsize=None)
    def kernel_groups(self, rules):
        groups = defaultdict(list)
        for event in self.events(rules):
            groups[event.name].append(event.dur / 1000)
        kinds = {event.name: TYPES.get(self.kind(event, rules)) for event in self.events(rules)}
        return {name: {"sum (us)": sum(values), "max (us)": max(values), "min (us)": min(values),
                       "stddev": deviation(values) if len(values) > 1 else 0, "mean (us)": sum(values) / len(values),
                       "kernel_type": kinds[name]} for name, values in groups.items()}

    def idle_share(self, key, rules):
        gaps = self.gaps(rules)
        idle = sum(sum(values) for (stream, _), values in gaps.items() if stream == key[0])
        return sum(gaps.get(key, [])) / idle if idle else None

    @lru_cache(maxsize=None)
    def queues(self, rules, first=1):
        """{stream: length after each launch and each start}; of equal times the launches (1) or the starts (-1) first."""
        changes = defaultdict(list)
        for stream, call_ts, ts, call in self.index.rows(
                "SELECT s.number, r.ts, e.ts, t.value FROM (SELECT ts, stream_id, launch_id FROM kernel UNION ALL "
                "SELECT ts, stream_id, launch_id FROM memory_op) e JOIN stream s ON s.id = e.stream_id "
                "JOIN runtime_call r ON r.id = e.launch_id JOIN string t ON t.id = r.name_id"):
            if CALLS in rules and call not in QUEUE_CALLS:
                continue
            changes[stream] += [(self.time(call_ts, rules), 1), (self.time(ts, rules), -1)]
        return {stream: describe(itertools.accumulate(change for _, change in
                                                      sorted(some, key=lambda one: (one[0], -first * one[1]))))
                for stream, some in changes.items()}

    def queue(self, stream, column, rules):
        """One figure, or its bounds, where the order of equal times is not known."""
        if not rules:
            return describe([row["waiting"] for row in self.index.query(
                f"SELECT q.waiting FROM queue_points q JOIN stream s ON s.id = q.stream_id WHERE s.number = {stream}")]).get(column)
        found = self.queues(rules - {TIES}).get(stream, {}).get(column)
        if TIES not in rules or found is None:
            return found
        other = self.queues(rules - {TIES}, -1)[stream][column]
        spread = abs(found - other) if column == "std" else 0  # no bound, but of the same size
        return min(found, other) - spread, max(found, other) + spread

    @lru_cache(maxsize=None)
    def bandwidths(self, rules):
        """{operation: GB/s of all that run, after each start and each end}, where it is more than nothing."""
        changes = defaultdict(list)
        for row in self.index.query("SELECT name, ts, dur, gb_per_s FROM memcpys ORDER BY id"):
            rate = row["gb_per_s"]
            if rate is None:
                continue
            name = "Memset" if row["name"].startswith("Memset") else row["name"][:11]
            begin = self.time(row["ts"], rules)
            changes[name] += [(begin, rate), (begin + (row["dur"] / 1000 or 1), -rate)]
        return {name: [value for value in itertools.accumulate(change for _, change in sorted(some, key=lambda one: one[0]))
                       if value > 0] for name, some in changes.items()}

    @lru_cache(maxsize=None)
    def annotated(self, rules):
        """{annotation: how many kernels and copies start in it; or any part of them runs in it, the latest one counts}"""
        annotations = [(self.time(ts, rules), self.time(ts, rules) + dur / 1000, stream, short(name))
                       for ts, dur, stream, name in self.index.rows(
                           "SELECT a.ts, a.dur, s.number, t.value FROM annotation a JOIN stream s ON s.id = a.stream_id "
                           "JOIN string t ON t.id = a.name_id ORDER BY a.ts, a.dur DESC")]
        counts = Counter()
        for event in self.events(rules - {SYNC, OPERATORS}):
            reach = event.end if OVERLAP in rules else event.begin + 1e-9
            around = [name for begin, end, stream, name in annotations
                      if stream == event.stream and begin < reach and event.begin < end]
            counts[around[-1] if around else ""] += 1
        return counts

    def with_stream(self, category, rules):
        sql = {"cuda_sync": SYNC_SQL, "cpu_op": OPERATOR_SQL}.get(category)
        return len(self.index.rows(sql)) if sql and ARGUMENT in rules else None
