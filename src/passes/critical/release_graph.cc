#include "passes/critical/release_graph.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/dense_index.h"
#include "base/unknown.h"
#include "trace/format_holds.h"
#include "trace/step_grammar.h"

namespace tracedb {
// A row of table sync whose call is known.
struct ReleaseGraph::Recorded {
  enum class Kind { kStreamWait, kStream, kContext, kEvent } kind = Kind::kContext;
  static Kind kind_of(std::string_view name) {
    if (name == "Stream Wait Event" || name == "event_wait") return Kind::kStreamWait;
    if (name == "Stream Sync") return Kind::kStream;
    return name == "Event Sync" ? Kind::kEvent : Kind::kContext;
  }
  std::uint32_t call = 0, recorded_by = 0;  // ids in runtime_call; 0: not known
  std::uint32_t stream = 0;                 // that waits or is waited for; 0: not known
  std::uint32_t device = 0;                 // 0: not known
  bool names_stream = false;                // that is waited for
  std::vector<std::uint32_t> wait_streams;  // with its number
};

ReleaseGraph::ReleaseGraph(const Index& index, const EventTables& events, std::int64_t late)
    : index_(index),
      events_(events),
      late_(late),
      call_ts_(events.calls.int64s("ts")),
      call_dur_(events.calls.int64s("dur")),
      call_thread_(events.calls.ids("thread_id")),
      call_kind_(events.calls.ids("kind")),
      device_of_stream_(events.device_of_stream) {
  read_threads();
  read_activities();
  order_streams();
  const std::vector<Recorded> recorded = read_recorded();
  add_recorded(recorded);
  infer_releases();
  add_calls(recorded);
  std::ranges::sort(calls_, {}, [](const SynchronisingCall& call) { return std::tuple(call.end, call.ts, call.call); });
}

void ReleaseGraph::read_threads() {
  process_of_thread_ = ids_by_id(index_, "thread", "process_id");
  Statement named(index_.database(),
                  "SELECT t.id FROM thread t JOIN process p ON p.id = t.process_id ORDER BY p.pid, t.tid, t.name");
  while (named.step()) named_threads_.push_back(named.id(0));
  open_.resize(process_of_thread_.size());
  worked_.resize(process_of_thread_.size());
  const std::map<std::uint32_t, std::set<std::uint32_t>> backward = backward_threads();
  HostEventReader host(index_, events_);
  while (const HostEvent* const event = host.next()) {
    if (event->thread >= open_.size()) continue;
    const bool works = event->source >= HostSource::kOperator;
    if (works) worked_[event->thread].add(event->ts, event->end);
    if (!works || !backward.contains(event->thread)) open_[event->thread].add(event->ts, event->end);
  }
  for (const auto& [thread, engines] : backward) {
    std::vector<Extent> waits, open;
    for (const std::uint32_t engine : engines) add_waits(thread, engine, waits);
    const TimeCover waiting(waits);
    const auto add = [&](std::int64_t begin, std::int64_t end) { open.push_back({begin, end}); };
    for (std::size_t i = 0; i < open_[thread].size(); ++i)
      waiting.for_each_gap(open_[thread][i].begin, open_[thread][i].end, add);
    for (std::size_t i = 0; i < worked_[thread].size(); ++i) add(worked_[thread][i].begin, worked_[thread][i].end);
    open_[thread] = TimeCover(open);
  }
}

// By thread: those on which autograd ran the backward of its operators.
std::map<std::uint32_t, std::set<std::uint32_t>> ReleaseGraph::backward_threads() const {
  std::map<std::uint32_t, std::set<std::uint32_t>> out;
  const auto is_backward =
      by_id<char>(index_, "SELECT id, value FROM string WHERE value GLOB '*ackward*' OR value GLOB '*autograd*'",
                  [](Statement& row) { return is_backward_operator(row.text(1)); });
  if (is_backward.size() == 1) return out;
  const auto sequence = events_.operators.int64s("sequence_number");
  const auto thread = events_.operators.ids("thread_id"), name = events_.operators.ids("name_id");
  constexpr unsigned kNumberBits = 40;  // larger numbers than training counts to are left out
  DenseIndex numbers;                   // by process and sequence number
  std::vector<std::uint32_t> forward;   // the thread that had it first
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i] < 0 || sequence[i] >> kNumberBits != 0 || thread[i] >= process_of_thread_.size()) continue;
    const std::uint64_t process = process_of(thread[i]);
    const auto [place, is_new] = numbers.index_of(process << kNumberBits | static_cast<std::uint64_t>(sequence[i]));
    if (is_new) forward.push_back(thread[i]);
    const bool is_engine = name[i] < is_backward.size() && is_backward[name[i]] != 0;
    if (is_engine && forward[place] != thread[i]) out[forward[place]].insert(thread[i]);
  }
  return out;
}

// When a thread does nothing while autograd works for it, until that has done its last: backward() has not returned,
// whatever annotations and Python calls are open around it.
void ReleaseGraph::add_waits(std::uint32_t thread, std::uint32_t engine, std::vector<Extent>& out) const {
  const std::size_t first = out.size();
  for (std::size_t i = 0; i < worked_[engine].size(); ++i) {
    const Extent work = worked_[engine][i];
    const Extent before = worked_[thread].last_before(work.end);
    if (before.length() == 0 || before.end >= work.end) continue;
    if (out.size() > first && out.back().begin >= before.end)
      out.back().end = work.end;
    else
      out.push_back({std::max(work.begin, before.end), work.end});
  }
}

void ReleaseGraph::read_activities() {
  const DeviceColumns columns(events_, LaneBy::kDevice);
  activities_.reserve(events_.kernels.size() + events_.memory.size());
  for_each_in_order(columns.work(), [&](const DeviceEvent& event) {
    const std::uint32_t call = event.launch <= call_ts_.size() ? event.launch : 0;
    const std::uint32_t device = event.stream < device_of_stream_.size() ? device_of_stream_[event.stream] : 0;
    activities_.push_back({event.ts, event.end, event.ref, event.stream, device, call, kNoActivity, event.work});
  });
}

void ReleaseGraph::order_streams() {
  for (std::uint32_t i = 0; i < activities_.size(); ++i) {
    Activity& one = activities_[i];
    std::vector<std::uint32_t>& stream = for_id(of_stream_, one.stream);
    if (!stream.empty() && activities_[stream.back()].ts < one.ts) one.before = stream.back();
    if (!stream.empty() && activities_[stream.back()].ts == one.ts) one.before = activities_[stream.back()].before;
    stream.push_back(i);
  }
  launched_on_.resize(of_stream_.size());
  const auto call = [&](std::uint32_t activity) { return activities_[activity].call; };
  for (std::size_t stream = 0; stream < of_stream_.size(); ++stream) {
    std::vector<std::uint32_t>& launched = launched_on_[stream];
    for (const std::uint32_t one : of_stream_[stream]) {
      if (call(one) != 0) launched.push_back(one);
    }
    // Calls are numbered in order of time.
    if (!std::ranges::is_sorted(launched, {}, call)) std::ranges::stable_sort(launched, {}, call);
  }
}

std::optional<Release> ReleaseGraph::binding(std::uint32_t activity) const {
  std::optional<Release> last;
  for_each_release(activity, [&](const Release& release) {
    if (!last || release.at >= last->at) last = release;  // of those at one time: inferred, event, stream, launch
  });
  return last;
}

// Of what ended on other streams of the device while an activity did not start though all that is known was there: the
// last. `last`: what each stream began so far.
std::uint32_t ReleaseGraph::last_elsewhere(const Activity& one, std::int64_t known,
                                           std::span<const std::uint32_t> streams,
                                           std::span<const std::uint32_t> last) const {
  std::uint32_t found = kNoActivity;
  std::int64_t latest = std::max(known, one.ts - late_ - 1);
  for (const std::uint32_t stream : streams) {
    if (stream == one.stream) continue;
    std::uint32_t other = last[stream];
    while (other != kNoActivity && activities_[other].end > one.ts) other = activities_[other].before;
    if (other == kNoActivity || activities_[other].ts >= one.ts || activities_[other].end <= latest) continue;
    latest = activities_[other].end;
    found = other;
  }
  return found;
}

void ReleaseGraph::infer_releases() {
  std::vector<std::vector<std::uint32_t>> streams;  // by device
  for (std::uint32_t stream = 0; stream < of_stream_.size(); ++stream) {
    const std::uint32_t device = stream < device_of_stream_.size() ? device_of_stream_[stream] : 0;
    std::vector<std::uint32_t>& own = for_id(streams, device);
    if (!of_stream_[stream].empty()) own.push_back(stream);
  }
  // One call launches a program, whose operations follow each other across the lines of a TPU.
  const bool is_of_xla = is_xla(index_.meta("format").value_or(""));
  std::vector<std::uint32_t> last(of_stream_.size(), kNoActivity);
  for (std::uint32_t i = 0; i < activities_.size(); ++i) {
    Activity& one = activities_[i];
    one.queued = ends_in_its_call(one);
    const std::optional<Release> known = binding(i);
    const bool late = known && is_late(one, *known);
    const bool in_program = is_of_xla && one.before != kNoActivity && activities_[one.before].call == one.call;
    const bool is_asked = late || (known && in_program && known->at < one.ts);
    const std::uint32_t found = is_asked ? last_elsewhere(one, known->at, streams[one.device], last) : kNoActivity;
    if (found != kNoActivity)
      inferred_.emplace_back(i, found);
    else if (late || (known && known->kind == ReleaseKind::kLaunch))
      one.queued = false;  // the host prepared it
    last[one.stream] = i;
  }
}

// Calls by the correlations that table sync names. A correlation is unique only together with its process.
class ReleaseGraph::CallsByCorrelation {
 public:
  CallsByCorrelation(const ReleaseGraph& graph, Database& database) : graph_(graph) {
    std::unordered_set<std::int64_t> wanted;
    Statement numbers(database, "SELECT correlation FROM sync UNION SELECT wait_correlation FROM sync");
    while (numbers.step()) {
      if (!numbers.is_null(0)) wanted.insert(numbers.int64(0));
    }
    const auto correlation = graph.events_.calls.int64s("correlation");
    for (std::uint32_t i = 0; i < correlation.size(); ++i) {
      if (wanted.contains(correlation[i])) calls_.emplace(correlation[i], i + 1);
    }
  }
  // The nearest in time of those that have it; `process` 0: of any. 0: there is none.
  [[nodiscard]] std::uint32_t find(const Statement& row, int column, std::int64_t ts, std::uint32_t process) const {
    if (row.is_null(column)) return 0;
    using Distance = std::pair<std::int64_t, std::uint32_t>;
    Distance best{std::numeric_limits<std::int64_t>::max(), 0};
    const auto [first, last] = calls_.equal_range(row.int64(column));
    for (auto one = first; one != last; ++one) {
      if (process != 0 && graph_.process_of(graph_.thread_of(one->second)) != process) continue;
      const std::int64_t at = graph_.call_ts(one->second);
      best = std::min(best, Distance{std::max(at, ts) - std::min(at, ts), one->second});
    }
    return best.second;
  }

 private:
  const ReleaseGraph& graph_;
  std::unordered_multimap<std::int64_t, std::uint32_t> calls_;
};

namespace {

// By row of table sync, in its order: the device; 0: not known. They are rows of slice, too, on a track of that device,
// in the same order.
std::vector<std::uint32_t> devices_of_sync(Database& database) {
  std::vector<std::uint32_t> out;
  Statement rows(database, "SELECT ts, name_id FROM sync ORDER BY id");
  Statement slices(database,
                   "SELECT s.ts, s.name_id, d.id FROM slice s JOIN process p ON p.id = s.process_id LEFT JOIN device d "
                   "ON d.ordinal = p.pid WHERE s.name_id IN (SELECT name_id FROM sync) ORDER BY s.id");
  while (rows.step()) {
    out.push_back(0);
    bool found = false;
    while (!found && slices.step()) {
      found = slices.int64(0) == rows.int64(0) && slices.id(1) == rows.id(1);
      if (found && !slices.is_null(2)) out.back() = slices.id(2);
    }
  }
  return out;
}

}  // namespace

std::vector<ReleaseGraph::Recorded> ReleaseGraph::read_recorded() {
  Database& database = index_.database();
  std::vector<Recorded> out;
  if (!database.query_int64("SELECT 1 FROM sync LIMIT 1")) return out;
  const CallsByCorrelation calls(*this, database);
  const std::vector<std::uint32_t> devices = devices_of_sync(database);
  std::size_t row = 0;
  std::map<std::int64_t, std::vector<std::uint32_t>> streams;  // by number
  Statement numbers(database, "SELECT id, number FROM stream WHERE typeof(number) = 'integer' ORDER BY id");
  while (numbers.step()) {
    if (numbers.id(0) < launched_on_.size()) streams[numbers.int64(1)].push_back(numbers.id(0));
  }
  Statement rows(database,
                 "SELECT s.ts, t.value, s.stream_id, s.correlation, s.wait_stream, s.wait_correlation "
                 "FROM sync s JOIN string t ON t.id = s.name_id ORDER BY s.id");
  while (rows.step()) {
    Recorded one;
    one.kind = Recorded::kind_of(rows.text(1));
    one.stream = rows.is_null(2) ? 0 : rows.id(2);
    one.device = one.stream != 0 ? device_of_stream_[one.stream] : devices[row];
    ++row;
    one.call = calls.find(rows, 3, rows.int64(0), 0);
    if (one.call == 0) continue;
    one.recorded_by = calls.find(rows, 5, rows.int64(0), process_of(thread_of(one.call)));
    one.names_stream = !rows.is_null(4);
    if (one.names_stream) one.wait_streams = streams[rows.int64(4)];
    const auto elsewhere = [&](std::uint32_t stream) {
      return one.device != 0 && device_of_stream_[stream] != one.device;
    };
    // Some profilers take all calls for those of one device, and streams wait for those of others.
    const bool may_be = one.stream == 0 || one.wait_streams.size() == 1;
    if (!may_be || !std::ranges::all_of(one.wait_streams, elsewhere)) std::erase_if(one.wait_streams, elsewhere);
    out.push_back(std::move(one));
  }
  return out;
}

// The last activity of a stream that the process launched before a call; a process of 0: any.
std::uint32_t ReleaseGraph::last_launched(std::uint32_t stream, std::uint32_t before_call,
                                          std::uint32_t process) const {
  const std::vector<std::uint32_t>& launched = launched_on_[stream];
  const std::int64_t ts = call_ts(before_call);
  auto found =
      std::ranges::lower_bound(launched, ts, {}, [&](std::uint32_t one) { return call_ts(activities_[one].call); });
  while (found != launched.begin()) {
    --found;
    if (process_of(thread_of(activities_[*found].call)) == process) return *found;
  }
  return kNoActivity;
}

// A wait binds what its stream launches next.
void ReleaseGraph::add_recorded(const std::vector<Recorded>& recorded) {
  std::set<std::pair<std::uint32_t, std::int64_t>> synchronised;  // streams, when
  for (const Recorded& one : recorded) {
    if (one.kind == Recorded::Kind::kStream) synchronised.emplace(one.stream, call_ts(one.call));
  }
  for (const Recorded& one : recorded) {
    if (one.kind != Recorded::Kind::kStreamWait || one.stream == 0 || one.stream >= launched_on_.size()) continue;
    const std::vector<std::uint32_t>& launched = launched_on_[one.stream];
    const auto next = std::ranges::upper_bound(launched, call_ts(one.call), {},
                                               [&](std::uint32_t after) { return call_ts(activities_[after].call); });
    StreamWait wait{one.stream, call_ts(one.call), std::numeric_limits<std::int64_t>::max()};
    if (next != launched.end()) wait.until = call_ts(activities_[*next].call);
    // Who waits for the stream afterwards finds it done.
    const auto sync = synchronised.lower_bound({one.stream, wait.ts});
    if (sync != synchronised.end() && sync->first == one.stream) wait.until = std::min(wait.until, sync->second);
    if (one.recorded_by == 0) {
      stream_waits_.push_back(wait);
      continue;
    }
    for (const std::uint32_t stream : one.wait_streams) {
      wait.source = last_launched(stream, one.recorded_by, process_of(thread_of(one.recorded_by)));
      if (wait.source == kNoActivity) continue;
      stream_waits_.push_back(wait);
      if (next != launched.end() && wait.source != *next) event_waits_.emplace_back(*next, wait.source);
    }
  }
  std::ranges::sort(event_waits_);
  std::ranges::sort(stream_waits_);
}

// Of what the process of a call launched before it, or somebody unknown, the last that ended inside it and may have
// been waited for.
std::uint32_t ReleaseGraph::last_ended_inside(std::uint32_t call,
                                              const std::function<bool(const Activity&)>& may) const {
  const std::int64_t ts = call_ts(call), end = call_end(call);
  const std::uint32_t process = process_of(thread_of(call));
  std::uint32_t best = kNoActivity;
  for (const std::vector<std::uint32_t>& stream : of_stream_) {
    const auto started = [&](std::uint32_t one) { return activities_[one].ts; };
    for (auto next = std::ranges::upper_bound(stream, end, {}, started); next != stream.begin();) {
      const Activity& one = activities_[*--next];
      if (one.end > end) continue;  // still running then
      if (one.end <= ts || (best != kNoActivity && one.end <= activities_[best].end)) break;
      if (one.call != 0 && (call_ts(one.call) >= ts || process_of(thread_of(one.call)) != process)) continue;
      if (may(one)) best = *next;
    }
  }
  return best;
}

void ReleaseGraph::add_call(std::uint32_t id, bool is_inferred, const std::vector<std::uint32_t>& awaited) {
  SynchronisingCall call{call_ts(id), call_end(id), id, thread_of(id), kNoActivity, is_inferred, false, {}};
  for (const std::uint32_t one : awaited) {
    const std::int64_t end = activities_[one].end;
    if (end > call.end) continue;  // what still runs when it returns cannot be what it waits for
    call.awaited.push_back(one);
    if (end > call.ts && (call.source == kNoActivity || end > activities_[call.source].end)) call.source = one;
  }
  call.may_have_waited = call.source == kNoActivity && last_ended_inside(id) != kNoActivity;
  calls_.push_back(std::move(call));
}

// Of all streams of a device, or of all devices if it is 0 or nothing of it was launched, what a call may wait for.
std::vector<std::uint32_t> ReleaseGraph::launched_before(std::uint32_t call, std::uint32_t device) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t stream = 0; stream < launched_on_.size(); ++stream) {
    if (device != 0 && (stream >= device_of_stream_.size() || device_of_stream_[stream] != device)) continue;
    const std::uint32_t last = last_launched(stream, call, process_of(thread_of(call)));
    if (last != kNoActivity) out.push_back(last);
  }
  return out.empty() && device != 0 ? launched_before(call, 0) : out;
}

// A stream is waited for with what it waits for itself.
void ReleaseGraph::await_stream(std::uint32_t call, std::uint32_t stream, Awaited& out) const {
  out.streams.emplace();  // none, where nothing runs on it
  if (stream == 0 || stream >= launched_on_.size()) return;
  out.streams->push_back(stream);
  out.all.push_back(last_launched(stream, call, process_of(thread_of(call))));
  const std::int64_t ts = call_ts(call);
  auto wait = std::ranges::lower_bound(stream_waits_, StreamWait{stream, ts});
  while (wait != stream_waits_.begin() && (--wait)->stream == stream && wait->until >= ts) {
    out.all.push_back(wait->source);
    if (wait->source != kNoActivity) continue;
    out.is_known = false;
    out.streams.reset();
  }
}

void ReleaseGraph::await_event(std::uint32_t call, const Recorded& record, Awaited& out) const {
  out.is_known = record.recorded_by != 0 && record.names_stream;
  if (record.names_stream) out.streams = record.wait_streams;
  if (record.recorded_by == 0) return;
  for (const std::uint32_t stream : record.wait_streams)
    out.all.push_back(last_launched(stream, record.recorded_by, process_of(thread_of(call))));
}

// What is recorded; where that leads to nothing that ended in the call, and where nothing is, what is inferred.
ReleaseGraph::Awaited ReleaseGraph::awaited_by(std::uint32_t call, const Recorded* record, bool all) const {
  Awaited out;
  out.is_known = record != nullptr;
  out.is_inferred = record == nullptr;
  const std::uint32_t device = record == nullptr ? 0 : record->device;
  if (record != nullptr && record->kind == Recorded::Kind::kStream) {
    await_stream(call, record->stream, out);
  } else if (record != nullptr && record->kind == Recorded::Kind::kEvent) {
    await_event(call, *record, out);
  } else if (record != nullptr || all) {
    out.all = launched_before(call, device);
  }
  std::erase(out.all, kNoActivity);
  const auto ended = [&](std::uint32_t one) {
    return activities_[one].end > call_ts(call) && activities_[one].end <= call_end(call);
  };
  if (record != nullptr && std::ranges::any_of(out.all, ended)) return out;
  const std::uint32_t found = last_ended_inside(call, [&](const Activity& one) {
    const bool is_there = out.streams ? std::ranges::find(*out.streams, one.stream) != out.streams->end()
                                      : device == 0 || one.device == device;
    return is_there && (!out.is_known || one.call == 0);
  });
  if (found == kNoActivity) return out;
  out.is_inferred = true;
  if (std::ranges::find(out.all, found) == out.all.end()) out.all.push_back(found);
  return out;
}

void ReleaseGraph::add_calls(const std::vector<Recorded>& recorded) {
  std::unordered_map<std::uint32_t, const Recorded*> by_call;
  for (const Recorded& one : recorded) by_call.emplace(one.call, &one);
  struct Waits {
    bool for_all;  // that the process launched
    bool frees;    // memory, when all work that may use it is done
  };
  std::unordered_map<std::uint32_t, Waits> names;  // of calls that wait
  Statement waiting(
      index_.database(),
      "SELECT id, value GLOB '*Device*' OR value GLOB '*Ctx*' OR value GLOB '*Context*', value GLOB '*Free' FROM "
      "string WHERE value GLOB '*Synchronize*' OR value IN ('cudaMemcpy', 'hipMemcpy', 'hipMemcpyWithStream', "
      "'cudaFree', 'hipFree')");
  while (waiting.step()) names.emplace(waiting.id(0), Waits{waiting.int64(1) != 0, waiting.int64(2) != 0});
  const auto name = events_.calls.ids("name_id");
  for (std::uint32_t call = 1; call <= name.size(); ++call) {
    const auto found = names.find(name[call - 1]);
    if (found == names.end()) continue;
    // The first use of a device, and what nothing used: the host's own time.
    const Waits& waits = found->second;
    if (waits.frees && last_ended_inside(call) == kNoActivity) continue;
    const auto record = by_call.find(call);
    const Awaited awaited =
        awaited_by(call, record == by_call.end() ? nullptr : record->second, waits.for_all || waits.frees);
    add_call(call, awaited.is_inferred, awaited.all);
  }
  add_copies();
}

bool ReleaseGraph::ends_in_its_call(const Activity& copy) const {
  return copy.work == Work::kCopy && copy.call != 0 && copy.end > call_ts(copy.call) &&
         copy.end <= call_end(copy.call) && static_cast<CallKind>(call_kind_[copy.call - 1]) == CallKind::kCopy;
}

// Calls that return when their own copy is done wait for it, whatever their name.
void ReleaseGraph::add_copies() {
  std::map<std::uint32_t, std::uint32_t> last;  // by call
  for (std::uint32_t i = 0; i < activities_.size(); ++i) {
    const Activity& one = activities_[i];
    if (!ends_in_its_call(one)) continue;
    const auto [place, is_new] = last.emplace(one.call, i);
    if (!is_new && one.end > activities_[place->second].end) place->second = i;
  }
  for (SynchronisingCall& call : calls_) {
    const auto own = last.find(call.call);
    if (own == last.end()) continue;
    if (call.is_inferred) {  // its own rather than any that ended in it
      call.source = own->second;
      call.awaited = {own->second};
    }
    last.erase(own);
  }
  for (const auto& [call, own] : last) add_call(call, true, {own});
}

namespace {

constexpr std::int64_t kStillOpen = std::numeric_limits<std::int64_t>::max();

// A thread at a moment. Who ended last comes first, then who worked last, then who began that last.
struct Standing {
  std::int64_t open_until = 0, worked_until = 0, work_began = 0;
  std::uint32_t place = 0;  // of the thread among those of its process
  friend bool operator<(const Standing& a, const Standing& b) {
    return std::tie(b.open_until, b.worked_until, b.work_began, a.place) <
           std::tie(a.open_until, a.worked_until, a.work_began, b.place);
  }
};

}  // namespace

HandOvers::HandOvers(const ReleaseGraph& graph) : graph_(graph) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> threads;  // by process, on which anything was open
  for (const std::uint32_t thread : graph.named_threads()) {
    if (graph.open_on(thread).size() > 0) threads[graph.process_of(thread)].push_back(thread);
  }
  for (const auto& [process, own] : threads) {
    if (own.size() > 1) last_[process] = follow(own);
  }
}

// Goes through all begins and ends in order of time.
std::vector<HandOvers::Last> HandOvers::follow(const std::vector<std::uint32_t>& threads) const {
  std::vector<Last> out;
  std::vector<Standing> standings;
  std::set<Standing> order;  // of those that began
  const auto cover = [&](std::uint32_t number) -> const TimeCover& {
    return number % 2 == 0 ? graph_.open_on(threads[number / 2]) : graph_.worked_on(threads[number / 2]);
  };
  using Edge = std::tuple<std::int64_t, std::uint32_t, std::size_t>;  // when, number of a cover, 2 * stretch + is_end
  std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
  const auto expect = [&](std::uint32_t number, std::size_t edge) {
    if (edge / 2 == cover(number).size()) return;
    const Extent stretch = cover(number)[edge / 2];
    edges.emplace(edge % 2 == 0 ? stretch.begin : stretch.end, number, edge);
  };
  for (std::uint32_t place = 0; place < threads.size(); ++place) {
    standings.push_back({.place = place});
    expect(2 * place, 0);
    expect(2 * place + 1, 0);
  }
  while (!edges.empty()) {
    const auto [ts, number, edge] = edges.top();
    edges.pop();
    expect(number, edge + 1);
    Standing& one = standings[number / 2];
    order.erase(one);
    (number % 2 == 0 ? one.open_until : one.worked_until) = edge % 2 == 0 ? kStillOpen : ts;
    if (number % 2 == 1) one.work_began = cover(number)[edge / 2].begin;
    order.insert(one);
    if (!edges.empty() && std::get<0>(edges.top()) == ts) continue;
    Last last{.after = ts};
    for (auto next = order.begin(); next != order.end() && last.size < last.threads.size(); ++next)
      last.threads[last.size++] = threads[next->place];
    if (out.empty() || out.back().threads != last.threads) out.push_back(last);
  }
  return out;
}

HandOver HandOvers::find(std::uint32_t thread, std::int64_t since, std::int64_t moment) const {
  HandOver out{thread, since};
  const auto process = last_.find(graph_.process_of(thread));
  if (process == last_.end()) return out;
  const auto next = std::ranges::lower_bound(process->second, moment, {}, &Last::after);
  if (next == process->second.begin()) return out;
  const Last& last = *std::prev(next);
  const auto until = [&](const TimeCover& cover) { return std::min(cover.last_before(moment).end, moment); };
  std::int64_t worked = 0;  // of the one found
  for (const std::uint32_t other : std::span(last.threads).first(last.size)) {
    if (other == thread) continue;
    const std::int64_t at = until(graph_.open_on(other)), work = until(graph_.worked_on(other));
    if (out.from != thread) {
      out.is_inferred = at == out.at && work == worked;
      break;
    }
    if (at <= since) break;
    out = {other, at};
    worked = work;
  }
  return out;
}

}  // namespace tracedb
