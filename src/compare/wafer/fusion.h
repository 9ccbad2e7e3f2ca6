// Three detectors of fusion, over all kernels of both traces whatever their phase. Findings come in the order of the
// detectors; of several with the same fused type only the first of B and C counts, and all of A.
//
//   A explicit   an operation "X+Y" that one side has alone: that side fuses X and Y
//   B sequence   an operation that one side has alone, five times or more, behind one and the same other operation X in
//                more than 80 % of its calls, X on both sides: the other side fuses it into X
//   C imbalance  an operation on both sides, 50 calls or more in all, 1.5 times or more of them on one side: the side
//                with fewer fuses
//
// The call before is the one that starts before, on whatever stream. "Other" is never the subject of B and C. Within a
// detector: operations by alphabet, in A and B those of the first trace before those of the second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

struct Fusion {
  std::string type;  // operation that is fused into, or shows the fusion
  Side fused_by = Side::kFirst;
  std::string fused_kernel;               // A: the first kernel's name; else the type
  std::vector<std::string> unfused;       // operations of the other side
  std::int64_t count = 0;                 // A, B: calls; C: by how many calls they differ
  double confidence = 1;                  // B: share of calls behind X; C: difference / larger
  std::vector<std::string> kernel_names;  // A: up to three
};

std::vector<Fusion> find_fusions(const Trace& first, const Trace& second);

}  // namespace tracedb::wafer
