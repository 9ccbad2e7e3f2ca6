#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "passes/classify/classifier.h"
#include "passes/classify/kernel_classes.h"
#include "passes/classify/kernel_kind.h"
#include "passes/classify/rule_set.h"
#include "support/cases.h"
#include "support/refused.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string class_of(std::string_view rules, std::string_view name, const std::string& platform = {}) {
  Classifier classifier(parse_rules(rules, "test.rules"), platform);
  return classifier.class_name(classifier.classify(name).class_id);
}

// Names that hold `term`, and names that do not.
struct TermCase {
  std::string_view what, term;
  std::vector<std::string_view> in, not_in;
};

TEST_CASE("terms are found where they should be") {
  const TermCase cases[] = {
      {"a word begins and ends where words of the name do, whatever is between",
       "rmsnorm",
       {"rms_norm", "RMSNorm", "rmsnorm", "fused_RmsNorm_kernel", "a::RMSNorm2dFwd<int>"},
       {"armsnorm", "rmsnormal", "rms::norm", "k<rmsnorm>", "k(rms_norm)"}},
      {"a star frees an end of a word", "gemm*", {"gemmEx", "gemmex"}, {"sgemm"}},
      {"a star frees an end of a word", "*gemm", {"sgemm_128"}, {"sgemmex"}},
      {"stars free both ends", "*gemm*", {"sgemmex"}, {}},
      {"but not into the next word from the middle of one", "*scudnn*", {"ascudnnb"}, {"cutlass_cudnn_train"}},
      {"an anchor asks for the end of a part of the name", "^gemm", {"ns::gemm_kernel"}, {"ns::my_gemm"}},
      {"an anchor asks for the end of a part of the name", "^fwdkernel$", {"_fwd_kernel"}, {"_fwd_kernel_stage1"}},
      {"scopes", "at::native", {"at::native::reduce_kernel<int>"}, {"at_native::f"}},
      {"the own name is the last part", "own:gemm", {"deep::fp8_gemm<int>", "gemm"}, {"deep_gemm::transpose<gemm>"}},
      {"all must hold", "a b", {"a_b"}, {"a_c"}},
      {"words are alternatives", "a,b", {"b"}, {}},
      {"a minus forbids", "a -b", {"a_c"}, {}},
      {"a minus forbids", "a -c,b", {}, {"a_b"}},
      {"a minus forbids", "-b", {"anything"}, {}},
      {"template arguments only where it says so",
       "k args:copy",
       {"void k<ns::direct_copy(int)::{lambda(int)#1}, 4>(copy_args)"},
       {"void k<int>(copy)"}},
      {"a lone letter at an end", "ssm*", {"ssm_scan", "S_Sm_100", "mambaSsm_2"}, {"schedS_sm100f", "gemm8S_sm90"}},
      {"words beyond an underscore", "topksoftmax", {"moeTopK_softmax", "topk_softmax"}, {"stopK_softmax"}},
      {"template arguments only where it says so", "copy", {}, {"void k<copy>(int)"}},
      {"template arguments only where it says so", "args:copy", {"void k<copy>(int)"}, {}},
      {"one argument", "k arg2:true", {"void k<int, true, false>()"}, {}},
      {"one argument", "k arg3:true", {}, {"void k<int, true, false>()"}},
      {"one argument", "k arg4:true", {}, {"void k<int, true, false>()"}},
      {"one argument", "k arg1:float*", {"void k<float16, 2>()"}, {}},
      {"raw text", "raw:topk", {"xTOPKx"}, {}},
      {"raw text as it is", "rawcase:topk", {}, {"xTOPKx"}},
      {"raw text as it is", "rawcase:^Cijk_", {"Cijk_A"}, {"void Cijk_A"}},
  };
  for (const TermCase& one : cases) {
    CAPTURE(one.what);
    for (const bool in : {true, false}) {
      for (const std::string_view name : in ? one.in : one.not_in) {
        CAPTURE(name);
        CHECK((class_of("rule r yes : " + std::string(one.term), name) == "yes") == in);
      }
    }
  }
}

TEST_CASE("the own name, wrappers opened, and the platform") {
  CHECK(as_row(class_of("wrapper run\nrule r yes : own:fwd", "void run<ns::Fwd<1> >()"),
               class_of("wrapper run\nrule r yes : own:run", "void run<ns::Fwd<1> >()"),
               class_of("rule r yes : raw:a platform:amd", "a", "amd"),
               class_of("rule r yes : raw:a platform:amd", "a", "nvidia"),
               class_of("rule r yes : raw:a -platform:amd", "a", "nvidia")) == "yes other yes other yes");
}

TEST_CASE("wrappers are opened, also within each other") {
  const auto of = [](std::string_view name) {
    return class_of("wrapper ns::run enable_sm*\nrule r yes : flash\n", name);
  };
  check_each("yes", of,
             {"void ns::run<flash::Fwd<int> >(int)", "void ns::run<2, true, enable_sm90<flash::Fwd<int> > >(int)"});
  check_each(
      "other", of,
      {"void ns::other<flash::Fwd<int> >(int)", "void ns::run<1, 2>(int)", "void ns::run<other<flash::Fwd> >(int)"});
}

TEST_CASE("parts join the class in the order of the name") {
  const std::string rules =
      "part add elementwise : add\npart quant quantise : quant\npart far quantise : args:quant\n"
      "rule n norm|add,quant,far : rmsnorm\n";
  CHECK(as_row(class_of(rules, "rms_norm"), class_of(rules, "add_rms_norm_quant"),
               class_of(rules, "quant_add_rms_norm"), class_of(rules, "void add_rms_norm<quant_t>(int)")) ==
        "norm elementwise+norm+quantise quantise+elementwise+norm elementwise+norm+quantise");
}

TEST_CASE("the first rule that holds decides; all that hold can be asked for") {
  Classifier classifier(parse_rules("rule a one : x y\nrule b two : x\nrule c three : y\nrule d four : z", "t"));
  CHECK(classifier.rule_name(classifier.classify("x_y").rule_id) == "a");
  CHECK(classifier.rule_name(classifier.classify("y").rule_id) == "c");
  CHECK(classifier.matching_rules("x_y") == std::vector<RuleId>{0, 1, 2});
  CHECK(classifier.matching_rules("nothing").empty());
  const Classification none = classifier.classify("nothing");
  CHECK(none.rule_id == kNoRule);
  CHECK(as_row(classifier.class_name(none.class_id), classifier.rule_name(none.rule_id)) == "other none");
}

TEST_CASE("labels may cut the name, by characters") {
  Classifier classifier(parse_rules("rule a one : => {name:3}\n", "t"));
  const RuleId rule = classifier.classify("x").rule_id;
  CHECK(as_row(classifier.label("abcdef", rule), classifier.label("ab", rule)) == "abc ab");
  CHECK(classifier.label("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", rule) == "\xc3\xa9\xc3\xa9\xc3\xa9");
  CHECK(classifier.label("", rule).empty());
}

TEST_CASE("an explanation names the words that were found") {
  Classifier classifier(load_rules("default"));
  const Explanation why = classifier.explain("void vllm::fused_add_rms_norm_kernel<c10::Half, 8>(c10::Half*)");
  CHECK(as_row(classifier.class_name(why.result.class_id), classifier.rule_name(why.result.rule_id), why.path) ==
        "elementwise+norm norm.rms vllm::fused_add_rms_norm_kernel");
  CHECK(why.evidence == std::vector<std::string>{"rmsnorm", "add"});
}

TEST_CASE("patterns: a star stands for any letters or none, pieces follow each other and do not overlap") {
  struct Case {
    std::string pattern;
    std::vector<std::string_view> fit, do_not;
  };
  const Case cases[] = {
      {"kernel", {"kernel"}, {"kernel2", "akernel"}},
      {"", {""}, {"a"}},
      {"*", {"", "abc"}, {}},
      {"ab*", {"ab", "abc"}, {}},
      {"*bc", {"abc"}, {"abcd"}},
      {"cutlass*::kernel", {"cutlass::gemm::kernel"}, {"cutlass::gemm::kernel2"}},
      {"*enable*sm*", {"enablesm80", "ns::enableifsm90"}, {"smenable"}},
      {"aba*aba", {"abaaba"}, {"ababa"}},
      {"a**b", {"ab"}, {}},
      {"*ab*ab", {"abcab"}, {"cab"}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.pattern);
    for (const std::string_view text : one.fit) CHECK(GlobPattern(one.pattern).fits(text));
    for (const std::string_view text : one.do_not) CHECK_FALSE(GlobPattern(one.pattern).fits(text));
  }
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
  const KernelClasses classes(index, default_rules());
  CHECK(as_row(classes.end(), classes.class_of(1), classes.of(1).rule, classes.of(1).label.empty(), classes.class_of(2),
               classes.of(2).rule) == "3 dense_gemm gemm.any true communication comm.library");
  CHECK(classes.traits()[1] == traits_of_class("dense_gemm"));

  const KernelClasses wafer(index, CompiledRules(load_rules("wafer")));
  CHECK(as_row(wafer.class_of(1), wafer.of(1).label, wafer.of(2).label) == "Other gemm<float> ncclAllReduce");
}

TEST_CASE("ids that no name has are of no known class") {
  const TempDirectory folder;
  const KernelClasses classes(open_small_index(folder / "small.tracedb"), default_rules());
  for (const std::uint32_t id : {0U, 3U, UINT32_MAX}) {
    CHECK_FALSE(classes.of(id).known);
    CHECK(classes.class_of(id) == "other");
    CHECK(traits_of(classes.traits(), id) == kOtherTrait);
  }
  const KernelClasses none(open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty), default_rules());
  CHECK(none.end() == 1);
}

TEST_CASE("rules are read when they are asked for") {
  const ActiveRules missing("no such rules");
  CHECK(missing.name() == "no such rules");
  CHECK_THROWS_AS((void)missing.get(), Error);
  CHECK(ActiveRules().get().name == "default");
}

TEST_CASE("kinds of kernels") {
  KernelKinds kinds;
  const auto kind = [&](std::string_view name) { return kinds.of(name); };
  check_each(KernelKind::kComm, kind,
             {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
              "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
              "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
              "void vllm::cross_device_reduce_2stage<__hip_bfloat16, 8>(vllm::RankData*, int)",
              "void aiter::cross_device_reduce_1stage<float, 4>(aiter::RankData*)",
              "void quickreduce::allreduce_prototype_twoshot<quickreduce::CodecQ8>(int)",
              "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
              "trtllm_allreduce_fusion::AllReduceFusionPattern)0, half, 8, true>(int)",
              "void flashinfer::trtllm_allreduce_fusion::lamport_initialize_kernel<float>(int)",
              "multimem_all_reduce_kernel",
              "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)",
              "void moeA2ADispatchKernel<8>(int)",
              "fused_all_gather_kernel",
              "attention_all_reduce",
              "_ZN7deep_ep9internode8dispatchILb1EEEvPi",
              "void c10d::all_to_all_kernel<int>(int)",
              "triton_all_reduce_kernel",
              "void dpsk::ep::internode::dispatch<false, 4, false>(int4*)",
              "void dpsk::ep::internode::combine<8>(int4*)",
              "dpsk::ep::cuda::get_dispatch_layout",
              "void deep_ep::intranode::dispatch<8, 768>(int4*)",
              "void deep_ep::internode_ll::combine<true>(void*)",
              "one_shot_all_reduce_kernel",
              "nvshmemi_transfer_put_kernel",
              "void sglang::cross_device_reduce_2stage<half, 8>(x)",
              "void mscclpp::allreduce7<int>()",
              "void pplx::AllToAllInterNode::dispatch<1>()",
              "mori::moe::EpDispatchIntraNodeKernel"});
  check_each(
      KernelKind::kCompute, kind,
      {"tag_gemm_kernel", "void fused::warp_allreduce_norm<4>(float*)", "triton_red_fused_all_reduce_rms_norm_0",
       "__amd_rocclr_fillBufferAligned", "void blockAllReduce<float>(float*)",
       "void fused::warp_allreduce_softmax<4>(float*)", "void rms_norm<tensorrt_llm::BlockAllReduceSum<float>>(float*)",
       "void norm_kernel<vllm::all_reduce_functor>(float*)", "void norm_kernel(all_reduce_params)",
       "void cub::DeviceReduceKernel<int>(int)", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x64", "triton_red_fused_add_0",
       "triton_poi_fused_add_all_reduce_mul_0",  // reads what was reduced
       ""});
  check_each(KernelKind::kCopyKernel, kind, {"__amd_rocclr_copyBuffer", "__amd_rocclr_copyBuffer.kd"});
  check_each(
      KernelKind::kCommCompute, kind,
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<float>(int)",
       "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer::"
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
       "void cutlass::device_kernel<bytedance::flux::GemmReduceScatterKernel<128> >(int)"});
}

TEST_CASE("a kernel communicates where its class does") {
  check_each(KernelKind::kComm, kind_of_class, {"communication"});
  check_each(KernelKind::kCommCompute, kind_of_class, {"communication+norm", "dense_gemm+communication"});
  check_each(KernelKind::kCompute, kind_of_class, {"norm", "communications", ""});
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
  check_pairs<std::string_view>(words, {{"fused_add_rms_norm", "fused add rms norm"},
                                        {"FusedAddRMSNorm2dFwd", "fused add rms norm 2 d fwd"},
                                        {"s16816gemm_bf16", "s 16816 gemm bf 16"},
                                        {"flash::FlashAttnFwdSm90", "flash : flash attn fwd sm 90"},
                                        {"topkGatingSoftmax", "topk gating softmax"},
                                        {"__amd_rocclr_copyBuffer", "amd rocclr copy buffer"},
                                        {"QKNorm", "qk norm"},
                                        {"f<(Mode)1, bool>", "f , , mode 1 , bool ,"},
                                        {"", ""},
                                        {"___", ""},
                                        {"\xc3\xa9x", ", , x"}});
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

TEST_CASE("rules that can never decide are found without names, others are left alone") {
  const auto without_names = [](std::string_view rules) { return states(std::string(rules), {}); };
  check_each(Strings{"unused", "never reached by a"}, without_names,
             {"rule a x : p\nrule b x : p q", "rule a x : p,q\nrule b x : q", "rule a x : gemm*\nrule b x : gemmex",
              "rule a x : *gemm*\nrule b x : sgemm", "rule a x :\nrule b x : p",
              "rule a x : raw:p\nrule b x : raw:p raw:q", "rule a x : p -q\nrule b x : p -q,r"});
  check_each(Strings{"unused", "unused"}, without_names,
             {"rule a x : p q\nrule b x : p", "rule a x : p\nrule b x : p,q", "rule a x : gemm\nrule b x : gemm*",
              "rule a x : p -q\nrule b x : p", "rule a x : args:p\nrule b x : p",
              "rule a x : arg1:p\nrule b x : arg2:p", "rule a x : ^p\nrule b x : p"});
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
  return refused(ErrorCode::kUsage, [&] { parse_rules(text, "mine.rules"); });
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
  CHECK(as_row(rule.name, rule.class_name) == "n.rms norm");
  CHECK(rule.parts == std::vector<std::string>{"quant"});
  CHECK(as_lines(rule.label, rule.source, to_text(rule.terms), rule.terms[0].words.size(), rule.terms[1].negated,
                 rule.terms[2].argument) ==
        "a label\nmine.rules:8\nrmsnorm,*t5norm*,layernorm -args:copy arg2:true\n3\ntrue\n2");
}

TEST_CASE("classes may be quoted, and a rule may have no terms") {
  const RuleSet set = parse_rules("rule a \"Dense GEMM\" : => {name:4}\nrule b x+y : raw:z", "mine.rules");
  CHECK(set.rules[0].class_name == "Dense GEMM");
  CHECK(as_row(set.rules[0].terms.empty(), set.rules[0].label, set.rules[1].class_name) == "true {name:4} x+y");
}

TEST_CASE("a line that begins with a blank goes on with the one before") {
  const RuleSet set = parse_rules("rule a x : b,\n    c  # more\n    -d\n\nrule e x : f,g\n", "mine.rules");
  REQUIRE(set.rules.size() == 2);
  CHECK(to_text(set.rules[0].terms) == "b,c -d");
  CHECK(as_row(set.rules[0].source, set.rules[1].source) == "mine.rules:1 mine.rules:5");
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
  CHECK(as_row(set.families[1].first, set.families[1].second, set.unnamed.at(0).first, set.companions.at(0).first) ==
        "attention norm add sum");
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
  CHECK(has(refused(ErrorCode::kInput, [] { load_rules("nowhere/x.rules"); }),
            "nowhere/x.rules: no such file, nor rules of that name (default, wafer)"));
}

}  // namespace
}  // namespace tracedb
