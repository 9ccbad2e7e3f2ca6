#include "index/packed_tables.h"

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/unknown.h"
#include "index/packed_columns.h"
#include "sql/tables/column_table.h"

namespace tracedb {
namespace {

using Source = std::function<Database&()>;

ArrayColumn ids_to(std::size_t rows) {
  LargeVector<std::uint32_t> ids(rows);
  std::iota(ids.begin(), ids.end(), 1U);
  return ArrayColumn::of_ids(std::move(ids));
}

// With the ids of flows that are texts, where there are some.
ArrayColumn flow_ids(Database& database, std::span<const std::int64_t> numbers) {
  Statement texts(database, "SELECT id, flow_id FROM flow_text");
  if (!texts.step()) return ArrayColumn::of_numbers(numbers);
  std::vector<ArrayValue> values;
  LargeVector<std::uint32_t> places(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    places[i] = static_cast<std::uint32_t>(values.size());
    values.emplace_back(numbers[i] == kUnknownValue ? ArrayValue() : ArrayValue(numbers[i]));
  }
  do {
    const std::uint32_t id = texts.id(0);
    if (id > 0 && id <= values.size()) values[id - 1] = std::string(texts.text(1));
  } while (texts.step());
  return ArrayColumn::of_values(std::move(places), std::move(values));
}

// The columns of one table that were asked for: what ArrayColumns are views of.
class UnpackedColumns {
 public:
  UnpackedColumns(const PackedTable& table, Source source) : table_(table), source_(std::move(source)) {}

  [[nodiscard]] std::size_t rows() const { return source_ ? row_count(source_(), table_.name) : 0; }
  ArrayColumn make(std::size_t number) {
    if (number == 0) return ids_to(rows());
    const ScanColumn& column = table_.columns[number - 1];
    ColumnValues& values = kept_[number];
    values = std::move(read_columns(source_(), table_.name, std::span(&column, 1)).columns.front());
    if (column.name == "flow_id") return flow_ids(source_(), values.numbers.span());
    if (column.type == ScanType::kNumber) return ArrayColumn::of_numbers(values.numbers.span());
    if (column.type == ScanType::kId) return ArrayColumn::of_ids(values.ids.span());
    std::vector<ArrayValue> choices(1);
    for (const std::string_view choice : column.choices) choices.emplace_back(std::string(choice));
    return ArrayColumn::of_values(values.ids.span(), std::move(choices));
  }

 private:
  const PackedTable& table_;
  Source source_;
  std::map<std::size_t, ColumnValues> kept_;
};

void add_packed_table(Database& database, const PackedTable& table, const Source& source) {
  std::vector<TableColumn> declared = {{"id"}};
  for (const ScanColumn& column : table.columns) {
    declared.push_back({column.name, column.type == ScanType::kChoice ? ColumnType::kText : ColumnType::kInteger});
    declared.back().untyped = column.name == "flow_id";
  }
  const auto unpacked = std::make_shared<UnpackedColumns>(table, source);
  ColumnSource from;
  from.rows = [unpacked] { return unpacked->rows(); };
  from.guess = from.rows;
  from.make = [unpacked](std::size_t column) { return unpacked->make(column); };
  add_column_table(database, std::string(table.name), declared, std::move(from));
}

// The calls of a thread that are open at a time. Rows are in order of start: a block is read only if one of its calls
// may be among them.
void add_open_calls(TableRows& rows, Database& database) {
  const std::int64_t thread = rows.arguments()[0], at = rows.arguments()[1];
  const PackedTable& table = *packed_table("python_call");
  const std::vector<PackedBlock> blocks = packed_blocks(database, table.name);
  BlockReader reader(database, table.name, table.columns);
  for (std::size_t block = 0; block < blocks.size() && blocks[block].first_ts <= at; ++block) {
    if (blocks[block].latest_end <= at) continue;
    reader.skip_to(block * kBlockRows);
    if (!reader.next() || reader.first() != block * kBlockRows) continue;
    const auto ts = reader.numbers(0), dur = reader.numbers(1);
    const auto threads = reader.ids(2), stacks = reader.ids(3);
    for (std::size_t i = 0; i < ts.size() && ts[i] <= at; ++i) {
      if (threads[i] != thread || dur[i] == kUnknownValue || saturating_add(ts[i], dur[i]) <= at) continue;
      rows.add(reader.first() + i + 1, ts[i], dur[i], threads[i], stacks[i]);
    }
  }
}

}  // namespace

void add_packed_tables(Database& database, const Source& source) {
  for (const PackedTable& table : packed_tables()) {
    if (table.alone) add_packed_table(database, table, source);
  }
  constexpr TableColumn kColumns[] = {{"id"}, {"ts"}, {"dur"}, {"thread_id"}, {"stack_id"}};
  constexpr std::string_view kArguments[] = {"of_thread", "at"};
  const auto fill = [source](TableRows& rows) {
    if (source) add_open_calls(rows, source());
  };
  add_table_function(database, "python_calls_at", kColumns, fill, {}, kArguments);
}

SqlFunctionHelp packed_functions_help() {
  return {"python_calls_at", "python_calls_at(thread_id, ts)",
          "the Python calls of a thread that are open at ts, outermost first, with the columns of python_call"};
}

}  // namespace tracedb
