#include <fmt/format.h>

#include <algorithm>

#include "base/text/amounts.h"
#include "present/fleet_tables.h"
#include "trace_query/command.h"
#include "trace_query/commands/fleet/catalogue_input.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

std::vector<std::string> notes_of(const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> notes;
  const auto count = [&](CatalogueState state) {
    return std::count_if(entries.begin(), entries.end(), [state](const auto& entry) { return entry.state == state; });
  };
  if (const auto n = count(CatalogueState::kNotIndexed); n > 0) {
    notes.push_back(counted(n, "trace has", "traces have") + " no index yet: run trace-ingest on the folder");
  }
  if (const auto n = count(CatalogueState::kOutOfDate); n > 0) {
    notes.push_back(counted(n, "index is", "indexes are") + " out of date: run trace-ingest on the folder");
  }
  if (entries.empty()) notes.emplace_back("no trace and no index");
  return notes;
}

int run_ls(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kRows, OptionGroup::kOutput});
  line.add("where", OptionKind::kValue, "only those for which this SQL is true: \"gpu LIKE '%H100%' AND steps > 10\"");
  if (!line.parse(args)) return 0;
  std::vector<CatalogueEntry> entries = read_catalogue(line);
  if (const auto where = line.text("where")) keep_where(entries, *where);
  Report report{catalogue_columns(), {}};
  for (const CatalogueEntry& entry : entries) report.rows.push_back(catalogue_row(entry));
  Output output(line);
  output.print(std::move(report), {"ls", line.positional()}, notes_of(entries));
  output.finish();
  return report_unusable(entries);
}

}  // namespace

Command ls_command() {
  return {"ls",
          "a catalogue of indexes: GPU, framework, model, rank, steps, period, date",
          "ls [options] FOLDER|INDEX|TRACE...",
          "  trace-query ls /dumps --sort date\n"
          "  trace-query ls /dumps --where \"gpu LIKE '%H100%' AND period > 20e6\" --csv",
          run_ls,
          {},
          [](std::string_view name) -> std::vector<ReportShape> {
            return {{name, "ls", "", false, catalogue_columns()}};
          }};
}

}  // namespace tracedb
