// What a format of traces (meta.format) can hold at all: advice asks for nothing else, and what one of two formats
// cannot hold is no difference between their traces.
#pragma once

#include <string_view>

namespace tracedb {

struct FormatHolds {
  bool graphs;    // PyTorch's own, whose replays --capture explains
  bool stacks;    // of Python
  bool launches;  // calls of the host, and operators and annotations around them
  bool copies;    // and fills, by the device's own engines
};

constexpr FormatHolds format_holds(std::string_view format) {
  const bool ascend = format == "ascend-trace-view" || format == "ascend-db";
  const bool device_alone = format == "aie" || format == "ascend-kernel-csv";
  return {format == "kineto", format == "kineto" || ascend, !device_alone, !device_alone};
}

}  // namespace tracedb
