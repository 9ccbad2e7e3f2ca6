#include "export/tracks.h"

#include <fmt/format.h>

#include <utility>

#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

constexpr std::int64_t kHosts = 1'000'000;  // hosts come behind the devices
constexpr std::int64_t kLanesOfTrack = 1'000;

constexpr std::string_view kMarkNames[] = {"steps", "annotations", "layers", "roles", "idle causes", "critical path"};

}  // namespace

TraceTracks::TraceTracks(const Index& index, TrackNumbers& numbers, TrackPrefix prefix)
    : numbers_(numbers), prefix_(std::move(prefix)) {
  read_devices(index);
  read_hosts(index);
}

void TraceTracks::read_devices(const Index& index) {
  std::int64_t place = 0;
  devices_ = by_id<Device>(index, "SELECT id, ordinal, name FROM device ORDER BY used = 0, ordinal, id",
                           [&](const Statement& row) {
                             return Device{row.integer(1), std::string(row.text(2)), place++, {}, {}};
                           });
  streams_ = by_id<Stream>(index, "SELECT id, device_id, number FROM stream", [](const Statement& row) {
    return Stream{row.id(1), row.integer(2), std::string(row.text(2)), {}};
  });
  // Devices keep their numbers, whatever the processes are called.
  for (std::size_t id = 1; id < streams_.size(); ++id) device_process(streams_[id].device);
}

void TraceTracks::read_hosts(const Index& index) {
  hosts_ = by_id<Host>(index, "SELECT id, pid, coalesce(nullif(name, ''), pid) FROM process", [](const Statement& row) {
    return Host{row.integer(1), std::string(row.text(2)), false, {}, false};
  });
  threads_ = by_id<Thread>(index, "SELECT id, process_id, tid, coalesce(nullif(name, ''), tid), sort_index FROM thread",
                           [&](const Statement& row) {
                             for_id(hosts_, row.id(1));
                             return Thread{row.id(1), row.integer(2), row.integer(4), std::string(row.text(3)), {}};
                           });
  const EventColumns calls(index, "runtime_call");
  std::uint32_t last = 0;  // most calls are of the thread of the call before
  for (const std::uint32_t thread : calls.ids("thread_id")) {
    if (std::exchange(last, thread) == thread || thread >= threads_.size()) continue;
    hosts_[threads_[thread].process].calls = true;
  }
}

std::int64_t TraceTracks::device_process(std::uint32_t device_id) {
  Device& device = for_id(devices_, device_id);
  if (!device.process) device.process = numbers_.process(device.ordinal);
  return *device.process;
}

TraceTracks::Device* TraceTracks::device_with(std::int64_t ordinal) {
  for (Device& device : devices_) {
    if (device.process && device.ordinal == ordinal) return &device;
  }
  return nullptr;
}

// Kineto gives the process of a device its number.
std::int64_t TraceTracks::host_process(std::uint32_t process_id) {
  Host& host = for_id(hosts_, process_id);
  if (host.process) return *host.process;
  const Device* device = host.calls || !host.pid ? nullptr : device_with(*host.pid);
  host.is_device = device != nullptr;
  host.process = device != nullptr ? *device->process : numbers_.process(host.pid);
  return *host.process;
}

EventTrack TraceTracks::thread(std::uint32_t thread_id) {
  const std::uint32_t process_id = for_id(threads_, thread_id).process;
  const std::int64_t process = host_process(process_id);
  Thread& thread = threads_[thread_id];
  if (!thread.track) thread.track = EventTrack{process, numbers_.thread(process, thread.tid)};
  return *thread.track;
}

std::uint32_t TraceTracks::device_of(std::uint32_t stream_id) const {
  return stream_id < streams_.size() ? streams_[stream_id].device : 0;
}

TraceTracks::Lanes& TraceTracks::lanes_of(std::uint32_t stream_id) {
  Stream& stream = for_id(streams_, stream_id);
  const std::int64_t process = device_process(stream.device);
  if (!stream.lanes) {
    const std::string name = stream.text.empty() ? "stream" : "stream " + stream.text;
    stream.lanes = Lanes{process, name, stream.number.value_or(stream_id), stream.number, {}, {}};
  }
  return *stream.lanes;
}

EventTrack TraceTracks::place(Lanes& lanes, std::int64_t ts, std::int64_t end) {
  std::size_t lane = 0;
  while (lane < lanes.ends.size() && lanes.ends[lane] > ts) ++lane;
  if (lane == lanes.ends.size()) {
    lanes.threads.push_back(numbers_.thread(lanes.process, lane == 0 ? lanes.wanted : std::nullopt));
    lanes.ends.push_back(end);
  }
  lanes.ends[lane] = end;
  return {lanes.process, lanes.threads[lane]};
}

EventTrack TraceTracks::stream(std::uint32_t stream_id) {
  Lanes& lanes = lanes_of(stream_id);
  if (!lanes.threads.empty()) return {lanes.process, lanes.threads.front()};
  return place(lanes, 0, 0);
}

EventTrack TraceTracks::stream(std::uint32_t stream_id, std::int64_t ts, std::int64_t end) {
  return place(lanes_of(stream_id), ts, end);
}

EventTrack TraceTracks::mark(std::uint32_t device_id, MarkTrack track, std::int64_t ts, std::int64_t end) {
  Device& device = for_id(devices_, device_id);
  if (!device.marks) device.marks = numbers_.process(std::nullopt);
  const auto number = static_cast<std::size_t>(track);
  const auto [entry, is_new] = marks_.try_emplace({device_id, track});
  if (is_new) {
    entry->second.process = *device.marks;
    entry->second.name = kMarkNames[number];
    entry->second.sort_index = static_cast<std::int64_t>(number);
    entry->second.wanted = static_cast<std::int64_t>(number) + 1;
  }
  return place(entry->second, ts, end);
}

void TraceTracks::add_place(std::uint32_t stream_id, JsonWriter& args) const {
  if (stream_id >= streams_.size()) return;
  const Stream& stream = streams_[stream_id];
  if (const auto ordinal = devices_[stream.device].ordinal) args.member("device", *ordinal);
  if (stream.number) {
    args.member("stream", *stream.number);
  } else if (!stream.text.empty()) {
    args.member("stream", stream.text);
  }
}

void TraceTracks::write_process(TraceEventWriter& events, std::int64_t process, const std::string& name,
                                std::int64_t sort) const {
  const EventTrack track{process, 0};
  events.metadata("process_name", track, JsonWriter().member("name", prefix_.text + name));
  events.metadata("process_sort_index", track, JsonWriter().member("sort_index", sort));
}

void TraceTracks::write_lanes(TraceEventWriter& events, const Lanes& lanes) const {
  for (std::size_t i = 0; i < lanes.threads.size(); ++i) {
    const EventTrack track{lanes.process, lanes.threads[i]};
    const std::string name = i == 0 ? lanes.name : fmt::format("{} ({})", lanes.name, i + 1);
    const auto lane = static_cast<std::int64_t>(i);
    events.metadata("thread_name", track, JsonWriter().member("name", name));
    events.metadata("thread_sort_index", track,
                    JsonWriter().member("sort_index", lanes.sort_index * kLanesOfTrack + lane));
  }
}

void TraceTracks::write_devices(TraceEventWriter& events) const {
  for (const Device& device : devices_) {
    const std::string number = device.ordinal ? fmt::format("device {}", *device.ordinal) : "device";
    const std::string name = fmt::format("{}{}{}", number, device.name.empty() ? "" : ": ", device.name);
    const std::int64_t sort = device.place * 4 + prefix_.side * 2;
    if (device.marks) write_process(events, *device.marks, fmt::format("{}: steps, layers, roles, idle", number), sort);
    if (device.process) write_process(events, *device.process, name, sort + 1);
  }
}

void TraceTracks::write_threads(TraceEventWriter& events) const {
  for (const Thread& thread : threads_) {
    if (!thread.track) continue;
    if (!thread.name.empty()) events.metadata("thread_name", *thread.track, JsonWriter().member("name", thread.name));
    if (const auto sort = thread.sort_index ? thread.sort_index : thread.tid)
      events.metadata("thread_sort_index", *thread.track, JsonWriter().member("sort_index", *sort));
  }
}

void TraceTracks::write_names(TraceEventWriter& events) const {
  write_devices(events);
  for (const Stream& stream : streams_) {
    if (stream.lanes) write_lanes(events, *stream.lanes);
  }
  for (const auto& [key, lanes] : marks_) write_lanes(events, lanes);
  for (std::size_t id = 0; id < hosts_.size(); ++id) {
    const Host& host = hosts_[id];
    if (!host.process || host.is_device) continue;
    write_process(events, *host.process, host.name, kHosts * (prefix_.side + 1) + static_cast<std::int64_t>(id));
  }
  write_threads(events);
}

}  // namespace tracedb
