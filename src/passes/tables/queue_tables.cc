// What waits in the queue of each stream over time, and how fast copies run over time. Linear but for sorting.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/unknown.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// Of a stream: when its work was launched, and when it started. What starts before its launch was called never waited.
struct StreamQueue {
  std::vector<std::int64_t> launched, started;
  std::int64_t not_launched = 0;  // work whose launch is not known, or begins behind it
};

std::map<std::uint32_t, StreamQueue> queues_of(Workload& workload) {
  std::map<std::uint32_t, StreamQueue> out;
  const auto call_ts = workload.events().calls.int64s("ts");
  for_each_selected(workload, [&](const DeviceEvent& event) {
    StreamQueue& queue = out[event.stream];
    if (event.launch == 0 || event.launch > call_ts.size() || call_ts[event.launch - 1] >= event.ts) {
      ++queue.not_launched;
      return;
    }
    queue.launched.push_back(call_ts[event.launch - 1]);
    queue.started.push_back(event.ts);
  });
  for (auto& [stream, queue] : out) {
    std::ranges::sort(queue.launched);
    std::ranges::sort(queue.started);
  }
  return out;
}

// Calls visit(ts, waiting from then on) at each launch and each start, of those at one time the starts first.
template <class Visit>
void for_each_point(const StreamQueue& queue, Visit visit) {
  std::size_t launched = 0, started = 0;
  while (started < queue.started.size()) {
    const bool starts = launched == queue.launched.size() || queue.started[started] <= queue.launched[launched];
    const std::int64_t ts = starts ? queue.started[started++] : queue.launched[launched++];
    visit(ts, static_cast<std::int64_t>(launched - started));
  }
}

void fill_queues(Workload& workload, const PassOptions& options, TableRows& rows) {
  for (const auto& [stream, queue] : queues_of(workload)) {
    std::map<std::int64_t, std::int64_t> points;  // by length
    double area = 0;                              // times ns
    std::int64_t first = 0, last = 0, length = 0, at_limit = 0;
    for_each_point(queue, [&](std::int64_t ts, std::int64_t waiting) {
      if (points.empty()) first = last = ts;
      area += static_cast<double>(length) * static_cast<double>(ts - last);
      if (length >= options.queue_limit) at_limit += ts - last;
      last = ts;
      length = waiting;
      ++points[waiting];
    });
    const auto count = static_cast<std::int64_t>(queue.started.size() * 2);
    std::optional<double> median;
    std::int64_t before = 0;
    for (auto point = points.begin(); point != points.end() && !median; ++point) {
      before += point->second;
      if (before * 2 < count) continue;
      // Of an even number, the mean of the two in the middle.
      const std::int64_t next = before * 2 == count ? std::next(point)->first : point->first;
      median = static_cast<double>(point->first + next) / 2;
    }
    rows.add(known_id(stream)).add(count);
    rows.add(last > first ? std::optional(area / static_cast<double>(last - first)) : std::nullopt).add(median);
    rows.add(points.empty() ? std::nullopt : std::optional(points.rbegin()->first)).add(at_limit).add(first).add(last);
    rows.add(queue.not_launched);
  }
}

void fill_points(Workload& workload, const PassOptions&, TableRows& rows) {
  for (const auto& [stream, queue] : queues_of(workload)) {
    for_each_point(queue, [&, id = known_id(stream)](std::int64_t ts, std::int64_t waiting) {
      rows.add(id).add(ts).add(waiting);
    });
  }
}

void fill_rates(Workload& workload, const PassOptions&, TableRows& rows) {
  const EventColumns& memory = workload.events().memory;
  const auto bytes = memory.int64s("bytes");
  const auto direction = memory.ids("direction");
  struct Change {
    double rate = 0;  // GB/s
    std::int64_t copies = 0;
  };
  std::map<std::uint32_t, std::map<std::int64_t, Change>> changes;  // by direction, then time
  for_each_selected(workload, [&](const DeviceEvent& event) {
    if (!event.ref.is_memory_op || event.work != Work::kCopy || event.end <= event.ts) return;
    const std::int64_t size = bytes[event.ref.id - 1];
    if (size <= 0) return;
    const double rate = static_cast<double>(size) / static_cast<double>(event.end - event.ts);
    auto& own = changes[direction[event.ref.id - 1]];
    own[event.ts].rate += rate;
    ++own[event.ts].copies;
    own[event.end].rate -= rate;
    --own[event.end].copies;
  });
  for (const auto& [place, own] : changes) {
    Change now;
    for (const auto& [ts, change] : own) {
      now.copies += change.copies;
      now.rate = now.copies == 0 ? 0 : now.rate + change.rate;  // exactly 0 where nothing runs
      rows.add(place == 0 ? std::nullopt : std::optional(copy_directions()[place - 1]))
          .add(ts)
          .add(now.rate)
          .add(now.copies);
    }
  }
}

}  // namespace

std::vector<PassTable> queue_tables() {
  return {declared_table("queues", fill_queues), declared_table("queue_points", fill_points),
          declared_table("copy_rates", fill_rates)};
}

}  // namespace tracedb
