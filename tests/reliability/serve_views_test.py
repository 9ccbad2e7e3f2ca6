"""What the pages of `trace-query serve` lead to, over plain sockets: statements and their rows, tabs beside each other, errors, names."""
import html
import json
import os
import re
import shutil
from urllib.parse import quote_plus, urljoin

from served import Server, links, quoted, skip_without_serve, until
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


def check_errors(server):
    """A page that says what is wrong looks like the others and leads back."""
    for view in ("no-such-view", "t/kernels?i=a&op=nonsense", "t/nothing?i=a", "help/x", "c/kernels?a=a&b=nobody", "t?i=nobody", "t?i=" + quote_plus("b…b"),
                 "t/timeline/x.csv?i=a", "t/a/b/c?i=a"):
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
        cases.each((check_statements, check_rows, check_tabs, check_errors), server)
    cases.run("stacks", check_stacks, folder / "stacks")
    cases.run("file names", check_file_names, folder / "names")
    cases.run("cycles", check_cycles, folder / "cycles")
