// Scalar SQL functions in C++, without the types of SQLite. A function that gives no result returns NULL.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/failure.h"
#include "sql/database.h"

struct sqlite3_context;
struct sqlite3_value;

namespace tracedb {

// What users read of a function, in the help and in `trace-query schema`.
struct SqlFunctionHelp {
  const char* name;
  const char* call;  // "percentile(x, p)"
  const char* meaning;
};

class SqlCall {
 public:
  SqlCall(sqlite3_context* call, sqlite3_value** arguments) : call_(call), arguments_(arguments) {}

  [[nodiscard]] void* context() const;  // as registered
  // nullopt: NULL or of another type.
  [[nodiscard]] std::optional<std::string_view> text(int argument) const;  // valid while the call lasts
  [[nodiscard]] std::optional<std::int64_t> integer(int argument) const;

  void give(std::string_view text);  // copied
  void give(std::int64_t value);
  void fail(const Error& failure);  // the statement ends with this error

 private:
  sqlite3_context* call_;
  sqlite3_value** arguments_;
};

using SqlFunction = void (*)(sqlite3_context*, int, sqlite3_value**);

// The function must answer the same for the same arguments while a statement runs.
void add_function(Database& database, const char* name, int arguments, void* context, SqlFunction function);

template <void (*Function)(SqlCall&)>
void add_function(Database& database, const char* name, int arguments, void* context) {
  add_function(database, name, arguments, context, [](sqlite3_context* call, int, sqlite3_value** values) {
    SqlCall wrapped(call, values);
    // An exception must not pass through SQLite.
    if (const auto failure = catch_error([&] { Function(wrapped); })) wrapped.fail(*failure);
  });
}

}  // namespace tracedb
