// Summaries of indexes that have been made before, in one file of the cache directory. An entry holds for one state of
// one file (path, device, inode, size, times): an index that was replaced, copied or changed is summarised anew. The
// file is replaced as a whole and closes with a hash of itself; what does not fit it, what another version wrote, and a
// file that cannot be read count as no entries. Where it cannot be written, nothing is kept, and nothing fails.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/files/file_identity.h"
#include "fleet/trace_summary.h"

namespace tracedb {

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

}  // namespace tracedb
