#include "sql/tables/row_batch.h"

#include <sqlite3.h>

namespace tracedb {
namespace {

std::string bytes_of(sqlite3_value* value) {
  const auto* data = static_cast<const char*>(sqlite3_value_blob(value));
  return data == nullptr ? std::string() : std::string(data, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

struct Giver {
  sqlite3_context* result;
  sqlite3_destructor_type lives;
  void operator()(std::monostate) const { sqlite3_result_null(result); }
  void operator()(std::int64_t value) const { sqlite3_result_int64(result, value); }
  void operator()(double value) const { sqlite3_result_double(result, value); }
  void operator()(const std::string& text) const {
    sqlite3_result_text64(result, text.data(), text.size(), lives, SQLITE_UTF8);
  }
  void operator()(const SqlBlob& blob) const {
    sqlite3_result_blob64(result, blob.bytes.data(), blob.bytes.size(), lives);
  }
};

}  // namespace

SqlValue to_sql_value(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    case SQLITE_TEXT:
      return bytes_of(value);
    case SQLITE_BLOB:
      return SqlBlob{bytes_of(value)};
    default:
      return std::monostate();
  }
}

void give_result(sqlite3_context* result, const SqlValue& value, bool lasts) {
  std::visit(Giver{result, lasts ? SQLITE_STATIC : SQLITE_TRANSIENT}, value);
}

void RowBatch::add(sqlite3_value* value) {
  Cell cell{sqlite3_value_type(value), 0, {0}};
  if (cell.type == SQLITE_INTEGER) {
    cell.integer = sqlite3_value_int64(value);
  } else if (cell.type == SQLITE_FLOAT) {
    cell.real = sqlite3_value_double(value);
  } else if (cell.type != SQLITE_NULL) {
    const auto* data = static_cast<const char*>(sqlite3_value_blob(value));
    cell.size = static_cast<std::uint32_t>(sqlite3_value_bytes(value));
    cell.offset = texts_.size();
    if (data != nullptr) texts_.append(data, cell.size);
  }
  cells_.push_back(cell);
}

void RowBatch::give_cell(sqlite3_context* result, std::int64_t row, std::size_t column) const {
  const Cell& cell = cells_[static_cast<std::size_t>(row) * columns_ + column];
  switch (cell.type) {
    case SQLITE_INTEGER:
      sqlite3_result_int64(result, cell.integer);
      break;
    case SQLITE_FLOAT:
      sqlite3_result_double(result, cell.real);
      break;
    case SQLITE_TEXT:
      sqlite3_result_text64(result, texts_.data() + cell.offset, cell.size, SQLITE_TRANSIENT, SQLITE_UTF8);
      break;
    case SQLITE_BLOB:
      sqlite3_result_blob64(result, texts_.data() + cell.offset, cell.size, SQLITE_TRANSIENT);
      break;
    default:
      sqlite3_result_null(result);
  }
}

}  // namespace tracedb
