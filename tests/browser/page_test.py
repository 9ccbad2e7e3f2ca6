"""The report page in a real browser: what it draws, says and does. A page with a picture of every kind is made from src/web
and invented figures. Skipped where no Chromium is installed; TRACEDB_AXE names the file axe.min.js of axe-core."""
import os
import re
from pathlib import Path

from browser import CUT_TEXTS, Browser, missing_browser
from page_sample import CLASSES, D3, WEB, of_one_trace, page_text, sample_data, sample_tables
from trace_cases import Skip, equal, require

HOSTILE = ("<script>window.hit = 1</script>", "<img src=x onerror=window.hit=1>", "<svg onload=window.hit=1>", "</script><script>window.hit=1</script>",
           "\u202eevil\u2066", "\x1b[31mred", "javascript:window.hit=1", "{{data}}", "${window.hit=1}", "&lt;b&gt;", "\u2028line", "nul\x00",
           '"quoted" onload="window.hit=1', "__proto__", "constructor", "", "x" * 100_000)  # a page has no longer names: report_page shortens them
MARKS = "return [...document.querySelectorAll('figure[data-kind=\"' + arguments[0] + '\"] .marks > ' + (arguments[1] || '*'))].length"


def plain_name(number):
    return f"void ns::kernel_{number}<float, {number}>(float*)"


def write_page(folder, name, data, tables):
    path = folder / name
    path.write_text(page_text(data, tables), encoding="utf-8", errors="surrogatepass")
    return path


def quiet(browser):
    """Nothing was written to the console and nothing asked for."""
    equal([entry["message"] for entry in browser.log("browser")], [], "console")
    equal(browser.requests(), [], "requests")


def opens_quietly(browser, page, width):
    browser.resize(width, 800)
    browser.open(page)
    quiet(browser)
    wide = browser.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    equal(wide, [width, width], "the page scrolls down only")
    outside = browser.run("return [...document.querySelectorAll('.drawing svg')].filter(s => s.getBoundingClientRect().right > innerWidth + 1).length")
    equal(outside, 0, "pictures wider than the screen")
    equal(browser.run(CUT_TEXTS), [], "texts that are cut off")


def draws_the_data(browser, page, data, width):
    """As many marks as there are things to draw, at any width."""
    browser.resize(width, 800)
    browser.open(page)
    pictures = {picture["kind"]: picture for picture in data["pictures"]}
    equal(browser.run("return document.querySelectorAll('figure.picture svg').length"), len(pictures), "pictures")
    expected = {"waterfall": len(pictures["waterfall"]["rows"]) + 2,
                "operations": sum((row[2] > 0) + (row[3] > 0) for row in pictures["operations"]["rows"]),
                "layers": 3 * 32 * (len(CLASSES) + 1),
                "lanes": sum(len(side["kernels"]) for side in pictures["lanes"]["sides"]) + sum(bool(link["a"] and link["b"]) for link in pictures["lanes"]["links"]),
                "timeline": sum(len(pictures["timeline"][part]) for part in ("events", "idle", "frames", "merged")),
                "roofline": len(pictures["roofline"]["points"]),
                "ranks": sum(map(len, pictures["ranks"]["ns"]))}
    equal({kind: browser.run(MARKS, kind) for kind in expected}, expected, "marks")
    require(0 < browser.run(MARKS, "flame") <= len(pictures["flame"]["nodes"]), "flame graph: a mark a node, but for those too narrow")
    widths = browser.run("return [...document.querySelectorAll('figure[data-kind=\"waterfall\"] .marks > rect')].map(r => Number(r.getAttribute('width')))")
    changes = [abs(row["value"]) for row in pictures["waterfall"]["rows"]]
    for length, change in zip(widths[1:-1], changes):
        require(abs(length / widths[1] - change / changes[0]) < 0.02, f"waterfall: bars to scale, {widths} for {changes}")


def draws_one_trace(browser, folder):
    data = of_one_trace(sample_data(plain_name))
    browser.open(write_page(folder, "one.html", data, sample_tables(plain_name, 5)))
    quiet(browser)
    pictures = {picture["kind"]: picture for picture in data["pictures"]}
    expected = {"waterfall": len(pictures["waterfall"]["rows"]) + 1, "operations": sum(row[2] > 0 for row in pictures["operations"]["rows"]),
                "layers": 32 * (len(CLASSES) + 1), "lanes": len(pictures["lanes"]["sides"][0]["kernels"])}
    equal({kind: browser.run(MARKS, kind) for kind in expected}, expected, "marks")
    broken = browser.run("return [...document.querySelectorAll('svg *')].flatMap(e => [...e.attributes]).filter(a => /NaN|undefined|Infinity/.test(a.value)).map(a => a.name + '=' + a.value)")
    equal(broken, [], "attributes that are no numbers")


def gives_a_colour_one_meaning(browser, page):
    """Classes, changes, idle times and sides have colours of their own, on the page as in files, and so have entries of a legend."""
    browser.open(page)
    light = dict(re.findall(r"--(\w+): (?:light-dark\()?(#\w+)", (WEB / "page.css").read_text(encoding="utf-8")))
    meanings = sorted(set(light) - {"text", "muted", "line", "faint", "paper", "raised", "focus", "onblue", "ondark"})
    require({"faster", "slower", "hostwait", "blue", "vermilion", "a", "b"} <= set(meanings), meanings)
    shown = "return arguments[0].map((name) => { document.body.style.color = `var(--${name})`; return getComputedStyle(document.body).color; })"
    for scheme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=scheme)
        colours = browser.run(shown, meanings)
        equal(len(set(colours)), len(meanings), f"{scheme}: {list(zip(meanings, colours))}")
    browser.prefer(prefers_color_scheme="light")
    equal(len({light[name] for name in meanings}), len(meanings), f"in files: {light}")
    legends = browser.run("""return [...document.querySelectorAll('figure.picture')].map((f) => [f.dataset.kind,
        [...f.querySelectorAll('svg rect[rx="2"]')].map((r) => r.getAttribute('fill') + ' ' + r.getAttribute('fill-opacity'))])""")
    for kind, entries in legends:
        equal(len(set(entries)), len(entries), f"{kind}: colours of the legend {entries}")


def heats_what_is_shown(browser, folder):
    """The brightest colour stands for the most that a map shows: neither what it does not show nor the head of a step counts."""
    data = sample_data(plain_name)
    for picture in data["pictures"]:
        if picture["kind"] == "ranks":
            picture["most"] = 50_000_000
        for side in picture["sides"] if picture["kind"] == "layers" else ():
            side["layers"][0], side["ns"][0] = "[head]", [90_000_000] * len(CLASSES)
    browser.open(write_page(folder, "heat.html", data, sample_tables(plain_name, 5)))
    brightest = browser.run("return tracedb.draw.heat(1)")
    for kind, least in (("ranks", 1), ("layers", 3)):  # of the layers: the head on both sides, and one layer
        fills = browser.run("return [...document.querySelectorAll(`figure[data-kind=${arguments[0]}] .marks > rect`)].map((r) => r.getAttribute('fill'))", kind)
        require(fills.count(brightest) >= least, f"{kind}: {fills.count(brightest)} marks of the brightest colour")
        require(len(set(fills)) > 20, f"{kind}: {len(set(fills))} colours")
    changes = browser.run("return [...document.querySelectorAll('figure[data-kind=layers] .marks > rect[fill-opacity]')].map((r) => [r.__data__.layer, Number(r.getAttribute('fill-opacity'))])")
    require(max(opacity for layer, opacity in changes if layer) == 1, "the largest change of a layer is drawn in full")


def tells_hidden_columns(browser, folder):
    """A table wider than its place says so, until it is scrolled to the end."""
    heads = "".join(f'<th scope="col" data-type="text">column_{i}</th>' for i in range(30))
    table = (f'<section id="table-wide"><h2>Wide</h2><table class="data"><thead><tr>{heads}</tr></thead><tbody><tr>'
             f'{"<td>a_long_word_in_a_cell</td>" * 30}</tr></tbody></table></section>')
    browser.resize(1400, 900)
    browser.open(write_page(folder, "wide.html", of_one_trace(sample_data(plain_name)), table))
    said = "return document.querySelector('#table-wide .note').textContent"
    browser.wait("return document.querySelector('#table-wide .note').textContent !== ''")
    require(browser.run(said).endswith("of 30 columns are to the right: scroll the table →"), browser.run(said))
    browser.run("document.querySelector('#table-wide .scroll').scrollLeft = 1e6")
    browser.wait("return document.querySelector('#table-wide .note').textContent === ''")


def sorts(browser, page):
    browser.open(page)
    column = "return [...document.querySelectorAll('table.data tbody tr')].map(r => Number(r.cells[1].dataset.value))"
    press_header = "document.querySelectorAll('table.data th button')[arguments[0]].focus()"
    browser.run(press_header, 1)
    browser.press("Enter")
    down = browser.run(column)
    equal(down, sorted(down, reverse=True), "Enter on a header: largest first")
    equal(browser.run("return document.querySelectorAll('th')[1].getAttribute('aria-sort')"), "descending", "aria-sort")
    browser.press("Enter")
    equal(browser.run(column), sorted(down), "once more: smallest first")
    browser.run(press_header, 0)
    browser.press("Enter")
    first = browser.run("return [...document.querySelectorAll('table.data tbody tr')].slice(0, 3).map(r => r.cells[0].textContent)")
    equal(first, [plain_name(i) for i in range(3)], "names by their numbers")


def filters(browser, page):
    browser.open(page)
    shown = "return [...document.querySelectorAll('table.data tbody tr')].filter(r => r.offsetParent).length"
    everything = browser.run(shown)
    browser.press("/")
    equal(browser.run("return document.activeElement.type"), "search", "/ goes to the filter")
    browser.press(*"kernel_17<")
    equal(browser.run(shown), 1, "rows with that text")
    browser.press("Escape")
    equal(browser.run(shown), everything, "Escape shows all rows")


def keeps_header(browser, page):
    browser.open(page)
    where = browser.run("""const s = document.querySelector('.scroll'), h = s.querySelector('th'); s.scrollIntoView({behavior: 'instant'}); s.scrollTop = 300; s.scrollLeft = 50;
        const b = s.getBoundingClientRect(), t = h.getBoundingClientRect(); return [s.scrollTop > 0, Math.abs(b.top - t.top) < 3, Math.abs(b.left - t.left) < 3]""")
    equal(where, [True, True, True], "scrolled; header and first column stay")


def zooms(browser, page):
    browser.open(page)
    browser.run("addEventListener('pointermove', (event) => { window.last = {bubbles: true, screenX: event.screenX, screenY: event.screenY}; }, true)")
    every = browser.run(MARKS, "timeline")
    browser.run("document.querySelector('figure[data-kind=timeline] svg').focus()")
    browser.press("+")
    half = browser.run(MARKS, "timeline")
    require(half < 0.7 * every, f"+ halves the time shown: {half} of {every} marks")
    browser.press("Escape")
    equal(browser.run(MARKS, "timeline"), every, "Escape shows all")
    browser.drag("figure[data-kind=timeline] svg", 0.4, 0.6)
    part = browser.run(MARKS, "timeline")
    require(0 < part < 0.4 * every, f"dragging zooms into a fifth: {part} of {every} marks")
    browser.run("[...document.querySelectorAll('figure[data-kind=timeline] button')].find(b => b.textContent === 'Reset').click()")
    browser.settle()
    equal(browser.run(MARKS, "timeline"), every, "Reset shows all")
    first = "return document.querySelector('figure[data-kind=flame] .marks > :nth-child(2)').getAttribute('width')"
    narrow = float(browser.run(first))
    browser.run("document.querySelector('figure[data-kind=flame] svg').focus()")
    browser.press("ArrowDown", "ArrowDown")
    current = "return document.querySelector('.current').tell(document.querySelector('.current').__data__)"
    chosen = browser.run(current)
    browser.run("""document.querySelector('figure[data-kind=timeline] .marks > *').dispatchEvent(new PointerEvent('pointermove', window.last));
        document.querySelector('figure[data-kind=flame] svg').dispatchEvent(new PointerEvent('pointerleave', {...window.last, bubbles: false}));""")
    equal(browser.run(current), chosen, "a pointer that rests takes nothing from the keyboard")
    browser.press("Enter")
    require(float(browser.run(first)) > narrow, "Enter on a frame gives it the whole width")
    browser.press("Escape")
    equal(float(browser.run(first)), narrow, "Escape shows the whole graph")


def walks_by_keyboard(browser, page):
    browser.open(page)
    tip = "const t = document.getElementById('tip'); return t && !t.hidden ? t.textContent : null"
    for kind in ("waterfall", "distribution", "operations", "layers", "lanes", "flame", "timeline", "roofline", "ranks"):
        browser.run("document.querySelector('figure[data-kind=\"' + arguments[0] + '\"] svg').focus()", kind)
        browser.press("ArrowDown")
        one = browser.run(tip)
        browser.press("ArrowRight", "ArrowDown")
        other = browser.run(tip)
        require(one and other and one != other, f"{kind}: arrow keys tell of one mark after the other: {one!r}, {other!r}")
        require(any(unit in one for unit in (" ns", " us", " ms", " s", "FLOP")), f"{kind}: figures with units: {one!r}")
        browser.press("Tab")
        equal(browser.run(tip), None, f"{kind}: the tooltip goes with the focus")


def has_themes(browser, page):
    shade = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b)"
    found = []
    for scheme in ("light", "dark"):
        browser.prefer(prefers_color_scheme=scheme)
        browser.open(page)
        found.append(browser.run(shade))
        browser.run("document.getElementById('theme').click()")
        found.append(browser.run(shade))
    browser.prefer(prefers_color_scheme="light")
    require(found[0] > 700 and found[1] < 120 and found[2] < 120 and found[3] > 700, f"as the system has it, and by the switch: {found}")


def prints(browser, page):
    browser.open(page)
    browser.prefer(media="print", prefers_color_scheme="dark")
    seen = browser.run("""const shown = (s) => [...document.querySelectorAll(s)].filter(e => e.getClientRects().length).length;
        return [shown('button:not(th button)'), shown('input'), shown('figure.picture svg'), getComputedStyle(document.querySelector('.scroll')).overflow,
                getComputedStyle(document.body).color]""")
    browser.prefer(media="", prefers_color_scheme="light")
    equal(seen[:2] + seen[3:], [0, 0, "visible", "rgb(27, 31, 36)"], "no controls, whole tables, dark on light")
    require(seen[2] > 0, "all pictures are printed")


def reads_without_script(browser, page):
    browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page, ready="return document.readyState === 'complete'")
        equal(browser.run("return [document.querySelector('h1').offsetHeight > 0, document.querySelectorAll('table.data tr').length > 50, !!document.querySelector('noscript p')]"),
              [True, True, True], "headline, tables and a word about the pictures")
    finally:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=False)


def keeps_names_inert(browser, folder):
    def name(number):
        return HOSTILE[number % len(HOSTILE)]
    data = sample_data(name, events=200, nodes=100)
    for side in data["sides"]:
        side["label"] = HOSTILE[0]
    for picture in data["pictures"]:
        picture["title"] = picture["note"] = HOSTILE[1]
    page = write_page(folder, "hostile.html", data, sample_tables(name, 2 * len(HOSTILE)))
    for width in (1280, 390):
        browser.resize(width, 800)
        browser.open(page)
        quiet(browser)
        for kind in ("lanes", "flame", "timeline", "operations"):
            browser.run("""document.querySelectorAll('figure[data-kind="' + arguments[0] + '"] .marks > *').forEach((m, i) => { if (i < 60) {
                m.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 50, clientY: 50, screenX: i + 1})); } })""", kind)
        equal(browser.run("return window.hit || 0"), 0, "a name that ran")
        equal(browser.run("return [document.scripts.length, document.images.length, document.querySelectorAll('svg svg, [onload], [onerror]').length]"),
              [3, 0, 0], "elements made by a name")
        require(browser.run("return document.documentElement.scrollWidth") <= width, "a long name does not widen the page")


def stays_fluid(browser, folder):
    """Tasks beyond 200 ms are told, not failed: the machine decides. What is drawn is bounded whatever the trace."""
    data = sample_data(plain_name, events=6000, nodes=5000)
    page = write_page(folder, "large.html", data, sample_tables(plain_name, 2000))
    browser.resize(1280, 800)
    script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", source="""window.tasks = [];
        new PerformanceObserver((list) => { for (const one of list.getEntries()) { window.tasks.push(Math.round(one.duration)); } }).observe({type: 'longtask', buffered: true});""")
    try:
        browser.open(page)
        opened = browser.run("const t = window.tasks; window.tasks = []; return t")
        browser.run("document.querySelector('figure[data-kind=timeline] svg').focus()")
        for key in ("+", "+", "ArrowRight", "-", "Escape"):
            browser.press(key)
        browser.run("document.querySelectorAll('table.data th button')[1].click()")
        browser.settle()
        print(f"tasks over 50 ms, in ms: opening {opened}, zooming and sorting {browser.run('return window.tasks')}", flush=True)
        require(browser.run("return document.querySelectorAll('*').length") < 60_000, "elements on the page")
    finally:
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def has_no_barrier(browser, page):
    axe = os.environ.get("TRACEDB_AXE")
    if not axe:
        raise Skip("TRACEDB_AXE does not name a file axe.min.js of axe-core")
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
        browser.prefer(prefers_color_scheme=scheme)
        browser.resize(width, 800)
        browser.open(page)
        browser.devtools("Runtime.evaluate", expression=Path(axe).read_text(encoding="utf-8"))
        browser.run("window.found = null; axe.run().then((r) => { window.found = r; })")
        browser.wait("return window.found !== null")
        serious = browser.run("""return window.found.violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
            .map(v => v.id + ' ' + v.nodes.length + ': ' + v.nodes[0].html.slice(0, 200) + ' ' + v.nodes[0].failureSummary)""")
        equal(serious, [], f"serious findings of axe-core, {scheme}, {width} px")
    browser.prefer(prefers_color_scheme="light")


def main(cases, folder):
    lacking = missing_browser() or (None if D3.exists() else f"no {D3} here (package node-d3)")
    if lacking:
        raise Skip(lacking)
    with Browser() as browser:
        data = sample_data(plain_name)
        page = write_page(folder, "sample.html", data, sample_tables(plain_name, 60))
        for width in (1280, 390):
            cases.run(f"opens without a message or request, {width} px", opens_quietly, browser, page, width)
            cases.run(f"draws what the data has, {width} px", draws_the_data, browser, page, data, width)
        browser.resize(1280, 800)
        for name, check in (("sorts by a header", sorts), ("filters rows", filters), ("header and first column stay", keeps_header),
                            ("zooms and resets", zooms), ("walks through marks by keyboard", walks_by_keyboard), ("light and dark", has_themes),
                            ("prints", prints), ("reads without script", reads_without_script), ("no serious finding of axe-core", has_no_barrier)):
            cases.run(name, check, browser, page)
        cases.run("draws one trace", draws_one_trace, browser, folder)
        cases.run("a colour has one meaning", gives_a_colour_one_meaning, browser, page)
        cases.each((heats_what_is_shown, tells_hidden_columns, keeps_names_inert, stays_fluid), browser, folder)
