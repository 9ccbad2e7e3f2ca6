#include "ingest/write/column_packer.h"

#include <algorithm>

#include "base/unknown.h"
#include "ingest/store/records.h"

namespace tracedb {
namespace {

// Differences for what mostly ascends in small steps, or mostly stays.
ColumnCoding coding_of(std::string_view name) {
  const bool differences =
      name == "ts" || name == "launch_id" || name == "cpu_op_id" || name == "annotation_id" || name == "step_id";
  return differences ? ColumnCoding::kDifferences : ColumnCoding::kValues;
}

}  // namespace

ColumnPacker::ColumnPacker(std::string_view table, const std::vector<PackedColumn>& columns, std::size_t cells_in_row)
    : table_(table), cells_in_row_(cells_in_row) {
  for (const PackedColumn& column : columns) columns_.push_back({column, coding_of(column.name), {}, {}});
}

void ColumnPacker::add(std::span<const std::int64_t> cells) {
  while (!cells.empty()) {
    const std::size_t rows = std::min(cells.size() / cells_in_row_, kFrameRows - in_frame_);
    for (Column& column : columns_) gather(column, cells.first(rows * cells_in_row_));
    in_frame_ += rows;
    if (in_frame_ == kFrameRows) close_frame();
    cells = cells.subspan(rows * cells_in_row_);
  }
}

void ColumnPacker::gather(Column& column, std::span<const std::int64_t> cells) const {
  // Readers of the column do not take texts for numbers either.
  const std::int64_t unknown = column.what.type == ScanType::kNumber ? kUnknownValue : 0;
  const std::int64_t added = column.what.type == ScanType::kChoice ? 1 : 0;
  std::int64_t* to = &column.frame[in_frame_];
  for (std::size_t i = column.what.cell; i < cells.size(); i += cells_in_row_) {
    *to++ = cells[i] < kLeastNumber ? unknown : cells[i] + added;
  }
}

void ColumnPacker::close_frame() {
  for (Column& column : columns_) {
    if (column.blocks.empty() || column.blocks.back().rows == kBlockRows) column.blocks.emplace_back();
    Block& block = column.blocks.back();
    append_frame(block.data, column.coding, std::span(column.frame).first(in_frame_));
    block.rows += in_frame_;
    if (block.rows < kBlockRows) continue;
    end_block(block.data);
    block.data.shrink_to_fit();
  }
  in_frame_ = 0;
}

void ColumnPacker::write(Database& database) {
  if (in_frame_ > 0) close_frame();
  Statement insert(database, "INSERT INTO packed_column VALUES (?, ?, ?, ?, ?, ?)");
  for (Column& column : columns_) {
    std::int64_t number = 0;
    for (Block& block : column.blocks) {
      if (block.rows < kBlockRows) end_block(block.data);
      insert.bind(1, table_).bind(2, column.what.name).bind(3, number++).bind(4, static_cast<std::int64_t>(block.rows));
      insert.bind(5, std::span<const std::byte>(block.data)).bind(6, block_hash(block.data)).run();
    }
    column.blocks = {};
  }
}

}  // namespace tracedb
