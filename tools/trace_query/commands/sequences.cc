#include <fmt/format.h>

#include "base/error.h"
#include "report/escape.h"
#include "trace_query/command.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

constexpr std::size_t kReadable = 40;  // letters of one kernel's name, in a table for a terminal

int run_sequences(std::span<const std::string> args) {
  CommandLine line(kSequencesCommand, {OptionGroup::kSelection, OptionGroup::kRules, OptionGroup::kRows,
                                       OptionGroup::kOutput, OptionGroup::kExplain, OptionGroup::kInput});
  add_sequence_options(line);
  line.add("by", OptionKind::kValue, "name: by short name (default); op: by operation class");
  if (!line.parse(args)) return 0;
  PassOptions options = requested_pass_options(line);
  const std::string by = line.text("by").value_or("name");
  if (by != "name" && by != "op") throw Error(ErrorCode::kUsage, fmt::format("--by {}: there are name and op", by));
  options.sequences_by_op = by == "op";
  if (line.renderer().audience == Audience::kHuman && !line.has("wide")) {
    options.sequence_name = [](const std::string& name) { return shorten_middle(name, kReadable); };
  }
  return run_pass_reports(
      line, {"sequences", "sequences", options, {}, [](Workload& workload, TraceReport& result) {
               result.warnings = workload.selection_notes();
               if (!result.report.rows.empty()) return;
               const bool all = workload.selection().empty();
               result.warnings.emplace_back(all ? "no sequence of kernels repeats"
                                                : "no sequence of kernels that match the selection repeats");
             }});
}

}  // namespace

const Command kSequencesCommand = {"sequences", "sequences of kernels that repeat",
                                   "sequences [options] TRACE|INDEX...",
                                   "  trace-query sequences trace.json.gz --length 4\n"
                                   "  trace-query sequences trace.json.gz --by op --phase decode",
                                   run_sequences};

}  // namespace tracedb
