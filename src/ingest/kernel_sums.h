// Kernel time by (name, step kind, stream) and by name, gathered while kernels pass by, so that the commonest reports
// need not read the kernels again. Memory: about 16 bytes a kernel, for exact medians and percentiles.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracedb {

struct KernelGroup {
  std::uint32_t name = 0;
  std::uint8_t step_kind = 0;  // StepKind + 1; 0: in no step
  std::uint32_t stream = 0;    // 0: all
};

struct KernelSum {
  KernelGroup group;
  std::int64_t n = 0, total = 0;
  std::int64_t min = 0, max = 0, p50 = 0, p90 = 0, p99 = 0;  // of the kernels whose duration is known
  std::int64_t known = 0;                                    // how many those are
  double median = 0, sum_of_squares = 0;
};

class KernelSums {
 public:
  void add(const KernelGroup& group, std::int64_t dur);  // dur may be kUnset

  [[nodiscard]] std::vector<KernelSum> by_group() const;  // in order of first kernel
  [[nodiscard]] std::vector<KernelSum> by_name() const;

 private:
  struct Samples {
    KernelGroup group;
    std::int64_t n = 0;
    std::vector<std::int64_t> durations;
  };
  static KernelSum summarise(const KernelGroup& group, std::int64_t n, std::vector<std::int64_t> durations);

  std::vector<Samples> groups_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // packed group -> position
};

}  // namespace tracedb
