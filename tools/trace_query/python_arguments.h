// The command lines of the Python programs that --compat reproduces: options as argparse takes them, and their
// failures.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct PythonOption {
  enum class Type { kText, kInt };
  std::string name;  // "--warmup"
  Type type = Type::kText;
  std::optional<std::string> fallback = {};  // without one it must be given
};

// Values by option name; of kInt in decimal as Python prints them. Abbreviations, "--name=value" and negative numbers
// are as in argparse. Throws Error{kUsage} whose message is the last line the program prints: "PROGRAM: error: ...".
std::map<std::string, std::string> parse_python_arguments(std::string_view program,
                                                          std::span<const PythonOption> options,
                                                          std::span<const std::string> args);

// What `--compat NAME` or `--compat=NAME` names among the arguments, and the other arguments. nullopt: not given.
struct CompatArguments {
  std::string name;
  std::vector<std::string> rest;
};
std::optional<CompatArguments> compat_arguments(std::span<const std::string> args);

// Runs the program. Where it fails, its last line goes to standard error as it is. Returns the exit code.
int run_python_program(const std::function<void()>& program);

}  // namespace tracedb
