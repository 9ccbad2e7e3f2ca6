// Small traces for tests of compare/wafer: kernels as letters. A letter's name and operation are given in a list;
// kernels start 10 ns apart, from 100 on, and run 1 ns more than the one before, from 1 on.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/text/characters.h"
#include "compare/wafer/trace.h"

namespace tracedb::wafer {

struct LetterName {
  std::string text, op;
};
using Letters = std::map<char, LetterName>;

inline Trace lettered(const Letters& letters, std::string_view kernels) {
  Trace trace;
  std::map<char, std::uint32_t> positions;
  for (const auto& [letter, name] : letters) {
    positions[letter] = static_cast<std::uint32_t>(trace.names.size());
    trace.names.push_back({name.text, ascii_lower(name.text), name.op, name.text, name.op, ""});
  }
  std::int64_t number = 0;
  for (const char letter : kernels) {
    trace.kernels.push_back({100 + 10 * number, 1 + number, number, positions.at(letter), Phase::kDecode});
    ++number;
  }
  return trace;
}

}  // namespace tracedb::wafer
