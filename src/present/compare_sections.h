// A comparison as the tables that `compare` prints, one for each section.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "report/sql_report.h"

namespace tracedb {

// What a section is made from: one candidate against the baseline.
struct SectionInput {
  const Comparison& comparison;
  const ComparedTrace& baseline;
  const ComparedTrace& candidate;
  const KernelNameTable& kernel_names;
  const LaunchConfigTable& configs;
  LedgerBy ledger_by = LedgerBy::kOp;
  bool human_readable = true;  // texts for reading: marks beside verdicts, short names
};

struct Section {
  std::string_view name;     // --section
  std::string_view summary;  // for the help
  Report (*make)(const SectionInput& input);
  bool joins = false;  // rows of several candidates can stand beside each other (compare_join.h)
  bool always = true;  // printed unless others are asked for
};

std::span<const Section> compare_sections();

}  // namespace tracedb
