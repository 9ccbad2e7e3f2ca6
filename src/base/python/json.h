// JSON as Python's json module reads and writes it.
//
// For the modes that reproduce Python programs byte for byte. Traces are read by src/ingest, which is far faster.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/python/value.h"

namespace tracedb::python {

using EventVisit = std::function<void(const Value&)>;

// `name` is for messages. With `element`, the elements of a document that is a list go there one by one, and the list
// that is returned stays empty. Throws what element() throws, and Error{kInput}: no JSON by RFC 8259, where; so NaN and
// integers beyond 64 bits, which Python takes, are none.
Value read_json(std::string text, std::string_view name, const EventVisit& element = {});
Value read_json_file(const std::string& path, const EventVisit& element = {});

// visit() for the events of the file `path`, one after the other: its errors get the file and the number of the event,
// from 1. Throws Error{kInput}: an event is no dict.
EventVisit numbered_events(std::string_view path, EventVisit visit);
// Throws Error{kInput}: `events` of the file `path` are no list.
void require_list(const Value& events, std::string_view path);

enum class NonAscii : std::uint8_t { kEscaped, kRaw };  // ensure_ascii

// json.dumps(value, indent=2)
std::string to_json(const Value& value, NonAscii non_ascii);

}  // namespace tracedb::python
