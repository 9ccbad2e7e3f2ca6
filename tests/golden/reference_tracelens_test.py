"""TraceLens' reports of the real traces, figure by figure, against our reports and index."""
from reference_index import Index
from reference_reasons import compare_all, trace_of
from reference_tracelens import TraceLens, read
from trace_cases import REFERENCE



def figures(reference, folder):
    return TraceLens(Index(trace_of(reference.name), folder), read(reference)).figures()


def main(cases):
    compare_all(cases, "tracelens", sorted(path for path in (REFERENCE / "tracelens_reports").glob("*") if path.is_dir()), figures)
