// The device of a schedule: which stream a kernel runs on, when it starts and how long it takes.
#include <algorithm>

#include "make_trace/run/schedule.h"

namespace tracedb {
namespace {

constexpr std::int64_t kBranchDelay = 40 * kUs;

// A collective of its own runs beside the compute stream; fused with compute it is a compute kernel.
StreamRole stream_role(const Operation& operation) {
  if (operation.side) return StreamRole::kSide;
  return operation.kernel->op_class == "communication" ? StreamRole::kCommunication : StreamRole::kCompute;
}

}  // namespace

bool Schedule::takes_part(const Operation& operation) const {
  if (operation.presence == Presence::kWithPrefill) return step_->has_prefill();
  return operation.presence == Presence::kAlways || step_->has_decode();
}

DeviceEvent& Schedule::place(StreamRole role, std::int64_t ready, std::int64_t dur, std::int64_t gap) {
  const int stream = streams_[static_cast<std::size_t>(role)];
  const auto at = static_cast<std::size_t>(std::find(streams_.begin(), streams_.end(), stream) - streams_.begin());
  DeviceEvent event;
  event.ts = std::max(ready, free_[at] + gap);
  event.dur = dur;
  event.stream = stream;
  free_[at] = event.ts + dur;
  step_->device_events.push_back(event);
  return step_->device_events.back();
}

DeviceEvent& Schedule::place_kernel(const Operation& operation, int layer, std::int64_t ready, bool in_graph) {
  const auto place_key = static_cast<std::uint64_t>((step_->index * 4096 + layer + 8) * 4096 + operation.slot) +
                         (static_cast<std::uint64_t>(iteration_) << 52);
  const std::uint64_t noise = mix64(options_.seed, place_key);
  const std::int64_t gap = (in_graph ? 300 : 600) + uniform(noise >> 40, 400);
  const StreamRole role = stream_role(operation);
  const std::int64_t after = earliest_start(operation, layer, noise, gap);
  DeviceEvent& event = place(role, std::max(ready, after), duration(operation, noise) + wait_for_ranks(operation), gap);
  if (role == StreamRole::kCompute) fork_ = event.ts;
  // Beside the compute stream a collective lets compute go on when most of it is done.
  if (role == StreamRole::kCommunication && streams_[1] != streams_[0]) compute_gate_ = event.ts + event.dur * 7 / 10;
  event.operation = &operation;
  event.name = operation.kernel->name(options_.vendor, step_->has_prefill());
  event.correlation = step_->runtime_calls.back().correlation;
  event.grid = 1 + tokens_of(operation) * operation.kernel->fixed_ns / 4096;
  event.named = operation.kernel;
  event.pass = pass_;
  event.iteration = iteration_;
  event.layer = layer;
  event.in_graph = in_graph;
  std::int64_t& idle_end = step_->planted_idle.end;
  if (step_->planted_idle.begin > 0 && idle_end == 0) idle_end = event.ts;
  return event;
}

// A layer's branch on the side stream starts some time after the kernel that it forks from, and ends before the next
// layer begins.
std::int64_t Schedule::earliest_start(const Operation& operation, int layer, std::uint64_t noise, std::int64_t gap) {
  if (operation.side) {
    const bool forks = side_layer_ != layer;
    side_layer_ = layer;
    return forks ? fork_ + uniform(noise >> 24, kBranchDelay) : fork_;
  }
  if (side_layer_ != layer) {
    if (side_layer_ != kHead) compute_gate_ = std::max(compute_gate_, free_[3]);
    side_layer_ = kHead;
  }
  const bool beside = stream_role(operation) == StreamRole::kCommunication && streams_[1] != streams_[0];
  return beside ? free_[0] + gap : compute_gate_;
}

std::int64_t Schedule::tokens_of(const Operation& operation) const {
  if (operation.presence == Presence::kWithPrefill) return step_->context_tokens;
  if (operation.presence == Presence::kWithDecode) return step_->generation_tokens;
  return step_->context_tokens + step_->generation_tokens;
}

std::int64_t Schedule::duration(const Operation& operation, std::uint64_t noise) const {
  std::int64_t nanoseconds = operation.kernel->fixed_ns + operation.kernel->per_token_ps * tokens_of(operation) / 1000;
  if (options_.vendor == Vendor::kNvidia) nanoseconds = nanoseconds * 7 / 8;
  nanoseconds = nanoseconds * operation.factor_ppm / kMillion;
  const std::int64_t jitter = uniform(noise & 0xffffffffULL, 2 * options_.jitter_ppm + 1) - options_.jitter_ppm;
  return std::max<std::int64_t>(1, nanoseconds * (kMillion + jitter) / kMillion);
}

std::int64_t Schedule::wait_for_ranks(const Operation& operation) {
  if (operation.kernel->op_class != "communication" || waited_in_ == step_->index) return 0;
  waited_in_ = step_->index;
  return options_.collective_wait_ns;
}

std::int64_t Schedule::drained() const { return *std::max_element(free_.begin(), free_.end()); }

}  // namespace tracedb
