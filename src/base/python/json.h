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

// `name` is for messages. Throws Error{kInput}: no JSON by RFC 8259, where; so NaN and integers beyond 64 bits, which
// Python takes, are none.
Value read_json(std::string text, std::string_view name);
Value read_json_file(const std::string& path);

// Calls visit(event) for each element of `events`, the list in the file `path`. Throws Error{kInput}: it is no list, or
// an element is no dict; what visit() throws gets the file and the element's number, from 1.
void for_each_event(const Value& events, std::string_view path, const std::function<void(const Value&)>& visit);

enum class NonAscii : std::uint8_t { kEscaped, kRaw };  // ensure_ascii

// json.dumps(value, indent=2)
std::string to_json(const Value& value, NonAscii non_ascii);

}  // namespace tracedb::python
