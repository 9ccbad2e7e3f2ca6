// The critical path of steps, or of the whole trace: its parts, their sums, slack, and lengths under other durations.
#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/dense_index.h"
#include "base/time_cover.h"
#include "base/unknown.h"
#include "passes/columns/event_columns.h"
#include "passes/critical/critical_path.h"
#include "passes/critical/host_events.h"
#include "passes/stacks/stack_times.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

// From the first to the last event.
std::vector<PathWindow> whole_trace(const ReleaseGraph& graph) {
  PathWindow out;
  out.begin = std::numeric_limits<std::int64_t>::max();
  for (const Activity& one : graph.activities()) {
    out.begin = std::min(out.begin, one.ts);
    out.end = std::max(out.end, one.end);
  }
  std::int64_t worked = 0;  // until then the thread that ends last, as others may that sleep
  for (const std::uint32_t thread : graph.named_threads()) {
    const Extent open = graph.open_on(thread).bounds();
    if (open.length() == 0) continue;
    out.begin = std::min(out.begin, open.begin);
    const std::int64_t until = graph.worked_on(thread).bounds().end;
    if (std::tie(open.end, until) <= std::tie(out.host_end, worked)) continue;
    out.host_end = open.end, out.thread = thread;
    worked = until;
  }
  out.end = std::max(out.end, out.host_end);
  if (out.thread == 0) out.host_end = std::numeric_limits<std::int64_t>::max();
  return {out};
}

// What of a window is asked for. Where a call waits for what runs at its end, not the host ends it.
PathWindow cut(PathWindow window, const Window& asked, const CriticalPaths& paths) {
  window.is_cut = asked.from > window.begin || asked.to < window.end;
  window.begin = std::max(window.begin, asked.from);
  window.end = std::min(window.end, asked.to);
  if (!window.is_cut || window.thread == 0) return window;
  window.host_end = std::min(window.host_end, window.end);
  const SynchronisingCall* const wait = paths.wait_at(window.thread, window.end);
  if (wait != nullptr && paths.graph().activities()[wait->source].end >= window.end)
    window.host_end = std::min(window.host_end, wait->ts);
  return window;
}

std::vector<PathWindow> selected_windows(Workload& workload, const CriticalPaths& paths) {
  const Selection& selection = workload.selection();
  std::vector<PathWindow> out =
      selection.names_steps()
          ? windows_of_steps(workload.steps(), selected_steps(workload.steps(), selection), workload.events())
          : whole_trace(paths.graph());
  for (PathWindow& window : out) window = cut(window, window_of(selection), paths);
  std::erase_if(out, [](const PathWindow& window) { return window.end <= window.begin; });
  return out;
}

struct PathsOfTrace {
  ReleaseGraph graph;
  CriticalPaths paths;
  std::vector<PathWindow> windows;

  PathsOfTrace(Workload& workload, const PassOptions& options)
      : graph(workload.index(), workload.events(), options.late),
        paths(graph),
        windows(selected_windows(workload, paths)) {}
};

// What host threads did during parts of a critical path: the innermost event that was open, a piece for each.

// Of a path. Ids of table string; 0: none. Those of a segment on a host say what was open there.
struct PathPiece {
  PathSegment segment;
  const Activity* activity = nullptr;  // of the segment; null: none
  std::uint32_t name = 0;              // of the innermost event: call, operator, annotation or Python call
  std::uint32_t innermost_op = 0;      // of the innermost operator
  std::uint32_t stack = 0;             // id in stack, of the innermost Python call
};

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
  std::vector<Extent> wanted;  // the segments there, by begin: other events are passed over

  // `names`: of the innermost frame, by stack.
  void add(const HostEvent& event, std::span<const std::uint32_t> names) {
    while (next_ < wanted.size() && wanted[next_].end <= event.ts) ++next_;
    if (next_ == wanted.size() || wanted[next_].begin >= event.end || event.end <= event.ts) return;
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

  std::size_t next_ = 0;                  // of `wanted`
  std::vector<Open> open_;                // the innermost last
  std::deque<OpenFrom> out_{OpenFrom()};  // of millions: one that doubles would touch twice the memory
};

// By thread, what is open from when to when, as far as the segments on hosts need it.
std::vector<std::deque<OpenFrom>> open_during(const Index& index, const EventTables& tables,
                                              std::span<const PathSegment> segments) {
  std::vector<Flattener> threads;
  for (const PathSegment& segment : segments) {
    if (segment.kind == PathKind::kHost) for_id(threads, segment.thread).wanted.push_back({segment.ts, segment.end});
  }
  for (Flattener& thread : threads) std::ranges::sort(thread.wanted, {}, &Extent::begin);
  const std::vector<std::uint32_t> names = frame_names(index);
  HostEventReader events(index, tables);
  while (const HostEvent* const event = events.next()) {
    if (event->thread >= threads.size() || (event->thread == 0 && event->source != HostSource::kPython)) continue;
    threads[event->thread].add(*event, names);
  }
  std::vector<std::deque<OpenFrom>> out;
  for (Flattener& thread : threads) out.push_back(thread.take());
  return out;
}

// Calls visit(piece) for a segment on a host, cut where its innermost event changes; where none is open it is a
// host_gap.
template <class Visit>
void for_each_piece(const PathSegment& segment, const std::deque<OpenFrom>& open, Visit visit) {
  auto now = std::prev(std::ranges::upper_bound(open, segment.ts, {}, &OpenFrom::ts));
  for (std::int64_t ts = segment.ts; ts < segment.end; ++now) {
    const auto next = std::next(now);
    PathPiece piece{segment, nullptr, now->name, now->innermost_op, now->stack};
    piece.segment.ts = ts;
    piece.segment.is_inferred = segment.is_inferred && ts == segment.ts;
    piece.segment.end = next == open.end() ? segment.end : std::min(segment.end, next->ts);
    if (!now->any) piece.segment.kind = PathKind::kHostGap;
    ts = piece.segment.end;
    visit(piece);
  }
}

// What parts of paths are called.
class Words {
 public:
  explicit Words(Workload& workload)
      : classes_(workload.classes()),
        modules_(workload.index()),
        names_(workload.events(), "name_id"),
        operators_(workload.events(), "cpu_op_id"),
        stacks_(workload.events(), "stack_id"),
        operator_names_(workload.events().operators.ids("name_id")),
        call_names_(workload.events().calls.ids("name_id")),
        texts_(workload.index()) {}

  // String ids; 0: none.
  [[nodiscard]] std::uint32_t name(const PathPiece& piece) const {
    const PathSegment& segment = piece.segment;
    if (segment.call != 0) return call_names_[segment.call - 1];
    return is_device_work(segment.kind) && piece.activity != nullptr ? names_[piece.activity->ref] : piece.name;
  }
  [[nodiscard]] std::uint32_t operator_name(const PathPiece& piece) const {
    const std::uint32_t op = is_of_activity(piece) ? operators_[piece.activity->ref] : 0;
    return op == 0 ? piece.innermost_op : operator_names_[op - 1];
  }
  [[nodiscard]] std::uint32_t module(const PathPiece& piece) const {
    return modules_.id_of(is_of_activity(piece) ? stacks_[piece.activity->ref] : piece.stack);
  }
  [[nodiscard]] std::optional<std::string_view> module_text(std::uint32_t id) const {
    return id == 0 ? std::nullopt : std::optional(modules_.text(id));
  }
  [[nodiscard]] std::optional<std::string_view> class_of(PathKind kind, const Activity* activity) const {
    if (activity == nullptr || activity->ref.is_memory_op || !is_device_work(kind)) return std::nullopt;
    return classes_.class_of(names_[activity->ref]);
  }
  std::optional<std::string_view> text(std::uint32_t id) {
    if (id == 0) return std::nullopt;
    const auto [place, is_new] = known_.try_emplace(id);
    if (is_new) place->second = texts_.of(id).value_or("");
    return place->second;
  }

 private:
  static bool is_device_work(PathKind kind) { return kind <= PathKind::kFill; }
  static bool is_of_activity(const PathPiece& piece) {
    return piece.activity != nullptr && piece.segment.kind != PathKind::kSyncReturn;
  }

  const KernelClasses& classes_;
  InnermostModules modules_;
  EventIds names_, operators_, stacks_;
  std::span<const std::uint32_t> operator_names_, call_names_;
  TextById texts_;
  std::map<std::uint32_t, std::string> known_;
};

// Calls visit(window, piece) for all parts of the paths, in their order. One walk over each table.
template <class Visit>
void for_each_part(Workload& workload, const PathsOfTrace& all, Visit visit) {
  std::vector<PathSegment> segments;
  std::vector<std::size_t> ends;  // by window: the place behind its last
  for (const PathWindow& window : all.windows) {
    const std::vector<PathSegment> path = all.paths.path(window);
    segments.insert(segments.end(), path.begin(), path.end());
    ends.push_back(segments.size());
  }
  const std::vector<std::deque<OpenFrom>> open = open_during(workload.index(), workload.events(), segments);
  std::size_t window = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    while (i >= ends[window]) ++window;
    const auto visit_piece = [&](const PathPiece& piece) { visit(all.windows[window], piece); };
    const std::uint32_t one = segments[i].activity;
    if (segments[i].kind == PathKind::kHost) {
      for_each_piece(segments[i], open[segments[i].thread], visit_piece);
    } else {
      visit_piece({segments[i], one == kNoActivity ? nullptr : &all.graph.activities()[one]});
    }
  }
}

void fill_path(Workload& workload, const PassOptions& options, TableRows& rows) {
  const PathsOfTrace all(workload, options);
  Words words(workload);
  for_each_part(workload, all, [&](const PathWindow& window, const PathPiece& piece) {
    const PathSegment& segment = piece.segment;
    const Activity* const activity = piece.activity;
    rows.add(window.step, segment.ts, segment.end, segment.end - segment.ts);
    rows.add(kPathKindNames[static_cast<std::size_t>(segment.kind)]);
    rows.add(activity == nullptr ? std::nullopt : known_id(activity->device), known_id(segment.thread));
    rows.add(words.text(words.name(piece)), words.class_of(segment.kind, activity));
    rows.add(words.text(words.operator_name(piece)));
    rows.add(words.module_text(words.module(piece)), std::int64_t{segment.is_inferred});
    add_event(rows, activity == nullptr ? EventRef{} : activity->ref);
    rows.add(known_id(segment.call));
  });
}

void fill_sums(Workload& workload, const PassOptions& options, TableRows& rows) {
  const PathsOfTrace all(workload, options);
  Words words(workload);
  struct Sum {
    std::int64_t time = 0, parts = 0, inferred = 0;
    std::optional<std::string_view> class_name;
  };
  // By step (-1: of none), kind, name, operator, module, device, thread.
  using Key =
      std::tuple<std::int64_t, PathKind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<std::pair<Key, Sum>> sums;
  DenseIndex known;
  for_each_part(workload, all, [&](const PathWindow& window, const PathPiece& piece) {
    const PathSegment& segment = piece.segment;
    const Activity* const activity = piece.activity;
    const Key key(window.step.value_or(-1), segment.kind, words.name(piece), words.operator_name(piece),
                  words.module(piece), activity == nullptr ? 0 : activity->device, segment.thread);
    std::uint64_t hash = 0;
    std::apply([&](auto... id) { ((hash = hash * 1'000'003 + static_cast<std::uint64_t>(id)), ...); }, key);
    const auto [place, is_new] = known.index_of(hash, [&](std::uint32_t at) { return sums[at].first == key; });
    if (is_new) sums.emplace_back(key, Sum{});
    Sum& sum = sums[place].second;
    sum.time = saturating_add(sum.time, segment.end - segment.ts);
    ++sum.parts;
    sum.inferred += segment.is_inferred ? 1 : 0;
    sum.class_name = words.class_of(segment.kind, activity);
  });
  std::ranges::sort(sums, {}, &std::pair<Key, Sum>::first);
  for (const auto& [key, sum] : sums) {
    const auto& [step, kind, name, op, module, device, thread] = key;
    rows.add(step < 0 ? std::nullopt : std::optional(step), kPathKindNames[static_cast<std::size_t>(kind)]);
    rows.add(words.text(name), sum.class_name);
    rows.add(words.text(op), words.module_text(module), known_id(device), known_id(thread));
    rows.add(sum.time, sum.parts, sum.inferred);
  }
}

void fill_slack(Workload& workload, const PassOptions& options, TableRows& rows) {
  const PathsOfTrace all(workload, options);
  const EventIds names(workload.events(), "name_id");
  Words words(workload);
  for (const PathWindow& window : all.windows) {
    for (const Slack& slack : all.paths.slack(window)) {
      const Activity& one = all.graph.activities()[slack.activity];
      rows.add(window.step, one.ts, one.end - one.ts, known_time(slack.ns), known_time(slack.least));
      rows.add(words.text(names[one.ref]), words.class_of(PathKind::kComputation, &one), known_id(one.stream));
      add_event(rows, one.ref);
    }
  }
}

void fill_releases(Workload& workload, const PassOptions& options, TableRows& rows) {
  constexpr std::string_view kNames[] = {"launch", "stream", "event", "inferred"};
  const ReleaseGraph graph(workload.index(), workload.events(), options.late);
  const auto all = graph.activities();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::optional<Release> binding = graph.binding(i);
    graph.for_each_release(i, [&](const Release& release) {
      const bool is_launch = release.kind == ReleaseKind::kLaunch;
      add_event(rows, all[i].ref);
      rows.add(kNames[static_cast<std::size_t>(release.kind)], release.at, all[i].ts - release.at);
      rows.add(std::int64_t{binding->kind == release.kind && binding->activity == release.activity});
      add_event(rows, is_launch ? EventRef{} : all[release.activity].ref);
      rows.add(is_launch ? known_id(all[i].call) : std::nullopt);
    });
  }
  for (const SynchronisingCall& call : graph.calls()) {
    for (const std::uint32_t one : call.awaited) {
      add_event(rows, {});
      rows.add(call.is_inferred ? "inferred_return" : "return", all[one].end, call.end - all[one].end);
      rows.add(std::int64_t{one == call.source});
      add_event(rows, all[one].ref);
      rows.add(known_id(call.call));
    }
  }
}

// Which activities a change is about: comm, an operation class, kernels, copies and fills by name, else what operators
// of a name launch.
class Changed {
 public:
  Changed(Workload& workload, const std::string& what)
      : comm_(what == "comm"), copy_(what == "copy"), operators_(workload.events(), "cpu_op_id") {
    if (comm_) return;
    Selection selection;
    const auto& declared = workload.classes().declared();
    if (std::ranges::find(declared, what) == declared.end()) {
      if (keep_names(workload, what) || keep_operators(workload, what)) return;
    }
    selection.ops = {what};
    selection.op_option = "--what-if ";
    keep(workload, selection);  // where it is none, this fails and says which there are
  }
  [[nodiscard]] bool has(const Activity& activity) const {
    if (comm_) return communicates(activity.work);
    if (!is_operator_.empty()) return has_id(is_operator_, operators_[activity.ref]);
    if (activity.ref.is_memory_op) return has_id(is_copy_, activity.ref.id) || (copy_ && activity.work == Work::kCopy);
    return filter_->keeps_kernel(activity.ref.id - 1);
  }

 private:
  void keep(Workload& workload, const Selection& selection) {
    filter_.emplace(EventFilter(workload.index(), selection, {workload.events(), &workload.classes()}, Times::kWindow));
  }
  bool keep_names(Workload& workload, const std::string& what) {
    Selection selection;
    selection.name_glob = what;
    keep(workload, selection);
    Statement copies(workload.index().database(),
                     "SELECT id FROM memory_op WHERE name_id IN (SELECT id FROM string WHERE value GLOB ?)", what);
    while (copies.step()) for_id(is_copy_, copies.id(0)) = true;
    for (std::size_t i = 0; i < workload.events().kernels.size(); ++i) {
      if (filter_->keeps_kernel(i)) return true;
    }
    return !is_copy_.empty();
  }
  bool keep_operators(Workload& workload, const std::string& what) {
    Statement found(workload.index().database(), "SELECT id FROM string WHERE value GLOB ?", what);
    std::unordered_set<std::uint32_t> wanted;
    while (found.step()) wanted.insert(found.id(0));
    const EventColumns& all = workload.events().operators;
    all.read({"name_id", "parent_id"});
    const auto names = all.ids("name_id"), parents = all.ids("parent_id");
    bool any = false;
    std::vector<bool> is_operator(names.size() + 1);  // itself, or one around it
    for (std::size_t i = 0; i < names.size() && !wanted.empty(); ++i) {
      is_operator[i + 1] = wanted.contains(names[i]) || (parents[i] <= i && is_operator[parents[i]]);
      any |= is_operator[i + 1];
    }
    if (any) is_operator_ = std::move(is_operator);
    return any;
  }

  bool comm_, copy_;
  EventIds operators_;
  std::vector<bool> is_operator_;  // by id in cpu_op
  std::vector<bool> is_copy_;      // by id in memory_op
  std::optional<EventFilter> filter_;
};

void fill_what_if(Workload& workload, const PassOptions& options, TableRows& rows) {
  const PathsOfTrace all(workload, options);
  const auto total = [&](const WhatIf& change) {
    WhatIfLength out;
    for (const PathWindow& window : all.windows) {
      const WhatIfLength one = all.paths.what_if(window, change);
      out.length = saturating_add(out.length, one.length);
      out.is_lower_bound |= one.is_lower_bound;
    }
    return out;
  };
  const auto unchanged = [](const Activity&) { return DurationFactor{}; };
  std::int64_t length = 0;
  for (const PathWindow& window : all.windows) length = saturating_add(length, window.end - window.begin);
  const WhatIfLength floor = total({[](const Activity&) { return DurationFactor{0, 1}; }, {}, {}});
  for (const DurationChange& change : options.what_if) {
    const DurationFactor factor{change.numerator, change.denominator};
    WhatIf what{unchanged, {}, {}};
    std::optional<Changed> changed;
    std::int64_t activities = 0;
    if (change.what == "launch") {
      what.launch_delay = factor;
    } else if (change.what == "host") {
      what.host = factor;
    } else {
      changed.emplace(workload, change.what);
      what.activities = [&](const Activity& one) {
        if (!changed->has(one)) return DurationFactor{};
        ++activities;
        return factor;
      };
    }
    if (all.windows.empty()) continue;
    const WhatIfLength result = total(what);
    rows.add(change.what, static_cast<double>(change.numerator) / static_cast<double>(change.denominator));
    rows.add(length, result.length, length - result.length, floor.length);
    rows.add(std::int64_t{result.is_lower_bound}, std::int64_t{floor.is_lower_bound}, all.windows.size());
    rows.add(changed ? std::optional(activities) : std::nullopt);
  }
}

}  // namespace

std::vector<PassTable> critical_path_tables() {
  return {declared_table("critical_path", fill_path), declared_table("critical_path_sums", fill_sums),
          declared_table("path_slack", fill_slack), declared_table("releases", fill_releases),
          declared_table("path_what_if", fill_what_if)};
}

}  // namespace tracedb
