// Kernel time by (name, step kind, stream) and by name, gathered while kernels pass by, so that the commonest reports
// need not read the kernels again. Memory: 4 to 8 bytes a kernel, for exact medians and percentiles.
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

struct KernelSumTables {
  std::vector<KernelSum> by_group;  // in order of first kernel, as by_name
  std::vector<KernelSum> by_name;
};

class KernelSums {
 public:
  void add(const KernelGroup& group, std::int64_t dur);  // dur may be kUnset

  KernelSumTables finish();  // once, at the end

 private:
  // Most durations are below four seconds.
  struct Durations {
    std::vector<std::uint32_t> shorter;
    std::vector<std::int64_t> longer;
    void add(std::int64_t dur);
    void take(Durations& other);  // leaves nothing there
    void sort();
    [[nodiscard]] std::size_t size() const { return shorter.size() + longer.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t place) const {  // sorted
      return place < shorter.size() ? std::int64_t{shorter[place]} : longer[place - shorter.size()];
    }
  };
  struct Samples {
    KernelGroup group;
    std::int64_t n = 0;
    Durations durations;
  };
  static KernelSum summarise(Samples& samples);

  std::vector<Samples> groups_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;  // packed group -> position
};

}  // namespace tracedb
