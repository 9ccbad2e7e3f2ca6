"""Pages of HTML that `trace-query report` and `compare -o x.html` write: taken apart with the standard library's parser, and
what must hold of each."""
import base64
import hashlib
import json
import re
from html.parser import HTMLParser

from trace_cases import equal, require, run

MOST_BYTES = 2_000_000
KINDS = ("waterfall", "distribution", "layers", "lanes", "flame", "timeline", "roofline", "memory", "operations", "ranks")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "id", "class", "type", "scope", "title", "data-type", "data-unit",
              "data-value", "hidden", "aria-label"}
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "main", "div", "nav", "noscript", "p", "script", "h1", "h2", "section", "ul",
            "ol", "li", "b", "code", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "span", "footer", "details", "summary"}
VOID = {"meta"}


class Document(HTMLParser):
    """Elements and attributes that stand in a page, the text in it, its tables, and the contents of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.attributes, self.ids = [], set(), set(), []
        self.words, self.raw, self.tables, self.meta, self.row = [], [], [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        own = dict(attrs)
        self.ids += [own["id"]] if "id" in own else []
        if tag == "meta":
            self.meta[own.get("http-equiv") or own.get("name") or "charset"] = own.get("content")
        if tag in ("script", "style"):
            self.raw.append([tag, own, ""])
        if tag == "table" and own.get("class") == "data":
            self.tables.append({"heads": [], "rows": [], "section": self.open[-1][1].get("id")})
        if tag == "tr":
            self.row = []
        if tag in ("th", "td") and self.row is not None:
            self.row.append({"tag": tag, "text": "", **own})
        if tag not in VOID:
            self.open.append((tag, own))

    def handle_endtag(self, tag):
        require(self.open and self.open[-1][0] == tag, f"</{tag}> closes <{self.open and self.open[-1][0]}>")
        self.open.pop()
        if tag == "tr" and self.row and any(own.get("class") == "data" for name, own in self.open if name == "table"):
            table = self.tables[-1]
            if self.row[0]["tag"] == "th":
                table["heads"] = self.row
            else:
                table["rows"].append(self.row)
        if tag == "tr":
            self.row = None

    def handle_data(self, data):
        if self.open and self.open[-1][0] in ("script", "style"):
            self.raw[-1][2] += data
        else:
            self.words.append(data)
            if self.row:
                self.row[-1]["text"] += data


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_inert(text, document):
    """Nothing of it is obeyed or fetched, and only the scripts and styles of the program run."""
    found = OBEYED.search(text)
    require(found is None, f"obeyed: {found and ascii(text[max(0, found.start() - 60):found.end() + 20])}")
    equal(document.elements - ELEMENTS, set(), "elements")
    equal(document.attributes - ATTRIBUTES, set(), "attributes")
    equal(len(document.ids), len(set(document.ids)), "ids, each once")
    equal(document.open, [], "elements left open")
    policy = document.meta["Content-Security-Policy"]
    require(policy.startswith("default-src 'none'; "), policy)
    require("unsafe" not in policy and "http" not in policy, policy)
    run_by_it = [(tag, content) for tag, own, content in document.raw if own.get("type") != "application/json"]
    equal([tag for tag, _ in run_by_it], ["style", "script", "script"], "styles and scripts")
    for tag, content in run_by_it:
        require(f"{tag}-src" in policy and hash_of(content) in policy, f"the policy lacks the hash of a {tag}")
    require(not re.search(r"(@import|url\()", run_by_it[0][1]), "the style fetches something")


def read_page(path):
    """(document, data) of a page, which is checked."""
    content = path.read_bytes()
    require(len(content) < MOST_BYTES, f"{len(content)} bytes")
    text = content.decode("utf-8")
    document = Document(text)
    check_inert(text, document)
    require(not re.search(r"[^\s>]<code>", text), "a command glued to the sentence before it")
    data = json.loads(next(content for _, own, content in document.raw if own.get("id") == "data"))
    equal(data["version"], 1, "version")
    for picture in data["pictures"]:
        require(picture["kind"] in KINDS, picture["kind"])
        require(picture["title"] and picture["note"], f"{picture['id']}: title and note")
    ids = [picture["id"] for picture in data["pictures"]]
    equal(len(ids), len(set(ids)), f"ids of pictures, each once: {ids}")
    return document, data


def report_page(index, path, *options):
    run("trace-query", "report", "-q", *options, "-o", path, index)
    return read_page(path)


def comparison_page(a, b, path, *options):
    run("trace-query", "compare", "-q", *options, "-o", path, a, b)
    return read_page(path)


def pictures_of(data, kind):
    return [picture for picture in data["pictures"] if picture["kind"] == kind]
