// The tables of the passes over a small index, as SQL sees them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "passes/tables/pass_tables.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {

// A small index, changed by SQL before it is opened.
struct ChangedIndex {
  TempDirectory folder;
  Index index;
  explicit ChangedIndex(std::string_view change = {}) : index(changed(folder / "small.tracedb", change)) {}

  static Index changed(const std::filesystem::path& path, std::string_view change) {
    write_small_index(path);
    if (!change.empty()) change_by_sql(path, change);
    return Index::open(path);
  }
};

inline std::string rows_of(const Index& index, std::string_view sql) { return rows_of(index.database(), sql); }

// The tables of one index under some options, made anew each time.
inline std::string ask_passes(const Index& index, std::string_view sql, Selection selection = {},
                              const PassOptions& options = {}, StepOptions steps = {}) {
  const ActiveRules rules;
  Workload workload(index, rules, {std::move(selection), std::move(steps), nullptr});
  add_pass_tables(workload, options);
  return rows_of(index, sql);
}

template <class Change>
Selection only(Change change) {
  Selection selection;
  change(selection);
  return selection;
}

}  // namespace tracedb
