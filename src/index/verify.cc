#include "index/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/failure.h"
#include "base/text/amounts.h"
#include "index/packed_columns.h"
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
  Statement statement(index.database(), script("verify"));
  while (statement.step()) {
    const Outcome outcome = statement.int64(1) != 0 ? Outcome::kPassed : Outcome::kFailed;
    findings.push_back({std::string(statement.text(0)), outcome, std::string(statement.text(2))});
  }
}

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// What is wrong with the packed copy of a column; empty: nothing.
std::string packed_fault(const Index& index, std::string_view table, const ScanColumn& column) {
  const std::span<const ScanColumn> wanted(&column, 1);
  bool equal = false;
  const std::optional<Error> failure = catch_error([&] {
    const ScannedColumns copy = read_columns(index.database(), table, wanted);
    const ScannedColumns own = scan_columns(index.database(), table, wanted);
    equal = same(copy.columns[0].numbers.span(), own.columns[0].numbers.span()) &&
            same(copy.columns[0].ids.span(), own.columns[0].ids.span());
  });
  if (failure) return failure->what();
  return equal ? "" : fmt::format("the packed copy of {}.{} is not as in the table", table, column.name);
}

// Reports read the packed copies of columns, where there are some: they must be the columns.
void check_packed_columns(const Index& index, std::vector<VerifyFinding>& findings) {
  int sound = 0;
  int faults = 0;
  for (const PackedTable& table : packed_tables()) {
    for (const ScanColumn& column : table.columns) {
      if (!is_packed(index.database(), table.name, column.name)) continue;
      std::string fault = packed_fault(index, table.name, column);
      ++(fault.empty() ? sound : faults);
      if (!fault.empty()) findings.push_back({"columns", Outcome::kFailed, std::move(fault)});
    }
  }
  if (faults == 0)
    findings.push_back({"columns", Outcome::kPassed, counted(sound, "packed column") + " as in the table"});
}

}  // namespace

std::string_view to_string(VerifyFinding::Outcome outcome) {
  constexpr std::string_view kNames[] = {"passed", "FAILED", "not checked"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::vector<VerifyFinding> verify(const Index& index, const std::filesystem::path& source,
                                  const std::atomic<bool>* cancel) {
  std::vector<VerifyFinding> findings;
  check_integrity(index, findings);
  if (findings.back().outcome == Outcome::kFailed) return findings;  // numbers of a broken file mean nothing
  findings.push_back(check_source(index, source, cancel));
  check_numbers(index, findings);
  check_packed_columns(index, findings);
  return findings;
}

}  // namespace tracedb
