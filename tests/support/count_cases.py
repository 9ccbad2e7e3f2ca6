"""Adds up the test cases in a ctest results file (JUnit XML): count_cases.py RESULTS.xml

A test program that counts its own cases ends with doctest's summary or with trace_cases' "[cases] ..." line; any other
is one case. Failed programs and skipped cases are named with their reason. Exit 1 if anything failed.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

DOCTEST = re.compile(r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed(?: \|\s*(\d+) skipped)?")
CASES = re.compile(r"^\[cases\] (\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
COLOR = re.compile(r"\x1b\[[0-9;]*m|\[NON-XML-CHAR-0x1B\]\[[0-9;]*m")
SKIPPED = re.compile(r"^skipped (.+)$", re.MULTILINE)


def count(test):
    """(passed, failed, skipped, reasons for skipping) of one ctest test."""
    status = test.get("status")
    output = COLOR.sub("", test.findtext("system-out") or "")
    reasons = SKIPPED.findall(output)
    summaries = DOCTEST.findall(output) + CASES.findall(output)
    totals = [sum(int(summary[i] or 0) for summary in summaries) for i in range(3)]
    if status == "run":
        return (*totals, reasons) if summaries else (1, 0, 0, reasons)
    skip = test.find("skipped")
    if status == "disabled" or (skip is not None and "SKIP_" in skip.get("message", "")):
        return (*totals, reasons) if summaries else (0, 0, 1, reasons or ["no reason given"])
    # Failed, timed out, or could not be started at all.
    return totals[0], max(1, totals[1]), totals[2], reasons


def main(path):
    passed = failed = skipped = 0
    for test in ElementTree.parse(path).iter("testcase"):
        name = test.get("name")
        test_passed, test_failed, test_skipped, reasons = count(test)
        passed += test_passed
        failed += test_failed
        skipped += test_skipped
        if test_skipped:
            for reason in reasons:
                print(f"SKIPPED {name}: {reason}")
        if test_failed:
            print(f"FAILED {name}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
