// A performance model against a profile, kernel by kernel: what the model predicts well, badly or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ascend/model_side.h"
#include "ascend/profile_side.h"

namespace tracedb {

enum class ModelBy {
  kKernel,
  kShape,
  kSource,  // kernels by where the model has them from: MEASURED, INTERPOLATED, both, or by none
};

enum class ModelStatus {
  kHit,      // every operator was found among measurements
  kMiss,     // none was
  kPartial,  // some were
  kModelOnly,
  kProfileOnly,
};
std::string_view to_string(ModelStatus status);  // "HIT", ...

// One kernel, or one source. Times in ns. The profile's are those of one pass, the mean over its devices, and add up to
// the sum of all rows.
struct ModelRow : ModelFigures {
  OperatorKey key;      // by source: only the type, which is the source
  std::string sources;  // "INTERPOLATED+MEASURED"; empty: none
  ModelStatus status = ModelStatus::kProfileOnly;
  std::int64_t model_ns = 0, profile_ns = 0;
  std::int64_t model_count = 0;
  double profile_count = 0;
  std::optional<double> error_percent, count_error_percent;  // nullopt: nothing was measured
  std::vector<std::string> functions;                        // operators, those with most time first
};

struct ModelComparison {
  std::vector<ModelRow> rows;  // longest first, by the longer of both sides
  ModelRow total;              // of all rows; its key is empty
  std::optional<double> m6;    // measured time of the model per time of the profile
  double busy_ns = 0;          // of the profile, per pass and device
};

// `passes`: of the model that the profile holds; above 0.
ModelComparison compare_model(const ModelSide& model, const ProfileSide& profile, double passes, ModelBy by);

// Rows that are off by more than `percent`, or that one side lacks, among those that hold at least `least_share`
// percent of either side's time.
std::vector<const ModelRow*> rows_beyond(const ModelComparison& comparison, double percent, double least_share);

}  // namespace tracedb
