#include "compare/table_changes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/unknown.h"
#include "compare/trace/recording.h"
#include "passes/columns/event_columns.h"
#include "passes/tables/pass_tables.h"

namespace tracedb {
namespace {

struct Side {
  std::map<std::string, OperatorSums, std::less<>> sums;
  std::map<std::string, std::string, std::less<>> parents;  // the operator around most of its calls
};

void add_to(std::int64_t& sum, std::int64_t more) { sum = saturating_add(sum, more); }

// By row: whether the operator begins in a step. All do where the host does not mark the steps.
std::vector<bool> in_steps(std::span<const std::int64_t> begins, const StepSet* steps) {
  std::vector<bool> out(begins.size(), true);
  const auto is_marked = [](const StepFacts& step) {
    return !step.on_device && step.ts != kUnknownValue && step.dur != kUnknownValue;
  };
  if (steps == nullptr || !std::ranges::all_of(steps->steps, is_marked)) return out;
  auto next = steps->steps.begin();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < begins.size(); ++i) {
    for (; next != steps->steps.end() && next->ts <= begins[i]; ++next)
      end = std::max(end, saturating_add(next->ts, next->dur));
    out[i] = begins[i] < end;
  }
  return out;
}

// Calls take(row in cpu_op, ns) for the device work of the steps, or of all.
template <class Take>
void for_each_launched(const Index& index, const StepSet* steps, std::size_t operators, Take take) {
  for (const std::string_view table : {"kernel", "memory_op"}) {
    const EventColumns events(index, table);
    const auto launched_by = events.ids("cpu_op_id");
    const auto event_durs = events.int64s("dur");
    for (std::size_t i = 0; i < launched_by.size(); ++i) {
      if (launched_by[i] == 0 || launched_by[i] > operators) continue;
      if (steps != nullptr && (table == "kernel" ? steps->of_kernel : steps->of_memory)[i] == 0) continue;
      take(launched_by[i] - 1, duration_or_zero(event_durs[i]));
    }
  }
}

Side side_of(const Index& index, const StepSet* steps) {
  const EventColumns operators(index, "cpu_op", {"ts", "name_id", "parent_id", "dur"});
  const auto names = operators.ids("name_id"), parents = operators.ids("parent_id");
  const auto durs = operators.int64s("dur");
  std::vector<bool> counts = in_steps(operators.int64s("ts"), steps);  // or launches work of one
  std::vector<OperatorSums> by_name;                                   // by name_id
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> calls_under;
  const auto of = [&](std::uint32_t row) -> OperatorSums& {
    if (names[row] >= by_name.size()) by_name.resize(names[row] + std::size_t{1});
    return by_name[names[row]];
  };
  for_each_launched(index, steps, names.size(), [&](std::uint32_t row, std::int64_t dur) {
    counts[row] = true;
    add_to(of(row).device, dur);
  });
  for (std::uint32_t row = 0; row < names.size(); ++row) {
    if (!counts[row]) continue;
    const std::int64_t dur = duration_or_zero(durs[row]);
    ++of(row).calls;
    add_to(of(row).host, dur);
    const bool inside = parents[row] > 0 && parents[row] <= names.size();
    if (inside && counts[parents[row] - 1]) add_to(of(parents[row] - 1).host, -dur);
    ++calls_under[{names[row], inside ? names[parents[row] - 1] : 0}];
  }
  std::unordered_map<std::uint32_t, std::string> texts;
  Statement strings(index.database(), "SELECT id, value FROM string WHERE id IN (SELECT DISTINCT name_id FROM cpu_op)");
  while (strings.step()) texts[strings.id(0)] = strings.text(1);
  Side out;
  for (const auto& [id, text] : texts) {
    if (id < by_name.size() && by_name[id].calls > 0) out.sums[text] = by_name[id];
  }
  std::map<std::uint32_t, std::int64_t> most;
  for (const auto& [place, calls] : calls_under) {
    std::int64_t& best = most[place.first];
    if (calls <= best) continue;
    best = calls;
    out.parents[texts[place.first]] = place.second == 0 ? "" : texts[place.second];
  }
  return out;
}

// Up from `name` on its side to an operator that the other one has.
std::string common_operator(const std::string& name, const Side& own, const Side& other) {
  constexpr int kDeepest = 100;  // operators that mostly call themselves
  std::string at = name;
  for (int depth = 0; depth < kDeepest && !at.empty() && !other.sums.contains(at); ++depth) {
    const auto parent = own.parents.find(at);
    at = parent == own.parents.end() ? "" : parent->second;
  }
  return at == name ? "" : at;
}

OperatorStatus status_of(const OperatorSums& baseline, const OperatorSums& candidate, double baseline_units,
                         double candidate_units) {
  constexpr double kSameCalls = 0.01, kSameTime = 0.03;  // shares below which no difference is named
  if (baseline.calls == 0) return OperatorStatus::kNew;
  if (candidate.calls == 0) return OperatorStatus::kGone;
  const auto ratio = [&](std::int64_t before, std::int64_t after) {
    return (static_cast<double>(after) / candidate_units) / (static_cast<double>(before) / baseline_units);
  };
  const double calls = ratio(baseline.calls, candidate.calls);
  if (std::abs(calls - 1) > kSameCalls) return calls > 1 ? OperatorStatus::kMore : OperatorStatus::kFewer;
  const bool by_device = baseline.device > 0 && candidate.device > 0;
  if (!by_device && (baseline.host <= 0 || candidate.host <= 0)) return OperatorStatus::kSame;
  const double time = by_device ? ratio(baseline.device, candidate.device) : ratio(baseline.host, candidate.host);
  if (std::abs(time - 1) <= kSameTime) return OperatorStatus::kSame;
  return time > 1 ? OperatorStatus::kSlower : OperatorStatus::kFaster;
}

// ---- memory

bool is_on_host(const MemoryPeak& peak) { return peak.device.starts_with("cpu"); }

// Devices of two vendors are compared by their number: "cuda 0" and "hip 0".
std::string_view place_of(std::string_view device) {
  const std::size_t blank = device.find(' ');
  return blank == std::string_view::npos ? device : device.substr(blank);
}

bool has_one_device(const std::vector<MemoryPeak>& peaks) {
  return std::ranges::count_if(peaks, is_on_host) + 1 == std::ssize(peaks);
}

}  // namespace

ShapeSides shape_sides(Database& database) {
  Statement rows(database, R"sql(
    SELECT name, shape, coalesce(types, ''), sum(rated), 1.0 * sum(rated_busy) / sum(rated),
           iif(count(roof) = count(*), sum(roof) / sum(rated), NULL), total(all_flops) / sum(rated),
           total(all_bytes) / sum(rated)
    FROM (SELECT *, max(all_flops / nullif(peak_tflops, 0) / 1000, all_bytes / nullif(peak_gb_s, 0)) AS roof
          FROM temp.operator_work WHERE rated > 0 AND shape IS NOT NULL AND NOT bad_shape)
    GROUP BY name, shape, types HAVING sum(rated_busy) > 0)sql");
  ShapeSides out;
  while (rows.step()) {
    ShapeChange::Side side{rows.int64(3), rows.real(4), std::nullopt, rows.real(6), rows.real(7)};
    if (!rows.is_null(5) && rows.real(5) > 0) side.roof = rows.real(5);
    out[{std::string(rows.text(0)), std::string(rows.text(1)), std::string(rows.text(2))}] = side;
  }
  return out;
}

std::vector<ShapeChange> shape_changes(const ShapeSides& before, const ShapeSides& after) {
  std::vector<ShapeChange> out;
  for (const auto& [key, side] : before) {
    if (const auto other = after.find(key); other != after.end())
      out.push_back({key[0], key[1], key[2], side, other->second});
  }
  // What is left, where it is of one type on each side.
  const auto alone = [](const ShapeSides& of, const ShapeSides& other, const auto& key) {
    const ShapeSides::value_type* found = nullptr;
    for (auto at = of.lower_bound({key[0], key[1], ""});
         at != of.end() && at->first[0] == key[0] && at->first[1] == key[1]; ++at) {
      if (other.contains(at->first)) continue;
      if (found != nullptr) return static_cast<const ShapeSides::value_type*>(nullptr);
      found = &*at;
    }
    return found;
  };
  for (const auto& entry : before) {
    const auto& key = entry.first;
    const auto* other = alone(after, before, key);
    if (other == nullptr || alone(before, after, key) != &entry || key[2].empty() || other->first[2].empty()) continue;
    const std::string own = first_type(key[2]), theirs = first_type(other->first[2]);
    const bool told = !own.empty() && !theirs.empty() && own != theirs;
    out.push_back({key[0], key[1], (told ? own : key[2]) + " -> " + (told ? theirs : other->first[2]), entry.second,
                   other->second});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const ShapeChange& one) {
    return std::abs(one.change()) * static_cast<double>(std::min(one.baseline.calls, one.candidate.calls));
  });
  return out;
}

std::string_view to_string(OperatorStatus status) {
  constexpr std::array<std::string_view, 7> kNames = {"new", "gone", "more", "fewer", "slower", "faster", "same"};
  return kNames.at(static_cast<std::size_t>(status));
}

std::vector<OperatorChange> operator_changes(const ComparedOperators& baseline, const ComparedOperators& candidate) {
  const double baseline_units = baseline.units(), candidate_units = candidate.units();
  const Side before = side_of(baseline.index, baseline.steps), after = side_of(candidate.index, candidate.steps);
  std::map<std::string, OperatorChange> changes;
  for (const auto& [name, sums] : before.sums) changes[name].baseline = sums;
  for (const auto& [name, sums] : after.sums) changes[name].candidate = sums;
  std::vector<OperatorChange> out;
  for (auto& entry : changes) {
    const std::string& name = entry.first;
    OperatorChange& change = entry.second;
    const auto per_unit = [&](std::int64_t OperatorSums::*figure) {
      return static_cast<double>(change.candidate.*figure) / candidate_units -
             static_cast<double>(change.baseline.*figure) / baseline_units;
    };
    change.name = name;
    change.host_change = per_unit(&OperatorSums::host);
    change.device_change = per_unit(&OperatorSums::device);
    change.status = status_of(change.baseline, change.candidate, baseline_units, candidate_units);
    if (change.status == OperatorStatus::kNew) change.under = common_operator(name, after, before);
    if (change.status == OperatorStatus::kGone) change.under = common_operator(name, before, after);
    out.push_back(std::move(change));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [](const OperatorChange& change) {
    return std::abs(change.host_change) + std::abs(change.device_change);
  });
  return out;
}

std::vector<MemoryPeak> memory_peaks(Database& database) {
  std::vector<MemoryPeak> out;
  if (!database.query_int64("SELECT 1 FROM packed_block WHERE event_table = 'memory_event' LIMIT 1")) return out;
  // What only allocates (aten::empty) says less than who asked it to.
  Statement rows(database, R"sql(
    WITH events AS MATERIALIZED (SELECT id, device, bytes, allocated, ended_by, has_address, cpu_op_id, step FROM temp.memory_events),
    firsts AS (SELECT device, min(id), allocated - bytes AS before, total(NOT has_address) = 0 AS traced FROM events GROUP BY device),
    peaks AS (SELECT device, before, traced, id, step, max(allocated) AS peak FROM events JOIN firsts USING (device) GROUP BY device),
    alive AS (SELECT p.device, e.bytes, e.cpu_op_id FROM peaks p JOIN events e ON e.device = p.device AND e.id <= p.id
              WHERE p.traced AND e.bytes > 0 AND (e.ended_by IS NULL OR e.ended_by > p.id)),
    asked AS (SELECT device, bytes, (
      WITH RECURSIVE up(id, parent_id, name, allocates) AS (
        SELECT c.id, c.parent_id, s.value, s.value GLOB '*empty*' OR s.value GLOB '*resize_*'
        FROM cpu_op c JOIN string s ON s.id = c.name_id WHERE c.id = cpu_op_id
        UNION ALL
        SELECT c.id, c.parent_id, s.value, s.value GLOB '*empty*' OR s.value GLOB '*resize_*'
        FROM up JOIN cpu_op c ON c.id = up.parent_id JOIN string s ON s.id = c.name_id WHERE up.allocates)
      SELECT name FROM up ORDER BY allocates, id DESC LIMIT 1) AS name FROM alive),
    held AS (SELECT device, coalesce(name, '[none]') AS name, CAST(total(bytes) AS INTEGER) AS bytes FROM asked GROUP BY 1, 2),
    rest AS (SELECT p.*, peak - CAST(total(h.bytes) AS INTEGER) AS bytes FROM peaks p LEFT JOIN held h USING (device) GROUP BY device),
    parts AS (
      SELECT * FROM held
      UNION ALL
      SELECT device, CASE WHEN NOT traced THEN '[addresses not recorded]' WHEN bytes > before THEN '[not known]'
                     ELSE '[before the trace]' END, bytes FROM rest WHERE bytes <> 0)
    SELECT device, peak, name, bytes, step FROM peaks JOIN parts USING (device) ORDER BY 2 DESC, 1)sql");
  while (rows.step()) {
    if (out.empty() || out.back().device != rows.text(0))
      out.push_back({std::string(rows.text(0)), rows.int64(1), {}, rows.integer(4)});
    out.back().of_operators.emplace(rows.text(2), rows.int64(3));
  }
  return out;
}

std::vector<MemoryChange> memory_changes(const std::vector<MemoryPeak>& baseline,
                                         const std::vector<MemoryPeak>& candidate) {
  std::vector<MemoryChange> out;
  for (const MemoryPeak& before : baseline) {
    auto after = std::ranges::find(candidate, place_of(before.device),
                                   [](const MemoryPeak& peak) { return place_of(peak.device); });
    // Ranks have one device each, of another number.
    if (after == candidate.end() && !is_on_host(before) && has_one_device(baseline) && has_one_device(candidate))
      after = std::ranges::find_if_not(candidate, is_on_host);
    if (after == candidate.end()) continue;
    const std::string device =
        before.device == after->device ? before.device : fmt::format("{} / {}", before.device, after->device);
    out.push_back({device, "", before.bytes, after->bytes, (before.bytes > after->bytes ? before : *after).step});
    std::map<std::string, MemoryChange, std::less<>> by_operator;
    const auto of = [&](const std::string& name) -> MemoryChange& {
      return by_operator.try_emplace(name, MemoryChange{device, name, 0, 0, {}}).first->second;
    };
    for (const auto& [name, bytes] : before.of_operators) of(name).baseline = bytes;
    for (const auto& [name, bytes] : after->of_operators) of(name).candidate = bytes;
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (auto& [name, change] : by_operator) out.push_back(std::move(change));
    std::ranges::stable_sort(out.begin() + first, out.end(), std::ranges::greater{},
                             [](const MemoryChange& change) { return std::abs(change.candidate - change.baseline); });
  }
  return out;
}

std::vector<TraceFinding> findings_of(Database& database, bool beside_ledger) {
  std::vector<TraceFinding> out;
  Statement rows(database, report_script("findings"));
  if (beside_ledger) rows.bind(1, std::int64_t{1});
  while (rows.step()) {
    out.push_back({std::string(rows.text(0)), rows.real(1), rows.int64(3) != 0, std::string(rows.text(4))});
  }
  return out;
}

}  // namespace tracedb
