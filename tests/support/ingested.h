// A hand-written trace through the whole of ingest, and the tables it became as text a test can compare.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "ingest/ingest.h"
#include "sql/database.h"
#include "support/temp_directory.h"

namespace tracedb {

class Ingested {
 public:
  explicit Ingested(std::string_view trace, const IngestOptions& options = small_options())
      : result_(ingest_trace(directory_.write("trace.json", trace), directory_ / "index", options)),
        database_(directory_ / "index", Database::Mode::kReadOnly) {}

  static IngestOptions small_options() {
    IngestOptions options;
    options.threads = 1;
    return options;
  }

  // Rows of a query: cells joined by a blank, NULL as "-", rows joined by "; ".
  std::string rows(std::string_view sql) {
    Statement statement(database_, sql);
    std::string out;
    for (bool first = true; statement.step(); first = false) {
      if (!first) out += "; ";
      for (int column = 0; column < statement.column_count(); ++column) {
        if (column > 0) out += ' ';
        out += statement.is_null(column) ? "-" : statement.text(column);
      }
    }
    return out;
  }
  std::string meta(std::string_view key) { return rows(fmt::format("SELECT value FROM meta WHERE key = '{}'", key)); }

  [[nodiscard]] const IngestResult& result() const { return result_; }
  [[nodiscard]] std::uint64_t issues(IssueKind kind) const { return result_.issues.count(kind); }
  [[nodiscard]] const TempDirectory& directory() const { return directory_; }

 private:
  TempDirectory directory_;
  IngestResult result_;
  Database database_;
};

// Short hand for events: times in microseconds, `args` the members of the args object.
inline std::string event(std::string_view category, std::string_view name, std::string_view thread, std::string_view ts,
                         std::string_view dur, std::string_view args = {}) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}",{},"ts":{},"dur":{},"args":{{{}}}}},)", category, name,
                     thread, ts, dur, args);
}
inline std::string trace_of(std::string_view events) {
  if (events.ends_with(',')) events.remove_suffix(1);
  return fmt::format("{{\"traceEvents\":[{}]}}", events);
}

inline constexpr std::string_view kMainThread = R"("pid":100,"tid":1)";
inline constexpr std::string_view kOtherThread = R"("pid":100,"tid":2)";
inline constexpr std::string_view kGpuStream = R"("pid":0,"tid":7)";

}  // namespace tracedb
