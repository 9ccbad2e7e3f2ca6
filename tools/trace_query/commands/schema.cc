#include <fmt/format.h>

#include <algorithm>

#include "base/text/closest_name.h"
#include "index/packed_tables.h"
#include "passes/sql/event_rows.h"
#include "passes/sql/kernel_sql_functions.h"
#include "passes/tables/pass_tables.h"
#include "sql/scripts.h"
#include "sql/user/functions.h"
#include "sql/user/schema_text.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/open.h"
#include "trace_query/output.h"
#include "trace_query/sql/index_set.h"

namespace tracedb {
namespace {

// A column of an object or, where it has no name, the object itself.
struct Described {
  std::string_view column, data_type, unit, comment;
};

void add_row(Report& report, std::string_view type, std::string_view object, const Described& what) {
  Row& row = report.rows.emplace_back();
  for (const std::string_view text : {type, object, what.column, what.data_type, what.unit, what.comment}) {
    row.emplace_back(std::string(text));
  }
  row.resize(report.columns.size());
}

// The name by which --object knows a table that a command prints: "report kernels", "compare ledger".
std::string object_of(const ReportShape& shape) {
  const std::string_view kind = shape.is_section ? shape.command : "report";
  const std::string_view name = shape.is_section ? std::string_view(shape.variant) : shape.report;
  return fmt::format("{} {}", kind, name) + (shape.is_section || shape.variant.empty() ? "" : " " + shape.variant);
}

// The tables that commands print, as --json, --csv and --columns name their columns.
void add_reports(Report& report, const std::string& only) {
  for (const ReportShape& shape : report_shapes()) {
    const std::string object = object_of(shape);
    if (!only.empty() && only != object) continue;
    const std::string what = fmt::format("what trace-query {} prints", shape.command);
    const char* type = shape.is_section ? "section" : "report";
    add_row(report, type, object, {"", "", "", shape.summary.empty() ? what : shape.summary});
    for (const Column& column : shape.columns) {
      const bool text = column.unit == Unit::kText;
      const std::string_view unit = text ? "" : to_string(column.unit);
      add_row(report, type, object, {column.key, text ? "TEXT" : "NUMERIC", unit, column.meaning});
    }
  }
}

// Tables and views with their columns, from a schema made in memory: what SQLite itself says is there.
void add_objects(Report& report, const std::string& only, Database* index) {
  Database schema(":memory:", Database::Mode::kMemory);
  for (const char* tables : {"core", "packed", "views"}) schema.execute(script(tables));
  register_kernel_functions(schema, nullptr);
  declare_pass_tables(schema);
  add_event_rows(schema, "", {});
  make_kernel_views(schema);
  SchemaComments comments;
  for (const char* part : {"core", "packed", "views", "sql_views"}) comments.merge(schema_comments(script(part)));
  Statement objects(
      schema,
      "SELECT type, name FROM (SELECT type, name, rowid AS place FROM main.sqlite_schema UNION ALL SELECT "
      "t.type, t.name, m.rowid - 0.5 FROM temp.sqlite_schema t JOIN main.sqlite_schema m ON m.name = "
      "'stacks' WHERE t.name = 'python_calls') WHERE type IN ('view', 'table') AND ?1 IN ('', name) ORDER "
      "BY type DESC, place",
      only);
  while (objects.step()) {
    const std::string type(objects.text(0));
    const std::string name(objects.text(1));
    add_row(report, type, name, {"", "", "", comments[{name, ""}]});
    if (index != nullptr) {
      const std::string sql = fmt::format("SELECT count(*) FROM \"{}\"", name);  // a name of our own schema
      report.rows.back().back() = index->query_int64(sql).value();
    }
    Statement columns(schema, "SELECT name, type FROM pragma_table_info(?1)", name);
    while (columns.step()) {
      const std::string column(columns.text(0));
      const std::string& comment = comments[{name, column}];
      add_row(report, type, name, {column, columns.text(1), "", comment.empty() ? usual_comment(column) : comment});
    }
  }
}

// What the passes declare of their tables; they have as many rows as the options leave.
void add_passes(Report& report, const std::string& only) {
  for (const PassTable& table : pass_tables()) {
    if (!only.empty() && only != table.name) continue;
    add_row(report, "pass", table.name, {"", "", "", table.meaning});
    for (const PassColumn& column : table.columns) {
      if (!column.is_in_table) continue;
      add_row(report, "pass", table.name, {column.name, to_string(column.type), column.unit, column.meaning});
    }
  }
}

void add_functions(Report& report, const std::string& only) {
  const SqlFunctionHelp calls = packed_functions_help();
  if (only.empty() || only == calls.name) {
    add_row(report, "table", calls.name, {"", "", "", fmt::format("{}: {}", calls.call, calls.meaning)});
  }
  for (const auto& functions : {functions_help(), kernel_functions_help()}) {
    for (const SqlFunctionHelp& help : functions) {
      if (!only.empty() && only != help.name) continue;
      add_row(report, "function", help.name, {"", "", "", fmt::format("{}: {}", help.call, help.meaning)});
    }
  }
}

Report examples_report() {
  Report report{{text_column("comment", "Question"), text_column("sql", "SQL")}, {}};
  for (const ExampleQuery& example : example_queries(script("examples"))) {
    report.rows.push_back({example.comment, example.sql});
  }
  return report;
}

// For people the examples are a script they can paste.
void print_examples(const CommandLine& line, Output& output) {
  if (!line.for_people()) return output.print(examples_report(), {"schema", {}}, {});
  for (const ExampleQuery& example : example_queries(script("examples"))) {
    output.stream() << "-- " << example.comment << '\n' << example.sql << "\n\n";
  }
}

// Of one object, or of the columns of that name, which are a metric's definitions; "": of all.
Report described(const std::string& wanted, Database* index) {
  std::vector<std::string> known;
  for (const Row& row : schema_objects("", nullptr).rows) known.push_back(std::get<std::string>(row[1]));
  if (wanted.empty() || std::ranges::find(known, wanted) != known.end()) return schema_objects(wanted, index);
  Report out = schema_objects("", index);
  std::erase_if(out.rows, [&](const Row& row) { return row[2] != Cell(wanted); });
  if (!out.rows.empty()) return out;
  throw usage_error("no table, view, column, pass, function or section '{}'{}", wanted, did_you_mean(wanted, known));
}

int run_schema(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kOutput, OptionGroup::kNoIngest});
  line.add("examples", OptionKind::kFlag, "show example queries instead");
  line.add("json-schema", "print the JSON Schema of what this report prints with --json: kernels");
  line.add("object", "only this table, view, column, pass, function or section ('compare ledger')");
  if (!line.parse(args)) return 0;
  if (line.positional().size() > 1) throw usage_error("schema: give one trace or index at most");
  const std::string only = line.text("object").value_or("");
  Output output(line);
  if (const auto report = line.text("json-schema")) {
    output.stream() << json_schema(*report);
  } else if (line.has("examples")) {
    print_examples(line, output);
  } else if (line.positional().empty()) {
    output.print(described(only, nullptr), {"schema", {}}, {});
  } else {
    const RequestedWorkload requested(line);
    const PassOptions options;
    SqlIndex index(open_trace(line.positional()[0], line), requested, options, SqlIndex::Sorting::kInMemory);
    output.print(described(only, &index.database()), {"schema", {line.positional()[0]}}, index.take_notes());
  }
  output.finish();
  return 0;
}

}  // namespace

Report schema_objects(const std::string& only, Database* index) {
  Report report{declared_columns("schema"), {}};
  if (index != nullptr) report.columns.push_back({"rows", "Rows", Unit::kCount, OthersAggregate::kNone});
  add_objects(report, only, index);
  add_passes(report, only);
  add_functions(report, only);
  add_reports(report, only);
  return report;
}

Command schema_command() {
  return {"schema", "tables, views, passes and sections of compare with their columns, SQL functions; example queries",
          "schema [options] [TRACE|INDEX]", "  trace-query schema --object kernels\n  trace-query schema --examples",
          run_schema};
}

}  // namespace tracedb
