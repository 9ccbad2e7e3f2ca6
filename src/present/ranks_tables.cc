#include "present/ranks_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/text/amounts.h"
#include "present/cells.h"

namespace tracedb {
namespace {

Cell count(std::size_t n) { return static_cast<std::int64_t>(n); }
Cell rank_cell(const JobAnalysis& job, std::uint32_t place) {
  return job.by_device ? rank_text(job, place) : std::to_string(job.ranks[place].rank);
}

Row rank_row(const JobAnalysis& job, std::uint32_t place) {
  const RankTrace& rank = job.ranks[place];
  const RankWaits& waits = job.waits.ranks[place];
  const RankClock& clock = job.clocks[place];
  const bool paired = !job.waits.collectives.empty();
  const auto if_paired = [paired](Cell cell) { return paired ? std::move(cell) : Cell(); };
  return {job.name,
          rank_cell(job, place),
          rank.figures.kernels,
          rank.figures.span,
          rank.figures.busy,
          rank.figures.computation,
          rank.figures.comm,
          rank.figures.exposed_comm,
          if_paired(waits.sums.waiting),
          if_paired(waits.sums.exposed),
          if_paired(waits.sums.transfer),
          if_paired(waits.sums.undivided),
          if_paired(waits.caused),
          if_paired(count(waits.last)),
          count(waits.sums.collectives),
          waits.last > 0 ? Cell(std::string(to_string(job.waits.cause_of(place)))) : Cell(),
          waits.host ? Cell(waits.host->place) : Cell(),
          waits.host ? Cell(100 * waits.host->share) : Cell(),
          if_paired(time_cell(clock.offset)),
          clock.slope != 0 ? Cell(std::round(clock.slope * 1e9) / 1e3) : Cell(),
          clock.pairs > 0 ? time_cell(clock.uncertainty) : Cell(),
          rank.trace};
}

// A row of sums below others.
Row sums_of(const std::vector<Column>& columns, std::span<const Row> rows, const std::string& job) {
  Row out(columns.size());
  out[0] = job;
  out[1] = "[all]";
  for (std::size_t column = 2; column < columns.size(); ++column) {
    if (columns[column].others != OthersAggregate::kSum) continue;
    std::optional<std::int64_t> sum;
    for (const Row& row : rows) {
      if (const auto* value = std::get_if<std::int64_t>(&row[column])) sum = sum.value_or(0) + *value;
    }
    if (sum) out[column] = *sum;
  }
  return out;
}

void add_causes(const JobAnalysis& job, Report& out) {
  const JobWaits& waits = job.waits;
  std::int64_t rest = 0;
  for (std::uint32_t place = 0; place < waits.ranks.size(); ++place) {
    const RankWaits& rank = waits.ranks[place];
    if (rank.last == 0) continue;
    for (std::size_t cause = 0; cause < kLateCauses; ++cause) {
      if (rank.count[cause] == 0) {
        rest += rank.parts[cause];
        continue;
      }
      out.rows.push_back({job.name, rank_cell(job, place), std::string(to_string(static_cast<LateCause>(cause))),
                          count(rank.count[cause]), rank.caused_by[cause],
                          share_of(rank.caused_by[cause], waits.exposed), rank.parts[cause]});
    }
  }
  const auto place = find_column(out.columns, "caused").value_or(0);
  std::ranges::stable_sort(out.rows, [&](const Row& a, const Row& b) {
    return std::get<std::string>(a[0]) == std::get<std::string>(b[0]) &&
           std::get<std::int64_t>(a[place]) > std::get<std::int64_t>(b[place]);
  });
  const auto add = [&](const char* name, Arrival arrival, std::int64_t exposed) {
    const auto n = std::ranges::count_if(waits.collectives,
                                         [arrival](const CollectiveWait& one) { return one.arrival == arrival; });
    out.footer.push_back(
        {job.name, name, Cell(), static_cast<std::int64_t>(n), exposed, share_of(exposed, waits.exposed), Cell()});
  };
  if (waits.collectives.empty()) return;
  out.footer.push_back({job.name, "[others]", Cell(), std::int64_t{0}, std::int64_t{0}, 0.0, rest});
  add("[together]", Arrival::kTogether, waits.together);
  add("[start]", Arrival::kFirst, waits.first);
  out.footer.push_back({job.name, "[all]", Cell(), count(waits.collectives.size()), waits.exposed,
                        share_of(waits.exposed, waits.exposed), Cell()});
}

struct StepSums {
  std::size_t collectives = 0, late = 0;
  std::int64_t exposed = 0;
  std::map<std::uint32_t, std::int64_t> caused;  // by rank
  std::map<std::pair<std::uint32_t, LateCause>, std::int64_t> causes;
};

Cell span_of(const JobAnalysis& job, std::uint32_t step) {
  std::int64_t longest = kUnknownValue;
  for (const RankTrace& rank : job.ranks) {
    if (step != 0 && step < rank.step_stats.size()) longest = std::max(longest, rank.step_stats[step].gpu_span);
  }
  return longest == kUnknownValue ? Cell() : Cell(longest);
}

Row step_row(const JobAnalysis& job, std::uint32_t step, const StepSums& sums) {
  Row out = {job.name,
             step == 0 ? Cell("[no step]") : Cell(std::to_string(step - 1)),
             Cell(),
             Cell(),
             span_of(job, step),
             count(sums.collectives),
             count(sums.late),
             sums.exposed,
             Cell(),
             std::int64_t{0},
             Cell()};
  const RankTrace& lowest = job.ranks.front();
  if (step != 0 && step <= lowest.steps.size()) {
    const StepFacts& facts = lowest.steps[step - 1];
    out[2] = std::string(to_string(facts.info.kind));
    if (!facts.name.empty()) out[3] = facts.name;
  }
  const auto most = std::ranges::max_element(sums.caused, {}, [](const auto& one) { return one.second; });
  if (most == sums.caused.end()) return out;
  out[8] = rank_cell(job, most->first);
  out[9] = most->second;
  const LateCause* cause = nullptr;
  std::int64_t of_cause = -1;
  for (const auto& [key, ns] : sums.causes) {
    if (key.first != most->first || ns <= of_cause) continue;
    of_cause = ns;
    cause = &key.second;
  }
  if (cause != nullptr) out[10] = std::string(to_string(*cause));
  return out;
}

void add_steps(const JobAnalysis& job, Report& out) {
  std::map<std::uint32_t, StepSums> steps;
  for (const CollectiveWait& one : job.waits.collectives) {
    StepSums& sums = steps[one.step];
    ++sums.collectives;
    sums.exposed += one.exposed;
    if (one.arrival != Arrival::kLate) continue;
    ++sums.late;
    sums.caused[one.last_rank] += one.exposed;
    sums.causes[{one.last_rank, one.cause()}] += one.exposed;
  }
  for (const auto& [step, sums] : steps) {
    (step == 0 ? out.footer : out.rows).push_back(step_row(job, step, sums));
  }
}

struct CollectiveSums {
  std::int64_t time = 0, waiting = 0, exposed = 0, undivided = 0, latency = 0;
  std::size_t collectives = 0, whole = 0, late = 0, ranks = 0;
  std::map<std::uint32_t, std::size_t> last;  // by rank
};

void add_collectives(const JobAnalysis& job, Report& out) {
  std::map<std::tuple<std::string, std::string, bool>, CollectiveSums> all;
  for (const CollectiveWait& one : job.waits.collectives) {
    const MatchedCollective& matched = job.matching.matched[one.collective];
    CollectiveSums& sums =
        all[{job.texts.collectives.text(matched.name), job.texts.groups.text(matched.group), matched.by_sequence}];
    std::int64_t time = 0;
    for (const CollectiveMember& member : matched.members) {
      const CollectiveEvent& event = job.ranks[member.rank].collectives[member.event];
      time += event.end - event.start;
    }
    sums.time += time;
    if (one.is_whole) {
      ++sums.whole;
      sums.latency += one.transfer;
    } else {
      sums.undivided += time - one.waiting;
    }
    sums.waiting += one.waiting;
    sums.exposed += one.exposed;
    sums.ranks = std::max(sums.ranks, matched.members.size());
    ++sums.collectives;
    if (one.arrival != Arrival::kLate) continue;
    ++sums.late;
    ++sums.last[one.last_rank];
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.rows.size());
  for (const auto& [key, sums] : all) {
    const auto& [name, group, by_sequence] = key;
    const auto most = std::ranges::max_element(sums.last, {}, [](const auto& one) { return one.second; });
    const bool any = most != sums.last.end();
    out.rows.push_back(
        {job.name, sums.time, sums.waiting, sums.exposed, sums.time - sums.waiting - sums.undivided, sums.undivided,
         sums.whole > 0 ? time_cell(static_cast<double>(sums.latency) / static_cast<double>(sums.whole)) : Cell(),
         count(sums.collectives), count(sums.late), any ? rank_cell(job, most->first) : Cell(),
         any ? count(most->second) : Cell(), count(sums.ranks), by_sequence ? "sequence" : "order",
         group.empty() ? Cell() : Cell(group), name});
  }
  std::stable_sort(out.rows.begin() + begin, out.rows.end(), [](const Row& a, const Row& b) {
    return std::get<std::int64_t>(a[1]) > std::get<std::int64_t>(b[1]);
  });
}

constexpr double kSame = 1;           // percent
constexpr double kLeastReason = 0.1;  // of the change
constexpr std::size_t kMostCauses = 3;

constexpr double kMostUndivided = 0.1;  // of the change

// Of a step of one rank, in ns, without what it waits as ranks began to record at different times; without steps of its
// recording. The parts add up to the time. Transfer and waiting are those of the steps whose collectives all have all
// members, and undivided is what all steps communicate beyond that.
struct RankStep {
  double time = 0;
  std::array<double, 6> parts{};
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

// Without `without`. Where none has a collective in a step, the recording is one.
double steps_of(const RankTrace& rank, const std::set<std::uint32_t>& without = {}) {
  std::set<std::uint32_t> seen;
  for (const CollectiveEvent& event : rank.collectives) {
    if (event.selected && event.step != 0) seen.insert(event.step);
  }
  if (seen.empty()) return without.empty() ? 1 : 0;
  std::erase_if(seen, [&](std::uint32_t step) { return without.contains(step); });
  return static_cast<double>(seen.size());
}

// Of its exposed communication: what it waits at the first collectives, as far as its recording began before the last.
std::int64_t start_of(const JobAnalysis& job, std::uint32_t place) {
  const auto begin = [&](std::size_t of) { return job.clocks[of].aligned(job.ranks[of].begin); };
  std::int64_t last = begin(place);
  for (std::size_t other = 0; other < job.ranks.size(); ++other) last = std::max(last, begin(other));
  return std::min({job.waits.ranks[place].first, job.ranks[place].figures.exposed_comm, last - begin(place)});
}

std::int64_t waiting_of(const JobAnalysis& job, std::uint32_t place) {
  return std::min(job.waits.ranks[place].sums.exposed, job.ranks[place].figures.exposed_comm) - start_of(job, place);
}

RankStep step_of(const JobAnalysis& job, std::uint32_t place) {
  const RankTrace& rank = job.ranks[place];
  const LaneTimeline& sums = rank.figures;
  const UndividedSteps& undivided = job.waits.ranks[place].undivided;
  const double steps = steps_of(rank), divided = steps_of(rank, undivided.steps);
  const auto in_step = [](std::int64_t sum, double of) { return of > 0 ? static_cast<double>(sum) / of : 0; };
  const double waiting = in_step(waiting_of(job, place) - undivided.waiting, divided);
  const std::int64_t start = start_of(job, place), comm = sums.exposed_comm - start;
  const double transfer = in_step(comm - undivided.comm, divided) - waiting;
  return {in_step(sums.span - start, steps),
          {in_step(sums.computation, steps), transfer, waiting, in_step(comm, steps) - transfer - waiting,
           in_step(sums.exposed_copy, steps), in_step(sums.idle, steps)}};
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
  for (const auto& [rank, place] : places(job))
    out[rank] = {static_cast<double>(waiting_of(job, place)) / steps_of(job.ranks[place]), -step_of(job, place).time};
  return out;
}

// For whom the others wait: the straggler; where only the other job has one, the same rank; else the one that waits
// least in a step, of both jobs together where their ranks are the same.
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

Row both_sides(std::int64_t rank, const RankStep& before, const RankStep& after) {
  Row out = {std::to_string(rank), time_cell(before.time), time_cell(after.time), Cell(),
             percent_cell(before.time, after.time)};
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

Report rows_of(std::string_view table, std::span<const JobAnalysis> jobs, void (*add)(const JobAnalysis&, Report&)) {
  Report out{declared_columns(table), {}};
  for (const JobAnalysis& job : jobs) add(job, out);
  return out;
}

}  // namespace

Report ranks_jobs(std::span<const JobAnalysis> jobs) {
  Report out{declared_columns("ranks_jobs"), {}};
  for (const JobAnalysis& job : jobs) {
    const JobWaits& waits = job.waits;
    const auto& straggler = waits.straggler;
    const Loss loss = straggler ? loss_by(job.ranks, waits, *straggler) : Loss{};
    const auto steps = static_cast<double>(std::max<std::size_t>(job.steps(straggler), 1));
    std::size_t late = 0;
    for (const RankWaits& rank : waits.ranks) late += rank.last;
    const std::vector<MatchedCollective>& matched = job.matching.matched;
    const auto by_sequence = std::ranges::count_if(matched, [](const auto& m) { return m.by_sequence; });
    const auto sends = std::ranges::count_if(matched, [](const auto& m) { return m.is_send; });
    out.rows.push_back(
        {job.name, job_headline(job).text, count(job.ranks.size()), job.world_size ? Cell(*job.world_size) : Cell(),
         count(job.steps()), count(waits.collectives.size()), static_cast<std::int64_t>(by_sequence),
         static_cast<std::int64_t>(sends), count(job.matching.single), count(waits.apart),
         count(without_other_end(job.matching)), count(job.matching.unknown_peer), count(late), waits.exposed,
         straggler ? rank_cell(job, *straggler) : Cell(), straggler ? count(waits.ranks[*straggler].last) : Cell(),
         straggler ? time_cell(loss.ns / steps) : Cell(), straggler ? Cell(100 * loss.share) : Cell(),
         straggler ? Cell(std::string(to_string(waits.cause_of(*straggler)))) : Cell()});
  }
  return out;
}

Report ranks_ranks(std::span<const JobAnalysis> jobs) {
  Report out{declared_columns("ranks_ranks"), {}};
  for (const JobAnalysis& job : jobs) {
    const std::size_t first = out.rows.size();
    for (std::uint32_t place = 0; place < job.ranks.size(); ++place) out.rows.push_back(rank_row(job, place));
    if (job.ranks.size() > 1) out.footer.push_back(sums_of(out.columns, std::span(out.rows).subspan(first), job.name));
  }
  return out;
}

Report ranks_causes(std::span<const JobAnalysis> jobs) { return rows_of("ranks_causes", jobs, add_causes); }

Report ranks_steps(std::span<const JobAnalysis> jobs) { return rows_of("ranks_steps", jobs, add_steps); }

Report ranks_collectives(std::span<const JobAnalysis> jobs) {
  return rows_of("ranks_collectives", jobs, add_collectives);
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
      out.rows.push_back(both_sides(rank, step_of(baseline, a->second), step_of(candidate, b->second)));
      continue;
    }
    Row& row = out.rows.emplace_back(out.columns.size());
    row[0] = std::to_string(rank);
    if (a != before.end()) row[1] = time_cell(step_of(baseline, a->second).time);
    if (b != after.end()) row[2] = time_cell(step_of(candidate, b->second).time);
  }
  const auto [a, b] = deciding(baseline, candidate);
  Row job = both_sides(0, step_of(baseline, a), step_of(candidate, b));
  job[0] = "[job]";
  out.footer.push_back(std::move(job));
  return out;
}

Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  const auto [a, b] = deciding(baseline, candidate);
  const RankStep before = step_of(baseline, a), after = step_of(candidate, b);
  const double change = before.time > 0 ? (after.time - before.time) / before.time : 0;
  const bool sets_pace = candidate.waits.straggler == b, set_pace = baseline.waits.straggler == a;
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
                                                  : "waits least"},
                  {"before", same_rank && sets_pace == set_pace ? Sentence{}
                             : same_rank && set_pace            ? other("now", candidate, candidate.waits.straggler)
                             : sets_pace                        ? other("before", baseline, baseline.waits.straggler)
                                                                : other("before", baseline, a)}})};
  const bool steps = baseline.steps() > 0 && candidate.steps() > 0;
  const Figure times{"times", say("", "{what} takes {after:duration}, {before:duration} before ({change:+.1f%})",
                                  {{"what", steps ? "a step" : "the recording"},
                                   {"after", after.time},
                                   {"before", before.time},
                                   {"change", change}})};
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
  return notes;
}

}  // namespace tracedb
