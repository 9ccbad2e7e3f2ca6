#include "sql/user/user_sql.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/error.h"
#include "base/failure.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "sql/tables/column_table.h"
#include "sql/tables/set_table.h"

namespace tracedb {

namespace {

bool is_word_part(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80U;
}

bool is_comment(std::string_view rest) { return rest.starts_with("--") || rest.starts_with("/*"); }

std::size_t token_size(std::string_view rest) {
  const auto through = [rest](std::string_view end, std::size_t from) {
    const std::size_t at = rest.find(end, from);
    return at == std::string_view::npos ? rest.size() : at + end.size();
  };
  if (is_comment(rest)) return through(rest[0] == '-' ? "\n" : "*/", 2);
  if (rest[0] == '[') return through("]", 1);
  if (rest[0] == '\'' || rest[0] == '"' || rest[0] == '`') return through(rest.substr(0, 1), 1);
  const auto word = std::ranges::find_if_not(rest, is_word_part) - rest.begin();
  if (word > 0) return static_cast<std::size_t>(word);
  return rest.size() > 1 && (rest[1] == '=' || rest.starts_with("<>")) ? 2 : 1;
}

// GROUP BY column / 1000 without a sort. SQLite sorts the rows for GROUP BY an expression, which costs several times
// what the rest of the statement does, where for a column of column_table.h it is told that rows come in order. So the
// values of the expression become a spare column of the table, and the statement groups by that: its groups, rows and
// names of columns stay what they are.

using Tokens = std::span<const std::string_view>;  // of the statement

// Words, numbers, texts in quotes and signs. nullopt: there is something else.
std::optional<std::vector<std::string_view>> tokens_of(std::string_view statement) {
  const bool has_other = statement.find_first_of("\"`[") != std::string_view::npos ||
                         statement.find("--") != std::string_view::npos ||
                         statement.find("/*") != std::string_view::npos;
  return has_other ? std::nullopt : std::optional(sql_tokens(statement));
}

// The first of the words that is in no brackets; the end: there is none.
std::size_t find_word(Tokens tokens, std::initializer_list<std::string_view> words) {
  int depth = 0;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    depth += tokens[at] == "(" ? 1 : tokens[at] == ")" ? -1 : 0;
    const auto is_here = [&](std::string_view word) { return is_same_name(tokens[at], word); };
    if (depth == 0 && std::ranges::any_of(words, is_here)) return at;
  }
  return tokens.size();
}

std::vector<Tokens> between_commas(Tokens tokens) {
  std::vector<Tokens> out;
  while (true) {
    const std::size_t end = find_word(tokens, {","});
    out.push_back(tokens.first(end));
    if (end == tokens.size()) return out;
    tokens = tokens.subspan(end + 1);
  }
}

struct GroupedSelect {
  std::string_view view, name;  // "": the view has no other
  std::vector<Tokens> items, terms;
};

std::optional<GroupedSelect> grouped_select(Tokens tokens) {
  const auto is_select = [](std::string_view token) { return is_same_name(token, "SELECT"); };
  if (tokens.empty() || std::ranges::count_if(tokens, is_select) != 1 || !is_select(tokens[0])) return {};
  const std::size_t from = find_word(tokens, {"FROM"});
  const std::size_t group = find_word(tokens, {"GROUP"});
  if (group > tokens.size() - 2 || from > group - 2 || !is_same_name(tokens[group + 1], "BY")) return {};
  GroupedSelect out{tokens[from + 1], {}, between_commas(tokens.subspan(1, from - 1)), {}};
  Tokens name = tokens.subspan(from + 2, std::min(group, find_word(tokens, {"WHERE"})) - from - 2);
  if (!name.empty() && is_same_name(name[0], "AS")) name = name.subspan(1);
  if (name.size() > 1) return {};
  if (!name.empty()) out.name = name[0];
  const Tokens rest = tokens.subspan(group + 2);
  out.terms = between_commas(rest.first(find_word(rest, {"HAVING", "ORDER", "LIMIT", "WINDOW", ";"})));
  return out;
}

// A column, or a comparison or quotient of one with a number.
struct Value {
  int column;
  std::string_view op;  // "": the column
  std::int64_t number = 0;
  std::string_view name;  // AS name
};

std::optional<Value> value_of(const ColumnTableSource& table, const GroupedSelect& select, Tokens tokens) {
  constexpr std::array<std::string_view, 7> kOperators = {"/", "%", "<", "<=", ">", ">=", "="};
  if (tokens.size() > 2 && tokens[1] == ".") {
    if (!is_same_name(tokens[0], select.name.empty() ? select.view : select.name)) return std::nullopt;
    tokens = tokens.subspan(2);
  }
  Value out{tokens.empty() ? -1 : table.number_of(tokens[0]), {}, 0, {}};
  if (out.column < 0) return std::nullopt;
  if (tokens.size() > 2 && std::ranges::find(kOperators, tokens[1]) != kOperators.end()) {
    const auto number = parse_int64(tokens[2]);
    if (!number || table.types[static_cast<std::size_t>(out.column)] != ColumnType::kInteger) return std::nullopt;
    out.op = tokens[1];
    out.number = *number;
    tokens = tokens.subspan(2);
  }
  if (tokens.size() == 3 && is_same_name(tokens[1], "AS")) out.name = tokens[2];
  return tokens.size() == 1 || !out.name.empty() ? std::optional(out) : std::nullopt;
}

// As SQLite finds what a term means: a number is a column of the answer, a name a column of the table, else one of the
// answer.
std::optional<Value> meaning_of(const ColumnTableSource& table, const GroupedSelect& select, Tokens term) {
  if (term.size() != 1 || table.number_of(term[0]) >= 0) return value_of(table, select, term);
  const auto number = parse_int64(term[0]);
  for (std::size_t i = 0; i < select.items.size(); ++i) {
    const auto value = value_of(table, select, select.items[i]);
    const bool is_it =
        number ? *number == static_cast<std::int64_t>(i) + 1 : value && is_same_name(value->name, term[0]);
    if (is_it) return value;
  }
  return std::nullopt;
}

// nullopt: not all are whole numbers or NULL.
std::optional<LargeVector<std::int64_t>> whole_numbers(const ArrayColumn& column) {
  const auto numbers = column.numbers();
  if (column.kind() == ArrayColumn::Kind::kNumbers) return LargeVector<std::int64_t>(numbers.begin(), numbers.end());
  if (column.kind() == ArrayColumn::Kind::kThousandths) return std::nullopt;
  LargeVector<std::int64_t> out(column.size());
  const auto places = column.places();
  if (column.kind() == ArrayColumn::Kind::kIds) {
    std::ranges::transform(places, out.begin(), id_cell);
    return out;
  }
  std::vector<std::int64_t> values;
  for (const ArrayValue& value : column.values()) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr && !std::holds_alternative<std::monostate>(value)) return std::nullopt;
    values.push_back(number == nullptr ? kUnknownValue : *number);
  }
  std::ranges::transform(places, out.begin(),
                         [&](std::uint32_t place) { return place < values.size() ? values[place] : kUnknownValue; });
  return out;
}

// As SQLite computes it. `b` is not negative: no result needs more than 64 bits.
void apply(std::string_view op, std::int64_t b, std::span<std::int64_t> values) {
  const auto each = [&](auto result) {
    for (std::int64_t& a : values) a = a == kUnknownValue ? a : result(a);
  };
  if (op == "/") each([b](std::int64_t a) { return b == 0 ? kUnknownValue : a / b; });
  if (op == "%") each([b](std::int64_t a) { return b == 0 ? kUnknownValue : a % b; });
  if (op == "<") each([b](std::int64_t a) { return std::int64_t{a < b}; });
  if (op == "<=") each([b](std::int64_t a) { return std::int64_t{a <= b}; });
  if (op == ">") each([b](std::int64_t a) { return std::int64_t{a > b}; });
  if (op == ">=") each([b](std::int64_t a) { return std::int64_t{a >= b}; });
  if (op == "=") each([b](std::int64_t a) { return std::int64_t{a == b}; });
}

// Makes a spare column that of a value, unless it is; false: there are too few, or not all values are whole numbers.
bool fill(ColumnTableSource& table, std::size_t spare, const Value& value) {
  if (spare >= kSpareColumns) return false;
  const std::size_t place = table.names.size() - kSpareColumns + spare;
  const std::string text =
      fmt::format("{} {} {}", table.names[static_cast<std::size_t>(value.column)], value.op, value.number);
  if (table.columns[place] && table.names[place] == text) return true;
  auto numbers = whole_numbers(table.column(value.column));
  if (!numbers) return false;
  apply(value.op, value.number, *numbers);
  table.columns[place].emplace(ArrayColumn::of_numbers(std::move(*numbers)));
  table.rows_by_key[place].clear();
  table.names[place] = text;
  return true;
}

std::string grouped(Database& database, std::string_view statement) {
  const auto tokens = tokens_of(statement);
  const auto select = tokens ? grouped_select(*tokens) : std::nullopt;
  ColumnTableSource* const table = select ? column_table(database, select->view) : nullptr;
  if (table == nullptr) return {};
  std::vector<std::optional<Value>> values;
  for (const Tokens term : select->terms) values.push_back(meaning_of(*table, *select, term));
  if (!std::ranges::all_of(values, &std::optional<Value>::has_value)) return {};
  std::string text(statement);
  const auto replace = [&](const char* from, const char* end, const std::string& by) {
    text.replace(static_cast<std::size_t>(from - statement.data()), static_cast<std::size_t>(end - from), by);
  };
  std::size_t spare = 0;
  for (std::size_t i = values.size(); i-- > 0;) {  // from the end of the text, as places before it stay
    if (values[i]->op.empty()) continue;
    if (!fill(*table, spare, *values[i])) return {};
    const std::string_view last = select->terms[i].back();
    replace(select->terms[i].front().data(), last.data() + last.size(), fmt::format("\"{}\"", spare_name(spare++)));
  }
  if (spare == 0) return {};
  const std::string_view view = select->view;
  replace(view.data(), view.data() + view.size(),
          select->name.empty() ? fmt::format("{} AS {}", table->name, view) : table->name);
  return text;
}

// The same statement, grouped by spare columns; "": it is none of these, or there is nothing to gain. It must be one
// that SQLite has accepted. `view` is one that a column table stands for.
//
//   statement   SELECT item, ... FROM view [[AS] name] [WHERE ...] GROUP BY term, ... [HAVING ...] [ORDER BY ...] ...
//   term        value, or the number or name of an item that is: value [AS name]
//   value       [view.]column [op number]; op: / % < <= > >= =; the column has whole numbers only
//
// A statement with names in quotes, comments or another SELECT is none of these. The spare columns are those of the
// statement until the next call.
//
// What fails here fails again, and is reported, when the statement as it was reads the table.
std::string with_group_columns(Database& database, std::string_view statement) {
  std::string text;
  if (catch_error([&] { text = grouped(database, statement); })) text.clear();
  return text;
}

bool is_no_fault_of_sql(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_NOMEM || kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_IOERR ||
         kind == SQLITE_FULL;
}

using Names = std::vector<std::string>;

// Tables and views, and the modules that are tables by themselves.
constexpr std::string_view kTableNames =
    "SELECT name FROM temp.sqlite_schema UNION SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') "
    "UNION SELECT name FROM pragma_module_list WHERE name NOT GLOB 'pragma_*' AND name NOT GLOB '*_rows' AND name NOT "
    "GLOB 'fts[0-9]*' AND name NOT GLOB 'rtree*' AND name NOT GLOB 'schema *' AND name NOT IN ('dbstat', 'geopoly', "
    "'json_each', 'json_tree', 'sqlite_stmt') ORDER BY 1";
constexpr std::string_view kSchemas =
    "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp') ORDER BY seq";
constexpr std::string_view kFunctionNames = "SELECT DISTINCT name FROM pragma_function_list ORDER BY 1";
constexpr std::string_view kColumnNames = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";

bool contains(const Names& names, std::string_view name) {
  return std::ranges::any_of(names, [name](const std::string& other) { return is_same_name(name, other); });
}

// The words of a statement, names without their quotes.
Names words_of(std::string_view statement) {
  Names words;
  for (const std::string_view token : sql_tokens(statement)) {
    const bool is_quoted = std::string_view("\"`[").find(token[0]) != std::string_view::npos;
    words.emplace_back(is_quoted ? token.substr(1, token.size() - 2) : token);
  }
  return words;
}

// Of `phase = decode`, where a text was meant.
bool is_compared_with(std::string_view statement, std::string_view word) {
  const std::size_t at = statement.find(word);
  const std::size_t before = at == std::string_view::npos ? at : statement.substr(0, at).find_last_not_of(" \t\r\n");
  return before != std::string_view::npos && std::string_view("=<>").find(statement[before]) != std::string_view::npos;
}

// "; kernels has id, name, ..." of each table that the words read from.
std::string columns_there(Database& database, const Names& words) {
  std::string out;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!is_same_name(words[i - 1], "from") && !is_same_name(words[i - 1], "join")) continue;
    const Names columns = database.query_texts(kColumnNames, words[i]);
    if (!columns.empty()) out += fmt::format("; {} has {}", words[i], fmt::join(columns, ", "));
  }
  return out;
}

std::string column_hint(Database& database, std::string_view statement, std::string_view column) {
  constexpr std::size_t kMostTables = 3;
  const Names words = words_of(statement);
  Names near;
  std::string elsewhere;
  std::size_t tables = 0;
  for (const std::string& table : database.query_texts(kTableNames)) {
    const Names columns = database.query_texts(kColumnNames, table);
    if (contains(words, table)) {
      near.insert(near.end(), columns.begin(), columns.end());
    } else if (contains(columns, column) && ++tables <= kMostTables) {
      elsewhere += (elsewhere.empty() ? "; a column of " : ", ") + table;
    }
  }
  const std::string there = columns_there(database, words);
  if (!elsewhere.empty()) return elsewhere + there;
  const bool may_be_text = is_compared_with(statement, column);
  return (may_be_text ? fmt::format("; a text is written in quotes: '{}'", column) : "") + did_you_mean(column, near) +
         there;
}

// Of "b.kernels", where there is no b.
std::string schema_hint(Database& database, std::string_view schema) {
  const Names known = database.query_texts(kSchemas);
  if (contains(known, schema) || is_same_name(schema, "main") || is_same_name(schema, "temp")) return {};
  return known.empty()
             ? fmt::format("; there is one index, and so no {}: name the table alone, or give more indexes", schema)
             : fmt::format("; the indexes are {}; all_kernels and its like have every index given",
                           fmt::join(known, ", "));
}

}  // namespace

std::vector<std::string_view> sql_tokens(std::string_view statement) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0, size = 0; at < statement.size(); at += size) {
    at = statement.find_first_not_of(" \t\r\n\f", at);
    if (at == std::string_view::npos) break;
    size = token_size(statement.substr(at));
    if (!is_comment(statement.substr(at))) out.push_back(statement.substr(at, size));
  }
  return out;
}

UserSql::UserSql(Database& database, std::string_view text, std::size_t first, std::size_t end)
    : database_(database), text_(text), first_(first), end_(end) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    throw Error(ErrorCode::kUsage, fmt::format("SQL {}: a NUL byte; SQL is plain text", place(nul)));
  }
}

std::string UserSql::place(std::size_t offset) const {
  const std::string_view before = text_.substr(first_, std::clamp(offset, first_, end_) - first_);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

void UserSql::fail_at(std::size_t offset, const std::string& reason) const {
  const bool is_part = end_ - first_ < text_.size();
  if (is_part && offset >= end_) throw Error(ErrorCode::kUsage, place(end_) + ": the expression is not complete");
  if (is_part) throw Error(ErrorCode::kUsage, fmt::format("{}: {}", place(offset), reason));
  throw Error(ErrorCode::kUsage, fmt::format("SQL statement {}, {}: {}", number_, place(offset), reason));
}

std::optional<Statement> UserSql::next(const std::map<std::string, std::string>& parameters) {
  const bool has_set = has_sets(database_);
  if (has_set) pass_conditions(database_, true);
  while (next_ < text_.size()) {
    start_ = std::min(text_.find_first_not_of(" \t\r\n;", next_), text_.size());
    if (start_ == text_.size()) break;
    ++number_;
    sqlite3_stmt* prepared = nullptr;
    const char* tail = nullptr;
    const std::string_view rest = text_.substr(start_);
    const int code =
        sqlite3_prepare_v3(database_.handle(), rest.data(), static_cast<int>(rest.size()), 0, &prepared, &tail);
    if (code != SQLITE_OK) {
      const int offset = sqlite3_error_offset(database_.handle());
      const std::string reason = sqlite3_errmsg(database_.handle());
      if (is_no_fault_of_sql(code)) database_.fail(code, "SQL failed");
      fail_at(start_ + static_cast<std::size_t>(std::max(offset, 0)),
              code == SQLITE_AUTH ? "only reading is allowed here (" + reason + ")"
                                  : reason + name_hint(database_, rest, reason));
    }
    next_ = static_cast<std::size_t>(tail - text_.data());
    if (prepared == nullptr) {  // only a comment
      --number_;
      continue;
    }
    Statement statement(database_, prepared);
    // The authorizer does not see everything that writes: VACUUM INTO passes it.
    if (sqlite3_stmt_readonly(prepared) == 0) fail_at(start_, "only reading is allowed here");
    statement_ = rest.substr(0, next_ - start_);
    std::optional<Statement> best = grouped(statement);
    if (!best) best.emplace(std::move(statement));
    if (has_set && sqlite3_stmt_isexplain(prepared) == 0 && merges_scans()) {
      pass_conditions(database_, false);
      best.emplace(database_, statement_);
    }
    bind(*best, parameters);
    return best;
  }
  return std::nullopt;
}

// The same statement with group columns, if that has the same columns.
std::optional<Statement> UserSql::grouped(const Statement& statement) {
  std::string text = with_group_columns(database_, statement_);
  sqlite3_stmt* prepared = nullptr;
  if (text.empty() || sqlite3_prepare_v3(database_.handle(), text.data(), static_cast<int>(text.size()), 0, &prepared,
                                         nullptr) != SQLITE_OK) {
    return std::nullopt;
  }
  Statement faster(database_, prepared);
  bool is_same =
      faster.column_count() == statement.column_count() && faster.parameter_count() == statement.parameter_count();
  for (int c = 0; is_same && c < statement.column_count(); ++c) {
    is_same = faster.column_name(c) == statement.column_name(c);
  }
  if (!is_same) return std::nullopt;
  statement_ = std::move(text);
  return faster;
}

void UserSql::bind(Statement& statement, const std::map<std::string, std::string>& parameters) {
  for (int index = 1; index <= statement.parameter_count(); ++index) {
    const std::string_view name = statement.parameter_name(index);
    if (name.empty()) fail_at(start_, "parameters must have names, such as :first");
    const std::string key(name.substr(1));
    const auto null = parameters.find(key + ":null"), text = parameters.find(key + ":text"),
               found = parameters.find(key);
    if (found != parameters.end()) bound_.insert(found->first);
    if (null != parameters.end()) {
      bound_.insert(null->first);
      continue;  // as it is
    }
    if (text != parameters.end()) {
      bound_.insert(text->first);
      statement.bind(index, std::string_view(text->second));
      continue;
    }
    if (found == parameters.end()) {
      fail_at(start_, fmt::format("parameter {} has no value; give --param {}=VALUE", name, key));
    }
    if (const auto integer = parse_int64(found->second)) {
      statement.bind(index, *integer);
    } else if (const auto real = parse_double(found->second)) {
      statement.bind(index, *real);
    } else {
      statement.bind(index, std::string_view(found->second));
    }
  }
}

bool UserSql::merges_scans() const {
  for (Statement steps = plan(); steps.step();) {
    if (steps.text(3).find("MULTI-INDEX OR") != std::string_view::npos) return true;
  }
  return false;
}

Statement UserSql::plan() const { return {database_, "EXPLAIN QUERY PLAN " + statement_}; }

bool UserSql::step(Statement& statement) {
  const int code = sqlite3_step(statement.handle());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.throw_kept_failure();
  if (code == SQLITE_INTERRUPT && database_.is_interrupted()) throw Error(ErrorCode::kInterrupted, "interrupted");
  if (code == SQLITE_INTERRUPT) throw Error(ErrorCode::kResource, fmt::format("SQL statement {}: time limit", number_));
  if (is_no_fault_of_sql(code)) database_.fail(code, fmt::format("SQL statement {}", number_));
  fail_at(start_, sqlite3_errmsg(database_.handle()));
}

std::string name_hint(Database& database, std::string_view statement, std::string_view message) {
  constexpr std::string_view kTable = "no such table: ", kColumn = "no such column: ", kFunction = "no such function: ";
  const std::string_view name = message.substr(std::min(message.size(), message.find(": ") + 2));
  const std::string_view last = name.substr(name.rfind('.') == std::string_view::npos ? 0 : name.rfind('.') + 1);
  if (message.starts_with(kTable) && last.size() < name.size()) {
    const std::string hint = schema_hint(database, name.substr(0, name.size() - last.size() - 1));
    if (!hint.empty()) return hint;
  }
  if (message.starts_with(kTable)) return did_you_mean(last, database.query_texts(kTableNames));
  if (message.starts_with(kColumn)) return column_hint(database, statement, last);
  if (message.starts_with(kFunction)) return did_you_mean(last, database.query_texts(kFunctionNames));
  return {};
}

}  // namespace tracedb
