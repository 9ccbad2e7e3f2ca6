#include "compare/ledger_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "compare/comparison.h"
#include "passes/columns/group_stats.h"

namespace tracedb {
namespace {

struct LedgerKey {
  Work work = Work::kCompute;  // rows of communication and copies come behind
  std::int32_t layer = kNoLayer;
  std::string op, kernel;
  bool fusion = false;
  auto operator<=>(const LedgerKey&) const = default;
};

std::string label_of(const LedgerKey& key, LedgerBy by) {
  if (key.fusion) return fmt::format("[fusion: {}]", key.op);
  if (key.work == Work::kCompute) return by == LedgerBy::kLayer ? "[computation]" : key.op;
  const std::string what = key.work == Work::kComm ? "exposed communication" : "exposed copies";
  return fmt::format("[{}]", what);
}

double per_unit(std::int64_t sum, std::int64_t units) { return static_cast<double>(sum) / static_cast<double>(units); }

// A row while it is added up. Times in ns as accounted_time() has them, sums over the runs.
struct RowSums {
  LedgerAmount baseline, candidate;
  LedgerAmount placed_baseline, placed_candidate;  // of those, at aligned places
  double count_effect = 0;                         // of the placed ones, per unit
  bool longer = false;                             // some place has kernels on both sides
};

class Account {
 public:
  Account(const GroupComparison& group, const Vocabulary& vocabulary, LedgerBy by)
      : group_(group),
        vocabulary_(vocabulary),
        by_(by),
        units_a_(std::max<std::int64_t>(group.baseline_units, 1)),
        units_b_(std::max<std::int64_t>(group.candidate_units, 1)) {}

  std::map<LedgerKey, RowSums> run() {
    for (const WorkCell& cell : group_.baseline.cells) {
      add(rows_[key_of(cell.name, cell.layer, cell.work)].baseline, cell.sum.n, cell.sum.accounted(cell.work));
    }
    for (const WorkCell& cell : group_.candidate.cells) {
      add(rows_[key_of(cell.name, cell.layer, cell.work)].candidate, cell.sum.n, cell.sum.accounted(cell.work));
    }
    // Sequences of whole steps do not say in which layer a place is.
    if (group_.alignment.by_layer || by_ == LedgerBy::kOp) {
      for (const AlignedSegment& segment : group_.alignment.segments) {
        for (std::size_t layer = 0; layer < segment.layers.size(); ++layer) place_layer(segment, layer);
      }
    }
    for (auto& [key, row] : rows_) finish(row);
    return std::move(rows_);
  }

 private:
  static void add(LedgerAmount& to, std::int64_t n, std::int64_t time) {
    to.n += n;
    to.time = bounded_add(to.time, time);
  }

  [[nodiscard]] LedgerKey key_of(NameId name, std::int32_t layer, Work work) const {
    LedgerKey key;
    key.work = work;
    if (by_ != LedgerBy::kOp) key.layer = layer;
    if (by_ == LedgerBy::kKernel) key.kernel = vocabulary_.names()[name].name;
    // Communication and copies are one row each, whatever their classes, unless rows are of kernels.
    if (by_ == LedgerBy::kLayer || (by_ != LedgerBy::kKernel && work != Work::kCompute)) return key;
    key.op = vocabulary_.op_name(group_.levels.op_of(name, vocabulary_));
    return key;
  }
  [[nodiscard]] LedgerKey key_of(const Fusion& fusion, std::int32_t layer) const {
    LedgerKey key;
    key.fusion = true;
    if (by_ != LedgerBy::kOp) key.layer = layer;
    if (by_ == LedgerBy::kKernel) key.kernel = vocabulary_.names()[fusion.fused.name].name;
    key.op = vocabulary_.op_name(vocabulary_.op_of(fusion.fused.name));
    return key;
  }

  void place_layer(const AlignedSegment& segment, std::size_t which) {
    const std::int32_t layer = segment.layers[which];
    const auto begin = segment.places.begin() + static_cast<std::ptrdiff_t>(which * segment.pairs.size());
    std::vector<PlaceSums> places(begin, begin + static_cast<std::ptrdiff_t>(segment.pairs.size()));
    for (std::size_t i = 0; i < segment.pairs.size(); ++i) {
      const KernelPair& pair = segment.pairs[i];
      take_out(pair.baseline, places[i].baseline, layer, &RowSums::baseline);
      take_out(pair.candidate, places[i].candidate, layer, &RowSums::candidate);
      if (pair.companion_of != kNoPartner) {
        join_host(segment.pairs[pair.companion_of].baseline, pair.baseline, layer, places[pair.companion_of].baseline,
                  places[i].baseline, &RowSums::placed_baseline);
        join_host(segment.pairs[pair.companion_of].candidate, pair.candidate, layer,
                  places[pair.companion_of].candidate, places[i].candidate, &RowSums::placed_candidate);
      }
    }
    for (std::size_t i = 0; i < segment.pairs.size(); ++i) place(segment.pairs[i], places[i], layer);
  }

  // What a fusion accounts for goes from the row of its class to that of the fusion.
  void take_out(const PairSide& side, PlaceSum& sum, std::int32_t layer, LedgerAmount RowSums::*amount) {
    if (sum.n == 0 || side.fusion < 0 || by_ == LedgerBy::kLayer) return;
    add(rows_[key_of(side.name, layer, sum.work)].*amount, -sum.n, -sum.time);
    RowSums& row = rows_[key_of(group_.fusions[static_cast<std::size_t>(side.fusion)], layer)];
    add(row.*amount, sum.n, sum.time);
    row.longer = true;
    sum = {};
  }

  // A companion is part of its host's place.
  void join_host(const PairSide& host, const PairSide& own, std::int32_t layer, PlaceSum& host_sum, PlaceSum& sum,
                 LedgerAmount RowSums::*placed) {
    if (sum.n == 0 || host_sum.n == 0) return;
    const LedgerKey key = key_of(own.name, layer, sum.work);
    if (key != key_of(host.name, layer, host_sum.work)) return;
    // Its time counts at the host's place, its number does not.
    add(rows_[key].*placed, sum.n, 0);
    host_sum.time = bounded_add(host_sum.time, sum.time);
    sum = {};
  }

  void place(const KernelPair& pair, const PlaceSums& sums, std::int32_t layer) {
    const PlaceSum& a = sums.baseline;
    const PlaceSum& b = sums.candidate;
    if (a.n > 0 && b.n > 0) {
      const LedgerKey key = key_of(pair.baseline.name, layer, a.work);
      if (key == key_of(pair.candidate.name, layer, b.work)) return count(rows_[key], a, b);
    }
    if (a.n > 0) count(rows_[key_of(pair.baseline.name, layer, a.work)], a, {});
    if (b.n > 0) count(rows_[key_of(pair.candidate.name, layer, b.work)], {}, b);
  }

  void count(RowSums& row, const PlaceSum& a, const PlaceSum& b) const {
    add(row.placed_baseline, a.n, a.time);
    add(row.placed_candidate, b.n, b.time);
    add_effect(row, a.n, a.time, b.n, b.time);
  }

  void add_effect(RowSums& row, std::int64_t a_n, std::int64_t a_time, std::int64_t b_n, std::int64_t b_time) const {
    if (a_n > 0 && b_n > 0) {
      row.count_effect += (per_unit(b_n, units_b_) - per_unit(a_n, units_a_)) * per_unit(a_time, a_n);
      row.longer = true;
    } else {
      row.count_effect += per_unit(b_time, units_b_) - per_unit(a_time, units_a_);
    }
  }

  // Of what has no place, by the class's means.
  void finish(RowSums& row) const {
    add_effect(row, row.baseline.n - row.placed_baseline.n, row.baseline.time - row.placed_baseline.time,
               row.candidate.n - row.placed_candidate.n, row.candidate.time - row.placed_candidate.time);
  }

  const GroupComparison& group_;
  const Vocabulary& vocabulary_;
  LedgerBy by_;
  std::int64_t units_a_, units_b_;
  std::map<LedgerKey, RowSums> rows_;
};

LedgerRow row_of(const LedgerKey& key, const RowSums& sums) {
  LedgerRow row{sums.baseline, sums.candidate, sums.count_effect, false};
  if (key.fusion) row.count_effect = 0;  // the same work at the same place
  row.of_count = !sums.longer;
  return row;
}

// By how much kernels that ran at once take more time than passed meanwhile: what the rows of computation count twice.
LedgerAmount concurrent(const GroupWork& work) {
  LedgerAmount out{work.runs, 0};
  for (const WorkCell& cell : work.cells) {
    out.time = bounded_add(out.time, cell.sum.own - cell.sum.accounted(cell.work));
  }
  return out;
}

// What lies between steps: one stretch a run, as idle time, by its sign in one of two rows.
LedgerRow between_row(const GroupComparison& group, bool overlap) {
  const auto part = [&](const PeriodSums& sums) { return (sums.between < 0) == overlap ? sums.between : 0; };
  return {{group.baseline.runs, part(group.baseline_periods)}, {group.candidate.runs, part(group.candidate_periods)}};
}

// Adds the rows of what lies between steps, and the total that they make with the rows of the span.
void close_over_period(const GroupComparison& group, LedgerAccount& account) {
  const LedgerRow span = {{group.baseline.runs, group.baseline.span}, {group.candidate.runs, group.candidate.span}};
  const Ledger ledger = make_ledger(std::vector{span, between_row(group, false), between_row(group, true)},
                                    group.baseline_units, group.candidate_units);
  LedgerItem between{kNoLayer, "[between steps]", "", ledger.rows[1], 0, 0, true};
  LedgerItem overlap{kNoLayer, "[overlap]", "", ledger.rows[2], 0, 0, true};
  const bool overlaps = overlap.change.baseline != 0 || overlap.change.candidate != 0;
  const bool parts = between.change.baseline != 0 || between.change.candidate != 0 || !overlaps;
  // The rows of the span add up to its total to the nanosecond, which may be one off this ledger's row of it.
  const LedgerChange& whole = account.totals.front().change;
  const std::int64_t rest = ledger.rows[0].change - whole.change;
  LedgerChange& takes = (parts ? between : overlap).change;
  takes.change += rest;
  takes.duration_effect += rest;
  if (parts) account.items.push_back(between);
  if (overlaps) account.items.push_back(overlap);
  LedgerItem total{kNoLayer, "[period]", "", ledger.total, 0, 0, true};
  total.change.count_effect = whole.count_effect + between.change.count_effect + overlap.change.count_effect;
  total.change.duration_effect = total.change.change - total.change.count_effect;
  account.totals.push_back(std::move(total));
}

}  // namespace

LedgerAccount ledger_of(const GroupComparison& group, const Vocabulary& vocabulary, LedgerBy by) {
  std::vector<LedgerRow> rows;
  LedgerAccount out;
  for (const auto& [key, sums] : Account(group, vocabulary, by).run()) {
    // All of it may be in a fusion's row.
    if (sums.baseline.n == 0 && sums.candidate.n == 0) continue;
    rows.push_back(row_of(key, sums));
    out.items.push_back({key.layer,
                         label_of(key, by),
                         key.kernel,
                         {},
                         static_cast<double>(sums.baseline.n),
                         static_cast<double>(sums.candidate.n),
                         false});
  }
  const LedgerRow at_once = {concurrent(group.baseline), concurrent(group.candidate)};
  if (at_once.baseline.time != 0 || at_once.candidate.time != 0) {
    rows.push_back(at_once);
    out.items.push_back({kNoLayer, "[concurrent kernels]", "", {}, 0, 0, true});
  }
  // Idle time is one stretch a run, as far as counting goes: all of its change is one of duration.
  rows.push_back(
      {{group.baseline.runs, group.baseline.idle}, {group.candidate.runs, group.candidate.idle}, std::nullopt, false});
  out.items.push_back({kNoLayer, "[idle]", "", {}, 0, 0, true});
  const Ledger ledger = make_ledger(rows, group.baseline_units, group.candidate_units);
  for (std::size_t i = 0; i < rows.size(); ++i) out.items[i].change = ledger.rows[i];
  out.totals.push_back({kNoLayer, "[span]", "", ledger.total, 0, 0, true});
  if (group.has_period()) close_over_period(group, out);
  std::stable_sort(out.items.begin(), out.items.end(), [](const LedgerItem& x, const LedgerItem& y) {
    return std::llabs(x.change.change) > std::llabs(y.change.change);
  });
  return out;
}

}  // namespace tracedb
