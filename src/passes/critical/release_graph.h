// What let each piece of device work start, and what each synchronising call waited for, as far as the trace tells:
// schema/METRICS.md 17 has the rules. Times are ns on the clock of the trace; an unknown duration counts as none.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/time_cover.h"
#include "passes/critical/host_events.h"
#include "passes/select/device_columns.h"

namespace tracedb {

inline constexpr std::uint32_t kNoActivity = 0xffffffff;

// A kernel, copy or fill.
struct Activity {
  std::int64_t ts = 0, end = 0;
  EventRef ref;
  std::uint32_t stream = 0, device = 0;
  std::uint32_t call = 0;              // that launched it, id in runtime_call; 0: none is known
  std::uint32_t before = kNoActivity;  // on its stream
  Work work = Work::kCompute;
  bool queued = false;  // in its stream, behind what was there when its call began: that call returns when it is done
};

enum class ReleaseKind : std::uint8_t {
  kLaunch,    // the end of its launch, or its own start where that is earlier; the begin of the launch if it is queued
  kStream,    // the end of the activity before it on its stream
  kEvent,     // the end of an activity that its stream was told to wait for
  kInferred,  // the end of one on another stream, shortly before it: nothing recorded explains its start
};
inline constexpr std::size_t kReleaseKinds = 4;

struct Release {
  ReleaseKind kind = ReleaseKind::kLaunch;
  std::uint32_t activity = kNoActivity;  // of all but kLaunch
  std::int64_t at = 0;                   // not behind the start of what it releases
};

// A call of which the name or the trace says that it may wait for the device.
struct SynchronisingCall {
  std::int64_t ts = 0, end = 0;
  std::uint32_t call = 0, thread = 0;
  std::uint32_t source =
      kNoActivity;           // that ended inside the call, the last that it waited for; kNoActivity: it did not wait
  bool is_inferred = false;  // by its name: not recorded
  bool may_have_waited = false;        // without a source: something ended in it, of which that is not known
  std::vector<std::uint32_t> awaited;  // activities that it must outlast, source among them
};

class ReleaseGraph {
 public:
  // `late`: ns behind all recorded releases from which on another one is inferred. Reads what it needs; all that is
  // given must outlive the object.
  ReleaseGraph(const Index& index, const EventTables& events, std::int64_t late);

  [[nodiscard]] std::span<const Activity> activities() const { return activities_; }  // in order of ts
  [[nodiscard]] std::span<const SynchronisingCall> calls() const { return calls_; }   // in order of end
  [[nodiscard]] std::int64_t call_ts(std::uint32_t call) const { return call_ts_[call - 1]; }
  [[nodiscard]] std::int64_t call_end(std::uint32_t call) const {
    return saturating_add(call_ts(call), duration_or_zero(call_dur_[call - 1]));
  }
  [[nodiscard]] std::uint32_t thread_of(std::uint32_t call) const { return call_thread_[call - 1]; }
  [[nodiscard]] std::uint32_t process_of(std::uint32_t thread) const {
    return thread < process_of_thread_.size() ? process_of_thread_[thread] : 0;
  }
  [[nodiscard]] std::size_t threads() const { return process_of_thread_.size(); }
  // By the numbers of their processes, their own and their names: the same in any order of the file.
  [[nodiscard]] std::span<const std::uint32_t> named_threads() const { return named_threads_; }
  // Of what has a call: until when the host holds it up.
  [[nodiscard]] std::int64_t launched_at(const Activity& one) const {
    return std::min(one.queued ? call_ts(one.call) : call_end(one.call), one.ts);
  }
  // When anything was open on a host thread; annotations and Python calls not while it waits for the backward pass.
  [[nodiscard]] const TimeCover& open_on(std::uint32_t thread) const { return open_[thread]; }
  // When a call or an operator was. Python calls of a thread that sleeps are open until the recording ends.
  [[nodiscard]] const TimeCover& worked_on(std::uint32_t thread) const { return worked_[thread]; }

  // Calls visit(Release) for all that had to be there before the activity could start.
  template <class Visit>
  void for_each_release(std::uint32_t activity, Visit visit) const {
    const Activity& one = activities_[activity];
    if (one.call != 0) visit(Release{ReleaseKind::kLaunch, kNoActivity, launched_at(one)});
    if (one.before != kNoActivity)
      visit(Release{ReleaseKind::kStream, one.before, std::min(activities_[one.before].end, one.ts)});
    visit_waits(event_waits_, ReleaseKind::kEvent, activity, visit);
    visit_waits(inferred_, ReleaseKind::kInferred, activity, visit);
  }
  // The last of them, which let it start; nullopt: none is known.
  [[nodiscard]] std::optional<Release> binding(std::uint32_t activity) const;
  // Whether it started that much later that something unknown must have held it up.
  [[nodiscard]] bool is_late(const Activity& activity, const Release& binding) const {
    return activity.ts - binding.at > late_;
  }

 private:
  using Wait = std::pair<std::uint32_t, std::uint32_t>;  // an activity, and the one it had to wait for
  // A recorded wait of a stream: from its call to the next launch there the stream itself waits.
  struct StreamWait {
    std::uint32_t stream = 0;
    std::int64_t ts = 0, until = 0;
    std::uint32_t source = kNoActivity;  // kNoActivity: it is not known
    friend auto operator<=>(const StreamWait&, const StreamWait&) = default;
  };
  // What a call waits for.
  struct Awaited {
    std::vector<std::uint32_t> all;
    bool is_known = false;  // all of it, but for work whose launch is not recorded
    bool is_inferred = false;
    std::optional<std::vector<std::uint32_t>> streams;  // of which it may be; nullopt: of any
  };
  struct Recorded;
  class CallsByCorrelation;

  template <class Visit>
  void visit_waits(const std::vector<Wait>& waits, ReleaseKind kind, std::uint32_t activity, Visit& visit) const {
    for (auto wait = std::lower_bound(waits.begin(), waits.end(), Wait{activity, 0});
         wait != waits.end() && wait->first == activity; ++wait) {
      // What overlaps did not wait.
      if (activities_[wait->second].end <= activities_[activity].ts)
        visit(Release{kind, wait->second, activities_[wait->second].end});
    }
  }
  void read_activities();
  void read_threads();
  [[nodiscard]] std::map<std::uint32_t, std::set<std::uint32_t>> backward_threads() const;
  void add_waits(std::uint32_t thread, std::uint32_t engine, std::vector<Extent>& out) const;
  void order_streams();
  std::uint32_t last_elsewhere(const Activity& one, std::int64_t known, std::span<const std::uint32_t> streams,
                               std::span<const std::uint32_t> last) const;
  void infer_releases();
  [[nodiscard]] bool ends_in_its_call(const Activity& copy) const;
  std::vector<Recorded> read_recorded();
  void add_recorded(const std::vector<Recorded>& recorded);
  void add_calls(const std::vector<Recorded>& recorded);
  void add_copies();
  [[nodiscard]] std::uint32_t last_launched(std::uint32_t stream, std::uint32_t before_call,
                                            std::uint32_t process) const;
  [[nodiscard]] std::uint32_t last_ended_inside(
      std::uint32_t call, const std::function<bool(const Activity&)>& may = [](const Activity&) { return true; }) const;
  [[nodiscard]] std::vector<std::uint32_t> launched_before(std::uint32_t call, std::uint32_t device) const;
  void await_stream(std::uint32_t call, std::uint32_t stream, Awaited& out) const;
  void await_event(std::uint32_t call, const Recorded& record, Awaited& out) const;
  [[nodiscard]] Awaited awaited_by(std::uint32_t call, const Recorded* record, bool all) const;
  void add_call(std::uint32_t id, bool is_inferred, const std::vector<std::uint32_t>& awaited);

  const Index& index_;
  const EventTables& events_;
  std::int64_t late_;
  std::span<const std::int64_t> call_ts_, call_dur_;
  std::span<const std::uint32_t> call_thread_, call_kind_;
  LargeVector<Activity> activities_;
  std::vector<std::vector<std::uint32_t>> of_stream_;    // by stream: activities in order of ts
  std::vector<std::vector<std::uint32_t>> launched_on_;  // the same in order of their launch, if that is known
  std::vector<std::uint32_t> device_of_stream_;
  std::vector<Wait> event_waits_, inferred_;  // sorted
  std::vector<StreamWait> stream_waits_;      // sorted
  std::vector<SynchronisingCall> calls_;
  std::vector<std::uint32_t> process_of_thread_;  // by thread
  std::vector<std::uint32_t> named_threads_;
  std::vector<TimeCover> open_, worked_;  // by thread
};

// Which thread of a process let another one go on, on which nothing was open: schema/METRICS.md 17.
struct HandOver {
  // The thread of its process that ended last, of those open the one that worked last; itself: no other ended later.
  std::uint32_t from = 0;
  std::int64_t at = 0;  // when that ended; not behind the moment
  // Others ended, or were open, and did their last work then, too: of these it is the one that began it last.
  bool is_inferred = false;
};

// Of one trace. The graph must outlive the object. Making it takes n log n of what was open, a question a few searches.
class HandOvers {
 public:
  explicit HandOvers(const ReleaseGraph& graph);

  // Before a moment, to a thread on which nothing was open since another.
  [[nodiscard]] HandOver find(std::uint32_t thread, std::int64_t since, std::int64_t moment) const;

 private:
  // Who came last, until the next of these: two besides any thread that asks, the second to know whether it fits, too.
  struct Last {
    std::int64_t after = 0;  // of moments behind it
    std::array<std::uint32_t, 3> threads{};
    std::uint32_t size = 0;
  };
  [[nodiscard]] std::vector<Last> follow(const std::vector<std::uint32_t>& threads) const;

  const ReleaseGraph& graph_;
  std::map<std::uint32_t, std::vector<Last>> last_;  // by process, in order of time
};

}  // namespace tracedb
