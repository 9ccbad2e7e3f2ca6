#include "sql/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/failure.h"
#include "base/statistics.h"
#include "base/text/duration_text.h"
#include "base/text/regular_expression.h"

namespace tracedb {
namespace {

// Values of one group: NULLs and text do not count as values. SQLite's aggregate context is zeroed memory, so it holds
// an owning pointer that final() frees.
struct Values {
  std::vector<double>* list;
  double percent;
};

void collect(sqlite3_context* context, int count, sqlite3_value** arguments) {
  auto* values = static_cast<Values*>(sqlite3_aggregate_context(context, sizeof(Values)));
  if (values == nullptr) return sqlite3_result_error_nomem(context);
  const int type = sqlite3_value_numeric_type(arguments[0]);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  if (values->list == nullptr) values->list = std::make_unique<std::vector<double>>().release();
  values->list->push_back(sqlite3_value_double(arguments[0]));
  if (count > 1) values->percent = sqlite3_value_double(arguments[1]);
}

// Runs `finish(values, percent)` on the collected values; NULL when there were none.
template <typename Finish>
void finish_group(sqlite3_context* context, Finish finish) {
  auto* state = static_cast<Values*>(sqlite3_aggregate_context(context, 0));
  if (state == nullptr || state->list == nullptr) return sqlite3_result_null(context);
  const std::unique_ptr<std::vector<double>> values(state->list);
  state->list = nullptr;
  sqlite3_result_double(context, finish(*values, state->percent));
}

// SQLite hands out memory that is aligned for 8 bytes.
__extension__ using Wide [[gnu::aligned(8)]] = __int128;

// Exact in 128 bits, which no number of rows can overflow, and cut to what a column can hold at the end.
struct WideSum {
  Wide total;
  std::int64_t count;
};
static_assert(alignof(WideSum) == 8 && alignof(Values) == 8);

void add_to_sum(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto* sum = static_cast<WideSum*>(sqlite3_aggregate_context(context, sizeof(WideSum)));
  if (sum == nullptr) return sqlite3_result_error_nomem(context);
  if (sqlite3_value_numeric_type(arguments[0]) != SQLITE_INTEGER) return;
  sum->total += sqlite3_value_int64(arguments[0]);
  ++sum->count;
}

void bounded_sum_final(sqlite3_context* context) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto* sum = static_cast<const WideSum*>(sqlite3_aggregate_context(context, 0));
  if (sum == nullptr || sum->count == 0) return sqlite3_result_null(context);
  if (sum->total > Limits::max()) return sqlite3_result_int64(context, Limits::max());
  if (sum->total < Limits::min()) return sqlite3_result_int64(context, Limits::min());
  sqlite3_result_int64(context, static_cast<std::int64_t>(sum->total));
}

double nearest_rank_of(std::vector<double>& values, double percent) {
  const double n = static_cast<double>(values.size());
  const double rank = std::clamp(std::ceil(percent / 100.0 * n), 1.0, n);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double sample_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double mean = 0;
  double squares = 0;
  double n = 0;
  for (const double value : values) {  // Welford: no cancellation for long, nearly equal durations
    const double delta = value - mean;
    mean += delta / ++n;
    squares += delta * (value - mean);
  }
  return std::sqrt(squares / (n - 1));
}

void median_final(sqlite3_context* context) {
  finish_group(context, [](std::vector<double>& values, double) { return median(std::span(values)); });
}

void percentile_final(sqlite3_context* context) {
  finish_group(context, [](std::vector<double>& values, double percent) { return nearest_rank_of(values, percent); });
}

void stddev_final(sqlite3_context* context) {
  finish_group(context, [](std::vector<double>& values, double) { return sample_deviation(values); });
}

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

// An exception must not pass through SQLite. These functions throw only when memory runs out.
template <void (*Function)(sqlite3_context*, int, sqlite3_value**)>
void guarded(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (catch_error([&] { Function(context, count, arguments); })) sqlite3_result_error_nomem(context);
}

struct Function {
  SqlFunctionHelp help;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
  void (*step)(sqlite3_context*, int, sqlite3_value**);
  void (*final)(sqlite3_context*);
};

constexpr Function kFunctions[] = {
    {{"median", "median(x)", "the middle value, or the mean of the middle two"},
     1,
     nullptr,
     guarded<collect>,
     median_final},
    {{"percentile", "percentile(x, p)", "nearest rank, p in percent (0..100)"},
     2,
     nullptr,
     guarded<collect>,
     percentile_final},
    {{"stddev", "stddev(x)", "standard deviation of a sample (n - 1); 0 of one value"},
     1,
     nullptr,
     guarded<collect>,
     stddev_final},
    {{"bounded_sum", "bounded_sum(n)", "sum of integers; 2^63 - 1 where sum() fails because the sum exceeds it"},
     1,
     nullptr,
     add_to_sum,
     bounded_sum_final},
    {{"regexp", "text REGEXP pattern", "whether an RE2 expression, case-sensitive, matches anywhere in the text"},
     2,
     guarded<regexp>,
     nullptr,
     nullptr},
    {{"human_ns", "human_ns(ns)", "a time with its unit: '1.234 ms'"}, 1, guarded<human_ns>, nullptr, nullptr},
};

}  // namespace

void register_functions(Database& database) {
  for (const Function& f : kFunctions) {
    const int code =
        sqlite3_create_function_v2(database.handle(), f.help.name, f.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                   nullptr, f.call, f.step, f.final, nullptr);
    if (code != SQLITE_OK) database.fail(code, "cannot register a function");
  }
}

std::vector<SqlFunctionHelp> functions_help() {
  std::vector<SqlFunctionHelp> help;
  for (const Function& f : kFunctions) help.push_back(f.help);
  return help;
}

}  // namespace tracedb
