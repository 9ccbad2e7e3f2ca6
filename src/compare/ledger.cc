#include "compare/ledger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

// candidate / nb - baseline / na = numerator / (na nb). Times below 2^62 and units below 2^40 keep within 128 bits.
Wide numerator(const LedgerRow& row, std::int64_t na, std::int64_t nb) {
  return Wide{row.candidate.time} * na - Wide{row.baseline.time} * nb;
}

std::int64_t narrowed(Wide value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp<Wide>(value, -Wide{kMost}, Wide{kMost}));
}

// Half away from zero, so that a swap of the sides negates it.
std::int64_t rounded(Wide value, Wide by) {
  const Wide twice = 2 * (value < 0 ? -value : value) + by;
  const std::int64_t size = narrowed(twice / (2 * by));
  return value < 0 ? -size : size;
}

// Gives the nanoseconds that cutting off fractions lost to the rows with the largest ones.
void close_account(std::vector<LedgerChange>& rows, const std::vector<Wide>& fractions, Wide missing) {
  const auto most = static_cast<Wide>(rows.size());
  if (missing < -most || missing > most) return;  // times beyond all measure, of a damaged index
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const Wide sign = missing < 0 ? -1 : 1;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sign * fractions[a] > sign * fractions[b]; });
  for (std::size_t i = 0; missing != 0; ++i, missing -= sign) {
    rows[order[i]].change = narrowed(rows[order[i]].change + sign);
  }
}

void split_effects(const LedgerRow& row, std::int64_t na, std::int64_t nb, LedgerChange& change) {
  constexpr double kMost = 9e18;
  const auto split = [&](double by_count) {
    change.count_effect = std::llround(std::clamp(by_count, -kMost, kMost));
    change.duration_effect = narrowed(Wide{change.change} - change.count_effect);
  };
  if (row.of_count || row.baseline.n == 0 || row.candidate.n == 0) {
    change.count_effect = change.change;  // new, or gone
    return;
  }
  if (row.count_effect) return split(*row.count_effect);
  const double per_unit = static_cast<double>(row.candidate.n) / static_cast<double>(nb) -
                          static_cast<double>(row.baseline.n) / static_cast<double>(na);
  const double average = static_cast<double>(row.baseline.time) / static_cast<double>(row.baseline.n);
  split(per_unit * average);
}

}  // namespace

Ledger make_ledger(std::span<const LedgerRow> rows, std::int64_t baseline_units, std::int64_t candidate_units) {
  const std::int64_t na = std::max<std::int64_t>(baseline_units, 1);
  const std::int64_t nb = std::max<std::int64_t>(candidate_units, 1);
  const Wide by = Wide{na} * nb;
  Ledger ledger;
  std::vector<Wide> fractions;
  Wide total = 0, baseline = 0, candidate = 0, given = 0;
  for (const LedgerRow& row : rows) {
    const Wide exact = numerator(row, na, nb);
    LedgerChange change;
    change.baseline = static_cast<double>(row.baseline.time) / static_cast<double>(na);
    change.candidate = static_cast<double>(row.candidate.time) / static_cast<double>(nb);
    change.change = narrowed(exact / by);
    fractions.push_back(exact % by);
    total += exact;
    given += change.change;
    baseline += row.baseline.time;
    candidate += row.candidate.time;
    ledger.rows.push_back(change);
  }
  // Of whole numbers: sums of the rows' fractions would depend on their number and order.
  ledger.total.baseline = static_cast<double>(baseline) / static_cast<double>(na);
  ledger.total.candidate = static_cast<double>(candidate) / static_cast<double>(nb);
  ledger.total.change = rounded(total, by);
  close_account(ledger.rows, fractions, ledger.total.change - given);
  Wide by_count = 0, by_duration = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    split_effects(rows[i], na, nb, ledger.rows[i]);
    by_count += ledger.rows[i].count_effect;
    by_duration += ledger.rows[i].duration_effect;
  }
  ledger.total.count_effect = narrowed(by_count);
  ledger.total.duration_effect = narrowed(by_duration);
  return ledger;
}

}  // namespace tracedb
