#include "compare/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/unknown.h"
#include "compare/comparison.h"

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
  std::ranges::stable_sort(order,
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

struct LedgerKey {
  Work work = Work::kCompute;  // rows of communication and copies come behind
  std::int32_t layer = kNoLayer;
  std::string op, kernel;
  bool fusion = false;
  auto operator<=>(const LedgerKey&) const = default;
};

bool is_by_role(LedgerBy by) { return by == LedgerBy::kRole || by == LedgerBy::kLayerRole; }

std::string label_of(const LedgerKey& key, LedgerBy by) {
  if (key.fusion) return fmt::format("[fusion: {}]", key.op);
  if (key.work == Work::kCompute) return by == LedgerBy::kLayer ? "[computation]" : key.op;
  if (key.work != Work::kComm) return "[exposed copies]";
  const bool has_role = is_by_role(by) && !key.op.empty();
  return has_role ? fmt::format("[exposed {}]", key.op) : "[exposed communication]";
}

LedgerKind kind_of(const LedgerKey& key) {
  if (key.fusion) return LedgerKind::kFusion;
  if (key.work == Work::kCompute) return LedgerKind::kOperation;
  return key.work == Work::kComm ? LedgerKind::kComm : LedgerKind::kCopy;
}

double per_unit(std::int64_t sum, std::int64_t units) { return static_cast<double>(sum) / static_cast<double>(units); }

// One side of a row. Times in ns as accounted_time() has them, sums over the runs.
struct SideSums : LedgerAmount {
  LedgerAmount aligned;    // of it, at aligned positions
  std::int64_t hosts = 0;  // by role: kernels that do not end another's work
};

// A row while it is added up.
struct RowSums {
  SideSums baseline, candidate;
  double count_effect = 0;  // of the placed ones, per unit
  bool longer = false;      // some position has kernels on both sides
};

class Account {
 public:
  Account(const GroupComparison& group, const KernelNameTable& kernel_names, LedgerBy by)
      : group_(group),
        kernel_names_(kernel_names),
        by_(by),
        units_a_(std::max<std::int64_t>(group.baseline_units, 1)),
        units_b_(std::max<std::int64_t>(group.candidate_units, 1)) {}

  std::map<LedgerKey, RowSums> run() {
    for (const WorkCell& cell : group_.baseline.cells) add(cell, &RowSums::baseline);
    for (const WorkCell& cell : group_.candidate.cells) add(cell, &RowSums::candidate);
    if (is_by_role(by_)) return by_roles();
    // Sequences of whole steps do not say in which layer a position is.
    if (group_.alignment.by_layer || by_ == LedgerBy::kOp) {
      for (const AlignedSegment& segment : group_.alignment.segments) {
        for (std::size_t layer = 0; layer < segment.layers.size(); ++layer) add_layer(segment, layer);
      }
    }
    for (auto& [key, row] : rows_) finish(row);
    return std::move(rows_);
  }

 private:
  // Counts and times of whole rows, without positions.
  std::map<LedgerKey, RowSums> by_roles() {
    for (auto& [key, row] : rows_) {
      row.longer = row.baseline.n > 0 && row.candidate.n > 0;
      add_effect(row, {row.baseline.hosts, row.baseline.time}, {row.candidate.hosts, row.candidate.time});
    }
    return std::move(rows_);
  }

  void add(const WorkCell& cell, SideSums RowSums::*side) {
    SideSums& to = rows_[is_by_role(by_) ? key_of_role(cell) : key_of(cell.name, cell.layer, cell.work)].*side;
    add(to, cell.sum.n, cell.sum.accounted(cell.work));
    if (!kernel_names_.entries()[cell.name].host) to.hosts += cell.sum.n;
  }
  static void add(LedgerAmount& to, std::int64_t n, std::int64_t time) {
    to.n += n;
    to.time = saturating_add(to.time, time);
  }

  [[nodiscard]] LedgerKey key_of_role(const WorkCell& cell) const {
    LedgerKey key;
    key.work = cell.work;
    if (is_by_layer(by_)) key.layer = cell.layer;
    const Role role = group_.role_levels.of(cell.role);
    const bool is_named = cell.work == Work::kCompute || (cell.work == Work::kComm && role != Role::kNone);
    if (is_named) key.op = to_string(role);
    return key;
  }
  [[nodiscard]] LedgerKey key_of(NameId name, std::int32_t layer, Work work) const {
    LedgerKey key;
    key.work = work;
    if (by_ != LedgerBy::kOp) key.layer = layer;
    if (by_ == LedgerBy::kKernel) key.kernel = kernel_names_.entries()[name].name;
    // Communication and copies are one row each, whatever their classes, unless rows are of kernels.
    if (by_ == LedgerBy::kLayer || (by_ != LedgerBy::kKernel && work != Work::kCompute)) return key;
    key.op = kernel_names_.op_name(group_.levels.op_of(name, kernel_names_));
    return key;
  }
  [[nodiscard]] LedgerKey key_of(const Fusion& fusion, std::int32_t layer) const {
    LedgerKey key;
    key.fusion = true;
    if (by_ != LedgerBy::kOp) key.layer = layer;
    if (by_ == LedgerBy::kKernel) key.kernel = kernel_names_.entries()[fusion.fused.name].name;
    key.op = kernel_names_.op_name(kernel_names_.op_of(fusion.fused.name));
    return key;
  }

  void add_layer(const AlignedSegment& segment, std::size_t which) {
    const std::int32_t layer = segment.layers[which];
    const auto begin = segment.positions.begin() + static_cast<std::ptrdiff_t>(which * segment.pairs.size());
    std::vector<PositionSums> positions(begin, begin + static_cast<std::ptrdiff_t>(segment.pairs.size()));
    for (std::size_t i = 0; i < segment.pairs.size(); ++i) {
      const KernelPair& pair = segment.pairs[i];
      take_out(pair.baseline, positions[i].baseline, layer, &RowSums::baseline);
      take_out(pair.candidate, positions[i].candidate, layer, &RowSums::candidate);
      if (pair.companion_of != kNoPartner) {
        const KernelPair& host = segment.pairs[pair.companion_of];
        PositionSums& host_sums = positions[pair.companion_of];
        join_host(host.baseline, pair.baseline, layer, host_sums.baseline, positions[i].baseline, &RowSums::baseline);
        join_host(host.candidate, pair.candidate, layer, host_sums.candidate, positions[i].candidate,
                  &RowSums::candidate);
      }
    }
    for (std::size_t i = 0; i < segment.pairs.size(); ++i) position(segment.pairs[i], positions[i], layer);
  }

  // Moves the kernels of a fusion from the row of their class to that of the fusion.
  void take_out(const PairSide& side, PositionSum& sum, std::int32_t layer, SideSums RowSums::*of_side) {
    if (sum.n == 0 || side.fusion < 0 || by_ == LedgerBy::kLayer) return;
    add(rows_[key_of(side.name, layer, sum.work)].*of_side, -sum.n, -sum.time);
    RowSums& row = rows_[key_of(group_.fusions[static_cast<std::size_t>(side.fusion)], layer)];
    add(row.*of_side, sum.n, sum.time);
    row.longer = true;
    sum = {};
  }

  // A companion is part of its host's position.
  void join_host(const PairSide& host, const PairSide& own, std::int32_t layer, PositionSum& host_sum, PositionSum& sum,
                 SideSums RowSums::*side) {
    if (sum.n == 0 || host_sum.n == 0) return;
    const LedgerKey key = key_of(own.name, layer, sum.work);
    if (key != key_of(host.name, layer, host_sum.work)) return;
    // Its time counts at the host's position, its number does not.
    add((rows_[key].*side).aligned, sum.n, 0);
    host_sum.time = saturating_add(host_sum.time, sum.time);
    sum = {};
  }

  void position(const KernelPair& pair, const PositionSums& sums, std::int32_t layer) {
    const PositionSum& a = sums.baseline;
    const PositionSum& b = sums.candidate;
    if (a.n > 0 && b.n > 0) {
      const LedgerKey key = key_of(pair.baseline.name, layer, a.work);
      if (key == key_of(pair.candidate.name, layer, b.work)) return count(rows_[key], a, b);
    }
    if (a.n > 0) count(rows_[key_of(pair.baseline.name, layer, a.work)], a, {});
    if (b.n > 0) count(rows_[key_of(pair.candidate.name, layer, b.work)], {}, b);
  }

  void count(RowSums& row, const PositionSum& a, const PositionSum& b) const {
    add(row.baseline.aligned, a.n, a.time);
    add(row.candidate.aligned, b.n, b.time);
    add_effect(row, {a.n, a.time}, {b.n, b.time});
  }

  void add_effect(RowSums& row, const LedgerAmount& a, const LedgerAmount& b) const {
    if (a.n > 0 && b.n > 0) {
      row.count_effect += (per_unit(b.n, units_b_) - per_unit(a.n, units_a_)) * per_unit(a.time, a.n);
      row.longer = true;
    } else {
      row.count_effect += per_unit(b.time, units_b_) - per_unit(a.time, units_a_);
    }
  }

  // For kernels without a position, by the class's means.
  void finish(RowSums& row) const {
    const auto rest = [](const SideSums& of) { return LedgerAmount{of.n - of.aligned.n, of.time - of.aligned.time}; };
    add_effect(row, rest(row.baseline), rest(row.candidate));
  }

  const GroupComparison& group_;
  const KernelNameTable& kernel_names_;
  LedgerBy by_;
  std::int64_t units_a_, units_b_;
  std::map<LedgerKey, RowSums> rows_;
};

LedgerRow row_of(const LedgerKey& key, const RowSums& sums) {
  LedgerRow row{sums.baseline, sums.candidate, sums.count_effect, false};
  if (key.fusion) row.count_effect = 0;  // the same work at the same position
  row.of_count = !sums.longer;
  return row;
}

LedgerItem of_whole_step(LedgerKind kind, const char* label, const LedgerChange& change) {
  return {{change}, kind, kNoLayer, label, "", "", true};
}

// A part of the time of a step: one stretch for each, as far as counting goes, so that all change is of duration.
LedgerRow part_row(const GroupComparison& group, std::int64_t GroupWork::*part) {
  return {{group.baseline.device_steps, group.baseline.*part}, {group.candidate.device_steps, group.candidate.*part}};
}

// Adds rows behind the last total, and the total of that and them. `whole`: the amounts of all rows so far.
void extend(const GroupComparison& group, std::vector<LedgerItem> parts, const std::vector<LedgerRow>& rows,
            const char* label, LedgerRow& whole, LedgerAccount& account) {
  LedgerChange total = account.totals.back().change;
  const auto is_empty = [](const LedgerRow& row) { return row.baseline.time == 0 && row.candidate.time == 0; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Ledger own = make_ledger(std::span(&rows[i], 1), group.baseline_units, group.candidate_units);
    parts[i].change = own.rows.front();
    total.add(parts[i].change);
    whole.baseline.time = saturating_add(whole.baseline.time, rows[i].baseline.time);
    whole.candidate.time = saturating_add(whole.candidate.time, rows[i].candidate.time);
    if (i == 0 || !is_empty(rows[i])) account.items.push_back(std::move(parts[i]));
  }
  const LedgerChange exact = make_ledger(std::span(&whole, 1), group.baseline_units, group.candidate_units).total;
  total.baseline = exact.baseline;
  total.candidate = exact.candidate;
  account.totals.push_back(of_whole_step(LedgerKind::kTotal, label, total));
}

}  // namespace

void LedgerChange::add(const LedgerChange& other, int sign) {
  baseline += sign * other.baseline;
  candidate += sign * other.candidate;
  change += sign * other.change;
  count_effect += sign * other.count_effect;
  duration_effect += sign * other.duration_effect;
}

void CountedChange::add(const CountedChange& other) {
  change.add(other.change);
  baseline_n += other.baseline_n;
  candidate_n += other.candidate_n;
}

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

LedgerAccount ledger_of(const GroupComparison& group, const KernelNameTable& kernel_names, LedgerBy by) {
  std::vector<LedgerRow> rows;
  LedgerAccount out;
  for (const auto& [key, sums] : Account(group, kernel_names, by).run()) {
    // All of it may be in a fusion's row.
    if (sums.baseline.n == 0 && sums.candidate.n == 0) continue;
    rows.push_back(row_of(key, sums));
    const CountedChange counted{
        {}, group.baseline_per_unit(sums.baseline.n), group.candidate_per_unit(sums.candidate.n)};
    out.items.push_back({counted, kind_of(key), key.layer, label_of(key, by), key.kernel, key.op, false});
  }
  const auto add = [&](LedgerKind kind, const char* label, std::int64_t GroupWork::*part) {
    if (kind != LedgerKind::kIdle && group.baseline.*part == 0 && group.candidate.*part == 0) return;
    rows.push_back(part_row(group, part));
    out.items.push_back(of_whole_step(kind, label, {}));
  };
  add(LedgerKind::kConcurrent, "[concurrent kernels]", &GroupWork::at_once);
  add(LedgerKind::kOtherSteps, "[other steps]", &GroupWork::shared);
  add(LedgerKind::kIdle, "[idle]", &GroupWork::idle);
  add(LedgerKind::kOther, "[no step]", &GroupWork::other);
  const Ledger ledger = make_ledger(rows, group.baseline_units, group.candidate_units);
  for (std::size_t i = 0; i < rows.size(); ++i) out.items[i].change = ledger.rows[i];
  out.totals.push_back(of_whole_step(LedgerKind::kTotal, "[span]", ledger.total));
  LedgerRow whole = part_row(group, &GroupWork::taken);
  if (group.has_period()) {
    extend(group,
           {of_whole_step(LedgerKind::kBetween, "[between steps]", {}),
            of_whole_step(LedgerKind::kBetweenOther, "[no step, between steps]", {})},
           {part_row(group, &GroupWork::between), part_row(group, &GroupWork::between_other)}, "[period]", whole, out);
  }
  if (group.baseline.rare != 0 || group.candidate.rare != 0) {
    extend(group, {of_whole_step(LedgerKind::kRare, "[rare steps]", {})}, {part_row(group, &GroupWork::rare)},
           "[all steps]", whole, out);
  }
  std::ranges::stable_sort(out.items, std::ranges::greater(),
                           [](const LedgerItem& item) { return std::llabs(item.change.change); });
  return out;
}

}  // namespace tracedb
