#include "sql/tables/group_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/failure.h"
#include "base/text/decimal.h"
#include "base/unknown.h"
#include "sql/tables/column_table.h"
#include "sql/tables/number_expression.h"
#include "sql/tables/sql_token.h"

namespace tracedb {
namespace {

using Tokens = std::span<const SqlToken>;

constexpr std::array<std::string_view, 8> kEndsOfCore = {"HAVING",    "ORDER",  "LIMIT", "WINDOW",
                                                         "INTERSECT", "EXCEPT", "UNION", "RETURNING"};
constexpr std::array<std::string_view, 2> kBehindTable = {"WHERE", "GROUP"};

// The numbers of a column, if all are whole or NULL.
std::optional<std::span<const std::int64_t>> whole_numbers(const ArrayColumn& column,
                                                           LargeVector<std::int64_t>& memory) {
  if (column.kind() == ArrayColumn::Kind::kNumbers) return column.numbers();
  if (column.kind() == ArrayColumn::Kind::kThousandths) return std::nullopt;
  const auto places = column.places();
  memory.resize(places.size());
  if (column.kind() == ArrayColumn::Kind::kIds) {
    std::transform(places.begin(), places.end(), memory.begin(), id_cell);
    return memory;
  }
  std::vector<std::int64_t> numbers;
  for (const ArrayValue& value : column.values()) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr && !std::holds_alternative<std::monostate>(value)) return std::nullopt;
    numbers.push_back(number == nullptr ? kUnknownValue : *number);
  }
  const auto number_at = [&](std::uint32_t place) { return place < numbers.size() ? numbers[place] : kUnknownValue; };
  std::transform(places.begin(), places.end(), memory.begin(), number_at);
  return memory;
}

// SELECT items FROM view [AS alias] [WHERE ...] GROUP BY terms: places in the tokens of a statement.
struct GroupedSelect {
  std::size_t table = 0;   // of its name
  std::string_view alias;  // "": none
  std::vector<Tokens> items, terms;
};

// Replaces the tables and terms of a statement.
class GroupColumns {
 public:
  GroupColumns(Database& database, std::string_view statement)
      : database_(database), statement_(statement), tokens_(sql_tokens(statement)) {}

  std::string text() {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].is_word("FROM") && !tokens_[i - 1].is_word("DISTINCT")) replace_in(i);
    }
    if (edits_.empty()) return {};
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.offset > b.offset; });
    std::string text(statement_);
    for (const Edit& edit : edits_) text.replace(edit.offset, edit.size, edit.text);
    return text;
  }

 private:
  struct Edit {
    std::size_t offset, size;
    std::string text;
  };

  void replace_in(std::size_t from) {
    ColumnTableSource* table =
        tokens_[from + 1].kind == SqlToken::Kind::kWord && !is_of_statement(tokens_[from + 1].text)
            ? column_table(database_, tokens_[from + 1].text)
            : nullptr;
    if (table == nullptr) return;
    const auto select = grouped_select(from);
    if (!select) return;
    std::vector<std::pair<Tokens, NumberExpression>> expressions;
    for (const Tokens term : select->terms) {
      const auto expression = expression_of(*table, *select, term);
      if (!expression) return;
      if (!expression->is_column()) {
        expressions.emplace_back(term, *expression);
      }
    }
    std::vector<Edit> edits;
    for (const auto& [term, expression] : expressions) {
      const auto column = spare_column(*table, expression);
      if (!column) return;
      const std::size_t begin = term.front().offset;
      edits.push_back({begin, term.back().offset + term.back().text.size() - begin, '"' + *column + '"'});
    }
    if (edits.empty()) return;
    const SqlToken& name = tokens_[select->table];
    edits.push_back({name.offset, name.text.size(),
                     fmt::format("{}{}{}", table->name, select->alias.empty() ? " AS " : "",
                                 select->alias.empty() ? name.text : "")});
    edits_.insert(edits_.end(), edits.begin(), edits.end());
  }

  // Whether a WITH of the statement may give the name another meaning.
  [[nodiscard]] bool is_of_statement(std::string_view name) const {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!is_same_name(tokens_[i].text, name)) continue;
      const bool is_first = tokens_[i - 1].is_word("WITH") || tokens_[i - 1].is_word("RECURSIVE");
      if (is_first || (tokens_[i - 1].is_sign(",") && (tokens_[i + 1].is_sign("(") || tokens_[i + 1].is_word("AS")))) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::optional<GroupedSelect> grouped_select(std::size_t from) const {
    GroupedSelect out;
    out.table = from + 1;
    std::size_t at = from + 2;
    if (at < tokens_.size() && tokens_[at].is_word("AS")) ++at;
    if (at < tokens_.size() && tokens_[at].kind == SqlToken::Kind::kWord && !tokens_[at].is_one_of(kBehindTable)) {
      out.alias = tokens_[at++].text;
    }
    if (at >= tokens_.size() || !tokens_[at].is_one_of(kBehindTable)) return std::nullopt;
    const std::size_t end = end_of_core(at);
    const std::size_t group = find_word(at, end, "GROUP");
    const std::size_t select = start_of_core(from);
    if (group + 2 >= end || !tokens_[group + 1].is_word("BY") || select == from) return std::nullopt;
    const bool has_word = tokens_[select + 1].is_word("DISTINCT") || tokens_[select + 1].is_word("ALL");
    out.items = parts(select + (has_word ? 2 : 1), from);
    out.terms = parts(group + 2, end);
    return out;
  }

  [[nodiscard]] std::size_t end_of_core(std::size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      depth += tokens_[at].is_sign("(") ? 1 : tokens_[at].is_sign(")") ? -1 : 0;
      if (depth < 0 || tokens_[at].is_sign(";") || (depth == 0 && tokens_[at].is_one_of(kEndsOfCore))) break;
    }
    return at;
  }

  // Of its SELECT; `from`: not found.
  [[nodiscard]] std::size_t start_of_core(std::size_t from) const {
    int depth = 0;
    for (std::size_t at = from; at-- > 0;) {
      depth += tokens_[at].is_sign(")") ? 1 : tokens_[at].is_sign("(") ? -1 : 0;
      if (depth < 0) return from;
      if (depth == 0 && tokens_[at].is_word("SELECT")) return at;
    }
    return from;
  }

  [[nodiscard]] std::size_t find_word(std::size_t at, std::size_t end, std::string_view word) const {
    int depth = 0;
    for (; at < end; ++at) {
      depth += tokens_[at].is_sign("(") ? 1 : tokens_[at].is_sign(")") ? -1 : 0;
      if (depth == 0 && tokens_[at].is_word(word)) return at;
    }
    return end;
  }

  // What stands between commas.
  [[nodiscard]] std::vector<Tokens> parts(std::size_t first, std::size_t end) const {
    std::vector<Tokens> out;
    int depth = 0;
    for (std::size_t at = first; at <= end; ++at) {
      if (at < end) depth += tokens_[at].is_sign("(") ? 1 : tokens_[at].is_sign(")") ? -1 : 0;
      if (at < end && (depth != 0 || !tokens_[at].is_sign(","))) continue;
      out.push_back(Tokens(tokens_).subspan(first, at - first));
      first = at + 1;
    }
    return out;
  }

  // As SQLite finds what a term means: a number is a column of the answer, a name a column of the table, else one of
  // the answer.
  [[nodiscard]] static std::optional<NumberExpression> expression_of(const ColumnTableSource& table,
                                                                     const GroupedSelect& select, Tokens term) {
    if (term.size() == 1 && term[0].kind == SqlToken::Kind::kNumber) {
      const auto number = parse_int64(term[0].text).value_or(0);
      if (number < 1 || number > static_cast<std::int64_t>(select.items.size())) return std::nullopt;
      return parse(table, select, without_name(select.items[static_cast<std::size_t>(number) - 1]));
    }
    if (term.size() != 1 || table.number_of(term[0].text) >= 0) return parse(table, select, term);
    for (const Tokens item : select.items) {
      const Tokens meaning = without_name(item);
      if (meaning.size() < item.size() && is_same_name(item.back().text, term[0].text)) {
        return parse(table, select, meaning);
      }
    }
    return std::nullopt;
  }

  // Of `x AS name` x, and of `x + 1 name` x + 1.
  static Tokens without_name(Tokens item) {
    if (item.size() < 2) return item;
    const SqlToken& before = item[item.size() - 2];
    if (before.is_word("AS")) return item.first(item.size() - 2);
    if (item.back().kind != SqlToken::Kind::kWord) return item;
    const bool is_end =
        before.kind == SqlToken::Kind::kWord || before.kind == SqlToken::Kind::kNumber || before.is_sign(")");
    return is_end ? item.first(item.size() - 1) : item;
  }

  // A term that is a column may be of any type.
  static std::optional<NumberExpression> parse(const ColumnTableSource& table, const GroupedSelect& select,
                                               Tokens tokens) {
    std::vector<SqlToken> unqualified;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i + 1 < tokens.size() && tokens[i + 1].is_sign(".")) {
        const std::string_view table_name = select.alias.empty() ? table.view : select.alias;
        if (!is_same_name(tokens[i].text, table_name)) return std::nullopt;
        ++i;
      } else {
        unqualified.push_back(tokens[i]);
      }
    }
    const bool is_alone = unqualified.size() == 1;
    return NumberExpression::parse(unqualified, [&](std::string_view name) {
      const int number = table.number_of(name);
      const bool fits =
          is_alone || (number >= 0 && table.types[static_cast<std::size_t>(number)] == ColumnType::kInteger);
      return fits ? number : -1;
    });
  }

  // Its name; nullopt: not all of its values are whole numbers of 64 bits, or there is no spare column left.
  std::optional<std::string> spare_column(ColumnTableSource& table, const NumberExpression& expression) {
    const std::size_t first = table.names.size() - kSpareColumns;
    std::size_t chosen = table.names.size();
    for (std::size_t i = first; i < table.names.size(); ++i) {
      if (table.columns[i] && table.names[i] == expression.text()) return used(table, i);
      const bool is_taken = std::find(used_.begin(), used_.end(), std::pair{&table, i}) != used_.end();
      if (!is_taken && (chosen == table.names.size() || (table.columns[chosen] && !table.columns[i]))) chosen = i;
    }
    if (chosen == table.names.size() || !fill(table, chosen, expression)) return std::nullopt;
    return used(table, chosen);
  }

  std::string used(ColumnTableSource& table, std::size_t column) {
    used_.emplace_back(&table, column);
    return spare_name(column - (table.names.size() - kSpareColumns));
  }

  static bool fill(ColumnTableSource& table, std::size_t column, const NumberExpression& expression) {
    const std::vector<int> numbers = expression.columns();
    std::vector<LargeVector<std::int64_t>> memory(numbers.size());
    std::vector<std::span<const std::int64_t>> columns;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto values = whole_numbers(table.column(numbers[i]), memory[i]);
      if (!values) return false;
      columns.push_back(*values);
    }
    auto values = expression.values(columns, table.rows());
    if (!values) return false;
    table.columns[column].emplace(ArrayColumn::of_numbers(std::move(*values)));
    table.rows_by_key[column].clear();
    table.names[column] = expression.text();
    return true;
  }

  Database& database_;
  std::string_view statement_;
  std::vector<SqlToken> tokens_;
  std::vector<Edit> edits_;
  std::vector<std::pair<ColumnTableSource*, std::size_t>> used_;
};

}  // namespace

// What fails here fails again, and is reported, when the statement as it was reads the table.
std::string with_group_columns(Database& database, std::string_view statement) {
  std::string text;
  if (catch_error([&] { text = GroupColumns(database, statement).text(); })) text.clear();
  return text;
}

}  // namespace tracedb
