"""A report page with a picture of every kind, made from src/web and invented figures: for tests of the page's script."""
import base64
import hashlib
import html
import json
import random
import re
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "src/web"
D3 = Path("/usr/share/nodejs/d3/dist/d3.min.js")
CLASSES = ["attention", "dense_gemm", "norm", "communication", "elementwise", "copy"]


def _kernels(random_numbers, count, scale, name):
    at, kernels = 0, []
    for number in range(count):
        duration = int(random_numbers.randrange(2_000, 60_000) * scale)
        kernels.append({"name": name(number), "class": CLASSES[number % 6], "role": "qkv_proj" if number % 5 == 1 else None,
                        "start": at, "dur": duration, "stream": 7 + (number % 9 == 8)})
        at += duration + random_numbers.randrange(300, 3_000)
    return kernels


def _lanes(random_numbers, name):
    a, b = _kernels(random_numbers, 18, 1.0, name), _kernels(random_numbers, 16, 0.8, name)
    links = [{"a": [i], "b": [i], "kind": "same" if i % 3 else "replaced", "confidence": 90} for i in range(13)]
    links += [{"a": [13, 14, 15], "b": [13], "kind": "fused", "confidence": 84}, {"a": [16], "b": [], "kind": "only", "confidence": None},
              {"a": [17], "b": [15], "kind": "same", "confidence": None}, {"a": [], "b": [14], "kind": "only", "confidence": None}]
    return {"id": "lanes", "kind": "lanes", "title": "Kernels of one layer", "note": "Layer 3, a mean step.", "phase": "decode", "layer": "3",
            "sides": [{"kernels": a}, {"kernels": b}], "links": links}


def _flame(random_numbers, name, count):
    nodes = [[0, 0, 0, 0]]
    for number in range(1, count):
        nodes.append([max(0, number - random_numbers.randrange(1, 9)), number % 40, random_numbers.randrange(50_000), random_numbers.randrange(40_000)])
    return {"id": "flame", "kind": "flame", "title": "Kernel time by Python call path", "note": "The root is above.", "by": "python", "unit": "ns",
            "names": ["all"] + [name(i) for i in range(1, 40)], "nodes": nodes, "cut_ns": [0, 0]}


def _timeline(random_numbers, name, events):
    rows, at, idle = [], 0, []
    for number in range(events):
        duration = random_numbers.randrange(1_000, 40_000)
        rows.append([number % 3 // 2, at, duration, number % 30, number % 6])
        at += duration
        if number % 11 == 0:
            idle.append([at, 4_000, number % 2])
            at += 4_000
    frames = [[depth, depth * at // 20, at - depth * at // 10, depth] for depth in range(4)]
    return {"id": "timeline", "kind": "timeline", "title": "One step", "note": "Step 12, the median.", "phase": "decode", "step": 12, "span": at,
            "lanes": [{"label": "stream 7", "stream": "7"}, {"label": "stream 20", "stream": "20"}], "events": rows, "idle": idle,
            "frames": frames, "merged": [[0, 0, 500, 40, 4]], "names": [name(i) for i in range(30)], "classes": CLASSES, "causes": ["host_wait", "other"]}


def sample_data(name=lambda number: f"void ns::kernel_{number}<float, {number}>(float*)", events=600, nodes=300, seed=1):
    """The data of a comparison; `name(i)` is the name of the i-th kernel."""
    numbers = random.Random(seed)
    values = [[int(numbers.gauss(mean, 200_000)) for _ in range(count)] for mean, count in ((12_000_000, 400), (10_500_000, 30))]
    changes = [("dense_gemm", -1_400_000, "compute"), ("[idle]", 300_000, "idle"), ("communication", -600_000, "comm"), ("rest", 200_000, "rest")]
    layers = [[[numbers.randrange(10_000, 200_000) for _ in CLASSES] for _ in range(32)] for _ in range(2)]
    pictures = [
        {"id": "waterfall", "kind": "waterfall", "title": "Where the time of a step went", "note": "Mean of a step.", "unit": "ns", "phase": "decode",
         "start": {"label": "MI300X", "value": 12_000_000}, "end": {"label": "H100", "value": 10_500_000},
         "rows": [{"label": label, "value": value, "class": sort, "detail": name(0)} for label, value, sort in changes]},
        {"id": "steps", "kind": "distribution", "title": "Step times", "note": "Period.", "phase": "decode", "measure": "period",
         "sides": [{"values": side, "mean": sum(side) / len(side), "low": min(side) + 400_000, "high": max(side) - 400_000, "count": len(side)} for side in values]},
        {"id": "operations", "kind": "operations", "title": "Operations", "note": "Mean of a step.", "classes": CLASSES, "names": [name(i) for i in range(40)],
         "rows": [[i % 6, i, numbers.randrange(400_000), numbers.randrange(400_000), 3, 2] for i in range(40)]},
        {"id": "layers", "kind": "layers", "title": "Layers", "note": "Mean of a step.", "phase": "decode", "classes": CLASSES,
         "sides": [{"layers": [str(i) for i in range(32)], "ns": side, "count": 32} for side in layers]},
        _lanes(numbers, name), _flame(numbers, name, nodes), _timeline(numbers, name, events),
        {"id": "roofline", "kind": "roofline", "title": "Roofline", "note": "Kernels with shapes.", "names": [name(i) for i in range(20)], "classes": CLASSES,
         "points": [[i, i % 6, 10 ** (6 + i % 6), 10 ** (5 + i % 4), 20_000 + 100 * i, 1 + i] for i in range(20)]},
        {"id": "ranks", "kind": "ranks", "title": "Waiting of ranks", "note": "", "measure": "waiting", "rows": [f"rank {i}" for i in range(8)],
         "columns": [f"step {i}" for i in range(20)], "ns": [[numbers.randrange(1_000_000) for _ in range(20)] for _ in range(8)]},
    ]
    sides = [{"key": "a", "label": "MI300X", "file": "a.json", "gpu": "AMD Instinct MI300X"}, {"key": "b", "label": "H100", "file": "b.json", "gpu": "NVIDIA H100"}]
    return {"version": 1, "kind": "compare", "sides": sides, "pictures": pictures}


def of_one_trace(data):
    """The first side of such data alone."""
    pictures = json.loads(json.dumps(data["pictures"]))
    for picture in pictures:
        if "sides" in picture:
            picture["sides"] = picture["sides"][:1]
        if picture["kind"] == "waterfall":
            picture["rows"] = [{**row, "value": abs(row["value"])} for row in picture["rows"]]
            picture["start"], picture["end"]["value"] = {"label": "0", "value": 0}, sum(row["value"] for row in picture["rows"])
        if picture["kind"] == "operations":
            picture["rows"] = [[*row[:3], row[4]] for row in picture["rows"]]
        if picture["kind"] == "flame":
            picture["nodes"] = [node[:3] for node in picture["nodes"]]
        if picture["kind"] == "lanes":
            picture["links"] = []
    return {**data, "kind": "trace", "sides": data["sides"][:1], "pictures": pictures}


def sample_tables(name, rows):
    """A table of kernels."""
    cells = "".join(f'<tr><td>{html.escape(name(i))}</td><td data-value="{i * 7919 % 10007}">{i * 7919 % 10007 / 1000:.2f} us</td><td>{i % 13}</td></tr>' for i in range(rows))
    return ('<section id="table-kernels"><h2>Kernels</h2><table class="data"><thead><tr><th scope="col" data-type="text">kernel</th>'
            '<th scope="col" data-type="time" data-unit="ns">total</th><th scope="col" data-type="number">count</th></tr></thead><tbody>'
            f'{cells}</tbody></table></section>')


def page_text(data, tables, summary="<header><h1>H100 needs 10.5 ms a step where MI300X needs 12.0 ms: 12.5 % less.</h1></header>"):
    """The whole page, put together as the program does it."""
    files = [WEB / "draw.js", *sorted((WEB / "pictures").glob("*.js")), *sorted((WEB / "page").glob("*.js"))]
    script = "".join(path.read_text(encoding="utf-8") for path in files)
    style, library = (WEB / "page.css").read_text(encoding="utf-8"), D3.read_text(encoding="utf-8")
    def source(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    parts = {"title": "sample", "style": style, "summary": summary, "tables": tables, "library": library, "script": script,
             "csp": f"default-src 'none'; style-src {source(style)}; script-src {source(library)} {source(script)}; base-uri 'none'; form-action 'none'",
             "data": json.dumps(data).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")}
    return re.sub(r"{{(\w+)}}", lambda place: parts[place[1]], (WEB / "page.html").read_text(encoding="utf-8"))
