#include "sql/user/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/failure.h"
#include "base/statistics.h"
#include "base/text/amounts.h"
#include "base/text/regular_expression.h"
#include "base/time_cover.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// Time covered by intervals, [begin, end), and time in which two or more of them run at once: integers without a unit.
class IntervalTimes {
 public:
  // Intervals must come in the order of their begin: false for one that does not, which is left out.
  bool add(Extent interval) {
    if (interval.begin < begin_) return false;
    begin_ = interval.begin;
    covered_ += length(std::max(interval.begin, end_), interval.end);
    const std::int64_t shared_end = std::min(interval.end, end_);
    shared_ += length(std::max(interval.begin, shared_end_), shared_end);
    shared_end_ = std::max(shared_end_, shared_end);
    end_ = std::max(end_, interval.end);
    return true;
  }
  [[nodiscard]] std::int64_t covered() const { return cut(covered_); }
  [[nodiscard]] std::int64_t shared() const { return cut(shared_); }

 private:
  static std::uint64_t length(std::int64_t begin, std::int64_t end) {
    return end > begin ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) : 0;
  }
  static std::int64_t cut(std::uint64_t time) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(time, std::numeric_limits<std::int64_t>::max()));
  }

  static constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
  std::int64_t begin_ = kBefore;            // of the last interval
  std::int64_t end_ = kBefore;              // of the one that ends last
  std::int64_t shared_end_ = kBefore;       // of the last time that two share
  std::uint64_t covered_ = 0, shared_ = 0;  // all integers together are 2^64
};

// Of intervals in any order. Few that come late, such as copies behind kernels, cost little.
IntervalTimes times_of(std::vector<Extent> intervals) {
  const auto late = std::is_sorted_until(intervals.begin(), intervals.end());
  std::sort(late, intervals.end());
  std::inplace_merge(intervals.begin(), late, intervals.end());
  IntervalTimes times;
  for (const Extent& interval : intervals) times.add(interval);
  return times;
}

// NULLs and texts are no values.
std::optional<double> number(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? std::optional(sqlite3_value_double(value)) : std::nullopt;
}

std::optional<std::int64_t> integer(sqlite3_value* value) {
  return sqlite3_value_numeric_type(value) == SQLITE_INTEGER ? std::optional(sqlite3_value_int64(value)) : std::nullopt;
}

using Arguments = std::span<sqlite3_value*>;

// The values of a group or a frame, in the order in which they came. A frame loses the oldest first.
template <class T>
class Queue {
 public:
  void push(T value) { values_.push_back(value); }
  T pop() { return values_[first_++]; }
  [[nodiscard]] std::span<T> values() { return std::span(values_).subspan(first_); }

 private:
  std::vector<T> values_;
  std::size_t first_ = 0;
};

// Values in order, for frames: as each is entered once, a frame that grows by a row costs no more than its logarithm.
class RankedValues {
 public:
  void add(double value) { tree_.insert({value, next_++}); }
  void remove(double value) { tree_.erase(tree_.lower_bound({value, 0})); }
  [[nodiscard]] std::size_t size() const { return tree_.size(); }
  double operator[](std::size_t rank) const { return tree_.find_by_order(rank)->first; }

 private:
  using Key = std::pair<double, std::uint64_t>;  // equal values are different keys
  __gnu_pbds::tree<Key, __gnu_pbds::null_type, std::less<>, __gnu_pbds::rb_tree_tag,
                   __gnu_pbds::tree_order_statistics_node_update>
      tree_;
  std::uint64_t next_ = 0;
};

// The rank, from 0, of the smallest of `count` values with at least `percent` of them at or below it.
std::size_t rank_of(double percent, std::size_t count) {
  if (std::isnan(percent)) return 0;
  const auto n = static_cast<double>(count);
  return static_cast<std::size_t>(std::clamp(std::ceil(percent / 100.0 * n), 1.0, n)) - 1;
}

// What median() and percentile() have in common.
class Ranks {
 public:
  void add(Arguments arguments) {
    const auto value = number(arguments[0]);
    if (!value) return;
    values_.push(*value);
    if (ranked_) ranked_->add(*value);
    if (arguments.size() > 1) percent_ = sqlite3_value_double(arguments[1]);
  }
  void remove(Arguments arguments) {
    if (!number(arguments[0])) return;
    const double value = values_.pop();
    if (ranked_) ranked_->remove(value);
  }

 protected:
  [[nodiscard]] std::span<double> values() { return values_.values(); }
  [[nodiscard]] double percent() const { return percent_; }
  const RankedValues& ranked() {
    if (!ranked_) {
      ranked_ = std::make_unique<RankedValues>();
      for (const double value : values()) ranked_->add(value);
    }
    return *ranked_;
  }

 private:
  Queue<double> values_;
  std::unique_ptr<RankedValues> ranked_;  // null: nobody has asked for the value of a frame
  double percent_ = 0;
};

class Median : public Ranks {
 public:
  std::optional<double> current() { return values().empty() ? std::nullopt : std::optional(sorted_median(ranked())); }
  std::optional<double> last() { return values().empty() ? std::nullopt : std::optional(median(values())); }
};

class Percentile : public Ranks {
 public:
  std::optional<double> current() {
    return values().empty() ? std::nullopt : std::optional(ranked()[rank_of(percent(), values().size())]);
  }
  std::optional<double> last() {
    const std::span<double> all = values();
    if (all.empty()) return std::nullopt;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(rank_of(percent(), all.size()));
    std::nth_element(all.begin(), at, all.end());
    return *at;
  }
};

// Of a sample, by Welford's method: no cancellation for long, nearly equal durations.
class Deviation {
 public:
  void add(Arguments arguments) {
    const auto value = number(arguments[0]);
    if (!value) return;
    values_.push(*value);
    enter(*value);
  }
  void remove(Arguments arguments) {
    if (!number(arguments[0])) return;
    values_.pop();
    is_exact_ = false;  // what a large value cancelled does not come back when it is taken away
  }
  std::optional<double> current() {
    if (values_.values().empty()) return std::nullopt;
    if (!is_exact_) {
      n_ = mean_ = squares_ = 0;
      for (const double value : values_.values()) enter(value);
      is_exact_ = true;
    }
    return n_ < 2 ? 0 : std::sqrt(squares_ / (n_ - 1));
  }
  std::optional<double> last() { return current(); }

 private:
  void enter(double value) {
    const double delta = value - mean_;
    mean_ += delta / ++n_;
    squares_ += delta * (value - mean_);
  }

  Queue<double> values_;
  double n_ = 0, mean_ = 0, squares_ = 0;
  bool is_exact_ = true;
};

// Exact in 128 bits, which no number of rows can overflow, and cut to what a column can hold at the end.
class BoundedSum {
 public:
  void add(Arguments arguments) { change(arguments[0], 1); }
  void remove(Arguments arguments) { change(arguments[0], -1); }
  [[nodiscard]] std::optional<std::int64_t> current() const {
    using Limits = std::numeric_limits<std::int64_t>;
    if (count_ == 0) return std::nullopt;
    return static_cast<std::int64_t>(std::clamp<Wide>(total_, Limits::min(), Limits::max()));
  }
  [[nodiscard]] std::optional<std::int64_t> last() const { return current(); }

 private:
  __extension__ using Wide = __int128;

  void change(sqlite3_value* argument, int sign) {
    const auto value = integer(argument);
    if (!value) return;
    total_ += Wide{sign} * *value;
    count_ += sign;
  }

  Wide total_ = 0;
  std::int64_t count_ = 0;
};

// Of ts and dur. An interval of unknown length is none.
std::optional<Extent> interval_of(Arguments arguments) {
  const auto ts = integer(arguments[0]);
  const auto dur = integer(arguments[1]);
  return ts && dur ? std::optional(Extent{*ts, saturating_add(*ts, std::max<std::int64_t>(*dur, 0))}) : std::nullopt;
}

// What busy_ns() and overlap_ns() have in common.
template <std::int64_t (IntervalTimes::*Time)() const>
class Intervals {
 public:
  void add(Arguments arguments) {
    const auto interval = interval_of(arguments);
    if (!interval) return;
    intervals_.push(*interval);
    if (is_exact_) is_exact_ = times_.add(*interval);
  }
  void remove(Arguments arguments) {
    if (!interval_of(arguments)) return;
    intervals_.pop();
    is_exact_ = false;
  }
  std::optional<std::int64_t> current() {
    if (intervals_.values().empty()) return std::nullopt;
    if (!is_exact_) {
      times_ = times_of(std::vector<Extent>(intervals_.values().begin(), intervals_.values().end()));
      is_exact_ = true;
    }
    return (times_.*Time)();
  }
  std::optional<std::int64_t> last() { return current(); }

 private:
  Queue<Extent> intervals_;
  IntervalTimes times_;
  bool is_exact_ = true;  // they came in the order of their starts, and none has left
};

void give(sqlite3_context* context, const std::optional<double>& value) {
  if (value) sqlite3_result_double(context, *value);
}

void give(sqlite3_context* context, const std::optional<std::int64_t>& value) {
  if (value) sqlite3_result_int64(context, *value);
}

// A class as SQLite calls it. No exception passes through SQLite: there is none but for want of memory.
template <class State>
struct Calls {
  // SQLite's memory of a group is zeroed: it holds an owning pointer that final() takes.
  static State** slot(sqlite3_context* context, int bytes) {
    return static_cast<State**>(sqlite3_aggregate_context(context, bytes));
  }
  static void step(sqlite3_context* context, int count, sqlite3_value** arguments) {
    State** own = slot(context, sizeof(State*));
    if (own == nullptr) return sqlite3_result_error_nomem(context);
    const auto failure = catch_error([&] {
      if (*own == nullptr) *own = std::make_unique<State>().release();
      (*own)->add({arguments, static_cast<std::size_t>(count)});
    });
    if (failure) sqlite3_result_error_nomem(context);
  }
  static void inverse(sqlite3_context* context, int count, sqlite3_value** arguments) {
    State** own = slot(context, 0);
    if (own != nullptr && *own != nullptr) (*own)->remove({arguments, static_cast<std::size_t>(count)});
  }
  static void value(sqlite3_context* context) {
    State** own = slot(context, 0);
    if (own == nullptr || *own == nullptr) return;
    if (catch_error([&] { give(context, (*own)->current()); })) sqlite3_result_error_nomem(context);
  }
  static void final(sqlite3_context* context) {
    State** own = slot(context, 0);
    if (own == nullptr || *own == nullptr) return;
    const std::unique_ptr<State> state(std::exchange(*own, nullptr));
    if (catch_error([&] { give(context, state->last()); })) sqlite3_result_error_nomem(context);
  }
};

struct AggregateFunction {
  SqlFunctionHelp help;
  int arguments;
  void (*step)(sqlite3_context*, int, sqlite3_value**);
  void (*final)(sqlite3_context*);
  void (*value)(sqlite3_context*);
  void (*inverse)(sqlite3_context*, int, sqlite3_value**);
};

template <class State>
constexpr AggregateFunction aggregate(SqlFunctionHelp help, int arguments) {
  using Own = Calls<State>;
  return {help, arguments, Own::step, Own::final, Own::value, Own::inverse};
}

constexpr AggregateFunction kAggregateFunctions[] = {
    aggregate<Median>({"median", "median(x)", "the middle value, or the mean of the middle two"}, 1),
    aggregate<Percentile>({"percentile", "percentile(x, p)", "nearest rank, p in percent (0..100)"}, 2),
    aggregate<Deviation>({"stddev", "stddev(x)", "standard deviation of a sample (n - 1); 0 of one value"}, 1),
    aggregate<BoundedSum>(
        {"bounded_sum", "bounded_sum(n)", "sum of integers; 2^63 - 1 where sum() fails because the sum exceeds it"}, 1),
    aggregate<Intervals<&IntervalTimes::covered>>(
        {"busy_ns", "busy_ns(ts, dur)", "time in which at least one of the intervals runs; each moment counts once"},
        2),
    aggregate<Intervals<&IntervalTimes::shared>>(
        {"overlap_ns", "overlap_ns(ts, dur)",
         "time in which two or more of them run at once; of two alone: overlap_ns(ts, dur, ts2, dur2)"},
        2),
};

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

void human_ns(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  const std::string text = duration_text(sqlite3_value_double(arguments[0]));
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// overlap_ns(ts, dur, ts2, dur2): the time that two intervals share.
void overlap_of_two(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto first = interval_of({arguments, 2}), second = interval_of({arguments + 2, 2});
  if (!first || !second) return;
  IntervalTimes times;
  const auto& [early, late] = std::minmax(*first, *second);
  times.add(early);
  times.add(late);
  sqlite3_result_int64(context, times.shared());
}

// An exception must not pass through SQLite. These functions throw only when memory runs out.
template <void (*Function)(sqlite3_context*, int, sqlite3_value**)>
void guarded(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (catch_error([&] { Function(context, count, arguments); })) sqlite3_result_error_nomem(context);
}

struct Function {
  SqlFunctionHelp help;
  SqlFunction call;
  int arguments;
};

constexpr Function kFunctions[] = {
    {{"regexp", "text REGEXP pattern", "whether an RE2 expression, case-sensitive, matches anywhere in the text"},
     guarded<regexp>,
     2},
    {{"human_ns", "human_ns(ns)", "a time with its unit: '1.234 ms'"}, guarded<human_ns>, 1},
};

}  // namespace

void register_functions(Database& database) {
  for (const AggregateFunction& f : kAggregateFunctions) {
    const int code =
        sqlite3_create_window_function(database.handle(), f.help.name, f.arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                       nullptr, f.step, f.final, f.value, f.inverse, nullptr);
    if (code != SQLITE_OK) database.fail(code, "cannot register a function");
  }
  for (const Function& f : kFunctions) add_function(database, f.help.name, f.arguments, nullptr, f.call);
  add_function(database, "overlap_ns", 4, nullptr, overlap_of_two);  // its help is that of the aggregate
}

std::vector<SqlFunctionHelp> functions_help() {
  std::vector<SqlFunctionHelp> help;
  for (const AggregateFunction& f : kAggregateFunctions) help.push_back(f.help);
  for (const Function& f : kFunctions) help.push_back(f.help);
  return help;
}

}  // namespace tracedb
