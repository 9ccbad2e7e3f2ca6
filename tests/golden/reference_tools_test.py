"""HolisticTraceAnalysis, the TensorBoard plugin and TraceLens of the real traces, figure by figure, against our reports and
index."""
import json

import reference_hta
import reference_tensorboard
import reference_tracelens
from reference_index import Index
from reference_reasons import compare_all, trace_of
from reference_tb_trees import forward_backward
from trace_cases import REFERENCE, json_of, read_bytes, read_trace


def first_event_us(trace):
    """Start of the first event of the file that has a duration."""
    text = read_bytes(trace).decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    at = text.index("[", text.index('"traceEvents"'))
    while True:
        event, at = decoder.raw_decode(text, text.index("{", at))
        if event.get("ph") == "X" and event.get("dur") is not None:
            return float(event["ts"])


def of_hta(reference, folder):
    trace = trace_of(reference.name)
    return reference_hta.Hta(Index(trace, folder), json_of(reference), first_event_us(trace)).figures()


def of_tensorboard(reference, folder):
    trace = trace_of(reference.name)
    flows = forward_backward(read_trace(trace)[0])
    return reference_tensorboard.TensorBoard(Index(trace, folder), json_of(reference), flows).figures()


def of_tracelens(reference, folder):
    index = Index(trace_of(reference.name), folder)
    return reference_tracelens.TraceLens(index, reference_tracelens.read(reference)).figures()


def main(cases, folder):
    for tool, files, figures in (("hta", "hta/*.json.gz", of_hta), ("tensorboard", "tensorboard/*.json.gz", of_tensorboard),
                                 ("tracelens", "tracelens_reports/*/", of_tracelens)):
        compare_all(cases, folder, tool, sorted(REFERENCE.glob(files)), figures)
