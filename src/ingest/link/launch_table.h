// Runtime calls by correlation, with what was found around them, for the join with the kernels they launched.
#pragma once

#include <compare>
#include <cstdint>

#include "ingest/link/paged_table.h"
#include "ingest/link/pass_finder.h"
#include "ingest/store/external_sorter.h"
#include "ingest/store/records.h"
#include "trace/event_names.h"

namespace tracedb {

// What is known about the origin of a kernel or memory operation; ids, 0 where unknown.
struct Origin {
  std::uint32_t call = 0, cpu_op = 0, stack = 0, annotation = 0, step = 0;
  std::uint32_t graph_step = 0;  // step open on another thread of the process; only for graph launches without a step
  PassOrigin pass;
};

// A runtime call with what was found around it.
struct LaunchRecord {
  std::int64_t correlation, ts, external_id;
  std::uint32_t dur;  // ns; at most 2^32 - 1, 0 where unknown
  std::uint32_t process, thread;
  CallKind kind;
  Origin origin;
};

// How likely a call of this kind is the one that started the device's work; the likeliest comes first.
inline unsigned launch_rank(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunch:
    case CallKind::kGraphLaunch:
    case CallKind::kCopy:
      return 0;
    case CallKind::kOther:
      return 1;
    case CallKind::kSync:
    case CallKind::kUnknown:
      return 2;
  }
  return 2;
}

struct LaunchKey {
  std::int64_t correlation;
  std::uint32_t process;
  unsigned rank;
  std::int64_t ts;
  auto operator<=>(const LaunchKey&) const = default;
};

inline LaunchKey key_of(const LaunchRecord& record) {
  return {record.correlation, record.process, launch_rank(record.kind), record.ts};
}

struct ByLaunchKey {
  bool operator()(const LaunchRecord& a, const LaunchRecord& b) const { return key_of(a) < key_of(b); }
};

using LaunchSorter = ExternalSorter<LaunchRecord, ByLaunchKey>;

using LaunchTable = PagedTable<LaunchRecord, ByLaunchKey>;

}  // namespace tracedb
