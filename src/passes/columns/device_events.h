// Device work as input of the algorithms over time: two tables of columns, each in order of start, and a walk over both
// in one order. A lane is what is looked at by itself: a device or a stream. Pure: spans in, no database.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/unknown.h"

namespace tracedb {

// The sets of the metric definitions: compute kernels and fills, collectives, copies by engines or kernels. Collectives
// fused with computation are in the set of collectives.
enum class Work : std::uint8_t { kCompute, kComm, kCopy, kFusedComm };
inline bool communicates(Work work) { return work == Work::kComm || work == Work::kFusedComm; }

// By the values of a table's column kind; what is more than that counts as the first.
using WorkOfKind = std::array<Work, 8>;

// One table. Element i has id i + 1. All spans but the last two have its length.
struct DeviceEvents {
  std::span<const std::int64_t> ts, dur;  // ns
  std::span<const std::uint32_t> stream, launch, kind;
  WorkOfKind work_of_kind{};
  std::span<const std::uint8_t> left_out;        // not 0: outside the selection; empty: nothing is
  std::span<const std::int64_t> busy_durs = {};  // EventColumns::busy_durs(); empty: as `dur`
};

// A row of one of the two tables.
struct EventRef {
  std::uint32_t id = 0;  // 0: none
  bool is_memory_op = false;
  bool operator==(const EventRef&) const = default;
};

// Both tables, and which lane each stream is part of: streams without an element are in lane 0.
struct DeviceWork {
  DeviceEvents kernels, memory_ops;
  std::span<const std::uint32_t> lane_of_stream;
  std::size_t lanes = 1;
};

struct DeviceEvent {
  EventRef ref;
  std::int64_t ts, end;  // at least 0; equal where the duration is 0 or unknown
  std::uint32_t lane, stream, launch;
  Work work;
  bool left_out;
  bool in_flight;  // beside what the device does: it is not busy with it
  [[nodiscard]] std::int64_t busy_until() const { return in_flight ? ts : end; }
};

// The time between two moments; events are cut off at both.
struct Window {
  std::int64_t from = 0, to = std::numeric_limits<std::int64_t>::max();
  // How much of [begin, end) is inside.
  [[nodiscard]] std::int64_t part(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = begin > from ? begin : from;
    const std::int64_t last = end < to ? end : to;
    return last > first ? last - first : 0;
  }
};

inline DeviceEvent event_at(const DeviceWork& work, const DeviceEvents& table, std::size_t row, bool is_memory_op) {
  const std::uint32_t stream = table.stream[row];
  const std::int64_t ts = table.ts[row] > 0 ? table.ts[row] : 0;  // so that differences do not overflow
  return {{static_cast<std::uint32_t>(row) + 1, is_memory_op},
          ts,
          saturating_add(ts, duration_or_zero(table.dur[row])),
          stream < work.lane_of_stream.size() ? work.lane_of_stream[stream] : 0,
          stream,
          table.launch[row],
          table.work_of_kind[table.kind[row] & 7],
          !table.left_out.empty() && table.left_out[row] != 0,
          !table.busy_durs.empty() && table.busy_durs[row] != table.dur[row]};
}

// Calls visit(DeviceEvent) in order of ts, kernels before memory operations that start with them.
template <class Visit>
void for_each_in_order(const DeviceWork& work, Visit visit) {
  const DeviceEvents& kernels = work.kernels;
  const DeviceEvents& others = work.memory_ops;
  std::size_t kernel = 0, other = 0;
  while (kernel < kernels.ts.size() || other < others.ts.size()) {
    const bool is_memory_op =
        other < others.ts.size() && (kernel == kernels.ts.size() || others.ts[other] < kernels.ts[kernel]);
    visit(event_at(work, is_memory_op ? others : kernels, is_memory_op ? other++ : kernel++, is_memory_op));
  }
}

}  // namespace tracedb
