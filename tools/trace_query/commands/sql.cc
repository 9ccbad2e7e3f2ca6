#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/counted.h"
#include "passes/sql/event_rows.h"
#include "passes/sql/kernel_sql_functions.h"
#include "shared/option_parsing.h"
#include "sql/functions.h"
#include "sql/recipes.h"
#include "sql/safety.h"
#include "sql/user_sql.h"
#include "trace_query/command.h"
#include "trace_query/open.h"
#include "trace_query/output.h"
#include "trace_query/workload.h"

namespace tracedb {
namespace {

constexpr std::size_t kMaxSqlBytes = 1 << 20;

struct Request {
  std::string input;
  std::string sql;
  std::map<std::string, std::string> values = {};  // of parameters, unless others are given
};

Request request(const CommandLine& line) {
  const auto file = line.text("file");
  const auto inputs = line.inputs();
  if (const auto name = line.text("recipe")) {
    const Recipe& recipe = find_recipe(*name);
    if (file || inputs.size() != 1) {
      throw Error(ErrorCode::kUsage, "sql: --recipe takes one TRACE|INDEX, and no other SQL");
    }
    return {inputs[0], std::string(recipe.sql), recipe.values};
  }
  const std::size_t wanted = file ? 1 : 2;
  if (inputs.size() != wanted) {
    throw Error(ErrorCode::kUsage, fmt::format("sql: {}, expected {}: trace-query {}",
                                               counted(inputs.size(), "argument"), wanted, line.command().usage));
  }
  if (file) return {inputs[0], read_small_file_or_input(*file, kMaxSqlBytes)};
  if (inputs[1] == "-") return {inputs[0], read_small_file_or_input("-", kMaxSqlBytes)};
  return {inputs[0], inputs[1]};
}

// Of --param, and of `values` where it says nothing.
std::map<std::string, std::string> parameters(const CommandLine& line, std::map<std::string, std::string> values) {
  for (const std::string& text : line.list("param")) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(ErrorCode::kUsage, fmt::format("--param {}: give name=value", text));
    }
    values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return values;
}

Cell printable_cell(const Statement& statement, int column) {
  if (statement.type(column) != ValueType::kBlob) return read_cell(statement, column);
  std::string hex = "X'";
  for (const char byte : statement.text(column)) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex + '\'';
}

// How many statements will yield rows. Prepares all of them, so that an error in the last is reported before the first
// runs.
std::size_t count_answers(Database& database, const std::string& text,
                          const std::map<std::string, std::string>& values) {
  UserSql sql(database, text);
  std::size_t answers = 0;
  while (const auto statement = sql.next(values)) answers += statement->column_count() > 0 ? 1 : 0;
  if (sql.number() == 0) throw Error(ErrorCode::kUsage, "sql: no statement in the SQL text");
  for (const auto& [name, value] : values) {
    if (!sql.bound().contains(name)) {
      throw Error(ErrorCode::kUsage, fmt::format("--param {}: no statement has a parameter :{}", name, name));
    }
  }
  return answers;
}

// Where rows go. Nothing here grows with their number.
struct Answers {
  Output& output;
  ReportHead head;
  std::size_t max_rows, limit;
  std::unique_ptr<TableRenderer> document;  // of all statements; null: each has its own table
  bool numbered;                            // rows say which statement they answer
  std::vector<std::string> warnings;        // not yet printed
  Workload& workload;
};

void print_warnings(TableRenderer& renderer, Answers& answers) {
  renderer.end(answers.warnings);
  for (const std::string& warning : answers.warnings) answers.output.note(warning);
  answers.warnings.clear();
}

void print_rows(UserSql& sql, Statement& statement, Answers& answers) {
  std::vector<Column> columns;
  if (answers.numbered) columns.push_back({"statement", "Statement", Unit::kAny, OthersAggregate::kNone});
  for (int c = 0; c < statement.column_count(); ++c) {
    const std::string name(statement.column_name(c));
    columns.push_back({name, name, Unit::kAny, OthersAggregate::kNone});
  }
  const auto own = answers.document ? nullptr : answers.output.renderer();
  TableRenderer& renderer = own ? *own : *answers.document;
  answers.output.separate("");
  renderer.begin(answers.head, columns);
  std::size_t rows = 0;
  while (sql.step(statement)) {
    if (answers.max_rows != 0 && rows == answers.max_rows) {
      answers.warnings.push_back(
          fmt::format("statement {}: stopped after {} (--max-rows)", sql.number(), counted(answers.max_rows, "row")));
      break;
    }
    Row row;
    if (answers.numbered) row.emplace_back(static_cast<std::int64_t>(sql.number()));
    for (int c = 0; c < statement.column_count(); ++c) row.push_back(printable_cell(statement, c));
    if (answers.limit == 0 || rows < answers.limit) renderer.row(row);
    ++rows;
  }
  if (answers.limit != 0 && rows > answers.limit) {
    answers.warnings.push_back(
        fmt::format("statement {}: {}; --limit 0 shows all", sql.number(), counted(rows - answers.limit, "more row")));
  }
  for (std::string& note : answers.workload.take_notes()) answers.warnings.push_back(std::move(note));
  if (own) print_warnings(renderer, answers);
}

// How a statement would be answered, as a tree.
void print_plan(UserSql& sql, Answers& answers) {
  std::vector<Column> columns = {{"depth", "Depth", Unit::kAny, OthersAggregate::kNone},
                                 {"plan", "Plan", Unit::kText, OthersAggregate::kNone}};
  if (answers.numbered) columns.insert(columns.begin(), {"statement", "Statement", Unit::kAny, OthersAggregate::kNone});
  const auto own = answers.document ? nullptr : answers.output.renderer();
  TableRenderer& renderer = own ? *own : *answers.document;
  answers.output.separate("");
  renderer.begin(answers.head, columns);
  std::map<std::int64_t, std::int64_t> depths = {{0, 0}};
  Statement plan = sql.plan();
  while (plan.step()) {
    const std::int64_t depth = depths[plan.int64(1)];
    depths[plan.int64(0)] = depth + 1;
    Row row;
    if (answers.numbered) row.emplace_back(static_cast<std::int64_t>(sql.number()));
    row.emplace_back(depth);
    row.emplace_back(std::string(static_cast<std::size_t>(2 * depth), ' ') + std::string(plan.text(3)));
    renderer.row(row);
  }
  if (own) print_warnings(renderer, answers);
}

// SQL may begin with a comment, which is no option: a blank before it says so.
std::vector<std::string> without_leading_comments(std::span<const std::string> args) {
  std::vector<std::string> words(args.begin(), args.end());
  for (std::string& word : words) {
    if (word.starts_with("-- ") || word.starts_with("--\n")) word.insert(0, " ");
  }
  return words;
}

int print_recipes(const CommandLine& line) {
  Report report{{{"recipe", "Recipe", Unit::kText, OthersAggregate::kNone},
                 {"question", "Question", Unit::kText, OthersAggregate::kNone, Fit::kWrapped},
                 {"parameters", "Parameters", Unit::kText, OthersAggregate::kNone, Fit::kWrapped}},
                {}};
  for (const Recipe& recipe : recipes()) {
    report.rows.push_back({std::string(recipe.name), std::string(recipe.question), recipe.parameters});
  }
  Output output(line);
  if (line.has("limit")) {
    output.print(std::move(report), {"recipes", {}}, {});
  } else {  // a list to choose from is not cut where a table would be
    render(report, {"recipes", {}}, {}, *output.renderer());
  }
  output.finish();
  return 0;
}

std::string help_on_tables() {
  std::string text =
      "\nTables of what the passes find, as reports print them, under the options above; a table is computed when a\n"
      "statement reads it. The index's own tables and views keep their names: launches is a view, launch_calls a "
      "pass.\n";
  for (const PassTable& table : pass_tables()) text += fmt::format("  {:16}  {}\n", table.name, table.meaning);
  return text;
}

std::string help_on_functions() {
  std::string text = "\nFunctions besides those of SQLite; an id is that of a kernel, or of a copy or fill:\n";
  for (const auto& functions : {functions_help(), kernel_functions_help()}) {
    for (const SqlFunctionHelp& help : functions) text += fmt::format("  {:21}  {}\n", help.call, help.meaning);
  }
  return text;
}

void add_options(CommandLine& line) {
  line.add("file,f", OptionKind::kValue, "read the SQL from this file; - for standard input");
  line.add("param", OptionKind::kList, "name=value, bound to :name; may be repeated");
  line.add("recipe", OptionKind::kValue, "run this query of the cookbook; --param sets its parameters");
  line.add("recipes", OptionKind::kFlag, "list the queries of the cookbook: the question and the parameters of each");
  line.add("plan", OptionKind::kFlag, "show how each statement would be answered, and do not run it");
  line.add("limit,n", OptionKind::kValue,
           "print N rows of each statement; 0: all (default: 30 for a table on standard output, else 0)");
  line.add("max-rows", OptionKind::kValue, "stop after N rows of each statement; 0 (default): all");
  add_timeline_options(line);
  add_micro_idle(line);
  add_steady(line);
  add_sequence_options(line);
  add_call_tree_options(line);
  line.add_help(help_on_tables() + help_on_functions());
}

int run(std::span<const std::string> args) {
  CommandLine line(kSqlCommand,
                   {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kRules, OptionGroup::kSteps,
                    OptionGroup::kCapture, OptionGroup::kOutput, OptionGroup::kNoIngest});
  add_options(line);
  if (!line.parse(without_leading_comments(args))) return 0;
  if (line.has("recipes")) return print_recipes(line);
  const Request asked = request(line);
  const auto values = parameters(line, asked.values);
  const auto max_rows = static_cast<std::size_t>(line.number("max-rows").value_or(0));
  const PassOptions options = requested_pass_options(line);
  SqlLimits limits;
  if (const auto size = line.text("max-memory"); size && *size != "0") {
    limits.heap_bytes = static_cast<std::int64_t>(parse_size(*size));
  }
  Output output(line);
  OpenedTrace trace = open_trace(asked.input, line);
  const RequestedWorkload requested(line);
  Workload workload = requested.of(trace.index);
  KernelSqlFunctions functions(workload);
  register_kernel_functions(trace.index.database(), &functions);
  add_pass_tables(workload, options);
  add_event_rows(trace.index.database(), "", [&workload]() -> Workload& { return workload; });
  make_kernel_views(trace.index.database());
  {
    const SqlGuard guard(trace.index.database(), limits);
    const std::size_t count = count_answers(trace.index.database(), asked.sql, values);
    const bool one_document = line.renderer().tables == Tables::kOneDocument;
    Answers answers{output,
                    {"sql", {asked.input}},
                    max_rows,
                    row_limit(line),
                    one_document ? output.renderer() : nullptr,
                    one_document && count > 1,
                    std::move(trace.notes),
                    workload};
    UserSql sql(trace.index.database(), asked.sql);
    while (auto statement = sql.next(values)) {
      if (statement->column_count() == 0) continue;
      if (line.has("plan") && !statement->is_explain()) {
        print_plan(sql, answers);
      } else {
        print_rows(sql, *statement, answers);
      }
    }
    if (answers.document && count > 0) print_warnings(*answers.document, answers);
  }
  output.finish();
  return 0;
}

}  // namespace

const Command kSqlCommand = {
    "sql", "read-only SQL on one index; 'trace-query schema' lists tables and columns",
    "sql [options] TRACE|INDEX \"SQL\" | -f FILE | - | --recipe NAME",
    "  trace-query sql trace.json.gz 'SELECT name, sum(dur) FROM kernels GROUP BY name ORDER BY 2 DESC LIMIT 5'\n"
    "  trace-query sql trace.json.gz 'SELECT layer, op, sum(dur) FROM kernels GROUP BY 1, 2'\n"
    "  trace-query sql trace.json.gz 'SELECT * FROM gaps_by_cause' --phase decode\n"
    "  trace-query sql trace.json.gz 'SELECT * FROM kernels WHERE dur > :least' --param least=1000000 --csv\n"
    "  trace-query sql trace.json.gz --recipe gemm_shapes --param phase=prefill",
    run};

}  // namespace tracedb
