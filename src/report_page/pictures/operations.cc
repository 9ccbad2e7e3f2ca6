// Kernel time by class and, within a class, by kernel.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostKernels = 80;

struct KernelSums {
  OpId op = 0;
  std::string name;
  WorkSum sides[2];
  double weight = 0;  // ns per unit, of all sides
};

std::vector<KernelSums> kernel_sums(const PictureInput& in, const GroupComparison& group) {
  std::map<NameId, KernelSums> by_name;
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const WorkCell& cell : sides[side].work.cells) {
      KernelSums& sums = by_name[cell.name];
      sums.sides[side].add(cell.sum);
      sums.weight += static_cast<double>(cell.sum.time) / static_cast<double>(sides[side].units);
    }
  }
  std::vector<KernelSums> out;
  for (auto& [name, sums] : by_name) {
    const KernelNameEntry& entry = in.kernel_names.entries()[name];
    sums.op = group.levels.op_of(name, in.kernel_names);
    sums.name = entry.short_name.empty() ? entry.name : entry.short_name;
    out.push_back(std::move(sums));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const KernelSums& x, const KernelSums& y) { return x.weight > y.weight; });
  return out;
}

// Those beyond the most that are shown become one of each class.
void sum_up_others(std::vector<KernelSums>& kernels) {
  std::map<OpId, KernelSums> others;
  for (std::size_t i = kMostKernels; i < kernels.size(); ++i) {
    KernelSums& sums = others[kernels[i].op];
    sums.op = kernels[i].op;
    sums.name = "[others]";
    for (std::size_t side = 0; side < 2; ++side) sums.sides[side].add(kernels[i].sides[side]);
  }
  kernels.resize(std::min(kernels.size(), kMostKernels));
  for (auto& [op, sums] : others) kernels.push_back(std::move(sums));
}

Picture operations(const PictureInput& in, const GroupComparison& group) {
  std::vector<KernelSums> kernels = kernel_sums(in, group);
  const std::size_t shown = std::min(kernels.size(), kMostKernels), all = kernels.size();
  sum_up_others(kernels);
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  std::vector<SharedOut> times;
  for (const PictureGroupSide& side : sides) times.emplace_back(side.units);
  NameList classes, names;
  DataWriter data;
  data.member("phase", phase_of(group)).member("per", unit_words(in, group)).key("rows").open('[');
  for (const KernelSums& kernel : kernels) {
    data.open('[').number(classes.index_of(in.kernel_names.op_name(kernel.op))).number(names.index_of(kernel.name));
    for (std::size_t side = 0; side < sides.size(); ++side) data.number(times[side].next(kernel.sides[side].time));
    for (std::size_t side = 0; side < sides.size(); ++side) {
      data.real(static_cast<double>(kernel.sides[side].n) / static_cast<double>(sides[side].units));
    }
    data.close(']');
  }
  data.close(']').list("classes", classes.names()).list("names", names.names());
  std::string note = "Sums of durations: kernels that run at once count twice.";
  if (!in.compares()) note += " Shares are of the kernel time of a step.";
  if (all > shown) note += fmt::format(" {} smaller kernels are in [others] of their class.", all - shown);
  return {id_of("operations", group), "operations",
          fmt::format("Kernel time of {} by operation", unit_words(in, group)), std::move(note), data.take()};
}

}  // namespace

Pictures operation_pictures(const PictureInput& in) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) out.push_back(operations(in, group));
  return out;
}

}  // namespace tracedb
