"""`trace-query serve` in a real browser: from 300 traces to the line of Python, with the mouse and with keys alone; nothing that the
policy of its pages forbids is tried; narrow and wide."""
from browser import Browser, missing_browser
from served import Server, make_nights, skip_without_serve
from trace_cases import Skip, equal, require

LOADED = """return document.readyState === 'complete' && !document.querySelector('h1')?.textContent.startsWith('Looking')
    && (!document.getElementById('data') || document.documentElement.dataset.ready === 'yes')"""


NUMBERS_IN_VIEW = """const row = document.querySelector('table.data tbody tr'), box = row.closest('.scroll').getBoundingClientRect();
    return [...row.querySelectorAll('td[data-value]')].map((cell) => cell.getBoundingClientRect())
        .filter((cell) => cell.left >= row.cells[0].getBoundingClientRect().right - 1 && cell.right <= box.right + 1).length"""


class Reader:
    """Who walks: how many pages were asked for by clicks or Enter."""

    def __init__(self, browser, server):
        self.browser, self.clicks = browser, 0
        self.go(server.address)

    def go(self, address):
        self.browser.visit(address)
        self.browser.wait(LOADED)

    def address(self):
        return self.browser.run("return location.href")

    def follow(self, act):
        """Another page, by what act() does."""
        self.browser.run("window.isOld = true")
        act()
        self.clicks += 1
        self.browser.wait("return !window.isOld && document.readyState === 'complete'")
        equal([entry["message"] for entry in self.browser.log("browser")], [], f"console of {self.address()}")

    def click(self, selector):
        require(self.browser.run("return !!document.querySelector(arguments[0])", selector), f"{selector} on {self.address()}")
        self.follow(lambda: self.browser.run("document.querySelector(arguments[0]).click()", selector))

    def text(self):
        return self.browser.run("return document.body.innerText")


def ends_at_python(reader, names):
    text = reader.text()
    require(".py(" in text and "Lines of Python that launch it" in text, text[:2000])
    require(reader.clicks <= 6, f"{reader.clicks} clicks")
    last = reader.address()
    require(any(name in last for name in names), last)
    reader.go(last)
    equal(reader.text(), text, "the last address, opened again")


def check_mouse(browser, server, names):
    reader = Reader(browser, server)
    require("1 of 10 series became slower" in reader.text(), reader.text()[:500])
    reader.click("ul.slower a")
    equal([name.replace("/", "%2F") in reader.address().replace("/", "%2F") for name in names], [True, True], reader.address())
    reader.click(".reasons a.next")
    reader.click("table.data tbody a[href*='k?'][href*='" + names[1].split("/")[0] + "']")
    ends_at_python(reader, names)
    reader.click("a[href*='sql?']")
    require(browser.run("return document.querySelector('textarea').value").startswith("SELECT"), "SQL of the view")
    reader.follow(lambda: browser.run("document.querySelector('form.sql button').click()"))
    require("Rows" in reader.text() or browser.run("return document.querySelectorAll('table.data tbody tr').length") > 0, "rows of the statement")


def check_keys(browser, server, names):
    reader = Reader(browser, server)
    for _ in range(3):  # the first row of each page: what became slower, its first reason, its first kernel
        browser.press("j")
        reader.follow(lambda: browser.press("Enter"))
    ends_at_python(reader, names)
    reader.follow(lambda: browser.press("u"))
    require("/t/kernels?" in reader.address(), reader.address())
    reader.go(server.address)
    browser.press("/")
    for letter in "nvidia-8":
        browser.press(letter)
    reader.follow(lambda: browser.press("Enter"))
    equal(browser.run("return document.querySelectorAll('table.rows tbody tr').length"), 30, "traces that the filter leaves")
    for keys in ("jja", "jb"):
        for key in keys:
            browser.press(key)
    reader.follow(lambda: browser.press("c"))
    require("/c?a=" in reader.address(), reader.address())
    browser.press("?")
    require("baseline" in browser.run("return document.querySelector('.keys').textContent"), "the list of keys")


def check_long_statement(browser, server, names):
    """It is sent as a form, from the page that has it to the next."""
    reader = Reader(browser, server)
    for text in (None, "SELECT name, dur FROM kernels -- " + "x" * 9000 + "\nORDER BY id"):
        reader.go(f"{server.address}sql?i={names[1]}" + ("" if text else "&from-table=warnings"))
        if text:
            browser.run("document.querySelector('textarea').value = arguments[0]", text)
        reader.follow(lambda: browser.run("document.querySelector('form.sql button').click()"))
        require("Not answered" not in reader.text() and len(browser.run("return document.querySelector('textarea').value")) > 5000, reader.text()[:500])
    reader.click("button[name=offset]")
    require("Rows 101 to" in reader.text(), "the second page")


def check_window(browser, server, names):
    """Where there is no window for Perfetto, the button says what the server says."""
    reader = Reader(browser, server)
    reader.go(f"{server.address}t?i={names[1]}")
    browser.run("""const button = document.querySelector('button[data-window]');
        window.open = () => ({close() {}});
        button.dataset.window = 'w.json?i=nobody'; button.click();""")
    browser.wait("return document.querySelector('button[data-window]').textContent !== 'Open in Perfetto'")
    told = browser.run("return document.querySelector('button[data-window]').textContent")
    require("no single index 'nobody'" in told, told)
    browser.log("browser")  # has the answer 404


def check_sizes(browser, server, names):
    pages = ("", "trend", f"t?i={names[1]}", f"t/kernels?i={names[1]}", f"c?a={names[0]}&b={names[1]}", f"sql?i={names[1]}", "schema")
    for width in (1400, 420):
        browser.resize(width, 900)
        for page in pages:
            browser.visit(server.address + page)
            browser.wait(LOADED)
            require(browser.run("return document.documentElement.scrollWidth") <= width, f"{page}: wider than {width} px")
            equal([entry["message"] for entry in browser.log("browser")], [], f"console of {page}")
            if page.startswith("t/"):
                require(browser.run(NUMBERS_IN_VIEW) > 0, f"{page}: no number in view at {width} px")
            if page.startswith("t?"):
                equal(browser.run("return [...document.querySelectorAll('th button')].map((b) => getComputedStyle(b).padding).filter((p) => p !== '0px')"), [], "room around heads")
    browser.resize(1400, 900)
    browser.visit(server.address)
    browser.wait(LOADED)
    require(browser.run("return document.querySelector('ul.slower li').getBoundingClientRect().bottom") < 400, "what became slower must not need scrolling")


def main(cases, folder):
    lacking = missing_browser()
    if lacking:
        raise Skip(lacking)
    skip_without_serve()
    names = make_nights(folder / "nights")
    with Server(folder / "nights") as server, Browser(1400, 900) as browser:
        for check in (check_mouse, check_keys, check_long_statement, check_window, check_sizes):
            cases.run(check.__name__[6:], check, browser, server, names)
