"""Steps and layers of real traces: reviewed figures, and closure on every trace there is."""
import json
import re

from trace_cases import TRACES, equal, ingest, kineto_traces, require, rows, run, scratch_folder, skip_without_traces

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


def main(cases):
    if skip_without_traces(cases, TRACES / "kineto"):
        return
    for trace in [*kineto_traces(), *sorted((TRACES / "other").glob("nsys_2gpu_*.sqlite"))]:
        with scratch_folder() as folder:
            index = cases.run(f"ingest {trace.name}", ingest, trace, folder / "index.tracedb")
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
