// Where the events of a trace are drawn: numbers of processes and threads, which no two tracks of a file share, also
// where two traces are in it. A number that the trace has is kept where it can be.
//
// Viewers drop what overlaps its neighbour on a track without lying inside it, as kernels of one stream may do: those
// get a second track, "stream 7 (2)".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "export/trace_events.h"
#include "index/index.h"

namespace tracedb {

// Numbers that no two things share.
class UniqueNumbers {
 public:
  // One that a trace has is kept where it is free, not below `least`, and below `made_up`: the first of the others.
  explicit UniqueNumbers(std::int64_t least = 0, std::int64_t made_up = 2'000'000'000)
      : least_(least), made_up_(made_up), next_(made_up) {}
  std::int64_t take(std::optional<std::int64_t> wanted) {
    const bool is_kept = wanted && *wanted >= least_ && *wanted < made_up_ && taken_.insert(*wanted).second;
    return is_kept ? *wanted : next_++;
  }

 private:
  std::int64_t least_, made_up_, next_;
  std::unordered_set<std::int64_t> taken_;
};

class TrackNumbers {
 public:
  std::int64_t process(std::optional<std::int64_t> wanted) { return processes_.take(wanted); }
  std::int64_t thread(std::int64_t process, std::optional<std::int64_t> wanted) {
    return threads_[process].take(wanted);
  }

 private:
  UniqueNumbers processes_;
  std::map<std::int64_t, UniqueNumbers> threads_;
};

// How the tracks of one of the traces of a file are told from the others'.
struct TrackPrefix {
  std::string text;       // "A: "; "" where there is one trace
  std::int64_t side = 0;  // 0 or 1
};

// Marks that are drawn above the streams of a device.
enum class MarkTrack : std::uint8_t { kSteps, kAnnotations, kLayers, kRoles, kIdle, kPath };

// The index and the numbers must outlive the object.
class TraceTracks {
 public:
  TraceTracks(const Index& index, TrackNumbers& numbers, TrackPrefix prefix);
  TraceTracks& operator=(TraceTracks&&) = delete;

  EventTrack thread(std::uint32_t thread_id);
  EventTrack process(std::uint32_t process_id) { return {host_process(process_id), 0}; }
  EventTrack stream(std::uint32_t stream_id);  // its first track
  // A track on which nothing overlaps; to be asked in order of `ts`.
  EventTrack stream(std::uint32_t stream_id, std::int64_t ts, std::int64_t end);
  EventTrack mark(std::uint32_t device_id, MarkTrack track, std::int64_t ts, std::int64_t end);

  [[nodiscard]] std::uint32_t device_of(std::uint32_t stream_id) const;
  // "device" and "stream" as trace-ingest reads them, into the arguments of an event of the stream.
  void add_place(std::uint32_t stream_id, JsonWriter& args) const;

  // Names and order of all tracks that were asked for.
  void write_names(TraceEventWriter& events) const;

 private:
  // Tracks of one name: the first one free takes an event.
  struct Lanes {
    std::int64_t process = 0;
    std::string name;
    std::int64_t sort_index = 0;
    std::optional<std::int64_t> wanted;  // number of the first
    std::vector<std::int64_t> threads, ends;
  };
  struct Device {
    std::optional<std::int64_t> ordinal;
    std::string name;
    std::int64_t place = 0;  // among the devices
    std::optional<std::int64_t> process, marks;
  };
  struct Stream {
    std::uint32_t device = 0;
    std::optional<std::int64_t> number;
    std::string text;  // as the trace has it, whether it is a number or not
    std::optional<Lanes> lanes;
  };
  struct Host {
    std::optional<std::int64_t> pid;
    std::string name;
    bool calls = false;  // has runtime calls: is no picture of a device
    std::optional<std::int64_t> process;
    bool is_device = false;
  };
  struct Thread {
    std::uint32_t process = 0;
    std::optional<std::int64_t> tid, sort_index;
    std::string name;
    std::optional<EventTrack> track;
  };

  void read_devices(const Index& index);
  void read_hosts(const Index& index);
  std::int64_t device_process(std::uint32_t device_id);
  std::int64_t host_process(std::uint32_t process_id);
  Device* device_with(std::int64_t ordinal);
  Lanes& lanes_of(std::uint32_t stream_id);
  EventTrack place(Lanes& lanes, std::int64_t ts, std::int64_t end);
  void write_process(TraceEventWriter& events, std::int64_t process, const std::string& name, std::int64_t sort) const;
  void write_devices(TraceEventWriter& events) const;
  void write_threads(TraceEventWriter& events) const;
  void write_lanes(TraceEventWriter& events, const Lanes& lanes) const;

  TrackNumbers& numbers_;
  TrackPrefix prefix_;
  std::vector<Device> devices_;  // by id, as all
  std::vector<Stream> streams_;
  std::vector<Host> hosts_;
  std::vector<Thread> threads_;
  std::map<std::pair<std::uint32_t, MarkTrack>, Lanes> marks_;
};

}  // namespace tracedb
