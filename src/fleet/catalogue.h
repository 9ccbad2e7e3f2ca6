// What lies in some folders: indexes with their summaries, and traces that have none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_identity.h"
#include "index/index.h"
#include "passes/classify/kernel_classes.h"

namespace tracedb {

// One trace in a line of a catalogue: what it is of, how large, how fast. Made from its index alone.

// Steps of one kind, as `trace-query phases` has them.
struct PhaseSummary {
  std::string phase;
  std::int64_t steps = 0;
  std::int64_t kernel_time = 0;              // ns
  std::optional<std::int64_t> period, span;  // medians, ns
  bool on_host = false;                      // nothing runs on a device: the period is the host's
};

// nullopt: not known.
struct TraceSummary {
  std::string source;  // path that the index says, or that it lies beside; empty: not known
  std::optional<std::int64_t> source_bytes, source_modified_ns, source_inode;  // when it was ingested
  std::optional<std::string> format, vendor, gpu, framework, model;
  std::optional<std::int64_t> rank, world_size;
  std::int64_t kernels = 0, kernel_time = 0;  // ns
  std::optional<std::int64_t> date_ns;  // of the first event, since the epoch; unknown where its clock has no epoch
  bool complete = true;
  std::vector<PhaseSummary> phases;  // in order of kernel time

  [[nodiscard]] std::int64_t steps() const;
  // The phase with most kernel time; null: there are no steps.
  [[nodiscard]] const PhaseSummary* main_phase() const { return phases.empty() ? nullptr : &phases.front(); }
};

// `rules`: the built-in ones, read once for many. What takes passes to find is taken from the index itself if this
// version stored it there, by the same rules.
TraceSummary summarise(const Index& index, const ActiveRules& rules);

// What takes passes to find, as summarise() finds it in meta.summary (IngestOptions::summary); "": the trace has
// what the passes refuse. Error{kResource} for a file that cannot be read. Any thread.
std::string stored_summary(const std::filesystem::path& index);

// The index beside a trace, valid or not; else the one in the cache directory that is not of another trace of its name.
// "": there is none.
std::filesystem::path index_of_trace(const std::filesystem::path& trace, const std::filesystem::path& cache);

// Summaries of indexes that have been made before, in one file of the cache directory. An entry holds for one state of
// one file (path, device, inode, size, times): an index that was replaced, copied or changed is summarised anew. The
// file is replaced as a whole and closes with a hash of itself; what does not fit it, what another version wrote, and a
// file that cannot be read count as no entries. Where it cannot be written, nothing is kept, and nothing fails.
class SummaryCache {
 public:
  // `directory` may be empty or missing: then there are no entries.
  explicit SummaryCache(std::filesystem::path directory);

  // Null: not known for this state of the file.
  [[nodiscard]] const TraceSummary* find(const std::filesystem::path& index, const FileIdentity& identity) const;
  void add(const std::filesystem::path& index, const FileIdentity& identity, TraceSummary summary);

  // Writes what was added to what others have written in the meantime. Entries of files that changed less than two
  // seconds ago are left out: an edit within one tick of a clock would go unnoticed.
  void save();

 private:
  struct Entry {
    std::string key;  // what identifies the state of the file
    TraceSummary summary;
  };
  using Entries = std::map<std::string, Entry>;  // by absolute path

  [[nodiscard]] Entries read() const;
  void write(const Entries& entries) const;

  std::filesystem::path directory_, file_;
  Entries entries_, added_;
};

enum class CatalogueState {
  kIndexed,     // the index describes its trace
  kNoTrace,     // the trace is not there; the index answers
  kOutOfDate,   // the trace has changed since
  kNotIndexed,  // a trace without an index
  kUnusable,    // the index cannot be read, or a folder, which then is the trace
};
std::string_view to_string(CatalogueState state);  // indexed, no trace, out of date, not indexed, unusable

struct CatalogueEntry {
  std::filesystem::path index, trace;  // empty: there is none, or it is not known
  CatalogueState state = CatalogueState::kNotIndexed;
  TraceSummary summary;     // of an index that can be read
  std::string reason;       // why it cannot be, in one line
  std::uint64_t bytes = 0;  // of the index, else of the trace

  [[nodiscard]] const std::filesystem::path& named() const { return trace.empty() ? index : trace; }
  // One that may not be read: of what is in it nothing is known.
  [[nodiscard]] bool is_folder() const { return state == CatalogueState::kUnusable && index.empty(); }
};

// Of an index; its summary is taken from the cache, or made by the built-in rules and added to it.
CatalogueEntry catalogue_index(const std::filesystem::path& index, SummaryCache& cache, const ActiveRules& rules);
CatalogueEntry catalogue_trace(const std::filesystem::path& trace);  // that has no index
CatalogueEntry catalogue_unreadable(const std::filesystem::path& folder, const std::string& why);

}  // namespace tracedb
