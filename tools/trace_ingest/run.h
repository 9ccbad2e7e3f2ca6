// Runs trace-ingest with the arguments of its command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/ingest.h"
#include "shared/progress.h"

namespace tracedb {

struct IngestCommand {
  std::vector<std::filesystem::path> traces;  // and folders
  std::filesystem::path files_from;           // a list of more of them; "-": standard input
  std::vector<std::string> globs;             // of files in folders; empty: the default ones
  std::filesystem::path summary;              // empty: none
  ProgressMode progress = ProgressMode::kAuto;
  std::chrono::nanoseconds heartbeat = ProgressOptions().heartbeat;
  bool strict = false;
  bool quiet = false;
  bool verbose = false;
  IngestOptions ingest;
};

// Exit code: 0; of a single trace that failed, its own; 3 if some of several failed; 4 if --strict and data was lost;
// 128 + the signal if one ended the run.
int run_ingest(const IngestCommand& command);

}  // namespace tracedb
