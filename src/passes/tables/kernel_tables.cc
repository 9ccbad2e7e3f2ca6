// Kernel time by name, operation class or role, and by pass of training; the same by layer.
#include <algorithm>
#include <utility>

#include "base/text/numbered_texts.h"
#include "base/unknown.h"
#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"
#include "passes/tables/pass_tables.h"
#include "trace/kernel_name.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoPass = "[no pass]";
constexpr std::string_view kNoHlo = "[no HLO operation]";
constexpr std::string_view kNameless = "[no name]";  // a name id that is not in kernel_name: a damaged index

enum class GroupBy { kNothing, kName, kOp, kRole, kHlo, kPass };

// Groups by the id of a kernel's name, where names that are alike are one, by its role or by its pass of training.
class Labels {
 public:
  Labels(Workload& workload, GroupBy by) {
    const EventColumns& kernels = workload.events().kernels;
    switch (by) {
      case GroupBy::kNothing:
        labels_.number("");
        return;
      case GroupBy::kRole:
        roles_ = &workload.roles();
        for (const RoleInfo& info : kAllRoles) labels_.number(std::string(info.name));
        return;
      case GroupBy::kPass:
        ids_ = kernels.ids("pass");
        groups_.push_back(labels_.number(std::string(kNoPass)));
        for (const std::string_view pass : kPassNames) groups_.push_back(labels_.number(std::string(pass)));
        return;
      default:
        break;
    }
    ids_ = kernels.ids("name_id");
    groups_.push_back(labels_.number(std::string(kNameless)));
    if (by == GroupBy::kOp) {
      const KernelClasses& classes = workload.classes();
      for (std::uint32_t id = 1; id < classes.end(); ++id) {
        if (classes.of(id).known) enter(id, classes.class_of(id));
      }
      return;
    }
    Statement rows(workload.index().database(), kKernelTexts);
    while (rows.step()) {
      const auto hlo = by == GroupBy::kHlo ? parse_hlo_kernel(rows.text(1)) : std::nullopt;
      enter(rows.id(0), by == GroupBy::kName ? rows.text(1) : hlo ? rows.text(1).substr(hlo->kernel.size()) : kNoHlo);
    }
  }
  [[nodiscard]] GroupId of(std::size_t row) const {
    if (roles_ != nullptr) return static_cast<GroupId>(roles_->of(row).role);
    if (ids_.empty()) return 0;
    return ids_[row] < groups_.size() ? groups_[ids_[row]] : groups_[0];
  }
  [[nodiscard]] std::size_t count() const { return labels_.all().size(); }
  [[nodiscard]] std::string_view label(std::size_t group) const { return labels_.all()[group]; }

 private:
  void enter(std::size_t id, std::string_view label) {
    for_id(groups_, id, groups_[0]) = labels_.number(std::string(label));
  }

  const KernelRoles* roles_ = nullptr;  // null: not by role
  std::span<const std::uint32_t> ids_;  // by row
  std::vector<GroupId> groups_;         // by id
  NumberedTexts labels_;
};

// By pass of training: each group in as many parts as there are passes, and one for what has none.
constexpr GroupId kPassParts = kPassNames.size() + 1;
void split_by_pass(std::span<GroupId> groups, std::span<const std::uint32_t> pass) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != kNoGroup) groups[i] = groups[i] * kPassParts + pass[i];
  }
}
std::string_view pass_label(std::size_t part) { return part == 0 ? kNoPass : kPassNames[part - 1]; }

// How many distinct names each group holds. `shared`: a name may be in several groups.
std::vector<std::int64_t> distinct_names(std::span<const GroupId> groups, std::span<const std::uint32_t> names,
                                         std::size_t count, bool shared) {
  std::vector<std::vector<bool>> seen(shared ? count : 1);
  std::vector<std::int64_t> out(count, 0);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] == kNoGroup) continue;
    auto is_seen = for_id(seen[shared ? groups[i] : 0], names[i]);
    if (!is_seen) ++out[groups[i]];
    is_seen = true;
  }
  return out;
}

// What an index has of an HLO operation, by one of its runs, and what its name says.
void add_hlo(const Index& index, std::string_view text, std::uint32_t cpu_op, TableRows& rows) {
  const HloKernel hlo = parse_hlo_kernel(text).value_or(HloKernel{{}, {}, text, {}, {}, {}});
  TextById operators(
      index,
      "SELECT s.concrete_inputs ->> '$[0].hlo_category', s.concrete_inputs ->> '$[0].flops', "
      "s.concrete_inputs ->> '$[0].bytes_accessed', t.value FROM cpu_op c LEFT JOIN op_shape s ON s.id = c.shape_id "
      "JOIN string t ON t.id = c.name_id WHERE c.id = ?");
  const Statement* const more = operators.row(cpu_op);
  const auto number = [&](int column) {
    return more != nullptr && !more->is_null(column) ? std::optional(more->int64(column)) : std::nullopt;
  };
  rows.add(hlo.op, known_text(hlo.module), known_text(hlo.opcode), known_text(hlo.target), known_text(hlo.shape));
  rows.add(more == nullptr ? std::nullopt : known_text(more->text(0)), number(1), number(2));
  rows.add(more == nullptr ? std::nullopt : known_text(more->text(3)));
}

void fill_groups(Workload& workload, TableRows& rows, GroupBy by, bool by_pass) {
  const EventTables& tables = workload.events();
  const EventColumns& kernels = tables.kernels;
  const EventFilter filter = workload.filter();
  const GroupId parts = by_pass ? kPassParts : 1;
  const Labels labels(workload, by);
  const auto name = kernels.ids("name_id");
  ColumnArray<GroupId> memory(name.size());
  const std::span<GroupId> groups = memory.values();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = filter.keeps_kernel(i) ? labels.of(i) : kNoGroup;
  }
  if (by_pass) split_by_pass(groups, kernels.ids("pass"));
  const GroupedEvents events{kernels.int64s("ts"), kernels.int64s("dur"), kernels.ids("stream_id"),
                             tables.device_of_stream, groups};
  std::vector<std::uint32_t> run_of(by == GroupBy::kHlo ? labels.count() : 0);  // a cpu_op of each
  for (std::size_t i = 0; i < groups.size() && !run_of.empty(); ++i) {
    if (groups[i] != kNoGroup && run_of[groups[i]] == 0) run_of[groups[i]] = kernels.ids("cpu_op_id")[i];
  }
  const std::vector<GroupStats> stats = group_stats(events, labels.count() * parts);
  const std::vector<std::int64_t> names =
      distinct_names(groups, name, stats.size(), (by_pass && by == GroupBy::kOp) || by == GroupBy::kRole);
  const std::int64_t busy = busy_time(events);
  for (std::size_t g = 0; g < stats.size(); ++g) {
    const GroupStats& own = stats[g];
    if (own.count == 0) continue;
    const auto known = [&](auto value) { return own.known > 0 ? std::optional(value) : std::nullopt; };
    if (by == GroupBy::kHlo) {
      add_hlo(workload.index(), labels.label(g), run_of[g], rows);
    } else {
      rows.add(labels.label(g / parts));
    }
    if (by_pass) rows.add(pass_label(g % parts));
    rows.add(names[g], own.count, own.known, own.total, own.busy);
    rows.add(known(own.min), known(own.max), known(own.median), known(own.p90), known(own.p99));
    rows.add(known(own.stddev), busy);
  }
}

template <GroupBy by, bool by_pass>
void fill_groups_by(Workload& workload, const PassOptions&, TableRows& rows) {
  fill_groups(workload, rows, by, by_pass);
}

// The operation class of every kernel name, and the rule that chose it.

}  // namespace

void fill_classes(Workload& workload, const PassOptions&, TableRows& rows) {
  const KernelClasses& classes = workload.classes();
  for (std::uint32_t id = 1; id < classes.end(); ++id) {
    const KernelClasses::Entry& entry = classes.of(id);
    if (entry.known) rows.add(id, classes.class_of(id), known_text(entry.rule), known_text(entry.label));
  }
}

std::vector<PassTable> kernel_group_tables() {
  using enum GroupBy;
  return {declared_table("kernels_by_name", fill_groups_by<kName, false>),
          declared_table("kernels_by_pass", fill_groups_by<kName, true>),
          declared_table("ops", fill_groups_by<kOp, false>),
          declared_table("ops_by_pass", fill_groups_by<kOp, true>),
          declared_table("ops_by_role", fill_groups_by<kRole, false>),
          declared_table("ops_by_hlo", fill_groups_by<kHlo, false>)};
}

void fill_roles(Workload&, const PassOptions&, TableRows& rows) {
  for (const RoleInfo& info : kAllRoles) rows.add(info.name, to_string(info.family), info.meaning);
}

// Kernel time by layer, and by operation class, role or pass of training in each.

namespace {

// Slots of layers: head, 0, 1, 2 ..., tail, none.
class Slots {
 public:
  Slots(std::span<const std::int32_t> layers, const LayerStacks& stacks) : stacks_(stacks) {
    std::int32_t most = -1;
    for (const std::int32_t layer : layers) most = std::max(most, layer);
    layers_ = static_cast<std::size_t>(most) + 1;  // -1 wraps to 0
  }
  [[nodiscard]] std::size_t of(std::int32_t layer) const {
    if (layer >= 0) return static_cast<std::size_t>(layer) + 1;
    return layer == kHead ? 0 : layer == kTail ? layers_ + 1 : layers_ + 2;
  }
  [[nodiscard]] std::size_t count() const { return layers_ + 3; }
  [[nodiscard]] std::string label(std::size_t slot) const {
    if (slot == 0) return "[head]";
    if (slot > layers_) return slot == layers_ + 1 ? "[tail]" : "[no layer]";
    const LayerStack* own = stack(slot);
    return std::to_string(static_cast<std::int32_t>(slot) - 1 - (own == nullptr ? 0 : own->first));
  }
  // Null: of a slot that is no layer.
  [[nodiscard]] const LayerStack* stack(std::size_t slot) const {
    return slot > layers_ ? nullptr : stack_of(static_cast<std::int32_t>(slot) - 1, stacks_);
  }

 private:
  const LayerStacks& stacks_;
  std::size_t layers_ = 0;
};

struct Group {
  std::int64_t n = 0, known = 0, total = 0;
  std::vector<std::int64_t> times, busy;  // by step that has it
};

// One step at a time: what is open is closed when the next one begins. Busy time is per device.
class LayerSums {
 public:
  explicit LayerSums(std::size_t groups, std::size_t devices)
      : groups_(groups), cells_(groups * devices), devices_(devices) {}

  // Kernels of one group and device that follow each other, by row.
  void add(std::size_t group, std::size_t device, std::span<const std::uint32_t> rows, std::span<const std::int64_t> ts,
           std::span<const std::int64_t> dur) {
    Cell& there = cells_[group * devices_ + device];
    Cell cell = there;  // in registers while it changes
    if (cell.n == 0) open_.push_back(group);
    for (const std::uint32_t row : rows) cell.add(ts[row], dur[row]);
    there = cell;
  }

  // `is_step`: false for what is in no step, which counts in the sums alone.
  void end_step(bool is_step) {
    for (const std::size_t group : open_) close(group, is_step);
    open_.clear();
  }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  // A group on a device, in the step at hand.
  struct Cell {
    std::int64_t n = 0, known = 0, time = 0;
    std::int64_t until = kUnknownValue, busy = 0;

    void add(std::int64_t ts, std::int64_t dur) {
      ++n;
      if (dur == kUnknownValue) return;
      ++known;
      time = saturating_add(time, dur);
      const std::int64_t end = saturating_add(ts, dur);
      const std::int64_t begin = std::max(ts, until);
      if (end > begin) busy += end - begin, until = end;
    }
  };

  // Groups with kernels on several devices are there several times, and closed the first time.
  void close(std::size_t group, bool is_step) {
    Cell all;
    for (Cell& cell : std::span(cells_).subspan(group * devices_, devices_)) {
      all.n += cell.n;
      all.known += cell.known;
      all.time = saturating_add(all.time, cell.time);
      all.busy = std::max(all.busy, cell.busy);
      cell = {};
    }
    if (all.n == 0) return;
    Group& own = groups_[group];
    own.n += all.n;
    own.known += all.known;
    own.total = saturating_add(own.total, all.time);
    if (!is_step) return;
    own.times.push_back(all.time);
    own.busy.push_back(all.busy);
  }

  std::vector<Group> groups_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> open_;
  std::size_t devices_;
};

std::vector<Group> groups_of(Workload& workload, const Slots& slots, const Labels& parts) {
  const EventTables& events = workload.events();
  const StepSet& steps = workload.steps();
  const LayerSet& layers = workload.layers();
  const EventFilter filter = workload.filter();
  const DenseDevices devices(events.device_of_stream);
  LayerSums sums(slots.count() * parts.count(), devices.count);
  const auto ts = events.kernels.int64s("ts");
  const auto dur = events.kernels.int64s("dur");
  const auto stream = events.kernels.ids("stream_id");
  struct Place {
    std::uint32_t step = UINT32_MAX;
    std::size_t group = 0, device = 0;
    bool operator==(const Place&) const = default;
  };
  const auto place_of = [&](std::uint32_t row) {
    const std::size_t slot = slots.of(layers.of_kernel[row]);
    return Place{steps.of_kernel[row], slot * parts.count() + parts.of(row), devices.of(stream[row])};
  };
  const std::span<const std::uint32_t> rows = layers.by_step;
  std::uint32_t step = UINT32_MAX;
  for (std::size_t first = 0; first < rows.size();) {
    const Place place = place_of(rows[first]);
    const bool keep = filter.keeps_kernel(rows[first]);
    std::size_t last = first + 1;
    while (last < rows.size() && place_of(rows[last]) == place && filter.keeps_kernel(rows[last]) == keep) ++last;
    if (keep && place.step != step) sums.end_step(std::exchange(step, place.step) != 0);
    if (keep) sums.add(place.group, place.device, rows.subspan(first, last - first), ts, dur);
    first = last;
  }
  sums.end_step(step != 0);
  return sums.groups();
}

template <GroupBy split>
void fill_layers(Workload& workload, const PassOptions&, TableRows& rows) {
  const Labels parts(workload, split);
  const LayerSet& layers = workload.layers();
  const Slots slots(layers.of_kernel, layers.stacks);
  const std::vector<Group> groups = groups_of(workload, slots, parts);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    if (group.n == 0) continue;
    const std::size_t slot = g / parts.count();
    const LayerStack* stack = slots.stack(slot);
    rows.add(slot, stack == nullptr ? std::nullopt : std::optional<std::string_view>(stack->name), slots.label(slot));
    if (split != GroupBy::kNothing) rows.add(parts.label(g % parts.count()));
    rows.add(group.times.size(), group.n, group.total, group.known);
    rows.add(group.known > 0 ? median_of(group.times) : std::nullopt);
    rows.add(group.known > 0 ? median_of(group.busy) : std::nullopt);
  }
}

}  // namespace

std::vector<PassTable> layer_tables() {
  using enum GroupBy;
  return {declared_table("layers", fill_layers<kNothing>), declared_table("layer_ops", fill_layers<kOp>),
          declared_table("layer_roles", fill_layers<kRole>), declared_table("layers_by_pass", fill_layers<kPass>)};
}

}  // namespace tracedb
