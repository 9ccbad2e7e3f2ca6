// Kernel time of a step by layer and operation class.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostClasses = 14, kMostLayers = 400;

struct LayerOrder {
  bool operator()(std::int32_t a, std::int32_t b) const { return comes_before(a, b); }
};
using LayerTimes = std::map<std::int32_t, std::map<OpId, std::int64_t>, LayerOrder>;

LayerTimes layer_times(const PictureInput& in, const GroupComparison& group, const PictureGroupSide& side) {
  LayerTimes out;
  for (const WorkCell& cell : side.work.cells) {
    out[cell.layer][group.levels.op_of(cell.name, in.kernel_names)] += cell.sum.time;
  }
  return out;
}

// The classes that take most time in layers; the others are one.
std::vector<OpId> largest_classes(const std::vector<LayerTimes>& sides) {
  std::map<OpId, double> times;
  for (const LayerTimes& layers : sides) {
    for (const auto& [layer, classes] : layers) {
      for (const auto& [op, time] : classes) times[op] += layer == kNoLayer ? 0 : static_cast<double>(time);
    }
  }
  std::vector<std::pair<double, OpId>> order;
  for (const auto& [op, time] : times) order.emplace_back(-time, op);
  std::sort(order.begin(), order.end());
  std::vector<OpId> out;
  for (const auto& [time, op] : order) {
    if (out.size() < kMostClasses) out.push_back(op);
  }
  return out;
}

void add_side(DataWriter& data, const LayerTimes& layers, const std::vector<OpId>& classes,
              const PictureGroupSide& side) {
  SharedOut times(side.units);
  const std::size_t shown = std::min(layers.size(), kMostLayers);
  data.open('{').key("layers").open('[');
  std::size_t n = 0;
  for (const auto& [layer, own] : layers) {
    if (n++ < shown) data.text(layer_label(layer, side.trace.layers.stacks));
  }
  data.close(']').key("ns").open('[');
  n = 0;
  for (const auto& [layer, own] : layers) {
    if (n++ == shown) break;
    std::int64_t rest = 0;
    for (const auto& [op, time] : own) rest += time;
    data.open('[');
    for (const OpId op : classes) {
      const auto found = own.find(op);
      const std::int64_t time = found == own.end() ? 0 : found->second;
      data.number(times.next(time));
      rest -= time;
    }
    data.number(times.next(rest)).close(']');
  }
  std::int64_t kernels = 0;
  for (const WorkCell& cell : side.work.cells) kernels += cell.sum.n;
  data.close(']').key("count").real(static_cast<double>(kernels) / static_cast<double>(side.units)).close('}');
}

std::optional<Picture> layers_of_group(const PictureInput& in, const GroupComparison& group) {
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  std::vector<LayerTimes> times;
  bool any = false;
  std::size_t most = 0;
  for (const PictureGroupSide& side : sides) {
    times.push_back(layer_times(in, group, side));
    most = std::max(most, times.back().size());
    any = any || std::any_of(times.back().begin(), times.back().end(), [](const auto& one) { return one.first >= 0; });
  }
  if (!any) return std::nullopt;
  const std::vector<OpId> classes = largest_classes(times);
  std::vector<std::string> names;
  for (const OpId op : classes) names.push_back(in.kernel_names.op_name(op));
  names.emplace_back("[others]");
  DataWriter data;
  data.member("phase", phase_of(group)).list("classes", names).key("sides").open('[');
  for (std::size_t i = 0; i < sides.size(); ++i) add_side(data, times[i], classes, sides[i]);
  data.close(']');
  std::string note = "Sums of durations, the mean of a step; with head and tail they are its whole kernel time.";
  if (most > kMostLayers)
    note = fmt::format("Sums of durations, the mean of a step; the first {} layers.", kMostLayers);
  return Picture{id_of("layers", group), "layers", fmt::format("Layers of {}", unit_words(in, group)), std::move(note),
                 data.take()};
}

}  // namespace

Pictures layer_pictures(const PictureInput& in) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) {
    if (auto picture = layers_of_group(in, group)) out.push_back(*std::move(picture));
  }
  return out;
}

}  // namespace tracedb
