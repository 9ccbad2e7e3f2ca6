// What an agent may ask, and the command line that answers it. Names of indexes in, paths out; no protocol here.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/python/json.h"

namespace tracedb {

// The indexes below some folders, and files given by themselves. Links that lead elsewhere are left out.
class IndexNames {
 public:
  explicit IndexNames(std::vector<std::string> given) : given_(std::move(given)) {}

  void look_again();
  [[nodiscard]] std::span<const std::string> given() const { return given_; }
  // Error{kUsage}: no index, or several, by that name or part of it; says the closest.
  [[nodiscard]] std::string path_of(const std::string& name) const;
  // A folder below one that was given; Error{kUsage}: there is no index in it.
  [[nodiscard]] std::string folder_of(const std::string& name) const;
  // The text with names in the place of paths.
  [[nodiscard]] std::string without_paths(std::string text) const;
  // Changes where an index is built anew, but for one of the same size; not where only the stat of its trace is noted.
  [[nodiscard]] std::string identity(const std::string& path) const;

 private:
  std::vector<std::string> given_;
  std::map<std::string, std::string> paths_;  // by name
};

struct McpQuestion {
  std::vector<std::string> words;  // of the command line
  bool is_table = false;           // compact JSON that pages by itself; else text
  std::string identity;            // what a cursor depends on
};

struct McpTool {
  struct Argument {
    enum class Type { kText, kInteger, kTexts, kObject };
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

std::span<const McpTool> mcp_tools();
// Error{kUsage}: an argument that the tool does not have, or of another type; one that is missing.
void check_arguments(const McpTool& tool, const python::Value& arguments);
std::string tools_json();  // the list, as the protocol has it

}  // namespace tracedb
