#include "passes/select/selection.h"

#include <string_view>

#include "passes/layers/layer_stacks.h"

namespace tracedb {
namespace {

constexpr std::string_view kNames =
    "SELECT n.id FROM kernel_name n WHERE (?1 IS NULL OR n.name GLOB ?1 OR n.short_name GLOB ?1) "
    "AND (?2 IS NULL OR n.name REGEXP ?2)";
constexpr std::string_view kStreams =
    "SELECT s.id FROM stream s LEFT JOIN device d ON d.id = s.device_id "
    "WHERE (?1 IS NULL OR d.ordinal = ?1) AND (?2 IS NULL OR CAST(s.number AS TEXT) = ?2)";

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

// Leaves of names those whose class fits a GLOB.
void keep_classes(const Index& index, const KernelClasses& classes, const std::string& glob, std::vector<bool>& names) {
  Statement fits(index.database(), "SELECT ?1 GLOB ?2");
  std::vector<bool> wanted;
  for (const std::string& name : classes.names()) {
    fits.bind(1, std::string_view(name)).bind(2, std::string_view(glob));
    wanted.push_back(fits.step() && fits.int64(0) != 0);
    fits.reset();
  }
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (names[id]) names[id] = classes.of(id).known && wanted[classes.of(id).class_id];
  }
}

std::vector<bool> step_ids(const StepSet& set, const Selection& selection) {
  std::vector<bool> out(set.steps.size() + 1);
  out[0] = !(selection.first_step || selection.last_step || selection.phase) || selection.phase == "none";
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

EventFilter::EventFilter(const Index& index, const Selection& selection, const FilterInputs& inputs, Times times)
    : keeps_memory_(!selection.names_kernels() && !selection.layer) {
  const EventColumns& kernels = inputs.events.kernels;
  const EventColumns& memory = inputs.events.memory;
  const bool cuts = times == Times::kOfStart && (selection.from || selection.to);
  all_ = !cuts && !selection.device && !selection.stream && !selection.names_steps() && !selection.names_kernels();
  if (cuts) {
    from_ = selection.from.value_or(from_);
    to_ = selection.to.value_or(to_);
    kernels_.ts = kernels.int64s("ts");
    memory_.ts = memory.int64s("ts");
  }
  if (selection.names_kernels()) {
    names_ = ids(index, kNames, selection.name_glob, selection.name_regex);
    if (selection.op) keep_classes(index, *inputs.classes, *selection.op, names_);
    kernels_.name = kernels.ids("name_id");
  }
  if (selection.device || selection.stream) {
    streams_ = ids(index, kStreams, selection.device, selection.stream);
    kernels_.stream = kernels.ids("stream_id");
    memory_.stream = memory.ids("stream_id");
  }
  if (inputs.steps != nullptr) {
    steps_ = step_ids(*inputs.steps, selection);
    kernels_.step = inputs.steps->of_kernel;
    memory_.step = inputs.steps->of_memory;
  }
  if (!selection.layer || inputs.layers == nullptr) return;
  layers_ = &inputs.layers->of_kernel;
  const LayerRange range = layer_range(*selection.layer, inputs.layers->stacks);
  first_layer_ = range.first;
  last_layer_ = range.last;
}

}  // namespace tracedb
