// The slow, complete check of an index: its structure, its trace by full hash, whether its numbers add up, and whether
// packed columns equal their tables.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "index/index.h"

namespace tracedb {

struct VerifyFinding {
  enum class Outcome { kPassed, kFailed, kNotChecked };
  std::string check;  // integrity, source, conservation, rows, totals, references, flows, columns
  Outcome outcome;
  std::string detail;
};

std::string_view to_string(VerifyFinding::Outcome outcome);

// One finding per check at least; several kFailed ones for a check that fails in several places (at most 20 each).
// `source` may be empty: not checked against a trace. Error{kInterrupted} once `cancel` (may be null) is true.
std::vector<VerifyFinding> verify(const Index& index, const std::filesystem::path& source,
                                  const std::atomic<bool>* cancel = nullptr);

}  // namespace tracedb
