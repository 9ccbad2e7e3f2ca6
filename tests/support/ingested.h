// A hand-written trace through the whole of ingest, and the tables it became as text a test can compare.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "index/packed_tables.h"
#include "ingest/ingest.h"
#include "sql/database.h"
#include "support/rows.h"
#include "support/temp_directory.h"

namespace tracedb {

class Ingested {
 public:
  explicit Ingested(std::string_view trace, const IngestOptions& options = small_options())
      : result_(ingest_trace(directory_.write("trace.json", trace), directory_ / "index", options)),
        database_(directory_ / "index", Database::Mode::kReadOnly) {
    add_packed_tables(database_, [this]() -> Database& { return database_; });
  }

  Ingested(const Ingested&) = delete;
  Ingested& operator=(const Ingested&) = delete;

  static IngestOptions small_options() {
    IngestOptions options;
    options.threads = 1;
    return options;
  }

  std::string rows(std::string_view sql) { return rows_of(database_, sql); }
  std::string meta(std::string_view key) { return rows(fmt::format("SELECT value FROM meta WHERE key = '{}'", key)); }
  // "bad_number 2; missing_name 1": the issues that are more than remarks.
  std::string issue_counts() { return rows("SELECT kind, count FROM issue WHERE severity <> 'info' ORDER BY kind"); }

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

// A launch at `ts` on a thread, and its kernel, which runs long after.
inline std::string launch_at(std::string_view name, std::string_view thread, int ts) {
  const std::string ids = fmt::format(R"("correlation":{})", ts);
  return event("cuda_runtime", "cudaLaunchKernel", thread, std::to_string(ts), "1", ids) +
         event("kernel", name, kGpuStream, std::to_string(1000 + ts), "1", ids);
}

// Paths of python frames, by the id of their stack.
inline constexpr std::string_view kPaths =
    "WITH RECURSIVE p(id, path) AS (SELECT s.id, t.value FROM stack s JOIN frame f ON f.id = s.frame_id JOIN string t "
    "ON t.id = f.name_id WHERE s.parent_id IS NULL UNION ALL SELECT s.id, p.path || '>' || t.value FROM stack s JOIN p "
    "ON p.id = s.parent_id JOIN frame f ON f.id = s.frame_id JOIN string t ON t.id = f.name_id) ";

}  // namespace tracedb
