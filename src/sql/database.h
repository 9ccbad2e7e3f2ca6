// Thin owner types over SQLite's C interface. A Database is used by one thread at a time; a Statement must not outlive
// its Database. Every SQLite failure becomes an Error that names the file: disk full, I/O and out of memory as
// kResource, a corrupt file as kInput, wrong SQL as kUsage.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tracedb {

class Database;
class Watchdog;

// Names in SQL: in quotes, and whether two are the same in letters of any case.
std::string quoted_name(std::string_view name);
bool is_same_name(std::string_view a, std::string_view b);

std::string quoted_text(std::string_view text);  // as SQL writes it: 'it''s'

// SQLite takes absolute paths of up to 512 bytes, and wants room for the suffix of its journal.
inline constexpr std::size_t kLongestDatabasePath = 504;

enum class ValueType { kNull, kInteger, kReal, kText, kBlob };

class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  // With values of its parameters, as by bind().
  template <class... Values>
  Statement(Database& database, std::string_view sql, const Values&... values) : Statement(database, sql) {
    int index = 0;
    (bind(++index, values), ...);
  }
  Statement(Database& database, sqlite3_stmt* prepared) : database_(database), statement_(prepared) {}  // takes it over
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  // Parameters and columns count as SQLite does: parameters from 1, columns from 0.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);
  Statement& bind(int index, std::string_view value);  // copied
  Statement& bind(int index,
                  std::span<const std::byte> value);  // a blob; not copied: must stay until reset() or bound anew
  Statement& bind_null(int index);
  Statement& bind(int index, std::monostate) { return bind_null(index); }
  Statement& bind(int index, const Statement& row, int column);  // its cell, copied

  [[nodiscard]] int parameter_count() const;
  [[nodiscard]] std::string_view parameter_name(int index) const;    // with its ':', '@' or '$'; "" for a plain '?'
  [[nodiscard]] int parameter_index(const std::string& name) const;  // 0: no such parameter

  bool step();   // true while there is a row
  void reset();  // also clears the bindings
  void run() {   // step to the end and reset
    while (step()) {
    }
    reset();
  }

  [[nodiscard]] int column_count() const;
  [[nodiscard]] bool is_explain() const;
  [[nodiscard]] std::string_view column_name(int column) const;
  [[nodiscard]] std::string sql() const;  // with the values of its parameters
  [[nodiscard]] ValueType type(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t int64(int column) const;
  // The id of a row in some table, from 1; 0 for NULL. Throws Error{kInput} for one that no table of the file can have:
  // whatever is as large as the largest id then takes memory in proportion to the file.
  [[nodiscard]] std::uint32_t id(int column) const;
  // nullopt: NULL, or no integer.
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const {
    return type(column) == ValueType::kInteger ? std::optional(int64(column)) : std::nullopt;
  }
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;            // valid until the next step; may hold NUL bytes
  [[nodiscard]] std::span<const std::byte> blob(int column) const;  // the same; a text is its bytes, too
  [[nodiscard]] sqlite3_stmt* handle() const { return statement_; }

 private:
  Statement& bound(int code);

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  enum class Mode {
    kCreate,     // a new file that nobody else sees yet; fails if it exists
    kReadOnly,   // a file that nobody changes in place, but others may replace by rename at any time: no locks are
                 // taken, journals are not looked at
    kSource,     // the same of a file that another program wrote: what is wrong with it is no fault of an index
    kReadWrite,  // an existing file
    kMemory,
    kHost,  // a connection of a program that loaded us as an extension (see the constructor)
  };

  Database(const std::filesystem::path& path, Mode mode);
  explicit Database(sqlite3* of_host);  // which stays open, and as it is
  ~Database();
  Database& operator=(Database&&) = delete;

  void execute(std::string_view sql);  // any number of statements, rows are thrown away
  // First column of the first row, with `values` of the parameters; nullopt when there is no row or it is NULL.
  template <class... Values>
  std::optional<std::int64_t> query_int64(std::string_view sql, const Values&... values) {
    Statement row(*this, sql, values...);
    return row.step() && !row.is_null(0) ? std::optional(row.int64(0)) : std::nullopt;
  }
  template <class... Values>
  std::optional<std::string> query_text(std::string_view sql, const Values&... values) {
    Statement row(*this, sql, values...);
    return row.step() && !row.is_null(0) ? std::optional<std::string>(row.text(0)) : std::nullopt;
  }
  // First column of all rows; "" for NULL.
  template <class... Values>
  std::vector<std::string> query_texts(std::string_view sql, const Values&... values) {
    std::vector<std::string> texts;
    for (Statement rows(*this, sql, values...); rows.step();) texts.emplace_back(rows.text(0));
    return texts;
  }

  // Releases pages of the file that are held in memory, for code that reads much data once: the memory is
  // taken for what is read next.
  void release_page_cache();

  // Statements end with Error{kResource} once the watchdog's time is up. It must outlive the database.
  void end_by(Watchdog& watchdog);

  // Statements end with Error{kInterrupted} once `*flag` is true (null: never again). It must outlive the database.
  void interrupt_on(const std::atomic<bool>* flag);
  [[nodiscard]] bool is_interrupted() const { return interrupt_ != nullptr && interrupt_->load(); }

  // For C++ that SQLite calls: its statement must fail, and then throws this instead of what SQLite makes of it.
  void keep_failure(Error failure) { kept_failure_ = std::move(failure); }
  void throw_kept_failure();  // if there is one
  // How a failure reads for those who call SQLite themselves. Without, it is what the failure says.
  void write_failures_by(std::string (*text)(std::string_view)) { failure_text_ = text; }
  [[nodiscard]] std::string failure_text(const Error& failure) const {
    return failure_text_ != nullptr ? failure_text_(failure.what()) : failure.what();
  }

  // What a reader of results must know of what the file lacks, each note once.
  void keep_note(const std::string& note) {
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  }
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  // What the virtual tables of this connection read from, by its type: SQLite keeps the tables and gives nobody but
  // itself a way to them. Not owned: forgotten before it ends.
  template <class Source>
  void know(Source& source) {
    sources_.emplace_back(typeid(Source), &source);
  }
  void forget(const void* source) {
    std::erase_if(sources_, [&](const auto& known) { return known.second == source; });
  }
  template <class Source>
  [[nodiscard]] std::vector<Source*> sources() const {
    std::vector<Source*> out;
    for (const auto& [type, source] : sources_) {
      if (type == typeid(Source)) out.push_back(static_cast<Source*>(source));
    }
    return out;
  }

  [[noreturn]] void fail(int sqlite_code, std::string_view doing);  // throws the Error for `sqlite_code`
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] sqlite3* handle() const { return handle_; }
  // How many rows a table can have, and so the largest id there can be. kReadOnly: what fits into the bytes that the
  // file takes on the disk, which are fewer than its size where it has holes.
  [[nodiscard]] std::uint32_t most_rows() const { return most_rows_; }
  // kReadOnly: the very file, whatever its name has come to mean since; owned by the database.
  [[nodiscard]] const FileDescriptor& descriptor() const { return descriptor_; }

 private:
  void open(const std::string& name);
  void close();
  // By us: what is wrong with it is no fault of the input.
  [[nodiscard]] bool is_being_built() const { return mode_ == Mode::kCreate || mode_ == Mode::kReadWrite; }

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  FileDescriptor descriptor_;
  std::uint32_t most_rows_ = std::numeric_limits<std::uint32_t>::max();
  const std::atomic<bool>* interrupt_ = nullptr;
  std::optional<Error> kept_failure_;
  std::string (*failure_text_)(std::string_view) = nullptr;
  Watchdog* watchdog_ = nullptr;
  std::vector<std::string> notes_;
  std::vector<std::pair<std::type_index, void*>> sources_;
  Mode mode_;
};

// Tells damage from an internal error when a statement fails on an index. Other programs may have changed the file:
// broken pages, missing tables and impossible values are damage, which ingesting the trace again repairs. If the schema
// is as this version makes it, the statement itself is wrong, which is an internal error.

// Throws Error{kInput}: the index is damaged, with what to do.
[[noreturn]] void fail_as_damaged(const std::filesystem::path& path, std::string_view why);

// For `sqlite_code` of a statement that SQLite itself takes for wrong. Throws the same, or Error{kResource} that names
// it. `path`: of the index open in `handle`; `message`: what SQLite said.
[[noreturn]] void fail_in_index(sqlite3* handle, const std::filesystem::path& path, int sqlite_code,
                                std::string_view message, std::string_view doing);

// Checks that an index has exactly the tables, views and indexes that this version makes, by the text of each. Another
// program may have changed the file: a view in place of a table could run for ever.
//
// The first difference found, as "view kernels is not as this version makes it"; empty: none. Takes some 0.1 ms.
std::string schema_difference(sqlite3* handle);

}  // namespace tracedb
