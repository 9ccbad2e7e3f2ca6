#include "passes/layers/layers.h"

#include <doctest/doctest.h>

#include "support/kernel_letters.h"

namespace tracedb {
namespace {

// The sequence with a bar before each layer and before the tail.
std::string cut(std::string_view letters) {
  const LayerCuts cuts = layer_cuts(traits_of_letters(letters));
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    while (next < cuts.begin.size() && cuts.begin[next] == i) out += '|', ++next;
    if (!cuts.begin.empty() && i == cuts.tail) out += '|';
    out += letters[i];
  }
  return out;
}

}  // namespace

TEST_CASE("layers of a decoder: head, layers from their first norm, tail") {
  CHECK(cut("EcNGRKDGNGXGnGRKDGnGXGnGRKDGnGXGnGss") == "Ec|NGRKDGNGXG|nGRKDGnGXG|nGRKDGnGXG|nGss");
  CHECK(cut("E" + times(3, "NGRKAG+NGXG+") + "NGs") == "E|NGRKAG+NGXG|+NGRKAG+NGXG|+NGRKAG+NGXG|+NGs");
}

TEST_CASE("layers with collectives, with parts of attention, with quantisation and split products") {
  CHECK(cut("EC" + times(3, "NGRKDDGCnGrXGrC") + "NGCs") == "EC|NGRKDDGCnGrXGrC|NGRKDDGCnGrXGrC|NGRKDDGCnGrXGrC|NGCs");
  CHECK(cut("E" + times(2, "NGRKPDDGnGXG") + "nGs") == "E|NGRKPDDGnGXG|NGRKPDDGnGXG|nGs");  // a mixed batch
}

TEST_CASE("norms after attention and after the MLP as well") {
  CHECK(cut("E+" + times(3, "NGNNRADGN+NGXGN") + "NGs") == "E+|NGNNRADGN+NGXGN|NGNNRADGN+NGXGN|NGNNRADGN+NGXGN|NGs");
}

TEST_CASE("latent attention, first layer dense, then experts") {
  const std::string attention = "NGGNGGKRAG";
  const std::string dense = attention + "nGXG";
  const std::string experts = attention + "nGTMXMr";
  CHECK(cut("Ec" + dense + times(3, experts) + "NGs") ==
        "Ec|" + dense + "|" + experts + "|" + experts + "|" + experts + "|NGs");
}

TEST_CASE("layers that alternate between two attention kernels") {
  const std::string full = "NGRKDrGnGTMM";
  const std::string sliding = "NGRKAGnGTMM";
  CHECK(cut("E" + times(2, full + sliding) + "NGs") ==
        "E|" + full + "|" + sliding + "|" + full + "|" + sliding + "|NGs");
}

TEST_CASE("state spaces, and both in one model") {
  CHECK(cut("E" + times(3, "NGSSSNG+") + "NGs") == "E|NGSSSNG|+NGSSSNG|+NGSSSNG|+NGs");
  const std::string mamba = "NGSSNGnGXG";
  const std::string attention = "NGAGnGXG";
  CHECK(cut("E" + times(3, mamba) + attention + mamba + "NGs") ==
        "E|" + mamba + "|" + mamba + "|" + mamba + "|" + attention + "|" + mamba + "|NGs");
}

TEST_CASE("what prepares attention, before any product, is no layer") {
  CHECK(cut("cAE" + times(2, "NGRKAGnGXG") + "NGs") == "cAE|NGRKAGnGXG|NGRKAGnGXG|NGs");
}

TEST_CASE("no layers: none, one, or no mixers at all") {
  for (const std::string_view letters : {"", "E", "GGG", "NGAGNGXGNGs", "VNXVNXVNX", "AAAA"}) {
    CAPTURE(letters);
    CHECK(layer_cuts(traits_of_letters(letters)).begin.empty());
  }
}

TEST_CASE("several passes in one step") {
  const auto begins = [](std::string_view letters) {
    const std::vector<Traits> sequence = traits_of_letters(letters);
    return pass_begins(sequence, mixer_runs(sequence));
  };
  using Places = std::vector<std::size_t>;
  const std::string pass = "E" + times(3, "NGAGnGXG") + "nGs";
  CHECK(begins(pass) == Places{0});
  CHECK(begins(pass + "c" + pass + pass) == Places{0, pass.size() + 1, 2 * pass.size() + 1});
  CHECK(begins(times(2, times(3, "NGAGnGXG") + "nGsc")) == Places{0, 27});
  CHECK(begins(times(4, "ENGAGnGXG")) == Places{0});  // an embedding in every layer
  CHECK(begins("") == Places{0});
}

TEST_CASE("cuts are in order and inside, whatever the sequence") {
  constexpr std::string_view kLetters = "APDSGMTNnXEsRKCcr+?";
  std::uint32_t state = 7;
  for (std::size_t round = 0; round < 2000; ++round) {
    std::string letters;
    const std::size_t length = 1 + round % 60;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 1664525 + 1013904223;
      letters += kLetters[(state >> 16) % kLetters.size()];
    }
    CAPTURE(letters);
    const LayerCuts cuts = layer_cuts(traits_of_letters(letters));
    for (std::size_t i = 1; i < cuts.begin.size(); ++i) REQUIRE(cuts.begin[i - 1] < cuts.begin[i]);
    if (cuts.begin.empty()) continue;
    REQUIRE(cuts.begin.back() < cuts.tail);
    REQUIRE(cuts.tail <= letters.size());
  }
}

TEST_CASE("the architecture goes by kernel time, not by one name") {
  const auto of = [](std::string_view letters) {
    std::vector<ClassTime> times;
    for (const char letter : letters) times.push_back({traits_of_letter(letter), 100});
    return to_string(architecture_of(times));
  };
  CHECK(of("GGA") == "transformer");
  CHECK(of("GGAMM") == "transformer, MoE");
  CHECK(of("GGSS") == "SSM");
  CHECK(of("GSA") == "hybrid (attention and SSM)");
  CHECK(of("VVVN") == "convolutional");
  CHECK(of("GVV" + times(90, "C")) == "convolutional");
  CHECK(of("GGX") == "unknown");
  CHECK(of("") == "unknown");
  CHECK(of(times(300, "G") + "A") == "unknown");  // a stray name
  CHECK(of(times(100, "G") + times(60, "A") + "S") == "transformer");
}

}  // namespace tracedb
