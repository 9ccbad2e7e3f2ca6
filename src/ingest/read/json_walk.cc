#include "ingest/read/json_walk.h"

#include <algorithm>

#include "base/text/json_text.h"
#include "ingest/read/json_shape.h"

namespace tracedb {
namespace {

constexpr std::size_t kReadSize = std::size_t{256} << 10U;

// Where a value ends, over text that comes in pieces.
class ValueEnd {
 public:
  // Up to the end of `text`; true where the value ends at `at`, which is behind its last byte.
  bool find(std::string_view text, std::size_t& at) {
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (in_string_) {
        pass_string(c);
        if (!in_string_ && depth_ == 0) return ++at, true;
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if (c == '}' || c == ']') {
        if (depth_ == 0) return true;
        if (--depth_ == 0) return ++at, true;
      } else if (depth_ == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
        return true;
      }
    }
    return false;
  }

 private:
  void pass_string(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
  }

  std::size_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace

bool JsonWalk::enter(char bracket) {
  char c = 0;
  if (!peek(c) || c != bracket) return false;
  ++at_;
  return true;
}

bool JsonWalk::next_member(std::string& key) {
  char c = 0;
  while (peek(c) && c == ',') ++at_;
  if (c == '}') return ++at_, false;
  if (c != '"') return break_off();
  const std::string_view text = value();
  if (text.empty()) return false;
  key = unescape(raw_string(text)).text;
  if (!peek(c) || c != ':') return break_off();
  ++at_;
  return true;
}

bool JsonWalk::next_element() {
  char c = 0;
  while (peek(c) && c == ',') ++at_;
  if (broke_off_) return false;
  if (c == ']') return ++at_, false;
  return c != '}' && c != ':' ? true : break_off();
}

std::string_view JsonWalk::value() {
  char c = 0;
  if (!peek(c)) return {};
  const std::size_t length = value_length(true);
  const std::string_view text = std::string_view(window_).substr(at_, length);
  at_ += length;
  return text;
}

void JsonWalk::skip() {
  char c = 0;
  if (peek(c)) at_ += value_length(false);
}

// How much of the window belongs to the value at at_. 0: it broke off, or was passed over.
std::size_t JsonWalk::value_length(bool keep) {
  ValueEnd end;
  std::size_t length = 0;
  const std::uint64_t begin = position();
  while (!end.find(std::string_view(window_).substr(at_), length)) {
    if (keep && length > longest_) {
      at_ = static_cast<std::size_t>(begin - base_);
      break_off();
      return 0;
    }
    if (!keep) {
      at_ += length;
      length = 0;
    }
    if (refill()) continue;
    if (keep) at_ = static_cast<std::size_t>(begin - base_);
    broke_off_ = true;
    return 0;
  }
  if (keep || begin == position()) return length;
  at_ += length;
  return 0;
}

std::string_view JsonWalk::next_object(std::string_view sign, std::uint64_t& lost) {
  constexpr std::size_t kDeepest = 32, kLongestName = 64;
  while (true) {
    const std::size_t found = window_.find('{', at_);
    if (found == std::string::npos) {
      const std::size_t end = window_.size();
      lost += pass_to(ended_ ? end : std::max(at_, end - std::min(end, kLongestName)), sign);
      if (!refill() && at_ == window_.size()) return {};
      continue;
    }
    note_list(std::string_view(window_).substr(at_, found - at_));
    lost += pass_to(found, sign);
    while (window_.size() - at_ < kLongestEvent && refill()) {
    }
    const std::string_view text = std::string_view(window_).substr(at_, kLongestEvent);
    const ShapeCheck check = check_shape(text, kDeepest);
    if (check.shape != Shape::kWhole) lost += pass_to(at_ + 1, sign);
    if (check.shape == Shape::kWhole) return ++at_, text.substr(0, check.end);
  }
}

bool JsonWalk::closed() const {
  const std::string_view end = trim_json_space(window_);
  return end.ends_with('}') && trim_json_space(end.substr(0, end.size() - 1)).ends_with(']');
}

// Returns how often `sign` begins in what is passed over.
std::uint64_t JsonWalk::pass_to(std::size_t to, std::string_view sign) {
  const std::string_view passed = std::string_view(window_).substr(at_, to - at_ + sign.size() - 1);
  std::uint64_t count = 0;
  for (std::size_t at = passed.find(sign); at != std::string_view::npos; at = passed.find(sign, at + 1)) ++count;
  at_ = to;
  return count;
}

// `before` ends where an object begins: "key": [ makes it the first one of a list.
void JsonWalk::note_list(std::string_view before) {
  constexpr std::string_view kBlank = " \t\r\n";
  for (const char c : {'[', ':', '"'}) {
    before = before.substr(0, before.find_last_not_of(kBlank) + 1);
    if (!before.ends_with(c)) return;
    before.remove_suffix(1);
  }
  list_ = before.substr(before.rfind('"') + 1);
}

bool JsonWalk::peek(char& c) {
  c = 0;
  while (!broke_off_) {
    const std::size_t found = window_.find_first_not_of(" \t\r\n", at_);
    at_ = found == std::string::npos ? window_.size() : found;
    if (found != std::string::npos) return c = window_[at_], true;
    if (!refill()) broke_off_ = true;
  }
  return false;
}

bool JsonWalk::refill() {
  if (ended_) return false;
  base_ += at_;
  window_.erase(0, at_);
  at_ = 0;
  const std::size_t size = window_.size();
  window_.resize(size + kReadSize);
  const std::size_t got = source_.read(window_.data() + size, kReadSize);
  window_.resize(size + got);
  ended_ = got == 0;
  return got > 0;
}

bool JsonWalk::break_off() {
  stray_ = stray_ || !broke_off_;  // also where it is said twice
  broke_off_ = true;
  return false;
}

}  // namespace tracedb
