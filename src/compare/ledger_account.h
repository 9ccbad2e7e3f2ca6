// The change of a group's steps as rows that add up to it: schema/METRICS.md 10. Pure.
//
// A row of kernels divides its change into effects of count and duration by aligned positions: where both traces have a
// kernel as often, the whole change is of duration; where only one has it, of count; class means are used for kernels
// without a position. A fusion is a row of its own: the fused kernel against its parts, which the rows of their classes
// leave out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/ledger.h"
#include "compare/trace/kernel_name_table.h"

namespace tracedb {

struct GroupComparison;

// Rows of a ledger: one for each key of the cells, exposed communication, exposed copies, what concurrent kernels count
// twice ("[concurrent kernels]", negative, only where there are some) and idle time, which add up to the span; and
// where steps follow each other on both sides what lies between them, with which they add up to the period
// (step_periods.h): "[between steps]", or "[overlap]" for a side where it is negative.
enum class LedgerBy { kOp, kLayer, kLayerOp, kKernel };
struct LedgerItem {
  std::int32_t layer = 0;
  std::string op, kernel;  // as far as asked for; else ""
  LedgerChange change;
  double baseline_n = 0, candidate_n = 0;  // of all units
  bool of_step = false;                    // of the whole step: in no layer, whatever the rows are by
};
struct LedgerAccount {
  std::vector<LedgerItem> items;   // by size of the change
  std::vector<LedgerItem> totals;  // "[span]", and behind it "[period]" where steps follow each other
};
LedgerAccount ledger_of(const GroupComparison& group, const KernelNameTable& kernel_names, LedgerBy by);

}  // namespace tracedb
