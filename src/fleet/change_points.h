// Where the level of a series changes. Binary segmentation by a rank test: within a segment the split is taken at which
// the ranks of the values before and behind it differ most, if that is more than chance gives in a random order of the
// same values. Ranks, so that a few outliers neither make nor hide a change.
//
// The chance that a series of exchangeable noise gets any flag is at most the rate: the first split is tested at it,
// and each of the 2^d segments at depth d at rate / 2^d. Deterministic: the orders come from a fixed seed. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tracedb {

struct ChangePointOptions {
  double rate = 0.01;     // of false flags per series
  std::size_t least = 3;  // values before and behind a change
};

struct ChangePoint {
  std::size_t at = 0;            // the first value of the new level
  double before = 0, after = 0;  // medians of the segments that it joins
  double p = 1;                  // of the test that found it
};

// In order of place.
std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointOptions& options = {});

// Fewer values cannot show a change: too few orders of them differ.
std::size_t least_values(const ChangePointOptions& options);

}  // namespace tracedb
