// One JSON line for each trace of a run (--summary): path, index, status, seconds, bytes, events, issues, error, and
// the exit code a run over this trace alone would have had.
#pragma once

#include <filesystem>
#include <string>

#include "ingest/batch.h"

namespace tracedb {

// Without the line feed. Names that are no valid UTF-8 appear with U+FFFD, and a field path_hex with their bytes.
std::string summary_line(const TraceRecord& record);

class SummaryFile {
 public:
  // Replaces what is there. Empty: no summary. Throws Error{kResource}.
  explicit SummaryFile(const std::filesystem::path& path);
  ~SummaryFile();
  SummaryFile(const SummaryFile&) = delete;
  SummaryFile& operator=(const SummaryFile&) = delete;

  void add(const TraceRecord& record);  // in the file when this returns; throws Error{kResource}
  void close();                         // after the last; only now some file systems say that they have no room

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace tracedb
