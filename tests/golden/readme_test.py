"""Runs what the documentation says: the marked blocks of the manual and the examples of `trace-query schema`. A link
from one page of it to another must lead somewhere.

A block is marked by a line `<!-- executed -->` right above it; every other ```sh block says why it is not:
`<!-- no test: ... -->`. ```sh blocks run, in order, in one folder that holds the synthetic traces mi300x.json and h100.json;
commands after `$ ` in a block without a language must print what is shown below them. ```sql blocks run on the index of the
first trace, statement by statement, in Python's sqlite3 and in the stock sqlite3 shell, and must give the same rows, at
least one. The examples of the schema may give none: not every trace has collectives, or issues.
"""
import os
import re
import shutil
import sqlite3
import subprocess

from trace_cases import BIN, ROOT, Skip, equal, ingest, make_trace, open_index, require, run

BLOCK = re.compile(r"^<!-- executed -->\n```(sh|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r" in [0-9.]+ s \([0-9.]+ [MG]B/s\)")
LINK = re.compile(r"\]\(([^)#:]+)\)")
UNMARKED = re.compile(r"(?<! -->\n)^```(?:sh|sql)\n(.*)", re.MULTILINE)
MANUAL = tuple(f"src/manual/{path.name}" for path in sorted((ROOT / "src/manual").glob("*.md")))
FOR_USERS = ("README.md", *MANUAL, "tools/python/README.md", "schema/METRICS.md")
PAGES = (*FOR_USERS, "schema/README.md", "src/README.md", "tests/README.md", ".github/CONTRIBUTING.md")
MINIMUM_QUERIES = 10


def statements(text):
    """The SQL statements of a text, with the comments before them."""
    found, statement = [], ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement.strip())
            statement = ""
    require(not statement.strip() or not re.sub(r"--.*", "", statement).strip(), f"unfinished statement: {statement!r}")
    return found


def title(statement):
    return " ".join(statement.split())[:70]


def check_shell_block(text, folder):
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    result = subprocess.run(["sh", "-eu", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    require(result.returncode == 0, f"exit {result.returncode}: {result.stderr.strip()}")


def check_shown(text, folder):
    """What a page shows of its commands is what they print, but for times and rates."""
    shown = dict(re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", text, re.MULTILINE))
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "80"}
    for command, output in shown.items():
        result = subprocess.run(["sh", "-eu", "-c", f"{command} 2>&1"], cwd=folder, env=environment, capture_output=True,
                                text=True, timeout=120)
        equal(TIMES.sub("", result.stdout), TIMES.sub("", output), command)


def check_query(statement, index, least_rows):
    database = open_index(index)
    rows = database.execute(statement).fetchall()
    require(len(rows) >= least_rows, "no rows")
    if not shutil.which("sqlite3"):
        raise Skip("the sqlite3 shell is not installed")
    # One JSON object a line: names with separators or line breaks in them cannot confuse the count.
    shell = subprocess.run(["sqlite3", "-batch", "-bail", "-readonly", "-json", str(index)], input=statement,
                           capture_output=True, text=True, timeout=120)
    require(shell.returncode == 0 and not shell.stderr, f"sqlite3 shell: {shell.stderr.strip()}")
    equal(shell.stdout.count("\n{") + shell.stdout.startswith("[{"), len(rows), "rows of the sqlite3 shell")


def check_links(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    lost = [target for target in LINK.findall(text) if not (ROOT / page).parent.joinpath(target).exists()]
    require(not lost, f"leads nowhere: {', '.join(lost)}")


def check_page(cases, page, folder, index):
    """Runs the blocks of one page. Returns the number of its queries."""
    cases.run(f"{page}: links", check_links, page)
    text = (ROOT / page).read_text(encoding="utf-8")
    if page in FOR_USERS:
        cases.run(f"{page}: all blocks", equal, UNMARKED.findall(text), [], "neither executed nor marked as not")
    for number, shown in enumerate(SHOWN.findall(text) if page in FOR_USERS else (), 1):
        cases.run(f"{page} shown {number}", check_shown, shown, folder)
    queries = 0
    for number, (language, text) in enumerate(BLOCK.findall(text), 1):
        if language == "sh":
            cases.run(f"{page} block {number}", check_shell_block, text, folder)
            continue
        for statement in statements(text):
            queries += 1
            cases.run(f"{page} query: {title(statement)}", check_query, statement, index, 1)
    return queries


def main(cases, folder):
    trace = cases.run("amd trace", make_trace, folder / "mi300x.json", "--vendor", "amd")
    cases.run("nvidia trace", make_trace, folder / "h100.json", "--vendor", "nvidia")
    index = cases.run("index", ingest, trace, folder / "queries.tracedb") if trace else None
    if index:
        queries = 0
        for page in PAGES:
            queries += check_page(cases, page, folder, index)
        cases.run("the manual has ten queries", require, queries >= MINIMUM_QUERIES, f"only {queries}")
        examples = cases.run("schema --examples", run, "trace-query", "schema", "--examples")
        for statement in statements(examples.stdout) if examples else []:
            cases.run(f"example: {title(statement)}", check_query, statement, index, 0)
