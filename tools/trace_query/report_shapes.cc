#include "trace_query/report_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/text/closest_name.h"
#include "passes/tables/pass_tables.h"
#include "report/json_text.h"
#include "report/renderers.h"
#include "shared/usage_error.h"
#include "trace_query/command.h"

namespace tracedb {
namespace {

// Columns that only some options leave in, or that depend on the number of candidates; members have all of theirs.
bool is_optional(const ReportShape& shape, const Column& column) {
  if (shape.report == "compare") return !shape.is_member;
  return (shape.command == "timeline" || shape.command == "gaps") && column.key == "stream";
}

// What JSON has in a column.
std::string_view json_type(const Column& column) {
  if (column.is_json) return "\"object\"";
  if (column.unit == Unit::kText) return R"(["string", "null"])";
  if (column.unit == Unit::kAny) return R"(["number", "string", "null"])";
  return R"(["number", "null"])";
}

std::string json_property(const Column& column) {
  std::string description(column.meaning);
  if (column.unit != Unit::kText && column.unit != Unit::kAny) {
    description += fmt::format("{}in {}", description.empty() ? "" : "; ", to_string(column.unit));
  }
  return fmt::format("{}: {{\"type\": {}, \"description\": {}}}", json_string(column.key), json_type(column),
                     json_string(description));
}

struct JsonParts {
  std::string properties, units;
  std::vector<std::string> required;  // keys
};

bool is_required(const std::vector<const ReportShape*>& tables, const Column& column) {
  return std::ranges::all_of(tables, [&](const ReportShape* table) {
    return find_column(table->columns, column.key) && !is_optional(*table, column);
  });
}

// Each column of tables that share a name, once.
std::vector<const Column*> different_columns(const std::vector<const ReportShape*>& tables) {
  std::vector<const Column*> out;
  for (const ReportShape* table : tables) {
    for (const Column& column : table->columns) {
      const bool known = std::ranges::any_of(out, [&](const Column* other) { return other->key == column.key; });
      if (!known) out.push_back(&column);
    }
  }
  return out;
}

// Of the rows of tables that share a name: what all of them have is required.
JsonParts json_parts(const std::vector<const ReportShape*>& tables) {
  JsonParts out;
  for (const Column* column : different_columns(tables)) {
    out.properties += (out.properties.empty() ? "" : ",\n    ") + json_property(*column);
    if (is_required(tables, *column)) out.required.push_back(column->key);
    if (column->unit == Unit::kText || column->unit == Unit::kAny) continue;
    out.units += fmt::format("{}{}: {{\"const\": {}}}", out.units.empty() ? "" : ", ", json_string(column->key),
                             json_string(to_string(column->unit)));
  }
  return out;
}

// A member of a document that lists rows.
std::string list_schema(std::string_view name, const JsonParts& parts) {
  return fmt::format(
      "   {}: {{\"type\": \"array\", \"items\": {{\"type\": \"object\", \"required\": {}, \"properties\": {{\n"
      "    {}}}}}}}",
      json_string(name), json_list(parts.required), parts.properties);
}

std::string rows_schema(const JsonParts& parts) {
  return fmt::format("   \"units\": {{\"type\": \"object\", \"properties\": {{{}}}}},\n", parts.units) +
         list_schema("rows", parts);
}

std::string sections_schema(const std::vector<const ReportShape*>& tables) {
  std::string kinds;
  std::string members;
  for (const ReportShape* table : tables) {
    if (table->is_member) {
      members += list_schema(table->variant, json_parts({table})) + ",\n";
      continue;
    }
    kinds += fmt::format(
        "{}\n  {{\"type\": \"object\", \"required\": [\"section\", \"units\", \"rows\"], \"properties\": {{\n"
        "   \"section\": {{\"type\": \"string\", \"pattern\": {}}},\n{}}}}}",
        kinds.empty() ? "" : ",", json_string(fmt::format("^{}( |$)", table->variant)),
        rows_schema(json_parts({table})));
  }
  if (kinds.empty()) return members + "   \"sections\": {\"type\": \"array\", \"maxItems\": 0}";  // members alone
  return members + fmt::format("   \"sections\": {{\"type\": \"array\", \"items\": {{\"anyOf\": [{}]}}}}", kinds);
}

}  // namespace

std::vector<ReportShape> shapes_of_command(std::string_view name) {
  const Command* const command = known_command(name);
  if (command == nullptr) return {};
  std::vector<ReportShape> shapes;
  for (const CommandTable& table : command->tables) {
    shapes.push_back({command->name, command->json_name(), std::string(table.option), false,
                      report_columns(report_script(table.report))});
  }
  if (command->shapes != nullptr) shapes = command->shapes(command->name);
  return shapes;
}

std::vector<ReportShape> report_shapes() {
  std::vector<ReportShape> out;
  for (const Command& command : commands()) {
    for (ReportShape& shape : shapes_of_command(command.name)) {
      const bool known = std::ranges::any_of(out, [&](const ReportShape& other) {
        return other.report == shape.report && other.variant == shape.variant;
      });
      if (!known) out.push_back(std::move(shape));  // `align` prints a section of `compare`
    }
  }
  return out;
}

std::string columns_help(std::string_view command, std::size_t width) {
  std::string out;
  for (const ReportShape& shape : shapes_of_command(command)) {
    Report report{{{"column", "Column", Unit::kText, OthersAggregate::kNone, Fit{9}},
                   {"head", "Head", Unit::kText, OthersAggregate::kNone, Fit{7}},
                   {"unit", "Unit", Unit::kText, OthersAggregate::kNone, Fit{6}},
                   {"meaning", "Meaning", Unit::kText, OthersAggregate::kNone, Fit::kWrapped}},
                  {}};
    for (const Column& column : shape.columns) {
      const bool plain = column.unit == Unit::kText || column.unit == Unit::kAny;
      report.rows.push_back(
          {column.key, column.head, std::string(plain ? "" : to_string(column.unit)), std::string(column.meaning)});
    }
    RenderOptions options;
    options.width = width;
    std::ostringstream text;
    render(report, {"help", {}}, {}, *make_table_renderer(text, options));
    const std::string of = shape.variant.empty() ? "" : fmt::format(" of {}", shape.variant);
    out += fmt::format("\nColumns{}:\n\n{}", of, text.str());
  }
  return out;
}

std::string json_schema(const std::string& report) {
  const std::vector<ReportShape> all = report_shapes();
  std::vector<const ReportShape*> tables;
  std::vector<std::string> known;
  for (const ReportShape& shape : all) {
    if (shape.report == report) tables.push_back(&shape);
    if (known.empty() || known.back() != shape.report) known.emplace_back(shape.report);
  }
  if (tables.empty()) {
    throw usage_error("--json-schema {}: no such report{}; there are {}", report, did_you_mean(report, known),
                      fmt::join(known, ", "));
  }
  const bool sections = tables.front()->is_section;
  return fmt::format(
      "{{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n \"title\": {},\n \"type\": \"object\",\n"
      " \"required\": [\"schema\", \"inputs\", {}, \"warnings\"],\n \"properties\": {{\n"
      "   \"schema\": {{\"type\": \"string\", \"pattern\": {}}},\n"
      "   \"inputs\": {{\"type\": \"array\", \"items\": {{\"type\": \"string\"}}}},\n"
      "   \"warnings\": {{\"type\": \"array\", \"items\": {{\"type\": \"string\"}}}},\n{}}}}}\n",
      json_string(fmt::format("trace-query {} --json", tables.front()->command)),
      sections ? "\"sections\"" : "\"units\", \"rows\"", json_string(fmt::format("^tracedb\\.{}/[0-9]+$", report)),
      sections ? sections_schema(tables) : rows_schema(json_parts(tables)));
}

}  // namespace tracedb
