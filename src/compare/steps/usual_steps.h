// Which steps of a group its figures are of. Means add up, so every figure is a mean; a mean says something of a step
// only where steps are alike. Warm-up at the start and rare long steps are therefore left out, and told. Pure.
//
// Source: schema/METRICS.md 10. A step is regular if its time is at most median + max(5 x 1.4826 MAD, 20 % of the
// median) of the steps; 1.4826 MAD estimates the standard deviation of normal noise. It is warm-up if it and all before
// it are longer than that of the steps behind them. Where sorted times have a gap of more than 30 % with two steps and
// 20 % of all on either side, there are two kinds of steps and no usual one: all but the warm-up are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracedb {

struct UsualSteps {
  std::vector<std::size_t> counted, rare;  // places in the sample, ascending
  std::size_t warm_up = 0;                 // the first of the sample, which are in neither
  std::optional<std::int64_t> slow_from;   // two kinds of steps: the least time of the slow ones, ns
};

// `times`: ns, in order of time; the first `marked` are warm-up whatever their times.
UsualSteps usual_steps(std::span<const std::int64_t> times, std::size_t marked = 0);

}  // namespace tracedb
