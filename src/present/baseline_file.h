// A baseline's figures in a file of some kilobytes, to be kept with the code and compared with later traces:
// compare --save-baseline and --baseline-file. JSON, "tracedb.baseline/1":
//
//   {"schema", "trace", "devices", "kinds": [{"kind", "steps", "requests", "tokens",
//     "samples": {"span": [ns of each step], "busy": [...], "period": [...], "kernel_time": [...], "op norm": [...]}}]}
#pragma once

#include <filesystem>
#include <string>

#include "compare/step_samples.h"
#include "sql/database.h"

namespace tracedb {

std::string to_json(const StepSamples& samples);

// `database`: any, for its JSON functions. Error{kInput} for a file that is not one.
StepSamples read_baseline_file(Database& database, const std::filesystem::path& path);

}  // namespace tracedb
