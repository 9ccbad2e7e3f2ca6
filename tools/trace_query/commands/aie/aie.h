#pragma once

#include <span>
#include <string>

namespace tracedb {

// `trace-query aie --compat stream`: what postprocess_aie_trace.py of the stream project does with these arguments, in
// the working directory. Returns the exit code.
int run_aie_stream(std::span<const std::string> args);

}  // namespace tracedb
