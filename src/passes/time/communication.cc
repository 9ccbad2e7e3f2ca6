#include "passes/time/communication.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/characters.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "sql/database.h"

namespace tracedb {
namespace {

// Part of a kernel during which nothing that started earlier communicates. Those of a lane are disjoint and in order.
struct HiddenPart {
  std::int64_t begin, end;
  GroupId group;
  std::int64_t hidden = 0;  // under computation
};

struct Lane {
  std::vector<HiddenPart> parts;
  std::int64_t comm_until = 0;
  std::int64_t compute_until = 0;
  std::size_t next = 0;  // first part that may still be computed under

  void add_comm(const DeviceEvent& event, GroupId group) {
    if (event.end <= comm_until) return;
    parts.push_back({std::max(event.ts, comm_until), event.end, group});
    comm_until = event.end;
  }

  void add_compute(const DeviceEvent& event) {
    if (event.end <= compute_until) return;
    const std::int64_t begin = std::max(event.ts, compute_until);
    compute_until = event.end;
    while (next < parts.size() && parts[next].end <= begin) ++next;
    for (std::size_t i = next; i < parts.size() && parts[i].begin < event.end; ++i) {
      parts[i].hidden += std::min(parts[i].end, event.end) - std::max(parts[i].begin, begin);
    }
  }
};

// By type, as PyTorch, then XLA, then HCCL call it, where the one before does not call it so.
constexpr std::pair<std::string_view, std::int64_t> kSizes[] = {
    {"bool", 1},   {"byte", 1},    {"char", 1},     {"uint8", 1},       {"int8", 1},         {"short", 2},
    {"half", 2},   {"float16", 2}, {"bfloat16", 2}, {"int16", 2},       {"uint16", 2},       {"int", 4},
    {"int32", 4},  {"uint32", 4},  {"float", 4},    {"float32", 4},     {"long", 8},         {"int64", 8},
    {"uint64", 8}, {"double", 8},  {"float64", 8},  {"complexhalf", 4}, {"complexfloat", 8}, {"complexdouble", 16},
    {"pred", 1},   {"s8", 1},      {"u8", 1},       {"s16", 2},         {"u16", 2},          {"f16", 2},
    {"bf16", 2},   {"s32", 4},     {"u32", 4},      {"f32", 4},         {"s64", 8},          {"u64", 8},
    {"f64", 8},    {"c64", 8},     {"c128", 16},    {"fp16", 2},        {"bfp16", 2},        {"fp32", 4},
    {"fp64", 8},   {"int128", 16}, {"hif8", 1}};

enum class Factor { kTwice, kOnce, kNone };
// In the order they are tried: the first word found decides.
constexpr std::pair<std::string_view, Factor> kFactors[] = {
    {"allreduce", Factor::kTwice}, {"allgather", Factor::kOnce}, {"reducescatter", Factor::kOnce},
    {"alltoall", Factor::kOnce},   {"gather", Factor::kOnce},    {"scatter", Factor::kOnce},
    {"broadcast", Factor::kNone},  {"reduce", Factor::kNone},    {"send", Factor::kNone},
    {"recv", Factor::kNone},
};

}  // namespace

std::vector<ExposedTime> exposed_time(const DeviceWork& work, std::span<const GroupId> group_of_kernel,
                                      std::size_t groups) {
  std::vector<Lane> lanes(work.lanes);
  for (std::size_t row = 0; row < work.kernels.ts.size(); ++row) {
    if (group_of_kernel[row] == kNoGroup) continue;
    const DeviceEvent event = event_at(work, work.kernels, row, false);
    if (!event.in_flight) lanes[event.lane].add_comm(event, group_of_kernel[row]);
  }
  for_each_in_order(work, [&](const DeviceEvent& event) {
    if (event.work == Work::kCompute) lanes[event.lane].add_compute(event);
  });
  std::vector<ExposedTime> out(groups);
  for (const Lane& lane : lanes) {
    for (const HiddenPart& part : lane.parts) {
      ExposedTime& own = out[part.group];
      own.busy = saturating_add(own.busy, part.end - part.begin);
      own.exposed = saturating_add(own.exposed, part.end - part.begin - part.hidden);
    }
  }
  return out;
}

std::optional<std::int64_t> element_size(std::string_view dtype) {
  std::string name = ascii_lower(dtype);
  if (name.starts_with("c10::")) name.erase(0, 5);
  if (name.starts_with("float8_") || name.starts_with("f8e") || name.starts_with("fp8e")) return 1;
  const auto* const found = std::ranges::find(kSizes, name, [](const auto& known) { return known.first; });
  return found == std::end(kSizes) ? std::nullopt : std::optional(found->second);
}

std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks) {
  if (ranks < 1) return std::nullopt;
  std::string name = ascii_lower(collective);
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  for (const auto& [word, factor] : kFactors) {
    if (name.find(word) == std::string::npos) continue;
    return factor == Factor::kTwice ? 2 * share : (factor == Factor::kOnce ? share : 1);
  }
  return std::nullopt;
}

TaskWaits task_waits(const Index& index, std::int64_t from, std::int64_t to) {
  Statement tasks(index.database(),
                  "SELECT s.ts, s.ts + ifnull(s.dur, 0), n.value GLOB 'Notify?Wait', n.value GLOB 'Notify*' FROM slice "
                  "s JOIN string n ON n.id = s.name_id WHERE s.thread_id IN (SELECT id FROM thread WHERE name GLOB "
                  "'Plane *') ORDER BY s.ts");
  TimeCover moving, moving_or_waiting;
  bool any = false;
  while (tasks.step()) {
    any = true;
    const std::int64_t begin = tasks.int64(0), end = tasks.int64(1);
    if (tasks.int64(3) == 0) moving.add(begin, end);
    if (tasks.int64(3) == 0 || tasks.int64(2) != 0) moving_or_waiting.add(begin, end);
  }
  TaskWaits out;
  if (!any) return out;
  Statement collectives(index.database(),
                        "SELECT k.ts, k.ts + k.dur FROM kernel k JOIN collective c ON c.kernel_id = k.id WHERE k.dur > "
                        "0 AND k.ts >= ? AND k.ts < ?",
                        from, to);
  while (collectives.step()) {
    const std::int64_t begin = collectives.int64(0), end = collectives.int64(1);
    const std::int64_t all = moving_or_waiting.covered(begin, end);
    if (all == 0) continue;
    out.time += end - begin;
    out.waiting += all - moving.covered(begin, end);
  }
  return out;
}

}  // namespace tracedb
