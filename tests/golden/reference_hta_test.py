"""HolisticTraceAnalysis of the real traces, figure by figure, against our reports and index."""
import json

from reference_hta import Hta, read
from reference_index import Index
from reference_reasons import compare_all, trace_of
from trace_cases import REFERENCE, read_bytes


def first_event_us(trace):
    """Start of the first event of the file that has a duration."""
    text = read_bytes(trace).decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    at = text.index("[", text.index('"traceEvents"'))
    while True:
        event, at = decoder.raw_decode(text, text.index("{", at))
        if event.get("ph") == "X" and event.get("dur") is not None:
            return float(event["ts"])


def figures(reference, folder):
    trace = trace_of(reference.name)
    return Hta(Index(trace, folder), read(reference), first_event_us(trace)).figures()


def main(cases):
    compare_all(cases, "hta", sorted((REFERENCE / "hta").glob("*.json.gz")), figures)
