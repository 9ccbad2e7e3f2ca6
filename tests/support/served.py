"""A folder of nights of traces with one planted regression, and a server over it, asked over plain sockets."""
import html
import re
import socket
import subprocess
import time
from urllib.parse import urljoin

from trace_cases import BIN, Skip, ingest, make_trace, require

DAY = 86_400_000_000_000
FIRST = 1_750_000_000_000_000_000


def skip_without_serve():
    if subprocess.run([BIN / "trace-query", "serve", "--help"], capture_output=True, check=False).returncode == 2:
        raise Skip("built without serve (TRACEDB_SERVE)")


def dated(path, date):
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r'("baseTimeNanoseconds":) *\d+', rf"\1 {date}", text, count=1), encoding="utf-8")
    return path


MODELS = ("serve", "train", "vision+text", "encoder+decoder", "serve --moe on")


def make_nights(folder, nights=30, changed=25):
    """Two vendors and five models in `nights` nights each, below night-NN/VENDOR-MODEL.tracedb; one becomes slower in its GEMMs
    at night `changed`. Names of the two traces that the change lies between."""
    for night in range(nights):
        (folder / f"night-{night:02}").mkdir(parents=True)
    for number, (vendor, model) in enumerate((vendor, model) for vendor in ("amd", "nvidia") for model in MODELS):
        options = ["--vendor", vendor, "--model", *model.split(), "--layers", 2, "--steps", 6, "--graphs", "off", "--shapes", "on"]
        for night in range(nights):
            slow = ["--slow", "dense_gemm=2"] if number == 3 and night >= changed else []
            trace = folder / f"night-{night:02}" / f"{vendor}-{number}.json"
            ingest(dated(make_trace(trace, "--seed", 100 * number + night, *options, *slow), FIRST + night * DAY + number),
                   trace.with_suffix(".tracedb"))
            for left in trace.parent.glob("*.json*"):
                left.unlink()
    return f"night-{changed - 1:02}/amd-3", f"night-{nights - 1:02}/amd-3"


class Server:
    """`trace-query serve` over a folder; ended at the end of the `with`."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([BIN / "trace-query", "serve", *map(str, options), folder], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://[\w.]+(?::(\d+))?(/[0-9a-f]{32}/)", self.address)
        if not found:
            raise AssertionError(f"no address: {self.address!r} {self.process.stderr.read()}")
        self.port, self.root = int(found[1] or 0), found[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)
        if self.root in self.process.stderr.read():
            raise AssertionError("the token is in what the server says")
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, view, *headers):
        """The connection over which a view was asked for; it is kept open."""
        one = self.connect()
        one.sendall("\r\n".join((f"GET {self.root}{view} HTTP/1.1", "Host: localhost", *headers, "", "")).encode())
        return one

    def raw(self, text):
        """The whole answer to these bytes; the connection is closed by the server."""
        with self.connect() as one:
            one.sendall(text if isinstance(text, bytes) else text.encode())
            out = b""
            while part := one.recv(65536):
                out += part
        return out

    def get(self, path, *headers, method="GET", host="127.0.0.1", body=""):
        """(status, {header: value}, body) of a path below the token; an absolute one is taken as it is."""
        target = path if path.startswith(("/", "http:")) else self.root + path
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return parsed(self.raw("\r\n".join(lines) + "\r\n\r\n" + body))


def parsed(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    if not first:
        return 0, {}, b""
    return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}, body


def quoted(text):
    return "".join(c if c.isalnum() else f"%{ord(c):02X}" for c in text)


def until(true, seconds, what):
    end = time.monotonic() + seconds
    while not true():
        require(time.monotonic() < end, what)
        time.sleep(0.02)


def links(server, view):
    """The views that a page leads to."""
    status, _, body = server.get(view)
    require(status == 200, f"{view}: {status} {body[-300:]}")
    found = {urljoin("/" + view, html.unescape(link))[1:] for link in re.findall(r'href="([^"#]+)"', body.decode())}
    return sorted(link for link in found if not link.startswith(("static/", "ttps:", "ata:")))
