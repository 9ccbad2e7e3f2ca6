#include "passes/host/host_times.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/unknown.h"

namespace tracedb {
namespace {

struct Event {
  std::int64_t ts, dur;
  std::uint32_t thread, label;
};

struct Columns {
  std::vector<std::int64_t> ts, dur;
  std::vector<std::uint32_t> thread, label, place_of_label;

  explicit Columns(std::vector<Event> events, std::vector<std::uint32_t> places = {})
      : place_of_label(std::move(places)) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.ts != b.ts ? a.ts < b.ts : a.dur > b.dur; });
    for (const Event& event : events) {
      ts.push_back(event.ts);
      dur.push_back(event.dur);
      thread.push_back(event.thread);
      label.push_back(event.label);
    }
  }
  [[nodiscard]] HostEvents events() const { return {ts, dur, thread, label, place_of_label}; }
};

std::string text(const HostTimes& times, std::size_t gap) {
  std::string out;
  for (const PlaceTime& time : times.of(gap)) {
    out += (out.empty() ? "" : " ") + std::to_string(time.place) + ":" + std::to_string(time.time) + "/" +
           std::to_string(time.started);
  }
  return out;
}

// Tick by tick: of the events open at a time the one that ends first, of several the one that comes last.
std::map<std::uint32_t, PlaceTime> slow_times(const Columns& columns, const HostGap& gap) {
  std::map<std::uint32_t, PlaceTime> out;
  const auto place = [&](std::size_t row) {
    return columns.place_of_label.empty() ? columns.label[row] : columns.place_of_label[columns.label[row]];
  };
  const auto at = [&](std::int64_t t) {
    std::uint32_t found = kNoPlace;
    std::int64_t first = INT64_MAX;
    for (std::size_t row = 0; row < columns.ts.size(); ++row) {
      const std::int64_t end = columns.ts[row] + duration_or_zero(columns.dur[row]);
      if (columns.thread[row] != gap.thread || columns.ts[row] > t || end <= t || place(row) == kNoPlace) continue;
      if (end <= first) {
        first = end;
        found = place(row);
      }
    }
    return found;
  };
  for (std::int64_t t = gap.begin; t < gap.end; ++t) {
    if (const std::uint32_t found = at(t)) {
      out[found].place = found;
      ++out[found].time;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the innermost open event, in the gap alone") {
  const Columns columns({{0, 100, 1, 1}, {10, 20, 1, 2}, {15, 5, 1, 3}, {40, 10, 1, 2}, {0, 100, 2, 9}});
  const HostTimes times =
      host_times(columns.events(), std::vector<HostGap>{{12, 45, 1}, {90, 120, 1}, {0, 5, 3}, {5, 9, 0}});
  CHECK(text(times, 0) == "1:10/0 2:18/1 3:5/1");
  CHECK(text(times, 1) == "1:10/0");
  CHECK(text(times, 2).empty());
  CHECK(text(times, 3).empty());
}

TEST_CASE("events that are no place of their own count for what is around them") {
  const Columns columns({{0, 100, 1, 1}, {10, 5, 1, 2}, {20, 5, 1, 2}, {120, 5, 1, 2}}, {0, 7, 0});
  const HostTimes times = host_times(columns.events(), std::vector<HostGap>{{5, 200, 1}});
  CHECK(text(times, 0) == "7:95/2");
}

TEST_CASE("gaps that overlap, and unknown durations") {
  const Columns columns({{0, 50, 1, 1}, {30, kUnknownValue, 1, 2}, {50, 50, 1, 3}});
  const HostTimes times = host_times(columns.events(), std::vector<HostGap>{{20, 80, 1}, {10, 60, 1}, {40, 45, 1}});
  CHECK(text(times, 0) == "1:30/0 2:0/1 3:30/1");
  CHECK(text(times, 1) == "1:40/0 2:0/1 3:10/1");
  CHECK(text(times, 2) == "1:5/0");
}

TEST_CASE("random events and gaps, as counted tick by tick") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events;
    const bool outlasting = round % 2 == 1;
    for (std::uint32_t i = 0, n = below(12); i < n; ++i) {
      const std::int64_t ts = outlasting ? below(40) : 4 * below(10);
      const std::int64_t dur = outlasting ? below(30) : 4 * below(3);
      events.push_back({ts, dur, 1 + below(2), 1 + below(4)});
    }
    const Columns columns(events,
                          round % 3 == 0 ? std::vector<std::uint32_t>{0, 1, 1, 2, 3} : std::vector<std::uint32_t>{});
    std::vector<HostGap> gaps;
    for (std::uint32_t i = 0, n = 1 + below(4); i < n; ++i) {
      const std::int64_t begin = below(50);
      gaps.push_back({begin, begin + below(25), 1 + below(2)});
    }
    const HostTimes times = host_times(columns.events(), gaps);
    for (std::size_t gap = 0; gap < gaps.size(); ++gap) {
      CAPTURE(round);
      std::map<std::uint32_t, std::int64_t> found, expected;
      for (const PlaceTime& time : times.of(gap)) {
        if (time.time > 0) found[time.place] = time.time;
      }
      for (const auto& [place, time] : slow_times(columns, gaps[gap])) expected[place] = time.time;
      CHECK(found == expected);
    }
  }
}

}  // namespace tracedb
