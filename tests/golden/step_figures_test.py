"""`steps`, `phases` and `layers` of real traces against a reckoning from the JSON: kernels by the annotation around their
launch, layers by the modules in the python stack at their launch."""
import json
import re
import sys
from collections import defaultdict

from report_oracle import ReportOracle, middle
from time_oracle import length, union
from trace_cases import (ROOT, TRACES, Skip, equal, ingest, kineto_traces, make_trace, open_index, read_trace, require,
                         rows, run, scratch_folder, skip_without_traces)

# Traces whose layers are modules of one kind, one after the other.
LAYER_MODULES = {"qwen15_05b_hf": "Qwen2DecoderLayer", "bert_small_hf": "BertLayer", "timesformer_hf": "TimesformerLayer",
                 "qwen3_8b_sglang_prefill": "Qwen3DecoderLayer"}


class Steps:
    """The step marks of threads, and the device events launched inside each."""

    def __init__(self, oracle):
        self.marks = sorted((mark for track in oracle.reference.step_tracks.values() for mark in track.events),
                            key=lambda mark: (mark.ts, -mark.end, mark.position))
        if not self.marks:
            raise Skip("no thread has step marks")
        for i, mark in enumerate(self.marks):
            if any(other.ts < mark.end for other in self.marks[i + 1:]):
                raise Skip("step marks inside or beside each other: which count is not for this check to say")
        self.events = defaultdict(list)
        self.rest = []
        for event in oracle.events:
            mark = self.mark_of(oracle, event)
            (self.events[mark.position] if mark else self.rest).append(event)

    @staticmethod
    def mark_of(oracle, event):
        reference = oracle.reference
        call = oracle.call_events.get(event.launch)
        track = reference.step_tracks.get(call.track) if call else None
        found = track.innermost(call.ts) if track else []
        if not found and call:
            found = reference.process_steps(call)
        if not found and call and "GraphLaunch" in call.name:  # replayed from a thread outside the step's own
            found = [mark for (pid, _), other in reference.step_tracks.items() if pid == call.track[0]
                     for mark in other.innermost(call.ts)]
        if not found and reference.gpu_step_tracks:
            raise Skip("device annotations name steps too")
        return found[0] if found else None


def figures(events):
    kernels = [event for event in events if event.is_kernel]
    devices = defaultdict(list)
    for event in events:
        devices[event.device].append((event.ts, event.end))
    return {"kernels": len(kernels), "total_time": sum(kernel.dur for kernel in kernels),
            "gpu_span": max((max(end for _, end in own) - min(ts for ts, _ in own) for own in devices.values()),
                            default=None),
            "gpu_busy": max((length(union(own)) for own in devices.values()), default=None)}


def device_periods(steps):
    """Of each mark: from its first event on a device that runs its kernels to that of the next mark of its thread there."""
    out, latest, before = [None] * len(steps.marks), {}, {}
    for place, mark in enumerate(steps.marks):
        previous = before.get(mark.track)
        before[mark.track] = place
        events = steps.events[mark.position]
        for device in {event.device for event in events if event.is_kernel}:
            first = min(event.ts for event in events if event.device == device)
            earlier = latest.get(device)
            latest[device] = (place, first)
            if earlier and earlier[0] == previous and first > earlier[1]:
                out[previous] = max(out[previous] or 0, first - earlier[1])
    return out


def check_steps(index, oracle):
    steps = Steps(oracle)
    found = [row for row in rows("steps", index) if row["step"] is not None]
    equal([row["name"] for row in found], [mark.name for mark in steps.marks], "names of steps")
    for row, mark in zip(found, steps.marks):
        events = steps.events[mark.position]
        expected = figures(events)
        expected["host"] = mark.dur
        expected["launch_lag"] = min(event.ts for event in events) - mark.ts if events else None
        equal({key: row[key] for key in expected}, expected, mark.name)
    by_track = defaultdict(list)
    for row, mark in zip(found, steps.marks):
        by_track[mark.track].append((row, mark))
    for own in by_track.values():
        periods = [after.ts - before.ts for (_, before), (_, after) in zip(own, own[1:])]
        equal([row["host_period"] for row, _ in own], [*periods, None], "periods of the host")
    for row, period in zip(found, device_periods(steps)):
        if row["period_on"] != "host":
            equal(row["period"], period, f"{row['name']}: period")
    check_phases(index, found, steps)


def check_phases(index, found, steps):
    phases = {row["phase"]: row for row in rows("phases", index)}
    groups = defaultdict(list)
    for row, mark in zip(found, steps.marks):
        groups[row["phase"]].append((row, steps.events[mark.position]))
    for phase, own in groups.items():
        kernels = [event for _, events in own for event in events if event.is_kernel]
        actual = phases[phase]
        equal((actual["steps"], actual["instances"], actual["total_time"]),
              (len(own), len(kernels), sum(kernel.dur for kernel in kernels)), phase)
        for key in ("gpu_span", "host", "launch_lag"):
            values = [row[key] for row, _ in own if row[key] is not None]
            equal(actual[key], middle(values) if values else None, f"{key} of {phase}")
    outside = [event for event in steps.rest if event.is_kernel]
    rest = [phases[name] for name in ("[no step]", "[launched before the recording]") if name in phases]
    equal((sum(row["instances"] for row in rest), sum(row["total_time"] for row in rest)),
          (len(outside), sum(kernel.dur for kernel in outside)), "kernels in no step")


def check_layers(index, oracle, module):
    prefix = f"nn.Module: {module}_"
    layers = {}
    for kernel in oracle.kernels():
        inside = next((frame for frame in oracle.stack(kernel) if frame.startswith(prefix)), None)
        if inside:
            count, total = layers.get(inside, (0, 0))
            layers[inside] = (count + 1, total + kernel.dur)
    require(len(layers) > 1, f"no modules {module}")
    found = [(row["instances"], row["total_time"]) for row in rows("layers", index) if row["layer"].isdigit()]
    equal(found, list(layers.values()), "kernels and time of each layer, in the order in which they run")


def check_two_devices(folder):
    """Busy of `phases` is of kernels, added up over devices; that of `steps` is of copies, too, on the busiest device."""
    path = folder / "two.json"

    def event(category, device, ts, dur, correlation):
        return {"ph": "X", "cat": category, "name": f"{category} {device}", "pid": device, "tid": 7, "ts": ts, "dur": dur,
                "args": {"device": device, "stream": 7, "correlation": correlation}}

    calls = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": i, "dur": 1,
              "args": {"correlation": i}} for i in (1, 2, 3)]
    mark = {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9, "tid": 9, "ts": 0, "dur": 9, "args": {}}
    path.write_text(json.dumps({"traceEvents": [mark, *calls, event("kernel", 0, 10, 10, 1), event("kernel", 1, 15, 20, 2),
                                                event("gpu_memcpy", 0, 20, 30, 3)]}))
    index = ingest(path, folder / "two.tracedb")
    phase, = rows("phases", index)
    step, = rows("steps", index)
    equal((phase["busy"], phase["gpu_span"], phase["total_time"]), (30000, 40000, 30000), "phases")
    equal((step["gpu_busy"], step["gpu_span"], step["total_time"]), (40000, 40000, 30000), "steps")
    head = run("trace-query", "phases", "-q", "--wide", index).stdout
    require("Kernel Busy" in head and "GPU Busy" in run("trace-query", "steps", "-q", "--wide", index).stdout, head)
    for name in ("schema/METRICS.md", "src/manual/glossary.md"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        require(re.search(r"[Kk]ernel [Bb]usy \(`phases`\):[^|]* kernel[^|]* added up over devices", text), f"{name} does not tell them apart")


def check_trace(cases, name, trace, folder):
    index = cases.run(f"{name} ingest", ingest, trace, folder / "index.tracedb")
    if index is None:
        return
    database = open_index(index)
    oracle = cases.run(f"{name} reading", ReportOracle, read_trace(trace)[0], database)
    if oracle is not None:
        cases.run(f"{name} steps", check_steps, index, oracle)
        for part, module in LAYER_MODULES.items():
            if name.startswith(part):
                cases.run(f"{name} layers", check_layers, index, oracle, module)
    database.close()


def main(cases):
    only = sys.argv[1:]
    with scratch_folder() as folder:
        cases.run("two devices", check_two_devices, folder)
    for vendor in ("amd", "nvidia"):
        with scratch_folder() as folder:
            trace = make_trace(folder / "trace.json", "--vendor", vendor, "--layers", 3, "--steps", 6, "--streams", 3)
            check_trace(cases, vendor, trace, folder)
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            if not only or any(part in trace.name for part in only):
                with scratch_folder() as folder:
                    check_trace(cases, trace.name, trace, folder)
