"""Pages as `report` and `compare` make them, in a real browser: made traces, traces of hostile names, and real pairs where
there are some. Skipped where no Chromium is installed."""
from browser import CUT_TEXTS, Browser, missing_browser
from hostile_names import NAMES, events_of
from made_events import index_of
from report_page import comparison_page, report_page
from trace_cases import TRACES, Skip, equal, ingest, make_trace, require

MADE = (("a", "--seed", 5, "--layers", 8, "--mix", "P,D*8", "--steps", 36),
        ("b", "--seed", 6, "--layers", 8, "--mix", "P,D*8", "--steps", 27, "--fuse", "add+rmsnorm", "--vendor", "nvidia"))
PAIRS = (("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz"),)
BROKEN = """return [...document.querySelectorAll('svg *')].flatMap((e) => [...e.attributes])
    .filter((a) => /NaN|undefined|Infinity/.test(a.value)).map((a) => a.name + '=' + a.value)"""
HOVER_ALL = """document.querySelectorAll('svg').forEach((svg) => { [...svg.querySelectorAll('.marks > *')].slice(0, 100).forEach((mark, i) =>
    mark.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 50, clientY: 50, screenX: i + 1}))); })"""


def opens(browser, path, data):
    """Every picture is drawn, with numbers only, and nothing is said or asked for."""
    for width in (1280, 390):
        browser.resize(width, 800)
        browser.open(path)
        equal([entry["message"] for entry in browser.log("browser")], [], "console")
        equal(browser.requests(), [], "requests")
        equal(browser.run("return document.querySelectorAll('figure.picture svg').length"), len(data["pictures"]), "pictures")
        equal(browser.run("return [...document.querySelectorAll('figure.picture svg')].filter((s) => !s.querySelector('.marks > *')).length"),
              0, "pictures without marks")
        equal(browser.run(BROKEN), [], "attributes that are no numbers")
        require(browser.run("return document.documentElement.scrollWidth") <= width, f"wider than {width} px")
        equal(browser.run(CUT_TEXTS), [], f"texts that are cut off at {width} px")
        browser.run(HOVER_ALL)
        equal(browser.run("return [window.hit || 0, document.scripts.length, document.images.length]"), [0, 3, 0], "a name that ran")


def tells_at_first_sight(browser, path):
    """Headline, first reason and the account of time are on the first screen."""
    browser.resize(1280, 800)
    browser.open(path)
    ends = browser.run("""const end = (s) => document.querySelector(s).getBoundingClientRect().bottom;
        return [end('h1'), end('.reasons li'), end('.lead .marks > :nth-child(2)')]""")
    require(all(0 < end < 800 for end in ends), f"bottoms of headline, first reason and first cause: {ends}")


def tables_fit_or_tell(browser, path):
    """At 1400 px nothing of a table is out of view without a word."""
    browser.resize(1400, 900)
    browser.open(path)
    browser.settle()
    cut = browser.run("""return [...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth + 2
        && !/columns? (is|are) to the right/.test(s.closest('section').textContent)).map((s) => s.getAttribute('aria-label'))""")
    equal(cut, [], "tables that are cut off")
    unknown = browser.run("""return [...document.querySelectorAll('table.data')].flatMap((t) => [...t.tHead.rows[0].cells].filter((h, c) =>
        [...t.tBodies[0].rows].every((r) => r.cells[c].textContent === '-') && (!t.tFoot || [...t.tFoot.rows].every((r) => r.cells[c].textContent === '-')))
        .map((h) => h.textContent))""")
    equal(unknown, [], "columns of which nothing is known")


def prints_whole_tables(browser, path):
    """Tables become as wide as paper is, and again what they were."""
    browser.resize(718, 1000)
    browser.open(path)
    width = "return Math.max(...[...document.querySelectorAll('table.data')].map((t) => t.getBoundingClientRect().width))"
    before = browser.run(width)
    require(before > 718, f"no wide table to look at: {before}")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    require(browser.run(width) <= 700, f"wider than paper: {browser.run(width)}")
    browser.run("dispatchEvent(new Event('afterprint'))")
    equal(browser.run(width), before, "width after printing")


def check_pair(browser, folder, indexes):
    path = folder / "pair.html"
    _, data = comparison_page(*indexes, path)
    opens(browser, path, data)
    tells_at_first_sight(browser, path)
    tables_fit_or_tell(browser, path)
    prints_whole_tables(browser, path)


def check_trace(browser, folder, index):
    path = folder / "report.html"
    _, data = report_page(index, path)
    opens(browser, path, data)
    tables_fit_or_tell(browser, path)


def check_hostile(browser, folder):
    """Names that a browser would obey, and one of a million characters."""
    indexes = []
    for side in ("a", "b"):
        events = [event for number, name in enumerate((*NAMES, "long" + "x" * 1_000_000)) for event in events_of(number, name)]
        indexes.append(index_of(folder / f"hostile-{side}.json", events))
    check_trace(browser, folder, indexes[0])
    path = folder / "pair.html"
    opens(browser, path, comparison_page(*indexes, path)[1])


def main(cases, folder):
    lacking = missing_browser()
    if lacking:
        raise Skip(lacking)
    with Browser() as browser:
        made = [ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb") for name, *options in MADE]
        cases.run("made pair", check_pair, browser, folder, made)
        cases.run("made trace", check_trace, browser, folder, made[0])
        long = folder / f"{'a_file_of_a_long_name_' * 10}.tracedb"
        long.write_bytes(made[0].read_bytes())
        cases.run("a long name of a file", check_trace, browser, folder, long)
        cases.run("a pair of long names", check_pair, browser, folder, [long, made[1]])
        cases.run("hostile names", check_hostile, browser, folder)
        for names in PAIRS:
            paths = [TRACES / "kineto" / name for name in names]
            if not all(path.exists() for path in paths):
                cases.skip(f"pair {names[0]}", f"not in {TRACES}")
                continue
            indexes = [ingest(path, folder / f"{path.name}.tracedb") for path in paths]
            cases.run(f"pair {names[0]}", check_pair, browser, folder, indexes)
