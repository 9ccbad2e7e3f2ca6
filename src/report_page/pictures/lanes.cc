// The kernels of one layer as they ran in one step, on each side; of a comparison, with the pairs of its alignment.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "compare/align/layer_templates.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostKernelsOfLane = 400;
constexpr std::size_t kLookedAt = 50;  // steps of one trace among which the usual order of kernels is found

// Kernels of one step, by the place that data has them.
class LaneKernels {
 public:
  LaneKernels(const PictureInput& in, const GroupComparison& group, const ComparedTrace& trace)
      : in_(in), group_(group), trace_(trace), ts_(trace.events.kernels.int64s("ts")) {}

  // A kernel and the row that is an example of it.
  void add(std::uint32_t row) { rows_.push_back(row); }

  // Keeps those of the step that most are of, in order of time.
  void choose_step() {
    std::map<std::uint32_t, std::size_t> steps;
    for (const std::uint32_t row : rows_) ++steps[step_of(row)];
    const auto most = std::ranges::max_element(steps, {}, [](const auto& one) { return one.second; });
    if (most == steps.end()) return;
    std::erase_if(rows_, [&](std::uint32_t row) { return step_of(row) != most->first; });
    std::ranges::sort(rows_);
    for (std::size_t i = 0; i < rows_.size(); ++i) place_[rows_[i]] = i;
  }

  [[nodiscard]] std::optional<std::size_t> place(std::uint32_t row) const {
    const auto found = place_.find(row);
    return found == place_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  // From all kernels of the step, since the order of a layer decides.
  void find_roles() {
    for (const DeviceStep& step : trace_.work.steps) {
      const auto rows = trace_.work.kernels(step);
      if (!rows_.empty() && std::ranges::binary_search(rows, rows_.front())) roles_ = in_.roles_of(rows);
    }
  }

  void write(DataWriter& data) const {
    const auto dur = trace_.events.kernels.int64s("dur");
    const auto names = trace_.events.kernels.ids("name_id");
    const auto streams = trace_.events.kernels.ids("stream_id");
    data.open('{').key("kernels").open('[');
    for (const std::uint32_t row : rows_) {
      const NameId name = trace_.name(names[row]);
      const Role role = (in_.compares() ? trace_.roles : roles_).of(row).role;
      data.open('{').member("name", in_.kernel(name)).member("class", in_.op(group_, name));
      data.member("role", role == Role::kNone ? std::nullopt : std::optional(to_string(role)));
      data.member("start", ts_[row] - ts_[rows_.front()]).member("dur", duration_or_zero(dur[row]));
      data.member("stream", streams[row]).close('}');
    }
    data.close(']').close('}');
  }

 private:
  [[nodiscard]] std::uint32_t step_of(std::uint32_t row) const {
    return row < trace_.steps.of_kernel.size() ? trace_.steps.of_kernel[row] : 0;
  }

  const PictureInput& in_;
  const GroupComparison& group_;
  const ComparedTrace& trace_;
  std::span<const std::int64_t> ts_;
  std::vector<std::uint32_t> rows_;
  std::map<std::uint32_t, std::size_t> place_;
  KernelRoles roles_;
};

// One band between the sides.
struct LaneLink {
  std::vector<std::size_t> a, b;
  std::string_view kind = "same";
  std::optional<double> confidence;  // percent
};

std::vector<LaneLink> links_of(const GroupComparison& group, const AlignedSegment& segment, const LaneKernels& a,
                               const LaneKernels& b) {
  std::vector<LaneLink> out;
  std::map<std::int32_t, LaneLink> fused;
  const auto add = [](std::vector<std::size_t>& to, const LaneKernels& lanes, const PairSide& side) {
    const auto place = side.n > 0 ? lanes.place(side.example) : std::nullopt;
    if (place) to.push_back(*place);
  };
  for (const KernelPair& pair : segment.pairs) {
    const std::int32_t fusion = std::max(pair.baseline.fusion, pair.candidate.fusion);
    LaneLink own;
    if (!pair.has_both()) own.kind = "only";
    if (pair.has_both() && pair.baseline.name != pair.candidate.name) own.kind = "replaced";
    LaneLink& link = fusion >= 0 ? fused[fusion] : own;
    add(link.a, a, pair.baseline);
    add(link.b, b, pair.candidate);
    if (fusion < 0 && (!link.a.empty() || !link.b.empty())) out.push_back(std::move(own));
  }
  for (auto& [fusion, link] : fused) {
    if (link.a.empty() && link.b.empty()) continue;
    link.kind = "fused";
    link.confidence = 100 * group.fusions[static_cast<std::size_t>(fusion)].confidence;
    out.push_back(std::move(link));
  }
  return out;
}

// Of the kernels of the first of some layers that have the same ones.
Picture lane_picture(const PictureInput& in, const GroupComparison& group, const std::vector<std::int32_t>& layers,
                     std::initializer_list<const LaneKernels*> sides, const std::vector<LaneLink>& links) {
  const LayerStacks& stacks = in.traces.front()->layers.stacks;
  const std::string layer = layer_label(layers.front(), stacks);
  DataWriter data;
  data.member("phase", phase_of(group)).member("layer", layer).key("sides").open('[');
  for (const LaneKernels* side : sides) side->write(data);
  data.close(']').key("links").open('[');
  for (const LaneLink& link : links) {
    data.open('{').member("a", link.a).member("b", link.b).member("kind", link.kind);
    data.member("confidence", link.confidence).close('}');
  }
  data.close(']');
  return {
      id_of("lanes", group), "lanes", fmt::format("One layer of {}, kernel by kernel", unit_words(in, group)),
      fmt::format("Layer {} as it ran in one step, to scale; it stands for layers {}, which have the same kernels.{}",
                  layer, layers_label(layers, stacks),
                  in.compares() ? " Bands join kernels that do the same work; brackets are fusions." : ""),
      data.take()};
}

// The layers that take most time and have the same kernels.
const AlignedSegment* largest_segment(const GroupAlignment& alignment) {
  const AlignedSegment* out = nullptr;
  std::int64_t most = 0;
  for (const AlignedSegment& segment : alignment.segments) {
    if (segment.layers.empty() || segment.layers.front() < 0) continue;
    std::int64_t time = 0;
    for (const KernelPair& pair : segment.pairs) time += pair.baseline.time / 2 + pair.candidate.time / 2;
    if (time > most) out = &segment;
    most = std::max(most, time);
  }
  return out;
}

std::optional<Picture> compared_lanes(const PictureInput& in, const GroupComparison& group) {
  const AlignedSegment* segment = group.alignment.by_layer ? largest_segment(group.alignment) : nullptr;
  if (segment == nullptr) return std::nullopt;
  LaneKernels a(in, group, *in.traces[0]), b(in, group, *in.traces[1]);
  for (const KernelPair& pair : segment->pairs) {
    if (pair.baseline.n > 0) a.add(pair.baseline.example);
    if (pair.candidate.n > 0) b.add(pair.candidate.example);
  }
  a.choose_step();
  b.choose_step();
  if (std::max(a.size(), b.size()) > kMostKernelsOfLane) return std::nullopt;
  return lane_picture(in, group, segment->layers, {&a, &b}, links_of(group, *segment, a, b));
}

std::optional<Picture> lanes_of_one(const PictureInput& in, const GroupComparison& group) {
  const PictureGroupSide side = sides_of(in, group).front();
  GroupSide some = side.steps;
  some.device_steps.resize(std::min(some.device_steps.size(), kLookedAt));
  const LayerTemplates templates = layer_templates(side.trace, some, in.kernel_names, false);
  // Layers with the same names, and the time of all of them.
  std::map<std::vector<NameId>, std::pair<std::int64_t, std::vector<std::int32_t>>> alike;
  for (const auto& [layer, of] : templates) {
    if (layer < 0) continue;
    std::vector<NameId> names;
    for (const TemplateKernel& kernel : of.kernels) names.push_back(kernel.name);
    auto& entry = alike[std::move(names)];
    entry.first += of.time;
    entry.second.push_back(layer);
  }
  const auto most = std::ranges::max_element(alike, [](const auto& x, const auto& y) {
    return std::pair(x.second.first, y.second.second) < std::pair(y.second.first, x.second.second);
  });
  if (most == alike.end() || most->first.size() > kMostKernelsOfLane) return std::nullopt;
  const std::vector<std::int32_t>& layers = most->second.second;
  LaneKernels kernels(in, group, side.trace);
  for (const TemplateKernel& kernel : templates.at(layers.front()).kernels) kernels.add(kernel.example);
  kernels.choose_step();
  if (in.roles_of) kernels.find_roles();
  return lane_picture(in, group, layers, {&kernels}, {});
}

}  // namespace

Pictures lane_pictures(const PictureInput& in) {
  return of_groups(in, [&](const GroupComparison& group) {
    return in.compares() ? compared_lanes(in, group) : lanes_of_one(in, group);
  });
}

}  // namespace tracedb
