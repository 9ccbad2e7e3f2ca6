#include "index/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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
  const Outcome outcome = result.validity == Validity::kValid   ? Outcome::kPassed
                          : result.validity == Validity::kStale ? Outcome::kFailed
                                                                : Outcome::kNotChecked;
  return {"source", outcome, result.reason};
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

// By column what it refers to: the table that it is named after, but for these.
constexpr std::string_view kReferences =
    "SELECT t.name, c.name, CASE WHEN c.name = 'name_id' AND t.name = 'kernel' THEN 'kernel_name' "
    "WHEN c.name IN ('name_id', 'category_id', 'series_id', 'file_id') THEN 'string' "
    "WHEN c.name = 'launch_id' THEN 'runtime_call' WHEN c.name = 'shape_id' THEN 'op_shape' "
    "WHEN c.name = 'parent_id' THEN t.name WHEN c.name LIKE '%kernel_id' THEN 'kernel' "
    "ELSE substr(c.name, 1, length(c.name) - 3) END AS target "
    "FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name LIKE '%!_id' ESCAPE '!' "
    "AND EXISTS (SELECT 1 FROM sqlite_schema s JOIN pragma_table_info(s.name) i WHERE s.type = 'table' "
    "AND s.name = target AND i.name = 'id') ORDER BY 1, 2";

// Ids that name no row.
VerifyFinding check_references(const Index& index) {
  std::string lost;
  std::int64_t columns = 0;
  Statement references(index.database(), kReferences);
  for (; references.step(); ++columns) {
    const std::string table = quoted_name(references.text(0)), column = quoted_name(references.text(1));
    const std::int64_t count =
        index.database()
            .query_int64(fmt::format("SELECT count({1}) FROM {0} WHERE {1} NOT IN (SELECT id FROM {2})", table, column,
                                     quoted_name(references.text(2))))
            .value_or(0);
    if (count == 0) continue;
    if (!lost.empty()) lost += ", ";
    lost += fmt::format("{} of {}.{}", counted(count, "row"), references.text(0), references.text(1));
  }
  return {"references", lost.empty() ? Outcome::kPassed : Outcome::kFailed,
          lost.empty() ? counted(columns, "column") + " refer to rows that are there"
                       : "refer to rows that are not there: " + lost};
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

// What is wrong with a table that is packed alone: blocks that cannot be read, or are not what packed_block says of
// them.
std::vector<std::string> faults_alone(const Index& index, const PackedTable& table) {
  std::vector<std::string> faults;
  Database& database = index.database();
  const std::optional<Error> failure = catch_error([&] {
    const std::vector<PackedBlock> blocks = packed_blocks(database, table.name);
    const auto dur = std::ranges::find(table.columns, "dur", &ScanColumn::name);
    const bool has_times = table.columns.front().name == "ts";
    BlockReader reader(database, table.name, table.columns);
    while (reader.next()) {
      PackedBlock found{reader.rows()};
      for (std::size_t i = 0; i < found.rows && has_times; ++i) {
        const auto ts = reader.numbers(0);
        const bool lasts = dur != table.columns.end();
        found.add(ts[i], lasts ? reader.numbers(static_cast<std::size_t>(dur - table.columns.begin()))[i] : 0);
      }
      const std::size_t number = reader.first() / kBlockRows;
      if (found == blocks[number]) continue;
      faults.push_back(fmt::format("block {} of {} has other times than packed_block says", number, table.name));
    }
  });
  if (failure) faults.emplace_back(failure->what());
  for (std::string& note : database.take_notes()) faults.push_back(std::move(note));
  return faults;
}

// Reports read packed columns, where there are some: copies must be the columns.
void check_packed_columns(const Index& index, std::vector<VerifyFinding>& findings) {
  int sound = 0;
  std::vector<std::string> faults;
  for (const PackedTable& table : packed_tables()) {
    if (table.alone) {
      std::ranges::move(faults_alone(index, table), std::back_inserter(faults));
      continue;
    }
    for (const ScanColumn& column : table.columns) {
      if (!is_packed(index.database(), table.name, column.name)) continue;
      std::string fault = packed_fault(index, table.name, column);
      sound += fault.empty() ? 1 : 0;
      if (!fault.empty()) faults.push_back(std::move(fault));
    }
  }
  for (std::string& fault : faults) findings.push_back({"columns", Outcome::kFailed, std::move(fault)});
  if (faults.empty())
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
  findings.push_back(check_references(index));
  check_packed_columns(index, findings);
  return findings;
}

}  // namespace tracedb
