#include "trace_query/commands/ranks/ranks_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text/counted.h"
#include "base/text/duration_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostListed = 8;

// Of the whole recording: "12.3 ms a step", or without steps "0.2 s in all".
std::string per_step(const JobAnalysis& job, double ns) {
  const std::size_t steps = job.steps();
  return steps == 0 ? short_duration_text(ns) + " in all"
                    : short_duration_text(ns / static_cast<double>(steps)) + " a step";
}

std::string size_text(const JobAnalysis& job) {
  return std::to_string(job.world_size.value_or(static_cast<std::int64_t>(job.ranks.size())));
}

// Of the classes of kernels that hold it up the first; `times`: that they do.
std::string compute_words(const JobAnalysis& job, const std::map<std::uint32_t, ClassExcess>& classes,
                          std::size_t times) {
  const auto most = std::max_element(classes.begin(), classes.end(),
                                     [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  if (most == classes.end() || most->second.time <= 0) return "it computes longer";
  const std::string& name = job.texts.classes.text(most->first);
  const std::string time = per_step(job, static_cast<double>(most->second.time));
  const double per_collective = most->second.kernels / static_cast<double>(std::max<std::size_t>(times, 1));
  return std::abs(per_collective) < 0.5
             ? fmt::format("its {} kernels take {} longer", name, time)
             : fmt::format("it runs {:.1f} {} {} kernels each time, which take {} longer", std::abs(per_collective),
                           per_collective > 0 ? "more" : "fewer", name, time);
}

std::string cause_words(const JobAnalysis& job, std::uint32_t place) {
  const RankWaits& rank = job.waits.ranks[place];
  const std::optional<Pace>& pace = job.waits.pace;
  const LateCause cause = job.waits.cause_of(place);
  const LateParts& parts = pace ? pace->excess : rank.parts;
  const std::string time = per_step(job, static_cast<double>(parts[static_cast<std::size_t>(cause)]));
  switch (cause) {
    case LateCause::kCompute:
      return pace ? compute_words(job, pace->classes, job.steps()) : compute_words(job, rank.classes, rank.last);
    case LateCause::kCopy:
      return fmt::format("its copies take {} longer", time);
    case LateCause::kComm:
      return fmt::format("it is in other communication {} longer", time);
    case LateCause::kHost:
      return fmt::format(
          "its device has nothing to do for {} longer, as the host launches later{}", time,
          rank.host ? fmt::format(": host at {} ({:.0f} %)", rank.host->place, 100 * rank.host->share) : std::string());
    case LateCause::kEarlier:
      break;
  }
  return fmt::format("collectives before end {} later on it", time);
}

// "12 collectives and 40 sends"
std::string matched_words(const JobAnalysis& job) {
  const auto& all = job.waits.collectives;
  const auto sends = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const CollectiveWait& one) { return job.matching.matched[one.collective].is_send; }));
  if (sends == 0) return counted(all.size(), "collective");
  const std::string text = counted(sends, "send");
  return sends == all.size() ? text : counted(all.size() - sends, "collective") + " and " + text;
}

std::string loss_words(const JobAnalysis& job, std::uint32_t rank) {
  const Loss loss = loss_by(job.ranks, job.waits, rank);
  return fmt::format("{} ({:.1f} %)", per_step(job, loss.ns), 100 * loss.share);
}

// "of 8", "of the 4 recorded (of 8)"
std::string of_ranks(const JobAnalysis& job) {
  return job.missing.empty() ? "of " + size_text(job)
                             : fmt::format("of the {} recorded (of {})", job.ranks.size(), size_text(job));
}

std::string straggler_headline(const JobAnalysis& job, std::uint32_t place) {
  const RankWaits& rank = job.waits.ranks[place];
  if (job.waits.pace) {
    return fmt::format("{} {} sets the pace: it takes {} longer than the others, which wait in {}; {}",
                       rank_text(job, place), of_ranks(job), loss_words(job, place), matched_words(job),
                       cause_words(job, place));
  }
  return fmt::format("{} {} is late in {} of {}; the others wait {} for it: {}", rank_text(job, place), of_ranks(job),
                     rank.last, counted(rank.sums.collectives, "collective"), loss_words(job, place),
                     cause_words(job, place));
}

std::string even_headline(const JobAnalysis& job) {
  double span = 0;
  for (const RankTrace& rank : job.ranks) span += static_cast<double>(rank.figures.span);
  const auto ranks = static_cast<double>(job.ranks.size());
  const auto waiting = static_cast<double>(job.waits.exposed);
  const std::string_view rank = job.by_device ? "device" : "rank";
  const std::string of = job.missing.empty() ? "" : ' ' + of_ranks(job);
  const std::string who = job.waits.is_too_short
                              ? fmt::format("too few steps to tell which {}{} holds the others up", rank, of)
                              : fmt::format("no {}{} holds the others up", rank, of);
  std::string out = fmt::format("{}: each waits {} ({:.1f} %) on average in {}", who, per_step(job, waiting / ranks),
                                span > 0 ? 100 * waiting / span : 0.0, matched_words(job));
  if (job.waits.first > job.waits.exposed / 2) {
    return out + fmt::format("; {:.0f} % of that in the first of each group, as they began at different times",
                             100 * static_cast<double>(job.waits.first) / waiting);
  }
  const auto most = std::max_element(job.waits.ranks.begin(), job.waits.ranks.end(),
                                     [](const RankWaits& a, const RankWaits& b) { return a.caused < b.caused; });
  if (job.waits.is_too_short || most == job.waits.ranks.end() || most->last == 0) return out;
  return out + fmt::format("; most of that for {}, which is last in {} of them",
                           rank_text(job, static_cast<std::uint32_t>(most - job.waits.ranks.begin())), most->last);
}

std::string listed(const std::vector<std::int64_t>& ranks) {
  const std::size_t shown = std::min(ranks.size(), kMostListed);
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
      "of kernels of which the trace does not say with which rank");
}

std::string clock_note(const JobAnalysis& job) {
  double worst = 0;
  bool drifts = false;
  for (const RankClock& clock : job.clocks) {
    worst = std::max(worst, clock.uncertainty);
    drifts = drifts || clock.slope != 0;
  }
  return fmt::format("clocks set by the ends of collectives, uncertain by {}{}", short_duration_text(worst),
                     drifts ? ", drift taken out" : "");
}

}  // namespace

std::string rank_text(const JobAnalysis& job, std::uint32_t place) {
  return fmt::format("{} {}", job.by_device ? "device" : "rank", job.ranks[place].rank);
}

std::string job_headline(const JobAnalysis& job) {
  if (job.ranks.size() == 1) {
    if (job.world_size == 1) return "a job of one rank, which waits for nobody";
    const std::string of = job.world_size ? " of " + size_text(job) : "";
    return fmt::format("{}{} alone: who waits for whom takes two ranks and more", rank_text(job, 0), of);
  }
  if (job.waits.collectives.empty()) {
    const bool selected = !job.matching.matched.empty() && job.waits.apart < job.matching.matched.size();
    return selected
               ? "no collective matches the selection"
               : fmt::format("{}, but no collective is on two of them at one time", counted(job.ranks.size(), "rank"));
  }
  return job.waits.straggler ? straggler_headline(job, *job.waits.straggler) : even_headline(job);
}

std::vector<std::string> job_notes(const JobAnalysis& job) {
  std::vector<std::string> notes;
  if (!job.missing.empty() && job.ranks.size() > 1) {
    const bool one = job.missing.size() == 1;
    notes.push_back(
        fmt::format("{} of {} ranks {} not there ({}), and may be what the others wait for: that counts as "
                    "transfer, and sends to and from {} are left out",
                    job.missing.size(), size_text(job), one ? "is" : "are", listed(job.missing), one ? "it" : "them"));
  }
  if (job.by_device) notes.push_back(fmt::format("the ranks are the {} devices of one process", job.ranks.size()));
  add_rank_notes(job, notes);
  if (job.ranks.size() < 2) return notes;
  const Matching& matching = job.matching;
  const auto by_order = static_cast<std::size_t>(std::count_if(
      matching.matched.begin(), matching.matched.end(), [](const auto& m) { return !m.by_sequence && !m.is_send; }));
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
