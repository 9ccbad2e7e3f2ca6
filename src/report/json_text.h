// Builds JSON text for reports.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/sentence.h"
#include "report/table.h"

namespace tracedb {

std::string json_string(std::string_view text);
std::string json_list(std::span<const std::string> texts);
std::string json_object(const Figures& figures);

// JSON for programs, without blanks: a value, or members of an object without its braces. Commas and quotes are its own
// business; that what is opened is closed is the caller's. `quote` makes a text a JSON string.
class JsonWriter {
 public:
  JsonWriter() = default;
  explicit JsonWriter(std::string (*quote)(std::string_view)) : quote_(quote) {}

  JsonWriter& open(char bracket);   // { or [
  JsonWriter& close(char bracket);  // } or ]
  JsonWriter& key(std::string_view name);
  JsonWriter& json(std::string_view value);  // as it is

  JsonWriter& value(std::string_view text);
  JsonWriter& value(double real);  // null where it is no number
  JsonWriter& value(std::monostate) { return json("null"); }
  JsonWriter& value(std::integral auto number) { return json(std::to_string(number)); }
  template <class T>
  JsonWriter& value(const std::optional<T>& known) {
    return known ? value(*known) : value(std::monostate());
  }
  template <class T>
  JsonWriter& value(const std::vector<T>& list) {
    open('[');
    for (const T& one : list) value(one);
    return close(']');
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& of) {
    return key(name).value(of);
  }
  template <class... T>
  JsonWriter& row(const T&... cells) {
    open('[');
    (value(cells), ...);
    return close(']');
  }

  [[nodiscard]] const std::string& str() const { return out_; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void separate();
  std::string (*quote_)(std::string_view) = json_string;
  std::string out_;
  bool first_ = true;  // of what was opened last
};

// Objects of rows, with the keys of their columns. Unknown and not-a-number: null.
class JsonObjects {
 public:
  JsonObjects() = default;
  explicit JsonObjects(std::span<const Column> columns);
  void append(std::string& out, std::span<const Cell> cells) const;

 private:
  std::vector<std::string> keys_;  // with what stands before and behind them
  std::vector<bool> is_json_;
};

}  // namespace tracedb
