#include "passes/critical/host_pieces.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <utility>

#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"

namespace tracedb {
namespace {

// By stack, the text of its innermost frame.
std::vector<std::uint32_t> frame_names(const Index& index) {
  return by_id<std::uint32_t>(index,
                              "SELECT k.id, f.name_id FROM stack k JOIN frame f ON f.id = k.frame_id ORDER BY k.id",
                              [](const Statement& row) { return row.id(1); });
}

// From a time on, until the next one, what is open on a thread.
struct OpenFrom {
  std::int64_t ts = std::numeric_limits<std::int64_t>::min();
  bool any = false;
  std::uint32_t name = 0, innermost_op = 0, stack = 0;  // as of PathPiece
};

// Turns events of one thread, in the order of HostEventReader, to what is open from when to when.
class Flattener {
 public:
  // `names`: of the innermost frame, by stack.
  void add(const HostEvent& event, std::span<const std::uint32_t> names) {
    close_until(event.ts);
    OpenFrom inside = open_.empty() ? OpenFrom() : open_.back().what;
    inside.any = true;
    inside.name = event.what;
    if (event.source == HostSource::kOperator) inside.innermost_op = event.what;
    if (event.source == HostSource::kPython) {
      inside.stack = event.what;
      inside.name = event.what < names.size() ? names[event.what] : 0;
    }
    open_.push_back({event.end, inside});
    note(event.ts);
  }
  std::deque<OpenFrom> take() {
    close_until(std::numeric_limits<std::int64_t>::max());
    return std::move(out_);
  }

 private:
  struct Open {
    std::int64_t end;
    OpenFrom what;  // while it is the innermost
  };
  void close_until(std::int64_t ts) {
    while (!open_.empty() && open_.back().end <= ts) {
      const std::int64_t end = open_.back().end;
      open_.pop_back();
      note(std::max(end, out_.back().ts));
    }
  }
  void note(std::int64_t ts) {
    if (out_.back().ts == ts) out_.pop_back();
    out_.push_back(open_.empty() ? OpenFrom() : open_.back().what);
    out_.back().ts = ts;
  }

  std::vector<Open> open_;                // the innermost last
  std::deque<OpenFrom> out_{OpenFrom()};  // of millions: one that doubles would touch twice the memory
};

// The segments of a path on one thread.
struct Wanted {
  std::vector<Extent> spans;
  std::size_t next = 0;

  // Whether one of them has to do with an event; events come in order of ts.
  bool has(const HostEvent& event) {
    while (next < spans.size() && spans[next].end <= event.ts) ++next;
    return next < spans.size() && spans[next].begin < event.end && event.end > event.ts;
  }
};

// By thread, what is open from when to when, as far as the segments on hosts need it.
std::vector<std::deque<OpenFrom>> open_during(const Index& index, const EventTables& tables,
                                              std::span<const PathSegment> segments) {
  std::vector<Wanted> wanted;
  for (const PathSegment& segment : segments) {
    if (segment.kind != PathKind::kHost) continue;
    if (segment.thread >= wanted.size()) wanted.resize(segment.thread + std::size_t{1});
    wanted[segment.thread].spans.push_back({segment.ts, segment.end});
  }
  for (Wanted& own : wanted) std::ranges::sort(own.spans, {}, &Extent::begin);
  const std::vector<std::uint32_t> names = frame_names(index);
  std::vector<Flattener> threads(wanted.size());
  HostEventReader events(index, tables);
  while (const HostEvent* const event = events.next()) {
    if (event->thread >= wanted.size() || (event->thread == 0 && event->source != HostSource::kPython)) continue;
    if (wanted[event->thread].has(*event)) threads[event->thread].add(*event, names);
  }
  std::vector<std::deque<OpenFrom>> out;
  for (Flattener& thread : threads) out.push_back(thread.take());
  return out;
}

void cut(const PathSegment& segment, std::size_t place, const std::deque<OpenFrom>& open,
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

void for_each_piece(const Index& index, const EventTables& events, std::span<const PathSegment> segments,
                    const std::function<void(const PathPiece&)>& visit) {
  const std::vector<std::deque<OpenFrom>> open = open_during(index, events, segments);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].kind == PathKind::kHost) {
      cut(segments[i], i, open[segments[i].thread], visit);
    } else {
      visit({segments[i], i, 0, 0, 0});
    }
  }
}

}  // namespace tracedb
