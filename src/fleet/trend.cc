#include "fleet/trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/statistics.h"

namespace tracedb {
namespace {

// Without the phase.
std::string label_of(const TrendRun& run) {
  const TraceSummary& one = run.front()->summary;
  std::string out = one.gpu.value_or("Device of " + one.vendor.value_or("unknown vendor"));
  for (const auto& part : {one.framework, one.model}) {
    if (part) out += ", " + *part;
  }
  if (const PhaseSummary* main = one.main_phase(); main != nullptr && main->on_host) out += ", on the host";
  if (run.size() > 1) return out + fmt::format(", {} ranks", run.size());
  if (one.rank) out += fmt::format(", rank {}", *one.rank);
  if (one.rank && one.world_size) out += fmt::format(" of {}", *one.world_size);
  return out;
}

// "": of whole traces.
std::string common_phase(std::span<const TrendRun> runs) {
  struct Seen {
    std::size_t with_period = 0, runs = 0;
    double time = 0;
    auto operator<=>(const Seen&) const = default;
  };
  std::map<std::string, Seen> phases;
  for (const TrendRun& run : runs) {
    for (const PhaseSummary& phase : run.front()->summary.phases) {
      Seen& seen = phases[phase.phase];
      seen.with_period += phase.period ? 1 : 0;
      ++seen.runs;
      seen.time += static_cast<double>(phase.kernel_time);
    }
  }
  const auto most = std::ranges::max_element(phases, {}, [](const auto& one) { return one.second; });
  return most == phases.end() ? "" : most->first;
}

bool has_phase(const TrendRun& run, const std::string& phase) {
  return std::ranges::any_of(run.front()->summary.phases, [&](const PhaseSummary& one) { return one.phase == phase; });
}

// Of several such numbers the one with the widest gap.
std::size_t newest_beyond(std::span<const double> level) {
  std::size_t found = 0;
  double widest = 0;
  for (std::size_t last = (level.size() - 1) / 2; last > 0; --last) {
    const auto [low, high] = std::ranges::minmax(level.first(level.size() - last));
    const auto [least, most] = std::ranges::minmax(level.last(last));
    const double gap = std::max(least - high, low - most);
    if (gap <= std::max(widest, last == 1 ? high - low : 0)) continue;
    widest = gap;
    found = last;
  }
  return found;
}

double middle(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return median(std::span(copy));
}

// The last change of a level's loads, from its place among the values of the series.
std::optional<ChangePoint> load_change_of(std::span<const double> loads, std::size_t begin,
                                          const ChangePointOptions& options) {
  const std::span<const double> own = loads.subspan(begin);
  const std::vector<ChangePoint> changes = find_change_points(own, options);
  const std::size_t newest = newest_beyond(own), at = own.size() - newest;
  if (changes.empty() && newest == 0) return std::nullopt;
  ChangePoint out = changes.empty() ? ChangePoint{at, middle(own.first(at)), middle(own.last(newest))} : changes.back();
  out.at += begin;
  return out;
}

// With their distances.
using Apart = std::vector<std::pair<double, std::size_t>>;

void add_apart(std::span<const double> level, std::size_t first, Apart& out) {
  constexpr double kSigma = 1.4826;  // of normal noise, by the median of absolute deviations
  const double centre = middle(level);
  std::vector<double> off;
  for (const double value : level) off.push_back(std::abs(value - centre));
  const double most = std::max(5 * kSigma * middle(off), std::abs(centre) / 100);
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (off[i] > most) out.emplace_back(off[i], first + i);
  }
}

void mark_changes(TrendSeries& series, const ChangePointOptions& options) {
  const std::vector<double> values = series.values();
  series.changes = find_change_points(values, options);
  const std::size_t least = least_values(options), begin = series.changes.empty() ? 0 : series.changes.back().at;
  series.is_long = values.size() >= least;
  const bool steady = !series.changes.empty() && series.changes.back().steady;
  if (!steady && values.size() - begin >= least) {
    series.newest = newest_beyond(std::span(values).subspan(begin));
    std::vector<double> loads;
    for (const TrendPoint& point : series.points) {
      if (point.value) loads.push_back(point.load);
    }
    series.load_change = load_change_of(loads, begin, options);
  }
  Apart apart;
  for (std::size_t i = 0; i <= series.changes.size(); ++i) {
    const bool is_last = i == series.changes.size();
    const std::size_t from = i == 0 ? 0 : series.changes[i - 1].at;
    const std::size_t to = is_last ? values.size() - series.newest : series.changes[i].at;
    if (to - from >= least && !(is_last && steady)) add_apart(std::span(values).subspan(from, to - from), from, apart);
  }
  std::ranges::sort(apart, std::greater());
  for (const auto& [distance, place] : apart) series.apart.push_back(place);
  std::size_t place = 0, segment = 0;
  for (TrendPoint& point : series.points) {
    if (point.value) {
      point.change = segment < series.changes.size() && series.changes[segment].at == place;
      segment += point.change ? 1 : 0;
      ++place;
    }
    point.segment = segment;
  }
}

constexpr std::size_t kOrders = 9'999;  // at depth 0; twice as many at each further one
constexpr unsigned kDeepest = 4;        // segments of more splits than that are not looked into
constexpr std::uint64_t kSeed = 0x9e3779b97f4a7c15ULL;

// The next of splitmix64.
std::size_t chance_below(std::size_t bound, std::uint64_t& state) {
  state += kSeed;
  std::uint64_t value = state;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return static_cast<std::size_t>((value ^ (value >> 31U)) % bound);
}

// Ranks less their mean; equal values share theirs.
std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double mean = (static_cast<double>(values.size()) - 1) / 2;
  std::vector<double> out(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2 - mean;
    for (std::size_t i = first; i <= last; ++i) out[order[i]] = rank;
    first = last + 1;
  }
  return out;
}

// Values against all others: those from a place on, or of a window that others lie before and behind.
struct Split {
  std::size_t at = 0, end = 0;
  double size = 0;  // of the difference, in units that are the same at each place
};

constexpr std::size_t kLeastForWindows = 20;  // values; of fewer too many windows are as large as the largest
constexpr std::size_t kLongestWindow = 100;   // of longer ones both ends are splits

Split largest_split(std::span<const double> ranks, std::size_t least, bool window) {
  const std::size_t n = ranks.size();
  std::vector<double> sums = {0};   // of the first ranks
  std::vector<double> units = {0};  // by how many are inside
  for (const double rank : ranks) {
    sums.push_back(sums.back() + rank);
    units.push_back(1 / std::sqrt(static_cast<double>(units.size() * (n - units.size()))));
  }
  Split best;
  for (std::size_t at = least; at + least <= n; ++at) {
    const std::size_t last = window ? std::min(at + kLongestWindow, n - least) : n;
    for (std::size_t end = window ? at + least : n; end <= last; ++end) {
      const double size = std::abs(sums[end] - sums[at]) * units[end - at];
      if (size > best.size) best = {at, end, size};
    }
  }
  return best;
}

// The share of orders with a split as large; 1: more than `most`.
double chance_of(std::vector<double> ranks, const Split& found, const ChangePointOptions& options, std::size_t orders,
                 double most) {
  std::uint64_t state = kSeed ^ ranks.size();
  std::size_t as_large = 1;
  const bool window = found.end < ranks.size();
  for (std::size_t order = 0; order < orders; ++order) {
    for (std::size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[chance_below(i, state)]);
    if (largest_split(ranks, options.least, window).size < found.size * (1 - 1e-12)) continue;
    if (static_cast<double>(++as_large) > most * static_cast<double>(orders + 1)) return 1;
  }
  return static_cast<double>(as_large) / static_cast<double>(orders + 1);
}

struct Found {
  std::size_t at;
  double p;
};

void search(std::span<const double> values, std::size_t first, unsigned depth, const ChangePointOptions& options,
            std::vector<Found>& out) {
  if (values.size() < 2 * options.least || depth > kDeepest) return;
  const std::vector<double> ranks = centred_ranks(values);
  const bool windows = values.size() >= std::max(kLeastForWindows, 3 * options.least);
  const double most = options.rate / static_cast<double>(std::size_t{windows ? 2U : 1U} << depth);
  for (const bool window : {false, true}) {
    const Split split = window && !windows ? Split() : largest_split(ranks, options.least, window);
    if (split.size == 0) return;
    const double p = chance_of(ranks, split, options, kOrders << depth, most);
    if (p > most) continue;
    // Of a window there are three parts, of which two are of one side.
    const unsigned below = depth + (window ? 2 : 1);
    search(values.first(split.at), first, below, options, out);
    out.push_back({first + split.at, p});
    search(values.subspan(split.at, split.end - split.at), first + split.at, below, options, out);
    if (window) {
      out.push_back({first + split.end, p});
      search(values.subspan(split.end), first + split.end, below, options, out);
    }
    return;
  }
}

// Ranks tell that there is a change, not where: their split is largest a value early where the last of the old level is
// its largest. It is where the values before and behind it, up to the changes next to it, are nearest to their medians.
void set_places(std::span<const double> values, std::size_t least, std::vector<Found>& changes) {
  const auto scatter = [](std::span<const double> level) {
    const double centre = middle(level);
    double sum = 0;
    for (const double value : level) sum += std::abs(value - centre);
    return sum;
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : changes[i - 1].at;
    const std::size_t end = i + 1 < changes.size() ? changes[i + 1].at : values.size();
    const auto left = [&](std::size_t at) {
      return scatter(values.subspan(begin, at - begin)) + scatter(values.subspan(at, end - at));
    };
    double lowest = left(changes[i].at);
    for (std::size_t at = begin + least; at + least <= end; ++at) {
      const double here = left(at);
      if (here >= lowest) continue;
      lowest = here;
      changes[i].at = at;
    }
  }
}

// Of the line of least squares, a place.
double slope_of(std::span<const double> values) {
  const double middle = (static_cast<double>(values.size()) - 1) / 2;
  double slope = 0, spread = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double place = static_cast<double>(i) - middle;
    slope += place * values[i];
    spread += place * place;
  }
  return spread > 0 ? slope / spread : 0;
}

// What a line of that slope through the mean leaves: the sum of the squares, and where it begins and ends.
struct Line {
  double left = 0, first = 0, last = 0;
};

Line line_through(std::span<const double> values, double slope) {
  const auto n = static_cast<double>(values.size());
  Line out;
  out.first = std::reduce(values.begin(), values.end()) / n - slope * (n - 1) / 2;
  out.last = out.first + slope * (n - 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double left = values[i] - out.first - slope * static_cast<double>(i);
    out.left += left * left;
  }
  return out;
}

// One change in place of the newest ones where a line leaves less of these values than their levels do.
void join_steady(std::span<const double> values, std::vector<ChangePoint>& changes) {
  std::size_t end = values.size();
  double left = 0;
  std::vector<ChangePoint> kept = changes;
  while (!changes.empty()) {
    const std::size_t at = changes.back().at, begin = changes.size() > 1 ? changes[changes.size() - 2].at : 0;
    left += line_through(values.subspan(at, end - at), 0).left;
    const Line line = line_through(values.subspan(begin), slope_of(values.subspan(begin)));
    if (line.left >= left + line_through(values.subspan(begin, at - begin), 0).left) break;
    const double p = changes.back().p;
    end = at;
    changes.pop_back();
    kept = changes;
    kept.push_back({begin + 1, line.first, line.last, p, true});
  }
  changes = std::move(kept);
}

}  // namespace

std::vector<double> TrendSeries::values() const {
  std::vector<double> out;
  for (const TrendPoint& point : points) {
    if (point.value) out.push_back(*point.value);
  }
  return out;
}

std::vector<TrendSeries> make_trends(std::span<const TrendRun> runs, const TrendOptions& options,
                                     const TrendValues& values) {
  std::map<std::string, std::vector<TrendRun>> by_label;
  for (const TrendRun& run : runs) {
    if (!options.phase || has_phase(run, *options.phase)) by_label[label_of(run)].push_back(run);
  }
  std::vector<TrendSeries> out;
  for (const auto& [label, own] : by_label) {
    const std::string phase = options.phase ? *options.phase : common_phase(own);
    for (const auto& [name, found] : values(phase, own)) {
      TrendSeries series;
      series.phase = name;
      series.label = series.said_phase().empty() ? label : label + ", " + name;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const TraceSummary& first = own[i].front()->summary;
        const auto& date = first.date_ns;
        series.points.push_back({own[i], date.value_or(first.source_modified_ns.value_or(0)), date.has_value(),
                                 found[i].value, found[i].load, found[i].power});
      }
      std::ranges::stable_sort(series.points, [](const TrendPoint& a, const TrendPoint& b) {
        return std::tie(a.date_ns, a.run.front()->index) < std::tie(b.date_ns, b.run.front()->index);
      });
      mark_changes(series, options.changes);
      if (name == phase || !series.changes.empty() || series.newest > 0) out.push_back(std::move(series));
    }
  }
  return out;
}

std::vector<ChangePoint> find_change_points(std::span<const double> values, const ChangePointOptions& options) {
  std::vector<Found> found;
  search(values, 0, 0, options, found);
  set_places(values, options.least, found);
  std::vector<ChangePoint> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1].at;
    const std::size_t end = i + 1 < found.size() ? found[i + 1].at : values.size();
    out.push_back({found[i].at, middle(values.subspan(begin, found[i].at - begin)),
                   middle(values.subspan(found[i].at, end - found[i].at)), found[i].p});
  }
  join_steady(values, out);
  return out;
}

std::size_t least_values(const ChangePointOptions& options) {
  // Of n values, half before and half behind: two of their n over n/2 divisions are as large as the largest.
  double divisions = 1;
  std::size_t n = 0;
  while (n < 2 * options.least || 2 / divisions > options.rate) {
    ++n;
    const std::size_t half = n / 2 + n % 2;
    divisions *= n % 2 == 0 ? 2 : static_cast<double>(n) / static_cast<double>(half);
  }
  return n;
}

}  // namespace tracedb
