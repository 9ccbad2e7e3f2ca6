#include "sql/tables/table_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>

#include "base/unknown.h"
#include "sql/tables/table_module.h"

namespace tracedb {
namespace {

// One table of one connection.
struct FunctionSource {
  Database& database;
  std::string name, declaration;
  std::size_t columns, arguments;
  FillTable fill;
  std::vector<RowOrder> order;
  std::shared_ptr<const TableRows> rows;

  const std::shared_ptr<const TableRows>& filled(std::uint64_t used, std::size_t most,
                                                 std::vector<std::int64_t> given) {
    if (!rows || !rows->serve(used, most) || !std::ranges::equal(rows->arguments(), given)) {
      auto fresh = std::make_shared<TableRows>(columns, rows ? used | rows->used() : used, most, std::move(given));
      fill(*fresh);
      if (!fresh->is_whole()) throw std::logic_error("a row without all of its cells: " + declaration);
      rows = std::move(fresh);
    }
    return rows;
  }
};

bool is_own_order(const sqlite3_index_info& plan, const std::vector<RowOrder>& order) {
  const std::span wanted(plan.aOrderBy, static_cast<std::size_t>(plan.nOrderBy));
  return wanted.size() <= order.size() &&
         std::equal(wanted.begin(), wanted.end(), order.begin(), [](const auto& a, const RowOrder& b) {
           return a.iColumn == static_cast<int>(b.column) && (a.desc != 0) == b.descending;
         });
}

// Where rows come in the order that is asked for, and nothing but LIMIT and OFFSET is said of them, their values are
// arguments of first_row().
void pass_limit(sqlite3_index_info& plan) {
  int limit = -1, offset = -1;
  for (int i = 0; i < plan.nConstraint; ++i) {
    const auto& constraint = plan.aConstraint[i];
    if (constraint.op == SQLITE_INDEX_CONSTRAINT_LIMIT && constraint.usable != 0) {
      limit = i;
    } else if (constraint.op == SQLITE_INDEX_CONSTRAINT_OFFSET && constraint.usable != 0) {
      offset = i;
    } else {
      return;
    }
  }
  if (limit < 0) return;
  plan.aConstraintUsage[limit].argvIndex = 1;
  if (offset >= 0) plan.aConstraintUsage[offset].argvIndex = 2;
}

// The values of the arguments, in their order, are those of first_row(). False: one is not known in this order of
// tables. Throws where a statement gives none.
bool pass_arguments(sqlite3_index_info& plan, const FunctionSource& source) {
  std::vector<int> given(source.arguments, -1);
  std::size_t named = 0;
  for (int i = 0; i < plan.nConstraint; ++i) {
    const auto& constraint = plan.aConstraint[i];
    const auto argument = static_cast<std::size_t>(constraint.iColumn) - source.columns;
    if (constraint.iColumn < static_cast<int>(source.columns) || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    ++named;
    if (constraint.usable != 0) given[argument] = i;
  }
  if (named < source.arguments) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} takes {} arguments, in parentheses behind its name", source.name, source.arguments));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) return false;
    plan.aConstraintUsage[given[i]].argvIndex = static_cast<int>(i) + 1;
    plan.aConstraintUsage[given[i]].omit = 1;
  }
  return true;
}

struct FunctionTable : VirtualTable<FunctionSource> {
  using VirtualTable::VirtualTable;
  static std::unique_ptr<FunctionTable> find(FunctionSource& from, std::string_view) {
    return std::make_unique<FunctionTable>(from);
  }
  [[nodiscard]] const std::string& declaration() const { return source.declaration; }

  int plan(sqlite3_index_info& info) {
    constexpr double kScan = 1e6;  // rather than as the inner of two loops
    info.estimatedCost = kScan;
    constexpr sqlite3_uint64 kMostBits = std::numeric_limits<int>::max();
    info.idxNum = info.colUsed <= kMostBits ? static_cast<int>(info.colUsed) : -1;  // -1: any
    if (source.arguments > 0) {
      info.estimatedCost = 1;
      return pass_arguments(info, source) ? SQLITE_OK : SQLITE_CONSTRAINT;
    }
    if (source.order.empty() || !is_own_order(info, source.order)) return SQLITE_OK;
    info.orderByConsumed = info.nOrderBy > 0 ? 1 : 0;
    pass_limit(info);
    return SQLITE_OK;
  }
};

// Of LIMIT and OFFSET; 0: all.
std::size_t most_rows(std::span<sqlite3_value*> values) {
  if (values.empty() || sqlite3_value_int64(values[0]) < 0) return 0;
  const std::int64_t limit = std::max<std::int64_t>(sqlite3_value_int64(values[0]), 1);
  const std::int64_t offset = values.size() < 2 ? 0 : std::max<std::int64_t>(sqlite3_value_int64(values[1]), 0);
  return static_cast<std::size_t>(saturating_add(limit, offset));
}

class FunctionCursor : public VirtualCursor {
 public:
  void first(FunctionTable& table, int used, const char*, std::span<sqlite3_value*> values) {
    row_ = 0;
    const std::uint64_t wanted = used < 0 ? TableRows::kAllColumns : static_cast<std::uint64_t>(used);
    if (table.source.arguments == 0) {
      rows_ = table.source.filled(wanted, most_rows(values), {});
      return;
    }
    std::vector<std::int64_t> given;
    for (sqlite3_value* value : values) {
      given.push_back(sqlite3_value_type(value) == SQLITE_NULL ? kUnknownValue : sqlite3_value_int64(value));
    }
    rows_ = table.source.filled(wanted, 0, std::move(given));
  }

  void next(FunctionTable&) { ++row_; }
  [[nodiscard]] bool at_end() const { return row_ >= rows_->size(); }

  void give(FunctionTable& table, sqlite3_context* result, int column) {
    if (const auto number = static_cast<std::size_t>(column); number >= table.source.columns) {
      return sqlite3_result_int64(result, rows_->arguments()[number - table.source.columns]);
    }
    const TableRows::Cell& cell = rows_->cell(row_, static_cast<std::size_t>(column));
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      sqlite3_result_int64(result, *integer);
    } else if (const auto* real = std::get_if<double>(&cell)) {
      sqlite3_result_double(result, *real);
    } else if (const auto* text = std::get_if<const std::string*>(&cell)) {
      sqlite3_result_text64(result, (*text)->data(), (*text)->size(), SQLITE_STATIC, SQLITE_UTF8);
    }
  }

  [[nodiscard]] std::int64_t rowid() const { return static_cast<std::int64_t>(row_) + 1; }

 private:
  std::shared_ptr<const TableRows> rows_;
  std::size_t row_ = 0;
};

constexpr sqlite3_module kFunctionModule = TableModule<FunctionTable, FunctionCursor>::eponymous();

}  // namespace

std::string_view to_string(ColumnType type) {
  constexpr std::array<std::string_view, 3> kNames = {"INTEGER", "REAL", "TEXT"};
  return kNames.at(static_cast<std::size_t>(type));
}

bool TableRows::wants(std::size_t column) const {
  constexpr std::size_t kLastBit = 63;
  const bool wanted = used_ >> std::min(column, kLastBit) != 0;
  lacks_columns_ = lacks_columns_ || !wanted;
  return wanted;
}

std::size_t TableRows::most() const {
  lacks_rows_ = most_ != 0;
  return most_;
}

bool TableRows::serve(std::uint64_t used, std::size_t most) const {
  return (!lacks_columns_ || (used & ~used_) == 0) && (!lacks_rows_ || (most != 0 && most <= most_));
}

TableRows& TableRows::add(std::string_view value) {
  auto known = texts_.find(value);
  if (known == texts_.end()) known = texts_.emplace(value).first;
  cells_.emplace_back(&*known);
  return *this;
}

void add_table_function(Database& database, std::string_view name, std::span<const TableColumn> columns, FillTable fill,
                        std::vector<RowOrder> order, std::span<const std::string_view> arguments) {
  std::string list;
  for (const TableColumn& column : columns) {
    list += fmt::format("{}\"{}\" {}", list.empty() ? "" : ", ", column.name, to_string(column.type));
  }
  std::string given;
  for (const std::string_view argument : arguments) {
    list += fmt::format(", \"{}\" INTEGER HIDDEN", argument);
    given += given.empty() ? "(NULL" : ", NULL";
  }
  if (!given.empty()) given += ')';
  auto source = std::make_unique<FunctionSource>(FunctionSource{database,
                                                                std::string(name),
                                                                fmt::format("CREATE TABLE {} ({})", name, list),
                                                                columns.size(),
                                                                arguments.size(),
                                                                std::move(fill),
                                                                std::move(order),
                                                                {}});
  add_module(database, std::string(name), kFunctionModule, std::move(source));
  // Declares the columns, which SqlGuard does not allow later.
  const Statement declared(database, fmt::format("SELECT 1 FROM temp.{}{}", name, given));
}

}  // namespace tracedb
