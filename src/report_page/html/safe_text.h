// Text from a trace in an HTML document: nothing of it is a tag, a script, or obeyed by who reads it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// At most 300 places, the middle left out; control characters and those that reorder text as escape_text() has them.
std::string inert_name(std::string_view text);

// Of any length, for the content of an element or an attribute in double quotes.
std::string html_text(std::string_view text);

// A JSON string in its quotes, of a readable name, that may stand in an element script.
std::string data_string(std::string_view text);

}  // namespace tracedb
