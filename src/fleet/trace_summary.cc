#include "fleet/trace_summary.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "index/validity.h"
#include "passes/layers/model_facts.h"
#include "passes/select/workload.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// 1980: before it clocks count from the start of a machine (base/text/duration_text.h).
constexpr std::int64_t kFirstDate = 315'532'800'000'000'000;

std::optional<std::int64_t> integer(const Statement& row, int column) {
  if (row.type(column) != ValueType::kInteger) return std::nullopt;
  return row.int64(column);
}

std::optional<std::string> text(Database& database, std::string_view sql) { return database.query_text(sql); }

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

std::optional<std::string> framework_of(const Index& index) {
  if (auto found = text(index.database(), kFrameworkSql)) return found;
  if (index.meta("format") == "kineto") return "PyTorch";
  return std::nullopt;
}

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

std::optional<std::string> model_of(Workload& workload) {
  auto named = text(workload.index().database(), kModelSql);
  if (named) {
    named->resize(std::min(named->find('/'), named->size()));
    if (named->ends_with(".py")) named->resize(named->size() - 3);
    const auto number = named->find_last_not_of("0123456789");
    if (number != std::string::npos && (*named)[number] == '_') named->resize(number);
    return named;
  }
  const ModelFacts facts = model_facts(workload.index(), workload.classes().traits());
  if (facts.architecture == Architecture::kUnknown && !facts.diffusion) return std::nullopt;
  return architecture_text(facts);
}

std::vector<PhaseSummary> phases_of(Workload& workload) {
  add_pass_tables(workload, {});
  std::vector<PhaseSummary> out;
  Statement rows(workload.index().database(),
                 "SELECT phase, steps, total, CAST(round(period) AS INTEGER), CAST(round(gpu_span) AS INTEGER) FROM "
                 "temp.phases WHERE steps > 0 ORDER BY total DESC, phase");
  while (rows.step()) {
    out.push_back({std::string(rows.text(0)), rows.int64(1), rows.int64(2), integer(rows, 3), integer(rows, 4)});
  }
  return out;
}

std::optional<std::int64_t> world_size_of(Database& database) {
  Statement size(database,
                 "SELECT json_extract(value, '$.world_size') FROM meta WHERE key = 'trace.distributedInfo' AND "
                 "json_valid(value)");
  return size.step() ? integer(size, 0) : std::nullopt;
}

}  // namespace

std::int64_t TraceSummary::steps() const {
  return std::accumulate(phases.begin(), phases.end(), std::int64_t{0},
                         [](std::int64_t sum, const PhaseSummary& phase) { return sum + phase.steps; });
}

TraceSummary summarise(const Index& index, const ActiveRules& rules) {
  TraceSummary out;
  Database& database = index.database();
  out.source = source_of(index).string();
  if (out.source.empty()) out.source = index.meta("source_path").value_or("");
  out.source_bytes = index.meta_int64("source_size");
  out.source_modified_ns = index.meta_int64("source_mtime_ns");
  out.source_inode = index.meta_int64("source_inode");
  out.format = index.meta("format");
  out.vendor = index.meta("vendor");
  out.gpu = text(database, "SELECT name FROM device WHERE name IS NOT NULL ORDER BY used DESC, id LIMIT 1");
  out.framework = framework_of(index);
  out.rank = index.meta_int64("rank");
  out.world_size = world_size_of(database);
  out.kernels = index.meta_int64("kernels").value_or(0);
  out.kernel_time = index.meta_int64("kernel_ns").value_or(0);
  const auto date = index.meta_int64("base_time_ns");
  if (date && *date >= kFirstDate) out.date_ns = date;
  out.complete = index.complete();
  if (out.kernels == 0) return out;
  Workload workload(index, rules);
  out.model = model_of(workload);
  out.phases = phases_of(workload);
  return out;
}

}  // namespace tracedb
