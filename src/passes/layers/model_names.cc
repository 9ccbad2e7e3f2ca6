#include "passes/layers/model_names.h"

#include <algorithm>
#include <string_view>

namespace tracedb {
namespace {

// The packages whose Python code, else whose marks of steps, are in the trace.
constexpr std::string_view kFrameworkSql = R"sql(
WITH known(place, name, files, marks) AS (VALUES
  (1, 'vLLM', '*vllm/*', 'execute_[0-9c]*'), (2, 'SGLang', '*sglang/*', 'step[[]*'), (3, 'ATOM', '*atom/*', '*code[[]*'),
  (4, 'TensorRT-LLM', '*tensorrt_llm/*', NULL), (5, 'Megatron', '*megatron/*', NULL),
  (6, 'DeepSpeed', '*deepspeed/*', NULL), (7, 'TorchTitan', '*torchtitan/*', NULL),
  (8, 'Lightning', '*lightning/*', NULL), (9, 'Diffusers', '*diffusers/*', NULL),
  (10, 'Transformers', '*transformers/*', NULL))
SELECT name FROM known
WHERE EXISTS (SELECT 1 FROM frame f JOIN string s ON s.id = f.file_id WHERE s.value GLOB known.files)
   OR EXISTS (SELECT 1 FROM step p JOIN annotation a ON a.id = p.annotation_id JOIN string s ON s.id = a.name_id
              WHERE s.value GLOB known.marks)
ORDER BY place LIMIT 1
)sql";

// A pipeline of Diffusers; the module that takes longest of those that no other calls, if it is more than a part of a
// server; the file that has the model's code.
constexpr std::string_view kModelSql = R"sql(
WITH file AS (SELECT DISTINCT s.value AS name FROM frame f JOIN string s ON s.id = f.file_id),
named(place, name, weight) AS (
  SELECT 1, substr(name, instr(name, 'diffusers/pipelines/') + 20), count(*) FROM file
    WHERE name GLOB '*diffusers/pipelines/*/pipeline_*.py' GROUP BY 2
  UNION ALL SELECT 2, substr(s.value, 12), sum(m.dur) FROM module_call m JOIN string s ON s.id = m.name_id
    WHERE s.value GLOB 'nn.Module: *' AND s.value NOT GLOB 'nn.Module: LogitsProcessor_*'
      AND s.value NOT GLOB 'nn.Module: Sampler_*' GROUP BY m.name_id
  UNION ALL SELECT 3, substr(name, instr(name, '/models/') + 8), count(*) FROM file
    WHERE (name GLOB '*vllm/model_executor/models/*.py' OR name GLOB '*sglang/srt/models/*.py')
      AND name NOT GLOB '*/utils.py' AND name NOT GLOB '*/interfaces*.py' GROUP BY 2)
SELECT name FROM named ORDER BY place, weight DESC, name LIMIT 1
)sql";

}  // namespace

std::optional<std::string> framework_name(const Index& index) {
  if (auto found = index.database().query_text(kFrameworkSql)) return found;
  if (index.meta("format") == "kineto") return "PyTorch";
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

}  // namespace tracedb
