// The top-level members of a trace except its events, as they are stored.
#pragma once

#include <algorithm>
#include <cstddef>
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

}  // namespace tracedb
