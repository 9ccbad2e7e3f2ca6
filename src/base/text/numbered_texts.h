// Texts, each once, by numbers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracedb {

// Numbers texts 0, 1, 2 ... in the order in which they first come. One thread.
class NumberedTexts {
 public:
  std::uint32_t number(std::string text) {
    const auto [place, is_new] = numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(place->first);
    return place->second;
  }
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_[number]; }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }  // by number

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace tracedb
