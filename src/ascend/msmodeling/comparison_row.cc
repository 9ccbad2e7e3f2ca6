#include "ascend/msmodeling/comparison_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/python/failure.h"
#include "base/python/number.h"

namespace tracedb::msmodeling {
namespace {

constexpr const char* kOnlyProfile = "TC未建模";
constexpr std::size_t kFunctionsShown = 3;

Number rounded(Number number) {
  if (number.is_float) number.value = python::round_to_tenths(number.value);
  return number;
}

double passes_of(const python::Value& passes) {
  using python::Kind;
  switch (passes.kind) {
    case Kind::kBool:
      return passes.flag ? 1 : 0;
    case Kind::kInt:
      return std::strtod(passes.text.c_str(), nullptr);
    case Kind::kFloat:
      return passes.number;
    default:
      throw python::failure(
          "TypeError", fmt::format("'>' not supported between instances of '{}' and 'int'", python::type_name(passes)));
  }
}

// total / passes of a float.
double divide(double total, double passes, const python::Value& given) {
  if (std::isinf(passes) && given.kind == python::Kind::kInt) {
    throw python::failure("OverflowError", "int too large to convert to float");
  }
  return total / passes;
}

// int(round(count))
double whole(double count) {
  if (std::isinf(count)) throw python::failure("OverflowError", "cannot convert float infinity to integer");
  return std::nearbyint(count);
}

Number percent_error(double model, double profile) {
  if (!(profile > 0)) return {};
  return {(model - profile) / profile * 100, true};
}

ComparisonRow row_of(const std::string& type, const ModelTotal* model, const ProfileTotal* profile,
                     const python::Value& given) {
  const double passes = passes_of(given);
  const bool divides = passes > 0;
  const double model_us = model == nullptr ? 0 : model->us;
  ComparisonRow row;
  row.kernel_type = type;
  row.model_count = model == nullptr ? 0 : model->hits + model->misses;
  row.status = model == nullptr ? kOnlyProfile : model->status();
  Number profile_us;
  double count = 0;
  if (divides) {
    profile_us = {profile == nullptr ? 0 : divide(profile->us, passes, given), true};
    count = profile == nullptr ? 0 : static_cast<double>(profile->count) / passes;
  }
  row.error_percent = rounded(percent_error(model_us, profile_us.value));
  row.count_error_percent = rounded(percent_error(static_cast<double>(row.model_count), count));
  row.model_us = rounded({model_us, model != nullptr});
  row.profile_us = rounded(profile_us);
  row.profile_count = whole(count);
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

// Where there is a key that is no number, "less than" is no order, and the result depends on how Python sorts: up to 63
// items by binary insertion behind the run they begin with. Descending, with equal ones in their order, is done on the
// reversed list.
void sort_with_nan(std::vector<ComparisonRow>& rows) {
  const auto less = [](const ComparisonRow& a, const ComparisonRow& b) { return sort_key(a) < sort_key(b); };
  std::reverse(rows.begin(), rows.end());
  std::size_t run = std::min<std::size_t>(rows.size(), 1);
  if (rows.size() > 1) {
    run = 2;
    const bool falls = less(rows[1], rows[0]);
    while (run < rows.size() && less(rows[run], rows[run - 1]) == falls) ++run;
    if (falls) std::reverse(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(run));
  }
  for (std::size_t i = run; i < rows.size(); ++i) {
    std::size_t low = 0;
    for (std::size_t high = i; low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (less(rows[i], rows[middle])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const auto at = [&](std::size_t n) { return rows.begin() + static_cast<std::ptrdiff_t>(n); };
    std::rotate(at(low), at(i), at(i + 1));
  }
  std::reverse(rows.begin(), rows.end());
}

void sort_rows(std::vector<ComparisonRow>& rows) {
  if (std::any_of(rows.begin(), rows.end(), [](const ComparisonRow& row) { return std::isnan(sort_key(row)); })) {
    return sort_with_nan(rows);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ComparisonRow& a, const ComparisonRow& b) { return sort_key(a) > sort_key(b); });
}

}  // namespace

std::vector<ComparisonRow> compare(const ModelTotals& model, const ProfileTotals& profile,
                                   const python::Value& passes) {
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
  sort_rows(rows);
  return rows;
}

}  // namespace tracedb::msmodeling
