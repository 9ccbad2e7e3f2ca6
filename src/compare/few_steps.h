// Summary of a comparison with too few steps for an interval: how many layers, operations and aligned kernels are
// slower, and by how much. Many parts that change alike are better evidence than one step that changed. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct GroupComparison;

// Of parts that both sides have, by their time per unit (step, token).
struct Tally {
  std::string_view what;  // layers, operations, aligned kernels
  std::size_t parts = 0, slower = 0, faster = 0;
  double median = 0;  // of the changes, candidate / baseline - 1
};

// "32 of 32 layers slower, median +4.1 %": of slower, faster and the same what most are; where as many are slower as
// faster, what the median is.
std::string to_string(const Tally& tally);

// Of the layers, operations and aligned kernels that both sides have; those without any are left out.
std::vector<Tally> tallies(const GroupComparison& group);

// Of parts by their ratios, candidate / baseline, in any order.
Tally tally(std::string_view what, std::vector<double> ratios);

}  // namespace tracedb
