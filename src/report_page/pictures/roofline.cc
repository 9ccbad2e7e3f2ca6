// Matrix products by arithmetic intensity: what their shapes say they compute and move, against how long they took,
// below the peaks of the device. Bytes are those that must be moved at least: caches may move fewer, other kernels
// more.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/unknown.h"
#include "passes/work/device_peaks.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostPoints = 300;

// What one call of an operator computes and moves, by operator and shape; nothing where it is no product of matrices,
// or not all is known.
class Products {
 public:
  explicit Products(const Index& index)
      : name_(index),
        shape_(index,
               "SELECT coalesce(dims, ''), coalesce(types, ''), coalesce(strides, ''), coalesce(concrete_inputs, '') "
               "FROM op_shape WHERE id = ?") {}

  const OperatorWork* of(std::uint32_t name, std::uint32_t shape) {
    const auto [entry, is_new] = works_.try_emplace({name, shape});
    if (is_new) entry->second = find(name, shape);
    return entry->second ? &*entry->second : nullptr;
  }

 private:
  std::optional<OperatorWork> find(std::uint32_t name, std::uint32_t shape) {
    const std::string_view text = name_.of(name).value_or("");
    const Statement* const row = family_of(text) == WorkFamily::kGemm ? shape_.row(shape) : nullptr;
    if (row == nullptr) return std::nullopt;
    const auto arguments = read_arguments(row->text(0), row->text(1), row->text(2), row->text(3));
    OperatorWork work = work_of(text, arguments.list);
    const bool known = arguments.problem.empty() && work.flops.value_or(0) > 0 && work.bytes.value_or(0) > 0;
    return known ? std::optional(std::move(work)) : std::nullopt;
  }

  TextById name_, shape_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<OperatorWork>> works_;
};

struct PointSums {
  std::int64_t launches = 0, time = 0;
  const OperatorWork* work = nullptr;  // of a call
};

using PointKey = std::tuple<NameId, std::uint32_t, std::uint32_t>;  // kernel, operator, shape

// Kernels of matrix products in a group; of those of one call of an operator, the longest has its work.
std::map<PointKey, PointSums> points_of(const PictureGroupSide& side, Products& products, const Index& index) {
  const EventColumns operators(index, "cpu_op", {"name_id", "shape_id"});
  const auto names = operators.ids("name_id"), shapes = operators.ids("shape_id");
  const auto calls = side.trace.events.kernels.ids("cpu_op_id");
  const auto dur = side.trace.events.kernels.int64s("dur");
  std::map<std::uint32_t, std::uint32_t> longest;  // by operator call: row of kernel
  for (const std::uint32_t number : side.steps.device_steps) {
    for (const std::uint32_t row : side.trace.work.kernels(side.trace.work.steps[number])) {
      const std::uint32_t call = calls[row];
      if (call == 0 || call > names.size() || products.of(names[call - 1], shapes[call - 1]) == nullptr) continue;
      const auto [entry, is_new] = longest.try_emplace(call, row);
      if (!is_new && duration_or_zero(dur[row]) > duration_or_zero(dur[entry->second])) entry->second = row;
    }
  }
  std::map<PointKey, PointSums> out;
  const auto kernel_names = side.trace.events.kernels.ids("name_id");
  for (const auto& [call, row] : longest) {
    PointSums& sums = out[{side.trace.name(kernel_names[row]), names[call - 1], shapes[call - 1]}];
    ++sums.launches;
    sums.time = saturating_add(sums.time, duration_or_zero(dur[row]));
    sums.work = products.of(names[call - 1], shapes[call - 1]);
  }
  return out;
}

// What bounds each type of the points: operations and bytes a second. Types of one rate have one line.
std::map<double, std::string> roofs_of(const PictureInput& in, const DevicePeaks& peaks,
                                       const std::vector<std::pair<PointKey, PointSums>>& points) {
  std::set<std::pair<std::string, bool>> types;
  for (const auto& [key, sums] : points) {
    types.emplace(sums.work->type,
                  sums.work->type == "float" && says_tf32(in.kernel_names.entries()[std::get<0>(key)].name));
  }
  std::map<double, std::string> roofs;
  for (const auto& [type, tf32] : types) {
    const std::optional<double> rate = peaks.rate(WorkFamily::kGemm, type, tf32);
    if (!rate || !peaks.memory_gb_s) continue;
    std::string& names = roofs[*rate];
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", type, tf32 ? " (TF32)" : "");
  }
  return roofs;
}

std::optional<Picture> roofline(const PictureInput& in, const GroupComparison& group, std::size_t side_number,
                                Products& products) {
  const PictureGroupSide side = sides_of(in, group)[side_number];
  const auto found = points_of(side, products, *in.indexes[side_number]);
  std::vector<std::pair<PointKey, PointSums>> points(found.begin(), found.end());
  std::erase_if(points, [](const auto& point) { return point.second.time <= 0; });
  if (points.empty()) return std::nullopt;
  std::ranges::stable_sort(points, [](const auto& x, const auto& y) { return x.second.time > y.second.time; });
  const std::size_t all = points.size();
  points.resize(std::min(all, kMostPoints));
  NameList names, classes;
  DataWriter data;
  data.member("phase", phase_of(group)).key("points").open('[');
  for (const auto& [key, sums] : points) {
    const NameId name = std::get<0>(key);
    data.row(names.index_of(in.kernel(name)), classes.index_of(in.op(group, name)), *sums.work->flops,
             *sums.work->bytes, static_cast<double>(sums.time) / static_cast<double>(sums.launches), sums.launches);
  }
  data.close(']').member("names", names.names()).member("classes", classes.names());
  const DevicePeaks* peaks = peaks_of(*in.indexes[side_number], {});
  const auto roofs = peaks == nullptr ? std::map<double, std::string>() : roofs_of(in, *peaks, points);
  constexpr double kTera = 1e12, kGiga = 1e9;
  data.key("roofs").open('[');
  for (const auto& [rate, types] : roofs) data.row(types, rate * kTera, *peaks->memory_gb_s * kGiga);
  data.close(']');
  std::string note = "Matrix products whose shapes were recorded; what is read and written counts once.";
  if (!roofs.empty())
    note += fmt::format(" Lines: peaks of {}, dense, {}{}.", peaks->name, peaks->document,
                        peaks->kind == "unchecked" ? "; not compared with that document" : "");
  if (all > kMostPoints) note += fmt::format(" The {} that take most time.", kMostPoints);
  const std::string whose = in.compares() ? ": " + in.names[side_number] : "";
  return Picture{id_of("roofline", group) + (in.compares() ? (side_number == 0 ? "-a" : "-b") : ""), "roofline",
                 fmt::format("Matrix products of {}: work and speed{}", unit_words(in, group), whose), std::move(note),
                 data.take()};
}

}  // namespace

Pictures rooflines(const PictureInput& in) {
  Pictures out;
  for (std::size_t side = 0; side < in.traces.size(); ++side) {
    Products products(*in.indexes[side]);
    for (const GroupComparison& group : shown_groups(in)) {
      if (auto picture = roofline(in, group, side, products)) out.push_back(*std::move(picture));
    }
  }
  return out;
}

}  // namespace tracedb
