// The classes of all kernel names of an index under some rules, as a temporary table that reports join:
//
//   temp.kernel_class(name_id INTEGER PRIMARY KEY, class TEXT, rule TEXT, pattern TEXT)
//
// One row for each row of kernel_name; rule is NULL where no rule holds, pattern where the rule has no label. Opinions
// are made anew for each query, so the index never holds a stale one. A few microseconds a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/classify/classifier.h"

namespace tracedb {

struct KernelNameClass {
  std::int64_t name_id = 0;
  Classification classification;
};

// The vendor of the trace's devices, for rules that ask for the platform; "unknown" if the trace does not say.
std::string platform_of(const Index& index);

// By name_id.
std::vector<KernelNameClass> classify_kernel_names(const Index& index, Classifier& classifier);

// Makes the table, replacing one made before.
void make_kernel_class_table(const Index& index, Classifier& classifier);

}  // namespace tracedb
