#include "passes/classify/classifier.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace tracedb {
namespace {

std::string class_of(std::string_view rules, std::string_view name, const std::string& platform = {}) {
  Classifier classifier(parse_rules(rules, "test.rules"), platform);
  return classifier.class_name(classifier.classify(name).class_id);
}

bool found(std::string_view term, std::string_view name) {
  return class_of("rule r yes : " + std::string(term), name) == "yes";
}

}  // namespace

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

}  // namespace tracedb
