#include "passes/layers/model_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

// By the files of its own Python code, else its own operators, else its own marks of steps. Servers use code, operators
// and marks of one another: of those with the same place the one with the most functions counts.
constexpr std::string_view kFrameworkSql = R"sql(
WITH known(place, name, files, operators, marks) AS (VALUES
  (1, 'vLLM', '*/vllm/v1/*', 'vllm::*', NULL), (1, 'vLLM', '*/vllm/model_executor/*', NULL, NULL),
  (1, 'SGLang', '*/sglang/srt/*', '*sgl*::*', 'step[[]*'), (1, 'SGLang', '*/sglang/multimodal_gen/*', NULL, NULL),
  (1, 'ATOM', '*/atom/model_*/*', 'atom::*', '*code[[]*'), (1, 'TensorRT-LLM', '*/tensorrt_llm/*', 'trtllm::*', NULL),
  (5, 'Megatron', '*/megatron/*', NULL, NULL), (6, 'DeepSpeed', '*/deepspeed/*', NULL, NULL),
  (7, 'TorchTitan', '*/torchtitan/*', NULL, NULL), (8, 'Lightning', '*/*lightning/*', NULL, NULL),
  (9, 'xDiT', '*/xfuser/*', NULL, NULL), (10, 'Diffusers', '*/diffusers/*', NULL, NULL),
  (11, 'Transformers', '*/transformers/*', NULL, NULL)),
found(text, n) AS ({})
SELECT k.name FROM found f JOIN known k ON f.text GLOB k.{} GROUP BY k.place, k.name
ORDER BY k.place, sum(f.n) DESC LIMIT 1
)sql";
// The first source that has one decides.
constexpr std::pair<std::string_view, std::string_view> kFrameworkSources[] = {
    {"SELECT '/' || s.value, m.n FROM (SELECT file_id, count(*) AS n FROM frame GROUP BY file_id) m JOIN string s ON "
     "s.id = "
     "m.file_id",
     "files"},
    {"SELECT s.value, 1 FROM json_each(?1) o JOIN string s ON s.id = o.value", "operators"},
    {"SELECT s.value, 1 FROM (SELECT DISTINCT a.name_id FROM step p JOIN annotation a ON a.id = p.annotation_id) m "
     "JOIN "
     "string s ON s.id = m.name_id",
     "marks"}};

// A pipeline of Diffusers; the module that takes longest of those that no other calls, if it is more than a part of a
// server; the file that has the model's code.
constexpr std::string_view kModelSql = R"sql(
WITH file AS (SELECT s.value AS name, m.n AS functions FROM (SELECT file_id, count(*) AS n FROM frame GROUP BY file_id) m
  JOIN string s ON s.id = m.file_id),
named(place, name, weight) AS (
  SELECT 1, substr(name, instr(name, 'diffusers/pipelines/') + 20), sum(functions) FROM file
    WHERE name GLOB '*diffusers/pipelines/*/pipeline_*.py' GROUP BY 2
  UNION ALL SELECT 2, substr(s.value, 12), sum(m.dur) FROM module_call m JOIN string s ON s.id = m.name_id
    WHERE s.value GLOB 'nn.Module: *' AND s.value NOT GLOB 'nn.Module: LogitsProcessor_*'
      AND s.value NOT GLOB 'nn.Module: Sampler_*' AND s.value NOT GLOB 'nn.Module: *Norm_*' GROUP BY m.name_id
  UNION ALL SELECT 3, substr(name, instr(name, '/models/') + 8), sum(functions) FROM file
    WHERE (name GLOB '*vllm/model_executor/models/*.py' OR name GLOB '*sglang/srt/models/*.py')
      AND name NOT GLOB '*/utils.py' AND name NOT GLOB '*/interfaces*.py' GROUP BY 2)
SELECT name FROM named ORDER BY place, weight DESC, name LIMIT 1
)sql";

// Marks of a diffusion's steps, or calls into the library whose models, pipelines and schedulers are for nothing else.
bool is_diffusion(const Index& index) {
  constexpr const char* kSql =
      "SELECT EXISTS (SELECT 1 FROM annotation a JOIN string s ON s.id = a.name_id WHERE s.value GLOB "
      "'execute_diffusion_[0-9]*') OR EXISTS (SELECT 1 FROM frame f JOIN string s ON s.id = f.file_id WHERE s.value "
      "GLOB '*diffusers/models/*' OR s.value GLOB '*diffusers/pipelines/*' OR s.value GLOB '*diffusers/schedulers/*')";
  return index.database().query_int64(kSql).value_or(0) != 0;
}

// The ids in string of the names of operators, each once, as JSON: there are many operators, and few names.
std::string operator_names(const Index& index) {
  const EventColumns operators(index, "cpu_op");
  std::set<std::uint32_t> names;
  std::uint32_t last = 0;
  for (const std::uint32_t name : operators.ids("name_id")) {
    if (name != last) names.insert(last = name);
  }
  return fmt::format("[{}]", fmt::join(names, ","));
}

}  // namespace

std::optional<std::string> framework_name(const Index& index) {
  for (const auto& [texts, patterns] : kFrameworkSources) {
    Statement found(index.database(), fmt::format(kFrameworkSql, texts, patterns));
    if (patterns == "operators") found.bind(1, std::string_view(operator_names(index)));
    if (found.step()) return std::string(found.text(0));
  }
  if (index.meta("format") == "kineto") return std::string(kOnlyProfiler);
  return std::nullopt;
}

std::optional<std::string> model_name(const Index& index) {
  auto name = index.database().query_text(kModelSql);
  if (!name) return std::nullopt;
  name->resize(std::min(name->find('/'), name->size()));
  if (name->ends_with(".py")) name->resize(name->size() - 3);
  const auto number = name->find_last_not_of("0123456789");
  if (number != std::string::npos && (*name)[number] == '_') name->resize(number);
  return name;
}

std::string_view to_string(Architecture architecture) {
  constexpr std::string_view kNames[] = {"unknown",
                                         "transformer",
                                         "transformer, MoE",
                                         "SSM",
                                         "SSM, MoE",
                                         "hybrid (attention and SSM)",
                                         "hybrid (attention and SSM), MoE",
                                         "convolutional"};
  return kNames[static_cast<std::size_t>(architecture)];
}

Architecture architecture_of(std::span<const ClassTime> times) {
  double total = 0, attention = 0, ssm = 0, moe = 0, convolution = 0;
  for (const ClassTime& entry : times) {
    if (entry.traits == kCommunicationTrait) continue;  // much of it waits for other ranks
    const auto time = static_cast<double>(entry.time);
    total += time;
    attention += (entry.traits & kAttentionTrait) != 0 ? time : 0;
    ssm += (entry.traits & kSsmTrait) != 0 ? time : 0;
    moe += (entry.traits & kMoeTrait) != 0 ? time : 0;
    convolution += (entry.traits & kConvolutionTrait) != 0 ? time : 0;
  }
  // A name that says so by chance holds little time, and less than the model's real mixers.
  const double least = 0.005 * total;
  const bool has_attention = attention > least && attention * 50 > ssm;
  const bool has_ssm = ssm > least && ssm * 50 > attention;
  const bool has_moe = moe > 0.02 * total;
  if (has_attention && has_ssm) return has_moe ? Architecture::kMoeHybrid : Architecture::kHybrid;
  if (has_attention) return has_moe ? Architecture::kMoeTransformer : Architecture::kTransformer;
  if (has_ssm) return has_moe ? Architecture::kMoeSsm : Architecture::kSsm;
  return convolution > 0.1 * total ? Architecture::kConvolutional : Architecture::kUnknown;
}

std::string architecture_text(const ModelFacts& facts) {
  if (facts.architecture == Architecture::kUnknown && facts.diffusion) return "diffusion";
  return std::string(to_string(facts.architecture)) + (facts.diffusion ? ", diffusion" : "");
}

ModelFacts model_facts(const Index& index, const std::vector<Traits>& traits) {
  std::vector<ClassTime> times;
  double total = 0, known = 0;
  Statement rows(index.database(), "SELECT name_id, total FROM kernel_name_sum");
  while (rows.step()) {
    const Traits own = traits_of(traits, rows.id(0));
    const std::int64_t time = rows.int64(1);
    times.push_back({own, time});
    total += static_cast<double>(time);
    known += (own & (kOtherTrait | kGeneratedTrait)) == 0 ? static_cast<double>(time) : 0;
  }
  return {architecture_of(times), is_diffusion(index), total > 0 ? known / total : 0};
}

}  // namespace tracedb
