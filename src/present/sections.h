// A comparison as the tables that `compare` prints, one for each section.
#pragma once

#include <span>
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

// Work of a group on both sides.
struct BothSums {
  WorkSum baseline, candidate;
};

// What rows about such work have in common.
struct SumsLine {
  const SectionInput& in;
  const GroupComparison& group;
  BothSums sums;

  [[nodiscard]] double baseline() const { return group.baseline_per_unit(sums.baseline.time); }
  [[nodiscard]] double candidate() const { return group.candidate_per_unit(sums.candidate.time); }
  [[nodiscard]] double change() const { return candidate() - baseline(); }
  [[nodiscard]] Cells cells(Cells more) const;
};

inline constexpr int kCompareVersion = 2;  // of the shape of its JSON

using Section = SectionOf<SectionInput>;
std::span<const Section> compare_sections();

// Of sections in files of their own. Sentences: what the page says.
void add_verdicts(const SectionInput& in, Report& table);
void add_reasons(const SectionInput& in, Report& table);
void add_sentences(const SectionInput& in, Report& table);
void add_roles(const SectionInput& in, Report& table);
void add_kernels(const SectionInput& in, Report& table);
void add_pairs(const SectionInput& in, Report& table);
void add_fusions(const SectionInput& in, Report& table);

}  // namespace tracedb
