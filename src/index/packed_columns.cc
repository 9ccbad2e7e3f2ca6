#include "index/packed_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"
#include "index/column_codec.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr std::array<ScanColumn, 12> kKernelColumns = {{{"ts"},
                                                        {"dur"},
                                                        {"name_id", ScanType::kId, {}},
                                                        {"stream_id", ScanType::kId, {}},
                                                        {"launch_id", ScanType::kId, {}},
                                                        {"cpu_op_id", ScanType::kId, {}},
                                                        {"stack_id", ScanType::kId, {}},
                                                        {"annotation_id", ScanType::kId, {}},
                                                        {"step_id", ScanType::kId, {}},
                                                        {"launch_config_id", ScanType::kId, {}},
                                                        {"kind", ScanType::kChoice, kKernelKindNames},
                                                        {"pass", ScanType::kChoice, kPassNames}}};
constexpr std::array<ScanColumn, 4> kCallColumns = {
    {{"ts"}, {"dur"}, {"name_id", ScanType::kId, {}}, {"kind", ScanType::kChoice, kCallKindNames}}};

constexpr std::array<PackedTable, 2> kTables = {{{"kernel", kKernelColumns}, {"runtime_call", kCallColumns}}};

[[noreturn]] void fail_damaged(const Database& database, std::string_view table, std::string_view column) {
  throw Error(ErrorCode::kInput, fmt::format("{}: packed column {} of table {} is damaged: build the index again "
                                             "(trace-ingest --force)",
                                             printable_path(database.path()), column, table));
}

std::size_t row_count(Database& database, std::string_view table) {
  Statement largest(database, fmt::format("SELECT max(rowid) FROM \"{}\"", table));
  return largest.step() ? largest.id(0) : 0;
}

// Whether the file can have rows with these ids. All bits of all ids first: mostly that is enough, and it is fast.
bool can_be_ids(std::span<const std::uint32_t> ids, std::uint32_t most) {
  const auto all = std::accumulate(ids.begin(), ids.end(), std::uint32_t{0}, std::bit_or<>());
  return all <= most || std::ranges::all_of(ids, [&](std::uint32_t id) { return id <= most; });
}

// All blocks of a column, in order, into an array of all its rows.
template <class T, class Check>
bool unpack(Database& database, Statement& blocks, std::span<T> values, Check check) {
  std::int64_t number = 0;
  for (; blocks.step(); ++number) {
    const std::size_t rows = std::min(values.size(), kBlockRows);
    if (rows == 0 || blocks.int64(0) != number || blocks.int64(1) != static_cast<std::int64_t>(rows)) return false;
    const std::span<const std::byte> block = blocks.blob(2);
    if (block_hash(block) != blocks.int64(3)) return false;
    if (!unpack_block(block, values.first(rows)) || !check(values.first(rows))) return false;
    values = values.subspan(rows);
    database.release_page_cache();
  }
  return values.empty();
}

class Reader {
 public:
  Reader(Database& database, std::string_view table)
      : database_(database),
        table_(table),
        blocks_(database,
                "SELECT block, n, data, hash FROM packed_column WHERE event_table = ? AND name = ? ORDER BY block") {}

  ColumnValues read(const ScanColumn& column, std::size_t rows) {
    ColumnValues values;
    blocks_.bind(1, table_).bind(2, column.name);
    bool sound = false;
    if (column.type == ScanType::kNumber) {
      values.numbers = ColumnArray<std::int64_t>(rows);
      sound = unpack(database_, blocks_, values.numbers.values(), [](std::span<const std::int64_t>) { return true; });
    } else {
      values.ids = ColumnArray<std::uint32_t>(rows);
      const std::uint32_t most =
          column.type == ScanType::kId ? database_.most_rows() : static_cast<std::uint32_t>(column.choices.size());
      sound = unpack(database_, blocks_, values.ids.values(),
                     [most](std::span<const std::uint32_t> ids) { return can_be_ids(ids, most); });
    }
    blocks_.reset();
    if (!sound) fail_damaged(database_, table_, column.name);
    return values;
  }

 private:
  Database& database_;
  std::string_view table_;
  Statement blocks_;
};

}  // namespace

std::span<const PackedTable> packed_tables() { return kTables; }

bool is_packed(Database& database, std::string_view table, std::string_view column) {
  Statement any(database, "SELECT 1 FROM packed_column WHERE event_table = ? AND name = ? LIMIT 1");
  return any.bind(1, table).bind(2, column).step();
}

ScannedColumns read_columns(Database& database, std::string_view table, std::span<const ScanColumn> columns) {
  std::vector<bool> packed;
  std::vector<ScanColumn> others;
  for (const ScanColumn& column : columns) {
    packed.push_back(is_packed(database, table, column.name));
    if (!packed.back()) others.push_back(column);
  }
  if (others.size() == columns.size()) return scan_columns(database, table, columns);
  ScannedColumns scanned;
  if (!others.empty()) scanned = scan_columns(database, table, others);
  ScannedColumns out;
  out.rows = row_count(database, table);
  Reader reader(database, table);
  for (std::size_t i = 0, other = 0; i < columns.size(); ++i) {
    out.columns.push_back(packed[i] ? reader.read(columns[i], out.rows) : std::move(scanned.columns[other++]));
  }
  return out;
}

}  // namespace tracedb
