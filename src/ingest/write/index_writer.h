// Writes one index: rows as they arrive from the link passes, then dictionaries, sums, counts and meta, then the
// indexes and views of the schema by commit(); publish() makes the file appear under its name.
//
// Use: add() every block, finish_rows(), then the rest. Rows are written past SQLite (sql/file/table_builder.h), which
// has the database open from finish_rows() on only.
//
// The file is written under a private name beside its final one, without a journal: it is worthless until published and
// removed if it never is. One thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/files/partial_file.h"
#include "index/column_codec.h"
#include "index/packed_columns.h"
#include "ingest/link/cpu_links.h"
#include "ingest/link/device_links.h"
#include "ingest/link/devices.h"
#include "ingest/link/flow_links.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/trace_store.h"
#include "sql/database.h"
#include "sql/file/column_scan.h"
#include "sql/file/table_builder.h"

namespace tracedb {

// Packs columns of an event table while its rows are written, for tables packed_column and, of tables without rows of
// their own, packed_block (schema/core.sql). Full blocks go to a nameless file in `directory`. Memory: a block of each
// column, packed, and a frame as it is. One thread.
class ColumnPacker {
 public:
  // `cells`: the columns of a row, which those of the table are among.
  ColumnPacker(const PackedTable& table, const std::vector<std::string>& cells, std::filesystem::path directory);

  void add(std::span<const std::int64_t> cells);  // row-major, whole rows; kUnknownValue where unknown
  void write(Database& database);                 // once, after the last row

 private:
  struct StoredBlock {
    std::uint64_t at = 0;  // in file_
    std::size_t bytes = 0;
  };
  struct Column {
    ScanColumn what;
    std::size_t cell = 0;  // position in a row
    ColumnCoding coding{};
    std::array<std::int64_t, kFrameRows> frame;
    std::vector<std::byte> block;
    std::vector<StoredBlock> stored;
  };

  void gather(Column& column, std::span<const std::int64_t> cells) const;
  void close_frame();
  void close_block();
  void measure_times();

  const PackedTable& table_;
  std::size_t cells_in_row_;
  std::filesystem::path directory_;
  std::vector<Column> columns_;
  std::vector<PackedBlock> blocks_;
  std::size_t in_frame_ = 0;  // rows
  std::unique_ptr<TempFile> file_;
};

class IndexWriter {
 public:
  // `cancel` (may be null): once true, long statements end with Error. `numbers`: the wide ones, see records.h; must
  // live until finish_rows().
  IndexWriter(const std::filesystem::path& index, const Interner& numbers, const std::atomic<bool>* cancel = nullptr);

  void add(const RowBlock& block);
  void finish_rows();

  // All that is no row of an event. Reads store.args and store.counters to their end.
  void write_tables(TraceStore& store, const CpuLinks& cpu, DeviceLinks& links, ArgumentSorter& arguments,
                    std::span<const TextFlowId> flow_ids, const std::vector<DeviceRow>& devices, std::int64_t rank);
  void write_flow_text(std::uint32_t row, std::string_view id);
  // All rows of a table of another index, in the columns that both have; none of a table that is not one of ours.
  void copy_rows(Database& from, const std::string& table);
  void meta(std::string_view key, std::string_view value);
  void meta(std::string_view key, std::int64_t value);

  // Indexes, views, commit: from then on the file can be read as an index, by the name returned. meta() may follow.
  const std::filesystem::path& commit();
  // After commit(). After a call of `before_sync`, fsync, rename, fsync of the directory. Returns the size. The file
  // gets `as_of`, when its trace was looked at, as its modification time (validity.h relies on it).
  std::uint64_t publish(timespec as_of, const std::function<void()>& before_sync = {});

 private:
  std::filesystem::path index_;
  const std::atomic<bool>* cancel_;
  PartialFile partial_;                                             // goes last, after all that have it open
  std::unique_ptr<PageFile> pages_;                                 // until finish_rows()
  std::array<std::unique_ptr<TableBuilder>, kEventTables> tables_;  // null: of those that are packed alone
  std::array<std::optional<ColumnPacker>, kEventTables> packers_;   // until finish_rows()
  std::unique_ptr<Database> database_;                              // from finish_rows() on
  std::unique_ptr<Statement> meta_;
};

}  // namespace tracedb
