// JSON as Python's json.dump(value, file, indent=2) writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/python/value.h"

namespace tracedb::python {

enum class NonAscii : std::uint8_t { kEscaped, kRaw };  // ensure_ascii

class JsonWriter {
 public:
  explicit JsonWriter(NonAscii non_ascii) : non_ascii_(non_ascii) {}

  void begin_dict() { open('{'); }
  void end_dict() { close('}'); }
  void begin_list() { open('['); }
  void end_list() { close(']'); }
  void key(std::string_view name);

  void text(std::string_view value);
  void integer(std::int64_t value) { literal(std::to_string(value)); }
  void real(double value);
  void none() { literal("null"); }
  void literal(std::string_view token);  // a JSON value as it is to appear
  void scalar(const Value& value);       // no list and no dict

  [[nodiscard]] const std::string& result() const { return out_; }

 private:
  void open(char bracket);
  void close(char bracket);
  void begin_value();
  void new_line();

  NonAscii non_ascii_;
  std::string out_;
  std::vector<bool> empty_;  // of the open lists and dicts, outermost first
  bool behind_key_ = false;
};

}  // namespace tracedb::python
