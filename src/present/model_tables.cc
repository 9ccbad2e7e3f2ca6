#include "present/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "present/cells.h"

namespace tracedb {
namespace {

constexpr std::size_t kFunctionsShown = 3;

struct Words {
  const char* english;
  const char* chinese;
};

std::string in(Language language, const Words& words) {
  return language == Language::kChinese ? words.chinese : words.english;
}

std::string function_list(const ModelRow& row, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, row.functions.size()); ++i) {
    out += (i == 0 ? "" : ", ") + row.functions[i];
  }
  if (row.functions.size() > most) out += fmt::format(" (+{})", row.functions.size() - most);
  return out;
}

std::string status_word(ModelStatus status, Language language) {
  constexpr Words kWords[] = {{"HIT", "命中"},
                              {"MISS", "未命中"},
                              {"PARTIAL", "部分命中"},
                              {"MODEL_ONLY", "仅模型"},
                              {"PROFILE_ONLY", "未建模"}};
  return in(language, kWords[static_cast<std::size_t>(status)]);
}

constexpr std::pair<std::string_view, std::string_view> kChineseHeads[] = {{"kernel_type", "算子类型"},
                                                                           {"source", "来源"},
                                                                           {"shapes", "输入形状"},
                                                                           {"status", "状态"},
                                                                           {"model_time", "模型耗时"},
                                                                           {"profile_time", "实测耗时"},
                                                                           {"error_pct", "耗时误差 (%)"},
                                                                           {"share_pct", "实测占比 (%)"},
                                                                           {"model_count", "模型次数"},
                                                                           {"profile_count", "实测次数"},
                                                                           {"count_error_pct", "次数误差 (%)"},
                                                                           {"hit_time", "命中耗时"},
                                                                           {"miss_time", "未命中耗时"},
                                                                           {"hit_count", "命中次数"},
                                                                           {"miss_count", "未命中次数"},
                                                                           {"estimated_time", "均分耗时"},
                                                                           {"untimed_count", "无耗时次数"},
                                                                           {"sources", "来源"},
                                                                           {"functions", "算子"}};

// Without the columns that rows by this have not.
Report operator_table(ModelBy by, Language language) {
  Report out{declared_columns("model_operators"), {}};
  std::erase_if(out.columns, [&](const Column& column) {
    return column.key == (by == ModelBy::kSource ? "kernel_type" : "source") ||
           (column.key == "shapes" && by != ModelBy::kShape);
  });
  for (const auto& [key, head] : kChineseHeads) {
    const auto column = find_column(out.columns, key);
    if (column && language == Language::kChinese) out.columns[*column].head = head;
  }
  return out;
}

// `status`: "" in the last row of all; `functions`: so many are named.
Cells operator_cells(const ModelScenario& scenario, const ModelRow& row, const std::string& status,
                     std::size_t functions) {
  return {{"scenario", scenario.name},
          {"kernel_type", row.key.type},
          {"source", row.key.type},
          {"shapes", text_cell(row.key.shapes)},
          {"status", text_cell(status)},
          {"model_time", row.model_ns},
          {"profile_time", row.profile_ns},
          {"error_pct", known_cell(row.error_percent)},
          {"share_pct", share_of(row.profile_ns, scenario.comparison.total.profile_ns)},
          {"model_count", row.model_count},
          {"profile_count", count_cell(row.profile_count, 1, false)},
          {"count_error_pct", known_cell(row.count_error_percent)},
          {"hit_time", row.hit_ns},
          {"miss_time", row.miss_ns},
          {"hit_count", row.hits},
          {"miss_count", row.misses},
          {"estimated_time", row.estimated_ns},
          {"untimed_count", row.untimed},
          {"sources", text_cell(row.sources)},
          {"functions", text_cell(function_list(row, functions))}};
}

// Of the durations that people compare in one column.
TimeUnit common_unit(const ModelComparison& comparison) {
  return fitting_unit(std::max({static_cast<double>(comparison.total.model_ns),
                                static_cast<double>(comparison.total.profile_ns), comparison.busy_ns.value_or(0)}));
}

// Sum of the errors of all rows, of either sign, which cancel each other in that of the total.
std::optional<double> errors_percent(const ModelComparison& comparison) {
  double off = 0;
  for (const ModelRow& row : comparison.rows) off += static_cast<double>(std::abs(row.model_ns - row.profile_ns));
  const auto whole = static_cast<double>(comparison.total.profile_ns);
  return whole > 0 ? std::optional(100 * off / whole) : std::nullopt;
}

std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:+.1f} %", *value) : "-"; }

}  // namespace

Report model_operators(std::span<const ModelScenario> scenarios, ModelBy by) {
  Report out = operator_table(by, Language::kEnglish);
  for (const ModelScenario& scenario : scenarios) {
    for (const ModelRow& row : scenario.comparison.rows) {
      add_row(out, operator_cells(scenario, row, status_word(row.status, Language::kEnglish), row.functions.size()));
    }
  }
  return out;
}

Report model_operators(const ModelScenario& scenario, ModelBy by, Language language) {
  Report out = operator_table(by, language);
  out.columns.erase(out.columns.begin());  // the scenario
  for (const ModelRow& row : scenario.comparison.rows) {
    add_row(out, operator_cells(scenario, row, status_word(row.status, language), kFunctionsShown));
  }
  ModelRow total = scenario.comparison.total;
  total.key = {"[total]", {}};
  total.sources.clear();
  total.functions.clear();
  out.footer.push_back(row_of(out.columns, operator_cells(scenario, total, "", 0)));
  // Columns that say nothing here.
  constexpr std::string_view kMayBeEmpty[] = {"estimated_time", "untimed_count", "sources", "functions", "shapes"};
  drop_columns(
      out, [&](std::string_view key) { return std::ranges::find(kMayBeEmpty, key) != std::end(kMayBeEmpty); },
      [](const Cell& cell) { return number(cell).value_or(0) == 0 && !std::holds_alternative<std::string>(cell); });
  return out;
}

Report model_facts(const ModelScenario& scenario, Language language) {
  const ModelComparison& comparison = scenario.comparison;
  const ModelRow& total = comparison.total;
  const ModelSide& model = scenario.model_side;
  const ProfileSide& profile = scenario.profile_side;
  Report out{{{"item", in(language, {"Item", "项目"}), Unit::kText, OthersAggregate::kLabel},
              {"value", in(language, {"Value", "值"}), Unit::kText, OthersAggregate::kNone, Fit::kWrapped}},
             {}};
  out.whole = true;
  const auto add = [&](const Words& item, std::string value) {
    out.rows.push_back({in(language, item), std::move(value)});
  };
  const auto time = [unit = common_unit(comparison)](std::int64_t ns) { return fact_text(ns, Unit::kTime, unit); };
  const auto add_time = [&](const Words& item, std::int64_t ns, std::int64_t count, const Words& what) {
    if (count != 0 || ns != 0) add(item, fmt::format("{} ({} {})", time(ns), count, in(language, what)));
  };
  const auto add_count = [&](const Words& item, std::int64_t count) {
    if (count != 0) add(item, std::to_string(count));
  };
  add({"model", "模型"}, fmt::format("{}, {}", scenario.model, model.process));
  add({"profile", "实测"}, scenario.profile);
  add({"passes in the profile", "实测前向次数"},
      fmt::format("{:g}{}", scenario.passes,
                  scenario.passes_assumed ? in(language, {" (assumed; --passes N)", "（假定；--passes N）"}) : ""));
  add_time({"model time", "模型总耗时"}, total.model_ns, total.model_count, {"kernels", "个算子"});
  add_time({"of it, with kernels named (HIT)", "其中命中"}, total.hit_ns, total.hits, {"kernels", "个算子"});
  if (total.estimated_ns != 0) add({"of it, in equal parts of an operator", "其中均分"}, time(total.estimated_ns));
  add_time({"profile time per pass", "实测单次耗时"}, total.profile_ns,
           profile.kernels - profile.duplicates - profile.aicpu, {"kernels in all", "个算子（总计）"});
  add({"busy per pass", "实测单次占用"}, comparison.busy_ns ? time(std::llround(*comparison.busy_ns)) : "-");
  add({"error", "误差"}, percent(total.error_percent));
  if (const auto errors = errors_percent(comparison)) {
    add({"sum of the errors of all rows", "各行误差绝对值之和"}, fmt::format("{:.1f} %", *errors));
  }
  add({"M6", "M6"}, comparison.m6 ? fmt::format("{:.3f}", *comparison.m6) : "-");
  add_time({"left out: operators that cost nothing", "未计入：零开销算子"}, model.zero_cost_ns, model.zero_cost_events,
           {"events", "个事件"});
  add_time({"left out: duplicates of collectives", "未计入：重复的通信算子"}, profile.duplicate_ns, profile.duplicates,
           {"kernels", "个算子"});
  add_time({"left out: kernels *AicpuKernel", "未计入：AICPU 算子"}, profile.aicpu_ns, profile.aicpu,
           {"kernels", "个算子"});
  if (model.residual_ns != 0) add({"operators minus their kernels", "算子与子算子之差"}, time(model.residual_ns));
  add_count({"collectives without a duration", "无耗时的通信算子"}, total.untimed);
  add_count({"model events of 0 us", "耗时为 0 的模型事件"}, model.zero_duration_events);
  return out;
}

Report model_summary(std::span<const ModelScenario> scenarios) {
  Report out{declared_columns("model_summary"), {}, {}, true};
  for (const ModelScenario& scenario : scenarios) {
    const ModelComparison& comparison = scenario.comparison;
    const ModelRow& total = comparison.total;
    const ModelSide& model = scenario.model_side;
    const ProfileSide& profile = scenario.profile_side;
    Cells cells = {{"process", model.process},
                   {"passes", count_cell(scenario.passes, 1, false)},
                   {"passes_from", scenario.passes_assumed ? "assumed" : "given"},
                   {"model_time", total.model_ns},
                   {"profile_time", total.profile_ns},
                   {"error_pct", known_cell(total.error_percent)},
                   {"errors_pct", known_cell(errors_percent(comparison))},
                   {"m6", known_cell(comparison.m6)},
                   {"busy_time", comparison.busy_ns ? time_cell(*comparison.busy_ns) : Cell()},
                   {"hit_time", total.hit_ns},
                   {"miss_time", total.miss_ns},
                   {"estimated_time", total.estimated_ns},
                   {"residual_time", model.residual_ns},
                   {"untimed_count", total.untimed},
                   {"model_events", model.events},
                   {"zero_cost_events", model.zero_cost_events},
                   {"zero_cost_time", model.zero_cost_ns},
                   {"zero_duration_events", model.zero_duration_events},
                   {"profile_kernels", profile.kernels},
                   {"duplicate_kernels", profile.duplicates},
                   {"duplicate_time", profile.duplicate_ns},
                   {"aicpu_kernels", profile.aicpu},
                   {"aicpu_time", profile.aicpu_ns}};
    for (auto& [key, cell] : cells) {
      if (!scenario.error.empty()) cell = Cell{};
    }
    cells.merge(Cells{{"scenario", scenario.name},
                      {"error", text_cell(scenario.error)},
                      {"model", scenario.model},
                      {"profile", scenario.profile}});
    add_row(out, std::move(cells));
  }
  return out;
}

}  // namespace tracedb
