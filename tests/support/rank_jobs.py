"""Shared by tests of `trace-query ranks`: jobs that make-trace makes, and the answer about them."""
import json

from trace_cases import as_json, require, run

CAUSES = {"compute": "compute", "host": "host", "copy": "copies"}
LAYERS = 3


def make(folder, name, options):
    job = folder / name
    run("make-trace", "job", "--layers", str(LAYERS), *options, job)
    return job, json.loads((folder / f"{name}.truth.json").read_text())["collectives"]


def ask(*arguments):
    document = as_json("ranks", *arguments)
    return {section["section"]: section["rows"] for section in document["sections"]} | {"notes": document["warnings"]}


def near(actual, expected, tolerance, what):
    require(abs(actual - expected) <= tolerance, f"{what}: got {actual}, expected {expected} within {tolerance}")
