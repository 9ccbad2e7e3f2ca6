#include "aie/stream/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/python/json_writer.h"

namespace tracedb::stream {
namespace {

using python::JsonWriter;
using python::NonAscii;

void integer(JsonWriter& json, std::string_view key, std::int64_t value) {
  json.key(key);
  json.integer(value);
}

void real(JsonWriter& json, std::string_view key, double value) {
  json.key(key);
  json.real(value);
}

void text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.text(value);
}

void text_or_none(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  if (value.empty()) {
    json.none();
  } else {
    json.text(value);
  }
}

void write_iteration(JsonWriter& json, const Iteration& iteration, std::int64_t index) {
  json.begin_dict();
  integer(json, "num_kernels", iteration.kernels);
  real(json, "avg_duration_cycles", iteration.average);
  integer(json, "min_duration_cycles", iteration.shortest);
  integer(json, "max_duration_cycles", iteration.longest);
  integer(json, "total_span_cycles", iteration.span.duration());
  const auto time = [&](std::string_view key, Cycles value) {
    json.key(key);
    if (iteration.kernels == 0) return json.none();
    json.integer(value);
  };
  time("first_start", iteration.span.start);
  time("last_end", iteration.span.end);
  real(json, "gmacs_per_second", iteration.gmacs);
  integer(json, "iteration_index", index);
  text(json, "phase", to_text(iteration.phase));
  json.end_dict();
}

struct SystemIteration {
  std::int64_t index;
  Cycles runtime;
  double gmacs;
};

void write_system_fields(JsonWriter& json, const SystemIteration& iteration) {
  integer(json, "iteration_index", iteration.index);
  integer(json, "runtime_cycles", iteration.runtime);
  real(json, "gmacs_per_second", iteration.gmacs);
}

void write_best(JsonWriter& json, std::string_view key, const SystemIteration& iteration) {
  json.key(key);
  json.begin_dict();
  write_system_fields(json, iteration);
  json.end_dict();
}

// Those that every core measured.
std::vector<SystemIteration> common_iterations(const Options& options, const std::vector<const Core*>& cores) {
  if (std::find(cores.begin(), cores.end(), nullptr) != cores.end()) return {};
  std::int64_t first = 0;
  std::int64_t behind = cores.front()->behind_perf;
  for (const Core* core : cores) {
    first = std::max(first, core->first_perf);
    behind = std::min(behind, core->behind_perf);
  }
  std::vector<SystemIteration> out;
  for (std::int64_t i = first; i < behind; ++i) {
    Cycles runtime = 0;
    for (const Core* core : cores) {
      runtime = std::max(runtime, core->iterations[static_cast<std::size_t>(i)].span.duration());
    }
    out.push_back({i, runtime, runtime > 0 ? macs(options.work) * kClockGhz / static_cast<double>(runtime) : 0.0});
  }
  return out;
}

std::string note_json(std::string_view note) {
  JsonWriter json(NonAscii::kEscaped);
  json.begin_dict();
  text(json, "note", note);
  json.end_dict();
  return json.result();
}

// Added one after the other, as sum() does up to Python 3.11.
template <class Field>
double mean(const std::vector<SystemIteration>& iterations, Field field) {
  double sum = 0;
  for (const SystemIteration& iteration : iterations) sum += field(iteration);
  return sum / static_cast<double>(iterations.size());
}

bool fewer_gmacs(const SystemIteration& a, const SystemIteration& b) { return a.gmacs < b.gmacs; }

}  // namespace

std::string Options::folder() const {
  return fmt::format("outputs/{}-gemm_{}_{}_{}-{}_row_{}_col/traces", hardware, work.m, work.k, work.n, work.rows,
                     work.columns);
}

std::string Options::trace() const {
  return fmt::format("{}/trace_mm_{}_{}_{}.json", folder(), work.m, work.k, work.n);
}

std::string core_json(const Core& core) {
  JsonWriter json(NonAscii::kEscaped);
  json.begin_dict();
  json.key("pid");
  json.scalar(core.pid);
  text(json, "tile_name", core.tile);
  if (core.has_kernels) {
    json.key("median_kernel_duration_cycles");
    if (core.median.is_int) {
      json.integer(static_cast<std::int64_t>(core.median.value));
    } else {
      json.real(core.median.value);
    }
    integer(json, "lock_stall_boundary_count", core.boundaries);
  }
  integer(json, "detected_total_iterations", static_cast<std::int64_t>(core.iterations.size()));
  integer(json, "expected_total_iterations", core.expected);
  text_or_none(json, "mismatch_note", core.note);
  json.key("iterations");
  json.begin_list();
  std::int64_t index = 0;
  for (const Iteration& iteration : core.iterations) write_iteration(json, iteration, index++);
  json.end_list();
  json.key("performance_window");
  json.begin_list();
  for (std::int64_t i = core.first_perf; i < core.behind_perf; ++i) json.integer(i);
  json.end_list();
  json.end_dict();
  return json.result();
}

std::string details_markdown(const Options& options, const std::vector<Core>& cores) {
  std::string rows;
  for (const Core& core : cores) {
    std::int64_t index = 0;
    for (const Iteration& iteration : core.iterations) {
      rows += fmt::format("| {} | {} | {} | {} | {:.3f} | {} | {} | {} | {:.3f} |\n", core.tile, index++,
                          to_text(iteration.phase), iteration.kernels, iteration.average, iteration.shortest,
                          iteration.longest, iteration.span.duration(), iteration.gmacs);
    }
  }
  if (rows.empty()) return rows;
  const Work& work = options.work;
  return fmt::format("<details><summary><strong>[{}] M={} K={} N={}</strong></summary>\n\n", options.hardware, work.m,
                     work.k, work.n) +
         "| Tile | Iter | Phase | Kernels | Avg cycles | Min | Max | Total span | GMAC/s |\n"
         "|------|------|-------|---------|------------|-----|-----|------------|--------|\n" +
         rows + "\n</details>\n";
}

std::string index_json(const Options& options, const std::vector<Core>& cores, bool has_details) {
  JsonWriter json(NonAscii::kEscaped);
  const Work& work = options.work;
  json.begin_dict();
  text(json, "hwid", options.hardware);
  integer(json, "M", work.m);
  integer(json, "K", work.k);
  integer(json, "N", work.n);
  integer(json, "m", options.block_m);
  integer(json, "k", options.block_k);
  integer(json, "n", options.block_n);
  integer(json, "rows", work.rows);
  integer(json, "cols", work.columns);
  text(json, "input_path", options.trace());
  text(json, "output_dir", options.folder());
  integer(json, "warmup", work.warmup);
  integer(json, "iterations", work.iterations);
  real(json, "clock_GHz", kClockGhz);
  json.key("notes");
  json.begin_list();
  for (const Core& core : cores) {
    if (!core.note.empty()) json.text(core.note);
  }
  json.end_list();
  text_or_none(json, "details_md", has_details ? options.folder() + "/details.md" : "");
  json.end_dict();
  return json.result();
}

std::string aggregate_json(const Options& options, const std::vector<const Core*>& cores) {
  if (cores.empty()) return note_json("No cores to aggregate.");
  const std::vector<SystemIteration> common = common_iterations(options, cores);
  if (common.empty()) return note_json("No common perf iterations across all cores.");
  JsonWriter json(NonAscii::kEscaped);
  json.begin_dict();
  json.key("iterations_considered");
  json.begin_list();
  for (const SystemIteration& iteration : common) json.integer(iteration.index);
  json.end_list();
  integer(json, "count", static_cast<std::int64_t>(common.size()));
  json.key("average");
  json.begin_dict();
  real(json, "runtime_cycles", mean(common, [](const SystemIteration& i) { return static_cast<double>(i.runtime); }));
  real(json, "gmacs_per_second", mean(common, [](const SystemIteration& i) { return i.gmacs; }));
  json.end_dict();
  write_best(json, "best", *std::max_element(common.begin(), common.end(), fewer_gmacs));
  write_best(json, "worst", *std::min_element(common.begin(), common.end(), fewer_gmacs));
  json.key("per_iteration");
  json.begin_list();
  for (const SystemIteration& iteration : common) {
    json.begin_dict();
    write_system_fields(json, iteration);
    json.end_dict();
  }
  json.end_list();
  text(json, "note", "Only iterations present on all cores are considered.");
  json.end_dict();
  return json.result();
}

}  // namespace tracedb::stream
