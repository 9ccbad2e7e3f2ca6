#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "passes/classify/classifier.h"
#include "passes/classify/compiled_rules.h"
#include "passes/classify/kernel_classes.h"
#include "passes/classify/kernel_kind.h"
#include "passes/classify/normalized_name.h"
#include "passes/classify/rule_check.h"
#include "passes/classify/rule_set.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string class_of(std::string_view rules, std::string_view name, const std::string& platform = {}) {
  Classifier classifier(parse_rules(rules, "test.rules"), platform);
  return classifier.class_name(classifier.classify(name).class_id);
}

bool found(std::string_view term, std::string_view name) {
  return class_of("rule r yes : " + std::string(term), name) == "yes";
}

TEST_CASE("a word begins and ends where words of the name do, whatever is between") {
  for (const std::string_view name :
       {"rms_norm", "RMSNorm", "rmsnorm", "fused_RmsNorm_kernel", "a::RMSNorm2dFwd<int>"}) {
    CAPTURE(name);
    CHECK(found("rmsnorm", name));
  }
  for (const std::string_view name : {"armsnorm", "rmsnormal", "rms::norm", "k<rmsnorm>", "k(rms_norm)"}) {
    CAPTURE(name);
    CHECK_FALSE(found("rmsnorm", name));
  }
}

TEST_CASE("stars free the ends of a word, but not into the next word from the middle of one") {
  CHECK(found("gemm*", "gemmEx"));
  CHECK(found("gemm*", "gemmex"));
  CHECK_FALSE(found("gemm*", "sgemm"));
  CHECK(found("*gemm", "sgemm_128"));
  CHECK_FALSE(found("*gemm", "sgemmex"));
  CHECK(found("*gemm*", "sgemmex"));
  CHECK_FALSE(found("*scudnn*", "cutlass_cudnn_train"));
  CHECK(found("*scudnn*", "ascudnnb"));
}

TEST_CASE("anchors ask for the ends of a part of the name") {
  CHECK(found("^gemm", "ns::gemm_kernel"));
  CHECK_FALSE(found("^gemm", "ns::my_gemm"));
  CHECK(found("^fwdkernel$", "_fwd_kernel"));
  CHECK_FALSE(found("^fwdkernel$", "_fwd_kernel_stage1"));
  CHECK(found("at::native", "at::native::reduce_kernel<int>"));
  CHECK_FALSE(found("at::native", "at_native::f"));
}

TEST_CASE("the own name is the last part, wrappers opened") {
  CHECK(found("own:gemm", "deep::fp8_gemm<int>"));
  CHECK(found("own:gemm", "gemm"));
  CHECK_FALSE(found("own:gemm", "deep_gemm::transpose<gemm>"));
  CHECK(class_of("wrapper run\nrule r yes : own:fwd", "void run<ns::Fwd<1> >()") == "yes");
  CHECK(class_of("wrapper run\nrule r yes : own:run", "void run<ns::Fwd<1> >()") == "other");
}

TEST_CASE("terms: all must hold, words are alternatives, a minus forbids") {
  CHECK(found("a b", "a_b"));
  CHECK_FALSE(found("a b", "a_c"));
  CHECK(found("a,b", "b"));
  CHECK(found("a -b", "a_c"));
  CHECK_FALSE(found("a -c,b", "a_b"));
  CHECK(found("-b", "anything"));
}

TEST_CASE("template arguments count only where a rule says so") {
  CHECK(found("k args:copy", "void k<ns::direct_copy(int)::{lambda(int)#1}, 4>(copy_args)"));
  CHECK_FALSE(found("copy", "void k<copy>(int)"));
  CHECK_FALSE(found("k args:copy", "void k<int>(copy)"));
  CHECK(found("args:copy", "void k<copy>(int)"));
  CHECK(found("k arg2:true", "void k<int, true, false>()"));
  CHECK_FALSE(found("k arg3:true", "void k<int, true, false>()"));
  CHECK_FALSE(found("k arg4:true", "void k<int, true, false>()"));
  CHECK(found("k arg1:float*", "void k<float16, 2>()"));
}

TEST_CASE("raw scopes and the platform") {
  CHECK(found("raw:topk", "xTOPKx"));
  CHECK_FALSE(found("rawcase:topk", "xTOPKx"));
  CHECK(found("rawcase:^Cijk_", "Cijk_A"));
  CHECK_FALSE(found("rawcase:^Cijk_", "void Cijk_A"));
  CHECK(class_of("rule r yes : raw:a platform:amd", "a", "amd") == "yes");
  CHECK(class_of("rule r yes : raw:a platform:amd", "a", "nvidia") == "other");
  CHECK(class_of("rule r yes : raw:a -platform:amd", "a", "nvidia") == "yes");
}

TEST_CASE("wrappers are opened, also within each other") {
  const std::string rules = "wrapper ns::run enable_sm*\nrule r yes : flash\n";
  CHECK(class_of(rules, "void ns::run<flash::Fwd<int> >(int)") == "yes");
  CHECK(class_of(rules, "void ns::run<2, true, enable_sm90<flash::Fwd<int> > >(int)") == "yes");
  CHECK(class_of(rules, "void ns::other<flash::Fwd<int> >(int)") == "other");
  CHECK(class_of(rules, "void ns::run<1, 2>(int)") == "other");
  CHECK(class_of(rules, "void ns::run<other<flash::Fwd> >(int)") == "other");
}

TEST_CASE("parts join the class in the order of the name") {
  const std::string rules =
      "part add elementwise : add\npart quant quantise : quant\npart far quantise : args:quant\n"
      "rule n norm|add,quant,far : rmsnorm\n";
  CHECK(class_of(rules, "rms_norm") == "norm");
  CHECK(class_of(rules, "add_rms_norm_quant") == "elementwise+norm+quantise");
  CHECK(class_of(rules, "quant_add_rms_norm") == "quantise+elementwise+norm");
  CHECK(class_of(rules, "void add_rms_norm<quant_t>(int)") == "elementwise+norm+quantise");
}

TEST_CASE("the first rule that holds decides; all that hold can be asked for") {
  Classifier classifier(parse_rules("rule a one : x y\nrule b two : x\nrule c three : y\nrule d four : z", "t"));
  CHECK(classifier.rule_name(classifier.classify("x_y").rule_id) == "a");
  CHECK(classifier.rule_name(classifier.classify("y").rule_id) == "c");
  CHECK(classifier.matching_rules("x_y") == std::vector<RuleId>{0, 1, 2});
  CHECK(classifier.matching_rules("nothing").empty());
  const Classification none = classifier.classify("nothing");
  CHECK(none.rule_id == kNoRule);
  CHECK(classifier.class_name(none.class_id) == "other");
  CHECK(classifier.rule_name(none.rule_id) == "none");
}

TEST_CASE("labels may cut the name, by characters") {
  Classifier classifier(parse_rules("rule a one : => {name:3}\n", "t"));
  const RuleId rule = classifier.classify("x").rule_id;
  CHECK(classifier.label("abcdef", rule) == "abc");
  CHECK(classifier.label("ab", rule) == "ab");
  CHECK(classifier.label("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", rule) == "\xc3\xa9\xc3\xa9\xc3\xa9");
  CHECK(classifier.label("", rule).empty());
}

TEST_CASE("an explanation names the words that were found") {
  Classifier classifier(load_rules("default"));
  const Explanation why = classifier.explain("void vllm::fused_add_rms_norm_kernel<c10::Half, 8>(c10::Half*)");
  CHECK(classifier.class_name(why.result.class_id) == "elementwise+norm");
  CHECK(classifier.rule_name(why.result.rule_id) == "norm.rms");
  CHECK(why.path == "vllm::fused_add_rms_norm_kernel");
  CHECK(why.evidence == std::vector<std::string>{"rmsnorm", "add"});
}

TEST_CASE("a pattern without a star fits itself alone") {
  CHECK(GlobPattern("kernel").fits("kernel"));
  CHECK_FALSE(GlobPattern("kernel").fits("kernel2"));
  CHECK_FALSE(GlobPattern("kernel").fits("akernel"));
  CHECK(GlobPattern("").fits(""));
  CHECK_FALSE(GlobPattern("").fits("a"));
}

TEST_CASE("a star stands for any letters, or none") {
  CHECK(GlobPattern("*").fits(""));
  CHECK(GlobPattern("*").fits("abc"));
  CHECK(GlobPattern("ab*").fits("ab"));
  CHECK(GlobPattern("ab*").fits("abc"));
  CHECK(GlobPattern("*bc").fits("abc"));
  CHECK_FALSE(GlobPattern("*bc").fits("abcd"));
  CHECK(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel"));
  CHECK_FALSE(GlobPattern("cutlass*::kernel").fits("cutlass::gemm::kernel2"));
}

TEST_CASE("pieces follow each other and do not overlap") {
  CHECK(GlobPattern("*enable*sm*").fits("enablesm80"));
  CHECK(GlobPattern("*enable*sm*").fits("ns::enableifsm90"));
  CHECK_FALSE(GlobPattern("*enable*sm*").fits("smenable"));
  CHECK_FALSE(GlobPattern("aba*aba").fits("ababa"));
  CHECK(GlobPattern("aba*aba").fits("abaaba"));
  CHECK(GlobPattern("a**b").fits("ab"));
  CHECK(GlobPattern("*ab*ab").fits("abcab"));
  CHECK_FALSE(GlobPattern("*ab*ab").fits("cab"));
}

using Hits = std::vector<std::pair<std::uint32_t, std::size_t>>;

Hits search(const WordMatcher& matcher, std::string_view text) {
  Hits hits;
  matcher.search(text, [&](std::uint32_t word, std::size_t end) { hits.emplace_back(word, end); });
  std::sort(hits.begin(), hits.end());
  return hits;
}

Hits search_plainly(const std::vector<std::string>& words, std::string_view text) {
  Hits hits;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::size_t at = text.find(words[w]); at != std::string_view::npos; at = text.find(words[w], at + 1)) {
      hits.emplace_back(static_cast<std::uint32_t>(w), at + words[w].size());
    }
  }
  std::sort(hits.begin(), hits.end());
  return hits;
}

TEST_CASE("a search finds what plain searches find") {
  std::mt19937 random(1);
  const auto text = [&](std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i) out += "ab1:,"[random() % 5];
    return out;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 12; ++i) words.push_back(text(1 + random() % 5));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    const std::string haystack = text(random() % 200);
    CHECK(search(WordMatcher(words), haystack) == search_plainly(words, haystack));
  }
}

TEST_CASE("hits grow with the text, not faster") {
  const WordMatcher matcher({"a", "aa", "aaa", "aaaa"});
  CHECK(search(matcher, std::string(1000, 'a')).size() <= 4 * 1000);
  CHECK(search(matcher, std::string(100000, 'a')).size() <= 4 * 100000);
}

TEST_CASE("too many words are refused") {
  std::vector<std::string> words;
  for (int i = 0; i < 20000; ++i) words.push_back("w" + std::to_string(i * 7919) + "end");
  CHECK_THROWS_AS(WordMatcher{words}, Error);
}

TEST_CASE("the names of an index have classes, under any rules") {
  const TempDirectory folder;
  const Index index = open_small_index(folder / "small.tracedb");
  const KernelClasses classes(index, load_rules("default"));
  CHECK(classes.end() == 3);
  CHECK(classes.class_of(1) == "dense_gemm");
  CHECK(classes.of(1).rule == "gemm.any");
  CHECK(classes.of(1).label.empty());
  CHECK(classes.class_of(2) == "communication");
  CHECK(classes.of(2).rule == "comm.library");
  CHECK(classes.traits()[1] == traits_of_class("dense_gemm"));

  const KernelClasses wafer(index, load_rules("wafer"));
  CHECK(wafer.class_of(1) == "Other");
  CHECK(wafer.of(1).label == "gemm<float>");
  CHECK(wafer.of(2).label == "ncclAllReduce");
}

TEST_CASE("ids that no name has are of no known class") {
  const TempDirectory folder;
  const KernelClasses classes(open_small_index(folder / "small.tracedb"), load_rules("default"));
  for (const std::uint32_t id : {0U, 3U, UINT32_MAX}) {
    CHECK_FALSE(classes.of(id).known);
    CHECK(classes.class_of(id) == "other");
    CHECK(traits_of(classes.traits(), id) == kOtherTrait);
  }
  const KernelClasses none(open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty),
                           load_rules("default"));
  CHECK(none.end() == 1);
}

TEST_CASE("rules are read when they are asked for") {
  const ActiveRules missing("no such rules");
  CHECK(missing.name() == "no such rules");
  CHECK_THROWS_AS((void)missing.get(), Error);
  CHECK(ActiveRules().get().name == "default");
}

TEST_CASE("kinds of kernels") {
  const std::vector<std::pair<std::string_view, KernelKind>> kernels = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", KernelKind::kComm},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", KernelKind::kComm},
      {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", KernelKind::kComm},
      {"void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*, int)", KernelKind::kComm},
      {"void aiter::cross_device_reduce_1stage<float, 4>(aiter::RankData*)", KernelKind::kComm},
      {"void quickreduce::allreduce_prototype_twoshot<quickreduce::CodecQ8>(int)", KernelKind::kComm},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<float>(int)",
       KernelKind::kCommCompute},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
       "trtllm_allreduce_fusion::AllReduceFusionPattern)0, half, 8, true>(int)",
       KernelKind::kComm},
      {"void flashinfer::trtllm_allreduce_fusion::lamport_initialize_kernel<float>(int)", KernelKind::kComm},
      {"multimem_all_reduce_kernel", KernelKind::kComm},
      {"void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)", KernelKind::kComm},
      {"void moeA2ADispatchKernel<8>(int)", KernelKind::kComm},
      {"fused_all_gather_kernel", KernelKind::kComm},
      {"tag_gemm_kernel", KernelKind::kCompute},
      {"attention_all_reduce", KernelKind::kComm},
      {"void fused::warp_allreduce_norm<4>(float*)", KernelKind::kCompute},
      {"triton_red_fused_all_reduce_rms_norm_0", KernelKind::kCompute},
      {"_ZN7deep_ep9internode8dispatchILb1EEEvPi", KernelKind::kComm},
      {"void c10d::all_to_all_kernel<int>(int)", KernelKind::kComm},
      {"__amd_rocclr_copyBuffer", KernelKind::kCopyKernel},
      {"__amd_rocclr_copyBuffer.kd", KernelKind::kCopyKernel},
      {"__amd_rocclr_fillBufferAligned", KernelKind::kCompute},
      {"void blockAllReduce<float>(float*)", KernelKind::kCompute},
      {"void fused::warp_allreduce_softmax<4>(float*)", KernelKind::kCompute},
      {"void rms_norm<tensorrt_llm::BlockAllReduceSum<float>>(float*)", KernelKind::kCompute},
      {"void norm_kernel<vllm::all_reduce_functor>(float*)", KernelKind::kCompute},
      {"void norm_kernel(all_reduce_params)", KernelKind::kCompute},
      {"void cub::DeviceReduceKernel<int>(int)", KernelKind::kCompute},
      {"Cijk_Ailk_Bljk_BBS_BH_MT128x128x64", KernelKind::kCompute},
      {"triton_red_fused_add_0", KernelKind::kCompute},
      {"triton_poi_fused_add_all_reduce_mul_0", KernelKind::kCompute},  // reads what was reduced
      {"triton_all_reduce_kernel", KernelKind::kComm},
      {"", KernelKind::kCompute},
  };
  KernelKinds kinds;
  for (const auto& entry : kernels) {  // no bindings: clang cannot capture them
    const auto& name = entry.first;
    const auto& kind = entry.second;
    CAPTURE(name);
    CHECK(kinds.of(name) == kind);
  }
}

TEST_CASE("collectives and computation in one kernel") {
  KernelKinds kinds;
  for (const std::string_view name :
       {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
        "trtllm_allreduce_fusion::AllReduceFusionPattern)1, half, 8, true>(int)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_twoshot_sync<(flashinfer::"
        "trtllm_allreduce_fusion::AllReduceFusionPattern)10, half, 8, true>(int)",
        "void tensorrt_llm::kernels::ar_fusion::moe::moereduce_allreduce_fusion_kernel_oneshot_lamport<half>(int)",
        "void flashinfer::trtllm_moe_allreduce_fusion::moefinalize_allreduce_fusion_kernel_oneshot_lamport<4>(int)",
        "void flashinfer::trtllm_mnnvl_allreduce::RMSNorm_Lamport<float>(int)",
        "void tensorrt_llm::kernels::mnnvl::oneshotAllreduceFusionKernel<8, float>(int)",
        "void tensorrt_llm::kernels::lamport_style_one_shot_all_reduce_norm_kernel<half, 8>(int)",
        "void aiter::cross_device_reduce_1stage_fused_add_rmsnorm<__hip_bfloat16, 4>(aiter::RankData*)",
        "_ZN5aiter22all_reduce_rmsnorm_fp8ILi8EEEvPi", "fused_allreduce_residual_rmsnorm_kernel",
        "gemm_reduce_scatter_kernel", "allgather_gemm_persistent", "kernel_ag_gemm_consumer",
        "persistent_gemm_all_scatter", "MatmulAllReduceAddRmsNorm_mix_aic", "AllGatherMatmulV2_0",
        "multimem_all_reduce_rms_norm_kernel",
        "void cutlass::device_kernel<bytedance::flux::GemmReduceScatterKernel<128> >(int)"}) {
    CAPTURE(name);
    CHECK(kinds.of(name) == KernelKind::kCommCompute);
  }
}

TEST_CASE("a kernel communicates where its class does") {
  CHECK(kind_of_class("communication") == KernelKind::kComm);
  CHECK(kind_of_class("communication+norm") == KernelKind::kCommCompute);
  CHECK(kind_of_class("dense_gemm+communication") == KernelKind::kCommCompute);
  CHECK(kind_of_class("norm") == KernelKind::kCompute);
  CHECK(kind_of_class("communications") == KernelKind::kCompute);
  CHECK(kind_of_class("") == KernelKind::kCompute);
  KernelKinds kinds;
  for (const char* name :
       {"void dpsk::ep::internode::dispatch<false, 4, false>(int4*)", "void dpsk::ep::internode::combine<8>(int4*)",
        "dpsk::ep::cuda::get_dispatch_layout", "void deep_ep::intranode::dispatch<8, 768>(int4*)",
        "void deep_ep::internode_ll::combine<true>(void*)", "one_shot_all_reduce_kernel",
        "nvshmemi_transfer_put_kernel", "void sglang::cross_device_reduce_2stage<half, 8>(x)",
        "void mscclpp::allreduce7<int>()", "void pplx::AllToAllInterNode::dispatch<1>()",
        "mori::moe::EpDispatchIntraNodeKernel"}) {
    CAPTURE(name);
    CHECK(kinds.of(name) == KernelKind::kComm);
  }
}

// "fused add rms norm 2 d": a blank before each word but the first.
std::string words(std::string_view text) {
  const NormalizedName parts = normalize_name(text);
  REQUIRE(parts.word_starts.size() == parts.letters.size() + 1);
  std::string out;
  for (std::size_t i = 0; i < parts.letters.size(); ++i) {
    if (parts.word_starts[i] != 0 && i > 0) out += ' ';
    out += parts.letters[i];
  }
  return out;
}

TEST_CASE("words begin at punctuation, camel case and digits") {
  const std::vector<std::pair<std::string_view, std::string_view>> texts = {
      {"fused_add_rms_norm", "fused add rms norm"},
      {"FusedAddRMSNorm2dFwd", "fused add rms norm 2 d fwd"},
      {"s16816gemm_bf16", "s 16816 gemm bf 16"},
      {"flash::FlashAttnFwdSm90", "flash : flash attn fwd sm 90"},
      {"topkGatingSoftmax", "topk gating softmax"},
      {"__amd_rocclr_copyBuffer", "amd rocclr copy buffer"},
      {"QKNorm", "qk norm"},
      {"f<(Mode)1, bool>", "f , , mode 1 , bool ,"},
      {"", ""},
      {"___", ""},
      {"\xc3\xa9x", ", , x"},
  };
  for (const auto& entry : texts) {
    CAPTURE(entry.first);
    CHECK(words(entry.first) == entry.second);
  }
}

std::vector<std::string> states(const std::string& rules, const std::vector<std::string>& names) {
  Classifier classifier(parse_rules(rules, "t"));
  std::vector<std::string> out;
  for (const RuleFinding& finding : check_rules(classifier, names)) {
    std::string text(to_string(finding.state));
    if (finding.by != kNoRule) text += " by " + std::string(classifier.rule_name(finding.by));
    out.push_back(text);
  }
  return out;
}

using Strings = std::vector<std::string>;

TEST_CASE("used, shadowed and unused rules, by names") {
  CHECK(states("rule a x : p\nrule b x : q\nrule c x : r", {"p", "p_q", "p_q_z"}) ==
        Strings{"used", "shadowed by a", "unused"});
}

TEST_CASE("rules that can never decide are found without names") {
  const Strings covered = {"unused", "never reached by a"};
  CHECK(states("rule a x : p\nrule b x : p q", {}) == covered);
  CHECK(states("rule a x : p,q\nrule b x : q", {}) == covered);
  CHECK(states("rule a x : gemm*\nrule b x : gemmex", {}) == covered);
  CHECK(states("rule a x : *gemm*\nrule b x : sgemm", {}) == covered);
  CHECK(states("rule a x :\nrule b x : p", {}) == covered);
  CHECK(states("rule a x : raw:p\nrule b x : raw:p raw:q", {}) == covered);
  CHECK(states("rule a x : p -q\nrule b x : p -q,r", {}) == covered);
}

TEST_CASE("rules that another does not cover are left alone") {
  const Strings free = {"unused", "unused"};
  CHECK(states("rule a x : p q\nrule b x : p", {}) == free);
  CHECK(states("rule a x : p\nrule b x : p,q", {}) == free);
  CHECK(states("rule a x : gemm\nrule b x : gemm*", {}) == free);
  CHECK(states("rule a x : p -q\nrule b x : p", {}) == free);
  CHECK(states("rule a x : args:p\nrule b x : p", {}) == free);
  CHECK(states("rule a x : arg1:p\nrule b x : arg2:p", {}) == free);
  CHECK(states("rule a x : ^p\nrule b x : p", {}) == free);
}

TEST_CASE("the built-in rules reach all of themselves") {
  for (const std::string& name : rule_set_names()) {
    Classifier classifier(load_rules(name));
    for (const RuleFinding& finding : check_rules(classifier, {})) {
      CAPTURE(classifier.rule_name(finding.rule));
      CHECK(finding.state != RuleState::kNeverReached);
    }
  }
}

std::string failure(std::string_view text) {
  try {
    parse_rules(text, "mine.rules");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kUsage);
    return error.what();
  }
  return "none";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_CASE("rules are read with their conditions, parts, labels and places") {
  const RuleSet set = parse_rules(
      "# a comment\n"
      "class norm what it is\n"
      "class quantise\n"
      "words rms rmsnorm,*t5norm*\n"
      "wrapper ns::run* other\n"
      "part quant quantise : quant\n"
      "\n"
      "rule n.rms norm|quant : @rms,layernorm -args:copy arg2:true => \"a label\"  # the end\n",
      "mine.rules");
  CHECK(set.classes == std::vector<std::string>{"norm", "quantise"});
  CHECK(set.wrappers == std::vector<std::string>{"ns::run*", "other"});
  REQUIRE(set.rules.size() == 1);
  const Rule& rule = set.rules[0];
  CHECK(rule.name == "n.rms");
  CHECK(rule.class_name == "norm");
  CHECK(rule.parts == std::vector<std::string>{"quant"});
  CHECK(rule.label == "a label");
  CHECK(rule.source == "mine.rules:8");
  CHECK(to_text(rule.terms) == "rmsnorm,*t5norm*,layernorm -args:copy arg2:true");
  CHECK(rule.terms[0].words.size() == 3);
  CHECK(rule.terms[1].negated);
  CHECK(rule.terms[2].argument == 2);
}

TEST_CASE("classes may be quoted, and a rule may have no terms") {
  const RuleSet set = parse_rules("rule a \"Dense GEMM\" : => {name:4}\nrule b x+y : raw:z", "mine.rules");
  CHECK(set.rules[0].class_name == "Dense GEMM");
  CHECK(set.rules[0].terms.empty());
  CHECK(set.rules[0].label == "{name:4}");
  CHECK(set.rules[1].class_name == "x+y");
}

TEST_CASE("a line that begins with a blank goes on with the one before") {
  const RuleSet set = parse_rules("rule a x : b,\n    c  # more\n    -d\n\nrule e x : f,g\n", "mine.rules");
  REQUIRE(set.rules.size() == 2);
  CHECK(to_text(set.rules[0].terms) == "b,c -d");
  CHECK(set.rules[0].source == "mine.rules:1");
  CHECK(set.rules[1].source == "mine.rules:5");
}

TEST_CASE("wrong rules are told with their line") {
  CHECK(has(failure("rule a b : c\nrules x"), "mine.rules:2: 'rules' is not a statement"));
  CHECK(has(failure("rule"), "mine.rules:1: 'rule' needs more words"));
  CHECK(has(failure("rule a b c d"), "expected: rule NAME CLASS : TERM..."));
  CHECK(has(failure("rule a b : c\nrule a b : d"), "duplicate rule 'a'"));
  CHECK(has(failure("rule a b : what:c"), "'what:' is not a scope"));
  CHECK(has(failure("rule a b : arg:c"), "'arg:' is not a scope"));
  CHECK(has(failure("rule a b : arg0:c"), "'arg0:' is not a scope"));
  CHECK(has(failure("rule a b : args2:c"), "'args2:' is not a scope"));
  CHECK(has(failure("rule a b : c,,d"), "a term without a word"));
  CHECK(has(failure("rule a b : -"), "a term without a word"));
  CHECK(has(failure("rule a b : c*d"), "are allowed only at the ends of a word"));
  CHECK(has(failure("rule a b : c => d e"), "expected one label"));
  CHECK(has(failure("rule a b : @list"), "no words named '@list'"));
  CHECK(has(failure("words list"), "expected: words NAME"));
  CHECK(has(failure("class norm\nrule a nrom : c"), "no class 'nrom'; did you mean 'norm'?"));
  CHECK(has(failure("class norm\nrule a norm+x : c"), "no class 'x'"));
  CHECK(has(failure("rule a b|part : c"), "no part 'part'"));
  CHECK(has(failure("include nothing"), "no built-in rules named 'nothing'"));
}

TEST_CASE("families, unnamed work and companions are read, and name classes and rules there are") {
  const RuleSet set = parse_rules(
      "class norm\nclass add\nclass prompt\nclass attention\nrule sum add : sum\n"
      "family attention prompt,norm\nunnamed add norm\ncompanion sum attention\n",
      "t");
  REQUIRE(set.families.size() == 2);
  CHECK(set.families[1].first == "attention");
  CHECK(set.families[1].second == "norm");
  CHECK(set.unnamed.at(0).first == "add");
  CHECK(set.companions.at(0).first == "sum");
  CHECK(has(failure("class norm\nfamily norm nrom"), "no class 'nrom'"));
  CHECK(has(failure("class norm\nunnamed x norm"), "no class 'x'"));
  CHECK(has(failure("class norm\ncompanion x norm"), "no rule 'x'"));
  CHECK(has(failure("family norm"), "expected: family NAME"));
}

TEST_CASE("built-in sets are sound, and a file can extend them") {
  for (const std::string& name : rule_set_names()) {
    const RuleSet set = load_rules(name);
    CAPTURE(name);
    CHECK(set.name == name);
    CHECK(set.rules.size() > 20);
  }
  const TempDirectory folder;
  const auto path = folder.path() / "mine.rules";
  std::ofstream(path) << "rule mine.one other : mykernel\ninclude default\n";
  const RuleSet mine = load_rules(path.string());
  CHECK(mine.rules.front().name == "mine.one");
  CHECK(mine.rules.size() == load_rules("default").rules.size() + 1);
}

TEST_CASE("a file that is not there is named, with the sets there are") {
  try {
    load_rules("nowhere/x.rules");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInput);
    CHECK(has(error.what(), "nowhere/x.rules: no such file, nor rules of that name (default, wafer)"));
  }
}

}  // namespace
}  // namespace tracedb
