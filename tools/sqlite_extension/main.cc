// libtracedb_sqlite.so: a loadable extension of SQLite. `.load libtracedb_sqlite` in its shell, load_extension() in
// Python and elsewhere.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/scope_exit.h"
#include "index/index.h"
#include "index/packed_tables.h"
#include "index/validity.h"
#include "passes/select/workload.h"
#include "passes/sql/event_rows.h"
#include "passes/sql/kernel_sql_functions.h"
#include "passes/tables/pass_tables.h"
#include "report/escape.h"
#include "sql/database.h"
#include "sql/host/host_sqlite.h"
#include "sql/sql_function.h"
#include "sql/user/functions.h"

struct sqlite3;

namespace tracedb {
namespace {

thread_local bool opening = false;

std::string rules_name() {
  const char* name = std::getenv("TRACEDB_RULES");
  return name == nullptr || *name == '\0' ? "default" : name;
}

// The index that a program has open when it loads the extension: what trace-query sql has besides the index's own
// tables, in that program's connection. The passes read the index by a connection of their own, opened when a statement
// first needs one: settings and temporary tables of the host do not matter to them, nor do they to the host.
//
// One thread at a time, as its connection is used. Failures are one line, without bytes that a terminal obeys.
class HostIndex {
 public:
  explicit HostIndex(sqlite3* connection)
      : host_(connection),
        file_(main_file(host_)),
        application_id_(host_.query_int64("PRAGMA main.application_id").value_or(0)),
        version_(host_.query_int64("PRAGMA main.user_version").value_or(0)),
        rules_(rules_name()),
        functions_([this]() -> Workload& { return workload(); }, is_of_this_version() ? nullptr : &rules_) {
    host_.write_failures_by(escape_text);
  }
  HostIndex& operator=(HostIndex&&) = delete;

  // Adds functions and tables to the connection, and the columns to its views where it has an index of this version
  // open. A second time it does nothing.
  static void add_to(sqlite3* connection);

  // True on the thread that opens a connection of our own.
  static bool is_opening() { return opening; }

  // Throws Error where the connection has no index open that passes can read: what it is instead.
  Workload& workload() {
    if (!workload_) open();
    return *workload_;
  }
  // Its file.
  [[nodiscard]] const std::filesystem::path& path() { return workload().index().path(); }
  // What a reader must know of what was computed so far, line by line.
  const std::string& notes() {
    for (const std::string& note : workload().take_notes()) notes_ += (notes_.empty() ? "" : "\n") + note;
    return notes_;
  }

 private:
  void open() {
    if (application_id_ != kApplicationId) {
      throw Error(ErrorCode::kInput, fmt::format("{}: not an index of a trace: open one, or make it with trace-ingest",
                                                 file_ ? file_->string() : "the open database"));
    }
    if (!file_) throw Error(ErrorCode::kInput, "an index in memory: the passes read its file; open that");
    const std::string replaced = "replaced or removed since it was opened: open it again";
    if (has_main_moved(host_)) throw Error(ErrorCode::kTransient, fmt::format("{}: {}", file_->string(), replaced));
    opening = true;
    const ScopeExit opened([] { opening = false; });
    Index index = Index::open(*file_);
    if (has_main_moved(host_)) throw Error(ErrorCode::kTransient, fmt::format("{}: {}", file_->string(), replaced));
    const ValidityResult result = check_validity(index, source_of(index), Effort::kReadOnly);
    if (result.validity == Validity::kStale) {
      throw Error(ErrorCode::kInput,
                  fmt::format("{}: out of date: {}; make it anew with trace-ingest", file_->string(), result.reason));
    }
    if (result.validity != Validity::kValid) notes_ = "not checked against its trace: " + result.reason;
    if (!index.complete()) {
      notes_ += notes_.empty() ? "" : "\n";
      notes_ += "the trace is truncated: this is what came before the damage";
    }
    index_.emplace(std::move(index));
    workload_.emplace(*index_, rules_);
  }
  [[nodiscard]] bool is_of_this_version() {
    return file_ && application_id_ == kApplicationId && version_ == kSchemaVersion;
  }

  Database host_;
  std::optional<std::filesystem::path> file_;
  std::int64_t application_id_, version_;
  ActiveRules rules_;
  PassOptions options_;
  KernelSqlFunctions functions_;
  std::optional<Index> index_;
  std::optional<Workload> workload_;
  std::string notes_;
};

HostIndex& own(const SqlCall& call) { return *static_cast<HostIndex*>(call.context()); }

void give_path(SqlCall& call) { call.give(std::string_view(own(call).path().native())); }
void give_notes(SqlCall& call) { call.give(std::string_view(own(call).notes())); }

void HostIndex::add_to(sqlite3* connection) {
  const auto index = std::make_shared<HostIndex>(connection);
  Database& host = index->host_;
  if (has_function(host, "tracedb_index()")) return;
  // The one step that a host may refuse comes first: nothing points to an object that is not kept. The tables that the
  // views select from keep it themselves.
  if (index->is_of_this_version()) {
    add_packed_tables(host, [index]() -> Database& { return index->workload().index().database(); });
    add_event_rows(host, "", [index]() -> Workload& { return index->workload(); });
    add_kernel_views(host);
  }
  keep_until_closed(host, index);
  register_functions(host);
  register_kernel_functions(host, &index->functions_);
  add_pass_tables(
      host, [own = index.get()]() -> Workload& { return own->workload(); }, index->options_);
  add_function<give_notes>(host, "tracedb_notes", 0, index.get());
  add_function<give_path>(host, "tracedb_index", 0, index.get());
}

}  // namespace
}  // namespace tracedb

// SQLite looks for a function of this name in a library of that name.
extern "C" [[gnu::visibility("default")]] int sqlite3_tracedbsqlite_init(sqlite3* connection, char** message,
                                                                         const sqlite3_api_routines* routines) {
  // The host may load us into every connection, also those that we open.
  if (tracedb::HostIndex::is_opening()) return 0;
  const auto failure = tracedb::catch_error([&] {
    tracedb::use_host_sqlite(routines);
    tracedb::HostIndex::add_to(connection);
  });
  if (!failure) return 0;
  return tracedb::fail_loading(routines, message, tracedb::escape_text(failure->what()));
}
