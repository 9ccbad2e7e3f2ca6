#include "passes/critical/host_pieces.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

struct HostEvent {
  std::int64_t ts, end;
  HostSource source;
  std::uint32_t what;  // string; of kPython a stack
};

// The events of each thread that overlap some stretches of time.
class EventsDuring {
 public:
  explicit EventsDuring(std::span<const PathSegment> segments) {
    std::vector<std::vector<Extent>> spans;
    for (const PathSegment& segment : segments) {
      if (segment.kind != PathKind::kHost) continue;
      if (segment.thread >= spans.size()) spans.resize(segment.thread + std::size_t{1});
      spans[segment.thread].push_back({segment.ts, segment.end});
    }
    for (const std::vector<Extent>& own : spans) wanted_.emplace_back(own);
    events_.resize(wanted_.size());
    sorted_.resize(wanted_.size());
  }
  void add(std::int64_t ts, std::int64_t dur, std::uint32_t thread, HostSource source, std::uint32_t what) {
    if (thread >= wanted_.size() || dur <= 0) return;
    const std::int64_t end = saturating_add(ts, dur);
    const Extent before = wanted_[thread].last_before(end);
    if (before.end > ts) events_[thread].push_back({ts, end, source, what});
  }
  // After the rows of each table, which come mostly in that order.
  void finish_table() {
    const auto order = [](const HostEvent& a, const HostEvent& b) {
      return std::tuple(a.ts, -a.end, a.source) < std::tuple(b.ts, -b.end, b.source);
    };
    for (std::size_t thread = 0; thread < events_.size(); ++thread) {
      std::vector<HostEvent>& events = events_[thread];
      const auto first = events.begin() + static_cast<std::ptrdiff_t>(sorted_[thread]);
      if (!std::is_sorted(first, events.end(), order)) std::stable_sort(first, events.end(), order);
      std::inplace_merge(events.begin(), first, events.end(), order);
      sorted_[thread] = events.size();
    }
  }
  // By thread, in order of begin, what is outside before what is inside.
  std::vector<std::vector<HostEvent>> take() { return std::move(events_); }

 private:
  std::vector<TimeCover> wanted_;
  std::vector<std::vector<HostEvent>> events_;
  std::vector<std::size_t> sorted_;  // so many of them, by thread
};

std::vector<std::vector<HostEvent>> events_during(const Index& index, const HostColumns& host,
                                                  std::span<const PathSegment> segments) {
  EventsDuring out(segments);
  for_each_host_event(
      index, host,
      [&](std::int64_t ts, std::int64_t dur, std::uint32_t thread, HostSource source, std::uint32_t what) {
        if (thread != 0 || source == HostSource::kPython) out.add(ts, dur, thread, source, what);
      },
      [&] { out.finish_table(); });
  return out.take();
}

// By stack, the text of its innermost frame.
std::vector<std::uint32_t> frame_names(const Index& index) {
  return by_id<std::uint32_t>(index,
                              "SELECT k.id, f.name_id FROM stack k JOIN frame f ON f.id = k.frame_id ORDER BY k.id",
                              [](const Statement& row) { return row.id(1); });
}

// From a time on, until the next one, what is open on a thread.
struct OpenFrom {
  std::int64_t ts;
  bool any;
  std::uint32_t name, innermost_op, stack;  // as of PathPiece
};

// Events of one thread as EventsDuring gives them to what is open from when to when.
class Flattener {
 public:
  explicit Flattener(std::span<const std::uint32_t> names) : names_(names) {}

  std::vector<OpenFrom> flatten(const std::vector<HostEvent>& events) {
    out_.push_back({std::numeric_limits<std::int64_t>::min(), false, 0, 0, 0});
    for (const HostEvent& event : events) {
      close_until(event.ts);
      open_.push_back(&event);
      note(event.ts);
    }
    close_until(std::numeric_limits<std::int64_t>::max());
    return std::move(out_);
  }

 private:
  void close_until(std::int64_t ts) {
    while (!open_.empty() && open_.back()->end <= ts) {
      const std::int64_t end = open_.back()->end;
      open_.pop_back();
      note(std::max(end, out_.back().ts));
    }
  }
  void note(std::int64_t ts) {
    OpenFrom now{ts, !open_.empty(), 0, 0, 0};
    for (auto event = open_.rbegin(); event != open_.rend(); ++event) {
      if (now.innermost_op == 0 && (*event)->source == HostSource::kOperator) now.innermost_op = (*event)->what;
      if (now.stack == 0 && (*event)->source == HostSource::kPython) now.stack = (*event)->what;
      if (now.innermost_op != 0 && now.stack != 0) break;
    }
    if (now.any) {
      const HostEvent& innermost = *open_.back();
      const bool is_python = innermost.source == HostSource::kPython;
      now.name = !is_python ? innermost.what : innermost.what < names_.size() ? names_[innermost.what] : 0;
    }
    if (out_.back().ts == ts) out_.pop_back();
    out_.push_back(now);
  }

  std::span<const std::uint32_t> names_;  // by stack
  std::vector<const HostEvent*> open_;    // the innermost last
  std::vector<OpenFrom> out_;
};

void cut(const PathSegment& segment, std::size_t place, const std::vector<OpenFrom>& open,
         const std::function<void(const PathPiece&)>& visit) {
  auto now = std::prev(std::ranges::upper_bound(open, segment.ts, {}, &OpenFrom::ts));
  for (std::int64_t ts = segment.ts; ts < segment.end; ++now) {
    const auto next = std::next(now);
    PathPiece piece{segment, place, now->name, now->innermost_op, now->stack};
    piece.segment.ts = ts;
    piece.segment.end = next == open.end() ? segment.end : std::min(segment.end, next->ts);
    if (!now->any) piece.segment.kind = PathKind::kHostGap;
    ts = piece.segment.end;
    visit(piece);
  }
}

}  // namespace

void for_each_piece(const Index& index, const HostColumns& host, std::span<const PathSegment> segments,
                    const std::function<void(const PathPiece&)>& visit) {
  const std::vector<std::uint32_t> names = frame_names(index);
  std::vector<std::vector<OpenFrom>> open;  // by thread
  for (const std::vector<HostEvent>& events : events_during(index, host, segments))
    open.push_back(Flattener(names).flatten(events));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind == PathKind::kHost) {
      cut(segments[i], i, open[segments[i].thread], visit);
    } else {
      visit({segments[i], i, 0, 0, 0});
    }
  }
}

}  // namespace tracedb
