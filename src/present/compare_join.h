// Several candidates against one baseline in one table: a row for each thing, a group of columns for each candidate.
#pragma once

#include <span>

#include "report/sql_report.h"

namespace tracedb {

// Reports of the same section, one for each candidate. Columns of the baseline appear once, those
// of candidate i as "<key>_<i>" and "<head> <i>", counted from 1. Rows that say the same in their columns of text about
// what they are (phase, layer, item, op, name ...) are one row.
Report join_candidates(std::span<const Report> reports);

}  // namespace tracedb
