// Kernel time by layer, and by operation class, role or pass of training in each.
#include <algorithm>
#include <utility>

#include "base/unknown.h"
#include "passes/steps/step_stats.h"
#include "passes/tables/pass_tables.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

enum class LayerSplit { kNone, kByOp, kByRole, kByPass };

// What layers are split by, numbered: operation classes of kernel names, roles or passes of training, where 0 stands
// for none; for all where neither is asked for.
class Parts {
 public:
  Parts(Workload& workload, LayerSplit split) {
    const EventColumns& kernels = workload.events().kernels;
    if (split == LayerSplit::kByOp) {
      classes_ = &workload.classes();
      names = classes_->names();
      part_of_row_ = kernels.ids("name_id");
    } else if (split == LayerSplit::kByRole) {
      roles_ = &workload.roles();
      names.clear();
      for (const RoleInfo& info : kAllRoles) names.emplace_back(info.name);
    } else if (split == LayerSplit::kByPass) {
      names = {"[no pass]"};
      for (const std::string_view pass : kPassNames) names.emplace_back(pass);
      part_of_row_ = kernels.ids("pass");
    }
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t row) const {
    if (classes_ != nullptr) return classes_->of(part_of_row_[row]).class_id;
    if (roles_ != nullptr) return static_cast<std::uint32_t>(roles_->of(row).role);
    return part_of_row_.empty() ? 0 : part_of_row_[row];
  }

  std::vector<std::string> names = {""};

 private:
  const KernelClasses* classes_ = nullptr;
  const KernelRoles* roles_ = nullptr;
  std::span<const std::uint32_t> part_of_row_;
};

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

std::vector<Group> groups_of(Workload& workload, const Slots& slots, const Parts& parts) {
  const EventTables& events = workload.events();
  const StepSet& steps = workload.steps();
  const LayerSet& layers = workload.layers();
  const EventFilter filter = workload.filter();
  const DenseDevices devices(events.device_of_stream);
  LayerSums sums(slots.count() * parts.names.size(), devices.count);
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
    return Place{steps.of_kernel[row], slot * parts.names.size() + parts.of(row), devices.of(stream[row])};
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

template <LayerSplit split>
void fill_layers(Workload& workload, const PassOptions&, TableRows& rows) {
  const Parts parts(workload, split);
  const LayerSet& layers = workload.layers();
  const Slots slots(layers.of_kernel, layers.stacks);
  const std::vector<Group> groups = groups_of(workload, slots, parts);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    if (group.n == 0) continue;
    const std::size_t slot = g / parts.names.size();
    const LayerStack* stack = slots.stack(slot);
    rows.add(slot).add(stack == nullptr ? std::nullopt : std::optional<std::string_view>(stack->name));
    rows.add(slots.label(slot));
    if (split != LayerSplit::kNone) rows.add(parts.names[g % parts.names.size()]);
    rows.add(group.times.size()).add(group.n).add(group.total).add(group.known);
    rows.add(group.known > 0 ? median_of(group.times) : std::nullopt);
    rows.add(group.known > 0 ? median_of(group.busy) : std::nullopt);
  }
}

}  // namespace

std::vector<PassTable> layer_tables() {
  using enum LayerSplit;
  return {declared_table("layers", fill_layers<kNone>), declared_table("layer_ops", fill_layers<kByOp>),
          declared_table("layer_roles", fill_layers<kByRole>), declared_table("layers_by_pass", fill_layers<kByPass>)};
}

}  // namespace tracedb
