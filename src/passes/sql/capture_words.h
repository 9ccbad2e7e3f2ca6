// The origins found in a capture (capture.h), as texts by kernel: the operator and the innermost module that launched
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/capture/capture.h"

namespace tracedb {

struct LentWords {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> op, module;  // by row of kernel: place in texts + 1; 0: none

  [[nodiscard]] std::optional<std::string_view> text(const std::vector<std::uint32_t>& which, std::int64_t id) const {
    if (id < 1 || static_cast<std::uint64_t>(id) > which.size()) return std::nullopt;
    const std::uint32_t place = which[static_cast<std::size_t>(id) - 1];
    return place == 0 ? std::nullopt : std::optional<std::string_view>(texts[place - 1]);
  }
};

LentWords lent_words(const Capture& capture, const Index& capture_index, const LentLaunches& lent);

}  // namespace tracedb
