// Pictures of what a comparison sums up: the account of time, how long steps take, layers and operations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text/amounts.h"
#include "base/text/sentence.h"
#include "compare/ledger.h"
#include "report_page/html/safe_text.h"
#include "report_page/pictures/picture.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostRows = 16;

std::string_view class_of(LedgerKind kind) {
  switch (kind) {
    case LedgerKind::kOperation:
    case LedgerKind::kConcurrent:
      return "compute";
    case LedgerKind::kFusion:
      return "fusion";
    case LedgerKind::kComm:
      return "comm";
    case LedgerKind::kIdle:
    case LedgerKind::kBetween:
      return "idle";
    default:
      return "other";
  }
}

std::string detail_of(const PictureInput& in, const LedgerItem& item) {
  if (!in.compares()) {
    constexpr double kInFull = 1000;  // from there on without a fraction
    return item.candidate_n >= kInFull ? say("", "kernels: {n:count}", {{"n", item.candidate_n}}).text
           : item.candidate_n > 0      ? fmt::format("kernels: {:.4g}", item.candidate_n)
                                       : "";
  }
  return fmt::format("{} -> {}; by count {}, by time {}", brief_time(item.change.baseline),
                     brief_time(item.change.candidate), signed_time(static_cast<double>(item.change.count_effect)),
                     signed_time(static_cast<double>(item.change.duration_effect)));
}

// The account of the change (compare/ledger.h) as steps from one side's time to the other's; of one trace, from nothing
// to the time of a step.
Picture waterfall(const PictureInput& in, const GroupComparison& group) {
  const LedgerAccount account = ledger_of(group, in.kernel_names, LedgerBy::kOp);
  const LedgerItem& total = account.totals[group.has_period() ? 1 : 0];
  const std::int64_t start = std::llround(total.change.baseline);
  const std::string& measure = total.op;  // "[span]", "[period]"
  DataWriter data;
  data.member("unit", "ns").member("phase", phase_of(group));
  data.key("start").open('{').member("label", in.compares() ? in.names[0] : "0").member("value", start).close('}');
  const auto add_row = [&](std::string_view label, std::int64_t value, std::string_view kind, std::string_view detail) {
    data.open('{').member("label", label).member("value", value).member("class", kind).member("detail", detail);
    data.close('}');
  };
  data.key("rows").open('[');
  std::int64_t rest = total.change.change;
  std::size_t rows = 0;
  for (const LedgerItem& item : account.items) {
    if (item.change.change == 0 || rows == kMostRows || item.kind == LedgerKind::kRare) continue;
    add_row(item.op, item.change.change, class_of(item.kind), detail_of(in, item));
    rest -= item.change.change;
    ++rows;
  }
  if (rest != 0) add_row("[others]", rest, "rest", fmt::format("{} more rows", account.items.size() - rows));
  const std::string what = measure.substr(1, measure.size() - 2);
  data.close(']').key("end").open('{').member("label", in.compares() ? in.names.back() : what);
  data.member("value", start + total.change.change).close('}');
  std::string title = in.compares() ? fmt::format("What changes the {} of {}", what, unit_words(in, group))
                                    : fmt::format("What the {} of {} is made of", what, unit_words(in, group));
  std::string note = in.compares() ? "Means; the rows add up to the change to the nanosecond. Communication and copies "
                                     "count where nothing computes at the same time."
                                   : "Means; the rows add up to the whole. Communication and copies count where "
                                     "nothing computes at the same time.";
  return {id_of("waterfall", group), "waterfall", std::move(title), std::move(note), data.take()};
}

constexpr std::size_t kMostValues = 2000;

// As many of the sorted values, evenly by rank, the least and the largest among them.
std::vector<std::int64_t> shown_values(const std::vector<std::int64_t>& sorted) {
  std::vector<std::int64_t> out(std::min(sorted.size(), kMostValues));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = sorted[out.size() < 2 ? 0 : i * (sorted.size() - 1) / (out.size() - 1)];
  }
  return out;
}

// How long the steps of a kind take: every step, the mean, and its 95 % interval.
std::optional<Picture> distribution(const PictureInput& in, const GroupComparison& group) {
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  const StepMetric metric = group.has_period() ? StepMetric::kPeriod : StepMetric::kSpan;
  std::size_t most = 0;
  DataWriter data;
  data.member("phase", phase_of(group)).member("measure", to_string(metric)).key("sides").open('[');
  for (const PictureGroupSide& side : sides) {
    auto values = step_sample(side.trace.work, side.steps.device_steps, metric, side.trace.periods.within_kind);
    std::ranges::sort(values);
    const MeanDraws draws = draw_means(values);
    most = std::max(most, values.size());
    data.open('{').member("values", shown_values(values));
    data.member("mean", values.empty() ? std::nullopt : std::optional(std::llround(draws.mean)));
    const Interval of_mean = difference_interval({}, draws);
    for (const auto& [name, end] : {std::pair("low", of_mean.low), std::pair("high", of_mean.high)}) {
      data.member(name, values.size() < kLeastSteps ? std::nullopt : std::optional(std::llround(end)));
    }
    data.member("count", values.size()).close('}');
  }
  data.close(']');
  if (most < 2) return std::nullopt;
  const bool period = metric == StepMetric::kPeriod;
  std::string note = period ? "Period: from the start of a step to the start of the next of its kind, on the device."
                            : "Span: from the first start to the last end of the work of a step, on the device.";
  if (most > kMostValues) note += fmt::format(" {} values of each side are shown, evenly by rank.", kMostValues);
  return Picture{id_of("distribution", group), "distribution",
                 fmt::format("How long {} takes: {}", unit_words(in, group), to_string(metric)), std::move(note),
                 data.take()};
}

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
  std::ranges::sort(order);
  std::vector<OpId> out;
  for (const auto& [time, op] : order) {
    if (out.size() < kMostClasses) out.push_back(op);
  }
  return out;
}

void add_side(DataWriter& data, const LayerTimes& layers, const std::vector<OpId>& classes,
              const PictureGroupSide& side) {
  SharedOut times(side.units);
  std::vector<std::string> labels;
  std::vector<std::vector<std::int64_t>> ns;
  for (const auto& [layer, own] : layers) {
    if (labels.size() == kMostLayers) break;
    labels.push_back(layer_label(layer, side.trace.layers.stacks));
    std::vector<std::int64_t>& row = ns.emplace_back();
    std::int64_t rest = 0;
    for (const auto& [op, time] : own) rest += time;
    for (const OpId op : classes) {
      const auto found = own.find(op);
      const std::int64_t time = found == own.end() ? 0 : found->second;
      row.push_back(times.next(time));
      rest -= time;
    }
    row.push_back(times.next(rest));
  }
  std::int64_t kernels = 0;
  for (const WorkCell& cell : side.work.cells) kernels += cell.sum.n;
  data.open('{').member("layers", labels).member("ns", ns);
  data.member("count", static_cast<double>(kernels) / static_cast<double>(side.units)).close('}');
}

// Kernel time of a step by layer and operation class.
std::optional<Picture> layers_of_group(const PictureInput& in, const GroupComparison& group) {
  const std::vector<PictureGroupSide> sides = sides_of(in, group);
  std::vector<LayerTimes> times;
  bool any = false;
  std::size_t most = 0;
  for (const PictureGroupSide& side : sides) {
    times.push_back(layer_times(in, group, side));
    most = std::max(most, times.back().size());
    any = any || std::ranges::any_of(times.back(), [](const auto& one) { return one.first >= 0; });
  }
  if (!any) return std::nullopt;
  const std::vector<OpId> classes = largest_classes(times);
  std::vector<std::string> names;
  for (const OpId op : classes) names.push_back(in.kernel_names.op_name(op));
  names.emplace_back("[others]");
  DataWriter data;
  data.member("phase", phase_of(group)).member("classes", names).key("sides").open('[');
  for (std::size_t i = 0; i < sides.size(); ++i) add_side(data, times[i], classes, sides[i]);
  data.close(']');
  std::string note = "Sums of durations, the mean of a step; with head and tail they are its whole kernel time.";
  if (most > kMostLayers)
    note = fmt::format("Sums of durations, the mean of a step; the first {} layers.", kMostLayers);
  return Picture{id_of("layers", group), "layers", fmt::format("Layers of {}", unit_words(in, group)), std::move(note),
                 data.take()};
}

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
    sums.op = group.levels.op_of(name, in.kernel_names);
    sums.name = in.kernel(name);
    out.push_back(std::move(sums));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &KernelSums::weight);
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

// Kernel time by class and, within a class, by kernel.
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
    data.open('[').value(classes.index_of(in.kernel_names.op_name(kernel.op))).value(names.index_of(kernel.name));
    for (std::size_t side = 0; side < sides.size(); ++side) data.value(times[side].next(kernel.sides[side].time));
    for (std::size_t side = 0; side < sides.size(); ++side) {
      data.value(static_cast<double>(kernel.sides[side].n) / static_cast<double>(sides[side].units));
    }
    data.close(']');
  }
  data.close(']').member("classes", classes.names()).member("names", names.names());
  std::string note = "Sums of durations: kernels that run at once count twice.";
  if (!in.compares()) note += " Shares are of the kernel time of a step.";
  if (all > shown) note += fmt::format(" {} smaller kernels are in [others] of their class.", all - shown);
  return {id_of("operations", group), "operations",
          fmt::format("Kernel time of {} by operation", unit_words(in, group)), std::move(note), data.take()};
}

}  // namespace

Pictures waterfalls(const PictureInput& in) {
  return of_groups(in, [&](const GroupComparison& group) { return std::optional(waterfall(in, group)); });
}

Pictures distributions(const PictureInput& in) {
  return of_groups(in, [&](const GroupComparison& group) {
    return group.group.whole_trace ? std::nullopt : distribution(in, group);
  });
}

Pictures layer_pictures(const PictureInput& in) {
  return of_groups(in, [&](const GroupComparison& group) { return layers_of_group(in, group); });
}

Pictures operation_pictures(const PictureInput& in) {
  return of_groups(in, [&](const GroupComparison& group) { return std::optional(operations(in, group)); });
}

}  // namespace tracedb
