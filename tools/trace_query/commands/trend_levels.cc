#include "trace_query/commands/trend_levels.h"

#include <algorithm>
#include <set>

#include "base/failure.h"
#include "base/text/decimal.h"
#include "compare/runs/run_sets.h"
#include "index/locate.h"

namespace tracedb {
namespace {

// Of the steps of a phase in the mean; 0: it is not known of all ranks. Period and span grow by it as kernels do.
TrendValue load_of(const Run& run, const std::string& phase) {
  double sum = 0, power = 1;
  for (const RollUp& rank : run.ranks) {
    const auto found = std::ranges::find_if(
        rank.groups, [&](const RollUpGroup& one) { return one.kind == phase && one.batch.empty(); });
    if (found == rank.groups.end() || !found->load_known || found->sums.steps == 0) return {};
    sum += found->sums.load / static_cast<double>(found->sums.steps);
    power = std::max(power, 1 + attention_share(*found));
  }
  return {std::nullopt, sum / static_cast<double>(run.ranks.size()), power};
}

// Whether loads of runs are near enough to each other to tell by the steps within them what they do.
bool are_alike_in_load(const std::vector<SetRun>& runs) {
  std::set<double> loads;
  for (const SetRun& run : runs) loads.insert(run.load);
  loads.erase(0);  // of those without a level
  return loads.empty() || same_load(*loads.begin(), *loads.rbegin());
}

}  // namespace

TrendLevels levels_of(const std::string& phase, std::span<const TrendRun> runs, const ActiveRules& rules,
                      bool of_periods) {
  const RollUpCache cache(cache_directory());
  RunsOfSides sides;
  TrendLevels out = {{phase, std::vector<TrendValue>(runs.size())}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run run{std::to_string(i), {}};
    for (const CatalogueEntry* trace : runs[i]) {
      catch_error([&] {
        run.ranks.push_back(cache.of(Index::open(trace->index), {}, rules.get(), rules.name() == "default"));
      });
    }
    if (run.ranks.size() != runs[i].size()) continue;
    out[phase][i] = load_of(run, phase);
    sides[0].push_back(std::move(run));
  }
  if (!of_periods) return out;
  const std::string to_phase = transition_kind("", phase);
  const auto wanted = [&](std::string_view label, std::string_view) {
    return own_kind(label) == phase || label.ends_with(to_phase);
  };
  for (const RunPhase& one : phases_of(sides, {false, true, wanted})) {
    if (!one.by_period) continue;
    std::vector<TrendValue>& values = out.try_emplace(one.label, runs.size()).first->second;
    const SetComparison levels = compare_sets(one.sums, {});
    const bool at_equal_load = levels.load_varies && are_alike_in_load(levels.runs);
    for (const SetRun& run : levels.runs) {
      if (!run.bar.empty()) continue;
      TrendValue& own = values[static_cast<std::size_t>(*parse_int64(run.name))];
      own.value = run.period;
      own.load = at_equal_load ? 0 : std::max(own.load, run.load);
    }
  }
  return out;
}

}  // namespace tracedb
