#include "sql/tables/column_table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "base/failure.h"
#include "base/unknown.h"
#include "sql/tables/row_batch.h"
#include "sql/tables/table_module.h"

namespace tracedb {
namespace {

// SQLite says of this many columns whether they are used.
constexpr std::size_t kUsedColumns = 63;

// Rows of the table: from `first` on, or those listed. As long as there is a head, the first of them in order are
// there, and the others are in no order.
struct RowList {
  std::size_t first = 0, count = 0;
  bool listed = false;
  LargeVector<std::uint32_t> rows, head;

  [[nodiscard]] std::size_t operator[](std::size_t at) const {
    if (at < head.size()) return head[at];
    return listed ? rows[at] : first + at;
  }
};

// Decides on a plan, and says what it costs.
class Planner {
 public:
  Planner(ColumnTableSource& source, sqlite3_index_info& info) : source_(source), info_(info) {}

  void decide() {
    const double rows = table_size();
    matches_ = rows;
    for (int i = 0; i < info_.nConstraint; ++i) add_term(i);
    add_order();
    plan_.used = info_.colUsed;
    info_.estimatedRows = static_cast<sqlite3_int64>(std::max(matches_, 1.0));
    // A row costs one; a table that must be looked through for each row of another, a little for each of its own.
    info_.estimatedCost = one_value_ ? 20 + matches_ : 1000 + matches_ + rows / 50;
    info_.idxNum = number_of_plan();
    text_ += plan_.order.empty() ? "" : (text_.empty() ? "order" : ", order") + order_text_;
    info_.idxStr = sqlite3_mprintf("%s", text_.c_str());
    info_.needToFreeIdxStr = 1;
  }

 private:
  // A damaged index is found when rows are read, with a better message.
  double table_size() {
    constexpr double kUsual = 1e6;
    double size = kUsual;
    if (catch_error([&] { size = static_cast<double>(source_.from.guess()); })) size = kUsual;
    return std::max(size, 1.0);
  }

  void add_term(int number) {
    const auto& constraint = info_.aConstraint[number];
    const char* sign = sign_of(constraint.op);
    if (constraint.usable == 0 || constraint.iColumn < 0 || sign == nullptr) return;
    if (sqlite3_stricmp(sqlite3_vtab_collation(&info_, number), "BINARY") != 0) return;
    const bool list = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(&info_, number, 1) != 0;
    plan_.terms.push_back({constraint.iColumn, constraint.op, list});
    auto& usage = info_.aConstraintUsage[number];
    usage.argvIndex = static_cast<int>(plan_.terms.size());
    usage.omit = is_decided_here(number, list) ? 1 : 0;
    const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    one_value_ = one_value_ || (equal && !list);
    matches_ *= equal ? 0.02 : 0.25;
    text_ += (text_.empty() ? "" : ", ") + source_.names[static_cast<std::size_t>(constraint.iColumn)] +
             (list ? " IN" : sign);
  }

  static const char* sign_of(unsigned char op) {
    constexpr std::pair<unsigned char, const char*> kSigns[] = {{SQLITE_INDEX_CONSTRAINT_EQ, "="},
                                                                {SQLITE_INDEX_CONSTRAINT_GT, ">"},
                                                                {SQLITE_INDEX_CONSTRAINT_GE, ">="},
                                                                {SQLITE_INDEX_CONSTRAINT_LT, "<"},
                                                                {SQLITE_INDEX_CONSTRAINT_LE, "<="},
                                                                {SQLITE_INDEX_CONSTRAINT_ISNULL, " IS NULL"},
                                                                {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, " IS NOT NULL"}};
    const auto* const found = std::ranges::find(kSigns, op, [](const auto& sign) { return sign.first; });
    return found == std::end(kSigns) ? nullptr : found->second;
  }

  // Whether SQLite need not try the rows again: the value is one that is compared here as it would compare it.
  bool is_decided_here(int number, bool list) {
    const auto& constraint = info_.aConstraint[number];
    const bool null_test =
        constraint.op == SQLITE_INDEX_CONSTRAINT_ISNULL || constraint.op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
    if (null_test) return true;
    sqlite3_value* value = nullptr;
    if (list || sqlite3_vtab_rhs_value(&info_, number, &value) != SQLITE_OK || value == nullptr) return false;
    const int type = sqlite3_value_type(value);
    if (source_.types[static_cast<std::size_t>(constraint.iColumn)] == ColumnType::kText) return type == SQLITE_TEXT;
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
  }

  // All or nothing. Rows come fully sorted, also where SQLite only groups: it may take groups for sorted ones.
  void add_order() {
    for (int i = 0; i < info_.nOrderBy; ++i) {
      const auto& by = info_.aOrderBy[i];
      if (by.iColumn < 0) return plan_.order.clear();
      plan_.order.emplace_back(by.iColumn, by.desc != 0);
      order_text_ += (i == 0 ? " " : ", ") + source_.names[static_cast<std::size_t>(by.iColumn)];
      order_text_ += by.desc != 0 ? " DESC" : "";
    }
    info_.orderByConsumed = info_.nOrderBy > 0 ? 1 : 0;
    plan_.grouped = sqlite3_vtab_distinct(&info_) != 0;
  }

  int number_of_plan() {
    const auto known = std::ranges::find(source_.plans, plan_);
    const auto number = static_cast<int>(known - source_.plans.begin());
    if (known == source_.plans.end()) source_.plans.push_back(plan_);
    return number;
  }

  ColumnTableSource& source_;
  sqlite3_index_info& info_;
  ColumnPlan plan_;
  double matches_ = 0;
  bool one_value_ = false;
  std::string text_, order_text_;  // for EXPLAIN QUERY PLAN
};

// Keys from `first` on, before `end`.
struct KeyRange {
  std::uint64_t first, end;
};

// Finds the rows of a plan.
class RowFinder {
 public:
  RowFinder(ColumnTableSource& source, RowList& list) : source_(source), list_(list) {}

  void find(const ColumnPlan& plan, sqlite3_value** values) {
    list_.first = 0;
    list_.listed = false;
    std::size_t end = source_.rows();
    std::vector<std::pair<const ArrayColumn*, std::vector<KeyRange>>> tests;
    int looked_up = -1;
    for (std::size_t i = 0; i < plan.terms.size(); ++i) {
      const ColumnTerm& term = plan.terms[i];
      const ArrayColumn& column = source_.column(term.column);
      std::vector<KeyRange> ranges = ranges_of(term, values[i]);
      if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].end == column.end_key()) continue;
      if (column.is_ascending() && ranges.size() <= 1) {
        narrow(column, ranges.empty() ? KeyRange{0, 0} : ranges[0], end);
        continue;
      }
      if (looked_up < 0 && ranges.size() == 1 && ranges[0].end - ranges[0].first == 1 && is_looked_up(term)) {
        looked_up = term.column;
        looked_up_key_ = ranges[0].first;
        continue;
      }
      tests.emplace_back(&column, std::move(ranges));
    }
    if (looked_up >= 0) {
      list_looked_up(looked_up, end);
    } else if (!tests.empty()) {
      list_tested(tests.front().first, tests.front().second, end);
      tests.erase(tests.begin());
    }
    for (const auto& [column, ranges] : tests) keep(*column, ranges);
    list_.count = list_.listed ? list_.rows.size() : end - std::min(list_.first, end);
  }

 private:
  // No more than the rows that fulfil the term; what only SQLite can compare is no restriction.
  std::vector<KeyRange> ranges_of(const ColumnTerm& term, sqlite3_value* value) {
    const ArrayColumn& column = source_.column(term.column);
    std::vector<KeyRange> ranges;
    if (!term.is_list) {
      add_range(term, value, ranges);
      return ranges;
    }
    sqlite3_value* one = nullptr;
    for (int code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK && one != nullptr;
         code = sqlite3_vtab_in_next(value, &one)) {
      add_range(term, one, ranges);
    }
    std::ranges::sort(ranges, {}, &KeyRange::first);
    const bool all = std::ranges::any_of(
        ranges, [&](const KeyRange& range) { return range.first == 0 && range.end == column.end_key(); });
    return all ? std::vector<KeyRange>{{0, column.end_key()}} : ranges;
  }

  void add_range(const ColumnTerm& term, sqlite3_value* value, std::vector<KeyRange>& ranges) {
    const ArrayColumn& column = source_.column(term.column);
    const std::uint64_t end = column.end_key();
    if (term.op == SQLITE_INDEX_CONSTRAINT_ISNULL) return ranges.push_back({0, 1});
    if (term.op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return ranges.push_back({1, end});
    const SqlValue wanted = to_sql_value(value);
    if (wanted.index() == 0) return;  // no comparison with NULL is true
    const bool text = source_.types[static_cast<std::size_t>(term.column)] == ColumnType::kText;
    const bool is_bytes = std::holds_alternative<SqlBlob>(wanted);  // which no column has
    if (is_bytes || text != (wanted.index() == 3)) return ranges.push_back({0, end});
    const auto [lower, upper] = column.place_of(wanted);
    KeyRange range{1, end};
    if (term.op == SQLITE_INDEX_CONSTRAINT_EQ) range = {lower, upper};
    if (term.op == SQLITE_INDEX_CONSTRAINT_GT) range.first = upper;
    if (term.op == SQLITE_INDEX_CONSTRAINT_GE) range.first = lower;
    if (term.op == SQLITE_INDEX_CONSTRAINT_LT) range.end = lower;
    if (term.op == SQLITE_INDEX_CONSTRAINT_LE) range.end = upper;
    if (range.first < range.end) ranges.push_back(range);
  }

  void narrow(const ArrayColumn& column, const KeyRange& range, std::size_t& end) {
    const auto first_of = [&, last = std::max(end, list_.first)](std::uint64_t key) {
      return first_not(list_.first, last, [&](std::size_t row) { return column.key(row) < key; });
    };
    const std::size_t behind = first_of(range.end);
    list_.first = first_of(range.first);
    end = behind;
  }

  // The third look-up of a single value in a column is one of many: a join. From then on rows are ordered by it.
  bool is_looked_up(const ColumnTerm& term) {
    const auto column = static_cast<std::size_t>(term.column);
    if (!source_.rows_by_key[column].empty()) return true;
    if (++source_.lookups[column] < 3) return false;
    LargeVector<std::uint32_t> rows(source_.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    const std::array<KeyOrder, 1> by = {{{&source_.column(term.column)}}};
    order_rows(rows, by);
    source_.rows_by_key[column] = std::move(rows);
    return true;
  }

  void list_looked_up(int number, std::size_t end) {
    const ArrayColumn& column = source_.column(number);
    const auto& rows = source_.rows_by_key[static_cast<std::size_t>(number)];
    const auto key_of = [&](std::uint32_t row) { return column.key(row); };
    const auto low = std::ranges::lower_bound(rows, looked_up_key_, {}, key_of);
    const auto high = std::ranges::upper_bound(rows, looked_up_key_, {}, key_of);
    const auto from = std::lower_bound(low, high, static_cast<std::uint32_t>(list_.first));
    list_.listed = true;
    list_.rows.assign(from, std::lower_bound(from, high, static_cast<std::uint32_t>(end)));
  }

  // Ranges are sorted.
  static bool is_in(const std::vector<KeyRange>& ranges, std::uint64_t key) {
    const auto behind = std::ranges::upper_bound(ranges, key, {}, &KeyRange::first);
    return behind != ranges.begin() && key < std::prev(behind)->end;
  }

  void list_tested(const ArrayColumn* column, const std::vector<KeyRange>& ranges, std::size_t end) {
    list_.listed = true;
    list_.rows.resize(end - std::min(list_.first, end));
    std::size_t kept = 0;
    for (std::size_t row = list_.first; row < end; ++row) {
      list_.rows[kept] = static_cast<std::uint32_t>(row);
      kept += is_in(ranges, column->key(row)) ? 1 : 0;
    }
    list_.rows.resize(kept);
  }

  void keep(const ArrayColumn& column, const std::vector<KeyRange>& ranges) {
    std::erase_if(list_.rows, [&](std::uint32_t row) { return !is_in(ranges, column.key(row)); });
  }

  ColumnTableSource& source_;
  RowList& list_;
  std::uint64_t looked_up_key_ = 0;
};

// The order of a plan; none where rows have it already.
std::vector<KeyOrder> order_of(ColumnTableSource& source, const ColumnPlan& plan) {
  std::vector<KeyOrder> by;
  for (const auto& [column, descending] : plan.order) by.push_back({&source.column(column), descending});
  if (by.size() == 1 && by[0].column->is_ascending() && !by[0].descending) by.clear();
  return by;
}

void order_all(RowList& list, std::span<const KeyOrder> by) {
  if (!list.listed) {
    list.rows.resize(list.count);
    std::iota(list.rows.begin(), list.rows.end(), static_cast<std::uint32_t>(list.first));
    list.listed = true;
  }
  order_rows(list.rows, by);
}

// A statement that reads this many rows, or values of a column, is taken for one that reads all.
constexpr std::size_t kFewRows = 200;
constexpr std::size_t kRowsForHead = 20 * kFewRows;

// Those that may fulfil the terms of a plan, given their values, in the order of the plan: of many only a head of them,
// as most statements that sort end after some rows.
void find_rows(ColumnTableSource& source, const ColumnPlan& plan, sqlite3_value** values, RowList& list) {
  list.head.clear();
  RowFinder(source, list).find(plan, values);
  const std::vector<KeyOrder> by = order_of(source, plan);
  if (by.empty()) return;
  if (plan.grouped || list.count < kRowsForHead) return order_all(list, by);
  const auto row_at = [&](std::size_t at) { return static_cast<std::uint32_t>(list[at]); };
  list.head = first_in_order(list.count, row_at, by, kFewRows);
}

// All of them, for a statement that reads on.
void finish_order(ColumnTableSource& source, const ColumnPlan& plan, RowList& list) {
  list.head.clear();
  order_all(list, order_of(source, plan));
}

struct ColumnTable : VirtualTable<ColumnTableSource> {
  using VirtualTable::VirtualTable;
  static std::unique_ptr<ColumnTable> find(ColumnTableSource& from, std::string_view) {
    return std::make_unique<ColumnTable>(from);
  }
  [[nodiscard]] const std::string& declaration() const { return source.declaration; }
  int plan(sqlite3_index_info& info) {
    Planner(source, info).decide();
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

class ColumnCursor : public VirtualCursor {
 public:
  void first(ColumnTable& table, int number, const char*, std::span<sqlite3_value*> values) {
    const ColumnPlan& plan = table.source.plans.at(static_cast<std::size_t>(number));
    plan_ = &plan;
    at_ = 0;
    readers_.clear();
    readers_.resize(table.source.names.size());
    find_rows(table.source, plan, values.data(), rows_);
    to_gather_ = plan.order.empty() || !rows_.listed ? 0 : plan.used;
  }

  void next(ColumnTable& table) {
    constexpr std::size_t kManyRows = 1000;
    if (++at_ == rows_.head.size()) finish_order(table.source, *plan_, rows_);
    if (at_ == kManyRows && to_gather_ != 0) gather_columns(table.source);
  }

  [[nodiscard]] bool at_end() const { return at_ >= rows_.count; }

  void give(ColumnTable& table, sqlite3_context* result, int column) {
    ColumnReader& reader = readers_[static_cast<std::size_t>(column)];
    if (reader.column == nullptr) {
      if (const auto value = table.source.one(column, rows_[at_], single_)) return give_result(result, *value);
      reader.column = &table.source.column(column);
    }
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
      give_result(result, from.values()[place], true);
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

  const ColumnPlan* plan_ = nullptr;
  std::size_t at_ = 0;
  RowList rows_;
  ValueReader single_;                 // empty: not needed so far
  std::uint64_t to_gather_ = 0;        // columns, once many rows were read
  std::vector<ColumnReader> readers_;  // by column
};

constexpr sqlite3_module kColumnModule = TableModule<ColumnTable, ColumnCursor>::eponymous();

}  // namespace

void add_column_table(Database& database, std::string_view name, std::span<const TableColumn> columns,
                      ColumnSource from, std::string_view view) {
  std::string list;
  auto source = std::make_unique<ColumnTableSource>(ColumnTableSource{
      database, std::string(name), std::string(view), {}, {}, {}, std::move(from), {}, {}, {}, {}, {}, {}});
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
  source->read.resize(source->names.size());
  ColumnTableSource& table = *source;
  add_module(database, table.name, kColumnModule, std::move(source));
  if (!view.empty()) database.know(table);
  // Declares the columns, which SqlGuard does not allow later.
  database.query_int64(fmt::format("SELECT count(*) FROM pragma_table_info('{}')", name));
}

ColumnTableSource* column_table(const Database& database, std::string_view view) {
  for (ColumnTableSource* const table : database.sources<ColumnTableSource>()) {
    if (is_same_name(table->view, view)) return table;
  }
  return nullptr;
}

const ArrayColumn& ColumnTableSource::column(int number) {
  const auto place = static_cast<std::size_t>(number);
  const bool is_spare = place + kSpareColumns >= names.size();
  if (!columns[place] && is_spare) {
    columns[place].emplace(ArrayColumn::of_numbers(LargeVector<std::int64_t>(rows(), kUnknownValue)));
  } else if (!columns[place]) {
    columns[place].emplace(from.make(place));
    if (columns[place]->size() != rows()) throw std::logic_error("a column of another length: " + names[place]);
  }
  return *columns[place];
}

std::optional<ArrayValue> ColumnTableSource::one(int number, std::size_t row, ValueReader& reader) {
  const auto place = static_cast<std::size_t>(number);
  if (!from.reader || columns[place] || read[place] == kFewRows || place + kSpareColumns >= names.size()) return {};
  ++read[place];
  if (!reader) reader = from.reader();
  return reader(place, row);
}

int ColumnTableSource::number_of(std::string_view column) const {
  const auto end = names.end() - kSpareColumns;
  const auto found = std::find_if(names.begin(), end, [&](const auto& one) { return is_same_name(one, column); });
  return found == end ? -1 : static_cast<int>(found - names.begin());
}

std::string spare_name(std::size_t number) { return fmt::format("group {}", number + 1); }

std::size_t ColumnTableSource::rows() {
  if (!size) size = from.rows();
  return *size;
}

}  // namespace tracedb
