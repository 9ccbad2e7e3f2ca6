#include "present/compare_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tracedb {
namespace {

std::string mark_of(std::string_view verdict, double change) {
  if (verdict == "worse" || (verdict == "new" && change > 0)) return std::string(kWorseMark);
  if (verdict == "better" || (verdict == "gone" && change < 0)) return std::string(kBetterMark);
  return "";
}

std::string short_of(NameId name, const KernelNameTable& kernel_names) {
  const KernelNameEntry& entry = kernel_names.entries()[name];
  return entry.short_name.empty() ? entry.name : entry.short_name;
}

double per(std::int64_t sum, std::int64_t units) { return static_cast<double>(sum) / static_cast<double>(units); }

// Change of the time of the layers in which a fusion was found, on the side that fuses against the other.
double layer_saving(const GroupComparison& group, const Fusion& fusion) {
  double a = 0, b = 0;
  for (const LayerChange& layer : group.layers) {
    if (std::find(fusion.layers.begin(), fusion.layers.end(), layer.layer) == fusion.layers.end()) continue;
    a += per(layer.baseline.time, group.baseline_units);
    b += per(layer.candidate.time, group.candidate_units);
  }
  return fusion.by == FusedBy::kBaseline ? b - a : a - b;
}

}  // namespace

Cell count_cell(double sum, std::int64_t units, bool human_readable) {
  const double value = sum / static_cast<double>(units);
  const double whole = std::round(value);
  if (std::abs(value - whole) < 1e-9 && std::abs(whole) < 1e15) return static_cast<std::int64_t>(whole);
  return human_readable ? std::round(value * 1000) / 1000 : value;
}

Cell share_of(double part, double whole) { return whole != 0 ? Cell(100 * part / whole) : Cell{}; }

std::string marked(const std::string& verdict, double change) { return mark_of(verdict, change) + verdict; }

std::string verdict_text(const Change& change, bool human_readable) {
  const std::string verdict(to_string(change.verdict));
  if (!change.reason.empty()) return fmt::format("{}: {}", verdict, change.reason);
  const std::string text = human_readable ? marked(verdict, change.difference()) : verdict;
  return change.caveat.empty() || !human_readable ? text : fmt::format("{}: {}", text, change.caveat);
}

std::unordered_map<std::string_view, std::string_view> short_names(const KernelNameTable& kernel_names) {
  std::unordered_map<std::string_view, std::string_view> names;
  for (const KernelNameEntry& entry : kernel_names.entries()) {
    names.emplace(entry.name, entry.short_name.empty() ? entry.name : entry.short_name);
  }
  return names;
}

void drop_empty_columns(Report& report, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    const auto column =
        std::find_if(report.columns.begin(), report.columns.end(), [&](const Column& c) { return c.key == key; });
    const auto place = column - report.columns.begin();
    const auto is_empty = [&](const Row& row) {
      const Cell& cell = row[static_cast<std::size_t>(place)];
      const auto* text = std::get_if<std::string>(&cell);
      return std::holds_alternative<std::monostate>(cell) || (text != nullptr && text->empty());
    };
    const bool all_empty = std::all_of(report.rows.begin(), report.rows.end(), is_empty) &&
                           std::all_of(report.footer.begin(), report.footer.end(), is_empty);
    if (!all_empty) continue;
    report.columns.erase(column);
    for (Row& row : report.rows) row.erase(row.begin() + place);
    for (Row& row : report.footer) row.erase(row.begin() + place);
  }
}

void drop_inconclusive_columns(Report& report) {
  std::vector<std::string> suffixes;  // of the candidates, where there are several
  for (const Column& column : report.columns) {
    if (column.key.starts_with("verdict")) suffixes.push_back(column.key.substr(std::string_view("verdict").size()));
  }
  for (const std::string& suffix : suffixes) {
    const std::string verdict = "verdict" + suffix, low = "low" + suffix, high = "high" + suffix;
    const auto place = [&](const std::string& key) {
      const auto found =
          std::find_if(report.columns.begin(), report.columns.end(), [&](const Column& c) { return c.key == key; });
      return static_cast<std::size_t>(found - report.columns.begin());
    };
    const auto says = [&](const Row& row) {
      const auto* text = std::get_if<std::string>(&row[place(verdict)]);
      return text != nullptr && *text != "inconclusive" && !text->ends_with("new") && !text->ends_with("gone");
    };
    if (place(low) == report.columns.size() || std::any_of(report.rows.begin(), report.rows.end(), says)) continue;
    for (Row& row : report.rows) {
      const auto* text = std::get_if<std::string>(&row[place(verdict)]);
      if (text != nullptr && *text == "inconclusive") row[place(verdict)] = Cell{};
      row[place(low)] = row[place(high)] = Cell{};
    }
    drop_empty_columns(report, {verdict, low, high});
  }
}

std::vector<Column> change_row_columns() {
  return {{"phase", "Phase", Unit::kText, OthersAggregate::kLabel},
          {"metric", "Metric", Unit::kText},
          {"baseline_steps", "n", Unit::kCount},
          {"candidate_steps", "n'", Unit::kCount},
          {"baseline", "Baseline Med", Unit::kTime, OthersAggregate::kNone, Fit::kKept},
          {"candidate", "Candidate Med", Unit::kTime, OthersAggregate::kNone, Fit::kKept},
          {"change", "Change", Unit::kTime, OthersAggregate::kNone, Fit::kKept},
          {"ratio", "Ratio (<1 better)", Unit::kRatio},
          {"low", "95 % from", Unit::kTime},
          {"high", "to", Unit::kTime},
          {"verdict", "Verdict", Unit::kText, OthersAggregate::kNone, Fit::kWrapped}};
}

Row change_row(const std::string& phase, const std::string& measure, const Change& change, bool human_readable) {
  const std::string verdict(to_string(change.verdict));
  const double a = change.baseline.median;
  const double b = change.candidate.median;
  return {phase,
          measure,
          static_cast<std::int64_t>(change.baseline_steps),
          static_cast<std::int64_t>(change.candidate_steps),
          a,
          b,
          b - a,
          a > 0 && b > 0 ? Cell(b / a) : Cell{},
          change.interval.low,
          change.interval.high,
          human_readable ? marked(verdict, b - a) : verdict};
}

std::vector<NamedSums> sums_by_name(const GroupComparison& group, const KernelNameTable& kernel_names) {
  std::map<NameId, NamedSums> sums;
  const auto add = [&](const WorkCell& cell) -> NamedSums& {
    NamedSums& own = sums[cell.name];
    own.name = cell.name;
    return own;
  };
  for (const WorkCell& cell : group.baseline.cells) add(cell).baseline.add(cell.sum);
  for (const WorkCell& cell : group.candidate.cells) add(cell).candidate.add(cell.sum);
  std::vector<NamedSums> out;
  for (const auto& [name, own] : sums) out.push_back(own);
  std::sort(out.begin(), out.end(), [&](const NamedSums& x, const NamedSums& y) {
    const auto rank = [&](const NamedSums& s) {
      const double time = per(s.baseline.time, group.baseline_units) + per(s.candidate.time, group.candidate_units);
      return std::pair(-time, std::string_view(kernel_names.entries()[s.name].name));
    };
    return rank(x) < rank(y);
  });
  return out;
}

Row pair_row(const SectionInput& input, const GroupComparison& group, const AlignedSegment& segment,
             const KernelPair& pair, std::int64_t place) {
  const KernelNameTable& words = input.kernel_names;
  const auto op = [&](const PairSide& side) {
    return side.n > 0 ? Cell(words.op_name(words.op_of(side.name))) : Cell{};
  };
  const auto kernel = [&](const PairSide& side) {
    if (side.n == 0) return Cell{};
    return Cell(input.human_readable ? short_of(side.name, words) : words.entries()[side.name].name);
  };
  const double a = per(pair.baseline.time, group.baseline_units);
  const double b = per(pair.candidate.time, group.candidate_units);
  const bool same = pair.has_both() && pair.baseline.name == pair.candidate.name;
  const bool ends_work = pair.companion_of != kNoPartner;
  const std::string status = same                  ? "same kernel"
                             : pair.has_both()     ? "other kernel"
                             : pair.fused          ? "fused"
                             : ends_work           ? fmt::format("companion of {}", pair.companion_of)
                             : pair.baseline.n > 0 ? "only baseline"
                                                   : "only candidate";
  const auto share = [](std::int64_t following, std::int64_t all) {
    return all > 0 ? 100.0 * static_cast<double>(following) / static_cast<double>(all) : 100.0;
  };
  const double support = std::min(share(segment.baseline_following, segment.baseline_instances),
                                  share(segment.candidate_following, segment.candidate_instances));
  return {group.group.label,
          layers_label(segment.layers, input.baseline.layers.stacks),
          place,
          b - a,
          a,
          b,
          status,
          count_cell(static_cast<double>(pair.baseline.n), group.baseline_units, input.human_readable),
          count_cell(static_cast<double>(pair.candidate.n), group.candidate_units, input.human_readable),
          support,
          op(pair.baseline),
          op(pair.candidate),
          kernel(pair.baseline),
          kernel(pair.candidate)};
}

Row fusion_row(const SectionInput& input, const GroupComparison& group, const Fusion& fusion) {
  const KernelNameTable& words = input.kernel_names;
  const bool baseline = fusion.by == FusedBy::kBaseline;
  const std::int64_t fused_units = baseline ? group.baseline_units : group.candidate_units;
  const std::int64_t parts_units = baseline ? group.candidate_units : group.baseline_units;
  double parts_n = 0, parts_time = 0;
  std::vector<std::string> names, ids;
  for (const FusionKernel& part : fusion.parts) {
    parts_n += static_cast<double>(part.n);
    parts_time += per(part.time, parts_units);
    names.push_back(input.human_readable ? short_of(part.name, words) : words.entries()[part.name].name);
    ids.push_back(std::to_string(part.example + 1));
  }
  const double fused_time = per(fusion.fused.time, fused_units);
  return {group.group.label,
          std::string(baseline ? "baseline" : "candidate"),
          layers_label(fusion.layers, input.baseline.layers.stacks),
          parts_time - fused_time,
          count_cell(static_cast<double>(fusion.fused.n), fused_units, input.human_readable),
          count_cell(parts_n, parts_units, input.human_readable),
          fused_time,
          parts_time,
          layer_saving(group, fusion),
          100 * fusion.support,
          100 * fusion.confidence,
          std::string(fusion.implied   ? "implied"
                      : fusion.partial ? "partial"
                                       : "whole"),
          words.op_name(words.op_of(fusion.fused.name)),
          input.human_readable ? short_of(fusion.fused.name, words) : words.entries()[fusion.fused.name].name,
          fmt::format("{}", fmt::join(names, " + ")),
          static_cast<std::int64_t>(fusion.fused.example) + 1,
          fmt::format("{}", fmt::join(ids, " "))};
}

}  // namespace tracedb
