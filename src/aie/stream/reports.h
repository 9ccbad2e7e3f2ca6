// The files that postprocess_aie_trace.py of the stream project writes.
#pragma once

#include <cstdint>
#include <iosfwd>
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

std::string core_json(const Core& core);
std::string details_markdown(const Options& options, const std::vector<Core>& cores);  // empty: no iterations at all
std::string index_json(const Options& options, const std::vector<Core>& cores, bool has_details);
// `cores`: of the files written for them, nullptr for a file that holds something else.
std::string aggregate_json(const Options& options, const std::vector<const Core*>& cores);

// Reads the trace, writes all files and a line for each to `out`. Throws python::failure() where the program fails,
// with the files written until then left behind, as it does.
void postprocess(const Options& options, std::ostream& out);

}  // namespace tracedb::stream
