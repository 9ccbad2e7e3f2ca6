// Parses the name of an Ascend collective: "hcom_allReduce__586_0_1" is the first (0) all-reduce of group 586.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

struct HcomName {
  std::string_view type;       // "hcom_allReduce_", as in the profiler's column of types
  std::string_view operation;  // "allReduce"
  std::string_view group;      // "586": the last digits of the group's hash
  std::int64_t sequence = 0;   // within the group, from 0
};

// nullopt: no name of a collective's task.
std::optional<HcomName> parse_hcom_name(std::string_view name);
// Whether a type or task name is of a collective.
inline bool is_hcom(std::string_view name) { return name.starts_with("hcom_"); }

}  // namespace tracedb
