"""What the Chrome trace-event format asks of a file, checked on exported windows: phases, numbers, names of tracks, slices
of a track that lie beside or inside each other, flows that begin inside a slice and end at the start of one."""
from collections import defaultdict
from decimal import Decimal

from trace_cases import equal, read_trace, require

PHASES = set("XMsfiC")
METADATA = {"process_name": "name", "process_labels": "labels", "process_sort_index": "sort_index", "thread_name": "name",
            "thread_sort_index": "sort_index"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "tracedb"}


def ns(event, key="ts"):
    scaled = Decimal(event[key]) * 1000
    equal(scaled, scaled.to_integral_value(), f"{key} of {event['name'][:60]} in ns")
    return int(scaled)


def track(event):
    return event["pid"], event["tid"]


def check_shape(event):
    require(event["ph"] in PHASES, f"phase {event['ph']}")
    for key in ("pid", "tid"):
        require(isinstance(event[key], int) and not isinstance(event[key], bool), f"{key} {event[key]!r}")
    require(isinstance(event["name"], str), f"name {event['name']!r}")
    if event["ph"] == "M":
        equal(list(event["args"]), [METADATA[event["name"]]], "arguments of metadata")
        return
    require(ns(event) >= 0, f"{event['name']} begins before the file")
    if event["ph"] == "X" and "dur" in event:
        require(ns(event, "dur") >= 0, f"{event['name']} has a negative length")


def check_nesting(slices):
    """Slices of one track."""
    open_ends = []
    for begin, end, name in sorted(slices, key=lambda slice_: (slice_[0], -slice_[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        require(not open_ends or end <= open_ends[-1], f"{name} at {begin} ends behind what is around it")
        open_ends.append(end)


def check_flows(events, tracks):
    begins = {}
    for event in events:
        if event["ph"] == "s":
            require(event["id"] not in begins, f"flow {event['id']} begins twice")
            begins[event["id"]] = event
            around = any(begin <= ns(event) <= end for begin, end, _ in tracks[track(event)])
            require(around, f"flow {event['id']} begins in no slice")
    for event in events:
        if event["ph"] != "f":
            continue
        equal(event["bp"], "e", "binding point of a flow")
        require(event["id"] in begins, f"flow {event['id']} never begins")
        require(any(begin == ns(event) for begin, _, _ in tracks[track(event)]), f"flow {event['id']} ends at no slice")


def checked_events(path):
    """The events of a file that keeps to the format."""
    events, document = read_trace(path)
    require(isinstance(document.get("displayTimeUnit", "ns"), str), "displayTimeUnit")
    tracks, on_device, named = defaultdict(list), defaultdict(list), defaultdict(set)
    for event in events:
        check_shape(event)
        if event["ph"] == "M":
            named[event["name"]].add(event["pid"] if event["name"].startswith("process") else track(event))
        elif event["ph"] == "X":
            slice_ = (ns(event), ns(event) + ns(event, "dur") if "dur" in event else ns(event), event["name"][:60])
            tracks[track(event)].append(slice_)
            if event["cat"] in DEVICE:
                on_device[track(event)].append(slice_)
    for slices in on_device.values():
        check_nesting(slices)
    processes = {pid for pid, _ in tracks}
    equal(processes - named["process_name"], set(), "processes without a name")
    equal(processes - named["process_sort_index"], set(), "processes without an order")
    equal(set(on_device) - named["thread_name"], set(), "tracks of a device without a name")
    check_flows(events, tracks)
    return events
