"""Where the host was during the long gaps of real traces, worked out slowly from the JSON of the trace: the thread by the
launch of what ended the gap, the innermost frame of somebody's own code, operator and runtime call by plain sweeps."""
import bisect
import re
import sys
from collections import Counter

from kineto_reference import Reference, tracks
from trace_cases import TRACES, equal, ingest, read_trace, require, rows, skip_without_traces
from trace_cases import skip_without_traces

LEAST = 200_000  # ns
NAMES = ("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz", "qwen15_05b_hf_mi300x.json.gz",
         "bert_small_hf_h100.json.gz", "timesformer_hf_h100.json.gz", "old_resnet50_workers0_v100.json.gz")
LIBRARIES = {"torch", "triton", "numpy", "tqdm", "PIL", "torch_guard"}
GENERATED = ("<", "/torch_compile_cache/", "/torchinductor")
FRAME = re.compile(r"(.*?)\(\d+\): ")


def origin(frame):
    """own, library or None of a frame."""
    match = FRAME.match(frame)
    if not match:
        return None
    file = match[1]
    if file.startswith("<frozen"):
        return "library"
    if any(file.startswith(text) or (text != "<" and text in file) for text in GENERATED):
        return None
    package = file.split("/")[0].removesuffix(".py")
    return "library" if package in LIBRARIES or package in sys.stdlib_module_names else "own"


def python_place(open_events):
    for wanted in ("own", "library"):
        for event in reversed(open_events):
            if origin(event.name) == wanted:
                return event.name
    return None


def innermost(open_events):
    return open_events[-1].name if open_events else None


def outermost(open_events):
    return open_events[0].name if open_events else None


def times(track, begin, end, place_of):
    """({place: ns}, events that start there while some place is open)."""
    out, started = Counter(), 0
    if track is None:
        return out, started
    last = bisect.bisect_left(track.starts, end)
    events = [event for event in track.events[:last] if event.end > begin or event.ts >= begin]
    marks = sorted({begin, end, *(t for event in events for t in (event.ts, event.end) if begin < t < end)})
    for left, right in zip(marks, marks[1:]):
        place = place_of([event for event in events if event.ts <= left and event.end > left])
        if place is not None:
            out[place] += right - left
    for event in events:
        if event.ts >= begin:
            around = [other for other in events if other.ts <= event.ts and (other.end > event.ts or other is event)]
            started += place_of(around[:around.index(event) + 1]) is not None
    return out, started


def gaps_of(reference, raw):
    """(begin, end, event that ended it), of every device."""
    device = {}
    for position, event in enumerate(raw):
        if isinstance(event, dict) and isinstance(event.get("args"), dict):
            device[position] = event["args"].get("device")
    work = [event for kind in ("kernel", "memcpy", "memset") for event in reference.events[kind] if event.dur]
    free = {}
    # Kernels before copies that start with them, as in the index.
    for event in sorted(work, key=lambda one: (one.ts, one.kind != "kernel", one.position)):
        own = device[event.position]
        if own in free and event.ts > free[own]:
            yield free[own], event.ts, event
        free[own] = max(free.get(own, 0), event.end)


def largest(places):
    return max(places.values(), default=0)


def check_gap(row, reference, gap):
    begin, end, after = gap
    calls = reference.runtime_by_correlation.get(after.correlation, [])
    require(len(calls) == 1, "a gap of this length ends with work that was launched once")
    thread = calls[0].track
    python, started = times(reference.python_tracks.get(thread), begin, end, python_place)
    operators, _ = times(reference.op_tracks.get(thread), begin, end, innermost)
    runtime, _ = times(reference.runtime_tracks.get(thread), begin, end, innermost)
    equal(row["python_calls"], started if thread in reference.python_tracks else None, "python calls")
    for places, name, share in ((operators, "host_op", "host_op_pct"), (runtime, "host_call", "host_call_pct")):
        if not places:
            equal(row[name], None, name)
            continue
        equal(places[row[name]], largest(places), name)
        require(abs(row[share] - 100 * largest(places) / (end - begin)) < 1e-6, share)
    if 2 * sum(python.values()) >= end - begin:
        equal(python[row["host"]], largest(python), f"host: {row['host']}, {python.most_common(2)}")
        require(abs(row["host_pct"] - 100 * largest(python) / (end - begin)) < 1e-6, "share of the host")
        return
    around, _ = times(reference.op_tracks.get(thread), begin, end, outermost)
    if 2 * sum(around.values()) >= end - begin:  # the outermost operator covers the gap, inner ones are details
        equal(around[row["host"]], largest(around), f"host: {row['host']}, {around.most_common(2)}")


def check_trace(folder, trace):
    raw, _ = read_trace(trace)
    reference = Reference(raw)
    reference.runtime_tracks = tracks(reference.events["runtime_call"])
    index = ingest(trace, folder / "index.tracedb")
    gaps = sorted((begin, end, after) for begin, end, after in gaps_of(reference, raw) if end - begin >= LEAST)
    require(gaps, "no long gaps")
    found = sorted((row for row in rows("gaps", index, "--each", "--min-dur", f"{LEAST}ns") if row["next"] != "[others]"),
                   key=lambda row: row["ts"])
    base = gaps[0][0] - found[0]["ts"]  # times of an index count from its first event
    equal([(row["ts"] + base, row["dur"]) for row in found], [(begin, end - begin) for begin, end, _ in gaps], "long gaps")
    for row, gap in zip(found, gaps):
        check_gap(row, reference, gap)
    groups = [row for row in rows("gaps", index, "--min-dur", f"{LEAST}ns") if row["next"] != "[shorter gaps]"]
    equal(sum(row["instances"] for row in groups), len(gaps), "gaps of all groups")
    if trace.name == NAMES[0]:
        check_forward(groups[0], [(row, gap) for row, gap in zip(found, gaps)], reference)


def check_forward(group, gaps, reference):
    """The gaps before graph launches: nearly all of their time in one function, which looks some thousand names up."""
    equal(group["host"], "vllm/model_executor/models/llama.py(374): forward", "host")
    equal((group["cause"], group["launch_cause"]), ("[between steps]", "host_wait"), "cause")
    own = [(row, gap) for row, gap in gaps
           if all(row[name] == group[name] for name in ("cause", "launch_cause", "before", "next", "host"))]
    equal(group["instances"], len(own), "gaps of the group")
    for name in ("dur", "python_calls"):
        equal(group[name], sum(row[name] for row, _ in own), name)
    require(group["host_pct"] > 98 and group["instances"] >= 8, str(group))
    lookups = sum(1 for call in reference.events["python_call"] if "__getitem__ of dict" in call.name
                  and any(begin <= call.ts < end for _, (begin, end, _) in own))
    require(10_000 < lookups <= group["python_calls"], f"{lookups} look-ups of {group['python_calls']} calls")


def main(cases, _):
    if not skip_without_traces(cases, TRACES / "kineto"):
        for name in NAMES:
            cases.run_apart(name, check_trace, TRACES / "kineto" / name)
