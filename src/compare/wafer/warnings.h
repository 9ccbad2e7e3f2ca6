// What that tool warns of. Of both traces' warnings the first of each code is kept, so the side is lost.
#pragma once

#include <string_view>
#include <vector>

#include "compare/wafer/layers.h"
#include "compare/wafer/trace.h"

namespace tracedb::wafer {

struct Warning {
  std::string_view code;
  std::string_view severity;  // warning, info
  std::string_view message;   // in our words
};

std::vector<Warning> warnings_of(const Trace& trace, const LayerMap& layers);

// Both lists, without repeated codes.
std::vector<Warning> join(std::vector<Warning> first, const std::vector<Warning>& second);

}  // namespace tracedb::wafer
