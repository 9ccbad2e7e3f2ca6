// --device --stream --step --phase --name --from --to as parameters of the report scripts.
#pragma once

#include "query_options.h"
#include "report/sql_report.h"

namespace tracedb {

// Empty when nothing was selected. Error{kUsage} for values that mean nothing.
Parameters selection_parameters(const CommandLine& line);

// "12345", "12345ns", "1.5us", "250ms", "2s" -> ns. Error{kUsage} for anything else.
std::int64_t parse_time(const std::string& text);

}  // namespace tracedb
