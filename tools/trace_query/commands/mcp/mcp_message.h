// Messages of JSON-RPC, one a line, as the Model Context Protocol sends them over pipes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/python/json.h"

namespace tracedb {

inline constexpr int kParseError = -32700, kInvalidRequest = -32600;
inline constexpr std::size_t kLongestMessage = std::size_t{1} << 20U;  // bytes

// A text or a whole number as JSON; all else is "null", as an id that cannot be answered to is.
std::string json_id(const python::Value* id);

struct McpMessage {
  std::string id;      // JSON; "" of a notification, which is not answered
  std::string method;  // "": nothing that is to be answered, but for an error
  python::Value params = python::dict({});
  int error = 0;  // of JSON-RPC
  std::string_view complaint = {};
};

// One line, without its end.
McpMessage read_message(std::string_view line);

// Cuts a stream into lines. What is longer than a message may be is dropped while it comes.
class MessageLines {
 public:
  void put(std::string_view bytes) { waiting_ += bytes; }
  // The next line that is whole, as a message; nullopt: more bytes are needed. Empty lines say nothing.
  std::optional<McpMessage> next();

 private:
  std::string waiting_;
  bool is_too_long_ = false;
};

}  // namespace tracedb
