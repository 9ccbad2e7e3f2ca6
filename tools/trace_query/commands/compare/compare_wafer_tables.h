// The sections of a comparison as tables whose rows are made one at a time: there may be millions of pairs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/wafer/comparison.h"
#include "report/table.h"

namespace tracedb {

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
