#include <utility>

#include "base/failure.h"
#include "report/json_text.h"
#include "trace_query/commands/mcp/mcp_parts.h"

namespace tracedb {
namespace {

McpMessage refused(std::string id, int error, std::string_view complaint) {
  return {.id = std::move(id), .method = {}, .error = error, .complaint = complaint};
}

}  // namespace

std::string json_id(const python::Value* id) {
  if (id == nullptr) return "null";
  return id->kind == python::Kind::kText ? json_string(id->text) : id->kind == python::Kind::kInt ? id->text : "null";
}

McpMessage read_message(std::string_view line) {
  python::Value message;
  if (catch_error([&] { message = python::read_json(std::string(line), "message"); }))
    return refused("null", kParseError, "not JSON: one message a line");
  const python::Value* const id = message.find("id");
  const python::Value* const method = message.find("method");
  if (message.kind != python::Kind::kDict || (method != nullptr && method->kind != python::Kind::kText))
    return refused("null", kInvalidRequest, "not a request: an object with a method");
  if (method == nullptr) {
    const bool is_response = message.find("result") != nullptr || message.find("error") != nullptr;
    return is_response ? McpMessage() : refused(json_id(id), kInvalidRequest, "a request has a method");
  }
  McpMessage out{.id = id == nullptr ? "" : json_id(id), .method = method->text};
  if (out.method.empty()) return refused(std::move(out.id), kInvalidRequest, "a request has a method");
  if (out.id == "null") return refused("null", kInvalidRequest, "an id is a text or an integer");
  if (const python::Value* const params = message.find("params");
      params != nullptr && params->kind == python::Kind::kDict)
    out.params = *params;
  return out;
}

std::optional<McpMessage> MessageLines::next() {
  while (true) {
    const std::size_t end = waiting_.find('\n');
    if (end == std::string::npos) {
      if (waiting_.size() > kLongestMessage) {
        waiting_.clear();
        is_too_long_ = true;
      }
      return std::nullopt;
    }
    const std::string line = waiting_.substr(0, end);
    waiting_.erase(0, end + 1);
    const bool is_too_long = std::exchange(is_too_long_, false) || line.size() > kLongestMessage;
    if (is_too_long) return refused("null", kInvalidRequest, "a message has at most 1 MB");
    if (!line.empty() && line != "\r") return read_message(line);
  }
}

}  // namespace tracedb
