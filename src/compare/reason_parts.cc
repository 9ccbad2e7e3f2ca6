#include "compare/reason_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>

#include "base/statistics.h"
#include "passes/layers/stack_table.h"
#include "trace/display_name.h"

namespace tracedb {
namespace {

constexpr double kFewLayers = 0.25;     // of all: most that can be named
constexpr double kVeryFew = 0.1;        // most that can be named beside a change of all
constexpr double kBeyondOthers = 0.5;   // of the time of such a layer: least that it is beyond the others
constexpr double kBeyond = 6;           // median absolute deviations that a layer is away from the others
constexpr double kMostInLayers = 0.5;   // of the change in layers: least that is beyond the others in those named
constexpr double kAlone = 10;           // times the change of the other of two layers
constexpr double kLeastOfLayer = 0.01;  // of the lesser time of a layer: least that it moved
constexpr double kBeyondNoise = 0.1;    // of the time of a layer: least that it moved against others
constexpr double kOtherwise = 0.25;     // by which the ratio of head or tail differs from that of the layers
constexpr double kAddsUp = 0.02;        // of a change: most by which its roles may miss it
constexpr double kLittle = 0.1;         // of a change: least that a role is named for, or a layer counts for
constexpr std::size_t kMostRoles = 3;

double size(const LayerPart& part) { return static_cast<double>(part.change.change); }

// Of the layer's lesser time, or of the other where that is none.
double share(const LayerPart& part) {
  const auto [less, more] = std::minmax(part.change.baseline, part.change.candidate);
  return more > 0 ? std::abs(size(part)) / (less > 0 ? less : more) : 0;
}

// Takes parts out of `rest` into a reason of their own.
Reason take(Reason& rest, PlaceKind kind, const std::vector<LayerPart>& parts) {
  Reason own = rest;
  own.place = {kind, {}, 0, 0};
  static_cast<CountedChange&>(own) = {};
  own.whole_row = rest.whole_row = false;
  own.interval.reset();
  for (const LayerPart& part : parts) {
    own.add(part);
    rest.change.add(part.change, -1);
    if (kind == PlaceKind::kLayers) own.place.layers.push_back(part.layer);
  }
  rest.baseline_n -= own.baseline_n;
  rest.candidate_n -= own.candidate_n;
  rest.interval.reset();
  std::ranges::sort(own.place.layers);
  return own;
}

// Of two layers, the one that has nearly all of the change.
std::vector<LayerPart> one_of_two(const std::vector<LayerPart>& layers) {
  const double a = std::abs(size(layers[0])), b = std::abs(size(layers[1]));
  if (std::max(a, b) < kAlone * std::min(a, b) || a == b) return {};
  return {layers[a > b ? 0 : 1]};
}

// Layers that changed much otherwise than most, in one direction; none where they are many.
std::vector<LayerPart> standing_out(const std::vector<LayerPart>& layers) {
  if (layers.size() < 2) return {};
  if (layers.size() == 2) return one_of_two(layers);
  std::vector<double> changes, distances;
  for (const LayerPart& layer : layers) changes.push_back(size(layer));
  std::vector<double> sorted = changes;
  const double middle = median(std::span(sorted));
  for (const double change : changes) distances.push_back(std::abs(change - middle));
  const double spread = median(std::span(distances));
  std::vector<LayerPart> slower, faster;
  double more = 0, less = 0;
  for (const LayerPart& layer : layers) {
    const double beyond = size(layer) - middle;
    const double least =
        std::max(kBeyond * spread, kBeyondNoise * std::max(layer.change.baseline, layer.change.candidate));
    if (std::abs(beyond) <= least) continue;
    (beyond > 0 ? slower : faster).push_back(layer);
    (beyond > 0 ? more : less) += std::abs(beyond);
  }
  std::vector<LayerPart>& most = more >= less ? slower : faster;
  double all = 0;
  for (const double change : changes) all += change;
  // A change of all layers, of some more: these are named only where they are very few and differ much.
  const bool alone =
      static_cast<double>(most.size()) <= std::max(1.0, kVeryFew * static_cast<double>(layers.size())) &&
      std::ranges::all_of(most, [&](const LayerPart& layer) {
        return std::abs(size(layer) - middle) > kBeyondOthers * std::max(layer.change.baseline, layer.change.candidate);
      });
  if (std::max(more, less) < kMostInLayers * std::abs(all) && !alone) most.clear();
  const double few = std::max(1.0, kFewLayers * static_cast<double>(layers.size()));
  if (static_cast<double>(most.size()) > few) most.clear();
  return most;
}

double total(const std::vector<LayerPart>& parts) {
  double sum = 0;
  for (const LayerPart& part : parts) sum += size(part);
  return sum;
}

// Whether all that a layer runs moved as one of its parts did, beyond how steps differ.
bool surely_moved(const GroupComparison& group, const LayerPart& part) {
  const auto times = [&](const GroupWork& work) {
    const auto found = work.layer_times.find(part.layer);
    return found == work.layer_times.end() ? std::span<const std::int64_t>() : std::span(found->second);
  };
  const auto a = times(group.baseline), b = times(group.candidate);
  if (std::min(a.size(), b.size()) < kLeastSteps) return false;
  const auto [low, high] = difference_interval(draw_means(a), draw_means(b));
  return size(part) > 0 ? low > 0 : high < 0;
}

// Layers that moved against each other, each surely: those that got faster, and slower, by `least` each; else none.
std::vector<std::vector<LayerPart>> opposed(const GroupComparison& group, const std::vector<LayerPart>& layers,
                                            double least) {
  std::vector<std::vector<LayerPart>> out(2);
  for (const LayerPart& layer : layers) {
    if (std::abs(size(layer)) > kBeyondNoise * std::max(layer.change.baseline, layer.change.candidate))
      out[size(layer) > 0 ? 1 : 0].push_back(layer);
  }
  const auto is_small = [&](const auto& way) { return std::abs(total(way)) < least; };
  if (std::ranges::any_of(out, is_small)) return {};
  for (auto& way : out) std::erase_if(way, [&](const LayerPart& layer) { return !surely_moved(group, layer); });
  return std::ranges::any_of(out, is_small) ? std::vector<std::vector<LayerPart>>() : out;
}

// Of head or tail: in the other direction than the layers, or by another factor.
bool otherwise(const LedgerChange& own, const LedgerChange& layers) {
  if (own.baseline <= 0 || own.candidate <= 0 || layers.baseline <= 0 || layers.candidate <= 0) return true;
  const double ratio = (own.candidate / own.baseline) / (layers.candidate / layers.baseline);
  return std::abs(std::log(ratio)) > std::log1p(kOtherwise);
}

// How many layers of a row changed as it does, and not next to nothing of what one of them did.
void count_layers(Reason& reason, const std::vector<LayerPart>& layers) {
  double most = 0;
  for (const LayerPart& layer : layers) most = std::max(most, share(layer));
  for (const LayerPart& layer : layers) {
    if (layer.change.baseline <= 0 && layer.change.candidate <= 0) continue;
    ++reason.place.compared;
    const double least = std::max(kLeastOfLayer, kLittle * most);
    if ((size(layer) > 0) == (reason.change.change > 0) && share(layer) >= least) ++reason.place.moved;
  }
  if (reason.place.compared > 0) reason.place.kind = PlaceKind::kLayers;
}

// Of a row that only one place around the layers has.
void name_only_place(Reason& reason, const std::vector<LayerPart>& around) {
  if (around.size() != 1 || around[0].layer == kNoLayer) return;
  reason.place.kind = around[0].layer == kHead ? PlaceKind::kStepHead : PlaceKind::kStepTail;
}

bool is_at(const Place& place, std::int32_t layer, bool anywhere) {
  if (place.kind == PlaceKind::kStepHead) return layer == kHead;
  if (place.kind == PlaceKind::kStepTail) return layer == kTail;
  if (!place.layers.empty()) return std::ranges::find(place.layers, layer) != place.layers.end();
  return anywhere || layer >= 0;
}

// Changes of an operation by role, kernels without a role included; in layers only, or wherever its place allows.
std::map<Role, RoleChange> role_sums(const GroupComparison& group, const KernelNameTable& kernel_names,
                                     const Reason& reason, bool anywhere) {
  std::map<Role, RoleChange> sums;
  const auto add_side = [&](const GroupWork& work, double units) {
    for (const WorkCell& cell : work.cells) {
      if (cell.work != Work::kCompute || !is_at(reason.place, cell.layer, anywhere)) continue;
      if (kernel_names.op_name(group.levels.op_of(cell.name, kernel_names)) != reason.op) continue;
      const Role role = group.role_levels.of(cell.role);
      RoleChange& own = sums[role];
      const double time = static_cast<double>(cell.sum.accounted(cell.work)) / units;
      own.role = role;
      own.change += time;
      own.time += std::abs(time);
    }
  };
  add_side(group.candidate, static_cast<double>(group.candidate_units));
  add_side(group.baseline, -static_cast<double>(group.baseline_units));
  return sums;
}

bool adds_up(const std::map<Role, RoleChange>& sums, double change) {
  double sum = 0;
  for (const auto& [role, part] : sums) sum += part.change;
  return std::abs(sum - change) <= kAddsUp * std::abs(change);
}

constexpr std::size_t kMostNamed = 3;

using Layers = std::map<std::int32_t, LayerPart>;

// By which members are told apart: what both traces have and tells most of what moved against each other.
enum class Level { kRoleAndOperator, kOperator, kRole, kKernel };

std::string member_of(Level level, Role role, const WorkCell& cell, const KernelNameTable& kernel_names) {
  if (level == Level::kKernel) return display_name(kernel_names.entries()[cell.name].name);
  const std::string own(role == Role::kNone || level == Level::kOperator ? "" : to_string(role));
  std::string_view launcher = level == Level::kRole ? "" : cell.launcher;
  if (launcher.starts_with("aten::")) launcher.remove_prefix(6);
  return own.empty() || launcher.empty() ? own + std::string(launcher) : fmt::format("{} {}", own, launcher);
}

// Of the kernels of an operation, by member and layer; ns and kernels per unit.
std::map<std::string, Layers> members_by(Level level, const GroupComparison& group, const std::string& op,
                                         const KernelNameTable& kernel_names) {
  std::map<std::string, Layers> members;
  for (const bool candidate : {false, true}) {
    const double per_unit = candidate ? group.candidate_per_unit(1) : group.baseline_per_unit(1);
    for (const WorkCell& cell : (candidate ? group.candidate : group.baseline).cells) {
      if (cell.work != Work::kCompute) continue;
      if (kernel_names.op_name(group.levels.op_of(cell.name, kernel_names)) != op) continue;
      LayerPart& to = members[member_of(level, group.role_levels.of(cell.role), cell, kernel_names)][cell.layer];
      to.layer = cell.layer;
      (candidate ? to.change.candidate : to.change.baseline) +=
          per_unit * static_cast<double>(cell.sum.accounted(cell.work));
      (candidate ? to.candidate_n : to.baseline_n) += per_unit * static_cast<double>(cell.sum.n);
    }
  }
  for (auto& [name, layers] : members) {
    for (auto& [layer, part] : layers)
      part.change.change = part.change.duration_effect = std::llround(part.change.candidate - part.change.baseline);
  }
  return members;
}

CountedChange sum_of(const Layers& layers) {
  CountedChange sum;
  for (const auto& [layer, part] : layers) sum.add(part);
  return sum;
}

// The members that moved one way, as one part.
struct Direction {
  CountedChange sum;
  Layers layers;
  std::size_t members = 0;
  std::vector<std::pair<std::int64_t, std::string>> names;  // of those that moved by as much as a reason needs
};

MemberPart part_of(const Reason& whole, Direction direction) {
  MemberPart out{whole, {}};
  std::sort(direction.names.rbegin(), direction.names.rend());
  for (std::size_t i = 0; i < std::min(kMostNamed, direction.names.size()); ++i)
    out.reason.member += (i == 0 ? "" : ", ") + direction.names[i].second;
  if (direction.members > std::min(kMostNamed, direction.names.size())) out.reason.member += " and others";
  static_cast<CountedChange&>(out.reason) = direction.sum;
  out.reason.whole_row = false;
  out.reason.interval.reset();
  for (const auto& [layer, part] : direction.layers) out.layers.push_back(part);
  return out;
}

}  // namespace

std::vector<RoleChange> changes_by_role(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& reason) {
  const auto change = static_cast<double>(reason.change.change);
  std::map<Role, RoleChange> sums = role_sums(group, kernel_names, reason, true);
  if (!adds_up(sums, change)) sums = role_sums(group, kernel_names, reason, false);
  if (!adds_up(sums, change)) return {};
  std::vector<RoleChange> roles;
  double explained = 0;
  for (const auto& [role, part] : sums) {
    if (role == Role::kNone || part.change / change < kLittle) continue;
    roles.push_back(part);
  }
  std::ranges::stable_sort(
      roles, [](const RoleChange& x, const RoleChange& y) { return std::abs(x.change) > std::abs(y.change); });
  if (roles.size() > kMostRoles) roles.resize(kMostRoles);
  for (const RoleChange& role : roles) explained += role.change;
  // Roles are parts of the change: no more of them are named, and none where one as large as those would be left out.
  while (!roles.empty() && explained / change > 1 + kAddsUp) {
    const double last = roles.back().change;
    roles.pop_back();
    explained -= last;
    if (last / change >= kMostInLayers) return {};
  }
  return explained / change < kMostInLayers ? std::vector<RoleChange>() : roles;
}

std::vector<Reason> split_by_place(const GroupComparison& group, const Reason& whole,
                                   const std::vector<LayerPart>& parts, double least) {
  std::vector<Reason> out;
  Reason rest = whole;
  std::vector<LayerPart> layers, around;
  for (const LayerPart& part : parts) (part.layer >= 0 ? layers : around).push_back(part);
  LedgerChange of_layers;
  for (const LayerPart& layer : layers) of_layers.add(layer.change);
  const bool as_many = whole.baseline_n == whole.candidate_n;
  for (const LayerPart& part : around) {
    // As many kernels as before, some of them at another place: none is new or gone.
    if (as_many && part.baseline_n != part.candidate_n) continue;
    if (part.layer == kNoLayer || layers.empty() || std::abs(size(part)) < least) continue;
    if (!otherwise(part.change, of_layers)) continue;
    out.push_back(take(rest, part.layer == kHead ? PlaceKind::kStepHead : PlaceKind::kStepTail, {part}));
  }
  std::vector<std::vector<LayerPart>> apart = {standing_out(layers)};
  if (apart[0].empty() && whole.cause == Cause::kOperation) apart = opposed(group, layers, least);
  // What only one side runs is one reason, however many of it a layer has.
  if (whole.baseline_n <= 0 || whole.candidate_n <= 0) apart.clear();
  for (const std::vector<LayerPart>& few : apart) {
    if (few.empty() || std::abs(total(few)) < least) continue;
    out.push_back(take(rest, PlaceKind::kLayers, few));
    std::erase_if(layers, [&](const LayerPart& layer) {
      return std::ranges::any_of(few, [&](const LayerPart& own) { return own.layer == layer.layer; });
    });
  }
  count_layers(rest, layers);
  if (layers.empty()) name_only_place(rest, around);
  out.push_back(std::move(rest));
  return out;
}

Reason all_kernels(const LedgerAccount& account) {
  Reason out;
  out.whole_row = false;
  for (const LedgerItem& item : account.items) {
    if (item.of_step) continue;
    out.add(item);
  }
  return out;
}

std::vector<MemberPart> split_by_member(const GroupComparison& group, const KernelNameTable& kernel_names,
                                        const Reason& whole, double least) {
  std::vector<MemberPart> parts;
  double told = 0;  // of what moved, either way
  for (const Level level : {Level::kRoleAndOperator, Level::kOperator, Level::kRole, Level::kKernel}) {
    Direction slower, faster;
    bool in_both = true;
    for (const auto& [name, layers] : members_by(level, group, whole.op, kernel_names)) {
      const CountedChange sum = sum_of(layers);
      if (sum.change.change == 0) continue;
      Direction& to = sum.change.change > 0 ? slower : faster;
      const std::int64_t size = std::abs(sum.change.change);
      if (static_cast<double>(size) >= least) {
        in_both = in_both && !name.empty() && sum.baseline_n > 0 && sum.candidate_n > 0;
        to.names.emplace_back(size, name);
      }
      to.sum.add(sum);
      ++to.members;
      for (const auto& [layer, part] : layers)
        to.layers.try_emplace(layer, LayerPart{{}, layer}).first->second.add(part);
    }
    // What rounding misses of the row, or what a fusion has of it.
    const std::int64_t rest = whole.change.change - slower.sum.change.change - faster.sum.change.change;
    if (!in_both || slower.names.empty() || faster.names.empty() || 2 * std::abs(static_cast<double>(rest)) > least)
      continue;
    // Another level must tell more than the one before, of which members may hold what moved against each other.
    const auto moved = static_cast<double>(slower.sum.change.change - faster.sum.change.change);
    if (moved < told + least) continue;
    told = moved;
    faster.sum.change.change += rest;
    faster.sum.change.duration_effect += rest;
    parts = {part_of(whole, std::move(slower)), part_of(whole, std::move(faster))};
    if (!group.alignment.by_layer) parts[0].layers = parts[1].layers = {};
  }
  return parts;
}

}  // namespace tracedb
