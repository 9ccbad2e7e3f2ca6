// The folders, indexes and traces given to `ls` and `trend`, as entries of a catalogue; and --where over them.
#pragma once

#include <string>
#include <vector>

#include "fleet/catalogue.h"
#include "report/sql_report.h"
#include "trace_query/options.h"

namespace tracedb {

// Each index once, in the order of the arguments, within a folder of the paths; traces without one are not ingested.
// Error{kInput} for an argument that is not there.
std::vector<CatalogueEntry> read_catalogue(const CommandLine& line);

// Keeps the entries for which an SQL expression over the columns of a row is true. Error{kUsage} for wrong SQL.
void keep_where(std::vector<CatalogueEntry>& entries, const std::string& expression);

// Prints what cannot be read; what the program then exits with.
int report_unusable(const std::vector<CatalogueEntry>& entries);

}  // namespace tracedb
