// make-trace: synthetic Kineto traces of an LLM server or of all ranks of a job, and traces of AI Engine tiles, with
// their ground truth beside them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>

#include "base/text/amounts.h"
#include "make_trace/options.h"
#include "make_trace/other_traces.h"
#include "make_trace/trace_writer.h"
#include "shared/manual_page.h"

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
  if (options.operators) return write_ascend(options.seed, *options.operators, options.passes, path);
  write_all(options, path);
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
