// The indexes and traces that `ls` and `trend` are about.
#pragma once

#include <string>
#include <vector>

#include "fleet/catalogue.h"
#include "trace_query/options.h"

namespace tracedb {

// Each index once, in the order of the arguments, within a folder of the paths; traces without one are not ingested.
std::vector<CatalogueEntry> read_catalogue(const CommandLine& line);

// Keeps the entries for which an SQL expression over the columns of a row is true.
void keep_where(std::vector<CatalogueEntry>& entries, const std::string& expression);

// Prints what cannot be read; what the program then exits with.
int report_unusable(const std::vector<CatalogueEntry>& entries);

Command trend_command();

}  // namespace tracedb
