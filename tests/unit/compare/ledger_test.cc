#include "compare/ledger.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

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

}  // namespace

TEST_CASE("an effect of the count that is known is taken, and the rest is duration") {
  LedgerRow known{{4, 40}, {3, 24}};
  known.count_effect = 1;
  LedgerRow of_count = known;
  of_count.of_count = true;
  const Ledger ledger = make_ledger(std::vector<LedgerRow>{known, of_count}, 2, 1);
  CHECK(ledger.rows[0].change == 4);
  CHECK(ledger.rows[0].count_effect == 1);
  CHECK(ledger.rows[0].duration_effect == 3);
  CHECK(ledger.rows[1].count_effect == 4);
  CHECK(ledger.rows[1].duration_effect == 0);
  check_closed(ledger);
}

TEST_CASE("ledger by hand: an effect of the count and one of the duration") {
  // 2 of 10 ns a step become 3 of 8 ns; what is new or gone is all count.
  const std::vector<LedgerRow> rows = {{{4, 40}, {3, 24}}, {{0, 0}, {1, 7}}, {{2, 6}, {0, 0}}, {{0, 0}, {0, 0}}};
  const Ledger ledger = make_ledger(rows, 2, 1);
  CHECK(ledger.rows[0].baseline == 20);
  CHECK(ledger.rows[0].candidate == 24);
  CHECK(ledger.rows[0].change == 4);
  CHECK(ledger.rows[0].count_effect == 10);
  CHECK(ledger.rows[0].duration_effect == -6);
  CHECK(ledger.rows[1].count_effect == 7);
  CHECK(ledger.rows[2].count_effect == -3);
  CHECK(ledger.rows[3].change == 0);
  CHECK(ledger.total.change == 8);
  CHECK(ledger.total.count_effect == 14);
  CHECK(ledger.total.duration_effect == -6);
  check_closed(ledger);
}

TEST_CASE("ledger rounding: nanoseconds go to the largest fractions, ties to earlier rows, none to rows of nothing") {
  const LedgerRow third = {{0, 0}, {1, 1}};
  const std::vector<LedgerRow> rows = {{}, third, third, third, {{1, 3}, {1, 3}}};
  const Ledger ledger = make_ledger(rows, 3, 3);
  CHECK(ledger.total.change == 1);
  CHECK(ledger.rows[0].change == 0);
  CHECK(ledger.rows[1].change == 1);
  CHECK(ledger.rows[2].change == 0);
  CHECK(ledger.rows[4].change == 0);
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

}  // namespace tracedb
