#include "passes/classify/word_matcher.h"

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
    const std::uint16_t next = next_[state * kLetters + letter(c)];
    state = next != 0 ? next : add_state(state, letter(c));
  }
  word_[state] = index;
}

std::uint16_t WordMatcher::add_state(std::size_t from, std::size_t letter) {
  if (word_.size() > kState) throw Error(ErrorCode::kUsage, "the rules have too many words");
  const auto state = static_cast<std::uint16_t>(word_.size());
  next_[from * kLetters + letter] = state;
  next_.resize(next_.size() + kLetters, 0);
  word_.push_back(kNoWord);
  return state;
}

// By distance from the root: the state a letter leads to elsewhere is that of the longest suffix that is a state.
void WordMatcher::link() {
  fail_.assign(word_.size(), 0);
  hit_.assign(word_.size(), 0);
  std::vector<std::uint16_t> queue = {0};
  queue.reserve(word_.size());
  const std::vector<std::uint16_t> nowhere(kLetters, 0);
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint16_t state = queue[head];
    std::uint16_t* const own = &next_[state * kLetters];
    const std::uint16_t* const elsewhere = state == 0 ? nowhere.data() : &next_[fail_[state] * kLetters];
    for (std::size_t c = 0; c < kLetters; ++c) {
      const std::uint16_t child = own[c];
      if (child == 0) continue;
      fail_[child] = elsewhere[c] & kState;
      hit_[child] = word_[child] != kNoWord ? child : hit_[fail_[child]];
      if (hit_[child] != 0) own[c] |= kHit;
      queue.push_back(child);
    }
    for (std::size_t c = 0; c < kLetters; ++c) own[c] = own[c] != 0 ? own[c] : elsewhere[c];
  }
}

}  // namespace tracedb
