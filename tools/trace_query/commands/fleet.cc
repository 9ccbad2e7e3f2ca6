#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/text/amounts.h"
#include "index/locate.h"
#include "ingest/trace_list.h"
#include "present/fleet_tables.h"
#include "report/escape.h"
#include "report/sql_report.h"
#include "sql/safety.h"
#include "sql/tables/table_function.h"
#include "sql/user/user_sql.h"
#include "trace_query/command.h"
#include "trace_query/commands/catalogue.h"
#include "trace_query/commands/compare/compare_request.h"
#include "trace_query/limits.h"
#include "trace_query/options.h"
#include "trace_query/output.h"
#include "trace_query/report_shapes.h"
#include "trace_query/run.h"
#include "trace_query/workload.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

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

std::vector<CatalogueEntry> read_catalogue(const CommandLine& line) {
  Collector collector;
  if (line.positional().empty()) {
    throw usage_error("{}: no trace or index given; usage: trace-query {}", line.command().name, line.command().usage);
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
    if (user.next({})) throw usage_error("one expression, no further statement");
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

namespace {

std::vector<std::string> catalogue_notes(const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> notes;
  const auto count = [&](CatalogueState state) {
    return std::ranges::count_if(entries, [state](const auto& entry) { return entry.state == state; });
  };
  if (const auto n = count(CatalogueState::kNotIndexed); n > 0) {
    notes.push_back(counted(n, "trace has", "traces have") + " no index yet: run trace-ingest on the folder");
  }
  if (const auto n = count(CatalogueState::kOutOfDate); n > 0) {
    notes.push_back(counted(n, "index is", "indexes are") + " out of date: run trace-ingest on the folder");
  }
  if (entries.empty()) notes.emplace_back("no trace and no index");
  return notes;
}

int run_ls(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kRows, OptionGroup::kOutput});
  line.add("where", "only those for which this SQL is true: \"gpu LIKE '%H100%' AND steps > 10\"");
  if (!line.parse(args)) return 0;
  std::vector<CatalogueEntry> entries = read_catalogue(line);
  if (const auto where = line.text("where")) keep_where(entries, *where);
  Report report{catalogue_columns(), {}};
  for (const CatalogueEntry& entry : entries) report.rows.push_back(catalogue_row(entry));
  Output output(line);
  output.print(std::move(report), {"ls", line.positional()}, catalogue_notes(entries));
  output.finish();
  return report_unusable(entries);
}

}  // namespace

std::vector<Command> fleet_commands() {
  return {{"ls",
           "a catalogue of indexes: GPU, framework, model, rank, steps, period, date",
           "ls [options] FOLDER|INDEX|TRACE...",
           "  trace-query ls /dumps --sort date\n"
           "  trace-query ls /dumps --where \"gpu LIKE '%H100%' AND period > 20e6\" --csv",
           run_ls,
           {},
           [](std::string_view name) -> std::vector<ReportShape> {
             return {{name, "ls", "", false, catalogue_columns()}};
           }},
          trend_command()};
}

}  // namespace tracedb
