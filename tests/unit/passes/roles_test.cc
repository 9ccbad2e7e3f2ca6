#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "passes/capture/capture.h"
#include "passes/classify/classifier.h"
#include "passes/roles/kernel_roles.h"
#include "passes/roles/layer_roles.h"
#include "passes/sql/kernel_sql_functions.h"
#include "support/asked_passes.h"
#include "support/small_index.h"
#include "support/temp_directory.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

ModuleMark of(std::vector<std::string_view> classes) { return mark_of_modules(classes); }

using Classes = std::vector<std::string_view>;

TEST_CASE("linear maps that are divided over devices say what they are") {
  const std::string_view layer = "Qwen3DecoderLayer";
  const std::pair<Classes, Role> cases[] = {
      {{layer, "Qwen3Attention", "QKVParallelLinear"}, Role::kQkvProj},
      {{layer, "Qwen3Attention", "RowParallelLinear"}, Role::kOProj},
      {{layer, "Qwen2MLP", "MergedColumnParallelLinear"}, Role::kGateUp},
      {{layer, "Qwen2MLP", "RowParallelLinear"}, Role::kDown},
      {{layer, "DeepseekV2MoE", "DeepseekV2MLP", "RowParallelLinear"}, Role::kSharedExperts},
      {{"Qwen2ForCausalLM", "Linear"}, Role::kLmHead},
      {{"LogitsProcessor"}, Role::kLmHead},
      {{"BertLMHeadModel", "BertLayer", "BertAttention", "Linear"}, Role::kNone}};
  for (const auto& [classes, role] : cases) CHECK(of(classes).product == role);
}

TEST_CASE("the part of a layer is that of the innermost module that is one") {
  const std::pair<Classes, ModulePart> cases[] = {
      {{"Qwen3DecoderLayer", "MixtralSparseMoeBlock", "MixtralBlockSparseTop2MLP", "Linear"}, ModulePart::kOutside},
      {{"BertLayer", "BertAttention", "BertSelfOutput", "Linear"}, ModulePart::kAttention},
      {{"BertLayer", "BertIntermediate", "Linear"}, ModulePart::kMlp},
      {{"BertLayer", "BertOutput", "Linear"}, ModulePart::kMlp},
      {{"TimesformerLayer", "Linear"}, ModulePart::kOutside},
      {{"TimesformerLayer"}, ModulePart::kUnknown},
      {{"Qwen3MoeForCausalLM", "Qwen3MoeDecoderLayer"}, ModulePart::kUnknown},
      {{}, ModulePart::kUnknown}};
  for (const auto& [classes, part] : cases) CHECK(of(classes).part == part);
}

TEST_CASE("norms, activations and what is all of one role") {
  CHECK(of({"LlamaDecoderLayer", "LlamaRMSNorm"}).mark == Mark::kNorm);
  CHECK(of({"LlamaMLP", "SiluAndMul"}).mark == Mark::kActivation);
  CHECK(of({"Qwen2Model", "Qwen2RotaryEmbedding"}).all == Role::kRope);
  const ModuleMark embedding = of({"GptOssForCausalLM", "VocabParallelEmbedding"});
  CHECK(embedding.all == Role::kEmbedding);
  CHECK(embedding.comm == Role::kEmbeddingComm);
}

TEST_CASE("the module's word counts where the class leaves it open") {
  MarkedKernel mean, product, comm;
  mean.mark = Mark::kReduce;
  product.mark = Mark::kProduct;
  comm.mark = Mark::kComm;
  const ModuleMark norm = of({"LlamaDecoderLayer", "LlamaRMSNorm"});
  CHECK(marked(mean, norm).in_norm);
  CHECK(marked(product, norm).mark == Mark::kProduct);
  CHECK(marked(comm, of({"LogitsProcessor"})).named == Role::kLmHeadComm);
  CHECK(marked(product, of({"LlamaAttention", "Linear"})).linear);
}

// One letter a kernel: G product, H another product, A attention, M state space, N norm, S activation, R routing,
// X experts, F combine, C communication, P rope, K cache, E embedding, Z sampling, T softmax, + elementwise, r reduce,
// s sum of a split product, n communication with a norm, . anything else.
const std::map<char, Mark> kMarks = {
    {'G', Mark::kProduct},   {'H', Mark::kProduct},    {'A', Mark::kMixer},   {'M', Mark::kSsm},
    {'N', Mark::kNorm},      {'S', Mark::kActivation}, {'R', Mark::kRouting}, {'X', Mark::kExperts},
    {'F', Mark::kCombine},   {'C', Mark::kComm},       {'P', Mark::kRope},    {'K', Mark::kKvCache},
    {'E', Mark::kEmbedding}, {'Z', Mark::kSampling},   {'T', Mark::kSoftmax}, {'+', Mark::kElementwise},
    {'r', Mark::kReduce},    {'s', Mark::kCompanion},  {'n', Mark::kComm},    {'.', Mark::kOther}};

std::vector<MarkedKernel> kernels(std::string_view letters) {
  std::vector<MarkedKernel> out;
  for (const char letter : letters) {
    MarkedKernel kernel;
    kernel.mark = kMarks.at(letter);
    kernel.name = static_cast<unsigned char>(letter);
    kernel.normalises = letter == 'n';
    out.push_back(kernel);
  }
  return out;
}

std::string text(std::span<const KernelRole> roles) {
  std::string out;
  for (const KernelRole& role : roles) {
    out += (out.empty() ? "" : " ") + std::string(role.role == Role::kNone ? "-" : to_string(role.role));
  }
  return out;
}

std::string layer(std::string_view letters, bool is_first = false) {
  return text(roles_of_layer(kernels(letters), is_first));
}
std::string tail(std::string_view letters, bool is_language = true) {
  return text(roles_of_tail(kernels(letters), is_language));
}

TEST_CASE("roles of the kernels of a layer") {
  // The roles, or with "..." at an end those that they begin or end with.
  const struct {
    std::string_view what, letters, roles;
  } cases[] = {
      {"a layer of a language model", "NGPKAGNGSG",
       "input_norm qkv_proj rope kv_cache attention o_proj post_attention_norm gate_up activation down"},
      {"", "+NGA", "residual input_norm qkv_proj..."},
      {"", "++NGA", "- - input_norm qkv_proj..."},
      {"", "NGs..KAA..GCNGSGC",
       "input_norm qkv_proj qkv_proj - - kv_cache attention attention - - o_proj attention_comm post_attention_norm "
       "gate_up activation down mlp_comm"},
      {"", "NG.N.NPAGNGsSGs",
       "input_norm qkv_proj - qk_norm - qk_norm rope attention o_proj post_attention_norm gate_up gate_up activation "
       "down down"},
      {"queries, keys and values apart", "NHGGAG+NGSG+",
       "input_norm q_proj k_proj v_proj attention o_proj residual post_attention_norm gate_up activation down "
       "residual"},
      {"latent or cross attention: some product of q, k, v, it is not known which", "NGHAGNGSG",
       "input_norm qkv_proj qkv_proj attention o_proj post_attention_norm gate_up activation down"},
      {"", "NGNHAGNGSG", "input_norm qkv_proj - qkv_proj attention o_proj post_attention_norm gate_up activation down"},
      {"", "NGGGGGAGNGSG", "input_norm - - - - - attention o_proj..."},
      {"an MLP: the gate, its activation, up, the product of both", "NGAGNGSG+G",
       "input_norm qkv_proj attention o_proj post_attention_norm gate_up activation gate_up activation down"},
      {"gate and up before both", "NGAGNGGSG", "...post_attention_norm gate_up gate_up activation down"},
      {"nothing between that shows", "NGAGNGG", "...post_attention_norm gate_up down"},
      {"", "NGAGNGHSG", "...post_attention_norm - gate_up activation down"},
      {"", "NGAGNG", "input_norm qkv_proj attention o_proj post_attention_norm -"},
      {"", "NGAGNGGGG", "input_norm qkv_proj attention o_proj post_attention_norm - - - -"},
      {"norms behind attention and behind the MLP", "GGGAGNGSGN",
       "q_proj k_proj v_proj attention o_proj post_attention_norm gate_up activation down post_mlp_norm"},
      {"experts", "NGNPAGNGsRXXF",
       "input_norm qkv_proj qk_norm rope attention o_proj post_attention_norm router router routing experts experts "
       "combine"},
      {"", "NGAGCNG.RRXSXFC",
       "input_norm qkv_proj attention o_proj attention_comm post_attention_norm router - routing routing experts "
       "activation experts combine mlp_comm"},
      {"", "NGAGNGRXXFHSHC",
       "input_norm qkv_proj attention o_proj post_attention_norm router routing experts experts combine "
       "shared_experts activation shared_experts mlp_comm"},
      {"communication with a norm", "nGAGnGSG",
       "mlp_comm qkv_proj attention o_proj attention_comm gate_up activation down"},
      {"attention in parts", "NGGG.G+T.G.GN",
       "input_norm q_proj k_proj v_proj - attention attention attention - attention - o_proj post_attention_norm"},
      {"the softmax of a router is none", "NGAGNHT.GSG", "...post_attention_norm - - - gate_up activation down"},
      {"two attentions in a layer", "NGAGNGAGNGSG",
       "input_norm qkv_proj attention o_proj input_norm qkv_proj attention o_proj post_attention_norm gate_up "
       "activation down"},
      {"a product more than an output has: which one it is cannot be seen", "NGAGHNGAGNGSG",
       "input_norm qkv_proj attention - - input_norm qkv_proj attention..."},
      {"what does not fit has no role", "", ""},
      {"", "GGG", "- - -"},
      {"", "NG.M.GNGSG", "input_norm - - ssm - - post_attention_norm gate_up activation down"},
      {"", "NGA", "input_norm qkv_proj attention"},
      {"", "NGAGH", "input_norm qkv_proj attention - -..."},
      {"attention and MLP beside each other: nothing says which product is the output", "NGAHGSG",
       "input_norm qkv_proj attention - gate_up activation down"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CAPTURE(one.letters);
    std::string found = layer(one.letters), expected(one.roles);
    if (expected.ends_with("...")) {
      expected.resize(expected.size() - 3);
      found.resize(std::min(found.size(), expected.size()));
    } else if (expected.starts_with("...")) {
      expected.erase(0, 3);
      found.erase(0, found.size() - std::min(found.size(), expected.size()));
    }
    CHECK(found == expected);
  }
  CHECK(layer("nGAGnGSG", true).starts_with("embedding_comm qkv_proj"));
}

TEST_CASE("head and tail") {
  CHECK(text(roles_of_head(kernels("..E+C"))) == "- - embedding - embedding_comm");
  CHECK(text(roles_of_head(kernels("C.A"))) == "- - attention");
  CHECK(tail("N..GC.r.") == "final_norm - - lm_head lm_head_comm - sampling -");
  CHECK(tail("+NG") == "residual final_norm lm_head");
  CHECK(tail("NGsZ") == "final_norm lm_head lm_head sampling");
  CHECK(tail("NG", false) == "final_norm -");
  CHECK(tail("NGGr") == "final_norm - - -");
}

TEST_CASE("modules say which product is of attention") {
  std::vector<MarkedKernel> own = kernels("NGAHGSG");
  own[1].part = own[3].part = ModulePart::kAttention;
  own[4].part = own[6].part = ModulePart::kMlp;
  const std::vector<KernelRole> out = roles_of_layer(own, false);
  CHECK(text(out) == "input_norm qkv_proj attention o_proj gate_up activation down");
  CHECK(out[3] == KernelRole{Role::kOProj, RoleSource::kModules, 99});
  CHECK(out[0] == KernelRole{Role::kInputNorm, RoleSource::kOrder, 90});
  CHECK(out[2] == KernelRole{Role::kAttention, RoleSource::kClass, 90});
}

TEST_CASE("what a norm's module launches is the norm, unless one of its kernels is") {
  std::vector<MarkedKernel> apart = kernels("+r++GA"), fused = kernels("+N.GA");
  for (std::size_t at = 0; at < 4; ++at) apart[at].in_norm = true;
  for (std::size_t at = 0; at < 3; ++at) fused[at].in_norm = true;
  CHECK(text(roles_of_layer(apart, false)) == "input_norm input_norm input_norm input_norm qkv_proj attention");
  CHECK(text(roles_of_layer(fused, false)) == "residual input_norm - qkv_proj attention");
}

TEST_CASE("roles have names and families") {
  for (const RoleInfo& info : tracedb::kAllRoles) {
    CHECK(info_of(info.family).family == info.family);
    CHECK_FALSE(info.meaning.empty());
  }
  CHECK(info_of(Role::kKProj).family == Role::kQkvProj);
}

// Twenty launches and the operators around them: "ab" repeated, from operators op_a and op_b.
constexpr int kLaunches = 20;

ChangedIndex with_rows(const std::string& sql) {
  return ChangedIndex(
      "DELETE FROM kernel; DELETE FROM runtime_call; DELETE FROM cpu_op; DELETE FROM step; DELETE FROM annotation;"
      "INSERT INTO string VALUES (20, 'hipStreamBeginCapture'), (21, 'hipStreamEndCapture'), (22, 'hipGraphLaunch'),"
      "(23, 'op_a'), (24, 'op_b'), (25, 'a'), (26, 'b');"
      "INSERT INTO kernel_name VALUES (25, 'a', 'a'), (26, 'b', 'b');" +
      sql);
}

// A capture of `launches` calls; every `odd`th one comes from the other operator.
ChangedIndex capture_index(int launches, int odd = 1000) {
  std::string sql =
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 20, 'other'), (2, 2, 2, 7, "
      "'launch');";  // on another thread: not captured
  for (int i = 0; i < launches; ++i) {
    sql += fmt::format(
        "INSERT INTO cpu_op (id, ts, thread_id, name_id, depth) VALUES ({0}, {0}, 1, {1}, 0);"
        "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind, cpu_op_id, stack_id) VALUES ({2}, {2}, 1, 7, "
        "'launch', {0}, 3);",
        i + 1, 23 + (i + (i % odd == odd - 1 ? 1 : 0)) % 2, i + 3);
  }
  sql += fmt::format(
      "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES ({0}, {0}, 1, 21, 'other'), "
      "({1}, {1}, 1, 7, 'launch');",
      launches + 3, launches + 4);
  return with_rows(sql);
}

ChangedIndex replay_index(int kernels) {
  std::string sql = "INSERT INTO runtime_call (id, ts, thread_id, name_id, kind) VALUES (1, 1, 1, 22, 'graph_launch');";
  for (int i = 0; i < kernels; ++i) {
    sql += fmt::format(
        "INSERT INTO kernel (id, ts, dur, name_id, stream_id, launch_id, kind) VALUES ({0}, {0}, 10, {1}, "
        "1, 1, 'compute');",
        i + 1, 25 + i % 2);
  }
  return with_rows(sql);
}

struct Matched {
  ChangedIndex before, after;
  const Index &from = before.index, &to = after.index;
  Capture capture;
  ReplayOrigins origins;

  Matched(int launches, int kernels, int odd = 1000)
      : before(capture_index(launches, odd)), after(replay_index(kernels)), capture(read_capture(from, {}, {})) {
    const EventTables events(to);
    origins = match_capture(capture, to, events, load_steps(to, {}, events, {}));
  }
};

TEST_CASE("launches of a stream capture are the kernels of its replay, one by one") {
  const Matched found(kLaunches, kLaunches);
  CHECK(found.capture.captures.size() == 1);
  CHECK(found.origins.matched == kLaunches);
  CHECK(found.origins.share == 1);
  const CaptureSource source{found.from, found.capture, "from", {}};
  const ActiveRules rules;
  Workload workload(found.to, rules, {{}, {}, &source});
  KernelSqlFunctions functions(workload);
  for (std::int64_t id = 1; id <= kLaunches; ++id) {
    CHECK(functions.capture_op(id) == (id % 2 == 1 ? "op_a" : "op_b"));
    CHECK(functions.capture_module(id) == "Linear_0");
  }
  CHECK(functions.capture_op(0) == std::nullopt);
  CHECK(functions.capture_op(kLaunches + 1) == std::nullopt);
}

TEST_CASE("another number of launches is another graph: nothing is matched, and that is said") {
  for (const int kernels : {kLaunches - 1, kLaunches + 1}) {
    const Matched found(kLaunches, kernels);
    CHECK(found.origins.matched == 0);
    CHECK(found.origins.notes.size() == 2);
  }
}

TEST_CASE("a capture whose operators do not go with the kernels' names is not believed") {
  CHECK(Matched(kLaunches, kLaunches, 10).origins.matched == kLaunches);  // one in ten may be another
  CHECK(Matched(kLaunches, kLaunches, 3).origins.matched == 0);
  CHECK(Matched(8, 8).origins.matched == 0);  // so few that their number says nothing
}

TEST_CASE("traces without graphs or captures match nothing") {
  const ChangedIndex small;
  const Capture capture = read_capture(small.index, {}, {});
  CHECK(capture.captures.empty());
  const EventTables events(small.index);
  const ReplayOrigins origins = match_capture(capture, small.index, events, load_steps(small.index, {}, events, {}));
  CHECK(origins.kernels == 0);
  CHECK(origins.notes.size() == 1);
  const TempDirectory folder;
  const Index empty = open_small_index(folder / "empty.tracedb", SmallIndexContent::kEmpty);
  CHECK(read_capture(empty, {}, {}).steps.empty());
}

std::vector<std::uint32_t> tokens(std::string_view letters) { return {letters.begin(), letters.end()}; }

// The place in `b` of each letter of `a`, as a digit; '-': none.
std::string matched(std::string_view a, std::string_view b, std::size_t most_cells = 1000) {
  std::string out;
  for (const std::uint32_t place : match_sequences(tokens(a), tokens(b), most_cells)) {
    out += place == kUnmatched ? '-' : static_cast<char>('0' + place);
  }
  return out;
}

std::size_t longest_common(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      length[i + 1][j + 1] = a[i] == b[j] ? length[i][j] + 1 : std::max(length[i][j + 1], length[i + 1][j]);
    }
  }
  return length[a.size()][b.size()];
}

TEST_CASE("where each token of a sequence is in another one") {
  const struct {
    std::string_view what, a, b, places;
    std::size_t most_cells = 1000;
  } cases[] = {
      {"equal sequences, whatever their interleaving: by rank", "", "", ""},
      {"equal sequences, whatever their interleaving: by rank", "abab", "abab", "0123"},
      {"equal sequences, whatever their interleaving: by rank", "abcabc", "abacbc", "013245"},
      {"what one has more often than the other is matched in order", "abcd", "abxcd", "0134"},
      {"what one has more often than the other is matched in order", "abxcd", "abcd", "01-23"},
      {"what one has more often than the other is matched in order", "xabc", "abc", "-012"},
      {"what one has more often than the other is matched in order", "abc", "", "---"},
      {"what one has more often than the other is matched in order", "aabbx", "ababa", "0-13-"},
      {"tokens that both have equally often are matched even out of order", "xabcdee", "abcdxe", "40123-5"},
      {"middles that are too long are left alone", "pabcdq", "pbadcxq", "021436", 15},
      {"middles that are too long are left alone", "paabbbq", "pababaq", "01----6", 15},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    CHECK(matched(one.a, one.b, one.most_cells) == one.places);
  }
}

TEST_CASE("no place is given twice, equal tokens only, and never less than in order") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string a, b;
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) a += static_cast<char>('a' + random() % 4);
    for (std::uint_fast32_t i = random() % 12; i > 0; --i) b += static_cast<char>('a' + random() % 4);
    CAPTURE(a);
    CAPTURE(b);
    const std::vector<std::uint32_t> places = match_sequences(tokens(a), tokens(b));
    std::vector<bool> taken(b.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (places[i] == kUnmatched) continue;
      REQUIRE(places[i] < b.size());
      CHECK(a[i] == b[places[i]]);
      CHECK_FALSE(taken[places[i]]);
      taken[places[i]] = true;
      ++count;
    }
    CHECK(count >= longest_common(a, b));
    CHECK(count <= shared_elements(tokens(a), tokens(b)));
  }
}

// Names nobody would write: of any length and nesting, and symbols made to explode when demangled.

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

}  // namespace
}  // namespace tracedb
