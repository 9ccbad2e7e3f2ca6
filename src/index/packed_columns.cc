#include "index/packed_columns.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr ScanColumn id_column(std::string_view name) { return {name, ScanType::kId}; }

constexpr ScanColumn kKernelColumns[] = {{"ts"},
                                         {"dur"},
                                         id_column("name_id"),
                                         id_column("stream_id"),
                                         id_column("launch_id"),
                                         id_column("cpu_op_id"),
                                         id_column("stack_id"),
                                         id_column("annotation_id"),
                                         id_column("step_id"),
                                         id_column("launch_config_id"),
                                         {"kind", ScanType::kChoice, kKernelKindNames},
                                         {"pass", ScanType::kChoice, kPassNames}};
constexpr std::array<ScanColumn, 4> kCallColumns = {
    {{"ts"}, {"dur"}, id_column("name_id"), {"kind", ScanType::kChoice, kCallKindNames}}};

constexpr std::string_view kFlowPhases[] = {"s", "t", "f"};
constexpr std::array<ScanColumn, 4> kPythonColumns = {{{"ts"}, {"dur"}, id_column("thread_id"), id_column("stack_id")}};
constexpr ScanColumn kFlowColumns[] = {{"ts"},      id_column("category_id"), {"ph", ScanType::kChoice, kFlowPhases},
                                       {"flow_id"}, id_column("process_id"),  id_column("thread_id")};

constexpr ScanColumn kMemoryColumns[] = {id_column("instant_id"), {"device_type"},    {"device_id"}, {"ended"},
                                         {"total_change"},        {"reserved_change"}};

constexpr std::array<PackedTable, 5> kTables = {{{"kernel", kKernelColumns},
                                                 {"runtime_call", kCallColumns},
                                                 {"python_call", kPythonColumns, true},
                                                 {"flow_unmatched", kFlowColumns, true},
                                                 {"memory_event", kMemoryColumns, true}}};

[[noreturn]] void fail_damaged(const Database& database, std::string_view table, std::string_view column) {
  throw Error(ErrorCode::kInput, fmt::format("{}: packed column {} of table {} is damaged: build the index again "
                                             "(trace-ingest --force)",
                                             printable_path(database.path()), column, table));
}

bool is_alone(std::string_view table) {
  const PackedTable* const packed = packed_table(table);
  return packed != nullptr && packed->alone;
}

constexpr const char* kBlockData =
    "SELECT n, data, hash FROM packed_column WHERE event_table = ? AND name = ? AND block = ?";

// Whether the file can have rows with these ids. All bits of all ids first: mostly that is enough, and it is fast.
bool can_be_ids(std::span<const std::uint32_t> ids, std::uint32_t most) {
  const auto all = std::accumulate(ids.begin(), ids.end(), std::uint32_t{0}, std::bit_or<>());
  return all <= most || std::ranges::all_of(ids, [&](std::uint32_t id) { return id <= most; });
}

// The largest value that a column of ids, or of places in a list, can have.
std::uint32_t most_of(const Database& database, const ScanColumn& column) {
  return column.type == ScanType::kId ? database.most_rows() : static_cast<std::uint32_t>(column.choices.size());
}

// The next row of kBlockData: a block of so many values; false if it is not.
template <class T>
bool unpack_row(Statement& row, std::span<T> values, std::uint32_t most) {
  if (!row.step() || row.int64(0) != std::ssize(values)) return false;
  const std::span<const std::byte> block = row.blob(1);
  if (block_hash(block) != row.int64(2) || !unpack_block(block, values)) return false;
  if constexpr (std::is_same_v<T, std::uint32_t>) return can_be_ids(values, most);
  return true;
}

template <class T>
bool unpack_block_of(Statement& data, std::string_view table, const ScanColumn& column, std::size_t block,
                     std::span<T> values, std::uint32_t most) {
  data.bind(1, table).bind(2, column.name).bind(3, static_cast<std::int64_t>(block));
  const bool sound = unpack_row(data, values, most);
  data.reset();
  return sound;
}

void note_damage(Database& database, std::string_view table, std::string_view column, std::size_t block,
                 std::size_t rows) {
  database.keep_note(
      fmt::format("{} of {} lost: block {} of packed column {} is damaged; build the index again "
                  "(trace-ingest --force)",
                  counted(rows, "row"), table, block, column));
}

template <class T>
void read_blocks(Database& database, std::string_view table, const ScanColumn& column, std::span<T> values, T unknown) {
  const bool alone = is_alone(table);
  const std::uint32_t most = most_of(database, column);
  Statement data(database, kBlockData);
  std::size_t block = 0;
  for (; !values.empty(); ++block) {
    const std::span<T> own = values.first(std::min(values.size(), kBlockRows));
    if (!unpack_block_of(data, table, column, block, own, most)) {
      if (!alone) fail_damaged(database, table, column.name);
      std::ranges::fill(own, unknown);
      note_damage(database, table, column.name, block, own.size());
    }
    values = values.subspan(own.size());
    database.release_page_cache();
  }
  data.bind(1, table).bind(2, column.name).bind(3, static_cast<std::int64_t>(block));
  if (data.step() && !alone) fail_damaged(database, table, column.name);
}

ColumnValues read_packed(Database& database, std::string_view table, const ScanColumn& column, std::size_t rows) {
  ColumnValues values;
  if (column.type == ScanType::kNumber) {
    values.numbers = ColumnArray<std::int64_t>(rows);
    read_blocks(database, table, column, values.numbers.values(), kUnknownValue);
  } else {
    values.ids = ColumnArray<std::uint32_t>(rows);
    read_blocks(database, table, column, values.ids.values(), std::uint32_t{0});
  }
  return values;
}

}  // namespace

std::span<const PackedTable> packed_tables() { return kTables; }

const PackedTable* packed_table(std::string_view name) {
  const auto* const found = std::ranges::find(kTables, name, &PackedTable::name);
  return found == kTables.end() ? nullptr : found;
}

std::size_t row_count(Database& database, std::string_view table) {
  if (!is_alone(table)) {
    Statement largest(database, fmt::format("SELECT max(rowid) FROM \"{}\"", table));
    return largest.step() ? largest.id(0) : 0;
  }
  std::size_t rows = 0;
  for (const PackedBlock& block : packed_blocks(database, table)) rows += block.rows;
  return rows;
}

std::vector<PackedBlock> packed_blocks(Database& database, std::string_view table) {
  std::vector<PackedBlock> blocks;
  const auto time = [](const Statement& row, int column) {
    return row.is_null(column) ? kUnknownValue : row.int64(column);
  };
  Statement rows(
      database, "SELECT block, n, first_ts, last_ts, latest_end FROM packed_block WHERE event_table = ? ORDER BY block",
      table);
  bool sound = true;
  while (sound && rows.step()) {
    const bool is_next = rows.int64(0) == std::ssize(blocks) && (blocks.empty() || blocks.back().rows == kBlockRows);
    sound = is_next && rows.int64(1) > 0 && rows.int64(1) <= std::int64_t{kBlockRows};
    blocks.push_back({static_cast<std::size_t>(rows.int64(1)), time(rows, 2), time(rows, 3), time(rows, 4)});
  }
  // Whatever is as large as all rows must take memory in proportion to the file: a block has this many bytes at least.
  constexpr std::uint64_t kLeastBytes = kBlockRows / kFrameRows * 12;
  std::error_code error;
  const std::uint64_t full = blocks.empty() ? 0 : blocks.size() - 1;
  sound = sound && full <= std::filesystem::file_size(database.path(), error) / kLeastBytes &&
          full < std::numeric_limits<std::uint32_t>::max() / kBlockRows;
  if (!sound) {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: the blocks of {} in packed_block are damaged: build the index again "
                            "(trace-ingest --force)",
                            printable_path(database.path()), table));
  }
  return blocks;
}

BlockReader::BlockReader(Database& database, std::string_view table, std::span<const ScanColumn> columns)
    : database_(database), table_(table), blocks_(packed_blocks(database, table)), data_(database, kBlockData) {
  for (const ScanColumn& column : columns) columns_.push_back({column, {}, {}});
}

bool BlockReader::read_block(Column& column, std::size_t rows) {
  const std::size_t block = *held_;
  const std::uint32_t most = most_of(database_, column.what);
  bool sound = false;
  if (column.what.type == ScanType::kNumber) {
    column.numbers.resize(rows);
    sound = unpack_block_of(data_, table_, column.what, block, std::span(column.numbers), most);
  } else {
    column.ids.resize(rows);
    sound = unpack_block_of(data_, table_, column.what, block, std::span(column.ids), most);
  }
  if (!sound) note_damage(database_, table_, column.what.name, block, rows);
  return sound;
}

bool BlockReader::next() {
  while (block_ < blocks_.size()) {
    held_ = block_++;
    first_ = *held_ * kBlockRows;
    rows_ = blocks_[*held_].rows;
    const auto read = [&](Column& column) { return read_block(column, blocks_[*held_].rows); };
    const bool sound = std::ranges::all_of(columns_, read);
    database_.release_page_cache();
    if (sound) return true;
  }
  return false;
}

std::size_t BlockReader::rows_before(std::int64_t ts) {
  const auto later = std::ranges::lower_bound(blocks_, ts, {}, &PackedBlock::last_ts);
  const auto block = static_cast<std::size_t>(later - blocks_.begin());
  const std::size_t before = block * kBlockRows;
  if (later == blocks_.end()) return blocks_.empty() ? 0 : before - kBlockRows + blocks_.back().rows;
  if (later->first_ts >= ts) return before;
  if (held_ != block) {
    held_ = block;
    if (!read_block(columns_.front(), later->rows)) columns_.front().numbers.clear();
  }
  const std::vector<std::int64_t>& times = columns_.front().numbers;
  return before + static_cast<std::size_t>(std::ranges::lower_bound(times, ts) - times.begin());
}

bool is_packed(Database& database, std::string_view table, std::string_view column) {
  if (is_alone(table)) return true;
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
  for (std::size_t i = 0, other = 0; i < columns.size(); ++i) {
    out.columns.push_back(packed[i] ? read_packed(database, table, columns[i], out.rows)
                                    : std::move(scanned.columns[other++]));
  }
  return out;
}

}  // namespace tracedb
