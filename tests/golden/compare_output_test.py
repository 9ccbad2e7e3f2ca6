"""The page of compare, and all its sections, in all formats, on one pair of synthetic traces, against
tests/golden/compare/*.

`python3 tests golden.compare_output --update` writes what is printed now; look at the differences before they are committed."""
import sys
from pathlib import Path

from stored_texts import check_stored, store
from trace_cases import ingest, make_trace, run

EXPECTED = Path(__file__).resolve().parent / "compare"
FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown")
COMMON = ("--layers", 2, "--steps", 12, "--mix", "P,D*5", "--batch", 8, "--quantise", "off", "--qk-norm",
          "off", "--python-stacks", "off")
BASELINE = (*COMMON, "--vendor", "nvidia", "--seed", 5)
CANDIDATE = (*COMMON, "--vendor", "nvidia", "--seed", 6, "--fuse", "rope+kvcache,add+rmsnorm", "--insert", "sort@1",
             "--slow", "attention_decode@0=2")


def answers(folder):
    """{file name: text}; inputs by relative names, so that no folder shows."""
    for name, options in (("baseline", BASELINE), ("candidate", CANDIDATE)):
        ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb")
    inputs = ("baseline.tracedb", "candidate.tracedb")
    out = {}
    for form in FORMATS:
        text = run("trace-query", "compare", "-q", "--section", "all", "--format", form, "--phase", "decode", *inputs,
                   cwd=folder)
        out[f"all.{form}"] = text.stdout
    for form in FORMATS:
        gated = run("trace-query", "compare", "-q", "--gate", "5%", "--format", form, *inputs, cwd=folder, check=False)
        out[f"page.{form}"] = gated.stdout
    for by in ("role", "layer", "layer,op", "kernel"):
        text = run("trace-query", "compare", "-q", "--section", "ledger", "--by", by, *inputs, cwd=folder).stdout
        out[f"ledger_by_{by.replace(',', '_')}.table"] = text
    return out


def main(cases, folder):
    found = answers(folder)
    if "--update" in sys.argv[1:]:
        return store(EXPECTED, found)
    for name, text in found.items():
        cases.run(name, check_stored, EXPECTED / name, text)
