// What the passes find, above the streams of each device: steps, layers, roles, and why the device was idle.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/saturating.h"
#include "export/side_writer.h"
#include "passes/select/device_columns.h"
#include "passes/tables/lanes.h"

namespace tracedb {
namespace {

// Kernels of one device that follow each other and have something in common.
struct MarkRun {
  std::uint64_t key = 0;
  std::uint32_t row = 0, kernels = 0;  // the first, and how many
  std::int64_t ts = 0, end = 0;
};

// Those of one device. The last `open` runs may take turns, as where the communication of one layer runs beside the
// computation of the next.
class MarkRuns {
 public:
  explicit MarkRuns(std::size_t open) : open_(open) {}

  void add(const MarkRun& kernel) {
    const std::size_t last = runs.size() < open_ ? runs.size() : open_;
    for (auto run = runs.rbegin(); run != runs.rbegin() + static_cast<std::ptrdiff_t>(last); ++run) {
      if (run->key != kernel.key) continue;
      run->end = std::max(run->end, kernel.end);
      ++run->kernels;
      return;
    }
    runs.push_back(kernel);
  }
  std::vector<MarkRun> runs;

 private:
  std::size_t open_;
};

// Of steps and layers. Roles repeat within a layer: they do not take turns.
constexpr std::size_t kTakeTurns = 2;

std::string event_name(Database& database, const EventRef& event) {
  if (event.id == 0) return "";
  Statement name(database, event.is_memory_op
                               ? "SELECT t.value FROM memory_op m JOIN string t ON t.id = m.name_id WHERE m.id = ?1"
                               : "SELECT n.short_name FROM kernel k JOIN kernel_name n ON n.id = k.name_id "
                                 "WHERE k.id = ?1");
  name.bind(1, std::int64_t{event.id});
  return name.step() ? std::string(name.text(0)) : "";
}

}  // namespace

class SideWriter::Marks {
 public:
  explicit Marks(SideWriter& side) : side_(side) {}

  void write_kernel_marks() {
    find_runs();
    const StepSet& steps = side_.workload_.steps();
    const LayerSet& layers = side_.workload_.layers();
    const KernelRoles& roles = side_.workload_.roles();
    write(MarkTrack::kSteps, steps_, [&](const MarkRun& run) {
      const std::uint32_t step = steps.of_kernel[run.row] - 1;
      return fmt::format("step {} ({})", step, to_string(steps.steps[step].info.kind));
    });
    write(MarkTrack::kLayers, layers_,
          [&](const MarkRun& run) { return "layer " + layer_label(layers.of_kernel[run.row], layers.stacks); });
    write(MarkTrack::kRoles, roles_,
          [&](const MarkRun& run) { return std::string(to_string(roles.of(run.row).role)); });
  }

  void write_idle() {
    const DeviceColumns columns(side_.workload_.events(), LaneBy::kDevice);
    const LaunchColumns launches(side_.workload_.index());
    const GapSteps steps(side_.workload_);
    TimelineOptions options;
    options.window = {std::max<std::int64_t>(side_.window_.hull().begin, 0), side_.window_.hull().end};
    for (const Gap& gap : gaps_in_order(columns.work(), launches.calls(), options).listed) {
      const std::int64_t end = gap.ts + gap.dur;
      if (!side_.window_.touches(gap.ts, end)) continue;
      JsonMembers args;
      args.text("before", event_name(side_.database_, gap.before)).text("next", event_name(side_.database_, gap.after));
      if (const auto between = steps.is_between(gap)) args.json("between steps", *between ? "true" : "false");
      write_mark(columns.lane_id(gap.lane), MarkTrack::kIdle, {0, 0, 0, gap.ts, end}, to_string(gap.cause), args);
    }
  }

 private:
  using DeviceRuns = std::map<std::uint32_t, MarkRuns>;

  static void add(DeviceRuns& runs, std::size_t open, std::uint32_t device, const MarkRun& kernel) {
    runs.try_emplace(device, open).first->second.add(kernel);
  }

  void find_runs() {
    const EventColumns& kernels = side_.workload_.events().kernels;
    const auto ts = kernels.int64s("ts");
    const auto dur = kernels.int64s("dur");
    const auto stream = kernels.ids("stream_id");
    const StepSet& steps = side_.workload_.steps();
    const LayerSet& layers = side_.workload_.layers();
    const KernelRoles& roles = side_.workload_.roles();
    for (const std::uint32_t row : side_.window_.kernels) {
      const std::uint32_t device = side_.tracks_.device_of(stream[row]);
      const std::uint32_t step = steps.of_kernel.empty() ? 0 : steps.of_kernel[row];
      const std::int32_t layer = layers.of_kernel.empty() ? kNoLayer : layers.of_kernel[row];
      const Role role = roles.of(row).role;
      MarkRun kernel{step, row, 1, ts[row], saturating_add(ts[row], duration_or_zero(dur[row]))};
      if (step != 0) add(steps_, kTakeTurns, device, kernel);
      kernel.key = std::uint64_t{step} << 32U | static_cast<std::uint32_t>(layer);
      if (layer != kNoLayer) add(layers_, kTakeTurns, device, kernel);
      kernel.key = static_cast<std::uint64_t>(role);
      // A kernel without a role ends a run.
      add(roles_, 1, device, kernel);
    }
    for (auto& [device, of_device] : roles_) {
      std::erase_if(of_device.runs,
                    [](const MarkRun& run) { return run.key == static_cast<std::uint64_t>(Role::kNone); });
    }
  }

  template <class Name>
  void write(MarkTrack track, const DeviceRuns& all, Name name) {
    for (const auto& [device, of_device] : all) {
      for (const MarkRun& run : of_device.runs) {
        write_mark(device, track, run, name(run), JsonMembers().number("kernels", run.kernels));
      }
    }
  }

  void write_mark(std::uint32_t device, MarkTrack track, const MarkRun& run, std::string_view name,
                  const JsonMembers& args) {
    const EventTrack place = side_.tracks_.mark(device, track, run.ts, run.end);
    side_.file_.events.slice({place, kMarkCategory, name, side_.shifted(run.ts), run.end - run.ts}, args);
  }

  SideWriter& side_;
  DeviceRuns steps_, layers_, roles_;
};

void SideWriter::write_marks() {
  Marks marks(*this);
  if (!window_.kernels.empty()) marks.write_kernel_marks();
  marks.write_idle();
}

}  // namespace tracedb
