#include "aie/stream/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/python/json.h"

namespace tracedb::stream {
namespace {

using python::dict;
using python::integer;
using python::list;
using python::Member;
using python::real;
using python::text;
using python::Value;

Value text_or_none(std::string_view value) { return value.empty() ? Value() : text(value); }

std::string json_of(std::vector<Member> members) {
  return to_json(dict(std::move(members)), python::NonAscii::kEscaped);
}

template <class Items, class Convert>
Value list_of(const Items& items, Convert convert) {
  std::vector<Value> out;
  std::transform(items.begin(), items.end(), std::back_inserter(out), convert);
  return list(std::move(out));
}

Value iteration_value(const Iteration& iteration, std::int64_t index) {
  const auto time = [&](Cycles value) { return iteration.kernels == 0 ? Value() : integer(value); };
  return dict({{"num_kernels", integer(iteration.kernels)},
               {"avg_duration_cycles", real(iteration.average)},
               {"min_duration_cycles", integer(iteration.shortest)},
               {"max_duration_cycles", integer(iteration.longest)},
               {"total_span_cycles", integer(iteration.span.duration())},
               {"first_start", time(iteration.span.start)},
               {"last_end", time(iteration.span.end)},
               {"gmacs_per_second", real(iteration.gmacs)},
               {"iteration_index", integer(index)},
               {"phase", text(to_text(iteration.phase))}});
}

struct SystemIteration {
  std::int64_t index;
  Cycles runtime;
  double gmacs;
};

Value system_value(const SystemIteration& iteration) {
  return dict({{"iteration_index", integer(iteration.index)},
               {"runtime_cycles", integer(iteration.runtime)},
               {"gmacs_per_second", real(iteration.gmacs)}});
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

// Added one after the other, as sum() does up to Python 3.11.
template <class Field>
double mean(const std::vector<SystemIteration>& iterations, Field field) {
  double sum = 0;
  for (const SystemIteration& iteration : iterations) sum += field(iteration);
  return sum / static_cast<double>(iterations.size());
}

bool fewer_gmacs(const SystemIteration& a, const SystemIteration& b) { return a.gmacs < b.gmacs; }

std::string core_json(const Core& core) {
  std::vector<Member> members = {{"pid", core.pid}, {"tile_name", text(core.tile)}};
  if (core.has_kernels) {
    members.push_back({"median_kernel_duration_cycles", core.median});
    members.push_back({"lock_stall_boundary_count", integer(core.boundaries)});
  }
  std::vector<Value> window;
  for (std::int64_t i = core.first_perf; i < core.behind_perf; ++i) window.push_back(integer(i));
  std::int64_t index = 0;
  const auto iteration = [&](const Iteration& one) { return iteration_value(one, index++); };
  members.insert(members.end(),
                 {{"detected_total_iterations", integer(static_cast<std::int64_t>(core.iterations.size()))},
                  {"expected_total_iterations", integer(core.expected)},
                  {"mismatch_note", text_or_none(core.note)},
                  {"iterations", list_of(core.iterations, iteration)},
                  {"performance_window", list(std::move(window))}});
  return json_of(std::move(members));
}

// Empty: no iterations at all.
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
  const Work& work = options.work;
  std::vector<Value> notes;
  for (const Core& core : cores) {
    if (!core.note.empty()) notes.push_back(text(core.note));
  }
  return json_of({{"hwid", text(options.hardware)},
                  {"M", integer(work.m)},
                  {"K", integer(work.k)},
                  {"N", integer(work.n)},
                  {"m", integer(options.block_m)},
                  {"k", integer(options.block_k)},
                  {"n", integer(options.block_n)},
                  {"rows", integer(work.rows)},
                  {"cols", integer(work.columns)},
                  {"input_path", text(options.trace())},
                  {"output_dir", text(options.folder())},
                  {"warmup", integer(work.warmup)},
                  {"iterations", integer(work.iterations)},
                  {"clock_GHz", real(kClockGhz)},
                  {"notes", list(std::move(notes))},
                  {"details_md", text_or_none(has_details ? options.folder() + "/details.md" : "")}});
}

// `cores`: of the files written for them, nullptr for a file that holds something else.
std::string aggregate_json(const Options& options, const std::vector<const Core*>& cores) {
  if (cores.empty()) return json_of({{"note", text("No cores to aggregate.")}});
  const std::vector<SystemIteration> common = common_iterations(options, cores);
  if (common.empty()) return json_of({{"note", text("No common perf iterations across all cores.")}});
  const double runtime = mean(common, [](const SystemIteration& i) { return static_cast<double>(i.runtime); });
  const double gmacs = mean(common, [](const SystemIteration& i) { return i.gmacs; });
  return json_of({{"iterations_considered", list_of(common, [](const SystemIteration& i) { return integer(i.index); })},
                  {"count", integer(static_cast<std::int64_t>(common.size()))},
                  {"average", dict({{"runtime_cycles", real(runtime)}, {"gmacs_per_second", real(gmacs)}})},
                  {"best", system_value(*std::max_element(common.begin(), common.end(), fewer_gmacs))},
                  {"worst", system_value(*std::min_element(common.begin(), common.end(), fewer_gmacs))},
                  {"per_iteration", list_of(common, system_value)},
                  {"note", text("Only iterations present on all cores are considered.")}});
}

}  // namespace

std::string Options::folder() const {
  return fmt::format("outputs/{}-gemm_{}_{}_{}-{}_row_{}_col/traces", hardware, work.m, work.k, work.n, work.rows,
                     work.columns);
}

std::string Options::trace() const {
  return fmt::format("{}/trace_mm_{}_{}_{}.json", folder(), work.m, work.k, work.n);
}

std::vector<OutputText> postprocess(const Options& options) {
  const std::vector<Core> cores = find_cores(read_trace_events(options.trace()), options.work);
  const std::string folder = options.folder() + "/";
  std::vector<OutputText> out;
  std::map<std::string, const Core*> files;  // what each holds in the end
  for (const Core& core : cores) {
    // The program would follow a name out of the folder: that a trace may say where to write helps nobody.
    if (core.tile.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      throw Error(ErrorCode::kInput, fmt::format("{}: a tile is named '{}', which cannot name a file",
                                                 printable_path(options.trace()), printable_path(core.tile)));
    }
    out.push_back({folder + core.tile + ".json", core_json(core)});
    files[out.back().path] = &core;
  }
  if (std::string details = details_markdown(options, cores); !details.empty()) {
    out.push_back({folder + "details.md", std::move(details)});
  }
  const bool has_details = out.size() > cores.size();
  out.push_back({folder + "index.json", index_json(options, cores, has_details)});
  files[out.back().path] = nullptr;
  // The program reads the files of its cores back.
  std::vector<const Core*> read_back;
  for (std::size_t i = 0; i < cores.size(); ++i) read_back.push_back(files.at(out[i].path));
  out.push_back({folder + "aggregate_perf.json", aggregate_json(options, read_back)});
  return out;
}

}  // namespace tracedb::stream
