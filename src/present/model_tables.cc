#include "present/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

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

Cell real_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Cell mean_count_cell(double count) {
  const double whole = std::nearbyint(count);
  const bool is_whole = std::abs(count - whole) < 1e-9 && std::abs(whole) < 1e15;
  return is_whole ? Cell(static_cast<std::int64_t>(whole)) : Cell(count);
}

Cell share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? Cell(100 * static_cast<double>(part) / static_cast<double>(whole)) : Cell();
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

struct OperatorColumn {
  const char* key;
  Words head;
  Unit unit;
  OthersAggregate others;
  int priority;  // Fit
  std::string_view meaning;
};

constexpr OperatorColumn kMeasures[] = {
    {"status",
     {"Status", "状态"},
     Unit::kText,
     OthersAggregate::kNone,
     6,
     "HIT, MISS, PARTIAL, MODEL_ONLY or PROFILE_ONLY"},
    {"model_time", {"Model", "模型耗时"}, Unit::kTime, OthersAggregate::kSum, 8, "time of the model"},
    {"profile_time", {"Profile", "实测耗时"}, Unit::kTime, OthersAggregate::kSum, 8, "time of the profile"},
    {"error_pct",
     {"Error (%)", "耗时误差 (%)"},
     Unit::kPercent,
     OthersAggregate::kNone,
     8,
     "model - profile, of the profile"},
    {"share_pct",
     {"Profile Share (%)", "实测占比 (%)"},
     Unit::kPercent,
     OthersAggregate::kSum,
     5,
     "share of the time of the profile"},
    {"model_count", {"Model Count", "模型次数"}, Unit::kCount, OthersAggregate::kSum, 3, "operators of the model"},
    {"profile_count", {"Profile Count", "实测次数"}, Unit::kCount, OthersAggregate::kSum, 3, "kernels of the profile"},
    {"count_error_pct",
     {"Count Error (%)", "次数误差 (%)"},
     Unit::kPercent,
     OthersAggregate::kNone,
     2,
     "difference of the counts, of the profile's"},
    {"hit_time",
     {"Hit", "命中耗时"},
     Unit::kTime,
     OthersAggregate::kSum,
     2,
     "model time of operators found among measurements"},
    {"miss_time", {"Miss", "未命中耗时"}, Unit::kTime, OthersAggregate::kSum, 2, "model time of the others"},
    {"hit_count",
     {"Hit Count", "命中次数"},
     Unit::kCount,
     OthersAggregate::kSum,
     1,
     "operators found among measurements"},
    {"miss_count", {"Miss Count", "未命中次数"}, Unit::kCount, OthersAggregate::kSum, 1, "operators not found"},
    {"estimated_time",
     {"Estimated", "均分耗时"},
     Unit::kTime,
     OthersAggregate::kSum,
     1,
     "time of composite operators that was divided in equal parts"},
    {"untimed_count",
     {"Untimed Count", "无耗时次数"},
     Unit::kCount,
     OthersAggregate::kSum,
     1,
     "operators without a time"},
    {"sources", {"Sources", "来源"}, Unit::kText, OthersAggregate::kNone, 2, "where the model has its times from"},
    {"functions", {"Operators", "算子"}, Unit::kText, OthersAggregate::kNone, 4, "operators of the model"},
};

std::vector<Column> operator_columns(ModelBy by, Language language) {
  std::vector<Column> columns;
  const bool by_source = by == ModelBy::kSource;
  columns.push_back({by_source ? "source" : "kernel_type",
                     in(language, by_source ? Words{"Source", "来源"} : Words{"Kernel Type", "算子类型"}),
                     Unit::kText,
                     OthersAggregate::kLabel,
                     {},
                     "what is compared: kernels of one type, or where the model has them from"});
  if (by == ModelBy::kShape) {
    columns.push_back({"shapes", in(language, {"Input Shapes", "输入形状"}), Unit::kText, OthersAggregate::kNone,
                       Fit{7}, "shapes of the inputs"});
  }
  for (const OperatorColumn& column : kMeasures) {
    columns.push_back(
        {column.key, in(language, column.head), column.unit, column.others, Fit{column.priority}, column.meaning});
  }
  return columns;
}

Row operator_row(const ModelRow& row, const ModelRow& total, ModelBy by, Language language, std::size_t functions) {
  Row out = {row.key.type};
  if (by == ModelBy::kShape) out.push_back(text_cell(row.key.shapes));
  const Row measures = {status_word(row.status, language),
                        row.model_ns,
                        row.profile_ns,
                        real_cell(row.error_percent),
                        share(row.profile_ns, total.profile_ns),
                        row.model_count,
                        mean_count_cell(row.profile_count),
                        real_cell(row.count_error_percent),
                        row.hit_ns,
                        row.miss_ns,
                        row.hits,
                        row.misses,
                        row.estimated_ns,
                        row.untimed,
                        text_cell(row.sources),
                        text_cell(function_list(row, functions))};
  out.insert(out.end(), measures.begin(), measures.end());
  return out;
}

// The last row: about all of them.
Row total_row(const ModelRow& total, ModelBy by, Language language) {
  ModelRow row = total;
  row.key = {"[total]", {}};
  row.sources.clear();
  row.functions.clear();
  Row out = operator_row(row, total, by, language, 0);
  out[by == ModelBy::kShape ? 2 : 1] = Cell();  // no status of all
  return out;
}

bool is_nothing(const Cell& cell) {
  return number(cell).value_or(0) == 0 && !std::holds_alternative<std::string>(cell);
}

// Columns that say nothing here.
void drop_zero_columns(Report& report, std::initializer_list<std::string_view> keys) {
  for (std::size_t c = report.columns.size(); c-- > 0;) {
    const bool listed = std::find(keys.begin(), keys.end(), report.columns[c].key) != keys.end();
    const auto says_nothing = [&](const Row& row) { return is_nothing(row[c]); };
    if (!listed || !std::all_of(report.rows.begin(), report.rows.end(), says_nothing)) continue;
    const auto drop = [&](auto& from) { from.erase(from.begin() + static_cast<std::ptrdiff_t>(c)); };
    drop(report.columns);
    for (Row& row : report.rows) drop(row);
    for (Row& row : report.footer) drop(row);
  }
}

// Of the durations that people compare in one column.
TimeUnit common_unit(const ModelComparison& comparison) {
  return fitting_unit(std::max({static_cast<double>(comparison.total.model_ns),
                                static_cast<double>(comparison.total.profile_ns), comparison.busy_ns}));
}

// One unit of time for all of them.
class Facts {
 public:
  Facts(Language language, TimeUnit unit) : language_(language), unit_(unit) {
    out_.columns = {{"item", in(language, {"Item", "项目"}), Unit::kText, OthersAggregate::kLabel},
                    {"value", in(language, {"Value", "值"}), Unit::kText, OthersAggregate::kNone, Fit::kWrapped}};
    out_.whole = true;
  }

  void add(const Words& item, std::string value) { out_.rows.push_back({in(language_, item), std::move(value)}); }
  void add_time(const Words& item, double ns, std::int64_t count, const Words& what) {
    if (count == 0 && ns == 0) return;
    add(item, fmt::format("{} ({} {})", time(ns), count, in(language_, what)));
  }
  void add_count(const Words& item, std::int64_t count) {
    if (count != 0) add(item, std::to_string(count));
  }
  [[nodiscard]] std::string time(double ns) const {
    return fact_text(static_cast<std::int64_t>(std::llround(ns)), Unit::kTime, unit_);
  }
  Report take() { return std::move(out_); }

 private:
  Language language_;
  TimeUnit unit_;
  Report out_;
};

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
  Report out;
  out.columns = operator_columns(by, Language::kEnglish);
  out.columns.insert(out.columns.begin(), {"scenario", "Scenario", Unit::kText, OthersAggregate::kNone, Fit{8},
                                           "name of the pair of files"});
  for (const ModelScenario& scenario : scenarios) {
    const ModelComparison& comparison = scenario.comparison;
    for (const ModelRow& row : comparison.rows) {
      Row cells = operator_row(row, comparison.total, by, Language::kEnglish, row.functions.size());
      cells.insert(cells.begin(), scenario.name);
      out.rows.push_back(std::move(cells));
    }
  }
  return out;
}

Report model_operators(const ModelScenario& scenario, ModelBy by, Language language) {
  Report out;
  out.columns = operator_columns(by, language);
  const ModelComparison& comparison = scenario.comparison;
  for (const ModelRow& row : comparison.rows) {
    out.rows.push_back(operator_row(row, comparison.total, by, language, kFunctionsShown));
  }
  out.footer.push_back(total_row(comparison.total, by, language));
  drop_zero_columns(out, {"estimated_time", "untimed_count", "sources", "functions", "shapes"});
  return out;
}

Report model_facts(const ModelScenario& scenario, Language language) {
  const ModelComparison& comparison = scenario.comparison;
  const ModelSide& model = scenario.model_side;
  const ProfileSide& profile = scenario.profile_side;
  Facts facts(language, common_unit(comparison));
  facts.add({"model", "模型"}, fmt::format("{}, {}", scenario.model, model.process));
  facts.add({"profile", "实测"}, scenario.profile);
  facts.add({"passes in the profile", "实测前向次数"}, fmt::format("{:g}", scenario.passes));
  facts.add_time({"model time", "模型总耗时"}, static_cast<double>(comparison.total.model_ns),
                 comparison.total.model_count, {"kernels", "个算子"});
  facts.add_time({"of it, found in measurements", "其中命中"}, static_cast<double>(comparison.total.hit_ns),
                 comparison.total.hits, {"kernels", "个算子"});
  if (comparison.total.estimated_ns != 0) {
    facts.add({"of it, in equal parts of an operator", "其中均分"},
              facts.time(static_cast<double>(comparison.total.estimated_ns)));
  }
  facts.add_time({"profile time per pass", "实测单次耗时"}, static_cast<double>(comparison.total.profile_ns),
                 profile.sum().count, {"kernels in all", "个算子（总计）"});
  facts.add({"busy per pass", "实测单次占用"}, facts.time(comparison.busy_ns));
  facts.add({"error", "误差"}, percent(comparison.total.error_percent));
  if (const auto errors = errors_percent(comparison)) {
    facts.add({"sum of the errors of all rows", "各行误差绝对值之和"}, fmt::format("{:.1f} %", *errors));
  }
  facts.add({"M6", "M6"}, comparison.m6 ? fmt::format("{:.3f}", *comparison.m6) : "-");
  facts.add_time({"left out: operators that cost nothing", "未计入：零开销算子"},
                 static_cast<double>(model.zero_cost_ns), model.zero_cost_events, {"events", "个事件"});
  facts.add_time({"left out: duplicates of collectives", "未计入：重复的通信算子"},
                 static_cast<double>(profile.duplicate_ns), profile.duplicates, {"kernels", "个算子"});
  facts.add_time({"left out: kernels of the AI CPU", "未计入：AICPU 算子"}, static_cast<double>(profile.aicpu_ns),
                 profile.aicpu, {"kernels", "个算子"});
  if (model.residual_ns != 0) {
    facts.add({"operators minus their kernels", "算子与子算子之差"},
              facts.time(static_cast<double>(model.residual_ns)));
  }
  facts.add_count({"collectives without a duration", "无耗时的通信算子"}, comparison.total.untimed);
  facts.add_count({"model events of 0 us", "耗时为 0 的模型事件"}, model.zero_duration_events);
  return facts.take();
}

Report model_summary(std::span<const ModelScenario> scenarios) {
  Report out;
  out.whole = true;
  out.columns = {
      {"scenario", "Scenario", Unit::kText, OthersAggregate::kLabel, {}, "name of the pair of files"},
      {"error", "Failure", Unit::kText, OthersAggregate::kNone, {}, "why it could not be compared"},
      {"model", "Model File", Unit::kText, OthersAggregate::kNone, {}, "file of the model"},
      {"profile", "Profile File", Unit::kText, OthersAggregate::kNone, {}, "file of the profile"},
      {"process", "Process", Unit::kText, OthersAggregate::kNone, {}, "process of the model that was compared"},
      {"passes", "Passes", Unit::kAny, OthersAggregate::kNone, {}, "passes of the model in the profile"},
      {"model_time", "Model", Unit::kTime, OthersAggregate::kNone, {}, "time of the model"},
      {"profile_time", "Profile", Unit::kTime, OthersAggregate::kNone, {}, "time of the profile"},
      {"error_pct", "Error (%)", Unit::kPercent, OthersAggregate::kNone, {}, "model - profile, of the profile"},
      {"errors_pct",
       "Errors (%)",
       Unit::kPercent,
       OthersAggregate::kNone,
       {},
       "sum of the errors of all rows, without sign"},
      {"m6",
       "M6",
       Unit::kRatio,
       OthersAggregate::kNone,
       {},
       "measured and interpolated time of the model per time of the profile"},
      {"busy_time",
       "Busy",
       Unit::kTime,
       OthersAggregate::kNone,
       {},
       "time per pass during which a kernel of the profile ran"},
      {"hit_time", "Hit", Unit::kTime, OthersAggregate::kNone, {}, "model time of operators found among measurements"},
      {"miss_time", "Miss", Unit::kTime, OthersAggregate::kNone, {}, "model time of the others"},
      {"estimated_time",
       "Estimated",
       Unit::kTime,
       OthersAggregate::kNone,
       {},
       "time of composite operators that was divided in equal parts"},
      {"residual_time",
       "Residual",
       Unit::kTime,
       OthersAggregate::kNone,
       {},
       "time of operators less that of their kernels, where both are given"},
      {"untimed_count", "Untimed Count", Unit::kCount, OthersAggregate::kNone, {}, "operators without a time"},
      {"model_events", "Model Events", Unit::kCount, OthersAggregate::kNone, {}, "events of the model"},
      {"zero_cost_events",
       "Zero-Cost Events",
       Unit::kCount,
       OthersAggregate::kNone,
       {},
       "operators that cost nothing by the mapping"},
      {"zero_cost_time", "Zero-Cost", Unit::kTime, OthersAggregate::kNone, {}, "their time"},
      {"zero_duration_events", "Zero-Duration Events", Unit::kCount, OthersAggregate::kNone, {}, "events of 0 ns"},
      {"profile_kernels", "Profile Kernels", Unit::kCount, OthersAggregate::kNone, {}, "kernels of the profile"},
      {"duplicate_kernels",
       "Duplicate Kernels",
       Unit::kCount,
       OthersAggregate::kNone,
       {},
       "kernels recorded twice, which count once"},
      {"duplicate_time", "Duplicate", Unit::kTime, OthersAggregate::kNone, {}, "their time"},
      {"aicpu_kernels",
       "AI CPU Kernels",
       Unit::kCount,
       OthersAggregate::kNone,
       {},
       "kernels of the AI CPU, which are left out"},
      {"aicpu_time", "AI CPU", Unit::kTime, OthersAggregate::kNone, {}, "their time"}};
  for (const ModelScenario& scenario : scenarios) {
    Row row = {scenario.name, text_cell(scenario.error), scenario.model, scenario.profile};
    if (scenario.error.empty()) {
      const ModelComparison& comparison = scenario.comparison;
      const ModelRow& total = comparison.total;
      const ModelSide& model = scenario.model_side;
      const ProfileSide& profile = scenario.profile_side;
      const Row figures = {model.process,
                           mean_count_cell(scenario.passes),
                           total.model_ns,
                           total.profile_ns,
                           real_cell(total.error_percent),
                           real_cell(errors_percent(comparison)),
                           real_cell(comparison.m6),
                           static_cast<std::int64_t>(std::llround(comparison.busy_ns)),
                           total.hit_ns,
                           total.miss_ns,
                           total.estimated_ns,
                           model.residual_ns,
                           total.untimed,
                           model.events,
                           model.zero_cost_events,
                           model.zero_cost_ns,
                           model.zero_duration_events,
                           profile.kernels,
                           profile.duplicates,
                           profile.duplicate_ns,
                           profile.aicpu,
                           profile.aicpu_ns};
      row.insert(row.end(), figures.begin(), figures.end());
    }
    row.resize(out.columns.size());
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace tracedb
