#include "trace/issue.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::size_t kKind = 2;
constexpr std::size_t kMeaning = kKind + 1;

// An index stores the kind; its meaning is added here.
void add_meanings(Report& report) {
  for (Row& row : report.rows) {
    const auto* kind = std::get_if<std::string>(&row[kKind]);
    const IssueDescription* known = kind == nullptr ? nullptr : find_issue_kind(*kind);
    if (known != nullptr) row[kMeaning] = std::string(known->meaning);
  }
}

TraceReport issues(const Index& index) {
  TraceReport result{run_report(index.database(), "issues", {}), {}};
  add_meanings(result.report);
  if (result.report.rows.empty()) result.warnings.emplace_back("nothing was wrong with the trace");
  return result;
}

int run_issues(std::span<const std::string> args) {
  CommandLine line(kIssuesCommand, {OptionGroup::kRows, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  return run_trace_reports(line, "issues", issues);
}

}  // namespace

const Command kIssuesCommand = {"issues", "problems found in the trace, with counts", "issues [options] TRACE|INDEX...",
                                "  trace-query issues trace.json.gz", run_issues};

}  // namespace tracedb
