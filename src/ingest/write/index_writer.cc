#include "ingest/write/index_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/text/characters.h"
#include "base/unknown.h"
#include "index/index.h"
#include "ingest/store/records.h"
#include "sql/scripts.h"
#include "trace/event_names.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

constexpr std::string_view kAnnotationKinds[] = {"user", "gpu"};

// Columns whose cells are positions in a list of texts.
struct TextColumn {
  std::string_view table, column;
  std::span<const std::string_view> texts;
};

std::vector<TextColumn> text_columns() {
  return {{"annotation", "kind", kAnnotationKinds}, {"runtime_call", "kind", kCallKindNames},
          {"kernel", "kind", kKernelKindNames},     {"kernel", "pass", kPassNames},
          {"memory_op", "kind", kMemoryKindNames},  {"memory_op", "direction", copy_directions()},
          {"memory_op", "pass", kPassNames},        {"memory_op", "bandwidth_gb_s", TableBuilder::real()}};
}

struct TableLayout {
  std::uint32_t root;                // its first page; 0: packed alone
  std::vector<std::string> columns;  // but for the id
};

// Without a journal and without a sync: a file that is not finished is not kept.
std::unique_ptr<Database> open_for_writing(const std::filesystem::path& path, Database::Mode mode) {
  auto database = std::make_unique<Database>(path, mode);
  database->execute(
      "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; BEGIN");
  return database;
}

TableLayout layout_of(Database& database, std::string_view table) {
  if (const PackedTable* packed = packed_table(table); packed != nullptr && packed->alone) {
    TableLayout layout{0, {}};
    for (const ScanColumn& column : packed->columns) layout.columns.emplace_back(column.name);
    return layout;
  }
  const auto root = database.query_int64(fmt::format("SELECT rootpage FROM sqlite_schema WHERE name = '{}'", table));
  return {static_cast<std::uint32_t>(root.value()),
          database.query_texts("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'", table)};
}

// Returns the layouts of the event tables.
std::vector<TableLayout> create_schema(const std::filesystem::path& path) {
  const std::unique_ptr<Database> database = open_for_writing(path, Database::Mode::kCreate);
  database->execute(script("core"));
  database->execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion));
  std::vector<TableLayout> tables;
  for (std::size_t i = 0; i < kEventTables; ++i) tables.push_back(layout_of(*database, kEventTableNames[i]));
  database->execute("COMMIT");
  return tables;
}

// Differences for what mostly ascends in small steps, or mostly stays: of Python calls also the path, which is mostly
// that of a caller or one called.
ColumnCoding coding_of(const PackedTable& table, std::string_view name) {
  const bool differences = name == "ts" || name == "launch_id" || name == "cpu_op_id" || name == "annotation_id" ||
                           name == "step_id" ||
                           (table.alone && (name == "stack_id" || name == "flow_id" || name == "instant_id"));
  return differences ? ColumnCoding::kDifferences : ColumnCoding::kValues;
}

}  // namespace

IndexWriter::IndexWriter(const std::filesystem::path& index, const Interner& numbers, const std::atomic<bool>* cancel)
    : index_(index), cancel_(cancel), partial_(index) {
  const std::vector<TableLayout> tables = create_schema(partial_.path());
  const std::vector<TextColumn> text_columns = tracedb::text_columns();
  pages_ = std::make_unique<PageFile>(partial_.path());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (const PackedTable* packed = packed_table(kEventTableNames[i])) {
      packers_[i].emplace(*packed, tables[i].columns, index.parent_path());
      if (packed->alone) continue;
    }
    std::vector<std::span<const std::string_view>> texts(tables[i].columns.size());
    for (const TextColumn& column : text_columns) {
      if (column.table != kEventTableNames[i]) continue;
      const auto place = std::ranges::find(tables[i].columns, column.column);
      texts.at(static_cast<std::size_t>(place - tables[i].columns.begin())) = column.texts;
    }
    tables_[i] = std::make_unique<TableBuilder>(*pages_, tables[i].root, std::move(texts),
                                                [&numbers](std::uint32_t id) { return numbers.text(id); });
  }
}

void IndexWriter::add(const RowBlock& block) {
  const auto table = static_cast<std::size_t>(block.table);
  if (tables_[table]) tables_[table]->insert(block.cells);
  if (packers_[table]) packers_[table]->add(block.cells);
}

void IndexWriter::finish_rows() {
  for (auto& table : tables_) {
    if (table) table->finish();
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

const std::filesystem::path& IndexWriter::commit() {
  database_->execute(script("indexes"));
  database_->execute(script("views"));
  database_->execute("COMMIT");
  return partial_.path();
}

std::uint64_t IndexWriter::publish(timespec as_of, const std::function<void()>& before_sync) {
  meta_.reset();
  database_.reset();
  const std::uint64_t size = std::filesystem::file_size(partial_.path());
  // A journal of the old index would be rolled back into the new one.
  for (const char* suffix : {"-journal", "-wal", "-shm"}) ::unlink((index_.string() + suffix).c_str());
  if (before_sync) before_sync();
  partial_.publish(as_of);
  return size;
}

ColumnPacker::ColumnPacker(const PackedTable& table, const std::vector<std::string>& cells,
                           std::filesystem::path directory)
    : table_(table), cells_in_row_(cells.size()), directory_(std::move(directory)) {
  for (const ScanColumn& column : table.columns) {
    const auto found = std::ranges::find(cells, column.name);
    if (found == cells.end()) throw std::logic_error(fmt::format("{} has no {}", table.name, column.name));
    const auto cell = static_cast<std::size_t>(found - cells.begin());
    columns_.push_back({column, cell, coding_of(table, column.name), {}, {}, {}});
  }
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
  for (std::size_t i = column.cell; i < cells.size(); i += cells_in_row_) {
    *to++ = cells[i] < kLeastNumber ? unknown : cells[i] + added;
  }
}

// Of the rows in the frame, for packed_block.
void ColumnPacker::measure_times() {
  const auto frame_of = [&](std::string_view name) {
    const auto column = std::ranges::find(columns_, name, [](const Column& own) { return own.what.name; });
    return column == columns_.end() ? nullptr : column->frame.data();
  };
  const std::int64_t* const ts = frame_of("ts");
  const std::int64_t* const dur = frame_of("dur");
  for (std::size_t i = 0; ts != nullptr && i < in_frame_; ++i) blocks_.back().add(ts[i], dur == nullptr ? 0 : dur[i]);
}

void ColumnPacker::close_frame() {
  if (blocks_.empty() || blocks_.back().rows == kBlockRows) blocks_.emplace_back();
  for (Column& column : columns_) {
    append_frame(column.block, column.coding, std::span(column.frame).first(in_frame_));
  }
  if (table_.alone) measure_times();
  blocks_.back().rows += in_frame_;
  in_frame_ = 0;
  if (blocks_.back().rows == kBlockRows) close_block();
}

void ColumnPacker::close_block() {
  if (!file_) file_ = std::make_unique<TempFile>(directory_);
  for (Column& column : columns_) {
    end_block(column.block);
    column.stored.push_back({file_->size(), column.block.size()});
    file_->append(column.block);
    column.block.clear();
  }
}

void ColumnPacker::write(Database& database) {
  if (in_frame_ > 0) close_frame();
  Statement insert(database, "INSERT INTO packed_column VALUES (?, ?, ?, ?, ?, ?)");
  std::vector<std::byte> stored;
  for (Column& column : columns_) {
    for (std::size_t number = 0; number < blocks_.size(); ++number) {
      const bool is_open = number == column.stored.size();
      if (is_open) {
        end_block(column.block);
      } else {
        stored.resize(column.stored[number].bytes);
        file_->read(column.stored[number].at, stored);
      }
      const std::span<const std::byte> data = is_open ? column.block : stored;
      const auto rows = static_cast<std::int64_t>(blocks_[number].rows);
      insert.bind(1, table_.name).bind(2, column.what.name).bind(3, static_cast<std::int64_t>(number)).bind(4, rows);
      insert.bind(5, data).bind(6, block_hash(data)).run();
    }
  }
  if (!table_.alone) return;
  Statement row(database, "INSERT INTO packed_block VALUES (?, ?, ?, ?, ?, ?)");
  for (std::size_t number = 0; number < blocks_.size(); ++number) {
    const PackedBlock& block = blocks_[number];
    row.bind(1, table_.name).bind(2, static_cast<std::int64_t>(number)).bind(3, static_cast<std::int64_t>(block.rows));
    int place = 4;
    for (const std::int64_t time : {block.first_ts, block.last_ts, block.latest_end}) {
      time == kUnknownValue ? row.bind_null(place) : row.bind(place, time);
      ++place;
    }
    row.run();
  }
}

}  // namespace tracedb
