#include "trace_query/commands/serve/view_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "present/cells.h"
#include "report/escape.h"
#include "report_page/html/safe_text.h"
#include "report_page/served/served_page.h"
#include "shared/usage_error.h"
#include "trace_query/help.h"

namespace tracedb {
namespace {

// ---- answers as tables

using python::Kind;
using python::Value;

std::span<const Value> items_of(const Value& document, std::string_view key) {
  const Value* const found = document.find(key);
  return found == nullptr ? std::span<const Value>() : found->items;
}

Cell cell_of(const Value& value) {
  switch (value.kind) {
    case Kind::kNone:
      return {};
    case Kind::kInt:
      if (const auto number = parse_int64(value.text)) return *number;
      return value.number;
    case Kind::kFloat:
      return value.number;
    default:
      return python::str(value);
  }
}

// As declared; of several tables of the command, the section's own comes first.
Column column_of(const std::string& key, std::string_view section, const std::vector<ReportShape>& shapes,
                 const Value* units) {
  Column out{key, key};
  bool is_found = false;
  for (const ReportShape& shape : shapes) {
    const auto found = std::ranges::find(shape.columns, key, &Column::key);
    if (found == shape.columns.end() || (is_found && shape.variant != section)) continue;
    out = *found;
    is_found = true;
  }
  const Value* const unit = units == nullptr ? nullptr : units->find(key);
  if (unit != nullptr) out.unit = unit_from(unit->text).value_or(out.unit);
  return out;
}

bool has_same_keys(const Value& a, const Value& b) {
  return std::ranges::equal(a.members, b.members, {}, &python::Member::key, &python::Member::key);
}

// Rows of one kind each: several statements have several.
void add_tables(std::span<const Value> rows, const Value& document, const Value& whole, const std::string& section,
                const std::vector<ReportShape>& shapes, Answered& out) {
  while (!rows.empty()) {
    AnsweredTable table{section, {}, -1};
    if (const Value* const total = whole.find("total_rows")) table.total = static_cast<std::int64_t>(total->number);
    Report& report = table.report;
    for (const python::Member& member : rows.front().members)
      report.columns.push_back(column_of(member.key, table.section, shapes, document.find("units")));
    const auto label = std::ranges::find(report.columns, OthersAggregate::kLabel, &Column::others);
    const auto name = static_cast<std::size_t>(label - report.columns.begin());
    const Value& first = rows.front();
    for (; !rows.empty() && has_same_keys(rows.front(), first); rows = rows.subspan(1)) {
      Row cells;
      for (const python::Member& cell : rows.front().members) cells.push_back(cell_of(cell.value));
      const bool is_rest = name < cells.size() && cells[name] == Cell("[others]");
      (is_rest ? report.footer : report.rows).push_back(std::move(cells));
    }
    out.tables.push_back(std::move(table));
  }
}

// ---- addresses, forms and links

constexpr std::string_view kSelecting[] = {"phase", "device", "stream", "step", "layer", "op", "name", "from", "to"};
constexpr std::string_view kOptions[] = {"by",      "sort",   "own",     "columns", "metric", "where",
                                         "what-if", "length", "section", "show",    "top",    "object"};
constexpr std::string_view kFlags[] = {"per-stream", "per-op",  "parts", "slack", "series",
                                       "bandwidth",  "modules", "tree",  "causes"};

bool is_one_of(std::string_view word, std::span<const std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

constexpr std::size_t kMostPlaces = 600;  // of a name: an address has 8 kB, and some names have more

// Where a cell leads to: `route` with the value as `param`, beside what names the trace.
struct CellRoute {
  std::string_view column, route, param;
  std::string_view side = "i";  // which index of the view it is about; "f": its folder
};
constexpr CellRoute kCellRoutes[] = {{"op", "t/kernels", "op"},
                                     {"phase", "t/kernels", "phase"},
                                     {"step", "t/kernels", "step"},
                                     {"layer", "t/kernels", "layer"},
                                     {"recipe", "sql", "recipe"},
                                     {"job", "j", "job", "f"},
                                     {"baseline_kernel", "k", "name", "a"},
                                     {"candidate_kernel", "k", "name", "b"}};

std::string value_text(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  const auto* const number = std::get_if<std::int64_t>(&cell);
  return text != nullptr ? *text : number != nullptr ? std::to_string(*number) : "";
}

// "STACK:" before a layer of the row; "" where it names none.
std::string in_stack(const std::vector<Column>& columns, const Row& row) {
  const auto stack = std::ranges::find(columns, "stack", &Column::key);
  if (stack == columns.end()) return "";
  const auto* const name = std::get_if<std::string>(&row[static_cast<std::size_t>(stack - columns.begin())]);
  return name == nullptr ? "" : *name + ":";
}

// What is selected already: the next view is narrower.
void add_selection(const HttpRequest& request, const CellRoute& route, Params& params) {
  for (const auto& [name, kept] : request.params) {
    if (is_one_of(name, kSelecting) && name != route.param) params.emplace_back(name, kept);
  }
}

std::string whole_html(const HttpRequest& request, const AnsweredTable& table) {
  if (table.report.rows.size() < kRowsOfPage) return "";
  return "<nav class=\"pages\" aria-label=\"Pages\">" +
         html_link({"page by page", url(table.section, changed(request.params, "offset", ""))}) + "</nav>\n";
}

// One word of a command, and its value, as a part of a query. False: a page cannot have it.
bool add_word(const Words& words, std::size_t& i, const HttpRequest& request, Params& params) {
  const std::string& word = words[i];
  if (word.starts_with('$')) {
    const std::string side = word == "$A" ? "a" : word == "$B" ? "b" : "i";
    params.emplace_back(words[1] == "compare" ? side : "i", request.param(side));
    return !params.back().second.empty();
  }
  const std::string name = word.starts_with("--") ? word.substr(2) : "";
  const bool is_flag = is_view_flag(name);
  if (!is_flag && (!is_view_option(name) || i + 1 == words.size())) return false;
  params.emplace_back(name, is_flag ? "1" : words[++i]);
  return true;
}

}  // namespace

Answered read_answer(const std::string& printed, std::string_view command) {
  const Value document = python::read_json(printed, "answer");
  const std::vector<ReportShape> shapes = shapes_of_command(command);
  Answered out;
  for (const Value& one : items_of(document, "sentences")) out.sentences.push_back(text_at(one, "text"));
  out.warnings = answer_warnings(document);
  for (const Value& one : items_of(document, "sections"))
    add_tables(items_of(one, "rows"), one, document, text_at(one, "section"), shapes, out);
  for (const python::Member& member : document.members) {  // of the document, and parts that are members of it
    const bool is_table = !member.value.items.empty() && member.value.items.front().kind == Kind::kDict;
    if (is_table && member.key != "sentences" && member.key != "sections")
      add_tables(member.value.items, document, document, member.key == "rows" ? "" : member.key, shapes, out);
  }
  if (counts_cycles(out.warnings)) {
    for (AnsweredTable& table : out.tables) name_cycles(table.report);
  }
  if (out.tables.size() > 1) {  // it is that of the first
    for (AnsweredTable& table : out.tables) table.total = -1;
  }
  return out;
}

void part_sums(AnsweredTable& table, std::size_t offset, std::size_t most) {
  if (table.total < 0) return;
  const auto total = static_cast<std::size_t>(table.total);
  std::vector<Row>&rows = table.report.rows, &footer = table.report.footer;
  const std::size_t listed = std::min({rows.size(), most, total - std::min(offset, total)});
  const auto sums = rows.begin() + static_cast<std::ptrdiff_t>(listed);
  footer.insert(footer.end(), std::make_move_iterator(sums), std::make_move_iterator(rows.end()));
  rows.erase(sums, rows.end());
}

std::vector<std::string> answer_warnings(const Value& document) {
  std::vector<std::string> out;
  for (const Value& one : items_of(document, "warnings")) out.push_back(python::str(one));
  return out;
}

bool counts_cycles(const std::vector<std::string>& warnings) {
  return std::ranges::find(warnings, kCyclesNote) != warnings.end();
}

std::string text_at(const Value& row, std::string_view key) {
  const Value* const found = row.find(key);
  return found == nullptr || found->kind == Kind::kNone ? "" : python::str(*found);
}

double number_at(const Value& row, std::string_view key) {
  const Value* const found = row.find(key);
  return found == nullptr || !found->is_number() ? std::numeric_limits<double>::quiet_NaN() : found->number;
}

std::vector<Value> rows_of(const Value& document, std::string_view section) {
  if (section.empty()) {
    const std::span<const Value> rows = items_of(document, "rows");
    return {rows.begin(), rows.end()};
  }
  for (const Value& one : items_of(document, "sections")) {
    if (text_at(one, "section") == section) return rows_of(one);
  }
  return {};
}

bool is_selecting(std::string_view name) { return is_one_of(name, kSelecting); }
bool is_view_option(std::string_view name) { return is_selecting(name) || is_one_of(name, kOptions); }
bool is_view_flag(std::string_view name) { return is_one_of(name, kFlags); }

bool report_takes(std::string_view report, std::string_view option) {
  constexpr std::string_view kChoosing[] = {"phase", "step", "layer", "op", "name", "explain"};
  constexpr std::string_view kNone[] = {"recompute", "counters", "issues"};
  constexpr std::string_view kWhole[] = {"phases", "steps", "warnings", "memory"};
  constexpr std::string_view kPhases[] = {"breakdown", "memcpys", "critical-path"};
  constexpr std::string_view kLayers[] = {"ops", "kernels", "operators", "layers"};
  if (!is_one_of(option, kChoosing)) return true;
  if (is_one_of(report, kNone)) return false;
  if (option == "explain") return true;
  if (is_one_of(report, kWhole)) return false;
  if (option == "phase" || option == "step") return true;
  return !is_one_of(report, kPhases) && (option != "layer" || is_one_of(report, kLayers));
}

// Neither the frames of --by nor changed durations are options of `sql`.
bool has_sql(std::string_view report, const HttpRequest& request) {
  return report_takes(report, "explain") && request.param("what-if").empty() &&
         (report != "stacks" || request.param("by").empty());
}

void add_options(Words& words, const Params& params) {
  for (const auto& [name, value] : params) {
    if (is_view_flag(name)) words.push_back("--" + name);
    if (is_view_option(name)) words.push_back(fmt::format("--{}={}", name, value));
  }
}

Params options_of_sql(Params params) {
  constexpr std::string_view kTaken[] = {"phase", "device", "stream", "step",   "layer",      "op",     "name",
                                         "from",  "to",     "own",    "length", "per-stream", "modules"};
  std::erase_if(params, [&](const auto& one) { return !is_one_of(one.first, kTaken); });
  return params;
}

std::string url(std::string route, const Params& params) {
  char mark = '?';
  for (const auto& [name, value] : params) {
    route += fmt::format("{}{}={}", mark, name, url_text(value));
    mark = '&';
  }
  return route;
}

Params changed(Params params, std::string_view name, const std::string& value) {
  std::erase_if(params, [&](const auto& one) { return one.first == name; });
  if (!value.empty()) params.emplace_back(name, value);
  return params;
}

std::string link_of(const std::string& command, const HttpRequest& request) {
  const Words words = words_of(command);
  if (words.size() < 3 || words.front() != "trace-query") return "";
  Params params;
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!add_word(words, i, request, params)) return "";
  }
  const auto section = std::ranges::find(params, "section", [](const auto& one) { return one.first; });
  if (words[1] == "compare") {
    const std::string part = section == params.end() || section->second == "all" ? "" : "/" + section->second;
    return url("c" + part, changed(params, "section", ""));
  }
  const Words known = table_names();
  return std::ranges::find(known, words[1]) == known.end() ? "" : url("t/" + words[1], params);
}

std::size_t offset_of(const HttpRequest& request) {
  const std::string given = request.param("offset");
  const auto offset = parse_int64(given);
  if (!given.empty() && (!offset || *offset < 0)) throw usage_error("offset {}: not a number of rows", given);
  return static_cast<std::size_t>(offset.value_or(0));
}

std::string glob_of(std::string_view name) {
  std::string out;
  bool is_glob = false;  // without any bracket it would be a text that names contain
  constexpr std::string_view kLeftOut = "…";
  for (std::size_t i = 0, size = 0; i < name.size(); i += size) {
    size = std::max<std::size_t>(utf8_sequence_length(name.substr(i)), 1);
    const std::string_view c = name.substr(i, size);
    if (c == kLeftOut) {
      out += name.size() < kMostPlaces ? '?' : '*';  // a part of the name itself, which would stand for any text
      is_glob = true;
      continue;
    }
    const bool in_brackets = c == "*" || c == "?" || c == "[" || (!is_glob && c != "^" && c != "]");
    out += in_brackets ? fmt::format("[{}]", c) : std::string(c);
    is_glob = is_glob || in_brackets;
  }
  return out;
}

std::string html_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += html_text(line) + "\n";
  return out;
}

std::string paragraphs(const std::vector<std::string>& texts, std::string_view kind) {
  std::string out;
  for (const std::string& text : texts) out += fmt::format("<p class=\"{}\">{}</p>\n", kind, html_text(text));
  return out;
}

std::string field(std::string_view name, std::string_view value, std::string_view hint) {
  return fmt::format("<label>{0} <input name=\"{0}\" value=\"{1}\" placeholder=\"{2}\"></label>\n", name,
                     html_text(value), html_text(hint));
}
std::string hidden(std::string_view name, std::string_view value) {
  return fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", name, html_text(value));
}

std::string selection_form(const HttpRequest& request, std::string_view report) {
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"phase", "decode"}, {"step", "3..9"}, {"layer", "7"}, {"op", "dense_gemm"}, {"name", "*gemm*"}};
  std::string out = "<form class=\"filter\" method=\"get\">\n";
  for (const auto& [name, value] : request.params) {
    const bool is_field = std::ranges::find(kFields, std::string_view(name),
                                            [](const auto& one) { return one.first; }) != std::end(kFields);
    if (!is_field && name != "offset") out += hidden(name, value);
  }
  bool has_fields = false;
  for (const auto& [name, hint] : kFields) {
    if (!report_takes(report, name)) continue;
    out += field(name, request.param(name), hint);
    has_fields = true;
  }
  return !has_fields ? "" : out + "<button>Filter</button></form>\n";
}

TableLinks links_of(const HttpRequest& request, const std::string& root, const IndexNames& names) {
  TableLinks out;
  out.cell = [&request, root, &names](const std::vector<Column>& columns, const Row& row,
                                      std::size_t c) -> std::string {
    const Column& column = columns[c];
    std::string value = value_text(row[c]);
    if (value.empty() || value.starts_with('[')) return "";  // [others], [no step]: no such thing
    if (column.key == "index_path") return url(root + "t", {{"i", names.without_paths(value)}});
    const auto found = std::ranges::find(kCellRoutes, column.key, &CellRoute::column);
    const bool is_kernel = found == std::end(kCellRoutes) && column.fit.names && column.key == "name";
    if (!is_kernel && found == std::end(kCellRoutes)) return "";
    const CellRoute route = is_kernel ? CellRoute{"name", "k", "name"} : *found;
    const std::string index = request.param(route.side);
    if (index.empty()) return "";
    if (route.param == "layer") value = in_stack(columns, row) + value;
    Params params = {{route.side == "f" ? "f" : "i", index}};
    if (route.side == "i" && route.route != "sql") add_selection(request, route, params);
    params.emplace_back(route.param, route.param == "name" ? shorten_middle(value, kMostPlaces) : value);
    return url(root + std::string(route.route), params);
  };
  out.head = [&request](const Column& column) {
    const bool is_so = request.param("sort") == column.key;
    return url("", changed(changed(request.params, "offset", ""), "sort", is_so ? column.key + ":asc" : column.key));
  };
  return out;
}

std::string pages_html(const HttpRequest& request, const AnsweredTable& table, bool is_of_several) {
  if (is_of_several && !table.section.empty()) return whole_html(request, table);
  const std::size_t offset = offset_of(request), shown = table.report.rows.size();
  // What was sent with a form is sent with it again.
  const auto page = [&](const char* text, std::size_t to) {
    if (request.is_post) return fmt::format("<button form=\"sql\" name=\"offset\" value=\"{}\">{}</button> ", to, text);
    return html_link({text, url("", changed(request.params, "offset", to == 0 ? "" : std::to_string(to)))}) + " ";
  };
  std::string out = "<nav class=\"pages\" aria-label=\"Pages\">";
  if (table.total >= 0 && shown > 0)
    out += fmt::format("Rows {} to {} of {} ", offset + 1, offset + shown, table.total);
  if (offset > 0) out += page("previous", offset - std::min(offset, kRowsOfPage));
  const bool is_more = table.total >= 0 ? offset + shown < static_cast<std::size_t>(table.total) : shown >= kRowsOfPage;
  if (is_more) out += page("next", offset + kRowsOfPage);
  return out + "</nav>\n";
}

}  // namespace tracedb
