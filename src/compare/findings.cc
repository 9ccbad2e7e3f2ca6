#include "compare/findings.h"

#include "passes/tables/pass_tables.h"

namespace tracedb {

std::vector<TraceFinding> findings_of(Database& database, bool beside_ledger) {
  std::vector<TraceFinding> out;
  Statement rows(database, report_script("findings"));
  if (beside_ledger) rows.bind(1, std::int64_t{1});
  while (rows.step()) {
    out.push_back({std::string(rows.text(0)), rows.real(1), rows.int64(3) != 0, std::string(rows.text(4))});
  }
  return out;
}

}  // namespace tracedb
