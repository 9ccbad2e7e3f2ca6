// The top-level members of a trace except its events, as they are stored.
#pragma once

#include <algorithm>
#include <cstdint>
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

// nullptr: absent. The last one wins.
inline const HeaderMember* find_header(const TraceHeader& header, std::string_view key) {
  const auto found =
      std::find_if(header.rbegin(), header.rend(), [key](const HeaderMember& member) { return member.key == key; });
  return found == header.rend() ? nullptr : &*found;
}

}  // namespace tracedb
