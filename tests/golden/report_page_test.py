"""Pages of HTML: their pictures add up to what the reports of `trace-query` say, of made traces and of real ones; and the
rules of a page hold: one file below 2 MB, inert, the same bytes each time, never over a trace."""
import json
from pathlib import Path

from made_events import call, event, index_of, kernel
from report_page import comparison_page, pictures_of, read_page, report_page
from time_oracle import length, union
from trace_cases import TRACES, as_json, equal, ingest, open_index, refused, require, rows, run, sql
from usual_steps import counted

PAIRS = (("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz"),
         ("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz"),
         ("dlrm_8rank/worker0.pt.trace.json", "dlrm_8rank/worker1.pt.trace.json"))
MADE = (("a", "--seed", 5, "--layers", 8, "--mix", "P,D*8", "--steps", 36), ("b", "--seed", 6, "--layers", 8, "--mix", "P,D*8", "--steps", 27,
                                                                                 "--fuse", "add+rmsnorm", "--vendor", "nvidia"))
LEFT_OUT = "[others]"


def sections_of(*words):
    document = as_json("compare", "--section", "all", "--limit", 0, *words)
    sections = {section["section"]: section["rows"] for section in document.pop("sections")}
    return {**sections, **document}


def close(actual, expected, most, what):
    require(abs(actual - expected) <= most, f"{what}: got {actual}, expected {expected} +- {most}")


def check_waterfall(picture, ledger):
    rows = [row for row in ledger if row["phase"] == picture["phase"] or picture["phase"] == "all"]
    total = [row for row in rows if row["item"] in ("[span]", "[period]")][-1]
    change = sum(row["value"] for row in picture["rows"])
    equal(picture["start"]["value"] + change, picture["end"]["value"], "start + rows = end")
    equal(change, total["change"], "sum of the rows")
    close(picture["start"]["value"], total["baseline"], 0.5, "start")
    close(picture["end"]["value"], total["candidate"], 1.5, "end")
    values = [row["change"] for row in rows if row["change"] and row["item"] not in ("[span]", "[period]")]
    shown = [row["value"] for row in picture["rows"] if row["label"] != LEFT_OUT]
    equal(sorted(shown, key=abs), sorted(values, key=abs)[len(values) - len(shown):], "rows of the ledger")


def check_operations(picture, sums, most):
    """`sums`: by class, the ns of each side."""
    sides = len(next(iter(sums.values())))
    for side in range(sides):
        own = {}
        for row in picture["rows"]:
            name = picture["classes"][row[0]]
            own[name] = own.get(name, 0) + row[2 + side]
        for name, expected in sums.items():
            rows = sum(picture["classes"][row[0]] == name for row in picture["rows"])
            close(own.pop(name, 0), expected[side], rows * most, f"{name}, side {side}")
        require(not any(own.values()), f"classes that the report lacks: {own}")
        close(sum(row[2 + side] for row in picture["rows"]), sum(one[side] for one in sums.values()), 1, "sum of all classes")


def check_distribution(picture, verdicts):
    row = next(row for row in verdicts if row["phase"] == picture["phase"] and row["metric"] == picture["measure"])
    for side, name in zip(picture["sides"], ("baseline", "candidate")):
        equal(side["count"], row[f"{name}_steps"], f"steps of the {name}")
        equal(side["values"], sorted(side["values"]), "values in order")
        require(len(side["values"]) == min(side["count"], 2000), "as many values")
        if side["count"]:
            close(side["mean"], row[name], 0.5, f"mean of the {name}")
            require(side["low"] is None or side["low"] <= side["mean"] <= side["high"], "the mean is in its interval")


def check_layers(picture, sums):
    """`sums`: by layer, the ns of each side."""
    for number, side in enumerate(picture["sides"]):
        equal(len(side["layers"]), len(side["ns"]), "layers")
        for name, values in zip(side["layers"], side["ns"]):
            close(sum(values), sums[name][number], 1, f"layer {name}, side {number}")


def check_lanes(picture, indexes):
    for number, side in enumerate(picture["sides"]):
        kernels = side["kernels"]
        require(kernels and kernels[0]["start"] == 0, "begins at its first kernel")
        equal([k["start"] for k in kernels], sorted(k["start"] for k in kernels), "in order")
        linked = [place for link in picture["links"] for place in link["ab"[number]]]
        require(all(0 <= place < len(kernels) for place in linked), "links are to kernels")
        equal(len(linked), len(set(linked)), "a kernel has one link")
        durations = {dur for (dur,) in open_index(indexes[number]).execute("SELECT DISTINCT dur FROM kernel")}
        require(all(kernel["dur"] in durations for kernel in kernels), "durations are those of kernels")


def check_flame(picture, totals):
    for side, total in enumerate(totals):
        close(sum(node[2 + side] for node in picture["nodes"]), total, 1, f"all frames, side {side}")
    for place, node in enumerate(picture["nodes"]):
        require(place == 0 or 0 <= node[0] < place, "parents come first")


def check_modules(data, indexes):
    """Flame graphs by Python frame and by module have the same sums; paths of modules are those of `stacks --by module`."""
    flames = {picture["id"]: picture for picture in pictures_of(data, "flame")}
    for picture in [one for one in flames.values() if one["by"] == "module"]:
        python = flames.get("flame" + picture["id"].removeprefix("modules"))
        sums = [[sum(node[2 + side] for node in one["nodes"]) for side in range(len(indexes))] for one in (picture, python or picture)]
        equal(sums[0], sums[1], "sums by module and by frame")
        paths, known = [()], set()
        for parent, name, *_ in picture["nodes"][1:]:
            paths.append((*paths[parent], picture["names"][name]))
        for index in indexes:
            for line in run("trace-query", "stacks", "-q", "--by", "module", "--view", "collapsed", index).stdout.splitlines():
                frames = tuple(line.rpartition(" ")[0].split(";"))
                known |= {frames[:end] for end in range(1, len(frames) + 1)}
        # Text is cut and escaped in another way there.
        plain = {path for path in paths[1:] if all(name.isascii() and len(name) < 80 and name[0] not in "[(" for name in path)}
        equal(plain - known, set(), "paths of modules")


def check_timeline(picture, index):
    shown = sum(event[2] for event in picture["events"]) + sum(mark[2] for mark in picture["merged"])
    idle = sum(gap[1] for gap in picture["idle"])
    equal(idle + picture["idle_not_shown"], picture["idle_total"], "idle times")
    if picture["phase"] == "all":
        return
    step = picture["step"]
    row = next(row for row in rows("steps", index) if row["step"] == step)
    database = open_index(index)
    if database.execute("SELECT count(*) FROM device WHERE used = 1").fetchone()[0] > 1 or not database.execute(
            "SELECT count(*) FROM step").fetchone()[0]:
        return  # of one of the devices; steps that the index does not store
    close(picture["span"], row["gpu_span"], 0, f"span of step {step}")
    begin, end, _ = device_steps(index)[step]
    events = database.execute("SELECT ts, ts + coalesce(dur, 0) FROM kernel UNION ALL SELECT ts, ts + coalesce(dur, 0) FROM memory_op")
    running = union([(max(ts, begin), min(until, end)) for ts, until in events if ts < end and until > begin])
    close(picture["span"] - picture["idle_total"], length(running), 0, f"busy time of the device in step {step}")
    kernels = row["total_time"]
    require(shown >= kernels, f"events of step {step}: {shown} ns, of which kernels {kernels}")


def check_comparison(folder, indexes):
    path = folder / "pair.html"
    document, data = comparison_page(*indexes, path)
    first = path.read_bytes()
    comparison_page(*indexes, path)
    require(path.read_bytes() == first, "the same bytes each time")
    equal((data["kind"], [side["key"] for side in data["sides"]]), ("compare", ["a", "b"]), "kind and sides")
    sections = sections_of(*indexes)
    phases = list(dict.fromkeys(row["phase"] for row in sections["ledger"]))
    for picture in pictures_of(data, "waterfall"):
        check_waterfall(picture, sections["ledger"])
    equal(len(pictures_of(data, "waterfall")), min(len(phases), 3), "a waterfall for each of the first kinds of steps")
    of_phase = lambda rows, picture: [row for row in rows if picture["phase"] in (row["phase"], "all")]  # noqa: E731
    sums = lambda rows, key: {row[key]: (row["baseline"], row["candidate"]) for row in rows}  # noqa: E731
    for picture in pictures_of(data, "operations"):
        check_operations(picture, sums(of_phase(sections["operations"], picture), "op"), 1)
    for picture in pictures_of(data, "distribution"):
        check_distribution(picture, sections["verdict"])
    for picture in pictures_of(data, "layers"):
        check_layers(picture, sums(of_phase(sections["layers"], picture), "layer"))
    for picture in pictures_of(data, "lanes"):
        check_lanes(picture, indexes)
    check_modules(data, indexes)
    for picture in pictures_of(data, "timeline"):
        check_timeline(picture, indexes[0 if picture["id"].endswith("-a") else 1])
    text = " ".join(" ".join(document.words).split())
    terminal = run("trace-query", "compare", "-q", "--width", 1000, *indexes).stdout
    require(" ".join(terminal.splitlines()[0].split()) in text, "the headline of the terminal")
    check_tables(document, sections)


def column_of(table, head):
    """The exact values of the column whose head begins so."""
    place = next(place for place, one in enumerate(table["heads"]) if one["text"].startswith(head))
    return [row[place]["data-value"] for row in table["rows"]]


def check_tables(document, sections):
    """Cells have the exact values of the reports."""
    for table in document.tables:
        name = table["section"].removeprefix("table-")
        heads = [head["text"] for head in table["heads"]]
        equal(len(heads), len({id(head) for head in table["heads"]}), f"{name}: heads")
        require(all(len(row) == len(heads) for row in table["rows"]), f"{name}: cells of each row")
        if name != "ledger":
            continue
        equal(column_of(table, "Change"), [str(row["change"]) for row in sections["ledger"]], "changes of the ledger")


def check_layers_of_trace(picture, rows, steps):
    """Without work that no layer has, where the picture has copies, too."""
    if len({row["stack"] for row in rows if row["stack"]}) > 1:
        return
    sums = {str(row["layer"]): (row["total_time"] / steps,) for row in rows}
    side = picture["sides"][0]
    kept = [place for place, name in enumerate(side["layers"]) if name != "[no layer]"]
    equal({side["layers"][place] for place in kept}, set(sums) - {"[no layer]"}, "layers")
    check_layers({"sides": [{key: [side[key][place] for place in kept] for key in ("layers", "ns")}]}, sums)


def device_steps(index):
    """{step: (start, end, phase)} of the device work."""
    text = run("trace-query", "sql", "-q", "--json", "--limit", 0, index,
               "SELECT step, phase, min(ts) AS first, max(until) AS last FROM (SELECT step, phase, ts, ts + coalesce(dur, 0) AS until "
               "FROM kernels UNION ALL SELECT step, phase, ts, ts + coalesce(dur, 0) FROM memcpys) WHERE step IS NOT NULL GROUP BY step").stdout
    return {row["step"]: (row["first"], row["last"], row["phase"]) for row in json.loads(text)["rows"]}


def counted_steps(index, phase):
    """The numbers of the steps that figures of the page are of."""
    steps = device_steps(index)
    own = [number for number in sorted(steps) if steps[number][2] == phase]
    periods = [steps[number + 1][0] - steps[number][0] if steps.get(number + 1, (0, 0, None))[2] == phase else None for number in own]
    places, _ = counted([steps[number][1] - steps[number][0] for number in own], periods)
    return [own[place] for place in places]


def check_trace(folder, index):
    path = folder / "trace.html"
    document, data = report_page(index, path)
    first = path.read_bytes()
    report_page(index, path)
    require(path.read_bytes() == first, "the same bytes each time")
    equal((data["kind"], len(data["sides"])), ("trace", 1), "kind and sides")
    for picture in data["pictures"]:
        phase = picture["phase"]
        selection = [] if phase == "all" else ["--phase", phase]
        devices = max(1, open_index(index).execute("SELECT count(*) FROM device WHERE used = 1").fetchone()[0])
        steps = 1
        if phase != "all" and devices == 1 and picture["kind"] in ("operations", "layers", "flame"):
            chosen = counted_steps(index, phase)
            steps = len(chosen)
            selection += ["--step", ",".join(map(str, chosen))]
        if picture["kind"] == "waterfall":
            equal(picture["start"]["value"] + sum(row["value"] for row in picture["rows"]), picture["end"]["value"], "start + rows = end")
        if picture["kind"] == "operations" and devices == 1:
            kernels = {row["op"]: (row["total_time"] / steps,) for row in rows("ops", *selection, index)}
            picture["rows"] = [row for row in picture["rows"] if picture["classes"][row[0]] in kernels]
            check_operations(picture, kernels, 1)
        if picture["kind"] == "layers" and devices == 1:
            check_layers_of_trace(picture, rows("layers", *selection, index), steps)
        if picture["kind"] == "flame" and devices == 1:
            check_flame(picture, [sum(row["total_time"] for row in rows("ops", *selection, index)) / steps])
        if picture["kind"] == "timeline":
            check_timeline(picture, index)
        if picture["kind"] == "lanes":
            check_lanes(picture, [index])
        if picture["kind"] == "memory":
            check_memory_curve(picture, rows("memory", "--curve", index))
        if picture["kind"] == "roofline":
            check_roofline(picture, sql(index, "SELECT * FROM operator_work WHERE family = 'gemm'"))
    shown = {table["section"].removeprefix("table-"): table for table in document.tables}
    total = sum(int(value) for value in column_of(shown["ops"], "Total Time")) if "ops" in shown else 0
    equal(total, sum(row["total_time"] for row in rows("ops", index)) if total else 0, "sum of the table of operations")


def check_memory_curve(picture, curve):
    """Pieces hold the peak and what is left; at most 400."""
    curve, points = [row for row in curve if row["device"] == picture["device"]], picture["points"]
    require(0 < len(points) <= 400 and points == sorted(points), f"{len(points)} pieces")
    equal((points[0][0], points[-1][1]), (curve[0]["ts"], curve[-1]["ts"]), "first and last event")
    equal(max(point[2] for point in points), max(row["allocated"] for row in curve), "peak")
    equal(points[-1][3], curve[-1]["allocated"], "left at the end")
    equal(points[-1][4], curve[-1]["reserved"] or 0, "reserved at the end")


def check_roofline(picture, work):
    """Points are calls that `gemms` knows, roofs the peaks that it holds them against."""
    known = {(row["flops"], row["bytes"]) for row in work}
    equal({(point[2], point[3]) for point in picture["points"]} - known, set(), "work of points")
    peaks = {(row["type"], row["peak_tflops"], row["peak_gb_s"]) for row in work if row["peak_tflops"]}
    for name, flops, size in picture["roofs"]:
        require(any(type in name.replace(" (TF32)", "").split(", ") and close_to(flops, 1e12 * tflops) and close_to(size, 1e9 * rate) for type, tflops, rate in peaks), f"{name}: {flops} {size}, {peaks}")


def close_to(value, expected):
    return abs(value - expected) <= 1e-6 * expected


def check_ranks(folder):
    """Waiting by rank and step adds up to what `ranks` says each rank causes."""
    run("make-trace", "job", "--ranks", 4, "--late", "2:compute:300000", folder / "job")
    for name, words in (("report", ("report",)), ("ranks", ("ranks", "--format", "html"))):
        path = folder / f"{name}.html"
        run("trace-query", *words, "-q", "-o", path, folder / "job")
        document, data = read_page(path)
        equal(data["kind"], "ranks", "kind")
        picture = data["pictures"][0]
        document_of_ranks = as_json("ranks", folder / "job")
        ranks = next(section["rows"] for section in document_of_ranks["sections"] if section["section"] == "ranks")
        caused = {f"rank {row['rank']}": row["caused"] for row in ranks if row["rank"].isdigit()}
        equal(dict(zip(picture["rows"], map(sum, picture["ns"]))), caused, "waiting caused")
        exposed = sum(row["exposed_waiting"] for row in ranks if row["rank"].isdigit())
        require(max(map(max, zip(*picture["ns"]))) <= picture["most"] <= exposed, f"most of a step: {picture['most']} of {exposed}")
        require("rank 2 of 4 is late" in " ".join(document.words), "who is late")


def check_size(folder):
    """Thousands of long names, of characters that take most bytes: fewer are shown, and sums close."""
    events = [event("user_annotation", f"ProfilerStep#{step}", 10_000 * step, 9_999) for step in range(4)]
    for number in range(4000):
        ts, name = 10 * number + 1, f"{number} " + '"<&\U0001f600' * 250
        events += [call("cudaLaunchKernel", ts, 1, number + 1), kernel(name, ts + 2, 5 + number % 3, correlation=number + 1)]
    index = index_of(folder / "long.json", events)
    document, data = report_page(index, folder / "long.html")
    require("too large" in " ".join(document.words) or len(data["pictures"]) > 3, "says what is left out")
    picture = pictures_of(data, "operations")[0]
    check_operations(picture, {row["op"]: (row["total_time"] / 3,) for row in rows("ops", "--step", "0..2", index)}, 1)
    comparison_page(index, index, folder / "long_pair.html")


def check_selection(folder, index):
    """A page about some steps has their figures."""
    phase = rows("phases", index)[0]["phase"]
    _, data = report_page(index, folder / "phase.html", "--phase", phase)
    equal({picture["phase"] for picture in data["pictures"]}, {phase}, "phases")
    _, data = report_page(index, folder / "steps.html", "--step", "2..4")
    counts = [side["count"] for picture in pictures_of(data, "distribution") for side in picture["sides"]]
    require(all(count <= 3 for count in counts), f"steps: {counts}")
    document, data = report_page(index, folder / "none.html", "--step", "999999")
    equal(data["pictures"], [], "pictures of nothing")
    require("No device work matches" in " ".join(document.words), "says so")
    told = run("trace-query", "report", "--step", "999999", "-o", folder / "none.html", index).stderr
    require("No device work matches --step 999999" in told, f"says so on the terminal: {told}")


def check_names_of_files(folder, index):
    """A file whose name promises another format than the one that was asked for is written, and said to be."""
    for words, file, said in ((("ops", "--format", "csv"), "p.html", "written as csv, not html"), (("ops", "--format", "table"), "p.html", "written as table, not html"),
                              (("compare", "--format", "csv", index), "p.html", "written as csv, not html"),
                              (("export", "--format", "perfetto"), "p.html", "written as perfetto, not html"),
                              (("ops", "--format", "csv"), "p.csv", ""), (("ops", "--format", "markdown"), "p.txt", ""), (("report",), "p", "")):
        told = run("trace-query", *words, "-o", folder / file, index).stderr
        require(said in told if said else "written as" not in told, f"{words} {file}: {told}")


def check_safety(folder, index):
    """Never over a trace or an index; whole or not at all; wrong use is one line."""
    before = Path(index).read_bytes()
    for words in (("report", "-o", index, index), ("compare", "--format", "html", "-o", index, index, index),
                  ("report", index, index, "-o", folder / "two.html"), ("ops", "--format", "html", index),
                  ("compare", "--method", "wafer", "-o", folder / "w.html", index, index),
                  ("compare", "--format", "html", "--csv", index, index)):
        refused(2, "", "trace-query", *words)
    require(Path(index).read_bytes() == before, "the index is as it was")
    refused(5, "", "trace-query", "report", "-o", folder / "no" / "x.html", index)
    standard = run("trace-query", "report", "-q", index).stdout
    path = folder / "standard.html"
    run("trace-query", "report", "-q", "-o", path, index)
    require(path.read_text() == standard, "the same on standard output")
    text = run("trace-query", "compare", "-q", "--format", "html", "--gate", 5, index, index).stdout
    path.write_text(text)
    document, _ = read_page(path)
    require("gate" in " ".join(document.words).lower(), "the gate is told")


def check_late_device(folder):
    """What passes in a step before its first kernel is in no span: the page says so of a step that is alone."""
    def step(number, begin, first, name=None, host=390000, device=100000):
        return [event("user_annotation", name or f"ProfilerStep#{number}", begin, host),
                call("cudaLaunchKernel", begin + 5, 5, number), kernel("gemm", first, device, correlation=number)]

    queued = (step(1, 1000, 3000, "execute_context_1(8)_generation_0(0)", 5000, 300000)
              + step(2, 10000, 303000, "execute_context_0(0)_generation_4(4)", 390000, 500000))
    for name, events, said in (("queued", queued, False),
                               ("late", step(1, 1000, 271000), True), ("soon", step(1, 1000, 3000, device=380000), False),
                               ("two", step(1, 1000, 271000) + step(2, 400000, 670000), False),
                               ("after", step(1, 1000, 401000), False),
                               ("busy", step(1, 1000, 271000) + [kernel("other", 500, 270000)], False)):
        document, _ = report_page(index_of(folder / f"{name}.json", events, schemaVersion=1), folder / f"{name}.html")
        text = " ".join(" ".join(document.words).split())
        require(said or "But on the host" not in text, f"{name}: {text[:400]}")
        equal("But on the host a step takes 390 ms, and its first work on the device starts after 270 ms (medians)." in text, said, f"{name}: {text[:400]}")
    # Nor is what passes behind its last, or around the work of a trace without steps.
    unmarked = [event("cpu_op", "load", 1000, 390000), *step(1, 1000, 271000)[1:]]
    for name, events, said in (("tail", step(1, 1000, 3000), "a step takes 390 ms, of which 288 ms are behind its last work on the device (medians)."),
                               ("unmarked", unmarked, "the trace takes 390 ms, and its first work on the device starts after 270 ms.")):
        document, _ = report_page(index_of(folder / f"{name}.json", events, schemaVersion=1), folder / f"{name}.html")
        text = " ".join(" ".join(document.words).split())
        require(f"But on the host {said}" in text, f"{name}: {text[:400]}")
    # And so do comparison and gate, where only spans of the device are judged.
    later = index_of(folder / "later.json", step(1, 1000, 471000, host=590000), schemaVersion=1)
    for sides, said, outcome in (((folder / "late.tracedb", later), "late takes 390 ms a step, and its first work on the device starts after 270 ms; later takes 590 ms, "
                                  "and its first work on the device starts after 470 ms: 1.51 times as long.", "host: +51.28 %: of the host's time there is no verdict"),
                                 ((later, folder / "late.tracedb"), "later takes 590 ms a step, ", "span: +0.00 %: 1/1 steps")):
        done = run("trace-query", "compare", *sides, "--gate", 5)
        text = " ".join(done.stdout.split())
        require(f" But on the host {said}" in text and outcome in text.partition(" But ")[0], text)
        equal("host: +51.28 % would exceed 5 %" in done.stderr, "+51" in outcome, done.stderr)
    # But not where one side records more, nor beside steps of another kind: how long after these they begin has a verdict.
    recorded = index_of(folder / "recorded.json", [*step(1, 1000, 471000, host=590000), event("python_function", "a.py(1): f", 1000, 590000, **{"Python id": 1})], schemaVersion=1)
    served = [index_of(folder / f"mark{mark}.json", step(1, 1000, 3000, "execute_context_0(0)_generation_4(4)", 110000)
                       + step(2, mark, 471000, "execute_context_1(8)_generation_0(0)", 580000 - mark), schemaVersion=1) for mark in (470000, 200000)]
    for sides in ((folder / "late.tracedb", recorded), served):
        done = run("trace-query", "compare", *sides, "--gate", 5)
        require("host:" not in done.stdout + done.stderr and "on the host" not in done.stdout, done.stdout)
    # Another step may have run before one that is selected.
    document, _ = report_page(folder / "two.tracedb", folder / "selected.html", "--step", "1")
    require("But on the host" not in " ".join(document.words), "a selected step")


def check_devices_of_a_process(folder):
    """A step takes as long however its work is shared by the devices of a process: one that hardly works is left out, and named;
    where they take turns, the time of the others is idle."""
    def index(name, places, steps=1, gap=100):
        events = []
        for step in range(steps):
            begin = step * (800 + gap)
            events.append(event("user_annotation", f"ProfilerStep#{step}", begin, 800 + gap))
            for i in range(40):
                number, at = step * 100 + i + 1, begin + gap + 20 * i
                events.append(call("cudaLaunchKernel", at - 15, 5, number))
                events += [kernel("gemm", at, 20, device=device, correlation=number) for device in places(i)]
        return index_of(folder / f"{name}.json", events, schemaVersion=1)

    def page(of):
        document, _ = report_page(of, folder / "devices.html")
        return " ".join(" ".join(document.words).split())

    alone, one = index("alone", lambda i: [0]), index("one", lambda i: [int(i == 20)])
    turns, both = index("turns", lambda i: [i // 20]), index("both", lambda i: [0, 1])
    for of, said in ((alone, ""), (one, "device 1, with less than a tenth of another one's kernel time"), (turns, "devices take turns: on each"), (both, "")):
        text = page(of)
        require("a step spans 800 us" in text, f"{of}: {text[:400]}")
        require(all((words in text) == (words in said) for words in ("device 1, with less", "devices take turns: on each")), f"{of}: {text[:800]}")
        (span,) = [row for row in sections_of(alone, of)["verdict"] if (row["phase"], row["metric"]) == ("unknown", "span")]
        equal((span["baseline"], span["candidate"]), (800_000, 800_000), f"spans of {of}")
    require("runs nothing for 50 % of that (the devices take turns)" in page(turns), page(turns)[:400])
    # What waits for work is not bound by the host because one device has next to none.
    several = index("several", lambda i: [int(i == 20)], 4)
    require("a step takes 900 us" in page(several) and "is busy 87 % of that" in page(several), page(several)[:400])
    equal([row["code"] for row in rows("warnings", several) if row["code"] == "host_bound"], [], "warnings")
    (busy,) = [row for row in rows("findings", several) if row["finding"] == "busy"]
    require(busy["share_pct"] > 80, busy)

    def made(name, work, steps=12, period=1000, also=()):
        """work: [(start, duration, device, mark)] of each step; mark: whether it is launched within the step; `also`: in every other one."""
        events, number = [], 0
        for step in range(steps):
            begin = 1000 + step * period
            events.append(event("user_annotation", f"ProfilerStep#{step}", begin, period - 100))
            for start, duration, device, within in [*work, *(also if step % 2 else ())]:
                number += 1
                events.append(call("cudaLaunchKernel", begin + (2 + number % 7 if within else period - 50), 1, number))
                events.append(kernel("gemm", begin + start, duration + step % 3, device=device, correlation=number))
        return index_of(folder / f"{name}.json", events, schemaVersion=1)
    # Equal spans of steps are equal, however devices share them and whichever of them work.
    def stages(count, end=900, shift=0):
        part = (end - 100) // count
        return [(100 + part * stage, part - 10, stage + shift, True) for stage in range(count)]
    full = [(100 + 200 * i, 190, 0, True) for i in range(4)]
    other = [(start, time, 1 - device, within) for start, time, device, within in full]
    alike = [made(name, work) for name, work in (
        ("full", full), ("other", other), ("stray", [*full, (500, 10, 1, True)]), ("mirrored", [*other, (500, 10, 0, True)]),
        ("nearly", [*full, (500, 36, 1, True)]), ("hardly", [*full, (500, 41, 1, True)]), ("two", stages(2)), ("four_stages", stages(4)),
        ("shifted", stages(4, shift=4)), ("apart", [(100, 630, 0, True), (260, 630, 1, True)]),
        ("aside", [(100, 646, 0, True), (244, 646, 1, True)]), ("at_once", [(100, 790, device, True) for device in range(3)]))]
    for first in (alike[2], alike[7]):
        saved = folder / f"{Path(first).stem}.saved.json"
        run("trace-query", "compare", first, "--save-baseline", saved)
        for second in alike:
            for how in ((first, second), (first, alike[-1], second), ("--baseline-file", saved, second)):
                answer = " ".join(run("trace-query", "compare", *how, "--gate", "3").stdout.split())
                require(answer.startswith("gate 3 %: passed"), f"{how}: {answer[:900]}")
    for pair in ((alike[4], alike[5]), (alike[5], alike[4])):
        said = " ".join(run("trace-query", "compare", *pair).stdout.split())
        require("instead" not in said and said.count("device 1, with less than a tenth") == 2, said[:900])
    # Steps that overlap from device to device keep their periods, none becomes a warm-up, and a little of it changes little; so do
    # those of other processes.
    piped = made("piped", [(100, 850, 0, True), (960, 850, 1, True)])
    uneven = [(100, 500, 0, True), (610, 240, 1, True), (860, 240, 2, True), (1110, 240, 3, True)]
    for of in (piped, made("crossing", stages(4, 1300)), made("touching", stages(2, 1104)), made("uneven", uneven), made("three", uneven, 3)):
        require("a step takes 1.00 ms (mean of" in page(of), page(of)[:600])
    (span, period) = [sections_of(made("ahead", [(begin - 4 * (device > 0), time, device, True) for begin, time, device, _ in uneven]), folder / "uneven.tracedb")
                      ["verdict"][i] for i in (1, 0)]
    require(abs(span["change_pct"]) < 2 and abs(period["change_pct"]) < 0.5, (span, period))
    (span,) = [row for row in sections_of(made("behind", stages(2, 1090)), folder / "touching.tracedb")["verdict"]
               if (row["phase"], row["metric"]) == ("unknown", "span")]
    require(abs(span["change_pct"]) < 3, span)
    # Where periods are compared, a device that works in every other step has none, which is said.
    some = [made(name, [(100, 600, 0, True)], also=[(100, 300, 1, True)], period=period) for name, period in (("some", 1000), ("later", 1300))]
    said = " ".join(run("trace-query", "compare", *some).stdout.split())
    require(said.startswith("later needs 1.30 ms a step where some needs 1.00 ms"), said[:900])
    equal(str(sections_of(*some)["warnings"]).count("period: device 1, which works in some steps only"), 2, "said")
    # Work outside steps is none in them, and a device that is not selected is not said to be idle.
    outside = made("outside", [*full, (500, 10, 1, True), (960, 390, 1, False)], period=1500)
    require("another one's kernel time in steps (4.69 ms in no step)" in page(outside), page(outside)[:900])
    four = made("four", [(100, 700, device, True) for device in (0, 2, 3)] + [(300, 10, 1, True)])
    document, _ = report_page(four, folder / "selected.html", "--device", "0,1")
    require("steps take: device 1, with less" in " ".join(" ".join(document.words).split()), document.words[:60])


def check_largest(folder):
    """What takes most of the time is said, be it work of no step."""
    events = [one for step in range(6) for one in (
        event("user_annotation", f"ProfilerStep#{step}", 1000 * step, 300), call("cudaLaunchKernel", 1000 * step + 1, 2, 2 * step + 1),
        kernel("gemm", 1000 * step + 5, 290, correlation=2 * step + 1), call("cudaLaunchKernel", 1000 * step + 301, 2, 2 * step + 2),
        kernel("norm", 1000 * step + 305, 690, correlation=2 * step + 2))]
    index = index_of(folder / "between.json", events, schemaVersion=1)
    document, _ = report_page(index, folder / "between.html")
    text = " ".join(" ".join(document.words).split())
    require("Most of the time: work of no step 69 %, GEMM 29 %" in text, text[:400])
    (busy,) = [row for row in rows("findings", index) if row["finding"] == "busy"]
    require(busy["share_pct"] > 90 and not busy["stands_out"], busy)
    events = [one for step in range(6) for one in (
        event("user_annotation", f"ProfilerStep#{step}", 1000 * step, 990), call("cudaLaunchKernel", 1000 * step + 1, 2, 2 * step + 1),
        kernel("gemm", 1000 * step + 5, 900, correlation=2 * step + 1), call("cudaLaunchKernel", 1000 * step + 3, 2, 2 * step + 2),
        kernel("gemm", 1000 * step + 5, 800, 8, correlation=2 * step + 2))]
    document, _ = report_page(index_of(folder / "two.json", events, schemaVersion=1), folder / "two.html")
    text = " ".join(" ".join(document.words).split())
    require("Most of the time, counting kernels that run at once in full: GEMM 94 %, idle 6 %" in text, text[:400])


def made_index(folder, name, *options):
    run("make-trace", *options, "-o", folder / f"{name}.json")
    return ingest(folder / f"{name}.json", folder / f"{name}.tracedb")


def main(cases, folder):
    made = [made_index(folder, *one) for one in MADE]
    cases.run("made pair", check_comparison, folder, made)
    for index in made:
        cases.run(f"made {Path(index).name}", check_trace, folder, index)
    cases.run("selections", check_selection, folder, made[0])
    cases.run("ranks", check_ranks, folder)
    _, data = report_page(made[0], folder / "modules.html")
    require(any(picture.get("by") == "module" for picture in data["pictures"]), "a flame graph by module")
    cases.run("names of files", check_names_of_files, folder, made[0])
    cases.each((check_late_device, check_devices_of_a_process, check_largest, check_size), folder)
    cases.run("safety", check_safety, folder, made[0])
    for files in PAIRS:
        paths = [TRACES / "kineto" / file for file in files]
        if not all(path.exists() for path in paths):
            cases.skip(files[0], "no folder of real traces")
            continue
        indexes = [ingest(path, folder / f"{path.name}.tracedb") for path in paths]
        cases.run(f"pair {paths[0].name}", check_comparison, folder, indexes)
        for index in indexes:
            cases.run(f"trace {Path(index).name}", check_trace, folder, index)
