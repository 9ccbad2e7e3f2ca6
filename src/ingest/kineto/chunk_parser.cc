#include "ingest/kineto/chunk_parser.h"

#include <simdjson.h>

#include <algorithm>
#include <new>
#include <string>

#include "ingest/kineto/event_shapes.h"
#include "ingest/read/json_shape.h"

namespace tracedb {
namespace {

namespace ondemand = simdjson::ondemand;

// Memory that is short is no damage of the trace: what could be read must not be counted as broken.
void require_memory(simdjson::error_code error) {
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
}

simdjson::error_code container_text(ondemand::value& value, std::string_view& out) {
  if (out.starts_with('[')) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return array.raw_json().get(out);
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return object.raw_json().get(out);
}

// The parser's text of a token extends to the next token: only here is the white space after it cut off.
void trim_end(std::string_view& token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
}

simdjson::error_code container_token(ondemand::value& value, std::string_view& out) {
  if (const auto error = container_text(value, out)) return error;
  trim_end(out);
  return has_sound_brackets(out) ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

// Raw text of a value: scalars to the end of their token, containers whole.
simdjson::error_code raw_token(ondemand::value& value, std::string_view& out) {
  out = value.raw_json_token();
  if (out.starts_with('[') || out.starts_with('{')) return container_token(value, out);
  trim_end(out);
  return simdjson::SUCCESS;
}

// `key`: behind its opening quote.
EventField field_of(const char* key, EventField (*look_up)(std::string_view)) {
  const char* end = key;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  const std::string_view text(key, static_cast<std::size_t>(end - key));
  return text.find('\\') == std::string_view::npos ? look_up(text) : look_up(unescape(text).text);
}

// `is_arguments`: of an object that is the "args" of an event.
simdjson::error_code read_members(ondemand::object& object, std::string_view text, bool is_arguments,
                                  EventFields& fields) {
  for (auto member : object) {
    if (const auto error = member.error()) return error;
    // Used in place: copying a field right after it was written stalls on store forwarding, a fifth of all parsing.
    ondemand::field& entry = member.value_unsafe();
    const EventField field = field_of(entry.key().raw(), is_arguments ? &argument_field : &event_field);
    if (field == EventField::kCount) continue;
    std::string_view token;
    if (field == EventField::kArgs) {
      if (fields.has(EventField::kArgs)) fields.clear_arguments();
      // To the end of the text: only counters and --keep-args look at it, and they find the end themselves.
      token = text.substr(static_cast<std::size_t>(entry.value().raw_json_token().data() - text.data()));
      ondemand::object arguments;  // null, a list, ...: as if there were none
      if (entry.value().get_object().get(arguments) == simdjson::SUCCESS) {
        if (const auto error = read_members(arguments, text, true, fields)) return error;
      }
    } else if (const auto error = raw_token(entry.value(), token)) {
      return error;
    }
    fields.set(field, token);
  }
  return simdjson::SUCCESS;
}

// Where the element that `list` starts with ends: at a comma outside of strings and brackets, or with the list.
std::size_t element_end(std::string_view list) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      return i;
    }
  }
  return list.size();
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ','; }

// White space and commas around it cut off.
std::string_view trim_separators(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Where the event or other text at `at` ends: where the next event begins, or what looks like one.
std::size_t piece_end(std::string_view text, std::size_t at, EventFinder& events) {
  constexpr int kMostLists = 3;
  const auto next_event = [&events](std::size_t from) { return events.find(from, from, More::kNo); };
  const ShapeCheck event = text[at] == '{' ? events.check(at, EventSearch::kNone) : ShapeCheck{};
  const EventSearch first = next_event(event.shape == Shape::kWhole && event.has_phase ? event.end : at + 1);
  EventSearch next = first;
  // In lists of objects among the arguments of a broken event others seem to begin: it may be mended as a whole.
  for (int lists = 0; lists < kMostLists && next.end == 0; ++lists) {
    const std::size_t end = std::min(next.at, text.size());
    const std::string mended = repaired_event(trim_separators(text.substr(at, end - at)));
    const ShapeCheck check = check_shape(mended, kAnyDepth);
    if (check.shape == Shape::kWhole && check.end == mended.size()) return end;
    if (check.shape != Shape::kCut || mended.empty() || !next.found()) break;
    next = next_event(next.at + 1);
  }
  return std::min(first.at, text.size());
}

// How many events there may have been in text in which they cannot be separated.
std::size_t phases(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = find_phase(text); at != std::string_view::npos; at = find_phase(text, at + 1)) ++count;
  return count;
}

}  // namespace

struct ChunkParser::Json {
  ondemand::parser parser;
  EventShapes shapes;
  EventFields fields;
  std::string scratch;
};

ChunkParser::ChunkParser(unsigned worker, const EventOptions& options)
    : json_(std::make_unique<Json>()), events_(worker, options) {}
ChunkParser::~ChunkParser() = default;

void ChunkParser::prepare() { static_cast<void>(simdjson::get_active_implementation()->name()); }

void ChunkParser::parse(const Chunk& chunk, EventBatch& batch) {
  batch.clear();
  events_.begin(batch);
  if (chunk.damaged) return salvage(chunk.elements(), chunk.offset, batch);
  std::string_view rest = chunk.elements();
  if (trim_json_space(rest).empty()) return;
  for (std::uint64_t offset = chunk.offset;;) {
    const std::size_t length = parse_element(rest, offset, batch);
    if (length == rest.size()) return;
    rest.remove_prefix(length + 1);
    offset += length + 1;
  }
}

// Of the element that `list` starts with; returns where it ends.
std::size_t ChunkParser::parse_element(std::string_view list, std::uint64_t offset, EventBatch& batch) {
  const std::size_t start = skip_json_space(list, 0);
  if (const std::size_t length = json_->shapes.match(list.substr(start), json_->fields)) {
    const std::size_t end = skip_json_space(list, start + length);
    if (end == list.size() || list[end] == ',') {
      events_.add(json_->fields, static_cast<std::int64_t>(offset + start), batch);
      return end;
    }
  }
  const std::size_t end = element_end(list);
  const std::string_view element = trim_json_space(list.substr(0, end));
  if (element.empty()) {
    batch.issues.add(IssueKind::kStrayComma, static_cast<std::int64_t>(offset), {});
  } else if (!take_element(element, offset + start, batch)) {
    salvage(element, offset + start, batch);
  }
  return end;
}

// `text` starts at position `offset` in the trace and holds events, whole or damaged, and text that is neither.
void ChunkParser::salvage(std::string_view text, std::uint64_t offset, EventBatch& batch) {
  EventFinder events(text);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = piece_end(text, at, events);
    const std::string_view piece = text.substr(at, end - at);
    const std::string_view trimmed = trim_separators(piece);
    const std::uint64_t position = offset + static_cast<std::uint64_t>(trimmed.data() - text.data());
    if (!trimmed.empty()) salvage_piece(trimmed, position, batch);
    const std::string_view behind = trim_json_space(piece);
    if (end < text.size() && !behind.empty() && behind.back() == '}') {
      batch.issues.add(IssueKind::kMissingComma, static_cast<std::int64_t>(offset + end), piece.substr(0, 0));
    }
    at = end;
  }
}

// `text` holds at most one event, or the rest of several that cannot be separated.
void ChunkParser::salvage_piece(std::string_view text, std::uint64_t offset, EventBatch& batch) {
  const auto position = static_cast<std::int64_t>(offset);
  const ShapeCheck check = check_shape(text, kAnyDepth);
  if (text.starts_with('{') && check.shape == Shape::kWhole && take_element(text.substr(0, check.end), offset, batch)) {
    const std::string_view rest = trim_separators(text.substr(check.end));
    const auto behind = static_cast<std::int64_t>(offset + static_cast<std::uint64_t>(rest.data() - text.data()));
    if (!rest.empty()) batch.issues.add(IssueKind::kStrayText, behind, rest);
    return;
  }
  const std::string mended = repaired_event(text);
  if (is_value(mended) && try_element(mended, offset, batch)) {
    batch.issues.add(IssueKind::kRepairedText, position, text);
    return;
  }
  const std::size_t events = std::max(phases(text), std::size_t{text.starts_with('{') ? 1U : 0U});
  batch.issues.add(IssueKind::kMalformedEvent, position, text, events);
  for (std::size_t i = 0; i < events; ++i) events_.skip(SkipReason::kMalformed, batch);
  if (events == 0) batch.issues.add(IssueKind::kStrayText, position, text);
}

// As it is, or repaired.
bool ChunkParser::take_element(std::string_view element, std::uint64_t offset, EventBatch& batch) {
  if (try_element(element, offset, batch)) return true;
  const std::string mended = repaired_event(element);
  if (mended == element || !try_element(mended, offset, batch)) return false;
  batch.issues.add(IssueKind::kRepairedText, static_cast<std::int64_t>(offset), element);
  return true;
}

// All or nothing: a broken element must not leave half its facts behind, so it is walked once before it is added.
bool ChunkParser::try_element(std::string_view element, std::uint64_t offset, EventBatch& batch) {
  std::string& scratch = json_->scratch;
  scratch.assign("[").append(element).append("]");
  const std::size_t size = scratch.size();
  scratch.append(Chunk::kPadding, ' ');
  ondemand::document document;
  ondemand::array elements;
  ondemand::value value;
  const auto error =
      json_->parser.iterate(simdjson::padded_string_view(scratch.data(), size, scratch.size())).get(document);
  require_memory(error);
  if (error != simdjson::SUCCESS) return false;
  if (document.get_array().get(elements) != simdjson::SUCCESS) return false;
  bool is_object = false;
  std::size_t members = 0;
  for (auto member : elements) {
    if (++members > 1 || member.get(value) != simdjson::SUCCESS) return false;
    ondemand::object object;
    is_object = value.get_object().get(object) == simdjson::SUCCESS;
    if (!is_object) {
      if (element.front() == '{' || is_list_of_events(element)) return false;
      continue;
    }
    json_->fields.clear();
    if (read_members(object, {scratch.data(), size}, false, json_->fields) != simdjson::SUCCESS) return false;
  }
  if (members != 1) return false;
  const auto position = static_cast<std::int64_t>(offset);
  if (is_object) {
    json_->shapes.learn({scratch.data() + 1, size - 1}, json_->fields);
    events_.add(json_->fields, position, batch);
  } else {
    batch.issues.add(IssueKind::kNotAnObject, position, element);
    events_.skip(SkipReason::kNotAnObject, batch);
  }
  return true;
}

}  // namespace tracedb
