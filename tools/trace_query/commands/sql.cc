#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/small_file.h"
#include "base/text/amounts.h"
#include "passes/sql/kernel_sql_functions.h"
#include "passes/tables/pass_tables.h"
#include "report/escape.h"
#include "shared/option_parsing.h"
#include "sql/database.h"
#include "sql/safety.h"
#include "sql/user/functions.h"
#include "sql/user/schema_text.h"
#include "sql/user/user_sql.h"
#include "trace_query/command.h"
#include "trace_query/output.h"
#include "trace_query/run.h"
#include "trace_query/sql/index_set.h"

namespace tracedb {
namespace {

using SqlParameters = std::map<std::string, std::string>;  // by name without ':'

void read_printable_cell(const Statement& statement, int column, Cell& cell) {
  if (read_cell(statement, column, cell) != ValueType::kBlob) return;
  std::string hex = "X'";
  for (const char byte : std::get<std::string>(cell)) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  cell = hex + '\'';
}

// How many statements will yield rows. Prepares all of them, so that an error in the last is reported before the first
// runs.
std::size_t count_answers(Database& database, const std::string& text, const SqlParameters& values) {
  UserSql sql(database, text);
  std::size_t answers = 0;
  while (const auto statement = sql.next(values)) answers += statement->column_count() > 0 ? 1 : 0;
  if (sql.number() == 0) throw usage_error("sql: no statement in the SQL text");
  for (const auto& [name, value] : values) {
    if (!sql.bound().contains(name)) throw usage_error("--param {}: no statement has a parameter :{}", name, name);
  }
  return answers;
}

// Whether it says in which order its rows come: that of a part in brackets does not.
bool is_ordered(std::string_view sql) {
  int depth = 0;
  std::string_view last;
  for (const std::string_view token : sql_tokens(sql)) {
    depth += token == "(" ? 1 : token == ")" ? -1 : 0;
    if (depth == 0 && is_same_name(last, "ORDER") && is_same_name(token, "BY")) return true;
    last = token;
  }
  return false;
}

// Nothing here grows with the number of rows but for tables for people and answers that say how many there are.
class Answers {
 public:
  // `max_rows`: of a statement, 0: all. `count`: of statements that yield rows.
  Answers(IndexSet& indexes, const CommandLine& line, std::size_t max_rows, Output& output, std::size_t count)
      : indexes_(indexes),
        human_(line.for_people()),
        max_rows_(max_rows),
        limit_(row_limit(line)),
        offset_(row_offset(line)),
        counts_(line.renderer().name == "compact" || (line.has("total") && count == 1)),
        output_(output),
        head_{"sql", line.inputs()},
        document_(output.document()),
        numbered_(document_ != nullptr && count > 1) {}

  void print_rows(UserSql& sql, Statement& statement) {
    std::vector<Column> columns;
    for (int c = 0; c < statement.column_count(); ++c) {
      const std::string name(statement.column_name(c));
      columns.push_back({name, name, Unit::kAny, OthersAggregate::kNone, name == "kernel" ? Fit::kNames : Fit::kUsual});
    }
    // Rows for people wait for all names of kernels, others for the number of all.
    Report shown{columns, {}};
    const bool waits = human_ || counts_;
    auto own = waits ? nullptr : begin_table(columns);
    const std::size_t rows = read_rows(sql, statement, [&](const Row& row) {
      waits ? shown.rows.push_back(row) : (own ? *own : *document_).row(row);
    });
    if (human_) output_.shorten_names(shown);
    const bool is_more = limit_ != 0 && rows > offset_ + limit_;
    note_order(sql, rows, offset_ > 0 || (counts_ && is_more));
    if (waits) own = begin_table(std::move(columns), max_rows_ != 0 && rows == offset_ + max_rows_ ? kAllRows : rows);
    TableRenderer& renderer = own ? *own : *document_;
    for (const Row& each : shown.rows) renderer.row(each);
    if (is_more) {
      warnings_.push_back(fmt::format("statement {}: {}; --limit 0 shows all", sql.number(),
                                      counted(rows - offset_ - limit_, "more row")));
    }
    if (own) end_table(renderer);
  }

  // How a statement would be answered, as a tree.
  void print_plan(UserSql& sql) {
    const auto own = begin_table({{"depth", "Depth", Unit::kAny, OthersAggregate::kNone},
                                  {"plan", "Plan", Unit::kText, OthersAggregate::kNone}});
    TableRenderer& renderer = own ? *own : *document_;
    std::map<std::int64_t, std::int64_t> depths = {{0, 0}};
    Statement plan = sql.plan();
    while (plan.step()) {
      const std::int64_t depth = depths[plan.int64(1)];
      depths[plan.int64(0)] = depth + 1;
      Row row = new_row(sql);
      row.emplace_back(depth);
      row.emplace_back(std::string(static_cast<std::size_t>(2 * depth), ' ') + std::string(plan.text(3)));
      renderer.row(row);
    }
    if (own) end_table(renderer);
  }

  void finish(bool any) {
    if (document_ != nullptr && any) end_table(*document_);
  }

 private:
  void note_order(const UserSql& sql, std::size_t rows, bool is_page) {
    head_.if_cut.clear();
    if (rows < 2 || is_ordered(sql.statement())) return;
    std::string note = fmt::format(
        "statement {}: without ORDER BY its rows are in the order SQLite gives, which the next page need not have",
        sql.number());
    if (is_page)
      warnings_.push_back(std::move(note));
    else
      head_.if_cut = std::move(note);
  }

  // How many there are; `take` gets those that are printed.
  std::size_t read_rows(UserSql& sql, Statement& statement, const std::function<void(const Row&)>& take) {
    std::size_t rows = 0;
    const int count = statement.column_count();
    Row row = new_row(sql);  // one for all: their texts share its memory
    const std::size_t first = row.size();
    row.resize(first + static_cast<std::size_t>(count));
    for (; sql.step(statement); ++rows) {
      if (max_rows_ != 0 && rows == offset_ + max_rows_) {
        warnings_.push_back(
            fmt::format("statement {}: stopped after {} (--max-rows)", sql.number(), counted(max_rows_, "row")));
        break;
      }
      for (int c = 0; c < count; ++c) read_printable_cell(statement, c, row[first + static_cast<std::size_t>(c)]);
      if (rows >= offset_ && (limit_ == 0 || rows - offset_ < limit_)) take(row);
    }
    return rows;
  }

  // Null: the document's.
  std::unique_ptr<TableRenderer> begin_table(std::vector<Column> columns, std::size_t total = kAllRows) {
    if (numbered_) columns.insert(columns.begin(), {"statement", "Statement", Unit::kAny, OthersAggregate::kNone});
    auto own = document_ != nullptr ? nullptr : output_.renderer();
    output_.separate("");
    if (offset_ > 0 || document_ == nullptr || total != kAllRows)
      head_.page = RowPage{offset_, kAllRows, total, max_rows_ == 0 ? kAllRows : offset_ + max_rows_};
    (document_ == nullptr ? *own : *document_).begin(head_, columns);
    return own;
  }

  void end_table(TableRenderer& renderer) {
    for (std::string& note : indexes_.take_notes()) warnings_.push_back(std::move(note));
    renderer.end(warnings_);
    for (const std::string& warning : warnings_) output_.note(warning);
    warnings_.clear();
  }

  [[nodiscard]] Row new_row(const UserSql& sql) const {
    Row row;
    if (numbered_) row.emplace_back(static_cast<std::int64_t>(sql.number()));
    return row;
  }

  IndexSet& indexes_;
  bool human_;
  std::size_t max_rows_, limit_, offset_;  // limit_: of those printed, 0: all
  bool counts_;                            // says how many rows there are
  Output& output_;
  ReportHead head_;
  TableRenderer* document_;            // of all statements; null: each has its own table
  bool numbered_;                      // rows say which statement they answer
  std::vector<std::string> warnings_;  // not yet printed
};

// The selection is that of the tables of the passes. `used`: what the statements name.
void refuse_idle_selection(const CommandLine& line, const std::set<std::string>& used) {
  const auto is_used = [&](const PassTable& table) {
    return used.contains(std::string(table.name)) || used.contains(fmt::format("all_{}", table.name));
  };
  if (used.contains("kernel_selected") || std::ranges::any_of(pass_tables(), is_used)) return;
  line.refuse(kSelectionOptions,
              "sql: --{} selects in the tables of the passes (ops, timeline ...), of which the SQL names none; of "
              "kernels: WHERE kernel_selected(id)");
}

void answer_sql(IndexSet& indexes, const std::string& text, const SqlParameters& values, const CommandLine& line,
                std::size_t max_rows, Output& output, const std::set<std::string>& used) {
  Database& database = indexes.main().database();
  const std::size_t count = count_answers(database, text, values);
  refuse_idle_selection(line, used);
  Answers answers(indexes, line, max_rows, output, count);
  UserSql sql(database, text);
  while (auto statement = sql.next(values)) {
    if (statement->column_count() == 0) continue;
    if (line.has("plan") && !statement->is_explain()) {
      answers.print_plan(sql);
    } else {
      answers.print_rows(sql, *statement);
    }
  }
  answers.finish(count > 0);
}

constexpr std::size_t kMaxSqlBytes = 1 << 20;

// What a run is about. Nothing is read or opened for it.
struct Request {
  std::vector<std::string> inputs;  // as given
  std::optional<std::string> sql;   // nullopt: in a file, or there is none
  SqlParameters values = {};        // unless others are given
};

bool is_path(const std::string& word) {
  std::error_code error;
  if (std::filesystem::exists(word, error) || std::filesystem::exists(word.substr(word.find('=') + 1), error))
    return true;
  return word.find_first_of(" \t\r\n;(") == std::string::npos && word.find_first_of("/.") != std::string::npos;
}

Request request(const CommandLine& line) {
  std::vector<std::string> words = line.positional();
  if (const auto name = line.text("recipe")) {
    const Recipe& recipe = find_recipe(*name);
    if (line.has("file") || (!words.empty() && !is_path(words.back()))) {
      throw usage_error("sql: --recipe takes TRACE|INDEX..., and no other SQL");
    }
    return {words, std::string(recipe.sql), recipe.values};
  }
  if (line.has("file") || words.empty() || is_path(words.back())) return {words, {}};
  std::string sql = words.back();
  words.pop_back();
  return {words, sql};
}

// Of --param, and of `values` where it says nothing.
SqlParameters parameters(const CommandLine& line, SqlParameters values) {
  std::set<std::string> given;
  for (const std::string& text : line.words("param")) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) throw usage_error("--param {}: give name=value", text);
    const std::string name = text.substr(0, equals);
    if (!given.insert(name).second) throw usage_error("--param {}: given twice", name);
    values[name] = text.substr(equals + 1);
  }
  return values;
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
  if (const auto name = line.text("recipe")) {  // its SQL, whose comments say what it answers
    OutputTarget(line.text("output")).stream() << find_recipe(*name).sql << std::flush;
    return 0;
  }
  Report report{declared_columns("recipes"), {}};
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

constexpr std::string_view kHelpOnIndexes = R"(
The first index is the one that names without a schema mean. The first ten are also the schemas a, b ..., or under
names of your own: new=b.json, new.kernels. all_kernels, all_steps ..., of each view and each table of the passes,
have the rows of every index, with index_name, source, job (the folder of the trace), rank and date before them;
conditions on these leave whole indexes unread. Sums over many indexes are fastest where each index sums first:
all_kernel_stats. Two tables of all are joined on index_name, one of them as WITH x AS MATERIALIZED (...).
Without SQL, on a terminal: the shell sqlite3, with these functions and the tables of each index.
)";

void add_sql_options(CommandLine& line) {
  line.add("file,f", "read the SQL from this file; - for standard input");
  line.add("param", OptionKind::kList,
           "name=value, bound to :name, as a number where it reads as one; name:text=value: as text; name:null=: as "
           "NULL; may be "
           "repeated");
  line.add("recipe", "run this query of the cookbook; --param sets its parameters");
  line.add("recipes", OptionKind::kFlag,
           "list the queries of the cookbook: the question and the parameters of each; with --recipe its SQL");
  line.add("plan", OptionKind::kFlag, "show how each statement would be answered, and do not run it");
  line.add("offset", "without the first N rows of each statement, which runs again for each page");
  line.add("total", OptionKind::kFlag, "JSON also says how many rows there are: total_rows");
  line.add("limit,n", "print N rows of each statement; 0: all (default: 30 for a table on standard output, else 0)");
  line.add("threads", "indexes read at the same time for the tables of all: 1 to 8 (default: one for each core)");
  line.add("max-rows", "stop after N rows of each statement; 0 (default): all");
  line.add({OptionGroup::kTimeline, OptionGroup::kMicroIdle, OptionGroup::kSteady, OptionGroup::kSequences,
            OptionGroup::kCallTree});
  line.add_help(std::string(kHelpOnIndexes) + help_on_tables() + help_on_functions());
}

bool is_for_shell(const CommandLine& line, const Request& request) {
  return !request.sql && !line.has("file") && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

std::string sql_text(const CommandLine& line, const Request& request) {
  if (const auto file = line.text("file")) return read_small_file_or_input(*file, kMaxSqlBytes);
  if (request.sql == "-") return read_small_file_or_input("-", kMaxSqlBytes);
  if (request.sql) return *request.sql;
  throw usage_error("sql: no SQL given; usage: trace-query {}", line.command().usage);
}

SqlLimits limits(const CommandLine& line) {
  SqlLimits limits;
  if (const auto size = line.text("max-memory"); size && *size != "0") {
    limits.heap_bytes = static_cast<std::int64_t>(parse_size(*size));
  }
  return limits;
}

// "": neither built nor installed beside this program.
std::string extension_file() {
  std::error_code error;
  const std::filesystem::path root = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {"lib", TRACEDB_EXTENSION_FOLDER}) {
    const std::filesystem::path extension = root / folder / "libtracedb_sqlite.so";
    if (std::filesystem::exists(extension, error)) return extension.string();
  }
  return {};
}

void refuse_options_of_statements(const CommandLine& line) {
  line.refuse(
      {"device",     "stream",  "step",   "phase",    "layer",      "op",          "name",       "from",     "to",
       "step-regex", "capture", "format", "csv",      "tsv",        "json",        "jsonl",      "markdown", "output",
       "plan",       "limit",   "param",  "max-rows", "per-stream", "kernel-wait", "micro-idle", "steady"},
      "sql: --{} needs a statement: the shell is sqlite3, which does not know it");
}

// In place of this program: sqlite3, with the extension. Returns where there is no sqlite3.
void run_sqlite_shell(const CommandLine& line, IndexSet& indexes) {
  if (const auto rules = line.text("rules")) ::setenv("TRACEDB_RULES", rules->c_str(), 1);
  std::vector<std::string> words = {"sqlite3", "-readonly", "-box"};
  const std::string extension = extension_file();
  if (!extension.empty()) words.insert(words.end(), {"-cmd", fmt::format(".load {}", quoted_text(extension))});
  std::vector<std::string> notes = indexes.take_notes();
  if (extension.empty())
    notes.emplace_back("libtracedb_sqlite.so is not there: only the tables of the index, no passes");
  for (const std::string& note : notes) std::cerr << "note: " << escape_text(note) << '\n';
  const auto files = indexes.schema_files();
  for (std::size_t i = 1; i < files.size(); ++i) {
    words.insert(words.end(), {"-cmd", fmt::format("ATTACH {} AS {};", quoted_text(files[i].second.string()),
                                                   quoted_name(files[i].first))});
  }
  words.push_back(files.front().second);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
}

int run_sql(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kSelection, OptionGroup::kLayers, OptionGroup::kRules, OptionGroup::kSteps,
                             OptionGroup::kCapture, OptionGroup::kOutput, OptionGroup::kInput});
  add_sql_options(line);
  line.find_inputs_later();
  if (!line.parse(without_leading_comments(args))) return 0;
  if (line.has("recipes")) return print_recipes(line);
  const Request asked = request(line);
  std::vector<std::string> notes;
  std::vector<SqlInput> inputs = find_sql_inputs(asked.inputs, line.text("files-from"), notes);
  for (const std::string& one : notes) note(line, one);
  std::vector<std::string> paths;
  for (const SqlInput& input : inputs) paths.push_back(input.path);
  line.set_inputs(std::move(paths));
  static_cast<void>(line.inputs());  // there must be one
  const bool is_shell = is_for_shell(line, asked);
  const std::string sql = is_shell ? "" : sql_text(line, asked);
  const SqlParameters values = parameters(line, asked.values);
  const PassOptions options = requested_pass_options(line);
  const auto max_rows = static_cast<std::size_t>(line.number("max-rows").value_or(0));
  if (is_shell) refuse_options_of_statements(line);
  const RequestedWorkload requested(line, inputs.size() > 1);
  IndexSet indexes(std::move(inputs), line, requested, options);
  if (is_shell) {
    run_sqlite_shell(line, indexes);
    throw usage_error("sql: give a statement: its shell is sqlite3, which is not installed");
  }
  Output output(line);
  indexes.add_tables(sql);
  {
    const SqlGuard guard(indexes.main().database(), limits(line));
    answer_sql(indexes, sql, values, line, max_rows, output, guard.used());
  }
  output.finish();
  return indexes.exit_code();
}

}  // namespace

Command sql_command() {
  return {"sql", "read-only SQL on one or many indexes; 'trace-query schema' lists tables and columns",
          "sql [options] [NAME=]TRACE|INDEX|FOLDER... [\"SQL\" | -f FILE | - | --recipe NAME]",
          "  trace-query sql trace.json.gz 'SELECT name, sum(dur) FROM kernels GROUP BY name ORDER BY 2 DESC LIMIT 5'\n"
          "  trace-query sql trace.json.gz 'SELECT layer, op, sum(dur) FROM kernels GROUP BY 1, 2'\n"
          "  trace-query sql trace.json.gz 'SELECT * FROM gaps_by_cause' --phase decode\n"
          "  trace-query sql trace.json.gz 'SELECT * FROM kernels WHERE dur > :least' --param least=1000000 --csv\n"
          "  trace-query sql trace.json.gz --recipe gemm_shapes --param phase=prefill\n"
          "  trace-query sql old=a.json new=b.json 'SELECT name, o.total, n.total FROM old.kernel_stats o JOIN "
          "new.kernel_stats n USING (name)'\n"
          "  trace-query sql trace.json.gz          (on a terminal: the shell sqlite3)\n"
          "  trace-query sql runs/ 'SELECT index_name, rank, sum(n), sum(total) FROM all_kernel_stats GROUP BY 1'",
          run_sql};
}

}  // namespace tracedb
