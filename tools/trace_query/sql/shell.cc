#include "trace_query/sql/shell.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "base/failure.h"
#include "base/text/closest_name.h"
#include "passes/tables/pass_tables.h"
#include "report/escape.h"
#include "sql/scripts.h"
#include "sql/user/recipes.h"
#include "sql/user/schema_text.h"
#include "sql/user/user_sql.h"
#include "trace_query/limits.h"
#include "trace_query/sql/line_reader.h"

namespace tracedb {
namespace {

// Set by Ctrl-C; a handler can reach nothing else.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
pthread_t main_thread{};

void interrupt(int signal) {
  if (::pthread_equal(::pthread_self(), main_thread) == 0) {  // the main thread waits for lines: it has to wake up
    ::pthread_kill(main_thread, signal);
    return;
  }
  constexpr std::string_view kLine = "\ntrace-query: interrupted\n";
  if (interrupted.exchange(true)) {  // the first had no effect yet: work that looks at no flag
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    ::_exit(static_cast<int>(ErrorCode::kInterrupted));
  }
}

void catch_interrupts() {
  main_thread = ::pthread_self();
  struct sigaction action {};
  action.sa_handler = interrupt;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);  // without SA_RESTART: a read of a line ends
}

constexpr std::string_view kHelp =
    "Statements end with a semicolon, and may have several lines.\n"
    "  .tables               tables and views; all_kernels ... of all indexes, a.kernels ... of one\n"
    "  .schema [TABLE]       its columns and what they mean\n"
    "  .recipes              the queries of the cookbook\n"
    "  .recipe NAME [P=V...] run one of them\n"
    "  .mode FORMAT          table, csv, tsv, json, jsonl or markdown\n"
    "  .timer on|off         print how long each statement takes\n"
    "  .help                 this text\n"
    "  .quit                 end, as Ctrl-D does\n"
    "Tab completes names; Ctrl-C cancels a statement.\n";

std::vector<std::string> names_by(Database& database, std::string_view sql) {
  std::vector<std::string> names;
  Statement statement(database, sql);
  while (statement.step()) names.emplace_back(statement.text(0));
  return names;
}

constexpr std::string_view kTables =
    "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name";
constexpr std::string_view kTablesOfAll = "SELECT name FROM pragma_module_list WHERE name GLOB 'all_*' ORDER BY name";
constexpr std::string_view kFunctions = "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z]*'";
constexpr std::string_view kSchemas =
    "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp') ORDER BY seq";
constexpr std::array<std::string_view, 9> kShellCommands = {".tables", ".schema", ".recipes", ".recipe", ".mode",
                                                            ".timer",  ".help",   ".quit",    ".exit"};
constexpr std::array<std::string_view, 22> kWords = {
    "SELECT", "FROM",    "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "DISTINCT", "WITH", "AS",    "JOIN",
    "USING",  "BETWEEN", "LIKE",  "GLOB",     "CASE",     "WHEN",   "THEN",  "ELSE",     "END",  "UNION", "EXPLAIN"};

std::string cells_in_columns(const std::vector<std::string>& names) {
  constexpr std::size_t kWidth = 80;
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size() + 2);
  const std::size_t columns = std::max<std::size_t>(1, kWidth / longest);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size() || (i + 1) % columns == 0;
    text += is_last ? names[i] + "\n" : fmt::format("{:{}}", names[i], longest);
  }
  return text;
}

class Shell {
 public:
  Shell(IndexSet& indexes, AnswerOptions options, SqlParameters values, Output& output)
      : indexes_(indexes),
        database_(indexes.main().database()),
        options_(std::move(options)),
        values_(std::move(values)),
        output_(output),
        reader_(
            state_file("sql_history"), [this](std::string_view word) { return completions(word); }, interrupted) {}

  void run();

 private:
  std::optional<TypedLine> read_line();
  void take_line(const std::string& line);
  void run_command(const std::string& line);
  void run_sql(const std::string& text, const SqlParameters& values);
  void print_tables();
  void print_schema(const std::string& table);
  void print_recipes();
  void run_recipe(const std::string& name, std::istream& words);
  void set_mode(const std::string& name);
  std::vector<std::string> completions(std::string_view word);
  const std::set<std::string>& known_words();

  IndexSet& indexes_;
  Database& database_;
  AnswerOptions options_;
  const SqlParameters values_;
  Output& output_;
  bool timed_ = false, quits_ = false;
  std::string statement_;        // typed so far
  std::set<std::string> words_;  // for completion
  LineReader reader_;
};

void Shell::run() {
  std::cout << fmt::format("{}; .help says what there is, .quit or Ctrl-D ends.\n", indexes_.description());
  while (!quits_) {
    catch_interrupts();
    interrupted = false;
    const auto line = read_line();
    if (!line) break;
    if (line->is_cancelled) {
      statement_.clear();
    } else {
      take_line(line->text);
    }
  }
  if (!quits_) std::cout << '\n';
}

std::optional<TypedLine> Shell::read_line() {
  const RunLimits::Pause pause;
  return reader_.read(statement_.empty() ? "sql> " : "...> ");
}

void Shell::take_line(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (statement_.empty() && first == std::string::npos) return;
  const auto failure = catch_error([&] {
    if (statement_.empty() && line[first] == '.') return run_command(line.substr(first));
    statement_ += line + "\n";
    if (is_complete_sql(statement_)) run_sql(std::exchange(statement_, {}), {});
  });
  if (!failure) return;
  output_.stream().flush();
  std::cerr << "trace-query: " << escape_text(failure->what()) << '\n';
}

void Shell::run_sql(const std::string& text, const SqlParameters& values) {
  const auto begin = std::chrono::steady_clock::now();
  SqlParameters all = values_;
  for (const auto& [name, value] : values) all[name] = value;
  RunLimits::of_process().restart();
  answer_sql(indexes_, text, all, options_, output_);
  output_.stream().flush();
  if (timed_) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::cout << fmt::format("{:.3f} s\n", time.count());
  }
}

void Shell::run_command(const std::string& line) {
  std::istringstream words(line);
  std::string command, argument;
  words >> command >> argument;
  if (command == ".quit" || command == ".exit") {
    quits_ = true;
  } else if (command == ".help") {
    std::cout << kHelp;
  } else if (command == ".tables") {
    print_tables();
  } else if (command == ".schema") {
    argument.empty() ? print_tables() : print_schema(argument);
  } else if (command == ".recipes") {
    print_recipes();
  } else if (command == ".recipe") {
    run_recipe(argument, words);
  } else if (command == ".mode") {
    set_mode(argument);
  } else if (command == ".timer" && (argument == "on" || argument == "off")) {
    timed_ = argument == "on";
  } else if (command == ".timer") {
    throw Error(ErrorCode::kUsage, ".timer: on or off");
  } else {
    const std::vector<std::string> known(kShellCommands.begin(), kShellCommands.end());
    throw Error(ErrorCode::kUsage,
                fmt::format("no command {}{} (.help lists them)", command, did_you_mean(command, known)));
  }
  std::cout << std::flush;
}

void Shell::print_tables() {
  std::vector<std::string> passes;
  for (const PassTable& table : pass_tables()) passes.emplace_back(table.name);
  std::sort(passes.begin(), passes.end());
  std::cout << cells_in_columns(names_by(database_, kTables)) << "\nOf the passes:\n" << cells_in_columns(passes);
  std::cout << "\nOf all indexes:\n" << cells_in_columns(names_by(database_, kTablesOfAll));
  const std::vector<std::string> schemas = names_by(database_, kSchemas);
  if (schemas.empty()) return;
  std::cout << "\nOf one index, for example " << schemas.back() << ".kernels:\n" << cells_in_columns(schemas);
}

void Shell::print_schema(const std::string& table) {
  const std::string name = table.ends_with(';') ? table.substr(0, table.size() - 1) : table;
  SchemaComments comments;
  for (const char* which : {"core", "views", "sql_views"}) comments.merge(schema_comments(script(which)));
  for (const PassTable& pass : pass_tables()) {
    for (const TableColumn& column : pass.columns)
      comments[{std::string(pass.name), std::string(column.name)}] = column.meaning;
  }
  const std::string plain = name.starts_with("all_") ? name.substr(4) : name.substr(name.find('.') + 1);
  Statement columns(database_, "SELECT name, type FROM pragma_table_info(?1)");
  columns.bind(1, std::string_view(name.starts_with("all_") ? name : plain));
  bool any = false;
  for (; columns.step(); any = true) {
    const std::string column(columns.text(0));
    const std::string& own = comments[{plain, column}];
    std::cout << fmt::format("{:26} {:8} {}\n", column, columns.text(1), own.empty() ? usual_comment(column) : own);
  }
  if (any) return;
  const std::set<std::string>& words = known_words();
  const std::vector<std::string> known(words.begin(), words.end());
  throw Error(ErrorCode::kUsage, fmt::format("no table {}{}", name, did_you_mean(name, known)));
}

void Shell::print_recipes() {
  for (const Recipe& recipe : recipes()) {
    std::cout << fmt::format("{:24} {}{}\n", recipe.name, recipe.question,
                             recipe.parameters.empty() ? "" : "  (" + recipe.parameters + ")");
  }
}

void Shell::run_recipe(const std::string& name, std::istream& words) {
  const Recipe& recipe = find_recipe(name);
  SqlParameters values = recipe.values;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::kUsage, fmt::format("{}: give name=value", word));
    values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  run_sql(std::string(recipe.sql), values);
}

void Shell::set_mode(const std::string& name) {
  const Renderer* found = find_renderer(name);
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const Renderer& renderer : renderers()) known.emplace_back(renderer.name);
    throw Error(ErrorCode::kUsage, fmt::format("no mode '{}'{}; there are table, csv, tsv, json, jsonl and markdown",
                                               name, did_you_mean(name, known)));
  }
  options_.format = found;
}

const std::set<std::string>& Shell::known_words() {
  if (!words_.empty()) return words_;
  for (const std::string_view sql : {kTables, kTablesOfAll, kFunctions}) {
    for (std::string& name : names_by(database_, sql)) words_.insert(std::move(name));
  }
  const std::vector<std::string> schemas = names_by(database_, kSchemas);
  std::vector<std::string> tables = names_by(database_, kTables);
  for (const PassTable& table : pass_tables()) tables.emplace_back(table.name);
  Statement columns(database_, "SELECT name FROM pragma_table_info(?1)");
  for (const std::string& table : tables) {
    words_.insert(table);
    for (const std::string& schema : schemas) words_.insert(schema + "." + table);
    columns.bind(1, std::string_view(table));
    while (columns.step()) words_.emplace(columns.text(0));
    columns.reset();
  }
  words_.insert(kWords.begin(), kWords.end());
  for (const Recipe& recipe : recipes()) words_.emplace(recipe.name);
  words_.insert(kShellCommands.begin(), kShellCommands.end());
  return words_;
}

// Names that begin with the word; keywords also where it is in small letters.
std::vector<std::string> Shell::completions(std::string_view word) {
  std::vector<std::string> found;
  std::string large(word);
  for (char& c : large) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string& known : known_words()) {
    if (known.starts_with(word)) found.push_back(known);
  }
  if (!found.empty() || word.empty()) return found;
  for (const std::string_view keyword : kWords) {
    if (keyword.starts_with(large)) found.emplace_back(keyword);
  }
  return found;
}

}  // namespace

void run_shell(IndexSet& indexes, AnswerOptions options, const SqlParameters& values, Output& output) {
  options.spare_values = true;
  indexes.cancel_on(&interrupted);
  Shell(indexes, std::move(options), values, output).run();
  indexes.cancel_on(nullptr);
}

}  // namespace tracedb
