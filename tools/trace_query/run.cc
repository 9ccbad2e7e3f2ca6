#include "trace_query/run.h"

#include <fmt/format.h>

#include "base/input_file.h"
#include "sql/scripts.h"
#include "trace_query/selection.h"

namespace tracedb {
namespace {

// As SQL with comments: what can be run as it stands, once the temporary tables are there.
void explain(Output& output, const CommandLine& line, const std::string& name, const Index& index,
             const Provenance& provenance) {
  std::ostream& out = output.stream();
  out << fmt::format("-- {} of {}\n", name, printable_path(index.path()));
  out << fmt::format("-- made from {} (xxh3-128 {})\n", printable_path(index.meta("source_path").value_or("?")),
                     index.meta("source_hash").value_or("?"));
  out << fmt::format("-- selection: {}\n", selection_text(line));
  for (const std::string& table : provenance.tables) out << fmt::format("-- {}\n", table);
  out << script(provenance.script) << "\n";
}

}  // namespace

TraceReport with_notes(TraceReport report, const std::vector<std::string>& notes) {
  report.warnings.insert(report.warnings.begin(), notes.begin(), notes.end());
  return report;
}

int run_trace_reports(const CommandLine& line, const std::string& name,
                      const std::function<TraceReport(const Index&)>& make, const Provenance& provenance) {
  return run_trace_reports(line, line.inputs(), name, make, provenance);
}

int run_trace_reports(const CommandLine& line, std::span<const std::string> inputs, const std::string& name,
                      const std::function<TraceReport(const Index&)>& make, const Provenance& provenance) {
  Output output(line);
  for (const std::string& input : inputs) {
    const OpenedTrace trace = open_trace(input, line);
    if (line.knows("explain") && line.has("explain")) {
      explain(output, line, name, trace.index, provenance);
      continue;
    }
    TraceReport result = make(trace.index);
    result.warnings.insert(result.warnings.begin(), trace.notes.begin(), trace.notes.end());
    output.add(name, {input, std::move(result.report), std::move(result.warnings)});
  }
  output.finish();
  return 0;
}

int run_trace_texts(const CommandLine& line,
                    const std::function<std::vector<std::string>(const Index&, std::ostream&)>& print) {
  Output output(line);
  for (const std::string& input : line.inputs()) {
    const OpenedTrace trace = open_trace(input, line);
    for (const std::string& text : trace.notes) output.note(text);
    for (const std::string& text : print(trace.index, output.stream())) output.note(text);
  }
  output.finish();
  return 0;
}

}  // namespace tracedb
