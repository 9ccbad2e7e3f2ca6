#include "passes/layers/module_layers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/layers/layer_sources.h"
#include "support/kernel_letters.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("layer numbers in names") {
  CHECK(layer_number("model.layers.12.mlp") == 12);
  CHECK(layer_number("DecoderLayer_3") == 3);
  CHECK(layer_number("transformer.h.7.attn") == 7);
  CHECK(layer_number("Block 4") == 4);
  CHECK(layer_number("blocks[9]") == 9);
  CHECK(layer_number("layer12") == 12);
  for (const std::string_view name :
       {"", "layer", "layers", "LayerNorm", "layer_norm_2x", "relayout", "attn(F)", "h.7"}) {
    CAPTURE(name);
    CHECK(layer_number(name) == std::nullopt);
  }
}

namespace {

// Modules as (name, frame of the module around; 0: none), with what the kernels right in them are for; "": no kernels.
struct TestModule {
  std::string_view name;
  int outer;
  std::string_view letters;
};

ModuleLayers layers_of_modules(const std::vector<TestModule>& modules) {
  const TempDirectory folder;
  write_small_index(folder / "small.tracedb");
  StackUse use;
  {
    Database database(folder / "small.tracedb", Database::Mode::kReadWrite);
    database.execute("DELETE FROM stack; DELETE FROM frame");
    use.time.assign(modules.size() + 1, 0);
    use.first_kernel.assign(modules.size() + 1, 0);
    use.traits.assign(modules.size() + 1, 0);
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const TestModule& module = modules[i];
      database.execute(fmt::format(
          "INSERT OR IGNORE INTO string VALUES ({0}, 'nn.Module: {1}'); INSERT INTO frame (id, name_id) SELECT {2}, id "
          "FROM string WHERE value = 'nn.Module: {1}'; INSERT INTO stack VALUES ({2}, nullif({3}, 0), {2}, 1)",
          i + 100, module.name, i + 1, module.outer));
      if (module.letters.empty()) continue;
      use.time[i + 1] = 100 * static_cast<std::int64_t>(module.letters.size());
      use.first_kernel[i + 1] = static_cast<std::uint32_t>(i + 1);
      for (const char letter : module.letters) use.traits[i + 1] |= traits_of_letter(letter);
    }
  }
  return module_layers(Index::open(folder / "small.tracedb"), use);
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

}  // namespace

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
  CHECK(text(layers.stacks) == "Mamba+Attn 4");
  CHECK(layers.text == "4 modules Mamba+Attn in Model_0");
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

namespace {

// Operators as (name, parent), ids from 1.
std::vector<std::int32_t> layers_of_operators(std::initializer_list<std::pair<std::string_view, int>> operators) {
  const TempDirectory folder;
  write_small_index(folder / "small.tracedb");
  {
    Database database(folder / "small.tracedb", Database::Mode::kReadWrite);
    database.execute("DELETE FROM cpu_op");
    int id = 0;
    for (const auto& [name, parent] : operators) {
      ++id;
      database.execute(fmt::format(
          "INSERT OR IGNORE INTO string VALUES ({0}, '{1}'); INSERT INTO cpu_op (id, ts, dur, thread_id, name_id, "
          "parent_id, depth) SELECT {2}, {2}, 1, 1, id, nullif({3}, 0), 0 FROM string WHERE value = '{1}'",
          id + 100, name, id, parent));
    }
  }
  return operator_layers(Index::open(folder / "small.tracedb"));
}

}  // namespace

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
  const TempDirectory folder;
  const Index index = open_small_index(folder / "small.tracedb");
  CHECK(module_layers(index, {}).stacks.empty());
  CHECK(annotation_layers(index).empty());
}

}  // namespace tracedb
