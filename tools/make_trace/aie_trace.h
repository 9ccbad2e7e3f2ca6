// Synthetic traces of AI Engine tiles, as mlir-aie's parse.py writes them: B and E events in cycles, with faults
// planted.
#pragma once

#include <cstdint>
#include <string>

#include "make_trace/write/text_output.h"

namespace tracedb {

struct AieOptions {
  std::uint64_t seed = 1;
  int tiles = 4, iterations = 6, kernels = 8;  // kernels: of a tile in one iteration
  std::int64_t kernel_cycles = 120, gap_cycles = 40, stall_cycles = 6000;
  std::int64_t second_kernel_cycles = 0;  // of every other kernel; 0: all are alike
  bool leading_stall = false;             // the cores wait for their first input
  bool same_name = false;                 // all tiles are called the same
  bool old_names = false;                 // Event0, LockStall
  // Of each tile.
  int lost_starts = 0, lost_ends = 0, doubled_starts = 0, lost_stall_ends = 0;
};

// Writes the trace. Returns its ground truth as JSON.
std::string write_aie_trace(const AieOptions& options, TextOutput& out);

// `make-trace aie ...`: the command line behind "aie". Throws Error{kUsage}, Error{kResource}.
void make_aie_trace(int argc, char** argv);

}  // namespace tracedb
