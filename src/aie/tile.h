// What an AI Engine trace says of one core tile. Times are cycles from the trace's own zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"

namespace tracedb::aie {

using Cycles = std::int64_t;

struct Span {
  Cycles start, end;
  [[nodiscard]] Cycles duration() const { return end - start; }
};

// States of a core whose share of the time is of interest.
enum class Activity : std::size_t { kLockStall, kStreamStall, kMemoryStall, kCascadeStall, kVector };
inline constexpr std::size_t kActivities = 5;

struct Tile {
  std::string name;                        // unique within the trace
  std::vector<Cycles> starts, ends;        // marks of kernels, sorted
  std::vector<Span> lock_stalls;           // by start
  std::array<Cycles, kActivities> in{};    // time spent in each
  std::array<bool, kActivities> traced{};  // whether the trace has an event of it whose length is known
  std::optional<Span> window;              // from the first event to the last
  Cycles longest_silence = 0;              // between two events of the window
  std::int64_t events = 0;                 // begins and lone ends
};

// Which events mark the start and the end of a kernel, and at which of their edges.
struct Mark {
  std::string name;  // empty: INSTR_EVENT_0 or INSTR_EVENT_1, in all spellings
  bool at_end = false;
};
struct Marks {
  Mark start{"", false};
  Mark end{"", true};
};

// The cores of the trace, in order of their first event. Empty where it has none.
std::vector<Tile> read_tiles(const Index& index, const Marks& marks);

}  // namespace tracedb::aie
