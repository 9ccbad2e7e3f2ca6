#include "present/ranks_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text/amounts.h"
#include "present/cells.h"
#include "present/ranks_words.h"

namespace tracedb {
namespace {

constexpr double kSame = 1;           // percent
constexpr double kLeastReason = 0.1;  // of the change
constexpr std::size_t kMostCauses = 3;

// Of a step of one rank, in ns; without steps of its recording. The parts add up to the time.
struct RankStep {
  double time = 0;
  std::array<double, 5> parts{};
};
constexpr std::array<const char*, 5> kParts = {"computing", "exposed transfer", "exposed waiting", "exposed copies",
                                               "idle"};

double steps_of(const RankTrace& rank) {
  std::set<std::uint32_t> seen;
  for (const CollectiveEvent& event : rank.collectives) {
    if (event.selected && event.step != 0) seen.insert(event.step);
  }
  return static_cast<double>(std::max<std::size_t>(seen.size(), 1));
}

RankStep step_of(const JobAnalysis& job, std::uint32_t place) {
  const RankTrace& rank = job.ranks[place];
  const RankFigures& sums = rank.figures;
  const std::int64_t waiting = std::min(job.waits.ranks[place].sums.exposed, sums.exposed_comm);
  const double steps = steps_of(rank);
  RankStep out;
  const std::int64_t parts[] = {sums.computation, sums.exposed_comm - waiting, waiting, sums.exposed_copy, sums.idle};
  for (std::size_t i = 0; i < out.parts.size(); ++i) out.parts[i] = static_cast<double>(parts[i]) / steps;
  out.time = static_cast<double>(sums.span) / steps;
  return out;
}

// The one that waits least: the others wait for it.
std::uint32_t deciding(const JobAnalysis& job) {
  const auto& ranks = job.waits.ranks;
  return static_cast<std::uint32_t>(
      std::ranges::min_element(ranks,
                               [](const RankWaits& a, const RankWaits& b) { return a.sums.exposed < b.sums.exposed; }) -
      ranks.begin());
}

Cell percent_cell(double before, double after) { return before > 0 ? Cell(100 * (after - before) / before) : Cell(); }

// By rank.
std::map<std::int64_t, std::uint32_t> places(const JobAnalysis& job) {
  std::map<std::int64_t, std::uint32_t> out;
  for (std::uint32_t place = 0; place < job.ranks.size(); ++place) out[job.ranks[place].rank] = place;
  return out;
}

Row one_sided(std::int64_t rank, const JobAnalysis* baseline, const JobAnalysis* candidate, std::uint32_t place) {
  Row out(ranks_compare_columns().size());
  out[0] = std::to_string(rank);
  if (baseline != nullptr) out[1] = time_cell(step_of(*baseline, place).time);
  if (candidate != nullptr) out[2] = time_cell(step_of(*candidate, place).time);
  return out;
}

Row both_sides(std::int64_t rank, const RankStep& before, const RankStep& after) {
  Row out = {std::to_string(rank), time_cell(before.time), time_cell(after.time), Cell(),
             percent_cell(before.time, after.time)};
  std::int64_t change = 0;  // of rounded parts, which then add up
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const std::int64_t part = std::llround(after.parts[i]) - std::llround(before.parts[i]);
    out.emplace_back(part);
    change += part;
  }
  out[3] = change;
  return out;
}

Sentence reasons_text(const RankStep& before, const RankStep& after) {
  std::vector<std::pair<double, std::size_t>> parts;
  for (std::size_t i = 0; i < kParts.size(); ++i) parts.emplace_back(after.parts[i] - before.parts[i], i);
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::vector<Sentence> out;
  for (std::size_t i = 0; i < kMostCauses; ++i) {
    const auto [change, part] = parts[i];
    if (std::abs(change) < kLeastReason * std::abs(after.time - before.time)) continue;
    out.push_back(say("part", change > 0 ? "+{change:duration} {part}" : "{change:duration} {part}",
                      {{"change", change}, {"part", kParts[part]}}));
  }
  return joined(out, ", ");
}

}  // namespace

std::vector<Column> ranks_compare_columns() {
  return {
      label_column("rank", "Rank", "number of the rank; [job]: the rank that waits least, in either job its own",
                   Fit{9}),
      figure_column("baseline", "Baseline", Unit::kTime, "span of the rank per step; without steps its span", Fit{8}),
      figure_column("candidate", "Candidate", Unit::kTime, "the same of the candidate", Fit{8}),
      figure_column("change", "Change", Unit::kTime, "candidate - baseline: the sum of the columns that follow",
                    Fit{8}),
      figure_column("change_pct", "Change (%)", Unit::kPercent, "of the baseline", Fit{8}),
      figure_column("computation", "Compute", Unit::kTime, "change of the time it computes", Fit{7}),
      figure_column("exposed_transfer", "Exposed Transfer", Unit::kTime,
                    "change of exposed communication without waiting", Fit{4}),
      figure_column("exposed_waiting", "Exposed Waiting", Unit::kTime, "change of exposed waiting for other ranks",
                    Fit{7}),
      figure_column("exposed_copy", "Exposed Copies", Unit::kTime, "change of exposed copies", Fit{5}),
      figure_column("idle", "Idle", Unit::kTime, "change of the time in which nothing runs", Fit{7}),
  };
}

Report ranks_compare(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  Report out{ranks_compare_columns(), {}};
  const auto before = places(baseline), after = places(candidate);
  std::set<std::int64_t> all;
  for (const auto& [rank, place] : before) all.insert(rank);
  for (const auto& [rank, place] : after) all.insert(rank);
  for (const std::int64_t rank : all) {
    const auto a = before.find(rank), b = after.find(rank);
    if (a == before.end()) {
      out.rows.push_back(one_sided(rank, nullptr, &candidate, b->second));
    } else if (b == after.end()) {
      out.rows.push_back(one_sided(rank, &baseline, nullptr, a->second));
    } else {
      out.rows.push_back(both_sides(rank, step_of(baseline, a->second), step_of(candidate, b->second)));
    }
  }
  const std::uint32_t a = deciding(baseline), b = deciding(candidate);
  Row job = both_sides(0, step_of(baseline, a), step_of(candidate, b));
  job[0] = "[job]";
  out.footer.push_back(std::move(job));
  return out;
}

Sentence compare_headline(const JobAnalysis& baseline, const JobAnalysis& candidate) {
  const std::uint32_t a = deciding(baseline), b = deciding(candidate);
  const RankStep before = step_of(baseline, a), after = step_of(candidate, b);
  const double change = before.time > 0 ? (after.time - before.time) / before.time : 0;
  const bool same_rank = baseline.ranks[a].rank == candidate.ranks[b].rank;
  const Figure who{
      "who",
      say("", "{rank} {how}{before}",
          {{"rank", rank_text(candidate, b)},
           {"how", candidate.waits.straggler == b ? "sets the pace" : "waits least"},
           {"before", same_rank ? Sentence{} : say("", " (before: {rank})", {{"rank", rank_text(baseline, a)}})}})};
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
  return notes;
}

}  // namespace tracedb
