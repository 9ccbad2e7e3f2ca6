"""The account of a trace's steps summed up from its raw JSON: spans, periods, idle and exposed time, kernels by class,
role and place, what the host does between steps. Which step, layer, class and role a kernel has is what
`trace-query sql` says; every time and count is of the JSON."""
import bisect
import itertools
import re
import typing
from collections import defaultdict

from time_oracle import length, union, without
from trace_cases import nanoseconds, read_trace, require, rows
from usual_steps import counted

OWN_CODE = re.compile(r"(?!torch/|triton/|numpy/|/usr/lib/)/?[\w.-]+/.*\.py\(\d+\)")
# The sum that ends a split-K product is part of it.
KERNELS = """SELECT *, CASE WHEN ends_other THEN 'dense_gemm' ELSE own_op END AS op
  FROM (SELECT step, phase, ts, dur, name, layer, layer_part, role, cpu_op, op AS own_op, id,
               op = 'reduce' AND (name LIKE 'Cijk%' OR name LIKE '%splitK%') AS ends_other FROM kernels) ORDER BY ts, id"""
COPIES = """SELECT step, phase, ts, dur, NULL AS name, NULL AS layer, NULL AS layer_part, NULL AS role, NULL AS cpu_op, 0 AS ends_other, kind AS op
  FROM memcpys ORDER BY ts, id"""


def without_line(frame):
    return re.sub(r"\(\d+\)", "", frame)


class Event(typing.NamedTuple):
    begin: int
    end: int
    kind: str  # kernel, gpu_memcpy, gpu_memset
    name: str
    launch: typing.Any  # correlation
    op: typing.Any = None
    role: typing.Any = None
    launcher: typing.Any = None  # operator
    ends_other: typing.Any = None  # as the sum of a split-K product ends the product
    place: typing.Any = None  # head, tail, number of the layer; None: no place in layers
    step: typing.Any = None


class Step(typing.NamedTuple):
    begin: int
    end: int
    events: list
    phase: str


def mean(values):
    return sum(values) / len(values)


class Raw:
    """The events of a trace, and its steps."""

    def __init__(self, path, index):
        events, self.head = read_trace(path)
        # (type, number): the largest recorded total of its allocations
        self.peaks = {}
        for event in events:
            args = event.get("args") or {}
            if event.get("name") == "[memory]" and "Total Allocated" in args:
                key = (args["Device Type"], args["Device Id"])
                self.peaks[key] = max(self.peaks.get(key, 0), args["Total Allocated"])
        kernels, copies = [], []
        self.calls, self.host_starts, self.launches = [], [], {}
        for event in events:
            if event.get("ph") != "X":
                continue
            kind, begin, dur = event.get("cat"), nanoseconds(event.get("ts")), nanoseconds(event.get("dur"))
            if kind in ("kernel", "gpu_memcpy", "gpu_memset"):
                launch = (event.get("args") or {}).get("correlation")
                (kernels if kind == "kernel" else copies).append(Event(begin, begin + dur, kind, event["name"], launch))
            else:
                self.calls.append((kind, begin, begin + dur, event["name"]))
            if kind in ("cuda_runtime", "cuda_driver", "hip_runtime"):
                self.launches[(event.get("args") or {}).get("correlation")] = begin
            elif kind in ("python_function", "cpu_op"):
                self.host_starts.append(begin)
        self.host_starts.sort()
        rows = [self.rows_of(index, sql) for sql in (KERNELS, COPIES)]
        origin = min(event.begin for event in kernels) - rows[0][0]["ts"]  # an index counts from another moment
        self.events = sorted([*self.placed(kernels, rows[0], origin), *self.placed(copies, rows[1], origin)],
                             key=lambda event: event.begin)
        self.kernels = [event for event in self.events if event.kind == "kernel"]
        phases = {row["step"]: row["phase"] for row in rows[0] if row["step"] is not None}
        by_step = defaultdict(list)
        for event in self.events:
            by_step[event.step].append(event)
        self.outside = [event for event in by_step.pop(None, []) if event.kind == "kernel"]
        self.steps = [Step(own[0].begin, max(event.end for event in own), own, phases[step])
                      for step, own in sorted(by_step.items())]

    @staticmethod
    def rows_of(index, sql):
        return rows("sql", "--max-rows", 0, index, sql)

    @staticmethod
    def placed(events, rows, origin):
        """The events with what the index says of those that start when they do and take as long."""
        known = defaultdict(list)
        for row in reversed(rows):
            known[row["ts"] + origin, row["dur"]].append(row)
        for event in events:
            row = known[event.begin, event.end - event.begin].pop()
            place = row["layer"] if row["layer_part"] == "layer" else row["layer_part"]
            yield event._replace(name=row["name"] or event.name, op=row["op"], role=row["role"], launcher=row["cpu_op"], ends_other=row["ends_other"], place=place,
                                 step=row["step"])
        require(not any(known.values()), "the index has an event that the trace does not have")

    def idle_shares(self):
        """Of the time from the first to the last work of steps: idle; idle until work came that was launched after the gap
        began."""
        own = [event for event in self.kernels if event.step is not None]
        first, last = min(event.begin for event in own), max(event.end for event in own)
        idle = waiting = 0
        until = first
        for event in self.events:
            begin = min(event.begin, last)
            if begin > until:
                idle += begin - until
                launch = self.launches.get(event.launch)
                waiting += begin - until if launch is not None and launch > until else 0
            until = max(until, min(event.end, last))
        return idle / (last - first), waiting / (last - first)


class Account:
    """Means over the steps of a phase that count (usual_steps.py), in ns."""

    def __init__(self, raw, phase, communicates):
        self.raw, self.communicates = raw, communicates
        places = [place for place, step in enumerate(raw.steps) if step.phase == phase]
        require(places, f"no {phase} steps")
        after = {place: raw.steps[place + 1] for place in places if place + 1 < len(raw.steps)}
        periods = [after[place].begin - raw.steps[place].begin if place in after and after[place].phase == phase else None
                   for place in places]
        chosen, by_period = counted([raw.steps[place].end - raw.steps[place].begin for place in places], periods)
        self.steps = [raw.steps[places[i]] for i in chosen]
        self.left_out = (sum(period is not None for period in periods) if by_period else len(places)) - len(chosen)
        self.spans = [step.end - step.begin for step in self.steps]
        self.span = mean(self.spans)
        self.gaps = {}  # by the kind of the next step: from the end of a step to its start
        for place in places if not by_period else [places[i] for i in chosen] + \
                [place for place in places if place in after and after[place].phase != phase]:
            if place in after and (by_period or after[place].phase != phase):
                step, following = raw.steps[place], after[place]
                self.gaps.setdefault(following.phase, []).append((step.end, following.begin, step.begin,
                                                                  following.events[0].launch))
        self.periods = [periods[i] for i in chosen] if by_period else []
        self.between = mean(self.periods) - self.span if by_period else None
        self.phase = phase
        self.comm_at, self.comm_n = defaultdict(float), defaultdict(float)
        self.copy = self.idle = 0
        self.saved = []  # by kernels of a step that run at once
        for step in self.steps:
            self.add_step(step)
        self.comm = sum(self.comm_at.values())
        self.at_once = mean(self.saved)

    def add_step(self, step):
        n = len(self.steps)
        talks = [e for e in step.events if e.kind == "kernel" and self.communicates(e.op)]
        working = [e for e in step.events if e.kind == "gpu_memset" or (e.kind == "kernel" and not self.communicates(e.op))]
        computes = union([e[:2] for e in working])
        until = step.begin
        for event in talks:  # an instant is that of the one that started first
            alone = without([[max(event.begin, until), event.end]] if event.end > until else [], computes)
            self.comm_at[event.place] += length(alone) / n
            self.comm_n[event.place] += 1 / n
            until = max(until, event.end)
        others = union([*map(tuple, computes), *(e[:2] for e in talks)])
        copies = without(union([e[:2] for e in step.events if e.kind == "gpu_memcpy"]), others)
        self.copy += length(copies) / n
        self.saved.append(sum(e.end - e.begin for e in working) - length(computes))
        running = union([(max(e.begin, step.begin), min(e.end, step.end)) for e in self.raw.events
                         if e.begin < step.end and e.end > step.begin])  # of the device, whichever step it is of
        self.idle += (step.end - step.begin - length(running)) / n

    def of(self, wanted):
        """(time, number) of the kernels that are wanted."""
        found = [e for step in self.steps for e in step.events if e.kind == "kernel" and wanted(e)]
        return sum(e.end - e.begin for e in found) / len(self.steps), len(found) / len(self.steps)

    def by_name(self, places):
        times = defaultdict(float)
        for step in self.steps:
            for event in step.events:
                if event.kind == "kernel" and event.place in places:
                    times[event.name] += (event.end - event.begin) / len(self.steps)
        return times

    def layers(self):
        """By layer: the time of its kernels, communication as far as it is exposed."""
        times = defaultdict(float)
        for step in self.steps:
            for event in step.events:
                if event.kind == "kernel" and not self.communicates(event.op):
                    times[event.place] += (event.end - event.begin) / len(self.steps)
        for place, time in self.comm_at.items():
            times[place] += time
        return {place: time for place, time in times.items() if isinstance(place, int)}

    def occurrences(self, name, places):
        """The kernels of a name: of the first of each step and place, of the second ..., their (time, number)."""
        sums = defaultdict(lambda: [0, 0])
        for step in self.steps:
            met = defaultdict(int)
            for event in step.events:
                if event.kind == "kernel" and event.name == name and event.place in places:
                    own = sums[met[event.place]]
                    own[0] += (event.end - event.begin) / len(self.steps)
                    own[1] += 1 / len(self.steps)
                    met[event.place] += 1
        return [sums[place] for place in sorted(sums)]

    def summed(self, names, places, time):
        """By name, the (time, number) of those of its kernels that together take `time`."""
        choices = []
        for name in names:
            sums = self.occurrences(name, places)
            require(sums, f"no kernel {name[:60]} in the trace")
            choices.append([[sum(part) for part in zip(*some)] for size in range(len(sums), 0, -1)
                            for some in itertools.combinations(sums, size)])
        for some in itertools.product(*choices):
            if abs(sum(own[0] for own in some) - time) <= 1:
                return list(zip(names, some))
        raise AssertionError(f"{names}: no kernels of these names take {time} ns")

    def host_waits(self):
        """Of the time to the next step of the kind: (gaps in which the device waits for a launch, their part, calls)."""
        gaps = [gap for gap in self.gaps.get(self.phase, []) if gap[1] > gap[0]]
        late = [gap for gap in gaps if self.raw.launches.get(gap[3], gap[0]) > gap[0]]
        starts = self.raw.host_starts
        calls = sum(bisect.bisect_left(starts, gap[1]) - bisect.bisect_left(starts, gap[0]) for gap in late)
        return len(late), sum(gap[1] - gap[0] for gap in late) / max(sum(self.periods), 1), calls

    def idle_gaps(self):
        out = []
        for step in self.steps:
            until = step.begin
            for event in step.events:
                if event.begin - until >= 2000:
                    out.append((until, event.begin))
                until = max(until, event.end)
        return out

    def lines_of(self, frame):
        """All calls of that name, whatever the line in its file: (kind, name)."""
        return {(call[0], call[3]) for call in self.raw.calls if without_line(call[3]).endswith(without_line(frame))}

    def host_time(self, frame, gaps, any_line):
        """How long in the gaps the outermost open operator is one of that name; of python, the innermost of the program's own and
        of frameworks, which are in folders that are no library's; of calls, the innermost. `any_line`: of any line of its file."""
        return sum(self.time_in(*one, gaps) for one in self.lines_of(frame) if any_line or one[1].endswith(frame))

    def time_in(self, kind, name, gaps):
        inside = 0
        for begin, end in gaps:
            calls = [call for call in self.raw.calls if call[0] == kind and call[1] < end and call[2] > begin
                     and (kind != "python_function" or OWN_CODE.match(call[3]))]
            outer = [c for c in calls if c[3] == name]
            at = union([[max(begin, c[1]), min(end, c[2])] for c in outer])
            if kind == "cpu_op":
                within = [c for c in outer if not any(o[1] <= c[1] and c[2] <= o[2] and o[1:3] != c[1:3] for o in calls)]
                inside += length(union([[max(begin, c[1]), min(end, c[2])] for c in within]))
                continue
            nested = union([[max(begin, c[1]), min(end, c[2])] for c in calls if c[3] != name and
                            any(o[1] <= c[1] and c[2] <= o[2] and o[1:3] != c[1:3] for o in outer)])
            inside += length(without(at, nested))
        return inside
