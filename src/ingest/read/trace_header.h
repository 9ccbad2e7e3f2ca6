// The top-level members of a trace except its events, as they are stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct HeaderMember {
  std::string key;
  std::string text;         // JSON, valid UTF-8
  std::int64_t offset = 0;  // of the value, in the decompressed trace
};

using TraceHeader = std::vector<HeaderMember>;

// What is kept of all members together, and what one of them takes of it: many small ones take more than their text.
inline constexpr std::size_t kLargestHeader = std::size_t{32} << 20U;
inline std::size_t header_size(std::string_view key, std::string_view text) {
  return key.size() + text.size() + sizeof(HeaderMember);
}

// nullptr: absent. The last one wins.
inline const HeaderMember* find_header(const TraceHeader& header, std::string_view key) {
  const auto found =
      std::find_if(header.rbegin(), header.rend(), [key](const HeaderMember& member) { return member.key == key; });
  return found == header.rend() ? nullptr : &*found;
}

// Facts about a whole trace that its reader finds besides the events.
struct TraceFacts {
  std::string format;     // where only the whole of the trace tells its name in the table of formats; else empty
  std::string time_unit;  // what times count, where they are no nanoseconds: "cycle"
  TraceHeader header;
  std::uint64_t bytes = 0;  // of the trace, decompressed
  bool complete = true;     // false: the end is missing
  std::string vendor;       // as device.vendor, where the format says it; empty: by names and the header
  // Absolute time of the trace's time 0, in ns since 1970, where the format says it; else the header's
  // baseTimeNanoseconds tells.
  std::optional<std::int64_t> time_zero_ns;
  std::optional<std::int64_t> rank;  // of the distributed job; else the header or the file's name tells
  std::string rank_source;           // where that is said
};

}  // namespace tracedb
