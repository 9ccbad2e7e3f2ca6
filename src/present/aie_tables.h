#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aie/tile.h"
#include "report/sql_report.h"

namespace tracedb {

// A trace as `trace-query aie` shows it.
struct AieTrace {
  std::string name;  // empty: not shown, as it is the only one
  std::vector<aie::Tile> tiles;
  std::vector<aie::TileKernels> kernels;  // of each tile
  std::int64_t cores = 0;                 // that share the work
  std::int64_t shown_cores = 0;           // of these
  std::optional<aie::Span> window;        // of all tiles, not only of `tiles`
  std::int64_t most_iterations = 0;       // of one of them
};

// Tables of several traces: one row for each tile, for each iteration of each tile, for each iteration of the array.
Report aie_tiles(const std::vector<AieTrace>& traces, const aie::Work& work);
Report aie_iterations(const std::vector<AieTrace>& traces, const aie::Work& work);
// `least_tiles`: that must have measured an iteration; 0: all that have kernels.
Report aie_system(const std::vector<AieTrace>& traces, const aie::Work& work, std::int64_t least_tiles);

// What is missing or suspicious in the trace.
std::vector<std::string> aie_warnings(const AieTrace& trace, const aie::KernelOptions& options, const aie::Work& work);

}  // namespace tracedb
