#include "compare/runs/set_comparison.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generated_runs.h"
#include "support/places.h"

namespace tracedb {
namespace {

bool is_alarm(const SetMetric& metric) {
  return metric.verdict == Verdict::kWorse || metric.verdict == Verdict::kBetter;
}

bool is_closed(const SetComparison& result) {
  std::int64_t sum = 0;
  bool near = true;
  for (const SetRow& row : result.rows) {
    sum += row.change;
    near = near && std::abs(static_cast<double>(row.change) - (row.candidate - row.baseline)) <= 1;
  }
  return near && sum == result.change && sum == std::llround(result.candidate - result.baseline);
}

const SetRow& row_of(const SetComparison& result, std::string_view name) {
  return *std::ranges::find(result.rows, name, &SetRow::name);
}

// How often a world's sets have a property, in percent.
template <class Has>
double share(const GeneratedWorld& world, int sets, Has has) {
  int count = 0;
  for (int i = 0; i < sets; ++i) {
    count += has(compare_sets(generated_phase(world, static_cast<std::uint64_t>(i)), {})) ? 1 : 0;
  }
  return 100.0 * count / sets;
}

GeneratedWorld world_of(std::size_t baseline, std::size_t candidate,
                        const std::function<void(GeneratedWorld&)>& change = {}) {
  GeneratedWorld world;
  world.baseline_runs = baseline;
  world.candidate_runs = candidate;
  if (change) change(world);
  return world;
}

TEST_CASE("sets of runs: false alarms where nothing changed" * doctest::skip(test_stride() > 1)) {
  std::vector<std::pair<std::string, GeneratedWorld>> worlds;
  for (const double sd : {0.004, 0.01, 0.015}) {
    for (const std::size_t runs : {3U, 5U, 10U}) {
      worlds.emplace_back(fmt::format("sd {}, {} runs", sd, runs),
                          world_of(runs, runs, [&](auto& w) { w.speed_sd = sd; }));
    }
  }
  for (const std::size_t runs : {3U, 5U}) {
    worlds.emplace_back("two clocks", world_of(runs, runs, [](auto& w) { w.memory_speed_sd = 0.01; }));
    worlds.emplace_back("two algorithms", world_of(runs, runs, [](auto& w) { w.mode = 0.05; }));
    worlds.emplace_back("drift within runs", world_of(runs, runs, [](auto& w) { w.drift = 0.05; }));
    worlds.emplace_back("unequal loads", world_of(runs, runs, [](auto& w) { w.load_sd = 0.04; }));
    worlds.emplace_back("kernels repeat well", world_of(runs, runs, [](auto& w) { w.group_sd = 0.001; }));
  }
  for (const auto& [a, b] : {std::pair{5, 3}, {3, 10}, {2, 2}, {2, 5}, {1, 5}, {10, 1}}) {
    worlds.emplace_back(fmt::format("{} and {} runs", a, b),
                        world_of(static_cast<std::size_t>(a), static_cast<std::size_t>(b)));
  }
  constexpr int kSets = 200;
  for (const auto& named : worlds) {
    CAPTURE(named.first);
    const GeneratedWorld& world = named.second;
    int period = 0, equal_speed = 0, gate = 0, reasons = 0, open = 0, suspected = 0;
    for (std::uint64_t i = 0; i < kSets; ++i) {
      const SetComparison result = compare_sets(generated_phase(world, i), {});
      period += is_alarm(result.period) ? 1 : 0;
      equal_speed += is_alarm(result.period_at_equal_speed) ? 1 : 0;
      gate += result.gate == GateOutcome::kFail ? 1 : 0;
      reasons += result.rows.front().named ? 1 : 0;
      open += is_closed(result) ? 0 : 1;
      suspected += result.no_speed.empty() && !result.period_at_equal_speed.range ? 1 : 0;
    }
    CHECK(period <= 16);  // 5 % and two sigma of chance
    CHECK(equal_speed <= 16);
    CHECK(gate <= 5);
    CHECK(reasons <= 10);
    CHECK(open == 0);
    CHECK(suspected <= 4);
  }
}

TEST_CASE("sets of runs: a part that takes 2 % of the period longer" * doctest::skip(test_stride() > 1)) {
  const struct {
    std::size_t runs;
    double seen, first;
  } cases[] = {{3, 90, 80}, {5, 98, 95}, {10, 98, 95}};
  constexpr int kSets = 300;
  for (const auto& of : cases) {
    CAPTURE(of.runs);
    GeneratedWorld world = world_of(of.runs, of.runs, [](auto& w) { w.local_change = 0.02; });
    const auto parts = generated_parts(world);
    int seen = 0, first = 0, near = 0, inside = 0, wrong = 0;
    for (std::uint64_t i = 0; i < std::uint64_t{kSets}; ++i) {
      world.changed_part = i % 29;
      const std::string& changed = parts[world.changed_part].part.name;
      const SetComparison result = compare_sets(generated_phase(world, i), {});
      const auto verdict = result.period_at_equal_speed.verdict;
      seen += verdict == Verdict::kWorse ? 1 : 0;
      wrong += verdict == Verdict::kBetter || result.period.verdict == Verdict::kBetter ? 1 : 0;
      first += result.rows.front().named && result.rows.front().name == changed ? 1 : 0;
      const auto amount = static_cast<double>(row_of(result, changed).change);
      near += std::abs(amount - 2e5) <= 0.1 * 2e5 + 0.002 * 1e7 ? 1 : 0;
      inside += result.period.range->low <= 2e5 && result.period.range->high >= 2e5 ? 1 : 0;
    }
    CHECK(100 * seen / kSets >= of.seen);
    CHECK(100 * first / kSets >= of.first);
    CHECK(100 * near / kSets >= 95);
    CHECK(inside >= 276);  // 92 %
    CHECK(inside <= 294);
    CHECK(wrong == 0);
  }
}

TEST_CASE("sets of runs: few of 500 groups changed") {
  const GeneratedWorld world = world_of(3, 3, [](auto& w) {
    w.small_groups = 470;
    w.small_change = 0.03;
  });
  double false_share = 0, found = 0;
  constexpr int kSets = 40;
  for (std::uint64_t i = 0; i < kSets; ++i) {
    int right = 0, wrong = 0;
    for (const SetRow& row : compare_sets(generated_phase(world, i), {}).rows) {
      if (row.kind != SetRowKind::kPart || *row.q_value > 0.05) continue;
      const bool changed = row.name.size() == 7 && row.name < "small/8" && row.name.starts_with("small/");
      ++(changed ? right : wrong);
    }
    false_share += static_cast<double>(wrong) / std::max(right + wrong, 1);
    found += right / 8.0;
  }
  CHECK(false_share / kSets <= 0.05);
  CHECK(found / kSets >= 0.7);
}

TEST_CASE("sets of runs: all matrix products slower are told from speed") {
  const GeneratedWorld world = world_of(5, 5, [](auto& w) { w.product_change = 0.03; });
  CHECK(share(world, 200, [](const SetComparison& result) {
          const SetRow& first = result.rows.front();  // as measured: no speed is taken out of it
          return first.named && first.name == "[speed or dense_gemm]" &&
                 std::abs(first.candidate / first.baseline - 1.03) < 0.02;
        }) >= 90);
  CHECK(share(world, 200, [](const SetComparison& result) {
          return result.period_at_equal_speed.verdict == Verdict::kSame || result.gate == GateOutcome::kPass;
        }) == 0);
}

TEST_CASE("sets of runs: waits and new kernels are no speed, and named beside what may be") {
  int wrong = 0;
  for (const std::size_t wait : {29U, 30U, 31U}) {
    PhaseRuns phase = generated_phase(world_of(4, 4,
                                               [&](auto& w) {
                                                 w.product_change = 0.12;
                                                 w.changed_part = wait;
                                                 w.local_change = 0.05;
                                               }),
                                      wait);
    for (RunSums& run : phase.sides[0]) {  // without the last groups of attention
      run.period -= run.parts[9].time;
      run.mean_period -= run.parts[9].time / static_cast<double>(run.steps);
      run.parts[9] = {};
    }
    const SetComparison result = compare_sets(phase, {});
    CHECK(row_of(result, "[speed or dense_gemm]").named);
    for (const SetRow& row : result.rows) {
      CAPTURE(row.name);
      const bool told = row.name == phase.parts[wait].name || row.name == phase.parts[9].name;
      if (told) CHECK(row.named);
      wrong += row.kind == SetRowKind::kPart && row.named && !told ? 1 : 0;
      if (told) CHECK(row.range->low > 0);
      if (!row.op_class.empty()) CHECK(row.range.has_value() == told);
    }
    CHECK(is_closed(result));
  }
  CHECK(wrong <= 1);  // of those named 5 % are false
}

// All kernels of these classes take longer in a run.
void slow_down(const PhaseRuns& phase, RunSums& run, double more, const std::vector<std::string>& classes) {
  for (std::size_t part = 0; part < run.parts.size(); ++part) {
    if (std::ranges::find(classes, phase.parts[part].op_class) == classes.end()) continue;
    PartSums& sums = run.parts[part];
    run.period += more * sums.time;
    run.mean_period += more * sums.time / static_cast<double>(run.steps);
    sums = {(1 + more) * sums.time, (1 + more) * (1 + more) * sums.time_squares, (1 + more) * sums.time_load};
  }
}

TEST_CASE("sets of runs: what most kernels take longer and a third of the classes do not is not told as speed") {
  for (const std::size_t runs : {std::size_t{3}, std::size_t{5}}) {
    CAPTURE(runs);
    int told = 0, same = 0, faster = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      PhaseRuns phase = generated_phase(world_of(runs, runs, [](auto& w) { w.group_sd = 0.002; }), i);
      for (RunSums& run : phase.sides[1]) slow_down(phase, run, 0.04, {"dense_gemm", "attention", "other"});
      const SetComparison result = compare_sets(phase, {});
      told += result.rows.front().name == "[speed or dense_gemm]" ? 1 : 0;
      faster += result.period_at_equal_speed.verdict == Verdict::kBetter ? 1 : 0;
      same += result.period_at_equal_speed.verdict == Verdict::kSame ? 1 : 0;
      CHECK(is_closed(result));
    }
    CHECK(told >= 70);
    CHECK(same <= 25);
    CHECK(faster == 0);
  }
}

TEST_CASE("sets of runs: matrix products slower in some of the runs are no speed") {
  const struct {
    double more, speed_sd;
    std::vector<std::size_t> runs;  // of the candidate's five
    int told;                       // of 100
  } cases[] = {{0.06, 0.002, {0, 1, 2}, 98}, {0.12, 0.002, {0, 1}, 98}, {0.06, 0.002, {3}, 98},
               {0.06, 0.01, {0, 1, 2}, 50},  {0.12, 0.01, {0, 1}, 90},  {0.12, 0.01, {3}, 90}};
  for (const auto& of : cases) {
    CAPTURE(of.more);
    CAPTURE(of.runs.size());
    int told = 0, same = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      PhaseRuns phase = generated_phase(world_of(5, 5, [&](auto& w) { w.speed_sd = of.speed_sd; }), i);
      for (const std::size_t run : of.runs) slow_down(phase, phase.sides[1][run], of.more, {"dense_gemm"});
      const SetComparison result = compare_sets(phase, {});
      const SetMetric& equal = result.period_at_equal_speed;
      told += !equal.range && row_of(result, "[speed or dense_gemm]").range ? 1 : 0;
      same += equal.verdict == Verdict::kSame ? 1 : 0;
    }
    CHECK(told >= of.told);
    CHECK(same <= 100 - of.told);
  }
}

TEST_CASE("sets of runs: a clock is speed, and no reason of its kernels") {
  for (const double sd : {0.01, 0.001}) {
    CAPTURE(sd);
    const GeneratedWorld world = world_of(5, 5, [&](auto& w) {
      w.speed_change = 0.05;
      w.speed_sd = sd;
    });
    CHECK(share(world, 100, [](const SetComparison& result) { return result.period.verdict == Verdict::kWorse; }) >=
          99);
    CHECK(share(world, 100, [](const SetComparison& result) { return result.rows.front().named; }) <= 5);
    CHECK(share(world, 100, [](const SetComparison& result) { return !row_of(result, "[speed]").uncertain(); }) >= 95);
  }
}

TEST_CASE("sets of runs: pairs take out what both share") {
  const GeneratedWorld world = world_of(5, 5, [](auto& w) {
    w.speed_sd = 0.003;
    w.speed_spread = 0.02;
  });
  int alarms = 0;
  double together = 0, alone = 0;  // widths
  for (std::uint64_t i = 0; i < 200; ++i) {
    PhaseRuns phase = generated_phase(world, i);
    const SetMetric apart = compare_sets(phase, {}).period;
    phase.paired = true;
    const SetMetric pairs = compare_sets(phase, {}).period;
    alarms += is_alarm(pairs) ? 1 : 0;
    together += pairs.range->high - pairs.range->low;
    alone += apart.range->high - apart.range->low;
  }
  CHECK(alarms <= 16);
  CHECK(together < alone / 2);
}

// All that does not depend on which side is the baseline, `sign` times.
std::string text_of(const SetComparison& result, double sign) {
  const auto range = [&](const std::optional<Interval>& of) {
    if (!of) return std::string("none");
    const double low = sign * of->low, high = sign * of->high;
    return fmt::format("{} {}", std::min(low, high), std::max(low, high));
  };
  std::string out = fmt::format("{}\n", sign * static_cast<double>(result.change) + 0.0);
  for (const SetMetric* metric : {&result.period, &result.period_at_equal_speed}) {
    out += fmt::format("{} {} {}\n", sign * metric->change + 0.0, range(metric->range), metric->reason);
  }
  for (const SetRow& row : result.rows) {
    out += fmt::format("{} {} {} {} {} {} {}\n", row.name, sign * static_cast<double>(row.change) + 0.0,
                       range(row.range), row.p.value_or(-1), row.q_value.value_or(-1), row.agreeing, row.named);
  }
  std::vector<std::string> runs;
  for (const SetRun& run : result.runs) {
    runs.push_back(fmt::format("{} {} {} {} {}\n", run.name, run.period, run.period_at_equal_speed, run.note, run.bar));
  }
  std::ranges::sort(runs);
  for (const std::string& run : runs) out += run;
  return out;
}

TEST_CASE("sets of runs: swapped sides and other orders") {
  std::vector<GeneratedWorld> worlds = {world_of(3, 3),
                                        world_of(5, 3),
                                        world_of(10, 10),
                                        world_of(2, 4),
                                        world_of(1, 4),
                                        world_of(5, 5, [](auto& w) { w.product_change = 0.03; }),
                                        world_of(5, 5, [](auto& w) { w.local_change = 0.02; })};
  for (std::size_t i = 0; i < 2 * worlds.size(); ++i) {
    CAPTURE(i);
    const GeneratedWorld& world = worlds[i / 2];
    PhaseRuns phase = generated_phase(world, i);
    phase.paired = i % 2 == 1 && world.baseline_runs == world.candidate_runs;
    const SetComparison result = compare_sets(phase, {});
    PhaseRuns other = phase;
    std::swap(other.sides[0], other.sides[1]);
    const bool mirrored = text_of(compare_sets(other, {}), -1) == text_of(result, 1);
    CHECK(mirrored);
    other = phase;
    std::ranges::reverse(other.parts);
    for (auto& side : other.sides) {
      std::ranges::reverse(side);
      for (RunSums& run : side) std::ranges::reverse(run.parts);
    }
    const bool same = text_of(compare_sets(other, {}), 1) == text_of(result, 1);
    CHECK(same);
  }
}

TEST_CASE("sets of runs: a stalled step changes no verdict") {
  PhaseRuns phase = generated_phase(world_of(5, 5, [](auto& w) { w.stalls = false; }), 7);
  const SetComparison before = compare_sets(phase, {});
  RunSums& run = phase.sides[1][2];
  const auto steps = static_cast<double>(run.steps);
  run.mean_period = (run.mean_period * steps + 25e6) / (steps + 1);
  run.rare_steps = 1;
  const SetComparison after = compare_sets(phase, {});
  CHECK(after.period.range->low == before.period.range->low);
  CHECK(after.period_at_equal_speed.range->high == before.period_at_equal_speed.range->high);
  CHECK(after.change - before.change == doctest::Approx(15e6 / (steps + 1) / 5).epsilon(0.02));
  CHECK(std::abs(row_of(after, "[rare steps]").change - row_of(before, "[rare steps]").change -
                 (after.change - before.change)) <= 1);
  CHECK(is_closed(after));
}

TEST_CASE("sets of runs: one stall of one run says nothing of how often there are any, however alike the others are") {
  for (const std::size_t runs : {1U, 3U, 12U}) {
    PhaseRuns phase = generated_phase(world_of(5, runs, [](auto& w) { w.stalls = false; }), 7);
    for (std::size_t i = 0; i < runs; ++i) {
      RunSums& run = phase.sides[1][i];
      run.rare_steps = 1;
      run.mean_period =
          (run.period + run.period / static_cast<double>(run.steps) + 15e6) / static_cast<double>(run.steps + 1);
    }
    CHECK(row_of(compare_sets(phase, {}), "[rare steps]").uncertain() == (runs < 12));
  }
}

TEST_CASE("sets of runs: a run that stands out is named and kept" * doctest::skip(test_stride() > 1)) {
  PhaseRuns phase = generated_phase(world_of(10, 9), 3);
  for (auto& side : phase.sides) {
    const double more = 3e6 * static_cast<double>(side[4].steps);
    side[4].parts[29].time += more;  // [idle]
    side[4].period += more;
    side[4].mean_period += 3e6;
  }
  const SetComparison result = compare_sets(phase, {});
  for (const SetRun& run : result.runs) {
    CAPTURE(run.name);
    CHECK(run.note.starts_with("[idle]: +") == (run.name == "run104"));
  }
  CHECK(result.period.baseline_runs == 10);
  for (const std::size_t runs : {3U, 4U, 5U, 7U, 10U}) {
    CAPTURE(runs);
    int by_chance = 0, missed = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      phase = generated_phase(world_of(runs, runs, [](auto& w) { w.stalls = false; }), i);
      for (const SetRun& run : compare_sets(phase, {}).runs) by_chance += run.note.empty() ? 0 : 1;
      slow_down(phase, phase.sides[1][0], 0.5, {"attention"});
      const SetComparison other = compare_sets(phase, {});
      missed += std::ranges::find(
                    other.runs, std::pair(1, phase.sides[1][0].name),
                    [](const SetRun& run) {
                      return std::pair(run.side, run.name);
                    })->note.empty()
                    ? 1
                    : 0;
    }
    CHECK(by_chance <= 10);  // of 200 sets
    CHECK(missed <= 40);
  }
}

TEST_CASE("sets of runs: what is not judged, and why") {
  const struct {
    std::string_view what;
    std::size_t baseline, candidate;
    std::function<void(PhaseRuns&)> change;
    std::string_view period, equal_speed;  // starts of the reasons; "": judged
  } cases[] = {
      {"three runs", 3, 3, [](PhaseRuns&) {}, "", ""},
      {"two runs", 2, 2, [](PhaseRuns&) {}, "", "fewer than 3 runs a side"},
      {"one run", 1, 1, [](PhaseRuns&) {}, "one run a side", "one run a side"},
      {"one and two", 1, 2, [](PhaseRuns&) {}, "one run against two", "one run"},
      {"one and three", 3, 1, [](PhaseRuns&) {}, "", "fewer than 3 runs a side"},
      {"no run", 3, 0, [](PhaseRuns&) {}, "no run of the candidate", "no run of the candidate"},
      {"one pair", 1, 1, [](PhaseRuns& p) { p.paired = true; }, "one pair", "one pair"},
      {"other GPUs", 3, 3, [](PhaseRuns& p) { p.no_speed = "other GPUs"; }, "", "other GPUs"},
      {"other work", 3, 3, [](PhaseRuns& p) { p.incomparable = "other model"; }, "other model", "other model"},
      {"a run is barred", 3, 3, [](PhaseRuns& p) { p.sides[1][1].bar = "all steps rare"; }, "", "fewer than 3 runs"},
      {"two steps", 3, 3, [](PhaseRuns& p) { p.sides[0][1].steps = 2; }, "", "fewer than 3 runs a side"},
      {"a pair is barred", 3, 3,
       [](PhaseRuns& p) {
         p.paired = true;
         p.sides[1][1].bar = "negative remainder";
       },
       "", "fewer than 3 runs a side"},
      {"four groups", 3, 3,
       [](PhaseRuns& p) {
         for (std::size_t i = 4; i < p.parts.size(); ++i) p.parts[i].kernels = false;
       },
       "", "fewer than 5 groups"},
      {"one class", 3, 3,
       [](PhaseRuns& p) {
         for (RunPart& part : p.parts) part.op_class = "all";
       },
       "", "fewer than 3 groups of kernels of other classes than all"},
      {"load", 3, 3,
       [](PhaseRuns& p) {
         for (RunSums& run : p.sides[1]) run.load *= 1.2, run.load_squares *= 1.44;
       },
       "the load differs", "the load differs"},
  };
  for (const auto& of : cases) {
    CAPTURE(of.what);
    PhaseRuns phase = generated_phase(world_of(of.baseline, of.candidate), 11);
    of.change(phase);
    const SetComparison result = compare_sets(phase, {.budget_pct = 50});
    CHECK(result.period.range.has_value() == of.period.empty());
    CHECK(result.period.reason.starts_with(of.period));
    CHECK(result.period_at_equal_speed.range.has_value() == of.equal_speed.empty());
    CHECK(result.period_at_equal_speed.reason.starts_with(of.equal_speed));
    CHECK((result.no_speed.empty()) == of.equal_speed.empty());
    CHECK(result.gate == (of.period.empty() ? GateOutcome::kPass : GateOutcome::kInconclusive));
    CHECK(is_closed(result));
    CHECK(result.runs.size() == of.baseline + of.candidate);
    for (const SetRun& run : result.runs) CHECK(run.rows.size() == (run.bar.empty() ? result.rows.size() : 0));
    if (!of.period.empty()) CHECK(std::ranges::none_of(result.rows, &SetRow::named));
  }
}

TEST_CASE("sets of runs: what the load does is not known where it differs and no run has steps of several") {
  for (const double more : {1.0, 1.005}) {
    PhaseRuns phase = generated_phase(world_of(3, 3), 5);
    for (auto& side : phase.sides) {
      for (RunSums& run : side) {
        run.load = static_cast<double>(run.steps) * 64 * (&side == &phase.sides[1] ? more : 1);
        run.load_squares = run.load * run.load / static_cast<double>(run.steps);
      }
    }
    const SetRow load = row_of(compare_sets(phase, {}), "[load]");
    CHECK(load.known == (more == 1));
    CHECK(load.range.has_value() == load.known);
    CHECK(load.change == 0);
  }
}

TEST_CASE("sets of runs: copied runs") {
  PhaseRuns phase = generated_phase(world_of(3, 3), 5);
  for (auto& side : phase.sides) {
    for (RunSums& run : side) {
      const std::string name = run.name;
      run = phase.sides[0][0];
      run.name = name;
    }
  }
  SetMetric period = compare_sets(phase, {}).period;
  CHECK(period.range->low == 0);
  CHECK(period.range->high == 0);
  CHECK(period.verdict == Verdict::kSame);
  for (RunSums& run : phase.sides[1]) {  // 0.01 %: less than runs ever repeat
    run.parts[0].time += run.period * 1e-4;
    run.period *= 1 + 1e-4;
    run.mean_period *= 1 + 1e-4;
  }
  period = compare_sets(phase, {}).period;
  CHECK(period.verdict == Verdict::kSame);
  CHECK(period.range_pct->high == doctest::Approx(0.01 + 2.776 * 0.05 * std::sqrt(2.0 / 3)).epsilon(0.01));
}

TEST_CASE("sets of runs: gates") {
  // Periods of copied groups: sides of means 100 and 100 + change, with this sd.
  const auto result_of = [](double change, double sd, const SetOptions& options) {
    PhaseRuns phase;
    phase.parts = {{"a", "dense_gemm", true, false}};
    for (std::size_t side = 0; side < 2; ++side) {
      for (int i = -1; i <= 1; ++i) {
        const double period = 1e6 * (100 + (side == 1 ? change : 0) + i * sd);
        RunSums& run = phase.sides[side].emplace_back();
        run.name = fmt::format("run{}", i);
        run.steps = 10;
        run.period = 10 * period;
        run.mean_period = period;
        run.parts = {{10 * period, 10 * period * period, 0}};
      }
    }
    return compare_sets(phase, options);
  };
  const struct {
    double change, sd;
    SetOptions options;
    GateOutcome gate;
    Verdict verdict;
  } cases[] = {
      {0, 0.1, {}, GateOutcome::kPass, Verdict::kSame},
      {1, 0.1, {}, GateOutcome::kPass, Verdict::kWorse},
      {-5, 0.1, {}, GateOutcome::kPass, Verdict::kBetter},
      {3, 0.1, {}, GateOutcome::kFail, Verdict::kWorse},
      {3, 1, {}, GateOutcome::kFail, Verdict::kWorse},
      {3, 1, {.gate_strict = true}, GateOutcome::kInconclusive, Verdict::kWorse},
      {6, 1, {.gate_strict = true}, GateOutcome::kFail, Verdict::kWorse},
      {1, 1, {}, GateOutcome::kInconclusive, Verdict::kInconclusive},
      {1, 1, {.budget_pct = 4}, GateOutcome::kPass, Verdict::kSame},
      {3, 0.1, {.gate_metric = GateMetric::kPeriod}, GateOutcome::kFail, Verdict::kWorse},
      {0, 0.1, {.gate_metric = GateMetric::kPeriodAtEqualSpeed}, GateOutcome::kInconclusive, Verdict::kSame},
  };
  for (const auto& of : cases) {
    CAPTURE(of.change);
    CAPTURE(of.sd);
    const SetComparison result = result_of(of.change, of.sd, of.options);
    CHECK(result.gate == of.gate);
    CHECK(result.period.verdict == of.verdict);
    CHECK(result.period.change_pct == doctest::Approx(of.change));
    CHECK(*result.period.run_sd_pct == doctest::Approx(of.sd));
    CHECK(result.period.range_pct->high == doctest::Approx(of.change + 2.776445 * of.sd * std::sqrt(2.0 / 3)));
  }
  const SetMetric metric = result_of(1, 1, {}).period;
  CHECK(*metric.detectable_pct == doctest::Approx(3.0354).epsilon(1e-3));
  CHECK(*metric.runs_needed == 6);  // 1.8 sd
}

}  // namespace
}  // namespace tracedb
