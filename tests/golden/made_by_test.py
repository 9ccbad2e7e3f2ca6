"""Which software made a trace: told by its own Python code and operators, not by marks, kernel names or operators that
others use as well; not told where nothing tells it."""
from made_events import call, event, write_trace
from trace_cases import equal, ingest, real_trace, rows

MARK = "execute_context_0(0)_generation_16(16)"  # vLLM writes it, and so does a patched SGLang
TEMPLATE = "void act_and_mul<vllm::silu_kernel>(int)"
# Python functions (file, how many), operators, marks, a kernel; the framework and the model.
MADE = {
    "marks of both alone": ([], [], [MARK], TEMPLATE, "PyTorch", None),
    "SGLang with vLLM's marks": ([("/sgl-workspace/sglang/python/sglang/srt/models/qwen3.py", 3)], [], [MARK], TEMPLATE, "SGLang", "qwen3"),
    "SGLang with code of vLLM": ([("/usr/lib/python3/dist-packages/vllm/model_executor/layers/linear.py", 2),
                                  ("sglang/srt/layers/linear.py", 4), ("sglang/srt/models/qwen2.py", 1), ("sglang/srt/models/qwen3.py", 2)],
                                 ["vllm::all_reduce"], [MARK], TEMPLATE, "SGLang", "qwen3"),
    "vLLM": ([("vllm/v1/worker/gpu_worker.py", 2), ("vllm/model_executor/models/llama.py", 2)], ["_C::rms_norm"], [MARK], "gemm", "vLLM", "llama"),
    "operators of vLLM": ([], ["vllm::unified_attention"], [], "gemm", "vLLM", None),
    "operators of SGLang": ([], ["sgl_kernel::rmsnorm", "aten::mm"], [MARK], TEMPLATE, "SGLang", None),
    "SGLang's own mark": ([], [], ["step[DECODE bs=16]", MARK], TEMPLATE, "SGLang", None),
    "xDiT on Diffusers": ([("/app/xDiT/xfuser/runner.py", 1), ("diffusers/models/attention.py", 9)], [], [], "gemm", "xDiT", None),
    "a folder of that name": ([("/home/vllm/venv/train.py", 3), ("/home/vllm/jobs/deep/model.py", 3)], ["aten::mm"], [], "gemm", "PyTorch", None),
}
REAL = {"qwen3_30b_a3b_sglang_decode_b300.trace": "SGLang", "qwen3_30b_a3b_sglang_decode_mi300x.trace": "SGLang",
        "qwen3_8b_sglang_prefill_mi300x": "SGLang", "gpt_oss_vllm_prefill_b200": "vLLM", "llama_tp4_vllm_mi300x.pt.trace": "vLLM",
        "gpt_oss_vllm_decode_graph_mi300x": "vLLM", "flux1_xdit_mi300x": "xDiT", "bert_small_hf_h100": "Transformers",
        "alexnet_a100": "PyTorch"}


def made_by(path, folder):
    facts = {(row["section"], row["item"]): row["value"] for row in rows("info", path)}
    listed = rows("ls", folder)
    framework = facts.get(("model", "framework"))
    equal([row["framework"] for row in listed], [framework], "framework in ls")
    return framework, facts.get(("model", "name"))


def check_made(folder, files, operators, marks, kernel, framework, model):
    events = [event("kernel", kernel, 900, 5, 0, 7, correlation=1, stream=7), call("cudaLaunchKernel", 850, 2, 1)]

    def add(category, name, **arguments):
        events.append(event(category, name, 10 * len(events), 5, **arguments))

    number = 0
    for file, count in files:
        for line in range(count):
            number += 1
            add("python_function", f"{file}({line}): f{line}", **{"Python id": number, "Python parent id": None})
    for name in operators:
        add("cpu_op", name)
    for name in marks:
        add("user_annotation", name)
    path = write_trace(folder / "trace.json", events, schemaVersion=1)
    equal(made_by(path, folder), (framework, model), "framework and model")


def check_real(folder, name, framework):
    index = ingest(real_trace(f"kineto/{name}.json.gz"), folder / "index.tracedb")
    equal(made_by(index, folder)[0], framework, name)


def main(cases, _):
    for name, made in MADE.items():
        cases.run_apart(name, check_made, *made)
    for name, framework in REAL.items():
        cases.run_apart(name, check_real, name, framework)
