"""`trace-query serve` over plain sockets: what it promises of who may ask, what is answered, and what is left behind."""
import contextlib
import gzip
import html
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from faults import SHIM
from hostile_names import NAMES, events_of
from made_events import write_trace
from served import Server, links, parsed, quoted, skip_without_serve, until
from trace_cases import BIN, equal, ingest, make_trace, refused, require, run

GUARDS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                               "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin-allow-popups"}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
LARGE = "SELECT printf('%%%ds', 'x')"
GROWING = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(hex(randomblob(1000000))) FROM n"
VIEWS = ("", "t?i=a", "t/kernels?i=a", "t/gaps?i=a", "t/kernels.csv?i=a", "t/kernels.json?i=a", "t/kernels.md?i=a", "c?a=a&b=b", "c?a=a&b=b&sets=1", "c/kernels?a=a&b=b",
         "trend", "sql?i=a", "sql?i=a&q=SELECT+1", "sql?i=a&recipe=list", "sql?i=a&i=b&q=SELECT+count(*)+FROM+kernels",
         "sql?i=a&q=SELECT+1&plan=1", "sql?i=a&from-table=kernels", "schema", "help/kernels", "w.json?i=a&step=1", "nights", "k?i=a&name=x")


def children(server):
    path = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return path.read_text(encoding="ascii").split()


def check_views(server):
    """Every view answers, with the guards, and no absolute path; so do errors."""
    for view in (*VIEWS, "no-such-view", "t?i=nobody", "t/kernels?i=a&op=nonsense"):
        status, headers, body = server.get(view)
        expected = (404,) if view in ("nights", "no-such-view", "t?i=nobody") else (200, 400)
        require(status in expected, f"{view}: {status} {body[-300:]}")
        equal({name: headers.get(name) for name in GUARDS}, GUARDS, f"{view}: guards")
        require("set-cookie" not in headers, f"{view}: a cookie")
        require(str(server.folder).encode() not in body, f"{view}: a path of the machine")
        head = server.get(view, method="HEAD")
        equal((head[0], head[2]), (status, b""), f"{view}: HEAD")
    for view in VIEWS:
        if view not in ("nights",):
            equal(server.get(view)[0], 200, view)


def check_links(server):
    """What the page of a trace and its tables lead to is answered, also where steps are chosen."""
    tables = set()
    for view in ("t?i=a", "t?i=a&phase=decode&step=2", "schema"):
        for link in links(server, view):
            equal(server.get(link)[0], 200, f"{view} -> {link}")
            if link.startswith("t/"):
                tables.add(link)
    require(len(tables) > 40, f"{len(tables)} tables")
    for table in tables:
        found = links(server, table)
        for link in found:
            if "from-table" in link or link.startswith("help/"):
                equal(server.get(link)[0], 200, f"{table} -> {link}")
        report = re.search("t/([a-z-]+)", table)[1]
        text = subprocess.run([BIN / "trace-query", report, "--help"], capture_output=True, text=True, check=True).stdout
        takes = {name for name in ("phase", "step", "layer", "op", "name", "explain") if re.search(rf"^  --{name}\b(?!-)", text, re.M)}
        offered = set(re.findall(r'<input[^>]* name="(\w+)"', server.get(table)[2].decode())) & {"phase", "step", "layer", "op", "name"}
        offered |= {"explain"} if any("from-table" in link for link in found) else set()
        if report != "info":
            equal(offered, takes, f"what {report} is narrowed by")


def check_hosts(server):
    """Only by a name of this machine, and from no other page: 421, 403."""
    for host in ("127.0.0.1", "localhost", "[::1]", f"127.0.0.1:{server.port}", "localhost:9"):
        equal(server.get("", host=host)[0], 200, host)
    for host in ("rebound.example", "127.0.0.1.example", "localhost.example:80", "127.0.0.1:", "127.0.0.1:80x", "", "[::2]", "0.0.0.0"):
        equal(server.get("", host=host)[0], 421, f"host {host}")
    equal(parsed(server.raw(f"GET {server.root} HTTP/1.1\r\n\r\n"))[0], 421, "no host")
    equal(server.get("", "Host: localhost")[0], 421, "two hosts")
    for header, status in (("Origin: http://127.0.0.1", 200), ("Origin: http://other.example", 403), ("Origin: null", 403), ("Origin: https://127.0.0.1", 403),
                           ("Sec-Fetch-Site: cross-site", 403), ("Sec-Fetch-Site: same-origin", 200), ("Sec-Fetch-Site: none", 200)):
        equal(server.get("", header)[0], status, header)


def check_token(server):
    """Without the token there is nothing, not even a page that says so."""
    token = server.root.strip("/")
    for path in ("/", "", "/static/", "/t?i=a", f"/{token[:-1]}/", f"/{token}0/", f"/{'0' * 32}/", f"/{token}", f"/x/{token}/", f"//{token}/", f"/{token.upper()}x/"):
        if path:
            status, _, body = server.get(path)
            equal((status, body), (404, b""), path)
    require(token not in "".join(Path(f"/proc/{server.process.pid}/cmdline").read_text(encoding="utf-8")), "token among the arguments")
    with Server(server.folder) as other:
        require(other.root != server.root, "two servers, one token")
        equal(other.get(server.root)[0], 404, "the token of another server")


def check_paths(server):
    """No path of a request reaches the file system."""
    outside = Path(server.folder).parent / "outside.tracedb"
    for path in ("../", "../../etc/passwd", "..%2f", "%2e%2e/", "%2e%2e%2fetc%2fpasswd", "t/..", "t/../t", "static/../x", "static//x", "//", "t//kernels", "t/%00",
                 "static/d3.js", "static/%2e", "a%00b", "t/kernels.exe", "t/sql", "t/export", "t/report", "t/schema", "t/verify", "c/..", "help/..", "help/x", "k/x", "w.json/x",
                 "sql/x", "trend/x", "j/x", "schema/x", "t/kernels%2ecsv", "t\\kernels", "t/kernels;x", ".git/config", "t/kernels/", "static", "help"):
        equal(server.get(path)[0], 404, path)
    for name in ("../outside", "/etc/passwd", str(outside), "..%2Foutside", "a.tracedb/../b", "link", "", "%ff", "a%0Ab", "-i", "--help", "b%2F..%2Fa"):
        status, _, body = server.get(f"t?i={name}")
        require(status in (400, 404), f"{name}: {status} {body[:200]}")
    equal(server.get("t?i=a%00")[0], 400, "NUL")
    for option in ("output=/tmp/x", "o=x", "rules=/etc/passwd", "capture=/etc/passwd", "files-from=/etc/passwd", "max-memory=9G", "timeout=9999"):
        equal(server.get(f"t/kernels?i=a&{option}")[0], 200, f"{option}: not handed on")


def check_methods(server):
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"):
        require(server.get("", method=method)[0] in (404, 405), method)
    equal(server.get("", method="POST", body="q=1")[0], 404, "POST of a view")
    status, _, body = server.get("sql", method="POST", body="i=a&q=SELECT+41%2B1+AS+answer")
    require(status == 200 and b">42</td>" in body, f"POST of a statement: {status}")


def check_malformed(server):
    """Ends the connection, with or without an error; the next one is served."""
    start = f"POST {server.root}sql HTTP/1.1\r\nHost: localhost\r\n"
    chunked = "Transfer-Encoding: chunked\r\n"
    for text, expected in (("\0\1\2\3\r\n\r\n", {0, 400}), ("GET\r\n\r\n", {0, 400}), ("GET / HTTP/9.9\r\n\r\n", {0, 400}), ("GET /\n\n", {0, 400}),
                           (start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", {0, 400}), (start + "Content-Length: -1\r\n\r\n", {0, 400}),
                           (start + "Content-Length: 3\r\n" + chunked + "\r\n0\r\n\r\n", {0, 400}), (start + chunked + "\r\nzz\r\n", {0, 400}),
                           (start + chunked + "\r\nfffffffffffffffff\r\n", {0, 400, 413}), (start + f"Content-Length: {10 ** 9}\r\n\r\n", {413}),
                           (start + chunked + "\r\n" + "ffff\r\n" + "x" * 65535 + "\r\n2\r\nxx\r\n0\r\n\r\n", {413}),
                           (f"GET {server.root}?x={'y' * 9000} HTTP/1.1\r\n\r\n", {431}), (start + "X: " + "y" * 9000 + "\r\n\r\n", {431}), ("G" * 20000, {0, 400, 431})):
        status = parsed(server.raw(text))[0]
        require(status in expected, f"{text[:90]!r}: {status}")
        equal(server.get("help/kernels")[0], 200, f"after {text[:90]!r}")


def check_slow(server):
    """60 connections that send byte by byte, one each half second or later, hold nobody up, and are ended whatever they send."""
    slow = [server.connect() for _ in range(60)]
    for one in slow:
        one.sendall(b"G")
        one.setblocking(False)
    equal(server.get("help/kernels")[0], 200, "beside slow ones")
    left, statuses, sent = list(slow), [], 0
    require(not select.select(left, [], [], 0)[0], "slow ones had to end before another was answered")
    while left:
        ended = select.select(left, [], [], 0.5)[0]
        for one in ended:
            try:
                statuses.append(parsed(one.recv(65536))[0])
            except ConnectionError:
                statuses.append(408)
            left.remove(one)
        sent += not ended  # each after half a second in which none ended
        require(sent <= 30, "a request may take longer than 5 s")
        for one in left:
            try:
                one.sendall(b"E")
            except OSError:
                pass
    for one in slow:
        one.close()
    equal(statuses, [408] * 60, "how slow connections ended")


def check_closed_tab(server):
    """Whoever goes away ends the process that works for him."""
    with server.ask(f"sql?i=a&q={quoted(ENDLESS)}"):
        until(lambda: children(server), 5, "no process for a question")
        for child in children(server):
            line = Path(f"/proc/{child}/cmdline")
            until(lambda line=line: b"\x00--no-ingest\x00" in line.read_bytes(), 5, "no program for a question")
            words = line.read_bytes()
            require(server.root.strip("/").encode() not in words, "token among the arguments of a process")
            for limit in (b"--timeout\x0020", b"--max-memory\x001G", b"--read-only"):
                require(limit in words, f"a question without {limit}: {words}")
    until(lambda: not children(server), 2, "a process for nobody")


def check_limits(server):
    """Endless and growing statements end, with a word; many pages at once are all answered."""
    status, _, body = server.get(f"sql?i=a&q={quoted(ENDLESS)}")
    require(status == 504, f"endless: {status} {body[-200:]}")
    status, _, body = server.get(f"sql?i=a&q={quoted(GROWING)}")
    require(status in (400, 422), f"growing: {status} {body[-200:]}")
    status, _, body = server.get(f"sql.json?i=a&q={quoted(LARGE % 9_000_000)}")
    require(status == 422 and b"too large" in body, f"an answer of 10 MB: {status} {body[-200:]}")
    for one in [server.ask(f"t/kernels?i=a&step={number % 3}", "Connection: close") for number in range(20)]:
        with one:
            require(b" 200 OK" in one.recv(100), "one of 20 pages")
    waiting = [server.ask(f"sql?i=a&q={quoted(ENDLESS)}+LIMIT+{number + 1}") for number in range(44)]  # 4 run at most, 32 wait
    waiting[-1].settimeout(5)
    answer = waiting[-1].recv(4000)
    require(answer.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in answer, f"beyond what may wait: {answer[:60]}")
    for one in waiting:
        one.close()
    until(lambda: not children(server), 5, "processes for nobody")


def sockets(server):
    count = 0
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += os.readlink(link).startswith("socket:")
    return count


def begin_waiting(server):
    """One who asks nothing, and one who does not read what he asked for: both are ended, which check_waiting waits for."""
    idle, deaf = server.connect(), server.connect()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(f"GET {server.root}sql.json?i=a&q={quoted(LARGE % 7_500_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return idle, deaf


def check_waiting(server, listeners, idle, deaf):
    idle.settimeout(120)
    equal(idle.recv(1), b"", "an idle connection")
    until(lambda: sockets(server) == listeners, 120, "the socket of one who does not read")
    for one in (idle, deaf):
        one.close()


def check_connections(server):
    """Who asks nothing makes room for others."""
    all_of_them = [server.connect() for _ in range(70)]
    all_of_them[0].settimeout(10)
    equal(all_of_them[0].recv(1), b"", "the first of 70")
    equal(server.get("help/kernels")[0], 200, "beside 64 connections")
    for one in all_of_them:
        one.close()


def check_keeping(server):
    """A page is not sent twice; files with their content in their name are kept for good; gzip for who takes it."""
    _, headers, body = server.get("t?i=a")
    status, _, again = server.get("t?i=a", f"If-None-Match: {headers['etag']}")
    equal((status, again), (304, b""), f"the same page: {headers}")
    equal(server.get("t?i=b", f"If-None-Match: {headers['etag']}")[0], 200, "another page")
    equal(server.get("t?i=a", f"If-None-Match: \"x\", W/{headers['etag']}")[0], 304, "one of several, and a weak one")
    require("content-encoding" not in server.get("t?i=a", "Accept-Encoding: gzip; q=0")[1], "gzip for who refuses it")
    name = body.split(b'static/d3.')[1].split(b'"')[0].decode()
    _, static, script = server.get(f"static/d3.{name}", "Accept-Encoding: gzip")
    require("immutable" in static["cache-control"] and static["content-encoding"] == "gzip", str(static))
    require(b"d3" in gzip.decompress(script)[:3000], "the script")
    os.utime(Path(server.folder) / "a.tracedb")
    equal(server.get("t?i=a", f"If-None-Match: {headers['etag']}")[0], 200, "an index that has changed")


def check_changes(server):
    """An index that arrives, is damaged or goes while it is shown: a row, or a word; it is never written to."""
    folder = Path(server.folder)
    late = folder / "late.tracedb"
    shutil.copyfile(folder / "a.tracedb", late)
    require(b"late" in server.get("")[2], "an index that arrived")
    equal(server.get("t?i=late")[0], 200, "its page")
    late.write_bytes(late.read_bytes()[:5000])
    require(server.get("t?i=late")[0] in (400, 410, 422), "a damaged index")
    require(b"unusable" in server.get("")[2], "a damaged index in the list")
    late.rename(folder / "later.tracedb")
    equal(server.get("t?i=late")[0], 404, "an index that is gone, beside another whose name has it")
    (folder / "later.tracedb").unlink()
    tag = server.get("t?i=a")[1]["etag"]
    trace = folder / "new.json"
    trace.write_text("{}")
    require(b"not indexed" in server.get("")[2], "a trace that arrived")
    equal(server.get("t?i=a", f"If-None-Match: {tag}")[0], 304, "a page of another index")
    (folder / "new.json.tracedb").write_text("no index")
    require(b"<code>trace-ingest --force new.json</code>" in server.get("")[2], "how an index is replaced that is none")
    (folder / "new.json.tracedb").unlink()
    trace.rename(folder / "a")
    equal(server.get("t?i=a", f"If-None-Match: {tag}")[0] == 304, False, "a trace beside its index")
    require(b"not indexed" not in server.get("")[2], "a trace that has an index")
    (folder / "a").unlink()
    equal(server.get("t?i=a", f"If-None-Match: {tag}")[0], 304, "a trace that is gone again")


def check_windows(folder):
    """A window that nobody has chosen is the whole where it fits, else a part."""
    with Server(folder) as server:
        for name, part in (("a", "window"), ("large", "step1"), ("one", "window")):
            status, headers, body = server.get(f"w.json?i={name}")
            equal((status, headers["content-disposition"]), (200, f'attachment; filename="{part}.json"'), f"{name}: {body[:200]}")
            require(json.loads(body)["traceEvents"], name)


def check_job(folder):
    """A rank that cannot be read is left out of the page of its job, which says so."""
    run("make-trace", "job", "--layers", "2", folder)
    for trace in folder.glob("rank*.json"):
        ingest(trace, folder / f"{trace.stem}.tracedb")
        trace.unlink()
    (folder / "rank9.tracedb").write_text("no index")
    with Server(folder) as server:
        status, _, body = server.get("j?f=.")
        require(status == 200 and b"Left out: rank9: not an index" in body, f"{status} {body[-300:]}")
        require(b"trace-query ranks ." in body, "the command of a job")


def check_many(folder):
    """Of 300 indexes, a request costs what it asks for; while the first page is made nothing else is asked."""
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.tracedb").write_text("no index")
    with Server(folder) as server:
        with server.ask("") as one:
            most = 0
            while not select.select([one], [], [], 0)[0]:
                most = max(most, len(children(server)))
            equal(most, 1, "processes for the first page")
        time.sleep(2.5)  # a folder that has just changed is looked into each time
        tag, before = server.get("schema")[1]["etag"], cpu(server)
        for _ in range(100):
            equal(server.get("schema", f"If-None-Match: {tag}")[0], 304, "kept")
        require(cpu(server) - before < 0.4, f"100 answers that were kept take {cpu(server) - before} s")


def check_hostile_names(server):
    """Names that a browser would obey are texts."""
    for view in ("", "t?i=hostile", "t/kernels?i=hostile", "trend", "k?i=hostile&name=" + quoted("<script>alert(1)</script>")):
        body = server.get(view)[2].decode()
        require(re.search(r"<(?!/?(?:a|svg|polyline|circle|table|thead|tbody|tfoot|tr|th|td|h1|h2|p|b|code|nav|main|section|ul|ol|li|div|span|header|footer|form|"
                          r"label|input|button|textarea|details|summary|html|head|meta|link|title|body|aside|noscript|pre|script (?:defer |type=\"application/json\" id=\"data\"|src=\"\./static/"
                          r"|src=\"\.\./static/)|/?script>|!DOCTYPE))", body) is None, f"{view}: a tag of a name")
        require(not re.search(r"(?:href|src|action)=\"(?:javascript|data:text|https?:|//)", body), f"{view}: a link of a name")
        require(not re.search("[\u202a-\u202e\u2066-\u2069]", body), f"{view}: text that is reordered")


def check_words(server):
    """Of three traces, each a series of one run or two, nothing is said to be unchanged; a kernel is found by its whole name alone."""
    until(lambda: b"Looking" not in server.get("")[2], 60, "no levels")
    body = server.get("")[2].decode()
    require("is shown to have become slower" in body and "too short for a change" in body, body[:1500])
    for view in ("", "trend", "trend.json"):
        require("1 index or folder is unusable and left out (damaged)" in server.get(view)[2].decode(), f"{view!r}: what is left out")
    sql = "sql.json?i=hostile&q=" + quoted("SELECT DISTINCT name FROM kernels")
    stored = [row["name"] for row in json.loads(server.get(sql)[2])["rows"]]
    require(any(len(name) > 1000 for name in stored), "no long name")
    statement = "SELECT 'it''s' AS a -- one\nFROM kernels LIMIT 1"
    for view, shown in ((f"sql?i=a&q={quoted(statement)}", statement), ("t/kernels?i=a&offset=2", "--offset 2")):
        command = html.unescape(server.get(view)[2].decode())
        command = re.search(r"trace-query [^<]*", command)[0]
        require(shown in subprocess.run(["bash", "-c", f"trace-query() {{ echo \"$*\"; }}; {command}"], capture_output=True, text=True, check=True).stdout,
                f"{view}: the command {command}")
    require(b"no kernel matches" in server.get("k?i=a&name=nobody")[2], "a kernel that is not there")
    link = html.unescape(re.search(r'href="\.\./(k\?[^"]*)"', server.get("t/kernels?i=a&phase=decode")[2].decode())[1])
    alone = server.get(link)[2].decode()
    require("phase=decode" in link and "Its executions in the selection" in alone and "--phase=decode" in alone.replace("'", ""), f"a kernel of a selection: {link}")
    links = [html.unescape(link) for link in re.findall(r'href="\.\./(k\?[^"]*)"', server.get("t/kernels?i=hostile")[2].decode())]
    equal(len(links), len([name for name in stored if not name.startswith("[")]), "kernels that can be opened")
    for name in links:
        status, _, body = server.get(name)
        require(status == 200 and b"All of its executions" in body and b"No rows" not in body, f"{name!r}: {status}")
        rows = body.split(b"All of its executions")[1].split(b"<h2>")[0].count(b"<tr><t")
        equal(rows, 2, f"{name!r}: its head and one row")


def check_reads_only(server):
    """Nor is it noted in an index that its trace was looked at."""
    trace = make_trace(Path(server.folder) / "c.json", "--layers", 1, "--steps", 1)
    ingest(trace, trace.with_name("c.json.tracedb"))
    os.utime(trace, ns=(1, 1))
    time.sleep(2.1)  # only the time of a trace at rest is noted
    names = sorted(path.name for path in Path(server.folder).iterdir())
    before = [(Path(server.folder) / name).read_bytes() for name in names]
    for view in (*VIEWS, "t/kernels?i=c.json"):
        server.get(view)
    equal(sorted(path.name for path in Path(server.folder).iterdir()), names, "files of the folder")
    changed = [name for name, old in zip(names, before) if (Path(server.folder) / name).read_bytes() != old]
    require(b"not checked" not in server.get("t/kernels?i=c.json")[2], "the trace beside an index is read")
    if SHIM.exists():  # what a sanitizer needs is not taken away
        equal(changed, [], "files that were written")
    text = bytearray(trace.read_bytes())
    text[1000:1001] = b"\n" if text[1000:1001] == b" " else b" "
    trace.write_bytes(text)
    for view in ("t?i=c.json", "t/info?i=c.json", "t/kernels.csv?i=c.json", "c?a=a&b=c.json"):
        status, _, body = server.get(view)
        require(status == 410 and b"c.json: out of date" in body, f"{view} of a trace that has changed: {status}")
    for path in (trace, trace.with_name("c.json.tracedb")):
        path.unlink()


def memory(server):
    text = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(text.split("RssAnon:")[1].split()[0])


def check_leaves_nothing(server):
    """After 1,000 requests of which many are broken off: no process, descriptor, or megabyte more."""
    generator = random.Random(7)
    def ask(count):
        for _ in range(count):
            with server.connect() as one:
                one.settimeout(10)
                view = generator.choice((*VIEWS[:9], "static/x", f"sql?i=a&q={quoted(ENDLESS)}"))
                text = f"GET {server.root}{view} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
                kind = generator.randrange(4)
                one.sendall(text[:generator.randrange(len(text))] if kind == 0 else text)
                if kind == 1 and "sql" not in view:
                    one.recv(generator.choice((1, 1000, 100_000)))
        until(lambda: not children(server), 10, "processes left")
        until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) <= descriptors + 1, 10, "descriptors left")
    descriptors = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    ask(200)
    before = memory(server)
    ask(800)
    require(memory(server) - before <= 1024, f"memory: {before} then {memory(server)} kB")


def check_ends(folder):
    """Within a second, with all that runs; a port in use is one line; a socket is for its owner and goes with the server."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with Server(folder) as server, server.ask(f"sql?i=a&q={quoted(ENDLESS)}"):
            until(lambda: children(server), 5, "no process")
            (child,) = children(server)
            server.process.send_signal(number)
            equal(server.process.wait(2), 0 if number != signal.SIGKILL else -number, f"signal {number}")
            until(lambda: not Path(f"/proc/{child}").exists(), 2, "a process is left")
    with Server(folder) as server:
        refused(5, "", "trace-query", "serve", "--port", server.port, folder)
        table = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
        equal({words[1] for words in table if words[3] == "0A" and words[1].endswith(f":{server.port:04X}")}, {f"0100007F:{server.port:04X}"}, "where it listens")
    path = folder.parent / "socket"
    with Server(folder, "--socket", path) as server:
        equal(path.stat().st_mode & 0o777, 0o600, "mode of the socket")
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall(f"GET {server.root}help/ls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            require(one.recv(100).startswith(b"HTTP/1.1 200"), "over the socket")
    require(not path.exists(), "the socket is left")
    token = folder.parent / "token"
    with Server(folder, "--token-file", token) as server:
        root = server.root
        equal(token.stat().st_mode & 0o777, 0o600, "mode of the token's file")
    with Server(folder, "--token-file", token) as server:
        equal(server.root, root, "the same address again")
    for arguments, word in ((("--port", "70000", folder), "--port"), ((folder.parent / "none",), "not there"), ((), "name a folder"), (("--socket", path, "--port", "80", folder), "--port"),
                            (("--socket", token, folder), "Address already in use\n"),
                            (("--token-file", folder / "a.tracedb", folder), "chmod")):
        result = subprocess.run([BIN / "trace-query", "serve", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=20)
        require(result.returncode in (2, 3, 5) and word in result.stderr and len(result.stderr.splitlines()) == 1, f"{arguments}: {result.stderr}")


def check_descriptors(folder):
    """Where no descriptor is left, who comes is turned away, the server does not spin, and goes on afterwards."""
    with Server(folder) as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (24, 24))
        for _ in range(3):
            sockets = [server.connect() for _ in range(40)]
            sockets[-1].settimeout(10)
            equal(sockets[-1].recv(100), b"", "turned away")
            before, begin = cpu(server), time.monotonic()
            time.sleep(0.5)
            require(cpu(server) - before < 0.3 * (time.monotonic() - begin), "the server spins")
            require(len(os.listdir(f"/proc/{server.process.pid}/fd")) <= 24, "descriptors")
            for one in sockets[:12]:
                one.close()
            for path in ("help/ls", "", "t?i=a"):  # a question needs more than are left
                status = status_of(server, path)
                require(status in (0, 200, 503), f"{path}: {status}")
            for one in sockets:
                one.close()
            for path in ("help/ls", "", "t?i=a"):  # it sees that they are closed a moment later
                until(lambda path=path: status_of(server, path) == 200, 10, f"afterwards: {path}")


def status_of(server, path):
    """0: turned away."""
    try:
        return server.get(path)[0]
    except ConnectionError:
        return 0


def cpu(server):
    fields = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_follow(folder):
    with Server(folder) as server:
        equal(server.get("t?i=link")[0], 404, "a link that leads out")
    with Server(folder, "--follow") as server:
        equal(server.get("t?i=link")[0], 200, "with --follow")


def main(cases, folder):
    skip_without_serve()
    shown = folder / "shown"
    shown.mkdir()
    for name in ("a", "b"):
        ingest(make_trace(folder / f"{name}.json", "--layers", 2, "--steps", 4, "--seed", len(name)), shown / f"{name}.tracedb")
    hostile = folder / "hostile.json"
    ingest(write_trace(hostile, [event for number, name in enumerate((*NAMES, "日", "日本", "ab…yz", "ab, then yz")) for event in events_of(number, name)]), shown / "hostile.tracedb")
    outside = folder / "outside.tracedb"
    shutil.copyfile(shown / "a.tracedb", outside)
    (shown / "link.tracedb").symlink_to(outside)
    (shown / "damaged.tracedb").write_text("no index")
    for name in ("a", "b", "hostile"):  # of an index with its trace, a query may note the trace's new stat
        (folder / f"{name}.json").unlink()
    with Server(shown) as server:
        server.folder = shown
        listeners = sockets(server)
        cases.run("connections", check_connections, server)  # which ends those that ask nothing
        waiting = begin_waiting(server)
        for check in (check_views, check_links, check_hosts, check_token, check_paths, check_methods, check_malformed, check_keeping, check_changes, check_hostile_names, check_words,
                      check_reads_only, check_closed_tab, check_slow, check_leaves_nothing, check_limits):
            cases.run(check.__name__[6:], check, server)
        cases.run("waiting", check_waiting, server, listeners, *waiting)
    cases.run("ends", check_ends, shown)
    cases.run("descriptors", check_descriptors, shown)
    cases.run("follow", check_follow, shown)
    cases.run("many", check_many, folder / "many")
    for name, layers, steps in (("large", 16, 100), ("one", 240, 1)):  # the second of one step beyond what other answers may have
        ingest(make_trace(folder / f"{name}.json", "--layers", layers, "--steps", steps), shown / f"{name}.tracedb")
    cases.run("windows", check_windows, shown)
    cases.run("job", check_job, folder / "job")
