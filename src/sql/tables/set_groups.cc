#include "sql/tables/set_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/failure.h"
#include "base/text/decimal.h"
#include "sql/tables/sql_token.h"

namespace tracedb {
namespace {

using Words = std::span<const SqlToken>;

// Of clauses and joins that are not looked into, and of what has another value in each row.
constexpr std::array<std::string_view, 22> kRefused = {"SELECT",  "WITH",    "DISTINCT",   "ALL",     "FILTER", "OVER",
                                                       "WINDOW",  "UNION",   "INTERSECT",  "EXCEPT",  "VALUES", "JOIN",
                                                       "EXISTS",  "COLLATE", "RETURNING",  "INDEXED", "ROWID",  "OID",
                                                       "_ROWID_", "RANDOM",  "RANDOMBLOB", "NATURAL"};
constexpr std::array<std::string_view, 6> kAggregates = {"count", "sum", "min", "max", "avg", "total"};
constexpr std::array<std::string_view, 13> kScalars = {"round",  "abs",    "coalesce", "ifnull", "nullif",
                                                       "iif",    "cast",   "human_ns", "upper",  "lower",
                                                       "length", "substr", "printf"};
constexpr std::array<std::string_view, 18> kOfConditions = {"AND",  "OR",      "NOT",  "IS",    "NULL",   "IN",
                                                            "LIKE", "GLOB",    "CASE", "WHEN",  "THEN",   "ELSE",
                                                            "END",  "BETWEEN", "TRUE", "FALSE", "ISNULL", "NOTNULL"};
constexpr std::array<std::string_view, 4> kClauses = {"WHERE", "GROUP", "HAVING", "ORDER"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view one) { return is_same_name(one, name); });
}

// One statement of the form that is understood.
class GroupedStatement {
 public:
  GroupedStatement(const Database& database, std::string_view statement)
      : database_(database), statement_(statement), tokens_(sql_tokens(statement)) {}

  std::string text() {
    while (!tokens_.empty() && tokens_.back().is_sign(";")) tokens_.pop_back();
    find_clauses();
    find_grouped();
    for (const Words item : items_) edit_item(item);
    edit_rest();
    edit_where();
    require(has_aggregate_);
    query_.has_terms = !terms_.empty();
    const auto known = std::find(source_->queries.begin(), source_->queries.end(), query_);
    const auto number = known - source_->queries.begin();
    if (known == source_->queries.end()) source_->queries.push_back(query_);
    replace(tokens_[table_], tokens_[table_],
            fmt::format("{}({}){}", quoted_name(source_->tables.begin()->first), number,
                        has_alias_ ? "" : fmt::format(" AS {}", tokens_[table_].text)));
    return edited();
  }

 private:
  struct Edit {
    std::size_t offset, size;
    std::string text;
  };

  static void require(bool condition) {
    if (!condition) throw Error(ErrorCode::kUsage, "not known to be the same");
  }
  [[nodiscard]] const SetTable& table() const { return source_->tables.begin()->second; }
  [[nodiscard]] Words words(std::size_t from, std::size_t to) const { return Words(tokens_).subspan(from, to - from); }

  // SELECT items FROM table [[AS] alias] [WHERE ...] [GROUP BY ...] and the rest, at no depth of brackets.
  void find_clauses() {
    require(!tokens_.empty() && tokens_[0].is_word("SELECT"));
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      const bool is_name = tokens_[i].kind == SqlToken::Kind::kWord;
      require(!is_name || !tokens_[i].is_one_of(kRefused));
    }
    const std::size_t end = tokens_.size();
    const std::size_t from = find_word(1, "FROM");
    require(from + 1 < end && tokens_[from + 1].kind == SqlToken::Kind::kWord);
    table_ = from + 1;
    source_ = groups_of(database_, tokens_[table_].text);
    require(source_ != nullptr);
    std::size_t at = from + 2;
    query_.alias = tokens_[table_].text;
    if (at < end && tokens_[at].is_word("AS")) ++at;
    if (at < end && tokens_[at].kind == SqlToken::Kind::kWord && !tokens_[at].is_one_of(kClauses) &&
        !tokens_[at].is_word("LIMIT")) {
      has_alias_ = true;
      query_.alias = tokens_[at++].text;
    }
    require(at == end || tokens_[at].is_one_of(kClauses) || tokens_[at].is_word("LIMIT"));
    group_ = find_word(at, "GROUP");
    rest_ = std::min({find_word(at, "HAVING"), find_word(at, "ORDER"), find_word(at, "LIMIT")});
    group_ = std::min(group_, rest_);
    where_ = find_word(at, "WHERE") < group_ ? at : group_;
    items_ = listed(words(1, from));
    if (group_ == rest_) return;
    require(group_ + 2 < rest_ && tokens_[group_ + 1].is_word("BY"));
    terms_ = listed(words(group_ + 2, rest_));
  }

  [[nodiscard]] std::size_t find_word(std::size_t at, std::string_view word) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      depth += tokens_[at].is_sign("(") ? 1 : tokens_[at].is_sign(")") ? -1 : 0;
      if (depth == 0 && tokens_[at].is_word(word)) break;
    }
    return at;
  }

  // What stands between the tokens that separate, outside of brackets.
  template <class Separates>
  static std::vector<Words> parts(Words all, Separates separates) {
    std::vector<Words> out;
    std::size_t first = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= all.size(); ++at) {
      if (at < all.size()) depth += all[at].is_sign("(") ? 1 : all[at].is_sign(")") ? -1 : 0;
      if (at < all.size() && (depth != 0 || !separates(all[at]))) continue;
      require(at > first);
      out.push_back(all.subspan(first, at - first));
      first = at + 1;
    }
    return out;
  }
  static std::vector<Words> listed(Words all) {
    return parts(all, [](const SqlToken& token) { return token.is_sign(","); });
  }

  // Of `x AS name` and `x name`, x and name; of anything else itself and "".
  static std::pair<Words, std::string_view> named(Words item) {
    if (item.size() < 2) return {item, {}};
    const SqlToken& before = item[item.size() - 2];
    if (before.is_word("AS")) return {item.first(item.size() - 2), item.back().text};
    const bool is_end = before.kind == SqlToken::Kind::kWord || before.is_sign(")");
    if (item.back().kind != SqlToken::Kind::kWord || !is_end) return {item, {}};
    return {item.first(item.size() - 1), item.back().text};
  }

  // A column as labels and the table's own are numbered; nullopt: no such name, perhaps qualified.
  [[nodiscard]] std::optional<std::size_t> column_of(Words name) const {
    if (name.size() == 3 && name[1].is_sign(".") && is_same_name(name[0].text, query_.alias)) name = name.subspan(2);
    if (name.size() != 1 || name[0].kind != SqlToken::Kind::kWord) return std::nullopt;
    const auto& labels = source_->set.label_columns();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (is_same_name(labels[i].name, name[0].text)) return i;
    }
    for (std::size_t i = 0; i < table().columns.size(); ++i) {
      if (is_same_name(table().columns[i].name, name[0].text)) return labels.size() + i;
    }
    return std::nullopt;
  }

  void find_grouped() {
    for (const Words term : terms_) {
      std::optional<std::size_t> column;
      if (term.size() == 1 && term[0].kind == SqlToken::Kind::kNumber) {
        const auto number = parse_int64(term[0].text).value_or(0);
        require(number >= 1 && number <= static_cast<std::int64_t>(items_.size()));
        column = column_of(named(items_[static_cast<std::size_t>(number) - 1]).first);
      } else {
        column = column_of(term);
        for (std::size_t i = 0; !column && term.size() == 1 && i < items_.size(); ++i) {
          const auto [meaning, name] = named(items_[i]);
          if (is_same_name(name, term[0].text)) column = column_of(meaning);
        }
      }
      require(column.has_value());
      grouped_.insert(*column);
    }
    for (const std::size_t column : grouped_) {
      if (column >= source_->labels()) query_.columns.push_back(column - source_->labels());
    }
  }

  void edit_item(Words item) {
    const auto [meaning, name] = named(item);
    const std::size_t before = edits_.size();
    edit_values(meaning);
    if (edits_.size() == before || !name.empty()) return;
    const std::size_t begin = item.front().offset, end = item.back().offset + item.back().text.size();
    edits_.push_back({end, 0, fmt::format(" AS {}", quoted_name(statement_.substr(begin, end - begin)))});
  }

  // HAVING, ORDER BY and LIMIT. A term of ORDER BY that is a name of the answer means that.
  void edit_rest() {
    const std::size_t order = find_word(rest_, "ORDER"), limit = find_word(rest_, "LIMIT");
    edit_values(words(rest_, std::min(order, limit)));
    if (order < limit) {
      require(order + 2 < limit && tokens_[order + 1].is_word("BY"));
      for (const Words term : listed(words(order + 2, limit))) {
        const bool is_sorted = term.size() == 2 && (term[1].is_word("ASC") || term[1].is_word("DESC"));
        if (!is_name_of_item(is_sorted ? term.first(1) : term)) edit_values(term);
      }
    }
    edit_values(words(limit, tokens_.size()));
  }

  [[nodiscard]] bool is_name_of_item(Words term) const {
    return term.size() == 1 && std::any_of(items_.begin(), items_.end(),
                                           [&](Words item) { return is_same_name(named(item).second, term[0].text); });
  }

  // Aggregates are replaced; a column must be one of those grouped by.
  void edit_values(Words part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i].kind == SqlToken::Kind::kOther)
        require(part[i].text[0] != '"' && part[i].text[0] != '`' && part[i].text[0] != '[');
      if (part[i].is_sign("*")) require(i > 0);
      if (part[i].kind != SqlToken::Kind::kWord) continue;
      const bool is_call = i + 1 < part.size() && part[i + 1].is_sign("(");
      if (is_call && is_one_of(part[i].text, kAggregates)) {
        i += edit_aggregate(part.subspan(i));
      } else if (is_call) {
        require(is_one_of(part[i].text, kScalars) || part[i].is_word("IN") || part[i].is_word("AND") ||
                part[i].is_word("OR") || part[i].is_word("NOT") || part[i].is_word("HAVING"));
      } else {
        i += check_name(part.subspan(i));
      }
    }
  }

  // How many tokens behind the first belong to a column's name.
  [[nodiscard]] std::size_t check_name(Words part) const {
    const std::size_t size = part.size() > 2 && part[1].is_sign(".") ? 3 : 1;
    const auto column = column_of(part.first(size));
    require(size == 1 || column.has_value());
    require(!column || grouped_.contains(*column));
    return size - 1;
  }

  // How many tokens behind the first it has.
  std::size_t edit_aggregate(Words call) {
    std::size_t end = 2;
    while (end < call.size() && !call[end].is_sign(")")) ++end;
    require(end < call.size() && end > 2);
    const Words argument = call.subspan(2, end - 2);
    const std::string_view name = call[0].text;
    const bool counts = is_same_name(name, "count");
    std::string of = "*";
    if (!(counts && argument.size() == 1 && argument[0].is_sign("*"))) {
      const auto column = column_of(argument);
      require(column && *column >= source_->labels());
      const auto& of_table = table().columns[*column - source_->labels()];
      const bool adds = !counts && !is_same_name(name, "min") && !is_same_name(name, "max");
      require(!adds || is_same_name(of_table.type, "INTEGER"));
      of = quoted_name(of_table.name);
    }
    replace(call[0], call[end], outer(name, of));
    has_aggregate_ = true;
    return end;
  }

  // What the aggregate is of those of the members.
  std::string outer(std::string_view name, const std::string& of) {
    if (is_same_name(name, "count")) return fmt::format("ifnull(sum({}), 0)", partial(fmt::format("count({})", of)));
    if (is_same_name(name, "avg")) {
      const std::string total = partial(fmt::format("total({})", of));
      return fmt::format("(total({}) / sum({}))", total, partial(fmt::format("count({})", of)));
    }
    return fmt::format("{}({})", name, partial(fmt::format("{}({})", name, of)));
  }

  std::string partial(const std::string& expression) {
    auto& all = query_.partials;
    const auto known = std::find(all.begin(), all.end(), expression);
    const auto place = static_cast<std::size_t>(known - all.begin());
    if (known == all.end()) all.push_back(expression);
    require(all.size() <= kMostPartials);
    return quoted_name(partial_name(place));
  }

  // What is on labels and grouped columns alone stays where it is, the rest is for the members.
  void edit_where() {
    if (where_ == group_) return;
    std::string stays, goes;
    for (const Words term : conjuncts(words(where_ + 1, group_))) {
      const std::size_t begin = term.front().offset, end = term.back().offset + term.back().text.size();
      std::string& to = is_of_groups(term) ? stays : goes;
      to += fmt::format("{}({})", to.empty() ? "" : " AND ", statement_.substr(begin, end - begin));
    }
    query_.where = goes;
    replace(tokens_[where_], tokens_[group_ - 1], stays.empty() ? "" : "WHERE " + stays);
  }

  static std::vector<Words> conjuncts(Words all) {
    for (const SqlToken& token : all) {
      if (token.is_word("BETWEEN") || token.is_word("CASE") || token.is_word("OR")) return {all};
    }
    return parts(all, [](const SqlToken& token) { return token.is_word("AND"); });
  }

  // Whether its value is the same for all rows of a group, as labels are; else it must be one that a member knows.
  [[nodiscard]] bool is_of_groups(Words term) const {
    bool has_label = false, has_other = false, is_foreign = false;
    for (std::size_t i = 0; i < term.size(); ++i) {
      const SqlToken& token = term[i];
      if (token.kind == SqlToken::Kind::kOther) {
        require(token.text.find_first_of("\"`[") != 0);
        is_foreign = is_foreign || token.text.find_first_of("?:@$#") == 0;
      }
      if (token.kind != SqlToken::Kind::kWord) continue;
      const bool is_qualifier = i + 1 < term.size() && term[i + 1].is_sign(".");
      const bool is_call = i + 1 < term.size() && term[i + 1].is_sign("(");
      const auto column = is_qualifier ? std::nullopt : column_of(term.subspan(i, 1));
      const bool is_known = is_qualifier ? is_same_name(token.text, query_.alias) : column || is_call;
      is_foreign = is_foreign || (!is_known && !token.is_one_of(kOfConditions));
      if (!column) continue;
      has_label = has_label || *column < source_->labels();
      has_other = has_other || (*column >= source_->labels() && !grouped_.contains(*column));
    }
    require(!has_other || (!has_label && !is_foreign));
    return !has_other;
  }

  void replace(const SqlToken& first, const SqlToken& last, std::string text) {
    edits_.push_back({first.offset, last.offset + last.text.size() - first.offset, std::move(text)});
  }

  [[nodiscard]] std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.offset > b.offset; });
    std::string text(statement_);
    for (const Edit& edit : edits_) text.replace(edit.offset, edit.size, edit.text);
    return text;
  }

  const Database& database_;
  std::string_view statement_;
  std::vector<SqlToken> tokens_;
  std::size_t table_ = 0, where_ = 0, group_ = 0, rest_ = 0;  // places of tokens; an absent clause is the next one
  bool has_alias_ = false, has_aggregate_ = false;
  std::vector<Words> items_, terms_;
  std::set<std::size_t> grouped_;  // columns, labels first
  SetSource* source_ = nullptr;
  GroupQuery query_;
  std::vector<Edit> edits_;
};

// "": not done.
std::string grouped(const Database& database, std::string_view statement) {
  std::string text;
  if (catch_error([&] { text = GroupedStatement(database, statement).text(); })) text.clear();
  return text;
}

std::size_t end_of_bracket(Words tokens, std::size_t open) {
  int depth = 0;
  std::size_t at = open;
  for (; at + 1 < tokens.size(); ++at) {
    depth += tokens[at].is_sign("(") ? 1 : tokens[at].is_sign(")") ? -1 : 0;
    if (depth == 0) break;
  }
  return tokens[at].offset;
}

// Whether a WITH may give the name of a table of all members another meaning.
bool names_tables(Words tokens) {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool may_name =
        tokens[i - 1].is_sign(",") || tokens[i - 1].is_word("WITH") || tokens[i - 1].is_word("RECURSIVE");
    std::string_view name = tokens[i].text;
    if (name.find_first_of("\"`['") == 0) name.remove_prefix(1);
    const bool is_of_all = name.size() > 4 && is_same_name(name.substr(0, 4), "all_");
    if (may_name && is_of_all && (tokens[i + 1].is_word("AS") || tokens[i + 1].is_sign("("))) return true;
  }
  return false;
}

}  // namespace

std::string with_member_groups(const Database& database, std::string_view statement) {
  std::string text = grouped(database, statement);
  if (!text.empty()) return text;
  text = statement;
  const std::vector<SqlToken> tokens = sql_tokens(statement);
  bool any = false;
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (i + 1 == tokens.size() || !tokens[i].is_sign("(") || !tokens[i + 1].is_word("SELECT")) continue;
    const std::size_t begin = tokens[i].offset + 1, end = end_of_bracket(tokens, i);
    const std::string faster = grouped(database, statement.substr(begin, end - begin));
    if (faster.empty()) continue;
    text.replace(begin, end - begin, faster);
    any = true;
  }
  return any && !names_tables(tokens) ? text : std::string();
}

}  // namespace tracedb
