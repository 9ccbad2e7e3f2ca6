// Reads the tables of a profiler's database into a RowSink: what the readers of all databases share. A table that is
// absent is no issue (profilers leave out what was not recorded), one that is damaged or none is.
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

// The row at hand of a table that is being read: cells by their place among the columns asked for.
class SourceRow {
 public:
  SourceRow(std::span<const SourceCell> cells, RowSink& sink) : cells_(cells), sink_(sink) {}

  [[nodiscard]] const SourceCell& operator[](std::size_t column) const { return cells_[column]; }
  // kUnknownValue for NULL and, with an issue, for what is no integer.
  [[nodiscard]] std::int64_t integer(std::size_t column) const;
  // An id; kUnknownValue where it is none.
  [[nodiscard]] std::int64_t id(std::size_t column) const { return cells_[column].integer().value_or(kUnknownValue); }

 private:
  std::span<const SourceCell> cells_;
  RowSink& sink_;
};

// When something happened: from two columns, in ns.
struct TimeSpan {
  std::int64_t ts = 0, dur = kUnknownValue;
};

class SourceTables {
 public:
  using Visit = std::function<void(const SourceRow&)>;

  // `facts` is told where the trace is not complete.
  SourceTables(SourceDatabase& database, RowSink& sink, TraceFacts& facts)
      : database_(database), sink_(sink), facts_(facts) {}

  // All rows of `table`. Not counted: for tables that only describe others.
  void look_up(std::string_view table, const SourceDatabase::Columns& columns, const Visit& visit);
  // The same, counted as `kind`: visit() adds a record for each row, or skips it.
  void read(std::string_view table, RowSink::Kind kind, const SourceDatabase::Columns& columns, const Visit& visit);
  // The start and the end of a row counted as `kind`. nullopt: skipped, for want of a start.
  std::optional<TimeSpan> span(const SourceRow& row, std::size_t start, std::size_t end, RowSink::Kind kind);
  // The same of a column that is a point in time.
  std::optional<std::int64_t> time(const SourceRow& row, std::size_t column, RowSink::Kind kind);
  // Columns `id` and `value` of a table of texts.
  std::unordered_map<std::int64_t, std::string> texts(std::string_view table, std::string_view id,
                                                      std::string_view value);
  // The names of the tables that have rows, but were not asked for, as a JSON list.
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
