#include "sql/bulk_insert.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <new>

namespace tracedb {

struct BulkInserter::Source {
  std::vector<BulkColumn> columns;
  std::string declaration;
  std::span<const std::int64_t> cells;
};

namespace {

template <class T>
struct Table : sqlite3_vtab {
  T* source = nullptr;
};

template <class T>
struct Cursor : sqlite3_vtab_cursor {
  std::size_t row = 0;  // position of the row's first cell
};

// The callbacks of an eponymous virtual table over Source; T is BulkInserter::Source, which is private there.
template <class T>
struct Module {
  static int connect(sqlite3* db, void* aux, int /*argc*/, const char* const* /*argv*/, sqlite3_vtab** out,
                     char** /*e*/) {
    auto* table = new (std::nothrow) Table<T>{};
    if (table == nullptr) return SQLITE_NOMEM;
    table->source = static_cast<T*>(aux);
    *out = table;
    return sqlite3_declare_vtab(db, table->source->declaration.c_str());
  }
  static int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table<T>*>(table);
    return SQLITE_OK;
  }
  static int best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* info) {
    info->estimatedCost = 1;
    return SQLITE_OK;
  }
  static int open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** out) {
    auto* cursor = new (std::nothrow) Cursor<T>{};
    if (cursor == nullptr) return SQLITE_NOMEM;
    *out = cursor;
    return SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor<T>*>(cursor);
    return SQLITE_OK;
  }
  static T& source(sqlite3_vtab_cursor* cursor) { return *static_cast<Table<T>*>(cursor->pVtab)->source; }
  static std::size_t& row(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor<T>*>(cursor)->row; }

  static int filter(sqlite3_vtab_cursor* cursor, int /*n*/, const char* /*s*/, int /*argc*/, sqlite3_value** /*argv*/) {
    row(cursor) = 0;
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* cursor) {
    row(cursor) += source(cursor).columns.size();
    return SQLITE_OK;
  }
  static int eof(sqlite3_vtab_cursor* cursor) { return row(cursor) >= source(cursor).cells.size() ? 1 : 0; }
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
    const auto index = static_cast<std::size_t>(number);
    const std::int64_t cell = source(cursor).cells[row(cursor) + index];
    const auto& texts = source(cursor).columns[index].texts;
    if (cell == BulkInserter::kNullCell) {
      sqlite3_result_null(context);
    } else if (texts.empty()) {
      sqlite3_result_int64(context, cell);
    } else {
      const std::string_view text = texts[static_cast<std::size_t>(cell)];
      sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }
    return SQLITE_OK;
  }
  static int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(row(cursor));
    return SQLITE_OK;
  }
  static const sqlite3_module* module() {
    static const sqlite3_module kModule = [] {
      sqlite3_module m{};
      m.xConnect = &connect;
      m.xBestIndex = &best_index;
      m.xDisconnect = &disconnect;
      m.xOpen = &open;
      m.xClose = &close;
      m.xFilter = &filter;
      m.xNext = &next;
      m.xEof = &eof;
      m.xColumn = &column;
      m.xRowid = &rowid;
      return m;
    }();
    return &kModule;
  }
};

std::string names(const std::vector<BulkColumn>& columns) {
  std::string out;
  for (const BulkColumn& column : columns) out.append(out.empty() ? "" : ",").append(column.name);
  return out;
}

}  // namespace

BulkInserter::BulkInserter(Database& database, std::string_view table, std::vector<BulkColumn> columns)
    : source_(std::make_unique<Source>()) {
  const std::string list = names(columns);
  source_->declaration = fmt::format("CREATE TABLE x({})", list);
  source_->columns = std::move(columns);
  const std::string module = fmt::format("bulk_{}", table);
  const int code =
      sqlite3_create_module_v2(database.handle(), module.c_str(), Module<Source>::module(), source_.get(), nullptr);
  if (code != SQLITE_OK) database.fail(code, "cannot prepare loading");
  statement_ = std::make_unique<Statement>(
      database, fmt::format("INSERT INTO {}({}) SELECT {} FROM {}", table, list, list, module));
}

BulkInserter::~BulkInserter() = default;

void BulkInserter::insert(std::span<const std::int64_t> cells) {
  source_->cells = cells;
  statement_->run();
  rows_ += cells.size() / source_->columns.size();
}

std::size_t BulkInserter::column_count() const { return source_->columns.size(); }

}  // namespace tracedb
