// What a process printed as JSON, as tables for a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/python/json.h"
#include "report/sql_report.h"

namespace tracedb {

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

// Cells by key, for pages that look at them.
std::string text_at(const python::Value& row, std::string_view key);
double number_at(const python::Value& row, std::string_view key);  // NaN where it is not known
// The rows of a document, of one of its sections.
std::vector<python::Value> rows_of(const python::Value& document, std::string_view section = "");

}  // namespace tracedb
