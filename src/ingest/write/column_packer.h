// Packs columns of an event table while its rows are written, for table packed_column (schema/core.sql). Memory: the
// packed bytes, and a frame of each column as it is. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/column_codec.h"
#include "sql/database.h"
#include "sql/file/column_scan.h"

namespace tracedb {

struct PackedColumn {
  std::string_view name;
  std::size_t cell = 0;  // position in a row
  ScanType type = ScanType::kNumber;
};

class ColumnPacker {
 public:
  ColumnPacker(std::string_view table, const std::vector<PackedColumn>& columns, std::size_t cells_in_row);

  void add(std::span<const std::int64_t> cells);  // row-major, whole rows; kUnknownValue where unknown
  void write(Database& database);                 // once, after the last row

 private:
  struct Block {
    std::size_t rows = 0;
    std::vector<std::byte> data;
  };
  struct Column {
    PackedColumn what;
    ColumnCoding coding;
    std::array<std::int64_t, kFrameRows> frame;
    std::vector<Block> blocks;
  };

  void gather(Column& column, std::span<const std::int64_t> cells) const;
  void close_frame();

  std::string table_;
  std::size_t cells_in_row_;
  std::vector<Column> columns_;
  std::size_t in_frame_ = 0;  // rows
};

}  // namespace tracedb
