// Traces of all ranks of a job that communicate with each other: layers of kernels, a collective after each, ranks that
// are late by what is planted, clocks that differ; or stages of a pipeline that send to each other. For tests of what
// reads several ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracedb {

// What holds a rank up before a collective.
enum class Holdup { kCompute, kHost, kCopy };

struct PlantedHoldup {
  int rank = 0;
  Holdup cause = Holdup::kCompute;
  std::int64_t ns = 0;
  std::int64_t share_ppm = 1'000'000;  // of the steps
};

// The clock of a rank: ahead by `offset` at the start, and gaining.
struct PlantedClock {
  int rank = 0;
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;
};

// Where the trace has the rank at the other end of a send or receive.
enum class PeersSaid { kArguments, kAnnotations, kNowhere };

struct JobOptions {
  std::uint64_t seed = 1;
  int ranks = 4, steps = 20, layers = 4;
  int first_step = 0;                  // of the recording
  std::int64_t jitter_ppm = 10'000;    // of kernels
  std::int64_t clock_ppm = 1'000'000;  // factor on the duration of every kernel
  std::int64_t end_jitter_ns = 500;    // by which a collective ends later on some ranks
  std::int64_t transfer_ns = 60'000;
  bool sequences = true;  // collectives have arguments; else only names of kernels
  int microbatches = 0;   // of a step of a pipeline whose stages are the ranks; 0: no pipeline
  PeersSaid peers = PeersSaid::kArguments;
  bool one_process = false;  // all devices are in one trace
  std::string stem = "rank";
  std::vector<PlantedHoldup> late;
  std::vector<PlantedClock> clocks;
  std::vector<int> missing;          // ranks without a trace
  std::vector<std::string> shorten;  // RANK=STEPS: the recording of a rank ends after so many
};

// `make-trace job ...`; arguments begin with the word "job".
void make_job_trace(int argc, char** argv);

}  // namespace tracedb
