#include "compare/align/position_alignment.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {
namespace {

// Kernels by name; a digit behind it is its stream. "sum" is a companion of matrix products.
class Sequences {
 public:
  std::vector<TemplateKernel> kernels(const std::vector<std::string>& names) {
    std::vector<TemplateKernel> out;
    for (const std::string& text : names) {
      const bool numbered = text.back() >= '0' && text.back() <= '9';
      const std::string name = numbered ? text.substr(0, text.size() - 1) : text;
      TemplateKernel& kernel = out.emplace_back();
      kernel.name =
          name == "sum" ? words_.intern(name, name, "reduce", "gemm.split_sum") : words_.intern(name, name, op(name));
      kernel.lane = numbered ? static_cast<std::uint32_t>(text.back() - '0') : 0;
      kernel.n = 1;
      kernel.time = kernel.accounted = 100;
    }
    return out;
  }
  // "gemm=mm norm= =copy"
  std::string aligned(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    const auto first = kernels(a);
    const auto second = kernels(b);
    std::string text;
    for (const AlignedPair& pair : align_positions(first, second, words_)) {
      text += text.empty() ? "" : " ";
      if (pair.a != kNoPartner) text += words_.entries()[first[pair.a].name].name;
      text += '=';
      if (pair.b != kNoPartner) text += words_.entries()[second[pair.b].name].name;
    }
    return text;
  }

  [[nodiscard]] const KernelNameTable& words() const { return words_; }

 private:
  static std::string op(const std::string& name) {
    if (name.starts_with("gemm") || name == "mm") return "dense_gemm";
    if (name.starts_with("norm")) return "norm";
    return name.starts_with("nccl") ? "communication" : "copy";
  }
  KernelNameTable words_{ClassFamilies(load_rules("default"))};
};

}  // namespace

TEST_CASE("one stream: in order") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm", "norm", "copy"}, {"gemm", "copy"}) == "gemm=gemm norm= copy=copy");
  CHECK(sequences.aligned({"norm", "copy"}, {"copy", "norm"}) != "norm=norm copy=copy");
}

TEST_CASE("streams that start in another order are the same streams") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm0", "nccla1", "norm0", "ncclb1"}, {"nccla5", "ncclb5", "gemm2", "norm2"}) ==
        "gemm=gemm nccla=nccla norm=norm ncclb=ncclb");
  CHECK(sequences.aligned({"nccla5", "ncclb5", "gemm2", "norm2"}, {"gemm0", "nccla1", "norm0", "ncclb1"}) ==
        "gemm=gemm nccla=nccla norm=norm ncclb=ncclb");
}

TEST_CASE("a branch that starts at another time takes no neighbours along") {
  Sequences sequences;
  // What stands alone (norm) is behind the product before it on its own stream, wherever the branch (nccl) starts.
  CHECK(sequences.aligned({"gemma0", "ncclx1", "nccly1", "normf0", "mm0"},
                          {"gemma0", "norm0", "normb0", "mm0", "ncclx1", "nccly1"}) ==
        sequences.aligned({"gemma0", "ncclx1", "nccly1", "normf0", "mm0"},
                          {"gemma0", "norm0", "normb0", "ncclx1", "mm0", "nccly1"}));
  CHECK(sequences.aligned({"ncclx1", "gemma0", "mm0", "nccly1"}, {"gemma0", "norm0", "mm0", "ncclx1", "nccly1"}) ==
        "ncclx=ncclx gemma=gemma =norm mm=mm nccly=nccly");
}

TEST_CASE("what stands alone on both sides of a pair of streams is not paired across what lies between") {
  Sequences sequences;
  const std::vector<std::string> a = {"ncclx1", "normq0", "gemm0", "mm0", "nccly1"};
  const std::vector<std::string> b = {"gemm0", "mm0", "ncclx1", "normz0", "nccly1"};
  CHECK(sequences.aligned(a, b).find("normq= ") != std::string::npos);
  CHECK(sequences.aligned(b, a).find("=normq") != std::string::npos);
}

TEST_CASE("of equal kernels of a branch, the one at its position among the others has the partner") {
  Sequences sequences;
  const std::vector<std::string> a = {"copyx2", "gemm0", "ncclr1", "norm0", "mm0", "ncclr1"};
  const std::vector<std::string> early = {"gemm0", "ncclr1", "norm0", "mm0", "copyx2"};
  const std::vector<std::string> late = {"gemm0", "norm0", "mm0", "copyx2", "ncclr1"};
  CHECK(sequences.aligned(a, late) == "gemm=gemm ncclr= norm=norm mm=mm copyx=copyx ncclr=ncclr");
  CHECK(sequences.aligned(a, early) == "gemm=gemm ncclr=ncclr norm=norm mm=mm ncclr= copyx=copyx");
  CHECK(sequences.aligned(late, a) == "gemm=gemm =ncclr norm=norm mm=mm copyx=copyx ncclr=ncclr");
  CHECK(sequences.aligned(early, a) == "gemm=gemm ncclr=ncclr norm=norm mm=mm =ncclr copyx=copyx");
}

TEST_CASE("what one side runs on a stream of its own finds its partner across streams") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm0", "nccl0", "norm0"}, {"gemm0", "norm0", "nccl1"}) == "gemm=gemm nccl=nccl norm=norm");
  CHECK(sequences.aligned({"gemm0", "norm0", "nccl1", "copy1"}, {"gemm0", "nccl1", "norm0", "copy0", "norm0"}) ==
        "gemm=gemm norm=norm nccl=nccl copy=copy =norm");
}

TEST_CASE("a companion stands behind the kernel whose work it ends") {
  Sequences sequences;
  CHECK(sequences.aligned({"gemm", "norm"}, {"mm", "sum", "norm"}) == "gemm=mm =sum norm=norm");
  CHECK(sequences.aligned({"gemm", "sum", "gemm", "norm"}, {"mm", "gemm", "sum", "norm"}) ==
        "gemm=mm sum= gemm=gemm =sum norm=norm");
  const auto kernels = sequences.kernels({"gemm", "sum", "copy", "norm", "copy", "sum", "sum1"});
  CHECK(companion_hosts(kernels, sequences.words()) ==
        std::vector<std::uint32_t>{kNoPartner, 0, kNoPartner, kNoPartner, kNoPartner, kNoPartner, kNoPartner});
}

}  // namespace tracedb
