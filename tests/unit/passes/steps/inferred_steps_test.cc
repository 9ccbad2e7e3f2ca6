#include "passes/steps/inferred_steps.h"

#include <doctest/doctest.h>

#include "support/kernel_letters.h"

namespace tracedb {
namespace {

// KernelLetters back to back, ten ns each; a blank is 100 ns of waiting. '(' and ')' enclose one graph launch.
struct KernelLetters {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> name, stream, launch, device_of_stream = {0, 1};
  std::vector<Traits> traits = std::vector<Traits>(128, kOtherTrait);
  std::vector<bool> is_graph_launch = {false, false};
  std::string letters;

  explicit KernelLetters(std::string_view text) {
    std::int64_t now = 0;
    bool in_graph = false;
    for (const char c : text) {
      if (c == ' ') now += 100;
      if (c == '(') is_graph_launch.push_back(true);
      if (c == '(' || c == ')') in_graph = c == '(';
      if (c == ' ' || c == '(' || c == ')') continue;
      letters += c;
      ts.push_back(now);
      dur.push_back(10);
      name.push_back(static_cast<std::uint32_t>(c));
      stream.push_back(1);
      launch.push_back(in_graph ? static_cast<std::uint32_t>(is_graph_launch.size() - 1) : 1);
      traits[static_cast<std::size_t>(c)] = traits_of_letter(c);
      now += 10;
    }
  }
  [[nodiscard]] InferredSteps infer() const {
    return infer_steps({ts, dur, name, stream, launch, {}, device_of_stream, traits, is_graph_launch});
  }
  // Steps as "decode:ENG...", joined by blanks; what is in none as "-:...".
  [[nodiscard]] std::string steps() const {
    const InferredSteps found = infer();
    std::string out;
    std::uint32_t latest = UINT32_MAX;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      const std::uint32_t step = found.of_kernel[i];
      if (step != latest) {
        out += out.empty() ? "" : " ";
        out += step == 0 ? "-" : std::string(to_string(found.steps[step - 1].kind));
        out += ":";
      }
      latest = step;
      out += letters[i];
    }
    return out;
  }
};

const std::string kLayers = times(3, "NGDGnGXG");
const std::string kDecode = "E" + kLayers + "nGs";

}  // namespace

TEST_CASE("steps between sampling and embedding") {
  CHECK(KernelLetters(kDecode + " c" + kDecode + " c" + kDecode).steps() ==
        "decode:" + kDecode + " decode:c" + kDecode + " decode:c" + kDecode);
  const std::string prefill = "E" + times(3, "NGPGnGXG") + "nGs";
  const std::string mixed = "E" + times(3, "NGPDGnGXG") + "nGs";
  CHECK(KernelLetters(prefill + mixed + kDecode).steps() ==
        "prefill:" + prefill + " mixed:" + mixed + " decode:" + kDecode);
  CHECK(KernelLetters(kDecode + kDecode).infer().confidence == 0.95);  // only what is recorded is certain
}

TEST_CASE("parts of steps at the ends are in none") {
  const std::string begun = "GDGnGXGnGs";
  CHECK(KernelLetters(begun + kDecode + kDecode + kDecode + "ENGDG").steps() ==
        "-:" + begun + " decode:" + kDecode + " decode:" + kDecode + " decode:" + kDecode + " -:ENGDG");
}

TEST_CASE("the cut is where the device waits, not behind sampling's first kernel") {
  CHECK(KernelLetters(kDecode + "c+ c" + kDecode).steps() == "decode:" + kDecode + "c+ decode:c" + kDecode);
}

TEST_CASE("names that do not say sampling or embedding: those that recur after the same number of layers") {
  const std::string step = "u" + kLayers + "nGrvw";
  CHECK(KernelLetters(step + " " + step + " " + step + " " + step).steps() ==
        "decode:" + step + " decode:" + step + " decode:" + step + " decode:" + step);
}

TEST_CASE("a block of two layers that recurs is a repeating unit, no step") {
  const std::string block = "u" + times(2, "NGDGnGXG") + "nGrvw";
  CHECK(KernelLetters(times(4, block + " ")).steps() ==
        "unit:" + block + " unit:" + block + " unit:" + block + " unit:" + block);
}

TEST_CASE("attention that does not say: decode where graphs are replayed, else unknown") {
  const std::string step = "E" + times(3, "NGAGnGXG") + "nGs";
  CHECK(KernelLetters(step + "(" + step + ")(" + step + ")").steps() ==
        "unknown:" + step + " decode:" + step + " decode:" + step);
}

TEST_CASE("a diffusion replayed from graphs is no decode") {
  const std::string pass = "GXGG" + times(8, "GNGRAG+NGXG+") + "NG+";
  CHECK(KernelLetters("(" + pass + ")(" + pass + ")(" + pass + ")").steps().find("decode") == std::string::npos);
  // With its text encoder's embedding before and its image decoder behind, all in one.
  CHECK(KernelLetters("E(" + pass + ")(" + pass + ")(" + pass + ")VNXVNX").steps().find("decode") == std::string::npos);
}

TEST_CASE("training: to the end of each optimizer step") {
  const std::string step = "GXGGXGOOOc";
  const std::string whole = "cGXGGXGOOO";
  const KernelLetters kernels(step + step + step);
  CHECK(kernels.infer().reason == "optimizer steps");
  CHECK(kernels.steps() == "train:GXGGXGOOO train:" + whole + " train:" + whole + " -:c");
}

TEST_CASE("training: the first step counts if it has the work of the others, as a warm-up where its kernels differ") {
  const std::string step = "cGXGGXGOOO";
  const auto first = [&](const std::string& begin) {
    const KernelLetters kernels(begin + step + step + step);
    return std::pair(kernels.steps(), kernels.infer());
  };
  const std::string rest = " train:" + step + " train:" + step + " train:" + step;
  const std::string search = "cGGGGXGGGGGGXGGOOO", few = "GXGGXGO", part = "XGOOO";
  for (const std::string& begin : {search, few}) {
    CAPTURE(begin);
    const auto& [steps, found] = first(begin);
    CHECK(steps == "train:" + begin + rest);
    CHECK(found.steps[0].warm_up);
    CHECK_FALSE(found.steps[1].warm_up);
    CHECK(found.confidence == 0.95);
  }
  CHECK_FALSE(first(step).second.steps[0].warm_up);
  CHECK(first(part).first == "-:" + part + rest);
  CHECK_FALSE(first(part).second.steps[0].warm_up);
}

TEST_CASE("whole passes replayed as graphs") {
  const std::string step = "VNXVNXVNXG";
  CHECK(KernelLetters("(" + step + ")c(" + step + ")c(" + step + ")").steps() ==
        "unknown:" + step + "c unknown:" + step + "c unknown:" + step);
}

TEST_CASE("no rhythm, no steps, and a reason") {
  for (const std::string_view letters : {"", "G", "VNXVNXVNX", "NGAGNGAGNGAG"}) {
    CAPTURE(letters);
    const InferredSteps found = KernelLetters(letters).infer();
    CHECK(found.steps.empty());
    CHECK(!found.reason.empty());
    CHECK(found.of_kernel.size() == letters.size());
  }
}

}  // namespace tracedb
