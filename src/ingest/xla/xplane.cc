#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/dense_index.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/rows/source_rows.h"
#include "ingest/xla/readers.h"
#include "ingest/xla/xla_names.h"
#include "ingest/xla/xla_rows.h"

namespace tracedb {
namespace {

// Numbers of fields.
struct Space {
  static constexpr std::uint32_t kPlanes = 1, kErrors = 2, kWarnings = 3, kHostnames = 4;
};
struct PlaneField {
  static constexpr std::uint32_t kName = 2, kLines = 3, kEvents = 4, kStats = 5, kOwnStats = 6;
};
struct LineField {
  static constexpr std::uint32_t kId = 1, kName = 2, kTimestamp = 3, kEvents = 4, kDisplayName = 11;
};

constexpr std::int64_t kUnixTime = 1'000'000'000'000'000'000;  // from here on a time of a line is one since 1970

std::string_view view_of(protozero::data_view view) { return {view.data(), view.size()}; }

struct StatName {
  std::string name;
  XlaStat stat = XlaStat::kNone;
};

struct OwnedStat {  // of the metadata of an event: holds for every one of them
  XlaStat stat = XlaStat::kNone;
  XlaValue value;  // its text is in `text`, or a name of the plane
  std::string text;
};

struct EventName {
  std::string name, display_name;
  std::vector<OwnedStat> stats;
  bool has_stats = false;
};

struct LinePlace {
  ProtoRange range;
  std::int64_t id = 0, timestamp = 0;
  std::string name;
};

class XSpaceReader {
 public:
  XSpaceReader(ProtoFile& file, std::string name, RowSink& sink, TraceFacts& facts)
      : file_(file), name_(std::move(name)), sink_(sink), facts_(facts), hlo_(file), rows_(sink, facts, &hlo_) {}

  void run() {
    find_planes();
    if (planes_.empty()) refuse();
    const auto order = [](const Place& place) {
      return place.name == "Task Environment"   ? 0
             : place.name == "/host:metadata"   ? 1
             : place.name.starts_with("/host:") ? 3
                                                : 2;
    };
    std::ranges::stable_sort(planes_, {}, order);
    for (const Place& place : planes_) read_plane(place);
    rows_.finish();
  }

 private:
  struct Place {
    std::string name;
    ProtoRange range;
  };

  [[noreturn]] void refuse() {
    const std::string_view head = file_.bytes({0, std::min<std::uint64_t>(file_.size(), 4096)});
    const char* why = "a protobuf, but no XSpace that can be read: damaged, or of another program";
    if (file_.size() == 0) {
      why =
          "empty: XLA writes nothing when a profile exceeds 2 GiB; profile fewer steps, or turn the Python tracer off";
    } else if (head.find("\xEF\xBF\xBD") != std::string_view::npos) {
      why = "damaged: copied as text (bytes replaced); copy the file once more, as binary";
    }
    throw Error(ErrorCode::kInput, fmt::format("{}: {}", name_, why));
  }

  void find_planes() {
    ProtoRange rest{0, file_.size()};
    std::string hosts;
    while (const auto field = file_.next(rest)) {
      if (!field->is_range) continue;
      if (field->number == Space::kPlanes) planes_.push_back({name_of_plane(field->range), field->range});
      if (field->number == Space::kErrors || field->number == Space::kWarnings) note_message(file_.bytes(field->range));
      if (field->number == Space::kHostnames)
        hosts += (hosts.empty() ? "" : ", ") + quote_json(file_.bytes(field->range));
    }
    if (!hosts.empty()) facts_.header.push_back({"hostnames", "[" + hosts + "]", -1});
    if (!rest.empty()) note_cut(rest);
  }

  void note_message(std::string_view message) {
    sink_.issue(tells_of_loss(message) ? IssueKind::kDroppedEvents : IssueKind::kProfilerMessage, -1, message);
  }

  std::string name_of_plane(ProtoRange plane) {
    while (const auto field = file_.next(plane)) {
      if (field->number == PlaneField::kName && field->is_range) return std::string(file_.bytes(field->range));
    }
    return {};
  }

  // What is behind the last whole plane: the events of the one that is cut have no names.
  void note_cut(ProtoRange rest) {
    if (planes_.empty() && rest.begin == 0) return;  // nothing in it is an XSpace
    facts_.complete = false;
    std::string whole;
    for (const Place& place : planes_) whole += (whole.empty() ? "" : ", ") + place.name;
    sink_.issue(IssueKind::kTruncated, static_cast<std::int64_t>(rest.begin),
                fmt::format("whole planes: {}", whole.empty() ? "none" : whole));
    std::uint64_t lost = 0;
    ProtoRange left{rest.begin, file_.size()};
    // Into the plane and its line, whose lengths go beyond the end.
    if (enter_cut(Space::kPlanes, left)) {
      while (const auto field = file_.next(left)) {
        if (field->number == PlaneField::kLines && field->is_range) lost += events_in(field->range);
      }
      if (enter_cut(PlaneField::kLines, left)) lost += events_in(left);
    }
    if (lost > 0) rows_.skip(SkipReason::kMalformed, lost);
  }

  // Behind the key and length of a message of this field; false: something else, or nothing behind them.
  bool enter_cut(std::uint32_t number, ProtoRange& left) {
    constexpr std::uint64_t kLongestHead = 20;
    const std::string_view head = file_.bytes({left.begin, std::min(left.end, left.begin + kLongestHead)});
    const char* at = head.data();
    const char* const end = at + head.size();
    std::uint64_t key = 0;
    const bool whole = decodes([&] {
      key = protozero::decode_varint(&at, end);
      protozero::decode_varint(&at, end);
    });
    left.begin += static_cast<std::uint64_t>(at - head.data());
    return whole && key == (number << 3U | 2U) && at < end;
  }

  std::uint64_t events_in(ProtoRange line) {
    std::uint64_t events = 0;
    while (const auto field = file_.next(line))
      events += field->number == LineField::kEvents && field->is_range ? 1 : 0;
    return events;
  }

  void read_plane(const Place& place) {
    lines_.clear();
    events_.clear();
    stats_.clear();
    event_at_ = {};
    stat_at_ = {};
    std::vector<ProtoRange> own_stats, names;
    ProtoRange rest = place.range;
    while (const auto field = file_.next(rest)) {
      if (!field->is_range) continue;
      if (field->number == PlaneField::kLines) lines_.push_back({field->range, 0, 0, {}});
      if (field->number == PlaneField::kEvents) names.push_back(field->range);
      if (field->number == PlaneField::kStats) add_stat_name(field->range);
      if (field->number == PlaneField::kOwnStats) own_stats.push_back(field->range);
    }
    if (!rest.empty()) sink_.issue(IssueKind::kDamagedTable, static_cast<std::int64_t>(rest.begin), place.name);
    if (place.name == "/host:metadata") {
      for (const ProtoRange& name : names) add_program(name);
      return;
    }
    for (const ProtoRange& name : names) add_event_name(name);
    begin_plane(place.name, own_stats);
    for (LinePlace& line : lines_) look_at(line);
    // What the others are to be placed in comes first.
    std::ranges::stable_sort(
        lines_, {}, [](const LinePlace& line) { return line.name == "XLA Modules" || line.name == "Steps" ? 0 : 1; });
    for (const LinePlace& line : lines_) read_line(line);
    rows_.end_plane();
  }

  // A map's entry: its key, and the message that is its value.
  struct Entry {
    std::uint64_t key = 0;
    ProtoRange value;
  };
  Entry entry_of(ProtoRange range) {
    Entry entry;
    while (const auto field = file_.next(range)) {
      if (field->number == 1 && !field->is_range) entry.key = field->value;
      if (field->number == 2 && field->is_range) entry.value = field->range;
    }
    return entry;
  }

  // A later entry of the same key takes the place of the earlier one.
  template <class Item>
  static Item& at_key(std::uint64_t key, DenseIndex& index, std::vector<Item>& items) {
    const auto [at, is_new] = index.index_of(key);
    if (is_new) items.emplace_back();
    return items[at] = {};
  }

  void add_stat_name(ProtoRange range) {
    Entry entry = entry_of(range);
    StatName& out = at_key(entry.key, stat_at_, stats_);
    while (const auto field = file_.next(entry.value)) {
      if (field->number == 2 && field->is_range) out.name = file_.bytes(field->range);
    }
    out.stat = xla_stat(out.name);
  }

  void add_event_name(ProtoRange range) {
    Entry entry = entry_of(range);
    EventName& out = at_key(entry.key, event_at_, events_);
    while (const auto field = file_.next(entry.value)) {
      if (!field->is_range) continue;
      if (field->number == 2) out.name = file_.bytes(field->range);
      if (field->number == 4) out.display_name = file_.bytes(field->range);
      if (field->number != 5) continue;
      out.has_stats = true;
      OwnedStat own;
      if (!read_stat(file_.bytes(field->range), own.stat, own.value) || own.stat == XlaStat::kNone) continue;
      own.text = own.value.text;
      out.stats.push_back(std::move(own));
    }
  }

  // Programs are events of this plane that never happen: their id is the program's, and a stat is its HloProto.
  void add_program(ProtoRange range) {
    Entry entry = entry_of(range);
    std::string name;
    while (const auto field = file_.next(entry.value)) {
      if (field->number == 2 && field->is_range) name = file_.bytes(field->range);
      if (field->number != 5 || !field->is_range) continue;
      ProtoRange stat = field->range;
      while (const auto part = file_.next(stat)) {
        if (part->number == 6 && part->is_range) hlo_.add(entry.key, name, part->range);
      }
    }
  }

  void begin_plane(const std::string& name, const std::vector<ProtoRange>& own_stats) {
    XlaPlane plane{.name = name};
    std::string vendor, model;
    for (const ProtoRange& range : own_stats) {
      const std::string_view bytes = file_.bytes(range);
      XlaStat stat{};
      XlaValue value;
      if (!read_stat(bytes, stat, value)) continue;
      if (last_stat_ == "device_vendor") vendor = value.text;
      if (last_stat_ == "device_type_string") model = value.text;
      if (last_stat_ == "profile_start_time" && value.number != kUnknownValue) profile_start_ = value.number;
      for (const std::string_view key : {"memory_size", "core_count", "compute_cap_major", "compute_cap_minor"}) {
        if (last_stat_ == key) plane.numbers.emplace_back(key, value.number);
      }
    }
    if (name == "Task Environment" && profile_start_) facts_.time_zero_ns = *profile_start_;
    plane.vendor = vendor;
    plane.model = model;
    rows_.begin_plane(plane);
  }

  // false: damaged, or of no name. Its text is valid as long as `bytes` and the plane.
  bool read_stat(std::string_view bytes, XlaStat& stat, XlaValue& value) {
    stat = XlaStat::kNone;
    value = {};
    last_stat_ = {};
    const auto take = [&](std::uint32_t field, protozero::pbf_reader& own) {
      if (field == 1) {
        const auto at = stat_at_.find(static_cast<std::uint64_t>(own.get_int64()));
        if (at) stat = stats_[*at].stat;
        if (at) last_stat_ = stats_[*at].name;
      }
      if (field == 2) value.real = own.get_double();
      if (field == 3 || field == 4) value.number = own.get_int64();
      if (field == 5) value.text = view_of(own.get_view());
      if (field != 7) return;
      if (const auto at = stat_at_.find(own.get_uint64())) value.text = stats_[*at].name;
    };
    const bool whole = decodes([&] { read_fields(reader_of(bytes), take); });
    return whole && !last_stat_.empty();
  }

  void look_at(LinePlace& line) {
    std::string display_name;
    ProtoRange rest = line.range;
    while (const auto field = file_.next(rest)) {
      if (field->number == LineField::kEvents) {
        if (!line.name.empty()) break;  // names come first
        continue;
      }
      if (field->number == LineField::kId) line.id = static_cast<std::int64_t>(field->value);
      if (field->number == LineField::kTimestamp) line.timestamp = static_cast<std::int64_t>(field->value);
      if (field->number == LineField::kName && field->is_range) line.name = file_.bytes(field->range);
      if (field->number == LineField::kDisplayName && field->is_range) display_name = file_.bytes(field->range);
    }
    if (line.name.empty()) line.name = display_name;
  }

  void read_line(const LinePlace& line) {
    rows_.begin_line(line.id, line.name);
    ProtoRange rest = line.range;
    while (const auto field = file_.next(rest)) {
      if (field->number == LineField::kEvents && field->is_range) read_event(line, field->range);
    }
    if (!rest.empty()) sink_.issue(IssueKind::kDamagedTable, static_cast<std::int64_t>(rest.begin), line.name);
  }

  void read_event(const LinePlace& line, ProtoRange range) {
    std::uint64_t id = 0;
    std::int64_t offset = 0;
    bool timed = true;
    event_.given = 0;
    event_.has_stats = false;
    event_.dur_ps = 0;
    const auto take = [&](std::uint32_t field, protozero::pbf_reader& value) {
      if (field == 1) id = static_cast<std::uint64_t>(value.get_int64());
      if (field == 2) offset = value.get_int64();
      if (field == 3) event_.dur_ps = value.get_int64();
      if (field == 4) add_stat(view_of(value.get_view()));
      timed = timed && field != 5;
    };
    if (!decodes([&] { read_fields(reader_of(file_.bytes(range)), take); })) {
      sink_.issue(IssueKind::kMalformedRow, static_cast<std::int64_t>(range.begin), line.name);
      return rows_.skip(SkipReason::kMalformed);
    }
    const std::int64_t zero = line.timestamp >= kUnixTime && profile_start_ ? *profile_start_ : 0;
    event_.start_ps = offset;
    event_.set_duration(rounded_ns(event_.dur_ps), event_.dur_ps);
    if (!timed || __builtin_sub_overflow(line.timestamp, zero, &event_.ts) ||
        __builtin_add_overflow(event_.ts, rounded_ns(offset), &event_.ts) || !is_time(event_.ts)) {
      sink_.issue(timed ? IssueKind::kBadTimestamp : IssueKind::kMissingTimestamp,
                  static_cast<std::int64_t>(range.begin), line.name);
      return rows_.skip(SkipReason::kNoTimestamp);
    }
    if (event_.dur < 0) sink_.issue(IssueKind::kNegativeDuration, static_cast<std::int64_t>(range.begin), line.name);
    const auto at = event_at_.find(id);
    if (!at) sink_.issue(IssueKind::kMissingName, static_cast<std::int64_t>(range.begin), std::to_string(id));
    static const EventName kNoName;
    const EventName& name = at ? events_[*at] : kNoName;
    event_.name = name.name;
    event_.display_name = name.display_name;
    event_.has_stats |= name.has_stats;
    for (const OwnedStat& own : name.stats) {
      XlaValue value = own.value;
      value.text = own.text;
      if (!event_.has(own.stat)) event_.set(own.stat, value);
    }
    rows_.add(event_);
  }

  void add_stat(std::string_view bytes) {
    XlaStat stat{};
    XlaValue value;
    event_.has_stats = true;
    if (read_stat(bytes, stat, value)) event_.set(stat, value);
  }

  ProtoFile& file_;
  std::string name_;
  RowSink& sink_;
  TraceFacts& facts_;
  HloModules hlo_;
  XlaRows rows_;
  std::vector<Place> planes_;
  std::optional<std::int64_t> profile_start_;
  // Of the plane at hand.
  std::vector<LinePlace> lines_;
  std::vector<EventName> events_;
  std::vector<StatName> stats_;
  DenseIndex event_at_, stat_at_;
  XlaEvent event_;
  std::string_view last_stat_;  // name of the one that was read last
};

}  // namespace

void read_xspace(ProtoFile& file, const std::string& name, RowSink& sink, TraceFacts& facts) {
  XSpaceReader(file, name, sink, facts).run();
}

}  // namespace tracedb
