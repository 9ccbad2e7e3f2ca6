#include "passes/select/selection.h"

#include <limits>
#include <optional>
#include <string_view>

#include "passes/layers/layer_stacks.h"

namespace tracedb {
namespace {

constexpr std::string_view kNames =
    "SELECT n.id FROM kernel_name n WHERE (?1 IS NULL OR n.name GLOB ?1 OR n.short_name GLOB ?1) "
    "AND (?2 IS NULL OR n.name REGEXP ?2)";
constexpr std::string_view kNamesOfClass =
    "SELECT n.id FROM kernel_name n JOIN temp.kernel_class c ON c.name_id = n.id WHERE (?1 IS NULL OR n.name GLOB ?1 "
    "OR n.short_name GLOB ?1) AND (?2 IS NULL OR n.name REGEXP ?2) AND c.class GLOB ?3";
constexpr std::string_view kStreams =
    "SELECT s.id FROM stream s LEFT JOIN device d ON d.id = s.device_id "
    "WHERE (?1 IS NULL OR d.ordinal = ?1) AND (?2 IS NULL OR CAST(s.number AS TEXT) = ?2)";
constexpr std::string_view kSteps =
    "SELECT id FROM step WHERE (?1 IS NULL OR sequence >= ?1) AND (?2 IS NULL OR sequence <= ?2) "
    "AND (?3 IS NULL OR kind = ?3)";

void bind(Statement& statement, int index, const std::optional<std::string>& value) {
  if (value) statement.bind(index, std::string_view(*value));
}
void bind(Statement& statement, int index, const std::optional<std::int64_t>& value) {
  if (value) statement.bind(index, *value);
}

template <class... Values>
std::vector<bool> ids(const Index& index, std::string_view sql, const Values&... values) {
  Statement statement(index.database(), sql);
  int place = 0;
  (bind(statement, ++place, values), ...);
  std::vector<bool> out;
  while (statement.step()) {
    const std::size_t id = statement.id(0);
    if (id >= out.size()) out.resize(id * 2 + 1);
    out[id] = true;
  }
  return out;
}

// Numbers of steps in a set, from 1.
std::vector<bool> ids_of(const StepSet& set, const Selection& selection) {
  std::vector<bool> out(set.steps.size() + 1);
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    out[i + 1] = number >= selection.first_step.value_or(0) && number <= selection.last_step.value_or(number) &&
                 (!selection.phase || *selection.phase == to_string(set.steps[i].info.kind));
  }
  return out;
}

}  // namespace

bool Selection::empty() const {
  return !(device || stream || first_step || last_step || phase || layer || op || name_glob || name_regex || from ||
           to);
}

EventFilter::EventFilter(const Index& index, const Selection& selection, const StepSet* steps, const LayerSet* layers)
    : all_(selection.empty()),
      stepless_(!(selection.first_step || selection.last_step || selection.phase) || selection.phase == "none"),
      from_(selection.from.value_or(std::numeric_limits<std::int64_t>::min())),
      to_(selection.to.value_or(std::numeric_limits<std::int64_t>::max())) {
  if (all_) return;
  names_ = selection.op ? ids(index, kNamesOfClass, selection.name_glob, selection.name_regex, selection.op)
                        : ids(index, kNames, selection.name_glob, selection.name_regex);
  if (!selection.names_kernels()) {
    if (names_.empty()) names_.resize(1);
    names_[0] = true;
  }
  streams_ = ids(index, kStreams, selection.device, selection.stream);
  steps_ = steps == nullptr ? ids(index, kSteps, selection.first_step, selection.last_step, selection.phase)
                            : ids_of(*steps, selection);
  if (!selection.layer || layers == nullptr) return;
  layers_ = &layers->of_kernel;
  const LayerRange range = layer_range(*selection.layer, layers->stacks);
  first_layer_ = range.first;
  last_layer_ = range.last;
}

}  // namespace tracedb
