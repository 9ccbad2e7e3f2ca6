#include "trace_query/commands/fleet/catalogue_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "report/escape.h"
#include "sql/safety.h"
#include "sql/tables/table_function.h"
#include "sql/user/user_sql.h"
#include "trace_query/limits.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

Cell text_cell(const std::optional<std::string>& text) { return text ? Cell(*text) : Cell(); }
Cell number_cell(const std::optional<std::int64_t>& number) { return number ? Cell(*number) : Cell(); }

// Indexes and traces of the arguments: what belongs together is one entry.
class Collector {
 public:
  Collector() : cache_directory_(cache_directory()), cache_(cache_directory_) {}

  void add(const fs::path& given) {
    std::error_code error;
    if (fs::is_directory(given, error)) {
      const TraceList list = list_traces({given}, default_globs(), {}, Indexes::kTake);
      for (const fs::path& path : list.traces) listed_.insert(path);
      for (const fs::path& path : list.traces) add_file(path);
    } else if (fs::exists(given, error)) {
      add_file(given);
    } else {
      throw Error(ErrorCode::kInput, fmt::format("{}: no such file or folder", printable_path(given)));
    }
  }

  std::vector<CatalogueEntry> finish() {
    cache_.save();
    return std::move(entries_);
  }

 private:
  void add_file(const fs::path& path) {
    if (path.extension() == kIndexSuffix || file_kind(path) == FileKind::kIndex) return add_index(path);
    fs::path sidecar = path;
    sidecar += kIndexSuffix;
    if (listed_.contains(sidecar)) return;  // comes by itself
    for (const fs::path& candidate : index_candidates(path, cache_directory_)) {
      if (file_kind(candidate) == FileKind::kIndex) return add_index(candidate);
    }
    if (seen_.insert(path).second) entries_.push_back(catalogue_trace(path));
  }

  void add_index(const fs::path& path) {
    if (!seen_.insert(path.lexically_normal()).second) return;
    entries_.push_back(catalogue_index(path, cache_, rules_));
  }

  fs::path cache_directory_;
  SummaryCache cache_;
  ActiveRules rules_;
  std::set<fs::path> listed_, seen_;
  std::vector<CatalogueEntry> entries_;
};

ColumnType sql_type(Unit unit) { return unit == Unit::kText ? ColumnType::kText : ColumnType::kInteger; }

void add_cell(TableRows& rows, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    rows.add(std::string_view(*text));
  } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    rows.add(*integer);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    rows.add(*real);
  } else {
    rows.add_null();
  }
}

}  // namespace

std::string date_text(std::int64_t ns_since_epoch) {
  constexpr std::size_t kToMinutes = 16;
  return moment_text(ns_since_epoch).substr(0, kToMinutes);
}

std::vector<Column> catalogue_columns() {
  using Others = OthersAggregate;
  return {
      {"name", "Name", Unit::kText, Others::kLabel, Fit{9},
       "file of the trace, or of an index whose trace is not there"},
      {"state", "State", Unit::kText, Others::kNone, Fit{3},
       "indexed, no trace (the index alone is there), out of date, not indexed, unusable"},
      {"vendor", "Vendor", Unit::kText, Others::kNone, Fit{2}, "of the devices"},
      {"gpu", "GPU", Unit::kText, Others::kNone, Fit{6}, "model of the device; unknown: the trace does not say"},
      {"framework", "Framework", Unit::kText, Others::kNone, Fit{3}, "by its Python code or its step marks; a guess"},
      {"model", "Model", Unit::kText, Others::kNone, Fit{3},
       "class of the outermost module, else what the kernels look like; a guess"},
      {"rank", "Rank", Unit::kCount, Others::kNone, Fit{10}, "of the job"},
      {"world_size", "World Size", Unit::kCount, Others::kNone, Fit{2}, "ranks of the job"},
      {"steps", "Steps", Unit::kCount, Others::kSum, Fit{7}, "steps"},
      {"phase", "Phase", Unit::kText, Others::kNone, Fit{2}, "kind of step with most kernel time"},
      {"period", "Med Period", Unit::kTime, Others::kNone, Fit{8}, "median of that kind, as phases has it"},
      {"span", "Med Span", Unit::kTime, Others::kNone, Fit{2},
       "median time from first kernel to end of the last of a step of that kind"},
      {"kernels", "Kernels", Unit::kCount, Others::kSum, Fit{7}, "kernels"},
      {"gpu_time", "GPU Time", Unit::kTime, Others::kSum, Fit{7},
       "sum of the kernel times; unknown of AI Engines, which count cycles"},
      {"date", "Date (UTC)", Unit::kText, Others::kNone, Fit{4},
       "first event of the trace, to the minute; unknown: its clock has no date"},
      {"date_ns", "Date (ns)", Unit::kCount, Others::kNone, Fit{1}, "the same in ns since 1970"},
      {"format", "Format", Unit::kText, Others::kNone, Fit{2}, "what wrote the trace"},
      {"complete", "Complete", Unit::kCount, Others::kNone, Fit{1}, "0: the trace is cut short"},
      {"bytes", "Bytes", Unit::kBytes, Others::kSum, Fit{1}, "size of the index, or of a trace without one"},
      {"trace", "Trace", Unit::kText, Others::kNone, Fit{1}, "path of the trace"},
      {"index_path", "Index", Unit::kText, Others::kNone, Fit{1}, "path of the index"},
  };
}

Row catalogue_row(const CatalogueEntry& entry) {
  const TraceSummary& one = entry.summary;
  const bool known = entry.state != CatalogueState::kNotIndexed && entry.state != CatalogueState::kUnusable;
  const PhaseSummary* phase = one.main_phase();
  const fs::path& named = entry.trace.empty() ? entry.index : entry.trace;
  const auto if_known = [known](Cell cell) { return known ? std::move(cell) : Cell(); };
  return {named.filename().string(),
          std::string(to_string(entry.state)),
          text_cell(one.vendor),
          text_cell(one.gpu),
          text_cell(one.framework),
          text_cell(one.model),
          number_cell(one.rank),
          number_cell(one.world_size),
          if_known(one.steps()),
          phase == nullptr ? Cell() : Cell(phase->phase),
          phase == nullptr ? Cell() : number_cell(phase->period),
          phase == nullptr ? Cell() : number_cell(phase->span),
          if_known(one.kernels),
          one.format == "aie" ? Cell() : if_known(one.kernel_time),
          one.date_ns ? Cell(date_text(*one.date_ns)) : Cell(),
          number_cell(one.date_ns),
          text_cell(one.format),
          if_known(std::int64_t{one.complete}),
          static_cast<std::int64_t>(entry.bytes),
          entry.trace.empty() ? Cell() : Cell(entry.trace.string()),
          entry.index.empty() ? Cell() : Cell(entry.index.string())};
}

std::vector<CatalogueEntry> read_catalogue(const CommandLine& line) {
  Collector collector;
  if (line.positional().empty()) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: no trace or index given; usage: trace-query {}",
                                               line.command().name, line.command().usage));
  }
  for (const std::string& given : line.positional()) collector.add(given);
  return collector.finish();
}

void keep_where(std::vector<CatalogueEntry>& entries, const std::string& expression) {
  Database database(":memory:", Database::Mode::kMemory);
  RunLimits::of_process().watch(database);
  const std::vector<Column> columns = catalogue_columns();
  std::vector<TableColumn> declared = {{"number", ColumnType::kInteger, "", ""}};
  for (const Column& column : columns) declared.push_back({column.key, sql_type(column.unit), "", ""});
  add_table_function(database, "catalogue", declared, [&](TableRows& rows) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      rows.add(i);
      for (const Cell& cell : catalogue_row(entries[i])) add_cell(rows, cell);
    }
  });
  const SqlGuard guard(database, {});
  const std::string before = "SELECT number FROM catalogue WHERE (";
  const std::string sql = before + expression + "\n)";  // which may end with a comment
  std::set<std::size_t> kept;
  const auto failure = catch_error([&] {
    UserSql user(database, sql, before.size(), before.size() + expression.size());
    auto statement = user.next({});
    while (statement && user.step(*statement)) kept.insert(static_cast<std::size_t>(statement->int64(0)));
    statement.reset();
    if (user.next({})) throw Error(ErrorCode::kUsage, "one expression, no further statement");
  });
  if (failure)
    throw Error(failure->code(),
                fmt::format("--where: {}; columns: name, vendor, gpu, ... as in trace-query help ls", failure->what()));
  std::vector<CatalogueEntry> out;
  for (const std::size_t i : kept) out.push_back(std::move(entries[i]));
  entries = std::move(out);
}

int report_unusable(const std::vector<CatalogueEntry>& entries) {
  int code = 0;
  for (const CatalogueEntry& entry : entries) {
    if (entry.state != CatalogueState::kUnusable) continue;
    std::cerr << "trace-query: " << escape_text(entry.reason) << '\n';
    code = static_cast<int>(ErrorCode::kInput);
  }
  return code;
}

}  // namespace tracedb
