// Kernels and iterations of a core as postprocess_aie_trace.py of the stream project finds them, faults included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aie/stream/trace_events.h"

namespace tracedb::stream {

inline constexpr double kClockGhz = 1.25;

// The options of the program; without the block sizes m, k and n, which it only repeats.
struct Work {
  std::int64_t m = 0, k = 0, n = 0;  // of the whole multiplication
  std::int64_t rows = 0, columns = 0;
  std::int64_t warmup = 0, iterations = 0;  // not negative
};

enum class Phase : std::uint8_t { kWarmup, kPerf, kExtra };
std::string_view to_text(Phase phase);

struct Iteration {
  std::int64_t kernels = 0;
  double average = 0;
  Cycles shortest = 0, longest = 0;
  Span span{0, 0};  // unknown without kernels
  double gmacs = 0;
  Phase phase = Phase::kWarmup;
};

struct Core {
  python::Value pid;
  std::string tile;
  bool has_kernels = false;  // without, only pid, tile, expected and note count
  python::Value median;      // an int or a float, which print differently
  std::int64_t boundaries = 0;
  std::int64_t expected = 0;
  std::string note;  // empty: none
  std::vector<Iteration> iterations;
  std::int64_t first_perf = 0, behind_perf = 0;  // positions in iterations
};

// The processes whose name holds "core_trace".
std::vector<Core> find_cores(const std::vector<ProcessEvents>& processes, const Work& work);

// M * K * N of the options, in the order in which the program multiplies.
double macs(const Work& work);

}  // namespace tracedb::stream
