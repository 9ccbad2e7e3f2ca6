#include "passes/time/collective_size.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/ascii.h"

namespace tracedb {
namespace {

constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
    {"bool", 1},        {"byte", 1},         {"char", 1},           {"uint8", 1}, {"int8", 1},   {"short", 2},
    {"half", 2},        {"float16", 2},      {"bfloat16", 2},       {"int16", 2}, {"int", 4},    {"int32", 4},
    {"float", 4},       {"float32", 4},      {"long", 8},           {"int64", 8}, {"double", 8}, {"float64", 8},
    {"complexhalf", 4}, {"complexfloat", 8}, {"complexdouble", 16},
};

enum class Factor { kTwice, kOnce, kNone };
// In the order they are tried: the first word found decides.
constexpr std::pair<std::string_view, Factor> kFactors[] = {
    {"allreduce", Factor::kTwice}, {"allgather", Factor::kOnce}, {"reducescatter", Factor::kOnce},
    {"alltoall", Factor::kOnce},   {"gather", Factor::kOnce},    {"scatter", Factor::kOnce},
    {"broadcast", Factor::kNone},  {"reduce", Factor::kNone},    {"send", Factor::kNone},
    {"recv", Factor::kNone},
};

}  // namespace

std::optional<std::int64_t> element_size(std::string_view dtype) {
  std::string name = ascii_lower(dtype);
  if (name.starts_with("c10::")) name.erase(0, 5);
  if (name.starts_with("float8_")) return 1;
  for (const auto& [known, size] : kSizes) {
    if (name == known) return size;
  }
  return std::nullopt;
}

std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks) {
  if (ranks < 1) return std::nullopt;
  std::string name = ascii_lower(collective);
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  for (const auto& [word, factor] : kFactors) {
    if (name.find(word) == std::string::npos) continue;
    return factor == Factor::kTwice ? 2 * share : (factor == Factor::kOnce ? share : 1);
  }
  return std::nullopt;
}

}  // namespace tracedb
