#include "sql/user/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "base/text/amounts.h"
#include "base/text/regular_expression.h"
#include "base/unknown.h"
#include "sql/user/aggregate_functions.h"
#include "sql/user/interval_times.h"

namespace tracedb {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return data == nullptr ? std::string_view()
                         : std::string_view(data, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

void delete_expression(void* expression) {
  std::unique_ptr<RegularExpression>(static_cast<RegularExpression*>(expression)).reset();
}

void regexp(sqlite3_context* context, int, sqlite3_value** arguments) {
  const std::string_view pattern = text_of(arguments[0]);
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL || sqlite3_value_type(arguments[1]) == SQLITE_NULL) return;
  const auto* expression = static_cast<const RegularExpression*>(sqlite3_get_auxdata(context, 0));
  std::unique_ptr<RegularExpression> fresh;
  if (expression == nullptr) {
    fresh = std::make_unique<RegularExpression>(pattern);
    expression = fresh.get();
  }
  if (!expression->fault().empty()) {
    const std::string message = "regular expression: " + expression->fault();
    return sqlite3_result_error(context, message.c_str(), -1);
  }
  sqlite3_result_int(context, expression->is_in(text_of(arguments[1])) ? 1 : 0);
  if (fresh != nullptr) sqlite3_set_auxdata(context, 0, fresh.release(), delete_expression);
}

void return_text(sqlite3_context* context, const std::string& text) {
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void human_ns(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  return_text(context, duration_text(sqlite3_value_double(arguments[0])));
}

// overlap_ns(ts, dur, ts2, dur2): the time that two intervals share.
void overlap_of_two(sqlite3_context* context, int, sqlite3_value** arguments) {
  std::array<std::int64_t, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (sqlite3_value_numeric_type(arguments[i]) != SQLITE_INTEGER) return;
    numbers.at(i) = sqlite3_value_int64(arguments[i]);
  }
  const auto end = [&](std::size_t i) {
    return saturating_add(numbers.at(i), std::max<std::int64_t>(numbers.at(i + 1), 0));
  };
  IntervalTimes times;
  const TimeInterval one{numbers[0], end(0)};
  const TimeInterval other{numbers[2], end(2)};
  times.add(one.begin <= other.begin ? one : other);
  times.add(one.begin <= other.begin ? other : one);
  sqlite3_result_int64(context, times.shared());
}

// An exception must not pass through SQLite. These functions throw only when memory runs out.
template <void (*Function)(sqlite3_context*, int, sqlite3_value**)>
void guarded(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (catch_error([&] { Function(context, count, arguments); })) sqlite3_result_error_nomem(context);
}

struct Function {
  SqlFunctionHelp help;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
  int arguments;
};

constexpr Function kFunctions[] = {
    {{"regexp", "text REGEXP pattern", "whether an RE2 expression, case-sensitive, matches anywhere in the text"},
     guarded<regexp>,
     2},
    {{"human_ns", "human_ns(ns)", "a time with its unit: '1.234 ms'"}, guarded<human_ns>, 1},
};

void add(Database& database, const char* name, int arguments, void (*call)(sqlite3_context*, int, sqlite3_value**)) {
  const int code = sqlite3_create_function_v2(database.handle(), name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                              nullptr, call, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) database.fail(code, "cannot register a function");
}

}  // namespace

void register_functions(Database& database) {
  register_aggregate_functions(database);
  for (const Function& f : kFunctions) add(database, f.help.name, f.arguments, f.call);
  add(database, "overlap_ns", 4, overlap_of_two);  // its help is that of the aggregate
}

std::vector<SqlFunctionHelp> functions_help() {
  std::vector<SqlFunctionHelp> help = aggregate_functions_help();
  for (const Function& f : kFunctions) help.push_back(f.help);
  return help;
}

}  // namespace tracedb
