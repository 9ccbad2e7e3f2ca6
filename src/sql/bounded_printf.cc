#include "sql/bounded_printf.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/failure.h"

namespace tracedb {
namespace {

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

}  // namespace

void register_bounded_printf(Database& database, int longest) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const char* name : {"printf", "format"}) {
    const int code =
        sqlite3_create_function_v2(database.handle(), name, -1, kFlags, std::make_unique<Printf>(longest).release(),
                                   call, nullptr, nullptr, destroy);
    if (code != SQLITE_OK) database.fail(code, "cannot register a function");
  }
}

}  // namespace tracedb
