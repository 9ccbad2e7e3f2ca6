#include "sql/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/files/input_file.h"
#include "sql/safety.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

// A file name as SQLite takes it: relative ones get a "./", lest "file:x" be read as a URI and ":memory:" as no file.
std::string database_name(const std::filesystem::path& path) {
  return path.is_relative() ? "./" + path.native() : path.native();
}

// By mode, but for that of a database that is open.
constexpr std::array<int, 5> kOpenFlags = {SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                                           SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, SQLITE_OPEN_READWRITE,
                                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY};

ErrorCode error_code(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
      return ErrorCode::kResource;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kTransient;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
      return ErrorCode::kInput;
    default:
      return ErrorCode::kUsage;
  }
}

// "file:..." with every byte escaped that could mean something else there.
std::string immutable_uri(const std::filesystem::path& path) {
  std::string uri = path.is_absolute() ? "file://" : "file:";
  for (const char c : database_name(path)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

// Holes hold no rows. File systems that compress, and those that do not say what a file takes, have fewer blocks than
// bytes.
std::uint32_t most_rows_in(const struct stat& file) {
  constexpr std::uint64_t kSmallestRow = 6;  // sizes of record, id and header, a column, the place on the page
  constexpr std::uint64_t kBestCompression = 64;
  constexpr std::uint64_t kBlock = 512;
  const auto size = static_cast<std::uint64_t>(file.st_size);
  const std::uint64_t taken = static_cast<std::uint64_t>(file.st_blocks) * kBlock * kBestCompression;
  const std::uint64_t rows = (file.st_blocks == 0 ? size : std::min(size, taken)) / kSmallestRow;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, std::numeric_limits<std::uint32_t>::max()));
}

// SQLite tells a full disk from other failures to write, but not a quota or a limit on file sizes, and its errno is
// that of a later call. Appending to the file, which is lost anyway, fails for the same reason.
int append_error(const std::filesystem::path& path) {
  constexpr std::array<char, 16384> kPage{};
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.is_open()) return 0;
  ssize_t written = 0;
  do {
    written = ::write(file.get(), kPage.data(), kPage.size());
  } while (written > 0 && written < std::ssize(kPage));  // the next one has no room at all
  return written < 0 ? errno : 0;
}

// What SQLite says on its first line: of a schema it cannot parse it quotes all the rest.
std::string message_of(sqlite3* handle) {
  const std::string_view text = sqlite3_errmsg(handle);
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

constexpr std::array<std::string_view, 3> kScripts = {"core", "indexes", "views"};

// What ANALYZE adds, which only helps to plan.
constexpr std::array<std::string_view, 2> kStatistics = {"CREATE TABLE sqlite_stat1(tbl,idx,stat)",
                                                         "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"};

std::size_t objects_in(std::string_view text) {
  constexpr std::string_view kBegin = "\nCREATE ";
  std::size_t count = text.starts_with(kBegin.substr(1)) ? 1 : 0;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at + 1)) ++count;
  return count;
}

// SQLite keeps a statement as it was given, without the semicolon.
bool is_in_scripts(std::string_view sql) {
  const std::string_view opening = sql.substr(0, std::min(sql.find('('), sql.find('\n')));
  return std::ranges::any_of(kScripts, [&](std::string_view name) {
    const std::string_view text = script(name);
    const std::size_t at = text.find(opening);
    if (at == std::string_view::npos || opening.empty()) return false;
    const std::string_view ours = text.substr(at);
    return ours.starts_with(sql) && ours.substr(sql.size()).starts_with(';');
  });
}

std::string_view text_of(sqlite3_stmt* row, int column) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

bool is_of_primary_key(sqlite3_stmt* object) {
  return sqlite3_column_type(object, 2) == SQLITE_NULL && text_of(object, 1).starts_with("sqlite_autoindex_");
}

bool is_statistics(std::string_view sql) { return std::ranges::find(kStatistics, sql) != kStatistics.end(); }

std::string compared(sqlite3_stmt* objects) {
  std::size_t wanted = 0;
  for (const std::string_view name : kScripts) wanted += objects_in(script(name));
  std::size_t found = 0;
  int code = SQLITE_OK;
  while ((code = sqlite3_step(objects)) == SQLITE_ROW) {
    if (is_of_primary_key(objects) || is_statistics(text_of(objects, 2))) continue;
    if (!is_in_scripts(text_of(objects, 2))) {
      return fmt::format("{} {} is not as this version makes it", text_of(objects, 0), text_of(objects, 1));
    }
    ++found;
  }
  if (code != SQLITE_DONE) return "its schema cannot be read";
  return found == wanted ? "" : fmt::format("{} of its {} tables and views are missing", wanted - found, wanted);
}

std::string between(std::string_view text, char mark) {
  std::string out(1, mark);
  for (const char c : text) out.append(c == mark ? 2 : 1, c);
  return out + mark;
}

// "what [statement]", the statement on one line and not too long.
std::string doing_text(std::string_view what, std::string_view sql) {
  constexpr std::size_t kLongest = 200;
  std::string line;
  for (const char c : sql.substr(0, kLongest)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return fmt::format("{} [{}{}]", what, line, sql.size() > kLongest ? " ..." : "");
}

}  // namespace

std::string quoted_name(std::string_view name) { return between(name, '"'); }
std::string quoted_text(std::string_view text) { return between(text, '\''); }

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

Database::Database(const std::filesystem::path& path, Mode mode) : path_(path), mode_(mode) {
  if (mode != Mode::kReadOnly && mode != Mode::kSource) {
    open(mode == Mode::kMemory ? path.string() : database_name(path));
    return;
  }
  descriptor_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  open(immutable_uri(path));
  struct stat ours {};
  struct stat named {};
  // While we hold it open, no other file gets its number.
  const bool same = ::fstat(descriptor_.get(), &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
                    ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
  most_rows_ = most_rows_in(ours);
  if (same) return;
  close();
  throw Error(ErrorCode::kTransient,
              fmt::format("{}: replaced or removed while it was opened: run again", printable_path(path)));
}

Database::Database(sqlite3* of_host) : path_("the open database"), handle_(of_host), mode_(Mode::kHost) {}

void Database::open(const std::string& name) {
  const int flags = kOpenFlags.at(static_cast<std::size_t>(mode_)) | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  if (code == SQLITE_OK) return;
  std::error_code unknown;
  const bool too_long = std::filesystem::absolute(path_, unknown).native().size() > kLongestDatabasePath;
  const std::string message = too_long             ? "its path is too long for SQLite; choose a shorter one"
                              : handle_ != nullptr ? sqlite3_errmsg(handle_)
                                                   : sqlite3_errstr(code);
  close();
  throw Error(is_being_built() ? ErrorCode::kResource : error_code(code),
              fmt::format("{}: cannot open the {}: {}", path_.string(), mode_ == Mode::kSource ? "database" : "index",
                          message));
}

void Database::close() {
  if (watchdog_ != nullptr) std::exchange(watchdog_, nullptr)->remove(handle_);
  sqlite3* handle = std::exchange(handle_, nullptr);
  if (mode_ != Mode::kHost) sqlite3_close_v2(handle);
  descriptor_.close();
}

Database::~Database() { close(); }

void Database::end_by(Watchdog& watchdog) {
  watchdog.add(handle_);
  watchdog_ = &watchdog;
}

void Database::interrupt_on(const std::atomic<bool>* flag) {
  constexpr int kOperationsBetweenLooks = 10'000;
  interrupt_ = flag;
  const auto is_set = [](void* data) { return static_cast<const std::atomic<bool>*>(data)->load() ? 1 : 0; };
  sqlite3_progress_handler(handle_, kOperationsBetweenLooks, flag != nullptr ? +is_set : nullptr,
                           const_cast<std::atomic<bool>*>(flag));
}

void Database::throw_kept_failure() {
  if (const std::optional<Error> failure = std::exchange(kept_failure_, std::nullopt)) throw Error(*failure);
}

void Database::fail(int sqlite_code, std::string_view doing) {
  throw_kept_failure();
  const int kind = sqlite_code & 0xff;
  if (kind == SQLITE_INTERRUPT && interrupt_ != nullptr) throw Error(ErrorCode::kInterrupted, "interrupted");
  if (kind == SQLITE_INTERRUPT && watchdog_ != nullptr) throw Error(ErrorCode::kResource, "time limit");
  const bool corrupt = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
  if (corrupt && is_being_built()) {
    throw Error(ErrorCode::kResource, fmt::format("{}: the new index cannot be read back ({}): check the disk",
                                                  path_.string(), message_of(handle_)));
  }
  if (mode_ == Mode::kSource && (corrupt || kind == SQLITE_TOOBIG || error_code(kind) == ErrorCode::kUsage)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: a damaged database ({}): copy it anew, or export it again",
                                               printable_path(path_), message_of(handle_)));
  }
  if (corrupt) fail_as_damaged(path_, message_of(handle_));
  const bool wrong_statement = kind == SQLITE_TOOBIG || error_code(kind) == ErrorCode::kUsage;
  if (mode_ == Mode::kReadOnly && wrong_statement) {
    fail_in_index(handle_, path_, sqlite_code, message_of(handle_), doing);
  }
  const bool write_failed = sqlite3_extended_errcode(handle_) == SQLITE_IOERR_WRITE;
  if (kind == SQLITE_FULL || (write_failed && is_no_space(append_error(path_)))) {
    std::error_code unknown;
    const std::uintmax_t written = std::filesystem::file_size(path_, unknown);
    throw NoSpaceError(fmt::format("{}: cannot write the index: {}", printable_path(path_),
                                   std::strerror(kind == SQLITE_FULL ? ENOSPC : append_error(path_))),
                       unknown ? 0 : written);
  }
  const char* advice = kind == SQLITE_NOMEM && mode_ == Mode::kReadOnly ? "; --max-memory SIZE allows more" : "";
  throw Error(error_code(sqlite_code), fmt::format("{}: {}: {}{}", path_.string(), doing, message_of(handle_), advice));
}

void Database::execute(std::string_view sql) {
  const std::string text(sql);
  const int code = sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code, doing_text("SQL failed", sql));
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code, doing_text("cannot prepare SQL", sql));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement& Statement::bound(int code) {
  if (code != SQLITE_OK) database_.fail(code, "cannot bind");
  return *this;
}

Statement& Statement::bind(int index, std::int64_t value) {
  return bound(sqlite3_bind_int64(statement_, index, value));
}

Statement& Statement::bind(int index, double value) { return bound(sqlite3_bind_double(statement_, index, value)); }

Statement& Statement::bind(int index, std::string_view value) {
  return bound(sqlite3_bind_text64(statement_, index, value.data() != nullptr ? value.data() : "", value.size(),
                                   SQLITE_TRANSIENT, SQLITE_UTF8));
}

Statement& Statement::bind(int index, std::span<const std::byte> value) {
  return bound(sqlite3_bind_blob64(statement_, index, value.data(), value.size(), SQLITE_STATIC));
}

void Database::release_page_cache() { sqlite3_db_release_memory(handle_); }

Statement& Statement::bind(int index, const Statement& row, int column) {
  return bound(sqlite3_bind_value(statement_, index, sqlite3_column_value(row.statement_, column)));
}

Statement& Statement::bind_null(int index) { return bound(sqlite3_bind_null(statement_, index)); }

int Statement::parameter_count() const { return sqlite3_bind_parameter_count(statement_); }

std::string_view Statement::parameter_name(int index) const {
  const char* name = sqlite3_bind_parameter_name(statement_, index);
  return name != nullptr ? name : "";
}

int Statement::parameter_index(const std::string& name) const {
  return sqlite3_bind_parameter_index(statement_, name.c_str());
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const char* sql = sqlite3_sql(statement_);
  database_.fail(code, doing_text("SQL failed", sql != nullptr ? sql : ""));
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::sql() const {
  const std::unique_ptr<char, void (*)(void*)> text(sqlite3_expanded_sql(statement_), sqlite3_free);
  return text.get();
}

bool Statement::is_explain() const { return sqlite3_stmt_isexplain(statement_) != 0; }

int Statement::column_count() const { return sqlite3_column_count(statement_); }
std::string_view Statement::column_name(int column) const { return sqlite3_column_name(statement_, column); }

ValueType Statement::type(int column) const {
  constexpr std::array kTypes = {ValueType::kInteger, ValueType::kReal, ValueType::kText, ValueType::kBlob,
                                 ValueType::kNull};  // from SQLITE_INTEGER to SQLITE_NULL
  return kTypes.at(static_cast<std::size_t>(sqlite3_column_type(statement_, column) - SQLITE_INTEGER));
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Statement::int64(int column) const { return sqlite3_column_int64(statement_, column); }
std::uint32_t Statement::id(int column) const {
  const std::int64_t value = sqlite3_column_int64(statement_, column);
  if ((value > 0 && value <= database_.most_rows()) || is_null(column)) return static_cast<std::uint32_t>(value);
  fail_as_damaged(database_.path(), fmt::format("an impossible id: {}", value));
}

double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Statement::text(int column) const { return text_of(statement_, column); }

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void fail_as_damaged(const std::filesystem::path& path, std::string_view why) {
  throw Error(ErrorCode::kInput, fmt::format("{}: the index is damaged ({}); build it again with trace-ingest --force",
                                             path.string(), why));
}

void fail_in_index(sqlite3* handle, const std::filesystem::path& path, int sqlite_code, std::string_view message,
                   std::string_view doing) {
  const bool impossible_value =
      (sqlite_code & 0xff) == SQLITE_TOOBIG || message == "integer overflow" || message == "malformed JSON";
  if (impossible_value) fail_as_damaged(path, fmt::format("an impossible value: {}", message));
  const std::string difference = schema_difference(handle);
  if (!difference.empty()) fail_as_damaged(path, fmt::format("{}: {}", difference, message));
  throw Error(ErrorCode::kResource,
              fmt::format("{}: internal error, please report it: {}: {}", path.string(), doing, message));
}

std::string schema_difference(sqlite3* handle) {
  sqlite3_stmt* objects = nullptr;
  const int code = sqlite3_prepare_v2(handle, "SELECT type, name, sql FROM sqlite_schema", -1, &objects, nullptr);
  std::string difference = code == SQLITE_OK ? compared(objects) : "its schema cannot be read";
  sqlite3_finalize(objects);
  return difference;
}

}  // namespace tracedb
