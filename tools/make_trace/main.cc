// make-trace: synthetic Kineto traces of an LLM server or of all ranks of a job, and traces of AI Engine tiles, with
// their ground truth beside them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>

#include "base/text/amounts.h"
#include "make_trace/options.h"
#include "make_trace/random.h"
#include "make_trace/trace_writer.h"
#include "shared/help_text.h"

namespace tracedb {
namespace {

std::int64_t size_of(const TraceOptions& options, const Model& model) {
  TextOutput counter("");
  const std::int64_t start = start_of(options);
  write_trace(options, model, {start, start + 100'000'000'000, 2'000'000}, counter);
  return static_cast<std::int64_t>(counter.size());
}

// Measures one step of each kind that occurs, then counts steps up to the size.
int steps_for_size(const TraceOptions& options, const Model& model) {
  std::map<StepKind, std::int64_t> bytes;
  TraceOptions probe = options;
  for (const StepKind kind : {StepKind::kPrefill, StepKind::kDecode, StepKind::kMixed}) {
    probe.mix = {kind};
    probe.steps = 1;
    const std::int64_t one = size_of(probe, model);
    probe.steps = 9;
    bytes[kind] = (size_of(probe, model) - one) / 8;
  }
  std::int64_t total = 0;
  int steps = 0;
  for (; total < static_cast<std::int64_t>(options.target_size); ++steps) total += bytes[step_kind(options, steps)];
  return std::max(steps, 1);
}

void write_all(TraceOptions& options, const std::string& path) {
  const auto started = std::chrono::steady_clock::now();
  const Model model = build_model(options);
  if (options.target_size > 0) options.steps = steps_for_size(options, model);
  TraceExtent extent;
  const std::string truth = ground_truth(options, model, extent);
  TextOutput out(path);
  write_trace(options, model, extent, out);
  out.close();
  write_file(options.truth.value_or(path + ".truth.json"), truth);
  if (options.labels) write_labels(options, model, *options.labels);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  fmt::print(stderr, "{}: {}, {:.1f} MB of JSON in {:.2f} s\n", path, counted(options.steps, "step"),
             static_cast<double>(out.size()) / 1e6, taken.count());
}

// "x.json.gz" -> "x-3.json.gz"
std::string path_of_run(const std::string& path, int run) {
  const std::size_t name = path.rfind('/') + 1;  // 0: without a folder
  const std::size_t end = std::min(path.find('.', name), path.size());
  return fmt::format("{}-{}{}", path.substr(0, end), run, path.substr(end));
}

// All runs launch the same kernels; what varies is their speed, as a whole and place by place, and the host.
void write_runs(const TraceOptions& options, const std::string& path) {
  for (int run = 1; run <= options.runs; ++run) {
    TraceOptions one = options;
    one.run = run;
    one.seed = mix64(options.seed, static_cast<std::uint64_t>(run));
    const auto scale = [&](std::int64_t& value, std::uint64_t key, std::int64_t sd_ppm) {
      value = value * (kMillion + normal(mix64(one.seed, key), sd_ppm)) / kMillion;
    };
    scale(one.clock_ppm, 101, options.run_noise_ppm);
    scale(one.step_gap_ns, 102, 3 * options.run_noise_ppm);
    scale(one.idle_ns, 103, 3 * options.run_noise_ppm);
    if (options.run_noise_ppm > 0 && run % 3 == 0 && run % 10 != 0) one.stalled_step = one.steps / 2;
    write_all(one, path_of_run(path, run));
  }
}

void run_main(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::string first = words.empty() ? "" : words.front();
  if (first == "aie") return make_aie_trace(argc - 1, argv + 1);
  if (first == "job") return make_job_trace(argc - 1, argv + 1);
  if (first == kManualOption) return fmt::print("{}", manual_text());
  if (first == kCompleteOption) return fmt::print("{}", to_lines(complete_words(std::span(words).subspan(1))));
  TraceOptions options;
  if (!read_options(argc, argv, options)) return;
  const std::string path = options.output.value();
  if (options.xla != XlaForm::kNone) return write_xla(options, path);
  if (options.operators) return write_ascend(options.seed, *options.operators, options.passes, path);
  options.runs > 1 ? write_runs(options, path) : write_all(options, path);
}

}  // namespace
}  // namespace tracedb

int main(int argc, char** argv) {
  try {
    tracedb::run_main(argc, argv);
    return 0;
  } catch (const tracedb::Error& error) {
    fmt::print(stderr, "make-trace: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const boost::program_options::error& error) {
    fmt::print(stderr, "make-trace: {}\n", error.what());
    return static_cast<int>(tracedb::ErrorCode::kUsage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make-trace: {}\n", error.what());
    return static_cast<int>(tracedb::ErrorCode::kResource);
  }
}
