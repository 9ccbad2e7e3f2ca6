"""What the pages of `trace-query serve` lead to, over plain sockets: statements and their rows, tabs beside each other, errors, names."""
import gzip
import html
import json
import os
import re
import shutil
from urllib.parse import quote_plus, urljoin

from served import DAY, FIRST, Server, dated, links, quoted, skip_without_serve, until
from trace_cases import equal, ingest, make_trace, require, run


def submitted(server, body, path="sql", **more):
    """What the form of a page of SQL gets: as an address, or sent where that would be too long."""
    form = re.search(r'<form class="sql".*?</form>', body, re.S)[0]
    fields = re.findall(r'<input(?: type="hidden")? name="([^"]+)" value="([^"]*)"', form)
    fields += [("q", re.search(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.S)[1]), *more.items()]
    sent = "&".join(f"{name}={quote_plus(html.unescape(value))}" for name, value in fields)
    status, _, answer = server.get(path, method="POST", body=sent) if 'method="post"' in form else server.get(f"{path}?{sent}")
    require(status == 200, f"{path} with {sent}: {status} {answer[-300:]}")
    return answer.decode()


def check_statements(server):
    """The SQL of each table can be run, as it is, and answers for what was selected; so does what is too long for an address."""
    def count(body):
        return re.findall(r"Rows \d+ to \d+ of (\d+)", body)
    long = 0
    for table in (link for link in links(server, "t?i=a") if link.startswith("t/")):
        taken = re.findall(r'<input[^>]* name="(\w+)"', server.get(table)[2].decode())
        for choice in ("", "&phase=decode", "&step=2", "&layer=1", "&op=dense_gemm", "&name=*gemm*"):
            if choice and choice[1:].split("=")[0] not in taken:
                continue
            for statement in (link for link in links(server, table + choice) if "from-table" in link):
                page = server.get(statement)[2].decode()
                answer = submitted(server, page)
                if table.split("?")[0] not in ("t/stacks", "t/findings"):  # which drop rows that say nothing
                    equal(count(answer) or ["0"], count(server.get(table + choice)[2].decode()) or ["0"], f"rows by the SQL of {table}{choice}")
                long += 'method="post"' in page
    require(long > 0, "no statement is too long for an address")
    for table in ("t/stacks?i=a&by=module", "t/critical-path?i=a&what-if=host:0.5"):
        status, _, body = server.get(table)
        require(status == 200 and b"from-table" not in body, f"{table}: SQL that answers something else")
    words = "SELECT id FROM kernels -- " + "x" * 6000 + "\nORDER BY id"
    page = server.get("sql", method="POST", body=f"i=a&q={quote_plus(words)}")[2].decode()
    ids = [row["id"] for row in json.loads(submitted(server, page, "sql.json"))["rows"]]
    second = submitted(server, page, offset=re.search(r'form="sql" name="offset" value="(\d+)">next', page)[1])
    require(len(ids) > 100 and f">{ids[100]}</td>" in second and f">{ids[99]}</td>" not in second, f"the second page of {len(ids)} rows that were sent for")
    require("ORDER BY" in submitted(server, server.get("sql?i=a&q=SELECT+id+FROM+kernels")[2].decode()), "nothing said of an order")


def check_rows(server):
    """Every row can be reached: of a part of a comparison page by page, of the schema on its page."""
    whole = json.loads(server.get("c/alignment.json?a=a&b=b")[2])["sections"][0]["rows"]
    view, shown = "c/alignment?a=a&b=b", []
    while view:
        body = server.get(view)[2].decode()
        shown.append(body.split("<tbody>")[1].split("</tbody>")[0].count("<tr>"))
        view = next((urljoin("/" + view, html.unescape(link))[1:] for link in re.findall(r'href="([^"]*)">next<', body)), None)
        require(len(shown) < 20, "no end of pages")
    require(len(shown) > 1, f"{len(whole)} rows on one page")
    equal(sum(shown), len(whole), f"rows of the alignment: {shown}")
    for section, sums in (("ledger", ("[span]", "[period]", "[all steps]")), ("kernels", ())):
        rows = json.loads(server.get(f"c/{section}.json?a=a&b=b")[2])["sections"][0]["rows"]
        count = sum(row.get("item") not in sums for row in rows)
        require(20 < count <= 100 and (count < len(rows)) == bool(sums), f"{section}: {count} of {len(rows)} rows")
        for offset, told in ((0, [("1", str(count), str(count))]), (20, [("21", str(count), str(count))]), (100, [])):
            body = server.get(f"c/{section}?a=a&b=b&offset={offset}")[2].decode()
            equal(re.findall(r"Rows (\d+) to (\d+) of (\d+)", body), told, f"rows of {section} from {offset}")
            require(">next<" not in body, f"{section} from {offset}: a page without rows")
    tables = re.split("<h2>", server.get("c/all?a=a&b=b")[2].decode())[1:]
    for table in tables:
        name, body = table.split("</h2>")[0], table.split("<tbody>")[-1].split("</tbody>")[0]
        led = re.findall(r'href="([^"]*)">page by page<', table)
        equal((len(led), "Rows " in table, ">next<" in table), (body.count("<tr>") >= 100, False, False), f"{name} among others")
        for link in led:
            require(re.search(r"Rows 1 to 100 of \d+", server.get("c/" + html.unescape(link))[2].decode()), f"{name}: {link}")
    require(len(tables) > 5 and any("page by page" in table for table in tables), f"{len(tables)} sections")
    body = server.get("schema")[2].decode()
    equal((body.count("<tr><td"), ">next</a>" in body), (len(json.loads(server.get("schema.json")[2])["rows"]), False), "rows of the schema")


def check_tabs(server):
    """Pages under different filters, open beside each other, all become whole."""
    views = ["?f=" + quoted(f"kernels > {number}") for number in range(3)]
    until(lambda: not any([b"Looking" in server.get(view)[2] for view in views]), 60, "no levels")


def check_back(server):
    """Two sets lead to the sections that sets have; a section that is sorted leads back; sorted by what people are not shown, it has all forms."""
    found = [link for link in links(server, "c?a=a&b=b&sets=1") if "sets=1" in link]
    equal((len(found), {server.get(link)[0] for link in found}), (5, {200}), f"sections of sets: {found}")
    (back,) = (link for link in links(server, "c/kernels?a=a&b=b&sort=op&offset=2") if link.startswith("c?"))
    equal((back, server.get(back)[0]), ("c?a=a&b=b", 200), "from a section to its comparison")
    for table, column in (("steps", "period_on"), ("layers", "stack"), ("stacks", "frames"), ("trend", "index_path")):
        equal(server.get(f"{'' if table == 'trend' else 't/'}{table}.md?i=a&sort={column}")[0], 200, f"{table} by {column}")
    require(b"No rows behind the first 9999." in server.get("t/kernels?i=a&offset=9999")[2], "beyond the last row")
    equal(json.loads(server.get("w.json?i=a&step=1")[2])["tracedb"]["sources"][0]["source"], "a.json", "the trace of a window, which has no path of the machine")


def check_errors(server):
    """A page that says what is wrong looks like the others and leads back."""
    for view in ("no-such-view", "t/kernels?i=a&op=nonsense", "t/nothing?i=a", "help/x", "c/kernels?a=a&b=nobody", "t?i=nobody", "t?i=" + quote_plus("b…b"),
                 "t/timeline/x.csv?i=a", "t/a/b/c?i=a", "?sort=nothing", "?offset=-1", "t/kernels?i=a&offset=x"):
        status, _, body = server.get(view)
        found = [urljoin("/" + view, html.unescape(link))[1:] for link in re.findall(r'(?:href|src)="([^"#]+)"', body.decode()) if link != "data:,"]
        require(status in (400, 404) and b'class="crumbs"' in body and "" in found, f"{view}: {status} {found}")
        require("i=a" not in view or "t?i=a" in found, f"{view}: no way back to the trace: {found}")
        for link in found:
            equal(server.get(link)[0], 200, f"{view} -> {link}")
        require(b"list_indexes" not in body, f"{view}: a word of another program")
    target = f"http://127.0.0.1:{server.port}{server.root}help/kernels"
    equal([server.get(target)[0], server.get(target.replace(server.root, "/x/"))[0]], [200, 404], "a target with its host")
    equal([server.get(f"t/info.{form}?i=a")[0] for form in ("csv", "json", "md")], [200] * 3, "forms of info")


def check_file_names(folder):
    """An index is shown by its name, whatever characters that has, and can be opened."""
    folder.mkdir()
    names = ('q"uote', "back\\slash", "control\x01", "turned\u202eround", os.fsdecode(b"no\xfftext"), "two words")
    for name in names:
        shutil.copyfile(folder.parent / "shown" / "a.tracedb", folder / f"{name}.tracedb")
    with Server(folder) as server:
        body = server.get("")[2].decode()
        shown = re.findall(r'<th scope="row"><a href="([^"]*)">([^<]*)</a></th>', body)
        equal((len(shown), [text for _, text in shown if "tracedb" in text]), (len(names), []), "names")
        equal([server.get(html.unescape(link))[0] for link, _ in shown], [200] * len(names), f"{shown}")


def listed(server, query):
    """(number of traces in the list, what its filter is read as, the command that lists them)"""
    body = server.get("?" + query)[2].decode()
    command = re.search("Command</summary><code>([^<]*)", body)
    count, words = re.search(r"</button> (\d+) traces?(?: of \d+)?( for which this SQL is true| with these words|)", body).groups()
    return int(count), words.split(" ")[-1], command and html.unescape(command[1])


def check_catalogue(folder):
    """What the list says of runs that are slower but few, of traces without an index of their own, and of links; filters and orders."""
    for name in ("nights", "job"):
        (folder / name).mkdir(parents=True)
    for night in range(12):
        trace = make_trace(folder / "nights" / f"{night:02}.json", "--layers", 2, "--steps", 4, "--clock", 1 if night < 10 else 1.3)
        ingest(dated(trace, FIRST + night * DAY), trace.with_suffix(".tracedb"))
        trace.unlink()
    for rank in range(2):
        ingest(make_trace(folder / f"job/rank{rank}.json", "--layers", 1, "--steps", 2, "--rank", rank), folder / f"job/rank{rank}.json.tracedb")
    (folder / "job/rank1.json.gz").write_bytes(gzip.compress((folder / "job/rank1.json").read_bytes()))
    (folder / "out").symlink_to(folder.parent / "shown")
    with Server(folder) as server:
        until(lambda: b"Looking" not in server.get("")[2], 60, "no levels")
        body = server.get("")[2].decode()
        require("; the newest runs of 1 are slower, too few for a change</h1>" in body, body[:3000])
        require(re.search(r'c\?a=nights/09&amp;b=nights/11">slower \+[\d.]+ %, too few runs for a change<', body), "the change of the newest run")
        require("1 link leads out of the folder: left out" in body, "a link")
        require("unusable" not in body, "a link that is left out")
        row = re.search(r"<tr>.*rank1.json.gz.*", body)[0]
        require("another form of a run" in row and "trace-ingest job" not in row, f"another form: {row}")
        for query, expected in (("f=steps+BETWEEN+3+AND+6", (12, "true", "trace-query ls . '--where=steps BETWEEN 3 AND 6'")), ("f=NOT+complete", (0, "true", "trace-query ls . '--where=NOT complete'")),
                                ("f=complete&sort=gpu", (14, "true", "trace-query ls . --where=complete --sort=gpu:asc")), ("f=trace", (13, "words", None)), ("f=nights+11", (1, "words", None)),
                                ("state=indexed&f=steps+IN+(2)", (2, "true", r"trace-query ls . '--where=(steps IN (2)) AND state IS '\''indexed'\'''")),
                                ("job=nights", (12, "", None)), ("gpu=%5Bnone%5D", (1, "", "trace-query ls . '--where=gpu IS NULL'"))):
            equal(listed(server, query), expected, query)
        body = server.get("?sort=period")[2].decode()
        shown = [float(number) * {"us": 1, "ms": 1000}[unit] for number, unit in re.findall(r'class="number">([\d.]+) (us|ms)[^<]*</td><td>', body)]
        equal((len(shown), shown), (14, sorted(shown, reverse=True)), "by the period that is shown, which is the span where there is none")
        jobs = [link for link in links(server, "j?f=job") if "job=" in link]
        equal([server.get(link)[0] for link in jobs], [200] * len(jobs), f"jobs: {jobs}")


def check_cycles(folder):
    """Times of AI Engine tiles are headed as what they count, as in a terminal."""
    folder.mkdir()
    for name, length in (("a", 100), ("b", 120)):
        run("make-trace", "aie", "--kernel-cycles", length, folder / f"{name}.json")
        ingest(folder / f"{name}.json", folder / f"{name}.tracedb")
    with Server(folder) as server:
        for view in ("t/kernels?i=a", "t/timeline?i=a", "c/kernels?a=a&b=b", "k?i=a&name=INSTR_EVENT_0..INSTR_EVENT_1"):
            body = server.get(view)[2].decode()
            require("(cycles)" in body and not re.search(r"\((ns|us)\)", body), f"{view}: {re.findall('<th.*?</th>', body, re.S)}")
        body = server.get("trend?metric=op:other")[2].decode()
        equal((len(re.findall(r">[\d,]+ cycles</td>", body)), " us<" in body), (2, False), "times of a trend")


def check_stacks(folder):
    """A layer of one of several stacks is opened as such."""
    folder.mkdir()
    ingest(make_trace(folder / "a.json", "--model", "encoder+decoder", "--steps", 4), folder / "a.tracedb")
    with Server(folder) as server:
        found = [link for link in links(server, "t/layers?i=a") if "layer=" in link]
        equal([server.get(link)[0] for link in found], [200] * len(found), f"{found}")
        require(len({link.split("layer=")[1].split("%3A")[0] for link in found}) > 1, f"stacks: {found}")


def main(cases, folder):
    skip_without_serve()
    shown = folder / "shown"
    shown.mkdir()
    for name, layers in (("a", 2), ("b", 4)):
        ingest(make_trace(folder / f"{name}.json", "--layers", layers, "--steps", 4), shown / f"{name}.tracedb")
        (folder / f"{name}.json").unlink()
    with Server(shown) as server:
        cases.each((check_statements, check_rows, check_tabs, check_back, check_errors), server)
    cases.run("stacks", check_stacks, folder / "stacks")
    cases.run("catalogue", check_catalogue, folder / "catalogue")
    cases.run("file names", check_file_names, folder / "names")
    cases.run("cycles", check_cycles, folder / "cycles")
