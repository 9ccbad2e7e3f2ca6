// A performance model against a profile, kernel by kernel: what the model predicts well, badly or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ascend/op_mapping.h"
#include "index/index.h"

namespace tracedb {

// What a performance model predicts: the slices of its trace, summed by the kernel each stands for.
//
// An operator may name its kernels in args.kernel_type (a hit); with several of them,
// args.sub_kernel_durations says how long each takes. What names none is a miss: the mapping says which kernel it is,
// else it is known by its own name.

// A kernel, told by its type, or by type and shapes of its inputs.
struct OperatorKey {
  std::string type;
  std::string shapes;  // "16,5120;5120,5120"; empty: not told apart, or unknown
  auto operator<=>(const OperatorKey&) const = default;
};

struct ModelFigures {
  std::int64_t hit_ns = 0, miss_ns = 0;
  std::int64_t hits = 0, misses = 0;
  // Of hit_ns: the trace gives one duration for several kernels, here in equal parts.
  std::int64_t estimated_ns = 0;
  // Of hits: collectives inside an all_reduce operator whose duration the trace does not give; 0 ns.
  std::int64_t untimed = 0;

  [[nodiscard]] std::int64_t ns() const { return hit_ns + miss_ns; }
  [[nodiscard]] std::int64_t count() const { return hits + misses; }
};

struct ModelTotal : ModelFigures {
  std::map<std::string, std::int64_t> functions;  // operators and their time
  std::set<std::string> sources;                  // args.source of hits: MEASURED, INTERPOLATED; "" of misses
};

struct ModelSide {
  std::string process;  // that was taken for the model's
  std::map<OperatorKey, ModelTotal> totals;
  std::int64_t events = 0;  // of that process, those below included
  std::int64_t zero_cost_events = 0, zero_cost_ns = 0;
  std::int64_t zero_duration_events = 0;  // models write whole microseconds: what takes less than half of one is 0
  std::int64_t unknown_duration_events = 0;
  std::int64_t unknown_process_events = 0;  // of devices, anywhere in the trace: not counted
  std::int64_t unreadable_parts = 0;        // args.sub_kernel_durations that are no list of names and durations
  std::int64_t residual_ns = 0;             // duration of operators minus that of their kernels, where both are given
  std::int64_t measured_ns = 0;             // of hits that were measured or interpolated, of any process: for M6
};

enum class KeyBy { kType, kTypeAndShapes };

struct ModelSideOptions {
  KeyBy key = KeyBy::kType;
  std::string process_pattern = "(?i)profiling|empirical";  // of its name; RE2
  std::optional<std::int64_t> pid;                          // the process, whatever its name
};

// Throws Error{kInput}: the trace has no slices; no process or several fit.
ModelSide read_model_side(const Index& index, const OpMapping& mapping, const ModelSideOptions& options);

// "[[16, 5120], [5120, 5120]]" and "\"16,5120;5120,5120\"" -> "16,5120;5120,5120"
std::string normalized_shapes(std::string_view text);

// The text of a JSON string, or of any other value as it stands; "" for null.
std::string text_of_json(std::string_view value);

// What a profile measured: its kernels, summed by type, and by shapes of the inputs where that is asked for.
//
// Some profiles have a collective twice, on a stream of the hardware and on one of the host's ("N/A"): duplicates count
// once, with the longer duration. Kernels of the AI CPU ("*AicpuKernel") work beside others and are left out. Figures
// are sums over devices.

enum class DuplicateRule {
  kWindow,    // start within a window, on another stream, and are not named as different ones; where the profile has no
              // streams: have the same start and duration
  kTruncate,  // start within the same microsecond, as msmodeling has it
  kName,      // have the same name and overlap in time
  kNone,      // are none
};

struct DuplicatePolicy {
  DuplicateRule rule = DuplicateRule::kWindow;
  std::int64_t window_ns = 500;
};
std::optional<DuplicatePolicy> duplicate_policy_from(
    std::string_view text);  // "window=500ns", "trunc-us", "name", "none"

struct ProfileTotal {
  std::int64_t ns = 0;
  std::int64_t count = 0;
};

struct ProfileSide {
  std::map<OperatorKey, ProfileTotal> totals;
  std::int64_t kernels = 0;  // rows of the profile, those below included
  std::int64_t duplicates = 0, duplicate_ns = 0;
  std::int64_t aicpu = 0, aicpu_ns = 0;
  std::int64_t unknown_durations = 0;  // counted with 0 ns
  // Length of the union of what is counted, device by device; nullopt: starts are not known.
  std::optional<std::int64_t> busy_ns = 0;
  std::int64_t devices = 0;  // whose work is in the totals, as is that of no known device
  // Left out: devices with less than 5 % of the time of the busiest one.
  std::int64_t idle_devices = 0, idle_device_ns = 0;
};

ProfileSide read_profile_side(const Index& index, KeyBy key, const DuplicatePolicy& policy);

// A profile that is a CSV table of kernels: kernel_details.csv and op_summary_*.csv of Ascend's profilers, told by
// their columns, not by their names. Read front to back, without an index.

// Whether the file begins with the heads of such a table. Throws Error{kInput} where it cannot be read.
bool is_profile_table(const std::filesystem::path& path);

struct ProfileTable {
  ProfileSide side;
  std::map<std::string, std::int64_t> problems;  // what was wrong with rows, and with how many
};
// Durations that are no number are unknown, as are starts; rows without type and name are skipped.
ProfileTable read_profile_table(const std::filesystem::path& path, KeyBy key, const DuplicatePolicy& policy);

enum class ModelBy {
  kKernel,
  kShape,
  kSource,  // kernels by where the model has them from: MEASURED, INTERPOLATED, both, or by none
};

enum class ModelStatus {
  kHit,      // every operator names its kernels
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
  std::vector<ModelRow> rows;     // longest first, by the longer of both sides
  ModelRow total;                 // of all rows; its key is empty
  std::optional<double> m6;       // measured time of the model per time of the profile
  std::optional<double> busy_ns;  // of the profile, per pass and device
};

// `passes`: of the model that the profile holds; above 0.
ModelComparison compare_model(const ModelSide& model, const ProfileSide& profile, double passes, ModelBy by);

// Rows that are off by more than `percent`, or that one side lacks, among those that hold at least `least_share`
// percent of either side's time.
std::vector<const ModelRow*> rows_beyond(const ModelComparison& comparison, double percent, double least_share);

}  // namespace tracedb
