#include "ascend/msmodeling/op_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "ascend/msmodeling/comparison_row.h"
#include "ascend/msmodeling/model_totals.h"
#include "ascend/msmodeling/profile_totals.h"
#include "ascend/op_mapping.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/python/json.h"

namespace tracedb::msmodeling {
namespace {

using python::integer;
using python::text;
using python::Value;

constexpr std::size_t kWidth = 115;
constexpr std::size_t kRowsShown = 15;

struct Scenario {
  const char* name;
  const char* m6;
  const char* model;
  const char* profile;  // below --trace-dir
};

constexpr Scenario kScenarios[] = {
    {"Qwen3 PF", "results/qwen3_prefill_m6.json", "results/qwen3_pf_trace.json", "qwen3-32b_pf_4112tok.csv"},
    {"Qwen3 DC", "results/qwen3_decode_m6.json", "results/qwen3_dc_trace.json", "qwen3-32b_dc_16tok.csv"},
    {"DSv3 PF", "results/dsv3_prefill_m6.json", "results/dsv3_pf_trace.json", "dsv3_pf_4099tok.csv"},
    {"DSv3 DC", "results/dsv3_decode_m6.json", "results/dsv3_dc_trace.json", "dsv3_dc_1tok.csv"},
};

struct Compared {
  std::string name;
  std::vector<ComparisonRow> rows;
};

bool is_missing(const std::string& path) {
  std::error_code error;
  return std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found;
}

OpMapping load_mapping(const std::string& data_dir) {
  const std::string path = std::filesystem::path(data_dir) / "op_mapping.yaml";
  if (is_missing(path)) return {};
  return OpMapping::parse(read_small_file(path), printable_path(path), OpMapping::kTop);
}

double passes_of(const std::string& path) {
  const Value m6 = python::read_json_file(path);
  const Value* passes = m6.find("n_forward_passes");
  if (m6.kind == python::Kind::kDict && passes == nullptr) return 1;
  constexpr double kLeast = 1e-9;  // less makes numbers infinite
  if (passes != nullptr && passes->is_number() && (passes->number <= 0 || passes->number >= kLeast)) {
    return passes->number;
  }
  throw Error(ErrorCode::kInput, fmt::format("{}: no object whose n_forward_passes is a number", printable_path(path)));
}

// Where a file is missing, its name; else fills the rows. What comes before a missing file is read and may fail.
std::optional<std::string> compare_scenario(const Scenario& scenario, const Options& options, const OpMapping& mapping,
                                            std::ostream& warnings, std::vector<ComparisonRow>& rows) {
  if (is_missing(scenario.m6)) return scenario.m6;
  const double passes = passes_of(scenario.m6);
  if (is_missing(scenario.model)) return scenario.model;
  const ModelTotals model = read_model(scenario.model, mapping, warnings);
  const std::string profile = options.trace_dir + "/" + scenario.profile;
  if (is_missing(profile)) return profile;
  rows = compare(model, read_profile(profile), passes);
  return std::nullopt;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string blanks_for(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, code_points(text)), ' ');
}

std::string left(std::string_view text, std::size_t width) { return std::string(text) + blanks_for(text, width); }
std::string right(std::string_view text, std::size_t width) { return blanks_for(text, width) + std::string(text); }

// Left to right.
double sum(const std::vector<ComparisonRow>& rows, Number ComparisonRow::*column) {
  double total = 0;
  for (const ComparisonRow& row : rows) total += (row.*column).value;
  return total;
}

std::string table_row(const ComparisonRow& row, double total_profile) {
  const double share = total_profile > 0 ? row.profile_us.value / total_profile * 100 : 0;
  return fmt::format("{} {:>12.1f} {:>7} {:>12.1f} {:>8.0f} {:>8.1f}% {:>8.1f}% {:>7.1f}% {}\n",
                     left(row.kernel_type, 35), row.model_us.value, row.model_count, row.profile_us.value,
                     row.profile_count, row.error_percent.value, row.count_error_percent.value, share,
                     left(row.status, 6));
}

std::string table(const Compared& scenario) {
  const std::string double_line = std::string(kWidth, '=') + "\n";
  const double total_model = sum(scenario.rows, &ComparisonRow::model_us);
  const double total_profile = sum(scenario.rows, &ComparisonRow::profile_us);
  std::string out = "\n" + double_line + scenario.name + " — TC vs Profiling per-forward\n" + double_line;
  out += fmt::format("{} {} {} {} {} {} {} {} {}\n", left("kernel_type", 35), right("TC(μs)", 12), right("TC次数", 7),
                     right("Prof(μs)", 12), right("Prof次数", 8), right("延迟误差", 9), right("次数误差", 9),
                     right("Prof占比", 8), left("状态", 6));
  out += std::string(kWidth, '-') + "\n";
  for (std::size_t i = 0; i < std::min(kRowsShown, scenario.rows.size()); ++i) {
    out += table_row(scenario.rows[i], total_profile);
  }
  return out + fmt::format("{} {:>12.1f} {:7} {:>12.1f}\n", left("TOTAL", 35), total_model, "", total_profile);
}

Value number(const Number& number) { return number.is_float ? python::real(number.value) : integer(0); }

Value row_value(const ComparisonRow& row) {
  return python::dict({{"kernel_type", text(row.kernel_type)},
                       {"tc_funcs", text(row.functions)},
                       {"tc_total_us", number(row.model_us)},
                       {"tc_count", integer(row.model_count)},
                       {"prof_per_fwd_us", number(row.profile_us)},
                       {"prof_count", integer(static_cast<std::int64_t>(row.profile_count))},
                       {"error_pct", number(row.error_percent)},
                       {"count_error_pct", number(row.count_error_percent)},
                       {"status", text(row.status)}});
}

}  // namespace

std::string run(const Options& options, std::ostream& out, std::ostream& warnings) {
  const OpMapping mapping = load_mapping(options.data_dir);
  Value document = python::dict({});
  for (const Scenario& scenario : kScenarios) {
    Compared result{scenario.name, {}};
    if (const auto missing = compare_scenario(scenario, options, mapping, warnings, result.rows)) {
      out << fmt::format("SKIP {}: [Errno 2] No such file or directory: '{}'\n", scenario.name, *missing);
      continue;
    }
    out << table(result);
    Value rows = python::list({});
    for (const ComparisonRow& row : result.rows) rows.items.push_back(row_value(row));
    document.members.push_back({scenario.name, std::move(rows)});
  }
  return to_json(document, python::NonAscii::kRaw);
}

}  // namespace tracedb::msmodeling
