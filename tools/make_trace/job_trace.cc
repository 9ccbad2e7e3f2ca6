#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "base/text/split.h"
#include "make_trace/options.h"
#include "make_trace/output.h"
#include "make_trace/random.h"

namespace tracedb {
namespace {

// What holds a rank up before a collective.
enum class Holdup { kCompute, kHost, kCopy };
constexpr std::string_view kHoldups[] = {"compute", "host", "copy"};

struct PlantedHoldup {
  int rank = 0;
  Holdup cause = Holdup::kCompute;
  std::int64_t ns = 0;
  std::int64_t share_ppm = kMillion;  // of the steps
};

// The clock of a rank: ahead by `offset` at the start, and gaining.
struct PlantedClock {
  int rank = 0;
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;
};

// Where the trace has the rank at the other end of a send or receive.
enum class PeersSaid { kArguments, kAnnotations, kNowhere };
constexpr std::string_view kPeers[] = {"arguments", "annotations", "nowhere"};

struct JobOptions {
  std::optional<std::string> output;
  std::uint64_t seed = 1;
  int ranks = 4, steps = 20, layers = 4;
  int first_step = 0;                          // of the recording
  std::int64_t jitter_ppm = 0, clock_ppm = 0;  // of the duration of every kernel
  bool sequences = true;                       // collectives have arguments; else only names of kernels
  int microbatches = 0;                        // of a step of a pipeline whose stages are the ranks; 0: no pipeline
  PeersSaid peers = PeersSaid::kArguments;
  bool one_process = false;  // all devices are in one trace
  std::string stem = "rank";
  std::vector<PlantedHoldup> late;
  std::vector<PlantedClock> clocks;
  std::vector<int> missing;  // ranks without a trace
  Texts shorten;             // RANK=STEPS: the recording of a rank ends after so many
};

constexpr std::int64_t kBase = 1'763'000'000'000'000'000;  // ns since the epoch: the start of the job
constexpr std::int64_t kLaunchCost = 4'000, kLaunchDelay = 6'000, kGap = 1'000, kStepCost = 30'000;
constexpr std::int64_t kTransfer = 60'000;
constexpr std::int64_t kEndJitter = 500;             // by which a collective ends later on some ranks
constexpr std::int64_t kMostLaunches = 100'000'000;  // of a rank: correlations of one process are unique

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
constexpr std::size_t kCollectiveEnd = 99, kSendEnd = 98, kReceiveEnd = 97;  // whose noise
constexpr std::string_view kCollectiveKernel =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kTransferKernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

// A trace that one or more ranks write to.
struct JobFile {
  // An empty path only counts. `rank`: what distributedInfo says; none: -1.
  JobFile(const JobOptions& options, const std::string& path, int rank) : out(path) {
    std::vector<int> devices(rank < 0 ? static_cast<std::size_t>(options.ranks) : 1);
    std::iota(devices.begin(), devices.end(), std::max(rank, 0));
    const Json properties = json_list(devices, [](int device) {
      return json_object("id", device, "name", "NVIDIA H100 80GB HBM3", "computeMajor", 9, "computeMinor", 0, "numSms",
                         132, "warpSize", 32);
    });
    out.put("{\"schemaVersion\": 1, \"deviceProperties\": ", properties.text, ",\n");
    if (rank >= 0) {
      const Json distributed = json_object("backend", "nccl", "rank", rank, "world_size", options.ranks);
      out.put("\"distributedInfo\": ", distributed.text, ",\n");
    }
    out.put("\"baseTimeNanoseconds\": 0, \"traceEvents\": [\n");
  }

  void close(const std::string& name) {
    out.put("\n], \"traceName\": \"", name, "\"}\n");
    out.close();
  }

  TextOutput out;
  bool any = false;  // an event is written
};

// One rank of a made job at work: a host that launches ahead, a device that runs what it launched in order, a clock.
// Times are those of the job; the file has those of the rank's clock.
class JobRank {
 public:
  JobRank(const JobOptions& options, int number, int steps, std::shared_ptr<JobFile> file)
      : options_(options),
        number_(number),
        process_(options.one_process ? 1000 : 1000 + number),
        steps_(steps),
        file_(std::move(file)) {
    for (const PlantedClock& clock : options.clocks) {
      if (clock.rank == number) clock_ = clock;
    }
    if (options.one_process) correlation_ = number * kMostLaunches;
  }

  void begin_step(int step) {
    step_ = step;
    step_start_ = host_;
    host_ += kStepCost;
  }

  // The kernels of a layer or microbatch, numbered within the step; `is_held_up`: with what is planted.
  void compute(int part, bool is_held_up) {
    for (const PlantedHoldup& late : options_.late) {
      if (is_held_up && late.rank == number_ && is_late(late)) hold_up(late);
    }
    for (std::size_t slot = 0; slot < std::size(kLayer); ++slot) {
      const std::int64_t usual = kLayer[slot].ns * options_.clock_ppm / kMillion;
      const std::int64_t range = 2 * (usual * options_.jitter_ppm / kMillion) + 1;
      const std::int64_t noise = uniform(noise_of(part, slot), range) - range / 2;
      const std::int64_t more = slot == kHeldUp ? std::exchange(longer_, 0) : 0;
      device(kLayer[slot].name, "kernel", usual + noise + more, "cudaLaunchKernel", "");
    }
  }

  // Launches a kernel that communicates; when it can start.
  std::int64_t arrive() {
    launch_ = host_;
    host_ += kLaunchCost;
    arrived_ = std::max(free_ + kGap, launch_ + kLaunchDelay);
    return arrived_;
  }

  // What arrived: all came at `last` at the latest.
  void end_collective(int part, std::int64_t last) {
    ++collectives_;
    const std::int64_t sequence = options_.first_step * options_.layers + collectives_;
    end_communication(kCollectiveKernel, last, noise_of(part, kCollectiveEnd),
                      options_.sequences ? group_arguments("allreduce", sequence) : "");
  }
  void end_transfer(int part, std::int64_t last, int peer, bool sends) {
    ++transfers_;
    std::string arguments;
    if (options_.peers != PeersSaid::kNowhere) arguments = group_arguments(sends ? "send" : "recv", transfers_);
    if (options_.peers == PeersSaid::kArguments)
      arguments += fmt::format(", \"{} Rank\": {}", sends ? "Dst" : "Src", peer);
    if (options_.peers == PeersSaid::kAnnotations && written()) {
      annotate(fmt::format("nccl:{} {}{}{}", sends ? "send" : "recv", number_, sends ? "->" : "<-", peer), launch_,
               launch_ + kLaunchCost);
    }
    end_communication(kTransferKernel, last, noise_of(part, sends ? kSendEnd : kReceiveEnd), arguments);
  }

  // The host waits for the device.
  void end_step() {
    host_ = std::max(host_, free_) + kGap + kStepCost;
    if (written() && (!options_.one_process || number_ == 0)) {
      annotate(fmt::format("ProfilerStep#{}", step_), step_start_, host_);
    }
  }

 private:
  void hold_up(const PlantedHoldup& late) {
    if (late.cause == Holdup::kCompute) longer_ = late.ns;
    if (late.cause == Holdup::kCopy) {
      device("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", late.ns, "cudaMemcpyAsync", ", \"bytes\": 4194304");
    }
    // The host waits until the device has run dry, and then for as long as planted.
    if (late.cause == Holdup::kHost) host_ = std::max(host_, free_) + late.ns;
  }

  // Evenly spread: step s is one where the share of steps so far passes a whole number.
  [[nodiscard]] bool is_late(const PlantedHoldup& late) const {
    const std::int64_t s = step_ - options_.first_step;
    return (s + 1) * late.share_ppm / kMillion > s * late.share_ppm / kMillion;
  }

  [[nodiscard]] std::uint64_t noise_of(int part, std::size_t slot) const {
    return mix64(options_.seed, (static_cast<std::uint64_t>(number_) << 48U) +
                                    (static_cast<std::uint64_t>(step_) << 24U) +
                                    (static_cast<std::uint64_t>(part) << 8U) + slot);
  }

  [[nodiscard]] std::int64_t wall(std::int64_t at) const {
    return kBase + at + clock_.offset_ns + at / kMillion * clock_.drift_ppm +
           at % kMillion * clock_.drift_ppm / kMillion;
  }

  [[nodiscard]] bool written() const { return step_ - options_.first_step < steps_; }

  [[nodiscard]] std::string group_arguments(std::string_view name, std::int64_t sequence) const {
    std::vector<int> ranks(static_cast<std::size_t>(options_.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ", " + json_members("Collective name", name, "In msg nelems", 1048576, "Out msg nelems", 1048576,
                               "Group size", options_.ranks, "dtype", "BFloat16", "Process Group Name", "0",
                               "Process Group Ranks", json_list(ranks).text, "Seq", sequence);
  }

  void end_communication(std::string_view kernel, std::int64_t last, std::uint64_t noise,
                         const std::string& arguments) {
    free_ = last + kTransfer + uniform(noise, kEndJitter + 1);
    call("cudaLaunchKernelExC", launch_);
    event("kernel", kernel, arrived_, free_ - arrived_, arguments);
  }

  void device(std::string_view name, std::string_view category, std::int64_t ns, std::string_view by,
              std::string_view arguments) {
    call(by, host_);
    const std::int64_t start = std::max(free_ + kGap, host_ + kLaunchDelay);
    host_ += kLaunchCost;
    event(category, name, start, ns, arguments);
    free_ = start + ns;
  }

  // `rest`: what follows the times.
  template <class... Rest>
  void put_event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns,
                 const Rest&... rest) {
    const std::int64_t from = wall(start);
    file_->out.put(std::exchange(file_->any, true) ? ",\n" : "", "{\"ph\": \"X\", \"cat\": \"", category,
                   "\", \"name\": \"", name, "\", \"ts\": ", Thousandths{from},
                   ", \"dur\": ", Thousandths{wall(start + ns) - from}, ", \"pid\": ", rest...);
  }

  void event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns,
             std::string_view arguments) {
    if (!written()) return;
    put_event(category, name, start, ns, number_, ", \"tid\": 7, \"args\": {\"device\": ", number_,
              ", \"stream\": 7, \"correlation\": ", correlation_, arguments, "}}");
  }

  void call(std::string_view name, std::int64_t start) {
    ++correlation_;
    if (!written()) return;
    put_event("cuda_runtime", name, start, kLaunchCost, process_, ", \"tid\": ", 1000 + number_,
              ", \"args\": {\"cbid\": 211, \"correlation\": ", correlation_, "}}");
  }

  void annotate(std::string_view name, std::int64_t start, std::int64_t end) {
    put_event("user_annotation", name, start, end - start, process_, ", \"tid\": ", 1000 + number_, ", \"args\": {}}");
  }

  const JobOptions& options_;
  int number_, process_, steps_;
  std::shared_ptr<JobFile> file_;
  PlantedClock clock_;
  int step_ = 0;
  std::int64_t host_ = 0, free_ = 0, step_start_ = 0, longer_ = 0, launch_ = 0, arrived_ = 0;
  std::int64_t correlation_ = 0, collectives_ = 0, transfers_ = 0;
};

using Ranks = std::vector<JobRank>;

int recorded_steps(const JobOptions& options, int rank) {
  for (const std::string& text : options.shorten) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::kUsage, "--shorten: RANK=STEPS");
    if (parse_integer(text.substr(0, equals)) != rank) continue;
    return static_cast<int>(parse_integer(text.substr(equals + 1)).value_or(options.steps));
  }
  return options.steps;
}

// Adds what was planted, and the waiting that follows from it, in the job's own time. `more`: further members.
void add_waits(std::vector<Json>& planted, int step, int part, std::span<const std::int64_t> arrivals,
               std::span<const int> ranks, const std::string& more = "") {
  const auto last = std::ranges::max_element(arrivals);
  std::int64_t waiting = 0;
  for (const std::int64_t arrival : arrivals) waiting += *last - arrival;
  const int rank = ranks[static_cast<std::size_t>(last - arrivals.begin())];
  planted.push_back({"{" + json_members("step", step, "layer", part, "last", rank, "waiting", waiting) + more + "}"});
}

// Layers with a collective of all ranks behind each.
void run_layers(const JobOptions& options, int step, Ranks& ranks, std::vector<Json>& planted) {
  std::vector<int> numbers(ranks.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const int late_layer = options.layers > 1 ? 1 : 0;
  for (int layer = 0; layer < options.layers; ++layer) {
    std::vector<std::int64_t> arrivals;
    for (JobRank& rank : ranks) {
      rank.compute(layer, layer == late_layer);
      arrivals.push_back(rank.arrive());
    }
    const std::int64_t last = *std::ranges::max_element(arrivals);
    for (JobRank& rank : ranks) rank.end_collective(layer, last);
    add_waits(planted, step, layer, arrivals, numbers);
  }
}

void transfer(Ranks& ranks, int step, int part, int from, int to, std::vector<Json>& planted) {
  JobRank& sender = ranks[static_cast<std::size_t>(from)];
  JobRank& receiver = ranks[static_cast<std::size_t>(to)];
  const std::int64_t arrivals[] = {sender.arrive(), receiver.arrive()};
  const std::int64_t last = std::max(arrivals[0], arrivals[1]);
  sender.end_transfer(part, last, to, true);
  receiver.end_transfer(part, last, from, false);
  const int numbers[] = {from, to};
  add_waits(planted, step, part, arrivals, numbers, ", " + json_members("from", from, "to", to));
}

// Every rank is a stage: all microbatches go forward through them, then all go back.
void run_pipeline(const JobOptions& options, int step, Ranks& ranks, std::vector<Json>& planted) {
  for (int part = 0; part < 2 * options.microbatches; ++part) {
    const bool forward = part < options.microbatches;
    for (int place = 0; place < options.ranks; ++place) {
      const int stage = forward ? place : options.ranks - 1 - place;
      ranks[static_cast<std::size_t>(stage)].compute(part, forward);
      if (place + 1 < options.ranks) transfer(ranks, step, part, stage, forward ? stage + 1 : stage - 1, planted);
    }
  }
}

// Returns the ground truth.
std::string write_job(const JobOptions& options, const std::string& folder) {
  std::vector<std::shared_ptr<JobFile>> files;
  Ranks ranks;
  const auto name_of = [&](int rank) {
    return options.one_process ? "trace.json" : fmt::format("{}{}.json", options.stem, rank);
  };
  for (int rank = 0; rank < options.ranks; ++rank) {
    const bool missing = std::ranges::find(options.missing, rank) != options.missing.end();
    if (!options.one_process || rank == 0) {
      files.push_back(std::make_shared<JobFile>(options, missing ? "" : fmt::format("{}/{}", folder, name_of(rank)),
                                                options.one_process ? -1 : rank));
    }
    ranks.emplace_back(options, rank, recorded_steps(options, rank), files.back());
  }
  std::vector<Json> planted;
  for (int step = options.first_step; step < options.first_step + options.steps; ++step) {
    for (JobRank& rank : ranks) rank.begin_step(step);
    options.microbatches > 0 ? run_pipeline(options, step, ranks, planted) : run_layers(options, step, ranks, planted);
    for (JobRank& rank : ranks) rank.end_step();
  }
  for (std::size_t rank = 0; rank < files.size(); ++rank) files[rank]->close(name_of(static_cast<int>(rank)));
  return fmt::format("{{\n  \"schema\": \"tracedb.make_trace_job/1\",\n  \"collectives\": [{}\n  ]\n}}\n",
                     json_items(planted, {}, "\n    "));
}

PlantedHoldup parse_late(const std::string& text) {
  const auto parts = split_text(text, ':');
  const bool counts = parts.size() == 3 || parts.size() == 4;
  const auto rank = counts ? parse_integer(parts[0]) : std::nullopt;
  const auto ns = counts ? parse_integer(parts[2]) : std::nullopt;
  const auto* const cause = counts ? std::find(std::begin(kHoldups), std::end(kHoldups), parts[1]) : std::end(kHoldups);
  if (!rank || !ns || *ns < 0 || cause == std::end(kHoldups)) {
    reject("--late", text, "RANK:compute|host|copy:NS[:SHARE]");
  }
  PlantedHoldup out{static_cast<int>(*rank), static_cast<Holdup>(cause - std::begin(kHoldups)), *ns};
  if (parts.size() == 4) out.share_ppm = parse_ppm("--late", parts[3]);
  return out;
}

PlantedClock parse_clock(const std::string& text) {
  auto parts = split_text(text, ':');
  if (parts.size() == 2) parts.emplace_back("0");
  const auto number = [&](std::size_t at) { return parts.size() == 3 ? parse_integer(parts[at]) : std::nullopt; };
  const auto rank = number(0), offset = number(1), drift = number(2);
  if (!rank || !offset || !drift) reject("--clock-of", text, "RANK:OFFSET_NS[:DRIFT_PPM]");
  return {static_cast<int>(*rank), *offset, *drift};
}

OptionTable describe(JobOptions& options) {
  OptionTable all(
      "usage: make-trace job [options] FOLDER\nWrites the traces of all ranks of a job, and what each collective waits "
      "for, FOLDER.truth.json");
  all.help("help", "this text");
  all.path("output", options.output, "folder; also the first argument");
  all.number("seed", options.seed, "of the noise");
  all.number("ranks", options.ranks, "of the job");
  all.number("steps", options.steps, "of the recording");
  all.number("first-step", options.first_step, "number of the first one");
  all.number("layers", options.layers, "of a step, with a collective each");
  all.fraction("jitter", "1", options.jitter_ppm, "percent by which kernel durations vary", 100);
  all.fraction("clock", "1", options.clock_ppm, "factor on the duration of every kernel");
  all.on_off("sequences", options.sequences, "off: no arguments of collectives, as in older traces");
  all.number("microbatches", options.microbatches,
             "of a step: the ranks are stages of a pipeline that send to each other, and a holdup is in each one "
             "that goes forward; 0: no pipeline");
  all.choice("peers", options.peers,
             "where sends and receives say with whom: arguments, annotations (older traces), nowhere", kPeers,
             "not arguments, annotations or nowhere");
  all.flag("one-process", options.one_process, "one trace without ranks, FOLDER/trace.json, has the devices of all");
  all.text("stem", "rank", "names of files before the number",
           [&options](const std::string& text) { options.stem = text; });
  all.each("late", "RANK:compute|host|copy:NS[:SHARE]: what holds a rank up, in a share of the steps (repeatable)",
           [&options](const std::string& text) { options.late.push_back(parse_late(text)); });
  all.each("clock-of", "RANK:OFFSET_NS[:DRIFT_PPM]: a clock that is ahead and gains (repeatable)",
           [&options](const std::string& text) { options.clocks.push_back(parse_clock(text)); });
  all.row("missing", boost::program_options::value<std::vector<int>>(), "RANK without a trace (repeatable)",
          [&options](const std::vector<int>& ranks) { options.missing = ranks; });
  all.each("shorten", "RANK=STEPS: its recording ends after so many (repeatable)",
           [&options](const std::string& text) { options.shorten.push_back(text); });
  return all;
}

void check(const JobOptions& options) {
  const auto within = [](int value, int most) { return value >= 1 && value <= most; };
  if (!within(options.ranks, 1024) || !within(options.steps, 100'000) || !within(options.layers, 1000)) {
    throw Error(ErrorCode::kUsage, "1 to 1024 ranks, 100000 steps and 1000 layers");
  }
  if (options.microbatches != 0 && !within(options.microbatches, 1000)) {
    throw Error(ErrorCode::kUsage, "at most 1000 microbatches");
  }
}

}  // namespace

void make_job_trace(int argc, char** argv) {
  JobOptions options;
  OptionTable all = describe(options);
  const std::string example =
      "\nexample:\n  make-trace job --ranks 8 --late 3:compute:400000:0.5 --clock-of 2:1500000 job\n";
  if (!all.parse(argc, argv, "make-trace job", "FOLDER", all.description() + example)) return;
  all.take();
  check(options);
  std::string folder = options.output.value();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);  // what cannot be made cannot be written either
  write_file(folder + ".truth.json", write_job(options, folder));
}

}  // namespace tracedb
