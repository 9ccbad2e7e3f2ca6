#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/failure.h"
#include "passes/sql/kernel_words.h"
#include "shared/option_parsing.h"
#include "sql/safety.h"
#include "sql/user_sql.h"
#include "trace_query/command.h"
#include "trace_query/layers.h"
#include "trace_query/open.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

constexpr std::size_t kMaxSqlBytes = 1 << 20;

struct Request {
  std::string input;
  std::string sql;
};

std::string read_all(std::istream& in, const std::string& name) {
  std::string text(kMaxSqlBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw Error(ErrorCode::kInput, name + ": cannot be read");
  if (text.size() > kMaxSqlBytes) throw Error(ErrorCode::kUsage, name + ": more than 1 MiB of SQL");
  return text;
}

Request request(const CommandLine& line) {
  const auto file = line.text("file");
  const auto inputs = line.inputs();
  const std::size_t wanted = file ? 1 : 2;
  if (inputs.size() != wanted) {
    throw Error(ErrorCode::kUsage, fmt::format("sql: {} arguments, expected {}: trace-query {}", inputs.size(), wanted,
                                               line.command().usage));
  }
  if (file && *file != "-") {
    std::ifstream in(*file, std::ios::binary);
    if (!in) throw Error(ErrorCode::kInput, *file + ": cannot be opened");
    return {inputs[0], read_all(in, *file)};
  }
  if (file || inputs[1] == "-") return {inputs[0], read_all(std::cin, "standard input")};
  return {inputs[0], inputs[1]};
}

std::map<std::string, std::string> parameters(const CommandLine& line) {
  std::map<std::string, std::string> values;
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

// What op, layer and the others mean in statements; found when one asks.
KernelWords::Find layers_finder(const CommandLine& line, const CaptureInForce& capture) {
  return [&](const Index& index, std::vector<Traits> traits) {
    LoadedLayers loaded = load_layers(index, line, std::move(traits), &capture);
    KernelWords::Found found{std::move(loaded.layers.of_kernel), std::move(loaded.layers.stacks), {}, loaded.notes()};
    if (capture.given()) found.lent = lent_words(capture.capture(), capture.index(), loaded.lent);
    return found;
  };
}

KernelWords::FindSteps steps_finder(const CommandLine& line) {
  return [&](const Index& index, const KernelWords::FindTraits& traits) {
    const bool classified = needs_traits(index, {line.text("step-regex")});
    LoadedSteps loaded = load_steps(index, line, classified ? traits() : std::vector<Traits>{});
    return StepWords::Found{std::move(loaded.events), std::move(loaded.set)};
  };
}

// What is wrong with rules or a capture is said before anything runs; without either, no rules are read here.
CaptureInForce capture_of(const CommandLine& line) {
  if (!line.has("rules") && !line.has("capture")) return {};
  return {line, RulesInForce(line)};
}

// How many statements will yield rows. Prepares all of them: what is wrong with the last is said before the first runs.
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
  std::size_t max_rows;
  std::unique_ptr<TableRenderer> document;  // of all statements; null: each has its own table
  bool numbered;                            // rows say which statement they answer
  std::vector<std::string> warnings;        // not yet printed
  KernelWords& words;
};

void print_warnings(TableRenderer& renderer, Answers& answers) {
  renderer.end(answers.warnings);
  for (const std::string& warning : answers.warnings) answers.output.note(warning);
  answers.warnings.clear();
}

bool next_row(UserSql& sql, Statement& statement, const KernelWords& words) {
  bool row = false;
  if (const auto failure = failure_of([&] { row = sql.step(statement); })) {
    words.rethrow();  // a damaged index is no fault of the statement's
    throw Error(*failure);
  }
  return row;
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
  while (next_row(sql, statement, answers.words)) {
    if (answers.max_rows != 0 && rows == answers.max_rows) {
      answers.warnings.push_back(
          fmt::format("statement {}: stopped after {} rows (--max-rows)", sql.number(), answers.max_rows));
      break;
    }
    Row row;
    if (answers.numbered) row.emplace_back(static_cast<std::int64_t>(sql.number()));
    for (int c = 0; c < statement.column_count(); ++c) row.push_back(printable_cell(statement, c));
    renderer.row(row);
    ++rows;
  }
  for (const std::string& note : answers.words.steps().take_notes()) answers.warnings.push_back("steps: " + note);
  for (const std::string& note : answers.words.take_notes()) answers.warnings.push_back("layers: " + note);
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

int run(std::span<const std::string> args) {
  CommandLine line(kSqlCommand, {OptionGroup::kRules, OptionGroup::kSteps, OptionGroup::kCapture, OptionGroup::kOutput,
                                 OptionGroup::kInput});
  line.add("file,f", OptionKind::kValue, "read the SQL from this file; - for standard input");
  line.add("param", OptionKind::kList, "name=value, bound to :name; may be repeated");
  line.add("max-rows", OptionKind::kValue, "stop after N rows of each statement; 0 (default): all");
  if (!line.parse(without_leading_comments(args))) return 0;
  const Request asked = request(line);
  const auto values = parameters(line);
  const auto max_rows = static_cast<std::size_t>(line.number("max-rows").value_or(0));
  SqlLimits limits;
  if (const auto size = line.text("max-memory"); size && *size != "0") {
    limits.heap_bytes = static_cast<std::int64_t>(parse_size(*size));
  }
  Output output(line);
  OpenedTrace trace = open_trace(asked.input, line);
  const CaptureInForce capture = capture_of(line);
  KernelWords words(trace.index, rules_asked(line), layers_finder(line, capture), steps_finder(line));
  register_kernel_words(trace.index.database(), &words);
  make_kernel_views(trace.index.database());
  {
    const SqlGuard guard(trace.index.database(), limits);
    const std::size_t count = count_answers(trace.index.database(), asked.sql, values);
    const bool one_document = line.renderer().tables == Tables::kOneDocument;
    Answers answers{output,
                    {"sql", {asked.input}},
                    max_rows,
                    one_document ? output.renderer() : nullptr,
                    one_document && count > 1,
                    std::move(trace.notes),
                    words};
    UserSql sql(trace.index.database(), asked.sql);
    while (auto statement = sql.next(values)) {
      if (statement->column_count() > 0) print_rows(sql, *statement, answers);
    }
    if (answers.document && count > 0) print_warnings(*answers.document, answers);
  }
  output.finish();
  return 0;
}

}  // namespace

const Command kSqlCommand = {
    "sql", "read-only SQL on one index; 'trace-query schema' lists tables and columns",
    "sql [options] TRACE|INDEX \"SQL\" | -f FILE | -",
    "  trace-query sql trace.json.gz 'SELECT name, sum(dur) FROM kernels GROUP BY name ORDER BY 2 DESC LIMIT 5'\n"
    "  trace-query sql trace.json.gz 'SELECT layer, op, sum(dur) FROM kernels GROUP BY 1, 2'\n"
    "  trace-query sql trace.json.gz 'SELECT * FROM kernels WHERE dur > :least' --param least=1000000 --csv",
    run};

}  // namespace tracedb
