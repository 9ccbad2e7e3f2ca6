// Cells as text: decides on digits, separators and time units in one place.
#pragma once

#include <optional>
#include <string>

#include "report/table.h"

namespace tracedb {

std::optional<double> number(const Cell& cell);  // nullopt for text and unknown

// Exact and plain, for machines: integers in full, reals in at most 15 digits, "" for unknown. `per` divides times.
void append_plain_text(std::string& out, const Cell& cell, Unit unit, TimeUnit time_unit);

// For people: thousands separators, "-" for unknown. Times, ratios and rates have three significant digits, and never
// fewer before the point than they need; with `decimals` just so many behind it, as columns that add up must have.
std::string human_text(const Cell& cell, Unit unit, TimeUnit time_unit, std::optional<int> decimals = std::nullopt);

// The head with its unit: "Total Time (ms)".
std::string head_text(const Column& column, TimeUnit time_unit);

// The unit in which the largest of a column's times has one to five digits before the point.
TimeUnit fitting_unit(double largest_ns);

// One value with its unit behind it, for lists of facts: "12.345 ms", "1.50 GB", "83.1 %".
std::string fact_text(const Cell& cell, Unit unit, TimeUnit time_unit);

}  // namespace tracedb
