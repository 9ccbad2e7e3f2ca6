// SQL functions of our own, for reports and ad-hoc SQL.
//
//   median(x)                      mean of the middle one or two; NULL over nothing
//   percentile(x, p)               nearest rank, p in percent (0..100)
//   stddev(x)                      of the sample (n - 1); 0 for one value
//   bounded_sum(n)                 of integers, exact up to 2^63 - 1 and that beyond, where sum() would fail
//   text REGEXP pattern            an expression of RE2, case-sensitive, found anywhere
//   (base/text/regular_expression.h) human_ns(ns)                   '1.234 ms'
//
// NULLs and text do not count as values. Views never use them: those must work in any client.
#pragma once

#include "sql/database.h"

namespace tracedb {

void register_functions(Database& database);

}  // namespace tracedb
