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

}  // namespace tracedb
