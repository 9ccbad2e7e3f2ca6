"""Traces that a test makes by hand: their events, and files of them."""
import json

from trace_cases import ingest


def event(cat, name, ts, dur, pid=1, tid=1, **args):
    """A slice of a thread."""
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur} | ({"args": args} if args else {})


def call(name, ts, dur, correlation, tid=1, **args):
    return event("cuda_runtime", name, ts, dur, 1, tid, correlation=correlation, **args)


def on_device(cat, name, ts, dur, stream=7, device=0, **args):
    return event(cat, name, ts, dur, device, stream, device=device, stream=stream, **args)


def kernel(name, ts, dur, stream=7, device=0, **args):
    return on_device("kernel", name, ts, dur, stream, device, **args)


def write_trace(path, events, **head):
    path.write_text(json.dumps({**head, "traceEvents": events}), encoding="utf-8")
    return path


def index_of(path, events, *options, **head):
    """The index of such a trace, beside it."""
    return ingest(write_trace(path, events, **head), path.with_suffix(".tracedb"), *options)
