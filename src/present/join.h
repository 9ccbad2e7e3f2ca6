// Joins several candidates against one baseline into one table: a row for each item, columns for each candidate.
#pragma once

#include <span>

#include "report/sql_report.h"

namespace tracedb {

// Reports of the same section, one for each candidate. Columns of the baseline appear once, those
// of candidate i as "<key>_<i>" and "<head> <i>", counted from 1. Rows with the same identity (phase, layer, item, op,
// name ...) are one row.
Report join_candidates(std::span<const Report> reports);

}  // namespace tracedb
