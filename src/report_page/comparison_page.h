// The page of two traces that are compared: what `compare` says, its pictures and its sections. Pure.
#pragma once

#include <span>
#include <string>

#include "present/sections.h"
#include "report_page/report_page.h"

namespace tracedb {

struct ComparisonPageInput {
  const SectionInput& in;
  std::string baseline, candidate;         // as the command line has them
  std::span<const Section* const> tables;  // those that are shown
};

ReportPage comparison_page(const ComparisonPageInput& input);

}  // namespace tracedb
