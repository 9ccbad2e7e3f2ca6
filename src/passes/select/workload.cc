#include "passes/select/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "passes/layers/stack_table.h"
#include "trace/display_name.h"

namespace tracedb {
namespace {

constexpr std::string_view kInNoStep = "none";  // among the kinds of step that a selection names
constexpr std::string_view kNamesInUse =
    "SELECT n.id FROM kernel_name n WHERE (?1 IS NULL OR n.name GLOB ?1 OR n.short_name GLOB ?1) "
    "AND (?2 IS NULL OR n.name REGEXP ?2)";
struct StreamOnDevice {
  std::uint32_t id;
  std::optional<std::int64_t> device;  // ordinal
  std::string number;
};

std::vector<StreamOnDevice> streams_of(const Index& index) {
  std::vector<StreamOnDevice> out;
  Statement statement(index.database(),
                      "SELECT s.id, d.ordinal, CAST(s.number AS TEXT) FROM stream s LEFT JOIN device d "
                      "ON d.id = s.device_id ORDER BY d.ordinal, s.number");
  while (statement.step()) out.push_back({statement.id(0), statement.integer(1), std::string(statement.text(2))});
  return out;
}

template <class Value>
bool is_among(const std::vector<Value>& values, const Value& value) {
  return std::ranges::find(values, value) != values.end();
}

// A trace without any devices or streams has nothing that could be mistaken: its reports are empty.
template <class Value>
void require_known(std::string_view option, const std::vector<Value>& wanted, const std::set<Value>& known) {
  for (const Value& one : wanted) {
    if (known.empty() || known.contains(one)) continue;
    throw Error(ErrorCode::kUsage, fmt::format("{} {}: there {} {}", option, one, known.size() == 1 ? "is" : "are",
                                               fmt::join(known, ", ")));
  }
}

std::vector<bool> stream_ids(const Index& index, const Selection& selection) {
  if (!selection.of_several) {
    KnownPlaces own;
    own.add(index);
    own.require(selection);
  }
  std::vector<bool> out;
  for (const StreamOnDevice& stream : streams_of(index)) {
    const bool device = selection.devices.empty() || (stream.device && is_among(selection.devices, *stream.device));
    if (!device || (!selection.streams.empty() && !is_among(selection.streams, stream.number))) continue;
    for_id(out, stream.id) = true;
  }
  return out;
}

// Names that fit as tables show them.
void add_shown(Database& database, const std::string& glob, std::vector<bool>& ids) {
  Statement all(database, "SELECT id, name FROM kernel_name"), fits(database, "SELECT ?1 GLOB ?2");
  std::vector<std::uint32_t> own;
  std::vector<std::string> names;
  while (all.step()) {
    own.push_back(all.id(0));
    names.emplace_back(all.text(1));
  }
  for (std::size_t i = 0; const std::string& shown : display_names(names)) {
    fits.bind(1, std::string_view(shown)).bind(2, std::string_view(glob));
    if (fits.step() && fits.int64(0) != 0) for_id(ids, own[i]) = true;
    fits.reset();
    ++i;
  }
}

std::vector<bool> name_ids(const Index& index, const Selection& selection) {
  Statement statement(index.database(), kNamesInUse);
  if (selection.name_glob) statement.bind(1, std::string_view(*selection.name_glob));
  if (selection.name_regex) statement.bind(2, std::string_view(*selection.name_regex));
  std::vector<bool> out;
  while (statement.step()) for_id(out, statement.id(0)) = true;
  if (out.empty() && selection.name_glob) add_shown(index.database(), *selection.name_glob, out);
  return out;
}

[[noreturn]] void refuse_class(const std::string& wanted, const std::string& option,
                               const std::vector<std::string>& declared) {
  std::vector<std::string> near;
  for (const std::string& name : declared) {
    if (name.find(wanted) != std::string::npos) near.push_back(name);
  }
  std::string advice = did_you_mean(wanted, declared);
  if (!near.empty()) advice = fmt::format("; there {} {}", near.size() == 1 ? "is" : "are", fmt::join(near, ", "));
  throw Error(ErrorCode::kUsage,
              fmt::format("{}{}: no such class{}{}", option, wanted, advice,
                          advice.empty() ? "; 'trace-query rules list' and schema/METRICS.md name them" : ""));
}

// By class id.
std::vector<bool> class_ids(const Index& index, const KernelClasses& known, const Selection& selection) {
  const std::vector<std::string>& classes = known.names();
  Statement fits(index.database(), "SELECT ?1 GLOB ?2");
  std::vector<bool> wanted(classes.size());
  for (const std::string& glob : selection.ops) {
    const bool is_name = glob.find_first_of("*?[+") == std::string::npos;
    if (is_name && !is_among(classes, glob) && !is_among(known.declared(), glob))
      refuse_class(glob, selection.op_option, known.declared());
    for (std::size_t id = 0; id < classes.size(); ++id) {
      fits.bind(1, std::string_view(classes[id])).bind(2, std::string_view(glob));
      if (fits.step() && fits.int64(0) != 0) wanted[id] = true;
      fits.reset();
    }
  }
  return wanted;
}

// Leaves of names those whose class fits one of the GLOBs.
void keep_classes(const Index& index, const KernelClasses& classes, const Selection& selection,
                  std::vector<bool>& names) {
  const std::vector<bool> wanted = class_ids(index, classes, selection);
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (names[id]) names[id] = classes.of(id).known && wanted[classes.of(id).class_id];
  }
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Which steps the selection asks for by kind or number and the trace does not have, and which there are: a sentence
// each.
std::vector<std::string> missing_steps(const Selection& selection, const StepSet& set) {
  std::vector<std::string> out;
  if (set.steps.empty()) return out;  // its notes say why
  std::set<StepKind> kinds;
  for (const StepFacts& step : set.steps) kinds.insert(step.info.kind);
  std::vector<std::string> there;
  for (const StepKind kind : kinds) there.emplace_back(to_string(kind));
  for (const std::string& phase : selection.phases) {
    if (phase == kInNoStep || is_among(there, phase)) continue;
    out.push_back(
        fmt::format("--phase {}: there {} {}", phase, there.size() == 1 ? "is only" : "are", fmt::join(there, ", ")));
  }
  const auto last = static_cast<std::int64_t>(set.steps.size()) - 1;
  const bool any_beyond = std::ranges::any_of(selection.steps, [last](const StepSpan& span) {
    return span.first.value_or(0) > last || span.last.value_or(0) < 0;
  });
  if (any_beyond) {
    out.push_back(last == 0 ? "--step: there is only step 0" : fmt::format("--step: there are steps 0 to {}", last));
  }
  return out;
}

}  // namespace

void KnownPlaces::add(const Index& index) {
  Statement ordinals(index.database(), "SELECT ordinal FROM device");
  while (ordinals.step()) {
    if (const auto number = ordinals.integer(0)) {
      devices_.insert(*number);
    } else {
      unnumbered_ = true;
    }
  }
  for (StreamOnDevice& stream : streams_of(index)) streams_.insert(std::move(stream.number));
}

void KnownPlaces::require(const Selection& selection) const {
  if (!selection.devices.empty() && devices_.empty() && unnumbered_) {
    throw Error(ErrorCode::kUsage, fmt::format("--device {}: the devices have no numbers, as they are of several hosts "
                                               "or their numbers are not recorded; in SQL they have names",
                                               selection.devices.front()));
  }
  require_known("--device", selection.devices, devices_);
  require_known("--stream", selection.streams, streams_);
}

std::vector<bool> selected_steps(const StepSet& set, const Selection& selection) {
  std::vector<bool> out(set.steps.size() + 1);
  const bool any = selection.steps.empty();
  const bool any_phase = selection.phases.empty();
  out[0] = (any && any_phase) || is_among(selection.phases, std::string(kInNoStep));
  for (std::size_t i = 0; i < set.steps.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const bool in_span =
        any || std::ranges::any_of(selection.steps, [&](const StepSpan& span) { return span.has(number); });
    out[i + 1] = in_span && (any_phase || is_among(selection.phases, std::string(to_string(set.steps[i].info.kind))));
  }
  return out;
}

bool Selection::empty() const {
  return devices.empty() && streams.empty() && !names_steps() && !names_kernels() && !from && !to;
}

EventFilter::EventFilter(const Index& index, const Selection& selection, const FilterInputs& inputs, Times times)
    : keeps_memory_(!selection.names_kernels() && !selection.layer) {
  const EventColumns& kernels = inputs.events.kernels;
  const EventColumns& memory = inputs.events.memory;
  const bool cuts = times == Times::kOfStart && (selection.from || selection.to);
  const bool places = !selection.devices.empty() || !selection.streams.empty();
  all_ = !cuts && !places && !selection.names_steps() && !selection.names_kernels();
  if (cuts) {
    from_ = selection.from.value_or(from_);
    to_ = selection.to.value_or(to_);
    kernels_.ts = kernels.int64s("ts");
    memory_.ts = memory.int64s("ts");
  }
  if (selection.names_kernels()) {
    names_ = name_ids(index, selection);
    if (!selection.ops.empty() && inputs.classes != nullptr) keep_classes(index, *inputs.classes, selection, names_);
    kernels_.name = kernels.ids("name_id");
  }
  if (places) {
    streams_ = stream_ids(index, selection);
    kernels_.stream = kernels.ids("stream_id");
    memory_.stream = memory.ids("stream_id");
  }
  if (inputs.steps != nullptr) {
    steps_ = selected_steps(*inputs.steps, selection);
    kernels_.step = inputs.steps->of_kernel;
    memory_.step = inputs.steps->of_memory;
  }
  if (!selection.layer || inputs.layers == nullptr) return;
  layers_ = &inputs.layers->of_kernel;
  const LayerRange range = layer_range(*selection.layer, inputs.layers->stacks);
  first_layer_ = range.first;
  last_layer_ = range.last;
}

Workload::Workload(const Index& index, const ActiveRules& rules, WorkloadOptions options)
    : index_(index), rules_(rules), options_(std::move(options)) {}

const KernelClasses& Workload::classes() {
  if (!classes_) classes_.emplace(index_, rules_.compiled());
  return *classes_;
}

const EventTables& Workload::events() {
  if (options_.events != nullptr) return *options_.events;
  if (!events_) events_.emplace(index_);
  return *events_;
}

const StepSet& Workload::steps() {
  if (!steps_) {
    const bool by_rhythm = needs_traits(index_, options_.steps);
    steps_ = load_steps(index_, options_.steps, events(), by_rhythm ? classes().traits() : std::vector<Traits>());
  }
  return *steps_;
}

const ReplayOrigins& Workload::origins() {
  if (!origins_) {
    origins_.emplace();
    if (const CaptureSource* source = options_.capture) {
      origins_ = match_capture(source->capture, index_, events(), steps());
      // They name the file, and say first what is wrong with it.
      origins_->notes.insert(origins_->notes.begin(), source->notes.begin(), source->notes.end());
      for (std::string& note : origins_->notes) note = fmt::format("--capture {}: {}", source->name, note);
    }
  }
  return *origins_;
}

const LayerSet& Workload::layers() {
  if (!layers_) {
    const CaptureSource* capture = options_.capture;
    CaptureLayers captured;
    if (capture != nullptr) captured = layers_of_origins(capture->capture, origins());
    layers_ = find_layers(index_, events(), steps(), classes().traits(), capture == nullptr ? nullptr : &captured);
  }
  return *layers_;
}

const KernelRoles& Workload::roles() {
  if (!roles_) roles_ = find_roles(index_, events(), steps(), layers(), classes(), rules_.get());
  return *roles_;
}

WorkloadParts Workload::take() {
  classes();
  layers();
  WorkloadParts parts{*std::exchange(classes_, std::nullopt), *std::exchange(events_, std::nullopt),
                      *std::exchange(steps_, std::nullopt), *std::exchange(layers_, std::nullopt),
                      std::exchange(roles_, std::nullopt).value_or(KernelRoles{})};
  return parts;
}

EventFilter Workload::filter(Times times, bool by_step) {
  const Selection& selection = options_.selection;
  const FilterInputs inputs{events(), !selection.ops.empty() ? &classes() : nullptr,
                            by_step && selection.names_steps() ? &steps() : nullptr,
                            selection.layer ? &layers() : nullptr};
  return {index_, selection, inputs, times};
}

std::vector<std::string> Workload::layer_notes() {
  std::vector<std::string> notes = steps().notes;
  append(notes, origins().notes);
  append(notes, layers().notes);
  return notes;
}

std::vector<std::string> Workload::selection_notes() {
  if (!options_.selection.names_steps()) return {};
  std::vector<std::string> out = options_.selection.layer ? layer_notes() : steps().notes;
  append(out, missing_notes());
  return out;
}

std::vector<std::string> Workload::missing_notes() {
  const Selection& selection = options_.selection;
  if (selection.steps.empty() && selection.phases.empty()) return {};
  return missing_steps(selection, steps());
}

std::vector<std::string> Workload::take_notes() {
  std::vector<std::string> out;
  const bool told = steps_told_;
  if (layers_ && !std::exchange(layers_told_, true)) {
    for (const std::string& note : layer_notes()) out.push_back("layers: " + note);
    steps_told_ = true;
  }
  if (steps_ && !std::exchange(steps_told_, true)) {
    for (const std::string& note : steps_->notes) out.push_back("steps: " + note);
  }
  if (steps_told_ && !told) append(out, missing_notes());
  for (std::string& note : index_.database().take_notes()) out.push_back(std::move(note));
  return out;
}

}  // namespace tracedb
