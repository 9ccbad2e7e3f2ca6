#include "passes/critical/critical_path.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/unknown.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;  // a time that never comes

PathKind kind_of(const Activity& activity) {
  if (communicates(activity.work)) return PathKind::kCommunication;
  if (activity.work == Work::kCopy) return PathKind::kCopy;
  return activity.ref.is_memory_op ? PathKind::kFill : PathKind::kComputation;
}

PathKind kind_of(ReleaseKind kind) {
  constexpr PathKind kKinds[] = {PathKind::kLaunchDelay, PathKind::kStreamGap, PathKind::kEventGap,
                                 PathKind::kInferredWait};
  return kKinds[static_cast<std::size_t>(kind)];
}

// Walks back from the end of a window.
class Walk {
 public:
  Walk(const CriticalPaths& paths, const PathWindow& window)
      : paths_(paths), graph_(paths.graph()), window_(window), now_(window.end), thread_(window.thread) {
    find_last();
  }

  std::vector<PathSegment> run() {
    while (now_ > window_.begin) {
      const std::int64_t before = now_;
      activity_ == kNoActivity ? step_on_host() : step_on_device();
      // Activities without a duration may release each other at one moment, in a circle if their file is damaged.
      stalled_ = now_ < before ? 0 : stalled_ + 1;
      if (stalled_ > kMostStalled) add({window_.begin, 0, PathKind::kUnknownWait});
    }
    std::ranges::reverse(segments_);
    return std::move(segments_);
  }

 private:
  static constexpr std::size_t kMostStalled = 100000;

  // What ends last; of activities the one that begins last.
  void find_last() {
    const auto all = graph_.activities();
    const auto ends = [&](std::uint32_t one) { return std::min(all[one].end, window_.end); };
    std::uint32_t best = kNoActivity;
    const auto begun = std::ranges::upper_bound(all, window_.end, {}, &Activity::ts);
    for (auto i = static_cast<std::uint32_t>(begun - all.begin()); i-- > 0 && activity_ == kNoActivity;) {
      if (window_.counts(all[i])) {
        if (all[i].end == window_.end) activity_ = i;
        if (best == kNoActivity || ends(i) > ends(best)) best = i;
      }
      if (i > 0 && paths_.latest_end_until(i - 1) < (best == kNoActivity ? window_.begin : ends(best))) break;
    }
    const bool host_ends = thread_ != 0 && window_.host_end >= window_.end;
    if (activity_ == kNoActivity && !host_ends && best != kNoActivity) {
      if (ends(best) < window_.end) add({ends(best), 0, PathKind::kUnknownWait});
      activity_ = best;
    }
  }

  // A segment from its ts to what is already there.
  void add(PathSegment segment) {
    segment.ts = std::max(segment.ts, window_.begin);
    segment.end = now_;
    if (segment.ts >= now_) return;
    now_ = segment.ts;
    segments_.push_back(segment);
  }

  void step_on_device() {
    const Activity& one = graph_.activities()[activity_];
    add({one.ts, 0, kind_of(one), activity_});
    const std::optional<Release> release = graph_.binding(activity_);
    if (!release) return add({window_.begin, 0, PathKind::kUnknownWait, activity_});
    const bool is_launch = release->kind == ReleaseKind::kLaunch;
    PathSegment gap{release->at, 0, kind_of(release->kind), activity_};
    gap.is_inferred = release->kind == ReleaseKind::kInferred;
    if (is_launch) gap.call = one.call, gap.thread = graph_.thread_of(one.call);
    if (graph_.is_late(one, *release)) gap.kind = PathKind::kUnknownWait;
    add(gap);
    activity_ = release->activity;
    if (is_launch) thread_ = gap.thread;
  }

  // The last call of a thread that returned, or will, after what it waited for ended before now; null: there is none.
  [[nodiscard]] const SynchronisingCall* last_wait() const {
    const auto calls = paths_.waits(thread_);
    auto next = std::ranges::upper_bound(calls, now_, {}, [](const SynchronisingCall* call) { return call->end; });
    const auto ended = [&](const SynchronisingCall& call) { return graph_.activities()[call.source].end < now_; };
    if (next != calls.end() && (*next)->ts < now_ && ended(**next)) return *next;
    while (next != calls.begin()) {
      if (ended(**--next)) return *next;
    }
    return nullptr;
  }

  void step_on_host() {
    const Extent last =
        thread_ < graph_.threads() ? graph_.open_on(thread_).last_before(now_) : Extent{window_.begin, window_.begin};
    const bool is_open = last.length() > 0 && last.end >= now_;
    const std::int64_t from = last.length() == 0 ? window_.begin : is_open ? last.begin : last.end;
    const PathSegment host{from, 0, PathKind::kHost, kNoActivity, thread_};
    if (const SynchronisingCall* wait = last_wait()) {
      const std::int64_t source = graph_.activities()[wait->source].end;
      if (wait->end >= from) {
        if (wait->end < now_) add({wait->end, 0, PathKind::kHost, kNoActivity, thread_});
        add({source, 0, PathKind::kSyncReturn, wait->source, thread_, wait->call, wait->is_inferred});
        activity_ = wait->source;
        return;
      }
    }
    if (is_open) return add(host);
    const HandOver giver = paths_.hand_over(thread_, from, now_);
    if (giver.from == thread_) return add(host);  // that is, a gap
    add({giver.at, 0, PathKind::kHandOver, kNoActivity, thread_});
    if (!segments_.empty()) segments_.back().is_inferred |= giver.is_inferred;
    thread_ = giver.from;
  }

  const CriticalPaths& paths_;
  const ReleaseGraph& graph_;
  const PathWindow& window_;
  std::int64_t now_;
  std::uint32_t activity_ = kNoActivity;  // where the walk is; kNoActivity: on the thread
  std::uint32_t thread_;
  std::size_t stalled_ = 0;
  std::vector<PathSegment> segments_;
};

SmallestDelays smallest_delays(const ReleaseGraph& graph) {
  SmallestDelays out;
  out.after.fill(kUnknownValue);
  const auto keep = [](std::int64_t& least, std::int64_t delay) {
    least = least == kUnknownValue ? delay : std::min(least, delay);
  };
  const auto all = graph.activities();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::optional<Release> release = graph.binding(i);
    if (!release || graph.is_late(all[i], *release)) continue;
    const bool overlaps = release->kind == ReleaseKind::kStream && all[release->activity].end > all[i].ts;
    if (!overlaps) keep(out.after[static_cast<std::size_t>(release->kind)], all[i].ts - release->at);
  }
  for (const SynchronisingCall& call : graph.calls()) {
    if (call.source == kNoActivity) {
      if (!call.may_have_waited) keep(out.without_wait, call.end - call.ts);
    } else {
      keep(out.to_return, call.end - all[call.source].end);
    }
  }
  return out;
}

// How long after something that must end first something else ended or began, at least. `is_known`: else it is 0 for
// want of better, and at most `most`.
struct Delay {
  std::int64_t ns = 0, most = 0;
  bool is_known = true;
};
Delay delay_of(bool is_binding, std::int64_t observed, std::int64_t least) {
  if (is_binding || observed <= 0) return {observed, observed};
  return {least == kUnknownValue ? 0 : std::min(least, observed), observed, least != kUnknownValue};
}

// What happens in a window, and the delays between. The length of the window follows from it forwards, slack backwards.
class Model {
 public:
  Model(const CriticalPaths& paths, const PathWindow& window)
      : graph_(paths.graph()), window_(window), delays_(paths.delays()) {
    const auto all = graph_.activities();
    const auto begins = std::ranges::lower_bound(all, window.begin, {}, &Activity::ts);
    const auto ends = std::ranges::upper_bound(all, window.end, {}, &Activity::ts);
    first_ = static_cast<std::uint32_t>(begins - all.begin());
    last_ = static_cast<std::uint32_t>(ends - all.begin());
    while (window.is_cut && first_ > 0 && paths.latest_end_until(first_ - 1) > window.begin) --first_;
    for (std::uint32_t i = first_; i < last_; ++i) {
      if (window.counts(all[i])) end_ = std::max(end_, inside(all[i]).end);
    }
    find_moments(paths);
  }

  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t last() const { return last_; }
  [[nodiscard]] bool has(std::uint32_t activity) const { return activity >= first_ && activity < last_; }
  // Its part in the window; of what ended before, nothing.
  [[nodiscard]] Extent inside(const Activity& activity) const {
    return {std::max(activity.ts, window_.begin), std::min(activity.end, window_.end)};
  }
  // Of what counts, the last end. What follows until the end of the window stays as long as it is.
  [[nodiscard]] std::int64_t end() const { return end_; }
  // How long the activities would take.
  [[nodiscard]] std::vector<std::int64_t> durations(const WhatIf& change) const {
    std::vector<std::int64_t> out;
    for (const Activity& one : graph_.activities().subspan(first_, last_ - first_)) {
      const bool is_before = one.ts < window_.begin && one.end <= window_.begin;
      out.push_back(is_before ? 0 : change.activities(one).of(inside(one).length()));
    }
    return out;
  }

  // Calls visit(Release, Delay) for what an activity of the window waited for.
  template <class Visit>
  void for_each_delay(std::uint32_t activity, Visit visit) const {
    const Activity& one = graph_.activities()[activity];
    const std::optional<Release> binding = graph_.binding(activity);
    graph_.for_each_release(activity, [&](const Release& release) {
      const bool is_binding = release.kind == binding->kind && release.activity == binding->activity;
      // Of what overlaps, from its end: less than none.
      const std::int64_t at =
          release.kind == ReleaseKind::kStream ? graph_.activities()[release.activity].end : release.at;
      visit(release, delay_of(is_binding, one.ts - at, delays_.after[static_cast<std::size_t>(release.kind)]));
    });
  }
  // The same for a call: visit(activity, Delay).
  template <class Visit>
  void for_each_delay(const SynchronisingCall& call, Visit visit) const {
    for (const std::uint32_t one : call.awaited)
      visit(one, delay_of(one == call.source, end_of(call) - graph_.activities()[one].end, delays_.to_return));
  }
  // Of one in which the window is cut, its part.
  [[nodiscard]] std::int64_t end_of(const SynchronisingCall& call) const { return std::min(call.end, window_.end); }
  // How long a call that waited would have taken without waiting.
  [[nodiscard]] Delay own_time(const SynchronisingCall& call) const {
    return delay_of(false, end_of(call) - call.ts, delays_.without_wait);
  }

  // What happens in the window, in order of time.
  struct Moment {
    // Of those at one time in this order. kPassed: call and return of one that takes no time.
    enum class What : std::uint8_t { kReturn, kHandOver, kPassed, kHostEnd, kCall, kLaunch, kStart };
    std::int64_t at = 0;
    What what = What::kReturn;
    std::uint32_t place = 0;  // of synchronising calls that in calls(), of the host its thread, else the activity
    std::uint32_t from = 0;   // of kHandOver: the thread whose time goes on there
    friend bool operator<(const Moment& a, const Moment& b) { return std::tie(a.at, a.what) < std::tie(b.at, b.what); }
  };
  [[nodiscard]] std::span<const Moment> moments() const { return moments_; }

 private:
  void find_moments(const CriticalPaths& paths) {
    using enum Moment::What;
    std::vector<Moment> starts, others;
    const auto all = graph_.activities();
    for (std::uint32_t i = first_; i < last_; ++i) {
      starts.push_back({all[i].ts, kStart, i});
      const std::int64_t launched = all[i].call == 0 ? window_.begin : graph_.launched_at(all[i]);
      if (launched > window_.begin) others.push_back({launched, kLaunch, i});
    }
    const auto calls = graph_.calls();
    const auto ended = std::ranges::lower_bound(calls, window_.begin, {}, &SynchronisingCall::end);
    for (auto call = ended; call != calls.end() && call->end <= window_.end; ++call) add_call(*call, others);
    add_hand_overs(paths, others);
    for (std::uint32_t thread = 0; thread < graph_.threads(); ++thread) {
      if (window_.step && thread != window_.thread) continue;
      std::int64_t at = thread == window_.thread
                            ? window_.host_end
                            : std::min(graph_.worked_on(thread).last_before(window_.end).end, window_.end);
      if (const SynchronisingCall* const call = window_.is_cut ? paths.wait_at(thread, window_.end) : nullptr) {
        if (all[call->source].end < window_.end)
          add_call(*call, others);
        else
          at = std::min(at, call->ts);
      }
      if (at <= window_.begin || at > window_.end) continue;
      others.push_back({at, kHostEnd, thread});
      end_ = std::max(end_, at);
    }
    std::stable_sort(others.begin(), others.end());
    std::merge(starts.begin(), starts.end(), others.begin(), others.end(), std::back_inserter(moments_));
  }

  void add_call(const SynchronisingCall& call, std::vector<Moment>& out) const {
    using enum Moment::What;
    const auto place = static_cast<std::uint32_t>(&call - graph_.calls().data());
    const bool takes_time = call.ts < end_of(call);
    if (takes_time && call.ts >= window_.begin) out.push_back({call.ts, kCall, place});
    out.push_back({end_of(call), takes_time ? kReturn : kPassed, place});
  }
  void add_hand_overs(const CriticalPaths& paths, std::vector<Moment>& out) const {
    for (std::uint32_t thread = 0; thread < graph_.threads(); ++thread) {
      graph_.open_on(thread).for_each_gap(window_.begin, window_.end, [&](std::int64_t since, std::int64_t until) {
        const std::uint32_t from = paths.hand_over(thread, since, until).from;
        if (from != thread) out.push_back({until, Moment::What::kHandOver, thread, from});
      });
    }
  }

  const ReleaseGraph& graph_;
  const PathWindow& window_;
  const SmallestDelays& delays_;
  std::uint32_t first_ = 0, last_ = 0;
  std::int64_t end_ = window_.begin;
  std::vector<Moment> moments_;
};

// Moves what happens in a window to where it would be under other durations. `with_longest`: delays that were never
// observed are as long as they may be.
class Forwards {
 public:
  Forwards(const Model& model, const CriticalPaths& paths, const PathWindow& window, const WhatIf& change,
           std::span<const std::int64_t> durations, bool with_longest)
      : graph_(paths.graph()),
        window_(window),
        change_(change),
        model_(model),
        durations_(durations),
        with_longest_(with_longest),
        new_ends_(durations.size()),
        of_launch_(durations.size()) {}

  // is_lower_bound: if longer delays would let anything start or return later, maybe not the end.
  WhatIfLength run() {
    using enum Model::Moment::What;
    for (const Model::Moment& moment : model_.moments()) {
      const auto shift_on = [&](std::uint32_t thread) { return shift(thread, moment.at); };
      if (moment.what == kStart) move_start(moment.place);
      if (moment.what == kHandOver) hosts_[moment.place] = {moment.at, shift_on(moment.from)};
      if (moment.what == kCall || moment.what == kPassed)
        of_call_[moment.place] = shift_on(graph_.calls()[moment.place].thread);
      if (moment.what == kReturn || moment.what == kPassed) move_return(moment.place);
      if (moment.what == kHostEnd) end_ = std::max(end_, moment.at + shift_on(moment.place));
      if (moment.what == kLaunch)
        of_launch_[moment.place - model_.first()] = shift_on(graph_.thread_of(graph_.activities()[moment.place].call));
    }
    return {end_ - window_.begin + window_.end - model_.end(), is_lower_bound_};
  }

 private:
  // How much later a thread is than it was, from one moment to the next.
  struct Host {
    std::int64_t now = 0, shift = 0;
  };
  std::int64_t shift(std::uint32_t thread, std::int64_t ts) {
    Host& host = hosts_.try_emplace(thread, Host{window_.begin, 0}).first->second;
    if (ts > host.now) {
      host.shift += change_.host.of(ts - host.now) - (ts - host.now);
      host.now = ts;
    }
    return host.shift;
  }
  // With a delay behind a moment.
  std::int64_t after(std::int64_t at, const Delay& delay) {
    is_lower_bound_ |= !delay.is_known && delay.most > delay.ns;
    return at + (with_longest_ && !delay.is_known ? delay.most : delay.ns);
  }
  [[nodiscard]] std::int64_t end_of(std::uint32_t activity) const {
    return model_.has(activity) ? new_ends_[activity - model_.first()] : graph_.activities()[activity].end;
  }

  void move_return(std::uint32_t place) {
    const SynchronisingCall& call = graph_.calls()[place];
    const auto shift = of_call_.find(place);  // not there: it began before the window
    const std::int64_t later = shift == of_call_.end() ? 0 : shift->second;
    const std::int64_t end = model_.end_of(call);
    std::int64_t returns = later + (call.source == kNoActivity ? end : after(call.ts, model_.own_time(call)));
    model_.for_each_delay(
        call, [&](std::uint32_t one, const Delay& delay) { returns = std::max(returns, after(end_of(one), delay)); });
    hosts_[call.thread] = {end, std::max(returns, window_.begin) - end};
  }

  std::int64_t released(std::uint32_t activity) {
    std::int64_t start = -kUnbounded;
    model_.for_each_delay(activity, [&](const Release& release, Delay delay) {
      if (release.kind != ReleaseKind::kLaunch)
        return void(start = std::max(start, after(end_of(release.activity), delay)));
      delay.ns = change_.launch_delay.of(delay.ns);
      delay.most = change_.launch_delay.of(delay.most);
      start = std::max(start, after(release.at + of_launch_[activity - model_.first()], delay));
    });
    return start;
  }

  void move_start(std::uint32_t activity) {
    const Activity& one = graph_.activities()[activity];
    const std::uint32_t place = activity - model_.first();
    // Of what began before the window only what is left may change; else maybe nothing is known to have released it.
    std::int64_t start = one.ts < window_.begin ? std::min(one.end, window_.begin) : released(activity);
    if (start == -kUnbounded) start = one.ts;
    new_ends_[place] = start + durations_[place];
    if (window_.counts(one)) end_ = std::max(end_, new_ends_[place]);
  }

  const ReleaseGraph& graph_;
  const PathWindow& window_;
  const WhatIf& change_;
  const Model& model_;
  std::span<const std::int64_t> durations_;  // of the activities of the model, as all by place
  bool with_longest_;
  std::unordered_map<std::uint32_t, Host> hosts_;            // by thread
  std::vector<std::int64_t> new_ends_, of_launch_;           // and shifts of the host at their launches
  std::unordered_map<std::uint32_t, std::int64_t> of_call_;  // shifts of the host
  std::int64_t end_ = window_.begin;
  bool is_lower_bound_ = false;
};

// Finds the latest ends of activities that move nothing. `with_longest`: delays that were never observed are as long as
// they may be.
class Backwards {
 public:
  Backwards(const Model& model, const CriticalPaths& paths, const PathWindow& window, bool with_longest)
      : graph_(paths.graph()),
        window_(window),
        model_(model),
        with_longest_(with_longest),
        of_launch_(model.last() - model.first(), kUnbounded) {}

  // Of the activities of the model.
  std::vector<std::int64_t> run() {
    using enum Model::Moment::What;
    for (std::uint32_t i = model_.first(); i < model_.last(); ++i)
      latest_.push_back(window_.counts(graph_.activities()[i]) ? model_.end() : kUnbounded);
    const std::span<const Model::Moment> moments = model_.moments();
    for (auto moment = moments.rbegin(); moment != moments.rend(); ++moment) {
      if (moment->what == kStart) bound_releases(moment->place);
      if (moment->what == kHandOver) lower(host(moment->from), std::exchange(host(moment->place), kUnbounded));
      if (moment->what == kReturn || moment->what == kPassed) bound_awaited(moment->place);
      if (moment->what == kHostEnd) lower(host(moment->place), model_.end() - moment->at);
      if (moment->what == kCall || moment->what == kPassed)
        lower(host(graph_.calls()[moment->place].thread), of_call_.at(moment->place));
      if (moment->what == kLaunch)
        lower(host(graph_.thread_of(graph_.activities()[moment->place].call)),
              of_launch_[moment->place - model_.first()]);
    }
    return std::move(latest_);
  }

 private:
  static void lower(std::int64_t& value, std::int64_t bound) { value = std::min(value, bound); }
  void lower_end(std::uint32_t activity, std::int64_t bound) {
    if (model_.has(activity)) lower(latest_[activity - model_.first()], bound);
  }
  // By how much a thread may be later from the moment on.
  std::int64_t& host(std::uint32_t thread) { return hosts_.try_emplace(thread, kUnbounded).first->second; }
  [[nodiscard]] std::int64_t ns(const Delay& delay) const {
    return with_longest_ && !delay.is_known ? delay.most : delay.ns;
  }

  void bound_releases(std::uint32_t activity) {
    const Activity& one = graph_.activities()[activity];
    if (one.ts < window_.begin) return;
    const std::int64_t start = latest_[activity - model_.first()] - model_.inside(one).length();
    model_.for_each_delay(activity, [&](const Release& release, const Delay& delay) {
      if (release.kind != ReleaseKind::kLaunch) return lower_end(release.activity, start - ns(delay));
      lower(of_launch_[activity - model_.first()], start - ns(delay) - release.at);
    });
  }

  void bound_awaited(std::uint32_t place) {
    const SynchronisingCall& call = graph_.calls()[place];
    std::int64_t& later = host(call.thread);
    const std::int64_t end = model_.end_of(call);
    model_.for_each_delay(call,
                          [&](std::uint32_t one, const Delay& delay) { lower_end(one, end + later - ns(delay)); });
    of_call_[place] = call.source == kNoActivity ? later : later + (end - call.ts) - ns(model_.own_time(call));
    later = kUnbounded;
  }

  const ReleaseGraph& graph_;
  const PathWindow& window_;
  const Model& model_;
  bool with_longest_;
  std::vector<std::int64_t> latest_, of_launch_;  // of the activities; by how much their launches may be later
  std::unordered_map<std::uint32_t, std::int64_t> hosts_, of_call_;  // by how much they may be later
};

}  // namespace

std::vector<PathWindow> windows_of_steps(const StepSet& set, const std::vector<bool>& selected,
                                         const EventTables& events) {
  const std::vector<Extent> extents = extents_of_steps(set, events);
  std::vector<PathWindow> out;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!selected[i + 1] || extents[i].length() == 0) continue;
    const StepFacts& step = set.steps[i];
    PathWindow& window = out.emplace_back();
    window.begin = extents[i].begin;
    window.end = extents[i].end;
    window.step = static_cast<std::int64_t>(i);
    window.steps = &set;
    window.host_end = std::numeric_limits<std::int64_t>::max();
    if (step.on_device || step.ts == kUnknownValue) continue;
    window.host_end = saturating_add(step.ts, duration_or_zero(step.dur));
    window.thread = step.track;
  }
  return out;
}

bool PathWindow::counts(const Activity& one) const {
  if (one.ts == end && one.end > end) return false;
  if (is_cut) return true;
  if (one.end > end) return false;
  return steps == nullptr || steps->of(one.ref) == *step + 1;
}

double percent_shared(const StepSet& set, const Selection& selection, const EventTables& events) {
  if (!selection.names_steps()) return 0;
  std::vector<Extent> windows;
  double all = 0;
  for (const PathWindow& window : windows_of_steps(set, selected_steps(set, selection), events)) {
    windows.push_back({window.begin, window.end});
    all += static_cast<double>(windows.back().length());
  }
  const TimeCover together(windows);
  const Extent bounds = together.bounds();
  return all > 0 ? 100 - 100 * static_cast<double>(together.covered(bounds.begin, bounds.end)) / all : 0;
}

double percent_without_launch(const EventColumns& kernels, const std::function<bool(std::size_t)>& keeps) {
  const auto launch = kernels.ids("launch_id");
  const auto dur = kernels.int64s("dur");
  double all = 0, without = 0;
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    const double time = keeps(row) ? static_cast<double>(duration_or_zero(dur[row])) : 0;
    all += time;
    without += launch[row] == 0 ? time : 0;
  }
  return all > 0 ? 100 * without / all : 0;
}

std::int64_t DurationFactor::of(std::int64_t ns) const {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(ns, numerator, &product)) return ns / denominator * numerator;
  return product / denominator;
}

CriticalPaths::CriticalPaths(const ReleaseGraph& graph)
    : graph_(graph), delays_(smallest_delays(graph)), waits_(graph.threads()), hand_overs_(graph) {
  for (const SynchronisingCall& call : graph.calls()) {
    if (call.source != kNoActivity && call.thread < waits_.size()) waits_[call.thread].push_back(&call);
  }
  latest_ends_.reserve(graph.activities().size());
  for (const Activity& one : graph.activities())
    latest_ends_.push_back(latest_ends_.empty() ? one.end : std::max(latest_ends_.back(), one.end));
}

std::span<const SynchronisingCall* const> CriticalPaths::waits(std::uint32_t thread) const {
  return thread < waits_.size() ? std::span<const SynchronisingCall* const>(waits_[thread])
                                : std::span<const SynchronisingCall* const>();
}

const SynchronisingCall* CriticalPaths::wait_at(std::uint32_t thread, std::int64_t moment) const {
  const auto calls = waits(thread);
  const auto next =
      std::ranges::upper_bound(calls, moment, {}, [](const SynchronisingCall* call) { return call->end; });
  return next != calls.end() && (*next)->ts < moment ? *next : nullptr;
}

HandOver CriticalPaths::hand_over(std::uint32_t thread, std::int64_t since, std::int64_t moment) const {
  const auto returned = std::ranges::lower_bound(waits(thread), since, {}, &SynchronisingCall::end);
  const bool waited = returned != waits(thread).end() && (*returned)->end == since;
  return waited ? HandOver{thread, since} : hand_overs_.find(thread, since, moment);
}

std::vector<PathSegment> CriticalPaths::path(const PathWindow& window) const { return Walk(*this, window).run(); }

WhatIfLength CriticalPaths::what_if(const PathWindow& window, const WhatIf& change) const {
  const Model model(*this, window);
  const std::vector<std::int64_t> durations = model.durations(change);
  WhatIfLength out = Forwards(model, *this, window, change, durations, false).run();
  if (out.is_lower_bound)
    out.is_lower_bound = Forwards(model, *this, window, change, durations, true).run().length > out.length;
  return out;
}

std::vector<Slack> CriticalPaths::slack(const PathWindow& window) const {
  const Model model(*this, window);
  const std::vector<std::int64_t> latest = Backwards(model, *this, window, false).run();
  const std::vector<std::int64_t> least = Backwards(model, *this, window, true).run();
  std::vector<Slack> out;
  for (std::uint32_t i = model.first(); i < model.last(); ++i) {
    const Activity& one = graph_.activities()[i];
    if (one.ts < window.begin || one.end > window.end) continue;
    const auto slack = [&](std::int64_t until) {
      return until < kUnbounded / 2 ? std::max<std::int64_t>(until - one.end, 0) : kUnknownValue;
    };
    out.push_back({i, slack(latest[i - model.first()]), slack(least[i - model.first()])});
  }
  return out;
}

}  // namespace tracedb
