// Builds JSON text for reports.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/table.h"

namespace tracedb {

std::string json_string(std::string_view text);
std::string json_value(const Cell& cell);  // unknown and not-a-number: null
std::string json_list(std::span<const std::string> texts);
std::string json_object(std::span<const Column> columns, std::span<const Cell> cells);

}  // namespace tracedb
