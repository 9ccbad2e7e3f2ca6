#include "trace/issue.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::size_t kCount = 1, kKind = 2;
constexpr std::size_t kMeaning = kKind + 1;

// An index stores the kind; what it means is added here.
void add_meanings(Report& report) {
  for (Row& row : report.rows) {
    const auto* kind = std::get_if<std::string>(&row[kKind]);
    const IssueDescription* known = kind == nullptr ? nullptr : find_issue_kind(*kind);
    const auto* count = std::get_if<std::int64_t>(&row[kCount]);
    if (known != nullptr && count != nullptr)
      row[kMeaning] = issue_sentence(known->kind, static_cast<std::uint64_t>(*count)).text;
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
