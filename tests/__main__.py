"""Runs one file of tests by its name in ctest, golden/steps_test.py as `python3 tests golden.steps [ARGUMENT...]`: what it says
in main(cases, folder), of an empty folder that is removed afterwards, is done, or skipped if that raises Skip. Exit codes: see
support/trace_cases.py."""
import importlib
import os
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent
asked = sys.argv.pop(1) if len(sys.argv) > 1 else ""
folder, _, name = asked.partition(".")
if not (TESTS / folder / f"{name}_test.py").is_file():
    sys.exit(f"no test '{asked}'; golden.steps is golden/steps_test.py: python3 tests golden.steps [ARGUMENT...]")
sys.path[:0] = [str(TESTS / folder), str(TESTS / "support")]
from trace_cases import Cases, Skip  # noqa: E402

with tempfile.TemporaryDirectory(prefix="tracedb-test-", ignore_cleanup_errors=True) as scratch:
    os.chmod(scratch, 0o755)  # some programs run as another user
    cases = Cases(Path(scratch))
    try:
        importlib.import_module(f"{name}_test").main(cases, cases.folder)
    except Skip as reason:
        cases.skip(name, str(reason))
cases.finish()
