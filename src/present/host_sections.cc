// The sections `operators`, `roofline` and `memory`: what the host asked for, how well the devices did it, and what was
// allocated.
#include <algorithm>
#include <cmath>

#include "compare/memory_peaks.h"
#include "compare/operator_changes.h"
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

const Fields<OperatorChangeLine> kOperatorChangeFields = {
    {text_column(
         "status", "Status",
         "new, gone, more or fewer calls (by 1 %), slower or faster (by 3 %, on the device, else on the host), same",
         Fit::kKept),
     [](const auto& line) { return std::string(to_string(line.change.status)); }},
    {sum_column(
         "baseline_calls", "n", Unit::kAny,
         "calls per step of the baseline, those in steps where the host marks them; in all where a trace has none"),
     [](const auto& line) {
       return count_cell(static_cast<double>(line.change.baseline.calls), std::llround(line.baseline_units),
                         line.in.human_readable);
     }},
    {sum_column("candidate_calls", "n'", Unit::kAny, "calls per step of the candidate"),
     [](const auto& line) {
       return count_cell(static_cast<double>(line.change.candidate.calls), std::llround(line.candidate_units),
                         line.in.human_readable);
     }},
    {sum_column("baseline_device", "Device", Unit::kTime,
                "kernels, copies and fills that it launches itself, per step of the baseline"),
     [](const auto& line) { return line.baseline(&OperatorSums::device); }},
    {sum_column("candidate_device", "Device'", Unit::kTime, "the same of the candidate"),
     [](const auto& line) { return line.candidate(&OperatorSums::device); }},
    {sum_column("device_change", "Change", Unit::kTime, "candidate - baseline, on the device", Fit::kKept),
     [](const auto& line) { return time_cell(line.change.device_change); }},
    {sum_column("baseline_host", "Host", Unit::kTime,
                "on the host, without operators inside, per step of the baseline"),
     [](const auto& line) { return line.baseline(&OperatorSums::host); }},
    {sum_column("candidate_host", "Host'", Unit::kTime, "the same of the candidate"),
     [](const auto& line) { return line.candidate(&OperatorSums::host); }},
    {sum_column("host_change", "Host Change", Unit::kTime, "candidate - baseline, on the host"),
     [](const auto& line) { return time_cell(line.change.host_change); }},
    {text_column("under", "Under",
                 "of one that is new or gone: the nearest operator around most of its calls that both traces have",
                 Fit::kNames),
     [](const auto& line) { return text_cell(line.change.under); }},
    {label_column("operator", "Operator", "name of the operator", Fit::kNames),
     [](const auto& line) { return line.change.name; }},
};

const Fields<MemoryChange> kMemoryFields = {
    {text_column("device", "Device", "cuda 0, hip 0, cpu ...; of several, those of a number that both sides have"),
     &MemoryChange::device},
    {figure_column("baseline", "Baseline", Unit::kBytes, "of the baseline", Fit::kKept), &MemoryChange::baseline},
    {figure_column("candidate", "Candidate", Unit::kBytes, "of the candidate", Fit::kKept), &MemoryChange::candidate},
    {figure_column("change", "Change", Unit::kBytes, "candidate - baseline", Fit::kKept),
     [](const auto& line) { return line.candidate - line.baseline; }},
    {label_column("what", "What",
                  "[peak]: most that was allocated at once; an operator: what of that it allocated in the trace; "
                  "[before the trace], [not known], [addresses not recorded]: the rest, as in memory --at",
                  Fit::kNames),
     [](const auto& line) { return line.operator_name.empty() ? std::string("[peak]") : line.operator_name; }},
};

Cell roof_share(const ShapeChange::Side& side) { return side.share() ? Cell(100 * *side.share()) : Cell{}; }

const Fields<ShapeChange> kShapeFields = {
    {sum_column("baseline_calls", "n", Unit::kAny, "calls of the baseline that launch work, in the whole trace"),
     [](const auto& line) { return line.baseline.calls; }},
    {sum_column("candidate_calls", "n'", Unit::kAny, "calls of the candidate"),
     [](const auto& line) { return line.candidate.calls; }},
    {figure_column("baseline", "Call", Unit::kTime, "device time of a call of the baseline: while its work ran"),
     [](const auto& line) { return time_cell(line.baseline.busy); }},
    {figure_column("candidate", "Call'", Unit::kTime, "the same of the candidate"),
     [](const auto& line) { return time_cell(line.candidate.busy); }},
    {figure_column("change", "Change", Unit::kTime, "candidate - baseline", Fit::kKept),
     [](const auto& line) { return time_cell(line.change()); }},
    {figure_column("hardware", "Hardware", Unit::kTime,
                   "of the change: what the peaks of the candidate's device bring, if both come as near to them as "
                   "the better one; not told where their FLOPs or bytes differ",
                   Fit::kKept),
     [](const auto& line) { return line.hardware() ? time_cell(*line.hardware()) : Cell{}; }},
    {figure_column("efficiency", "Efficiency", Unit::kTime, "the rest of it: how well the device is used", Fit::kKept),
     [](const auto& line) { return line.hardware() ? time_cell(line.change() - *line.hardware()) : Cell{}; }},
    {figure_column("baseline_roof_pct", "Roof (%)", Unit::kPercent,
                   "the least time by the device's peaks as a share of that of a call; see roofline"),
     [](const auto& line) { return roof_share(line.baseline); }},
    {figure_column("candidate_roof_pct", "Roof' (%)", Unit::kPercent, "the same of the candidate"),
     [](const auto& line) { return roof_share(line.candidate); }},
    {text_column("shape", "Shape", "dimensions of its inputs", Fit::kNames), &ShapeChange::shape},
    {text_column("types", "Types", "of its inputs"), &ShapeChange::types},
    {label_column("operator", "Operator", "name of the operator", Fit::kNames), &ShapeChange::operator_name},
};

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
