"""`compare --method wafer` and the rule set `wafer` against everything that tool said of real pairs of traces: every field of
every record, the class and pattern of every distinct name.

Its fields amd_* and nvidia_*, trace1_* and trace2_* are our baseline and candidate; its us and ms are ns here."""
import json
from collections import defaultdict

from made_events import event, index_of
from trace_cases import TRACES, Skip, equal, ingest, json_of, make_trace, real_trace, refused, require, rows, run

GOLDEN = TRACES.parent / "golden/wafer"
TOLERANCE = 1e-9  # sums of doubles there, of integers here
US, MS = 1e3, 1e6
SIDES = {"AMD": "baseline", "NVIDIA": "candidate", "trace1": "baseline", "trace2": "candidate"}
STATUS = {"trace1_only": "baseline_only", "trace2_only": "candidate_only"}


class Near:
    """Equal to a number within the tolerance. `scale`: of what a difference was taken."""

    def __init__(self, value, unit=1.0, scale=0.0):
        self.infinite = value == "inf"
        self.value = 0.0 if self.infinite else value * unit
        self.slack = TOLERANCE * max(abs(self.value), abs(scale) * unit)

    def __eq__(self, other):
        if self.infinite or other is None:
            return self.infinite and other is None
        return abs(other - self.value) <= self.slack

    def __repr__(self):
        return "inf" if self.infinite else f"{self.value!r} within {self.slack!r}"


def trace_of(pair, side):
    """Side 1 is AMD. The pair's name is the trace's without its device."""
    devices = ("mi300x",) if side == 1 else ("h100", "b300", "b200")
    names = [GOLDEN / pair / "input" / f"trace{side}_{'amd' if side == 1 else 'nvidia'}.json"]
    names += [path for device in devices for path in sorted((TRACES / "kineto").glob(f"{pair}_{device}.*"))]
    found = [path for path in names if path.exists()]
    if not found:
        raise Skip("its trace is not here")
    return found[0]


def same_row(row, expected, keys, what):
    """`expected` says what of a row must be; `keys` are the fields of theirs it was made of, and all there are."""
    for key, value in expected.items():
        require(value == row[key], f"{what}, {key}: got {row[key]!r}, expected {value!r}")
    equal(sorted(keys["has"]), sorted(keys["known"]), f"{what}: fields of the reference result")


def known(record, *names):
    return {"has": record.keys(), "known": names}


def check_metadata(golden, sections):
    summary = {row["item"]: row for row in sections["summary"]}
    theirs = golden["metadata"]
    for side, ours in (("trace1", "baseline"), ("trace2", "candidate")):
        device = theirs[f"{side}_device"]
        expected = {
            "platform": theirs[f"{side}_platform"], "device": theirs[f"{side}_gpu"],
            "kernels": theirs[f"{side}_kernels"], "kernel time (ms)": Near(theirs[f"{side}_total_ms"]),
            "correlations in layers": theirs[f"{side}_layers"], "phase": theirs["phase"],
            "architecture": golden["architecture"], "compute capability": device["compute_capability"],
            "memory (GiB)": Near(device["total_memory_gb"]), "multiprocessors": device["sm_count"],
            "warp size": device["warp_size"], "threads per block": device["max_threads_per_block"],
            "shared memory per block (KiB)": Near(device["shared_mem_per_block_kb"])}
        equal(device["name"], theirs[f"{side}_gpu"], "device name of the reference result")
        for item, value in expected.items():
            require(value == summary[item][ours], f"{ours} {item}: got {summary[item][ours]!r}, expected {value!r}")
    totals = golden["same_kernel_analysis"]["summary"]
    expected = {"same kernels": ("baseline", totals["total_same_kernels"]),
                "average ratio of same kernels": ("baseline", Near(totals["avg_ratio"]))}
    for item, (side, value) in expected.items():
        require(value == summary[item][side], f"{item}: got {summary[item][side]!r}, expected {value!r}")
    faster = summary["same kernels faster here"]
    equal((faster["baseline"], faster["candidate"]),
          (totals["kernels_where_amd_faster"], totals["kernels_where_nvidia_faster"]), "same kernels faster here")


def patterns_of(trace, operation):
    return {name["pattern"] for name in trace["kernel_names"] if name["op"] == operation}


def check_operations(golden, traces, sections):
    theirs, ours = golden["operations"], sections["operations"]
    equal([row["operation"] for row in ours], [record["operation"] for record in theirs], "operations")
    for record, row in zip(theirs, ours):
        expected = {"status": record["status"], "ratio": Near(record["ratio"]),
                    "phases": ", ".join(record["phases"]),
                    "gap": Near(record["gap_ms"], MS, record["trace1_total_ms"])}
        fields = ["operation", "status", "ratio", "phases", "gap_ms"]
        for side in ("trace1", "trace2"):
            name = SIDES[side]
            expected[f"{name}_count"] = record[f"{side}_count"]
            expected[f"{name}_avg"] = Near(record[f"{side}_avg_us"], US)
            expected[f"{name}_total"] = Near(record[f"{side}_total_ms"], MS)
            fields += [f"{side}_{field}" for field in ("count", "avg_us", "total_ms", "kernel", "kernels")]
            # Any element of a set there.
            patterns = patterns_of(traces[side], record["operation"])
            require(record[f"{side}_kernel"] in patterns and row[f"{name}_kernel"] in patterns,
                    f"{record['operation']}: pattern {row[f'{name}_kernel']!r}, expected one of {patterns}")
            check_kernels(record, side, sections["operation_kernels"])
        same_row(row, expected, known(record, *fields), record["operation"])


def check_kernels(record, side, rows):
    ours = [row for row in rows if (row["operation"], row["side"]) == (record["operation"], SIDES[side])]
    what = f"{record['operation']}: kernels of {side}"
    equal(len(ours), len(record[f"{side}_kernels"]), what)
    for theirs, row in zip(record[f"{side}_kernels"], ours):
        same_row(row, {"name": theirs["name"], "total_time": Near(theirs["total_us"], US),
                       "instances": theirs["count"], "avg": Near(theirs["avg_us"], US)},
                 known(theirs, "name", "total_us", "count", "avg_us"), what)


def check_layers(golden, sections):
    equal(len(sections["layers"]), len(golden["layers"]), "layers")
    for record, row in zip(golden["layers"], sections["layers"]):
        same_row(row, {
            "layer": record["layer"], "status": STATUS.get(record["status"], record["status"]),
            "baseline_kernels": record["trace1_kernels"], "candidate_kernels": record["trace2_kernels"],
            "baseline_total": Near(record["trace1_total_ms"], MS),
            "candidate_total": Near(record["trace2_total_ms"], MS), "ratio": Near(record["ratio"]),
            "gap": Near(record["gap_ms"], MS, record["trace1_total_ms"]), "in_both": int(record["in_both"])},
            known(record, "layer", "trace1_kernels", "trace2_kernels", "trace1_total_ms", "trace2_total_ms", "ratio",
                  "gap_ms", "status", "in_both"), f"layer {record['layer']}")


def figures(record):
    expected = {"ratio": Near(record["ratio"]), "gap": Near(record["gap_us"], US, record["amd_avg_us"])}
    for side, name in (("amd", "baseline"), ("nvidia", "candidate")):
        expected[f"{name}_count"] = record[f"{side}_count"]
        expected[f"{name}_avg"] = Near(record[f"{side}_avg_us"], US)
        if f"{side}_total_us" in record:
            expected[f"{name}_total"] = Near(record[f"{side}_total_us"], US)
    return expected


def check_pair(layer, record, row):
    note = record["fusion_note"] or {}
    expected = {
        **figures(record), "layer": layer, "position": record["position"], "operation": record["operation"],
        "detail": record["operation_detail"], "note": note.get("kind"), "fused_by": SIDES.get(note.get("fused_by")),
        "same_kernel": int(record["is_same_kernel"]), "baseline_kernel": record["amd_kernel"] or None,
        "candidate_kernel": record["nvidia_kernel"]}
    same_row(row, expected, known(
        record, "position", "operation", "operation_detail", "ratio", "gap_us", "fusion_note", "is_same_kernel",
        *(f"{side}_{field}" for side in ("amd", "nvidia") for field in ("kernel", "avg_us", "count", "total_us"))),
        f"pair of layer {layer}, {record['operation']} {record['position']}")
    require(row["count_ratio"] is None if note.get("ratio") is None else Near(note["ratio"]) == row["count_ratio"],
            f"ratio of counts: got {row['count_ratio']}, expected {note}")


def check_alignment(golden, sections):
    equal(len(sections["aligned_layers"]), len(golden["layer_alignments"]), "aligned layers")
    pairs = iter(sections["pairs"])
    for record, row in zip(golden["layer_alignments"], sections["aligned_layers"]):
        same_row(row, {
            "layer": record["layer"], "pairs": len(record["kernel_pairs"]),
            "baseline_total": Near(record["amd_total_us"], US), "candidate_total": Near(record["nvidia_total_us"], US),
            "ratio": Near(record["ratio"]), "gap": Near(record["gap_us"], US, record["amd_total_us"])},
            known(record, "layer", "amd_total_us", "nvidia_total_us", "ratio", "gap_us", "kernel_pairs"),
            f"aligned layer {record['layer']}")
        for pair in record["kernel_pairs"]:
            check_pair(record["layer"], pair, next(pairs))
    equal(next(pairs, None), None, "pairs beyond those of the reference result")


def check_fusion(golden, sections):
    ours = sections["fusion"]
    equal(len(ours), len(golden["fusion_opportunities"]), "fusion opportunities")
    equal(len(ours), len(golden["fusion_mappings"]), "fusion mappings")
    for record, row in zip(golden["fusion_opportunities"], ours):
        same_row(row, {"type": record["kernel_type"], "fused_by": SIDES[record["fused_by"]],
                       "fused_kernel": record["fused_kernel"], "count": record["count"],
                       "unfused_sequence": " > ".join(record["unfused_kernels"])},
                 known(record, "kernel_type", "layer", "fused_by", "fused_kernel", "unfused_kernels", "count"),
                 f"fusion opportunity {record['kernel_type']}")
        equal(record["layer"], 0, "layer of a fusion")
    for record, row in zip(golden["fusion_mappings"], ours):
        same_row(row, {"type": record["fused_kernel_type"], "fused_by": SIDES[record["fused_platform"]],
                       "fused_kernel": record["fused_kernel_name"], "unfused_by": SIDES[record["unfused_platform"]],
                       "unfused_sequence": " > ".join(record["unfused_sequence"]), "count": record["pattern_count"]},
                 known(record, "fused_kernel_type", "layer", "fused_platform", "fused_kernel_name", "unfused_platform",
                       "unfused_sequence", "pattern_count"), f"fusion mapping {record['fused_kernel_type']}")


def check_same_kernels(golden, sections):
    theirs = golden["same_kernel_analysis"]["kernels"]
    equal(len(sections["same_kernels"]), len(theirs), "same kernels")
    for record, row in zip(theirs, sections["same_kernels"]):
        same_row(row, {**figures(record), "layer": record["layer"], "name": record["kernel_name"],
                       "operation": record["operation"]},
                 known(record, "layer", "kernel_name", "operation", "amd_avg_us", "nvidia_avg_us", "ratio", "gap_us",
                       "amd_count", "nvidia_count"), f"same kernel {record['kernel_name']}")


def check(folder, pair):
    golden = json_of(GOLDEN / pair / "comparison.json.gz")
    traces = {f"trace{side}": json_of(GOLDEN / pair / f"trace{side}.json.gz") for side in (1, 2)}
    indexes = [ingest(trace_of(pair, side), folder / f"{side}.tracedb") for side in (1, 2)]
    # The AMD trace comes first whatever the order.
    document = json.loads(compare("-q", "--json", *reversed(indexes)).stdout)
    equal(document["schema"], "tracedb.compare-wafer/1", "schema")
    equal(document["inputs"], [str(index) for index in indexes], "inputs")
    sections = document["sections"]
    equal(sorted(golden), sorted(("metadata", "architecture", "operations", "layers", "layer_alignments",
                                  "fusion_opportunities", "fusion_mappings", "same_kernel_analysis", "warnings")),
          "sections of the reference result")
    check_metadata(golden, sections)
    check_operations(golden, traces, sections)
    check_layers(golden, sections)
    check_alignment(golden, sections)
    check_fusion(golden, sections)
    check_same_kernels(golden, sections)
    equal([(row["code"], row["severity"]) for row in sections["warnings"]],
          [(warning["code"], warning["severity"]) for warning in golden["warnings"]], "warnings")


def check_rules(folder, pair, side):
    golden = json_of(GOLDEN / pair / f"trace{side}.json.gz")
    index = ingest(trace_of(pair, side), folder / "index.tracedb")
    found = {row["name"]: row for row in rows("rules show", index, "--rules", "wafer")}
    equal(len(found), len(golden["kernel_names"]), "distinct names")
    sums, expected_sums = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0.0])
    for expected in golden["kernel_names"]:
        row = found[expected["name"]]
        equal((row["class"], row["pattern"], row["instances"]),
              (expected["op"], expected["pattern"], expected["count"]), expected["name"])
        sums[row["class"]][0] += row["instances"]
        sums[row["class"]][1] += row["total_time"]
    for key, total in golden["op_phase"].items():
        expected_sums[key.split("|")[0]][0] += total["count"]
        expected_sums[key.split("|")[0]][1] += total["total_us"] * 1000
    equal(sorted(sums), sorted(expected_sums), "classes")
    for name, (count, total) in sums.items():
        equal(count, expected_sums[name][0], f"instances of {name}")
        slack = count + TOLERANCE * total  # a fraction of a ns is cut off each
        require(abs(total - expected_sums[name][1]) <= slack, f"total of {name}: {total}, expected {expected_sums[name][1]}")


def compare(*arguments, check=True):
    return run("trace-query", "compare", "--method", "wafer", *arguments, check=check)


def sections_of(*arguments):
    return json.loads(compare("-q", "--json", *arguments).stdout)["sections"]


def check_odd_traces(folder):
    """No kernels, no annotations, kernels without anything: an answer all the same, that says what is missing."""
    traces = [index_of(folder / f"{name}.json", events) for name, events in (
        ("nothing", []), ("cpu", [event("cpu_op", "op", 1, 2)]),
        ("bare", [event("kernel", f"k{number % 3}", 10 * number, 5, 0, 7) for number in range(7)]),
        ("pass_elsewhere", [*(event("kernel", "", 10 * number, 5, 0, 7) for number in range(3)),
                            event("user_annotation", "execute_context_1(", 900, 5)]))]
    for baseline in traces:
        for candidate in traces:
            for phase in ("all", "prefill", "decode"):
                result = compare("--phase", phase, "--json", baseline, candidate)
                document = json.loads(result.stdout)
                equal(len(document["sections"]), 9, "tables")
                empty = "has no kernels" in result.stderr
                equal(empty, {baseline.stem, candidate.stem} & {"nothing", "cpu"} != set(), "note of no kernels")
    equal(len(sections_of(traces[2], traces[2])["pairs"]), 7, "pairs of a trace without annotations")
    equal(sections_of(traces[2], traces[3])["pairs"], [], "pairs with a trace without kernels in passes")


def check_other_formats(folder):
    """Of formats that the tool does not read, the platform is what is known of the devices, or there is no answer."""
    index = ingest(real_trace("other/rpd_matmul.rpd"), folder / "amd.tracedb")
    summary = {row["item"]: row["baseline"] for row in sections_of(index, index)["summary"]}
    equal([summary[item] for item in ("platform", "device", "warp size")], ["AMD", "Unknown GPU", 64], "devices")
    for name in ("aie/npu_matmul_256x768x768.json", "ascend/level2_kernel_details.csv"):
        other = ingest(real_trace(name), folder / "other.tracedb")
        vendor = name.split("/")[0]
        refused(2, f"other.tracedb: its vendor is {vendor}, and that tool knows AMD and NVIDIA", "trace-query", "compare", "--method", "wafer", index, other)


def check_same_file(folder):
    """All but fusion finds no difference in it; that classifies the second side as NVIDIA's."""
    make_trace(folder / "t.json", "--steps", 6, "--layers", 12, "--vendor", "amd", "--truth", folder / "truth")
    index = ingest(folder / "t.json", folder / "t.tracedb")
    sections = sections_of(index, index)
    require(sections["operations"] and sections["layers"], "no operations or no layers")
    for row in sections["operations"] + sections["layers"]:
        equal((row["status"], row["gap"], row["ratio"]), ("similar", 0, 1), f"{row}")
    def kernels_of(phase):
        return sum(row["baseline_count"] for row in sections_of("--phase", phase, index, index)["operations"])

    prefill, decode = kernels_of("prefill"), kernels_of("decode")
    require(prefill > 0 and decode > 0, f"{prefill} kernels in prefill, {decode} in decode")
    equal(prefill + decode, kernels_of("all"), "kernels of both phases")
    require("treat the baseline as AMD" in compare(index, index).stderr, "no note that sides are taken for vendors")


def check_output(folder):
    make_trace(folder / "t.json", "--steps", 3, "--layers", 2, "--vendor", "nvidia", "--truth", folder / "truth")
    index = ingest(folder / "t.json", folder / "t.tracedb")
    titles = compare("-q", index, index).stdout
    for title in ("Summary", "Operations both have", "Fusion findings", "Its warnings"):
        require(f"{title}\n" in titles, f"no table {title!r}")
    equal(compare("-q", "--section", "all", index, index).stdout, titles, "all sections")
    alone = compare("-q", "--section", "alignment", "--limit", "2", index, index).stdout
    require("Summary" not in alone and alone.count("[others]") == 1, f"not one cut table:\n{alone}")
    rows = sections_of("--section", "alignment", index, index)
    cut = sections_of("--section", "alignment", "--limit", "2", index, index)
    equal(sorted(rows), ["aligned_layers", "pairs"], "tables of a section")
    for key in ("baseline_total", "candidate_count"):
        equal(sum(row[key] for row in cut["pairs"]), sum(row[key] for row in rows["pairs"]), f"{key} of [others]")
    lines = [json.loads(line) for line in compare("-q", "--jsonl", index, index).stdout.splitlines()]
    equal(sum(line["section"] == "pairs" for line in lines), len(rows["pairs"]), "JSON lines")
    for arguments, said in ((("--section", "fusoin", index, index), "did you mean 'fusion'"),
                            (("--phase", "mixed", index, index), "all, prefill and decode"),
                            ((index,), "it compares two"), ((index, index, index), "it compares two")):
        result = compare(*arguments, check=False)
        equal((result.returncode, len(result.stderr.splitlines())), (2, 1), f"{arguments}: {result.stderr}")
        require(said in result.stderr, f"not {said!r}: {result.stderr}")


def main(cases, _):
    cases.each_apart((check_odd_traces, check_other_formats, check_same_file, check_output))
    if not GOLDEN.is_dir():
        cases.skip("wafer", f"no results of that tool here: {GOLDEN} does not exist")
    else:
        for pair in sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()):
            cases.run_apart(pair, check, pair)
            for side in (1, 2):
                cases.run_apart(f"rules of {pair} {side}", check_rules, pair, side)
