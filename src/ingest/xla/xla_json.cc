#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/text/json_text.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/json_walk.h"
#include "ingest/xla/readers.h"
#include "ingest/xla/xla_rows.h"

namespace tracedb {
namespace {

// Events stand in any order, so that those of a line are put aside until all are known.
class XlaJson {
 public:
  XlaJson(ByteSource& source, RowSink& sink, TraceFacts& facts)
      : walk_(source),
        sink_(sink),
        facts_(facts),
        rows_(std::in_place, sink, facts, nullptr),
        aside_(sink.spool_directory()) {}

  void run() {
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
    read_lines();
    facts_.bytes = walk_.position();
    // XLA writes no more than a million, the earliest, and not to the event.
    constexpr std::uint64_t kLimit = 1'000'000, kOrSo = 100;
    if (events_ >= kLimit && events_ <= kLimit + kOrSo) {
      sink_.issue(IssueKind::kEventLimit, -1, "the xplane.pb beside it has all events", 1);
    }
  }

 private:
  struct Place {
    std::uint64_t at, size;  // in aside_
    std::int64_t offset;     // in the trace
  };
  struct Line {
    std::string pid, tid, name = {};
    std::vector<Place> events = {};
    std::string host = {}, plane = {};
  };

  static constexpr std::size_t kBuffer = std::size_t{1} << 20U;
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
    const auto broken = static_cast<std::int64_t>(walk_.position());
    const std::string sample(walk_.ahead());
    std::uint64_t lost = 0;
    facts_.complete = walk_.salvage(kSign, lost, [&](std::string_view text, std::int64_t offset) {
      if (!check_shape(text, kDeepestEvent).has_phase) return false;
      add(text, offset);
      return true;
    });
    if (lost > 0) {
      sink_.issue(IssueKind::kMalformedEvent, broken, sample, lost);
      rows_->skip(SkipReason::kMalformed, lost);
    }
    if (lost == 0 || !facts_.complete) {
      sink_.issue(facts_.complete ? IssueKind::kStrayText : IssueKind::kTruncated, broken, sample);
    }
  }

  using Members = std::vector<JsonMember>;

  void add(std::string_view text, std::int64_t offset) {
    const Members event = json_members(text);
    if (event.empty()) {
      if (minify(text) != "{}") lose(IssueKind::kMalformedEvent, SkipReason::kMalformed, text, offset);
      return;  // an empty object ends the list
    }
    const std::string_view ph = raw_string(json_member(event, "ph"));
    if (ph == "M") return name_track(event);
    if (ph != "X") return lose(IssueKind::kUnsupportedPhase, SkipReason::kUnsupportedPhase, text, offset);
    ++events_;
    line_of(event).events.push_back({aside_.size() + buffer_.size(), text.size(), offset});
    buffer_ += text;
    if (buffer_.size() >= kBuffer) put_aside();
  }

  void put_aside() {
    aside_.append(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }

  // Valid until the next call.
  std::string_view text_of(const Place& place) {
    constexpr std::uint64_t kAhead = std::uint64_t{16} << 10U;
    if (place.at < buffer_at_ || place.at + place.size > buffer_at_ + buffer_.size()) {
      buffer_.resize(static_cast<std::size_t>(std::min(aside_.size() - place.at, std::max(place.size, kAhead))));
      aside_.read(place.at, std::as_writable_bytes(std::span(buffer_)));
      buffer_at_ = place.at;
    }
    return std::string_view(buffer_).substr(static_cast<std::size_t>(place.at - buffer_at_), place.size);
  }

  void read_event(const Place& place) {
    const std::string_view text = text_of(place);
    const Members event = json_members(text);
    const auto ts = time_of(json_member(event, "ts"), Clock::kMicroseconds);
    if (!ts) return lose(IssueKind::kBadTimestamp, SkipReason::kNoTimestamp, text, place.offset);
    const auto dur = time_of(json_member(event, "dur"), Clock::kMicroseconds);
    XlaEvent out;
    texts_.clear();
    out.name = keep(json_member(event, "name"));
    out.ts = *ts;
    out.start_ps = *ts % kDay * 1000;
    out.set_duration(dur.value_or(0), dur.value_or(0) * 1000);
    if (out.dur < 0) sink_.issue(IssueKind::kNegativeDuration, place.offset, json_member(event, "dur"));
    for (const JsonMember& own : json_members(json_member(event, "args"))) {
      const XlaStat stat = xla_stat(own.key);
      out.has_stats = true;
      if (stat == XlaStat::kNone) continue;
      XlaValue value;
      value.text = keep(own.value);
      out.set(stat, value);
    }
    rows_->add(out);
  }

  void lose(IssueKind issue, SkipReason reason, std::string_view text, std::int64_t offset) {
    sink_.issue(issue, offset, text);
    rows_->skip(reason);
  }

  std::string_view keep(std::string_view token) {
    texts_.push_back(unescape(raw_string(token)).text);
    return texts_.back();
  }

  void name_track(const Members& event) {
    const std::string name = unescape(raw_string(json_member(json_member(event, "args"), "name"))).text;
    if (raw_string(json_member(event, "name")) == "process_name")
      planes_[std::string(json_member(event, "pid"))] = name;
    if (raw_string(json_member(event, "name")) == "thread_name") line_of(event).name = name;
    rows_->skip(SkipReason::kMetadata);
  }

  Line& line_of(const Members& event) {
    const std::string_view pid = json_member(event, "pid"), tid = json_member(event, "tid");
    if (last_ == nullptr || last_->pid != pid || last_->tid != tid) {
      last_ = &lines_.try_emplace({std::string(pid), std::string(tid)}, Line{std::string(pid), std::string(tid)})
                   .first->second;
    }
    return *last_;
  }

  // As xplane.pb has them: plane by plane, the host's last, and first of each what the others are to be placed in.
  std::vector<Line*> lines_in_order() {
    std::set<std::string> hosts;  // with devices
    std::vector<Line*> lines;
    for (auto& [key, line] : lines_) {
      if (line.events.empty()) continue;
      const std::string& name = planes_[line.pid];
      line.plane = name.empty() ? line.pid : name;
      line.host = line.plane.substr(0, std::min(line.plane.find("/device:"), line.plane.find("/host:")));
      if (line.plane.find("/device:") != std::string::npos) hosts.insert(line.host);
      lines.push_back(&line);
    }
    if (hosts.size() < 2) {
      for (Line* line : lines) line->host.clear();
    }
    std::ranges::sort(lines, {}, [](const Line* line) {
      return std::tuple(std::string_view(line->host), line->plane.find("/host:") != std::string::npos,
                        track_key(line->pid).number, std::string_view(line->pid),
                        line->name != "XLA Modules" && line->name != "Steps", track_key(line->tid).number);
    });
    return lines;
  }

  void read_lines() {
    put_aside();
    const Line* before = nullptr;
    for (const Line* line : lines_in_order()) {
      const bool new_host = before == nullptr || line->host != before->host;
      const bool new_plane = new_host || line->pid != before->pid;
      if (before != nullptr && new_plane) rows_->end_plane();
      if (new_host) begin_host(line->host);
      if (new_plane) rows_->begin_plane({.name = line->plane});
      const std::int64_t id = track_key(line->tid).number;
      rows_->begin_line(id == kUnknownValue ? 0 : id, line->name);
      for (const Place& place : line->events) read_event(place);
      before = line;
    }
    if (before != nullptr) rows_->end_plane();
    begin_host({});
  }

  void begin_host(const std::string& host) {
    rows_->finish();
    rows_.emplace(sink_, facts_, nullptr, host, rows_->last_external_id());
  }

  JsonWalk walk_;
  RowSink& sink_;
  TraceFacts& facts_;
  std::optional<XlaRows> rows_;  // of the host at hand
  std::map<std::string, std::string> planes_;
  std::map<std::pair<std::string, std::string>, Line> lines_;  // by pid and tid, as in the trace
  Line* last_ = nullptr;
  TempFile aside_;
  std::string buffer_;  // what is to be put there, or what is there from buffer_at_ on
  std::uint64_t buffer_at_ = 0;
  std::deque<std::string> texts_;  // of the event at hand
  std::uint64_t events_ = 0;
};

}  // namespace

bool begins_as_xla_json(std::string_view head) {
  const auto has = [head](std::string_view part) { return head.find(part) != std::string_view::npos; };
  if (!has("\"process_name\"") || has("\"cat\"")) return false;
  return has("/device:GPU:") || has("/device:TPU:") || has("/device:CUSTOM:") || has("\"/host:CPU\"");
}

void read_xla_json(ByteSource& source, RowSink& sink, TraceFacts& facts) { XlaJson(source, sink, facts).run(); }

}  // namespace tracedb
