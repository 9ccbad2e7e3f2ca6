// trace-ingest --stats, --gc and --upgrade: lists the indexes in folders, removes them, and brings them to this
// version.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "index/gc.h"

namespace tracedb {

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
