#include "index/verify.h"

#include "index/validity.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

using Outcome = VerifyFinding::Outcome;

VerifyFinding check_source(const Index& index, const std::filesystem::path& source, const std::atomic<bool>* cancel) {
  const ValidityResult result = check_validity(index, source, Effort::kFullHash, cancel);
  switch (result.validity) {
    case Validity::kValid:
      return {"source", Outcome::kPassed, result.reason};
    case Validity::kStale:
      return {"source", Outcome::kFailed, result.reason};
    default:
      return {"source", Outcome::kNotChecked, result.reason};
  }
}

void check_integrity(const Index& index, std::vector<VerifyFinding>& findings) {
  Statement statement(index.database(), "PRAGMA integrity_check(20)");
  bool sound = false;
  while (statement.step()) {
    if (statement.text(0) == "ok") {
      sound = true;
    } else {
      findings.push_back({"integrity", Outcome::kFailed, std::string(statement.text(0))});
    }
  }
  if (sound) findings.push_back({"integrity", Outcome::kPassed, "the file is structurally sound"});
}

// reports/verify.sql yields (check, ok, detail): one row for every check.
void check_numbers(const Index& index, std::vector<VerifyFinding>& findings) {
  Statement statement(index.database(), script("reports/verify"));
  while (statement.step()) {
    const Outcome outcome = statement.int64(1) != 0 ? Outcome::kPassed : Outcome::kFailed;
    findings.push_back({std::string(statement.text(0)), outcome, std::string(statement.text(2))});
  }
}

}  // namespace

std::string_view to_string(VerifyFinding::Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "FAILED";
    case Outcome::kNotChecked:
      return "not checked";
  }
  return "";
}

std::vector<VerifyFinding> verify(const Index& index, const std::filesystem::path& source,
                                  const std::atomic<bool>* cancel) {
  std::vector<VerifyFinding> findings;
  check_integrity(index, findings);
  if (findings.back().outcome == Outcome::kFailed) return findings;  // numbers of a broken file mean nothing
  findings.push_back(check_source(index, source, cancel));
  check_numbers(index, findings);
  return findings;
}

}  // namespace tracedb
