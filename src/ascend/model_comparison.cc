#include "ascend/model_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoSource = "[no measurement]";
constexpr std::string_view kNotModelled = "[not modelled]";

std::string joined_sources(const ModelTotal& total) {
  std::string out;
  for (const std::string& source : total.sources) {
    if (!source.empty()) out += (out.empty() ? "" : "+") + source;
  }
  return out;
}

// What a row is summed from.
struct Sums {
  ModelTotal model;
  ProfileTotal profile;
};

void add(const ModelTotal& more, ModelTotal& sum) {
  sum.hit_ns = saturating_add(sum.hit_ns, more.hit_ns);
  sum.miss_ns = saturating_add(sum.miss_ns, more.miss_ns);
  sum.hits += more.hits;
  sum.misses += more.misses;
  sum.estimated_ns = saturating_add(sum.estimated_ns, more.estimated_ns);
  sum.untimed += more.untimed;
  sum.sources.insert(more.sources.begin(), more.sources.end());
  for (const auto& [function, ns] : more.functions) {
    std::int64_t& own = sum.functions[function];
    own = saturating_add(own, ns);
  }
}

void add(const ProfileTotal& more, ProfileTotal& sum) {
  sum.ns = saturating_add(sum.ns, more.ns);
  sum.count += more.count;
}

using Groups = std::map<OperatorKey, Sums>;

Groups join(const ModelSide& model, const ProfileSide& profile) {
  Groups groups;
  for (const auto& [key, total] : model.totals) add(total, groups[key].model);
  for (const auto& [key, total] : profile.totals) add(total, groups[key].profile);
  return groups;
}

Groups by_source(const Groups& kernels) {
  Groups groups;
  for (const auto& [key, sums] : kernels) {
    std::string source = joined_sources(sums.model);
    if (source.empty()) source = sums.model.count() == 0 ? kNotModelled : kNoSource;
    Sums& group = groups[{std::move(source), {}}];
    add(sums.model, group.model);
    add(sums.profile, group.profile);
  }
  return groups;
}

ModelStatus status_of(const Sums& sums) {
  if (sums.model.count() == 0) return ModelStatus::kProfileOnly;
  if (sums.profile.count == 0) return ModelStatus::kModelOnly;
  if (sums.model.misses == 0) return ModelStatus::kHit;
  return sums.model.hits == 0 ? ModelStatus::kMiss : ModelStatus::kPartial;
}

std::optional<double> error(double model, double profile) {
  if (!(profile > 0)) return std::nullopt;
  return (model - profile) / profile * 100;
}

std::vector<std::string> longest_first(const std::map<std::string, std::int64_t>& functions) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [function, ns] : functions) order.emplace_back(-ns, function);
  std::ranges::sort(order);
  std::vector<std::string> out;
  for (auto& [ns, function] : order) out.push_back(std::move(function));
  return out;
}

ModelRow row_of(const OperatorKey& key, const Sums& sums, double passes) {
  ModelRow row;
  static_cast<ModelFigures&>(row) = sums.model;
  row.key = key;
  row.sources = joined_sources(sums.model);
  row.status = status_of(sums);
  row.model_ns = sums.model.ns();
  row.profile_ns = std::llround(static_cast<double>(sums.profile.ns) / passes);
  row.model_count = sums.model.count();
  row.profile_count = static_cast<double>(sums.profile.count) / passes;
  row.error_percent = error(static_cast<double>(row.model_ns), static_cast<double>(sums.profile.ns) / passes);
  row.count_error_percent = error(static_cast<double>(row.model_count), row.profile_count);
  row.functions = longest_first(sums.model.functions);
  return row;
}

}  // namespace

std::string_view to_string(ModelStatus status) {
  constexpr std::string_view kNames[] = {"HIT", "MISS", "PARTIAL", "MODEL_ONLY", "PROFILE_ONLY"};
  return kNames[static_cast<std::size_t>(status)];
}

ModelComparison compare_model(const ModelSide& model, const ProfileSide& profile, double passes, ModelBy by) {
  passes *= static_cast<double>(std::max<std::int64_t>(profile.devices, 1));  // of one device
  Groups groups = join(model, profile);
  if (by == ModelBy::kSource) groups = by_source(groups);
  ModelComparison out;
  Sums all;
  for (const auto& [key, sums] : groups) {
    out.rows.push_back(row_of(key, sums, passes));
    // Rounded so that the rows add up to the rounded sum.
    const auto before = std::llround(static_cast<double>(all.profile.ns) / passes);
    add(sums.model, all.model);
    add(sums.profile, all.profile);
    out.rows.back().profile_ns = std::llround(static_cast<double>(all.profile.ns) / passes) - before;
  }
  out.total = row_of({}, all, passes);
  out.busy_ns = static_cast<double>(profile.busy_ns) / passes;
  if (all.profile.ns > 0) {
    out.m6 = static_cast<double>(model.measured_ns) / (static_cast<double>(all.profile.ns) / passes);
  }
  std::ranges::stable_sort(out.rows, [](const ModelRow& a, const ModelRow& b) {
    return std::max(a.model_ns, a.profile_ns) > std::max(b.model_ns, b.profile_ns);
  });
  return out;
}

std::vector<const ModelRow*> rows_beyond(const ModelComparison& comparison, double percent, double least_share) {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::vector<const ModelRow*> out;
  const auto consider = [&](const ModelRow& row) {
    const double larger =
        std::max(share(row.model_ns, comparison.total.model_ns), share(row.profile_ns, comparison.total.profile_ns));
    const bool lacks_time = row.model_ns == 0 && row.profile_ns == 0;
    const bool is_off = row.error_percent ? std::abs(*row.error_percent) > percent : !lacks_time;
    if (is_off && larger >= least_share) out.push_back(&row);
  };
  for (const ModelRow& row : comparison.rows) consider(row);
  if (!comparison.rows.empty()) consider(comparison.total);
  return out;
}

}  // namespace tracedb
