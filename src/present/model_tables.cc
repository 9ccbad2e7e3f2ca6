#include "present/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "present/cells.h"
#include "report/cell_text.h"

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

struct OperatorLine {
  const ModelRow& row;
  const ModelRow& total;
  Language language;
  std::size_t functions;  // that are named
  bool is_total = false;  // the last row, which has no status
};

// Columns of a kind, under a head in both languages; their priority is that of a Fit.
Fields<OperatorLine> operator_fields(ModelBy by, Language language) {
  using Line = OperatorLine;
  const auto text = [&](Text key, const Words& head, Fit fit, Text meaning) {
    return text_column(key, in(language, head), meaning, fit);
  };
  const auto figure = [&](Text key, const Words& head, Unit unit, int priority, Text meaning) {
    return figure_column(key, in(language, head), unit, meaning, Fit{priority});
  };
  const auto sum = [&](Text key, const Words& head, Unit unit, int priority, Text meaning) {
    return sum_column(key, in(language, head), unit, meaning, Fit{priority});
  };
  const bool by_source = by == ModelBy::kSource;
  Fields<Line> fields = {
      {label_column(by_source ? "source" : "kernel_type",
                    in(language, by_source ? Words{"Source", "来源"} : Words{"Kernel Type", "算子类型"}),
                    "what is compared: kernels of one type, or where the model has them from"),
       [](const Line& line) { return line.row.key.type; }}};
  if (by == ModelBy::kShape) {
    fields.push_back({text("shapes", {"Input Shapes", "输入形状"}, Fit{7}, "shapes of the inputs"),
                      [](const Line& line) { return text_cell(line.row.key.shapes); }});
  }
  const Fields<Line> measures = {
      {text("status", {"Status", "状态"}, Fit{6}, "HIT, MISS, PARTIAL, MODEL_ONLY or PROFILE_ONLY"),
       [](const Line& line) { return line.is_total ? Cell() : status_word(line.row.status, line.language); }},
      {sum("model_time", {"Model", "模型耗时"}, Unit::kTime, 8, "time of the model"),
       [](const Line& line) { return line.row.model_ns; }},
      {sum("profile_time", {"Profile", "实测耗时"}, Unit::kTime, 8, "time of the profile"),
       [](const Line& line) { return line.row.profile_ns; }},
      {figure("error_pct", {"Error (%)", "耗时误差 (%)"}, Unit::kPercent, 8, "model - profile, of the profile"),
       [](const Line& line) { return known_cell(line.row.error_percent); }},
      {sum("share_pct", {"Profile Share (%)", "实测占比 (%)"}, Unit::kPercent, 5, "share of the time of the profile"),
       [](const Line& line) { return share_of(line.row.profile_ns, line.total.profile_ns); }},
      {sum("model_count", {"Model Count", "模型次数"}, Unit::kCount, 3, "operators of the model"),
       [](const Line& line) { return line.row.model_count; }},
      {sum("profile_count", {"Profile Count", "实测次数"}, Unit::kCount, 3, "kernels of the profile"),
       [](const Line& line) { return count_cell(line.row.profile_count, 1, false); }},
      {figure("count_error_pct", {"Count Error (%)", "次数误差 (%)"}, Unit::kPercent, 2,
              "difference of the counts, of the profile's"),
       [](const Line& line) { return known_cell(line.row.count_error_percent); }},
      {sum("hit_time", {"Hit", "命中耗时"}, Unit::kTime, 2, "model time of operators found among measurements"),
       [](const Line& line) { return line.row.hit_ns; }},
      {sum("miss_time", {"Miss", "未命中耗时"}, Unit::kTime, 2, "model time of the others"),
       [](const Line& line) { return line.row.miss_ns; }},
      {sum("hit_count", {"Hit Count", "命中次数"}, Unit::kCount, 1, "operators found among measurements"),
       [](const Line& line) { return line.row.hits; }},
      {sum("miss_count", {"Miss Count", "未命中次数"}, Unit::kCount, 1, "operators not found"),
       [](const Line& line) { return line.row.misses; }},
      {sum("estimated_time", {"Estimated", "均分耗时"}, Unit::kTime, 1,
           "time of composite operators that was divided in equal parts"),
       [](const Line& line) { return line.row.estimated_ns; }},
      {sum("untimed_count", {"Untimed Count", "无耗时次数"}, Unit::kCount, 1, "operators without a time"),
       [](const Line& line) { return line.row.untimed; }},
      {text("sources", {"Sources", "来源"}, Fit{2}, "where the model has its times from"),
       [](const Line& line) { return text_cell(line.row.sources); }},
      {text("functions", {"Operators", "算子"}, Fit{4}, "operators of the model"),
       [](const Line& line) { return text_cell(function_list(line.row, line.functions)); }},
  };
  fields.insert(fields.end(), measures.begin(), measures.end());
  return fields;
}

// Of the durations that people compare in one column.
TimeUnit common_unit(const ModelComparison& comparison) {
  return fitting_unit(std::max({static_cast<double>(comparison.total.model_ns),
                                static_cast<double>(comparison.total.profile_ns), comparison.busy_ns}));
}

// Sum of the errors of all rows, of either sign, which cancel each other in that of the total.
std::optional<double> errors_percent(const ModelComparison& comparison) {
  double off = 0;
  for (const ModelRow& row : comparison.rows) off += static_cast<double>(std::abs(row.model_ns - row.profile_ns));
  const auto whole = static_cast<double>(comparison.total.profile_ns);
  return whole > 0 ? std::optional(100 * off / whole) : std::nullopt;
}

std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:+.1f} %", *value) : "-"; }

// Of a scenario; figures only where it was compared.
using S = const ModelScenario&;
Field<ModelScenario> fact(Text key, Text head, Unit unit, Text meaning, std::function<Cell(S)> cell) {
  return {figure_column(key, head, unit, meaning),
          [cell = std::move(cell)](S s) { return s.error.empty() ? cell(s) : Cell(); }};
}
const Fields<ModelScenario> kScenarioFields = {
    {label_column("scenario", "Scenario", "name of the pair of files"), &ModelScenario::name},
    {text_column("error", "Failure", "why it could not be compared"), [](S s) { return text_cell(s.error); }},
    {text_column("model", "Model File", "file of the model"), &ModelScenario::model},
    {text_column("profile", "Profile File", "file of the profile"), &ModelScenario::profile},
    fact("process", "Process", Unit::kText, "process of the model that was compared",
         [](S s) { return s.model_side.process; }),
    fact("passes", "Passes", Unit::kAny, "passes of the model in the profile",
         [](S s) { return count_cell(s.passes, 1, false); }),
    fact("passes_from", "Passes From", Unit::kText, "given or assumed",
         [](S s) { return s.passes_assumed ? "assumed" : "given"; }),
    fact("model_time", "Model", Unit::kTime, "time of the model", [](S s) { return s.comparison.total.model_ns; }),
    fact("profile_time", "Profile", Unit::kTime, "time of the profile",
         [](S s) { return s.comparison.total.profile_ns; }),
    fact("error_pct", "Error (%)", Unit::kPercent, "model - profile, of the profile",
         [](S s) { return known_cell(s.comparison.total.error_percent); }),
    fact("errors_pct", "Errors (%)", Unit::kPercent, "sum of the errors of all rows, without sign",
         [](S s) { return known_cell(errors_percent(s.comparison)); }),
    fact("m6", "M6", Unit::kRatio, "measured and interpolated time of the model per time of the profile",
         [](S s) { return known_cell(s.comparison.m6); }),
    fact("busy_time", "Busy", Unit::kTime, "time per pass during which a kernel of the profile ran",
         [](S s) { return time_cell(s.comparison.busy_ns); }),
    fact("hit_time", "Hit", Unit::kTime, "model time of operators found among measurements",
         [](S s) { return s.comparison.total.hit_ns; }),
    fact("miss_time", "Miss", Unit::kTime, "model time of the others", [](S s) { return s.comparison.total.miss_ns; }),
    fact("estimated_time", "Estimated", Unit::kTime, "time of composite operators that was divided in equal parts",
         [](S s) { return s.comparison.total.estimated_ns; }),
    fact("residual_time", "Residual", Unit::kTime, "time of operators less that of their kernels, where both are given",
         [](S s) { return s.model_side.residual_ns; }),
    fact("untimed_count", "Untimed Count", Unit::kCount, "operators without a time",
         [](S s) { return s.comparison.total.untimed; }),
    fact("model_events", "Model Events", Unit::kCount, "events of the model", [](S s) { return s.model_side.events; }),
    fact("zero_cost_events", "Zero-Cost Events", Unit::kCount, "operators that cost nothing by the mapping",
         [](S s) { return s.model_side.zero_cost_events; }),
    fact("zero_cost_time", "Zero-Cost", Unit::kTime, "their time", [](S s) { return s.model_side.zero_cost_ns; }),
    fact("zero_duration_events", "Zero-Duration Events", Unit::kCount, "events of 0 ns",
         [](S s) { return s.model_side.zero_duration_events; }),
    fact("profile_kernels", "Profile Kernels", Unit::kCount, "kernels of the profile",
         [](S s) { return s.profile_side.kernels; }),
    fact("duplicate_kernels", "Duplicate Kernels", Unit::kCount, "kernels recorded twice, which count once",
         [](S s) { return s.profile_side.duplicates; }),
    fact("duplicate_time", "Duplicate", Unit::kTime, "their time", [](S s) { return s.profile_side.duplicate_ns; }),
    fact("aicpu_kernels", "AI CPU Kernels", Unit::kCount, "kernels of the AI CPU, which are left out",
         [](S s) { return s.profile_side.aicpu; }),
    fact("aicpu_time", "AI CPU", Unit::kTime, "their time", [](S s) { return s.profile_side.aicpu_ns; }),
};

}  // namespace

Report model_operators(std::span<const ModelScenario> scenarios, ModelBy by) {
  const Fields<OperatorLine> fields = operator_fields(by, Language::kEnglish);
  Report out{columns_of(fields), {}};
  out.columns.insert(out.columns.begin(), text_column("scenario", "Scenario", "name of the pair of files", Fit{8}));
  for (const ModelScenario& scenario : scenarios) {
    const ModelComparison& comparison = scenario.comparison;
    for (const ModelRow& row : comparison.rows) {
      Row cells = row_of(fields, {row, comparison.total, Language::kEnglish, row.functions.size()});
      cells.insert(cells.begin(), scenario.name);
      out.rows.push_back(std::move(cells));
    }
  }
  return out;
}

Report model_operators(const ModelScenario& scenario, ModelBy by, Language language) {
  const Fields<OperatorLine> fields = operator_fields(by, language);
  Report out{columns_of(fields), {}};
  ModelRow total = scenario.comparison.total;
  for (const ModelRow& row : scenario.comparison.rows) {
    out.rows.push_back(row_of(fields, {row, total, language, kFunctionsShown}));
  }
  total.key = {"[total]", {}};
  total.sources.clear();
  total.functions.clear();
  out.footer.push_back(row_of(fields, {total, total, language, 0, true}));
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
  add_time({"of it, found in measurements", "其中命中"}, total.hit_ns, total.hits, {"kernels", "个算子"});
  if (total.estimated_ns != 0) add({"of it, in equal parts of an operator", "其中均分"}, time(total.estimated_ns));
  add_time({"profile time per pass", "实测单次耗时"}, total.profile_ns,
           profile.kernels - profile.duplicates - profile.aicpu, {"kernels in all", "个算子（总计）"});
  add({"busy per pass", "实测单次占用"}, time(std::llround(comparison.busy_ns)));
  add({"error", "误差"}, percent(total.error_percent));
  if (const auto errors = errors_percent(comparison)) {
    add({"sum of the errors of all rows", "各行误差绝对值之和"}, fmt::format("{:.1f} %", *errors));
  }
  add({"M6", "M6"}, comparison.m6 ? fmt::format("{:.3f}", *comparison.m6) : "-");
  add_time({"left out: operators that cost nothing", "未计入：零开销算子"}, model.zero_cost_ns, model.zero_cost_events,
           {"events", "个事件"});
  add_time({"left out: duplicates of collectives", "未计入：重复的通信算子"}, profile.duplicate_ns, profile.duplicates,
           {"kernels", "个算子"});
  add_time({"left out: kernels of the AI CPU", "未计入：AICPU 算子"}, profile.aicpu_ns, profile.aicpu,
           {"kernels", "个算子"});
  if (model.residual_ns != 0) add({"operators minus their kernels", "算子与子算子之差"}, time(model.residual_ns));
  add_count({"collectives without a duration", "无耗时的通信算子"}, total.untimed);
  add_count({"model events of 0 us", "耗时为 0 的模型事件"}, model.zero_duration_events);
  return out;
}

Report model_summary(std::span<const ModelScenario> scenarios) {
  Report out{columns_of(kScenarioFields), {}};
  out.whole = true;
  for (const ModelScenario& scenario : scenarios) out.rows.push_back(row_of(kScenarioFields, scenario));
  return out;
}

}  // namespace tracedb
