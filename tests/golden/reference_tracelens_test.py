"""TraceLens' reports of the real traces, figure by figure, against our reports and index."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from reference_index import Index  # noqa: E402
from reference_reasons import compare_all, trace_of  # noqa: E402
from reference_tracelens import TraceLens, read  # noqa: E402
from trace_cases import REFERENCE  # noqa: E402



def figures(reference, folder):
    return TraceLens(Index(trace_of(reference.name), folder), read(reference)).figures()


if __name__ == "__main__":
    compare_all("tracelens", sorted(path for path in (REFERENCE / "tracelens_reports").glob("*") if path.is_dir()), figures)
