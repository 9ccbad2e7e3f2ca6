"""Steps and layers of real traces: reviewed figures, and closure on every trace there is. Steps and passes of training:
what the trace itself says, worked out independently from its JSON. A launch is in the ProfilerStep around it in time,
whichever thread of the process made it. Its pass is told by sequence numbers: autograd gives a backward operator the number
of its forward one, and `Fwd thread id` of the thread that had it."""
import gzip
import json
import re
from collections import Counter, defaultdict

from trace_cases import (REFERENCE, TRACES, as_json, equal, ingest, kineto_traces, nanoseconds, open_index, read_trace,
                         require, rows, run, skip_without_traces)

# Trace: layers of the model, and its steps by kind. Layers from the model's own module names or its published size.
EXPECTED = {
    "llama_tp4_vllm_mi300x.pt.trace.json.gz": (80, {"mixed": 1, "decode": 9}),
    "llama_tp4_vllm_h100.pt.trace.json.gz": (80, {"unknown": 1, "decode": 9}),
    "qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz": (48, {"decode": 1}),
    "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz": (48, {"decode": 1}),
    "qwen15_05b_hf_mi300x.json.gz": (24, {"unknown": 1}),
    "qwen15_05b_hf_h100.json.gz": (24, {"unknown": 1}),
    "qwen3_8b_sglang_prefill_mi300x.json.gz": (36, {"prefill": 1}),
    "bert_small_hf_mi300x.json.gz": (4, {"unknown": 1}),
    "bert_small_hf_h100.json.gz": (4, {"unknown": 1}),
    "timesformer_hf_mi300x.json.gz": (12, {"unknown": 1}),
    "timesformer_hf_h100.json.gz": (12, {"unknown": 1}),
    "gpt_oss_vllm_prefill_b200.json.gz": (36, {"prefill": 1}),
    "gpt_oss_vllm_decode_graph_mi300x.json.gz": (24, {"decode": 1}),
    "flux1_xdit_mi300x.json.gz": (12 + 24 + 19 + 38, {"other": 1}),
    "deepseek_v3_train_h800.json": (0, {"train": 1}),
    "linear_2080ti.json.gz": (0, {"train": 40}),
    "gpu_user_annotation_gp100.json.gz": (0, {"train": 4}),
    "nccl_args_a100.json.gz": (0, {"train": 3}),
    "trace_diff_control_a100.json.gz": (0, {"train": 6}),
    "gpu_only_mi210.json.gz": (0, {}),
    "old_resnet50_workers0_v100.json.gz": (0, {"train": 6}),
}

# Traces of models with several stacks of layers: name, layers and passes of each. FLUX.1 has 19 double and 38 single
# blocks; its text encoders are CLIP-L and T5-XXL; the trace has four iterations.
STACKS = {"flux1_xdit_mi300x.json.gz": "CLIPEncoderLayer 12 + T5Block 24 + stack 1 19 x 4 passes + stack 2 38 x 4 passes"}


def check_closure(index):
    totals = {command: [sum(row["total_time"] for row in found), sum(row[count] for row in found)]
              for command, count in (("kernels", "instances"), ("steps", "kernels"), ("phases", "instances"),
                                     ("layers", "instances"))
              for found in [rows(command, index)]}
    for command, total in totals.items():
        equal(total, totals["kernels"], f"kernel time and kernels of {command}")


def check_expected(index, layers, steps):
    equal(sum(row["layer"].isdigit() for row in rows("layers", index)), layers, "layers")
    found = {row["phase"]: row["steps"] for row in rows("phases", index) if row["steps"]}
    equal(found, steps, "steps")


def check_layers_said(index):
    """The number of layers is that of the rows of `layers`, wherever it is said."""
    seen = sum(row["layer"].isdigit() for row in rows("layers", index))
    facts = rows("info", index)
    info = next((row["value"] for row in facts if row["item"] == "layers"), "not known")
    note = re.search(r"note: (.*) layers; ", run("trace-query", "layers", index).stderr)
    said = [sum(int(re.search(r"(\d+)(?: x \d+ passes)?$", stack)[1]) for stack in stacks)
            for stacks in ([note[1].split(", ")] if note else []) + [kind.split(" + ") for kind in re.findall(r"([^()]+) \(", info)[:1]]]
    require(all(number == seen for number in said) or info.count("(") > 1, f"{seen} layers, but {info}; {note and note[0]}")
    require(bool(note) == (seen > 0) == (info != "not known"), f"{seen} layers: {info}, {note}")


def check_stacks(index, stacks):
    facts = rows("info", index)
    layers = next(row["value"] for row in facts if row["item"] == "layers")
    require(layers.startswith(stacks + " ("), f"info: layers are {layers}, not {stacks}")
    counts = {}
    for row in rows("layers", index):
        if row["stack"] is not None:
            counts.setdefault(row["stack"], []).append(row["instances"])
    for stack, kernels in counts.items():
        require(max(kernels[1:-1]) <= 1.06 * min(kernels[1:-1]), f"layers of {stack} differ: {kernels} kernels")


def check_every_layer_alike(index):
    """The layers of a decoder have the same number of kernels, but for some at its ends."""
    counts = [row["instances"] for row in rows("layers", index, "--phase", "decode") if row["layer"].isdigit()]
    usual = max(set(counts), key=counts.count)
    equal([count for count in counts[1:-1] if count != usual], [], "layers that differ in their number of kernels")


# Trace: the kernels that were launched before the recording; those of a first step that warms up.
BEFORE = {"qwen15_05b_hf_h100.json.gz": 436, "qwen15_05b_hf_mi300x.json.gz": 463, "old_resnet50_workers0_torch18.json.gz": 736,
          "resnet_checkpoint_ddp_mi300x.json.gz": 757, "trace_diff_test_v100.json.gz": 546, "worker1.pt.trace.json": 64,
          "bert_small_hf_h100.json.gz": 0, "gpu_only_mi210.json.gz": 0}
WARM_UP = {"linear_2080ti.json.gz": 136}


def check_outside(index, before, warm_up):
    """What no mark is around: launched before the recording, apart from no step; the first step of training."""
    steps = {row["name"]: row["kernels"] for row in rows("steps", index)}
    phases = {row["phase"]: row["instances"] for row in rows("phases", index)}
    for found in (steps, phases):
        equal(found.get("[launched before the recording]", 0), before or 0, "kernels launched before the recording")
        require(not before or "[no step]" not in found, f"no step: {found.get('[no step]')}")
    equal(steps.get("[inferred: warm-up]"), warm_up, "kernels of a step that warms up")


CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
OPERATORS = {"cpu_op", "Operator"}
LARGEST_STEPLESS = 0.05  # of the kernel time whose launch is in the trace: the rest was launched before it began


def track(event):
    return str(event.get("pid")), str(event.get("tid"))


def interval(event):
    start = nanoseconds(event["ts"])
    return start, start + (nanoseconds(event.get("dur")) or 0)


class Ranges:
    """Intervals of one thread; those around a time."""

    def __init__(self, events):
        self.rows = sorted(((*interval(event), event) for event in events), key=lambda row: (row[0], -row[1]))

    def walk(self, times):
        """(time, the events open at it, outermost first) for each time, in order of time."""
        open_rows, place = [], 0
        for time in sorted(times):
            while place < len(self.rows) and self.rows[place][0] <= time:
                open_rows.append(self.rows[place])
                place += 1
            open_rows = [row for row in open_rows if row[1] > time]
            yield time, [row[2] for row in open_rows]


class Training:
    """One trace: its ProfilerSteps, and of each kernel with a launch the step and the pass, where they can be told."""

    def __init__(self, path):
        events, document = read_trace(path)
        times = [nanoseconds(event.get("ts")) for event in events
                 if isinstance(event, dict) and (event.get("ph") or "M") in "XisftCBEbe"]
        self.base = min((time for time in times if time is not None), default=0)
        events = [event for event in events if isinstance(event, dict) and event.get("ph") == "X"]
        self.by_track = defaultdict(lambda: defaultdict(list))
        self.steps = []
        calls = {}
        for event in events:
            category, name = event.get("cat"), str(event.get("name"))
            if category in OPERATORS | {"user_annotation"} and re.match(r"ProfilerStep#\d+$", name):
                self.steps.append((track(event)[0], *interval(event), name))
            elif category in OPERATORS | {"user_annotation"} and name.startswith("Optimizer.step#"):
                self.by_track["optimizer"][track(event)].append(event)
            elif category in OPERATORS:
                self.by_track["operator"][track(event)].append(event)
            elif category in CALLS:
                correlation = (event.get("args") or {}).get("correlation")
                if correlation:
                    calls.setdefault(correlation, []).append(event)
        self.has_backward = any((event.get("args") or {}).get("Fwd thread id") or
                                "evaluate_function" in str(event.get("name"))
                                for own in self.by_track["operator"].values() for event in own)
        self.steps.sort(key=lambda step: step[1])
        self.kernels = []
        for event in events:
            if event.get("cat") not in ("kernel", "Kernel"):
                continue
            found = calls.get((event.get("args") or {}).get("correlation"), [])
            self.kernels.append((event, found[0] if len(found) == 1 else None))
        self.passes = self.find_passes([launch for _, launch in self.kernels if launch is not None])

    def find_passes(self, launches):
        """By id() of the launch: forward, backward, optimizer; left out where sequence numbers do not tell."""
        by_track, passes = defaultdict(list), {}
        for launch in launches:
            by_track[track(launch)].append(launch)
        for thread, own in by_track.items():
            around = {kind: dict(Ranges(self.by_track[kind][thread]).walk([interval(launch)[0] for launch in own]))
                      for kind in ("operator", "optimizer")}
            for launch in own:
                start = interval(launch)[0]
                numbered = [event["args"] for event in around["operator"][start]
                            if "Fwd thread id" in (event.get("args") or {})]
                if around["optimizer"][start]:
                    passes[id(launch)] = "optimizer"
                elif numbered:
                    passes[id(launch)] = "backward" if numbered[0]["Fwd thread id"] else "forward"
        return passes

    def step_of(self, launch):
        start = interval(launch)[0]
        found = {name for process, begin, end, name in self.steps if begin <= start < end and process == track(launch)[0]}
        return found.pop() if len(found) == 1 else None


def stored_kernels(index, base):
    """By name, start and correlation: duration, pass, step, and whether the launch is known."""
    with open_index(index) as database:
        rows = database.execute(
            f"SELECT n.name, k.ts + {base}, k.dur, k.correlation, k.launch_id IS NOT NULL, k.pass, "
            "(SELECT t.value FROM step s JOIN annotation a ON a.id = s.annotation_id JOIN string t ON t.id = a.name_id "
            "WHERE s.id = k.step_id) FROM kernel k JOIN kernel_name n ON n.id = k.name_id")
        return {(name, ts, correlation): (dur or 0, which, step, launched)
                for name, ts, dur, correlation, launched, which, step in rows}


def check_steps(training, stored):
    known = [(stored[key_of(kernel)], training.step_of(launch)) for kernel, launch in training.kernels if launch]
    wrong = Counter((row[2], step) for row, step in known if step is not None and row[2] != step)
    equal(sum(wrong.values()), 0, f"kernels in another step than their launch, of {len(known)}: {wrong.most_common(3)}")
    total = sum(row[0] for row in stored.values() if row[3])
    stepless = sum(row[0] for row in stored.values() if row[3] and row[2] is None)
    require(stepless <= LARGEST_STEPLESS * total, f"{100 * stepless / total:.1f} % of the kernel time is in no step")


def key_of(kernel):
    return str(kernel["name"]), nanoseconds(kernel["ts"]), (kernel.get("args") or {}).get("correlation")


def check_passes(training, stored):
    expected = [(stored[key_of(kernel)][1], training.passes[id(launch)]) for kernel, launch in training.kernels
                if launch is not None and id(launch) in training.passes]
    wrong = Counter(pair for pair in expected if pair[0] != pair[1])
    equal(sum(wrong.values()), 0, f"passes, of {len(expected)}: {dict(wrong)} (got, expected)")
    return len(expected)


def check_no_pass(stored):
    equal({row[1] for row in stored.values()} - {None}, set(), "passes of a trace without training")


def check_names(training, trace, index):
    """The steps of the report are the ProfilerSteps; HTA's list of them is the same."""
    found = as_json("steps", index)["rows"]
    names = [row["name"] for row in found if row["step"] is not None]
    equal(names, [name for *_, name in training.steps], "steps")
    reference = REFERENCE / "hta" / f"{trace.name}.gz" if trace.suffix == ".json" else REFERENCE / "hta" / trace.name
    if reference.exists():
        steps = json.loads(gzip.decompress(reference.read_bytes())).get("steps") or []
        equal([int(name.split("#")[1]) for name in names], sorted(steps), "steps of HTA")


def check_reports(index):
    """Every split by pass has the total of the kernels."""
    def rows(command, *options):
        return as_json(command, *options, index)["rows"]
    total = sum(row["total_time"] for row in rows("kernels"))
    with open_index(index) as database:
        expected = dict(database.execute("SELECT coalesce(pass, '[no pass]'), sum(dur) FROM kernel GROUP BY 1"))
    for command in ("kernels", "ops", "layers"):
        found = rows(command, "--by", "pass")
        equal(sum(row["total_time"] for row in found), total, f"kernel time of {command} --by pass")
        sums = Counter()
        for row in found:
            sums[row["pass"]] += row["total_time"]
        equal(dict(sums), expected, f"{command} --by pass")


def is_training(training):
    return training.has_backward or any(training.by_track["optimizer"].values())


def check_training(cases, trace, index):
    training = Training(trace)
    if not training.kernels or not (training.steps or training.passes):
        return
    stored = stored_kernels(index, training.base)
    if len(training.steps) and any(launch for _, launch in training.kernels):
        served = any(re.match(r"execute_|step\[", str(event.get("name"))) for events in training.by_track.values()
                     for own in events.values() for event in own)
        if not served and is_training(training):
            cases.run(f"steps {trace.name}", check_steps, training, stored)
            cases.run(f"names {trace.name}", check_names, training, trace, index)
    if is_training(training):
        cases.run(f"passes {trace.name}", check_passes, training, stored)
        cases.run(f"reports {trace.name}", check_reports, index)
    else:
        cases.run(f"no pass {trace.name}", check_no_pass, stored)


def main(cases, folder):
    if skip_without_traces(cases, TRACES / "kineto"):
        return
    for trace in [*kineto_traces(), *sorted((TRACES / "other").glob("nsys_2gpu_*.sqlite"))]:
        index = cases.run(f"ingest {trace.name}", ingest, trace, folder / f"{trace.name}.tracedb")
        if index is None:
            continue
        cases.run(f"closure {trace.name}", check_closure, index)
        cases.run(f"number of layers {trace.name}", check_layers_said, index)
        if trace.name in EXPECTED:
            cases.run(f"expected {trace.name}", check_expected, index, *EXPECTED[trace.name])
        if trace.name in BEFORE or trace.name in WARM_UP:
            cases.run(f"outside of marks {trace.name}", check_outside, index, BEFORE.get(trace.name), WARM_UP.get(trace.name))
        if trace.name in STACKS:
            cases.run(f"stacks {trace.name}", check_stacks, index, STACKS[trace.name])
        if "llama_tp4" in trace.name:
            cases.run(f"alike {trace.name}", check_every_layer_alike, index)
        if trace.suffix != ".sqlite":
            check_training(cases, trace, index)
