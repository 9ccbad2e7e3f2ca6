#include "passes/host/host_times.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/unknown.h"
#include "passes/columns/event_columns.h"

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

// The times of gaps. Those that are not over yet are lists in one array: mostly a gap has one or two. What is over is
// kept as it is where its tally has one gap, as sums where it has more.
class GapTimes {
 public:
  static constexpr std::uint32_t kEnd = std::numeric_limits<std::uint32_t>::max();

  explicit GapTimes(std::size_t tallies) {
    out_.ranges.resize(tallies);
    out_.times.reserve(tallies);
  }

  // Of the gap whose list begins at `first`.
  PlaceTime& entry_of(std::uint32_t& first, std::uint32_t place) {
    for (std::uint32_t at = first; at != kEnd; at = nodes_[at].next) {
      if (nodes_[at].time.place != place) continue;
      // What was there a moment ago mostly comes again: to the front with it.
      std::swap(nodes_[at].time, nodes_[first].time);
      return nodes_[first].time;
    }
    std::uint32_t at = free_;
    if (at == kEnd) {
      at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[at].next;
    }
    nodes_[at] = {{place, 0, 0}, first};
    first = at;
    return nodes_[at].time;
  }

  // The gap is over; its list is empty after it.
  void close(std::uint32_t& first, std::uint32_t tally) {
    if (first == kEnd) return;
    PlaceSums* const sums = out_.ranges[tally].count > 0 ? &sums_of(tally) : nullptr;
    const std::size_t begin = out_.times.size();
    while (first != kEnd) {
      Node& node = nodes_[first];
      sums != nullptr ? sums->add(node.time) : out_.times.push_back(node.time);
      const std::uint32_t next = std::exchange(node.next, free_);
      free_ = std::exchange(first, next);
    }
    if (sums == nullptr) out_.ranges[tally] = range_from(begin);
  }

  // Of all gaps, all of which are over.
  HostTimes take() {
    for (HostTimes::Range& range : out_.ranges) {
      if (range.count != kSummed) continue;
      const std::vector<PlaceTime>& sums = sums_[range.begin].sums();
      const std::size_t begin = out_.times.size();
      out_.times.insert(out_.times.end(), sums.begin(), sums.end());
      range = range_from(begin);
    }
    GapTimes next(out_.ranges.size());
    return std::exchange(*this, std::move(next)).out_;
  }

 private:
  static constexpr std::uint32_t kSummed = std::numeric_limits<std::uint32_t>::max();
  struct Node {
    PlaceTime time;
    std::uint32_t next = kEnd;
  };
  HostTimes::Range range_from(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(out_.times.size() - begin)};
  }
  // Of a tally that had a gap before.
  PlaceSums& sums_of(std::uint32_t tally) {
    HostTimes::Range& range = out_.ranges[tally];
    if (range.count != kSummed) {
      sums_.emplace_back();
      for (const PlaceTime& time : out_.of(tally)) sums_.back().add(time);
      range = {static_cast<std::uint32_t>(sums_.size() - 1), kSummed};
    }
    return sums_[range.begin];
  }

  std::vector<Node> nodes_;
  std::uint32_t free_ = kEnd;  // the first node that is in no gap's list
  HostTimes out_;
  std::vector<PlaceSums> sums_;  // of tallies whose range has their place, and the count kSummed
};

// One thread: its gaps, and where in them the sweep is.
class ThreadSweep {
 public:
  void reserve(std::size_t gaps) { gaps_.reserve(gaps); }
  void add_gap(const HostGap& gap) { gaps_.push_back({gap.begin, gap.end, gap.tally, GapTimes::kEnd}); }
  void prepare() {
    if (!std::ranges::is_sorted(gaps_, {}, &Gap::begin)) std::ranges::stable_sort(gaps_, {}, &Gap::begin);
  }

  // Whether an event that comes next can be seen in a gap.
  bool concerns(std::int64_t ts, std::int64_t end) {
    while (zone_end_ <= ts && zone_ < gaps_.size()) enter_zone();
    return zone_end_ > ts && (end > zone_begin_ || ts >= zone_begin_);
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
    close_before(gaps_.size(), out);
    next_ = next_counted_ = closed_ = zone_ = 0;
    since_ = zone_end_ = std::numeric_limits<std::int64_t>::min();
  }

 private:
  struct Gap {
    std::int64_t begin, end;
    std::uint32_t tally;
    std::uint32_t times;  // where its list begins
  };

  // The next gap, with those that touch it.
  void enter_zone() {
    zone_begin_ = gaps_[zone_].begin;
    zone_end_ = gaps_[zone_].end;
    while (++zone_ < gaps_.size() && gaps_[zone_].begin <= zone_end_) zone_end_ = std::max(zone_end_, gaps_[zone_].end);
  }

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
      close_before(std::min(next_, next_counted_), out);
      for (std::size_t i = next_; i < gaps_.size() && gaps_[i].begin < now; ++i) {
        const std::int64_t time = std::min(now, gaps_[i].end) - std::max(since_, gaps_[i].begin);
        if (time > 0) out.entry_of(gaps_[i].times, place).time += time;
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
      if (run_.gap != i || run_.place != place) {
        add_run(out);
        run_ = {i, place, 0};
      }
      ++run_.started;
    }
  }
  void add_run(GapTimes& out) {
    if (run_.started > 0) out.entry_of(gaps_[run_.gap].times, run_.place).started += run_.started;
    run_ = {};
  }

  void close_before(std::size_t end, GapTimes& out) {
    if (closed_ >= end) return;
    if (run_.gap < end) add_run(out);
    for (; closed_ < end; ++closed_) out.close(gaps_[closed_].times, gaps_[closed_].tally);
  }

  void skip_gaps_before(std::int64_t ts, std::size_t& next) const {
    while (next < gaps_.size() && gaps_[next].end <= ts) ++next;
  }

  struct Run {
    std::size_t gap = 0;
    std::uint32_t place = kNoPlace, started = 0;
  };

  std::vector<Gap> gaps_;  // in order of begin
  // Gaps before these end before all that comes: times are accounted later than starts are counted.
  std::size_t next_ = 0, next_counted_ = 0, closed_ = 0;
  std::size_t zone_ = 0;  // the first gap that is not in the zone or before it
  std::int64_t zone_begin_ = 0, zone_end_ = std::numeric_limits<std::int64_t>::min();
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

void PlaceSums::add(const PlaceTime& one) {
  if (sums_.empty() || sums_[last_].place != one.place) {
    const auto [index, is_new] = at_.index_of(one.place);
    last_ = index;
    if (is_new) sums_.push_back({one.place});
  }
  PlaceTime& sum = sums_[last_];
  sum.time = saturating_add(sum.time, one.time);
  sum.started += one.started;
}

struct HostSweep::Threads {
  explicit Threads(std::size_t tallies) : times(tallies) {}
  GapTimes times;
  std::vector<ThreadSweep> sweeps;  // by id of thread
};

std::size_t tallies_of(std::span<const HostGap> gaps) {
  return gaps.empty() ? 0 : std::ranges::max(gaps, {}, &HostGap::tally).tally + std::size_t{1};
}

HostSweep::HostSweep(std::span<const HostGap> gaps) : threads_(std::make_unique<Threads>(tallies_of(gaps))) {
  std::vector<std::size_t> counts;
  for (const HostGap& gap : gaps) ++for_id(counts, gap.thread);
  std::vector<ThreadSweep>& sweeps = threads_->sweeps;
  for (const std::size_t count : counts) sweeps.emplace_back().reserve(count);
  for (const HostGap& gap : gaps) {
    if (gap.thread != 0 && gap.end > gap.begin) sweeps[gap.thread].add_gap(gap);
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
  return threads_->times.take();
}

HostTimes host_times(const HostEvents& events, std::span<const HostGap> gaps) {
  HostSweep sweep(gaps);
  sweep.add(events);
  return sweep.finish();
}

}  // namespace tracedb
