#include "ingest/kineto/event_shapes.h"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/text/json_text.h"
#include "ingest/read/json_shape.h"

namespace tracedb {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are looked at in words");

constexpr std::uint64_t each_byte(std::uint64_t value) { return 0x0101010101010101ULL * value; }

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Whether the text is that of the words, which are left behind.
bool same_text(const char* text, std::size_t size, const std::uint64_t*& words) {
  std::uint64_t differences = 0;
  for (; size > sizeof(*words); size -= sizeof(*words), text += sizeof(*words)) differences |= load(text) ^ *words++;
  if (size > 0) differences |= (load(text) ^ *words++) << (64 - 8 * size);
  return differences == 0;
}

// Of the bytes that may end a string or make it no JSON (quote, backslash, controls, what is no ASCII) the place of the
// first; `end` if there is none.
const char* next_special(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    const std::uint64_t bytes = load(at);
    const auto zero_in = [](std::uint64_t word) { return (word - each_byte(1)) & ~word; };
    const std::uint64_t special = (zero_in(bytes ^ each_byte('"')) | zero_in(bytes ^ each_byte('\\')) |
                                   ((bytes - each_byte(' ')) & ~bytes) | bytes) &
                                  each_byte(0x80);
    // Borrows run towards higher bytes: the lowest mark is true.
    if (special == 0) continue;
    return at + std::countr_zero(special) / 8;
  }
  while (at < end && *at >= ' ' && *at != '"' && *at != '\\') ++at;
  return at;
}

// The closing quote of the string that has its opening quote before `at`; null: none, or no JSON.
const char* string_end(const char* at, const char* end) {
  const char* const begin = at;
  bool ascii = true;
  for (at = next_special(at, end); at < end; at = next_special(at, end)) {
    const auto c = static_cast<unsigned char>(*at);
    if (c == '"') {
      const bool sound = ascii || simdjson::validate_utf8(begin, static_cast<std::size_t>(at - begin));
      return sound ? at : nullptr;
    }
    if (c < ' ') return nullptr;
    ascii = ascii && c < 0x80;
    if (c == '\\' && end - at > 1 && (at[1] == '"' || at[1] == '\\')) ++at;
    ++at;
  }
  return nullptr;
}

constexpr bool is_number_part(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

// Behind digits, signs and points (and slashes, which no number has: that is found where it is used).
const char* number_end(const char* at, const char* end) {
  for (; at < end; ++at) {
    const std::uint64_t bytes = load(at);
    const std::uint64_t low = bytes & each_byte(0x7F);
    const std::uint64_t others =
        (bytes | (low + each_byte(0x80 - '9' - 1)) | ~(low + each_byte(0x80 - '-'))) & each_byte(0x80);
    if (others == 0) {
      at += 7;
      continue;
    }
    at += std::countr_zero(others) / 8;
    if (*at != 'e' && *at != 'E' && *at != '+') break;
  }
  return at;
}

// Behind the list or object at `at`; null: none, or no JSON.
const char* container_end(const char* at, const char* end) {
  std::size_t depth = 0;
  for (const char* cursor = at; cursor < end; ++cursor) {
    if (*cursor == '[' || *cursor == '{') {
      ++depth;
    } else if (depth == 0 || (*cursor < ' ' && !is_json_space(*cursor))) {
      return nullptr;
    } else if (*cursor == '"') {
      cursor = string_end(cursor + 1, end);
      if (cursor == nullptr) return nullptr;
    } else if ((*cursor == ']' || *cursor == '}') && --depth == 0) {
      return has_sound_brackets({at, cursor + 1}) ? cursor + 1 : nullptr;
    }
  }
  return nullptr;
}

}  // namespace

bool has_sound_brackets(std::string_view container) {
  const bool numbers = container.find_first_of("\"{}") == std::string_view::npos;  // mostly
  return numbers || is_value(container);
}

std::size_t EventShapes::Shape::match(std::string_view event, EventFields& fields) const {
  const char* at = event.data();
  const char* const end = at + event.size();
  const std::uint64_t* expected = words.data();
  fields.start(present);
  for (const Part& part : parts) {
    if (static_cast<std::size_t>(end - at) < part.size || !same_text(at, part.size, expected)) return 0;
    at += part.size;
    const char* value = at;
    switch (part.value) {
      case Value::kText:
        at = string_end(at, end);
        if (at == nullptr) return 0;
        if (part.field != EventField::kCount) fields.put(part.field, {value - 1, at + 1});
        continue;
      case Value::kNumber:
        at = number_end(at, end);
        if (at == value || at > end) return 0;
        break;
      case Value::kContainer:
        at = container_end(at, end);
        if (at == nullptr) return 0;
        break;
      case Value::kFixed:
        value -= part.fixed;
        break;
      case Value::kArguments:
        fields.put(EventField::kArgs, {at, end});
        continue;
      case Value::kEnd:
        return static_cast<std::size_t>(at - event.data());
    }
    if (part.field != EventField::kCount) fields.put(part.field, {value, at});
  }
  return 0;
}

void EventShapes::Shape::add_part(const char* from, const char* to, Part part) {
  part.size = static_cast<std::size_t>(to - from);
  parts.push_back(part);
  const std::size_t first = words.size();
  words.resize(first + (part.size + 7) / 8);
  std::memcpy(words.data() + first, from, part.size);
}

// `from`: where the text begins that no part has yet. False: there is a key that must be read to be known.
bool EventShapes::Shape::add_members(std::string_view object, const char*& from,
                                     EventField (*field_of)(std::string_view)) {
  const auto add = [&](const char* text_end, const char* behind, Part part) {
    add_part(from, text_end, part);
    from = behind;
  };
  for (const auto& [key, value] : json_members(object)) {
    if (key.find('\\') != std::string_view::npos) return false;
    const EventField field = field_of(key);
    const char* const end = value.data() + value.size();
    const bool is_kind = field == EventField::kPh || field == EventField::kCat;
    if (value.front() == '"' && !is_kind) {
      add(value.data() + 1, end - 1, {.value = Value::kText, .field = field});
    } else if (field == EventField::kArgs && value.front() == '{') {
      add(value.data(), value.data(), {.value = Value::kArguments, .field = field});
      if (!add_members(value, from, &argument_field)) return false;
    } else if (value.front() == '[' || value.front() == '{') {
      add(value.data(), end, {.value = Value::kContainer, .field = field});
    } else if (is_number_part(value.front())) {
      add(value.data(), end, {.value = Value::kNumber, .field = field});
    } else {
      add(end, end, {.value = Value::kFixed, .field = field, .fixed = value.size()});
    }
  }
  return true;
}

std::size_t EventShapes::match(std::string_view text, EventFields& fields) {
  if (shapes_.empty()) return 0;
  const auto found = [this](std::size_t shape, std::size_t length) {
    shapes_[last_].next = shape;
    last_ = shape;
    credit_ = std::min(credit_ + 1, kMostCredit);
    return length;
  };
  const std::size_t guess = shapes_[last_].next;
  if (const std::size_t length = shapes_[guess].match(text, fields)) return found(guess, length);
  if (credit_ < shapes_.size()) return 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const std::size_t length = i == guess ? 0 : shapes_[i].match(text, fields);
    if (length != 0) return found(i, length);
  }
  credit_ -= shapes_.size();
  return 0;
}

void EventShapes::learn(std::string_view text, const EventFields& fields) {
  if (tried_ == kMostTried) return;
  ++tried_;
  const std::size_t length = json_value_length(text);
  Shape shape;
  const char* from = text.data();
  if (length > kLongest || !shape.add_members(text.substr(0, length), from, &event_field)) return;
  const char* const end = text.data() + length;
  shape.add_part(from, end, {});
  shape.present = fields.present();
  EventFields found;
  if (shape.match(text, found) == length && found == fields) shapes_.push_back(std::move(shape));
}

}  // namespace tracedb
