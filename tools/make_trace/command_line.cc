#include "make_trace/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "base/error.h"
#include "make_trace/model/model.h"
#include "make_trace/model/spellings.h"
#include "shared/manual_page.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kUsageText = "make-trace [options] OUTPUT\n";
constexpr std::string_view kDescription =
    "Writes a synthetic PyTorch (Kineto) trace of a vLLM-like server, or of another model, and its ground truth,\n"
    "OUTPUT.truth.json. 'make-trace job' writes all ranks of a job, 'make-trace aie' tiles of an AI Engine.\n";
constexpr std::string_view kExample =
    "make-trace --vendor amd --layers 32 --steps 20 --fuse add+rmsnorm,silu+quant --seed 7 mi300x.json.gz\n";

po::typed_value<std::string>* text(const char* value) { return po::value<std::string>()->default_value(value); }

void describe_planted(po::options_description& all) {
  all.add_options()("fuse", text(""), "fusions to plant, comma separated; see the end of this text");
  all.add_options()("spelling", text(""),
                    "other names for the same kernels, comma separated; see the end of this text");
  all.add_options()("insert", po::value<std::vector<std::string>>(), "CLASS[@LAYER]: a further kernel (repeatable)");
  all.add_options()("slow", po::value<std::vector<std::string>>(), "CLASS|ROLE[@LAYER]=FACTOR (repeatable)");
  all.add_options()("clock", text("1"), "factor on the duration of every kernel");
  all.add_options()("idle", po::value<std::int64_t>()->default_value(0), "ns of host wait planted in every step");
  all.add_options()("jitter", text("3"), "percent by which kernel durations vary");
  all.add_options()("orphans", po::value<int>()->default_value(0), "kernels at the start that lost their launch");
  all.add_options()("step-gap", po::value<std::int64_t>()->default_value(0), "ns of host time planted between steps");
  all.add_options()("gap-calls", po::value<int>()->default_value(0),
                    "calls recorded in each --step-gap: python functions, or operators without --python-stacks");
  all.add_options()("gap-frame", text(""),
                    "python function in which the host spends each --step-gap: \"vllm/engine.py(7): schedule\"");
  all.add_options()("jittered-streams", text("off"),
                    "on: a branch of every layer runs on a stream of its own and starts earlier or later from step to "
                    "step");
  all.add_options()("correlation", text("on"),
                    "off: device events have no correlation, only flows join them to launches");
  all.add_options()("shift-names", po::value<int>()->default_value(0),
                    "places by which kernel names are shifted against times, from somewhere in each graph replay on");
  all.add_options()("collective-wait", po::value<std::int64_t>()->default_value(0),
                    "ns that the first collective of each step waits for the other ranks");
}

int in_range(const po::variables_map& values, const char* name, int low, int high) {
  const int value = values[name].as<int>();
  if (value >= low && value <= high) return value;
  throw Error(ErrorCode::kUsage, fmt::format("--{}: {} is not in {}..{}", name, value, low, high));
}

std::int64_t nanoseconds(const po::variables_map& values, const char* name) {
  constexpr std::int64_t kMost = 10'000'000'000;
  const auto value = values[name].as<std::int64_t>();
  if (value >= 0 && value <= kMost) return value;
  throw Error(ErrorCode::kUsage, fmt::format("--{}: {} is not in 0..{}", name, value, kMost));
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

bool on(const po::variables_map& values, const char* name) {
  return parse_switch(fmt::format("--{}", name), values[name].as<std::string>());
}

void read_planted(const po::variables_map& values, TraceOptions& options) {
  for (std::string& name : split_list(values["fuse"].as<std::string>())) options.fusions.insert(std::move(name));
  for (std::string& name : split_list(values["spelling"].as<std::string>())) options.spellings.insert(std::move(name));
  options.inserts = targets(values, "insert", false);
  options.slow = targets(values, "slow", true);
  options.clock_ppm = parse_ppm("--clock", values["clock"].as<std::string>());
  if (options.clock_ppm == 0) throw Error(ErrorCode::kUsage, "--clock: more than 0");
  options.jitter_ppm = parse_ppm("--jitter", values["jitter"].as<std::string>()) / 100;
  options.idle_ns = values["idle"].as<std::int64_t>();
  if (options.idle_ns < 0 || options.idle_ns > 1'000'000'000) throw Error(ErrorCode::kUsage, "--idle: 0 to 1000000000");
  if (options.jitter_ppm >= kMillion) throw Error(ErrorCode::kUsage, "--jitter: less than 100 percent");
  options.orphans = in_range(values, "orphans", 0, 1'000'000);
  options.step_gap_ns = nanoseconds(values, "step-gap");
  options.collective_wait_ns = nanoseconds(values, "collective-wait");
  options.correlation = on(values, "correlation");
  options.shift_names = in_range(values, "shift-names", 0, 100);
  options.gap_calls = in_range(values, "gap-calls", 0, 100'000);
  options.gap_frame = values["gap-frame"].as<std::string>();
  options.jittered_streams = on(values, "jittered-streams");
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

void read_model(const po::variables_map& values, TraceOptions& options) {
  options.model = parse_model(values["model"].as<std::string>());
  options.layers = in_range(values, "layers", 1, 1000);
  options.second_layers = in_range(values, "second-layers", 0, 1000);
  options.passes = in_range(values, "passes", 1, 1000);
  if (options.model == ModelKind::kServe) return;
  for (const char* name : {"fuse", "spelling", "jittered-streams", "moe", "target-size", "insert", "mix"}) {
    if (values.count(name) == 0 || values[name].defaulted()) continue;
    throw Error(ErrorCode::kUsage, fmt::format("--{}: only for --model serve", name));
  }
}

}  // namespace

po::options_description describe_options() {
  po::options_description all("options");
  all.add_options()("help,h", "show this text");
  all.add_options()("output,o", po::value<std::string>(), "trace to write; .gz compresses it (also positional)");
  all.add_options()("truth", po::value<std::string>(), "ground truth (default OUTPUT.truth.json)");
  all.add_options()("labels", po::value<std::string>(), "also write a TSV: step, layer, role, class of every kernel");
  all.add_options()("seed", po::value<std::uint64_t>()->default_value(1), "same seed and options: same bytes");
  all.add_options()("vendor", text("amd"), "amd | nvidia");
  all.add_options()("dialect", text("new"), "new | old (categories Kernel/Operator/Runtime, epoch in whole us)");
  all.add_options()("model", text("serve"), "serve | train | vision+text | encoder+decoder | diffusion");
  all.add_options()("layers", po::value<int>()->default_value(24), "layers of the model, or of its first stack");
  all.add_options()("second-layers", po::value<int>()->default_value(0),
                    "layers of the second stack of a model that has two; 0: half as many, as many, or twice as many");
  all.add_options()("passes", po::value<int>()->default_value(4),
                    "of a diffusion model in one step; with --ascend: of the model in its profile");
  all.add_options()(
      "ascend", po::value<std::int64_t>(),
      "N: instead, into the folder OUTPUT, a performance model of N operators for Ascend NPUs, a profile, "
      "their mapping and the truth: model.json, kernel_details.csv, op_mapping.yaml, m6.json, truth.json");
  all.add_options()("steps", po::value<int>()->default_value(12),
                    "steps: calls of execute_model, or ProfilerStep#N of the other models");
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
  all.add_options()("annotations", text("on"), "on: execute_context_N(T)_generation_M(K) or ProfilerStep#N per step");
  describe_planted(all);
  return all;
}

std::string help_text() {
  std::ostringstream described;
  described << describe_options();
  return fmt::format("usage: {}{}\nexample: {}\n{}\nfusions: {}\nspellings: {}\n", kUsageText, kDescription, kExample,
                     described.str(), fmt::join(fusion_names(), " "), fmt::join(spelling_names(), " "));
}

std::string manual_text() {
  ManualPage page("make-trace", "1", "writes synthetic profiler traces, with their ground truth");
  page.heading("Synopsis");
  page.lines(fmt::format("{}make-trace job [options] FOLDER\nmake-trace aie [options] OUTPUT", kUsageText));
  page.heading("Description");
  page.paragraph(kDescription);
  page.paragraph("'make-trace job --help' and 'make-trace aie --help' list the options of these.");
  page.options("Options", describe_options());
  page.heading("Fusions");
  page.paragraph(fmt::format("{}", fmt::join(fusion_names(), " ")));
  page.heading("Spellings");
  page.paragraph(fmt::format("{}", fmt::join(spelling_names(), " ")));
  page.heading("Examples");
  page.lines(kExample);
  page.see_also({"trace-ingest(1)", "trace-query(1)"});
  return page.text();
}

Candidates complete_words(std::span<const std::string> words) {
  const auto values = [](const po::option_description& option) {
    const std::string& name = option.long_name();
    Candidates found = name == "fuse"       ? one_of(fmt::format("{}", fmt::join(fusion_names(), ",")))
                       : name == "spelling" ? one_of(fmt::format("{}", fmt::join(spelling_names(), ",")))
                                            : choices(option.description());
    found.several = name == "fuse" || name == "spelling";
    found.files = name == "output" || name == "truth" || name == "labels";
    return found;
  };
  return complete(words, describe_options(), values, {{{"job"}, {"aie"}}, true});
}

std::optional<AscendOptions> read_ascend_options(const po::variables_map& values) {
  if (values.count("ascend") == 0) return std::nullopt;
  constexpr std::int64_t kMost = 100'000'000;
  const std::int64_t operators = values["ascend"].as<std::int64_t>();
  if (operators < 0 || operators > kMost) throw Error(ErrorCode::kUsage, "--ascend: 0 to 100000000");
  return AscendOptions{values["seed"].as<std::uint64_t>(), operators, in_range(values, "passes", 1, 1000)};
}

TraceOptions read_options(const po::variables_map& values) {
  TraceOptions options;
  options.seed = values["seed"].as<std::uint64_t>();
  options.vendor = choice(values, "vendor", "amd", "nvidia") == "amd" ? Vendor::kAmd : Vendor::kNvidia;
  options.dialect = choice(values, "dialect", "new", "old") == "new" ? Dialect::kNew : Dialect::kOld;
  read_model(values, options);
  options.batch = in_range(values, "batch", 1, 4096);
  options.prompt_tokens = in_range(values, "prompt-tokens", 1, 1'000'000);
  options.graphs = on(values, "graphs");
  options.streams = in_range(values, "streams", 1, 3);
  options.tensor_parallel = in_range(values, "tensor-parallel", 1, 64);
  options.rank = in_range(values, "rank", 0, 63);
  options.python_stacks = on(values, "python-stacks") && options.dialect == Dialect::kNew;
  options.moe = on(values, "moe");
  options.quantised = on(values, "quantise");
  options.qk_norm = on(values, "qk-norm");
  options.shapes = on(values, "shapes");
  options.annotations = on(values, "annotations");
  read_steps(values, options);
  read_planted(values, options);
  if (options.collective_wait_ns > 0 && options.tensor_parallel < 2) {
    throw Error(ErrorCode::kUsage, "--collective-wait: only with --tensor-parallel above 1");
  }
  return options;
}

}  // namespace tracedb
