"""`model`: planted models and profiles are found again; where msmodeling is known to err, the right answer beside its own.
`model --compat msmodeling`: files, standard output and exit code of the original, byte for byte. In all of these cases it
succeeds; texts of Python are no result and differ."""
import csv
import io
import json
import os
import shutil
import subprocess

from ascend_cases import compare, generate, operator, original, write_model, write_profile
from trace_cases import TRACES, equal, program, real_trace, require, run, skip_without_traces

GENERATED = [("--ascend", count, "--seed", seed, "--passes", passes)
             for seed, (count, passes) in enumerate([(0, 1), (1, 1), (14, 1), (28, 1), (100, 1), (100, 2), (101, 3), (333, 1),
                                                     (500, 4), (1000, 7), (57, 5), (2000, 1)], 1)]


# ---- generated cases

def check_generated(folder, *options):
    truth = generate(folder, *options)
    if not truth["rows"]:
        return
    _, summary, rows, _ = compare(folder, "model.json", "kernel_details.csv", "--op-map", "op_mapping.yaml", "--passes",
                                  truth["passes"])
    equal(sorted(rows), sorted(row["kernel_type"] for row in truth["rows"]), "kernel types")
    for row in truth["rows"]:
        own = rows[row["kernel_type"]]
        for key in ("status", "model_time", "model_count", "hit_count"):
            equal(own[key], row[key], f"{row['kernel_type']}, {key}")
        require(abs(own["profile_time"] * truth["passes"] - row["profile_time"]) <= truth["passes"],
                f"{row['kernel_type']}: profile time {own['profile_time']}, planted {row['profile_time']} in all")
        require(abs(own["profile_count"] * truth["passes"] - row["profile_count"]) < 1e-6, f"{row['kernel_type']}: count")
        equal(own["hit_time"] + own["miss_time"], own["model_time"], f"{row['kernel_type']}: hits and misses")
    check_sums(summary[0], rows.values(), truth)


def check_sums(summary, rows, truth):
    for key in ("model_time", "profile_time", "hit_time", "miss_time", "estimated_time"):
        equal(sum(row[key] for row in rows), summary[key], f"sum of {key}")
    for own, planted in (("profile_kernels", "kernels"), ("duplicate_kernels", "duplicates"), ("aicpu_kernels", "aicpu"),
                         ("duplicate_time", "duplicate_time"), ("zero_cost_events", "zero_cost_events")):
        equal(summary[own], truth[planted], own)
    off = sum(abs(row["model_time"] - row["profile_time"]) for row in rows)
    require(abs(summary["errors_pct"] - 100 * off / summary["profile_time"]) < 1e-6, f"errors without sign: {summary['errors_pct']}")
    counted = round(sum(row["profile_count"] for row in rows) * truth["passes"])
    equal(counted + summary["duplicate_kernels"] + summary["aicpu_kernels"], summary["profile_kernels"],
          "kernels counted, merged and left out")


def check_other_rows(folder):
    """Rows by shape and by source add up to the same."""
    truth = generate(folder, "--ascend", 300, "--seed", 9, "--passes", 2)
    options = ("--op-map", "op_mapping.yaml", "--passes", truth["passes"])
    _, _, by_kernel, _ = compare(folder, "model.json", "kernel_details.csv", *options)
    require(truth["rows"], "nothing planted")
    for by in ("shape", "source"):
        result = run("trace-query", "model", "model.json", "kernel_details.csv", "--json", "--by", by, *options, cwd=folder)
        rows = json.loads(result.stdout)["sections"][1]["rows"]
        for key in ("model_time", "profile_time", "model_count"):
            equal(sum(row[key] for row in rows), sum(row[key] for row in by_kernel.values()), f"--by {by}: {key}")


def check_indexes(folder):
    """Indexes give the same as the files."""
    truth = generate(folder, "--ascend", 300, "--seed", 9)
    require(truth["rows"], "nothing planted")
    compared = {}
    for names in (("model.json", "kernel_details.csv"), ("model.json.copy.tracedb", "kernel_details.csv.copy.tracedb")):
        for name in names:
            if not (folder / name).exists():
                run("trace-ingest", "-q", "-o", folder / name, folder / name.removesuffix(".copy.tracedb"))
        _, summary, rows, _ = compare(folder, *names, "--op-map", "op_mapping.yaml")
        for row in (*rows.values(), *summary):
            row.update(scenario="", model="", profile="")
        compared[names] = (summary, rows)
    equal(*compared.values(), "from files and from indexes")


def check_categories(folder):
    """Events count whatever their category, as in the original."""
    categories = (None, "kernel", "cpu_op", "user_annotation", "cuda_runtime", "gpu_memcpy", "Operator")
    events = [operator(f"aten.op{place}", 10 + place, "Add" if place % 2 else None) | ({"cat": category} if category else {})
              for place, category in enumerate(categories)]
    write_model(folder / "model.json", events)
    write_profile(folder / "profile.csv", [("Add", 1, 5)])
    _, (summary,), found, _ = compare(folder, "model.json", "profile.csv")
    _, wanted, _, _ = original(folder, folder / "model.json", folder / "profile.csv")
    equal(summary["model_time"], 1000 * sum(event["dur"] for event in events), "time of all events")
    equal({kind: row["model_time"] for kind, row in found.items()},
          {kind: 1000 * row["tc_total_us"] for kind, row in wanted.items()}, "as the original")
    # Beside another process, what is on a device may be of either.
    write_model(folder / "model.json", [*events, {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "other"}},
                                        operator("aten.x", 33, "Add") | {"pid": 9, "cat": "kernel"}])
    _, (summary,), _, said = compare(folder, "model.json", "profile.csv")
    equal(summary["model_time"], 1000 * sum(event["dur"] for event in events if event.get("cat") not in ("kernel", "gpu_memcpy")), "time")
    require("3 kernels and copies in the model's trace of which the process is not known, left out" in said, said)


def check_second_rows(folder):
    """A profile without streams has a collective twice where rows are equal; its index says the same, of streams too."""
    write_model(folder / "model.json", [operator("aten.mm", 10, "Add")])
    head = "Type,Start Time(us),Duration(us)"
    equal_rows = f"{head}\n" + "".join(f"hcom_x_,{start},{dur}\n" for start, dur in [(1, 5), (1, 5), (1, 5), (1, 6), (9, 5)])
    longer = f"{head},Stream ID\nhcom_x_,1,10,5\nhcom_x_,1.1,12,N/A\nhcom_x_,9,N/A,5\nhcom_x_,9,3,N/A\n"
    for text, count, least, most in ((equal_rows, 3, 16, 26), (longer, 2, 15, 25)):
        (folder / "profile.csv").write_text(text)
        run("trace-ingest", "-q", "--force", "-o", folder / "profile.tracedb", folder / "profile.csv")
        for profile in ("profile.csv", "profile.tracedb"):
            _, (summary,), found, _ = compare(folder, "model.json", profile)
            equal((summary["duplicate_kernels"], found["hcom_x_"]["profile_count"], found["hcom_x_"]["profile_time"]),
                  (2, count, 1000 * least), profile)
            _, _, found, _ = compare(folder, "model.json", profile, "--hcom-dedup", "none")
            equal(found["hcom_x_"]["profile_time"], 1000 * most, f"{profile}: time of all rows")


def check_several_devices(folder):
    """Twice the profile on two devices, from the file and its index: the mean is the profile of one."""
    truth = generate(folder, "--ascend", 300, "--seed", 9, "--passes", 2)
    with open(folder / "kernel_details.csv", encoding="utf-8", newline="") as file:
        head, *kernels = csv.reader(file)
    with open(folder / "two_kernel_details.csv", "w", encoding="utf-8", newline="") as file:
        place = head.index("Device_id")
        csv.writer(file).writerows([head, *([*kernel[:place], device, *kernel[place + 1:]] for kernel in kernels for device in (0, 1))])
    run("trace-ingest", "-q", "-o", folder / "two.tracedb", folder / "two_kernel_details.csv")
    options = ("--op-map", "op_mapping.yaml", "--passes", truth["passes"])
    _, (one,), expected, said = compare(folder, "model.json", "kernel_details.csv", *options)
    require("mean over" not in said, said)
    for profile in ("two_kernel_details.csv", "two.tracedb"):
        _, (summary,), found, said = compare(folder, "model.json", profile, *options)
        require("the mean over 2 devices of the profile" in said, said)
        equal(found, expected, f"rows of {profile}")
        equal({key: summary[key] for key in ("profile_time", "busy_time", "m6")}, {key: one[key] for key in ("profile_time", "busy_time", "m6")}, profile)
        equal(summary["duplicate_kernels"], 2 * one["duplicate_kernels"], "duplicates")
    # One row elsewhere makes no second device that works, and is left out; a row without a device is of the others.
    for name, device in (("stray", "1"), ("blank", ""), ("none", "N/A")):
        path = folder / f"{name}_kernel_details.csv"
        last = [[*kernels[-1][:place], device, *kernels[-1][place + 1:]]]
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *kernels, *last] if name == "stray" else [head, *kernels[:-1], *last])
        run("trace-ingest", "-q", "-o", folder / f"{name}.tracedb", path)
        for profile in (path.name, f"{name}.tracedb"):
            _, _, found, said = compare(folder, "model.json", profile, *options)
            require("mean over" not in said and found == expected, f"{profile}: {said}")
            equal("1 device of the profile left out, with less than 5 %" in said, name == "stray", said)


def check_column_names(folder):
    """Columns are found by the names that other versions of the profilers give them; without starts there is no busy time."""
    truth = generate(folder, "--ascend", 300, "--seed", 9, "--passes", 2)
    options = ("--op-map", "op_mapping.yaml", "--passes", truth["passes"])
    _, (one,), expected, _ = compare(folder, "model.json", "kernel_details.csv", *options)
    head, rest = (folder / "kernel_details.csv").read_text(encoding="utf-8").split("\n", 1)
    require(one["duplicate_kernels"] > 0 and one["busy_time"] > 0, one)
    for name, start in (("op_summary", "Task Start Time(us)"), ("older", "Task Start Time"), ("none", "When")):
        new = head.replace("Start Time(us)", start).replace(",Duration(us)", ",Task Duration(us)").replace("Type,", "OP Type,", 1)
        (folder / f"{name}.csv").write_text(f"{new}\n{rest}", encoding="utf-8")
        _, (summary,), found, said = compare(folder, "model.json", f"{name}.csv", *options)
        equal("does not say when its kernels started" in said, name == "none", said)
        equal(summary["busy_time"], None if name == "none" else one["busy_time"], name)
        if name != "none":
            equal(found, expected, name)
            run("trace-ingest", "-q", "-o", folder / f"{name}.tracedb", folder / f"{name}.csv")
            equal(compare(folder, "model.json", f"{name}.tracedb", *options)[2], expected, f"index of {name}")


# ---- where the original errs

def check_nested_mapping(folder):
    """Entries below operator_mappings: it does not find them, so views are misses and misses keep their names."""
    model = write_model(folder / "m.json", [operator("aten.view.default", 5), operator("torch.ops.aten.mm.default", 20)])
    profile = write_profile(folder / "p.csv", [("MatMulV2", 1, 20)])
    mapping = folder / "op_mapping.yaml"
    mapping.write_text("operator_mappings:\n  aten.view.default: {zero_cost: true}\n  aten.mm.default:\n"
                       "    kernel_type: MatMulV2\n", encoding="utf-8")
    _, summary, rows, _ = compare(folder, model, profile, "--op-map", mapping)
    equal(sorted(rows), ["MatMulV2"], "kernel types")
    equal((rows["MatMulV2"]["status"], rows["MatMulV2"]["error_pct"], summary[0]["zero_cost_events"]), ("MISS", 0, 1), "MatMulV2")
    _, theirs, _, _ = original(folder, model, profile, mapping)
    equal(sorted(theirs), ["MatMulV2", "aten.view.default", "torch.ops.aten.mm.default"], "kernel types of the original")
    _, _, top, _ = compare(folder, model, profile, "--op-map", mapping, "--mapping-root", "top")
    equal(sorted(top), ["MatMulV2", "aten.mm.default", "aten.view.default"], "kernel types with --mapping-root top")


def check_truncated_microseconds(folder):
    """One collective around the end of a microsecond is two there; two within a microsecond are one."""
    model = write_model(folder / "m.json", [operator("x", 10, "hcom_allReduce_"), operator("y", 1, "hcom_allGather_")])
    profile = write_profile(folder / "p.csv", [
        ("hcom_allReduce_", "1736413971558972.950\t", 10, "N/A"), ("hcom_allReduce_", "1736413971558973.300\t", "9.9", "46"),
        ("hcom_allGather_", "1736413971559000.100\t", "0.2", "46"), ("hcom_allGather_", "1736413971559000.450\t", "0.3", "46")])
    _, summary, rows, _ = compare(folder, model, profile)
    reduce, gather = rows["hcom_allReduce_"], rows["hcom_allGather_"]
    equal((reduce["profile_count"], reduce["profile_time"], reduce["error_pct"]), (1, 10000, 0), "hcom_allReduce_")
    equal((gather["profile_count"], gather["profile_time"]), (2, 500), "hcom_allGather_")
    equal((summary[0]["duplicate_kernels"], summary[0]["duplicate_time"]), (1, 9900), "duplicates")
    _, theirs, _, _ = original(folder, model, profile)
    equal(theirs["hcom_allGather_"]["prof_count"], 1, "hcom_allGather_ of the original")
    # 972.950 is 973.0 in binary64, a quarter of a microsecond being the least step there.
    write_profile(profile, [("hcom_allReduce_", "100.95", 10, "N/A"), ("hcom_allReduce_", "101.05", "9.9", "46")])
    _, theirs, _, _ = original(folder, model, profile)
    equal(theirs["hcom_allReduce_"]["prof_count"], 2, "hcom_allReduce_ of the original")
    for policy, count in (("window=50ns", 2), ("window=0.1us", 1), ("trunc-us", 2), ("name", 1), ("none", 2)):
        _, _, rows, _ = compare(folder, model, profile, "--hcom-dedup", policy)
        equal(rows["hcom_allReduce_"]["profile_count"], count, f"--hcom-dedup {policy}")


def check_unknown_error(folder):
    """A kernel of the model alone has no error; there it has 0 %, as if it were right."""
    model = write_model(folder / "m.json", [operator("x", 7, "OnlyModel"), operator("y", 7, "Both")])
    profile = write_profile(folder / "p.csv", [("Both", 1, 7), ("OnlyProfile", 9, 3)])
    _, _, rows, _ = compare(folder, model, profile)
    equal({kind: (row["status"], row["error_pct"]) for kind, row in rows.items()},
          {"OnlyModel": ("MODEL_ONLY", None), "Both": ("HIT", 0), "OnlyProfile": ("PROFILE_ONLY", -100)}, "rows")
    _, theirs, _, _ = original(folder, model, profile)
    equal((theirs["OnlyModel"]["status"], theirs["OnlyModel"]["error_pct"]), ("HIT", 0), "of the original")


def check_bad_cell(folder):
    """One unreadable duration loses everything there; here it is counted and said."""
    model = write_model(folder / "m.json", [operator("x", 7, "A")])
    profile = write_profile(folder / "p.csv", [("A", 1, 7), ("A", 9, "N/A"), ("B", 20, "-3"), ("C", 30, 2)])
    code, _, rows, errors = compare(folder, model, profile)
    equal((code, rows["A"]["profile_time"], rows["C"]["profile_time"]), (0, 7000, 2000), "times")
    require("missing_duration (1)" in errors and "negative_duration (1)" in errors, f"issues are not said: {errors}")
    code, theirs, out, errors = original(folder, model, profile)
    equal((code, theirs, out), (3, {}, ""), "of the original")
    require("line 3: Duration(us) 'N/A' is no number" in errors, f"what is wrong is not said: {errors}")


def check_parts(folder):
    """Durations of the parts of an operator; what is estimated or unknown is marked."""
    model = write_model(folder / "m.json", [
        operator("mla", 100, "A,B", sub_kernel_durations="[('A', 9.5), ('B', 80.25)]"),
        operator("split", 11, "A,B,C"), operator("fused_all_reduce", 31, "Q", sub_kernel_durations="no list")])
    profile = write_profile(folder / "p.csv", [("A", 1, 10), ("hcom_allReduce_", 50, 8)])
    _, summary, rows, errors = compare(folder, model, profile)
    times = {kind: (row["model_time"], row["estimated_time"], row["untimed_count"]) for kind, row in rows.items()}
    equal(times, {"A": (13167, 3667, 0), "B": (83917, 3667, 0), "C": (3666, 3666, 0), "Q": (31000, 0, 0),
                  "hcom_allReduce_": (0, 0, 1)}, "times, estimated times and untimed counts")
    equal(summary[0]["residual_time"], 10250, "residual")
    require("1 event of the model whose sub_kernel_durations" in errors, f"not said: {errors}")


def check_m6(folder):
    model = write_model(folder / "m.json", [
        operator("a", 30, "A"), operator("b", 10, "B", source="INTERPOLATED"), operator("c", 99, "C", source="ANALYTIC"),
        operator("d", 50)])
    profile = write_profile(folder / "p.csv", [("A", 1, 60), ("B", 100, 20), ("xAicpuKernel", 1, 500)])
    _, summary, _, _ = compare(folder, model, profile)
    equal(summary[0]["m6"], 0.5, "M6")
    _, summary, _, _ = compare(folder, model, profile, "--passes", 2)
    equal(summary[0]["m6"], 1, "M6 of two passes")
    (folder / "m6.json").write_text('{"n_forward_passes": 4}')
    for options, passes in (((), 4), (("--passes", 2), 2)):
        document = json.loads(run("trace-query", "model", "--scenario", "name=x,model=m.json,profile=p.csv,m6=m6.json", "--json", *options, cwd=folder).stdout)
        equal(document["sections"][0]["rows"][0]["passes"], passes, f"passes of m6 and {options}")
    (folder / "p.csv").write_text(profile.read_text()[:-len("500,,\n")] + "5")
    _, summary, _, errors = compare(folder, model, profile)
    equal((summary[0]["aicpu_kernels"], "truncated (1)" in errors), (0, True), f"a last row that is cut inside its duration: {errors}")


def check_assumed_passes(folder):
    """What nobody said is not shown as a fact; and a model is no trace of another program."""
    model = write_model(folder / "m.json", [operator("a", 30, "A"), operator("b", 10, "B"), operator("c", 5, "C")])
    profile = write_profile(folder / "p.csv", [(kind, 100 * i, 5) for i, kind in enumerate("AAABBBC")])
    for options, source, row, said in ((("--passes", 1), "given", "1\n", None), ((), "assumed", "1 (assumed; --passes N)\n", "mostly 3 times the model's: --passes 3?")):
        _, summary, _, errors = compare(folder, model, profile, *options)
        equal((summary[0]["passes"], summary[0]["passes_from"]), (1, source), "passes")
        require((said or "1 pass") in errors if said else "assumed" not in errors, errors)
        require("Chrome" not in errors and "foreign_format" not in errors, f"of a model: {errors}")
        text = run("trace-query", "model", model, profile, "-q", *options).stdout
        require(row in text.partition("passes in the profile")[2].lstrip(), text)


# ---- scenarios, errors, output

def scenario_files(folder):
    good = write_model(folder / "good, really.json", [operator("x", 7, "A"), operator("y", 3, "B")])
    write_model(folder / "two.json", [operator("x", 7, "A"), {"name": "process_name", "ph": "M", "pid": 2,
                                                              "args": {"name": "Empirical"}}, {**operator("x", 1), "pid": 2}])
    write_profile(folder / "p.csv", [("A", 1, 10), ("B", 50, 2), ("C", 90, 1)])
    (folder / "m6.json").write_text('{"n_forward_passes": 2}', encoding="utf-8")
    (folder / "broken.json").write_text("{", encoding="utf-8")
    return good


def check_scenarios(folder):
    """One bad scenario never loses the others."""
    scenario_files(folder)
    result = run("trace-query", "model", "--json", check=False, cwd=folder, *[
        part for text in ("name=good,model=good, really.json,profile=p.csv", "name=gone,model=gone.json,profile=p.csv",
                          "name=two,model=two.json,profile=p.csv", "name=zero,model=two.json,profile=p.csv,passes=0",
                          "name=half,model=good, really.json,profile=p.csv,m6=m6.json", "name=lacks,model=two.json",
                          "name=no m6,model=good, really.json,profile=p.csv,m6=broken.json")
        for part in ("--scenario", text)])
    equal(result.returncode, 3, "exit code")
    summary, operators = (section["rows"] for section in json.loads(result.stdout)["sections"])
    failures = {row["scenario"]: row["error"] for row in summary}
    equal([name for name, error in failures.items() if error is None], ["good", "half"], "compared")
    equal({row["scenario"] for row in operators}, {"good", "half"}, "scenarios with rows")
    for name, word in (("gone", "no such file"), ("two", "several processes"), ("zero", "passes"), ("lacks", "profile"),
                       ("no m6", "not JSON")):
        require(word in failures[name], f"{name}: {failures[name]}")
        said = [line for line in result.stderr.splitlines() if line.startswith(f"trace-query: {name}: ")]
        equal(len(said), 1, f"lines about {name}")
    halves = {row["kernel_type"]: row["profile_time"] for row in operators if row["scenario"] == "half"}
    equal(halves, {"A": 5000, "B": 1000, "C": 500}, "times per pass")


def check_table_of_scenarios(folder):
    scenario_files(folder)
    (folder / "s.tsv").write_text("name\tm6\tprofile_csv\tmodel_trace\n# a remark\none\tm6.json\tp.csv\tgood, really.json\n"
                                  "two\t\tp.csv\tgone.json\n", encoding="utf-8")
    result = run("trace-query", "model", "--scenarios", "s.tsv", "--json", check=False, cwd=folder)
    summary = json.loads(result.stdout)["sections"][0]["rows"]
    equal([(row["scenario"], row["passes"], row["error"] is None) for row in summary], [("one", 2, True), ("two", None, False)],
          "scenarios")


def check_gate(folder):
    good = scenario_files(folder)
    for options, expected in ((("--max-error", 100), 0), (("--max-error", 99), 1), (("--max-error", 30, "--min-share", 50), 0),
                              (("--max-error", 29, "--min-share", 50), 1)):
        code, _, _, errors = compare(folder, good, "p.csv", *options, check=False)
        equal(code, expected, f"exit code with {options}")
        require((expected == 1) == ("gate: " in errors), f"{options}: {errors}")


def check_orders(folder):
    good = scenario_files(folder)

    def kinds(*options):
        return list(compare(folder, good, "p.csv", *options)[2])
    for order, expected in (("max", "ABC"), ("model", "ABC"), ("name", "ABC"), ("error", "BAC"), ("abs-error", "CBA"),
                            ("model_time:asc", "CBA")):
        equal("".join(kinds("--sort", order)), expected, f"--sort {order}")
    _, _, rows, _ = compare(folder, good, "p.csv", "--top", 1)
    require(rows["A"]["model_time"] == 7000, "first row")
    others = next(row for kind, row in rows.items() if kind != "A")
    equal((others["model_time"], others["profile_time"]), (3000, 3000), "[others]")


def check_formats(folder):
    good = scenario_files(folder)

    def show(*options):
        return run("trace-query", "model", good, "p.csv", "-q", *options, cwd=folder).stdout
    table = show("--width", 0)
    for word in ("Kernel Type", "[total]", "PROFILE_ONLY", "M6"):
        require(word in table, f"no {word!r} in the table:\n{table}")
    chinese = show("--lang", "zh")
    for word in ("算子类型", "未建模", "实测耗时"):
        require(word in chinese, f"no {word!r} in the table:\n{chinese}")
    for form, separator in (("csv", ","), ("tsv", "\t")):
        parts = show("--format", form).split("\n\n")
        rows = list(csv.DictReader(io.StringIO(parts[1]), delimiter=separator))
        equal(len(rows), 3, f"rows of {form}")
    lines = [json.loads(line) for line in show("--jsonl").splitlines()]
    equal([line["section"] for line in lines], ["summary", "operators", "operators", "operators"], "sections of jsonl")
    require("| Kernel Type" in show("--markdown").replace("\\", ""), "no table in Markdown")


def check_usage(folder):
    good = scenario_files(folder)
    for arguments, word in (((), "give a model and a profile"), ((good,), "give a model"), ((good, "p.csv", "--by", "x"), "--by x"),
                            ((good, "p.csv", "--lang", "de"), "--lang de"), ((good, "p.csv", "--hcom-dedup", "x"), "window="),
                            ((good, "p.csv", "--max-error", "x"), "percent"), ((good, "p.csv", "--mapping-root", "top"), "--op-map"),
                            ((good, "p.csv", "--trace-dir", "x"), "--compat"), (("--scenario", "modle=x"), "not one of"),
                            (("--compat", "x"), "msmodeling"), (("--compat", "msmodeling", "--top", "3"), "--top"),
                            ((good, "p.csv", "--sort", "x"), "no column"), ((good, "p.csv", "--min-share", "1"), "--max-error")):
        done = run("trace-query", "model", *arguments, cwd=folder, code=2)
        require(word in done.stderr and not done.stdout, f"{arguments}: {done.stdout}{done.stderr}")


def check_real(folder, name, kernels):
    """A model that predicts nothing: the profile's side alone, against the profiler's own sums."""
    profile = real_trace(f"ascend/{name}_kernel_details.csv")
    statistic = TRACES / "ascend" / f"{name}_op_statistic.csv"
    model = write_model(folder / "m.json", [operator("aten.mm.default", 1, "MatMulV2")])
    _, summary, rows, _ = compare(folder, model, profile.resolve())
    with open(statistic, encoding="utf-8") as file:
        expected = {row["OP Type"]: (int(row["Count"]), float(row["Total Time(us)"])) for row in csv.DictReader(file)}
    own = {kind: row["profile_count"] for kind, row in rows.items() if not kind.startswith("hcom_")}  # they are not in it
    equal(own, {kind: count for kind, (count, _) in expected.items()}, "counts")
    for kind, (count, us) in expected.items():  # each duration is rounded to a nanosecond in the one, their sum in the other
        require(abs(rows[kind]["profile_time"] / 1000 - us) <= 0.0005 * (count + 1),
                f"{kind}: {rows[kind]['profile_time']} ns, {us} us")
    equal(summary[0]["profile_kernels"], kernels, "kernels")


GOLDEN = TRACES.parent / "golden/ascend"


def writable_copy(source, target):
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)


def check(case, folder):
    writable_copy(case / "input", folder)
    command = (case / "cmd.txt").read_text(encoding="utf-8").split()
    result = subprocess.run([program("trace-query"), "model", "--compat", "msmodeling", *command[1:]], cwd=folder,
                            capture_output=True, timeout=60)
    expected = case / "expected"
    equal(result.returncode, int((expected / "exit_code").read_text(encoding="utf-8")), "exit code")
    equal(result.stdout.decode(), (expected / "stdout.txt").read_text(encoding="utf-8"), "standard output")
    equal(result.stderr.decode(), (expected / "stderr.txt").read_text(encoding="utf-8"), "standard error")
    outputs = sorted(path.name for path in expected.iterdir() if path.name not in ("stdout.txt", "stderr.txt", "exit_code"))
    written = folder / "out"
    equal(sorted(path.name for path in written.iterdir()) if written.exists() else [], outputs, "files written")
    for name in outputs:
        equal((written / name).read_bytes(), (expected / name).read_bytes(), name)


def main(cases, folder):
    checks = [(f"generated {' '.join(map(str, options[1::2]))}", check_generated, *options) for options in GENERATED]
    checks += [(function.__name__.removeprefix("check_"), function) for function in (
        check_other_rows, check_indexes, check_categories, check_second_rows, check_several_devices, check_column_names, check_nested_mapping, check_truncated_microseconds, check_unknown_error, check_bad_cell,
        check_parts, check_m6, check_assumed_passes, check_scenarios, check_table_of_scenarios, check_gate, check_orders, check_formats,
        check_usage)]
    checks += [(f"real {name}", check_real, name, kernels) for name, kernels in (("level1_rank0", 191), ("level1_rank1", 191))]
    for name, function, *arguments in checks:
        cases.run_apart(name, function, *arguments)
    if skip_without_traces(cases, GOLDEN):
        return
    for case in sorted(GOLDEN.glob("case*")):
        cases.run(case.name, check, case, folder / case.name)
