// The sections `operators`, `roofline` and `memory`: what the host asked for, how well the devices did it, and what was
// allocated.
#include <algorithm>
#include <cmath>

#include "compare/host_changes.h"
#include "present/cells.h"
#include "present/sections.h"

namespace tracedb {
namespace {

struct OperatorChangeLine {
  const SectionInput& in;
  const OperatorChange& change;
  double baseline_units, candidate_units;

  [[nodiscard]] Cell baseline(std::int64_t OperatorSums::*figure) const {
    return time_cell(static_cast<double>(change.baseline.*figure) / baseline_units);
  }
  [[nodiscard]] Cell candidate(std::int64_t OperatorSums::*figure) const {
    return time_cell(static_cast<double>(change.candidate.*figure) / candidate_units);
  }
};

const Fields<OperatorChangeLine> kOperatorChangeFields = DeclaredFields<OperatorChangeLine>{
    "compare_operators",
    {
        {"status", [](const auto& line) { return std::string(to_string(line.change.status)); }},
        {"baseline_calls",
         [](const auto& line) {
           return count_cell(static_cast<double>(line.change.baseline.calls), std::llround(line.baseline_units),
                             line.in.human_readable);
         }},
        {"candidate_calls",
         [](const auto& line) {
           return count_cell(static_cast<double>(line.change.candidate.calls), std::llround(line.candidate_units),
                             line.in.human_readable);
         }},
        {"baseline_device", [](const auto& line) { return line.baseline(&OperatorSums::device); }},
        {"candidate_device", [](const auto& line) { return line.candidate(&OperatorSums::device); }},
        {"device_change", [](const auto& line) { return time_cell(line.change.device_change); }},
        {"baseline_host", [](const auto& line) { return line.baseline(&OperatorSums::host); }},
        {"candidate_host", [](const auto& line) { return line.candidate(&OperatorSums::host); }},
        {"host_change", [](const auto& line) { return time_cell(line.change.host_change); }},
        {"under", [](const auto& line) { return text_cell(line.change.under); }},
        {"operator", [](const auto& line) { return line.change.name; }},
    }};

const Fields<MemoryChange> kMemoryFields = DeclaredFields<MemoryChange>{
    "compare_memory",
    {
        {"device", &MemoryChange::device},
        {"baseline", &MemoryChange::baseline},
        {"candidate", &MemoryChange::candidate},
        {"change", [](const auto& line) { return line.candidate - line.baseline; }},
        {"what",
         [](const auto& line) { return line.operator_name.empty() ? std::string("[peak]") : line.operator_name; }},
    }};

Cell roof_share(const ShapeChange::Side& side) { return side.share() ? Cell(100 * *side.share()) : Cell{}; }

const Fields<ShapeChange> kShapeFields = DeclaredFields<ShapeChange>{
    "compare_roofline",
    {
        {"baseline_calls", [](const auto& line) { return line.baseline.calls; }},
        {"candidate_calls", [](const auto& line) { return line.candidate.calls; }},
        {"baseline", [](const auto& line) { return time_cell(line.baseline.busy); }},
        {"candidate", [](const auto& line) { return time_cell(line.candidate.busy); }},
        {"change", [](const auto& line) { return time_cell(line.change()); }},
        {"hardware", [](const auto& line) { return line.hardware() ? time_cell(*line.hardware()) : Cell{}; }},
        {"efficiency",
         [](const auto& line) { return line.hardware() ? time_cell(line.change() - *line.hardware()) : Cell{}; }},
        {"baseline_roof_pct", [](const auto& line) { return roof_share(line.baseline); }},
        {"candidate_roof_pct", [](const auto& line) { return roof_share(line.candidate); }},
        {"shape", &ShapeChange::shape},
        {"types", &ShapeChange::types},
        {"operator", &ShapeChange::operator_name},
    }};

void shape_lines(const SectionInput& in, const AddLine<ShapeChange>& add) {
  if (in.shapes != nullptr) std::ranges::for_each(*in.shapes, add);
}

void operator_lines(const SectionInput& in, const AddLine<OperatorChangeLine>& add) {
  const StepSet &before = in.baseline.steps, &after = in.candidate.steps;
  const bool by_step = !before.steps.empty() && !after.steps.empty();
  const ComparedOperators baseline{in.baseline_index, by_step ? &before : nullptr};
  const ComparedOperators candidate{in.candidate_index, by_step ? &after : nullptr};
  for (const OperatorChange& change : operator_changes(baseline, candidate))
    add({in, change, baseline.units(), candidate.units()});
}

void memory_lines(const SectionInput& in, const AddLine<MemoryChange>& add) {
  if (in.memory != nullptr) std::ranges::for_each(*in.memory, add);
}

}  // namespace

const TableOf<SectionInput> kRooflineTable = kTableOfLines<SectionInput, kShapeFields, shape_lines>;
const TableOf<SectionInput> kOperatorsTable = kTableOfLines<SectionInput, kOperatorChangeFields, operator_lines>;
const TableOf<SectionInput> kMemoryTable = kTableOfLines<SectionInput, kMemoryFields, memory_lines>;

}  // namespace tracedb
