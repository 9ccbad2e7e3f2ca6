// Detects kernels of graph replays whose names and times are out of step: a profiler that loses or adds a name inside a
// replay gives every later kernel the name of its neighbour, while the times stay right. Where a replay repeats itself,
// layer by layer or replay by replay, this is visible: at one position of the repetition all durations are alike and
// the names are not, and a kernel takes a fraction or a multiple of the time that its name takes elsewhere.
//
// A name that is wrong at its position in every repetition cannot be distinguished from a right one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/index.h"
#include "passes/columns/event_columns.h"

namespace tracedb {

// The kernels of one graph launch on one stream, in time order.
struct Replay {
  std::vector<std::int64_t> dur;    // ns
  std::vector<std::uint32_t> name;  // equal ids: equal names
};

struct NameOrder {
  std::int64_t kernels = 0;  // of replays, that have another name than their place has; 0: nothing was found
  std::int64_t time = 0;     // theirs, ns
};

// Of replays in any order.
NameOrder find_names_out_of_step(std::span<const Replay> replays);

// Of a whole index. `kernels`: its kernels.
NameOrder find_names_out_of_step(const Index& index, const EventColumns& kernels);

}  // namespace tracedb
