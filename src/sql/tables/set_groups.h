// GROUP BY over all members of a set, by groups of each. A statement on "all_kernels" that groups by columns gets every
// row of every member otherwise, in one thread, and SQLite sorts them: 52 s for 27 million kernels. So each member
// groups its own rows, in its own thread, and the statement puts the groups of the members together: count() is the sum
// of counts, sum() of sums, min() of the least, avg() is the sum of sums by that of counts.
#pragma once

#include <string>
#include <string_view>

#include "sql/tables/set_scan.h"

namespace tracedb {

// The same statement over the groups of the members; "": there is nothing to gain, or it is not known to be the same.
// It must be one that SQLite has accepted. Done for a SELECT of one table of all members, which may be a part of the
// statement in brackets, with GROUP BY columns or
// without, of count(), sum(), min(), max(), avg() and total() of columns (the sums of whole numbers alone) and of the
// columns that it groups by; conditions may be on labels and grouped columns, or on columns without labels.
std::string with_member_groups(const Database& database, std::string_view statement);

}  // namespace tracedb
