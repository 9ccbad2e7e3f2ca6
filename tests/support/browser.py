"""A headless Chromium driven over WebDriver (chromedriver of Debian's chromium-driver): standard library only."""
import base64
import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


def missing_browser():
    """Why no browser can be driven here; None if one can."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"no {program} here (packages chromium and chromium-driver)"
    return None


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]

CUT_TEXTS = """return [...document.querySelectorAll('.drawing svg text')].filter((t) => {
    const own = t.getBoundingClientRect(), all = t.ownerSVGElement.getBoundingClientRect();
    return own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1; }).map((t) => t.textContent)"""


class Browser:
    """One browser of a given size in a profile of its own; ended, with its driver, at the end of the `with`."""

    def __init__(self, width=1280, height=800):
        self.folder = Path(tempfile.mkdtemp(prefix="tracedb-browser-"))
        self.port = _free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        try:
            self._wait_for_driver()
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         f"--user-data-dir={self.folder}", f"--window-size={width},{height}"]
            capabilities = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = f"/session/{answer['sessionId']}"
            self.resize(width, height)
            self.prefer(prefers_color_scheme="light")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_for_driver(self):
        for _ in range(600):
            try:
                self._call("GET", "/status")
                return
            except OSError:
                if self.driver.poll() is not None:
                    raise RuntimeError("chromedriver ended at once") from None
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{method} {path}: {value['error']}: {value['message'].splitlines()[0]}")
        return value

    def devtools(self, command, **parameters):
        return self._call("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        """The size of the page itself, also one narrower than a window can be."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, **features):
        """Media features: prefers_color_scheme="dark", media="print". Nothing moves slowly while it is measured."""
        media = features.pop("media", "")
        features.setdefault("prefers_reduced_motion", "reduce")
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", media=media, features=listed)

    def open(self, path, ready="return document.documentElement.dataset.ready === 'yes'"):
        """Loads a file and waits until its script is done."""
        self.visit(Path(path).resolve().as_uri())
        self.wait(ready)

    def visit(self, address):
        self._call("POST", f"{self.session}/url", {"url": address})

    def wait(self, script):
        for _ in range(1200):
            if self.run(script):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}")

    def run(self, script, *arguments):
        return self._call("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def settle(self):
        """Lets the frame be drawn that a change asked for."""
        self._call("POST", f"{self.session}/execute/async",
                   {"script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));", "args": []})

    def press(self, *keys):
        """Keys to whatever has the focus, then the frame that follows."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._call("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})
        self.settle()

    def drag(self, selector, start, end):
        """The mouse from one point of an element to another, in shares of its width; the middle of its height."""
        box = self.run("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'});"
                       "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", selector)
        def move(share):
            return {"type": "pointerMove", "x": round(box[0] + share * box[2]), "y": round(box[1] + box[3] / 2), "duration": 20}
        actions = [move(start), {"type": "pointerDown", "button": 0}, move((start + end) / 2), move(end), {"type": "pointerUp", "button": 0}]
        self._call("POST", f"{self.session}/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})
        self.settle()

    def log(self, kind):
        """What was logged since the last time: "browser" (the console) or "performance" (devtools events)."""
        return self._call("POST", f"{self.session}/se/log", {"type": kind})

    def requests(self):
        """Addresses that pages from files asked for since the last time, but for those pages themselves."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        asked = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in asked
                if one["documentURL"].startswith("file:") and one["request"]["url"] != one["documentURL"]]

    def screenshot(self, path, whole=False):
        """A picture of the screen, or of the whole page."""
        answer = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole) if whole else None
        data = answer["data"] if whole else self._call("GET", f"{self.session}/screenshot")
        Path(path).write_bytes(base64.b64decode(data))
