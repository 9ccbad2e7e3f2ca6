// What host threads did, in order of time: calls, operators, annotations and Python calls.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "index/packed_columns.h"
#include "passes/columns/event_columns.h"

namespace tracedb {

enum class HostSource : std::uint8_t { kPython, kAnnotation, kOperator, kCall };  // what begins together, outside first

struct HostEvent {
  std::int64_t ts, end;  // ns; an unknown duration counts as none
  std::uint32_t thread;
  std::uint32_t what;  // string; of kPython a stack
  HostSource source;
};

inline constexpr std::array kAllHostSources = {HostSource::kPython, HostSource::kAnnotation, HostSource::kOperator,
                                               HostSource::kCall};

// The events of all threads from these sources, by ts, of those at one time the longer first, then by source.
class HostEventReader {
 public:
  HostEventReader(const Index& index, const EventTables& events, std::span<const HostSource> sources = kAllHostSources);

  // The next one, valid until the next call; null: there is none.
  const HostEvent* next() {
    if (given_ == together_.size()) read_next();
    return given_ == together_.size() ? nullptr : &together_[given_++];
  }

 private:
  struct Table {
    std::span<const std::int64_t> ts, dur;
    std::span<const std::uint32_t> thread, what;
    HostSource source;
    std::size_t at = 0;
  };
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  void find_head(std::size_t table);
  void read_next();

  std::optional<BlockReader> python_;  // only where they are asked for
  std::vector<Table> tables_;
  std::vector<std::int64_t> heads_;  // ts of each table's next; kNone: there is none
  std::vector<HostEvent> together_;  // that begin at one time
  std::size_t given_ = 0;
};

}  // namespace tracedb
