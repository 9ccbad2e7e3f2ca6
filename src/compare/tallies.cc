// Many parts that change alike: the evidence where steps are too few for an interval.
#include <algorithm>
#include <utility>

#include "compare/comparison.h"

namespace tracedb {
namespace {

class Ratios {
 public:
  explicit Ratios(const GroupComparison& group)
      : baseline_units_(static_cast<double>(group.baseline_units)),
        candidate_units_(static_cast<double>(group.candidate_units)) {}

  void add(std::int64_t baseline, std::int64_t candidate) {
    if (baseline <= 0 || candidate <= 0) return;
    ratios_.push_back((static_cast<double>(candidate) / candidate_units_) /
                      (static_cast<double>(baseline) / baseline_units_));
  }
  std::vector<double> take() { return std::move(ratios_); }

 private:
  double baseline_units_, candidate_units_;
  std::vector<double> ratios_;
};

}  // namespace

Tally tally(std::string_view what, std::vector<double> ratios) {
  Tally out;
  out.what = what;
  out.parts = ratios.size();
  if (ratios.empty()) return out;
  std::sort(ratios.begin(), ratios.end());
  const std::size_t middle = ratios.size() / 2;
  const double median = ratios.size() % 2 == 1 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
  out.median = median - 1;
  for (const double ratio : ratios) {
    if (ratio > 1) ++out.slower;
    if (ratio < 1) ++out.faster;
  }
  return out;
}

std::vector<Tally> tallies(const GroupComparison& group) {
  Ratios layers(group), operations(group), kernels(group);
  for (const LayerChange& layer : group.layers) {
    if (layer.layer >= 0) layers.add(layer.baseline.time, layer.candidate.time);
  }
  for (const OpChange& op : group.ops) operations.add(op.baseline.time, op.candidate.time);
  for (const AlignedSegment& segment : group.alignment.segments) {
    for (const KernelPair& pair : segment.pairs) {
      if (pair.has_both()) kernels.add(pair.baseline.time, pair.candidate.time);
    }
  }
  std::vector<Tally> out = {tally("layers", layers.take()), tally("operations", operations.take()),
                            tally("aligned kernels", kernels.take())};
  std::erase_if(out, [](const Tally& one) { return one.parts == 0; });
  return out;
}

}  // namespace tracedb
