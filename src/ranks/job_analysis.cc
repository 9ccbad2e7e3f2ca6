#include "ranks/job_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "base/text/characters.h"
#include "index/validity.h"
#include "passes/columns/event_columns.h"
#include "sql/database.h"
#include "trace/event_names.h"

namespace tracedb {

std::size_t JobAnalysis::steps(std::optional<std::uint32_t> place) const {
  std::set<std::uint32_t> seen;
  for (const CollectiveWait& one : waits.collectives) {
    const std::vector<CollectiveMember>& all = matching.matched[one.collective].members;
    if (place && std::ranges::find(all, *place, &CollectiveMember::rank) == all.end()) continue;
    const std::vector<StepFacts>& steps = ranks.front().steps;
    const bool is_unit = !steps.empty() && steps.front().info.kind == StepKind::kUnit;
    if (one.step != 0 && !is_unit) seen.insert(one.step);
  }
  return seen.size();
}

void analyse(JobAnalysis& job) {
  job.matching = match_collectives(job.ranks, job.all_are_here());
  RankClock one;
  one.known = true;
  job.clocks =
      job.by_device ? std::vector<RankClock>(job.ranks.size(), one) : align_clocks(job.ranks, job.matching, job.texts);
  job.waits = split_waits(job.ranks, job.matching, job.clocks);
}

namespace {

// Clocks of machines may differ by this much and recordings still be of one time.
constexpr std::int64_t kClockSlack = 2'000'000'000;
// And by this much, as where time zones are set wrong, where they complete each other.
constexpr std::int64_t kMostClockSlack = 86'400'000'000'000;
// More ranks than this are not listed as missing: the size is no size of a job then.
constexpr std::int64_t kLargestWorld = 1 << 20;

// "worker12_step_3.json" -> "worker*_step_*.json", {"12", "3"}
struct NumberedName {
  std::string pattern;
  std::vector<std::string> numbers;

  explicit NumberedName(const std::string& name) {
    bool was_digit = false;
    for (const char c : name) {
      const bool is_digit = is_ascii_digit(c);
      if (!is_digit) pattern += c;
      if (is_digit && !was_digit) pattern += '*', numbers.emplace_back();
      if (is_digit) numbers.back() += c;
      was_digit = is_digit;
    }
  }
};

std::filesystem::path folder_of(const RankFacts& facts) { return std::filesystem::path(facts.trace).parent_path(); }

NumberedName file_name_of(const RankFacts& facts) {
  return NumberedName(std::filesystem::path(facts.trace).filename().string());
}
std::string pattern_of(const RankFacts& facts) { return file_name_of(facts).pattern; }

using Members = std::vector<std::size_t>;

bool has_rank(std::span<const RankFacts> facts, const Members& members, std::int64_t rank) {
  return std::ranges::any_of(members, [&](std::size_t i) { return facts[i].rank == rank; });
}

bool overlap(const RankFacts& a, const RankFacts& b) {
  return a.begin <= b.end + kClockSlack && b.begin <= a.end + kClockSlack;
}

bool overlaps_all(std::span<const RankFacts> facts, const Members& members, std::size_t other) {
  return std::ranges::all_of(members, [&](std::size_t i) { return overlap(facts[i], facts[other]); });
}

// How often the rank is there that is there most.
std::size_t most_of_a_rank(std::span<const RankFacts> facts, const Members& members) {
  std::map<std::int64_t, std::size_t> counts;
  std::size_t most = 0;
  for (const std::size_t i : members) most = std::max(most, ++counts[facts[i].rank.value_or(0)]);
  return most;
}

// Whether these are the ranks of one recording, whatever their clocks say: each is there once, with collectives that
// the first has, too.
bool complete_each_other(std::span<const RankFacts> facts, const Members& members) {
  const RankFacts& first = facts[members.front()];
  return first.world_size.value_or(1) > 1 && most_of_a_rank(facts, members) == 1 &&
         std::ranges::all_of(members, [&](std::size_t i) {
           return facts[i].begin - first.begin <= kMostClockSlack &&
                  facts[i].first_collective <= first.last_collective &&
                  first.first_collective <= facts[i].last_collective;
         });
}

// In order of time, each where its rank is not yet.
std::vector<Members> recordings(std::span<const RankFacts> facts, Members members) {
  std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) { return facts[a].begin < facts[b].begin; });
  if (complete_each_other(facts, members)) return {members};
  std::vector<Members> out;
  for (const std::size_t i : members) {
    const auto place = std::ranges::find_if(out, [&](const Members& known) {
      return !has_rank(facts, known, facts[i].rank.value_or(0)) && overlaps_all(facts, known, i);
    });
    if (place == out.end()) {
      out.push_back({i});
    } else {
      place->push_back(i);
    }
  }
  return out;
}

bool follow_each_other(std::span<const RankFacts> facts, const std::vector<Members>& groups) {
  std::int64_t end = INT64_MIN;
  for (const Members& group : groups) {
    std::int64_t next_end = end;
    for (const std::size_t i : group) {
      if (facts[i].begin <= end) return false;
      next_end = std::max(next_end, facts[i].end);
    }
    end = next_end;
  }
  return true;
}

// Which numbers in names of one pattern may tell jobs that have the same ranks: all that neither go with the rank, as
// that of its node does, nor are of one file, as the time is; else any of them by itself.
std::vector<std::vector<std::size_t>> places_of_jobs(std::span<const RankFacts> facts, const Members& members,
                                                     const std::vector<std::vector<std::string>>& numbers) {
  std::vector<std::vector<std::size_t>> out(1);
  for (std::size_t place = 0; place < numbers.front().size(); ++place) {
    std::set<std::string> values;
    std::set<std::pair<std::int64_t, std::string>> of_ranks;
    std::set<std::int64_t> ranks;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::int64_t rank = facts[members[i]].rank.value_or(0);
      ranks.insert(rank);
      values.insert(numbers[i][place]);
      of_ranks.insert({rank, numbers[i][place]});
    }
    if (of_ranks.size() > ranks.size() && values.size() < members.size()) out.front().push_back(place);
    out.push_back({place});
  }
  return out;
}

// Of names of one pattern those of each recording. Where ranks are there several times, and times do not tell
// recordings apart, the numbers in the names do that part them so that each rank is there once.
std::vector<Members> recordings_by_name(std::span<const RankFacts> facts, const Members& members) {
  const std::size_t same = most_of_a_rank(facts, members);
  std::vector<Members> by_time = recordings(facts, members);
  if (same < 2 || (by_time.size() == same && follow_each_other(facts, by_time))) return by_time;
  std::vector<std::vector<std::string>> numbers;
  for (const std::size_t i : members) numbers.push_back(file_name_of(facts[i]).numbers);
  for (const std::vector<std::size_t>& places : places_of_jobs(facts, members, numbers)) {
    std::map<std::vector<std::string>, Members> groups;
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::vector<std::string> values;
      for (const std::size_t place : places) values.push_back(numbers[i][place]);
      groups[values].push_back(members[i]);
    }
    const auto is_job = [&](const auto& group) { return most_of_a_rank(facts, group.second) == 1; };
    if (groups.size() != same || !std::ranges::all_of(groups, is_job)) continue;
    std::vector<Members> out;
    for (const auto& [values, group] : groups) {
      for (Members& recording : recordings(facts, group)) out.push_back(std::move(recording));
    }
    return out;
  }
  return by_time;
}

bool can_join(std::span<const RankFacts> facts, const Members& members, std::size_t other) {
  const RankFacts& first = facts[members.front()];
  const auto place = [](const RankFacts& of) {
    return NumberedName(folder_of(of).string() + "/" + pattern_of(of)).pattern;
  };
  const bool one_size = facts[other].world_size ? *facts[other].world_size > 1 : place(first) == place(facts[other]);
  return one_size && first.world_size == facts[other].world_size &&
         !has_rank(facts, members, facts[other].rank.value_or(0)) && overlaps_all(facts, members, other);
}

// Traces that are alone under their names or in their folders, where they fit together.
std::vector<Members> joined(std::span<const RankFacts> facts, const std::vector<Members>& groups) {
  std::vector<Members> out, alone;
  for (const Members& group : groups) {
    if (group.size() > 1) {
      out.push_back(group);
      continue;
    }
    const auto place =
        std::ranges::find_if(alone, [&](const Members& known) { return can_join(facts, known, group.front()); });
    if (place == alone.end()) {
      alone.push_back(group);
    } else {
      place->push_back(group.front());
    }
  }
  out.insert(out.end(), alone.begin(), alone.end());
  return out;
}

std::string name_of(std::span<const RankFacts> facts, const Members& members) {
  const RankFacts& first = facts[members.front()];
  const auto same = [&](auto part) {
    return std::ranges::all_of(members, [&](std::size_t i) { return part(facts[i]) == part(first); });
  };
  const bool one_folder = same(folder_of);
  const std::filesystem::path folder = one_folder ? folder_of(first) : folder_of(first).parent_path();
  const std::string name = members.size() == 1 ? std::filesystem::path(first.trace).filename().string()
                           : same(pattern_of)  ? pattern_of(first)
                                               : "*";
  const std::string folder_name = folder.filename().string();
  const std::string inner = one_folder ? name : "*/" + name;
  return folder_name.empty() || folder_name == "." ? inner : folder_name + "/" + inner;
}

// The devices that communicate, if there are several.
std::vector<CommDevice> comm_devices(const Index& index) {
  std::vector<CommDevice> out;
  Statement devices(index.database(), "SELECT id, ordinal FROM device WHERE used = 1 ORDER BY ordinal, id");
  while (devices.step()) out.push_back({devices.id(0), devices.integer(1)});
  if (out.size() < 2) return {};
  const EventColumns kernels(index, "kernel");
  const auto kind = kernels.ids("kind"), stream = kernels.ids("stream_id");
  const std::vector<std::uint32_t> device_of = ids_by_id(index, "stream", "device_id");
  std::set<std::uint32_t> seen;
  for (std::size_t row = 0; row < kind.size(); ++row) {
    const auto value = static_cast<KernelKind>(kind[row]);
    if ((value == KernelKind::kComm || value == KernelKind::kCommCompute) && stream[row] < device_of.size()) {
      seen.insert(device_of[stream[row]]);
    }
  }
  std::erase_if(out, [&](const CommDevice& device) { return !seen.contains(device.id); });
  return out.size() < 2 ? std::vector<CommDevice>() : out;
}

// Whether its devices are all the ranks of its job.
bool is_one_process(const RankFacts& facts) { return !facts.devices.empty() && facts.world_size.value_or(1) == 1; }

void number_equal_names(std::vector<Job>& jobs) {
  std::map<std::string, int> seen;
  for (Job& job : jobs) {
    const int number = ++seen[job.name];
    if (number > 1) job.name += fmt::format(" ({})", number);
  }
}

}  // namespace

RankFacts read_rank_facts(const Index& index) {
  RankFacts out;
  const std::filesystem::path source = source_of(index);
  out.trace = source.empty() ? index.path().string() : source.string();
  out.rank = index.meta_int64("rank");
  const auto size = index.database().query_int64(
      "SELECT json_extract(value, '$.world_size') FROM meta WHERE key = 'trace.distributedInfo' AND "
      "json_valid(value) AND json_type(value, '$.world_size') = 'integer'");
  if (size > 0) {
    out.world_size = size;
  } else if (out.rank) {  // its largest group
    out.world_size = index.database().query_int64("SELECT max(group_size) FROM collective HAVING max(group_size) > 1");
  }
  const std::int64_t base = index.meta_int64("base_time_ns").value_or(0);
  Database& database = index.database();
  out.begin = base + database.query_int64("SELECT ts FROM kernel WHERE id = 1").value_or(0);
  out.end = base + database.query_int64("SELECT ts + ifnull(dur, 0) FROM kernel ORDER BY id DESC LIMIT 1").value_or(0);
  out.devices = comm_devices(index);
  Statement numbers(database,
                    "SELECT ifnull(min(sequence), count(*)), ifnull(max(sequence), count(*)) FROM collective");
  if (numbers.step()) out.first_collective = numbers.int64(0), out.last_collective = numbers.int64(1);
  return out;
}

std::vector<std::int64_t> Job::missing(std::span<const RankFacts> facts) const {
  std::vector<std::int64_t> out;
  if (!world_size || *world_size > kLargestWorld) return out;
  std::set<std::int64_t> there;
  for (const std::size_t i : members) there.insert(facts[i].rank.value_or(0));
  for (std::int64_t rank = 0; rank < *world_size; ++rank) {
    if (!there.contains(rank)) out.push_back(rank);
  }
  return out;
}

Jobs find_jobs(std::span<const RankFacts> facts) {
  Jobs out;
  std::vector<Members> processes;
  std::map<std::tuple<std::string, std::string, std::int64_t>, Members> by_name;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].rank) {
      by_name[{folder_of(facts[i]).string(), pattern_of(facts[i]), facts[i].world_size.value_or(-1)}].push_back(i);
    } else if (is_one_process(facts[i])) {
      processes.push_back({i});
    } else {
      out.without_rank.push_back(i);
    }
  }
  std::vector<Members> groups;
  for (const auto& [name, members] : by_name) {
    for (Members& recording : recordings_by_name(facts, members)) groups.push_back(std::move(recording));
  }
  groups = joined(facts, groups);
  groups.insert(groups.end(), processes.begin(), processes.end());
  std::ranges::sort(groups, [](const Members& a, const Members& b) {
    return *std::ranges::min_element(a) < *std::ranges::min_element(b);
  });
  for (Members& members : groups) {
    std::ranges::stable_sort(members, [&](std::size_t a, std::size_t b) { return facts[a].rank < facts[b].rank; });
    const bool by_device = members.size() == 1 && is_one_process(facts[members.front()]);
    const RankFacts& first = facts[members.front()];
    const auto beside = std::ranges::count_if(processes, [&](const Members& other) {
      const RankFacts& there = facts[other.front()];
      return by_device && other != members && folder_of(there) == folder_of(first) &&
             pattern_of(there) == pattern_of(first) && overlap(there, first);
    });
    out.jobs.push_back({name_of(facts, members), by_device ? std::nullopt : first.world_size, members, by_device,
                        static_cast<std::size_t>(beside)});
  }
  number_equal_names(out.jobs);
  return out;
}

}  // namespace tracedb
