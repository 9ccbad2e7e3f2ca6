#include "ingest/rows/source_rows.h"

#include <fmt/format.h>

#include "base/text/utf8.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

bool is_time(const std::optional<std::int64_t>& value) { return value && tracedb::is_time(*value); }

}  // namespace

std::int64_t SourceRow::integer(std::size_t column) const {
  const SourceCell& cell = cells_[column];
  if (cell.is_null()) return kUnknownValue;
  const auto value = cell.integer();
  if (value && *value >= kLeastNumber) return *value;
  sink_.issue(IssueKind::kBadNumber, -1, cell.text());
  return kUnknownValue;
}

void SourceTables::look_up(std::string_view table, const SourceDatabase::Columns& columns, const Visit& visit) {
  asked_.emplace(table);
  std::vector<std::string_view> missing;
  const auto outcome = database_.scan(
      table, columns, [&](std::span<const SourceCell> cells) { visit(SourceRow(cells, sink_)); }, &missing);
  switch (outcome) {
    case SourceDatabase::Outcome::kRead:
    case SourceDatabase::Outcome::kAbsent:
      break;
    case SourceDatabase::Outcome::kDamaged:
      facts_.complete = false;
      sink_.issue(IssueKind::kDamagedTable, -1, table);
      break;
    case SourceDatabase::Outcome::kImpostor:
    case SourceDatabase::Outcome::kLacksColumns:
      sink_.issue(IssueKind::kUnreadableTable, -1, table);
      break;
  }
  for (const std::string_view column : missing) {
    sink_.issue(IssueKind::kMissingColumn, -1, fmt::format("{}.{}", table, column.substr(0, column.find('|'))));
  }
}

void SourceTables::read(std::string_view table, RowSink::Kind kind, const SourceDatabase::Columns& columns,
                        const Visit& visit) {
  look_up(table, columns, [&](const SourceRow& row) {
    sink_.read(kind);
    visit(row);
  });
}

std::optional<std::int64_t> SourceTables::time(const SourceRow& row, std::size_t column, RowSink::Kind kind) {
  const auto ts = row[column].integer();
  if (is_time(ts)) return ts;
  sink_.issue(row[column].is_null() ? IssueKind::kMissingTimestamp : IssueKind::kBadTimestamp, -1, row[column].text());
  sink_.skip(kind, SkipReason::kNoTimestamp);
  return std::nullopt;
}

std::optional<TimeSpan> SourceTables::span(const SourceRow& row, std::size_t start, std::size_t end,
                                           RowSink::Kind kind) {
  const auto ts = time(row, start, kind);
  if (!ts) return std::nullopt;
  TimeSpan span{*ts, kUnknownValue};
  const auto stop = row[end].integer();
  if (is_time(stop) && *stop >= *ts) {
    span.dur = *stop - *ts;
  } else {
    sink_.issue(row[end].is_null() ? IssueKind::kMissingDuration
                : is_time(stop)    ? IssueKind::kNegativeDuration
                                   : IssueKind::kBadDuration,
                -1, row[end].text());
  }
  return span;
}

SourceTexts SourceTables::texts(std::string_view table, std::string_view id, std::string_view value) {
  SourceTexts out;
  look_up(table, {{id, value}, {}}, [&](const SourceRow& row) {
    if (const auto number = row[0].integer()) out.add(*number, row[1].text());
  });
  return out;
}

std::string SourceTables::not_read() const {
  std::string out;
  for (const std::string& table : database_.tables()) {
    if (asked_.contains(table) || table.starts_with("sqlite_") || !database_.has_rows(table)) continue;
    out += (out.empty() ? "" : ", ") + quote_json(table);
  }
  return "[" + out + "]";
}

std::string quote_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : valid_utf8(text).text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace tracedb
