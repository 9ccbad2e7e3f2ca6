#include "present/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tracedb {
namespace {

enum class Part { kKey, kBaseline, kCandidate };

Part part_of(const Column& column) {
  constexpr std::array<std::string_view, 9> kKeys = {"phase", "layer", "item",   "kernel", "role",
                                                     "op",    "name",  "metric", "launch"};
  if (std::ranges::find(kKeys, column.key) != kKeys.end()) return Part::kKey;
  return column.key.starts_with("baseline") ? Part::kBaseline : Part::kCandidate;
}

// Of a column of one candidate, counted from 1, in the table of all.
std::string joint_key(const Column& column, std::size_t candidate) {
  return part_of(column) == Part::kCandidate ? fmt::format("{}_{}", column.key, candidate) : column.key;
}

// By its first cells, which tell it from others, the place of a row.
using KnownRows = std::map<Row, std::size_t>;

// Adds rows whose cells go to these places of a row of so many, the first `keys` of which tell it from others. What
// they lack, since nothing was in it, stays unknown.
void merge_rows(const std::vector<Row>& from, const std::vector<std::size_t>& places, std::size_t columns,
                std::size_t keys, KnownRows& known, std::vector<Row>& to) {
  for (const Row& row : from) {
    Row wide(columns);
    for (std::size_t c = 0; c < row.size(); ++c) wide[places[c]] = row[c];
    const Row key(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(keys));
    const auto [entry, is_new] = known.try_emplace(key, to.size());
    if (is_new) to.emplace_back(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      if (!std::holds_alternative<std::monostate>(wide[c])) to[entry->second][c] = std::move(wide[c]);
    }
  }
}

// Nothing where no step of a sample has the measure.
Cell mean_cell(const MeanDraws& sample, std::size_t steps) { return steps > 0 ? Cell(sample.mean) : Cell{}; }

Cell cell_of_both(const Change& change, double value) {
  return change.baseline_steps > 0 && change.candidate_steps > 0 ? Cell(value) : Cell{};
}

}  // namespace

Row row_of(std::span<const Column> columns, Cells cells) {
  Row row;
  row.reserve(columns.size());
  for (const Column& column : columns) row.push_back(std::move(cells.at(column.key)));
  return row;
}

Cell count_cell(double sum, std::int64_t units, bool human_readable) {
  const double value = sum / static_cast<double>(units);
  const double whole = std::round(value);
  if (std::abs(value - whole) < 1e-9 && std::abs(whole) < 1e15) return static_cast<std::int64_t>(whole);
  return human_readable ? std::round(value * 1000) / 1000 : value;
}

Cell time_cell(double ns) { return static_cast<std::int64_t>(std::llround(ns)); }

Cell share_cell(double part, double whole) { return whole != 0 ? Cell(100 * part / whole) : Cell{}; }

Cell share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? share_cell(static_cast<double>(part), static_cast<double>(whole)) : Cell{};
}

Cell ratio_cell(double baseline, double candidate) {
  return baseline > 0 && candidate > 0 ? Cell(candidate / baseline) : Cell{};
}

Cell end_cell(const Change& change, double value, bool human_readable) {
  return human_readable && !change.judged() ? Cell{} : cell_of_both(change, value);
}

std::string marked(std::string verdict, double change) {
  if (verdict == "worse" || (verdict == "new" && change > 0)) verdict.insert(0, kWorseMark);
  if (verdict == "better" || (verdict == "gone" && change < 0)) verdict.insert(0, kBetterMark);
  return verdict;
}

std::string verdict_text(const Change& change, bool human_readable) {
  std::string verdict(to_string(change.verdict));
  if (!change.reason.empty()) return fmt::format("{}: {}", verdict, change.reason);
  if (!human_readable) return verdict;
  verdict = marked(std::move(verdict), change.difference());
  return change.caveat.empty() ? verdict : fmt::format("{}: {}", verdict, change.caveat);
}

Cells cells_of_change(const std::string& phase, const std::string& measure, const Change& change, Cells more) {
  more.merge(Cells{{"phase", phase},
                   {"metric", measure},
                   {"baseline_steps", static_cast<std::int64_t>(change.baseline_steps)},
                   {"candidate_steps", static_cast<std::int64_t>(change.candidate_steps)},
                   {"baseline", mean_cell(change.baseline, change.baseline_steps)},
                   {"candidate", mean_cell(change.candidate, change.candidate_steps)}});
  return more;
}

void add_measure(const std::string& phase, const std::string& measure, const Change& change, bool human_readable,
                 Report& table) {
  std::string verdict(to_string(change.verdict));
  if (human_readable) verdict = marked(std::move(verdict), change.difference());
  add_row(table, cells_of_change(phase, measure, change,
                                 {{"change", cell_of_both(change, change.difference())},
                                  {"ratio", ratio_cell(change.baseline.mean, change.candidate.mean)},
                                  {"low", end_cell(change, change.interval.low, human_readable)},
                                  {"high", end_cell(change, change.interval.high, human_readable)},
                                  {"verdict", std::move(verdict)}}));
}

void name_cycles(Report& report) {
  for (Column& column : report.columns) {
    if (column.key.starts_with("host") && column.head.starts_with("Host")) column.head.replace(0, 4, "Tile");
    if (column.unit != Unit::kTime) continue;
    column.unit = Unit::kCount;
    column.head += " (cycles)";
  }
}

void drop_device_clock(Report& report) {
  const auto is_host = [place = find_column(report.columns, "period_on").value()](const Row& row) {
    return row[place] == Cell("host");
  };
  if (std::ranges::none_of(report.rows, is_host)) drop_column(report, "period_on");
}

void drop_column(Report& report, std::string_view key) {
  drop_columns(
      report, [key](std::string_view own) { return own == key; }, [](const Cell&) { return true; });
}

void drop_columns(Report& report, const std::function<bool(std::string_view key)>& chosen,
                  const std::function<bool(const Cell& cell)>& says_nothing) {
  for (std::size_t c = report.columns.size(); c-- > 0;) {
    const auto is_empty = [&](const Row& row) { return says_nothing(row[c]); };
    if (!chosen(report.columns[c].key) || !std::ranges::all_of(report.rows, is_empty)) continue;
    if (!std::ranges::all_of(report.footer, is_empty)) continue;
    const auto drop = [at = static_cast<std::ptrdiff_t>(c)](auto& list) { list.erase(list.begin() + at); };
    drop(report.columns);
    std::ranges::for_each(report.rows, drop);
    std::ranges::for_each(report.footer, drop);
  }
}

void drop_empty_columns(Report& report, const std::vector<std::string>& keys) {
  const auto is_listed = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  drop_columns(report, is_listed, [](const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return std::holds_alternative<std::monostate>(cell) || (text != nullptr && text->empty());
  });
}

void drop_inconclusive_columns(Report& report) {
  std::vector<std::string> suffixes;  // of the candidates, where there are several
  for (const Column& column : report.columns) {
    if (column.key.starts_with("verdict")) suffixes.push_back(column.key.substr(std::string_view("verdict").size()));
  }
  for (const std::string& suffix : suffixes) {
    const std::size_t verdict = find_column(report.columns, "verdict" + suffix).value();
    const auto low = find_column(report.columns, "low" + suffix), high = find_column(report.columns, "high" + suffix);
    const auto says = [&](const Row& row) {
      const auto* text = std::get_if<std::string>(&row[verdict]);
      return text != nullptr && !text->ends_with("new") && !text->ends_with("gone") &&
             (*text != "inconclusive" || (low && !std::holds_alternative<std::monostate>(row[*low])));
    };
    if (!low || !high || std::ranges::any_of(report.rows, says)) continue;
    for (Row& row : report.rows) {
      const auto* text = std::get_if<std::string>(&row[verdict]);
      if (text != nullptr && *text == "inconclusive") row[verdict] = Cell{};
      row[*low] = row[*high] = Cell{};
    }
    drop_empty_columns(report, {"verdict" + suffix, "low" + suffix, "high" + suffix});
  }
}

Report join_candidates(std::span<const Report> reports) {
  Report out;
  std::size_t keys = 0;
  for (const Part part : {Part::kKey, Part::kBaseline, Part::kCandidate}) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      for (const Column& column : reports[i].columns) {
        const std::string key = joint_key(column, i + 1);
        if (part_of(column) != part || find_column(out.columns, key)) continue;
        Column& own = out.columns.emplace_back(column);
        own.key = key;
        if (part == Part::kCandidate) own.head = fmt::format("{} {}", column.head, i + 1);
        keys += part == Part::kKey ? 1 : 0;
      }
    }
  }
  KnownRows rows, footer;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::vector<std::size_t> places;
    for (const Column& column : reports[i].columns)
      places.push_back(find_column(out.columns, joint_key(column, i + 1)).value());
    merge_rows(reports[i].rows, places, out.columns.size(), keys, rows, out.rows);
    merge_rows(reports[i].footer, places, out.columns.size(), keys, footer, out.footer);
  }
  return out;
}

}  // namespace tracedb
