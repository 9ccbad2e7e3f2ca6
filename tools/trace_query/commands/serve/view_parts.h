// What views of traces share: answers as tables, options that a query may name, addresses, forms, and where cells of
// tables lead to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python/json.h"
#include "report/sql_report.h"
#include "report_page/html/html_table.h"
#include "trace_query/child/child.h"
#include "trace_query/commands/serve/http_request.h"

namespace tracedb {

// What a process printed as JSON, as tables for a page.

struct AnsweredTable {
  std::string section;      // "": the only one
  Report report;            // columns as the command declares them, where it does
  std::int64_t total = -1;  // rows of all pages, without those of sums; negative: not told
};

struct Answered {
  std::vector<std::string> sentences, warnings;
  std::vector<AnsweredTable> tables;
};
// Throws Error{kInput}: it is no such document.
Answered read_answer(const std::string& printed, std::string_view command);

// Rows of sums, which are behind those of each page, become the footer: of a page from `offset` on, of `most` rows.
void part_sums(AnsweredTable& table, std::size_t offset, std::size_t most);

std::vector<std::string> answer_warnings(const python::Value& document);
bool counts_cycles(const std::vector<std::string>& warnings);  // whether these say that all times are cycles

// Cells by key, for pages that look at them.
std::string text_at(const python::Value& row, std::string_view key);
double number_at(const python::Value& row, std::string_view key);  // NaN where it is not known
// The rows of a document, of one of its sections.
std::vector<python::Value> rows_of(const python::Value& document, std::string_view section = "");

using Words = std::vector<std::string>;                           // of a command line
using Params = std::vector<std::pair<std::string, std::string>>;  // of a query

// Whether a query may name it. What may not, and so no file and no limit, is never handed on to a command.
bool is_selecting(std::string_view name);  // "phase", ...
bool is_view_option(std::string_view name);
bool is_view_flag(std::string_view name);
bool report_takes(std::string_view report, std::string_view option);  // of --explain and the options that choose rows
bool has_sql(std::string_view report, const HttpRequest& request);    // whether `sql` answers the same
void add_options(Words& words, const Params& params);
Params options_of_sql(Params params);  // those that `sql` has, too: its tables are those of the selection

std::string url(std::string route, const Params& params);
// The same with another value of one; "": without it.
Params changed(Params params, std::string_view name, const std::string& value);

// The view that a command of a page leads to; "": there is none.
std::string link_of(const std::string& command, const HttpRequest& request);

std::size_t offset_of(const HttpRequest& request);  // the first row that is shown; Error{kUsage}: it is no number

// A GLOB that this name alone fits; of one with … in its middle, all that begin and end so.
std::string glob_of(std::string_view name);

std::string html_lines(std::string_view text);  // of several lines, which stay lines
std::string paragraphs(const std::vector<std::string>& texts, std::string_view kind);
std::string field(std::string_view name, std::string_view value, std::string_view hint);
std::string hidden(std::string_view name, std::string_view value);

// To narrow a table about traces; what else the address says stays.
std::string selection_form(const HttpRequest& request, std::string_view report);

// `request` and `names` must stay.
TableLinks links_of(const HttpRequest& request, const std::string& root, const IndexNames& names);

// A section that is one of several goes on at its own page.
std::string pages_html(const HttpRequest& request, const AnsweredTable& table, bool is_of_several);

// The first page: all traces, those that became slower first; and series over time. Both from what `ls` and `trend`
// print as JSON. Pure.

inline constexpr std::size_t kRowsOfPage = 100;

// SQL over the columns of `ls`, where the filter is SQL; "" where it is words, which every row shown must have.
std::string catalogue_where(const std::string& filter);

// Options of `ls` for the same traces; nullopt: they cannot be told. Error{kUsage}: there is no such order.
std::optional<Words> catalogue_options(const HttpRequest& request);

std::string catalogue_html(const std::string& list, const std::string& trend, const HttpRequest& request);

std::string trend_html(const std::string& trend);

}  // namespace tracedb
