// The steps of an index for trace-query sql: the same as in reports, even where the index stores none. Computed when a
// statement first needs them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "passes/steps/step_set.h"

namespace tracedb {

class StepWords {
 public:
  struct Found {
    EventTables events;
    StepSet set;
  };
  using Find = std::function<Found()>;

  explicit StepWords(Find find) : find_(std::move(find)) {}

  // The number of the step, from 0, that a kernel or memory operation is in; nullopt: in none.
  std::optional<std::int64_t> of_kernel(std::int64_t id);
  std::optional<std::int64_t> of_memory(std::int64_t id);

  std::int64_t count();
  std::string_view phase(std::int64_t step);  // of one that there is

  // A column of the view `steps`, of those that are not made of others; nothing where it is unknown, or no such step or
  // column exists.
  using Fact = std::variant<std::monostate, std::int64_t, std::string_view>;
  Fact fact(std::int64_t step, std::string_view column);

  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  // Of the kernels of a step.
  struct Kernels {
    std::int64_t n = 0, time = 0, first_id = 0, last_id = 0, begin = kNullCell, end = kNullCell;
    bool timed = false;  // the duration of one is known
  };

  const Found& found();
  const Kernels& kernels(std::int64_t step);

  Find find_;
  std::optional<Found> found_;
  std::vector<Kernels> kernels_;  // by step
  std::vector<std::string> notes_;
};

}  // namespace tracedb
