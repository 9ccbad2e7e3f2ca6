// Cells and rows that the sections of a comparison share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "present/compare_sections.h"
#include "report/cell_text.h"

namespace tracedb {

// A count per unit: an integer where it is one, for people with three decimals at most.
Cell count_cell(double sum, std::int64_t units, bool human_readable);
Cell share_of(double part, double whole);                             // percent; unknown of nothing
std::string marked(const std::string& verdict, double change);        // "▲ worse", for people
std::string verdict_text(const Change& change, bool human_readable);  // "▲ worse", "inconclusive: 3/4 steps"
std::unordered_map<std::string_view, std::string_view> short_names(const KernelNameTable& kernel_names);  // by name
void drop_empty_columns(Report& report, const std::vector<std::string_view>& keys);

// Where no row has a verdict, as with too few steps: leaves out the columns of verdicts and intervals. For people.
void drop_inconclusive_columns(Report& report);

// A sample of steps against another, one measure.
std::vector<Column> change_row_columns();
Row change_row(const std::string& phase, const std::string& measure, const Change& change, bool human_readable);

struct NamedSums {
  NameId name = 0;
  WorkSum baseline, candidate;
};
// In order of the time per unit of both sides, longest first.
std::vector<NamedSums> sums_by_name(const GroupComparison& group, const KernelNameTable& kernel_names);

Row pair_row(const SectionInput& input, const GroupComparison& group, const AlignedSegment& segment,
             const KernelPair& pair, std::int64_t place);
Row fusion_row(const SectionInput& input, const GroupComparison& group, const Fusion& fusion);

}  // namespace tracedb
