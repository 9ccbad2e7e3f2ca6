// Text from a trace in an HTML document: nothing of it is a tag, a script, or obeyed by who reads it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/json_text.h"

namespace tracedb {

// At most 300 places, the middle left out; control characters and those that reorder text as escape_text() has them.
std::string inert_name(std::string_view text);

// What stands in HTML for the characters that it obeys.
using HtmlEntity = std::pair<char, std::string_view>;
inline constexpr HtmlEntity kHtmlEntities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

// Of any length, for the content of an element or an attribute in double quotes.
std::string html_text(std::string_view text);

// A JSON string in its quotes, of a readable name, that may stand in an element script.
std::string data_string(std::string_view text);

// The data of a page: JSON that may stand in an element script, of inert and readable texts.
struct DataWriter : JsonWriter {
  DataWriter() : JsonWriter(data_string) {}
};

// Names that occur often, each once: an index stands for each. Beyond 80 KB of names, those that come later are
// "[others]".
class NameList {
 public:
  std::int64_t index_of(const std::string& name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int64_t> index_;
  std::size_t bytes_ = 0;
};

}  // namespace tracedb
