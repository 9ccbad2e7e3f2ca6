#include "make_trace/options.h"

#include <fmt/ranges.h>

#include "make_trace/model.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kVendors[] = {"amd", "nvidia"};
constexpr std::string_view kDialects[] = {"new", "old"};
constexpr std::string_view kStepKinds[] = {"prefill", "decode", "mixed", "train", "other"};
constexpr std::string_view kXlaForms[] = {"none", "gpu", "graphs", "scan", "tpu"};
constexpr std::string_view kModels[] = {"serve", "train", "vision+text", "encoder+decoder", "diffusion"};

constexpr std::string_view kUsageText = "make-trace [options] OUTPUT\n";
constexpr std::string_view kDescription =
    "Writes a synthetic PyTorch (Kineto) trace of a vLLM-like server, or of another model, and its ground truth,\n"
    "OUTPUT.truth.json. 'make-trace job' writes all ranks of a job, 'make-trace aie' tiles of an AI Engine.\n";
constexpr std::string_view kExample =
    "make-trace --vendor amd --layers 32 --steps 20 --fuse add+rmsnorm,silu+quant --seed 7 mi300x.json.gz\n";

constexpr std::int64_t kMostOperators = 100'000'000, kMostIdle = 1'000'000'000, kMostGap = 10'000'000'000;

// "512K", "200M", "1G" (powers of 1000), or bytes.
std::uint64_t parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMG", kSmallUnits = "kmg";
  std::int64_t unit = 1;
  std::string_view digits = text;
  for (std::size_t at = 0, size = 1000; at < kUnits.size() && !text.empty(); ++at, size *= 1000) {
    if (text.back() != kUnits[at] && text.back() != kSmallUnits[at]) continue;
    unit = static_cast<std::int64_t>(size);
    digits.remove_suffix(1);
  }
  const auto value = parse_integer(digits);
  if (!value || *value < 0 || *value > (std::int64_t{1} << 50) / unit) {
    reject("--target-size", text, "a size such as 200M or 1G");
  }
  return static_cast<std::uint64_t>(*value * unit);
}

// "P,D*8,M": prefill, eight decodes, mixed.
std::vector<StepKind> parse_mix(std::string_view text) {
  constexpr std::string_view kLetters = "PDM";
  std::vector<StepKind> mix;
  for (const std::string& part : split_list(text)) {
    const std::string_view item = part;
    const auto star = item.find('*');
    const auto count = star == std::string_view::npos ? 1 : parse_integer(item.substr(star + 1)).value_or(0);
    if (count < 1 || count > 100'000) reject("--mix", part, "a step such as D*8");
    const std::string_view kind = item.substr(0, star);
    const auto letter = kLetters.find(kind);
    if (kind.size() != 1 || letter == std::string_view::npos)
      reject("--mix", part, "P, D or M with an optional *COUNT");
    mix.insert(mix.end(), static_cast<std::size_t>(count), static_cast<StepKind>(letter));
  }
  return mix;
}

LayerTarget parse_target(std::string_view option, std::string_view text, bool with_factor) {
  LayerTarget target;
  std::string_view name = text;
  if (with_factor) {
    const auto equals = name.find('=');
    if (equals == std::string_view::npos) reject(option, text, "NAME=FACTOR, e.g. dense_gemm=1.3");
    target.factor_ppm = parse_ppm(option, name.substr(equals + 1));
    if (target.factor_ppm == 0) reject(option, text, "NAME=FACTOR with a factor above 0");
    name = name.substr(0, equals);
  }
  const auto at = name.find('@');
  if (at != std::string_view::npos) {
    target.layer = parse_integer(name.substr(at + 1));
    if (!target.layer) reject(option, text, "NAME@LAYER");
    name = name.substr(0, at);
  }
  target.name = std::string(name);
  return target;
}

OptionTable::Take take_targets(std::vector<LayerTarget>& field, const char* option, bool with_factor) {
  return [=, &field](const std::string& text) {
    for (const std::string& part : split_list(text)) field.push_back(parse_target(option, part, with_factor));
  };
}

OptionTable::Take take_names(std::set<std::string>& field) {
  return [&field](const std::string& text) {
    for (std::string& name : split_list(text)) field.insert(std::move(name));
  };
}

void describe_planted(OptionTable& all, TraceOptions& options) {
  all.text("fuse", "", "fusions to plant, comma separated; see the end of this text", take_names(options.fusions));
  all.text("spelling", "", "other names for the same kernels, comma separated; see the end of this text",
           take_names(options.spellings));
  all.each("insert", "CLASS[@LAYER]: a further kernel (repeatable)", take_targets(options.inserts, "--insert", false));
  all.each("slow", "CLASS|ROLE[@LAYER]=FACTOR (repeatable)", take_targets(options.slow, "--slow", true));
  all.fraction("clock", "1", options.clock_ppm, "factor on the duration of every kernel");
  all.number("idle", options.idle_ns, "ns of host wait planted in every step");
  all.fraction("jitter", "3", options.jitter_ppm, "percent by which kernel durations vary", 100);
  all.number("orphans", options.orphans, "kernels at the start that lost their launch", 0, 1'000'000);
  all.number("step-gap", options.step_gap_ns, "ns of host time planted between steps", 0, kMostGap);
  all.number("gap-calls", options.gap_calls,
             "calls recorded in each --step-gap: python functions, or operators without --python-stacks", 0, 100'000);
  all.text("gap-frame", "", "python function in which the host spends each --step-gap: \"vllm/engine.py(7): schedule\"",
           [&options](const std::string& text) { options.gap_frame = text; });
  all.on_off("jittered-streams", options.jittered_streams,
             "on: a branch of every layer runs on a stream of its own and starts earlier or later from step to step");
  all.on_off("correlation", options.correlation,
             "off: device events have no correlation, only flows join them to launches");
  all.number("shift-names", options.shift_names,
             "places by which kernel names are shifted against times, from somewhere in each graph replay on", 0, 100);
  all.number("runs", options.runs, "runs of this job, into OUTPUT with their number: x-1.json, x-2.json ...", 1, 1000);
  all.fraction(
      "run-noise", "0", options.run_noise_ppm,
      "percent by which a run's speed varies (sd): kernels of one place by half of it, the host by three times "
      "as much; in 3 of 10 runs one step stalls",
      100);
  all.number("collective-wait", options.collective_wait_ns,
             "ns that the first collective of each step waits for the other ranks", 0, kMostGap);
}

void describe_steps(OptionTable& all, TraceOptions& options) {
  all.number("steps", options.steps, "steps: calls of execute_model, or ProfilerStep#N of the other models", 1,
             100'000'000);
  all.text("target-size", nullptr, "repeat steps up to this size (200M, 1G), before gzip",
           [&options](const std::string& text) { options.target_size = parse_size(text); });
  all.text("mix", nullptr, "steps in order, repeated: P,D*8,M",
           [&options](const std::string& text) { options.mix = parse_mix(text); });
  all.fraction("prefill-fraction", "0.2", options.prefill_ppm, "share of prefill steps, without --mix");
  all.fraction("mixed-fraction", "0", options.mixed_ppm, "share of mixed steps, without --mix");
  all.number("batch", options.batch, "requests in a decode step", 1, 4096);
  all.number("prompt-tokens", options.prompt_tokens, "tokens of one prompt", 1, 1'000'000);
  all.on_off("graphs", options.graphs, "on: decode steps are graph launches");
  all.number("streams", options.streams, "1: one; 2: + communication; 3: + copies", 1, 3);
  all.number("tensor-parallel", options.tensor_parallel, "> 1: collectives and distributedInfo", 1, 64);
  all.number("rank", options.rank, "rank, and device number", 0, 63);
  all.on_off("python-stacks", options.python_stacks, "on | off");
  all.on_off("moe", options.moe, "on: mixture-of-experts layers");
  all.on_off("quantise", options.quantised, "on: FP8 activations, with quantise kernels before GEMMs");
  all.on_off("qk-norm", options.qk_norm, "on: norms of queries and keys");
  all.on_off("shapes", options.shapes, "on: input shapes of operators");
  all.on_off(
      "annotations", options.annotations,
      "on: execute_context_N(T)_generation_M(K), ProfilerStep#N or, of JAX on GPUs, StepTraceAnnotation per step");
}

OptionTable describe(TraceOptions& options) {
  OptionTable all("options");
  all.help("help,h", "show this text");
  all.path("output,o", options.output, "trace to write; .gz compresses it (also positional)");
  all.path("truth", options.truth, "ground truth (default OUTPUT.truth.json)");
  all.path("labels", options.labels, "also write a TSV: step, layer, role, class of every kernel");
  all.number("seed", options.seed, "same seed and options: same bytes");
  all.choice("vendor", options.vendor, "amd | nvidia", kVendors, "neither amd nor nvidia");
  all.choice("dialect", options.dialect, "new | old (categories Kernel/Operator/Runtime, epoch in whole us)", kDialects,
             "neither new nor old");
  all.choice("model", options.model, "serve | train | vision+text | encoder+decoder | diffusion", kModels,
             fmt::format("not one of {}", fmt::join(kModels, " ")));
  all.number("layers", options.layers, "layers of the model, or of its first stack", 1, 1000);
  all.number("second-layers", options.second_layers,
             "layers of the second stack of a model that has two; 0: half as many, as many, or twice as many", 0, 1000);
  all.number("passes", options.passes, "of a diffusion model in one step; with --ascend: of the model in its profile",
             1, 1000);
  all.row("ascend", po::value<std::int64_t>(),
          "N: instead, into the folder OUTPUT, a performance model of N operators for Ascend NPUs, a profile, "
          "their mapping and the truth: model.json, kernel_details.csv, op_mapping.yaml, m6.json, truth.json",
          [&options](std::int64_t value) { options.operators = value; });
  all.choice(
      "xla", options.xla,
      "instead a profile of JAX (xplane.pb): gpu; graphs: command buffers, which hide the HLO op; scan: one body "
      "of a loop for all layers; tpu; with --hosts, --layers, --steps, --annotations and --seed",
      kXlaForms, fmt::format("not one of {}", fmt::join(kXlaForms, " ")));
  all.number("hosts", options.hosts, "of --xla; several: a file of each into the folder OUTPUT", 1, 64);
  describe_steps(all, options);
  describe_planted(all, options);
  return all;
}

std::string help_text(const OptionTable& all) {
  return fmt::format("usage: {}{}\nexample: {}\n{}\nfusions: {}\nspellings: {}\n", kUsageText, kDescription, kExample,
                     all.description(), fmt::join(fusion_names(), " "), fmt::join(spelling_names(), " "));
}

void check(const TraceOptions& options, const OptionTable& all) {
  const auto refuse = [](bool wrong, const std::string& what) {
    if (wrong) throw Error(ErrorCode::kUsage, what);
  };
  for (const char* name : {"fuse", "spelling", "jittered-streams", "moe", "target-size", "insert", "mix"}) {
    refuse(options.model != ModelKind::kServe && all.is_given(name), fmt::format("--{}: only for --model serve", name));
  }
  refuse(options.prefill_ppm + options.mixed_ppm > kMillion,
         "--prefill-fraction and --mixed-fraction: at most 1 together");
  refuse(options.hosts > 1, "--hosts: only with --xla");
  refuse(options.clock_ppm == 0, "--clock: more than 0");
  refuse(options.idle_ns < 0 || options.idle_ns > kMostIdle, fmt::format("--idle: 0 to {}", kMostIdle));
  refuse(options.runs > 1 && (options.truth || options.labels), "--runs: --truth and --labels are of one trace");
  refuse(options.run_noise_ppm > kMillion / 20, "--run-noise: at most 5 percent");
  refuse(options.run_noise_ppm > 0 && options.runs < 2, "--run-noise: only with --runs");
  refuse(options.jitter_ppm >= kMillion, "--jitter: less than 100 percent");
  refuse(options.collective_wait_ns > 0 && options.tensor_parallel < 2,
         "--collective-wait: only with --tensor-parallel above 1");
}

}  // namespace

std::string_view to_text(Vendor vendor) { return kVendors[static_cast<std::size_t>(vendor)]; }
std::string_view to_text(Dialect dialect) { return kDialects[static_cast<std::size_t>(dialect)]; }
std::string_view to_text(StepKind kind) { return kStepKinds[static_cast<std::size_t>(kind)]; }
std::string_view to_text(ModelKind kind) { return kModels[static_cast<std::size_t>(kind)]; }

StepKind step_kind(const TraceOptions& options, std::int64_t step) {
  if (options.model != ModelKind::kServe) {
    return options.model == ModelKind::kTrain ? StepKind::kTrain : StepKind::kOther;
  }
  if (!options.mix.empty()) return options.mix[static_cast<std::size_t>(step) % options.mix.size()];
  // The half-step offset keeps mixed steps away from step 0, which is a prefill wherever there are any.
  const auto falls_on = [step](std::int64_t ppm, std::int64_t offset) {
    return (step * ppm + offset) % kMillion < ppm;
  };
  if (falls_on(options.prefill_ppm, 0)) return StepKind::kPrefill;
  return falls_on(options.mixed_ppm, kMillion / 2) ? StepKind::kMixed : StepKind::kDecode;
}

bool read_options(int argc, char** argv, TraceOptions& options) {
  OptionTable all = describe(options);
  if (!all.parse(argc, argv, "make-trace", "OUTPUT", help_text(all))) return false;
  if (all.is_given("ascend")) {
    all.take({"output", "ascend", "seed", "passes"});
    if (*options.operators < 0 || *options.operators > kMostOperators) {
      throw Error(ErrorCode::kUsage, fmt::format("--ascend: 0 to {}", kMostOperators));
    }
    return true;
  }
  if (all.is_given("xla")) {
    all.take({"output", "xla", "truth", "hosts", "seed", "steps", "layers", "annotations"});
    if (options.xla == XlaForm::kTpu && !options.annotations)
      throw Error(ErrorCode::kUsage, "--annotations: a TPU's steps are runs of its program");
    if (options.xla != XlaForm::kNone) return true;
  }
  all.take();
  check(options, all);
  options.python_stacks = options.python_stacks && options.dialect == Dialect::kNew;
  return true;
}

std::string manual_text() {
  TraceOptions options;
  ManualPage page("make-trace", "1", "writes synthetic profiler traces, with their ground truth");
  page.heading("Synopsis");
  page.lines(fmt::format("{}make-trace job [options] FOLDER\nmake-trace aie [options] OUTPUT", kUsageText));
  page.heading("Description");
  page.paragraph(kDescription);
  page.paragraph("'make-trace job --help' and 'make-trace aie --help' list the options of these.");
  page.options("Options", describe(options).options());
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
  TraceOptions options;
  return complete(words, describe(options).options(), values, {{{"job"}, {"aie"}}, true});
}

}  // namespace tracedb
