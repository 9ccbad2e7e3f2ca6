#include "trace_query/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/text/closest_name.h"
#include "index/index.h"
#include "passes/classify/rule_set.h"
#include "passes/tables/pass_tables.h"
#include "report/json_text.h"
#include "report/renderers.h"
#include "shared/usage_error.h"
#include "sql/user/schema_text.h"
#include "trace_query/options.h"

namespace tracedb {
namespace {

// ---- columns of reports

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

// ---- completion and manual pages

namespace po = boost::program_options;

void add_words(Candidates& to, const Candidates& more) {
  for (const Candidate& candidate : more.words) {
    const bool known =
        std::ranges::any_of(to.words, [&](const Candidate& other) { return other.word == candidate.word; });
    if (!known) to.words.push_back(candidate);
  }
}

Candidates any_file() { return {{}, true, false}; }

Candidates as_list(Candidates candidates) {
  candidates.several = true;
  return candidates;
}

Candidates column_words(std::string_view command) {
  Candidates out;
  for (const ReportShape& shape : shapes_of_command(command)) {
    for (const Column& column : shape.columns) add_words(out, {{{column.key, std::string(column.meaning)}}});
  }
  return out;
}

Candidates section_words(std::string_view command) {
  Candidates out;
  for (const ReportShape& shape : shapes_of_command(command)) {
    if (shape.is_section) out.words.push_back({shape.variant, std::string(shape.summary)});
  }
  if (command == "compare") out.words.push_back({"all"});
  return as_list(out);
}

Candidates class_words(const std::string& prefix) {
  Candidates out;
  for (const std::string& name : load_rules("default").classes) out.words.push_back({prefix + name});
  return out;
}

Candidates recipe_words() {
  Candidates out;
  for (const Recipe& recipe : recipes()) out.words.push_back({std::string(recipe.name), std::string(recipe.question)});
  return out;
}

Candidates report_words() {
  Candidates out;
  for (const ReportShape& shape : report_shapes()) add_words(out, {{{std::string(shape.report)}}});
  return out;
}

Candidates format_words(std::string_view command) {
  Candidates out;
  if (command == "export") {
    for (const ExportFormat& format : kExportFormats)
      out.words.push_back({std::string(format.name), std::string(format.what)});
    return out;
  }
  if (command == "report") {
    for (const char* format : {"html", "table", "markdown", "json"}) out.words.push_back({format});
    return out;
  }
  for (const Renderer& renderer : renderers()) out.words.push_back({std::string(renderer.name)});
  return out;
}

Candidates rule_set_words() {
  Candidates out = any_file();
  for (const std::string& name : rule_set_names()) out.words.push_back({name});
  return out;
}

Candidates metric_words() {
  Candidates out = one_of("period,span,kernel:");
  add_words(out, class_words("op:"));
  return out;
}

// Words for the values of options, each only of the commands named, or of all.
struct KnownValues {
  std::string_view option, command, words;
};
constexpr KnownValues kKnownValues[] = {
    {"timeunit", "", "auto,ns,us,ms,s"},
    {"color", "", "auto,always,never"},
    {"layer", "", "head,tail,none"},
    {"normalise", "", "step,token,none"},
    {"gate-inconclusive", "", "pass,fail"},
    {"gate-metric", "", "worse,span,busy,period,kernel_time"},
    {"method", "", "sequence,wafer"},
    {"view", "", "tree,callers,flat,collapsed"},
    {"lang", "", "en,zh"},
    {"mapping-root", "", "auto,top"},
    {"hcom-dedup", "", "window=500ns,name,none"},
    {"boundaries", "", "stall,gap=,count=,none"},
    {"platform", "", "amd,nvidia"},
    {"compat", "aie", "stream"},
    {"compat", "model", "msmodeling"},
    {"by", "sequences", "name,op"},
    {"by", "stacks", "module,function"},
    {"by", "model", "kernel,shape,source"},
    {"by", "critical-path", "kind,class,name,operator,module,step,device"},
    {"by", "memory", "operator,module,line,step"},
    {"by", "counters", "operator"},
    {"by", "compare", "op,role,layer,kernel,class"},
};

// Options whose value is a file or a folder.
constexpr std::string_view kFileOptions[] = {"output",        "files-from", "capture",   "file",  "save-baseline",
                                             "baseline-file", "op-map",     "scenarios", "model", "profile",
                                             "trace-dir",     "data-dir",   "baseline"};

// Of the tables of a command that the option chooses among.
Candidates table_words(std::string_view command, const std::string& option) {
  Candidates out;
  const Command* const known = known_command(command);
  for (const CommandTable& table : known == nullptr ? std::vector<CommandTable>() : known->tables) {
    const std::string before = fmt::format("--{} ", option);
    if (!table.help.empty() && table.option.starts_with(before))
      out.words.push_back({std::string(table.option.substr(before.size())), std::string(table.help)});
  }
  return out;
}

Candidates value_words(std::string_view command, const std::string& option) {
  if (Candidates tables = table_words(command, option); !tables.words.empty()) return tables;
  for (const KnownValues& known : kKnownValues) {
    if (known.option == option && (known.command.empty() || known.command == command)) return one_of(known.words);
  }
  if (std::find(std::begin(kFileOptions), std::end(kFileOptions), option) != std::end(kFileOptions)) return any_file();
  if (option == "phase" && command == "trend") return one_of(kStepKindWords);
  if (option == "phase") return as_list(one_of(std::string(kStepKindWords) + ",none"));
  if (option == "op") return as_list(class_words(""));
  if (option == "class") return class_words("");
  if (option == "columns") return as_list(column_words(command));
  if (option == "sort") return column_words(command);
  if (option == "section") return section_words(command);
  if (option == "format") return format_words(command);
  if (option == "rules") return rule_set_words();
  if (option == "recipe") return recipe_words();
  if (option == "json-schema") return report_words();
  if (option == "metric") return metric_words();
  return {};
}

// "rules show|check [options] ..." has its actions in front.
Candidates argument_words(const Command& command, bool first) {
  Candidates out = any_file();
  const std::string usage = command.usage.substr(std::min(command.name.size() + 1, command.usage.size()));
  std::string word = usage.substr(0, usage.find(' '));
  if (!first || word.find('|') == std::string::npos || word.find('[') != std::string::npos) return out;
  std::replace(word.begin(), word.end(), '|', ',');
  return one_of(word);
}

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

Candidates complete_command(const Command& command, std::span<const std::string> words,
                            const po::options_description& options) {
  const auto values = [&](const po::option_description& option) {
    return value_words(command.name, option.long_name());
  };
  return complete(words, options, values, argument_words(command, words.size() < 2));
}

Candidates complete_program(std::span<const Command> commands, std::span<const std::string> words) {
  Candidates known = any_file();
  for (const Command& command : commands)
    known.words.push_back({std::string(command.name), std::string(command.summary)});
  if (words.size() > 1) {
    known.files = false;
    return words.size() == 2 && words[0] == "help" ? complete(words.subspan(1), {}, {}, known) : Candidates{};
  }
  known.words.push_back({"help", "the columns of a report, too"});
  po::options_description options;
  options.add_options()("help", "every command")("version", "print the version");
  return complete(words, options, {}, known);
}

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
