#include "index/verify.h"

#include <algorithm>

#include "base/error.h"
#include "fleet/catalogue.h"
#include "index/locate.h"
#include "index/validity.h"
#include "ingest/formats.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/limits.h"
#include "trace_query/open.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

using Outcome = VerifyFinding::Outcome;

Report as_report(const std::vector<VerifyFinding>& findings) {
  Report report{declared_columns("verify"), {}};
  for (const VerifyFinding& finding : findings) {
    report.rows.push_back({finding.check, std::string(to_string(finding.outcome)), finding.detail});
  }
  return report;
}

// A trace means the index beside it or in the cache, valid or not: that is what is verified.
std::filesystem::path index_of(const std::filesystem::path& given) {
  const FileKind kind = file_kind(given);
  if (kind == FileKind::kOtherSqlite) refuse_unreadable(given);
  if ((kind != FileKind::kNotSqlite && kind != FileKind::kOtherSqlite) || given.extension() == kIndexSuffix)
    return given;
  if (auto own = index_of_trace(given, cache_directory()); !own.empty()) return own;
  const auto candidates = index_candidates(given, cache_directory());
  if (!candidates.empty()) return candidates.front();
  refuse_unreadable(given);
  throw Error(ErrorCode::kInput, given.string() + ": has no index; make one with trace-ingest");
}

std::vector<VerifyFinding> verify_input(const std::string& input) {
  const std::filesystem::path path = index_of(input);
  const Index index = Index::open(path);
  run_limits::watch(index.database());
  const std::filesystem::path source = path == input ? source_of(index) : std::filesystem::path(input);
  return verify(index, source, run_limits::time_is_up());
}

int run_verify(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kOutput, OptionGroup::kFiles});
  if (!line.parse(args)) return 0;
  Output output(line);
  bool failed = false;
  InputLoop loop(line.inputs());
  for (const std::string& input : line.inputs()) {
    std::vector<VerifyFinding> findings;
    if (!loop.attempt(input, [&] { findings = verify_input(input); })) continue;
    failed =
        failed || std::ranges::any_of(findings, [](const VerifyFinding& f) { return f.outcome == Outcome::kFailed; });
    output.add("verify", input, {as_report(findings), {}});
  }
  if (loop.any_answered()) output.finish();
  if (loop.exit_code() != 0) return loop.exit_code();
  return failed ? static_cast<int>(ErrorCode::kAnswerIsNo) : 0;
}

}  // namespace

Command verify_command() {
  return {"verify",
          "check an index: structure, its trace by full hash, and that its numbers add up; exit code 1 if not",
          "verify [options] TRACE|INDEX...",
          "  trace-query verify trace.json.gz.tracedb",
          run_verify,
          {},
          [](std::string_view name) -> std::vector<ReportShape> {
            return {{name, "verify", "", false, declared_columns("verify")}};
          }};
}

}  // namespace tracedb
