"""Busy, idle and exposed time, delays and gaps worked out slowly from the tables of an index: sorted intervals and plain
loops, written from the definitions in schema/METRICS.md and independent of the reports."""
from collections import defaultdict

KERNEL_WORK = {"compute": "computation", "comm": "comm", "copy_kernel": "copy", "comm_compute": "comm"}
MEMORY_WORK = {"memcpy": "copy", "memset": "computation"}
CAUSES = ("host_wait", "kernel_wait", "graph_gap", "other", "unknown")


def union(intervals):
    """Disjoint intervals in order."""
    out = []
    for begin, end in sorted((begin, end) for begin, end in intervals if end > begin):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def without(intervals, others):
    """Of disjoint intervals, what lies in none of the others."""
    out = []
    at = 0
    for begin, end in intervals:
        while at < len(others) and others[at][1] <= begin:
            at += 1
        i = at
        while begin < end and i < len(others) and others[i][0] < end:
            out.append([begin, max(begin, others[i][0])])
            begin = max(begin, others[i][1])
            i += 1
        if begin < end:
            out.append([begin, end])
    return [i for i in out if i[1] > i[0]]


class Event:
    """A kernel or a memory operation."""

    def __init__(self, row, work):
        self.id, self.ts, self.dur, self.device, self.stream, self.launch, kind = row
        self.work = work[kind]
        self.fused = kind == "comm_compute"
        self.is_kernel = work is KERNEL_WORK
        self.end = self.ts + max(self.dur or 0, 0)


class TimeOracle:
    def __init__(self, database):
        columns = "e.id, e.ts, e.dur, s.device_id, e.stream_id, e.launch_id, e.kind"
        self.events = []
        for table, work in (("kernel", KERNEL_WORK), ("memory_op", MEMORY_WORK)):
            rows = database.execute(f"SELECT {columns} FROM {table} e JOIN stream s ON s.id = e.stream_id ORDER BY e.id")
            self.events += [Event(row, work) for row in rows]
        self.events.sort(key=lambda event: (event.ts, not event.is_kernel, event.id))
        self.calls = {row[0]: row[1:] for row in database.execute(
            "SELECT r.id, r.ts, r.dur, r.kind, n.value FROM runtime_call r LEFT JOIN string n ON n.id = r.name_id")}
        self.ordinals = dict(database.execute("SELECT id, coalesce(ordinal, name, 'unknown') FROM device"))

    def timelines(self):
        """{device: figures}, as the columns of the report."""
        devices = defaultdict(list)
        for event in self.events:
            devices[event.device].append(event)
        return {self.ordinals[device]: self.timeline(events) for device, events in devices.items()}

    def timeline(self, events):
        sets = {work: union((e.ts, e.end) for e in events if e.work == work) for work in ("computation", "comm", "copy")}
        busy = union((e.ts, e.end) for e in events)
        working = union((e.ts, e.end) for e in events if e.work != "copy")
        out = {work: length(intervals) for work, intervals in sets.items()}
        out["fused_comm"] = length(union((e.ts, e.end) for e in events if e.fused))
        out["busy"] = length(busy)
        out["span"] = busy[-1][1] - busy[0][0] if busy else 0
        out["idle"] = out["span"] - out["busy"]
        out["exposed_comm"] = length(without(sets["comm"], sets["computation"]))
        out["exposed_copy"] = length(without(sets["copy"], working))
        out["gaps"] = max(len(busy) - 1, 0)
        return out

    def gaps(self, kernel_wait=2000):
        """[(device, ts, dur, cause)], longest first."""
        started = set()
        free_from = {}
        out = []
        for event in self.events:
            kind = self.calls[event.launch][2] if event.launch in self.calls else None
            inside = kind == "graph_launch" and event.launch in started
            if event.end == event.ts:
                continue
            started.add(event.launch)
            free = free_from.get(event.device)
            if free is not None and event.ts > free:
                out.append((self.ordinals[event.device], free, event.ts - free, self.cause(event, inside, free, kernel_wait)))
            free_from[event.device] = max(free or 0, event.end)
        return sorted(out, key=lambda gap: (-gap[2], gap[1]))

    def cause(self, event, inside, free, kernel_wait):
        if event.launch not in self.calls:
            return "unknown"
        if inside:
            return "graph_gap"
        if self.calls[event.launch][0] > free:
            return "host_wait"
        return "kernel_wait" if event.ts - free < kernel_wait else "other"

    def launches(self):
        """{call: [calls, kernels, API time, delays, negative ones, queueing]}; None: kernels without a launch."""
        out = defaultdict(lambda: [0] * 6)
        counted = {call for call, row in self.calls.items() if row[2] in ("launch", "graph_launch")}
        counted |= {e.launch for e in self.events if e.launch in self.calls}
        for call in counted:
            own = out[self.calls[call][3]]
            own[0] += 1
            own[2] += self.calls[call][1] or 0
        started = set()
        free_from = defaultdict(int)
        for event in self.events:
            if event.is_kernel or event.launch in self.calls:
                self.add_launched(event, out, started, free_from[event.stream])
            free_from[event.stream] = max(free_from[event.stream], event.end)
        return dict(out)

    def add_launched(self, event, out, started, stream_free):
        call = self.calls.get(event.launch)
        own = out[call[3] if call else None]
        own[1] += event.is_kernel
        if call is None or event.launch in started:
            return
        started.add(event.launch)
        if call[1] is None:
            return
        returned = call[0] + call[1]
        delay = max(0, event.ts - returned)
        own[3] += delay
        own[4] += event.ts < returned
        own[5] += delay - min(delay, max(0, stream_free - returned))
