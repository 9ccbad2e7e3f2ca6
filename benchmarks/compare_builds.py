"""Compares what two builds print: every report of every index, as text at 80, 120 and 160 columns, CSV and JSON, and pages.

python3 benchmarks/compare_builds.py BEFORE AFTER INDEX|FOLDER... [--every N]

BEFORE and AFTER are folders with trace-query. Which commands there are, `trace-query schema` of AFTER says. A difference in
standard output, standard error or exit status is shown with its first lines; exit 1 where there is any. The last line also
says how many questions both builds refuse alike: those compare errors, not reports.
"""
import argparse
import concurrent.futures
import difflib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FORMS = [(["--table"], 80), (["--table"], 120), (["--table"], 160), (["--csv"], 80), (["--json"], 80)]


def say(build, words, columns):
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        words = [str(page) if word == "PAGE" else word for word in words]
        done = subprocess.run([Path(build) / "trace-query", *words], capture_output=True, check=False,
                              env={**os.environ, "COLUMNS": str(columns)})
        text = (done.stdout + done.stderr).decode(errors="replace").replace(folder, "")
        return done.returncode, text, page.read_text() if page.exists() else ""


def reports(build):
    """The words of each command with a report of one index."""
    rows = json.loads(subprocess.run([Path(build) / "trace-query", "schema", "--json"], check=True, capture_output=True).stdout)["rows"]
    names = {row["object"].removeprefix("report ").replace("rules_show", "rules show") for row in rows if row["type"] == "report"}
    return [name.split() for name in sorted(names)]


def questions(build, indexes):
    for index, words in itertools.product(indexes, reports(build)):
        for form, columns in FORMS:
            yield [*words, *form, *([] if words[0] in ("ls", "rules", "verify") else ["--no-ingest"]), index], columns
    for index in indexes:
        yield ["report", "--no-ingest", index, "-o", "PAGE"], 80
    for pair in zip(indexes, indexes[1:]):
        for form, columns in FORMS:
            yield ["compare", *form, "--no-ingest", *pair], columns
        yield ["compare", "--no-ingest", *pair, "-o", "PAGE"], 80


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("inputs", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="only every Nth question")
    chosen = parser.parse_args()
    indexes = [str(file) for given in chosen.inputs
               for file in (sorted(given.rglob("*.tracedb")) if given.is_dir() else [given])]
    missing = [path for path in (Path(chosen.before, "trace-query"), Path(chosen.after, "trace-query"), *map(Path, indexes))
               if not path.is_file()]
    if missing or not indexes:
        parser.error(f"{missing[0]}: there is no such file" if missing else "no index (*.tracedb) is in the folders given")
    asked = list(questions(chosen.after, indexes))[::chosen.every]
    differ = refused = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        both = pool.map(lambda one: (say(chosen.before, *one), say(chosen.after, *one)), asked)
        for (words, columns), (old, new) in zip(asked, both):
            if old == new:
                refused += old[0] != 0
                continue
            differ += 1
            print(f"COLUMNS={columns} trace-query {' '.join(words)}: exit {old[0]} and {new[0]}")
            lines = difflib.unified_diff((old[1] + old[2]).splitlines(), (new[1] + new[2]).splitlines(), "before", "after", "", "", 0)
            print("\n".join(line[:200] for line in itertools.islice(lines, 8)), flush=True)
    print(f"{len(asked)} questions of {len(indexes)} indexes, {differ} answered otherwise, {refused} refused by both")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
