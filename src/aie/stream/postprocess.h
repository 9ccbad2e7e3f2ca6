// What postprocess_aie_trace.py of the stream project makes of a trace, and the files that it writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/python/json.h"

namespace tracedb::stream {

// What postprocess_aie_trace.py of the stream project reads of a trace, by process.

using Cycles = std::int64_t;

struct Span {
  Cycles start, end;
  [[nodiscard]] Cycles duration() const { return end - start; }
};

struct ProcessEvents {
  python::Value pid;                             // as the trace first wrote it
  std::string name;                              // of the last process_name event; empty without one
  std::vector<Cycles> starts, ends;              // INSTR_EVENT_0 B and INSTR_EVENT_1 E, sorted
  std::vector<Cycles> stall_begins, stall_ends;  // LOCK_STALL B and E, sorted
};

// Pairs each begin with the first end behind it that no earlier begin took. Both sorted. One lost end shifts all pairs
// that follow.
std::vector<Span> first_fit(const std::vector<Cycles>& begins, const std::vector<Cycles>& ends);

// The processes with a name or an event of these kinds, in the order in which they first had one. Throws
// Error{kInput}: no list of such events, or a time beyond 1e18.
std::vector<ProcessEvents> read_trace_events(const std::string& file);

// Kernels and iterations of a core as postprocess_aie_trace.py of the stream project finds them, faults included.
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

struct Options {
  Work work;
  std::int64_t block_m = 0, block_k = 0, block_n = 0;
  std::string hardware;  // hwid

  [[nodiscard]] std::string folder() const;  // of the trace, and of what is written
  [[nodiscard]] std::string trace() const;
};

struct OutputText {
  std::string path, text;
};

// Reads the trace and makes all files, in the order in which the program writes them. Throws Error{kInput}.
std::vector<OutputText> postprocess(const Options& options);

}  // namespace tracedb::stream
