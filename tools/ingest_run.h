// What trace-ingest does with its arguments.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/ingest.h"

namespace tracedb {

struct IngestCommand {
  std::vector<std::filesystem::path> traces;
  std::filesystem::path output;           // empty: beside the trace
  std::filesystem::path index_directory;  // empty: beside the trace
  bool force = false;
  bool verify = false;
  bool strict = false;
  bool quiet = false;
  IngestOptions options;
};

// Exit code: of the first trace that failed, else 0 (4 if --strict and data was lost).
int run_ingest(const IngestCommand& command);

// "64K", "1.5M", "2G" (powers of 1024) or plain bytes. Throws Error{kUsage}.
std::size_t parse_size(const std::string& text);

}  // namespace tracedb
