// The change between two traces as rows that add up to it to the nanosecond. Pure.
//
// Source: schema/METRICS.md 10. With n and time per unit (step, token) in either trace and avg the time of one event,
//   count effect = (n_b - n_a) avg_a,   duration effect = n_b (avg_b - avg_a),   together the row's change.
// Times are durations of kernels that compute, and exclusive times (exclusive_time.h) of communication and copies. What
// concurrent kernels count twice is a row of its own, negative, so that the rows add up to the span. Swapping the
// traces negates every change.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
  bool of_count = false;  // all of the change is of counts: no kernel has its like on the other side
};

struct LedgerChange {
  double baseline = 0, candidate = 0;                  // ns per unit
  std::int64_t change = 0;                             // rounded so that the rows add up to the total
  std::int64_t count_effect = 0, duration_effect = 0;  // add up to `change`
};

struct Ledger {
  std::vector<LedgerChange> rows;
  LedgerChange total;  // its effects: sums of those of the rows
};

// `baseline_units`, `candidate_units`: what to divide by, more than 0. Ties in rounding go to earlier rows.
Ledger make_ledger(std::span<const LedgerRow> rows, std::int64_t baseline_units, std::int64_t candidate_units);

}  // namespace tracedb
