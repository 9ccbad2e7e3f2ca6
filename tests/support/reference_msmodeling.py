"""What `model --compat msmodeling` must do, from its specification: an independent account in Python, whose csv, json, ast
and float are those of the original. `compare(...)` returns (exit code, standard output, last line of standard error)."""
import ast
import csv
import json
import traceback

RULE = 115
SCENARIOS = (
    ("Qwen3 PF", "qwen3_prefill_m6", "qwen3_pf_trace", "qwen3-32b_pf_4112tok"),
    ("Qwen3 DC", "qwen3_decode_m6", "qwen3_dc_trace", "qwen3-32b_dc_16tok"),
    ("DSv3 PF", "dsv3_prefill_m6", "dsv3_pf_trace", "dsv3_pf_4099tok"),
    ("DSv3 DC", "dsv3_decode_m6", "dsv3_dc_trace", "dsv3_dc_1tok"),
)


class Model:
    """Of one kernel type."""

    def __init__(self):
        self.us, self.hits, self.misses, self.functions = 0.0, 0, 0, {}

    def add(self, us, function, is_hit):
        self.us += us
        self.hits += is_hit
        self.misses += not is_hit
        self.functions.setdefault(function)

    @property
    def status(self):
        return {(True, True): "PARTIAL", (True, False): "HIT"}.get((self.hits > 0, self.misses > 0), "MISS")


def read_profile(path):
    totals, groups = {}, {}

    def count(kind, us):
        total, number = totals.get(kind, (0.0, 0))
        totals[kind] = (total + us, number + 1)

    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kind = row.get("Type", "").strip()
            if not kind:
                continue
            us = float(row.get("Duration(us)", 0))
            if kind[:5] == "hcom_":
                start = row.get("Start Time(us)", "0").strip()
                try:
                    place = int(float(start))
                except ValueError:
                    place = 0
                groups[place, kind] = max(groups.get((place, kind), 0.0), us)
            elif not kind.endswith("AicpuKernel"):
                count(kind, us)
    for (_, kind), us in groups.items():
        count(kind, us)
    return totals


def model_pid(events, path, warnings):
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "process_name":
            name = event.get("args", {}).get("name", "").lower()
            if "profiling" in name or "empirical" in name:
                pid = event["pid"]
                if pid is not None:
                    return pid
                break
    pids = {event["pid"] for event in events if event.get("ph") == "X"}
    if len(pids) != 1:
        raise ValueError(f"Cannot identify profiling PID in {path}. Found PIDs: {pids}")
    pid = pids.pop()
    warnings.append(f"Warning: profiling PID not found by name in {path}, using sole PID {pid}")
    return pid


def parts_of(text):
    if not text:
        return []
    try:
        parts = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    pairs = isinstance(parts, list) and all(isinstance(part, (list, tuple)) and len(part) == 2 for part in parts)
    if pairs:
        {name for name, _ in parts}  # as the original: a name that cannot be in a set is an error
    return parts if pairs else []


def read_model(path, mapping, warnings):
    with open(path, encoding="utf-8") as file:
        events = json.load(file).get("traceEvents", [])
    pid = model_pid(events, path, warnings)
    kernels = {}

    def kernel(name):
        return kernels.setdefault(name, Model())

    for event in events:
        if event.get("ph") != "X" or event.get("pid") != pid:
            continue
        op, us, args = event["name"], event.get("dur", 0), event.get("args", {})
        function = op.replace("torch.ops.", "")
        entry = mapping.get(function) or mapping.get(op)
        entry = entry if isinstance(entry, dict) else {}
        if entry.get("zero_cost"):
            continue
        given = args.get("kernel_type")
        if not given or given == "?":
            kernel(entry.get("kernel_type") or op).add(us, function, False)
            continue
        names = [name.strip() for name in str(given).split(",") if name.strip()]
        parts = parts_of(args.get("sub_kernel_durations"))
        for name, part in parts:
            kernel(name).add(part, function, True)
        if not parts:
            for name in names:
                kernel(name).add(us / len(names), function, True)
            if "all_reduce" in op.lower() and "hcom_allReduce_" not in names:
                kernel("hcom_allReduce_").add(0, function, True)
    return kernels


def rows_of(model, profile, passes):
    rows = []
    for kind in sorted({*model, *profile}):
        own = model.get(kind)
        tc, tc_count = (own.us, own.hits + own.misses) if own else (0, 0)
        total, number = profile.get(kind, (0, 0))
        us, count = (total / passes, number / passes) if passes > 0 else (0, 0)
        rows.append({
            "kernel_type": kind, "tc_funcs": ", ".join(list(own.functions)[:3] if own else []),
            "tc_total_us": round(tc, 1), "tc_count": tc_count, "prof_per_fwd_us": round(us, 1),
            "prof_count": int(round(count)), "error_pct": round((tc - us) / us * 100 if us > 0 else 0, 1),
            "count_error_pct": round((tc_count - count) / count * 100 if count > 0 else 0, 1),
            "status": own.status if own else "TC未建模"})
    return sorted(rows, key=lambda row: max(row["tc_total_us"], row["prof_per_fwd_us"]), reverse=True)


def plain_sum(values):
    total = 0
    for value in values:
        total += value
    return total


def table(name, rows):
    total, profile = (plain_sum(row[key] for row in rows) for key in ("tc_total_us", "prof_per_fwd_us"))
    heads = (("kernel_type", "<35"), ("TC(μs)", ">12"), ("TC次数", ">7"), ("Prof(μs)", ">12"), ("Prof次数", ">8"),
             ("延迟误差", ">9"), ("次数误差", ">9"), ("Prof占比", ">8"), ("状态", "<6"))
    lines = ["", "=" * RULE, f"{name} — TC vs Profiling per-forward", "=" * RULE,
             " ".join(format(head, width) for head, width in heads), "-" * RULE]
    for row in rows[:15]:
        share = row["prof_per_fwd_us"] / profile * 100 if profile > 0 else 0
        cells = (format(row["kernel_type"], "<35"), format(row["tc_total_us"], ">12.1f"), format(row["tc_count"], ">7"),
                 format(row["prof_per_fwd_us"], ">12.1f"), format(row["prof_count"], ">8.0f"),
                 format(row["error_pct"], ">8.1f") + "%", format(row["count_error_pct"], ">8.1f") + "%",
                 format(share, ">7.1f") + "%", format(row["status"], "<6"))
        lines.append(" ".join(cells))
    lines.append(f"{'TOTAL':<35} {total:>12.1f} {'':>7} {profile:>12.1f}")
    return lines


def compare(folder, mapping):
    """In `folder` are traces/ and results/, as the original names their files. The fourth value is the JSON text."""
    out, warnings, results = [], [], {}
    try:
        for name, m6, trace, profile in SCENARIOS:
            try:
                with open(folder / f"results/{m6}.json", encoding="utf-8") as file:
                    passes = json.load(file).get("n_forward_passes", 1)
                model = read_model(folder / f"results/{trace}.json", mapping, warnings)
                rows = rows_of(model, read_profile(folder / f"traces/{profile}.csv"), passes)
            except FileNotFoundError as missing:
                out.append(f"SKIP {name}: {missing}".replace(f"{folder}/", ""))
                continue
            results[name] = rows
            out += table(name, rows)
        document = json.dumps(results, indent=2, ensure_ascii=False)
        out += ["", "Saved to out/op.json"]
        return 0, "".join(line + "\n" for line in out), "\n".join(warnings).replace(f"{folder}/", ""), document
    except Exception as error:  # whatever it is, the original ends with it
        last = traceback.format_exception_only(error)[-1].rstrip("\n").replace(f"{folder}/", "")
        return 1, "".join(line + "\n" for line in out), last, None
