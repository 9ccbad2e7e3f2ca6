#include "ingest/read/json_shape.h"

#include <algorithm>
#include <utility>

#include "base/text/characters.h"
#include "base/text/json_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostBegins = std::size_t{1} << 16U;
constexpr char kObjectWithPhase = 'P';  // instead of the bracket of an open object

}  // namespace

// Walks over one value, which begins at `at`.
class ShapeReader {
 public:
  ShapeReader(std::string_view text, std::size_t max_depth, std::size_t at = 0)
      : text_(text), max_depth_(max_depth), at_(at) {}

  // Where read() found the value broken: makes `object`, which is open there, the value, up to the end of `text`. What
  // is before that place is not walked over again. False: it is not open there.
  bool narrow(std::size_t object, std::string_view text) {
    const auto begin = std::ranges::find(begins_, object);
    if (begin == begins_.end()) return false;
    text_ = text;
    open_.erase(open_.begin(), open_.begin() + (begin - begins_.begin()));
    begins_.erase(begins_.begin(), begin);
    return true;
  }

  // Another value.
  void restart(std::string_view text, std::size_t at) {
    text_ = text;
    at_ = at;
    open_.clear();
    begins_.clear();
    expect_ = Expect::kValue;
    finished_ = phase_next_ = has_phase_ = false;
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] const std::vector<std::size_t>& begins() const { return begins_; }

  ShapeCheck read() {
    while (!finished_) {
      at_ = skip_json_space(text_, at_);
      if (at_ == text_.size()) return result(Shape::kCut);
      if (!step(text_[at_])) return result(at_ == text_.size() ? Shape::kCut : Shape::kBroken);
    }
    return result(Shape::kWhole);
  }

 private:
  enum class Expect : std::uint8_t { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd };

  [[nodiscard]] ShapeCheck result(Shape shape) const {
    return {shape, at_, finished_ ? has_phase_ : !open_.empty() && open_.front() == kObjectWithPhase};
  }

  // False: broken at at_, or cut off if that is the end. The same again from there, see narrow().
  bool step(char c) {
    switch (expect_) {
      case Expect::kKeyOrEnd:
        if (c == '}') return close();
        [[fallthrough]];
      case Expect::kKey:
        return c == '"' && key();
      case Expect::kColon:
        if (c != ':') return false;
        expect_ = Expect::kValue;
        return ++at_ > 0;
      case Expect::kValueOrEnd:
        if (c == ']') return close();
        [[fallthrough]];
      case Expect::kValue:
        return value(c);
      case Expect::kCommaOrEnd:
        if (c != ',') return c == (open_.back() == '[' ? ']' : '}') && close();
        expect_ = open_.back() == '[' ? Expect::kValue : Expect::kKey;
        return ++at_ > 0;
    }
    return false;
  }

  bool key() {
    const std::size_t begin = at_;
    if (!string()) return false;
    phase_next_ = text_.substr(begin, at_ - begin) == "\"ph\"";
    expect_ = Expect::kColon;
    return true;
  }

  bool value(char c) {
    const bool phase = std::exchange(phase_next_, false);
    if (c == '{' || c == '[') {
      if (open_.size() == max_depth_) return false;
      open_.push_back(c);
      if (open_.size() <= kMostBegins) begins_.push_back(at_);
      expect_ = c == '{' ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
      return ++at_ > 0;
    }
    if (c == '"') {
      if (!string()) return false;
      if (phase) open_.back() = kObjectWithPhase;
    } else if (!scalar()) {
      return false;
    }
    end_of_value();
    return true;
  }

  bool close() {
    has_phase_ = open_.back() == kObjectWithPhase;
    open_.pop_back();
    if (begins_.size() > open_.size()) begins_.pop_back();
    ++at_;
    end_of_value();
    return true;
  }

  void end_of_value() {
    expect_ = Expect::kCommaOrEnd;
    finished_ = open_.empty();
  }

  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\0') return false;
      ++at_;
      if (c == '"') return true;
      if (c == '\\' && at_ < text_.size()) ++at_;
    }
    return false;
  }

  bool scalar() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) > ' ' &&
           std::string_view(",:{}[]\"").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    return at_ > begin;
  }

  std::string_view text_;
  std::size_t max_depth_;
  std::size_t at_ = 0;
  std::vector<char> open_;           // the brackets around at_
  std::vector<std::size_t> begins_;  // where the outermost of them are
  Expect expect_ = Expect::kValue;
  bool finished_ = false;
  bool phase_next_ = false;
  bool has_phase_ = false;  // the object that was closed last
};

namespace {

struct Walk {
  bool whole;
  std::size_t end;  // behind what was looked at
};

// Over the member of an object that `text` starts with, the comma before it included.
Walk walk_member(std::string_view text) {
  const std::size_t key = skip_json_space(text, 1);
  if (!text.starts_with(',') || key == text.size() || text[key] != '"') return {false, 0};
  const ShapeCheck name = check_shape(text.substr(key), kAnyDepth);
  const std::size_t colon = skip_json_space(text, key + name.end);
  if (name.shape != Shape::kWhole || colon == text.size() || text[colon] != ':') return {false, colon};
  const ShapeCheck value = check_shape(text.substr(colon + 1), kAnyDepth);
  return {value.shape == Shape::kWhole, colon + 1 + value.end};
}

// Over what follows the array of events: members of the top level, if that is an object, and its end. Whole where
// nothing else does.
Walk walk_rest_of_trace(std::string_view text, Container top_level) {
  std::size_t end = skip_json_space(text, 0);
  if (top_level == Container::kArray) return {end == text.size(), end};
  Walk member = walk_member(text.substr(end));
  for (; member.whole; member = walk_member(text.substr(end))) end = skip_json_space(text, end + member.end);
  if (end == text.size() || text[end] != '}') return {false, end + member.end};
  end = skip_json_space(text, end + 1);
  return {end == text.size(), end};
}

bool is_event(const ShapeCheck& check) { return check.shape == Shape::kWhole && check.has_phase; }

// How far behind the beginning of a broken event its phase is looked for, and how long the first key may be.
constexpr std::size_t kPhaseWithin = 4096;
constexpr std::size_t kLongestKey = 64;

enum class Answer : std::uint8_t { kNo, kYes, kCut };

// Whether an object begins at `at`, '{', that is no member's value: its first member has a name.
Answer element_begins(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", at - 1);
  if (before != std::string_view::npos && text[before] == ':') return Answer::kNo;
  const std::size_t quote = skip_json_space(text, at + 1);
  if (quote == text.size()) return Answer::kCut;
  if (text[quote] != '"') return Answer::kNo;
  const std::string_view key = text.substr(quote + 1, kLongestKey + 1);
  const std::size_t end = key.find('"');
  if (end == std::string_view::npos) return key.size() > kLongestKey ? Answer::kNo : Answer::kCut;
  const std::size_t colon = skip_json_space(text, quote + 1 + end + 1);
  if (colon == text.size()) return Answer::kCut;
  return text[colon] == ':' ? Answer::kYes : Answer::kNo;
}

// Whether one begins in [from, to) that is not whole, or is an event.
Answer other_begins(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t at = text.find('{', from); at < to; at = text.find('{', at)) {
    const Answer element = element_begins(text, at);
    if (element == Answer::kCut) return element;
    const ShapeCheck check = element == Answer::kYes ? check_shape(text.substr(at), kDeepestEvent) : ShapeCheck{};
    const bool is_value = check.shape == Shape::kWhole && !check.has_phase;
    if (element == Answer::kYes && !is_value) return check.shape == Shape::kCut ? Answer::kCut : Answer::kYes;
    at += std::max<std::size_t>(check.end, 1);
  }
  return Answer::kNo;
}

// The first phase at places that are asked for in order, or up to kPhaseWithin behind each: what was searched is not
// searched again.
class PhaseAhead {
 public:
  std::size_t find(std::string_view piece, std::size_t at) {
    constexpr std::size_t kKeyAndSpace = 256;
    if (found_ == std::string_view::npos || found_ < at) {
      found_ = find_phase(piece, std::max(at, searched_));
      searched_ = piece.size() - std::min(piece.size(), kKeyAndSpace);
    }
    return found_ < piece.size() ? found_ : std::string_view::npos;
  }

 private:
  std::size_t found_ = std::string_view::npos, searched_ = 0;
};

// Whether at `at`, '{', an event begins, be it broken.
Answer event_begins(std::string_view text, std::size_t at, PhaseAhead& phases) {
  const Answer element = element_begins(text, at);
  if (element != Answer::kYes) return element;
  const std::string_view piece = text.substr(0, at + kPhaseWithin);
  const std::size_t phase = phases.find(piece, at);
  const Answer other = other_begins(piece, at + 1, phase);
  if (other == Answer::kYes) return Answer::kNo;
  if (other == Answer::kNo && phase != std::string_view::npos) return Answer::kYes;
  return piece.size() < at + kPhaseWithin ? Answer::kCut : Answer::kNo;
}

}  // namespace

ShapeCheck check_shape(std::string_view text, std::size_t max_depth, std::vector<std::size_t>* open) {
  ShapeReader reader(text, max_depth);
  const ShapeCheck check = reader.read();
  if (open != nullptr) *open = reader.begins();
  return check;
}

bool is_value(std::string_view text) {
  const ShapeCheck check = check_shape(text, kAnyDepth);
  return check.shape == Shape::kWhole && check.end == text.size();
}

bool is_list_of_events(std::string_view element) {
  const std::size_t bracket = skip_json_space(element, 0);
  if (bracket == element.size() || element[bracket] != '[') return false;
  const std::size_t first = skip_json_space(element, bracket + 1);
  if (first == element.size() || element[first] != '{') return false;
  return is_event(check_shape(element.substr(first, kLongestEvent), kDeepestEvent));
}

EventSearch find_event(std::string_view text, std::size_t from, More more) {
  return EventFinder(text).find(from, EventSearch::kNone, more);
}

EventFinder::EventFinder(std::string_view text, std::size_t longest) : text_(text), longest_(longest) {}
EventFinder::~EventFinder() = default;

ShapeCheck EventFinder::check(std::size_t at, std::size_t longest) {
  const std::string_view text = text_.substr(0, at + std::min(longest, text_.size() - at));
  if (!walk_) walk_ = std::make_unique<ShapeReader>(text, kDeepestEvent, at);
  if (broken_ && at < walk_->at() && !walk_->narrow(at, text)) return ShapeReader(text, kDeepestEvent, at).read();
  if (!broken_ || at >= walk_->at()) walk_->restart(text, at);
  const ShapeCheck check = walk_->read();
  broken_ = check.shape == Shape::kBroken;
  return check;
}

EventSearch EventFinder::find(std::size_t from, std::size_t broken_from, More more) {
  const std::string_view text = text_;
  PhaseAhead phases;
  for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const ShapeCheck check = this->check(at, longest_);
    if (is_event(check)) return {at, at, check.end};
    bool open = check.shape == Shape::kCut && text.size() - at < longest_;
    if (at >= broken_from && check.shape != Shape::kWhole && !(open && more == More::kMayCome)) {
      const Answer begins = event_begins(text, at, phases);
      if (begins == Answer::kYes) return {at, at, 0};
      open = begins == Answer::kCut;
    }
    if (open && more == More::kMayCome) return {EventSearch::kNone, at, 0};
  }
  return {EventSearch::kNone, std::max(from, text.size()), 0};
}

std::size_t find_phase(std::string_view text, std::size_t from) {
  constexpr std::string_view kKey = "\"ph\"";
  for (std::size_t at = text.find(kKey, from); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const std::size_t colon = skip_json_space(text, at + kKey.size());
    if (colon < text.size() && text[colon] == ':') return at;
  }
  return std::string_view::npos;
}

Behind behind_event(std::string_view text, std::size_t end) {
  const std::size_t next = skip_json_space(text, end);
  if (next == text.size()) return Behind::kEndOfText;
  return text[next] == ',' || text[next] == ']' ? Behind::kSeparator : Behind::kOther;
}

std::size_t find_array_end(std::string_view text, Container top_level) {
  // Each bracket may cost a walk to the end of the text, and text made for it has a million of them.
  std::size_t bytes = std::size_t{64} << 20U;
  for (std::size_t at = text.find(']'); at != std::string_view::npos; at = text.find(']', at + 1)) {
    const Walk rest = walk_rest_of_trace(text.substr(at + 1), top_level);
    if (rest.whole) return at;
    if (rest.end > bytes) break;
    bytes -= rest.end;
  }
  return EventSearch::kNone;
}

namespace {

void append_escaped(std::string& out, unsigned char control) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.append("\\u00");
  out += kDigits[control >> 4U];
  out += kDigits[control & 15U];
}

// A hole in the file, where the rest of one event and the beginning of another were, is no text of one.
bool is_hole(std::string_view text, std::size_t at) {
  constexpr std::string_view kHole("\0\0\0\0\0\0\0\0", 8);
  return text.substr(at).starts_with(kHole);
}

// Whether a quote before `next` may be the end of a member's value: what follows belongs to no text. A colon or another
// quote further on is no right end either, but which of the quotes is the wrong one is then anybody's guess. Two in a
// row are text (operator"" _x), the first of them for certain; so is a comma with no member behind it.
bool may_end_value(std::string_view text, std::size_t next) {
  if (next < text.size() && text[next] == '"') return false;
  next = skip_json_space(text, next);
  if (next == text.size()) return true;
  if (text[next] != ',') return std::string_view(":\"]}").find(text[next]) != std::string_view::npos;
  const std::size_t member = skip_json_space(text, next + 1);
  return member == text.size() || text[member] == '"';
}

}  // namespace

std::string repaired_event(std::string_view original) {
  const std::string text = valid_utf8(original).text;
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  bool is_value = false;  // of a member: the string follows a colon
  char before = '\0';     // the last byte outside strings that is no white space
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (!in_string && c == '"') {
      in_string = true;
      is_value = before == ':';
    } else if (in_string && c == '"') {
      if (is_value && !may_end_value(text, i + 1)) {
        out.append("\\\"");
        continue;
      }
      in_string = false;
    } else if (in_string && static_cast<unsigned char>(c) < 0x20 && !is_hole(text, i)) {
      append_escaped(out, static_cast<unsigned char>(c));
      continue;
    }
    if (!in_string && !is_json_space(c)) before = c;
    out += c;
  }
  return out;
}

}  // namespace tracedb
