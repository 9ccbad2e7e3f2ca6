#include "compare/runs/run_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "passes/layers/model_names.h"

namespace tracedb {
namespace {

constexpr double kApart = 0.05;  // of the changes of two devices: least that is no chance

const RollUpGroup* find_group(const RollUp& trace, std::string_view kind, std::string_view batch) {
  const auto found = std::ranges::find_if(
      trace.groups, [&](const RollUpGroup& group) { return group.kind == kind && group.batch == batch; });
  return found == trace.groups.end() ? nullptr : &*found;
}

// Squares of a sum, or mean, of values whose own squares are known: at most.
void add_squares(double& to, double squares) {
  const double root = std::sqrt(to) + std::sqrt(squares);
  to = root * root;
}

// The steps of one run: means over its ranks, each over its own regular steps. Ranks wait for each other, so the period
// of each is that of the job.
struct RunGroup {
  std::vector<const RollUpGroup*> ranks;  // empty: it has no such steps
  RunSums sums;                           // without parts
  // Of a rank's sums in those of the run.
  [[nodiscard]] double share(const RollUpGroup& rank) const {
    const double steps = static_cast<double>(sums.steps), own = static_cast<double>(rank.sums.steps);
    return steps / (own * static_cast<double>(ranks.size()));
  }
  // The same of squares, which add up as add_squares() has it.
  [[nodiscard]] double share_of_squares(const RollUpGroup& rank) const {
    return share(rank) / static_cast<double>(ranks.size());
  }
};

using GroupsOfSides = std::array<std::vector<RunGroup>, 2>;

bool has_level(const RunGroup& group) { return group.sums.bar.empty(); }

std::vector<RunGroup*> usable_of(GroupsOfSides& groups) {
  std::vector<RunGroup*> out;
  for (auto& side : groups) {
    for (RunGroup& group : side) {
      if (has_level(group)) out.push_back(&group);
    }
  }
  return out;
}

RunGroup group_of(const Run& run, std::string_view kind, std::string_view batch) {
  RunGroup out;
  out.sums.name = run.name;
  for (const RollUp& rank : run.ranks) {
    if (const RollUpGroup* group = find_group(rank, kind, batch)) out.ranks.push_back(group);
  }
  RunSums& sums = out.sums;
  if (out.ranks.size() < run.ranks.size()) {
    sums.bar = out.ranks.empty() ? "no such steps" : "a rank without such steps";
    out.ranks.clear();
    return out;
  }
  double steps = 0, mean_period = 0;
  for (const RollUpGroup* rank : out.ranks) {
    steps += static_cast<double>(rank->sums.steps);
    mean_period += rank->sums.mean_period;
    sums.rare_steps = std::max(sums.rare_steps, rank->sums.rare_steps);
    if (sums.bar.empty()) sums.bar = rank->sums.steps < kLeastOfLevel ? "under 3 regular steps" : rank->sums.bar;
  }
  const auto ranks = static_cast<double>(out.ranks.size());
  sums.steps = std::llround(steps / ranks);
  sums.mean_period = mean_period / ranks;
  if (!sums.bar.empty()) return out;
  for (const RollUpGroup* rank : out.ranks) {
    const double share = out.share(*rank);
    sums.load += share * rank->sums.load;
    sums.load_squares += share * rank->sums.load_squares;
    sums.period += share * rank->sums.period;
    add_squares(sums.period_squares, out.share_of_squares(*rank) * rank->sums.period_squares);
  }
  return out;
}

// Rows: what not all runs have counts as its class, and a class that not all have as its family.
class PartNames {
 public:
  explicit PartNames(const std::vector<RunGroup*>& groups) : runs_(groups.size()) {
    for (const RunGroup* group : groups) {
      std::set<std::pair<std::string, std::string>> details;
      std::set<std::string> ops;
      for (const RollUpGroup* rank : group->ranks) {
        for (const RollUpPart& part : rank->parts) {
          details.emplace(part.op, part.detail);
          ops.insert(part.op);
        }
      }
      for (const auto& one : details) ++with_detail_[one];
      for (const auto& one : ops) ++with_op_[one];
    }
  }

  [[nodiscard]] RunPart of(const RollUpPart& part) const {
    RunPart out{part.op, part.family, !part.family.empty(),
                part.op == "[idle]" || part.op == "[between steps]" || part.op.starts_with("[exposed ")};
    if (with_detail_.at({part.op, part.detail}) == runs_ && !part.detail.empty()) {
      out.name = part.op == "other" ? part.detail : fmt::format("{} ({})", part.op, part.detail);
    } else if (with_op_.at(part.op) < runs_ && !part.family.empty()) {
      out.name = part.family;
    }
    return out;
  }

 private:
  std::size_t runs_;
  std::map<std::pair<std::string, std::string>, std::size_t> with_detail_;
  std::map<std::string, std::size_t> with_op_;
};

// What most of the runs record; "": not known.
std::string usual_recording(const std::vector<Run>& runs) {
  std::map<std::string, std::size_t> counts;
  for (const Run& run : runs) ++counts[run.ranks.front().recording];
  counts.erase("");
  const auto most = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? "" : most->first;
}

// Of the runs that have a level.
std::string other_between(const RunsOfSides& sides, const GroupsOfSides& groups, const RunTrait& trait) {
  std::array<std::set<std::string>, 2> texts;
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t i = 0; i < sides[side].size(); ++i) {
      if (groups[side][i].sums.bar.empty()) texts[side].insert(trait.text(sides[side][i]));
    }
    texts[side].erase("");
  }
  if (texts[0].empty() || texts[1].empty() || texts[0] == texts[1]) return "";
  return fmt::format("another {}: {} against {}", trait.name, fmt::join(texts[0], ", "), fmt::join(texts[1], ", "));
}

class PhaseMaker {
 public:
  PhaseMaker(const RunsOfSides& sides, const RunSetOptions& options) : sides_(sides), options_(options) {}

  std::vector<RunPhase> run() {
    std::set<std::string> kinds;
    for (const auto& side : sides_) {
      for (const Run& one : side) {
        for (const RollUp& rank : one.ranks) {
          for (const RollUpGroup& group : rank.groups) kinds.insert(group.kind);
        }
      }
    }
    for (const std::string& kind : kinds) add_kind(kind);
    std::ranges::stable_sort(out_, std::greater<>(), [](const RunPhase& phase) {
      double time = 0;
      for (const auto& side : phase.sums.sides) {
        for (const RunSums& run : side) time += run.mean_period * static_cast<double>(run.steps + run.rare_steps);
      }
      return std::pair(own_kind(phase.label) == phase.label, time);
    });
    return std::move(out_);
  }

 private:
  // Shares of the steps of a kind by batch size.
  using Mix = std::map<std::string, double>;

  void add_kind(const std::string& kind) {
    std::vector<Mix> mixes;
    Mix all;
    std::array<std::set<std::string>, 2> batches;
    for (std::size_t side = 0; side < 2; ++side) {
      for (const Run& run : sides_[side]) {
        Mix mix;
        double steps = 0;
        for (const RollUpGroup& group : run.ranks.front().groups) {
          if (group.kind != kind || group.batch.empty()) continue;
          mix[group.batch] += static_cast<double>(group.matched_steps);
          steps += static_cast<double>(group.matched_steps);
          batches[side].insert(group.batch);
        }
        for (auto& [batch, share] : mix) all[batch] += share /= steps;
        if (!mix.empty()) mixes.push_back(std::move(mix));
      }
    }
    const auto distance = [&](Mix mix) {
      double sum = 0;
      for (const auto& [batch, share] : all) sum += std::abs(mix[batch] - share / static_cast<double>(mixes.size()));
      return sum / 2;
    };
    const bool alike = std::ranges::all_of(mixes, [&](const Mix& mix) { return distance(mix) <= kSameMix; });
    if (alike) return add_phase(kind, "");
    const std::size_t before = out_.size();
    for (const std::string& batch : batches[0]) {
      if (batches[1].contains(batch)) add_phase(kind, batch);
    }
    if (out_.size() > before) return;
    add_phase(kind, "");
    if (out_.size() > before) out_.back().sums.incomparable = "no batch size in common";
  }

  void add_phase(const std::string& kind, const std::string& batch) {
    RunPhase phase;
    phase.label = batch.empty() ? kind : kind + " " + batch;
    if (options_.wanted && !options_.wanted(phase.label, own_kind(kind))) return;
    phase.sums.paired = options_.paired;
    GroupsOfSides groups;
    for (std::size_t side = 0; side < 2; ++side) {
      for (const Run& run : sides_[side]) {
        const RunGroup& group = groups[side].emplace_back(group_of(run, kind, batch));
        ++phase.of;
        phase.runs += group.ranks.empty() ? 0 : 1;
      }
    }
    if (phase.runs == 0) return;
    phase.by_period = are_by_period(groups);
    const bool loads = know_loads(groups);
    if (loads) phase.load = own_kind(kind) == "decode" ? "requests" : "tokens";
    bar_others(phase, groups);
    for (auto& side : groups) {
      for (RunGroup& group : side) {
        if (!loads) group.sums.load = group.sums.load_squares = 0;
      }
    }
    const std::vector<RunGroup*> usable = usable_of(groups);
    fill(usable, groups, loads, phase.sums);
    judge_work(usable, groups, phase.sums);
    phase.sums.devices = changes_apart(means_of_devices(groups[0]), means_of_devices(groups[1]), kApart);
    out_.push_back(std::move(phase));
  }

  // Over the runs with a level: of their ranks, and of each one's devices; empty where not all have the same.
  static DeviceMeans means_of_devices(const std::vector<RunGroup>& side) {
    std::map<DeviceMeans::key_type, std::pair<double, std::size_t>> sums;  // and the number of runs
    std::size_t runs = 0;
    for (const RunGroup& group : side) {
      if (!group.sums.bar.empty()) continue;
      ++runs;
      for (std::uint32_t rank = 0; rank < group.ranks.size(); ++rank) {
        const auto& devices = group.ranks[rank]->devices;
        for (const auto& [device, mean] : devices) {
          auto& [sum, n] = sums[{rank, devices.size() > 1 ? device : 0}];
          sum += mean;
          ++n;
        }
      }
    }
    DeviceMeans out;
    for (const auto& [device, sum] : sums) {
      if (sum.second < runs) return {};
      out[device] = sum.first / static_cast<double>(runs);
    }
    return out;
  }

  static bool of_all_ranks(const RunGroup& group, bool RollUpGroup::*fact) {
    return std::ranges::all_of(group.ranks, [fact](const RollUpGroup* rank) { return rank->*fact; });
  }

  // Most runs of either side: another kind of time would leave a whole side out.
  static bool are_by_period(const GroupsOfSides& groups) {
    std::size_t all = 0;
    for (const auto& side : groups) {
      const auto own = std::ranges::count_if(side, has_level);
      const auto with_period = std::ranges::count_if(side, [&](const RunGroup& group) {
        return has_level(group) && of_all_ranks(group, &RollUpGroup::by_period);
      });
      if (own > 0 && 2 * with_period <= own) return false;
      all += static_cast<std::size_t>(own);
    }
    return all > 0;
  }
  static bool know_loads(GroupsOfSides& groups) {
    const std::vector<RunGroup*> all = usable_of(groups);
    return !all.empty() && std::ranges::all_of(all, [](const RunGroup* group) {
      return of_all_ranks(*group, &RollUpGroup::load_known);
    });
  }

  // Runs whose times are of another kind than those of the others.
  void bar_others(RunPhase& phase, GroupsOfSides& groups) const {
    const std::string usual[2] = {usual_recording(sides_[0]), usual_recording(sides_[1])};
    if (!usual[0].empty() && !usual[1].empty() && usual[0] != usual[1]) {
      phase.sums.incomparable = fmt::format("the runs record differently: {} against {}", usual[0], usual[1]);
    }
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < groups[side].size(); ++i) {
        std::string& bar = groups[side][i].sums.bar;
        if (!bar.empty()) continue;
        const std::string& recording = sides_[side][i].ranks.front().recording;
        if (of_all_ranks(groups[side][i], &RollUpGroup::by_period) != phase.by_period) {
          bar = phase.by_period ? "its steps do not follow each other" : "only its steps follow each other";
        } else if (!recording.empty() && recording != usual[side]) {
          bar = fmt::format("it records {}, the others {}", recording, usual[side]);
        }
      }
    }
  }

  static void fill(const std::vector<RunGroup*>& usable, GroupsOfSides& groups, bool loads, PhaseRuns& out) {
    const PartNames names(usable);
    std::map<std::string, std::size_t> places;
    std::map<const RollUpGroup*, std::vector<std::size_t>> place_of;  // by part of the rank
    for (const RunGroup* group : usable) {
      for (const RollUpGroup* rank : group->ranks) {
        for (const RollUpPart& part : rank->parts) {
          RunPart named = names.of(part);
          const auto [place, is_new] = places.try_emplace(named.name, out.parts.size());
          if (is_new) out.parts.push_back(std::move(named));
          place_of[rank].push_back(place->second);
        }
      }
    }
    for (std::size_t side = 0; side < 2; ++side) {
      for (const RunGroup& group : groups[side]) {
        RunSums& sums = out.sides[side].emplace_back(group.sums);
        sums.parts.resize(out.parts.size());
        if (!sums.bar.empty()) continue;
        for (const RollUpGroup* rank : group.ranks) add_rank(group, *rank, place_of[rank], loads, sums);
      }
    }
  }

  static void add_rank(const RunGroup& group, const RollUpGroup& rank, const std::vector<std::size_t>& places,
                       bool loads, RunSums& sums) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const PartSums& part = rank.sums.parts[i];
      PartSums& to = sums.parts[places[i]];
      to.time += group.share(rank) * part.time;
      if (loads) to.time_load += group.share(rank) * part.time_load;
      add_squares(to.time_squares, group.share_of_squares(rank) * part.time_squares);
    }
  }

  void judge_work(const std::vector<RunGroup*>& usable, const GroupsOfSides& groups, PhaseRuns& out) const {
    for (const RunTrait& trait : kRunTraits) {
      const std::string other = other_between(sides_, groups, trait);
      if (!other.empty() && !trait.of_work && out.no_speed.empty()) out.no_speed = other;
    }
    for (const RunGroup* group : usable) {
      if (options_.different_work || !out.incomparable.empty()) return;
      const WorkDifference other = work_difference(usable.front()->ranks.front()->work, group->ranks.front()->work);
      if (!other.text.empty()) out.incomparable = fmt::format("other work: {}: {}", group->sums.name, other.text);
    }
  }

  const RunsOfSides& sides_;
  const RunSetOptions& options_;
  std::vector<RunPhase> out_;
};

std::string framework_of(const Run& run) {
  const std::string& known = run.ranks.front().framework;
  return known == kOnlyProfiler ? "" : known;
}

std::string model_of(const Run& run) {
  for (const RollUpGroup& group : run.ranks.front().groups) {
    if (!group.work.model.empty()) return group.work.model;
  }
  return "";
}

// Where no model is named.
std::string architecture_of(const Run& run) {
  const std::vector<RollUpGroup>& groups = run.ranks.front().groups;
  return groups.empty() || !model_of(run).empty() ? "" : groups.front().work.architecture;
}

std::string layers_of(const Run& run) {
  std::int64_t most = 0;
  for (const RollUpGroup& group : run.ranks.front().groups) {
    most = std::max(most, group.work.layers);
  }
  return most > 0 ? std::to_string(most) : "";
}

}  // namespace

const std::array<RunTrait, 6> kRunTraits = {{
    {"GPU", [](const Run& run) { return run.ranks.front().gpu; }},
    {"framework", framework_of},
    {"world size", [](const Run& run) { return run.ranks.front().world_size; }},
    {"model", model_of, true},
    {"architecture", architecture_of, true},
    {"number of layers", layers_of, true},
}};

std::string differences_within(const std::vector<Run>& side, const RunTrait& trait) {
  std::map<std::string, std::vector<std::string>> runs;  // by text
  for (const Run& run : side) runs[trait.text(run)].push_back(run.name);
  runs.erase("");
  if (runs.size() < 2) return "";
  std::string out = fmt::format("{}: ", trait.name);
  for (const auto& [text, names] : runs) {
    if (!out.ends_with(": ")) out += ", ";
    out += fmt::format("{} ({}{})", text, names.front(),
                       names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
  }
  return out;
}

std::vector<RunPhase> phases_of(const RunsOfSides& sides, const RunSetOptions& options) {
  return PhaseMaker(sides, options).run();
}

}  // namespace tracedb
