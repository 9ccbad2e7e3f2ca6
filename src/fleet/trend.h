// Figures of traces in order of time, one series for each kind of trace, with the changes of their level.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fleet/catalogue.h"
#include "fleet/change_points.h"

namespace tracedb {

struct TrendPoint {
  const CatalogueEntry* entry = nullptr;
  std::int64_t date_ns = 0;
  bool dated = true;            // by the trace; else by the time its file was changed last
  std::optional<double> value;  // ns; unknown: the trace does not have it
  std::size_t segment = 0;      // number of changes before it
  bool change = false;          // the level changes here
};

struct TrendSeries {
  std::string label;                 // "NVIDIA H100 80GB HBM3, LlamaForCausalLM, decode, rank 0 of 4"
  std::string phase;                 // "": of whole traces
  std::vector<TrendPoint> points;    // in order of time, those without a value too
  std::vector<ChangePoint> changes;  // places among the points that have a value
  bool is_long = false;              // enough values for a change to be told from noise (least_values())

  [[nodiscard]] std::vector<double> values() const;
};

struct TrendOptions {
  std::optional<std::string> phase;  // unknown: of each trace the one with most kernel time of those
                                     // that have a period
  ChangePointOptions changes;
};

// `value`: of a trace and a phase. Unlike traces (GPU, framework, model, rank, world size, phase) are different series;
// entries without an index are left out.
std::vector<TrendSeries> make_trends(
    std::span<const CatalogueEntry> entries, const TrendOptions& options,
    const std::function<std::optional<double>(const CatalogueEntry&, const std::string& phase)>& value);

}  // namespace tracedb
