#include "trace_query/sql/answers.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "base/text/amounts.h"
#include "sql/user/user_sql.h"

namespace tracedb {
namespace {

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
  if (sql.number() == 0) throw Error(ErrorCode::kUsage, "sql: no statement in the SQL text");
  for (const auto& [name, value] : values) {
    if (!sql.bound().contains(name)) {
      throw Error(ErrorCode::kUsage, fmt::format("--param {}: no statement has a parameter :{}", name, name));
    }
  }
  return answers;
}

// Nothing here grows with the number of rows but for tables for people, which need all of them anyway.
class Answers {
 public:
  Answers(IndexSet& indexes, const AnswerOptions& options, Output& output, std::size_t count)
      : indexes_(indexes), options_(options), output_(output), head_{"sql", options.inputs} {
    if (options.format->tables != Tables::kOneDocument) return;
    document_ = output.renderer(*options.format);
    numbered_ = count > 1;
  }

  void print_rows(UserSql& sql, Statement& statement);
  void print_plan(UserSql& sql);
  void finish(bool any) {
    if (document_ && any) end_table(*document_);
  }

 private:
  std::unique_ptr<TableRenderer> begin_table(std::vector<Column> columns);  // null: the document's
  void end_table(TableRenderer& renderer);
  Row new_row(const UserSql& sql) const;

  IndexSet& indexes_;
  const AnswerOptions& options_;
  Output& output_;
  ReportHead head_;
  std::unique_ptr<TableRenderer> document_;  // of all statements; null: each has its own table
  bool numbered_ = false;                    // rows say which statement they answer
  std::vector<std::string> warnings_;        // not yet printed
};

std::unique_ptr<TableRenderer> Answers::begin_table(std::vector<Column> columns) {
  if (numbered_) columns.insert(columns.begin(), {"statement", "Statement", Unit::kAny, OthersAggregate::kNone});
  auto own = document_ ? nullptr : output_.renderer(*options_.format);
  output_.separate("");
  (own ? *own : *document_).begin(head_, columns);
  return own;
}

void Answers::end_table(TableRenderer& renderer) {
  for (std::string& note : indexes_.take_notes()) warnings_.push_back(std::move(note));
  renderer.end(warnings_);
  for (const std::string& warning : warnings_) output_.note(warning);
  warnings_.clear();
}

Row Answers::new_row(const UserSql& sql) const {
  Row row;
  if (numbered_) row.emplace_back(static_cast<std::int64_t>(sql.number()));
  return row;
}

void Answers::print_rows(UserSql& sql, Statement& statement) {
  std::vector<Column> columns;
  for (int c = 0; c < statement.column_count(); ++c) {
    const std::string name(statement.column_name(c));
    columns.push_back({name, name, Unit::kAny, OthersAggregate::kNone, name == "kernel" ? Fit::kNames : Fit::kUsual});
  }
  Report shown{columns, {}};  // rows for people: they wait for all names of kernels
  const auto own = begin_table(std::move(columns));
  TableRenderer& renderer = own ? *own : *document_;
  std::size_t rows = 0;
  const int count = statement.column_count();
  Row row = new_row(sql);  // one for all: their texts share its memory
  const std::size_t first = row.size();
  row.resize(first + static_cast<std::size_t>(count));
  while (sql.step(statement)) {
    if (options_.max_rows != 0 && rows == options_.max_rows) {
      warnings_.push_back(
          fmt::format("statement {}: stopped after {} (--max-rows)", sql.number(), counted(options_.max_rows, "row")));
      break;
    }
    for (int c = 0; c < count; ++c) read_printable_cell(statement, c, row[first + static_cast<std::size_t>(c)]);
    if (options_.limit == 0 || rows < options_.limit) {
      if (options_.format->audience == Audience::kHuman) {
        shown.rows.push_back(row);
      } else {
        renderer.row(row);
      }
    }
    ++rows;
  }
  output_.shorten_names(shown);
  for (const Row& each : shown.rows) renderer.row(each);
  if (options_.limit != 0 && rows > options_.limit) {
    warnings_.push_back(
        fmt::format("statement {}: {}; --limit 0 shows all", sql.number(), counted(rows - options_.limit, "more row")));
  }
  if (own) end_table(renderer);
}

// How a statement would be answered, as a tree.
void Answers::print_plan(UserSql& sql) {
  const auto own = begin_table(
      {{"depth", "Depth", Unit::kAny, OthersAggregate::kNone}, {"plan", "Plan", Unit::kText, OthersAggregate::kNone}});
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

}  // namespace

void answer_sql(IndexSet& indexes, const std::string& text, const SqlParameters& values, const AnswerOptions& options,
                Output& output) {
  Database& database = indexes.main().database();
  const std::size_t count = count_answers(database, text, values);
  Answers answers(indexes, options, output, count);
  UserSql sql(database, text);
  while (auto statement = sql.next(values)) {
    if (statement->column_count() == 0) continue;
    if (options.only_plan && !statement->is_explain()) {
      answers.print_plan(sql);
    } else {
      answers.print_rows(sql, *statement);
    }
  }
  answers.finish(count > 0);
}

}  // namespace tracedb
