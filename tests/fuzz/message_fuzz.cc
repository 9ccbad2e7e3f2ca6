// Messages to the server for agents: however their bytes are cut, they are the same messages; each is a notification,
// a request whose id is one text or number of JSON, or an error.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/python/json.h"
#include "fuzz_input.h"
#include "trace_query/commands/mcp/mcp_parts.h"

namespace tracedb {
namespace {

// What each message is: id, method and error; its parameters as text.
std::vector<std::string> messages(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> out;
  MessageLines lines;
  while (!bytes.empty()) {
    lines.put(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const auto message = lines.next()) {
      require(message->error == 0 || message->method.empty(), "an error, or a request");
      if (!message->id.empty()) {
        const python::Kind kind = python::read_json(message->id, "id").kind;
        require(message->error != 0 || kind == python::Kind::kText || kind == python::Kind::kInt, "an id to answer to");
      }
      out.push_back(message->id + " " + message->method + " " + std::to_string(message->error) + " " +
                    python::to_json(message->params, python::NonAscii::kRaw));
    }
  }
  return out;
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::FuzzInput input(data, size);
  const std::size_t piece = input.byte() + std::size_t{1};
  tracedb::require(tracedb::messages(input.rest(), input.rest().size() + 1) == tracedb::messages(input.rest(), piece),
                   "pieces change nothing");
  return 0;
}
