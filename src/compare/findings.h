// What stands out in where a trace spends its time: the report `findings` (schema/reports/findings.sql) for those that
// say it in words beside something else.
#pragma once

#include <string>
#include <vector>

#include "sql/database.h"

namespace tracedb {

struct TraceFinding {
  std::string name;  // "data_loader"; schema/reports/findings.sql has them
  double share_pct = 0;
  bool stands_out = false;
  std::string text;  // "input bound: 22.9 % of the step waits for the data loader"
};

// What stands out first. The database has the pass tables of a workload (passes/tables/pass_tables.h).
// `beside_ledger`: without what a ledger of steps says, too.
std::vector<TraceFinding> findings_of(Database& database, bool beside_ledger = false);

}  // namespace tracedb
