// The page of two traces that are compared: what `compare` says, its pictures and its sections. Pure.
#pragma once

#include <span>
#include <string>

#include "present/sections.h"
#include "present/set_sections.h"
#include "report_page/report_page.h"

namespace tracedb {

struct ComparisonPageInput {
  const SectionInput& in;
  std::string baseline, candidate;         // as the command line has them
  std::span<const Section* const> tables;  // those that are shown
};

ReportPage comparison_page(const ComparisonPageInput& input);

// The page of two sets of runs: what `compare` says, the runs as dots, the ledger as a waterfall with intervals,
// tables. Pure.

ReportPage sets_report_page(const SetsAnswer& answer, std::span<const SetSection* const> tables);

}  // namespace tracedb
