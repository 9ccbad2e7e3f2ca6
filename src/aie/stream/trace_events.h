// What postprocess_aie_trace.py of the stream project reads of a trace, by process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/python/value.h"

namespace tracedb::stream {

using Cycles = std::int64_t;

struct Span {
  Cycles start, end;
  [[nodiscard]] Cycles duration() const { return end - start; }
};

struct ProcessEvents {
  python::Value pid;                             // as the trace first wrote it
  std::string name;                              // of the last process_name event; empty without one
  std::vector<Cycles> starts, ends;              // INSTR_EVENT_0 B and INSTR_EVENT_1 E, sorted
  std::vector<Cycles> stall_begins, stall_ends;  // LOCK_STALL B and E, sorted
};

// Pairs each begin with the first end behind it that no earlier begin took. Both sorted. One lost end shifts all pairs
// that follow.
std::vector<Span> first_fit(const std::vector<Cycles>& begins, const std::vector<Cycles>& ends);

// The processes with a name or an event of these kinds, in the order in which they first had one. Throws
// Error{kInput}: no list of such events, or a time beyond 1e18.
std::vector<ProcessEvents> read_trace_events(const std::string& file);

}  // namespace tracedb::stream
