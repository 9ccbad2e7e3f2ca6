// Where the host was while a device ran nothing: on the thread that launched what ended the gap, the innermost frame of
// the user's or a framework's own python (trace/python_frame.h), the outermost operator, and the runtime call; as
// detail the innermost operator.
//
// Each of them adds up to the gap, together with the time in which nothing of the kind was open. Host and device
// times of a trace are on one clock. Work without a known launch is looked at on the busiest thread: the one that
// launched most for its device or, if there is none, most at all. Where nothing was recorded on a thread that launches
// what others put in a queue (Ascend's), it is the thread that fed it.
//
//   const LaunchThreads threads(index, events);
//   const HostActivities all(index, events, {{begin, end, threads.of(next), tally}, ...});
//   const HostPlace place = all.of(tally).place();  // "vllm/models/llama.py(374): forward", 260 of 261 ms
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "passes/columns/device_events.h"
#include "passes/columns/event_columns.h"
#include "passes/host/host_times.h"

namespace tracedb {

// By id of string: whether it names the operators or annotations in which the loader of PyTorch gives its next batch.
std::vector<bool> loader_names(const Index& index);

// Which thread launched a kernel or copy. The index and the columns must outlive the object.
class LaunchThreads {
 public:
  LaunchThreads(const Index& index, const EventTables& events);
  // 0: no thread of the trace launches anything.
  [[nodiscard]] std::uint32_t of(const EventRef& event) const;

 private:
  [[nodiscard]] std::uint32_t launcher(const EventRef& event) const;
  [[nodiscard]] std::uint32_t device(const EventRef& event) const;

  EventIds launch_of_, stream_of_;
  std::size_t kernels_, memory_ops_;
  std::span<const std::uint32_t> device_of_stream_;
  std::span<const std::uint32_t> thread_of_call_;
  std::size_t threads_;                 // in the table
  std::vector<std::uint32_t> busiest_;  // by device; element 0: of all
};

// What is looked at on a thread. kLoader: annotations by loader_names().
enum class HostLayer : std::uint8_t { kPython, kOperator, kCall, kInnermostOperator, kLoader };
inline constexpr std::size_t kHostLayers = 5;

// The place that says most about some gaps.
struct HostPlace {
  HostLayer layer = HostLayer::kPython;
  std::uint32_t place = kNoPlace;  // kNoPlace: nothing was recorded there
  std::int64_t time = 0;           // ns of the gaps at it
  std::int64_t started = 0;        // events of its layer that start there in the gaps: of python, calls it makes
  std::int64_t of = 0;             // ns, of the gaps
  [[nodiscard]] double share() const { return of > 0 ? static_cast<double>(time) / static_cast<double>(of) : 0; }
};

// What was done in the gaps of a tally, or of several. Valid as long as the object that it is asked of.
struct HostActivity {
  std::int64_t time = 0;  // ns, of the gaps; the times of a layer add up to it with what is in no place
  std::array<std::span<const PlaceTime>, kHostLayers> layers;  // each place once
  std::array<std::vector<PlaceTime>, kHostLayers> sums;        // of several tallies: what `layers` shows
  bool has_python = false;                                     // Python calls of their threads are recorded

  HostActivity() = default;
  HostActivity(HostActivity&&) = default;

  // The largest python place if python is open in at least half of the time, else the largest operator, else the data
  // loader, else the largest call; where none of them is open that long, the largest of all if it has a tenth of the
  // time.
  [[nodiscard]] HostPlace place() const;
  [[nodiscard]] PlaceTime largest(HostLayer layer) const;  // kNoPlace: none
  // That start in the gaps; none: of their threads none are recorded.
  [[nodiscard]] std::optional<std::int64_t> python_calls() const;
};

// The index and the columns must outlive the object. One thread at a time.
class HostActivities {
 public:
  HostActivities(const Index& index, const EventTables& events, std::vector<HostGap> gaps);

  [[nodiscard]] HostActivity of(std::size_t tally) const;
  [[nodiscard]] HostActivity sum(std::span<const std::uint32_t> tallies) const;  // each once
  // The frame, operator or call as the trace has it; "" for kNoPlace.
  [[nodiscard]] std::string_view text(HostLayer layer, std::uint32_t place) const;

 private:
  struct Layer {
    HostTimes times;
    std::unordered_map<std::uint32_t, std::string> texts;
  };
  struct Tally {
    std::int64_t time = 0;  // ns, of its gaps
    bool has_python = false;
  };
  void read_layers();
  void follow_queue();  // the gaps at no place are looked at on the threads that fed theirs
  void read_stalls();
  void keep(HostLayer layer, HostTimes times);

  const Index& index_;
  const EventTables& events_;
  std::vector<HostGap> gaps_;
  std::vector<std::uint32_t> place_of_stack_;  // by stack id: id of a frame
  std::array<Layer, kHostLayers> layers_;
  std::vector<Tally> tallies_;
  std::unordered_set<std::uint32_t> python_threads_;
};

}  // namespace tracedb
