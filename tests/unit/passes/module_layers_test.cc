#include "passes/module_layers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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

TEST_CASE("layers by modules: the repeated children that hold the most time, in the order of their first kernels") {
  const TempDirectory folder;
  write_small_index(folder / "small.tracedb");
  {
    Database database(folder / "small.tracedb", Database::Mode::kReadWrite);
    // Model: layers Mamba_0, Attn_0, Mamba_1; each with two Linears; a norm at its end.
    database.execute(
        "DELETE FROM stack; DELETE FROM frame;"
        "INSERT INTO string VALUES (30,'nn.Module: Model_0'), (31,'nn.Module: Mamba_0'), (32,'nn.Module: Attn_0'), "
        "(33,'nn.Module: Mamba_1'), (34,'nn.Module: Linear_0'), (35,'nn.Module: Linear_1'), (36,'nn.Module: Norm_0'), "
        "(37,'nn.Module: Attn_1');"
        "INSERT INTO frame (id, name_id) VALUES (1,30), (2,31), (3,32), (4,33), (5,34), (6,35), (7,36), (8,3), (9,37);"
        "INSERT INTO stack VALUES (1,NULL,8,1), (2,1,1,2), (3,2,2,3), (4,3,5,4), (5,3,6,4), (6,2,8,3), (7,6,3,4), "
        "(8,2,4,3), (9,2,7,3), (10,2,9,3)");
  }
  const Index index = Index::open(folder / "small.tracedb");
  StackUse use{std::vector<std::int64_t>(11, 100), {0, 0, 0, 0, 1, 2, 0, 3, 5, 6, 4}};
  const ModuleLayers layers = module_layers(index, use);
  CHECK(layers.layers == 4);
  CHECK(layers.container == "Model_0");
  CHECK(layers.kinds == "Mamba, Attn");
  CHECK(layers.of_stack == std::vector<std::int32_t>{-1, -1, -1, 0, 0, 0, -1, 1, 3, -1, 2});
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
          "INSERT INTO string VALUES ({0}, '{1}'); INSERT INTO cpu_op (id, ts, dur, thread_id, name_id, parent_id, "
          "depth) VALUES ({2}, {2}, 1, 1, {0}, nullif({3}, 0), 0)",
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
  CHECK(module_layers(index, {}).layers == 0);
  CHECK(annotation_layers(index).empty());
}

}  // namespace tracedb
