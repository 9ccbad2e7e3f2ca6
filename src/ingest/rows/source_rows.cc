#include "ingest/rows/source_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/failure.h"
#include "base/text/characters.h"

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

void SourceTables::note(SourceDatabase::Outcome outcome, std::string_view table) {
  switch (outcome) {
    case SourceDatabase::Outcome::kRead:
    case SourceDatabase::Outcome::kAbsent:
      return;
    case SourceDatabase::Outcome::kDamaged:
      facts_.complete = false;
      return sink_.issue(IssueKind::kDamagedTable, -1, table);
    case SourceDatabase::Outcome::kOversized:
      facts_.complete = false;
      return sink_.issue(IssueKind::kOversizedTable, -1, table);
    case SourceDatabase::Outcome::kImpostor:
    case SourceDatabase::Outcome::kLacksColumns:
      return sink_.issue(IssueKind::kUnreadableTable, -1, table);
  }
}

void SourceTables::look_up(std::string_view table, const SourceDatabase::Columns& columns, const Visit& visit) {
  asked_.emplace(table);
  std::vector<std::string_view> missing;
  const auto outcome = database_.scan(
      table, columns, [&](std::span<const SourceCell> cells) { visit(SourceRow(cells, sink_)); }, &missing);
  note(outcome, table);
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

void SourceTables::read_spans(std::string_view table, const SourceDatabase::Columns& columns,
                              const std::function<void(const SourceRow&, const TimeSpan&)>& visit,
                              std::string_view suffix) {
  const RowSink::Kind kind = sink_.kind(table);
  read(fmt::format("{}{}", table, suffix), kind, columns, [&](const SourceRow& row) {
    if (const auto own = span(row, 0, 1, kind)) visit(row, *own);
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
    latest_end_ = std::max(latest_end_, *stop);
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
  out.tables_ = this;
  out.table_ = table;
  asked_.emplace(table);
  const auto outcome = database_.scan_ids(
      table, id, value,
      [&](std::span<const SourceCell> cells) {
        const auto row = cells[0].integer();
        const auto number = cells[1].integer();
        if (row && number && *row != *number) out.rows_.emplace_back(*number, *row);
      },
      out.by_number_);
  note(outcome, table);
  std::ranges::stable_sort(out.rows_, {}, [](const auto& one) { return one.first; });
  return out;
}

std::string_view SourceTexts::of(std::int64_t id, std::string_view absent) const {
  const auto known = texts_.find(id);
  if (known != texts_.end()) return known->second;
  if (by_number_ == nullptr || id == kUnknownValue) return absent;
  const std::uint64_t most = tables_->database_.most_text();
  if (tables_->text_bytes_ > most) {
    tables_->note(SourceDatabase::Outcome::kOversized, table_);
    return absent;
  }
  const auto other = std::ranges::lower_bound(rows_, id, {}, [](const auto& row) { return row.first; });
  // Of the row with its number and the first other one, the earlier that is its.
  const std::int64_t others = other != rows_.end() && other->first == id ? other->second : id;
  const std::string* found = nullptr;
  const auto failure = catch_error([&] {
    for (const std::int64_t row : {std::min(id, others), std::max(id, others)}) {
      by_number_->reset();
      by_number_->bind(1, row);
      std::uint64_t given = 0;
      if (!by_number_->step() || SourceCell(*by_number_, 0, given).integer() != id) continue;
      const std::string_view text = SourceCell(*by_number_, 1, given).text();
      if ((tables_->text_bytes_ += given) > most) return tables_->note(SourceDatabase::Outcome::kOversized, table_);
      found = &texts_.emplace(id, text).first->second;
      return;
    }
  });
  by_number_->reset();
  if (failure && failure->code() != ErrorCode::kInput) throw Error(*failure);
  if (failure) tables_->note(SourceDatabase::Outcome::kDamaged, table_);
  return found == nullptr ? absent : std::string_view(*found);
}

void SourceTables::add_header(std::string_view key, std::string_view json) {
  const std::size_t bytes = header_size(key, json);
  if (bytes > kLargestHeader - header_bytes_) return sink_.issue(IssueKind::kOversizedHeader, -1, key);
  header_bytes_ += bytes;
  facts_.header.push_back({sink_.storable(key), storable_json(json).text, -1});
}

std::string SourceTables::not_read() const {
  std::string out;
  for (const std::string& table : database_.tables()) {
    if (asked_.contains(table) || table.starts_with("sqlite_") || !database_.has_rows(table)) continue;
    out += (out.empty() ? "" : ", ") + quote_json(table);
  }
  return "[" + out + "]";
}

void append_device(std::string& devices, std::int64_t id, std::string_view name,
                   std::initializer_list<std::pair<std::string_view, std::int64_t>> numbers) {
  devices += fmt::format(R"({}{{"id": {}, "name": {})", devices.empty() ? "" : ", ", id, quote_json(name));
  for (const auto& [key, value] : numbers) {
    if (value != kUnknownValue) devices += fmt::format(R"(, "{}": {})", key, value);
  }
  devices += '}';
}

}  // namespace tracedb
