// Names nobody would write: of any length and nesting, and symbols made to explode when demangled.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "passes/classify/classifier.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

// _Z1fI1AIS_S_E...: each level names the one before it twice.
std::string bomb(int levels) {
  std::string symbol = "_Z1fI1AIiiE";
  for (int i = 0; i < levels; ++i) symbol += "S_IS" + std::to_string(i % 10) + "_S" + std::to_string(i % 10) + "_E";
  return symbol + "EvT_";
}

std::vector<std::string> hostile_names(std::size_t n) {
  std::vector<std::string> names;
  for (const std::string_view unit :
       {"<",    "(",  ">", ")",  "{",  "}",         "<(", "(<",    "a<",      "::",
        " ",    "a ", "L", "_Z", "S_", "operator<", "->", "topk_", "rmsnorm", "cutlass::Kernel<",
        "\xff", ","}) {
    std::string name;
    while (name.size() < n) name += unit;
    names.push_back(name);
    names.push_back("void k" + name);
    names.push_back("_ZN" + name);
    names.push_back("void cutlass::device_kernel<" + name + ">(int)");
  }
  names.push_back(std::string(n, '<') + std::string(n, ')') + std::string(n, '>'));
  names.push_back(std::string(n, '(') + std::string(n, '<') + std::string(n, ')'));
  names.push_back("_ZN" + std::string(n, '9'));
  names.push_back("_Z" + std::string(n, 'I') + std::string(n, 'E'));
  return names;
}

}  // namespace

TEST_CASE("hostile names are classified, at any length") {
  Classifier classifier(load_rules("default"));
  Classifier raw(load_rules("wafer"), "amd");
  for (const std::size_t length : {10U, 1000U, 20000U}) {
    for (const std::string& name : hostile_names(length)) {
      const ClassId known = classifier.classify(name).class_id;
      CHECK(known < classifier.classes().size());
      const ClassId by_substrings = raw.classify(name).class_id;
      CHECK(by_substrings < raw.classes().size());
    }
  }
}

TEST_CASE("symbols that explode are not given to the demangler") {
  for (const int levels : {40, 400}) {
    CHECK_FALSE(demangling_is_bounded(bomb(levels)));
    CHECK(readable_name(bomb(levels)).size() < 100 * bomb(levels).size());
  }
  CHECK(demangling_is_bounded(
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"));
}

TEST_CASE("what is written grows with the name, not faster") {
  for (const std::string& small : hostile_names(500)) {
    CHECK(outline_symbol(small).size() <= 12 * small.size() + 100);
    const KernelName parts = split_kernel_name(small);
    CHECK(parts.path.size() <= small.size());
    CHECK(parts.argument_list.size() <= small.size() + 1);
  }
}

TEST_CASE("random names have one class, the same each time and in any order") {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {
      "gemm", "rms_norm", "TopK", "::", "<", ">",   "(", ")", "at::native::", "quant", "_Z", "N5hello", "I", "E",
      "S_",   "T_",       "Lb1E", " ",  ",", "moe", "{", "}", "Kernel",       "copy",  "2d", "void "};
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) {
    std::string name;
    for (std::size_t n = random() % 30; n > 0; --n) name += pieces[random() % pieces.size()];
    names.push_back(name);
  }
  Classifier forward(load_rules("default"));
  Classifier backward(load_rules("default"));
  std::vector<std::string> first;
  for (const std::string& name : names) first.push_back(forward.class_name(forward.classify(name).class_id));
  for (std::size_t i = names.size(); i-- > 0;) {
    CAPTURE(names[i]);
    CHECK(backward.class_name(backward.classify(names[i]).class_id) == first[i]);
    CHECK(forward.class_name(forward.explain(names[i]).result.class_id) == first[i]);
  }
}

}  // namespace tracedb
