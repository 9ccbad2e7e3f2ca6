// The traces and indexes of a run of trace-query sql: the first is the connection itself, the first ten are schemas a,
// b
// ... or under their own names, and all of them are in the tables all_kernels, all_steps ...
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "passes/sql/kernel_sql_functions.h"
#include "sql/tables/set_table.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/run.h"

namespace tracedb {

// An index that is ready for ad-hoc SQL: the functions, tables and views of the passes are there besides its own.

// `requested` and `options` must outlive it. One thread at a time.
class SqlIndex {
 public:
  // Where rows are sorted that do not fit into SQLite's cache.
  enum class Sorting { kInMemory, kOnDisk };

  SqlIndex(OpenedTrace trace, const RequestedWorkload& requested, const PassOptions& options, Sorting sorting);
  SqlIndex& operator=(SqlIndex&&) = delete;

  [[nodiscard]] const Index& index() const { return trace_.index; }
  [[nodiscard]] Database& database() const { return trace_.index.database(); }
  // For people, those since the last call: about the index, and what the passes had to assume.
  std::vector<std::string> take_notes();

 private:
  OpenedTrace trace_;
  Workload workload_;
  KernelSqlFunctions functions_;
};

// One of the inputs.
struct SqlInput {
  std::string path;
  std::string name;  // of the schema, as given by name=path; "": not given
};

// Inputs as given, "name=path" taken apart, folders and patterns as find_inputs() does. Error{kUsage} for a name that
// is given twice, that SQL has already, or that would be that of many.
std::vector<SqlInput> find_sql_inputs(const std::vector<std::string>& given,
                                      const std::optional<std::string>& files_from, std::vector<std::string>& notes);

class IndexSet : public DatabaseSet {
 public:
  // Opens the first ten; Error of the first where none can be. `line`, `requested` and `options` must outlive it.
  IndexSet(std::vector<SqlInput> inputs, const CommandLine& line, const RequestedWorkload& requested,
           const PassOptions& options);

  // The files of the first ten by the names of their schemas, the main one first; of those that could be opened.
  [[nodiscard]] std::vector<std::pair<std::string, std::filesystem::path>> schema_files() const;
  [[nodiscard]] SqlIndex& main() const { return *schemas_[main_].index; }
  // For statements on main(): schemas, where there are several inputs or one has a name, and then also the tables of
  // all indexes, which `text` may use of a single one.
  void add_tables(std::string_view text);

  [[nodiscard]] std::size_t size() const override { return inputs_.size(); }
  [[nodiscard]] std::span<const LabelColumn> label_columns() const override;
  [[nodiscard]] std::vector<SqlValue> known_labels(std::size_t member) const override;
  [[nodiscard]] std::vector<SqlValue> labels(std::size_t member, Database& database) const override;
  std::shared_ptr<Database> open(std::size_t member) override;
  void leave_out(std::size_t member, const Error& why) override;
  [[nodiscard]] std::size_t threads() const override { return threads_; }
  std::vector<std::string> take_notes();
  // 0, or that of a run in which some inputs could not be read.
  [[nodiscard]] int exit_code() const { return left_out_.empty() ? 0 : static_cast<int>(ErrorCode::kInput); }

 private:
  // A schema's only index, opened once for all statements.
  struct Schema : DatabaseSet {
    [[nodiscard]] std::size_t size() const override { return 1; }
    std::shared_ptr<Database> open(std::size_t) override;

    std::string name;
    std::shared_ptr<SqlIndex> index;  // null: cannot be opened
    std::optional<Error> failure;
  };

  void name_inputs();
  void open_schemas();
  void require_places();
  [[nodiscard]] std::shared_ptr<SqlIndex> make(std::size_t member);
  std::shared_ptr<Database> check_out(std::size_t member, const std::shared_ptr<SqlIndex>& index);
  void take_back(std::size_t member, std::shared_ptr<SqlIndex> index);
  void collect_notes(std::size_t member, SqlIndex& index);

  const CommandLine& line_;
  const RequestedWorkload& requested_;
  const PassOptions& options_;
  std::vector<SqlInput> inputs_;
  std::vector<std::string> names_;  // of the inputs in column index_name, each once
  std::size_t threads_ = 1;
  std::size_t main_ = 0;

  std::mutex building_;  // one index at a time
  std::mutex mutex_;     // of what follows
  std::set<std::size_t> left_out_;
  std::vector<std::pair<std::size_t, std::shared_ptr<SqlIndex>>> idle_;
  std::map<std::string, std::vector<std::size_t>> notes_;  // members, by note

  std::vector<Schema> schemas_;
};

}  // namespace tracedb
