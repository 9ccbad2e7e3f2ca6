#include <doctest/doctest.h>

#include <algorithm>

#include "passes/tables/pass_tables.h"
#include "report/sql_report.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// What the rules of warnings.sql make of the small index after `change`.
std::vector<std::string> codes(const std::string& change) {
  const TempDirectory folder;
  write_small_index(folder / "small.tracedb");
  if (!change.empty()) Database(folder / "small.tracedb", Database::Mode::kReadWrite).execute(change);
  const Index index = Index::open(folder / "small.tracedb");
  const ActiveRules rules;
  Workload workload(index, rules);
  const PassOptions options;
  add_pass_tables(workload, options);
  std::vector<std::string> out;
  for (const Row& row : run_report(index.database(), report_script("warnings"), {}).rows)
    out.push_back(std::get<std::string>(row[1]));
  return out;
}

bool has(const std::vector<std::string>& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

TEST_CASE("what is missing is named with its share") {
  // 450 ns of kernels: 100 launched, with operator and stack; 400 in a step; none in a layer; an issue of two kernels.
  CHECK(codes("") == std::vector<std::string>{"no_launch", "kernel_without_launch", "no_layer", "no_operator",
                                              "no_stack", "no_step"});
}

TEST_CASE("each code speaks when there is reason to, and not before") {
  CHECK_FALSE(has(codes(""), "clock_order"));
  CHECK(has(codes("UPDATE runtime_call SET ts = 1000"), "clock_order"));
  CHECK_FALSE(has(codes(""), "unclassified"));
  CHECK(has(codes("UPDATE kernel_name SET name = 'zzz' WHERE id = 1"), "unclassified"));
  CHECK_FALSE(has(codes(""), "graph_collapsed"));
  CHECK(has(codes("UPDATE runtime_call SET kind = 'graph_launch'"), "graph_collapsed"));
  CHECK(has(codes("UPDATE kernel SET dur = NULL WHERE id = 3"), "unknown_duration"));
  CHECK(codes("UPDATE meta SET value = '0' WHERE key = 'complete'").front() == "truncated");
  CHECK(has(codes("DELETE FROM kernel"), "no_kernels"));
}

}  // namespace tracedb
