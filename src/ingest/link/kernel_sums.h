// Kernel time by name, collected while kernels are linked. Memory: 4 to 8 bytes a kernel, for exact medians and
// percentiles.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dense_index.h"

namespace tracedb {

struct KernelSum {
  std::uint32_t name = 0;
  std::int64_t n = 0, total = 0;
  std::int64_t min = 0, max = 0, p50 = 0, p90 = 0, p99 = 0;  // of the kernels whose duration is known
  std::int64_t known = 0;                                    // how many those are
  double median = 0, sum_of_squares = 0;
};

class KernelSums {
 public:
  void add(std::uint32_t name, std::int64_t dur);  // dur may be unknown

  std::vector<KernelSum> finish();  // once, at the end; in order of first kernel

 private:
  // Most durations are below four seconds.
  struct Durations {
    std::vector<std::uint32_t> shorter;
    std::vector<std::int64_t> longer;
    void add(std::int64_t dur);
    void sort();
    [[nodiscard]] std::size_t size() const { return shorter.size() + longer.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t place) const {  // sorted
      return place < shorter.size() ? std::int64_t{shorter[place]} : longer[place - shorter.size()];
    }
  };
  struct Samples {
    std::uint32_t name;
    std::int64_t n = 0;
    Durations durations;
  };
  static KernelSum summarise(Samples& samples);

  std::vector<Samples> names_;
  DenseIndex index_;  // of names_
};

}  // namespace tracedb
