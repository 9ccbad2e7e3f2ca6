// An issue log as text that can be compared, whatever the order in which the kinds came up.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace/issue.h"

namespace tracedb {

inline std::string issue_lines(const IssueLog& log) {
  std::vector<std::string> lines;
  for (const Issue& issue : log.issues()) {
    lines.push_back(fmt::format("{} x{} @{} {}\n", describe(issue.kind).name, issue.count, issue.offset, issue.sample));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace tracedb
