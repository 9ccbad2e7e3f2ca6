// Text from a trace in an HTML document: nothing of it is a tag, a script, or obeyed by who reads it. Pure.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace tracedb {

// At most 300 places, the middle left out; control characters and those that reorder text as escape_text() has them.
std::string inert_name(std::string_view text);

// Of any length, for the content of an element or an attribute in double quotes.
std::string html_text(std::string_view text);

// A JSON string in its quotes, of a readable name, that may stand in an element script.
std::string data_string(std::string_view text);

// Writes the data of a page: JSON that may stand in an element script. Commas and quotes are its own business; that
// what is opened is closed is the caller's.
class DataWriter {
 public:
  DataWriter& open(char bracket);   // { or [
  DataWriter& close(char bracket);  // } or ]
  DataWriter& key(std::string_view name);
  DataWriter& json(std::string_view value);  // as it is

  DataWriter& value(std::string_view text);  // made inert and readable
  DataWriter& value(double real);            // null where it is no number
  DataWriter& value(std::monostate) { return json("null"); }
  DataWriter& value(std::integral auto number) { return json(std::to_string(number)); }
  template <class T>
  DataWriter& value(const std::optional<T>& known) {
    return known ? value(*known) : value(std::monostate());
  }
  template <class T>
  DataWriter& value(const std::vector<T>& list) {
    open('[');
    for (const T& one : list) value(one);
    return close(']');
  }

  template <class T>
  DataWriter& member(std::string_view name, const T& of) {
    return key(name).value(of);
  }
  template <class... T>
  DataWriter& row(const T&... cells) {
    open('[');
    (value(cells), ...);
    return close(']');
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void separate();
  std::string out_;
  bool first_ = true;  // of what was opened last
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
