"""compare on pairs of real traces: how much of their time is laid side by side, the fusion of the pairs that hold just one,
nothing in a trace against itself, and on every pair of a mixed bag an answer whose account closes. Needs the folder of real
traces (TRACEDB_TRACES); without it everything is skipped. compare on pairs of real traces of the same work, which stay
comparable (other vendors, eager against compiled, fused against unfused, ranks of a job), and of other work, of which the
page says so."""
import collections
import itertools

from compare_cases import LEDGERS, check_closure, check_mirror, check_unchanged, compare
from trace_cases import TRACES, equal, ingest, refused, require, run, skip_without_traces

FOLDER = TRACES / "kineto"
LLAMA = ("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz")
QWEN = ("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz")
ALIGNED = ((LLAMA, "decode", 80), (QWEN, "decode", 48))
LEAST_ALIGNED = 90  # percent of kernel time, on either side
# Pairs that hold one fusion: unfused, fused, the fused kernel and those it replaces.
FUSED = (
    ("fusion_moe_unfused_mi300x.json", "fusion_moe_fused_h100.json", "triton__moe_fused_kernel_0d1d2d3d4d5d6d7d8d9d10d",
     "moe_sorting_kernel<BF16> + ck_moe_stage1_kernel<BF16, 128, 128> + ck_moe_stage2_kernel<BF16, 128, 128> + "
     "moe_sum_kernel<BF16>"),
    ("fusion_attention_unfused_h100.json", "fusion_attention_fused_mi300x.json",
     "flash_fwd_hdim64_bf16_sm80<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t>>",
     "volta_h16gemm_<BF16,BF16,float>_tt_v1 + softmax_warp_forward<float, float, float, 4, true> + "
     "volta_h16gemm_<BF16,BF16,float>_nt_v1"),
)
# Of the same work.
PAIRS = (
    LLAMA, QWEN, *(case[:2] for case in FUSED),
    ("qwen15_05b_hf_mi300x.json.gz", "qwen15_05b_hf_h100.json.gz"),
    ("bert_small_hf_mi300x.json.gz", "bert_small_hf_h100.json.gz"),
    ("timesformer_hf_mi300x.json.gz", "timesformer_hf_h100.json.gz"),
    ("trace_diff_control_a100.json.gz", "trace_diff_test_v100.json.gz"),
    ("trace_compare_base.json.gz", "trace_compare_test.json.gz"),
    ("old_resnet50_workers0_v100.json.gz", "old_resnet50_workers0_v100_b.json.gz"),
    ("old_resnet50_workers0_v100.json.gz", "old_resnet50_workers0_torch18.json.gz"),
    ("gpt_oss_vllm_prefill_b200.json.gz", "gpt_oss_vllm_decode_graph_mi300x.json.gz"),
    ("dlrm_8rank/worker0.pt.trace.json", "dlrm_8rank/worker1.pt.trace.json"),
    ("dlrm_8rank/worker2.pt.trace.json", "dlrm_8rank/worker3.pt.trace.json"),
)
DLRM = tuple(f"dlrm_8rank/worker{rank}.pt.trace.json" for rank in range(4))
ITSELF = (LLAMA[0], QWEN[1], "qwen15_05b_hf_h100.json.gz", "gpt_oss_vllm_decode_graph_mi300x.json.gz",
          "dlrm_8rank/worker0.pt.trace.json")
# All sorts: no kernels, kernels only, no steps, several steps, other devices, old formats.
BAG = ("cpu_only_rank34.json.gz", "inference_rank1_kernels_only.json.gz", "gpu_only_mi210.json.gz",
       "triton_example_a100.json.gz", "minitoy_train_mi250.json.gz", "moe_micro_b300.json.gz", "old_gpu_metrics.json",
       "mtia_inference.json.gz", "alexnet_a100.json.gz", "torch_compile_triton_mi300x.json.gz",
       "trace_compare_base.json.gz", "uint64_comms_id_rank70.json.gz", "cuda_sync_multi_stream_a100.json.gz",
       "fusion_moe_fused_h100.json", "bert_small_hf_h100.json.gz", QWEN[0])


class Indexes:
    """Made on demand, in a folder that goes away."""

    def __init__(self, folder):
        self.folder = folder
        self.made = {}

    def __call__(self, name):
        if name not in self.made:
            self.made[name] = ingest(FOLDER / name, self.folder / f"{len(self.made)}.tracedb")
        return self.made[name]


def aligned_percent(summary, phase):
    """Of kernel time with a counterpart, in pairs or in fusions."""
    (row,) = [row for row in summary if row["item"] == f"{phase}: aligned"]
    return [float(row[side].removesuffix(" %")) for side in ("baseline", "candidate")]


def layers_of(rows, phase):
    """The layers of the segments, each once."""
    found = []
    for text in {row["layers"] for row in rows if row["phase"] == phase}:
        for part in text.split(","):
            first, _, last = part.partition("..")
            if first.isdigit():
                found += range(int(first), int(last or first) + 1)
    return sorted(found)


def check_aligned(index, pair, phase, layers):
    for sides in (pair, pair[::-1]):
        found = compare(*map(index, sides), "--section", "summary,alignment")
        shares = aligned_percent(found["summary"], phase)
        require(min(shares) >= LEAST_ALIGNED, f"{phase}: {shares} % of the kernel time is aligned")
        equal(layers_of(found["alignment"], phase), list(range(layers)), f"layers of {phase}")


def check_fused(index, unfused, fused, kernel, parts):
    for sides, by in (((unfused, fused), "candidate"), ((fused, unfused), "baseline")):
        (found,) = compare(*map(index, sides), "--section", "fusion")["fusion"]
        equal((found["fused_by"], found["fused_n"], found["parts_n"]), (by, 1, len(parts.split(" + "))), "finding")
        equal((found["fused_kernel"], found["part_kernels"]), (kernel, parts), "kernels of the finding")


def check_pair(index, baseline, candidate):
    there = compare(index(baseline), index(candidate), "--section", "all")
    back = compare(index(candidate), index(baseline), "--section", "all")
    check_mirror(there, back)
    require("other_work" not in {row["code"] for found in (there, back) for row in found["warnings"]}, "other work")
    for by in LEDGERS:
        check_closure(compare(index(baseline), index(candidate), "--section", "ledger", "--by", by)["ledger"])


def check_itself(index, name):
    check_unchanged(compare(index(name), index(name), "--section", "all"))


def check_headline(index):
    """The MI300X's steps stand 25 ms apart, in which its host works under a profiler that records python stacks; those of
    the H100 0.4 ms. Spans are alike, periods are not."""
    found = compare(*map(index, LLAMA), "--section", "summary,warnings,ledger")
    rows = {row["item"]: row for row in found["summary"]}
    equal((rows["decode: period"]["baseline"], rows["decode: period"]["candidate"]), ("45.285 ms", "19.169 ms"), "period")
    equal(rows["decode: period"]["verdict"], "better", "verdict of the period")
    equal(rows["decode: span"]["verdict"], "inconclusive: the interval reaches beyond 5 %", "verdict of the span")
    equal(rows["decode: recorded calls"]["baseline"], "10858 in 8 gaps", "recorded calls")
    equal([row["side"] for row in found["warnings"] if row["code"] == "recording"], ["baseline", "candidate"], "warnings of recording")
    equal(found["ledger"][0]["item"], "[between steps]", "largest change of the decode steps")
    slower = run("trace-query", "compare", *map(index, LLAMA[::-1]), "--section", "summary", "--gate", 5, code=1)
    require("decode, period: both wait for the recording host, 2 % and 57 % of the period, 147 and 1357 calls per gap" in slower.stderr, slower.stderr)


def check_clocks(index):
    """Ranks of one job on one machine: what differs is how long they wait for each other in a collective."""
    for pair in itertools.combinations(DLRM, 2):
        codes = {row["code"] for row in compare(*map(index, pair), "--section", "warnings")["warnings"]}
        require("clocks" not in codes, f"{pair}: a warning of clocks")


def check_bag(index):
    """Every pair, in either order, and each with itself."""
    for name in BAG:
        check_itself(index, name)
    answers = collections.Counter()
    for baseline, candidate in itertools.combinations(BAG, 2):
        there = compare(index(baseline), index(candidate), "--section", "all")
        back = compare(index(candidate), index(baseline), "--section", "all")
        check_closure(there["ledger"])
        check_mirror(there, back)
        answers["compared" if there["ledger"] else "nothing in common"] += 1
        require(there["ledger"] or there["warnings"], f"{baseline}, {candidate}: nothing to compare, and not a word")
    print(f"  {dict(answers)}")


OTHER = (
    ("gpt_oss_vllm_decode_graph_mi300x.json.gz", "qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz",
     "decode: other model: gpt_oss, 24 layers, against 48 layers."),
    ("gpt_oss_vllm_prefill_b200.json.gz", "qwen3_8b_sglang_prefill_mi300x.json.gz",
     "prefill: other model: GptOssForCausalLM, 36 layers, against Qwen3Model, 36 layers."),
    ("bert_small_hf_h100.json.gz", "qwen15_05b_hf_h100.json.gz",
     "other model: BertLMHeadModel, 4 layers, against Qwen2Model, 24 layers."),
    ("old_resnet50_workers0_v100.json.gz", "resnet_checkpoint_ddp_mi300x.json.gz", "train: convolution of ["),
    ("llama_tp4_vllm_h100.pt.trace.json.gz", "qwen15_05b_hf_h100.json.gz",
     "other model: LlamaForCausalLM, against Qwen2Model, 24 layers."),
    ("old_resnet50_workers0_v100.json.gz", "linear_2080ti.json.gz", "train: other kernels: 24 % and 95 % of their time has"),
    ("../aie/npu_matmul_256x768x768.json", "../aie/old_trace_mm.json", "trace: other kernels: 80 against 3, and "),
    ("sdpa_micro_mi300x.json", "moe_micro_b300.json.gz", "trace: other kernels: 10 against 42, and 0 % and 0 %"),
)
NEVER = ("% less", "% longer", "times the throughput", "times as long", "faster", "slower", "better", "worse")


def codes(index, pair):
    return {row["code"] for row in compare(*map(index, pair), "--section", "warnings")["warnings"]}


def check_other(index, pair, headline):
    indexes = [index(name) for name in pair]
    text = " ".join(run("trace-query", "compare", "-q", *indexes).stdout.split())
    require(text.startswith(headline), f"headline: {text[:300]}")
    said = text.split(" Warnings ")[0]
    require(not any(word in said for word in NEVER), f"other work is rated: {said}")
    refused(2, "--allow-different-work", "trace-query", "compare", *indexes, "--gate", 5)
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


def main(cases, folder):
    if not skip_without_traces(cases, FOLDER):
        index = Indexes(folder)
        for pair, phase, layers in ALIGNED:
            cases.run(f"aligned: {pair[0]}", check_aligned, index, pair, phase, layers)
        for case in FUSED:
            cases.run(f"one fusion: {case[1]}", check_fused, index, *case)
        for pair in PAIRS:
            cases.run(f"account and mirror: {pair[0]}, {pair[1]}", check_pair, index, *pair)
        for name in ITSELF:
            cases.run(f"itself: {name}", check_itself, index, name)
        cases.each((check_headline, check_clocks, check_bag), index)
        cases.run("two exports of one run", check_exports, index)
        for *pair, headline in OTHER:
            cases.run(f"other work: {pair[0]}", check_other, index, pair, headline)
