// Matrix products by arithmetic intensity: what their shapes say they compute and move, against how long they took. The
// bytes are those of both operands and of the result, each once; caches may move fewer, other kernels move more.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/unknown.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostPoints = 300;

// What one call of an operator computes and moves.
struct ProductWork {
  double flops = 0, bytes = 0;
};

// By operator and shape.
using Products = std::map<std::pair<std::uint32_t, std::uint32_t>, ProductWork>;

Products products_of(const Index& index) {
  Products out;
  Statement rows(index.database(), script("pictures/matrix_products"));
  while (rows.step()) {
    const double batch = rows.real(2), m = rows.real(3), n = rows.real(4), k = rows.real(5), size = rows.real(6);
    if (batch <= 0 || m <= 0 || n <= 0 || k <= 0) continue;
    out[{rows.id(0), rows.id(1)}] = {2 * batch * m * n * k, batch * size * (m * k + k * n + m * n)};
  }
  return out;
}

struct PointSums {
  std::int64_t launches = 0, time = 0;
  double flops = 0, bytes = 0;
};

using PointKey = std::tuple<NameId, std::uint32_t, std::uint32_t>;  // kernel, operator, shape

// Kernels of matrix products in a group; of those of one call of an operator, the longest has its work.
std::map<PointKey, PointSums> points_of(const PictureGroupSide& side, const Products& products, const Index& index) {
  const EventColumns operators(index, "cpu_op", {"name_id", "shape_id"});
  const auto names = operators.ids("name_id"), shapes = operators.ids("shape_id");
  const auto calls = side.trace.events.kernels.ids("cpu_op_id");
  const auto dur = side.trace.events.kernels.int64s("dur");
  std::map<std::uint32_t, std::uint32_t> longest;  // by operator call: row of kernel
  for (const std::uint32_t number : side.steps.device_steps) {
    const DeviceStep& step = side.trace.work.steps[number];
    for (std::size_t i = step.begin; i < step.end; ++i) {
      const std::uint32_t row = side.trace.work.kernel_rows[i], call = calls[row];
      if (call == 0 || call > names.size() || !products.contains({names[call - 1], shapes[call - 1]})) continue;
      const auto [entry, is_new] = longest.try_emplace(call, row);
      if (!is_new && duration_or_zero(dur[row]) > duration_or_zero(dur[entry->second])) entry->second = row;
    }
  }
  std::map<PointKey, PointSums> out;
  const auto kernel_names = side.trace.events.kernels.ids("name_id");
  for (const auto& [call, row] : longest) {
    const ProductWork& work = products.at({names[call - 1], shapes[call - 1]});
    PointSums& sums = out[{side.trace.name(kernel_names[row]), names[call - 1], shapes[call - 1]}];
    ++sums.launches;
    sums.time = saturating_add(sums.time, duration_or_zero(dur[row]));
    sums.flops = work.flops;
    sums.bytes = work.bytes;
  }
  return out;
}

std::optional<Picture> roofline(const PictureInput& in, const GroupComparison& group, std::size_t side_number,
                                const Products& products) {
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
    data.row(names.index_of(in.kernel(name)), classes.index_of(in.op(group, name)), sums.flops, sums.bytes,
             static_cast<double>(sums.time) / static_cast<double>(sums.launches), sums.launches);
  }
  data.close(']').member("names", names.names()).member("classes", classes.names());
  std::string note = "Matrix products whose shapes were recorded; operands and result count once each.";
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
    const Products products = products_of(*in.indexes[side]);
    if (products.empty()) continue;
    for (const GroupComparison& group : shown_groups(in)) {
      if (auto picture = roofline(in, group, side, products)) out.push_back(*std::move(picture));
    }
  }
  return out;
}

}  // namespace tracedb
