#include "compare/ledger.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>
#include <random>
#include <string>

#include "compare/comparison.h"
#include "support/rows.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

std::vector<LedgerRow> random_rows(std::mt19937_64& chance) {
  std::vector<LedgerRow> rows(chance() % 12);
  const auto amount = [&]() -> LedgerAmount {
    if (chance() % 4 == 0) return {};
    const std::int64_t n = 1 + static_cast<std::int64_t>(chance() % 9);
    return {n, static_cast<std::int64_t>(chance() % (chance() % 2 == 0 ? 20 : std::uint64_t{1} << 62))};
  };
  for (LedgerRow& row : rows) row = {amount(), amount()};
  return rows;
}

// Times small enough for sums of a few to fit.
void cut_down(std::vector<LedgerRow>& rows) {
  for (LedgerRow& row : rows) {
    row.baseline.time %= std::int64_t{1} << 58;
    row.candidate.time %= std::int64_t{1} << 58;
  }
}

void check_closed(const Ledger& ledger) {
  std::int64_t change = 0, count = 0, duration = 0;
  for (const LedgerChange& row : ledger.rows) {
    CHECK(row.count_effect + row.duration_effect == row.change);
    change += row.change;
    count += row.count_effect;
    duration += row.duration_effect;
  }
  CHECK(change == ledger.total.change);
  CHECK(count == ledger.total.count_effect);
  CHECK(duration == ledger.total.duration_effect);
}

TEST_CASE("an effect of the count that is known is taken, and the rest is duration") {
  LedgerRow known{{4, 40}, {3, 24}};
  known.count_effect = 1;
  LedgerRow of_count = known;
  of_count.of_count = true;
  const Ledger ledger = make_ledger(std::vector<LedgerRow>{known, of_count}, 2, 1);
  CHECK(as_row(ledger.rows[0].change, ledger.rows[0].count_effect, ledger.rows[0].duration_effect,
               ledger.rows[1].count_effect, ledger.rows[1].duration_effect) == "4 1 3 4 0");
  check_closed(ledger);
}

TEST_CASE("ledger by hand: an effect of the count and one of the duration") {
  // 2 of 10 ns a step become 3 of 8 ns; what is new or gone is all count.
  const std::vector<LedgerRow> rows = {{{4, 40}, {3, 24}}, {{0, 0}, {1, 7}}, {{2, 6}, {0, 0}}, {{0, 0}, {0, 0}}};
  const Ledger ledger = make_ledger(rows, 2, 1);
  CHECK(as_row(ledger.rows[0].baseline, ledger.rows[0].candidate, ledger.rows[0].change, ledger.rows[0].count_effect,
               ledger.rows[0].duration_effect, ledger.rows[1].count_effect, ledger.rows[2].count_effect,
               ledger.rows[3].change, ledger.total.change, ledger.total.count_effect,
               ledger.total.duration_effect) == "20 24 4 10 -6 7 -3 0 8 14 -6");
  check_closed(ledger);
}

TEST_CASE("ledger rounding: nanoseconds go to the largest fractions, ties to earlier rows, none to rows of nothing") {
  const LedgerRow third = {{0, 0}, {1, 1}};
  const std::vector<LedgerRow> rows = {{}, third, third, third, {{1, 3}, {1, 3}}};
  const Ledger ledger = make_ledger(rows, 3, 3);
  CHECK(as_row(ledger.total.change, ledger.rows[0].change, ledger.rows[1].change, ledger.rows[2].change,
               ledger.rows[4].change) == "1 0 1 0 0");
  CHECK(make_ledger(std::vector<LedgerRow>{{{0, 0}, {1, 1}}}, 1, 2).total.change == 1);  // half a nanosecond
  CHECK(make_ledger(std::vector<LedgerRow>{{{1, 1}, {0, 0}}}, 2, 1).total.change == -1);
}

TEST_CASE("ledger totals do not depend on how rows cut the time") {
  const std::vector<LedgerRow> parts = {{{1, 1}, {1, 2}}, {{1, 1}, {1, 2}}, {{1, 1}, {1, 3}}};
  const std::vector<LedgerRow> whole = {{{3, 3}, {3, 7}}};
  for (std::int64_t units = 1; units < 50; ++units) {
    CHECK(make_ledger(parts, units, 7).total.baseline == make_ledger(whole, units, 7).total.baseline);
    CHECK(make_ledger(parts, 7, units).total.candidate == make_ledger(whole, 7, units).total.candidate);
  }
}

TEST_CASE("ledger of random rows: it closes, swapped sides negate it, equal sides have none") {
  std::mt19937_64 chance(3);
  for (int round = 0; round < 3000; ++round) {
    std::vector<LedgerRow> rows = random_rows(chance);
    cut_down(rows);
    const auto na = static_cast<std::int64_t>(1 + chance() % 40);
    const auto nb = static_cast<std::int64_t>(1 + chance() % 40);
    const Ledger there = make_ledger(rows, na, nb);
    check_closed(there);
    std::vector<LedgerRow> swapped, equal;
    for (const LedgerRow& row : rows) {
      swapped.push_back({row.candidate, row.baseline});
      equal.push_back({row.baseline, row.baseline});
    }
    const Ledger back = make_ledger(swapped, nb, na);
    CHECK(back.total.change == -there.total.change);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(back.rows[i].change == -there.rows[i].change);
      CHECK(back.rows[i].baseline == there.rows[i].candidate);
      // No row is further than a nanosecond from what it is exactly.
      const Wide exact = Wide{rows[i].candidate.time} * na - Wide{rows[i].baseline.time} * nb;
      const Wide error = Wide{there.rows[i].change} * na * nb - exact;
      CHECK((error < 0 ? -error : error) < Wide{na} * nb);
    }
    for (const LedgerChange& row : make_ledger(equal, na, na).rows) CHECK(row.change == 0);
  }
}

TEST_CASE("sums beyond all measure stay at the largest number") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<LedgerRow> rows(3, LedgerRow{{1, 0}, {1, kMost}});
  const Ledger ledger = make_ledger(rows, 1, 1);
  CHECK(ledger.rows[2].change == kMost);
  CHECK(ledger.total.change == kMost);
  CHECK(ledger.total.duration_effect == kMost);
  const std::vector<LedgerRow> less(3, LedgerRow{{1, kMost}, {1, 0}});
  CHECK(make_ledger(less, 1, 1).total.change == -kMost);
}

// The account of a comparison, closed over the period where steps follow each other.

struct Sides {
  KernelNameTable kernel_names;
  GroupComparison group;

  // Sums over the runs: one row of a kernel, idle time, and what lies between; without: no period.
  Sides& baseline(std::int64_t runs, std::int64_t own, std::int64_t idle, std::optional<std::int64_t> between) {
    fill(group.baseline, group.group.baseline, runs, own, idle, between);
    group.baseline_units = runs;
    return *this;
  }
  Sides& candidate(std::int64_t runs, std::int64_t own, std::int64_t idle, std::optional<std::int64_t> between) {
    fill(group.candidate, group.group.candidate, runs, own, idle, between);
    group.candidate_units = runs;
    return *this;
  }
  void fill(GroupWork& work, GroupSide& side, std::int64_t runs, std::int64_t own, std::int64_t idle,
            std::optional<std::int64_t> between) {
    const NameId name = kernel_names.intern("gemm", "gemm", "dense_gemm");
    work.cells = {{0, name, Work::kCompute, {runs, own, own}}};
    work.device_steps = runs;
    work.taken = own + idle;
    work.idle = idle;
    side.by_period = between.has_value();
    work.between = between.value_or(0);
  }
  [[nodiscard]] LedgerAccount account() const { return ledger_of(group, kernel_names, LedgerBy::kOp); }
};

// "norm 20 +4; [span] 20 +4": the baseline's time and the change of each row, then of the totals.
std::string text(const LedgerAccount& account) {
  std::string out;
  for (const auto* items : {&account.items, &account.totals}) {
    for (const LedgerItem& item : *items) {
      out += fmt::format("{}{} {} {:+}", out.empty() ? "" : "; ", item.op, item.change.baseline, item.change.change);
    }
  }
  return out;
}

const LedgerItem* find(const std::vector<LedgerItem>& items, const std::string& op) {
  for (const LedgerItem& item : items) {
    if (item.op == op) return &item;
  }
  return nullptr;
}

void check_closed(const LedgerAccount& account) {
  LedgerChange inside, all;
  for (const LedgerItem& item : account.items) {
    CHECK(item.change.count_effect + item.change.duration_effect == item.change.change);
    const bool between = item.op == "[between steps]";
    for (LedgerChange* to : between ? std::vector{&all} : std::vector{&inside, &all}) {
      to->change += item.change.change;
      to->count_effect += item.change.count_effect;
      to->duration_effect += item.change.duration_effect;
    }
  }
  const auto same = [](const LedgerChange& a, const LedgerChange& b) {
    CHECK(a.change == b.change);
    CHECK(a.count_effect == b.count_effect);
    CHECK(a.duration_effect == b.duration_effect);
  };
  same(account.totals[0].change, inside);
  if (account.totals.size() > 1) same(account.totals[1].change, all);
}

TEST_CASE("ledger: work of no step is a row within the step, and one between") {
  Sides sides = Sides().baseline(10, 900, 100, 50).candidate(10, 900, 100, 50);
  sides.group.candidate.other = 40;
  sides.group.candidate.taken += 40;
  sides.group.candidate.between_other = 70;
  CHECK(text(sides.account()) ==
        "[no step, between steps] 0 +7; [no step] 0 +4; dense_gemm 90 +0; [idle] 10 +0; [between steps] 5 +0; "
        "[span] 100 +4; [period] 105 +11");
}

TEST_CASE("ledger: rare steps are a row behind the period, and in the total of all steps") {
  Sides sides = Sides().baseline(10, 900, 100, 50).candidate(10, 900, 100, 50);
  sides.group.candidate.rare = 160;
  const LedgerAccount account = sides.account();
  CHECK(account.total(true).change == 0);
  CHECK(text(account) ==
        "[rare steps] 0 +16; dense_gemm 90 +0; [idle] 10 +0; [between steps] 5 +0; [span] 100 +0; [period] 105 +0; "
        "[all steps] 105 +16");
}

TEST_CASE("ledger: what kernels that run at once save is theirs, what steps run in each other's time is another row") {
  // The same two kernels at once; which of them started first, and so has the time that they share, is chance.
  Sides sides = Sides().baseline(10, 1000, 0, std::nullopt).candidate(10, 1300, 0, std::nullopt);
  const NameId branch = sides.kernel_names.intern("copy", "copy", "elementwise");
  sides.group.baseline.cells[0].sum = {10, 1000, 1000};
  sides.group.baseline.cells.push_back({0, branch, Work::kCompute, {10, 400, 0}});
  sides.group.candidate.cells[0].sum = {10, 1300, 900};
  sides.group.candidate.cells.push_back({0, branch, Work::kCompute, {10, 400, 400}});
  sides.group.baseline.at_once = sides.group.candidate.at_once = -400;
  sides.group.baseline.taken = 1000;
  sides.group.candidate.taken = 800;  // 500 of it run in the time of the next step
  sides.group.candidate.shared = -500;
  const LedgerAccount account = sides.account();
  CHECK(text(account) ==
        "[other steps] 0 -50; dense_gemm 100 +30; elementwise 40 +0; [concurrent kernels] -40 +0; [idle] 0 +0; "
        "[span] 100 -20");
  CHECK(find(account.items, "dense_gemm")->change.duration_effect == 30);
  check_closed(account);
  CHECK(find(Sides().baseline(10, 900, 0, std::nullopt).candidate(5, 450, 0, std::nullopt).account().items,
             "[concurrent kernels]") == nullptr);
}

TEST_CASE("ledger: closes over span and period whatever the numbers, and a swap of the sides negates it") {
  std::mt19937_64 chance(17);
  const auto pick = [&](std::int64_t most) {
    return static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 2000; ++round) {
    std::int64_t of[2][4];
    for (auto& side : of) {
      side[0] = 1 + pick(13);
      side[1] = pick(1000);
      side[2] = pick(100);
      side[3] = pick(200);
    }
    const auto made = [&](int a, int b) {
      return Sides()
          .baseline(of[a][0], of[a][1], of[a][2], of[a][3])
          .candidate(of[b][0], of[b][1], of[b][2], of[b][3])
          .account();
    };
    const LedgerAccount there = made(0, 1);
    const LedgerAccount back = made(1, 0);
    check_closed(there);
    REQUIRE(there.items.size() == back.items.size());
    for (const LedgerItem& item : there.items) {
      const LedgerItem* other = find(back.items, item.op);
      REQUIRE(other != nullptr);
      CHECK(other->change.change == -item.change.change);
    }
    CHECK(there.totals[1].change.change == -back.totals[1].change.change);
  }
}

}  // namespace
}  // namespace tracedb
