// make-trace: synthetic Kineto traces of an LLM server or of all ranks of a job, and traces of AI Engine tiles, with
// their ground truth beside them.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/counted.h"
#include "make_trace/aie_trace.h"
#include "make_trace/command_line.h"
#include "make_trace/job_trace.h"
#include "make_trace/write/labels.h"
#include "make_trace/write/trace_writer.h"
#include "make_trace/write/truth.h"
#include "shared/manual_page.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

StepRunner step_runner(const TraceOptions& options, const Model& model) {
  return [&options, &model](const StepVisitor& visit) {
    Schedule schedule(options, model);
    Step step;
    for (int index = 0; index < options.steps; ++index) {
      schedule.next(step);
      visit(step);
    }
  };
}

std::uint64_t size_of(const TraceOptions& options, const Model& model) {
  TextOutput counter("");
  Schedule schedule(options, model);
  TraceExtent extent{schedule.start(), schedule.start() + 100'000'000'000, 2'000'000};
  write_trace(options, extent, step_runner(options, model), counter);
  return counter.size();
}

// Measures one step of each kind that occurs, then counts steps up to the size.
int steps_for_size(const TraceOptions& options, const Model& model) {
  std::map<StepKind, std::int64_t> bytes;
  TraceOptions probe = options;
  probe.steps = 1;
  for (const StepKind kind : {StepKind::kPrefill, StepKind::kDecode, StepKind::kMixed}) {
    probe.mix = {kind};
    probe.steps = 1;
    const auto one = static_cast<std::int64_t>(size_of(probe, model));
    probe.steps = 9;
    bytes[kind] = (static_cast<std::int64_t>(size_of(probe, model)) - one) / 8;
  }
  std::int64_t total = 0;
  int steps = 0;
  for (; total < static_cast<std::int64_t>(options.target_size); ++steps) total += bytes[step_kind(options, steps)];
  return std::max(steps, 1);
}

TraceExtent survey(const StepRunner& run, const TraceOptions& options, const Model& model, Truth& truth) {
  TraceExtent extent;
  extent.start = Schedule(options, model).start();
  run([&](const Step& step) {
    truth.add(step);
    extent.end = step.host_end + 1'000'000;
  });
  truth.finish();
  extent.cpu_ops = truth.cpu_events();
  return extent;
}

void write_all(const po::variables_map& values) {
  const auto started = std::chrono::steady_clock::now();
  TraceOptions options = read_options(values);
  const Model model = build_model(options);
  if (options.target_size > 0) options.steps = steps_for_size(options, model);
  const StepRunner run = step_runner(options, model);
  Truth truth(options, model);
  const TraceExtent extent = survey(run, options, model, truth);
  const auto path = values["output"].as<std::string>();
  TextOutput out(path);
  write_trace(options, extent, run, out);
  out.close();
  TextOutput answers(values.count("truth") != 0 ? values["truth"].as<std::string>() : path + ".truth.json");
  answers.text(truth.json());
  answers.close();
  if (values.count("labels") != 0) write_labels(options, model, run, values["labels"].as<std::string>());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  fmt::print(stderr, "{}: {}, {:.1f} MB of JSON in {:.2f} s\n", path, counted(options.steps, "step"),
             static_cast<double>(out.size()) / 1e6, taken.count());
}

int run_main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "aie") {
    make_aie_trace(argc - 1, argv + 1);
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "job") {
    make_job_trace(argc - 1, argv + 1);
    return 0;
  }
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == kManualOption) {
    fmt::print("{}", manual_text());
    return 0;
  }
  if (!words.empty() && words.front() == kCompleteOption) {
    fmt::print("{}", to_lines(complete_words(std::span(words).subspan(1))));
    return 0;
  }
  po::positional_options_description positional;
  positional.add("output", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(describe_options()).positional(positional).run(), values);
  if (values.count("help") != 0) {
    fmt::print("{}", help_text());
    return 0;
  }
  if (values.count("output") == 0) throw Error(ErrorCode::kUsage, "no OUTPUT given; see make-trace --help");
  if (const auto ascend = read_ascend_options(values)) {
    write_ascend(*ascend, values["output"].as<std::string>());
  } else {
    write_all(values);
  }
  return 0;
}

}  // namespace
}  // namespace tracedb

int main(int argc, char** argv) {
  try {
    return tracedb::run_main(argc, argv);
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
