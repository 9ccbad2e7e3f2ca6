"""What reports must say, worked out slowly from the JSON of a trace: plain loops over its events, written from the
definitions in schema/METRICS.md. Two opinions are taken from the index, and tested elsewhere: the kind of a kernel or
call by its name, and its short name."""
import re
import statistics
from collections import defaultdict

from kineto_reference import Reference
from time_oracle import KERNEL_WORK, MEMORY_WORK, Event, TimeOracle, length, union, without
from trace_cases import Skip

WORK = {"kernel": KERNEL_WORK, "memcpy": MEMORY_WORK, "memset": MEMORY_WORK}
DIRECTION = re.compile(r"\b(HtoD|DtoH|DtoD|HtoH|PtoP)\b")
ELEMENT_BYTES = {"bfloat16": 2, "half": 2, "float16": 2, "float": 4, "float32": 4, "int": 4, "int32": 4, "long": 8,
                 "int64": 8, "double": 8, "byte": 1, "char": 1, "bool": 1}
BUS_FACTORS = (("allreduce", 2), ("allgather", 1), ("reducescatter", 1), ("alltoall", 1))


def rank(values, percent):
    """Nearest rank: the least value with so many percent at or below it."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * percent // 100) - 1]


def deviation(values):
    if len(values) < 2:
        return 0
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


class ReportOracle(TimeOracle):
    """Of one trace: `events` and `calls` as TimeOracle has them, and beside each event what the JSON says of it."""

    def __init__(self, raw_events, database):
        self.reference = Reference(raw_events)
        self.kernel_kinds = dict(database.execute("SELECT n.name, k.kind FROM kernel k JOIN kernel_name n "
                                                  "ON n.id = k.name_id GROUP BY n.name"))
        self.short_names = dict(database.execute("SELECT name, short_name FROM kernel_name"))
        call_kinds = dict(database.execute("SELECT n.value, r.kind FROM runtime_call r JOIN string n "
                                           "ON n.id = r.name_id GROUP BY n.value"))
        calls = self.reference.events["runtime_call"]
        self.calls = {i: (call.ts, call.dur, call_kinds[call.name], call.name) for i, call in enumerate(calls, 1)}
        self.call_events = dict(enumerate(calls, 1))
        self.launch_of = self.launches_by_correlation(calls)
        self.arguments = {}
        self.names = {}
        self.events = sorted((self.event(kind, source, raw_events[source.position]) for kind in WORK
                              for source in self.reference.events[kind]),
                             key=lambda event: (event.ts, not event.is_kernel, event.id))
        self.ordinals = {event.device: event.device for event in self.events}

    @staticmethod
    def launches_by_correlation(calls):
        found = {}
        for i, call in enumerate(calls, 1):
            if call.correlation and found.setdefault(call.correlation, i) != i:
                raise Skip("several calls have one correlation: which of them launched is not for this check to say")
        return found

    def event(self, kind, source, raw):
        arguments = raw.get("args") or {}
        mtia = str(raw.get("cat")).startswith("mtia")
        device, stream = raw["pid"] if mtia else arguments.get("device"), arguments.get("stream")
        if not isinstance(device, int) or stream is None:
            raise Skip("events without device or stream")
        self.names[source.position] = source.name
        self.arguments[source.position] = arguments
        launch = self.launch_of.get(source.correlation) if source.correlation else None
        if source.dur is None or source.dur < 0:
            raise Skip("unknown durations")
        own = self.kernel_kinds[source.name] if kind == "kernel" else kind
        return Event((source.position, source.ts, source.dur, device, (device, str(stream)), launch, own), WORK[kind])

    def kernels(self):
        return [event for event in self.events if event.is_kernel]

    def name(self, event):
        return self.names[event.id]

    def busy(self, events):
        devices = defaultdict(list)
        for event in events:
            devices[event.device].append((event.ts, event.end))
        return sum(length(union(intervals)) for intervals in devices.values())

    def kernel_groups(self, group_of):
        """{group: figures} as `kernels` and `ops` show them."""
        groups = defaultdict(list)
        for kernel in self.kernels():
            groups[group_of(self.name(kernel))].append(kernel)
        return {group: self.figures(kernels) for group, kernels in groups.items()}

    def figures(self, events):
        values = [event.dur for event in events]
        return {"instances": len(values), "total_time": sum(values), "med": statistics.median(values), "min": min(values),
                "max": max(values), "p90": rank(values, 90), "p99": rank(values, 99), "busy": self.busy(events),
                "stddev": deviation(values)}

    def copies(self):
        """{operation: (count, total, bytes, busy, GB/s, achieved GB/s)}"""
        groups = defaultdict(list)
        for event in self.events:
            if event.is_kernel:
                continue
            name = self.name(event)
            direction = DIRECTION.search(name)
            kind = "memset" if name.lower().startswith("memset") else "memcpy"
            groups[f"{kind} {direction[1]}" if direction and kind == "memcpy" else kind].append(event)
        return {what: self.copy_figures(events) for what, events in groups.items()}

    def copy_figures(self, events):
        sized = [event for event in events if isinstance(self.arguments[event.id].get("bytes"), int)]
        size = sum(self.arguments[event.id]["bytes"] for event in sized)
        time, busy = sum(event.dur for event in sized), self.busy(sized)
        implied = sum(self.copy_time(event) for event in sized)
        return (len(events), sum(event.dur for event in events), size if sized else None, self.busy(events),
                size / implied if implied else None, size / implied * time / busy if implied and busy else None)

    def copy_time(self, event):
        """What the profiler's own bandwidth implies, where it gives one, else the duration."""
        arguments = self.arguments[event.id]
        bandwidth = arguments.get("memory bandwidth (GB/s)")
        return arguments["bytes"] / float(bandwidth) if bandwidth and arguments["bytes"] else event.dur

    def collectives(self):
        """{(name, ranks, dtype, bytes): (count, total, exposed, algorithm GB/s, bus GB/s)} of those the trace describes,
        and under (short name, None, None, None) the others."""
        computing = defaultdict(list)
        for event in self.events:
            if event.work == "computation":
                computing[event.device].append((event.ts, event.end))
        computing = {device: union(intervals) for device, intervals in computing.items()}
        groups = defaultdict(list)
        for kernel in self.kernels():
            if kernel.work == "comm":
                groups[self.collective(kernel)].append(kernel)
        return {what: self.comm_figures(what, kernels, computing) for what, kernels in groups.items()}

    def collective(self, kernel):
        arguments = self.arguments[kernel.id]
        name, dtype = arguments.get("Collective name"), arguments.get("dtype")
        if name is None:
            return self.short_names[self.name(kernel)], None, None, None
        elements = max(arguments.get("In msg nelems", 0), arguments.get("Out msg nelems", 0))
        element = ELEMENT_BYTES.get((dtype or "").lower())
        return name, arguments.get("Group size"), dtype, element * elements if element is not None else None

    @staticmethod
    def comm_figures(what, kernels, computing):
        name, ranks, _, size = what
        total = sum(kernel.dur for kernel in kernels)
        exposed = sum(length(without(union((k.ts, k.end) for k in kernels if k.device == device),
                                     computing.get(device, []))) for device in {kernel.device for kernel in kernels})
        algorithm = size * len(kernels) / total if size is not None and total else None
        factor = next((times * (ranks - 1) / ranks for word, times in BUS_FACTORS
                       if ranks and word in name.lower().replace("_", "")), None)
        return len(kernels), total, exposed, algorithm, algorithm * factor if algorithm and factor else None

    def sequences(self, size):
        """{names: (count, total)} of kernels in a row on a stream; a time that overlaps the one before counts not."""
        streams = defaultdict(list)
        for kernel in self.kernels():
            streams[kernel.stream].append(kernel)
        found = defaultdict(lambda: [0, 0])
        for kernels in streams.values():
            free_from = defaultdict(int)
            for at in range(len(kernels) - size + 1):
                some = kernels[at:at + size]
                names = tuple(self.short_names[self.name(kernel)] for kernel in some)
                if at < free_from[names]:
                    continue
                free_from[names] = at + size
                found[names][0] += 1
                found[names][1] += sum(kernel.dur for kernel in some)
        return {names: tuple(figures) for names, figures in found.items() if figures[0] > 1}

    def stack(self, kernel):
        """Names of the python frames around the launch, outermost first; Skip where the JSON leaves a choice."""
        if kernel.launch is None:
            return ()
        call = self.call_events[kernel.launch]
        paths = self.reference.stack_paths(call.track, call.ts)
        if len(paths) != 1:
            raise Skip("python calls that coincide: several stacks are right")
        return next(iter(paths))

    def no_operator(self, kernel):
        return kernel.launch is None or not self.reference.op_names(self.call_events[kernel.launch])

    def share(self, holds):
        """Percent of the kernel time, and how many kernels."""
        kernels = self.kernels()
        some = [kernel for kernel in kernels if holds(kernel)]
        total = sum(kernel.dur for kernel in kernels)
        return (100 * sum(kernel.dur for kernel in some) / total if total else None), len(some)

