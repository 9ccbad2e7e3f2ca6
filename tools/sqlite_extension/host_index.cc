#include "sqlite_extension/host_index.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/scope_exit.h"
#include "index/index.h"
#include "index/validity.h"
#include "passes/sql/event_rows.h"
#include "report/escape.h"
#include "sql/host/host_sqlite.h"
#include "sql/sql_function.h"
#include "sql/user/functions.h"

namespace tracedb {
namespace {

thread_local bool opening = false;

std::string rules_name() {
  const char* name = std::getenv("TRACEDB_RULES");
  return name == nullptr || *name == '\0' ? "default" : name;
}

HostIndex& own(const SqlCall& call) { return *static_cast<HostIndex*>(call.context()); }

void give_path(SqlCall& call) { call.give(std::string_view(own(call).path().native())); }
void give_notes(SqlCall& call) { call.give(std::string_view(own(call).notes())); }

}  // namespace

HostIndex::HostIndex(sqlite3* connection)
    : host_(host_database(connection)),
      file_(main_file(host_)),
      application_id_(host_.query_int64("PRAGMA main.application_id").value_or(0)),
      version_(host_.query_int64("PRAGMA main.user_version").value_or(0)),
      rules_(rules_name()),
      functions_([this]() -> Workload& { return workload(); }, is_of_this_version() ? nullptr : &rules_) {
  host_.write_failures_by(escape_text);
}

bool HostIndex::is_opening() { return opening; }

bool HostIndex::is_of_this_version() {
  return file_ && application_id_ == kApplicationId && version_ == kSchemaVersion;
}

void HostIndex::add_to(sqlite3* connection) {
  const auto index = std::make_shared<HostIndex>(connection);
  Database& host = index->host_;
  if (has_function(host, "tracedb_index()")) return;
  // The one step that a host may refuse comes first: nothing points to an object that is not kept. The tables that the
  // views select from keep it themselves.
  if (index->is_of_this_version()) {
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

Workload& HostIndex::workload() {
  if (!workload_) open();
  return *workload_;
}

const std::filesystem::path& HostIndex::path() { return workload().index().path(); }

const std::string& HostIndex::notes() {
  for (const std::string& note : workload().take_notes()) notes_ += (notes_.empty() ? "" : "\n") + note;
  return notes_;
}

void HostIndex::open() {
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

}  // namespace tracedb
