#include "sql/tables/column_table.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "sql/tables/column_plan.h"
#include "sql/tables/table_module.h"

namespace tracedb {
namespace {

struct ColumnTable : VirtualTable<ColumnTableSource> {
  using VirtualTable::VirtualTable;
  static std::unique_ptr<ColumnTable> find(ColumnTableSource& from, std::string_view) {
    return std::make_unique<ColumnTable>(from);
  }
  [[nodiscard]] const std::string& declaration() const { return source.declaration; }
  int plan(sqlite3_index_info& info) {
    decide_plan(source, info);
    return SQLITE_OK;
  }
};

// A column as a cursor reads it: as it is, or gathered in the order of the rows.
struct ColumnReader {
  const ArrayColumn* column = nullptr;  // null: not read so far
  bool gathered = false;
  LargeVector<std::int64_t> numbers;
  LargeVector<std::uint32_t> places;
};

template <class T>
void gather(std::span<const T> from, const RowList& rows, LargeVector<T>& to) {
  to.resize(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) to[i] = from[rows.rows[i]];
}

void give_value(sqlite3_context* result, const ArrayValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    sqlite3_result_text64(result, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    sqlite3_result_int64(result, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_result_double(result, *real);
  }
}

class ColumnCursor : public VirtualCursor {
 public:
  void first(ColumnTable& table, int number, const char*, std::span<sqlite3_value*> values) {
    const ColumnPlan& plan = table.source.plans.at(static_cast<std::size_t>(number));
    at_ = 0;
    readers_.clear();
    readers_.resize(table.source.names.size());
    find_rows(table.source, plan, values.data(), rows_);
    to_gather_ = plan.order.empty() || !rows_.listed ? 0 : plan.used;
  }

  void next(ColumnTable& table) {
    constexpr std::size_t kManyRows = 1000;
    if (++at_ == kManyRows && to_gather_ != 0) gather_columns(table.source);
  }

  [[nodiscard]] bool at_end() const { return at_ >= rows_.count; }

  void give(ColumnTable& table, sqlite3_context* result, int column) {
    ColumnReader& reader = readers_[static_cast<std::size_t>(column)];
    if (reader.column == nullptr) reader.column = &table.source.column(column);
    const ArrayColumn& from = *reader.column;
    if (from.has_numbers()) {
      const std::int64_t number = reader.gathered ? reader.numbers[at_] : from.numbers()[rows_[at_]];
      if (number == kUnknownValue) return;
      if (from.kind() == ArrayColumn::Kind::kNumbers) {
        sqlite3_result_int64(result, number);
      } else {
        sqlite3_result_double(result, thousandth(number));
      }
      return;
    }
    const std::uint32_t place = reader.gathered ? reader.places[at_] : from.places()[rows_[at_]];
    if (from.kind() == ArrayColumn::Kind::kValues) {
      give_value(result, from.values()[place]);
    } else if (place != 0) {
      sqlite3_result_int64(result, place);
    }
  }

  [[nodiscard]] std::int64_t rowid() const { return static_cast<std::int64_t>(rows_[at_]) + 1; }

 private:
  // Copies the columns that are read into the order of the rows: one value at a time from all over an array takes
  // several times as long.
  void gather_columns(ColumnTableSource& source) {
    for (std::size_t c = 0; c < readers_.size(); ++c) {
      if (c >= kUsedColumns || (to_gather_ >> c & 1) == 0) continue;
      ColumnReader& reader = readers_[c];
      reader.column = &source.column(static_cast<int>(c));
      reader.gathered = true;
      if (reader.column->has_numbers()) {
        gather(reader.column->numbers(), rows_, reader.numbers);
      } else {
        gather(reader.column->places(), rows_, reader.places);
      }
    }
  }

  std::size_t at_ = 0;
  RowList rows_;
  std::uint64_t to_gather_ = 0;        // columns, once many rows were read
  std::vector<ColumnReader> readers_;  // by column
};

constexpr sqlite3_module kColumnModule = TableModule<ColumnTable, ColumnCursor>::eponymous();

}  // namespace

void add_column_table(Database& database, std::string_view name, std::span<const TableColumn> columns,
                      ColumnSource from, std::string_view view) {
  std::string list;
  auto source = std::make_unique<ColumnTableSource>(ColumnTableSource{
      database, std::string(name), std::string(view), {}, {}, {}, std::move(from), {}, {}, {}, {}, {}});
  for (const TableColumn& column : columns) {
    list +=
        fmt::format("{}\"{}\" {}", list.empty() ? "" : ", ", column.name, column.untyped ? "" : to_string(column.type));
    source->names.emplace_back(column.name);
    source->types.push_back(column.type);
  }
  for (std::size_t i = 0; i < kSpareColumns; ++i) {
    source->names.push_back(spare_name(i));
    source->types.push_back(ColumnType::kInteger);
    list += fmt::format(", \"{}\" HIDDEN", spare_name(i));
  }
  source->declaration = fmt::format("CREATE TABLE {} ({})", name, list);
  source->columns.resize(source->names.size());
  source->rows_by_key.resize(source->names.size());
  source->lookups.resize(source->names.size());
  ColumnTableSource& table = *source;
  add_module(database, table.name, kColumnModule, std::move(source));
  if (!view.empty()) know(table);
  // Declares the columns, which SqlGuard does not allow later.
  database.query_int64(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", name));
}

}  // namespace tracedb
