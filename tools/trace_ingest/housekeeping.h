// trace-ingest: the summary of a run, and --stats, --gc and --upgrade, which list the indexes in folders, remove them,
// and bring them to this version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"
#include "index/gc.h"
#include "ingest/batch.h"

namespace tracedb {

// One JSON line for each trace of a run (--summary): path, index, status, seconds, bytes, events, issues, how many of
// them lost data (losses), whether the trace was whole (complete), error, and the exit code a run over this trace alone
// would have had. The figures of an index that was already valid are those of its build. One for each file that
// housekeeping looked at: path, kind (index or leftover), state, bytes, modified_ns, source, reason, action, error.

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

struct HousekeepingCommand {
  bool collect = false;                        // else only tell
  std::vector<std::filesystem::path> folders;  // none: the default cache directory
  std::filesystem::path summary;               // empty: none
  GcOptions options;
  bool dry_run = false;
  bool quiet = false;
  bool verbose = false;
};

// Exit code: 0; 3 if a folder could not be read; 5 if a file could not be removed; 128 + the signal if one ended it.
int run_housekeeping(const HousekeepingCommand& command);

// Indexes, and those in folders; of each that it upgraded it says so. Exit code: 0; 3 if one could not be; 128 + the
// signal if one ended it.
int run_upgrade(const std::vector<std::string>& given, bool quiet);

// "30d", "12h", "45m", "90s", "2w" in ns. Throws Error{kUsage}.
std::int64_t parse_age(const std::string& text);

}  // namespace tracedb
