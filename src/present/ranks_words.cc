#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text/amounts.h"
#include "present/ranks_tables.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostListedRanks = 8;
constexpr double kMuchOfCollectives = 0.1;
constexpr double kFarApart = 2e9;  // ns

// Of the whole recording, or that of a rank: "12.3 ms a step", or without steps "0.2 s in all".
Sentence per_step(const JobAnalysis& job, double ns, std::optional<std::uint32_t> place = std::nullopt) {
  const std::size_t steps = job.steps(place);
  return steps == 0 ? say("in_all", "{time:duration} in all", {{"time", ns}})
                    : say("a_step", "{time:duration} a step", {{"time", ns / static_cast<double>(steps)}});
}

std::string size_text(const JobAnalysis& job) {
  return std::to_string(job.world_size.value_or(static_cast<std::int64_t>(job.ranks.size())));
}

// Of the classes of kernels that hold it up the first; `times`: that they do.
Sentence compute_words(const JobAnalysis& job, std::uint32_t place, const std::map<std::uint32_t, ClassExcess>& classes,
                       std::size_t times) {
  const auto most = std::ranges::max_element(classes, {}, [](const auto& one) { return one.second.time; });
  if (most == classes.end() || most->second.time <= 0) return say("late.compute", "it computes longer");
  const Figure op{"op", job.texts.classes.text(most->first)};
  const Figure time{"excess", per_step(job, static_cast<double>(most->second.time), place)};
  const double per_collective = most->second.kernels / static_cast<double>(std::max<std::size_t>(times, 1));
  if (std::abs(per_collective) < 0.5) return say("late.slower", "its {op} kernels take {excess} longer", {op, time});
  return say("late.kernels", "it runs {n:.1f} {how} {op} kernels each time, which take {excess} longer",
             {{"n", std::abs(per_collective)}, {"how", per_collective > 0 ? "more" : "fewer"}, op, time});
}

Sentence cause_words(const JobAnalysis& job, std::uint32_t place) {
  const RankWaits& rank = job.waits.ranks[place];
  const std::optional<Pace>& pace = job.waits.pace;
  const LateCause cause = job.waits.cause_of(place);
  if (cause == LateCause::kCompute) {
    return pace ? compute_words(job, place, pace->classes, job.steps(place))
                : compute_words(job, place, rank.classes, rank.last);
  }
  const std::optional<LateParts> parts = pace ? pace->excess : rank.excess;
  const Figure host{"host", rank.host ? say("host", ": host at {frame} ({share:.0f%})",
                                            {{"frame", rank.host->place}, {"share", rank.host->share}})
                                      : Sentence{}};
  if (!parts) {  // how much is not known
    return cause == LateCause::kHost
               ? say("late.host_launches", "its host launches later{host}", {host})
               : say("late.mostly", "mostly by {cause}", {{"cause", std::string(to_string(cause))}});
  }
  const Figure time{"excess", per_step(job, static_cast<double>((*parts)[static_cast<std::size_t>(cause)]), place)};
  switch (cause) {
    case LateCause::kCopy:
      return say("late.copies", "its copies take {excess} longer", {time});
    case LateCause::kComm:
      return say("late.communication", "it is in other communication {excess} longer", {time});
    case LateCause::kHost:
      return say("late.host", "its device has nothing to do for {excess} longer, as the host launches later{host}",
                 {time, host});
    default:
      break;
  }
  return say("late.earlier", "collectives before end {excess} later on it", {time});
}

// "12 collectives and 40 sends"
Sentence matched_words(const JobAnalysis& job) {
  const auto& all = job.waits.collectives;
  const auto sends = static_cast<std::size_t>(std::ranges::count_if(
      all, [&](const CollectiveWait& one) { return job.matching.matched[one.collective].is_send; }));
  const Figure others{"collectives", all.size() - sends}, of_sends{"sends", sends};
  if (sends == 0) return say("", "{collectives:# collective}", {others});
  if (sends == all.size()) return say("", "{sends:# send}", {of_sends});
  return say("", "{collectives:# collective} and {sends:# send}", {others, of_sends});
}

Sentence loss_words(const JobAnalysis& job, std::uint32_t rank) {
  const Loss loss = loss_by(job.ranks, job.waits, rank);
  return say("", "{by_step} ({share:.1f%})", {{"by_step", per_step(job, loss.ns, rank)}, {"share", loss.share}});
}

// Where the others would wait most of it without this rank, too: for whom.
Sentence shared_words(const JobAnalysis& job, std::uint32_t place, double loss) {
  const RankWaits& rank = job.waits.ranks[place];
  std::int64_t shared = 0;
  for (const auto& [other, waiting] : rank.shared) shared += waiting;
  if (shared <= rank.caused / 2) return {};
  const auto most = std::ranges::max_element(rank.shared, {}, [](const auto& one) { return one.second; });
  const double part = static_cast<double>(most->second) / static_cast<double>(rank.caused);
  return say("shared", " ({shared} of that for {other}, too)",
             {{"shared", per_step(job, loss * part, place)}, {"other", rank_text(job, most->first)}});
}

Sentence waiting_words(std::size_t others, std::size_t ranks) {
  if (others + 1 == ranks) return say("", "the others wait", {});
  return say("", "{n:# other waits|others wait}", {{"n", others}});
}

Sentence straggler_headline(const JobAnalysis& job, std::uint32_t place) {
  const RankWaits& rank = job.waits.ranks[place];
  const Figure who{"who", rank_text(job, place)}, of{"of", of_ranks(job)}, loss{"loss", loss_words(job, place)},
      cause{"cause", cause_words(job, place)};
  if (job.waits.pace) {
    return say("ranks.pace",
               "{who} {of} sets the pace: it takes {loss} longer than the others, which wait in {in}; {cause}",
               {who, of, loss, {"in", matched_words(job)}, cause});
  }
  return say("ranks.late",
             "{who} {of} is late in {last} of {collectives:# collective}; {others} {loss} for it{shared}: {cause}",
             {who,
              of,
              {"last", rank.last},
              {"collectives", rank.sums.collectives},
              {"others", waiting_words(rank.others.size(), job.ranks.size())},
              loss,
              {"shared", shared_words(job, place, loss_by(job.ranks, job.waits, place).ns)},
              cause});
}

// Where or for whom the most of it is.
Sentence most_of_waiting(const JobAnalysis& job) {
  if (job.waits.first > job.waits.exposed / 2) {
    return say("first", "; {share:.0f%} of that in the first of each group, as they began at different times",
               {{"share", static_cast<double>(job.waits.first) / static_cast<double>(job.waits.exposed)}});
  }
  const auto most = std::ranges::max_element(job.waits.ranks, {}, &RankWaits::caused);
  if (job.waits.suspect || job.waits.is_too_short || most->caused <= job.waits.exposed / 2) return {};
  return say(
      "most", "; most of that for {who}, which is late in {last} of them",
      {{"who", rank_text(job, static_cast<std::uint32_t>(most - job.waits.ranks.begin()))}, {"last", most->last}});
}

Sentence suspect_clause(const JobAnalysis& job, std::uint32_t place, const Figure& of) {
  const auto share_of = [&](const RankWaits& rank) {
    return static_cast<double>(rank.caused) / static_cast<double>(job.waits.caused);
  };
  const double share = share_of(job.waits.ranks[place]);
  // One long stall must not hide who is late all the time.
  constexpr double kMuchBeside = 0.2;
  Sentence beside;
  std::int64_t most = 0;
  for (std::uint32_t i = 0; i < job.waits.ranks.size(); ++i) {
    const RankWaits& other = job.waits.ranks[i];
    if (i == place || share_of(other) < kMuchBeside || other.caused <= most) continue;
    most = other.caused;
    beside = say("too_few_beside", ", and {who}, late in {last} of them, {share:.0f%}",
                 {{"who", rank_text(job, i)}, {"last", other.last}, {"share", share_of(other)}});
  }
  return say("too_few",
             "too few collectives to be sure ({collectives}); {who}{of} caused most ({share:.0f%}) of the {late} that "
             "each waits for late ranks{beside}",
             {{"collectives", job.waits.collectives.size()},
              {"who", rank_text(job, place)},
              of,
              {"share", share},
              {"late", per_step(job, static_cast<double>(job.waits.caused) / whole_ranks(job.ranks, job.waits))},
              {"beside", beside}});
}

// By the tasks of the collectives, which know of ranks that are not there: what these take is no transfer.
Sentence waiting_for_missing(const JobAnalysis& job) {
  TaskWaits sum;
  for (const RankTrace& rank : job.ranks) sum = {sum.time + rank.tasks.time, sum.waiting + rank.tasks.waiting};
  if (job.missing.empty() || sum.share() < kMuchOfCollectives) return {};
  return say("ranks.missing",
             "{missing:# rank} of {size} {are} not there, so who holds the others up is not known: the {recorded} that "
             "are wait for others in {share:.0f%} of the time of their collectives (Notify_Wait); the columns have as "
             "waiting what they wait for each other, and as undivided the rest",
             {{"missing", job.missing.size()},
              {"size", size_text(job)},
              {"are", job.missing.size() == 1 ? "is" : "are"},
              {"recorded", job.ranks.size()},
              {"share", sum.share()}});
}

Sentence even_headline(const JobAnalysis& job) {
  double span = 0;
  for (const RankTrace& rank : job.ranks) span += static_cast<double>(rank.figures.span);
  const auto waiting = static_cast<double>(job.waits.exposed);
  const Figure rank{"rank", job.by_device ? "device" : "rank"},
      of{"of", job.all_are_here() ? Sentence{} : say("", " {ranks}", {{"ranks", of_ranks(job)}})};
  const Sentence who = job.waits.suspect ? suspect_clause(job, *job.waits.suspect, of)
                       : job.waits.is_too_short
                           ? say("too_short", "too few steps to tell which {rank}{of} holds the others up", {rank, of})
                           : say("even", "no {rank}{of} holds {whom} up",
                                 {rank, of, {"whom", job.all_are_here() ? "the others" : "those recorded"}});
  return say(
      "ranks.even", "{who}: {all}each waits {wait} ({share:.1f%}) on average in {in}{most}{missing}",
      {{"who", who},
       {"all", job.waits.suspect ? "in all, " : ""},
       {"wait", per_step(job, waiting / whole_ranks(job.ranks, job.waits))},
       {"share", span > 0 ? waiting / span : 0.0},
       {"in", matched_words(job)},
       {"most", most_of_waiting(job)},
       {"missing", job.all_are_here()    ? Sentence{}
                   : job.missing.empty() ? say("size", "; how many ranks the job has, and waits for, is not known")
                                         : say("unknown", "; how long for those missing is not known")}});
}

std::string listed(const std::vector<std::int64_t>& ranks) {
  const std::size_t shown = std::min(ranks.size(), kMostListedRanks);
  const std::string more = ranks.size() > shown ? fmt::format(" and {} more", ranks.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "), more);
}

void add_rank_notes(const JobAnalysis& job, std::vector<std::string>& notes) {
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const RankTrace& rank : job.ranks) {
    fewest = std::min(fewest, rank.steps.size());
    most = std::max(most, rank.steps.size());
    if (!rank.complete) {
      notes.push_back(
          fmt::format("the trace of rank {} is truncated: what is lost of it is on the other ranks only", rank.rank));
    }
    notes.insert(notes.end(), rank.notes.begin(), rank.notes.end());
  }
  if (fewest != most) {
    notes.push_back(
        fmt::format("the ranks have {} to {} steps; steps are numbered as on the lowest rank", fewest, most));
  }
}

void add_send_notes(const JobAnalysis& job, std::vector<std::string>& notes) {
  const auto say = [&](std::size_t n, const char* one, const char* many, const char* what) {
    if (n > 0) notes.push_back(fmt::format("{} {}: left out", counted(n, one, many), what));
  };
  say(without_other_end(job.matching), "send or receive has", "sends and receives have",
      "no other end in these traces");
  say(job.matching.unknown_peer, "send or receive is", "sends and receives are",
      "of kernels of which the trace does not say with which rank, and could not be paired");
}

std::string clock_note(const JobAnalysis& job) {
  double worst = 0, behind = 0, ahead = 0;
  bool drifts = false;
  for (const RankClock& clock : job.clocks) {
    worst = std::max(worst, clock.uncertainty);
    behind = std::min(behind, clock.offset);
    ahead = std::max(ahead, clock.offset);
    drifts = drifts || clock.slope != 0;
  }
  // No one sees in their times that they are of one recording.
  const std::string apart = ahead - behind > kFarApart ? fmt::format("{:.0f} s apart, ", (ahead - behind) / 1e9) : "";
  return fmt::format("clocks {}set by the ends of collectives, uncertain by {}{}", apart, short_duration_text(worst),
                     drifts ? ", drift taken out" : "");
}

bool matches_nothing(const JobAnalysis& job) {
  return job.waits.collectives.empty() && job.waits.apart < job.matching.matched.size();
}

}  // namespace

std::string rank_text(const JobAnalysis& job, std::uint32_t place) {
  return fmt::format("{} {}", job.by_device ? "device" : "rank", job.ranks[place].rank);
}

Sentence of_ranks(const JobAnalysis& job) {
  if (job.missing.empty() && !job.all_are_here())
    return say("", "of the {recorded} recorded", {{"recorded", job.ranks.size()}});
  const Figure size{"size", size_text(job)};
  return job.missing.empty()
             ? say("", "of {size}", {size})
             : say("", "of the {recorded} recorded (of {size})", {{"recorded", job.ranks.size()}, size});
}

Sentence job_headline(const JobAnalysis& job) {
  if (job.ranks.size() == 1) {
    if (job.world_size == 1) return say("ranks.one", "a job of one rank, which waits for nobody");
    return say("ranks.alone", "{who}{of} alone: who waits for whom takes two ranks and more",
               {{"who", rank_text(job, 0)},
                {"of", job.world_size ? say("", " of {size}", {{"size", size_text(job)}}) : Sentence{}}});
  }
  if (job.waits.collectives.empty()) {
    const Figure ranks{"ranks", job.ranks.size()};
    std::size_t collectives = 0;
    for (const RankTrace& rank : job.ranks) collectives += rank.collectives.size();
    if (matches_nothing(job)) return say("ranks.no_match", "no collective matches the selection");
    if (job.waits.apart > 0)
      return say("ranks.apart", "{ranks:# rank}, but no collective is on two of them at one time", {ranks});
    if (collectives == 0)
      return say("ranks.independent", "{ranks:# rank} without a collective: none waits for another", {ranks});
    return say("ranks.unpaired", "{ranks:# rank}, but their {collectives:# collective} could not be paired",
               {ranks, {"collectives", collectives}});
  }
  if (Sentence missing = waiting_for_missing(job); !missing.text.empty()) return missing;
  return job.waits.straggler ? straggler_headline(job, *job.waits.straggler) : even_headline(job);
}

std::vector<std::string> job_notes(const JobAnalysis& job) {
  std::vector<std::string> notes;
  if (!job.missing.empty() && job.ranks.size() > 1) {
    const bool one = job.missing.size() == 1;
    notes.push_back(
        fmt::format("{} of {} ranks {} not there ({}), and may be what the others wait for; sends to and from "
                    "{} are left out",
                    job.missing.size(), size_text(job), one ? "is" : "are", listed(job.missing), one ? "it" : "them"));
  }
  const auto& all = job.waits.collectives;
  if (const auto partial = std::ranges::count(all, false, &CollectiveWait::is_whole); partial > 0) {
    notes.push_back(fmt::format(
        "{} of {} members that are not recorded then, or may have: what they take without waiting for those there is "
        "not divided into transfer and waiting",
        partial, counted(all.size(), "collective has", "collectives have")));
  }
  if (job.by_device) notes.push_back(fmt::format("the ranks are the {} devices of one process", job.ranks.size()));
  if (job.beside > 0) {
    notes.push_back(
        fmt::format("{} recorded meanwhile beside it, of other processes: what their devices wait for, and "
                    "hold up, is not seen",
                    counted(job.beside, "trace was", "traces were")));
  }
  add_rank_notes(job, notes);
  if (job.ranks.size() < 2) return notes;
  if (matches_nothing(job)) notes.emplace_back("no collective matches the selection");
  const Matching& matching = job.matching;
  const auto by_order = static_cast<std::size_t>(
      std::ranges::count_if(matching.matched, [](const auto& m) { return !m.by_sequence && !m.is_send; }));
  if (by_order > 0) {
    notes.push_back(fmt::format("{} without a sequence number: matched by order of equal names",
                                counted(by_order, "collective is", "collectives are")));
  }
  if (matching.single > 0) {
    notes.push_back(counted(matching.single, "collective is", "collectives are") + " on one rank only: left out");
  }
  if (job.waits.apart > 0) {
    notes.push_back(fmt::format("{} not overlap on {} ranks: left out",
                                counted(job.waits.apart, "match does", "matches do"),
                                job.waits.apart == 1 ? "its" : "their"));
  }
  add_send_notes(job, notes);
  if (!job.waits.collectives.empty() && !job.by_device) notes.push_back(clock_note(job));
  return notes;
}

}  // namespace tracedb
