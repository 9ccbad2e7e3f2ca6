#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "sql/scripts.h"
#include "sql/user/schema_text.h"
#include "trace_query/command.h"
#include "trace_query/commands/schema/schema_objects.h"
#include "trace_query/open.h"
#include "trace_query/output.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

Report examples_report() {
  Report report{{text_column("comment", "Question"), text_column("sql", "SQL")}, {}};
  for (const ExampleQuery& example : example_queries(script("examples"))) {
    report.rows.push_back({example.comment, example.sql});
  }
  return report;
}

// For people the examples are a script they can paste.
void print_examples(const CommandLine& line, Output& output) {
  if (line.renderer().audience == Audience::kMachine) return output.print(examples_report(), {"schema", {}}, {});
  for (const ExampleQuery& example : example_queries(script("examples"))) {
    output.stream() << "-- " << example.comment << '\n' << example.sql << "\n\n";
  }
}

std::string object_name(const std::string& wanted) {
  const std::vector<std::string> known = schema_object_names();
  if (wanted.empty() || std::find(known.begin(), known.end(), wanted) != known.end()) return wanted;
  throw Error(ErrorCode::kUsage,
              fmt::format("no table, view, pass, function or section '{}'{}", wanted, did_you_mean(wanted, known)));
}

int run_schema(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kOutput, OptionGroup::kNoIngest});
  line.add("examples", OptionKind::kFlag, "show example queries instead");
  line.add("json-schema", OptionKind::kValue, "print the JSON Schema of what this report prints with --json: kernels");
  line.add("object", OptionKind::kValue, "only this table, view, pass, function or section ('compare ledger')");
  if (!line.parse(args)) return 0;
  if (line.positional().size() > 1) throw Error(ErrorCode::kUsage, "schema: give one trace or index at most");
  const std::string only = object_name(line.text("object").value_or(""));
  Output output(line);
  if (const auto report = line.text("json-schema")) {
    output.stream() << json_schema(*report);
  } else if (line.has("examples")) {
    print_examples(line, output);
  } else if (line.positional().empty()) {
    output.print(schema_objects(only, nullptr), {"schema", {}}, {});
  } else {
    const OpenedTrace trace = open_trace(line.positional()[0], line);
    output.print(schema_objects(only, &trace.index.database()), {"schema", {line.positional()[0]}}, trace.notes);
  }
  output.finish();
  return 0;
}

}  // namespace

Command schema_command() {
  return {"schema", "tables, views, passes and sections of compare with their columns, SQL functions; example queries",
          "schema [options] [TRACE|INDEX]", "  trace-query schema --object kernels\n  trace-query schema --examples",
          run_schema};
}

}  // namespace tracedb
