// A comparison as the tables that `compare` prints, one for each section.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/reasons.h"
#include "report/sql_report.h"

namespace tracedb {

struct GateResult;

// The input of a section: one candidate against the baseline.
struct SectionInput {
  const Comparison& comparison;
  const ComparedTrace& baseline;
  const ComparedTrace& candidate;
  const KernelNameTable& kernel_names;
  const LaunchConfigTable& configs;
  LedgerBy ledger_by = LedgerBy::kOp;
  bool human_readable = true;  // texts for reading: marks beside verdicts, short names
  const GateResult* gate = nullptr;
  const HostFrames* baseline_hosts = nullptr;  // of reasons
  const HostFrames* candidate_hosts = nullptr;
  [[nodiscard]] ReasonSources sources() const {
    return {baseline, candidate, kernel_names, baseline_hosts, candidate_hosts};
  }
};

inline constexpr int kCompareVersion = 2;  // of the shape of its JSON

struct Section {
  std::string_view name;     // --section
  std::string_view summary;  // for the help
  std::vector<Column> (*columns)();
  Report (*make)(const SectionInput& input);
  // Rows of several candidates: a table each, side by side (join.h), or one below the other, by a column `trace`.
  enum class Candidates { kApart, kJoined, kStacked } candidates = Candidates::kApart;
  bool of_page = false;  // also printed as data where no section is named, and people get a page
  bool member = false;   // in JSON a member of the document, and not in the list of sections
};

std::span<const Section> compare_sections();

// Sections in files of their own.
std::vector<Column> summary_columns();
Report summary_section(const SectionInput& input);
std::vector<Column> verdict_columns();
Report verdict_section(const SectionInput& input);
std::vector<Column> reason_columns();
Report reason_section(const SectionInput& input);
std::vector<Column> roles_columns();
Report roles_section(const SectionInput& input);
std::vector<Column> kernels_columns();
Report kernels_section(const SectionInput& input);
std::vector<Column> alignment_columns();
Report alignment_section(const SectionInput& input);
std::vector<Column> fusion_columns();
Report fusion_section(const SectionInput& input);

Report sentence_section(const SectionInput& input);  // what the page says

// The short name of a kernel for people, the whole one for machines.
const std::string& kernel_text(NameId name, const SectionInput& input);

}  // namespace tracedb
