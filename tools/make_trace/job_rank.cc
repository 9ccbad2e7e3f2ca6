#include "make_trace/job_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "make_trace/random.h"
#include "make_trace/trace_options.h"

namespace tracedb {
namespace {

constexpr std::int64_t kBase = 1'763'000'000'000'000'000;  // ns since the epoch: the start of the job
constexpr std::int64_t kLaunchCost = 4'000, kLaunchDelay = 6'000, kGap = 1'000, kStepCost = 30'000;
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
constexpr std::string_view kCollective = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::string_view kTransfer = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

}  // namespace

JobFile::JobFile(const JobOptions& options, const std::string& path, int rank) : out(path) {
  std::string devices, distributed;
  for (int device = rank < 0 ? 0 : rank; device < (rank < 0 ? options.ranks : rank + 1); ++device) {
    devices += fmt::format(
        "{}{{\"id\": {}, \"name\": \"NVIDIA H100 80GB HBM3\", \"computeMajor\": 9, \"computeMinor\": 0, "
        "\"numSms\": 132, \"warpSize\": 32}}",
        devices.empty() ? "" : ", ", device);
  }
  if (rank >= 0) {
    distributed = fmt::format("\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n",
                              rank, options.ranks);
  }
  out.text(
      fmt::format("{{\"schemaVersion\": 1, \"deviceProperties\": [{}],\n{}\"baseTimeNanoseconds\": 0, "
                  "\"traceEvents\": [\n",
                  devices, distributed));
}

void JobFile::close(const std::string& name) {
  out.text(fmt::format("\n], \"traceName\": \"{}\"}}\n", name));
  out.close();
}

JobRank::JobRank(const JobOptions& options, int number, int steps, std::shared_ptr<JobFile> file)
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

void JobRank::begin_step(int step) {
  step_ = step;
  step_start_ = host_;
  host_ += kStepCost;
}

void JobRank::compute(int part, bool is_held_up) {
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

std::int64_t JobRank::arrive() {
  launch_ = host_;
  host_ += kLaunchCost;
  arrived_ = std::max(free_ + kGap, launch_ + kLaunchDelay);
  return arrived_;
}

std::string JobRank::group_arguments() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < options_.ranks; ++rank) ranks.push_back(rank);
  return fmt::format(
      ", \"In msg nelems\": 1048576, \"Out msg nelems\": 1048576, \"Group size\": {}, \"dtype\": \"BFloat16\", "
      "\"Process Group Name\": \"0\", \"Process Group Ranks\": \"[{}]\"",
      options_.ranks, fmt::join(ranks, ", "));
}

void JobRank::end_collective(int part, std::int64_t last) {
  ++collectives_;
  const std::string arguments =
      options_.sequences ? fmt::format(", \"Collective name\": \"allreduce\"{}, \"Seq\": {}", group_arguments(),
                                       options_.first_step * options_.layers + collectives_)
                         : "";
  const std::int64_t noise = uniform(noise_of(part, kCollectiveEnd), options_.end_jitter_ns + 1);
  end_communication(kCollective, last + options_.transfer_ns + noise, arguments);
}

void JobRank::end_transfer(int part, std::int64_t last, int peer, bool sends) {
  ++transfers_;
  std::string arguments;
  if (options_.peers != PeersSaid::kNowhere) {
    arguments = fmt::format(", \"Collective name\": \"{}\"{}, \"Seq\": {}", sends ? "send" : "recv", group_arguments(),
                            transfers_);
  }
  if (options_.peers == PeersSaid::kArguments) {
    arguments += fmt::format(", \"{} Rank\": {}", sends ? "Dst" : "Src", peer);
  }
  if (options_.peers == PeersSaid::kAnnotations && written()) {
    annotate(fmt::format("nccl:{} {}{}{}", sends ? "send" : "recv", number_, sends ? "->" : "<-", peer), launch_,
             launch_ + kLaunchCost);
  }
  const std::int64_t noise = uniform(noise_of(part, sends ? kSendEnd : kReceiveEnd), options_.end_jitter_ns + 1);
  end_communication(kTransfer, last + options_.transfer_ns + noise, arguments);
}

void JobRank::synchronize() { host_ = std::max(host_, free_) + kGap; }

void JobRank::end_step() {
  host_ += kStepCost;
  if (written() && (!options_.one_process || number_ == 0)) {
    annotate(fmt::format("ProfilerStep#{}", step_), step_start_, host_);
  }
}

void JobRank::hold_up(const PlantedHoldup& late) {
  if (late.cause == Holdup::kCompute) longer_ = late.ns;
  if (late.cause == Holdup::kCopy)
    device("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", late.ns, "cudaMemcpyAsync", ", \"bytes\": 4194304");
  // The host waits until the device has run dry, and then for as long as planted.
  if (late.cause == Holdup::kHost) host_ = std::max(host_, free_) + late.ns;
}

// Evenly spread: step s is one where the share of steps so far passes a whole number.
bool JobRank::is_late(const PlantedHoldup& late) const {
  const std::int64_t s = step_ - options_.first_step;
  return (s + 1) * late.share_ppm / kMillion > s * late.share_ppm / kMillion;
}

std::uint64_t JobRank::noise_of(int part, std::size_t slot) const {
  return mix64(options_.seed, (static_cast<std::uint64_t>(number_) << 48U) +
                                  (static_cast<std::uint64_t>(step_) << 24U) +
                                  (static_cast<std::uint64_t>(part) << 8U) + slot);
}

std::int64_t JobRank::wall(std::int64_t at) const {
  return kBase + at + clock_.offset_ns + at / kMillion * clock_.drift_ppm + at % kMillion * clock_.drift_ppm / kMillion;
}

void JobRank::end_communication(std::string_view kernel, std::int64_t end, const std::string& arguments) {
  call("cudaLaunchKernelExC", launch_, kLaunchCost);
  event("kernel", kernel, arrived_, end - arrived_, arguments);
  free_ = end;
}

void JobRank::device(std::string_view name, std::string_view category, std::int64_t ns, std::string_view by,
                     std::string_view arguments) {
  call(by, host_, kLaunchCost);
  const std::int64_t start = std::max(free_ + kGap, host_ + kLaunchDelay);
  host_ += kLaunchCost;
  event(category, name, start, ns, arguments);
  free_ = start + ns;
}

void JobRank::begin_event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns) {
  TextOutput& out = file_->out;
  out.text(std::exchange(file_->any, true) ? ",\n" : "");
  out.text(fmt::format("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"ts\": ", category, name));
  const std::int64_t from = wall(start);
  out.thousandths(from);
  out.text(", \"dur\": ");
  out.thousandths(wall(start + ns) - from);
}

void JobRank::event(std::string_view category, std::string_view name, std::int64_t start, std::int64_t ns,
                    std::string_view arguments) {
  if (!written()) return;
  begin_event(category, name, start, ns);
  file_->out.text(
      fmt::format(", \"pid\": {}, \"tid\": 7, \"args\": {{\"device\": {}, \"stream\": 7, \"correlation\": {}{}}}}}",
                  number_, number_, correlation_, arguments));
}

void JobRank::call(std::string_view name, std::int64_t start, std::int64_t ns) {
  ++correlation_;
  if (!written()) return;
  begin_event("cuda_runtime", name, start, ns);
  file_->out.text(fmt::format(", \"pid\": {}, \"tid\": {}, \"args\": {{\"cbid\": 211, \"correlation\": {}}}}}",
                              process_, 1000 + number_, correlation_));
}

void JobRank::annotate(std::string_view name, std::int64_t start, std::int64_t end) {
  begin_event("user_annotation", name, start, end - start);
  file_->out.text(fmt::format(", \"pid\": {}, \"tid\": {}, \"args\": {{}}}}", process_, 1000 + number_));
}

}  // namespace tracedb
