#include "ingest/write/index_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/unknown.h"
#include "index/index.h"
#include "index/packed_columns.h"
#include "ingest/store/records.h"
#include "sql/scripts.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr std::string_view kAnnotationKinds[] = {"user", "gpu"};
constexpr std::string_view kFlowPhases[] = {"s", "t", "f"};

struct Column {
  std::string_view name;
  std::span<const std::string_view> texts = {};  // not empty: cells are positions in it
};

struct TableLayout {
  std::string_view name;
  std::vector<Column> columns;
};

// In the order of EventTable; columns in the order the link passes send the cells, which is that of the schema.
std::vector<TableLayout> layouts() {
  return {
      {"annotation",
       {{"ts"},
        {"dur"},
        {"kind", kAnnotationKinds},
        {"thread_id"},
        {"stream_id"},
        {"name_id"},
        {"external_id"},
        {"parent_id"}}},
      {"cpu_op",
       {{"ts"},
        {"dur"},
        {"thread_id"},
        {"name_id"},
        {"external_id"},
        {"parent_id"},
        {"depth"},
        {"sequence_number"},
        {"shape_id"}}},
      {"python_call", {{"ts"}, {"dur"}, {"thread_id"}, {"stack_id"}}},
      {"runtime_call",
       {{"ts"},
        {"dur"},
        {"thread_id"},
        {"name_id"},
        {"correlation"},
        {"external_id"},
        {"kind", kCallKindNames},
        {"cpu_op_id"},
        {"stack_id"},
        {"annotation_id"},
        {"step_id"}}},
      {"kernel",
       {{"ts"},
        {"dur"},
        {"name_id"},
        {"stream_id"},
        {"correlation"},
        {"external_id"},
        {"launch_id"},
        {"cpu_op_id"},
        {"stack_id"},
        {"annotation_id"},
        {"step_id"},
        {"graph_id"},
        {"graph_node_id"},
        {"launch_config_id"},
        {"first_of_launch"},
        {"kind", kKernelKindNames},
        {"pass", kPassNames}}},
      {"memory_op",
       {{"ts"},
        {"dur"},
        {"kind", kMemoryKindNames},
        {"direction", copy_directions()},
        {"name_id"},
        {"bytes"},
        {"bandwidth_gb_s", TableBuilder::real()},
        {"stream_id"},
        {"correlation"},
        {"external_id"},
        {"launch_id"},
        {"cpu_op_id"},
        {"stack_id"},
        {"annotation_id"},
        {"step_id"},
        {"pass", kPassNames}}},
      {"slice", {{"ts"}, {"dur"}, {"category_id"}, {"name_id"}, {"process_id"}, {"thread_id"}}},
      {"instant", {{"ts"}, {"category_id"}, {"name_id"}, {"process_id"}, {"thread_id"}, {"bytes"}}},
      {"flow_unmatched", {{"ts"}, {"category_id"}, {"ph", kFlowPhases}, {"flow_id"}, {"process_id"}, {"thread_id"}}},
  };
}

// Without a journal and without a sync: a file that is not finished is not kept.
std::unique_ptr<Database> open_for_writing(const std::filesystem::path& path, Database::Mode mode) {
  auto database = std::make_unique<Database>(path, mode);
  database->execute(
      "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; BEGIN");
  return database;
}

// Cells are stored by position: the two lists of columns must be the same.
std::uint32_t root_of(Database& database, const TableLayout& table) {
  std::string ours;
  for (const Column& column : table.columns) ours.append(ours.empty() ? "" : ",").append(column.name);
  const auto theirs = database.query_text(
      fmt::format("SELECT group_concat(name, ',') FROM pragma_table_info('{}') WHERE name <> 'id'", table.name));
  if (theirs != ours) throw std::logic_error(fmt::format("the columns of {} are not those of the schema", table.name));
  const auto root =
      database.query_int64(fmt::format("SELECT rootpage FROM sqlite_schema WHERE name = '{}'", table.name));
  return static_cast<std::uint32_t>(root.value());
}

ColumnPacker packer_of(const PackedTable& packed, const TableLayout& table) {
  std::vector<PackedColumn> columns;
  for (const ScanColumn& column : packed.columns) {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const Column& ours) { return ours.name == column.name; });
    if (found == table.columns.end()) throw std::logic_error(fmt::format("{} has no {}", table.name, column.name));
    columns.push_back({column.name, static_cast<std::size_t>(found - table.columns.begin()), column.type});
  }
  return {table.name, columns, table.columns.size()};
}

using Roots = std::array<std::uint32_t, kEventTables>;

Roots create_schema(const std::filesystem::path& path, const std::vector<TableLayout>& tables) {
  const std::unique_ptr<Database> database = open_for_writing(path, Database::Mode::kCreate);
  database->execute(script("core"));
  database->execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion));
  Roots roots{};
  for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = root_of(*database, tables[i]);
  database->execute("COMMIT");
  return roots;
}

}  // namespace

IndexWriter::IndexWriter(const std::filesystem::path& index, const Interner& numbers, const std::atomic<bool>* cancel)
    : index_(index), cancel_(cancel), partial_(index) {
  const std::vector<TableLayout> tables = layouts();
  const Roots roots = create_schema(partial_.path(), tables);
  pages_ = std::make_unique<PageFile>(partial_.path());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::vector<std::span<const std::string_view>> texts;
    for (const Column& column : tables[i].columns) texts.push_back(column.texts);
    tables_[i] = std::make_unique<TableBuilder>(*pages_, roots[i], std::move(texts),
                                                [&numbers](std::uint32_t id) { return numbers.text(id); });
    for (const PackedTable& packed : packed_tables()) {
      if (packed.name == tables[i].name) packers_[i].emplace(packer_of(packed, tables[i]));
    }
  }
}

void IndexWriter::add(const RowBlock& block) {
  const auto table = static_cast<std::size_t>(block.table);
  tables_[table]->insert(block.cells);
  if (packers_[table]) packers_[table]->add(block.cells);
}

void IndexWriter::finish_rows() {
  for (auto& table : tables_) {
    table->finish();
    table.reset();
  }
  pages_->close();
  pages_.reset();
  database_ = open_for_writing(partial_.path(), Database::Mode::kReadWrite);
  database_->interrupt_on(cancel_);
  meta_ = std::make_unique<Statement>(*database_, "INSERT OR REPLACE INTO meta VALUES (?, ?)");
  for (auto& packer : packers_) {
    if (packer) packer->write(*database_);
    packer.reset();
  }
}

void IndexWriter::meta(std::string_view key, std::string_view value) {
  meta_->bind(1, storable_utf8(key).text).bind(2, storable_utf8(value).text).run();
}
void IndexWriter::meta(std::string_view key, std::int64_t value) { meta(key, std::to_string(value)); }

std::uint64_t IndexWriter::publish(timespec as_of, const std::function<void()>& before_sync) {
  database_->execute(script("indexes"));
  database_->execute(script("views"));
  meta_.reset();
  database_->execute("COMMIT");
  database_.reset();
  const std::uint64_t size = std::filesystem::file_size(partial_.path());
  // A journal of the old index would be rolled back into the new one.
  for (const char* suffix : {"-journal", "-wal", "-shm"}) ::unlink((index_.string() + suffix).c_str());
  if (before_sync) before_sync();
  partial_.publish(as_of);
  return size;
}

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
