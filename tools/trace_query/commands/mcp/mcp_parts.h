// The parts of `mcp`: the protocol, and what it asks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/python/json.h"
#include "trace_query/child/child.h"

namespace tracedb {

// ---- mcp_message.cc: messages of JSON-RPC, one a line, as the Model Context Protocol sends them over pipes

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

// ---- mcp_tools.cc: what an agent may ask, and the command line that answers it. Names of indexes in, paths out

struct McpQuestion {
  std::vector<std::string> words;  // of the command line
  bool is_table = false;           // compact JSON that pages by itself; else text
  std::string identity;            // what a cursor depends on
  bool has_commands = false;       // in its cells
};

struct McpTool {
  struct Argument {
    enum class Type { kText, kInteger, kTexts, kObject, kTextOrTexts };
    std::string_view name, meaning;
    Type type = Type::kText;
    bool is_required = false;
    std::vector<std::string> choices = {};
  };
  std::string_view name, description;
  std::vector<Argument> arguments;
  McpQuestion (*question)(const IndexNames& names, const python::Value& arguments);
};

// A page with names of files in the place of their absolute paths, which words begin with.
std::string with_file_names(const std::string& page);

// A page of sentences with calls of tools in the place of commands; those that no tool answers are left out.
std::string with_calls(const std::string& page, const IndexNames& names, const std::vector<std::string>& question);

// The same of the cells of a table, NULL where no tool answers; no longer than `most` bytes, as the table is.
std::string with_calls_in_cells(std::string table, std::size_t most, const IndexNames& names,
                                const std::vector<std::string>& question);

std::span<const McpTool> mcp_tools();
// Error{kUsage}: an argument that the tool does not have, or of another type; one that is missing.
void check_arguments(const McpTool& tool, const python::Value& arguments);
std::string tools_json();  // the list, as the protocol has it

}  // namespace tracedb
