// Members of a JSON object as the index stores it in event_argument.args: found without parsing the others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracedb {

// Calls member(key, value) for each member of the outermost object; both as they stand in the text, a key without its
// quotes. Stops at what is not well formed.
template <class Member>
void for_each_member(std::string_view object, Member member);

// The text of a string, or of any other value as it stands; "" for null.
std::string text_of_json(std::string_view value);

// Behind the value at `at`; npos: it does not end.
std::size_t end_of_json_value(std::string_view text, std::size_t at);

template <class Member>
void for_each_member(std::string_view object, Member member) {
  const auto skip = [&](std::size_t at) { return object.find_first_not_of(" \t\r\n", at); };
  std::size_t at = skip(0);
  if (at == std::string_view::npos || object[at] != '{') return;
  do {
    at = skip(at + 1);
    if (at == std::string_view::npos || object[at] != '"') return;
    const std::size_t key_end = end_of_json_value(object, at);
    const std::size_t colon = key_end == std::string_view::npos ? key_end : skip(key_end);
    if (colon == std::string_view::npos || object[colon] != ':') return;
    const std::size_t value = skip(colon + 1);
    const std::size_t end = value == std::string_view::npos ? value : end_of_json_value(object, value);
    if (end == std::string_view::npos) return;
    member(object.substr(at + 1, key_end - at - 2), object.substr(value, end - value));
    at = skip(end);
  } while (at != std::string_view::npos && object[at] == ',');
}

}  // namespace tracedb
