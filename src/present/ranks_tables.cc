#include "present/ranks_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "present/cells.h"
#include "present/ranks_words.h"

namespace tracedb {
namespace {

using Others = OthersAggregate;

const Column kJob = {"job",         "Job",   Unit::kText,
                     Others::kNone, Fit{10}, "folder and common part of the names of its traces"};

Cell count(std::size_t n) { return static_cast<std::int64_t>(n); }
Cell share_of_wait(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(100 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
}
Cell rank_cell(const JobAnalysis& job, std::uint32_t place) {
  return job.by_device ? rank_text(job, place) : std::to_string(job.ranks[place].rank);
}

std::vector<Column> job_columns() {
  return {
      kJob,
      {"headline", "Headline", Unit::kText, Others::kNone, Fit::kWrapped,
       "who is late, how often, why, and what it costs"},
      {"ranks", "Ranks", Unit::kCount, Others::kNone, Fit{6}, "ranks whose traces are there"},
      {"world_size", "World Size", Unit::kCount, Others::kNone, Fit{4}, "ranks of the job"},
      {"steps", "Steps", Unit::kCount, Others::kNone, Fit{4}, "steps with collectives"},
      {"collectives", "Collectives", Unit::kCount, Others::kNone, Fit{6},
       "found on two ranks and more, in the selection; sends with their receives too"},
      {"by_sequence", "By Sequence", Unit::kCount, Others::kNone, Fit{2},
       "of all matched: by group and sequence number; the others by order"},
      {"sends", "Sends", Unit::kCount, Others::kNone, Fit{2}, "of all matched: sends with their receives"},
      {"single", "Single", Unit::kCount, Others::kNone, Fit{2}, "collectives that one rank alone has"},
      {"apart", "Apart", Unit::kCount, Others::kNone, Fit{2}, "matched, but not at one time: left out"},
      {"no_other_end", "No Other End", Unit::kCount, Others::kNone, Fit{2},
       "sends and receives whose other end is not there: left out"},
      {"unknown_peer", "Unknown Peer", Unit::kCount, Others::kNone, Fit{2},
       "sends and receives of which the trace does not say with whom: left out"},
      {"late", "Late", Unit::kCount, Others::kNone, Fit{5},
       "collectives where a rank is later than the clocks are uncertain"},
      {"exposed_waiting", "Exposed Waiting", Unit::kTime, Others::kNone, Fit{7},
       "waiting while computing nothing, over all ranks"},
      {"straggler", "Straggler", Unit::kText, Others::kNone, Fit{7},
       "rank that holds the others up; unknown: none does more than chance"},
      {"last", "Last", Unit::kCount, Others::kNone, Fit{5}, "collectives where the straggler is late"},
      {"loss_per_step", "Loss per Step", Unit::kTime, Others::kNone, Fit{7},
       "exposed waiting for the straggler: mean of one other rank in a step (in all without steps); where ranks send "
       "to "
       "each other, what it works longer than they"},
      {"loss_pct", "Loss (%)", Unit::kPercent, Others::kNone, Fit{7}, "the same as a share of the span of the others"},
      {"cause", "Cause", Unit::kText, Others::kNone, Fit{7},
       "why the straggler is late: compute, copies, communication, host, previous collective"},
  };
}

std::vector<Column> rank_columns() {
  return {
      kJob,
      {"rank", "Rank", Unit::kText, Others::kLabel, Fit{9}, "number of the rank; of one process its devices"},
      {"kernels", "Kernels", Unit::kCount, Others::kSum, Fit{2}, "kernels"},
      {"span", "Span", Unit::kTime, Others::kSum, Fit{3}, "from the first start to the last end on its devices"},
      {"busy", "Busy", Unit::kTime, Others::kSum, Fit{3}, "time during which something ran"},
      {"computation", "Compute", Unit::kTime, Others::kSum, Fit{6}, "time during which it computed"},
      {"comm", "Comm", Unit::kTime, Others::kSum, Fit{4}, "time during which it communicated"},
      {"exposed_comm", "Exposed Comm", Unit::kTime, Others::kSum, Fit{5},
       "of it, without computation at the same time"},
      {"waiting", "Waiting", Unit::kTime, Others::kSum, Fit{4},
       "in matched collectives before the last rank that is there came"},
      {"exposed_waiting", "Exposed Waiting", Unit::kTime, Others::kSum, Fit{7}, "of it, while computing nothing"},
      {"transfer", "Transfer", Unit::kTime, Others::kSum, Fit{4},
       "after that, with any waiting for ranks that are not there"},
      {"caused", "Waiting Caused", Unit::kTime, Others::kSum, Fit{8},
       "exposed waiting of the others where this rank was late"},
      {"last", "Last", Unit::kCount, Others::kSum, Fit{8}, "collectives where it was late"},
      {"collectives", "Collectives", Unit::kCount, Others::kNone, Fit{6}, "matched collectives it takes part in"},
      {"cause", "Cause", Unit::kText, Others::kNone, Fit{7},
       "of most of the waiting it caused; of the straggler among ranks that send: what it does longer than the others"},
      {"host", "Host At", Unit::kText, Others::kNone, Fit{3},
       "where the host was where it is the cause: python frame, operator or runtime call; unknown: not recorded"},
      {"host_pct", "Host At (%)", Unit::kPercent, Others::kNone, Fit{2},
       "share of the time in which the device had nothing to do"},
      {"clock_offset", "Clock Offset", Unit::kTime, Others::kNone, Fit{3},
       "that its clock is ahead of the first rank's, in the middle of the recording"},
      {"clock_drift", "Drift (ppm)", Unit::kAny, Others::kNone, Fit{1}, "that it gains; unknown: not measurable"},
      {"clock_uncertainty", "Uncertainty", Unit::kTime, Others::kNone, Fit{2},
       "median distance of the ends of collectives from that"},
      {"trace", "Trace", Unit::kText, Others::kNone, Fit{1}, "file"},
  };
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
    if (columns[column].others != Others::kSum) continue;
    std::optional<std::int64_t> sum;
    for (const Row& row : rows) {
      if (const auto* value = std::get_if<std::int64_t>(&row[column])) sum = sum.value_or(0) + *value;
    }
    if (sum) out[column] = *sum;
  }
  return out;
}

std::vector<Column> cause_columns() {
  return {
      kJob,
      {"rank", "Rank", Unit::kText, Others::kLabel, Fit{9},
       "the late rank; [others]: parts that are never the greatest of their rank; [together]: none is late; [start]: "
       "the first collectives of the recording, for which no reason "
       "is in it"},
      {"cause", "Cause", Unit::kText, Others::kNone, Fit{9},
       "what it did longer than the others since the collective before: the greatest part of being late; [others]: "
       "those that never are the greatest"},
      {"collectives", "Collectives", Unit::kCount, Others::kSum, Fit{7}, "collectives where this was so"},
      {"caused", "Waiting Caused", Unit::kTime, Others::kSum, Fit{8}, "exposed waiting of the others"},
      {"share", "Share (%)", Unit::kPercent, Others::kSum, Fit{6}, "of all exposed waiting"},
      {"late", "Late By", Unit::kTime, Others::kSum, Fit{5},
       "part of its lateness, over all collectives where it was late; negative: less than the others"},
  };
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
                          share_of_wait(rank.caused_by[cause], waits.exposed), rank.parts[cause]});
    }
  }
  const auto place = find_column(out.columns, "caused").value_or(0);
  std::stable_sort(out.rows.begin(), out.rows.end(), [&](const Row& a, const Row& b) {
    return std::get<std::string>(a[0]) == std::get<std::string>(b[0]) &&
           std::get<std::int64_t>(a[place]) > std::get<std::int64_t>(b[place]);
  });
  const auto add = [&](const char* name, Arrival arrival, std::int64_t exposed) {
    const auto n = std::count_if(waits.collectives.begin(), waits.collectives.end(),
                                 [arrival](const CollectiveWait& one) { return one.arrival == arrival; });
    out.footer.push_back(
        {job.name, name, Cell(), static_cast<std::int64_t>(n), exposed, share_of_wait(exposed, waits.exposed), Cell()});
  };
  if (waits.collectives.empty()) return;
  out.footer.push_back({job.name, "[others]", Cell(), std::int64_t{0}, std::int64_t{0}, 0.0, rest});
  add("[together]", Arrival::kTogether, waits.together);
  add("[start]", Arrival::kFirst, waits.first);
  out.footer.push_back({job.name, "[all]", Cell(), count(waits.collectives.size()), waits.exposed,
                        share_of_wait(waits.exposed, waits.exposed), Cell()});
}

std::vector<Column> step_columns() {
  return {
      kJob,
      {"step", "Step", Unit::kText, Others::kLabel, Fit{9}, "number, as on the lowest rank"},
      {"phase", "Phase", Unit::kText, Others::kNone, Fit{6}, "kind of step"},
      {"name", "Name", Unit::kText, Others::kNone, Fit{3}, "of its annotation"},
      {"gpu_span", "GPU Span", Unit::kTime, Others::kSum, Fit{6}, "longest of the ranks that number the step alike"},
      {"collectives", "Collectives", Unit::kCount, Others::kSum, Fit{5}, "matched"},
      {"late", "Late", Unit::kCount, Others::kSum, Fit{5}, "of them where a rank is late"},
      {"exposed_waiting", "Exposed Waiting", Unit::kTime, Others::kSum, Fit{8}, "over all ranks"},
      {"rank", "Rank", Unit::kText, Others::kNone, Fit{10}, "the late rank that causes most of it"},
      {"caused", "Waiting Caused", Unit::kTime, Others::kSum, Fit{8}, "exposed waiting of the others for that rank"},
      {"cause", "Cause", Unit::kText, Others::kNone, Fit{7}, "of most of that"},
  };
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
  const auto by_value = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(sums.caused.begin(), sums.caused.end(), by_value);
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

std::vector<Column> collective_columns() {
  return {
      kJob,
      {"time", "Time", Unit::kTime, Others::kSum, Fit{6}, "in these collectives, over all ranks: waiting and transfer"},
      {"waiting", "Waiting", Unit::kTime, Others::kSum, Fit{7}, "before the last rank came"},
      {"exposed_waiting", "Exposed Waiting", Unit::kTime, Others::kSum, Fit{7}, "of it, while computing nothing"},
      {"transfer", "Transfer", Unit::kTime, Others::kSum, Fit{6}, "after the last rank came"},
      {"latency", "Avg Transfer", Unit::kTime, Others::kNone, Fit{5},
       "mean time of a collective on the rank that comes last"},
      {"collectives", "Collectives", Unit::kCount, Others::kSum, Fit{5}, "matched"},
      {"late", "Late", Unit::kCount, Others::kSum, Fit{5}, "where a rank is late"},
      {"rank", "Rank", Unit::kText, Others::kNone, Fit{10}, "that is late most often"},
      {"last", "Last", Unit::kCount, Others::kNone, Fit{6}, "how often it is"},
      {"ranks", "Ranks", Unit::kCount, Others::kNone, Fit{2}, "most ranks on which one was found"},
      {"matched_by", "Matched By", Unit::kText, Others::kNone, Fit{2},
       "sequence (number in its group), or order (of equal names)"},
      {"group", "Group", Unit::kText, Others::kNone, Fit{2}, "process group and its ranks"},
      {"name", "Name", Unit::kText, Others::kLabel, Fit{8},
       "collective, sender and receiver, or short name of a kernel that the trace does not describe"},
  };
}

struct CollectiveSums {
  std::int64_t time = 0, waiting = 0, exposed = 0, latency = 0;
  std::size_t collectives = 0, late = 0, ranks = 0;
  std::map<std::uint32_t, std::size_t> last;  // by rank
};

void add_collectives(const JobAnalysis& job, Report& out) {
  std::map<std::tuple<std::string, std::string, bool>, CollectiveSums> all;
  for (const CollectiveWait& one : job.waits.collectives) {
    const MatchedCollective& matched = job.matching.matched[one.collective];
    CollectiveSums& sums =
        all[{job.texts.collectives.text(matched.name), job.texts.groups.text(matched.group), matched.by_sequence}];
    for (const CollectiveMember& member : matched.members) {
      const CollectiveEvent& event = job.ranks[member.rank].collectives[member.event];
      sums.time += event.end - event.start;
    }
    sums.waiting += one.waiting;
    sums.exposed += one.exposed;
    sums.latency += one.transfer;
    sums.ranks = std::max(sums.ranks, matched.members.size());
    ++sums.collectives;
    if (one.arrival != Arrival::kLate) continue;
    ++sums.late;
    ++sums.last[one.last_rank];
  }
  const auto begin = static_cast<std::ptrdiff_t>(out.rows.size());
  for (const auto& [key, sums] : all) {
    const auto& [name, group, by_sequence] = key;
    const auto most = std::max_element(sums.last.begin(), sums.last.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool any = most != sums.last.end();
    out.rows.push_back({job.name, sums.time, sums.waiting, sums.exposed, sums.time - sums.waiting,
                        time_cell(static_cast<double>(sums.latency) / static_cast<double>(sums.collectives)),
                        count(sums.collectives), count(sums.late), any ? rank_cell(job, most->first) : Cell(),
                        any ? count(most->second) : Cell(), count(sums.ranks), by_sequence ? "sequence" : "order",
                        group.empty() ? Cell() : Cell(group), name});
  }
  std::stable_sort(out.rows.begin() + begin, out.rows.end(), [](const Row& a, const Row& b) {
    return std::get<std::int64_t>(a[1]) > std::get<std::int64_t>(b[1]);
  });
}

}  // namespace

Report ranks_jobs(std::span<const JobAnalysis> jobs) {
  Report out{job_columns(), {}};
  for (const JobAnalysis& job : jobs) {
    const JobWaits& waits = job.waits;
    const auto& straggler = waits.straggler;
    const Loss loss = straggler ? loss_by(job.ranks, waits, *straggler) : Loss{};
    const auto steps = static_cast<double>(std::max<std::size_t>(job.steps(), 1));
    std::size_t late = 0;
    for (const RankWaits& rank : waits.ranks) late += rank.last;
    const std::vector<MatchedCollective>& matched = job.matching.matched;
    const auto by_sequence = std::count_if(matched.begin(), matched.end(), [](const auto& m) { return m.by_sequence; });
    const auto sends = std::count_if(matched.begin(), matched.end(), [](const auto& m) { return m.is_send; });
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
  Report out{rank_columns(), {}};
  for (const JobAnalysis& job : jobs) {
    const std::size_t first = out.rows.size();
    for (std::uint32_t place = 0; place < job.ranks.size(); ++place) out.rows.push_back(rank_row(job, place));
    if (job.ranks.size() > 1) out.footer.push_back(sums_of(out.columns, std::span(out.rows).subspan(first), job.name));
  }
  return out;
}

Report ranks_causes(std::span<const JobAnalysis> jobs) {
  Report out{cause_columns(), {}};
  for (const JobAnalysis& job : jobs) add_causes(job, out);
  return out;
}

Report ranks_steps(std::span<const JobAnalysis> jobs) {
  Report out{step_columns(), {}};
  for (const JobAnalysis& job : jobs) add_steps(job, out);
  return out;
}

Report ranks_collectives(std::span<const JobAnalysis> jobs) {
  Report out{collective_columns(), {}};
  for (const JobAnalysis& job : jobs) add_collectives(job, out);
  return out;
}

}  // namespace tracedb
