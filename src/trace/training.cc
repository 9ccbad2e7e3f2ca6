#include "trace/training.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tracedb {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// A class name that ends in Backward, or in Backward and a number.
bool is_backward_node(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  constexpr std::string_view kSuffix = "Backward";
  return name.size() > kSuffix.size() && name.ends_with(kSuffix) && std::all_of(name.begin(), name.end(), is_word);
}

}  // namespace

bool is_optimizer_step(std::string_view annotation) { return annotation.starts_with("Optimizer.step#"); }

bool is_backward_operator(std::string_view name) {
  return name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::") || is_backward_node(name);
}

}  // namespace tracedb
