#include "passes/tables/layer_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "passes/columns/group_stats.h"
#include "passes/steps/step_stats.h"
#include "sql/temp_table.h"
#include "trace/training.h"

namespace tracedb {
namespace {

// What layers are split by, numbered: classes of kernel names, where 0 has no name, or passes of training; 0 stands for
// all where neither is asked for.
class Parts {
 public:
  std::vector<std::string> names = {""};

  Parts(const Index& index, LayerSplit split) {
    if (split == LayerSplit::kByClass) read_classes(index);
    if (split == LayerSplit::kByPass) read_passes(index);
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t row, std::uint32_t name) const {
    if (kernels_) return passes_[row];
    return name < of_name_.size() ? of_name_[name] : 0;
  }

 private:
  void read_passes(const Index& index) {
    names = {"[no pass]"};
    for (const std::string_view pass : pass_names()) names.emplace_back(pass);
    kernels_.emplace(index, "kernel", std::vector<std::string_view>{"pass"});
    passes_ = kernels_->ids("pass");
  }

  void read_classes(const Index& index) {
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    Statement rows(index.database(), "SELECT name_id, class FROM temp.kernel_class");
    while (rows.step()) {
      const std::size_t id = rows.id(0);
      const auto [entry, is_new] = numbers.try_emplace(std::string(rows.text(1)), names.size());
      if (is_new) names.push_back(entry->first);
      if (id >= of_name_.size()) of_name_.resize(id * 2 + 1, 0);
      of_name_[id] = entry->second;
    }
  }

  std::vector<std::uint32_t> of_name_;
  std::optional<EventColumns> kernels_;
  std::span<const std::uint32_t> passes_;
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

  void end_step() {
    for (const std::size_t group : open_) close(group);
    open_.clear();
  }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  // A group on a device, in the step at hand.
  struct Cell {
    std::int64_t n = 0, known = 0, time = 0;
    std::int64_t until = kNullCell, busy = 0;

    void add(std::int64_t ts, std::int64_t dur) {
      ++n;
      if (dur == kNullCell) return;
      ++known;
      time = bounded_add(time, dur);
      const std::int64_t end = bounded_add(ts, dur);
      const std::int64_t begin = std::max(ts, until);
      if (end > begin) busy += end - begin, until = end;
    }
  };

  // Groups with kernels on several devices are there several times, and closed the first time.
  void close(std::size_t group) {
    Cell all;
    for (Cell& cell : std::span(cells_).subspan(group * devices_, devices_)) {
      all.n += cell.n;
      all.known += cell.known;
      all.time = bounded_add(all.time, cell.time);
      all.busy = std::max(all.busy, cell.busy);
      cell = {};
    }
    if (all.n == 0) return;
    Group& own = groups_[group];
    own.n += all.n;
    own.known += all.known;
    own.total = bounded_add(own.total, all.time);
    own.times.push_back(all.time);
    own.busy.push_back(all.busy);
  }

  std::vector<Group> groups_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> open_;
  std::size_t devices_;
};

void write(const Index& index, const std::vector<Group>& groups, const Slots& slots, const Parts& parts) {
  TempTable table(index.database(), "layer_row",
                  "place INTEGER, stack TEXT, layer TEXT, part TEXT, steps INTEGER, n INTEGER, total INTEGER, "
                  "known INTEGER, step_time REAL, step_busy REAL",
                  10);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    if (group.n == 0) continue;
    const std::size_t slot = g / parts.names.size();
    const std::string& part = parts.names[g % parts.names.size()];
    Statement& row = table.insert();
    row.bind(1, static_cast<std::int64_t>(slot)).bind(3, std::string_view(slots.label(slot)));
    if (const LayerStack* stack = slots.stack(slot)) row.bind(2, std::string_view(stack->name));
    if (!part.empty()) row.bind(4, std::string_view(part));
    row.bind(5, static_cast<std::int64_t>(group.times.size())).bind(6, group.n).bind(7, group.total);
    row.bind(8, group.known);
    if (const auto time = median_of(group.times); time && group.known > 0) row.bind(9, *time);
    if (const auto busy = median_of(group.busy); busy && group.known > 0) row.bind(10, *busy);
    row.run();
  }
}

}  // namespace

void make_layer_table(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
                      const EventFilter& filter, LayerSplit split) {
  const Parts parts(index, split);
  const Slots slots(layers.of_kernel, layers.stacks);
  const DenseDevices devices(events.device_of_stream);
  LayerSums sums(slots.count() * parts.names.size(), devices.count);
  const auto ts = events.kernels.int64s("ts");
  const auto dur = events.kernels.int64s("dur");
  const auto name = events.kernels.ids("name_id");
  const auto stream = events.kernels.ids("stream_id");
  struct Place {
    std::uint32_t step = UINT32_MAX;
    std::size_t group = 0, device = 0;
    bool operator==(const Place&) const = default;
  };
  const auto place_of = [&](std::uint32_t row) {
    const std::size_t slot = slots.of(layers.of_kernel[row]);
    return Place{steps.of_kernel[row], slot * parts.names.size() + parts.of(row, name[row]), devices.of(stream[row])};
  };
  const auto kept = [&](std::uint32_t row) {
    return filter.keeps(ts[row], name[row], stream[row], steps.of_kernel[row], row);
  };
  const std::span<const std::uint32_t> rows = layers.by_step;
  std::uint32_t step = UINT32_MAX;
  for (std::size_t first = 0; first < rows.size();) {
    const Place place = place_of(rows[first]);
    const bool keep = kept(rows[first]);
    std::size_t last = first + 1;
    while (last < rows.size() && place_of(rows[last]) == place && kept(rows[last]) == keep) ++last;
    if (keep && place.step != std::exchange(step, place.step)) sums.end_step();
    if (keep) sums.add(place.group, place.device, rows.subspan(first, last - first), ts, dur);
    first = last;
  }
  sums.end_step();
  write(index, sums.groups(), slots, parts);
}

}  // namespace tracedb
