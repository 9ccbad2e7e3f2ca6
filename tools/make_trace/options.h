// What kind of trace to make. Fractions and factors are integers in parts per million, so that every time in a trace
// comes from integer arithmetic alone.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "make_trace/option_table.h"
#include "shared/help_text.h"

namespace tracedb {

enum class Vendor { kAmd, kNvidia };
enum class Dialect { kNew, kOld };
enum class StepKind { kPrefill, kDecode, kMixed, kTrain, kOther };
enum class ModelKind { kServe, kTrain, kVisionText, kEncoderDecoder, kDiffusion };

std::string_view to_text(Vendor vendor);
std::string_view to_text(Dialect dialect);
std::string_view to_text(StepKind kind);
std::string_view to_text(ModelKind kind);

// "CLASS", "CLASS@LAYER" or "ROLE@LAYER", with a factor where the option takes one.
struct LayerTarget {
  std::string name;                   // an op class or a kernel role
  std::optional<std::int64_t> layer;  // all layers when empty
  std::int64_t factor_ppm = kMillion;
};

// Profiles of XLA: with a launch for each kernel; with command buffers, which hide what they run; with one body of a
// loop for all layers; of a TPU, whose operations lie in a loop.
enum class XlaForm { kNone, kGpu, kGraphs, kScan, kTpu };

struct TraceOptions {
  std::optional<std::string> output, truth, labels;
  std::uint64_t seed = 1;
  Vendor vendor = Vendor::kAmd;
  Dialect dialect = Dialect::kNew;
  ModelKind model = ModelKind::kServe;
  int layers = 24;
  int second_layers = 0;                  // of the second stack of the models that have two
  int passes = 4;                         // of diffusion, in one step
  std::optional<std::int64_t> operators;  // of a model for Ascend NPUs, which is wanted instead
  XlaForm xla = XlaForm::kNone;           // a profile of XLA is wanted instead
  int hosts = 1;                          // of it, a file each
  int steps = 12;
  std::vector<StepKind> mix;  // repeated cyclically; empty: from the two fractions
  std::int64_t prefill_ppm = 0, mixed_ppm = 0;
  int batch = 32;
  int prompt_tokens = 1024;
  bool graphs = true;
  int streams = 2;
  int tensor_parallel = 1;
  int rank = 0;
  bool python_stacks = true;
  bool moe = false;
  bool quantised = true;
  bool qk_norm = true;
  bool shapes = false;
  bool annotations = true;
  std::set<std::string> fusions;
  std::set<std::string> spellings;  // kernels under the names that another library gives them
  std::vector<LayerTarget> inserts, slow;
  std::int64_t clock_ppm = kMillion, jitter_ppm = 0;
  std::int64_t idle_ns = 0;
  int orphans = 0;  // kernels at the start of the trace whose launch call is missing
  std::int64_t step_gap_ns = 0;
  int gap_calls = 0;      // recorded by the profiler in every gap between steps
  std::string gap_frame;  // python function in which the host is meanwhile; "": in none of its own
  bool jittered_streams = false;
  bool correlation = true;  // off: device events have none, and External ids of a numbering of their own
  int shift_names = 0;      // places by which names are out of step in a part of every graph replay
  std::int64_t collective_wait_ns = 0;
  std::uint64_t target_size = 0;
  int runs = 1;                    // of the same job, each into a file of its own
  std::int64_t run_noise_ppm = 0;  // standard deviation of the period from run to run
  int run = 0;                     // which of them, from 1; 0: there is one
  int stalled_step = -1;           // after which the host stalls
};

StepKind step_kind(const TraceOptions& options, std::int64_t step);

// False where help was wanted and is printed. Throws Error{kUsage}.
bool read_options(int argc, char** argv, TraceOptions& options);

std::string manual_text();  // make-trace(1)
Candidates complete_words(std::span<const std::string> words);

// ---- traces that no model of a server or of training makes: of a job, of AI Engine tiles, of Ascend NPUs, of XLA

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
