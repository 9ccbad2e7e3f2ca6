#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/text/amounts.h"
#include "base/text/closest_name.h"
#include "index/locate.h"
#include "present/baseline_file.h"
#include "ranks/job_analysis.h"
#include "trace_query/commands/compare/compare_parts.h"
#include "trace_query/open.h"
#include "trace_query/run.h"

namespace tracedb {
namespace {

struct TraceOfRun {
  std::string input, hash;
  RollUp roll_up;
};

// The traces of a side that can be read, as runs: those that are ranks of one job are one.
class SideReader {
 public:
  SideReader(const CommandLine& line, const ActiveRules& rules, const Output& output,
             std::vector<std::string>& warnings)
      : line_(line), rules_(rules), output_(output), warnings_(warnings), cache_(cache_directory()) {}

  std::vector<NamedRun> read(std::vector<std::string> inputs, int& exit_code) {
    keep_one_form(inputs, &warnings_);  // that were named one by one
    InputLoop loop(inputs);
    std::vector<TraceOfRun> traces;
    std::vector<RankFacts> facts;
    for (const std::string& input : inputs) {
      const bool is_read = loop.attempt(input, [&] {
        const OpenedTrace opened = open_trace(input, line_);
        for (const std::string& note : opened.notes) {
          warnings_.push_back(fmt::format("{}: {}", input, note));
          output_.note(warnings_.back());
        }
        TraceOfRun trace{input, opened.index.meta("source_hash").value_or(""), {}};
        trace.roll_up = cache_.of(opened.index, {line_.text("step-regex")}, rules_.get(), rules_.name() == "default");
        facts.push_back(read_rank_facts(opened.index));
        traces.push_back(std::move(trace));
      });
      if (!is_read) warnings_.push_back(fmt::format("{}: it cannot be read, and is left out", input));
    }
    exit_code = std::max(exit_code, loop.exit_code());
    for (const TraceOfRun& trace : traces) refuse_twice(trace.hash, trace.input);
    Jobs found = find_jobs(facts);
    for (const std::size_t alone : found.without_rank) found.jobs.push_back({"", std::nullopt, {alone}});
    std::vector<NamedRun> out;
    for (const Job& job : found.jobs) {
      out.push_back(run_of(job, traces));
      const std::vector<std::int64_t> missing = job.missing(facts);
      if (job.members.size() < 2 || missing.empty()) continue;
      warnings_.push_back(fmt::format("{}: {} of {} ranks are not there ({}): its means are of the others", job.name,
                                      missing.size(), missing.size() + job.members.size(), fmt::join(missing, ", ")));
    }
    name_runs(out);
    return out;
  }

  // A run counts once, also where it is in a file of a baseline.
  void refuse_twice(const std::string& hash, const std::string& input) {
    if (hash.empty()) return;
    const auto [first, is_new] = by_hash_.try_emplace(hash, input);
    if (is_new) return;
    throw usage_error("compare: {} and {} are one trace: a run counts once", first->second, input);
  }

 private:
  static NamedRun run_of(const Job& job, std::vector<TraceOfRun>& traces) {
    NamedRun out;
    const std::string& first = traces[job.members.front()].input;
    out.run.name = job.members.size() > 1 ? job.name : std::filesystem::path(first).filename().string();
    for (const std::size_t member : job.members) {
      out.source.traces.push_back(traces[member].input);
      out.run.ranks.push_back(std::move(traces[member].roll_up));
    }
    out.source.date_ns = out.run.ranks.front().date_ns;
    out.source.gpu = out.run.ranks.front().gpu;
    out.source.hash = traces[job.members.front()].hash;
    return out;
  }

  // File names, or paths where those do not tell the runs apart.
  static void name_runs(std::vector<NamedRun>& runs) {
    std::map<std::string, std::size_t> counts;
    for (const NamedRun& one : runs) ++counts[one.run.name];
    for (NamedRun& one : runs) {
      if (counts[one.run.name] > 1) one.run.name = one.source.traces.front();
      one.source.name = one.run.name;
    }
  }

  const CommandLine& line_;
  const ActiveRules& rules_;
  const Output& output_;
  std::vector<std::string>& warnings_;
  RollUpCache cache_;
  std::map<std::string, std::string> by_hash_;
};

constexpr std::int64_t kSameNight = 43'200'000'000'000;  // ns: half a day

// What a pair has in common.
std::string pair_key(const NamedRun& one, const std::string& by) {
  if (by == "name") return one.run.name;
  constexpr std::size_t kDay = 10;  // of "2026-11-27 ..."
  return one.source.date_ns > 0 ? moment_text(one.source.date_ns).substr(0, kDay) : "";
}

// Error{kUsage} where pairs are made by dates that there are not.
void sort_by_date(std::vector<NamedRun>& side, const std::string& by, std::vector<std::string>& warnings) {
  std::ranges::stable_sort(side, {}, [](const NamedRun& one) { return std::pair(one.source.date_ns, one.run.name); });
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (by != "name" && side[i].source.date_ns < kFirstDate) {
      throw usage_error("compare: pairs are made by date, and a trace has none: --pair-by name");
    }
    if (by != "date" || i == 0 || side[i].source.date_ns != side[i - 1].source.date_ns) continue;
    warnings.push_back(fmt::format("{} and {} have one date: pairs are in order of names there", side[i - 1].run.name,
                                   side[i].run.name));
  }
}

}  // namespace

void read_runs(const CommandLine& line, const SetInputs& inputs, const Output& output, FoundSides& sides,
               std::vector<std::string>& warnings, int& exit_code) {
  const ActiveRules rules = requested_rules(line);
  SideReader reader(line, rules, output, warnings);
  if (const auto file = line.text("baseline-file")) {
    sides[0] = read_baseline_set(*file);
    for (const NamedRun& one : sides[0]) reader.refuse_twice(one.source.hash, *file + ": " + one.run.name);
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (inputs[side].empty()) continue;
    sides[side] = reader.read(inputs[side], exit_code);
    if (sides[side].empty()) return;
    const auto is_empty = [](const NamedRun& one) { return one.run.ranks.front().groups.empty(); };
    if (!std::ranges::all_of(sides[side], is_empty)) continue;
    throw Error(ErrorCode::kInput, fmt::format("compare: no run of the {} has steps on a device: {}", kSideNames[side],
                                               sides[side].front().source.traces.front()));
  }
}

std::vector<NamedRun> read_history(const CommandLine& line, const Output& output, const FoundSides& sides,
                                   std::vector<std::string>& warnings, int& exit_code) {
  const std::vector<std::string> given = {line.text("history").value_or("")};
  const ActiveRules rules = requested_rules(line);
  std::vector<NamedRun> runs =
      SideReader(line, rules, output, warnings).read(find_inputs(given, std::nullopt, &warnings), exit_code);
  std::erase_if(runs, [&](const NamedRun& one) {
    return std::ranges::any_of(sides[1], [&](const NamedRun& own) { return own.source.hash == one.source.hash; });
  });
  std::string difference;
  const auto others = std::erase_if(runs, [&](const NamedRun& one) {
    return std::ranges::any_of(kRunTraits, [&](const RunTrait& trait) {
      std::string text = differences_within({sides[0].front().run, one.run}, trait);
      if (difference.empty()) difference = text;
      return !text.empty();
    });
  });
  if (others > 0) {
    warnings.push_back(
        fmt::format("{} of other kinds left out of the history: {}", counted(others, "run", "runs"), difference));
  }
  return runs;
}

void leave_out_runs(const CommandLine& line, FoundSides& sides, std::vector<std::string>& warnings) {
  for (const std::string& pattern : line.names("leave-out")) {
    bool found = false;
    std::vector<std::string> names;
    for (std::size_t side = 0; side < 2; ++side) {
      for (NamedRun& one : sides[side]) {
        names.push_back(one.run.name);
        if (::fnmatch(pattern.c_str(), one.run.name.c_str(), 0) != 0) continue;
        one.source.left_out = found = true;
        warnings.push_back(fmt::format("left out: {} {}", kSideNames[side], one.run.name));
      }
    }
    if (found) continue;
    throw usage_error("--leave-out {}: no run of that name{}", pattern, did_you_mean(pattern, names));
  }
}

void refuse_mixed(const FoundSides& sides) {
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<Run> runs;
    for (const NamedRun& one : sides[side]) {
      if (!one.source.left_out) runs.push_back(one.run);
    }
    std::vector<std::string> texts;
    bool of_work = false;
    for (const RunTrait& trait : kRunTraits) {
      std::string text = differences_within(runs, trait);
      if (text.empty()) continue;
      texts.push_back(std::move(text));
      of_work |= trait.of_work;
    }
    if (texts.empty()) continue;
    throw usage_error("compare: the runs of the {} are of several kinds: {} (--mixed compares them all the same{})",
                      kSideNames[side], fmt::join(texts, "; "), of_work ? " with --allow-different-work" : "");
  }
}

void pair_runs(const std::string& by, FoundSides& sides, std::vector<std::string>& warnings) {
  for (auto& side : sides) sort_by_date(side, by, warnings);
  FoundSides paired, alone;
  for (NamedRun& one : sides[0]) {
    const auto fits = [&](const NamedRun& other) {
      return !other.source.left_out && (by == "date" || pair_key(other, by) == pair_key(one, by));
    };
    const auto partner = one.source.left_out ? sides[1].end() : std::ranges::find_if(sides[1], fits);
    if (partner == sides[1].end()) {
      alone[0].push_back(std::move(one));
      continue;
    }
    const std::int64_t apart = std::abs(partner->source.date_ns - one.source.date_ns);
    if (by == "date" && apart > kSameNight) {
      warnings.push_back(fmt::format("a pair is not of one night: {} ({}) and {} ({})", one.run.name,
                                     pair_key(one, "night"), partner->run.name, pair_key(*partner, "night")));
    }
    paired[0].push_back(std::move(one));
    paired[1].push_back(std::move(*partner));
    sides[1].erase(partner);
  }
  alone[1] = std::move(sides[1]);
  for (std::size_t side = 0; side < 2; ++side) {
    for (NamedRun& one : alone[side]) {
      if (!std::exchange(one.source.left_out, true)) {
        warnings.push_back(fmt::format("{} {} has no partner and is left out", kSideNames[side], one.run.name));
      }
      paired[side].push_back(std::move(one));
    }
  }
  sides = std::move(paired);
}

bool is_job_each(const CommandLine& line, const SetInputs& inputs) {
  for (const auto& side : inputs) {
    if (side.size() < 2) return false;
    std::vector<RankFacts> facts;
    for (const std::string& input : side) {  // one that cannot be read is told by what reads it next
      catch_error([&] { facts.push_back(read_rank_facts(open_trace(input, line).index)); });
    }
    const Jobs found = find_jobs(facts);
    if (found.jobs.size() != 1 || !found.without_rank.empty() || found.jobs.front().members.size() < 2) return false;
  }
  return true;
}

}  // namespace tracedb
