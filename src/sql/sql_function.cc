#include "sql/sql_function.h"

#include <sqlite3.h>

#include <memory>

namespace tracedb {

namespace {

struct Registered {
  Database& database;
  void* context;
};

}  // namespace

void* SqlCall::context() const { return static_cast<Registered*>(sqlite3_user_data(call_))->context; }

std::optional<std::string_view> SqlCall::text(int argument) const {
  sqlite3_value* value = arguments_[argument];
  if (sqlite3_value_type(value) != SQLITE_TEXT) return std::nullopt;
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (data == nullptr) return std::nullopt;
  return std::string_view(data, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

std::optional<std::int64_t> SqlCall::integer(int argument) const {
  sqlite3_value* value = arguments_[argument];
  if (sqlite3_value_type(value) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_value_int64(value);
}

void SqlCall::give(std::string_view text) {
  sqlite3_result_text64(call_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void SqlCall::give(std::int64_t value) { sqlite3_result_int64(call_, value); }

void SqlCall::fail(const Error& failure) {
  Database& database = static_cast<Registered*>(sqlite3_user_data(call_))->database;
  database.keep_failure(failure);
  sqlite3_result_error(call_, database.failure_text(failure).c_str(), -1);
}

void add_function(Database& database, const char* name, int arguments, void* context, SqlFunction function) {
  auto registered = std::make_unique<Registered>(Registered{database, context});
  const auto forget = [](void* owned) { std::unique_ptr<Registered>(static_cast<Registered*>(owned)).reset(); };
  const int code = sqlite3_create_function_v2(database.handle(), name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                              registered.release(), function, nullptr, nullptr, forget);
  if (code != SQLITE_OK) database.fail(code, "cannot register a function");
}

}  // namespace tracedb
