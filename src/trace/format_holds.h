// What a format of traces (meta.format) can hold at all: advice asks for nothing else.
#pragma once

#include <string_view>

namespace tracedb {

struct FormatHolds {
  bool graphs;    // PyTorch's own, whose replays --capture explains
  bool stacks;    // of Python
  bool launches;  // calls of the host, and operators around them
};

constexpr FormatHolds format_holds(std::string_view format) {
  const bool ascend = format == "ascend-trace-view" || format == "ascend-db";
  const bool device_alone = format == "aie" || format == "ascend-kernel-csv";
  return {format == "kineto", format == "kineto" || ascend, !device_alone};
}

}  // namespace tracedb
