// make-trace: synthetic Kineto traces of an LLM server, with their ground truth beside them.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <sstream>

#include "base/error.h"
#include "make_trace/labels.h"
#include "make_trace/trace_writer.h"
#include "make_trace/truth.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kUsageText =
    "usage: make-trace [options] OUTPUT\n"
    "Writes a synthetic PyTorch (Kineto) trace of a vLLM-like server and its ground truth, OUTPUT.truth.json.\n\n"
    "example: make-trace --vendor amd --layers 32 --steps 20 --fuse add+rmsnorm,silu+quant --seed 7 mi300x.json.gz\n\n";

po::options_description describe_options() {
  po::options_description all("options");
  const auto text = [](const char* value) { return po::value<std::string>()->default_value(value); };
  all.add_options()("help,h", "show this text");
  all.add_options()("output,o", po::value<std::string>(), "trace to write; .gz compresses it (also positional)");
  all.add_options()("truth", po::value<std::string>(), "ground truth (default OUTPUT.truth.json)");
  all.add_options()("labels", po::value<std::string>(), "also write a TSV: step, layer, role, class of every kernel");
  all.add_options()("seed", po::value<std::uint64_t>()->default_value(1), "same seed and options: same bytes");
  all.add_options()("vendor", text("amd"), "amd | nvidia");
  all.add_options()("dialect", text("new"), "new | old (categories Kernel/Operator/Runtime, epoch in whole us)");
  all.add_options()("layers", po::value<int>()->default_value(24), "decoder layers");
  all.add_options()("steps", po::value<int>()->default_value(12), "execute_model steps");
  all.add_options()("target-size", po::value<std::string>(), "repeat steps up to this size (200M, 1G), before gzip");
  all.add_options()("mix", po::value<std::string>(), "steps in order, repeated: P,D*8,M");
  all.add_options()("prefill-fraction", text("0.2"), "share of prefill steps, without --mix");
  all.add_options()("mixed-fraction", text("0"), "share of mixed steps, without --mix");
  all.add_options()("batch", po::value<int>()->default_value(32), "requests in a decode step");
  all.add_options()("prompt-tokens", po::value<int>()->default_value(1024), "tokens of one prompt");
  all.add_options()("graphs", text("on"), "on: decode steps are graph launches");
  all.add_options()("streams", po::value<int>()->default_value(2), "1: one; 2: + communication; 3: + copies");
  all.add_options()("tensor-parallel", po::value<int>()->default_value(1), "> 1: collectives and distributedInfo");
  all.add_options()("rank", po::value<int>()->default_value(0), "rank, and device number");
  all.add_options()("python-stacks", text("on"), "on | off");
  all.add_options()("moe", text("off"), "on: mixture-of-experts layers");
  all.add_options()("quantise", text("on"), "on: FP8 activations, with quantise kernels before GEMMs");
  all.add_options()("qk-norm", text("on"), "on: norms of queries and keys");
  all.add_options()("shapes", text("off"), "on: input shapes of operators");
  all.add_options()("annotations", text("on"), "on: execute_context_N(T)_generation_M(K) per step");
  all.add_options()("fuse", text(""), "fusions to plant, comma separated; see the end of this text");
  all.add_options()("insert", po::value<std::vector<std::string>>(), "CLASS[@LAYER]: a further kernel (repeatable)");
  all.add_options()("slow", po::value<std::vector<std::string>>(), "CLASS|ROLE[@LAYER]=FACTOR (repeatable)");
  all.add_options()("clock", text("1"), "factor on the duration of every kernel");
  all.add_options()("idle", po::value<std::int64_t>()->default_value(0), "ns of host wait planted in every step");
  all.add_options()("jitter", text("3"), "percent by which kernel durations vary");
  all.add_options()("orphans", po::value<int>()->default_value(0), "kernels at the start that lost their launch");
  return all;
}

std::string help_text() {
  std::string text(kUsageText);
  std::ostringstream described;
  described << describe_options();
  text += described.str() + "\nfusions:";
  for (const std::string_view name : fusion_names()) text.append(" ").append(name);
  return text + "\n";
}

int in_range(const po::variables_map& values, const char* name, int low, int high) {
  const int value = values[name].as<int>();
  if (value >= low && value <= high) return value;
  throw Error(ErrorCode::kUsage, fmt::format("--{}: {} is not in {}..{}", name, value, low, high));
}

std::vector<LayerTarget> targets(const po::variables_map& values, const char* name, bool with_factor) {
  std::vector<LayerTarget> result;
  if (values.count(name) == 0) return result;
  for (const std::string& text : values[name].as<std::vector<std::string>>()) {
    for (const std::string& part : split_list(text)) {
      result.push_back(parse_target(fmt::format("--{}", name), part, with_factor));
    }
  }
  return result;
}

std::string choice(const po::variables_map& values, const char* name, std::string_view first, std::string_view second) {
  const auto& value = values[name].as<std::string>();
  if (value == first || value == second) return value;
  throw Error(ErrorCode::kUsage, fmt::format("--{}: '{}' is neither {} nor {}", name, value, first, second));
}

void read_planted(const po::variables_map& values, TraceOptions& options) {
  for (std::string& name : split_list(values["fuse"].as<std::string>())) options.fusions.insert(std::move(name));
  options.inserts = targets(values, "insert", false);
  options.slow = targets(values, "slow", true);
  options.clock_ppm = parse_ppm("--clock", values["clock"].as<std::string>());
  if (options.clock_ppm == 0) throw Error(ErrorCode::kUsage, "--clock: more than 0");
  options.jitter_ppm = parse_ppm("--jitter", values["jitter"].as<std::string>()) / 100;
  options.idle_ns = values["idle"].as<std::int64_t>();
  if (options.idle_ns < 0 || options.idle_ns > 1'000'000'000) throw Error(ErrorCode::kUsage, "--idle: 0 to 1000000000");
  if (options.jitter_ppm >= kMillion) throw Error(ErrorCode::kUsage, "--jitter: less than 100 percent");
  options.orphans = in_range(values, "orphans", 0, 1'000'000);
}

void read_steps(const po::variables_map& values, TraceOptions& options) {
  options.steps = in_range(values, "steps", 1, 100'000'000);
  if (values.count("mix") != 0) options.mix = parse_mix(values["mix"].as<std::string>());
  options.prefill_ppm = parse_ppm("--prefill-fraction", values["prefill-fraction"].as<std::string>());
  options.mixed_ppm = parse_ppm("--mixed-fraction", values["mixed-fraction"].as<std::string>());
  if (options.prefill_ppm + options.mixed_ppm > kMillion) {
    throw Error(ErrorCode::kUsage, "--prefill-fraction and --mixed-fraction: at most 1 together");
  }
  if (values.count("target-size") != 0) {
    options.target_size = parse_size("--target-size", values["target-size"].as<std::string>());
  }
}

TraceOptions read_options(const po::variables_map& values) {
  const auto on = [&](const char* name) {
    return parse_switch(fmt::format("--{}", name), values[name].as<std::string>());
  };
  TraceOptions options;
  options.seed = values["seed"].as<std::uint64_t>();
  options.vendor = choice(values, "vendor", "amd", "nvidia") == "amd" ? Vendor::kAmd : Vendor::kNvidia;
  options.dialect = choice(values, "dialect", "new", "old") == "new" ? Dialect::kNew : Dialect::kOld;
  options.layers = in_range(values, "layers", 1, 1000);
  options.batch = in_range(values, "batch", 1, 4096);
  options.prompt_tokens = in_range(values, "prompt-tokens", 1, 1'000'000);
  options.graphs = on("graphs");
  options.streams = in_range(values, "streams", 1, 3);
  options.tensor_parallel = in_range(values, "tensor-parallel", 1, 64);
  options.rank = in_range(values, "rank", 0, 63);
  options.python_stacks = on("python-stacks") && options.dialect == Dialect::kNew;
  options.moe = on("moe");
  options.quantised = on("quantise");
  options.qk_norm = on("qk-norm");
  options.shapes = on("shapes");
  options.annotations = on("annotations");
  read_steps(values, options);
  read_planted(values, options);
  return options;
}

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
  if (values.count("labels") != 0) write_labels(run, values["labels"].as<std::string>());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
  fmt::print(stderr, "{}: {} steps, {:.1f} MB of JSON in {:.2f} s\n", path, options.steps,
             static_cast<double>(out.size()) / 1e6, taken.count());
}

int run_main(int argc, char** argv) {
  po::positional_options_description positional;
  positional.add("output", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(describe_options()).positional(positional).run(), values);
  if (values.count("help") != 0) {
    fmt::print("{}", help_text());
    return 0;
  }
  if (values.count("output") == 0) throw Error(ErrorCode::kUsage, "no OUTPUT given; see make-trace --help");
  write_all(values);
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
