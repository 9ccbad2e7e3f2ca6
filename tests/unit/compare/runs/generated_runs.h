// Generated sums of runs whose truth is known. Times in ns of a period of about 10 ms.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "compare/runs/set_comparison.h"

namespace tracedb {

class Random {  // the same numbers with every library
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}
  double uniform() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    return (static_cast<double>(mixed(state_) >> 11U) + 0.5) * 0x1p-53;
  }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

// How runs vary, and by how much the candidate differs.
struct GeneratedWorld {
  std::size_t baseline_runs = 5, candidate_runs = 5;
  double speed_sd = 0.01;      // of the factor that all kernels of a run share
  double memory_speed_sd = 0;  // of a second one, of kernels that wait for memory
  double mode = 0;             // every second run or so: one matrix product takes longer by this
  double drift = 0;            // steps of a run get slower by this from first to last
  double speed_spread = 0;     // pairs: what both runs of a pair share
  double group_sd = 0.005, idle_sd = 0.03;
  double load_sd = 0.02;    // of the mean load, from run to run
  bool stalls = true;       // in 3 of 10 runs
  int small_groups = 0;     // groups of other kernels beside
  double local_change = 0;  // of the period, in one part
  std::size_t changed_part = 0;
  double product_change = 0;  // of all matrix products, relative
  double small_change = 0;    // of the first 8 small groups, relative
  double speed_change = 0;    // of all kernels
};

struct GeneratedPart {
  RunPart part;
  double time = 0, follows = 0, memory = 0, sd = 0;
};

inline std::vector<GeneratedPart> generated_parts(const GeneratedWorld& world) {
  const struct {
    const char* name;
    int groups;
    double time, follows;
  } classes[] = {{"dense_gemm", 6, 4.5e6, 1},
                 {"attention", 4, 1.4e6, 0.8},
                 {"elementwise", 10, 0.7e6, 0.4},
                 {"normalisation", 5, 0.5e6, 0.5},
                 {"other", 4, 0.6e6, 0.9}};
  std::vector<GeneratedPart> parts;
  for (const auto& of : classes) {
    for (int i = 0; i < of.groups; ++i) {
      const double time = of.time / of.groups * (0.6 + 0.8 * i / (of.groups - 1));
      parts.push_back({{of.name + ("/" + std::to_string(i)), of.name, true, false},
                       time,
                       of.follows,
                       1 - of.follows,
                       world.group_sd});
    }
  }
  for (int i = 0; i < world.small_groups; ++i) {
    parts.push_back({{"small/" + std::to_string(i), "small", true, false}, 3e4, 0.7, 0.3, world.group_sd});
  }
  parts.push_back({{"[idle]", "", false, true}, 1.2e6, 0, 0, world.idle_sd});
  parts.push_back({{"[exposed communication]", "", false, true}, 0.8e6, 0, 0, world.idle_sd});
  parts.push_back({{"[between steps]", "", false, true}, 0.3e6, 0, 0, world.idle_sd});
  return parts;
}

inline RunSums generated_run(const GeneratedWorld& world, const std::vector<GeneratedPart>& parts, int side,
                             std::size_t number, double shared_speed, Random& random) {
  RunSums run;
  run.name = "run" + std::to_string(100 + number);
  const double steps = 60 + std::floor(40 * random.uniform());
  const double load = 64 * (1 + world.load_sd * random.normal());
  const double load_scatter = steps * 64;  // sum of squares about the mean
  run.steps = static_cast<std::int64_t>(steps);
  run.load = steps * load;
  run.load_squares = steps * load * load + load_scatter;
  const double speed = shared_speed + world.speed_sd * random.normal() + side * world.speed_change;
  const double memory = world.memory_speed_sd * random.normal();
  const bool slow_mode = world.mode > 0 && random.uniform() < 0.5;
  double scatter = 0, period_load = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const GeneratedPart& part = parts[i];
    double time = part.time * std::exp(part.follows * speed + part.memory * memory + part.sd * random.normal());
    if (slow_mode && i == 2) time *= 1 + world.mode;
    if (part.part.op_class == "dense_gemm") time *= 1 + side * world.product_change;
    if (part.part.name.starts_with("small/") && part.part.name.size() == 7 && part.part.name[6] < '8') {
      time *= 1 + side * world.small_change;
    }
    if (i == world.changed_part) time += side * world.local_change * 1e7;
    const double by_load = part.part.kernels ? 0.3 * part.time / 64 : 0;
    const double step_sd = std::hypot(0.02, world.drift / 3.46) * part.time;
    const double mean = time + by_load * (load - 64) + step_sd / std::sqrt(steps) * random.normal();
    const double with_load = by_load * load_scatter + step_sd * std::sqrt(load_scatter) * random.normal();
    const double squares = with_load * with_load / load_scatter + step_sd * step_sd * (steps - 2);
    run.parts.push_back({steps * mean, steps * mean * mean + squares, steps * mean * load + with_load});
    run.period += run.parts.back().time;
    period_load += with_load;
    scatter += step_sd * step_sd * (steps - 2);
  }
  run.period_squares = run.period * run.period / steps + period_load * period_load / load_scatter + scatter;
  run.mean_period = run.period / steps;
  if (world.stalls && random.uniform() < 0.3) {
    run.rare_steps = 1;
    run.mean_period = (run.period + run.period / steps + 15e6) / (steps + 1);
  }
  return run;
}

inline PhaseRuns generated_phase(const GeneratedWorld& world, std::uint64_t seed) {
  Random random(seed);
  const auto parts = generated_parts(world);
  PhaseRuns phase;
  for (const GeneratedPart& one : parts) phase.parts.push_back(one.part);
  std::vector<double> shared(std::max(world.baseline_runs, world.candidate_runs));
  for (double& speed : shared) speed = world.speed_spread * random.normal();
  for (int side = 0; side < 2; ++side) {
    const std::size_t runs = side == 0 ? world.baseline_runs : world.candidate_runs;
    for (std::size_t i = 0; i < runs; ++i) {
      phase.sides[static_cast<std::size_t>(side)].push_back(generated_run(world, parts, side, i, shared[i], random));
    }
  }
  return phase;
}

}  // namespace tracedb
