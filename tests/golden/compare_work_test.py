"""compare on pairs of real traces of the same work, which stay comparable (other vendors, eager against compiled, fused
against unfused, ranks of a job), and of other work, of which the page says so.

Needs the folder of real traces (TRACEDB_TRACES); without it everything is skipped."""
from compare_cases import check_closure, compare
from trace_cases import TRACES, equal, ingest, require, run, scratch_folder, skip_without_traces

FOLDER = TRACES / "kineto"
SAME = (
    ("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz"),
    ("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz"),
    ("qwen15_05b_hf_mi300x.json.gz", "qwen15_05b_hf_h100.json.gz"),
    ("bert_small_hf_mi300x.json.gz", "bert_small_hf_h100.json.gz"),
    ("timesformer_hf_mi300x.json.gz", "timesformer_hf_h100.json.gz"),
    ("fusion_moe_unfused_mi300x.json", "fusion_moe_fused_h100.json"),
    ("fusion_attention_unfused_h100.json", "fusion_attention_fused_mi300x.json"),
    ("trace_diff_control_a100.json.gz", "trace_diff_test_v100.json.gz"),
    ("trace_compare_base.json.gz", "trace_compare_test.json.gz"),
    ("old_resnet50_workers0_v100.json.gz", "old_resnet50_workers0_torch18.json.gz"),
    ("dlrm_8rank/worker0.pt.trace.json", "dlrm_8rank/worker1.pt.trace.json"),
    ("dlrm_8rank/worker2.pt.trace.json", "dlrm_8rank/worker3.pt.trace.json"),
)
OTHER = (
    ("gpt_oss_vllm_decode_graph_mi300x.json.gz", "qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz",
     "decode: other model: gpt_oss, 24 layers, against 48 layers."),
    ("gpt_oss_vllm_prefill_b200.json.gz", "qwen3_8b_sglang_prefill_mi300x.json.gz",
     "prefill: other model: GptOssForCausalLM, 36 layers, against Qwen3Model, 36 layers."),
    ("bert_small_hf_h100.json.gz", "qwen15_05b_hf_h100.json.gz",
     "other model: BertLMHeadModel, 4 layers, against Qwen2Model, 24 layers."),
    ("old_resnet50_workers0_v100.json.gz", "resnet_checkpoint_ddp_mi300x.json.gz", "train: convolution of ["),
    ("llama_tp4_vllm_h100.pt.trace.json.gz", "qwen15_05b_hf_h100.json.gz",
     "other model: LlamaForCausalLM, 80 layers, against Qwen2Model, 24 layers."),
    ("old_resnet50_workers0_v100.json.gz", "linear_2080ti.json.gz", "train: other kernels: 24 % and 95 % of their time has"),
    ("../aie/npu_matmul_256x768x768.json", "../aie/old_trace_mm.json", "trace: other kernels: 80 against 3, and "),
    ("sdpa_micro_mi300x.json", "moe_micro_b300.json.gz", "trace: other kernels: 10 against 42, and 0 % and 0 %"),
)
NEVER = ("% less", "% longer", "times the throughput", "times as long", "faster", "slower", "better", "worse")


def codes(index, pair):
    return {row["code"] for row in compare(*map(index, pair), "--section", "warnings")["warnings"]}


def check_same(index, pair):
    for sides in (pair, pair[::-1]):
        require("other_work" not in codes(index, sides), f"{sides} are other work")


def check_other(index, pair, headline):
    indexes = [index(name) for name in pair]
    text = " ".join(run("trace-query", "compare", "-q", *indexes).stdout.split())
    require(text.startswith(headline), f"headline: {text[:300]}")
    said = text.split(" Warnings ")[0]
    require(not any(word in said for word in NEVER), f"other work is rated: {said}")
    gated = run("trace-query", "compare", *indexes, "--gate", 5, check=False)
    equal((gated.returncode, gated.stdout, gated.stderr.count("\n")), (2, "", 1), f"gate: {gated.stderr}")
    require("--allow-different-work" in gated.stderr, gated.stderr)
    found = compare(*indexes, "--section", "ledger,steps")
    require(found["ledger"], "the tables stay")
    check_closure(found["ledger"])
    equal({row["verdict"] for row in found["steps"]}, {"inconclusive"}, "verdicts")
    allowed = run("trace-query", "compare", "-q", *indexes, "--allow-different-work").stdout
    require("other model" not in allowed and "other kernels: " not in allowed and "instead of [" not in allowed, allowed[:300])
    require("other_work" in codes(index, pair[::-1]), "the other way round it is the same work")


def check_exports(index):
    """Two exports of one run, of which one holds kernels alone: nothing differs but what it cannot hold."""
    pair = [index(f"../ascend/level1_rank0_{name}") for name in ("kernel_details.csv", "trace_view.json")]
    for sides in (pair, pair[::-1]):
        text = " ".join(run("trace-query", "compare", "-q", *sides).stdout.split())
        require("the load differs" not in text and text.count("its copies and fills are left out") == 1, text[:900])
        steps, = [row for row in compare(*sides, "--section", "steps")["steps"] if row["metric"] == "span"]
        require(abs(steps["change"]) <= 0.01 * steps["baseline"], f"span: {steps}")


def main(cases):
    if not skip_without_traces(cases, FOLDER):
        with scratch_folder() as folder:
            made = {}

            def index(name):
                if name not in made:
                    made[name] = ingest(FOLDER / name, folder / f"{len(made)}.tracedb")
                return made[name]

            for pair in SAME:
                cases.run(f"the same work: {pair[0]}", check_same, index, pair)
            cases.run("two exports of one run", check_exports, index)
            for *pair, headline in OTHER:
                cases.run(f"other work: {pair[0]}", check_other, index, pair, headline)
