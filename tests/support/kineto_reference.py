"""What a Kineto trace says, worked out slowly and independently of our programs: counts, and which launch, operator,
python stack and step a kernel belongs to. Written from the definitions in schema/README.md; plain searches, no clever structure.
"""
import bisect
import re
from collections import Counter, defaultdict
from functools import cached_property

from trace_cases import nanoseconds

CATEGORIES = {
    "kernel": ("kernel", "Kernel"),
    "cpu_op": ("cpu_op", "Operator"),
    "python_call": ("python_function",),
    "runtime_call": ("cuda_runtime", "cuda_driver", "Runtime", "mtia_runtime"),
    "memcpy": ("gpu_memcpy", "Memcpy"),
    "memset": ("gpu_memset", "Memset"),
    "annotation_user": ("user_annotation",),
    "annotation_gpu": ("gpu_user_annotation",),
}
KIND = {category: kind for kind, categories in CATEGORIES.items() for category in categories}
STEP_NAME = re.compile(r"ProfilerStep#\d+$|execute_(\d+_)?context_\d+\(.*\)_generation_\d+\(.*\)$|execute_diffusion_|"
                       r"step\[(EXTEND|DECODE|MIXED)\b|(prefill|decode)\[")
# Ranges of the user's that old profilers wrote as operators, and the marks that hold for a whole process.
OPERATOR_MARK = re.compile(r"Optimizer\.|ProfilerStep#\d+$")
PROCESS_STEP_NAME = re.compile(r"ProfilerStep#\d+$")


class Event:
    """One complete event (ph X) of a known category."""
    __slots__ = ("kind", "name", "ts", "dur", "end", "track", "arguments", "position")

    def __init__(self, kind, raw, position):
        self.arguments = raw.get("args") or {}
        self.kind = kind
        self.name = raw.get("name")
        self.ts = nanoseconds(raw.get("ts"))
        self.dur = nanoseconds(raw.get("dur"))
        self.end = self.ts + (self.dur or 0)
        self.track = (raw.get("pid"), raw.get("tid"))
        self.position = position

    correlation = property(lambda self: self.arguments.get("correlation"))
    python_id = property(lambda self: self.arguments.get("Python id"))
    parent_id = property(lambda self: self.arguments.get("Python parent id"))
    external_id = property(lambda self: self.arguments.get("External id", self.arguments.get("external id")))


class Track:
    """Events of one thread or stream, to be asked for the innermost one at a time."""

    def __init__(self, events):
        self.events = sorted(events, key=lambda event: (event.ts, -event.end, event.position))
        self.starts = [event.ts for event in self.events]
        self.latest_end = []  # of this event and all before it: where a search may stop
        for event in self.events:
            self.latest_end.append(max(event.end, self.latest_end[-1]) if self.latest_end else event.end)
        self.nests = self.all_nest()

    def all_nest(self):
        """Whether no event outlasts one that is open at its start: then the last to start ends first."""
        around = []
        for event in self.events:
            while around and around[-1].end <= event.ts:
                around.pop()
            if around and event.end > around[-1].end:
                return False
            around.append(event)
        return True

    def innermost(self, time):
        """All events that hold [ts, end) around time and start last and are shortest: more than one if equal."""
        found = []
        for i in range(bisect.bisect_right(self.starts, time) - 1, -1, -1):
            if self.latest_end[i] <= time:
                break
            event = self.events[i]
            if found and (event.ts, event.end) != (found[0].ts, found[0].end):
                break
            if event.end > time:
                found.append(event)
        return found


def tracks(events):
    grouped = defaultdict(list)
    for event in events:
        grouped[event.track].append(event)
    return {track: Track(group) for track, group in grouped.items()}


def parents_by_time(events):
    """(position, parent or None) of events in the order of a Track."""
    open_frames = []
    for event in events:
        open_frames = [frame for frame in open_frames if frame.end > event.ts]
        around = [frame for frame in reversed(open_frames) if frame.end >= event.end]
        yield event.position, min(around, key=lambda frame: frame.end, default=None)
        open_frames.append(event)


class Reference:
    """The whole trace, read with Python."""

    def __init__(self, raw_events):
        self.elements = len(raw_events)
        self.read = Counter()  # elements by (category, ph)
        self.events = defaultdict(list)
        for position, raw in enumerate(raw_events):
            if not isinstance(raw, dict):
                self.read[None, None] += 1
                continue
            category, phase = raw.get("cat"), raw.get("ph")
            self.read[category, phase] += 1
            kind = KIND.get(category)
            if kind == "cpu_op" and OPERATOR_MARK.match(str(raw.get("name"))):
                kind = "annotation_user"
            if category == "mtia_ccp_events" and raw.get("name") not in ("event_wait", "event_record"):
                kind = "memcpy" if raw.get("name") == "dma_request" else "kernel"
            if phase == "X" and kind:
                self.events[kind].append(Event(kind, raw, position))
        self.flows = sum(n for (_, phase), n in self.read.items() if phase in ("s", "t", "f"))
        self.runtime_by_correlation = defaultdict(list)
        for call in self.events["runtime_call"]:
            if call.correlation is not None:
                self.runtime_by_correlation[call.correlation].append(call)
        self.step_tracks = tracks(e for e in self.events["annotation_user"] if STEP_NAME.match(e.name or ""))
        self.gpu_step_tracks = tracks(e for e in self.events["annotation_gpu"] if STEP_NAME.match(e.name or ""))
        self.paths = {}
        self.parents = {}  # by track: parent by position

    @cached_property
    def op_by_external_id(self):
        return {op.external_id: op for op in self.events["cpu_op"] if op.external_id}

    @cached_property
    def op_tracks(self):
        return tracks(self.events["cpu_op"])

    @cached_property
    def python_tracks(self):
        return tracks(self.events["python_call"])

    @cached_property
    def python_by_id(self):
        return {call.python_id: call for call in self.events["python_call"] if call.python_id is not None}

    def python_path(self, call):
        """Names from the root to this call."""
        path = self.paths.get(call.position)
        if path is None:
            names = []
            at = call
            while at is not None:
                names.append(at.name)
                at = self.python_parent(at)
            path = self.paths[call.position] = tuple(reversed(names))
        return path

    def python_parent(self, call):
        """By time: of the frames that start before it and end no earlier, the one that ends first, and of those the last.
        Of frames with the same times the one its parent id names."""
        named = self.python_by_id.get(call.parent_id)
        if named is not None and named is not call and named.track == call.track and named.ts == call.ts:
            if named.end == call.end:
                return named
        if call.track not in self.parents:
            self.parents[call.track] = dict(parents_by_time(self.python_tracks[call.track].events))
        return self.parents[call.track][call.position]

    @staticmethod
    def first_to_end(track, time):
        """Of the frames open at a time the ones that end first, and of those the last to start."""
        found = []
        for i in range(bisect.bisect_right(track.starts, time) - 1, -1, -1):
            if track.latest_end[i] <= time:
                break
            event = track.events[i]
            if event.end <= time or found and (event.end, -event.ts) > (found[0].end, -found[0].ts):
                continue
            if found and (event.ts, event.end) != (found[0].ts, found[0].end):
                found = []
            found.append(event)
        return found

    def stack_paths(self, thread, time):
        """The possible stacks at a time: () if no frame is open; the deepest where calls coincide exactly."""
        track = self.python_tracks.get(thread)
        found = (track.innermost(time) if track.nests else self.first_to_end(track, time)) if track else []
        paths = [self.python_path(call) for call in found]
        deepest = max((len(path) for path in paths), default=0)
        return {path for path in paths if len(path) == deepest} or {()}

    def op_names(self, call):
        """Names and starts the operator of this runtime call may have: the one with its External id if that is open on
        its thread (some profilers write the correlation there, which names another operator), else by nesting."""
        op = self.op_by_external_id.get(call.external_id)
        if op is not None and op.track == call.track and op.ts <= call.ts < op.end:
            return {(op.name, op.ts)}
        track = self.op_tracks.get(call.track)
        return {(op.name, op.ts) for op in track.innermost(call.ts)} if track else set()

    def process_steps(self, launch):
        """Marks for the whole process around a launch, of its other threads."""
        return [event for (pid, tid), other in self.step_tracks.items() if (pid, tid) != launch.track
                and pid == launch.track[0] for event in other.innermost(launch.ts)
                if PROCESS_STEP_NAME.match(event.name)]

    def step_names(self, kernel, launch):
        """Names of the step a kernel belongs to: empty if none."""
        track = self.step_tracks.get(launch.track) if launch else None
        found = track.innermost(launch.ts) if track else []
        if not found and launch:
            found = self.process_steps(launch)
        if not found:
            track = self.gpu_step_tracks.get(kernel.track)
            found = track.innermost(kernel.ts) if track else []
        if not found and launch and "GraphLaunch" in launch.name:  # replayed from a thread outside the step's own
            found = [event for (pid, _), other in self.step_tracks.items() if pid == launch.track[0]
                     for event in other.innermost(launch.ts)]
        return {event.name for event in found}
