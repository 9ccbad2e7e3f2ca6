#include "ingest/upgrade.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/file_lock.h"
#include "base/files/input_file.h"
#include "base/unknown.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "ingest/write/index_writer.h"
#include "sql/safety.h"

namespace tracedb {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& index, std::string_view why) {
  throw Error(ErrorCode::kInput,
              fmt::format("{}: {}; ingest its trace again with trace-ingest", printable_path(index), why));
}

std::int64_t cell_of(const Statement& row, int column, const ScanColumn& what) {
  if (what.type == ScanType::kChoice) {
    const auto found = std::ranges::find(what.choices, row.text(column));
    return found == what.choices.end() ? kUnknownValue : found - what.choices.begin();
  }
  return row.type(column) == ValueType::kInteger ? row.int64(column) : kUnknownValue;
}

}  // namespace

void read_unpacked(Database& old, const PackedTable& table,
                   const std::function<void(std::span<const std::int64_t>)>& use) {
  constexpr std::size_t kCells = 32768;
  std::string names = "id";
  for (const ScanColumn& column : table.columns) names += fmt::format(", {}", column.name);
  Statement rows(old, fmt::format("SELECT {} FROM {} ORDER BY id", names, table.name));
  std::vector<std::int64_t> cells;
  for (std::int64_t id = 1; rows.step(); ++id) {
    if (rows.int64(0) != id) refuse(old.path(), fmt::format("the index is damaged: ids of {} have holes", table.name));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      cells.push_back(cell_of(rows, static_cast<int>(i) + 1, table.columns[i]));
    }
    if (cells.size() < kCells) continue;
    use(cells);
    cells.clear();
  }
  use(cells);
}

UpgradeOutcome upgrade_index(const std::filesystem::path& index, const std::atomic<bool>* cancel) {
  const FileLock lock = FileLock::acquire(lock_path(index), cancel, [] {});
  if (!is_upgradable(index)) {
    Index::open(index);  // says what is wrong with it
    return UpgradeOutcome::kCurrent;
  }
  struct stat status {};
  if (::stat(index.c_str(), &status) != 0) refuse(index, "not there any more");
  Database old(index, Database::Mode::kReadOnly);
  harden(old);
  const std::int64_t version = old.query_int64("PRAGMA user_version").value_or(0);
  if (!old.query_int64("SELECT 1 FROM meta WHERE key = 'complete'")) refuse(index, "the index was never finished");

  const auto names = old.query_texts("SELECT name FROM sqlite_schema WHERE type = 'table'");
  const std::set<std::string> tables(names.begin(), names.end());
  const Interner no_texts;
  IndexWriter writer(index, no_texts, cancel);
  for (std::size_t i = 0; i < kEventTables; ++i) {
    const PackedTable* const packed = packed_table(kEventTableNames[i]);
    if (packed == nullptr || !packed->alone || !tables.contains(std::string(packed->name))) continue;
    read_unpacked(old, *packed, [&](std::span<const std::int64_t> cells) {
      writer.add({static_cast<EventTable>(i), {cells.begin(), cells.end()}});
    });
  }
  writer.finish_rows();
  for (const std::string& table : tables) {
    writer.copy_rows(old, table);
  }
  if (tables.contains("flow_unmatched")) {
    Statement texts(old, "SELECT id, flow_id FROM flow_unmatched WHERE typeof(flow_id) = 'text'");
    while (texts.step()) writer.write_flow_text(texts.id(0), texts.text(1));
  }
  writer.meta("schema_version", kSchemaVersion);
  writer.meta("upgraded_from", version);
  writer.commit();
  writer.publish(status.st_mtim);
  return UpgradeOutcome::kUpgraded;
}

}  // namespace tracedb
