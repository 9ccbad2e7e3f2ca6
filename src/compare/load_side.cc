#include "compare/load_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/step_periods.h"

namespace tracedb {
namespace {

std::string device_text(const Index& index) {
  Statement rows(index.database(),
                 "SELECT count(*), coalesce(name, vendor) FROM device WHERE used = 1 GROUP BY 2 ORDER BY 1 DESC, 2");
  std::string text;
  while (rows.step()) {
    if (!text.empty()) text += ", ";
    text += rows.int64(0) > 1 ? fmt::format("{} x {}", rows.int64(0), rows.text(1)) : std::string(rows.text(1));
  }
  return text.empty() ? "unknown" : text;
}

std::string world_size(const Index& index) {
  Statement row(index.database(),
                "SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$.world_size') END FROM meta "
                "WHERE key = 'trace.distributedInfo'");
  return row.step() && !row.is_null(0) ? std::string(row.text(0)) : std::string();
}

bool replays_graphs(const Index& index) {
  const EventColumns calls(index, "runtime_call", {"kind"});
  const auto kinds = calls.ids("kind");
  return std::find(kinds.begin(), kinds.end(), static_cast<std::uint32_t>(StoredCallKind::kGraphLaunch)) != kinds.end();
}

}  // namespace

Side load_side(const Index& index, const StepOptions& options) {
  const std::vector<Traits> traits = kernel_traits(index);
  Side side{EventTables(index)};
  side.facts = {"", device_text(index), world_size(index), replays_graphs(index), {}};
  if (side.facts.graph_launches) side.facts.names_out_of_step = find_names_out_of_step(index, side.events.kernels);
  side.steps = load_steps(index, options, side.events, traits);
  side.layers = find_layers(index, side.events, side.steps, traits);
  make_runs(side);
  side.periods = step_periods(side.steps, side.runs);
  side.transitions = step_transitions(side.steps, side.runs);
  side.recorded = recorded_gaps(index, side);
  return side;
}

void name_side(Side& side, const Index& index, Vocabulary& vocabulary, ConfigNumbers& configs) {
  side.name_of = vocabulary.enter_kernels(index);
  side.memcpy_name = vocabulary.enter("[memcpy]", "[memcpy]", "memcpy");
  side.memset_name = vocabulary.enter("[memset]", "[memset]", "memset");
  side.config_of = configs.enter(index);
}

}  // namespace tracedb
