#include "present/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tracedb {
namespace {

enum class Part { kKey, kBaseline, kCandidate };

Part part_of(const Column& column) {
  constexpr std::array<std::string_view, 9> kKeys = {"phase", "layer", "item",   "kernel", "role",
                                                     "op",    "name",  "metric", "launch"};
  if (std::ranges::find(kKeys, column.key) != kKeys.end()) return Part::kKey;
  return column.key.starts_with("baseline") ? Part::kBaseline : Part::kCandidate;
}

// Where the columns of a report go: those it lacks, since nothing was in them, stay unknown.
class Joiner {
 public:
  explicit Joiner(std::span<const Report> reports) {
    for (const Part part : {Part::kKey, Part::kBaseline}) {
      for (const Report& report : reports) add_columns(report, part, 0);
    }
    keys_ = static_cast<std::size_t>(
        std::ranges::count_if(out_.columns, [](const Column& column) { return part_of(column) == Part::kKey; }));
    for (std::size_t i = 0; i < reports.size(); ++i) add_columns(reports[i], Part::kCandidate, i + 1);
    for (std::size_t i = 0; i < reports.size(); ++i) add_rows(reports[i], i + 1);
  }
  Report take() { return std::move(out_); }

 private:
  static std::string key_of(const Column& column, std::size_t candidate) {
    return part_of(column) == Part::kCandidate ? fmt::format("{}_{}", column.key, candidate) : column.key;
  }

  void add_columns(const Report& report, Part part, std::size_t candidate) {
    for (const Column& column : report.columns) {
      if (part_of(column) != part || find_column(out_.columns, key_of(column, candidate))) continue;
      Column own = column;
      own.key = key_of(column, candidate);
      if (part == Part::kCandidate) own.head = fmt::format("{} {}", column.head, candidate);
      out_.columns.push_back(std::move(own));
    }
  }

  void add_rows(const Report& report, std::size_t candidate) {
    std::vector<std::size_t> places;
    for (const Column& column : report.columns)
      places.push_back(find_column(out_.columns, key_of(column, candidate)).value());
    merge(report.rows, places, rows_, out_.rows);
    merge(report.footer, places, footer_, out_.footer);
  }

  using Known = std::map<Row, std::size_t>;

  void merge(const std::vector<Row>& from, const std::vector<std::size_t>& places, Known& known,
             std::vector<Row>& to) const {
    for (const Row& row : from) {
      Row wide(out_.columns.size());
      for (std::size_t c = 0; c < row.size(); ++c) wide[places[c]] = row[c];
      const Row key(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(keys_));
      const auto [entry, is_new] = known.try_emplace(key, to.size());
      if (is_new) {
        to.push_back(std::move(wide));
        continue;
      }
      for (std::size_t c = keys_; c < wide.size(); ++c) {
        if (!std::holds_alternative<std::monostate>(wide[c])) to[entry->second][c] = std::move(wide[c]);
      }
    }
  }

  Report out_;
  std::size_t keys_ = 0;
  Known rows_, footer_;
};

}  // namespace

Report join_candidates(std::span<const Report> reports) { return Joiner(reports).take(); }

}  // namespace tracedb
