"""Names made to harm whoever reads them, in every place of a trace that gives a name: no report, in no format, hands on a
byte that a terminal obeys, a cell that a spreadsheet computes, a mark of HTML or a second row; and SQL that a name looks
like is not run."""
import csv
import io
import itertools
import json
import re
import sys
from pathlib import Path

csv.field_size_limit(1 << 30)
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile_names import NAMES, events_of
from made_events import event, index_of, write_trace
from recipes import all_recipes
from report_page import comparison_page, report_page
from trace_cases import equal, ingest, open_index, report_commands, require, run

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
FORMULA = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?( ?[a-zA-Zµ%/]+)*$")
MARKUP = re.compile(r"<(script|img|b)\b", re.I)
LINK = re.compile(r"(?<!\\)\]\(")
FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown")
MORE = (("timeline", "--per-stream"), ("stacks", "--modules"), ("stacks", "--by", "line"), ("stacks", "--view", "callers"))
VIEWS = ("kernels", "kernel_stats", "launches", "memcpys", "cpu_ops", "python_calls", "stacks", "collectives", "trace_info",
         "steps", "string", "stream", "process", "thread", "device")


def hostile_trace(path):
    """All names; with steps around them, and a second round so that sequences repeat."""
    rounds = [NAMES, NAMES]
    events = [row for number, name in enumerate(itertools.chain(*rounds)) for row in events_of(number, name)]
    events += [event("user_annotation", f"ProfilerStep#{step}", 1000 * len(NAMES) * step, 1000 * len(NAMES) - 50, 1, 99)
               for step in range(2)]
    events.append(event(NAMES[2], NAMES[4], 5, 1, "=1", NAMES[1]))
    top = {"traceName": NAMES[1], "deviceProperties": [{"id": 0, "name": NAMES[2]}, {"id": 1, "name": NAMES[4]}],
           "distributedInfo": {"backend": NAMES[4], "rank": 0, "world_size": 2,
                               "pg_config": [{"pg_name": NAMES[5], "pg_desc": NAMES[2], "ranks": [0, 1]}]},
           NAMES[5]: NAMES[6]}
    return write_trace(path, events, **top)


def harmless(text, what):
    found = OBEYED.search(text)
    require(found is None, f"{what}: obeyed {found and ascii(text[max(0, found.start() - 40):found.end() + 20])}")


def no_formulas(text, delimiter, what):
    for row in csv.reader(io.StringIO(text), delimiter=delimiter,
                          quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL):
        for cell in row:
            require(not FORMULA.match(cell) or NUMBER.match(cell), f"{what}: a formula: {cell[:60]!r}")


def check_format(form, text, what):
    if form in ("json", "jsonl"):
        documents = [json.loads(text)] if form == "json" else [json.loads(line) for line in text.splitlines()]
        require(documents or form == "jsonl", what)
        harmless(text.replace("\n", ""), what)
        return
    harmless(text.replace("\t", "") if form == "tsv" else text.replace("\r\n", "\n"), what)
    if form == "csv":
        no_formulas(text, ",", what)
    elif form == "tsv":
        no_formulas(text, "\t", what)
    elif form == "markdown":
        require(not MARKUP.search(text), f"{what}: markup: {MARKUP.search(text) and text[MARKUP.search(text).start():][:60]!r}")
        require(not LINK.search(text), f"{what}: a link")


def ask(words, form, **options):
    result = run("trace-query", words[0], "-q", "--format", form, *words[1:], check=False, **options)
    what = f"{' '.join(map(str, words))[:120]} --format {form}"
    require(result.returncode == 0, f"{what}: exit {result.returncode}: {result.stderr[:300]}")
    check_format(form, result.stdout, what)
    harmless(result.stderr.replace("\n", ""), what)
    return result.stdout


def check_report(index, words):
    """All formats; those that are tables of records have as many as the JSON has rows."""
    limit = [] if words[0] in ("info", "verify") else ["--limit", 0]
    texts = {form: ask([*words, *limit, index], form) for form in FORMATS}
    rows = json.loads(texts["json"])["rows"]
    if limit:
        equal(len(list(csv.reader(io.StringIO(texts["csv"])))) - 1, len(rows), f"{words}: records of CSV, rows of JSON")
        equal(len(texts["tsv"].splitlines()) - 1, len(rows), f"{words}: lines of TSV, rows of JSON")


def check_sql(index, sql):
    for form in FORMATS:
        ask(["sql", "--limit", 0, "-f", "-", index], form, input=sql)


def check_long(folder):
    """A name of a million characters costs a line of its width, and is whole where programs read it; every report takes one
    of a tenth of it, which is in some tables often."""
    name = "long<" + "x" * 1_000_000
    index, tenth = (index_of(folder / f"long.{len(own)}.json", list(events_of(0, own))) for own in (name, name[:100_000]))
    for words in [*report_commands(), *MORE]:
        ask([*words, tenth], "table")
    widths = [len(line) for line in ask(["kernels", "--width", 100, index], "table").splitlines()]
    require(max(widths) <= 100, f"lines of {max(widths)}")
    stored = json.loads(ask(["sql", index, "SELECT name FROM kernel_stats"], "json"))["rows"]
    require(name in [row["name"] for row in stored], "the whole name")
    check_sql(index, all_recipes())
    check_pages(folder, index, index)


def check_compare(index, other):
    for words in (("compare", index, other), ("compare", other, index), ("align", index, other), ("fusion", index, other),
                  ("compare", "--section", "all", index, other)):
        for form in FORMATS:
            ask(list(words), form)


def check_pages(folder, index, other):
    """Of HTML, which is checked as all pages are."""
    report_page(index, folder / "report.html")
    comparison_page(index, other, folder / "pair.html")


def check_stored(index):
    """What was not NUL or broken text is stored as it was: neutralised where it is shown, not before."""
    stored = {name for (name,) in open_index(index).execute("SELECT name FROM kernel_name")}
    missing = [name[:40] for name in NAMES if "\0" not in name and name not in stored]
    equal(missing, [], "names that were changed")
    require(open_index(index).execute("SELECT count(*) FROM kernel").fetchone()[0] == 4 * len(NAMES), "kernels")


def check_selections(index):
    """Names as values of options and parameters are values."""
    for name in NAMES[:-1]:
        if "\0" in name:
            continue
        for words in (("kernels", f"--name={name}", index), ("sql", "--param", f"x={name}", index,
                                                             "SELECT count(*) AS n FROM kernels WHERE name = :x")):
            result = run("trace-query", *words, "-q", "--json", code=(0, 2))
            harmless(result.stdout.replace("\n", "") + result.stderr, f"{words}")
        found = json.loads(result.stdout)["rows"][0]["n"]
        require(found == 2, f"kernels named {name!r}: {found}")


def main(cases, folder):
    index = ingest(hostile_trace(folder / "hostile.json"), folder / "hostile.tracedb")
    other = ingest(hostile_trace(folder / "other.json"), folder / "other.tracedb")
    cases.run("stored", check_stored, index)
    for words in [*report_commands(), *MORE]:
        cases.run(" ".join(words), check_report, index, words)
    for view in VIEWS:
        cases.run(f"sql {view}", check_sql, index, f"SELECT * FROM {view}")
    cases.run("recipes", check_sql, index, all_recipes())
    cases.run("a million characters", check_long, folder)
    cases.run("compare", check_compare, index, other)
    cases.run("pages", check_pages, folder, index, other)
    cases.run("selections", check_selections, index)
