#include "trace_query/commands/ranks/ranks_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "present/ranks_words.h"
#include "report_page/html/safe_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostRanks = 512, kMostColumns = 400;

// Exposed waiting of the others by the rank that was late and by step; 0: in none.
using CausedWaiting = std::map<std::uint32_t, std::vector<std::int64_t>>;

CausedWaiting caused_waiting(const JobAnalysis& job) {
  CausedWaiting by_step;
  for (const CollectiveWait& wait : job.waits.collectives) {
    std::vector<std::int64_t>& ranks = by_step[wait.step];
    ranks.resize(job.ranks.size());
    if (wait.arrival == Arrival::kLate) ranks[wait.last_rank] += wait.exposed;
  }
  return by_step;
}

// The longest that the ranks wait in one step, whoever is late.
std::int64_t most_waiting(const JobAnalysis& job) {
  std::map<std::uint32_t, std::int64_t> by_step;
  std::int64_t most = 0;
  for (const CollectiveWait& wait : job.waits.collectives) {
    std::int64_t& sum = by_step[wait.step];
    sum += wait.exposed;
    most = std::max(most, sum);
  }
  return most;
}

// Neighbouring steps are one column where there are too many. The colours are shares of all waiting, so that a rank
// that is late now and then does not look like one that holds the others up.
Picture waiting_picture(const JobAnalysis& job, const CausedWaiting& by_step) {
  const std::size_t together = (by_step.size() + kMostColumns - 1) / kMostColumns;
  const std::size_t ranks = std::min(job.ranks.size(), kMostRanks);
  std::vector<std::string> columns, rows;
  std::vector<std::vector<std::int64_t>> sums(ranks);
  std::size_t n = 0;
  for (const auto& [step, caused] : by_step) {
    if (n++ % together == 0) {
      columns.push_back(step == 0 ? "in no step" : fmt::format("step {}", step - 1));
      for (auto& row : sums) row.push_back(0);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) sums[rank].back() += caused[rank];
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) rows.push_back(rank_text(job, rank));
  DataWriter data;
  data.member("measure", "waiting caused").member("rows", rows).member("columns", columns).member("ns", sums);
  data.member("most", static_cast<std::int64_t>(together) * most_waiting(job));
  std::string note =
      "How long the other ranks waited, while computing nothing, for this rank to come to a collective; the sum over "
      "those that waited. What is nobody's doing, such as waits that began before the recording, is in no row.";
  if (together > 1) note += fmt::format(" Each column is {} steps, named by the first.", together);
  if (ranks < job.ranks.size()) note += fmt::format(" The first {} ranks.", ranks);
  return {"ranks-waiting", "ranks", "Who holds the others up, by step", std::move(note), data.take()};
}

}  // namespace

ReportPage ranks_page(const JobAnalysis& job, std::vector<PageTable> tables, const std::vector<std::string>& notes) {
  ReportPage page;
  page.kind = "ranks";
  page.command = "ranks";
  page.title = job.name;
  page.sides = {{"a", job.name, fmt::format("{} ranks", job.ranks.size()), ""}};
  page.text.push_back({BlockKind::kHeadline, "", job_headline(job).text});
  for (const std::string& note : notes) {
    if (page.text.size() == 1) page.text.push_back({BlockKind::kHeading, "", "Warnings"});
    page.text.push_back({BlockKind::kItem, "", note});
  }
  const CausedWaiting by_step = caused_waiting(job);
  if (by_step.empty()) {
    page.absent.emplace_back("no waiting by rank: no collective was found on two ranks");
  } else {
    page.pictures.push_back(waiting_picture(job, by_step));
  }
  page.tables = std::move(tables);
  return page;
}

}  // namespace tracedb
