#include "compare/runs/run_sets.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generated_runs.h"
#include "support/rows.h"

namespace tracedb {
namespace {

// Steps of 10 us that all take the same; `batches`: shares of the steps.
RollUp roll_up_with(const std::vector<RollUpPart>& parts,
                    const std::vector<std::pair<std::string, int>>& batches = {}) {
  RollUp out;
  out.gpu = "GPU\tone\nof \\ two";
  const auto add = [&](const std::string& batch, int steps) {
    RollUpGroup& group = out.groups.emplace_back();
    group.kind = "decode";
    group.batch = batch;
    group.matched_steps = group.sums.steps = steps;
    group.by_period = group.load_known = true;
    group.work.shapes["attention"]["[1,2]"] = 0.1;
    group.parts = parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double time = 10'000.0 / static_cast<double>(parts.size());
      group.sums.parts.push_back({time * steps, time * time * steps, time * steps * 8});
    }
    group.sums.load = 8.0 * steps;
    group.sums.load_squares = 64.0 * steps;
    group.sums.period = 10'000.0 * steps;
    group.sums.period_squares = 1e8 * steps;
    group.sums.mean_period = 10'000;
  };
  int all = 0;
  for (const auto& [batch, steps] : batches) all += steps;
  add("", batches.empty() ? 10 : all);
  for (const auto& [batch, steps] : batches) add(batch, steps);
  return out;
}

RunsOfSides sides_of(const std::vector<RollUp>& baseline, const std::vector<RollUp>& candidate) {
  RunsOfSides out;
  for (std::size_t side = 0; side < 2; ++side) {
    for (const RollUp& one : side == 0 ? baseline : candidate) {
      out[side].push_back({fmt::format("run {}", out[side].size()), {one}});
    }
  }
  return out;
}

// "decode: a b c; decode 8 requests: a"
std::string phases_text(const RunsOfSides& sides) {
  std::string out;
  for (const RunPhase& phase : phases_of(sides, {})) {
    out += (out.empty() ? "" : "; ") + phase.label + ":";
    for (const RunPart& part : phase.sums.parts) out += " " + part.name;
    if (!phase.sums.incomparable.empty()) out += fmt::format(" [{}]", phase.sums.incomparable);
  }
  return out;
}

const RollUpPart kQkv{"dense_gemm", "dense_gemm", "qkv_proj"}, kDown{"dense_gemm", "dense_gemm", "down"},
    kNorm{"rms_norm", "norm", ""}, kAddNorm{"elementwise+norm", "norm", ""}, kIdle{"[idle]", "", ""},
    kNamed{"other", "other", "my_kernel"};

TEST_CASE("sets of runs: rows are of what all runs have") {
  const auto both = [](const std::vector<RollUpPart>& a, const std::vector<RollUpPart>& b) {
    return phases_text(sides_of({roll_up_with(a), roll_up_with(a)}, {roll_up_with(b)}));
  };
  CHECK(both({kQkv, kNorm, kIdle}, {kQkv, kNorm}) == "decode: dense_gemm (qkv_proj) rms_norm [idle]");
  CHECK(both({kQkv, kDown}, {kQkv}) == "decode: dense_gemm (qkv_proj) dense_gemm");
  CHECK(both({kNorm}, {kAddNorm}) == "decode: norm");
  CHECK(both({kNamed}, {kNamed}) == "decode: my_kernel");
  CHECK(both({kNamed}, {kNorm}) == "decode: other norm");
}

TEST_CASE("sets of runs: phases by batch size where runs have other mixes") {
  const std::vector<RollUpPart> parts = {kNorm};
  const RollUp small = roll_up_with(parts, {{"8 requests", 10}}), large = roll_up_with(parts, {{"64 requests", 10}}),
               mixed = roll_up_with(parts, {{"8 requests", 5}, {"64 requests", 5}});
  CHECK(phases_text(sides_of({small, small}, {small})) == "decode: rms_norm");
  CHECK(phases_text(sides_of({mixed, mixed}, {mixed})) == "decode: rms_norm");
  CHECK(phases_text(sides_of({mixed}, {small})) == "decode 8 requests: rms_norm");
  CHECK(phases_text(sides_of({small}, {large})) == "decode: rms_norm [no batch size in common]");
}

TEST_CASE("sets of runs: a run is the mean of its ranks, and its parts add up to its period") {
  RollUp slow = roll_up_with({kQkv, kIdle});
  for (PartSums& part : slow.groups[0].sums.parts) part = {3 * part.time, 9 * part.time_squares, 3 * part.time_load};
  slow.groups[0].sums.period *= 3;
  slow.groups[0].sums.period_squares *= 9;
  RunsOfSides sides = sides_of({roll_up_with({kQkv, kIdle})}, {roll_up_with({kQkv, kIdle})});
  sides[1][0].ranks.push_back(slow);
  const RunSums run = phases_of(sides, {}).at(0).sums.sides[1].at(0);
  CHECK(run.steps == 10);
  CHECK(run.period == doctest::Approx(2e5));
  CHECK(run.parts[0].time + run.parts[1].time == doctest::Approx(run.period));
  // Squares of a sum or mean are at most as large: never surer.
  CHECK(run.period_squares >= run.period * run.period / 10 * (1 - 1e-12));
  CHECK(run.load == doctest::Approx(80));
}

TEST_CASE("sets of runs: of devices that changed apart the mean is not the same, and passes no gate") {
  const auto run = [](std::int64_t other, double first, double second) {
    RollUp out = roll_up_with({kQkv, kIdle});
    out.groups[0].devices = {{0, first}, {other, second}};
    return out;
  };
  const auto judged = [](const RollUp& baseline, const RollUp& candidate) {
    const RunPhase phase = phases_of(sides_of({baseline, baseline}, {candidate, candidate}), {}).at(0);
    const SetComparison found = compare_sets(phase.sums, {});
    return as_row(to_string(found.period.verdict), found.gate == GateOutcome::kPass, found.period.reason);
  };
  CHECK(judged(run(1, 100, 100), run(1, 104, 96)) == "inconclusive false spans of devices changed by -4.0 to +4.0 %");
  CHECK(judged(run(1, 100, 100), run(1, 102, 98)) == "same true ");
  CHECK(judged(run(1, 100, 100), run(2, 104, 96)) == "same true ");
}

// The ranks of a run: each computes a little more or less, the first 3 % longer; the others wait for it.
Run job_of(const PhaseRuns& phase, const RunSums& run, Random& random) {
  Run out{run.name, {}};
  std::vector<RunSums> ranks(4, run);
  double slowest = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    RunSums& own = ranks[rank];
    own.period = 0;
    for (std::size_t i = 0; i < own.parts.size(); ++i) {
      const bool computes = phase.parts[i].kernels;
      const double factor = 1 + (computes ? 0.002 * random.normal() + (rank == 0 ? 0.03 : 0) : 0);
      own.parts[i] = {factor * own.parts[i].time, factor * factor * own.parts[i].time_squares,
                      factor * own.parts[i].time_load};
      own.period += own.parts[i].time;
    }
    slowest = std::max(slowest, own.period);
  }
  for (RunSums& own : ranks) {
    for (std::size_t i = 0; i < own.parts.size(); ++i) {
      if (phase.parts[i].name == "[exposed communication]") own.parts[i].time += slowest - own.period;
    }
    const double longer = slowest / run.period;
    own.mean_period = run.mean_period * longer;
    own.period_squares = run.period_squares * longer * longer;
    own.period = slowest;
    RollUpGroup group;
    group.kind = "decode";
    group.by_period = group.load_known = true;
    for (const RunPart& part : phase.parts) group.parts.push_back({part.name, part.kernels ? part.op_class : "", ""});
    group.sums = own;
    group.sums.name.clear();
    out.ranks.emplace_back().groups.push_back(std::move(group));
  }
  return out;
}

TEST_CASE("sets of runs: false alarms of jobs of four ranks, one of them slow") {
  for (const std::size_t runs : {3U, 5U}) {
    CAPTURE(runs);
    GeneratedWorld world;
    world.baseline_runs = world.candidate_runs = runs;
    int period = 0, equal_speed = 0, gate = 0, reasons = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const PhaseRuns phase = generated_phase(world, seed);
      Random random(seed + 1000);
      RunsOfSides sides;
      for (std::size_t side = 0; side < 2; ++side) {
        for (const RunSums& run : phase.sides[side]) sides[side].push_back(job_of(phase, run, random));
      }
      const SetComparison result = compare_sets(phases_of(sides, {}).at(0).sums, {});
      const auto alarm = [](const SetMetric& metric) {
        return metric.verdict == Verdict::kWorse || metric.verdict == Verdict::kBetter;
      };
      period += alarm(result.period) ? 1 : 0;
      equal_speed += alarm(result.period_at_equal_speed) ? 1 : 0;
      gate += result.gate == GateOutcome::kFail ? 1 : 0;
      reasons += result.rows.front().named ? 1 : 0;
      CHECK(result.period.baseline_runs == static_cast<std::int64_t>(runs));
    }
    CHECK(period <= 16);  // 5 % and two sigma of chance
    CHECK(equal_speed <= 16);
    CHECK(gate <= 5);
    CHECK(reasons <= 10);
  }
}

TEST_CASE("sets of runs: another recording, and steps too few, are no level") {
  RollUp other = roll_up_with({kNorm}), few = roll_up_with({kNorm});
  RollUp usual = roll_up_with({kNorm});
  usual.recording = "neither";
  other.recording = "python stacks";
  few.groups[0].sums.steps = 2;
  const auto phases = phases_of(sides_of({usual, usual, other}, {usual, few}), {});
  const auto& runs = phases.at(0).sums.sides;
  CHECK(runs[0][1].bar.empty());
  CHECK(runs[0][2].bar == "it records python stacks, the others neither");
  CHECK(runs[1][1].bar == "under 3 regular steps");
}

TEST_CASE("a roll-up as text is what it was, and nothing else is one") {
  const RollUp one = roll_up_with({kQkv, kNorm, kNamed}, {{"8 requests", 7}});
  const std::string text = to_text(one);
  const auto back = roll_up_of(text);
  REQUIRE(back.has_value());
  CHECK(to_text(*back) == text);
  CHECK(back->gpu == one.gpu);
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] + 1);
    CHECK_FALSE(roll_up_of(damaged).has_value());
    CHECK_FALSE(roll_up_of(std::string_view(text).substr(0, i)).has_value());
  }
}

}  // namespace
}  // namespace tracedb
