// The account of a comparison, closed over the period where steps follow each other.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "compare/comparison.h"

namespace tracedb {
namespace {

struct Sides {
  KernelNameTable kernel_names;
  GroupComparison group;

  // Sums over the runs: one row of a kernel, idle time, and what lies between; `followed` 0: no period.
  Sides& baseline(std::int64_t runs, std::int64_t own, std::int64_t idle, std::int64_t between, std::int64_t followed) {
    fill(group.baseline, group.baseline.periods, runs, own, idle, between, followed);
    group.baseline_units = runs;
    return *this;
  }
  Sides& candidate(std::int64_t runs, std::int64_t own, std::int64_t idle, std::int64_t between,
                   std::int64_t followed) {
    fill(group.candidate, group.candidate.periods, runs, own, idle, between, followed);
    group.candidate_units = runs;
    return *this;
  }
  void fill(GroupWork& work, PeriodSums& periods, std::int64_t runs, std::int64_t own, std::int64_t idle,
            std::int64_t between, std::int64_t followed) {
    const NameId name = kernel_names.intern("gemm", "gemm", "dense_gemm");
    work.cells = {{0, name, Work::kCompute, {runs, own, own}}};
    work.device_steps = runs;
    work.span = own + idle;
    work.idle = idle;
    periods.followed = followed;
    periods.between = between;
  }
  [[nodiscard]] LedgerAccount account() const { return ledger_of(group, kernel_names, LedgerBy::kOp); }
};

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
    const bool between = item.op == "[between steps]" || item.op == "[overlap]";
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

}  // namespace

TEST_CASE("ledger: what lies between steps is a row, and the total is the period") {
  const LedgerAccount account = Sides().baseline(10, 900, 100, 50, 9).candidate(5, 450, 50, 2525, 4).account();
  const LedgerItem* between = find(account.items, "[between steps]");
  REQUIRE(between != nullptr);
  CHECK(between->change.baseline == 5);
  CHECK(between->change.candidate == 505);
  CHECK(between->change.change == 500);
  CHECK(between->change.duration_effect == 500);
  REQUIRE(account.totals.size() == 2);
  CHECK(account.totals[0].op == "[span]");
  CHECK(account.totals[0].change.change == 0);
  CHECK(account.totals[1].op == "[period]");
  CHECK(account.totals[1].change.candidate == 605);
  CHECK(account.totals[1].change.change == 500);
  CHECK(account.items.front().op == "[between steps]");
  check_closed(account);
}

TEST_CASE("ledger: overlap is a row of its own, on the side that has it") {
  const LedgerAccount both = Sides().baseline(10, 900, 100, -50, 9).candidate(10, 900, 100, -70, 9).account();
  CHECK(find(both.items, "[between steps]") == nullptr);
  REQUIRE(find(both.items, "[overlap]") != nullptr);
  CHECK(find(both.items, "[overlap]")->change.change == -2);
  check_closed(both);
  const LedgerAccount one = Sides().baseline(10, 900, 100, -50, 9).candidate(10, 900, 100, 70, 9).account();
  REQUIRE(find(one.items, "[overlap]") != nullptr);
  REQUIRE(find(one.items, "[between steps]") != nullptr);
  CHECK(find(one.items, "[overlap]")->change.change == 5);
  CHECK(find(one.items, "[between steps]")->change.change == 7);
  CHECK(one.totals[1].change.change == 12);
  check_closed(one);
}

TEST_CASE("ledger: without a period on both sides the total is the span") {
  const LedgerAccount account = Sides().baseline(10, 900, 100, 50, 9).candidate(1, 95, 5, 0, 0).account();
  CHECK(account.totals.size() == 1);
  CHECK(find(account.items, "[between steps]") == nullptr);
  check_closed(account);
}

TEST_CASE("ledger: a kernel counts with its duration, what runs beside it is a row of its own") {
  // The same two kernels at once; which of them started first, and so has the time that they share, is chance.
  Sides sides = Sides().baseline(10, 1000, 0, 0, 0).candidate(10, 1300, 0, 0, 0);
  const NameId branch = sides.kernel_names.intern("copy", "copy", "elementwise");
  sides.group.baseline.cells[0].sum = {10, 1000, 1000};
  sides.group.baseline.cells.push_back({0, branch, Work::kCompute, {10, 400, 0}});
  sides.group.candidate.cells[0].sum = {10, 1300, 900};
  sides.group.candidate.cells.push_back({0, branch, Work::kCompute, {10, 400, 400}});
  const LedgerAccount account = sides.account();
  REQUIRE(find(account.items, "dense_gemm") != nullptr);
  CHECK(find(account.items, "dense_gemm")->change.duration_effect == 30);
  REQUIRE(find(account.items, "elementwise") != nullptr);
  CHECK(find(account.items, "elementwise")->change.change == 0);
  const LedgerItem* at_once = find(account.items, "[concurrent kernels]");
  REQUIRE(at_once != nullptr);
  CHECK(at_once->change.baseline == -40);
  CHECK(at_once->change.change == 0);
  CHECK(account.totals[0].change.change == 30);
  check_closed(account);
  CHECK(find(Sides().baseline(10, 900, 0, 0, 0).candidate(5, 450, 0, 0, 0).account().items, "[concurrent kernels]") ==
        nullptr);
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
      side[3] = pick(200) - 100;
    }
    const auto made = [&](int a, int b) {
      return Sides()
          .baseline(of[a][0], of[a][1], of[a][2], of[a][3], of[a][0])
          .candidate(of[b][0], of[b][1], of[b][2], of[b][3], of[b][0])
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

}  // namespace tracedb
