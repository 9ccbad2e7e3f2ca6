// Reads the tables of a profiler's database into a RowSink, for the readers of all databases. A missing table is no
// issue, because profilers leave out what was not recorded; a damaged one, or a view in its place, is.
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/read/trace_header.h"
#include "ingest/rows/row_sink.h"
#include "sql/source_database.h"

namespace tracedb {

// Adds an entry to the header's deviceProperties; numbers that are not known are left out.
void append_device(std::string& devices, std::int64_t id, std::string_view name,
                   std::initializer_list<std::pair<std::string_view, std::int64_t>> numbers = {});

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

class SourceTables;

// Texts that rows name by number, each read when one does. Once they are together more than the file can hold, the
// others are absent, with an issue each time.
class SourceTexts {
 public:
  // Valid as long as the object.
  [[nodiscard]] std::string_view of(std::int64_t id, std::string_view absent = {}) const;

 private:
  friend class SourceTables;
  SourceTables* tables_ = nullptr;
  std::string table_;
  std::unique_ptr<Statement> by_number_;
  std::vector<std::pair<std::int64_t, std::int64_t>> rows_;  // by id: where the row has another number, that number
  mutable std::unordered_map<std::int64_t, std::string> texts_;
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
  // The same of a table with a start and an end in its first two columns, counted under its name but for the `suffix`
  // that it has in the database. Rows without a start are skipped.
  void read_spans(std::string_view table, const SourceDatabase::Columns& columns,
                  const std::function<void(const SourceRow&, const TimeSpan&)>& visit, std::string_view suffix = {});
  // The start and the end, in ns, of a row counted as `kind`. nullopt: skipped because it has no start.
  std::optional<TimeSpan> span(const SourceRow& row, std::size_t start, std::size_t end, RowSink::Kind kind);
  // Of all such rows so far; kUnknownValue: there is none.
  [[nodiscard]] std::int64_t latest_end() const { return latest_end_; }
  // The same of a column that is a point in time.
  std::optional<std::int64_t> time(const SourceRow& row, std::size_t column, RowSink::Kind kind);
  // Columns `id` and `value` of a table of texts; the first one of an id counts. Borrows this object.
  SourceTexts texts(std::string_view table, std::string_view id, std::string_view value);
  // A top-level value of the trace: JSON. Of those that do not fit into 32 MB, an issue.
  void add_header(std::string_view key, std::string_view json);
  // A row of names and values that are texts.
  void add_header(const SourceRow& row) { add_header(row[0].text(), quote_json(row[1].text())); }
  [[nodiscard]] const std::vector<std::string>& names() const { return database_.tables(); }
  // The names of the tables that have rows but were not read, as a JSON list.
  std::string not_read() const;

 private:
  friend class SourceTexts;
  void note(SourceDatabase::Outcome outcome, std::string_view table);

  SourceDatabase& database_;
  RowSink& sink_;
  TraceFacts& facts_;
  std::uint64_t text_bytes_ = 0;  // of what SourceTexts have read
  std::size_t header_bytes_ = 0;
  std::int64_t latest_end_ = kUnknownValue;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace tracedb
