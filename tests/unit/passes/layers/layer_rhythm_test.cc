#include "passes/layers/layer_rhythm.h"

#include <doctest/doctest.h>

#include "support/kernel_letters.h"

namespace tracedb {
namespace {

// "19 x 4, 38 x 4": layers and passes of each stack.
std::string stacks(std::string_view letters) {
  std::string text;
  for (const RhythmStack& stack : layer_rhythm(traits_of_letters(letters)).stacks) {
    text += (text.empty() ? "" : ", ") + std::to_string(stack.layers) + " x " + std::to_string(stack.passes);
  }
  return text;
}

// Which stack each pass is over.
std::string order(std::string_view letters) {
  std::string text;
  for (const RhythmPass& pass : layer_rhythm(traits_of_letters(letters)).passes) text += std::to_string(pass.stack);
  return text;
}

const std::string kVision = "NGAG+NGXG+";             // a layer of a tower
const std::string kSelfAndCross = "NGAG+NGAG+NGXG+";  // of a decoder
const std::string kDouble = "GNGNGRGRRAGG+NGXG+NGXG+";
const std::string kSingle = "GNGXRRAG+";

}  // namespace

TEST_CASE("one stack: layers as layer_cuts() has them") {
  const std::string model = "E" + times(5, "NGRKAGnGXG") + "nGs";
  CHECK(stacks(model) == "5 x 1");
  const LayerRhythm rhythm = layer_rhythm(traits_of_letters(model));
  REQUIRE(rhythm.passes.size() == 1);
  CHECK(rhythm.passes[0].cuts.begin == layer_cuts(traits_of_letters(model)).begin);
  CHECK(rhythm.passes[0].cuts.tail == layer_cuts(traits_of_letters(model)).tail);
  CHECK(stacks("") == "");
  CHECK(stacks("GGG") == "");
  CHECK(stacks("NGAGNGXGNGs") == "");
}

TEST_CASE("passes over one stack") {
  const std::string pass = "E" + times(3, "NGAGnGXG") + "nGs";
  CHECK(stacks(times(4, pass)) == "3 x 4");
  // A prompt's pass has other kernels than a token's.
  CHECK(stacks("E" + times(3, "NGKPCGnGXGC") + "nGs" + times(2, "E" + times(3, "NGDrGnGXGr") + "nGs")) == "3 x 3");
  // Nothing is embedded between iterations, but there is more work.
  const std::string iteration = "GX++GNG" + times(6, kVision) + "NGG+++";
  CHECK(stacks(times(5, iteration)) == "6 x 5");
}

TEST_CASE("vision and text are two stacks") {
  CHECK(stacks("VN" + times(24, kVision) + "NGE+" + times(12, kVision) + "NG") == "24 x 1, 12 x 1");
  CHECK(stacks("E+" + times(12, kVision) + "NGV+N" + times(24, kVision) + "NG") == "12 x 1, 24 x 1");
  CHECK(stacks("VN" + times(12, kVision) + "NGE+" + times(12, kVision) + "NG") == "12 x 1, 12 x 1");
}

TEST_CASE("cross attention belongs to the layer around it") {
  CHECK(stacks("VXVX" + times(32, kVision) + "NE+" + times(32, kSelfAndCross) + "NG") == "32 x 1, 32 x 1");
  // A decoder alone, once for each token.
  CHECK(stacks(times(3, "E+" + times(4, kSelfAndCross) + "NGs")) == "4 x 3");
  // An encoder, and a decoder that begins without an embedding of its own.
  CHECK(stacks("V" + times(4, kVision) + "N" + times(4, kSelfAndCross) + "NG") == "4 x 1, 4 x 1");
  // Activations inside a product: the stretch behind cross attention has two products more.
  CHECK(stacks("E+" + times(6, "NGAG+NGAG+NGG+") + "NGs") == "6 x 1");
  // A layer of one attention after the other is none of two: each has its own experts or activation.
  CHECK(stacks("E" + times(4, "NGAGnGXGNGAGnTMM") + "nGs") == "8 x 1");
}

TEST_CASE("double and single blocks, several passes") {
  const std::string pass = "GXGXGG" + times(19, kDouble) + times(38, kSingle) + "GNG+";
  CHECK(stacks(pass) == "19 x 1, 38 x 1");
  CHECK(stacks(times(4, pass)) == "19 x 4, 38 x 4");
  CHECK(order(times(2, pass)) == "0101");
  CHECK(stacks(times(4, pass) + "VNXVNXVG+G+AG+VNXVNX") == "19 x 4, 38 x 4");  // and a decoder of images
}

TEST_CASE("one stack all the same") {
  CHECK(stacks("E" + times(3, "NGGNGGKRAGnGXG") + times(58, "NGGNGGKRAGnGTMXMr") + "NGs") == "61 x 1");  // dense first
  const std::string mamba = "NGSSNGnGXG";
  const std::string attention = "NGRAGnGXG";
  CHECK(stacks("E" + times(4, times(3, mamba) + attention + times(4, mamba)) + "NGs") == "32 x 1");
  CHECK(stacks("E" + times(4, times(7, mamba) + attention) + "NGs") == "32 x 1");
  CHECK(stacks("E" + times(12, "NGRKDrGnGTMM" + std::string("NGRKAGnGTMM")) + "NGs") == "24 x 1");
}

TEST_CASE("layers are on one side of a joint") {
  const std::string letters = times(3, kVision) + times(3, kVision);
  const std::size_t joint = letters.size() / 2;
  const LayerRhythm rhythm = layer_rhythm(traits_of_letters(letters), std::vector<std::size_t>{joint});
  REQUIRE(rhythm.passes.size() == 2);
  CHECK(rhythm.stacks[0].layers == 3);
  CHECK(rhythm.passes[1].cuts.begin.front() >= joint);
}

TEST_CASE("passes are in order and inside, whatever the sequence") {
  constexpr std::string_view kLetters = "APDSGMTNnXEsRKCcr+?V";
  std::uint32_t state = 11;
  for (std::size_t round = 0; round < 2000; ++round) {
    std::string letters;
    const std::size_t length = 1 + round % 120;
    for (std::size_t i = 0; i < length; ++i) {
      state = state * 1664525 + 1013904223;
      letters += kLetters[(state >> 16) % kLetters.size()];
    }
    CAPTURE(letters);
    const LayerRhythm rhythm = layer_rhythm(traits_of_letters(letters));
    std::size_t last = 0;
    for (const RhythmPass& pass : rhythm.passes) {
      REQUIRE(pass.stack < rhythm.stacks.size());
      REQUIRE(pass.cuts.begin.size() == rhythm.stacks[pass.stack].layers);
      REQUIRE(pass.cuts.begin.front() >= pass.from);
      REQUIRE(pass.cuts.begin.front() >= last);
      last = pass.cuts.begin.back() + 1;
      REQUIRE(pass.cuts.tail >= last);
      REQUIRE(pass.cuts.tail <= pass.to);
      REQUIRE(pass.to <= letters.size());
    }
  }
}

}  // namespace tracedb
