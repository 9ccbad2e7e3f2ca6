// One trace in a line of a catalogue: what it is of, how large, how fast. Made from its index alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/index.h"
#include "passes/classify/kernel_classes.h"

namespace tracedb {

// Steps of one kind, as `trace-query phases` has them.
struct PhaseSummary {
  std::string phase;
  std::int64_t steps = 0;
  std::int64_t kernel_time = 0;              // ns
  std::optional<std::int64_t> period, span;  // medians, ns
};

// nullopt: not known.
struct TraceSummary {
  std::string source;  // path that the index says, or that it lies beside; empty: not known
  std::optional<std::int64_t> source_bytes, source_modified_ns, source_inode;  // when it was ingested
  std::optional<std::string> format, vendor, gpu, framework, model;
  std::optional<std::int64_t> rank, world_size;
  std::int64_t kernels = 0, kernel_time = 0;  // ns
  std::optional<std::int64_t> date_ns;  // of the first event, since the epoch; unknown where its clock has no epoch
  bool complete = true;
  std::vector<PhaseSummary> phases;  // in order of kernel time

  [[nodiscard]] std::int64_t steps() const;
  // The phase with most kernel time; null: there are no steps.
  [[nodiscard]] const PhaseSummary* main_phase() const { return phases.empty() ? nullptr : &phases.front(); }
};

// The tables of the passes are made known to the index. `rules`: the built-in ones, read once for many.
TraceSummary summarise(const Index& index, const ActiveRules& rules);

}  // namespace tracedb
