// One row of the comparison: a kernel type of the model, the profile or both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ascend/msmodeling/model_totals.h"
#include "ascend/msmodeling/profile_totals.h"

namespace tracedb::msmodeling {

// A Python number: a zero that was never computed is an int.
struct Number {
  double value = 0;
  bool is_float = false;
};

struct ComparisonRow {
  std::string kernel_type;
  std::string functions;
  Number model_us;
  std::int64_t model_count = 0;
  Number profile_us;
  double profile_count = 0;  // a whole number
  Number error_percent;
  Number count_error_percent;
  std::string status;
};

// `passes`: n_forward_passes of the m6 file. Longest first.
std::vector<ComparisonRow> compare(const ModelTotals& model, const ProfileTotals& profile, double passes);

}  // namespace tracedb::msmodeling
