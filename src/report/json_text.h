// Builds JSON text for reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/sentence.h"
#include "report/table.h"

namespace tracedb {

std::string json_string(std::string_view text);
std::string json_list(std::span<const std::string> texts);
std::string json_object(const Figures& figures);

// The key of a column whose texts are JSON, and stand in JSON as they are.
inline constexpr std::string_view kJsonKey = "figures";

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
