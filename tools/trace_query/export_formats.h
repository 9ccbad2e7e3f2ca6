// The formats of `export`: its help, its errors and the completion of words follow from this list.
#pragma once

#include <string_view>

namespace tracedb {

enum class ExportKind { kPerfetto, kSpeedscope, kCollapsed, kParquet, kTable };

struct ExportFormat {
  ExportKind kind;
  std::string_view name;    // --format
  std::string_view ending;  // of a file whose format is not given
  std::string_view what;    // "" as for the format before
};

// The first is the default.
inline constexpr ExportFormat kExportFormats[] = {
    {ExportKind::kPerfetto, "perfetto", "", "Chrome JSON for ui.perfetto.dev (default)"},
    {ExportKind::kSpeedscope, "speedscope", ".speedscope.json", ""},
    {ExportKind::kCollapsed, "collapsed", ".folded", "kernel time by call path for flame graphs"},
    {ExportKind::kParquet, "parquet", ".parquet", "the kernels, for warehouses"},
    {ExportKind::kTable, "csv", ".csv", ""},
    {ExportKind::kTable, "tsv", ".tsv", ""},
    {ExportKind::kTable, "jsonl", ".jsonl", ""},
    {ExportKind::kTable, "json", "", "a table"},
};

}  // namespace tracedb
