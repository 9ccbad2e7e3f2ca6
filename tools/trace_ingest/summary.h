// One JSON line for each trace of a run (--summary): path, index, status, seconds, bytes, events, issues, how many of
// them lost data (losses), whether the trace was whole (complete), error, and the exit code a run over this trace alone
// would have had. The figures of an index that was already valid are those of its build. One for each file that
// housekeeping looked at: path, kind (index or leftover), state, bytes, modified_ns, source, reason, action, error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files/file_descriptor.h"
#include "index/inventory.h"
#include "ingest/batch.h"

namespace tracedb {

enum class Strictness { kLenient, kStrict };  // kStrict: lost data is a failure (--strict)

// Without the line feed. Names that are no valid UTF-8 appear with U+FFFD, and a field more, path_hex, index_hex or
// source_hex, has their bytes.
std::string summary_line(const TraceRecord& record, Strictness strictness);
std::string summary_line(const ListedIndex& index, std::string_view reason, std::string_view action,
                         const std::string& error);
std::string summary_line(const ListedLeftover& leftover, std::string_view action, const std::string& error);

class SummaryFile {
 public:
  // Replaces what is there. Empty: no summary. Throws Error{kResource}.
  explicit SummaryFile(const std::filesystem::path& path);

  void add(const std::string& line);  // in the file when this returns; throws Error{kResource}
  void close();                       // after the last; only now some file systems say that they have no room

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace tracedb
