#include "report_page/trace_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text/duration_text.h"
#include "present/cells.h"
#include "report_page/trace_words.h"

namespace tracedb {
namespace {

struct TableOfReport {
  const char* report;  // schema/reports
  const char* title;
  const char* note;
  const char* command;  // that has more of it
};

constexpr TableOfReport kTables[] = {
    {"warnings", "Warnings",
     "What makes answers about this trace less certain, and how much of the kernel time it affects.", "warnings"},
    {"phases", "Steps by kind", "How often, how long, and with how much work.", "phases"},
    {"ops", "Operations", "Kernel time by operation class; shares are of the kernel time of the whole trace.", "ops"},
    {"kernels", "Kernels", "Kernel time by name; shares are of the kernel time of the whole trace.", "kernels"},
    {"layers", "Layers", "Kernel time by layer of the model; shares are of the kernel time of the whole trace.",
     "layers"},
    {"comms", "Communication", "Collectives by kind, group and size.", "comms"},
    {"memcpys", "Copies and fills", "By direction and kind.", "memcpys"},
    {"steps", "Steps", "One row for each.", "steps"},
};

}  // namespace

ReportPage trace_page(Workload& workload, const TracePageInput& input) {
  Database& database = workload.index().database();
  ReportPage page;
  page.kind = "trace";
  page.command = "report";
  Report warnings;
  for (const TableOfReport& table : kTables) {
    Report report = run_report(database, table.report, {});
    if (std::string_view(table.report) == "warnings") warnings = report;
    if (report.rows.empty()) continue;
    if (CycleWords::active()) name_cycles(report);
    page.tables.push_back({table.report, table.title, fmt::format("{} More: trace-query {}", table.note, table.command),
                           std::move(report)});
  }
  const std::string label = std::filesystem::path(input.path).filename().string();
  const ComparedTraces loaded = take_trace(workload, label);
  const ComparedTrace& trace = loaded.traces.front();
  const Comparison account = account_for(trace, loaded.kernel_names);
  page.title = label;
  page.sides = {{"a", label, label, trace.description.devices}};
  page.text =
      trace_words({workload.index(), trace, loaded.kernel_names, account, warnings, input.path, input.selection});
  const auto roles_of = [&](std::span<const std::uint32_t> rows) {
    LayerSet layers = trace.layers;
    layers.by_step.resize(rows.size());
    std::copy(rows.begin(), rows.end(), layers.by_step.begin());
    const KernelClasses classes(workload.index(), workload.rules().get());
    return find_roles(workload.index(), trace.events, trace.steps, layers, classes, workload.rules().get());
  };
  add_pictures({{&trace}, {&workload.index()}, {label}, loaded.kernel_names, account, roles_of}, page);
  return page;
}

}  // namespace tracedb
