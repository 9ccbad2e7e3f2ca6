"""What `trace-query aie --compat stream` must write, worked out independently: an implementation of the rules of the
stream project's post-processing of AIE traces in Python, whose own json, sorting and arithmetic those rules rest on.

Run as a program with that project's options, it does what the command does, in the working directory."""
import argparse
import collections
import json
import os
import statistics
import sys

CLOCK = 1.25


def read_processes(path):
    """{pid: [name, starts, ends, stall begins, stall ends]} in the order of first mention."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    processes = collections.defaultdict(lambda: [None, [], [], [], []])
    lists = {("INSTR_EVENT_0", "B"): 1, ("INSTR_EVENT_1", "E"): 2, ("LOCK_STALL", "B"): 3, ("LOCK_STALL", "E"): 4}
    for event in events:
        pid, name, phase, time = (event.get(key) for key in ("pid", "name", "ph", "ts"))
        if name == "process_name" and phase == "M":
            text = event.get("args", {}).get("name")
            processes[pid][0] = text
        for (wanted, letter), place in lists.items():
            if name == wanted and phase == letter:
                processes[pid][place].append(int(time))
    return processes


def first_fit(begins, ends):
    spans, begins, ends = [], collections.deque(sorted(begins)), collections.deque(sorted(ends))
    while begins and ends:
        if ends[0] > begins[0]:
            spans.append((begins.popleft(), ends[0]))
        ends.popleft()
    return spans


def durations(spans):
    return [end - begin for begin, end in spans]


def thin(times, gap):
    kept = []
    for time in sorted(times):
        if not kept or (time > kept[-1] and time - kept[-1] >= gap):
            kept.append(time)
    return kept


def kernels_of(starts, ends):
    rough = first_fit(starts, ends)
    usual = max(1, int(statistics.median(durations(rough)))) if rough else 1
    gap = max(1, int(0.25 * usual))
    ends = thin(ends, gap)
    pairs, last = [], -1
    for start in thin(starts, gap):
        if start <= last:
            continue
        ends = [end for end in ends if end > start]
        if not ends:
            break
        last = ends.pop(0)
        pairs.append((start, last))
    if not pairs:
        return []
    middle = statistics.median(durations(pairs))
    low = max(1, int(1.0 / 3.0 * middle))
    high = max(low + 1, int(3.0 * middle))
    return [pair for pair in pairs if low <= pair[1] - pair[0] <= high]


def iterations_of(kernels, boundaries):
    lists, waiting = [[]], list(boundaries)
    for kernel in kernels:
        while waiting and kernel[0] > waiting[0]:
            waiting.pop(0)
            lists.append([])
        lists[-1].append(kernel)
    return lists


def summary(kernels, macs):
    if not kernels:
        return {"num_kernels": 0, "avg_duration_cycles": 0.0, "min_duration_cycles": 0, "max_duration_cycles": 0,
                "total_span_cycles": 0, "first_start": None, "last_end": None, "gmacs_per_second": 0.0}
    lengths, span = durations(kernels), kernels[-1][1] - kernels[0][0]
    return {"num_kernels": len(kernels), "avg_duration_cycles": sum(lengths) / len(kernels),
            "min_duration_cycles": min(lengths), "max_duration_cycles": max(lengths), "total_span_cycles": span,
            "first_start": kernels[0][0], "last_end": kernels[-1][1],
            "gmacs_per_second": macs * CLOCK / span if span > 0 else 0.0}


def note_on(detected, expected):
    if detected == expected:
        return None
    what = ("Proceeding with available iterations." if detected < expected else
            f"Truncating to first {expected} iterations for phase labeling.")
    return f"Detected {detected} iterations but expected {expected}. {what}"


def core_of(pid, process, options):
    name, starts, ends, stall_begins, stall_ends = process
    expected = options.warmup + options.iterations
    core = {"pid": pid, "tile_name": name.split(" for ")[-1]}
    kernels = kernels_of(starts, ends)
    if not kernels:
        return {**core, "detected_total_iterations": 0, "expected_total_iterations": expected,
                "mismatch_note": "No valid kernel pairs detected after robust filtering.", "iterations": [],
                "performance_window": []}
    median = statistics.median(durations(kernels))
    boundaries = sorted({end for begin, end in first_fit(stall_begins, stall_ends) if end - begin >= 20.0 * float(median)})
    macs = float(options.M) * float(options.K) * float(options.N) / max(1, options.row * options.col)
    rows = [summary(part, macs) for part in iterations_of(kernels, boundaries)]
    first = min(options.warmup, len(rows))
    window = list(range(len(rows)))[first:first + options.iterations]
    for index, row in enumerate(rows):
        row["iteration_index"] = index
        row["phase"] = "warmup" if index < first else "perf" if index in window else "extra"
    return {**core, "median_kernel_duration_cycles": median, "lock_stall_boundary_count": len(boundaries),
            "detected_total_iterations": len(rows), "expected_total_iterations": expected,
            "mismatch_note": note_on(len(rows), expected), "iterations": rows, "performance_window": window}


def details(cores, options):
    lines = [f"| {core['tile_name']} | {row['iteration_index']} | {row['phase']} | {row['num_kernels']} | "
             f"{row['avg_duration_cycles']:.3f} | {row['min_duration_cycles']} | {row['max_duration_cycles']} | "
             f"{row['total_span_cycles']} | {row['gmacs_per_second']:.3f} |\n"
             for core in cores for row in core["iterations"]]
    if not lines:
        return None
    return (f"<details><summary><strong>[{options.hwid}] M={options.M} K={options.K} N={options.N}</strong></summary>\n\n"
            "| Tile | Iter | Phase | Kernels | Avg cycles | Min | Max | Total span | GMAC/s |\n"
            "|------|------|-------|---------|------------|-----|-----|------------|--------|\n"
            + "".join(lines) + "\n</details>\n")


def aggregate(cores, options):
    if not cores:
        return {"note": "No cores to aggregate."}
    common = sorted(set.intersection(*(set(core.get("performance_window", [])) for core in cores)))
    if not common:
        return {"note": "No common perf iterations across all cores."}
    rows = []
    for index in common:
        runtime = max(core["iterations"][index]["total_span_cycles"] for core in cores)
        macs = float(options.M) * float(options.K) * float(options.N)
        rows.append({"iteration_index": index, "runtime_cycles": runtime,
                     "gmacs_per_second": macs * CLOCK / runtime if runtime > 0 else 0.0})
    rates = [row["gmacs_per_second"] for row in rows]
    total = 0
    for rate in rates:  # as sum() did before Python 3.12
        total += rate
    return {"iterations_considered": common, "count": len(common),
            "average": {"runtime_cycles": sum(row["runtime_cycles"] for row in rows) / len(rows),
                        "gmacs_per_second": total / len(rows)},
            "best": rows[rates.index(max(rates))], "worst": rows[rates.index(min(rates))], "per_iteration": rows,
            "note": "Only iterations present on all cores are considered."}


def write(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=2))
    print(f"[write] {path}")


def options_of(arguments):
    parser = argparse.ArgumentParser(prog="postprocess_aie_trace.py")
    for name in ("M", "K", "N", "m", "k", "n", "row", "col"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--hwid", required=True)
    for name in ("warmup", "iterations"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args(arguments)
    options.warmup, options.iterations = max(0, options.warmup), max(0, options.iterations)
    return options


def folder_of(options):
    return (f"outputs/{options.hwid}-gemm_{options.M}_{options.K}_{options.N}-{options.row}_row_{options.col}_col/traces")


def trace_of(options):
    return f"{folder_of(options)}/trace_mm_{options.M}_{options.K}_{options.N}.json"


def main(arguments):
    options = options_of(arguments)
    folder = folder_of(options)
    cores = [core_of(pid, process, options) for pid, process in read_processes(trace_of(options)).items()
             if "core_trace" in (process[0] or "")]
    paths = [os.path.join(folder, f"{core['tile_name']}.json") for core in cores]
    for path, core in zip(paths, cores):
        write(path, core)
    markdown = details(cores, options)
    if markdown:
        write(f"{folder}/details.md", markdown)
    write(f"{folder}/index.json", {
        "hwid": options.hwid, "M": options.M, "K": options.K, "N": options.N, "m": options.m, "k": options.k,
        "n": options.n, "rows": options.row, "cols": options.col, "input_path": trace_of(options), "output_dir": folder,
        "warmup": options.warmup, "iterations": options.iterations, "clock_GHz": CLOCK,
        "notes": [core["mismatch_note"] for core in cores if core["mismatch_note"]],
        "details_md": f"{folder}/details.md" if markdown else None})
    written = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            written.append(json.load(file))
    write(f"{folder}/aggregate_perf.json", aggregate(written, options))


if __name__ == "__main__":
    main(sys.argv[1:])
