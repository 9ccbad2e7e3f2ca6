// What postprocess_aie_trace.py of the stream project makes of a trace, and the files that it writes, faults included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracedb::stream {

// The options of the program; without the block sizes m, k and n, which it only repeats.
struct Work {
  std::int64_t m = 0, k = 0, n = 0;  // of the whole multiplication
  std::int64_t rows = 0, columns = 0;
  std::int64_t warmup = 0, iterations = 0;  // not negative
};

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
