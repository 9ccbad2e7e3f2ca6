#include "passes/roles/kernel_roles.h"

#include <doctest/doctest.h>

#include <vector>

namespace tracedb {
namespace {

ModuleMark of(std::vector<std::string_view> classes) { return mark_of_modules(classes); }

}  // namespace

TEST_CASE("linear maps that are divided over devices say what they are") {
  const std::string_view layer = "Qwen3DecoderLayer";
  CHECK(of({layer, "Qwen3Attention", "QKVParallelLinear"}).product == Role::kQkvProj);
  CHECK(of({layer, "Qwen3Attention", "RowParallelLinear"}).product == Role::kOProj);
  CHECK(of({layer, "Qwen2MLP", "MergedColumnParallelLinear"}).product == Role::kGateUp);
  CHECK(of({layer, "Qwen2MLP", "RowParallelLinear"}).product == Role::kDown);
  CHECK(of({layer, "DeepseekV2MoE", "DeepseekV2MLP", "RowParallelLinear"}).product == Role::kSharedExperts);
  CHECK(of({layer, "MixtralSparseMoeBlock", "MixtralBlockSparseTop2MLP", "Linear"}).part == ModulePart::kOutside);
  CHECK(of({"Qwen2ForCausalLM", "Linear"}).product == Role::kLmHead);
  CHECK(of({"LogitsProcessor"}).product == Role::kLmHead);
}

TEST_CASE("the part of a layer is that of the innermost module that is one") {
  CHECK(of({"BertLayer", "BertAttention", "BertSelfOutput", "Linear"}).part == ModulePart::kAttention);
  CHECK(of({"BertLayer", "BertIntermediate", "Linear"}).part == ModulePart::kMlp);
  CHECK(of({"BertLayer", "BertOutput", "Linear"}).part == ModulePart::kMlp);
  CHECK(of({"TimesformerLayer", "Linear"}).part == ModulePart::kOutside);
  CHECK(of({"TimesformerLayer"}).part == ModulePart::kUnknown);
  CHECK(of({"Qwen3MoeForCausalLM", "Qwen3MoeDecoderLayer"}).part == ModulePart::kUnknown);
  CHECK(of({"BertLMHeadModel", "BertLayer", "BertAttention", "Linear"}).product == Role::kNone);
  CHECK(of({}).part == ModulePart::kUnknown);
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

}  // namespace tracedb
