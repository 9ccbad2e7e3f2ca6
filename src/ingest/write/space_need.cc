#include "ingest/write/space_need.h"

#include <fmt/format.h>

#include <algorithm>

namespace tracedb {
namespace {

// Bytes in the index, fitted to some sixty real traces: what the file has without any event, then for each row with its
// share in indexes and sums. The sum is 8 % short of the truth at worst, and 15 % beyond it.
constexpr double kEmptyIndex = 610'000;
constexpr double kPythonCall = 24;
constexpr double kOperator = 32;
constexpr double kCall = 67;
constexpr double kDeviceEvent = 67;
constexpr double kOther = 24;
constexpr double kString = 216;
constexpr double kShape = 108;  // of the arguments of operators

double index_bytes_of(const TraceStore& store) {
  const auto rows = [](const auto& sorter) { return static_cast<double>(sorter.size()); };
  return kPythonCall * rows(store.python) + kOperator * rows(store.operators) + kCall * rows(store.calls) +
         kDeviceEvent * (rows(store.device_events) + rows(store.tasks)) +
         kString * static_cast<double>(store.strings.size()) + kShape * static_cast<double>(store.shapes.size()) +
         kOther * (rows(store.annotations) + rows(store.slices) + rows(store.instants) + rows(store.counters));
}

std::uint64_t spilled_bytes(const TraceStore& store) {
  return store.python.spilled_bytes() + store.operators.spilled_bytes() + store.calls.spilled_bytes() +
         store.device_events.spilled_bytes() + store.annotations.spilled_bytes() + store.slices.spilled_bytes() +
         store.instants.spilled_bytes() + store.counters.spilled_bytes() + store.flows.spilled_bytes();
}

}  // namespace

SpaceNeed space_need(const TraceStore& store, std::uint64_t index_bytes, double share) {
  const std::uint64_t spilled = spilled_bytes(store);
  const double in_all = kEmptyIndex + (index_bytes_of(store) + static_cast<double>(spilled)) / share;
  SpaceNeed need{spilled + index_bytes, static_cast<std::uint64_t>(in_all)};
  need.in_all = std::max(need.in_all, need.written + need.written / 8);  // the estimate was proved too low
  return need;
}

std::string space_advice(const SpaceNeed& need) {
  constexpr double kMega = 1e6;
  return fmt::format(
      "{:.1f} MB were written, about {:.1f} MB are needed: make room there, or choose another place with "
      "--output or --index-dir",
      static_cast<double>(need.written) / kMega, static_cast<double>(need.in_all) / kMega);
}

}  // namespace tracedb
