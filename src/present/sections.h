// A comparison as the tables that `compare` prints, one for each section.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "report/sql_report.h"

namespace tracedb {

// The input of a section: one candidate against the baseline.
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
  std::vector<Column> (*columns)();
  Report (*make)(const SectionInput& input);
  bool joins = false;  // rows of several candidates can stand side by side (join.h)
  bool always = true;  // printed unless sections are named
};

std::span<const Section> compare_sections();

// Sections in files of their own.
std::vector<Column> summary_columns();
Report summary_section(const SectionInput& input);
std::vector<Column> alignment_columns();
Report alignment_section(const SectionInput& input);
std::vector<Column> fusion_columns();
Report fusion_section(const SectionInput& input);

// The short name of a kernel for people, the whole one for machines.
const std::string& kernel_text(NameId name, const SectionInput& input);

}  // namespace tracedb
