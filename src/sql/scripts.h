// The SQL and the rules of schema/, compiled in. A script's name is its path there without ".sql" or ".rules": "core",
// "reports/kernels", "rules/norm".
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tracedb {

struct Script {
  std::string_view name;
  std::string_view text;
};

std::span<const Script> scripts();               // sorted by name
std::string_view script(std::string_view name);  // throws std::out_of_range for an unknown name: our own bug

// Of a script that is a table: its lines but for empty ones and comments (#).
std::vector<std::string_view> data_lines(std::string_view text);

}  // namespace tracedb
