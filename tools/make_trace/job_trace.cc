#include "make_trace/job_trace.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "make_trace/random.h"
#include "make_trace/trace_options.h"
#include "make_trace/write/text_output.h"

namespace tracedb {
namespace {

namespace po = boost::program_options;

constexpr std::int64_t kBase = 1'763'000'000'000'000'000;  // ns since the epoch: the start of the job
constexpr std::int64_t kLaunchCost = 4'000, kLaunchDelay = 6'000, kGap = 1'000, kStepCost = 30'000;

struct LayerKernel {
  std::string_view name;
  std::int64_t ns;
};
constexpr LayerKernel kLayer[] = {
    {"void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, c10::BFloat16 const*, float, int, int)", 12'000},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize2x1x1_execute_kernel__5x_cublas",
     140'000},
    {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(flash::Flash_fwd_params)", 70'000},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1_execute_kernel__5x_cublas",
     180'000},
};
constexpr std::size_t kHeldUp = 3;  // the kernel of a layer that a planted holdup by computing makes longer
constexpr std::string_view kCollective = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// One rank at work. Times are those of the job; the file has those of the rank's clock.
class Rank {
 public:
  Rank(const JobOptions& options, int number, const std::string& path, int steps)
      : options_(options), number_(number), steps_(steps), out_(path) {
    for (const PlantedClock& clock : options.clocks) {
      if (clock.rank == number) clock_ = clock;
    }
    out_.text(
        fmt::format("{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": {}, \"name\": \"NVIDIA H100 80GB "
                    "HBM3\", \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132, \"warpSize\": 32}}],\n"
                    "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n"
                    "\"baseTimeNanoseconds\": 0, \"traceEvents\": [\n",
                    number, number, options.ranks));
  }

  void begin_step(int step) {
    step_ = step;
    step_start_ = host_;
    host_ += kStepCost;
  }

  // Everything of a layer up to its collective; when that can start.
  std::int64_t run_layer(int layer) {
    for (const PlantedHoldup& late : options_.late) {
      if (late.rank == number_ && layer == late_layer() && is_late(late)) hold_up(late);
    }
    for (std::size_t slot = 0; slot < std::size(kLayer); ++slot) {
      const std::int64_t usual = kLayer[slot].ns * options_.clock_ppm / kMillion;
      const std::int64_t range = 2 * (usual * options_.jitter_ppm / kMillion) + 1;
      const std::int64_t noise = uniform(noise_of(layer, slot), range) - range / 2;
      const std::int64_t more = slot == kHeldUp ? std::exchange(longer_, 0) : 0;
      device(kLayer[slot].name, "kernel", usual + noise + more, "cudaLaunchKernel", "");
    }
    launch_ = host_;
    host_ += kLaunchCost;
    arrived_ = std::max(free_ + kGap, launch_ + kLaunchDelay);
    return arrived_;
  }

  void end_collective(int layer, std::int64_t last, std::int64_t transfer) {
    const std::int64_t end = last + transfer + uniform(noise_of(layer, 99), options_.end_jitter_ns + 1);
    ++collective_;
    std::string arguments;
    if (options_.sequences) {
      std::vector<int> ranks;
      for (int rank = 0; rank < options_.ranks; ++rank) ranks.push_back(rank);
      arguments = fmt::format(
          ", \"Collective name\": \"allreduce\", \"In msg nelems\": 1048576, \"Out msg nelems\": "
          "1048576, \"Group size\": {}, \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", "
          "\"Process Group Ranks\": \"[{}]\", \"Seq\": {}",
          options_.ranks, fmt::join(ranks, ", "), options_.first_step * options_.layers + collective_);
    }
    call("cudaLaunchKernelExC", launch_, kLaunchCost);
    event("kernel", kCollective, arrived_, end - arrived_, arguments);
    free_ = end;
    if (layer + 1 == options_.layers) host_ = std::max(host_, end) + kGap;
  }

  void end_step() {
    host_ += kStepCost;
    if (written()) annotation();
  }

  void close() {
    out_.text(fmt::format("\n], \"traceName\": \"{}{}.json\"}}\n", options_.stem, number_));
    out_.close();
  }

  [[nodiscard]] int late_layer() const { return options_.layers > 1 ? 1 : 0; }
  [[nodiscard]] bool is_late(const PlantedHoldup& late) const {
    // Evenly spread: step s is one where the share of steps so far passes a whole number.
    const std::int64_t s = step_ - options_.first_step;
    return (s + 1) * late.share_ppm / kMillion > s * late.share_ppm / kMillion;
  }

 private:
  void hold_up(const PlantedHoldup& late) {
    if (late.cause == Holdup::kCompute) longer_ = late.ns;
    if (late.cause == Holdup::kCopy)
      device("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", late.ns, "cudaMemcpyAsync", ", \"bytes\": 4194304");
    // The host waits until the device has run dry, and then for as long as planted.
    if (late.cause == Holdup::kHost) host_ = std::max(host_, free_) + late.ns;
  }

  [[nodiscard]] std::uint64_t noise_of(int layer, std::size_t slot) const {
    return mix64(options_.seed, (static_cast<std::uint64_t>(number_) << 48U) +
                                    (static_cast<std::uint64_t>(step_) << 24U) +
                                    (static_cast<std::uint64_t>(layer) << 8U) + slot);
  }

  [[nodiscard]] std::int64_t wall(std::int64_t at) const {
    return kBase + at + clock_.offset_ns + at / kMillion * clock_.drift_ppm +
           at % kMillion * clock_.drift_ppm / kMillion;
  }

  void device(std::string_view name, std::string_view category, std::int64_t ns, std::string_view by,
              std::string_view arguments) {
    call(by, host_, kLaunchCost);
    const std::int64_t start = std::max(free_ + kGap, host_ + kLaunchDelay);
    host_ += kLaunchCost;
    event(category, name, start, ns, arguments);
    free_ = start + ns;
  }

  [[nodiscard]] bool written() const { return step_ - options_.first_step < steps_; }

  void begin_event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns) {
    out_.text(any_ ? ",\n" : "");
    any_ = true;
    out_.text(fmt::format("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"ts\": ", category, name));
    const std::int64_t from = wall(start);
    out_.thousandths(from);
    out_.text(", \"dur\": ");
    out_.thousandths(wall(start + ns) - from);
  }

  void event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns,
             std::string_view arguments) {
    if (!written()) return;
    begin_event(category, name, start, ns);
    out_.text(
        fmt::format(", \"pid\": {}, \"tid\": 7, \"args\": {{\"device\": {}, \"stream\": 7, \"correlation\": {}{}}}}}",
                    number_, number_, correlation_, arguments));
  }

  void call(std::string_view name, std::int64_t start, std::int64_t ns) {
    ++correlation_;
    if (!written()) return;
    begin_event("cuda_runtime", name, start, ns);
    out_.text(fmt::format(", \"pid\": {}, \"tid\": {}, \"args\": {{\"cbid\": 211, \"correlation\": {}}}}}",
                          1000 + number_, 1000 + number_, correlation_));
  }

  void annotation() {
    begin_event("user_annotation", fmt::format("ProfilerStep#{}", step_), step_start_, host_ - step_start_);
    out_.text(fmt::format(", \"pid\": {}, \"tid\": {}, \"args\": {{}}}}", 1000 + number_, 1000 + number_));
  }

  const JobOptions& options_;
  int number_, steps_;
  TextOutput out_;
  PlantedClock clock_;
  bool any_ = false;
  int step_ = 0;
  std::int64_t host_ = 0, free_ = 0, step_start_ = 0, longer_ = 0, launch_ = 0, arrived_ = 0;
  std::int64_t correlation_ = 0, collective_ = 0;
};

int recorded_steps(const JobOptions& options, int rank) {
  for (const std::string& text : options.shorten) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::kUsage, "--shorten: RANK=STEPS");
    if (parse_integer(text.substr(0, equals)) != rank) continue;
    return static_cast<int>(parse_integer(text.substr(equals + 1)).value_or(options.steps));
  }
  return options.steps;
}

// The exact waiting in the job's own time, for each collective.
std::string write_job(const JobOptions& options, const std::string& folder) {
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const bool missing = std::find(options.missing.begin(), options.missing.end(), rank) != options.missing.end();
    const std::string path = missing ? "" : fmt::format("{}/{}{}.json", folder, options.stem, rank);
    ranks.push_back(std::make_unique<Rank>(options, rank, path, recorded_steps(options, rank)));
  }
  std::string rows;
  for (int step = options.first_step; step < options.first_step + options.steps; ++step) {
    for (auto& rank : ranks) rank->begin_step(step);
    for (int layer = 0; layer < options.layers; ++layer) {
      std::vector<std::int64_t> arrivals;
      for (auto& rank : ranks) arrivals.push_back(rank->run_layer(layer));
      const auto last = std::max_element(arrivals.begin(), arrivals.end());
      for (auto& rank : ranks) rank->end_collective(layer, *last, options.transfer_ns);
      std::int64_t waiting = 0;
      for (const std::int64_t arrival : arrivals) waiting += *last - arrival;
      rows += fmt::format("{}\n    {{\"step\": {}, \"layer\": {}, \"last\": {}, \"waiting\": {}}}",
                          rows.empty() ? "" : ",", step, layer, last - arrivals.begin(), waiting);
    }
    for (auto& rank : ranks) rank->end_step();
  }
  for (auto& rank : ranks) rank->close();
  return fmt::format("{{\n  \"schema\": \"tracedb.make_trace_job/1\",\n  \"collectives\": [{}\n  ]\n}}\n", rows);
}

[[noreturn]] void reject_job(std::string_view option, std::string_view text, std::string_view wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("--{}: '{}' is not {}", option, text, wanted));
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c == ':') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// RANK:CAUSE:NS[:SHARE]
PlantedHoldup parse_late(const std::string& text) {
  constexpr std::string_view kWanted = "RANK:compute|host|copy:NS[:SHARE]";
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() < 3 || parts.size() > 4) reject_job("late", text, kWanted);
  const auto rank = parse_integer(parts[0]);
  const auto ns = parse_integer(parts[2]);
  constexpr std::string_view kCauses[] = {"compute", "host", "copy"};
  const auto* const cause = std::find(std::begin(kCauses), std::end(kCauses), parts[1]);
  if (!rank || !ns || *ns < 0 || cause == std::end(kCauses)) reject_job("late", text, kWanted);
  PlantedHoldup out{static_cast<int>(*rank), static_cast<Holdup>(cause - std::begin(kCauses)), *ns};
  if (parts.size() == 4) out.share_ppm = parse_ppm("--late", parts[3]);
  return out;
}

// RANK:OFFSET_NS[:DRIFT_PPM]
PlantedClock parse_clock(const std::string& text) {
  constexpr std::string_view kWanted = "RANK:OFFSET_NS[:DRIFT_PPM]";
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() < 2 || parts.size() > 3) reject_job("clock-of", text, kWanted);
  const auto rank = parse_integer(parts[0]);
  const auto offset = parse_integer(parts[1]);
  const auto drift = parts.size() == 3 ? parse_integer(parts[2]) : std::optional<std::int64_t>(0);
  if (!rank || !offset || !drift) reject_job("clock-of", text, kWanted);
  return {static_cast<int>(*rank), *offset, *drift};
}

using Texts = std::vector<std::string>;

po::options_description describe(JobOptions& options) {
  po::options_description all(
      "usage: make-trace job [options] FOLDER\nWrites the traces of all ranks of a job, and what each collective waits "
      "for, FOLDER.truth.json");
  all.add_options()("help", "this text");
  all.add_options()("output", po::value<std::string>(), "folder; also the first argument");
  all.add_options()("seed", po::value<std::uint64_t>(&options.seed)->default_value(1), "of the noise");
  const auto number = [&](const char* name, int& value, const char* text) {
    all.add_options()(name, po::value<int>(&value)->default_value(value), text);
  };
  number("ranks", options.ranks, "of the job");
  number("steps", options.steps, "of the recording");
  number("first-step", options.first_step, "number of the first one");
  number("layers", options.layers, "of a step, with a collective each");
  all.add_options()("jitter", po::value<std::string>()->default_value("1"), "percent by which kernel durations vary");
  all.add_options()("clock", po::value<std::string>()->default_value("1"), "factor on the duration of every kernel");
  all.add_options()("sequences", po::value<std::string>()->default_value("on"),
                    "off: no arguments of collectives, as in older traces");
  all.add_options()("stem", po::value<std::string>(&options.stem)->default_value("rank"),
                    "names of files before the number");
  all.add_options()("late", po::value<Texts>(),
                    "RANK:compute|host|copy:NS[:SHARE]: what holds a rank up, in a share of the steps (repeatable)");
  all.add_options()("clock-of", po::value<Texts>(),
                    "RANK:OFFSET_NS[:DRIFT_PPM]: a clock that is ahead and gains (repeatable)");
  all.add_options()("missing", po::value<std::vector<int>>(&options.missing), "RANK without a trace (repeatable)");
  all.add_options()("shorten", po::value<Texts>(&options.shorten),
                    "RANK=STEPS: its recording ends after so many (repeatable)");
  return all;
}

void check(const JobOptions& options) {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  if (!within(options.ranks, 1024) || !within(options.steps, 100'000) || !within(options.layers, 1000)) {
    throw Error(ErrorCode::kUsage, "1 to 1024 ranks, 100000 steps and 1000 layers");
  }
}

}  // namespace

void make_job_trace(int argc, char** argv) {
  JobOptions options;
  const po::options_description all = describe(options);
  po::positional_options_description positional;
  positional.add("output", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") != 0) {
    fmt::print("{}\nexample:\n  make-trace job --ranks 8 --late 3:compute:400000:0.5 --clock-of 2:1500000 job\n",
               fmt::streamed(all));
    return;
  }
  if (values.count("output") == 0) throw Error(ErrorCode::kUsage, "no FOLDER given; see make-trace job --help");
  options.jitter_ppm = parse_ppm("--jitter", values["jitter"].as<std::string>()) / 100;
  options.clock_ppm = parse_ppm("--clock", values["clock"].as<std::string>());
  options.sequences = parse_switch("--sequences", values["sequences"].as<std::string>());
  if (values.count("late") != 0) {
    for (const std::string& text : values["late"].as<Texts>()) options.late.push_back(parse_late(text));
  }
  if (values.count("clock-of") != 0) {
    for (const std::string& text : values["clock-of"].as<Texts>()) options.clocks.push_back(parse_clock(text));
  }
  check(options);
  auto folder = values["output"].as<std::string>();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);  // what cannot be made cannot be written either
  const std::string truth = write_job(options, folder);
  TextOutput answers(folder + ".truth.json");
  answers.text(truth);
  answers.close();
}

}  // namespace tracedb
