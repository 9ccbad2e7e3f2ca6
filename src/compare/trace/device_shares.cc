#include "compare/trace/device_shares.h"

#include <algorithm>
#include <set>

#include "base/unknown.h"
#include "compare/trace/device_steps.h"

namespace tracedb {
namespace {

constexpr double kHardly = 0.05;    // of the kernel time of the busiest device: less is no part in the work
constexpr double kTakeTurns = 0.8;  // of the time that a step takes on any: less, in the mean, may be work in turns
constexpr double kAtOnce = 0.2;     // of the spans but the longest: more beside others is no work in turns

bool hardly_works(const DeviceUse& use, std::int64_t device) {
  std::int64_t most = 0;
  for (const auto& [number, time] : use.time) most = std::max(most, time);
  const auto own = use.time.find(device);
  return own == use.time.end() || static_cast<double>(own->second) < kHardly * static_cast<double>(most);
}

struct Step {
  Extent whole{INT64_MAX, 0};
  std::int64_t longest = 0, parts = 0;
};

// Not where a step begins before another one ends: what is in the one and what in the other cannot be divided then.
bool take_turns(const std::map<std::uint32_t, Step>& steps, double own) {
  double all = 0, once = 0, longest = 0;
  std::vector<Extent> wholes;
  for (const auto& [number, step] : steps) {
    const auto whole = static_cast<double>(step.whole.length());
    all += whole * static_cast<double>(step.parts);
    once += whole;
    longest += static_cast<double>(step.longest);
    wholes.push_back(step.whole);
  }
  std::ranges::sort(wholes, {}, &Extent::begin);
  const auto overlap = [](const Extent& a, const Extent& b) { return b.begin < a.end; };
  return own < kTakeTurns * all && own - once <= kAtOnce * (own - longest) &&
         std::ranges::adjacent_find(wholes, overlap) == wholes.end();
}

enum class Turns : std::uint8_t { kOneDevice, kNo, kYes };

Turns turns_of(const DeviceUse& use, const std::vector<std::int64_t>& idle) {
  std::map<std::uint32_t, Step> steps;
  std::set<std::int64_t> devices;
  double own = 0;
  for (const DeviceUse::Part& part : use.parts) {
    if (std::ranges::find(idle, part.device) != idle.end()) continue;
    Step& step = steps[part.step];
    step.whole = {std::min(step.whole.begin, part.time.begin), std::max(step.whole.end, part.time.end)};
    step.longest = std::max(step.longest, part.time.length());
    ++step.parts;
    own += static_cast<double>(part.time.length());
    devices.insert(part.device);
  }
  if (devices.size() < 2) return Turns::kOneDevice;
  return take_turns(steps, own) ? Turns::kYes : Turns::kNo;
}

}  // namespace

DeviceUse device_use(const EventTables& events, const StepSet& steps, std::span<const std::uint32_t> kernel_rows) {
  const DenseDevices dense(events.device_of_stream);
  const std::vector<std::int64_t> numbers = device_numbers(events);
  DeviceUse out;
  if (dense.count < 2 || std::set(numbers.begin(), numbers.end()).size() < numbers.size()) {
    for (const std::int64_t number : numbers) out.time[number] = 1;
    return out;
  }
  const auto ts = events.kernels.int64s("ts"), dur = events.kernels.int64s("dur");
  const auto stream = events.kernels.ids("stream_id");
  for (const std::uint32_t row : kernel_rows) {
    const std::int64_t device = numbers[dense.of(stream[row])], begin = std::max<std::int64_t>(ts[row], 0);
    const std::int64_t length = duration_or_zero(dur[row]), end = saturating_add(begin, length);
    std::int64_t& time = out.time[device];
    time = saturating_add(time, length);
    const std::uint32_t step = steps.of_kernel[row];
    if (step == 0 && !steps.steps.empty()) continue;
    if (out.parts.empty() || out.parts.back().step != step || out.parts.back().device != device)
      out.parts.push_back({step, device, {begin, end}});
    out.parts.back().time.end = std::max(out.parts.back().time.end, end);
  }
  return out;
}

DeviceShares device_shares(std::span<const DeviceUse> traces) {
  DeviceShares out;
  std::set<std::int64_t> devices;
  for (const DeviceUse& use : traces) {
    for (const auto& [number, time] : use.time) devices.insert(number);
  }
  for (const std::int64_t device : devices) {
    if (std::ranges::all_of(traces, [&](const DeviceUse& use) { return hardly_works(use, device); }))
      out.idle.push_back(device);
  }
  std::size_t yes = 0, no = 0;
  for (const DeviceUse& use : traces) {
    const Turns turns = turns_of(use, out.idle);
    yes += turns == Turns::kYes ? 1 : 0;
    no += turns == Turns::kNo ? 1 : 0;
  }
  out.in_turns = yes > 0 && no == 0;
  return out;
}

}  // namespace tracedb
