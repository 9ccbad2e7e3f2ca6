// The change between two traces as rows that add up to it to the nanosecond: schema/METRICS.md 10. Pure.
//
// With n and time per unit (step, token) in either trace and avg the time of one event,
//   count effect = (n_b - n_a) avg_a,   duration effect = n_b (avg_b - avg_a),   together the row's change.
// Times are durations of kernels that compute, and exclusive times (device_steps.h) of communication and copies. Time
// that concurrent kernels of a step count twice is a row of its own, negative. Swapping the traces negates every
// change.
//
// A row of kernels divides its change into effects of count and duration by aligned positions: where both traces have a
// kernel equally often, the whole change is of duration; where only one has it, of count; class means are used for
// kernels without a position. Rows by role are one work on both sides: means of the row are used, and a kernel that
// ends the work of another, such as the sum of a split product, counts with it. A fusion is a row of its own but among
// roles: the fused kernel against its parts, which the rows of their classes leave out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/trace/kernel_name_table.h"

namespace tracedb {

// Sums of one side over its runs, in ns. Beyond 2^62, as of damaged indexes, changes stop at the largest number and the
// account need not close.
struct LedgerAmount {
  std::int64_t n = 0;
  std::int64_t time = 0;
};

struct LedgerRow {
  LedgerAmount baseline, candidate;
  // ns per unit, where it is known better than from the means of the row; beyond it, the change is one of duration.
  std::optional<double> count_effect = std::nullopt;
  bool of_count = false;  // all of the change is of counts: no kernel has a counterpart
};

struct LedgerChange {
  double baseline = 0, candidate = 0;                  // ns per unit
  std::int64_t change = 0;                             // rounded so that the rows add up to the total
  std::int64_t count_effect = 0, duration_effect = 0;  // add up to `change`
  void add(const LedgerChange& other, int sign = 1);   // `sign` -1: takes away
};

// A change, and the kernels that it is of.
struct CountedChange {
  LedgerChange change;
  double baseline_n = 0, candidate_n = 0;  // kernels per unit
  void add(const CountedChange& other);
};

struct Ledger {
  std::vector<LedgerChange> rows;
  LedgerChange total;  // its effects: sums of those of the rows
};

// `baseline_units`, `candidate_units`: the divisors, more than 0. Ties in rounding go to earlier rows.
Ledger make_ledger(std::span<const LedgerRow> rows, std::int64_t baseline_units, std::int64_t candidate_units);

struct GroupComparison;

// Rows of a ledger: one for each key of the cells, exposed communication, exposed copies, the time that concurrent
// kernels of a step count twice ("[concurrent kernels]", negative), what steps that overlap run in each other's time
// ("[other steps]": DeviceStep::shared) and idle time. They add up to the
// time that the step takes: its span, but only until the next step begins (device_steps.h). Where steps follow
// each other in both traces, "[between steps]" completes them to the period. "[no step]" is work that no step has. Rare
// steps (step_groups.h) are in none of these: "[rare steps]" is by how much they make the mean step longer.
enum class LedgerBy { kOp, kLayer, kLayerOp, kKernel, kRole, kLayerRole };
inline bool is_by_layer(LedgerBy by) { return by != LedgerBy::kOp && by != LedgerBy::kRole; }
enum class LedgerKind {
  kOperation,
  kFusion,
  kComm,
  kCopy,
  kConcurrent,
  kOtherSteps,
  kIdle,
  kOther,
  kBetween,
  kBetweenOther,
  kRare,
  kTotal
};
struct LedgerItem : CountedChange {
  LedgerKind kind = LedgerKind::kOperation;
  std::int32_t layer = 0;
  std::string op, kernel;  // as far as the rows are by them; else ""; by role, `op` is the role
  std::string op_class;    // of rows of operations and fusions: the class alone
  bool of_step = false;    // of the whole step, not of a layer
};
struct LedgerAccount {
  std::vector<LedgerItem> items;   // by size of the change
  std::vector<LedgerItem> totals;  // "[span]"; "[period]" where steps follow each other; "[all steps]" with rare ones
  // Of the steps that are compared: of the period if `by_period`, else of the span.
  [[nodiscard]] const LedgerChange& total(bool by_period) const { return totals[by_period ? 1 : 0].change; }
};
LedgerAccount ledger_of(const GroupComparison& group, const KernelNameTable& kernel_names, LedgerBy by);

}  // namespace tracedb
