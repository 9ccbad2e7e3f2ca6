#include "ingest/xla/xla_json.h"

#include <deque>
#include <map>
#include <string>

#include "base/text/json_text.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/json_walk.h"
#include "ingest/xla/xla_rows.h"

namespace tracedb {
namespace {

class XlaJson {
 public:
  XlaJson(ByteSource& source, RowSink& sink, TraceFacts& facts)
      : walk_(source), sink_(sink), facts_(facts), rows_(sink, facts, nullptr) {}

  std::uint64_t run() {
    std::string key;
    if (!walk_.enter('{')) walk_.break_off();
    while (walk_.next_member(key)) {
      if (key != "traceEvents" || !walk_.enter('[')) {
        walk_.skip();
        continue;
      }
      while (walk_.next_element()) {
        const auto offset = static_cast<std::int64_t>(walk_.position());
        const std::string_view text = walk_.value();
        if (walk_.broke_off()) break;
        if (is_event(text)) {
          add(text, offset);
        } else {  // a quote or bracket is missing, so that brackets and quotes of what follows mean nothing
          walk_.step_back(text);
          walk_.break_off();
        }
      }
    }
    if (walk_.broke_off()) salvage();
    rows_.end_plane();
    rows_.finish();
    facts_.bytes = walk_.position();
    // XLA writes no more than a million, the earliest, and not to the event.
    constexpr std::uint64_t kLimit = 1'000'000, kOrSo = 100;
    if (events_ >= kLimit && events_ <= kLimit + kOrSo) {
      sink_.issue(IssueKind::kEventLimit, -1, "the xplane.pb beside it has all events", 1);
    }
    return rows_.derived_rows();
  }

 private:
  static constexpr std::int64_t kDay = 86'400'000'000'000;  // ns: times in ps have room for a hundred

  static constexpr std::string_view kSign = "\"ph\"";  // in each event, mostly once

  static bool is_event(std::string_view text) {
    const std::size_t sign = text.find(kSign);
    const bool twice = sign != std::string_view::npos && text.find(kSign, sign + 1) != std::string_view::npos;
    if (!twice) return text.starts_with('{');
    const ShapeCheck check = check_shape(text, kDeepestEvent);
    return check.shape == Shape::kWhole && check.has_phase;
  }

  // From where the document broke off to its end: whole events, whatever stands around them.
  void salvage() {
    const bool at_end = walk_.ends_in_the_middle();
    const auto broken = static_cast<std::int64_t>(walk_.position());
    const std::string sample(walk_.ahead());
    bool any = false;
    std::uint64_t lost = 0;
    while (true) {
      const std::string_view text = walk_.next_object(kSign, lost);
      if (text.empty()) break;
      if (!check_shape(text, kDeepestEvent).has_phase) continue;
      const auto offset = static_cast<std::int64_t>(walk_.position()) - 1;
      walk_.pass_object(text);
      add(text, offset);
      any = true;
    }
    facts_.complete = walk_.closed() && (any || !at_end);
    if (!facts_.complete && lost > 0) --lost;  // the one that is cut off
    if (lost > 0) {
      sink_.issue(IssueKind::kMalformedEvent, broken, sample, lost);
      rows_.skip(SkipReason::kMalformed, lost);
    }
    if (lost == 0 || !facts_.complete) {
      sink_.issue(facts_.complete ? IssueKind::kStrayText : IssueKind::kTruncated, broken, sample);
    }
  }

  using Members = std::map<std::string_view, std::string_view>;

  void add(std::string_view text, std::int64_t offset) {
    Members event;
    for (const JsonMember& member : json_members(text)) event[member.key] = member.value;
    if (event.empty()) {
      if (minify(text) != "{}") lose(IssueKind::kMalformedEvent, SkipReason::kMalformed, text, offset);
      return;  // an empty object ends the list
    }
    const std::string_view ph = raw_string(event["ph"]);
    if (ph == "M") return name_track(event);
    if (ph != "X") return lose(IssueKind::kUnsupportedPhase, SkipReason::kUnsupportedPhase, text, offset);
    ++events_;
    const auto ts = time_of(event["ts"], Clock::kMicroseconds);
    if (!ts) return lose(IssueKind::kBadTimestamp, SkipReason::kNoTimestamp, text, offset);
    turn_to(event["pid"], event["tid"]);
    const auto dur = time_of(event["dur"], Clock::kMicroseconds);
    XlaEvent out;
    texts_.clear();
    out.name = keep(event["name"]);
    out.ts = *ts;
    out.dur = dur && *dur > 0 ? *dur : 0;
    out.start_ps = *ts % kDay * 1000;
    out.dur_ps = out.dur * 1000;
    for (const JsonMember& member : json_members(event["args"])) {
      const XlaStat stat = xla_stat(member.key);
      out.has_stats = true;
      if (stat == XlaStat::kNone) continue;
      XlaValue value;
      value.text = keep(member.value);
      out.set(stat, value);
    }
    rows_.add(out);
  }

  void lose(IssueKind issue, SkipReason reason, std::string_view text, std::int64_t offset) {
    sink_.issue(issue, offset, text);
    rows_.skip(reason);
  }

  std::string_view keep(std::string_view token) {
    texts_.push_back(unescape(raw_string(token)).text);
    return texts_.back();
  }

  void name_track(Members& event) {
    std::string name;
    for (const JsonMember& member : json_members(event["args"])) {
      if (member.key == "name") name = unescape(raw_string(member.value)).text;
    }
    if (raw_string(event["name"]) == "process_name") planes_[std::string(event["pid"])] = name;
    if (raw_string(event["name"]) == "thread_name")
      lines_[{std::string(event["pid"]), std::string(event["tid"])}] = name;
    rows_.skip(SkipReason::kMetadata);
  }

  void turn_to(std::string_view pid, std::string_view tid) {
    if (pid == pid_ && tid == tid_) return;
    if (pid != pid_) {
      if (!pid_.empty()) rows_.end_plane();
      const std::string& name = planes_[std::string(pid)];
      rows_.begin_plane({.name = name.empty() ? pid : std::string_view(name)});
    }
    pid_ = pid;
    tid_ = tid;
    const std::int64_t id = track_key(tid).number;
    rows_.begin_line(id == kUnknownValue ? 0 : id, lines_[{pid_, tid_}]);
  }

  JsonWalk walk_;
  RowSink& sink_;
  TraceFacts& facts_;
  XlaRows rows_;
  std::map<std::string, std::string> planes_;
  std::map<std::pair<std::string, std::string>, std::string> lines_;
  std::string pid_, tid_;          // of the line at hand, as in the trace
  std::deque<std::string> texts_;  // of the event at hand
  std::uint64_t events_ = 0;
};

}  // namespace

bool begins_as_xla_json(std::string_view head) {
  const auto has = [head](std::string_view part) { return head.find(part) != std::string_view::npos; };
  if (!has("\"process_name\"") || has("\"cat\"")) return false;
  return has("/device:GPU:") || has("/device:TPU:") || has("/device:CUSTOM:") || has("\"/host:CPU\"");
}

std::uint64_t read_xla_json(ByteSource& source, RowSink& sink, TraceFacts& facts) {
  return XlaJson(source, sink, facts).run();
}

}  // namespace tracedb
