#include "present/cells.h"

#include <doctest/doctest.h>

namespace tracedb {
namespace {

Change change_of(double baseline, double candidate, Verdict verdict) {
  Change change;
  change.baseline.mean = baseline;
  change.candidate.mean = candidate;
  change.baseline_steps = change.candidate_steps = 8;
  change.verdict = verdict;
  return change;
}

std::string keys(const Report& report) {
  std::string text;
  for (const Column& column : report.columns) text += (text.empty() ? "" : " ") + column.key;
  return text;
}

Cell text(const char* of) { return std::string(of); }

}  // namespace

TEST_CASE("counts per unit are integers where they are whole, else have three decimals for people") {
  CHECK(count_cell(12, 4, true) == Cell(std::int64_t{3}));
  CHECK(count_cell(1, 3, true) == Cell(0.333));
  CHECK(count_cell(1, 3, false) == Cell(1.0 / 3));
}

TEST_CASE("shares and ratios are unknown where there is nothing to divide by") {
  CHECK(share_cell(1, 4) == Cell(25.0));
  CHECK(share_cell(1, 0) == Cell{});
  CHECK(ratio_cell(2, 3) == Cell(1.5));
  CHECK(ratio_cell(0, 3) == Cell{});
  CHECK(ratio_cell(2, 0) == Cell{});
}

TEST_CASE("verdicts carry a mark for people, by what got worse") {
  CHECK(marked("worse", 1) == "▲ worse");
  CHECK(marked("better", -1) == "▼ better");
  CHECK(marked("new", 1) == "▲ new");
  CHECK(marked("gone", -1) == "▼ gone");
  CHECK(marked("same", 1) == "same");
  CHECK(verdict_text(change_of(1, 2, Verdict::kWorse), true) == "▲ worse");
  CHECK(verdict_text(change_of(1, 2, Verdict::kWorse), false) == "worse");
  Change few = change_of(1, 2, Verdict::kInconclusive);
  few.reason = "3/4 steps";
  CHECK(verdict_text(few, true) == "inconclusive: 3/4 steps");
  Change bound = change_of(2, 1, Verdict::kBetter);
  bound.caveat = "both bound by the recording host";
  CHECK(verdict_text(bound, true) == "▼ better: both bound by the recording host");
  CHECK(verdict_text(bound, false) == "better");
}

TEST_CASE("a row has a cell for each declared column, in its order") {
  const Change change = change_of(100, 150, Verdict::kWorse);
  const Row row = row_of(measured_change_fields(), {"decode", "span", change, false});
  CHECK(row == Row{text("decode"), text("span"), std::int64_t{8}, std::int64_t{8}, 100.0, 150.0, 50.0, 1.5, 0.0, 0.0,
                   text("worse")});
  CHECK(row.size() == columns_of(measured_change_fields()).size());
}

TEST_CASE("columns without anything are left out, footers included") {
  Report report{{{"phase", "Phase", Unit::kText}, {"layer", "Layer", Unit::kText}, {"item", "Item", Unit::kText}},
                {{text("decode"), Cell{}, text("")}}};
  report.footer = {{text("decode"), Cell{}, text("[span]")}};
  drop_empty_columns(report, {"layer", "item"});
  CHECK(keys(report) == "phase item");
  CHECK(report.rows[0].size() == 2);
  CHECK(report.footer[0][1] == text("[span]"));
}

TEST_CASE("verdicts and intervals are left out of a table where no row has a verdict") {
  const std::vector<Column> columns = {{"op", "Operation", Unit::kText},
                                       {"low", "95 % from", Unit::kTime},
                                       {"high", "to", Unit::kTime},
                                       {"verdict", "Verdict", Unit::kText}};
  Report few{columns, {{text("norm"), 1.0, 2.0, text("inconclusive")}, {text("sort"), 1.0, 2.0, text("▲ new")}}};
  drop_inconclusive_columns(few);
  CHECK(keys(few) == "op verdict");
  CHECK(few.rows[0][1] == Cell{});
  CHECK(few.rows[1][1] == text("▲ new"));
  Report enough{columns, {{text("norm"), 1.0, 2.0, text("inconclusive")}, {text("sort"), 1.0, 2.0, text("same")}}};
  drop_inconclusive_columns(enough);
  CHECK(keys(enough) == "op low high verdict");
}

}  // namespace tracedb
