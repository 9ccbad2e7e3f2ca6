"""Runs one file of tests by its name in ctest, golden/steps_test.py as `python3 tests golden.steps [ARGUMENT...]`: what it says
in main(cases) is done, or skipped if that raises Skip. Exit codes: see support/trace_cases.py."""
import importlib
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
asked = sys.argv.pop(1) if len(sys.argv) > 1 else ""
folder, _, name = asked.partition(".")
if not (TESTS / folder / f"{name}_test.py").is_file():
    sys.exit(f"no test '{asked}'; golden.steps is golden/steps_test.py: python3 tests golden.steps [ARGUMENT...]")
sys.path[:0] = [str(TESTS / folder), str(TESTS / "support")]
from trace_cases import Cases, Skip  # noqa: E402

cases = Cases()
try:
    importlib.import_module(f"{name}_test").main(cases)
except Skip as reason:
    cases.skip(name, str(reason))
cases.finish()
