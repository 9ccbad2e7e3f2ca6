// Runs a report about a trace: makes the workload that the options of a command line describe (--rules, --step-regex,
// --capture, the selection and the options of passes), opens each input in turn, prints its report and finishes the
// output.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "passes/select/workload.h"
#include "passes/tables/pass_tables.h"
#include "present/cells.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {

// What --rules says, else the built-in rules. Rules that were asked for are read at once: Error{kUsage}, Error{kInput}
// where they cannot be.
ActiveRules requested_rules(const CommandLine& line);

// What narrows a report to part of a trace.
inline constexpr std::initializer_list<const char*> kSelectionOptions = {"device", "stream", "step", "phase", "layer",
                                                                         "op",     "name",   "from", "to"};
// "step = 3, phase = decode", for people; "everything" when nothing was selected.
std::string selection_text(const CommandLine& line);

// The options of a run, read once for all of its inputs.
class RequestedWorkload {
 public:
  // Error{kUsage} for values that mean nothing. `of_several`: as of a Selection.
  explicit RequestedWorkload(const CommandLine& line, bool of_several = false);
  RequestedWorkload& operator=(RequestedWorkload&&) = delete;

  [[nodiscard]] const Selection& selection() const { return options_.selection; }
  [[nodiscard]] const CaptureSource* capture() const { return options_.capture; }
  // Before several threads make workloads.
  void load_rules() const { static_cast<void>(rules_.get()); }
  [[nodiscard]] Workload of(const Index& index) const { return {index, rules_, options_}; }
  [[nodiscard]] const ActiveRules& rules() const { return rules_; }
  [[nodiscard]] const WorkloadOptions& options() const { return options_; }
  [[nodiscard]] std::vector<std::string> provenance() const;  // of rules, steps and origins, for --explain

 private:
  WorkloadOptions options_;
  ActiveRules rules_;
  // --capture: a second trace that provides origins for kernels of graph replays (passes/capture/capture.h).
  std::optional<OpenedTrace> captured_;
  std::optional<CaptureSource> capture_;
};

// "12345", "12345ns", "1.5us", "250ms", "2s" -> ns. Error{kUsage} for anything else.
std::int64_t parse_time(const std::string& text);

PassOptions requested_pass_options(const CommandLine& line);  // of those that the command knows

inline void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// Prints what `make` makes of each input; `name` is the report's name in JSON. nullopt: it has printed all there is.
int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<std::optional<TraceReport>(const OpenedTrace&, Output&)>& make);

// A report whose script selects from tables of the passes.
struct PassReport {
  std::string script;  // "kernels_by_pass": its name in passes/tables/pass_tables.h
  PassOptions options;
  Parameters parameters;
  // Says what the reader must know; may change the table.
  std::function<void(const CommandLine&, Workload&, TraceReport&)> finish;
};

// Prints it for each input under the options of the command line or, with --explain, what it is made of.
int run_pass_reports(const CommandLine& line, const PassReport& report);

bool has_kernels(const Index& index);
std::string why_no_kernels(const Workload& workload);  // why a report about kernels is empty

}  // namespace tracedb
