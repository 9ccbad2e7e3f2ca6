#include "passes/word_matcher.h"

#include <limits>

#include "base/error.h"

namespace tracedb {
namespace {

constexpr std::uint32_t kNoWord = std::numeric_limits<std::uint32_t>::max();

}  // namespace

WordMatcher::WordMatcher(const std::vector<std::string>& words) {
  std::size_t letters = 1;
  for (const std::string& word : words) letters += word.size();
  next_.reserve(letters * kLetters);
  next_.assign(kLetters, 0);
  word_.push_back(kNoWord);
  for (std::size_t i = 0; i < words.size(); ++i) add(words[i], static_cast<std::uint32_t>(i));
  link();
}

void WordMatcher::add(std::string_view word, std::uint32_t index) {
  std::size_t state = 0;
  for (const char c : word) {
    const std::size_t slot = state * kLetters + letter(c);
    if (next_[slot] == 0) {
      if (word_.size() > std::numeric_limits<std::uint16_t>::max()) {
        throw Error(ErrorCode::kUsage, "the rules have too many words");
      }
      next_[slot] = static_cast<std::uint16_t>(word_.size());
      next_.resize(next_.size() + kLetters, 0);
      word_.push_back(kNoWord);
    }
    state = next_[slot];
  }
  word_[state] = index;
}

void WordMatcher::link() {
  fail_.assign(word_.size(), 0);
  hit_.assign(word_.size(), 0);
  std::vector<std::uint16_t> queue;
  for (std::size_t c = 0; c < kLetters; ++c) {
    if (next_[c] != 0) queue.push_back(next_[c]);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint16_t state = queue[head];
    hit_[state] = word_[state] != kNoWord ? state : hit_[fail_[state]];
    for (std::size_t c = 0; c < kLetters; ++c) {
      std::uint16_t& child = next_[state * kLetters + c];
      const std::uint16_t elsewhere = next_[fail_[state] * kLetters + c];
      if (child == 0) {
        child = elsewhere;
      } else {
        fail_[child] = elsewhere;
        queue.push_back(child);
      }
    }
  }
}

}  // namespace tracedb
