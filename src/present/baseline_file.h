// A baseline's figures in a file of some kilobytes, to be kept with the code and compared with later traces:
// compare --save-baseline and --baseline-file. JSON, "tracedb.baseline/1":
//
//   {"schema", "trace", "devices", "kinds": [{"kind", "steps", "requests", "tokens",
//     "samples": {"span": [ns of each step], "busy": [...], "period": [...], "kernel_time": [...], "op norm": [...]}}]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/step_samples.h"
#include "present/set_sections.h"
#include "sql/database.h"

namespace tracedb {

std::string to_json(const StepSamples& samples);

// `database`: any, for its JSON functions. Error{kInput} for a file that is not one.
StepSamples read_baseline_file(Database& database, const std::filesystem::path& path);

// The runs of a set, to be judged with later ones: JSON, "tracedb.baseline_set/1":
//
//   {"schema", "runs": [{"name", "gpu", "date_ns", "trace", "hash", "ranks": [what each rank's steps take,
//   roll_up.h]}]}
std::string to_json(const std::vector<NamedRun>& runs);
bool is_baseline_set(const std::filesystem::path& path);  // false also where it cannot be read
// Error{kInput} for a file that is none, or that another version wrote.
std::vector<NamedRun> read_baseline_set(const std::filesystem::path& path);

}  // namespace tracedb
