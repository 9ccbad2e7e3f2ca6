"""`operators`: figures against sums worked out here from the tables of the index, call by call, of synthetic and real traces."""
import statistics
from collections import defaultdict

from made_events import call, event, index_of, kernel
from time_oracle import length, union
from trace_cases import equal, ingest, kineto_traces, make_trace, open_index, require, rows

COLUMNS = {"": (), "shape": ("dims", "types"), "args": ("dims", "types", "strides", "concrete_inputs")}  # of op_shape
FIGURES = ("calls", "host_total", "host_self", "device_total", "device_self", "device_busy", "kernels", "launch_delay")


def expected(index, by, step=None):
    """{(name, texts of the arguments ...): figures} of all device work, or of a step's."""
    with open_index(index) as db:
        none = ("[no operator]", *(None for _ in COLUMNS[by]))
        texts = {shape: [text or None for text in key] for shape, *key in db.execute(", ".join(("SELECT id", *COLUMNS[by])) + " FROM op_shape")}
        ops = {op: ((name, *texts.get(shape, none[1:])), dur or 0, parent) for op, name, shape, dur, parent in db.execute(
            "SELECT o.id, s.value, o.shape_id, o.dur, o.parent_id FROM cpu_op o JOIN string s ON s.id = o.name_id")}
        where = "" if step is None else f"WHERE step_id = (SELECT id FROM step ORDER BY id LIMIT 1 OFFSET {step})"
        events = [(*row, table == "kernel") for table in ("kernel", "memory_op") for row in db.execute(
            f"SELECT ts, coalesce(dur, 0), cpu_op_id, launch_id FROM {table} {where}")]
        calls = {call: ts + dur for call, ts, dur in db.execute("SELECT id, ts, dur FROM runtime_call WHERE dur IS NOT NULL")}
    out = defaultdict(lambda: dict.fromkeys(FIGURES, 0) | {"intervals": [], "delays": []})
    launched, seen = set(), set()
    for begin, dur, op, launch, kernel in sorted(events, key=lambda event: (event[0], not event[4])):
        own = out[ops[op][0] if op in ops else none]
        own["device_self"] += dur
        groups = set() if op in ops else {none}
        while op in ops:
            launched.add(op)
            groups.add(ops[op][0])
            op = ops[op][2]
        for group in groups:
            out[group]["device_total"] += dur
            out[group]["kernels"] += kernel
            out[group]["intervals"].append((begin, begin + dur))
        if kernel and launch in calls and launch not in seen:
            seen.add(launch)
            own["delays"].append(max(0, begin - calls[launch]))
    for op, (key, dur, parent) in ops.items():
        if step is not None and op not in launched:
            continue
        out[key]["calls"] += 1
        out[key]["host_self"] += dur
        if parent in ops and (step is None or parent in launched):
            out[ops[parent][0]]["host_self"] -= dur
        above = parent
        while above in ops and ops[above][0] != key:
            above = ops[above][2]
        out[key]["host_total"] += 0 if above in ops else dur
    for key, figures in out.items():
        figures["device_busy"] = length(union(figures.pop("intervals")))
        delays = figures.pop("delays")
        figures["launch_delay"] = statistics.median(delays) if delays else None
        if key == none:
            figures.update(calls=None, host_total=None, host_self=None)
    return dict(out)


def found(index, by, *options):
    table = rows("operators", index, "--limit", 0, *(("--by", by) if by else ()), *options)
    keys = ["name", *("shape" if column == "dims" else column for column in COLUMNS[by])]
    return {tuple(row[key] for key in keys): {name: row[name] for name in FIGURES} for row in table}


def check_trace(index):
    check_tree(index)
    for by in COLUMNS:
        ours, theirs = found(index, by), expected(index, by)
        equal(sorted(map(str, ours)), sorted(map(str, theirs)), "operators")
        for key, figures in theirs.items():
            equal(ours[key], figures, f"{key}")


def check_tree(index):
    """Paths of names, worked out here; those of a name add up to its row."""
    tree, flat = rows("operators", index, "--tree", "--limit", 0), rows("operators", index, "--limit", 0)
    with open_index(index) as db:
        names, paths = [None], [()]
        for parent, name, dur in db.execute("SELECT o.parent_id, s.value, coalesce(o.dur, 0) FROM cpu_op o JOIN string s ON s.id = o.name_id ORDER BY o.id"):
            names.append(dur)
            paths.append((*paths[parent or 0], name))
    calls, at = {}, []
    for path, dur in zip(paths[1:], names[1:]):
        n, total = calls.get(path, (0, 0))
        calls[path] = (n + 1, total + dur)
    shown = {}
    for row in tree:
        if row["name"] == "[no operator]":
            continue
        at = [*at[:row["depth"]], row["name"]]
        shown[tuple(at)] = (row["calls"], row["host_total"])
    equal(shown, calls, "paths")
    for key in ("calls", "host_self", "device_self"):
        for row in flat:
            equal(sum(one[key] or 0 for one in tree if one["name"] == row["name"]), row[key] or 0, f"{key} of {row['name']}")


def check_selection(folder):
    index = ingest(make_trace(folder / "s.json", "--layers", 3, "--steps", 5, "--graphs", "off", "--shapes", "on"), folder / "s.tracedb")
    for step in (0, 3):
        equal(found(index, "", "--step", step), expected(index, "", step), f"step {step}")
    check_trace(index)


def check_without(folder):
    """A trace of the device alone has work without an operator, and says why."""
    index = ingest(make_trace(folder / "g.json", "--layers", 2, "--steps", 3, "--mix", "D"), folder / "g.tracedb")
    with open_index(index) as db:
        require(db.execute("SELECT count(*) FROM kernel WHERE cpu_op_id IS NULL").fetchone()[0] > 0, "graphs have operators")
    require(("[no operator]",) in found(index, ""), "no row of work without an operator")
    check_trace(index)


def check_outlasting(folder):
    """An operator or module that outlasts those around it: of each moment the one that began last is the innermost, and none has more own time than time."""
    calls = (("parent", 0, 100, 50, 100), ("child", 50, 200, 150, 200), ("last", 200, 100, 100, 100), ("twice", 400, 100, 200, 200), ("twice", 450, 150, 200, 200))
    launch = [call("cudaLaunchKernel", 60, 5, 1), kernel("k", 300, 10, correlation=1)]
    for report, events in (("operators", [event("cpu_op", name, ts, dur) for name, ts, dur, *_ in calls]),
                           ("modules", [event("python_function", f"nn.Module: {name}_0", ts, dur, **{"Python id": i + 1}) for i, (name, ts, dur, *_) in enumerate(calls)])):
        index = index_of(folder / "o.json", [*events, *launch], "--force")
        for options in ((), ("--tree",)):
            found = rows(report, *options, "--limit", 0, index)
            sums = {name: [sum(row[key] for row in found if row.get("name", row.get("module", "")).split("_")[0] == name) for key in ("host_self", "host_total")] for name, *_ in calls}
            if report == "modules" or options:  # by path of names
                require(all(0 <= row["host_self"] <= row["host_total"] for row in found if row["host_self"] is not None), f"{report} {options}: {found}")
            if report == "operators":
                equal(sums, {name: [own * 1000, total * 1000] for name, _, _, own, total in calls} if not options else {**sums, "parent": [50000, 100000], "child": [150000, 200000]}, f"{report} {options}")


def main(cases, folder):
    cases.each_apart((check_selection, check_without, check_outlasting))
    for path in kineto_traces():
        cases.run_apart(path.name, lambda own, path=path: check_trace(ingest(path, own / "x.tracedb")))
