#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/amounts.h"
#include "base/unknown.h"
#include "index/index.h"
#include "passes/layers/layer_set.h"
#include "passes/layers/model_names.h"
#include "passes/select/device_columns.h"
#include "passes/tables/name_order.h"
#include "report/table.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::size_t kValue = 2;
constexpr std::size_t kUnit = 3;

Cell readable(const Cell& value, const std::string& unit, TimeUnit time_unit, bool cycles) {
  if (cycles && unit == "ns") return fact_text(value, Unit::kCount, time_unit) + " cycles";
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (unit == "ns since epoch" && integer != nullptr) return moment_text(*integer);
  return fact_text(value, unit_from(unit).value_or(Unit::kAny), time_unit);
}

// People get "12.345 ms" in one column; machines get the number and, beside it, its unit.
void merge_units(Report& report, TimeUnit time_unit, bool cycles) {
  report.columns.resize(kUnit);
  report.columns[kValue].unit = Unit::kText;
  for (Row& row : report.rows) {
    const auto* unit = std::get_if<std::string>(&row[kUnit]);
    row[kValue] = readable(row[kValue], unit == nullptr ? "" : *unit, time_unit, cycles);
    row.resize(kUnit);
  }
}

Row fact(const char* section, std::string item, Cell value, const char* unit) {
  return {std::string(section), std::move(item), std::move(value), std::string(unit)};
}

void add_steps(const StepSet& set, std::vector<Row>& rows) {
  std::map<StepKind, std::int64_t> counts;
  for (const StepFacts& step : set.steps) ++counts[step.info.kind];
  const char* how = set.source == StepSource::kInferred ? " (inferred)" : "";
  for (const auto& [kind, count] : counts) {
    rows.push_back(fact("steps", std::string(to_string(kind)) + how, count, "count"));
  }
  if (counts.empty()) rows.push_back(fact("steps", "none", std::string("no annotation names a step"), "text"));
}

// Of the kernel time: in a step, and launched before the recording.
std::pair<double, double> shares_by_step(Workload& workload) {
  double inside = 0, before = 0, total = 0;
  const EventColumns& kernels = workload.events().kernels;
  const auto dur = kernels.int64s("dur");
  const std::vector<bool> is_before = launched_before_recording(workload.steps(), kernels);
  for (std::size_t i = 0; i < dur.size(); ++i) {
    if (dur[i] == kUnknownValue) continue;
    total += static_cast<double>(dur[i]);
    inside += workload.steps().of_kernel[i] != 0 ? static_cast<double>(dur[i]) : 0;
    before += is_before[i] ? static_cast<double>(dur[i]) : 0;
  }
  return total > 0 ? std::pair(inside / total, before / total) : std::pair(0.0, 0.0);
}

void add_layers(const LayerSet& layers, std::vector<Row>& rows) {
  std::string text;
  for (const PhaseLayers& phase : layers.phases) {
    if (phase.layers == 0) continue;
    const std::string where = phase.in_steps ? std::string(to_string(phase.kind)) : "all";
    std::string stacks, sources;
    for (const LayerStack& stack : phase.stacks) {
      stacks += (stacks.empty() ? "" : " + ") + stack_text(stack, layers.stacks.size() > 1);
    }
    for (const LayerSource source : phase.sources) {
      sources += fmt::format("{}{}", sources.empty() ? "" : " and ", to_string(source));
    }
    text += fmt::format("{}{} ({}, by {})", text.empty() ? "" : ", ", stacks, where, sources);
  }
  rows.push_back(fact("model", "layers", text.empty() ? "not known" : text, "text"));
  rows.push_back(fact("coverage", "kernel time in a layer", 100 * layers.coverage, "percent"));
}

// What the passes find: opinions, where the script has the facts of the index.
std::vector<Row> findings(Workload& workload) {
  std::vector<Row> rows;
  const IdleSums idle = idle_sums(workload.events());
  rows.push_back(fact("time", "idle share of the devices", 100 * idle.idle_share(), "percent"));
  const IdleSums in_steps = idle_sums(workload.events(), window_of_steps(workload.events(), workload.steps()));
  if (in_steps.is_host_bound()) {
    rows.push_back(fact("time", "host bound",
                        fmt::format("from the first to the last {} {} idle, {} of the time waiting for "
                                    "work that was not launched when they fell idle (trace-query gaps)",
                                    workload.steps().steps.empty() ? "kernel" : "step",
                                    part_text(in_steps.idle_share(), 0), part_text(in_steps.host_share(), 0)),
                        "text"));
  }
  const ModelFacts model = model_facts(workload.index(), workload.classes().traits());
  if (const auto framework = framework_name(workload.index())) {
    rows.push_back(fact("model", "framework", *framework, "text"));
  }
  if (const auto name = model_name(workload.index())) rows.push_back(fact("model", "name", *name, "text"));
  rows.push_back(fact("model", "architecture", architecture_text(model), "text"));
  rows.push_back(fact("coverage", "kernel time with a class", 100 * model.classified, "percent"));
  const NameOrder order = find_names_out_of_step(workload.index(), workload.events().kernels);
  if (order.kernels > 0) {
    rows.push_back(fact("coverage", "kernels of graph replays with another kernel's name", order.kernels, "count"));
  }
  const StepSet& steps = workload.steps();
  add_steps(steps, rows);
  const auto [inside, before] = shares_by_step(workload);
  if (steps.source != StepSource::kNone && steps.source != StepSource::kIndex) {
    const std::string item = fmt::format("kernel time in a step ({})", to_string(steps.source));
    rows.push_back(fact("coverage", item, 100 * inside, "percent"));
  }
  if (before > 0)
    rows.push_back(fact("coverage", "kernel time launched before the recording", 100 * before, "percent"));
  add_layers(workload.layers(), rows);
  return rows;
}

// Puts rows behind those of their section, a section "model" behind the steps; steps replace those of the script.
void merge(Report& report, std::vector<Row> rows) {
  const auto section = [](const Row& row) { return std::get<std::string>(row[0]); };
  const auto is = [&](const char* name) { return [&section, name](const Row& row) { return section(row) == name; }; };
  const auto is_in_step = [](const Row& row) {
    return std::get<std::string>(row[1]).starts_with("kernel time in a step");
  };
  if (std::ranges::any_of(rows, is_in_step)) std::erase_if(report.rows, is_in_step);
  const auto steps = std::ranges::find_if(report.rows, is("steps"));
  auto place = static_cast<std::size_t>(steps - report.rows.begin());
  if (std::ranges::any_of(rows, is("steps"))) std::erase_if(report.rows, is("steps"));
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    const auto rank = [&](const Row& row) { return section(row) == "steps" ? 0 : section(row) == "model" ? 1 : 2; };
    return rank(a) < rank(b);
  });
  for (Row& row : rows) {
    const bool coverage = section(row) == "coverage";
    while (coverage && place < report.rows.size() && section(report.rows[place]) != "issues") ++place;
    while (!coverage && place < report.rows.size() && section(report.rows[place]) == "steps") ++place;
    report.rows.insert(report.rows.begin() + static_cast<std::ptrdiff_t>(place++), std::move(row));
  }
}

int run_info(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSteps, OptionGroup::kRules, OptionGroup::kOutput, OptionGroup::kInput});
  if (!line.parse(args)) return 0;
  const RequestedWorkload requested(line);
  const bool human_readable = line.for_people();
  return run_trace_reports(line, "info", [&](const OpenedTrace& trace, Output&) {
    const Index& index = trace.index;
    TraceReport result{run_report(index.database(), report_script("info"), {}), {}};
    if (has_kernels(index)) {
      Workload workload = requested.of(index);
      merge(result.report, findings(workload));
    }
    if (human_readable) merge_units(result.report, line.time_unit(), index.meta("time_unit") == "cycle");
    if (!has_kernels(index) && without_device(index).empty()) {
      result.warnings.emplace_back("the trace has no kernels: no device time, no coverage");
    }
    return result;
  });
}

}  // namespace

Command info_command() {
  return {"info",
          "what this trace is: devices, ranks, events, steps, coverage, issues",
          "info [options] TRACE|INDEX...",
          "  trace-query info trace.json.gz",
          run_info,
          {{"", "info"}}};
}

}  // namespace tracedb
