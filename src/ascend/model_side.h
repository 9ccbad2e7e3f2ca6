// What a performance model predicts: the slices of its trace, summed by the kernel each stands for.
//
// An operator that was found among measurements names its kernels in args.kernel_type (a hit); with several of them,
// args.sub_kernel_durations says how long each takes. What names none is a miss: the mapping says which kernel it is,
// else it is known by its own name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "ascend/op_mapping.h"
#include "index/index.h"

namespace tracedb {

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
  std::int64_t unreadable_parts = 0;  // args.sub_kernel_durations that are no list of names and durations
  std::int64_t residual_ns = 0;       // duration of operators minus that of their kernels, where both are given
  std::int64_t measured_ns = 0;       // of hits that were measured or interpolated, of any process: for M6
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

}  // namespace tracedb
