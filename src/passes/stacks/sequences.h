// Finds kernels that repeatedly follow each other on a stream. Pure function on columns; linear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracedb {

struct SequenceStats {
  std::vector<std::uint32_t> labels;  // as many as were asked for
  std::int64_t count = 0;             // times it was seen; runs of one sequence that overlap count once
  std::int64_t total = 0;             // ns, of the kernels in those
  std::int64_t min = 0, max = 0;      // ns, of one time; where a duration is unknown, of the others
};

// One element for each kernel in time order. Unknown durations are kUnknownValue.
struct LabelledKernels {
  std::span<const std::int64_t> dur;
  std::span<const std::uint32_t> stream;
  std::span<const std::uint32_t> label;  // its name or class; kNoLabel: not selected, passed over
};
inline constexpr std::uint32_t kNoLabel = UINT32_MAX;

// All sequences of `length` labels that were seen at least `least` times; by total, largest first, then by the labels.
// A kernel is in several of them.
std::vector<SequenceStats> find_sequences(const LabelledKernels& kernels, std::size_t length, std::int64_t least);

}  // namespace tracedb
