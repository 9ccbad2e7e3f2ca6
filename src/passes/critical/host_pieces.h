// What host threads did during parts of a critical path: the innermost event that was open, a piece for each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "index/index.h"
#include "passes/critical/critical_path.h"

namespace tracedb {

// Of a path. Ids of table string; 0: none. Those of a segment on a host say what was open there.
struct PathPiece {
  PathSegment segment;
  std::size_t of = 0;              // place of the segment that it is, or was cut from
  std::uint32_t name = 0;          // of the innermost event: call, operator, annotation or Python call
  std::uint32_t innermost_op = 0;  // of the innermost operator
  std::uint32_t stack = 0;         // id in stack, of the innermost Python call
};

// Visits the segments in their order, each on a host cut where its innermost event changes; where none is open it is a
// host_gap. Segments may be of several windows, and then overlap. One walk over each table.
void for_each_piece(const Index& index, const EventTables& events, std::span<const PathSegment> segments,
                    const std::function<void(const PathPiece&)>& visit);

}  // namespace tracedb
