#include "fleet/trace_summary.h"

#include <numeric>

#include "index/validity.h"
#include "passes/layers/model_facts.h"
#include "passes/layers/model_names.h"
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

std::optional<std::string> model_of(Workload& workload) {
  if (auto named = model_name(workload.index())) return named;
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
  out.gpu = database.query_text("SELECT name FROM device WHERE name IS NOT NULL ORDER BY used DESC, id LIMIT 1");
  out.framework = framework_name(index);
  out.rank = index.meta_int64("rank");
  out.world_size = world_size_of(database);
  out.kernels = index.meta_int64("kernels").value_or(0);
  out.kernel_time = index.meta_int64("kernel_ns").value_or(0);
  const auto date = index.meta_int64("base_time_ns");
  if (date && *date >= kFirstDate) out.date_ns = date;
  out.complete = index.complete();
  Workload workload(index, rules);
  if (out.kernels > 0) out.model = model_of(workload);
  out.phases = phases_of(workload);
  return out;
}

}  // namespace tracedb
