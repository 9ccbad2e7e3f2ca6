#include "trace_query/manual.h"

#include <fmt/format.h>

#include <cctype>

#include "index/index.h"
#include "report/table.h"
#include "trace_query/report_shapes.h"

namespace tracedb {
namespace {

std::string with_unit(const Column& column) {
  const bool plain = column.unit == Unit::kText || column.unit == Unit::kAny || column.unit == Unit::kCount;
  return column.key + (plain ? "" : fmt::format(" ({})", to_string(column.unit)));
}

std::string_view text_at(const Row& row, std::size_t column) { return std::get<std::string>(row[column]); }

constexpr std::string_view kIndexText =
    "An index is one SQLite database. trace-ingest writes it from one trace, and trace-query, the sqlite3 shell, "
    "Python and any other client of SQLite read it. The index of x.json is x.json.tracedb next to it, or in the cache "
    "directory where that folder cannot be written.\n\n"
    "Times are integers in nanoseconds, counted from meta.base_time_ns. NULL means unknown, never 0. Every event of "
    "the trace is in one of the tables or counted in issue. meta names the trace, its size and hash, and the version "
    "of the program. An index is valid as long as its trace is the one it was made of; trace-query verify checks "
    "that.\n\n"
    "An index appears under its name only once it is complete, and never changes. One that another version of the "
    "format wrote is built again.";

}  // namespace

std::string program_manual(std::string_view description, std::span<const Command> commands) {
  ManualPage page("trace-query", "1", "answers questions about profiler traces of GPUs and NPUs");
  page.heading("Synopsis");
  page.lines("trace-query COMMAND [options] TRACE|INDEX...\ntrace-query help [COMMAND]");
  page.heading("Description");
  page.paragraph(description);
  page.heading("Commands");
  for (const Command& command : commands) page.item(command.name, command.summary);
  page.heading("Environment");
  for (const EnvironmentVariable& variable : kEnvironmentVariables) page.item(variable.name, variable.meaning);
  page.exit_status();
  page.heading("Examples");
  page.lines(known_command("info")->example);
  page.lines(known_command("compare")->example);
  page.see_also({"trace-ingest(1)", "trace-query-compare(1)", "trace-query-sql(1)", "make-trace(1)", "tracedb(5)"});
  return page.text();
}

std::string command_manual(const Command& command, std::string_view more_help,
                           std::initializer_list<HeadedOptions> options) {
  ManualPage page(fmt::format("trace-query-{}", command.name), "1", command.summary);
  page.heading("Synopsis");
  page.lines(fmt::format("trace-query {}", command.usage));
  page.heading("Description");
  std::string sentence(command.summary);
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  page.paragraph(sentence + ".");
  page.help_text(more_help);
  for (const auto& [heading, described] : options) page.options(heading, *described);
  for (const ReportShape& shape : shapes_of_command(command.name)) {
    page.heading(shape.variant.empty() ? "Columns" : fmt::format("Columns of {}", shape.variant));
    for (const Column& column : shape.columns) page.item(with_unit(column), column.meaning);
  }
  page.heading("Examples");
  page.lines(command.example);
  page.see_also({"trace-query(1)", "trace-ingest(1)", "tracedb(5)"});
  return page.text();
}

std::string index_manual() {
  ManualPage page("tracedb", "5", "index of a profiler trace");
  page.heading("Description");
  page.help_text(kIndexText);
  page.heading("Format");
  page.item("PRAGMA user_version", fmt::format("{}: the version of the format", kSchemaVersion));
  std::string_view type;
  const Report objects = schema_objects("", nullptr);
  for (const Row& row : objects.rows) {
    const std::string_view column = text_at(row, 2);
    if (text_at(row, 0) == "report" || text_at(row, 0) == "section") break;
    if (text_at(row, 0) != type) {
      type = text_at(row, 0);
      page.heading(type == "pass" ? "Tables of passes, in trace-query sql" : fmt::format("{}s", type));
    }
    if (column.empty()) {
      page.subheading(text_at(row, 1));
      page.paragraph(text_at(row, 5));
    } else {
      const std::string_view unit = text_at(row, 4);
      page.item(unit.empty() ? std::string(column) : fmt::format("{} ({})", column, unit), text_at(row, 5));
    }
  }
  page.see_also({"trace-ingest(1)", "trace-query(1)", "trace-query-sql(1)", "trace-query-schema(1)"});
  return page.text();
}

}  // namespace tracedb
