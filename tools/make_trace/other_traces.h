// Traces that no model of a server or of training makes: of a job, of AI Engine tiles, of Ascend NPUs.
#pragma once

#include <cstdint>
#include <string>

#include "make_trace/options.h"

namespace tracedb {

// `make-trace job ...`: traces of all ranks of a job that communicate with each other: layers of kernels, a collective
// after each, ranks that are late by what is planted, clocks that differ; or stages of a pipeline that send to each
// other. For tests of what reads several ranks. Arguments begin with the word "job". Throws Error{kUsage, kResource}.
void make_job_trace(int argc, char** argv);

// `make-trace aie ...`: traces of AI Engine tiles, as mlir-aie's parse.py writes them: B and E events in cycles, with
// faults planted. Arguments begin with the word "aie". Throws Error{kUsage, kResource}.
void make_aie_trace(int argc, char** argv);

// Profiles of XLA as JAX writes them (options.xla), with the calls and the time of each HLO op as their truth: a file,
// or one for each host into a folder. Throws Error{kResource}.
void write_xla(const TraceOptions& options, const std::string& path);

// A performance model of an NPU program of so many operators and the profile of a run with so many passes of it, with
// everything `trace-query model` must tell apart: hits, misses, operators that cost nothing, composites, collectives
// that the profile has twice, kernels of the AI CPU. Writes model.json, kernel_details.csv, op_mapping.yaml, m6.json
// and truth.json into `folder`, which is made. Throws Error{kResource}.
void write_ascend(std::uint64_t seed, std::int64_t operators, int passes, const std::string& folder);

}  // namespace tracedb
