// `trace-query compare --method wafer`: reproduces the comparison of wafer 0.1.28 (src/compare/wafer).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "compare/wafer/comparison.h"
#include "report/table.h"
#include "trace_query/options.h"

namespace tracedb {

// Prints the sections asked for and returns the exit code. Of the command line it reads two inputs; --phase (all,
// prefill, decode); --section, a list (none: all); --limit, where it is known; and what OptionGroup::kOutput has.
// Error{kUsage} for other values, and unless there are two inputs.
int run_wafer_comparison(const CommandLine& line);

// The sections of a comparison as tables whose rows are made one at a time: there may be millions of pairs.
using RowSink = std::function<void(Row)>;

struct WaferTable {
  std::string_view section;  // of --section; one section may have several tables
  std::string_view key;      // in JSON
  std::string_view title;
  std::vector<Column> columns;
  std::function<void(const RowSink&)> produce;
  std::vector<std::string_view> essential = {};  // keys of the columns that are worth the width of a page; none: all
};

// Borrowed by the tables.
struct WaferResult {
  wafer::Trace baseline, candidate;
  wafer::Comparison comparison;
  wafer::PhaseFilter phase;
};

inline constexpr std::string_view kWaferSections[] = {"summary", "operations",   "layers",  "alignment",
                                                      "fusion",  "same-kernels", "warnings"};

std::vector<WaferTable> wafer_tables(const WaferResult& result);

}  // namespace tracedb
