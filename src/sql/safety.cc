#include "sql/safety.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "base/failure.h"

namespace tracedb {

namespace {

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  return name != nullptr &&
         std::ranges::any_of(names, [name](const char* other) { return strcasecmp(name, other) == 0; });
}

// PRAGMAs that only tell. Those in the second list would also set something if given a value.
bool is_harmless_pragma(const char* name, const char* value) {
  if (is_one_of(name,
                {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list",
                 "function_list", "module_list", "collation_list", "compile_options", "foreign_key_list"})) {
    return true;
  }
  return value == nullptr && is_one_of(name, {"user_version", "application_id", "schema_version", "page_size",
                                              "page_count", "freelist_count", "encoding", "data_version"});
}

int authorize(void* used, int action, const char* first, const char* second, const char*, const char*) {
  const char* const name = action == SQLITE_READ ? first : action == SQLITE_FUNCTION ? second : nullptr;
  if (name != nullptr) static_cast<std::set<std::string>*>(used)->insert(name);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is_one_of(second, {"load_extension", "fts3_tokenizer", "rtreecheck", "writefile", "readfile", "edit",
                                "zeroblob", "randomblob"})
                 ? SQLITE_DENY
                 : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is_harmless_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// Table-valued functions declare their columns on first use, by a CREATE TABLE that the authorizer would refuse.
constexpr const char* kTableFunctions =
    "SELECT 1 FROM json_each('[]'); SELECT 1 FROM json_tree('[]'); SELECT 1 FROM pragma_table_info('meta');SELECT 1 "
    "FROM pragma_table_xinfo('meta'); SELECT 1 FROM pragma_table_list('meta');SELECT 1 FROM pragma_index_list('meta'); "
    "SELECT 1 FROM pragma_index_info('meta');SELECT 1 FROM pragma_function_list; SELECT 1 FROM pragma_module_list; "
    "SELECT 1 FROM pragma_database_list; SELECT 1 FROM pragma_compile_options";

// Adds up widths and precisions, those given as arguments ("*") too.
class Widths {
 public:
  Widths(std::string_view format, std::span<sqlite3_value*> values, std::int64_t longest)
      : values_(values), longest_(longest) {
    for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
      at = after_conversion(format, at + 1);
    }
  }
  [[nodiscard]] bool are_too_large() const { return total_ > longest_; }

 private:
  std::size_t after_conversion(std::string_view format, std::size_t at) {
    std::int64_t number = 0;
    for (; at < format.size(); ++at) {
      const char c = format[at];
      if (c >= '0' && c <= '9') {
        number = std::min(number * 10 + (c - '0'), longest_ + 1);
        continue;
      }
      add(number);
      number = 0;
      if (c == '*') {
        add(next_ < values_.size() ? sqlite3_value_int64(values_[next_]) : 0);
        ++next_;
      } else if (std::string_view("-+ !#,.l").find(c) == std::string_view::npos) {
        next_ += c == '%' || c == 'n' ? 0 : 1;
        return at + 1;
      }
    }
    return at;
  }
  void add(std::int64_t width) {
    const std::int64_t size = width < -longest_ ? longest_ + 1 : std::abs(width);
    total_ = std::min(total_ + std::min(size, longest_ + 1), longest_ + 1);
  }

  std::span<sqlite3_value*> values_;
  std::int64_t longest_;
  std::int64_t total_ = 0;
  std::size_t next_ = 0;
};

// SQLite's own function, in a database where nothing replaces it.
class Printf {
 public:
  explicit Printf(int longest) : longest_(longest) { sqlite3_limit(database_.handle(), SQLITE_LIMIT_LENGTH, longest); }

  void call(sqlite3_context* context, std::span<sqlite3_value*> values) {
    const auto* format = values.empty() ? nullptr : reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    if (format == nullptr) return;
    const std::string_view text(format, static_cast<std::size_t>(sqlite3_value_bytes(values[0])));
    if (Widths(text, values.subspan(1), longest_).are_too_large()) return sqlite3_result_error_toobig(context);
    Statement& statement = statement_of(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      sqlite3_bind_value(statement.handle(), static_cast<int>(i + 1), values[i]);
    }
    sqlite3_value* answer = statement.step() ? sqlite3_column_value(statement.handle(), 0) : nullptr;
    if (answer == nullptr || sqlite3_value_type(answer) == SQLITE_NULL) {
      sqlite3_result_error_toobig(context);
    } else {
      sqlite3_result_value(context, answer);
    }
    statement.reset();
  }

 private:
  Statement& statement_of(std::size_t values) {
    const auto known = statements_.find(values);
    if (known != statements_.end()) return known->second;
    std::string marks = "?";
    for (std::size_t i = 1; i < values; ++i) marks += ", ?";
    return statements_.emplace(values, Statement(database_, fmt::format("SELECT printf({})", marks))).first->second;
  }

  Database database_{":memory:", Database::Mode::kMemory};
  std::int64_t longest_;
  std::map<std::size_t, Statement> statements_;  // by number of arguments
};

void call(sqlite3_context* context, int count, sqlite3_value** values) {
  auto* own = static_cast<Printf*>(sqlite3_user_data(context));
  // An exception must not pass through SQLite.
  const auto failure = catch_error([&] { own->call(context, {values, static_cast<std::size_t>(count)}); });
  if (failure) sqlite3_result_error_nomem(context);
}

void destroy(void* own) { std::unique_ptr<Printf>(static_cast<Printf*>(own)).reset(); }

// SQLite's printf() and format(), with widths and precisions bounded: SQLite pads character by character, which takes
// seconds for a width of a billion, and then returns NULL because no text may be that long.
// For statements of this database from now on: what would be longer than `longest` bytes is an error at once.
void register_bounded_printf(Database& database, int longest) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const char* name : {"printf", "format"}) {
    const int code =
        sqlite3_create_function_v2(database.handle(), name, -1, kFlags, std::make_unique<Printf>(longest).release(),
                                   call, nullptr, nullptr, destroy);
    if (code != SQLITE_OK) database.fail(code, "cannot register a function");
  }
}

// A link would lead the writing to a file of another name.
bool is_plain_file(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

}  // namespace

void harden(Database& database) {
  sqlite3* handle = database.handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  database.execute(
      "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA mmap_size=0;PRAGMA "
      "cache_size=-65536");
}

SqlGuard::SqlGuard(Database& database, const SqlLimits& limits) : database_(database) {
  sqlite3* handle = database.handle();
  database.execute(kTableFunctions);
  register_bounded_printf(database, limits.value_bytes);
  sqlite3_hard_heap_limit64(limits.heap_bytes);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limits.value_bytes);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_set_authorizer(handle, authorize, &used_);
}

SqlGuard::~SqlGuard() {
  sqlite3_set_authorizer(database_.handle(), nullptr, nullptr);
  sqlite3_hard_heap_limit64(0);
}

bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values) {
  if (!is_plain_file(index)) return false;
  return !catch_error([&] {
    Database database(index, Database::Mode::kReadWrite);
    // The schema may be hostile: no triggers, no functions of its making.
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    Statement update(database, "UPDATE meta SET value = ?2 WHERE key = ?1");
    for (const auto& [key, value] : values)
      update.bind(1, std::string_view(key)).bind(2, std::string_view(value)).run();
    database.execute("COMMIT");
  });
}

Watchdog::Watchdog(std::chrono::nanoseconds limit, std::function<void()> last_resort)
    : last_resort_(std::move(last_resort)),
      end_(Clock::now() + limit),
      thread_([this](const std::stop_token& done) { watch(done); }) {}

void Watchdog::add(sqlite3* database) {
  const std::lock_guard lock(mutex_);
  databases_.push_back(database);
}

void Watchdog::remove(sqlite3* database) {
  const std::lock_guard lock(mutex_);
  std::erase(databases_, database);
}

void Watchdog::pause() {
  const std::lock_guard lock(mutex_);
  if (!paused_) paused_ = Clock::now();
  wake_.notify_one();
}

void Watchdog::resume() {
  const std::lock_guard lock(mutex_);
  if (!paused_) return;
  end_ += Clock::now() - *paused_;
  paused_.reset();
  wake_.notify_one();
}

void Watchdog::watch(const std::stop_token& done) {
  std::unique_lock lock(mutex_);
  while (!done.stop_requested()) {
    if (is_over()) {
      interrupt_all(lock, done);
    } else if (paused_) {
      wake_.wait(lock, done, [&] { return !paused_; });
    } else {
      const Clock::time_point end = end_;
      wake_.wait_until(lock, done, end, [&] { return paused_ || end_ != end; });
    }
  }
}

void Watchdog::interrupt_all(std::unique_lock<std::mutex>& lock, const std::stop_token& done) {
  constexpr auto kBetweenInterrupts = std::chrono::milliseconds(5);
  const Clock::time_point last = Clock::now() + kGrace;
  while (!done.stop_requested() && is_over()) {
    time_is_up_ = true;
    if (Clock::now() >= last && last_resort_) std::exchange(last_resort_, nullptr)();
    // A statement that begins after this one ended is not affected: hence again and again.
    for (sqlite3* database : databases_) sqlite3_interrupt(database);
    wake_.wait_for(lock, done, kBetweenInterrupts, [&] { return !is_over(); });
  }
}

}  // namespace tracedb
