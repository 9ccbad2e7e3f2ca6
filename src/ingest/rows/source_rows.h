// Reads the tables of a profiler's database into a RowSink, for the readers of all databases. A missing table is no
// issue, because profilers leave out what was not recorded; a damaged one, or a view in its place, is.
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unknown.h"
#include "ingest/read/trace_facts.h"
#include "ingest/rows/row_sink.h"
#include "sql/source_database.h"

namespace tracedb {

// The current row of a table: cells by the position of their column in the requested columns.
class SourceRow {
 public:
  SourceRow(std::span<const SourceCell> cells, RowSink& sink) : cells_(cells), sink_(sink) {}

  [[nodiscard]] const SourceCell& operator[](std::size_t column) const { return cells_[column]; }
  // kUnknownValue for NULL and, with an issue, for what is no integer.
  [[nodiscard]] std::int64_t integer(std::size_t column) const;
  // An id; kUnknownValue if the cell is not an integer.
  [[nodiscard]] std::int64_t id(std::size_t column) const { return cells_[column].integer().value_or(kUnknownValue); }

 private:
  std::span<const SourceCell> cells_;
  RowSink& sink_;
};

// Texts that rows name by number.
class SourceTexts {
 public:
  void add(std::int64_t id, std::string_view text) { texts_.try_emplace(id, text); }  // the first one of an id stays
  [[nodiscard]] std::string_view of(std::int64_t id, std::string_view absent = {}) const {
    const auto found = texts_.find(id);
    return found == texts_.end() ? absent : std::string_view(found->second);
  }

 private:
  std::unordered_map<std::int64_t, std::string> texts_;
};

class SourceTables {
 public:
  using Visit = std::function<void(const SourceRow&)>;

  // Records in `facts` that the trace is incomplete, if a table cannot be read.
  SourceTables(SourceDatabase& database, RowSink& sink, TraceFacts& facts)
      : database_(database), sink_(sink), facts_(facts) {}

  // All rows of `table`. Not counted: for tables that only describe others.
  void look_up(std::string_view table, const SourceDatabase::Columns& columns, const Visit& visit);
  // The same, counted as `kind`: visit() adds a record for each row, or skips it.
  void read(std::string_view table, RowSink::Kind kind, const SourceDatabase::Columns& columns, const Visit& visit);
  // The start and the end, in ns, of a row counted as `kind`. nullopt: skipped because it has no start.
  std::optional<TimeSpan> span(const SourceRow& row, std::size_t start, std::size_t end, RowSink::Kind kind);
  // The same of a column that is a point in time.
  std::optional<std::int64_t> time(const SourceRow& row, std::size_t column, RowSink::Kind kind);
  // Columns `id` and `value` of a table of texts.
  SourceTexts texts(std::string_view table, std::string_view id, std::string_view value);
  // The names of the tables that have rows but were not read, as a JSON list.
  std::string not_read() const;

 private:
  SourceDatabase& database_;
  RowSink& sink_;
  TraceFacts& facts_;
  std::set<std::string, std::less<>> asked_;
};

// Text as a JSON string; what is no UTF-8 becomes U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace tracedb
