#include "sql/tables/group_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/failure.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "sql/tables/column_table.h"
#include "sql/tokens.h"

namespace tracedb {
namespace {

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

}  // namespace

// What fails here fails again, and is reported, when the statement as it was reads the table.
std::string with_group_columns(Database& database, std::string_view statement) {
  std::string text;
  if (catch_error([&] { text = grouped(database, statement); })) text.clear();
  return text;
}

}  // namespace tracedb
