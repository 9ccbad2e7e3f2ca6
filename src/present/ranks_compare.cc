// Two jobs rank by rank: ranks_tables.h.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/ranks_tables.h"

namespace tracedb {
namespace {

constexpr double kSame = 1;           // percent
constexpr double kLeastReason = 0.1;  // of the change
constexpr std::size_t kMostCauses = 3;

constexpr double kMostUndivided = 0.1;  // of the change

// Of a step of one rank, in ns, without what it waits as ranks began to record at different times; without steps of its
// recording. The parts add up to the time. Transfer and waiting are those of the steps whose collectives all have all
// members, and undivided is what all steps communicate beyond that.
struct RankStep {
  double time = 0, waited = 0;  // `waited`: for those that are recorded, however divided
  std::array<double, 6> parts{};

  void add(const RankStep& other, double weight) {
    time += weight * other.time;
    waited += weight * other.waited;
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += weight * other.parts[i];
  }
};
constexpr std::array<const char*, 6> kParts = {
    "computing", "exposed transfer", "exposed waiting", "undivided communication", "exposed copies", "idle"};
constexpr std::size_t kTransfer = 1, kWaiting = 2, kUndivided = 3;

// Whether what is neither transfer nor waiting is little of the greater change of these.
bool are_divided(const RankStep& before, const RankStep& after) {
  const auto change = [&](std::size_t part) { return std::abs(after.parts[part] - before.parts[part]); };
  return std::abs(before.parts[kUndivided]) + std::abs(after.parts[kUndivided]) <=
         kMostUndivided * std::max(change(kTransfer), change(kWaiting));
}

// Of its exposed communication: what it waits at the first collectives, as far as its recording began before the last.
std::int64_t start_of(const JobAnalysis& job, std::uint32_t place) {
  const auto begin = [&](std::size_t of) { return job.clocks[of].aligned(job.ranks[of].begin); };
  std::int64_t last = begin(place);
  for (std::size_t other = 0; other < job.ranks.size(); ++other) last = std::max(last, begin(other));
  return std::min({job.waits.ranks[place].first, job.ranks[place].figures.exposed_comm, last - begin(place)});
}

// Whether they are steps, and of which kind; else the recording.
using WindowKind = std::pair<bool, StepKind>;
using Windows = std::vector<StepWindow>;

std::map<WindowKind, Windows> windows_of(const RankTrace& rank) {
  std::map<WindowKind, Windows> out;
  for (const StepWindow& one : rank.windows) out[{one.step != 0, one.kind}].push_back(one);
  return out;
}

bool follow_each_other(const Windows& steps) {
  const auto is_last = [](const StepWindow& one) { return one.next == kUnknownValue; };
  return 2 * static_cast<std::size_t>(std::ranges::count_if(steps, is_last)) <= steps.size();
}

// Of usual steps the mean, and how many there are.
struct StepMean {
  RankStep step;
  std::size_t n = 0, rare = 0;
};

// `by_period`: to the next, without those that none follows, nor that in which it waits for others to begin; else of
// the device's span.
StepMean mean_of(const JobAnalysis& job, std::uint32_t place, const Windows& steps, bool by_period) {
  struct Taken : TimeParts {
    std::int64_t waiting = 0;
    bool is_divided = true;
  };
  std::vector<Taken> taken;
  std::vector<std::int64_t> times;
  std::int64_t start = start_of(job, place);
  for (const StepWindow& one : steps) {
    const auto waits = job.waits.ranks[place].steps.find(one.step);
    const StepWaits own = waits == job.waits.ranks[place].steps.end() ? StepWaits{} : waits->second;
    const std::int64_t apart = std::min(own.first, start);
    start -= apart;
    if (by_period && (one.next == kUnknownValue || (apart > 0 && steps.size() > 2))) continue;
    Taken part{job.ranks[place].parts(one.begin, by_period ? one.next : one.end)};
    part.comm -= std::min(apart, part.comm);
    part.waiting = std::min(own.exposed - apart, part.comm);
    part.is_divided = own.is_divided;
    taken.push_back(part);
    times.push_back(part.compute + part.comm + part.copy + part.idle);
  }
  const UsualSteps usual = usual_steps(times);
  const auto mean = [&](std::int64_t Taken::*figure, bool divided = false) {
    double sum = 0, n = 0;
    for (const std::size_t i : usual.counted) {
      if (divided && !taken[i].is_divided) continue;
      sum += static_cast<double>(taken[i].*figure);
      ++n;
    }
    return n > 0 ? sum / n : 0;
  };
  const double comm = mean(&Taken::comm, true), waiting = mean(&Taken::waiting, true);
  RankStep step{0,
                mean(&Taken::waiting),
                {mean(&Taken::compute), comm - waiting, waiting, mean(&Taken::comm) - comm, mean(&Taken::copy),
                 mean(&Taken::idle)}};
  step.time = std::reduce(step.parts.begin(), step.parts.end());
  return {step, usual.counted.size(), times.size() - usual.counted.size()};
}

// What a rank of either job takes for a step: of the kinds of steps that both have, as many of each as both have in the
// mean. So another mix of kinds, or more steps, make no change.
struct BothSteps {
  RankStep before, after;
  std::vector<std::string> kinds;  // that both have; of their recordings: kRecording
  std::vector<std::string> spans;  // of these those compared by span
  std::vector<std::string> alone;  // "prefill in the baseline"
  std::size_t rare_before = 0, rare_after = 0;
};

constexpr std::string_view kRecording = "recording";

std::string name_of(const WindowKind& kind) { return std::string(kind.first ? to_string(kind.second) : kRecording); }

// "a decode step", "a step (prefill, decode)"; where no annotation says the kind, a step.
std::string step_named(const std::vector<std::string>& kinds) {
  if (kinds.size() > 1) return fmt::format("a step ({})", fmt::join(kinds, ", "));
  if (kinds.front() == kRecording) return "the recording";
  return kinds.front() == to_string(StepKind::kUnknown) ? "a step" : fmt::format("a {} step", kinds.front());
}

BothSteps both_steps(const JobAnalysis& baseline, std::uint32_t a, const JobAnalysis& candidate, std::uint32_t b) {
  const auto before = windows_of(baseline.ranks[a]), after = windows_of(candidate.ranks[b]);
  BothSteps out;
  RankStep sum_before, sum_after;
  double all = 0;
  for (const auto& [kind, steps] : before) {
    const auto found = after.find(kind);
    if (found == after.end()) {
      out.alone.push_back(name_of(kind) + " in the baseline");
      continue;
    }
    const bool by_period = follow_each_other(steps) && follow_each_other(found->second);
    const StepMean x = mean_of(baseline, a, steps, by_period), y = mean_of(candidate, b, found->second, by_period);
    out.kinds.push_back(name_of(kind));
    if (!by_period && kind.first) out.spans.push_back(name_of(kind));
    const auto n = static_cast<double>(x.n + y.n);
    sum_before.add(x.step, n);
    sum_after.add(y.step, n);
    all += n;
    out.rare_before += x.rare;
    out.rare_after += y.rare;
  }
  for (const auto& [kind, steps] : after) {
    if (!before.contains(kind)) out.alone.push_back(name_of(kind) + " in the candidate");
  }
  if (all == 0) return out;
  out.before.add(sum_before, 1 / all);
  out.after.add(sum_after, 1 / all);
  return out;
}

Cell percent_cell(double before, double after) { return before > 0 ? Cell(100 * (after - before) / before) : Cell(); }

// By rank.
std::map<std::int64_t, std::uint32_t> places(const JobAnalysis& job) {
  std::map<std::int64_t, std::uint32_t> out;
  for (std::uint32_t place = 0; place < job.ranks.size(); ++place) out[job.ranks[place].rank] = place;
  return out;
}

// By rank what it waits in a step; of those that wait as long the one that takes longest comes first.
std::map<std::int64_t, std::pair<double, double>> waiting_of_step(const JobAnalysis& job) {
  std::map<std::int64_t, std::pair<double, double>> out;
  for (const auto& [rank, place] : places(job)) {
    const RankStep own = both_steps(job, place, job, place).before;
    out[rank] = {own.waited, -own.time};
  }
  return out;
}

Row both_sides(const std::string& rank, const BothSteps& both) {
  const RankStep &before = both.before, &after = both.after;
  Row out = {rank, time_cell(before.time), time_cell(after.time), Cell(), percent_cell(before.time, after.time)};
  std::array<std::int64_t, kParts.size()> parts{};  // rounded: these add up
  for (std::size_t i = 0; i < kParts.size(); ++i)
    parts[i] = std::llround(after.parts[i]) - std::llround(before.parts[i]);
  out[3] = std::reduce(parts.begin(), parts.end());
  const bool divided = are_divided(before, after);
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (i == kTransfer) out.emplace_back(parts[kTransfer] + parts[kWaiting] + parts[kUndivided]);
    out.push_back(divided || i < kTransfer || i > kUndivided ? Cell(parts[i]) : Cell());
  }
  return out;
}

Sentence reasons_text(const RankStep& before, const RankStep& after) {
  std::vector<std::pair<double, const char*>> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i) parts.emplace_back(after.parts[i] - before.parts[i], kParts[i]);
  if (!are_divided(before, after)) {
    for (const std::size_t i : {kWaiting, kUndivided}) parts[kTransfer].first += parts[i].first;
    parts[kTransfer].second = "exposed communication";
    parts.erase(parts.begin() + kWaiting, parts.begin() + kUndivided + 1);
  }
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::vector<Sentence> out;
  for (std::size_t i = 0; i < kMostCauses; ++i) {
    const auto [change, part] = parts[i];
    if (std::abs(change) < kLeastReason * std::abs(after.time - before.time)) continue;
    out.push_back(say("part", change > 0 ? "+{change:duration} {part}" : "{change:duration} {part}",
                      {{"change", change}, {"part", part}}));
  }
  return joined(out, ", ");
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> deciding(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  auto before = waiting_of_step(baseline), after = waiting_of_step(candidate);
  const auto rank_of = [](const auto& one) { return one.first; };
  if (std::ranges::equal(before, after, {}, rank_of, rank_of)) {
    for (auto& [rank, waiting] : before)
      waiting = after[rank] = {waiting.first + after[rank].first, waiting.second + after[rank].second};
  }
  const auto of = [](const JobAnalysis& job, const JobAnalysis& other, const auto& waiting) {
    if (job.waits.straggler) return *job.waits.straggler;
    const auto there = places(job);
    const auto same = other.waits.straggler ? there.find(other.ranks[*other.waits.straggler].rank) : there.end();
    if (same != there.end()) return same->second;
    return there.at(std::ranges::min_element(waiting, {}, [](const auto& one) { return one.second; })->first);
  };
  return {of(baseline, candidate, before), of(candidate, baseline, after)};
}

Report ranks_compare(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  Report out{declared_columns("ranks_compare"), {}};
  const auto before = places(baseline), after = places(candidate);
  std::set<std::int64_t> all;
  for (const auto& [rank, place] : before) all.insert(rank);
  for (const auto& [rank, place] : after) all.insert(rank);
  for (const std::int64_t rank : all) {
    const auto a = before.find(rank), b = after.find(rank);
    if (a != before.end() && b != after.end()) {
      out.rows.push_back(both_sides(std::to_string(rank), both_steps(baseline, a->second, candidate, b->second)));
      continue;
    }
    Row& row = out.rows.emplace_back(out.columns.size());
    row[0] = std::to_string(rank);
    const auto own = [](const JobAnalysis& job, std::uint32_t place) {
      return time_cell(both_steps(job, place, job, place).before.time);
    };
    if (a != before.end()) row[1] = own(baseline, a->second);
    if (b != after.end()) row[2] = own(candidate, b->second);
  }
  const auto [a, b] = deciding(baseline, candidate);
  Row job = both_sides("[job]", both_steps(baseline, a, candidate, b));
  out.footer.push_back(std::move(job));
  return out;
}

JobReservations job_reservations(const ComparedTraces& traces, const Comparison& comparison) {
  JobReservations out;
  const auto &a = traces.traces[0].description, &b = traces.traces[1].description;
  if (a.devices != b.devices) out.differences.push_back(fmt::format("{} against {}", b.devices, a.devices));
  for (const GroupComparison& one : comparison.groups) {
    const StepGroup& group = one.group;
    const std::string& other_work = one.other_work.text;
    const double before = mean_load(group.baseline), after = mean_load(group.candidate);
    std::string why = !other_work.empty() ? other_work : one.permission.why_not(Claim::kVerdict);
    if (other_work.empty() && before > 0 && after > 0 && one.load.is_apart())
      why = fmt::format("{:.0f} {} a step, {:.0f} before", after, load_of(group), before);
    if (!why.empty()) out.differences.push_back(fmt::format("{}: {}", group.said(), why));
    out.other_work |= !other_work.empty();
  }
  for (const CompareWarning& warning : comparison.warnings) {
    const bool is_said = warning.code == "ranks" || warning.code == "other_work" || warning.code == "batch_mix";
    if (warning.severity == "warning" && !is_said) out.warnings.push_back(warning.text);
  }
  return out;
}

Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate, const JobReservations& but) {
  const auto [a, b] = deciding(baseline, candidate);
  const BothSteps both = both_steps(baseline, a, candidate, b);
  const RankStep &before = both.before, &after = both.after;
  const double change = before.time > 0 ? (after.time - before.time) / before.time : 0;
  const bool sets_pace = candidate.waits.straggler == b, set_pace = baseline.waits.straggler == a;
  const bool waits = !baseline.waits.collectives.empty() || !candidate.waits.collectives.empty();
  const bool same_rank = baseline.ranks[a].rank == candidate.ranks[b].rank;
  const auto other = [](const char* when, const JobAnalysis& job, std::optional<std::uint32_t> place) {
    return say("", " ({when}: {rank})", {{"when", when}, {"rank", place ? rank_text(job, *place) : "none"}});
  };
  const Figure who{
      "who", say("", "{rank}{of} {how}{before}",
                 {{"rank", rank_text(candidate, b)},
                  {"of", candidate.all_are_here() ? Sentence{} : say("", " {ranks}", {{"ranks", of_ranks(candidate)}})},
                  {"how", sets_pace               ? "sets the pace"
                          : set_pace && same_rank ? "set the pace before"
                          : waits                 ? "waits least"
                                                  : "takes longest"},
                  {"before", same_rank && sets_pace == set_pace ? Sentence{}
                             : same_rank && set_pace            ? other("now", candidate, candidate.waits.straggler)
                             : sets_pace                        ? other("before", baseline, baseline.waits.straggler)
                                                                : other("before", baseline, a)}})};
  if (both.kinds.empty()) return say("ranks.other_steps", "the jobs have no kind of steps in common: not compared");
  const std::string differences = fmt::format("{}", fmt::join(but.differences, "; "));
  const Figure kind{"what", step_named(both.kinds)}, time{"after", after.time}, was{"before", before.time};
  if (but.other_work) {
    return say("ranks.other_work", "{what} takes {after:time}, {before:time} before: not compared: {differences}",
               {kind, time, was, {"differences", differences}});
  }
  const Figure except{
      "but", differences.empty() ? Sentence{} : say("but", ", but {differences}", {{"differences", differences}})};
  const Figure times{"times", say("", "{what} takes {after:time}, {before:time} before ({change:+.1f%}){but}",
                                  {kind, time, was, {"change", change}, except})};
  if (100 * std::abs(change) < kSame) return say("ranks.same", "{times}, about the same; {who}", {times, who});
  return say("ranks.compare", "{times}; {who}: {parts}", {times, who, {"parts", reasons_text(before, after)}});
}

std::vector<std::string> compare_notes(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  std::vector<std::string> notes;
  const auto before = places(baseline), after = places(candidate);
  const auto count = [](const auto& of, const auto& in) {
    return std::ranges::count_if(of, [&](const auto& rank) { return !in.contains(rank.first); });
  };
  if (const auto n = count(before, after); n > 0) {
    notes.push_back(counted(n, "rank is", "ranks are") + " in the baseline only");
  }
  if (const auto n = count(after, before); n > 0) {
    notes.push_back(counted(n, "rank is", "ranks are") + " in the candidate only");
  }
  if (baseline.world_size != candidate.world_size) notes.emplace_back("the jobs have different numbers of ranks");
  const auto starts_apart = [](const JobAnalysis& job) {
    return std::ranges::any_of(places(job), [&](const auto& rank) {
      return static_cast<double>(start_of(job, rank.second)) >
             kSame / 100 * static_cast<double>(job.ranks[rank.second].figures.span);
    });
  };
  if (starts_apart(baseline) || starts_apart(candidate))
    notes.emplace_back("steps are compared without what ranks wait as they began to record at different times");
  const auto [a, b] = deciding(baseline, candidate);
  const BothSteps both = both_steps(baseline, a, candidate, b);
  if (both.kinds.size() > 1)
    notes.emplace_back("a step is the mean of as many steps of each kind as both jobs have in the mean");
  for (const std::string& one : both.alone) notes.push_back("not compared: " + one + " only");
  for (const std::string& one : both.spans)
    notes.push_back(one + " steps are compared by their spans on the device, as they do not follow each other");
  if (both.rare_before + both.rare_after > 0)
    notes.push_back(fmt::format("{} of the baseline and {} of the candidate are left out: warm-up and rare long steps",
                                counted(both.rare_before, "step"), both.rare_after));
  return notes;
}

}  // namespace tracedb
