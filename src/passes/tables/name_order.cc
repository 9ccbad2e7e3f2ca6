#include "passes/tables/name_order.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

// Repetitions of one layer take the same time within some percent, in the real traces within 20 %. Kernels of a few
// microseconds also differ by the clock's resolution.
constexpr double kAlikeFactor = 1.3;
constexpr std::int64_t kAlikeNs = 500;
// One name takes up to twice its usual time for another shape of its input.
constexpr double kUnlike = 2;
constexpr std::size_t kLeastRepeats = 3;     // for a place to have a usual name
constexpr std::size_t kLongestPeriod = 512;  // kernels of a layer; the longest seen has about 60
constexpr double kLeastSelfSimilar = 0.75;   // durations that recur a period later
constexpr std::int64_t kLeastKernels = 10;   // with a time that is not their name's
constexpr double kLeastShare = 0.03;         // and of the kernels looked at

bool alike(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return high - low <= kAlikeNs || static_cast<double>(high) <= kAlikeFactor * static_cast<double>(low);
}

bool unlike(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return high - low > kAlikeNs &&
         static_cast<double>(high) > kUnlike * static_cast<double>(std::max<std::int64_t>(low, 1));
}

// The shortest distance at which most durations recur; 0: none.
std::size_t period_of(const Replay& replay) {
  const std::size_t n = replay.dur.size();
  std::size_t best = 0;
  double most = kLeastSelfSimilar;
  for (std::size_t period = 2; period <= std::min(kLongestPeriod, n / kLeastRepeats); ++period) {
    std::size_t same = 0;
    for (std::size_t i = 0; i + period < n; ++i) same += alike(replay.dur[i], replay.dur[i + period]) ? 1 : 0;
    const double share = static_cast<double>(same) / static_cast<double>(n - period);
    constexpr double kMargin = 0.02;  // a multiple of the period is no better
    if (share > most + (best == 0 ? 0 : kMargin)) {
      most = share;
      best = period;
    }
  }
  return best;
}

struct Run {
  std::uint32_t name = 0;
  std::int64_t dur = 0;
};

// All kernels of one place of the repetition.
struct Place {
  std::vector<Run> runs;
  std::uint32_t name = 0;  // of most of them
  std::int64_t low = 0, high = 0;
  bool tight = false;
};

void describe(Place& place) {
  std::vector<std::int64_t> durations;
  std::map<std::uint32_t, std::size_t> names;
  for (const Run& run : place.runs) {
    durations.push_back(run.dur);
    ++names[run.name];
  }
  place.name = std::ranges::max_element(names, {}, [](const auto& one) { return one.second; })->first;
  std::ranges::sort(durations);
  constexpr std::size_t kTenth = 10;  // the head and the tail of a replay are no repetition
  const std::size_t cut = durations.size() / kTenth;
  place.low = durations[cut];
  place.high = durations[durations.size() - 1 - cut];
  place.tight = durations.size() >= kLeastRepeats && alike(place.low, place.high);
}

std::vector<Place> places_of(std::span<const Replay* const> replays, std::size_t period) {
  std::vector<Place> places(period);
  for (const Replay* replay : replays) {
    for (std::size_t i = 0; i < replay->dur.size(); ++i) {
      places[i % period].runs.push_back({replay->name[i], replay->dur[i]});
    }
  }
  for (Place& place : places) describe(place);
  return places;
}

// By name: the median of its durations at the places that are its own.
std::unordered_map<std::uint32_t, std::int64_t> usual_durations(const std::vector<Place>& places) {
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>> all;
  for (const Place& place : places) {
    for (const Run& run : place.runs) {
      if (run.name == place.name) all[run.name].push_back(run.dur);
    }
  }
  std::unordered_map<std::uint32_t, std::int64_t> usual;
  for (auto& [name, durations] : all) {
    usual[name] = upper_median(std::span(durations));
  }
  return usual;
}

NameOrder check(const std::vector<Place>& places) {
  const auto usual = usual_durations(places);
  NameOrder found;
  std::int64_t wild = 0, all = 0;
  for (const Place& place : places) {
    all += std::ssize(place.runs);
    if (!place.tight) continue;
    for (const Run& run : place.runs) {
      if (run.name == place.name || !(alike(run.dur, place.low) || alike(run.dur, place.high))) continue;
      const auto own = usual.find(run.name);
      wild += own != usual.end() && unlike(run.dur, own->second) ? 1 : 0;
      ++found.kernels;
      found.time = saturating_add(found.time, run.dur);
    }
  }
  const bool enough = wild >= kLeastKernels && static_cast<double>(wild) >= kLeastShare * static_cast<double>(all);
  return enough ? found : NameOrder();
}

// Of launches that replay a graph, by id: how many kernels they have; the others have none.
std::vector<std::uint32_t> replay_lengths(const std::vector<bool>& graphs, std::span<const std::uint32_t> launch) {
  std::vector<std::uint32_t> lengths(graphs.size());
  for (const std::uint32_t id : launch) {
    if (has_id(graphs, id)) ++lengths[id];
  }
  return lengths;
}

// Marks at most `most` launches of each length in `lengths`; the others are set to 0.
void keep_some(std::vector<std::uint32_t>& lengths, std::size_t most) {
  std::unordered_map<std::uint32_t, std::size_t> kept;
  for (std::uint32_t& length : lengths) {
    if (length != 0 && ++kept[length] > most) length = 0;
  }
}

std::vector<Replay> read_replays(const EventColumns& kernels, const std::vector<std::uint32_t>& lengths) {
  const auto dur = kernels.int64s("dur");
  const auto name = kernels.ids("name_id");
  const auto stream = kernels.ids("stream_id");
  const auto launch = kernels.ids("launch_id");
  std::map<std::pair<std::uint32_t, std::uint32_t>, Replay> replays;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (launch[i] >= lengths.size() || lengths[launch[i]] == 0 || dur[i] == kUnknownValue) continue;
    Replay& replay = replays[{launch[i], stream[i]}];
    replay.dur.push_back(dur[i]);
    replay.name.push_back(name[i]);
  }
  std::vector<Replay> all;
  for (auto& [key, replay] : replays) all.push_back(std::move(replay));
  return all;
}

}  // namespace

NameOrder find_names_out_of_step(std::span<const Replay> replays) {
  std::map<std::size_t, std::vector<const Replay*>> by_length;  // of one graph, as far as can be told
  for (const Replay& replay : replays) by_length[replay.dur.size()].push_back(&replay);
  NameOrder sum;
  for (const auto& [length, same] : by_length) {
    NameOrder found;
    const std::size_t period = period_of(*same.front());
    if (period > 0) found = check(places_of(same, period));
    if (found.kernels == 0 && same.size() >= kLeastRepeats && length > 0) found = check(places_of(same, length));
    sum.kernels += found.kernels;
    sum.time = saturating_add(sum.time, found.time);
  }
  return sum;
}

NameOrder find_names_out_of_step(const Index& index, const EventColumns& kernels) {
  constexpr std::size_t kFirstLook = 8;  // replays of a length: names slip in most of them, or in none
  const std::vector<std::uint32_t> lengths = replay_lengths(graph_launches(index), kernels.ids("launch_id"));
  std::vector<std::uint32_t> some = lengths;
  keep_some(some, kFirstLook);
  const NameOrder first = find_names_out_of_step(read_replays(kernels, some));
  return first.kernels == 0 || some == lengths ? first : find_names_out_of_step(read_replays(kernels, lengths));
}

}  // namespace tracedb
