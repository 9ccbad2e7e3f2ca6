"""Pictures of pages as files: `export --format svg` draws each picture of a page as SVG that stands alone, and nothing that
names of a trace say is obeyed. What the page draws of them in a browser is compared in tests/browser/report_test.py."""
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hostile_names import NAMES, events_of  # noqa: E402
from report_page import comparison_page, report_page  # noqa: E402
from trace_cases import Cases, Skip, equal, ingest, make_trace, require, run, scratch_folder  # noqa: E402

MADE = (("a", "--seed", 5, "--layers", 3, "--mix", "P,D*3", "--steps", 12),
        ("b", "--seed", 6, "--layers", 3, "--mix", "P,D*3", "--steps", 8, "--fuse", "add+rmsnorm", "--vendor", "nvidia"))
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {SVG + name for name in ("svg", "g", "title", "desc", "rect", "line", "path", "circle", "text", "tspan")}


def svg_of(picture, path, *words):
    """The root of a picture as a file, which stands alone and holds nothing but shapes and text."""
    result = run("trace-query", "export", "-q", "--format", "svg", "--picture", picture["id"], "-o", path, *words, check=False)
    if "without Duktape" in result.stderr:
        raise Skip(result.stderr.strip())
    equal((result.returncode, result.stderr), (0, ""), picture["id"])
    root = ElementTree.fromstring(path.read_bytes())
    equal({element.tag for element in root.iter()} - SHAPES, set(), f"{picture['id']}: elements")
    for element in root.iter():
        for name, value in element.attrib.items():
            require(not name.startswith("on") and "href" not in name, f"{picture['id']}: {name}={value}")
            require(not re.search(r"var\(|url\(|NaN|undefined|Infinity", value), f"{picture['id']}: {name}={value}")
    titles = [element.text or "" for element in root.iter(SVG + "title")]
    equal(titles[0], picture["title"], "title")
    require(len(titles) > 1, f"{picture['id']}: no mark tells anything")
    return titles


def check_svg(folder, indexes):
    """Each picture of a page as a file, of a trace and of a pair; by its kind, and refused."""
    path = folder / "picture.svg"
    for words, data in (((indexes[0],), report_page(indexes[0], folder / "one.html")[1]),
                        ((indexes[0], "--compare", indexes[1]), comparison_page(*indexes, folder / "pair.html")[1])):
        kinds = set()
        for picture in data["pictures"]:
            svg_of(picture, path, *words)
            kind = picture["id"].split("-")[0]
            if kind not in kinds:
                run("trace-query", "export", "-q", "--picture", kind, "-o", folder / "kind.svg", *words)
                require(path.read_bytes() == (folder / "kind.svg").read_bytes(), f"the first of kind {kind}, and the same bytes")
            kinds.add(kind)
    index = indexes[0]
    path.unlink()
    for words, said in ((("--picture", "waterfal-decode"), "did you mean 'waterfall-decode'"), (("--picture", "ranks"), "report FOLDER"),
                        (("--picture", "roofline"), "record_shapes=True"), (("--format", "svg"), "needs --picture"),
                        (("--picture", "waterfall", "--format", "csv"), "does not apply to csv"),
                        (("--picture", "flame", "--step", "999999"), "there are no pictures")):
        result = run("trace-query", "export", "-q", *words, "-o", path, index, check=False)
        equal((result.returncode, len(result.stderr.splitlines())), (2, 1), f"{words}: {result.stderr}")
        require(said in result.stderr and not path.exists(), f"{words}: {result.stderr}")


def check_hostile_svg(folder):
    """Names that are markup, and what XML cannot hold."""
    events = [event for number, name in enumerate(NAMES) for event in events_of(number, name)]
    (folder / "hostile.json").write_text(json.dumps({"traceEvents": events}))
    index = ingest(folder / "hostile.json", folder / "hostile.tracedb")
    _, data = report_page(index, folder / "hostile.html")
    told = " ".join(title for picture in data["pictures"] for title in svg_of(picture, folder / "hostile.svg", index))
    for name in ("&lt;b&gt;", '"quoted",=2', "[link](javascript:alert(1))", "long<xxx"):
        require(name in told, f"{name} is in no tip")


def main():
    cases = Cases()
    with scratch_folder() as folder:
        made = [ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb") for name, *options in MADE]
        cases.run("pictures of a pair and of a trace", check_svg, folder, made)
        cases.run("hostile names", check_hostile_svg, folder)
    cases.finish()


if __name__ == "__main__":
    main()
