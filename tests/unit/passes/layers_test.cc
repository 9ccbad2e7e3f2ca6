#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "passes/layers/layer_rhythm.h"
#include "passes/layers/layer_sources.h"
#include "passes/layers/model_names.h"
#include "passes/layers/module_layers.h"
#include "passes/layers/stack_table.h"
#include "support/asked_passes.h"
#include "support/cases.h"
#include "support/kernel_letters.h"
#include "support/rows.h"

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

LayerCuts cuts_of(const std::vector<Traits>& sequence) { return layer_cuts(sequence, mixer_runs(sequence)); }

TEST_CASE("stacks of layers and passes over them") {
  const std::string one_pass = "E" + times(3, "NGAGnGXG") + "nGs";
  const std::string iteration = "GX++GNG" + times(6, kVision) + "NGG+++";
  const std::string diffusion = "GXGXGG" + times(19, kDouble) + times(38, kSingle) + "GNG+";
  const std::string mamba = "NGSSNGnGXG", attention = "NGRAGnGXG";
  const struct {
    std::string_view what;
    std::string letters, stacks;
  } cases[] = {
      {"one stack", "E" + times(5, "NGRKAGnGXG") + "nGs", "5 x 1"},
      {"none", "", ""},
      {"none", "GGG", ""},
      {"none", "NGAGNGXGNGs", ""},
      {"passes over one stack", times(4, one_pass), "3 x 4"},
      {"a prompt's pass has other kernels than a token's",
       "E" + times(3, "NGKPCGnGXGC") + "nGs" + times(2, "E" + times(3, "NGDrGnGXGr") + "nGs"), "3 x 3"},
      {"nothing is embedded between iterations, but there is more work", times(5, iteration), "6 x 5"},
      {"vision, then text", "VN" + times(24, kVision) + "NGE+" + times(12, kVision) + "NG", "24 x 1, 12 x 1"},
      {"text, then vision", "E+" + times(12, kVision) + "NGV+N" + times(24, kVision) + "NG", "12 x 1, 24 x 1"},
      {"as many layers", "VN" + times(12, kVision) + "NGE+" + times(12, kVision) + "NG", "12 x 1, 12 x 1"},
      {"cross attention belongs to the layer around it",
       "VXVX" + times(32, kVision) + "NE+" + times(32, kSelfAndCross) + "NG", "32 x 1, 32 x 1"},
      {"a decoder alone, once for each token", times(3, "E+" + times(4, kSelfAndCross) + "NGs"), "4 x 3"},
      {"an encoder, and a decoder that begins without an embedding of its own",
       "V" + times(4, kVision) + "N" + times(4, kSelfAndCross) + "NG", "4 x 1, 4 x 1"},
      {"activations inside a product: the stretch behind cross attention has two products more",
       "E+" + times(6, "NGAG+NGAG+NGG+") + "NGs", "6 x 1"},
      {"attention after attention is no layer of two: each has its own experts or activation",
       "E" + times(4, "NGAGnGXGNGAGnTMM") + "nGs", "8 x 1"},
      {"dense layers and such with experts that no name shows take turns",
       "E" + times(4, "NGAGNGTGG" + std::string("NGAGNGXG")) + "nGs", "8 x 1"},
      {"two micro-batches take turns: both are routed before the experts of either",
       "E" + times(8, "NGAGNGT" + std::string("NGAGNGT") + "MXMMXM") + "nGs", "8 x 1"},
      {"double and single blocks", diffusion, "19 x 1, 38 x 1"},
      {"several passes over both", times(4, diffusion), "19 x 4, 38 x 4"},
      {"and a decoder of images", times(4, diffusion) + "VNXVNXVG+G+AG+VNXVNX", "19 x 4, 38 x 4"},
      {"dense layers first", "E" + times(3, "NGGNGGKRAGnGXG") + times(58, "NGGNGGKRAGnGTMXMr") + "NGs", "61 x 1"},
      {"mixers take turns", "E" + times(4, times(3, mamba) + attention + times(4, mamba)) + "NGs", "32 x 1"},
      {"mixers take turns", "E" + times(4, times(7, mamba) + attention) + "NGs", "32 x 1"},
      {"two kinds of attention take turns", "E" + times(12, "NGRKDrGnGTMM" + std::string("NGRKAGnGTMM")) + "NGs",
       "24 x 1"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(stacks(one.letters) == one.stacks);
  }
  CHECK(order(times(2, diffusion)) == "0101");
  const std::vector<Traits> model = traits_of_letters(cases[0].letters);
  const LayerRhythm rhythm = layer_rhythm(model);
  REQUIRE(rhythm.passes.size() == 1);
  CHECK(rhythm.passes[0].cuts.begin == cuts_of(model).begin);
  CHECK(rhythm.passes[0].cuts.tail == cuts_of(model).tail);
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

// The sequence with a bar before each layer and before the tail.
std::string cut(std::string_view letters) {
  const LayerCuts cuts = cuts_of(traits_of_letters(letters));
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    while (next < cuts.begin.size() && cuts.begin[next] == i) out += '|', ++next;
    if (!cuts.begin.empty() && i == cuts.tail) out += '|';
    out += letters[i];
  }
  return out;
}

TEST_CASE("layers of one pass: head, layers from their first norm, tail") {
  const std::string dense = "NGGNGGKRAGnGXG", experts = "NGGNGGKRAGnGTMXMr";
  const std::string full = "NGRKDrGnGTMM", sliding = "NGRKAGnGTMM";
  const std::string mamba = "NGSSNGnGXG", attention = "NGAGnGXG";
  const auto with_bars = [](std::string_view head, std::initializer_list<std::string> layers, std::string_view tail) {
    return fmt::format("{}|{}|{}", head, fmt::join(layers, "|"), tail);
  };
  const struct {
    std::string_view what;
    std::string expected;
  } cases[] = {
      {"a decoder", "Ec|NGRKDGNGXG|nGRKDGnGXG|nGRKDGnGXG|nGss"},
      {"a decoder", "E|NGRKAG+NGXG|+NGRKAG+NGXG|+NGRKAG+NGXG|+NGs"},
      {"additions before norms, and no norm behind", "E|NGRKAG+NGXG|+NGRKAG+NGXG|+NGRKAG+NGXG|Gs"},
      {"additions before norms, and one kernel behind", "E|NGRKAG+NGXG|+NGRKAG+NGXG|+NGRKAG+NGXG|G"},
      {"collectives, parts of attention, split products", "EC|NGRKDDGCnGrXGrC|NGRKDDGCnGrXGrC|NGRKDDGCnGrXGrC|NGCs"},
      {"a mixed batch", "E|NGRKPDDGnGXG|NGRKPDDGnGXG|nGs"},
      {"norms after attention and after the MLP as well", "E+|NGNNRADGN+NGXGN|NGNNRADGN+NGXGN|NGNNRADGN+NGXGN|NGs"},
      {"latent attention, first layer dense, then experts", with_bars("Ec", {dense, experts, experts, experts}, "NGs")},
      {"two attention kernels take turns", with_bars("E", {full, sliding, full, sliding}, "NGs")},
      {"state spaces", "E|NGSSSNG|+NGSSSNG|+NGSSSNG|+NGs"},
      {"state spaces and attention", with_bars("E", {mamba, mamba, mamba, attention, mamba}, "NGs")},
      {"what prepares attention, before any product, is no layer", "cAE|NGRKAGnGXG|NGRKAGnGXG|NGs"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    std::string letters = one.expected;
    std::erase(letters, '|');
    CHECK(cut(letters) == one.expected);
  }
  check_unchanged(cut, {"", "E", "GGG", "NGAGNGXGNGs", "VNXVNXVNX", "AAAA"});
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
    const LayerCuts cuts = cuts_of(traits_of_letters(letters));
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
  CHECK(as_lines(of("GGA"), of("GGAMM"), of("GGSS"), of("GSA")) ==
        "transformer\ntransformer, MoE\nSSM\nhybrid (attention and SSM)");
  CHECK(as_row(of("VVVN"), of("GVV" + times(90, "C")), of("GGX"), of("")) ==
        "convolutional convolutional unknown unknown");
  CHECK(of(times(300, "G") + "A") == "unknown");  // a stray name
  CHECK(of(times(100, "G") + times(60, "A") + "S") == "transformer");
}

TEST_CASE("layer numbers in names") {
  check_pairs<int>(layer_number, {{"model.layers.12.mlp", 12},
                                  {"DecoderLayer_3", 3},
                                  {"transformer.h.7.attn", 7},
                                  {"Block 4", 4},
                                  {"blocks[9]", 9},
                                  {"layer12", 12}});
  check_each(std::nullopt, layer_number,
             {"", "layer", "layers", "LayerNorm", "layer_norm_2x", "relayout", "attn(F)", "h.7",
              "FSDP::all_gather (layers.4)"});
}

// Modules as (name, frame of the module around; 0: none), with what the kernels right in them are for; "": no kernels.
struct TestModule {
  std::string_view name;
  int outer;
  std::string_view letters;
};

ModuleLayers layers_of_modules(const std::vector<TestModule>& modules) {
  std::string rows = "DELETE FROM stack; DELETE FROM frame;";
  StackUse use;
  use.time.assign(modules.size() + 1, 0);
  use.first_kernel.assign(modules.size() + 1, 0);
  use.traits.assign(modules.size() + 1, 0);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const TestModule& module = modules[i];
    rows += fmt::format(
        "INSERT OR IGNORE INTO string VALUES ({0}, 'nn.Module: {1}'); INSERT INTO frame (id, name_id) SELECT {2}, id "
        "FROM string WHERE value = 'nn.Module: {1}'; INSERT INTO stack VALUES ({2}, nullif({3}, 0), {2}, 1);",
        i + 100, module.name, i + 1, module.outer);
    if (module.letters.empty()) continue;
    use.time[i + 1] = 100 * static_cast<std::int64_t>(module.letters.size());
    use.first_kernel[i + 1] = static_cast<std::uint32_t>(i + 1);
    for (const char letter : module.letters) use.traits[i + 1] |= traits_of_letter(letter);
  }
  return module_layers(ChangedIndex(rows).index, use);
}

// A container and in it `count` layers of a class, each with a norm, attention and a product. Returns its place + 1.
int add_stack(std::vector<TestModule>& modules, std::string_view container, int outer,
              std::span<const char* const> layers, std::string_view attention = "A") {
  modules.push_back({container, outer, ""});
  const int holder = static_cast<int>(modules.size());
  for (const char* layer : layers) {
    modules.push_back({layer, holder, ""});
    const int own = static_cast<int>(modules.size());
    modules.push_back({"Norm_0", own, "N"});
    modules.push_back({"Attention_0", own, attention});
    modules.push_back({"Linear_0", own, "GX"});
  }
  return holder;
}

std::string text(const LayerStacks& stacks) {
  std::string out;
  for (const LayerStack& stack : stacks) out += (out.empty() ? "" : ", ") + stack_text(stack, true);
  return out;
}

TEST_CASE("layers by modules: classes that take turns are one stack") {
  const ModuleLayers layers = layers_of_modules({{"Model_0", 0, ""},
                                                 {"Mamba_0", 1, ""},
                                                 {"Linear_0", 2, "G"},
                                                 {"Scan_0", 2, "S"},
                                                 {"Attn_0", 1, ""},
                                                 {"Linear_1", 5, "G"},
                                                 {"Sdpa_0", 5, "A"},
                                                 {"Mamba_1", 1, ""},
                                                 {"Linear_2", 8, "G"},
                                                 {"Scan_1", 8, "S"},
                                                 {"Attn_1", 1, "GAN"},  // compiled: no modules inside
                                                 {"Norm_0", 1, "N"}});
  CHECK(as_lines(text(layers.stacks), layers.text) == "Mamba+Attn 4\n4 modules Mamba+Attn in Model_0");
  CHECK(layers.of_stack == std::vector<std::int32_t>{-1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, -1});
}

TEST_CASE("layers by modules: two towers of one class, each around a container") {
  std::vector<TestModule> modules = {{"CLIPModel_0", 0, ""}, {"CLIPVisionTransformer_0", 1, ""}};
  constexpr const char* kVisionLayers[] = {"CLIPEncoderLayer_0", "CLIPEncoderLayer_1", "CLIPEncoderLayer_2"};
  constexpr const char* kTextLayers[] = {"CLIPEncoderLayer_3", "CLIPEncoderLayer_4"};
  add_stack(modules, "CLIPEncoder_0", 2, kVisionLayers);
  modules.push_back({"CLIPTextTransformer_0", 1, ""});
  add_stack(modules, "CLIPEncoder_1", static_cast<int>(modules.size()), kTextLayers);
  CHECK(text(layers_of_modules(modules).stacks) ==
        "CLIPVisionTransformer.CLIPEncoderLayer 3, CLIPTextTransformer.CLIPEncoderLayer 2");
}

TEST_CASE("layers by modules: encoder and decoder, of classes of their own or of one") {
  constexpr const char* kFour[] = {"T5Block_0", "T5Block_1", "T5Block_2", "T5Block_3"};
  constexpr const char* kMore[] = {"T5Block_4", "T5Block_5", "T5Block_6", "T5Block_7"};
  std::vector<TestModule> modules = {{"T5Model_0", 0, ""}};
  add_stack(modules, "T5Stack_0", 1, kFour, "c");  // no name says attention
  add_stack(modules, "T5Stack_1", 1, kMore);
  CHECK(text(layers_of_modules(modules).stacks) == "T5Stack_0.T5Block 4, T5Stack_1.T5Block 4");
  constexpr const char* kEncoder[] = {"WhisperEncoderLayer_0", "WhisperEncoderLayer_1"};
  constexpr const char* kDecoder[] = {"WhisperDecoderLayer_0", "WhisperDecoderLayer_1"};
  modules = {{"WhisperModel_0", 0, ""}};
  add_stack(modules, "WhisperEncoder_0", 1, kEncoder);
  add_stack(modules, "WhisperDecoder_0", 1, kDecoder);
  CHECK(text(layers_of_modules(modules).stacks) == "WhisperEncoderLayer 2, WhisperDecoderLayer 2");
}

TEST_CASE("layers by modules: classes that follow each other are a stack each") {
  constexpr const char* kBlocks[] = {"FluxTransformerBlock_0", "FluxTransformerBlock_1", "FluxSingleTransformerBlock_0",
                                     "FluxSingleTransformerBlock_1", "FluxSingleTransformerBlock_2"};
  std::vector<TestModule> modules;
  add_stack(modules, "FluxTransformer2DModel_0", 0, kBlocks);
  CHECK(text(layers_of_modules(modules).stacks) == "FluxTransformerBlock 2, FluxSingleTransformerBlock 3");
}

TEST_CASE("layers by modules: a list of norms, of products or of embeddings is no stack") {
  CHECK(layers_of_modules({{"Backbone_0", 0, "G"},
                           {"LayerNorm_0", 1, "N"},
                           {"LayerNorm_1", 1, "N"},
                           {"LayerNorm_2", 1, "N+"},
                           {"Embedding_0", 1, "E"},
                           {"Embedding_1", 1, "E"},
                           {"Linear_0", 1, "G"},
                           {"Linear_1", 1, "G"}})
            .stacks.empty());
}

TEST_CASE("layers by modules: a wrapper is the layer that it wraps, wherever that is called") {
  std::vector<TestModule> modules = {{"Model_0", 0, ""}};
  for (const char* wrapper : {"Wrapper_0", "Wrapper_1"}) {
    modules.push_back({wrapper, 1, ""});
    const int own = static_cast<int>(modules.size());
    modules.push_back({wrapper[8] == '0' ? "Layer_0" : "Layer_1", own, ""});
    modules.push_back({"Attention_0", own + 1, "GA"});
    modules.push_back({"MLP_0", own + 1, "GX"});
  }
  CHECK(text(layers_of_modules(modules).stacks) == "Layer 2");
}

// Operators as (name, parent), ids from 1.
std::vector<std::int32_t> layers_of_operators(std::initializer_list<std::pair<std::string_view, int>> operators) {
  std::string rows = "DELETE FROM cpu_op;";
  int id = 0;
  for (const auto& [name, parent] : operators) {
    ++id;
    rows += fmt::format(
        "INSERT OR IGNORE INTO string VALUES ({0}, '{1}'); INSERT INTO cpu_op (id, ts, dur, thread_id, name_id, "
        "parent_id, depth) SELECT {2}, {2}, 1, 1, id, nullif({3}, 0), 0 FROM string WHERE value = '{1}';",
        id + 100, name, id, parent);
  }
  return operator_layers(ChangedIndex(rows).index);
}

TEST_CASE("layers by operators: the outermost number around each") {
  CHECK(layers_of_operators({{"forward", 0},
                             {"model.layers.0", 1},
                             {"aten::linear", 2},
                             {"experts.block_7", 2},
                             {"aten::mm", 4},
                             {"model.layers.1.attn", 1},
                             {"aten::mm2", 6},
                             {"aten::mm3", 1}}) == std::vector<std::int32_t>{-1, -1, 0, 0, 0, 0, 1, 1, -1});
  // A parent that comes later is a damaged index.
  CHECK(layers_of_operators({{"layer_0", 2}, {"layer_1", 9}}) == std::vector<std::int32_t>{-1, 0, 1});
}

TEST_CASE("numbers of operators that are no layers") {
  CHECK(layers_of_operators({{"triton_per_fused_native_layer_norm_0", 0}, {"triton_poi_fused_1", 0}}).empty());
  CHECK(layers_of_operators({{"Torch-Compiled Region: 0/0", 0}, {"## Call CompiledFxGraph 7 ##", 0}}).empty());
  CHECK(layers_of_operators({{"block_3", 0}, {"aten::mm", 1}}).empty());
  CHECK(layers_of_operators({{"alloc_block_512", 0}, {"alloc_block_4096", 0}}).empty());
  CHECK(layers_of_operators({}).empty());
}

TEST_CASE("no modules, no layers") {
  const ChangedIndex small;
  CHECK(module_layers(small.index, {}).stacks.empty());
  CHECK(annotation_layers(small.index).empty());
}

FoundStack stack(std::string name, std::int32_t width, std::size_t mixers = 1, std::size_t passes = 1) {
  return {std::move(name), width, mixers, passes};
}

using Places = std::vector<std::vector<std::size_t>>;

TEST_CASE("stacks of the kinds of steps: the same by name, else by as many layers and mixers") {
  // Where one stack each, it is the same.
  const StackTable one = make_stack_table({{stack("", 80)}, {}, {stack("", 79)}});
  REQUIRE(one.stacks.size() == 1);
  CHECK(as_lines(one.stacks[0].name, one.stacks[0].count) == "stack 1\n80");
  CHECK(one.place == Places{{0}, {}, {0}});
  const StackTable named = make_stack_table({{stack("", 24)}, {stack("Qwen2DecoderLayer", 24)}});
  REQUIRE(named.stacks.size() == 1);
  CHECK(named.stacks[0].name == "Qwen2DecoderLayer");
  const StackTable several =
      make_stack_table({{stack("", 32, 2, 8)}, {stack("", 32, 1), stack("", 32, 2)}, {stack("", 7), stack("", 32, 1)}});
  REQUIRE(several.stacks.size() == 2);
  CHECK(several.place == Places{{1}, {0, 1}, {1, 0}});
  CHECK(as_row(several.stacks[1].first, several.stacks[1].passes) == "32 8");
  const StackTable other_names = make_stack_table({{stack("A", 4), stack("", 4)}, {stack("B", 4)}});
  REQUIRE(other_names.stacks.size() == 2);
  CHECK(other_names.stacks[1].name == "B");
  CHECK(other_names.place == Places{{0, 1}, {1}});
}

const LayerStacks kOne = {{"stack 1", 0, 80, 1}};
const LayerStacks kTwo = {{"T5Block", 0, 24, 1}, {"stack 1", 24, 19, 4}};

using Bounds = std::pair<std::int32_t, std::int32_t>;
Bounds range(std::string_view text, const LayerStacks& stacks) {
  const LayerRange found = layer_range(text, stacks);
  return {found.first, found.last};
}

TEST_CASE("labels of layers: their numbers in one stack, with the name of theirs in several") {
  CHECK(layer_label(0, {}) == "0");
  CHECK(layer_label(79, kOne) == "79");
  const std::pair<std::int32_t, const char*> labels[] = {
      {kHead, "[head]"}, {kTail, "[tail]"}, {kNoLayer, "[no layer]"}, {23, "T5Block:23"}, {24, "stack 1:0"}};
  for (const auto& [layer, label] : labels) CHECK(layer_label(layer, kTwo) == label);
  const std::pair<std::vector<std::int32_t>, const char*> lists[] = {
      {{}, ""},
      {{4}, "4"},
      {{0, 1}, "0..1"},
      {{0, 1, 2, 5, 7, 8}, "0..2,5,7..8"},
      {{kHead, 0, 1, kTail, kNoLayer}, "[head],0..1,[tail],[no layer]"},
      {{kTail, kHead}, "[tail],[head]"}};
  for (const auto& [layers, label] : lists) CHECK(layers_label(layers, kOne) == label);
  CHECK(layers_label({kHead, 22, 23, 24, 25, 26, 30}, kTwo) == "[head],T5Block:22..23,stack 1:0..2,stack 1:6");
  CHECK(as_lines(stack_text(kTwo[0], true), stack_text(kTwo[1], true), stack_text(kTwo[1], false)) ==
        "T5Block 24\nstack 1 19 x 4 passes\n19 x 4 passes");
}

TEST_CASE("a selection of layers by number, or by stack and number") {
  const auto in_one = [](std::string_view text) { return range(text, kOne); };
  const auto in_two = [](std::string_view text) { return range(text, kTwo); };
  check_pairs<Bounds>(in_one, {{"3", {3, 3}}, {"3..5", {3, 5}}, {"..5", {0, 5}}, {"stack 1:3", {3, 3}}});
  check_pairs<Bounds>(
      in_two, {{"head", {kHead, kHead}}, {"stack 1:3", {27, 27}}, {"stack 1:17..", {41, 42}}, {"T5Block", {0, 23}}});
  CHECK(range("0..", kTwo).first == 0);
  CHECK(range("T5Block:24", kTwo).first > range("T5Block:24", kTwo).second);  // that layer is another stack's
  for (const std::string_view text : {"3", "..5", "T6Block:3"}) CHECK_THROWS_AS(range(text, kTwo), Error);
  CHECK_THROWS_AS(range("T5Block:3", {}), Error);
}

TEST_CASE("what can name layers") {
  check_each(true, can_name_layers, {"3", "3..5", "..5", "3..", "head", "tail", "none", "T5Block", "stack 1:3..5"});
  check_each(false, can_name_layers, {"", "..", "-1", "1..x", "3x", "T5Block:", "T5Block:x", ":3", "T5Block:head"});
}

}  // namespace
}  // namespace tracedb
