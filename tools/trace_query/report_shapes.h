// The columns of every report as they are declared (schema/reports, src/present): `help`, `schema` and the JSON Schema
// of a report all follow from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sql_report.h"

namespace tracedb {

class Database;

// One table that a command prints.
struct ReportShape {
  std::string_view command;  // "layers"
  std::string_view report;   // of "tracedb.REPORT/1" in JSON
  std::string variant;  // which of several tables: an option ("--per-op") or a section ("ledger"); "": the usual one
  bool is_section = false;  // `variant` is one; JSON has all sections in one document
  std::vector<Column> columns;
  std::string_view summary = {};  // of a section
  bool is_member = false;         // of a section: in JSON a member of the document, and not in `sections`
};

// In the order of the commands in the help.
std::vector<ReportShape> report_shapes();
std::vector<ReportShape> shapes_of_command(std::string_view command);  // empty: it prints no report

// What `trace-query schema` lists: tables, views, passes, functions and reports, each followed by its columns. Columns:
// type, object, column, data_type, unit, comment and, with an index, rows. `only`: one object; "": all.
Report schema_objects(const std::string& only, Database* index);

// What `trace-query help COMMAND` says of its columns; "" where there are none. `width`: of a line.
std::string columns_help(std::string_view command, std::size_t width);

// A JSON Schema (draft 2020-12) of what a report prints with --json. Error{kUsage}, naming the reports, for another
// name.
std::string json_schema(const std::string& report);

}  // namespace tracedb
