// The files that postprocess_aie_trace.py of the stream project writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aie/stream/cores.h"

namespace tracedb::stream {

struct Options {
  Work work;
  std::int64_t block_m = 0, block_k = 0, block_n = 0;
  std::string hardware;  // hwid

  [[nodiscard]] std::string folder() const;  // of the trace, and of what is written
  [[nodiscard]] std::string trace() const;
};

struct OutputText {
  std::string path, text;
};

// Reads the trace and makes all files, in the order in which the program writes them. Throws Error{kInput}.
std::vector<OutputText> postprocess(const Options& options);

}  // namespace tracedb::stream
