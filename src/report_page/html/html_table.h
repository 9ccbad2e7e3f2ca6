// A report as a table of HTML: <th data-type="number|text|time" data-unit="ns"> and <td data-value="exact">shown</td>.
// Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "report/sql_report.h"

namespace tracedb {

// Where a cell, and the head of a column, lead to; "": nowhere.
struct TableLinks {
  std::function<std::string(const std::vector<Column>&, const Row&, std::size_t)> cell = {};
  std::function<std::string(const Column&)> head = {};
};

// As many rows as fit into `most_bytes`, and at most `most_rows`; one row [others] stands for those left out. Rows of
// the footer, and [others], are in its tfoot. The column that names rows comes first, whatever the report has first.
std::string html_table(Report report, const ReportHead& head, std::size_t most_rows, std::size_t most_bytes,
                       const TableLinks& links = {});

}  // namespace tracedb
