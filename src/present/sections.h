// A comparison as the tables that `compare` prints, one for each section.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "compare/reasons.h"
#include "compare/table_changes.h"
#include "present/cells.h"

namespace tracedb {

struct GateResult;

// The input of a section: one candidate against the baseline.
struct SectionInput {
  const Comparison& comparison;
  const ComparedTrace& baseline;
  const ComparedTrace& candidate;
  const Index& baseline_index;
  const Index& candidate_index;
  const KernelNameTable& kernel_names;
  const LaunchConfigTable& configs;
  LedgerBy ledger_by = LedgerBy::kOp;
  bool human_readable = true;  // texts for reading: marks beside verdicts, short names
  const GateResult* gate = nullptr;
  const std::vector<MemoryChange>* memory = nullptr;  // null: not asked for
  const std::vector<ShapeChange>* shapes = nullptr;
  const std::vector<TraceFinding>* baseline_findings = nullptr;
  const std::vector<TraceFinding>* candidate_findings = nullptr;  // both or none
  [[nodiscard]] ReasonSources sources() const {
    return {baseline, candidate, kernel_names, baseline_index, candidate_index};
  }
};

// Work of a group on both sides, for lines about it.
struct BothSums {
  WorkSum baseline, candidate;
};

struct SumsLine {
  const SectionInput& in;
  const GroupComparison& group;
  BothSums sums;

  [[nodiscard]] double baseline() const { return group.baseline_per_unit(sums.baseline.time); }
  [[nodiscard]] double candidate() const { return group.candidate_per_unit(sums.candidate.time); }
  [[nodiscard]] double change() const { return candidate() - baseline(); }
  [[nodiscard]] Cell baseline_n() const {
    return count_cell(static_cast<double>(sums.baseline.n), group.baseline_units, in.human_readable);
  }
  [[nodiscard]] Cell candidate_n() const {
    return count_cell(static_cast<double>(sums.candidate.n), group.candidate_units, in.human_readable);
  }
  [[nodiscard]] Cell ratio() const { return ratio_cell(baseline(), candidate()); }
};

// Cells of such lines, with more.
template <class Line>
Cells<Line> cells_of_sums(Cells<Line> more) {
  more.merge(Cells<Line>{{"phase", [](const Line& line) { return line.group.group.label; }},
                         {"baseline", &Line::baseline},
                         {"candidate", &Line::candidate},
                         {"change", &Line::change},
                         {"baseline_n", &Line::baseline_n},
                         {"candidate_n", &Line::candidate_n},
                         {"ratio", &Line::ratio}});
  return more;
}

inline constexpr int kCompareVersion = 2;  // of the shape of its JSON

struct Section {
  std::string_view name;     // --section
  std::string_view summary;  // for the help
  TableOf<SectionInput> table;
  // Rows of several candidates: a table each, side by side (join_candidates()), or one below the other, by a column
  // `trace`.
  enum class Candidates { kApart, kJoined, kStacked } candidates = Candidates::kApart;
  bool of_page = false;  // also printed as data where no section is named, and people get a page
  bool member = false;   // in JSON a member of the document, and not in the list of sections
};

std::span<const Section> compare_sections();

// Of sections in files of their own. `kSentenceTable`: what the page says.
extern const TableOf<SectionInput> kVerdictTable, kReasonTable, kSentenceTable, kRolesTable, kKernelsTable,
    kAlignmentTable, kFusionTable;

// The short name of a kernel for people, the whole one for machines.
const std::string& kernel_text(NameId name, const SectionInput& input);

}  // namespace tracedb
