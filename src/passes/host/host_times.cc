#include "passes/host/host_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/unknown.h"

namespace tracedb {
namespace {

// The open events of a thread. The one that ends first is in front; of several, the one that started last.
class OpenPlaces {
 public:
  void push(std::int64_t end, std::uint32_t place) {
    const Open open{end, ++order_, place};
    if (nested_.empty() || end <= nested_.back().end) {
      nested_.push_back(open);
    } else {
      outlasting_.emplace(std::pair(end, -open.order), place);
    }
  }
  [[nodiscard]] bool empty() const { return nested_.empty() && outlasting_.empty(); }
  [[nodiscard]] std::int64_t first_end() const {
    return is_nested_first() ? nested_.back().end : outlasting_.begin()->first.first;
  }
  [[nodiscard]] bool has_ended(std::int64_t ts) const { return !empty() && first_end() <= ts; }
  [[nodiscard]] std::uint32_t place() const {
    if (empty()) return kNoPlace;
    return is_nested_first() ? nested_.back().place : outlasting_.begin()->second;
  }
  void pop() {
    if (is_nested_first()) {
      nested_.pop_back();
    } else {
      outlasting_.erase(outlasting_.begin());
    }
  }

 private:
  struct Open {
    std::int64_t end, order;  // a later one has a larger order
    std::uint32_t place;
  };
  [[nodiscard]] bool is_nested_first() const {
    if (nested_.empty() || outlasting_.empty()) return outlasting_.empty();
    return std::pair(nested_.back().end, -nested_.back().order) < outlasting_.begin()->first;
  }

  std::vector<Open> nested_;  // ends never grow
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> outlasting_;
  std::int64_t order_ = 0;
};

// The times of each gap so far, as lists in one array: mostly a gap has one or two.
class GapTimes {
 public:
  explicit GapTimes(std::size_t gaps) : first_(gaps, kEnd) { nodes_.reserve(gaps + gaps / 4); }

  PlaceTime& entry_of(std::uint32_t gap, std::uint32_t place) {
    for (std::uint32_t at = first_[gap]; at != kEnd; at = nodes_[at].next) {
      if (nodes_[at].time.place != place) continue;
      // What was there a moment ago mostly comes again: to the front with it.
      std::swap(nodes_[at].time, nodes_[first_[gap]].time);
      return nodes_[first_[gap]].time;
    }
    nodes_.push_back({{place, 0, 0}, first_[gap]});
    first_[gap] = static_cast<std::uint32_t>(nodes_.size() - 1);
    return nodes_.back().time;
  }

  [[nodiscard]] HostTimes joined() const {
    HostTimes out;
    out.begin.reserve(first_.size() + 1);
    out.times.reserve(nodes_.size());
    out.begin.push_back(0);
    for (const std::uint32_t first : first_) {
      for (std::uint32_t at = first; at != kEnd; at = nodes_[at].next) out.times.push_back(nodes_[at].time);
      std::sort(out.times.begin() + static_cast<std::ptrdiff_t>(out.begin.back()), out.times.end(),
                [](const auto& a, const auto& b) { return a.place < b.place; });
      out.begin.push_back(out.times.size());
    }
    return out;
  }

 private:
  static constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();
  struct Node {
    PlaceTime time;
    std::uint32_t next;
  };
  std::vector<std::uint32_t> first_;  // by gap
  std::vector<Node> nodes_;
};

// One thread: its gaps, and where in them the sweep is.
class ThreadSweep {
 public:
  void add_gap(const HostGap& gap, std::uint32_t id) { gaps_.push_back({gap.begin, gap.end, id}); }

  void prepare() {
    const auto earlier = [](const Gap& a, const Gap& b) { return std::pair(a.begin, a.id) < std::pair(b.begin, b.id); };
    if (!std::ranges::is_sorted(gaps_, earlier)) std::ranges::sort(gaps_, earlier);
    for (const Gap& gap : gaps_) {
      if (!zones_.empty() && gap.begin <= zones_.back().end) {
        zones_.back().end = std::max(zones_.back().end, gap.end);
      } else {
        zones_.push_back(gap);
      }
    }
  }

  // Whether an event that comes next can be seen in a gap.
  bool concerns(std::int64_t ts, std::int64_t end) {
    while (zone_ < zones_.size() && zones_[zone_].end <= ts) ++zone_;
    return zone_ < zones_.size() && (end > zones_[zone_].begin || ts >= zones_[zone_].begin);
  }

  void add(std::int64_t ts, std::int64_t end, std::uint32_t place, GapTimes& out) {
    end_before(ts, out);
    if (end > ts && place != kNoPlace) {
      if (const std::uint32_t before = open_.place(); before != place) account(ts, before, out);
      open_.push(end, place);
    }
    count(ts, place != kNoPlace ? place : open_.place(), out);
  }
  // Ready for other events.
  void finish(GapTimes& out) {
    end_before(std::numeric_limits<std::int64_t>::max(), out);
    add_run(out);
    next_ = next_counted_ = zone_ = 0;
    since_ = std::numeric_limits<std::int64_t>::min();
  }

 private:
  struct Gap {
    std::int64_t begin, end;
    std::uint32_t id;
  };

  void end_before(std::int64_t ts, GapTimes& out) {
    while (open_.has_ended(ts)) {
      const std::int64_t end = open_.first_end();
      const std::uint32_t place = open_.place();
      open_.pop();
      if (open_.place() != place) account(end, place, out);
    }
  }

  // It was at this place since the last change.
  void account(std::int64_t now, std::uint32_t place, GapTimes& out) {
    if (place != kNoPlace) {
      skip_gaps_before(since_, next_);
      for (std::size_t i = next_; i < gaps_.size() && gaps_[i].begin < now; ++i) {
        const std::int64_t time = std::min(now, gaps_[i].end) - std::max(since_, gaps_[i].begin);
        if (time > 0) out.entry_of(gaps_[i].id, place).time += time;
      }
    }
    since_ = now;
  }

  // Most calls start in the gap and at the place of the one before: a run of them is added at once.
  void count(std::int64_t ts, std::uint32_t place, GapTimes& out) {
    if (place == kNoPlace) return;
    skip_gaps_before(ts, next_counted_);
    for (std::size_t i = next_counted_; i < gaps_.size() && gaps_[i].begin <= ts; ++i) {
      if (ts >= gaps_[i].end) continue;
      if (run_.gap != gaps_[i].id || run_.place != place) {
        add_run(out);
        run_ = {gaps_[i].id, place, 0};
      }
      ++run_.started;
    }
  }
  void add_run(GapTimes& out) {
    if (run_.started > 0) out.entry_of(run_.gap, run_.place).started += run_.started;
    run_ = {};
  }

  void skip_gaps_before(std::int64_t ts, std::size_t& next) const {
    while (next < gaps_.size() && gaps_[next].end <= ts) ++next;
  }

  struct Run {
    std::uint32_t gap = 0, place = kNoPlace;
    std::int64_t started = 0;
  };

  std::vector<Gap> gaps_, zones_;  // in order of begin; zones are their union
  // Gaps before these end before all that comes: times are accounted later than starts are counted.
  std::size_t next_ = 0, next_counted_ = 0;
  std::size_t zone_ = 0;
  std::int64_t since_ = std::numeric_limits<std::int64_t>::min();
  OpenPlaces open_;
  Run run_;
};

std::uint32_t place_of(const HostEvents& events, std::size_t row) {
  const std::uint32_t label = events.label[row];
  if (events.place_of_label.empty()) return label;
  return label < events.place_of_label.size() ? events.place_of_label[label] : kNoPlace;
}

}  // namespace

struct HostSweep::Threads {
  explicit Threads(std::size_t number_of_gaps) : gaps(number_of_gaps), times(number_of_gaps) {}
  std::size_t gaps;
  GapTimes times;
  std::vector<ThreadSweep> sweeps;  // by id of thread
};

HostSweep::HostSweep(std::span<const HostGap> gaps) : threads_(std::make_unique<Threads>(gaps.size())) {
  std::vector<ThreadSweep>& sweeps = threads_->sweeps;
  for (std::uint32_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].thread == 0 || gaps[i].end <= gaps[i].begin) continue;
    if (gaps[i].thread >= sweeps.size()) sweeps.resize(gaps[i].thread + std::size_t{1});
    sweeps[gaps[i].thread].add_gap(gaps[i], i);
  }
  for (ThreadSweep& thread : sweeps) thread.prepare();
}

HostSweep::~HostSweep() = default;

void HostSweep::add(const HostEvents& events) {
  std::vector<ThreadSweep>& sweeps = threads_->sweeps;
  for (std::size_t row = 0; row < events.ts.size(); ++row) {
    if (events.thread[row] >= sweeps.size()) continue;
    ThreadSweep& thread = sweeps[events.thread[row]];
    const std::int64_t ts = events.ts[row];
    const std::int64_t end = saturating_add(ts, duration_or_zero(events.dur[row]));
    if (!thread.concerns(ts, end)) continue;
    thread.add(ts, end, place_of(events, row), threads_->times);
  }
}

HostTimes HostSweep::finish() {
  for (ThreadSweep& thread : threads_->sweeps) thread.finish(threads_->times);
  return std::exchange(threads_->times, GapTimes(threads_->gaps)).joined();
}

HostTimes host_times(const HostEvents& events, std::span<const HostGap> gaps) {
  HostSweep sweep(gaps);
  sweep.add(events);
  return sweep.finish();
}

}  // namespace tracedb
