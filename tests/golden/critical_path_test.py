"""`critical-path`: paths, slack and what-ifs of planted machines against their truth, with and without the records of what waited for
what; and on real traces that parts tile the window, that a factor of 1 changes nothing and that less work is never more time."""
import gzip
import json
import random
from collections import Counter

import made_events
from made_events import call, event, index_of, on_device
from operator_work_test import trace_called
from trace_cases import REFERENCE, edit_database, equal, ingest, refused, require, rows, run

PLANTED = REFERENCE / "analyses" / "critical_path_planted"
KINDS = {"gemm": "computation", "elementwise": "computation", "comm": "communication", "copy": "copy", "host_gap": "host"}
WHAT_IFS = {"gemm 20 % faster": "*gemm*:0.8", "gemm 2x": "*gemm*:0.5", "comm free": "comm:0", "elementwise 2x": "*elementwise*:0.5"}


def notes_of(index, *options):
    return run("trace-query", "critical-path", *options, index).stderr.splitlines()


def by_kind(parts):
    sums = {}
    for begin, end, kind in parts:
        kind = KINDS.get(kind, kind)
        sums[kind] = sums.get(kind, 0) + end - begin
    return sums


def path_of(index, *options):
    """Parts as the truth has them: from, to, kind, name."""
    return [(row["ts"], row["end"], row["kind"], row["name"]) for row in rows("critical-path", "--parts", "--limit", 0, *options, index)]


def check_path(truth, index, kinds=True):
    """Whether the path is the planted one; without the kinds of its gaps: what runs on it."""
    begin = truth["window_ns"][0]
    path = path_of(index)
    for one, after in zip(path, path[1:]):
        equal(after[0], one[1], "begin of a part and end of the one before")
    device = [(ts + begin, end + begin, name) for ts, end, kind, name in path if kind in ("computation", "communication", "copy")]
    theirs = [(one["ts"], one["end"], one["name"]) for one in truth["device_activities_on_path"]]
    same = not kinds or by_kind((ts, end, kind) for ts, end, kind, _ in path) == by_kind(part[:3] for part in truth["segments"])
    return same and device == theirs and path[0][0] == 0 and path[-1][1] == truth["length_ns"]


def check_what_ifs(truth, index):
    compared = 0
    for name, change in WHAT_IFS.items():
        row = rows("critical-path", "--what-if", change, index) if any_kernel(change, index) else None
        if truth["what_if_length_ns"][name] is None or row is None:
            continue
        equal(row[0]["new_length"], truth["what_if_length_ns"][name], name)
        compared += 1
    if truth["what_if_length_ns"]["all kernels free"] is not None:
        equal(rows("critical-path", "--what-if", "comm:1", index)[0]["floor"], truth["what_if_length_ns"]["all kernels free"], "floor")
        compared += 1
    return compared


def any_kernel(change, index):
    what = change.partition(":")[0]
    return what in ("comm", "launch", "host") or rows("sql", index, f"SELECT 1 AS one FROM kernel_name WHERE name GLOB '{what}' LIMIT 1")


def check_slack(truth, index):
    """How many are exact; the others depend on a delay that the machine has and the trace never shows."""
    ours = {row["correlation"]: row for row in rows("critical-path", "--slack", "--limit", 0, index)}
    exact = 0
    for correlation, slack in truth["slack_ns"] or []:
        row = ours[correlation]
        assert row["slack_least"] - 1 <= slack <= row["slack"] + 1, f"slack of {correlation}: {row}, planted {slack}"
        exact += abs(row["slack"] - slack) <= 1
    return exact


def without_records(case, out):
    trace = json.loads(case.read_text())
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event.get("cat") != "cuda_sync"]
    out.write_text(json.dumps(trace))
    return out


def check_planted(out):
    require(PLANTED, "planted critical paths")
    what_ifs = slacks = inferred = cases = 0
    for case in sorted(PLANTED.glob("case??.json")):
        truth = json.loads(case.with_suffix(".truth.json").read_text())
        index = out / "planted.tracedb"
        ingest(case, index)
        assert check_path(truth, index), f"{case.name}: {path_of(index)}"
        what_ifs += check_what_ifs(truth, index)
        slacks += check_slack(truth, index)
        ingest(without_records(case, out / "unrecorded.json"), index)
        inferred += check_path(truth, index, kinds=False)
        assert any("partly inferred" in note for note in notes_of(index)) or "Synchronize" not in case.read_text(), case.name
        cases += 1
    assert inferred * 16 >= 13 * cases, f"{inferred} of {cases} paths without records"
    print(f"{cases} paths, {what_ifs} what-ifs, {slacks} slacks; {inferred} paths without records")


EDGES = """SELECT coalesce(n.name, t.value) AS source, coalesce(k.ts + coalesce(k.dur, 0), m.ts + m.dur) AS at, coalesce(n2.name, t2.value, c.value) AS released
    FROM releases r LEFT JOIN kernel k ON k.id = r.source_kernel_id LEFT JOIN kernel_name n ON n.id = k.name_id
    LEFT JOIN memory_op m ON m.id = r.source_memory_op_id LEFT JOIN string t ON t.id = m.name_id LEFT JOIN kernel k2 ON k2.id = r.kernel_id
    LEFT JOIN kernel_name n2 ON n2.id = k2.name_id LEFT JOIN memory_op m2 ON m2.id = r.memory_op_id LEFT JOIN string t2 ON t2.id = m2.name_id
    LEFT JOIN runtime_call l ON l.id = r.call_id LEFT JOIN string c ON c.id = l.name_id WHERE r.kind IN ('event', 'return')"""


def check_hta(reference, index):
    """HTA's edges of synchronisation, all of them but those to cudaEventQuery: a query waits for nothing."""
    runs = json.loads(gzip.decompress(reference.read_bytes()))["runs"]
    theirs = runs[0].get("sync_edges") or []
    if not theirs:
        return 0
    ingest(trace_called(reference.name.removesuffix(".gz").removesuffix(".json")), index)
    ours = rows("sql", "--limit", 0, index, EDGES)
    shifts = Counter(round(one["at"] / 1000) - round(edge[1]) for one in ours for edge in theirs if (one["source"], one["released"]) == (edge[0], edge[3]))
    shift = shifts.most_common(1)[0][0]  # HTA counts from another first event
    found = {(one["source"], round(one["at"] / 1000) - shift, one["released"]) for one in ours}
    missing = {(edge[0], round(edge[1]), edge[3]) for edge in theirs} - found
    equal([edge for edge in missing if edge[2] != "cudaEventQuery"], [], f"edges that only HTA has of {reference.name}")
    equal(found - {(edge[0], round(edge[1]), edge[3]) for edge in theirs}, set(), "edges that HTA does not have")
    return len(theirs)


def check_edges(folder):
    references = sorted((REFERENCE / "analyses/hta_critical_path").glob("*.json.gz"))
    require(references, "HTA's critical paths")
    found = sum(check_hta(reference, folder / "x.tracedb") for reference in references if reference.name in WITH_RECORDS)
    require(found > 30, f"{found} edges compared")


WITH_RECORDS = ("alexnet_a100.json.gz", "cuda_sync_multi_stream_a100.json.gz")


def check_properties(trace, folder):
    """What holds of any trace: parts tile the window, factors of 1 change nothing, less work is not more time, what is on a path has no slack."""
    index = ingest(trace, folder / "x.tracedb")
    path = rows("critical-path", "--parts", "--limit", 0, index)
    for one, after in zip(path, path[1:]):
        equal(after["ts"], one["end"], "begin of a part and end of the one before")
    length = path[-1]["end"] - path[0]["ts"]
    for by in ("kind", "class", "name", "operator", "module", "device"):
        equal(sum(row["time"] for row in rows("critical-path", "--by", by, "--limit", 0, index)), length, f"sum by {by}")
    changes = ("host:1", "comm:1", "launch:1", "comm:0", "*:0.5", "*:0")
    found = {f"{row['what']}:{float(row['factor'])}": row for row in
             rows("critical-path", *[word for change in changes if any_kernel(change, index) for word in ("--what-if", change)], index)}
    for change in ("host:1.0", "comm:1.0", "launch:1.0"):
        equal((found[change]["length"], found[change]["new_length"]), (length, length), change)
    for change, row in found.items():
        require(row["floor"] <= row["new_length"] <= length, f"{change}: {row}")
    on_path = {row["kernel_id"] for row in rows("sql", "--limit", 0, index, "SELECT kernel_id FROM critical_path WHERE kind = 'computation'")}
    slack = {row["kernel_id"]: row["slack"] for row in rows("sql", "--limit", 0, index, "SELECT kernel_id, slack FROM path_slack")}
    require(all(slack[one] == 0 for one in on_path if one in slack), "slack of what is on the path")
    require(all(value is None or value >= 0 for value in slack.values()), "negative slack")
    for share in (0.3, 0.6):
        check_window(index, "--from", f"{round(length * share)}ns", "--to", f"{round(length * (share + 0.25))}ns")
    steps = rows("sql", index, "SELECT count(*) AS n FROM step")[0]["n"]
    if steps:
        equal(sum(row["saving"] for row in rows("critical-path", "--what-if", "host:1", "--step", "0..", index)), 0, "a factor of 1 in steps")
        for row in rows("critical-path", "--by", "step", "--step", "0..", "--limit", 0, index):
            require(row["time"] > 0, row)


def check_window(index, *options):
    """Of steps and of what --from and --to cut out: a factor of 1 saves nothing, and what is on the path has no slack."""
    path = rows("critical-path", "--parts", "--limit", 0, *options, index)
    for row in rows("critical-path", "--what-if", "host:1", "--what-if", "launch:1", "--what-if", "comm:1", *options, index):
        equal((row["length"], row["saving"]), (sum(part["length"] for part in path), 0), f"{row['what']}:1 with {options}")
    on_path = {(part["step"], part["ts"], part["name"]) for part in path if part["kind"] in ("computation", "communication", "copy")}
    slack = rows("critical-path", "--slack", "--limit", 0, *options, index)
    equal([row for row in slack if row["slack"] != 0 and (row["step"], row["ts"], row["name"]) in on_path], [], f"slack on the path with {options}")


def planted(folder, events):
    return index_of(folder / "t.json", events, "--force", deviceProperties=[{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}])


def kernel(name, ts, dur, correlation, stream=7):
    return made_events.kernel(name, ts, dur, stream, correlation=correlation)


def check_empty_stream(folder):
    """A recorded wait for a stream that runs nothing waits for nothing, whatever runs on others."""
    sync = on_device("cuda_sync", "Stream Sync", 10, 20, 9, correlation=2)
    events = [call("cudaLaunchKernel", 1, 2, 1), kernel("a", 6, 20, 1), call("cudaStreamSynchronize", 10, 20, 2), sync, call("cudaLaunchKernel", 31, 2, 3), kernel("b", 40, 5, 3)]
    index = planted(folder, events)
    equal(rows("sql", index, "SELECT kind FROM releases WHERE kind GLOB '*return'"), [], "returns")
    equal(rows("critical-path", "--what-if", "a:0", index)[0]["saving"], 0, "nothing waits for it")


def recorded(kind, name, ts, dur, correlation, stream=-1, device=0, **args):
    return [call(name, ts, dur, correlation), on_device("cuda_sync", kind, ts, dur, stream, device, correlation=correlation, **args)]


def event_wait(ts, correlation, stream, wait_stream, record):
    """A stream that waits for what another one had when an event was recorded there."""
    names = {"wait_on_stream": wait_stream, "wait_on_cuda_event_record_corr_id": record}
    return [call("cudaEventRecord", ts, 0.5, record), *recorded("Stream Wait Event", "cudaStreamWaitEvent", ts + 1, 0.5, correlation, stream, **names)]


def check_record_of_nothing(folder):
    """A recorded wait for what is not in the trace, or has no launch, is inferred; one for a stream that waits itself is not."""
    gemm, tail = launched("gemm_a", 7, 1000, 1, 1, 2), [event("cpu_op", "aten::tail", 1011, 5), *recorded("Context Sync", "cudaDeviceSynchronize", 1012, 1, 90)]
    stream_sync = recorded("Stream Sync", "cudaStreamSynchronize", 20, 989, 5, 7)
    for name, events, expected in (
            ("an event of before", [*gemm, *recorded("Event Sync", "cudaEventSynchronize", 20, 989, 5)], (28, "inferred")),
            ("an event that is not there", [*gemm, *recorded("Event Sync", "cudaEventSynchronize", 20, 989, 5, wait_on_stream=7, wait_on_cuda_event_record_corr_id=77)], (28, "inferred")),
            ("work of before", [kernel("gemm_a", 7, 1000, 99), *stream_sync], (28, "inferred")),
            ("a known event", [*gemm, *stream_sync], (28, "by the releases")),
            ("a stream that waits", [call("cudaLaunchKernel", 0, 1, 2), kernel("small", 4, 1, 2, 9), *gemm, *event_wait(8, 4, 9, 7, 3), *recorded("Stream Sync", "cudaStreamSynchronize", 20, 989, 5, 9)],
             (28, "by the releases")),
            ("a stream that waits for what is not there", [call("cudaLaunchKernel", 0, 1, 2), kernel("small", 4, 1, 2, 9), *gemm, *event_wait(8, 4, 9, 8, 77)[1:], *recorded("Stream Sync", "cudaStreamSynchronize", 20, 989, 5, 9)],
             (28, "inferred"))):
        index = planted(folder, [event("cpu_op", "aten::op", 0, 30), *events, *tail])
        equal(what_ifs(index, "gemm_a:0"), [expected], name)


def check_many_waits(folder):
    """Of a stream that only waits, a synchronisation waits for what it waits for since the one before."""
    events = []
    for i in range(4):
        at, link = 100 * i, 10 * i + 1
        events += [*launched("gemm_a", at + 3, 30, link, at, 2), *event_wait(at + 6, link + 1, 9, 7, link + 2),
                   *recorded("Stream Sync", "cudaStreamSynchronize", at + 10, 30, link + 3, 9)]
    index = planted(folder, [call("cudaLaunchKernel", 0, 1, 99), kernel("small", 1, 1, 99, 9), *events])
    found = rows("sql", index, "SELECT count(*) AS n FROM releases WHERE kind GLOB '*return' AND source_kernel_id IN "
                               "(SELECT k.id FROM kernel k JOIN kernel_name n ON n.id = k.name_id WHERE n.name = 'gemm_a')")
    equal(found[0]["n"], 4, "waits for gemm_a")


def check_device_of_waits(folder):
    """A wait for a context or an event is for work of its own device."""
    work = [*launched("gemm_a", 7, 100, 1, 1, 2), call("cudaLaunchKernel", 4, 2, 2), made_events.kernel("other", 10, 98.5, 7, 1, correlation=2), call("cudaEventRecord", 7, 1, 3)]
    for name, wait in (("Context Sync", recorded("Context Sync", "cudaDeviceSynchronize", 20, 89, 4)),
                       ("Event Sync", recorded("Event Sync", "cudaEventSynchronize", 20, 89, 4, wait_on_stream=7, wait_on_cuda_event_record_corr_id=3))):
        index = planted(folder, [*work, *wait])
        equal([part[3] for part in path_of(index) if part[2] == "computation"], ["gemm_a"], name)


def check_unrecorded_wait(folder):
    """One wait of a stream that is not recorded: no answer is sure, though others are recorded."""
    events = [*launched("gemm_a", 7, 100, 1, 1, 2), *sync(20, 90, 2), *sync(110, 1, 3), *launched("k", 120, 5, 5, 115)]
    for call_name, certainty in (("cudaEventRecord", "by the releases"), ("cudaStreamWaitEvent", "inferred")):
        index = planted(folder, [*events, call(call_name, 112, 1, 4)])
        equal([sure for _, sure in what_ifs(index, "gemm_a:0.5")], [certainty], call_name)


def check_without_launch(folder):
    """Of kernels without a launch nothing says what they had to do with the host: where they are many, no answer is sure."""
    for dur, sure in ((2, "by the releases"), (60, "inferred")):
        index = planted(folder, [event("cpu_op", "aten::op", 0, 200), *launched("gemm_a", 10, 60, 1, 1, 2), kernel("gemm_b", 80, dur, 99)])
        equal([found for _, found in what_ifs(index, "gemm_a:0.5")], [sure], f"{dur} us without a launch")
        require(f" {100 * dur / (60 + dur):.1f} % of the kernel time has no launch" in " ".join(notes_of(index)), notes_of(index))


def check_ends(folder):
    """What ends a window: all threads of all processes, and work that takes no time; of a step its own work and thread."""
    known = "by the releases"
    waiting = [*launched("gemm_a", 7, 1000, 1, 1, 2), *sync(20, 990, 2), *sync(1012, 1, 3)]
    other = [event("cuda_runtime", "cudaLaunchKernel", 1, 2, 2, 2, correlation=101), made_events.kernel("k", 7, 893, 7, 1, correlation=101)]
    index = planted(folder, [*waiting, event("cpu_op", "decode", 0, 990, tid=2)])
    equal(what_ifs(index, "gemm_a:0"), [(990, known)], "beside another thread")
    index = planted(folder, [*waiting, event("cpu_op", "decode", 0, 1100, 2, 2)])
    equal([row["slack"] for row in rows("critical-path", "--slack", index)], [87000], "slack beside another process")
    index = planted(folder, [step(5, 0, 1020), *waiting, *other])
    equal(what_ifs(index, "gemm_a:0", options=("--step", "0")), [(31, known)], "a step beside another process")
    index = planted(folder, [event("cpu_op", "aten::op", 0, 3), *launched("gemm_a", 7, 50, 1, 1, 1), *launched("k", 62, 0, 2, 2, 0.5)])
    equal([part[2] for part in path_of(index)][-2:], ["computation", "stream_gap"], "a last kernel of no length")
    check_window(planted(folder, waiting), "--to", "1008us")


def check_blocking_copies(folder):
    """A copy whose call returns when it is done waits for its stream, not for the host; but for what the host prepares in that call."""
    def copy(name, ts, dur, correlation):
        return dict(kernel(name, ts, dur, correlation), cat="gpu_memcpy")
    kernels = [call("cudaLaunchKernel", 1, 2, 1), kernel("a", 6, 90, 1), call("cudaMemcpyAsync", 10, 100, 2)]
    for name, ts, expected, saving in (("behind the stream", 100, ["launch_delay", "computation", "stream_gap", "copy", "sync_return"], 87),
                                       ("prepared by the host", 107, ["host", "copy", "sync_return"], 0)):
        index = planted(folder, [*kernels, copy("Memcpy DtoH (Device -> Pageable)", ts, 2, 2)])
        equal([part[2] for part in path_of(index)][-len(expected):], expected, name)
        equal(rows("critical-path", "--what-if", "a:0", index)[0]["saving"], saving * 1000, f"what a copy {name} saves")


def check_free(folder):
    """Memory is freed when the device is done: the call waits for it; one in which nothing ends is the host's."""
    for until, expected in ((96, ["launch_delay", "computation", "sync_return", "host"]), (150, ["host"]), (8, ["host"])):
        events = [call("cudaLaunchKernel", 1, 2, 1), kernel("a", 6, until - 6, 1), call("cudaFree", 10, 90, 2), call("cudaMalloc", 100, 80, 3)]
        index = planted(folder, events)
        equal([part[2] for part in path_of(index)][-len(expected):], expected, f"a kernel until {until}")
        if until == 8:
            half = rows("critical-path", "--what-if", "host:0.5", index)[0]
            require(abs(2 * half["saving"] - half["length"]) <= 1000, f"a call that waits for nothing is the host's: {half}")
        said = " ".join(notes_of(index))
        equal(("1 of 1 returns of waiting calls" in said, " 0 of 0 " in said or " 0.0 % " in said), (until == 96, False), said)


def check_exact_return(folder):
    """A wait that returns in the nanosecond in which its work ends is on the path, and so are the waits before it."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 100}]
    for at in (0, 50):
        events += [call("cudaLaunchKernel", at + 1, 2, at + 1), kernel("a", at + 6, 24, at + 1), call("cudaStreamSynchronize", at + 10, 20, at + 2)]
    index = planted(folder, events)
    equal([(ts, end) for ts, end, kind, _ in path_of(index) if kind == "computation"], [(6000, 30000), (56000, 80000)], "kernels on the path")


def check_passed(folder):
    """A waiting call that takes no time holds nothing up, and is no end of the host's time before it."""
    ops = [event for i in range(10) for event in launched("k", 100 * i + 30, 20, i + 1, 100 * i)]
    for dur in (0, -5, None):
        index = planted(folder, [*ops, call("cudaStreamSynchronize", 495, dur, 99)])
        equal(what_ifs(index, "host:0.5", "host:1", "k:2"), [(497.5, "at least, inferred"), (950, "inferred"), (970, "at least, inferred")], f"a wait of {dur}")
        equal([(row["slack"], row["slack_least"]) for row in rows("critical-path", "--slack", "--limit", 0, index)][:2], [(0, None), (80000, None)], f"slack with a wait of {dur}")


def what_ifs(index, *changes, options=()):
    """By change: new length and certainty."""
    words = [word for change in changes for word in ("--what-if", change)]
    return [(row["new_length"] / 1000, row["certainty"]) for row in rows("critical-path", *words, *options, index)]


def launched(name, ts, dur, correlation, begin, took=5, tid=1):
    return [call("cudaLaunchKernel", begin, took, correlation, tid), kernel(name, ts, dur, correlation)]


def step(number, ts, dur):
    return event("user_annotation", f"ProfilerStep#{number}", ts, dur)


def sync(ts, dur, correlation, tid=1):
    return [call("cudaStreamSynchronize", ts, dur, correlation, tid), on_device("cuda_sync", "Stream Sync", ts, dur, correlation=correlation)]


def check_other_device(folder):
    """A stream waits for the one that a record names, also where that is another device's; copies have names, too."""
    first = [call("cudaLaunchKernel", 0, 2, 1), made_events.kernel("gemm_a", 4, 500, 13, 1, correlation=1)]
    copy = [call("cudaMemcpyAsync", 8, 2, 9), on_device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 506, 100, 7, correlation=9, bytes=1000)]
    index = planted(folder, [*first, *event_wait(5, 4, 7, 13, 3), *copy, *launched("gemm_b", 607, 100, 2, 12, 2), *sync(15, 693, 8)])
    equal(what_ifs(index, "gemm_a:0.5", "Memcpy*:0.5", "Memcpy HtoD (Pinned -> Device):0.5", "copy:0.5"), [(458, "at least"), *[(658, "at least")] * 3], "of another device")


def check_overlap(folder):
    """What steps that overlap share counts in each, which is told."""
    steps = [[step(i, 100 * i, 100), *launched("gemm_a", 100 * i + 50, 95, i + 1, 100 * i + 5)] for i in range(3)]
    index = planted(folder, [one for own in steps for one in own])
    for options, shared in ((("--step", "1"), ""), ((), ""), (("--step", "0..1"), "15.5 % of the path counts more than once"), (("--phase", "train"), "")):
        equal("counts more than once" in " ".join(notes_of(index, *options)), shared != "", f"{options}: {notes_of(index, *options)}")
        require(shared in " ".join(notes_of(index, *options)), f"{options}: {notes_of(index, *options)}")
    equal(what_ifs(index, "gemm_a:2", options=("--step", "0..1"))[0][1], "inferred", "certainty")


def check_cut(folder):
    """What runs at the begin of a window counts from there, what runs at its end until there; that of a call that waits at its end is the device."""
    known = "by the releases"
    first = launched("gemm_a", 10, 1000, 1, 0)
    index = planted(folder, [*first, *launched("gemm_b", 1015, 1000, 2, 20), event("cpu_op", "aten::a", 0, 2500)])
    options = ("--from", "100us", "--to", "900us")
    equal(what_ifs(index, "gemm_a:1", "gemm_a:0", "host:0", "host:1", options=options), [(800, known)] * 4, "a window inside a kernel and an operator")
    check_window(index, *options)
    index = planted(folder, [*first, *launched("gemm_b", 1011, 1000, 2, 20), *sync(30, 1985, 3)])
    options = ("--from", "100us", "--to", "1511us")
    equal([part[2] for part in path_of(index, *options)], ["computation", "stream_gap", "computation"], "a window that ends in a wait")
    equal(what_ifs(index, "gemm_a:0.5", "gemm_b:0.5", "*:0", "host:0", options=options), [(956, known), (1161, known), (1, known), (1411, known)], "its lengths")
    check_window(index, *options)
    options = ("--from", "300us")
    equal(what_ifs(index, "gemm_b:0", "host:1", options=options), [(715, "at least"), (1715, known)], "a wait from before the window")
    check_window(index, *options)


def check_steps(folder):
    """A wait from before a step holds up what the step launches then; --from and --to cut steps."""
    waits = [*launched("gemm_a", 1010, 1200, 1, 1000, tid=2), *launched("gemm_b", 2211, 500, 2, 1010, tid=2), *sync(1020, 1700, 77, tid=2)]
    index = planted(folder, [step(0, 0, 1900), step(1, 2000, 1900), *waits, *launched("gemm_c", 2740, 2000, 3, 2730, tid=2)])
    check_window(index, "--step", "1")
    row = rows("critical-path", "--what-if", "gemm_b:0.5", "--step", "1", index)[0]
    equal(row["saving"], 250000, "half of what a wait from before the step waits for")
    idle = [step(1, 1000, 900), event("cpu_op", "aten::cpu_only", 1100, 500)]
    index = planted(folder, [step(0, 0, 900), *launched("gemm_k", 150, 600, 1, 100, 10), *idle, step(2, 2000, 900), *launched("gemm_k", 2150, 600, 2, 2100, 10)])
    path = path_of(index, "--step", "0", "--from", "200us", "--to", "300us")
    equal((path[0][0], path[-1][1]), (200000, 300000), "a cut step")
    for options, said in ((("--step", "1", "--slack"), "no kernel, copy or fill begins"), (("--from", "1000us", "--to", "1500us", "--slack"), "no kernel, copy or fill begins"),
                          (("--from", "1s", "--slack"), "nothing of the trace"), (("--from", "1s", "--what-if", "gemm_k:0"), "nothing of the trace")):
        equal(rows("critical-path", *options, index), [], f"rows with {options}")
        require(said in " ".join(notes_of(index, *options)), f"{options}: {notes_of(index, *options)}")


def check_launches(folder):
    """The host's time includes that of launches. Where a delay that was never observed cannot matter, lengths are exact."""
    index = planted(folder, [event for i in range(3) for event in launched("k", 100 * i + 60, 5, i + 1, 100 * i, 50)])
    equal(what_ifs(index, "host:2", "host:1", "host:0"), [(515, "by the releases"), (265, "by the releases"), (25, "at least")], "launches of 50 us")
    index = planted(folder, [event for i, late in ((0, 10), (1, 10), (2, 90)) for event in launched("k", 100 * i + 50 + late, 5, i + 1, 100 * i, 50)])
    equal([sure for _, sure in what_ifs(index, "host:0")], ["inferred"], "no bound where much of the path waits for nothing known")
    last = [call("cudaLaunchKernel", 300, 5, 3), kernel("gemm_k", 310, 400, 3, 8), call("cudaDeviceSynchronize", 320, 400, 4)]
    index = planted(folder, [*launched("gemm_k", 30, 100, 1, 5), *launched("k", 215, 50, 2, 205), *last])
    equal(what_ifs(index, "gemm_k:2", "gemm_k:0.9"), [(1115, "inferred"), (675, "at least, inferred")], "what is not sure ends long before, of a wait that is not recorded")


def check_operators(folder):
    """An operator is all that is launched inside it, by operators within it as well."""
    index = planted(folder, [event("cpu_op", "aten::linear", 0, 100), event("cpu_op", "aten::addmm", 5, 90), *launched("gemm_k", 30, 500, 1, 10)])
    equal([new for new, _ in what_ifs(index, "aten::addmm:0", "aten::linear:0")], [100, 100], "without what an operator launches")


def check_scaled(folder):
    """All times by three: all results by three. Events in another order: the same."""
    case = PLANTED / "case08.json"
    require(case.exists(), "planted critical paths")
    trace = json.loads(case.read_text())
    plain = path_of(ingest(case, folder / "a.tracedb"))
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"], event["dur"] = round(event["ts"] * 3, 3), round(event["dur"] * 3, 3)
    random.Random(5).shuffle(trace["traceEvents"])
    (folder / "b.json").write_text(json.dumps(trace))
    scaled = path_of(ingest(folder / "b.json", folder / "b.tracedb"), "--wait", "30us")
    equal(scaled, [(ts * 3, end * 3, kind, name) for ts, end, kind, name in plain], "path of three times the times")


def check_threads(folder):
    """A thread waits for what it waits for itself, or the thread that handed over to it; not for the waits of others that are open beside it."""
    work = [event("cpu_op", "main::work", 0, 1000), *launched("k", 1000, 100, 3, 985)]
    beside = [call("cudaLaunchKernel", 2, 5, 1, 2), kernel("gemm_a", 10, 485, 1, 20), *sync(35, 465, 2, tid=2)]
    beside[-1].update(tid=20, args=dict(beside[-1]["args"], stream=20))
    index = planted(folder, [*work, *beside])
    equal(what_ifs(index, "gemm_a:0", "gemm_a:2"), [(1100, "by the releases")] * 2, "beside the main thread")
    equal([(row["name"], row["slack"]) for row in rows("critical-path", "--slack", index)], [("k", 0), ("gemm_a", 600000)], "slack beside the main thread")
    handed = [event("cpu_op", "main::after", 505, 495), *launched("k", 1000, 100, 3, 985)]
    index = planted(folder, [*handed, *beside])
    equal(what_ifs(index, "gemm_a:2"), [(1098 + 485, "by the releases")], "handed over to the main thread")
    equal([row["slack"] for row in rows("critical-path", "--slack", index)], [0, 0], "slack of what is handed over")


def check_hand_over(folder):
    """Of several open threads the one that began to work last hands over, in any order of the file, and that is inferred; threads that sleep are none."""
    python, loader = event("python_function", "sleep", 0, 600, tid=8), event("cpu_op", "loader", 5, 295, tid=5)
    worker, main = event("cpu_op", "worker", 95, 6, tid=6), [event("cpu_op", "main", 100, 100), *launched("k", 120, 480, 1, 110)]
    for others, thread, inferred in (([loader, worker], 6, 1), ([loader], 5, 0), ([loader, python], 5, 0)):
        for seed in range(4):
            events = [*others, *main]
            random.Random(seed).shuffle(events)
            index = planted(folder, events)
            path = rows("sql", "--limit", 0, index, "SELECT t.tid, p.inferred FROM critical_path p JOIN thread t ON t.id = p.thread_id WHERE p.ts < 120000 ORDER BY p.ts DESC")
            equal((next(row["tid"] for row in path if row["tid"] != 1), sum(row["inferred"] for row in path)), (thread, inferred), f"{others}: {path}")
            equal("1 hand-over by one of several threads is inferred" in " ".join(notes_of(index)), inferred == 1, "whether it is said")


def check_backward(folder):
    """What is open around backward() hides not that its thread waits for autograd's; what works on it, or waits for no autograd, does."""
    def work(sequence):
        ops = [event("cpu_op", "main::forward", 0, 100), event("cpu_op", "autograd::engine::evaluate_function: X", 105, 2150, tid=2)]
        for op, number in zip(ops, (1, sequence)):
            op["args"] = {"Sequence number": number}
        return [*ops, *launched("gemm_a", 162, 2000, 1, 155, tid=2), *sync(165, 2000, 2, tid=2),
                event("cpu_op", "hook", 2256, 2, tid=2), event("cpu_op", "main::after", 2260, 300)]
    around = ([], [event("user_annotation", "ProfilerStep#0", 0, 2560)], [event("python_function", "<built-in method run_backward>", 101, 2158)])
    for beside in around:
        index = planted(folder, [*work(1), *beside])
        equal([length for length, _ in what_ifs(index, "gemm_a:0.5", "gemm_a:2")], [1560, 4560], f"{beside}")
    index = planted(folder, [*work(2), *around[1]])
    equal(what_ifs(index, "gemm_a:0.5"), [(2560, "by the releases")], "of another thread's operators, or of none")
    index = planted(folder, work(1))
    edit_database(index, "UPDATE cpu_op SET thread_id = 500 WHERE id = 1")
    require(rows("critical-path", index), "a thread that is not there")


def last_before(intervals, moment):
    """Of their union the last stretch that begins before a moment: from, until when, at most the moment."""
    begin = end = 0
    for a, b in sorted(one for one in intervals if one[0] < moment):
        begin, end = (a, b) if a > end else (begin, max(end, b))
    return begin, min(end, moment)


def check_last_of_many(folder):
    """Wherever a path changes threads, to the one that ended last; of those open, that worked last; of these, that began to last."""
    changes = 0
    for seed in range(8):
        chance = random.Random(seed)
        work = {tid: [(begin, begin + chance.randint(1, 60)) for begin in chance.sample(range(1, 900), 12)] for tid in range(1, 8)}
        work[1] += [(0, 1), (900, 1000)]  # times of paths count from the first event
        sleeps = {tid: [(chance.randrange(1, 400), chance.randrange(500, 2000))] for tid in (6, 7)}
        events = [event("cpu_op", "work", a, b - a, tid=tid) for tid in work for a, b in work[tid]]
        events += [event("python_function", "sleep", a, b - a, tid=tid) for tid in sleeps for a, b in sleeps[tid]]
        index = planted(folder, [*events, *launched("k", 1010, 400, 1, 990)])
        path = rows("sql", "--limit", 0, index, "SELECT p.ts / 1000 AS ts, p.kind, t.tid FROM critical_path p JOIN thread t ON t.id = p.thread_id WHERE p.ts < 989000 ORDER BY p.ts")
        path = [row for row in path if row["kind"] in ("host", "host_gap")]
        for before, after in zip(path, path[1:]):
            def standing(tid):
                began, worked = last_before(work[tid], after["ts"])
                return last_before(work[tid] + sleeps.get(tid, []), after["ts"])[1], worked, began
            if before["tid"] != after["tid"]:
                changes += 1
                equal(standing(before["tid"]), max(standing(tid) for tid in work if tid != after["tid"]), f"seed {seed}: {before} before {after}")
    require(changes > 50, f"{changes} changes of threads")


def check_bad(folder):
    """Waits on events never recorded, correlations that are none, launches after their kernels, circles of nothing, no device work at all."""
    waits = [event("cuda_sync", name, 5, 1, 0, stream, **args) for name, stream, args in (
        ("Stream Wait Event", 7, {"correlation": 1, "wait_on_stream": 9, "wait_on_cuda_event_record_corr_id": 77, "stream": 7, "device": 0}),
        ("Stream Wait Event", 7, {"correlation": "x", "wait_on_stream": {}, "wait_on_cuda_event_record_corr_id": [1]}),
        ("Event Sync", -1, {"correlation": 3, "wait_on_stream": 4294967295, "wait_on_cuda_event_record_corr_id": -1}),
        ("Context Sync", -1, {}), ("Stream Sync", 7, {"correlation": 3}))]
    same = [kernel("a", 20, 0, 1), kernel("b", 20, 0, 2, 8), kernel("c", 20, 0, 2, 7), kernel("early", 1, 3, 2, 8), kernel("lost", 30, 5, 99, 9)]
    calls = [call("cudaLaunchKernel", 4, 2, 1), call("cudaLaunchKernel", 10, 2, 2), call("cudaDeviceSynchronize", 12, 30, 3), call("cudaStreamWaitEvent", 5, 1, 1)]
    for events in (waits + same + calls, calls, same, waits):
        index = planted(folder, events)
        for options in ((), ("--parts",), ("--slack",), ("--what-if", "comm:0"), ("--from", "5us", "--to", "25us"), ("--from", "1s")):
            run("trace-query", "critical-path", *options, index)
        for options in ((), ("--series",), ("--bandwidth",)):
            run("trace-query", "queue", *options, index)
        run("trace-query", "verify", index)
        run("trace-query", "sql", index, "SELECT count(*) FROM releases")
    index = planted(folder, calls + same)
    for what, none in (("zzz*", True), ("a", False)):
        said = run("trace-query", "critical-path", "--what-if", f"{what}:0", index)
        equal("no kernel, copy or fill that is selected" in said.stdout + said.stderr, none, f"whether nothing is {what}")
    for options, said in ((("--what-if", "nothing"), "WHAT:FACTOR"), (("--what-if", "nope:0.5"), "--what-if nope"), (("--what-if", "comm:-1"), "WHAT:FACTOR"),
                          (("--by", "x"), "there are kind"), (("--device", "0"), "all devices"), (("--slack", "--parts"), "give one")):
        refused(2, said, "trace-query", "critical-path", *options, index)


def check_queue(folder):
    """Three launches at once, one late, one before its launch and one without: lengths over time, by hand."""
    events = [call("cudaLaunchKernel", ts, 1, i + 1) for i, ts in enumerate((10, 20, 30, 100, 200))]
    events += [kernel("k", ts, 5, i + 1) for i, ts in enumerate((40, 50, 60, 101, 190))] + [kernel("lost", 300, 5, 77)]
    index = planted(folder, events)
    series = [(row["ts"], row["waiting"]) for row in rows("queue", "--series", index)]
    equal(series, [(0, 1), (10000, 2), (20000, 3), (30000, 2), (40000, 1), (50000, 0), (90000, 1), (91000, 0)], "points")
    row = rows("queue", "--queue-limit", 2, index)[0]
    equal((row["points"], row["median"], row["max"], row["at_limit"], row["not_launched"]), (8, 1, 3, 30000, 2), "queue")
    equal(round(row["mean"] * 91), 10 + 20 + 30 + 20 + 10 + 1, "mean over time")
    beside = [call("cudaLaunchKernel", 10, 1, 1), call("cudaLaunchKernel", 12, 1, 2), kernel("k", 20, 5, 1, 20), kernel("k", 20, 5, 2, 7)]
    for events in (beside, beside[::-1]):
        equal([row["stream"] for row in rows("queue", planted(folder, events))], [7, 20], "equal queues, in any order of the file")


def check_export(folder):
    """The path on a track of its own, arrows along it, queues as counters; the window is read as the trace, and without them."""
    index = ingest(PLANTED / "case08.json", folder / "p.tracedb")
    run("trace-query", "export", index, "-q", "--critical-path", "--queues", "-o", folder / "w.json")
    events = json.loads((folder / "w.json").read_text())["traceEvents"]
    marks = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["name"] == "thread_name" and event["args"]["name"] == "critical path"}
    parts = [event for event in events if event["ph"] == "X" and (event["pid"], event["tid"]) in marks]
    path = path_of(index)
    equal(len(parts), len(path), "parts on the track")
    equal(round(sum(event["dur"] for event in parts) * 1000), path[-1][1] - path[0][0], "their length")
    require(any(event["ph"] == "C" and event["name"] == "queue of stream 7" for event in events), "queues")
    window = ingest(folder / "w.json", folder / "w.tracedb")
    for statement in ("SELECT count(*) AS n, count(launch_id) AS linked, sum(dur) AS dur FROM kernel", "SELECT count(*) AS n FROM runtime_call"):
        equal(rows("sql", window, statement), rows("sql", index, statement), statement)
    run("trace-query", "export", window, "-q", "-o", folder / "again.json")
    again = json.loads((folder / "again.json").read_text())["traceEvents"]
    require(not any(event["ph"] == "C" and event.get("cat") == "tracedb" for event in again), "counters of a window in its window")


def main(cases, folder):
    cases.each_apart((check_planted, check_edges, check_empty_stream, check_record_of_nothing, check_device_of_waits, check_many_waits, check_unrecorded_wait, check_without_launch, check_ends, check_blocking_copies, check_free, check_exact_return, check_passed, check_other_device, check_overlap, check_cut, check_steps, check_launches, check_operators, check_threads, check_hand_over, check_backward, check_last_of_many, check_scaled, check_bad, check_queue, check_export))
    for trace in TRACES:
        cases.run_apart(trace, lambda own, trace=trace: check_properties(trace_called(trace), own))


# Training with several streams, graphs, several threads, AMD, ranks of one job, python stacks.
TRACES = ("qwen15_05b_hf_h100", "gpt_oss_vllm_decode_graph_mi300x", "resnet_checkpoint_ddp_mi300x", "trace_diff_test_v100", "linear_2080ti",
          "llama_tp4_vllm_h100", "deepseek_v3_train_h800", "fusion_attention_unfused_h100")
