#include "ascend/msmodeling/comparison_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text/decimal.h"

namespace tracedb::msmodeling {
namespace {

constexpr const char* kOnlyProfile = "TC未建模";
constexpr std::size_t kFunctionsShown = 3;

// round(number, 1): the correctly rounded decimal of the exact binary value, ties to even.
Number rounded(Number number) {
  if (number.is_float) number.value = parse_double(fmt::format("{:.1f}", number.value)).value_or(number.value);
  return number;
}

Number percent_error(double model, double profile) {
  if (!(profile > 0)) return {};
  return {(model - profile) / profile * 100, true};
}

ComparisonRow row_of(const std::string& type, const ModelTotal* model, const ProfileTotal* profile, double passes) {
  const bool divides = passes > 0;
  const double model_us = model == nullptr ? 0 : model->us;
  ComparisonRow row;
  row.kernel_type = type;
  row.model_count = model == nullptr ? 0 : model->hits + model->misses;
  row.status = model == nullptr ? kOnlyProfile : model->status();
  Number profile_us;
  double count = 0;
  if (divides) {
    profile_us = {profile == nullptr ? 0 : profile->us / passes, true};
    count = profile == nullptr ? 0 : static_cast<double>(profile->count) / passes;
  }
  row.error_percent = rounded(percent_error(model_us, profile_us.value));
  row.count_error_percent = rounded(percent_error(static_cast<double>(row.model_count), count));
  row.model_us = rounded({model_us, model != nullptr});
  row.profile_us = rounded(profile_us);
  row.profile_count = std::nearbyint(count);
  if (model == nullptr) return row;
  for (std::size_t i = 0; i < std::min(kFunctionsShown, model->functions.size()); ++i) {
    row.functions += (i == 0 ? "" : ", ") + model->functions[i];
  }
  return row;
}

// max(a, b)
double sort_key(const ComparisonRow& row) {
  return row.profile_us.value > row.model_us.value ? row.profile_us.value : row.model_us.value;
}

}  // namespace

std::vector<ComparisonRow> compare(const ModelTotals& model, const ProfileTotals& profile, double passes) {
  std::set<std::string> types;
  for (const auto& [type, total] : model) types.insert(type);
  for (const auto& [type, total] : profile) types.insert(type);
  std::vector<ComparisonRow> rows;
  for (const std::string& type : types) {
    const auto modelled = model.find(type);
    const auto measured = profile.find(type);
    rows.push_back(row_of(type, modelled == model.end() ? nullptr : &modelled->second,
                          measured == profile.end() ? nullptr : &measured->second, passes));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ComparisonRow& a, const ComparisonRow& b) { return sort_key(a) > sort_key(b); });
  return rows;
}

}  // namespace tracedb::msmodeling
