#include "ingest/read/header_rest.h"

#include <algorithm>

#include "ingest/read/json_shape.h"
#include "ingest/read/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kQuotedEventsKey = "\"traceEvents\"";

bool is_at(std::string_view text, std::size_t i, char c) { return i < text.size() && text[i] == c; }

// Follows members of an object, one behind the other.
class MemberWalk {
 public:
  MemberWalk(std::string_view text, std::size_t from) : text_(text), at_(from) {}

  // Whether they reach the list of events, or the end of the text behind a bracket that closes the object.
  bool reaches_end(HeaderRest& rest) {
    while (is_at(text_, at_, '"')) {
      const ShapeCheck key = check_shape(text_.substr(at_), kAnyDepth);
      if (key.shape != Shape::kWhole) return false;
      const std::string_view token = text_.substr(at_, key.end);
      at_ = skip_json_space(text_, at_ + key.end);
      if (!is_at(text_, at_, ':')) return false;
      at_ = skip_json_space(text_, at_ + 1);
      if (token == kQuotedEventsKey && is_at(text_, at_, '[')) {
        rest.events = at_ + 1;
        return true;
      }
      if (!take_value(token, rest)) return false;
      if (is_at(text_, at_, '}')) return skip_json_space(text_, at_ + 1) == text_.size();
      if (!is_at(text_, at_, ',')) return false;
      at_ = skip_json_space(text_, at_ + 1);
    }
    return false;
  }

  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  bool take_value(std::string_view key, HeaderRest& rest) {
    const ShapeCheck value = check_shape(text_.substr(at_), kAnyDepth);
    if (value.shape == Shape::kWhole) {
      rest.members.push_back({storable_text(raw_string(key)).text, std::string(text_.substr(at_, value.end)),
                              static_cast<std::int64_t>(at_)});
    }
    at_ = skip_json_space(text_, at_ + value.end);
    return value.shape == Shape::kWhole;
  }

  std::string_view text_;
  std::size_t at_;
};

// Where the last list under the key of events begins, whatever stands before it.
std::size_t last_list_of_events(std::string_view text) {
  for (std::size_t at = text.rfind(kQuotedEventsKey); at != std::string_view::npos;
       at = at == 0 ? at - 1 : text.rfind(kQuotedEventsKey, at - 1)) {
    const std::size_t colon = skip_json_space(text, at + kQuotedEventsKey.size());
    const std::size_t list = skip_json_space(text, colon + 1);
    if (is_at(text, colon, ':') && is_at(text, list, '[')) return list + 1;
  }
  return std::string_view::npos;
}

}  // namespace

HeaderRest rest_of_header(std::string_view text) {
  // Each comma may cost a walk to the end of the text, and text made for it has a million of them.
  std::size_t bytes = std::size_t{64} << 20U;
  for (std::size_t at = text.find_first_of(",{"); at != std::string_view::npos; at = text.find_first_of(",{", at + 1)) {
    HeaderRest rest;
    const std::size_t begin = skip_json_space(text, at + 1);
    MemberWalk walk(text, begin);
    if (walk.reaches_end(rest)) return rest;
    const std::size_t walked = walk.at() - std::min(begin, walk.at());
    if (walked > bytes) break;
    bytes -= walked;
  }
  HeaderRest rest;
  rest.events = last_list_of_events(text);
  return rest;
}

}  // namespace tracedb
