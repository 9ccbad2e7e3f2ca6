// One JSON line for each trace of a run (--summary): path, index, status, seconds, bytes, events, issues, how many of
// them lost data (losses), whether the trace was whole (complete), error, and the exit code a run over this trace alone
// would have had. Of a valid index they say what was said when it was built.
#pragma once

#include <filesystem>
#include <string>

#include "ingest/batch.h"

namespace tracedb {

enum class Strictness { kLenient, kStrict };  // kStrict: lost data is a failure (--strict)

// Without the line feed. Names that are no valid UTF-8 appear with U+FFFD, and a field path_hex with their bytes.
std::string summary_line(const TraceRecord& record, Strictness strictness);

class SummaryFile {
 public:
  // Replaces what is there. Empty: no summary. Throws Error{kResource}.
  SummaryFile(const std::filesystem::path& path, Strictness strictness);
  ~SummaryFile();
  SummaryFile(const SummaryFile&) = delete;
  SummaryFile& operator=(const SummaryFile&) = delete;

  void add(const TraceRecord& record);  // in the file when this returns; throws Error{kResource}
  void close();                         // after the last; only now some file systems say that they have no room

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  Strictness strictness_;
  int descriptor_ = -1;
};

}  // namespace tracedb
