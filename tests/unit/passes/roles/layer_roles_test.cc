#include "passes/roles/layer_roles.h"

#include <doctest/doctest.h>

#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {
namespace {

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
  LayerRoles roles;
  return text(roles.of_layer(kernels(letters), is_first));
}
std::string tail(std::string_view letters, bool is_language = true) {
  LayerRoles roles;
  return text(roles.of_tail(kernels(letters), is_language));
}

}  // namespace

TEST_CASE("a layer of a language model") {
  CHECK(layer("NGPKAGNGSG") ==
        "input_norm qkv_proj rope kv_cache attention o_proj post_attention_norm gate_up activation down");
  CHECK(layer("+NGA").starts_with("residual input_norm qkv_proj"));
  CHECK(layer("++NGA").starts_with("- - input_norm qkv_proj"));
  CHECK(layer("NGs..KAA..GCNGSGC") ==
        "input_norm qkv_proj qkv_proj - - kv_cache attention attention - - o_proj attention_comm post_attention_norm "
        "gate_up activation down mlp_comm");
  CHECK(layer("NG.N.NPAGNGsSGs") ==
        "input_norm qkv_proj - qk_norm - qk_norm rope attention o_proj post_attention_norm gate_up gate_up activation "
        "down down");
}

TEST_CASE("queries, keys and values apart") {
  CHECK(layer("NHGGAG+NGSG+") ==
        "input_norm q_proj k_proj v_proj attention o_proj residual post_attention_norm gate_up activation down "
        "residual");
  // Latent attention, or cross attention: some product of q, k, v, it is not known which.
  CHECK(layer("NGHAGNGSG") ==
        "input_norm qkv_proj qkv_proj attention o_proj post_attention_norm gate_up activation down");
  CHECK(layer("NGNHAGNGSG") ==
        "input_norm qkv_proj - qkv_proj attention o_proj post_attention_norm gate_up activation down");
  CHECK(layer("NGGGGGAGNGSG").starts_with("input_norm - - - - - attention o_proj"));
}

TEST_CASE("MLPs of several forms") {
  // The gate, its activation, up, the product of both; gate and up before both; nothing between that shows.
  CHECK(layer("NGAGNGSG+G") ==
        "input_norm qkv_proj attention o_proj post_attention_norm gate_up activation gate_up activation down");
  CHECK(layer("NGAGNGGSG").ends_with("post_attention_norm gate_up gate_up activation down"));
  CHECK(layer("NGAGNGG").ends_with("post_attention_norm gate_up down"));
  CHECK(layer("NGAGNGHSG").ends_with("post_attention_norm - gate_up activation down"));
  CHECK(layer("NGAGNG") == "input_norm qkv_proj attention o_proj post_attention_norm -");
  CHECK(layer("NGAGNGGGG") == "input_norm qkv_proj attention o_proj post_attention_norm - - - -");
  // Norms behind attention and behind the MLP.
  CHECK(layer("GGGAGNGSGN") ==
        "q_proj k_proj v_proj attention o_proj post_attention_norm gate_up activation down post_mlp_norm");
}

TEST_CASE("experts") {
  CHECK(layer("NGNPAGNGsRXXF") ==
        "input_norm qkv_proj qk_norm rope attention o_proj post_attention_norm router router routing experts experts "
        "combine");
  CHECK(layer("NGAGCNG.RRXSXFC") ==
        "input_norm qkv_proj attention o_proj attention_comm post_attention_norm router - routing routing experts "
        "activation experts combine mlp_comm");
  CHECK(layer("NGAGNGRXXFHSHC") ==
        "input_norm qkv_proj attention o_proj post_attention_norm router routing experts experts combine "
        "shared_experts activation shared_experts mlp_comm");
}

TEST_CASE("communication with a norm") {
  CHECK(layer("nGAGnGSG") == "mlp_comm qkv_proj attention o_proj attention_comm gate_up activation down");
  CHECK(layer("nGAGnGSG", true).starts_with("embedding_comm qkv_proj"));
}

TEST_CASE("attention in parts") {
  CHECK(layer("NGGG.G+T.G.GN") ==
        "input_norm q_proj k_proj v_proj - attention attention attention - attention - o_proj post_attention_norm");
  // The softmax of a router is none.
  CHECK(layer("NGAGNHT.GSG").ends_with("post_attention_norm - - - gate_up activation down"));
}

TEST_CASE("two attentions in a layer") {
  CHECK(layer("NGAGNGAGNGSG") ==
        "input_norm qkv_proj attention o_proj input_norm qkv_proj attention o_proj post_attention_norm gate_up "
        "activation down");
  // A product more than an output has: which one it is cannot be seen.
  CHECK(layer("NGAGHNGAGNGSG").starts_with("input_norm qkv_proj attention - - input_norm qkv_proj attention"));
}

TEST_CASE("what does not fit has no role") {
  CHECK(layer("") == "");
  CHECK(layer("GGG") == "- - -");
  CHECK(layer("NG.M.GNGSG") == "input_norm - - ssm - - post_attention_norm gate_up activation down");
  CHECK(layer("NGA") == "input_norm qkv_proj attention");
  CHECK(layer("NGAGH").starts_with("input_norm qkv_proj attention - -"));
  // Attention and MLP beside each other: nothing says which product is the output.
  CHECK(layer("NGAHGSG") == "input_norm qkv_proj attention - gate_up activation down");
}

TEST_CASE("head and tail") {
  LayerRoles roles;
  CHECK(text(roles.of_head(kernels("..E+C"))) == "- - embedding - embedding_comm");
  CHECK(text(roles.of_head(kernels("C.A"))) == "- - attention");
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
  LayerRoles roles;
  const std::span<const KernelRole> out = roles.of_layer(own, false);
  CHECK(text(out) == "input_norm qkv_proj attention o_proj gate_up activation down");
  CHECK(out[3] == KernelRole{Role::kOProj, RoleSource::kModules, 99});
  CHECK(out[0] == KernelRole{Role::kInputNorm, RoleSource::kOrder, 90});
  CHECK(out[2] == KernelRole{Role::kAttention, RoleSource::kClass, 90});
}

TEST_CASE("what a norm's module launches is the norm, unless one of its kernels is") {
  std::vector<MarkedKernel> apart = kernels("+r++GA"), fused = kernels("+N.GA");
  for (std::size_t at = 0; at < 4; ++at) apart[at].in_norm = true;
  for (std::size_t at = 0; at < 3; ++at) fused[at].in_norm = true;
  LayerRoles roles;
  CHECK(text(roles.of_layer(apart, false)) == "input_norm input_norm input_norm input_norm qkv_proj attention");
  CHECK(text(roles.of_layer(fused, false)) == "residual input_norm - qkv_proj attention");
}

TEST_CASE("roles have names and families") {
  for (const RoleInfo& info : tracedb::roles()) {
    CHECK(info_of(info.family).family == info.family);
    CHECK_FALSE(info.meaning.empty());
  }
  CHECK(info_of(Role::kKProj).family == Role::kQkvProj);
}

}  // namespace tracedb
