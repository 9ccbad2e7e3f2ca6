// Which device events a question is about: --device --stream --step --phase --op --name --from --to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"

namespace tracedb {

// What is not given selects everything.
struct Selection {
  std::optional<std::int64_t> device;  // ordinal
  std::optional<std::string> stream;   // number, or text where the trace has text
  std::optional<std::int64_t> first_step, last_step;
  std::optional<std::string> phase;       // kind of step; "none": in no step
  std::optional<std::string> op;          // class under the rules in force, a GLOB
  std::optional<std::string> name_glob;   // of the name or the short name
  std::optional<std::string> name_regex;  // of the name
  std::optional<std::int64_t> from, to;   // ns; starts at or after `from`, before `to`

  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool names_kernels() const { return op || name_glob || name_regex; }
};

// The tests on small tables are made once; what is left per event is a few look-ups. An `op` needs
// make_kernel_class_table() before.
class EventFilter {
 public:
  EventFilter(const Index& index, const Selection& selection);

  // Ids as in EventColumns. Memory operations have no kernel name: pass 0, which a selection of names leaves out.
  [[nodiscard]] bool keeps(std::int64_t ts, std::uint32_t name, std::uint32_t stream, std::uint32_t step) const {
    return all_ || (has(names_, name) && has(streams_, stream) && (step == 0 ? stepless_ : has(steps_, step)) &&
                    ts >= from_ && ts < to_);
  }
  [[nodiscard]] bool keeps_all() const { return all_; }

 private:
  using Ids = std::vector<bool>;  // by id
  static bool has(const Ids& ids, std::uint32_t id) { return id < ids.size() && ids[id]; }

  bool all_;
  bool stepless_;  // keeps what is in no step
  Ids names_, streams_, steps_;
  std::int64_t from_, to_;
};

}  // namespace tracedb
