#include "ascend/msmodeling/op_comparison.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ascend/msmodeling/comparison_row.h"
#include "ascend/msmodeling/model_totals.h"
#include "ascend/msmodeling/profile_totals.h"
#include "ascend/op_mapping.h"
#include "base/failure.h"
#include "base/python/failure.h"
#include "base/python/json_reader.h"
#include "base/python/json_writer.h"
#include "base/python/text.h"

namespace tracedb::msmodeling {
namespace {

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

// os.path.join()
std::string joined(const std::string& folder, std::string_view name) {
  return folder + (folder.empty() || folder.ends_with('/') ? "" : "/") + std::string(name);
}

OpMapping load_mapping(const std::string& data_dir) {
  const std::string path = joined(data_dir, "op_mapping.yaml");
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const std::string text = python::read_text(path);
  OpMapping mapping;
  const auto error = catch_error([&] { mapping = OpMapping::parse(text, path, OpMapping::kTop); });
  if (!error) return mapping;
  // The original ends with the place, as its reader counts it.
  std::string_view what = error->what();
  std::string place = "1, column 1";
  if (const auto line = what.find("line "); line != std::string_view::npos) {
    what.remove_prefix(line + std::string_view("line ").size());
    place = what.substr(0, what.find(':'));
  }
  throw Error(ErrorCode::kAnswerIsNo, fmt::format("  in \"{}\", line {}", path, place));
}

std::vector<ComparisonRow> compare_scenario(const Scenario& scenario, const Options& options, const OpMapping& mapping,
                                            std::ostream& warnings) {
  const python::Value m6 = python::read_json(python::read_text(scenario.m6));
  if (m6.kind != python::Kind::kDict) {
    throw python::failure("AttributeError", fmt::format("'{}' object has no attribute 'get'", python::type_name(m6)));
  }
  python::Value one;
  one.kind = python::Kind::kInt;
  one.text = "1";
  const python::Value* passes = m6.find("n_forward_passes");
  const ModelTotals model = read_model(scenario.model, mapping, warnings);
  const ProfileTotals profile = read_profile(options.trace_dir + "/" + scenario.profile);
  return compare(model, profile, passes == nullptr ? one : *passes);
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) python::next_code_point(text, at);
  return count;
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

// Python knows no sign of what is no number.
std::string fixed(double number, int width) {
  return fmt::format("{:>{}.1f}", std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number, width);
}

std::string table_row(const ComparisonRow& row, double total_profile) {
  const double share = total_profile > 0 ? row.profile_us.value / total_profile * 100 : 0;
  return fmt::format("{} {} {:>7} {} {:>8.0f} {}% {}% {}% {}\n", left(row.kernel_type, 35),
                     fixed(row.model_us.value, 12), row.model_count, fixed(row.profile_us.value, 12), row.profile_count,
                     fixed(row.error_percent.value, 8), fixed(row.count_error_percent.value, 8), fixed(share, 7),
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
  return out + fmt::format("{} {} {:7} {}\n", left("TOTAL", 35), fixed(total_model, 12), "", fixed(total_profile, 12));
}

void write_number(python::JsonWriter& json, std::string_view key, const Number& number) {
  json.key(key);
  if (number.is_float) {
    json.real(number.value);
  } else {
    json.integer(0);
  }
}

void write_text(python::JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  json.text(text);
}

void write_row(python::JsonWriter& json, const ComparisonRow& row) {
  json.begin_dict();
  write_text(json, "kernel_type", row.kernel_type);
  write_text(json, "tc_funcs", row.functions);
  write_number(json, "tc_total_us", row.model_us);
  json.key("tc_count");
  json.integer(row.model_count);
  write_number(json, "prof_per_fwd_us", row.profile_us);
  json.key("prof_count");
  json.literal(fmt::format("{:.0f}", row.profile_count));
  write_number(json, "error_pct", row.error_percent);
  write_number(json, "count_error_pct", row.count_error_percent);
  write_text(json, "status", row.status);
  json.end_dict();
}

std::string json_of(const std::vector<Compared>& scenarios) {
  python::JsonWriter json(python::NonAscii::kRaw);
  json.begin_dict();
  for (const Compared& scenario : scenarios) {
    json.key(scenario.name);
    json.begin_list();
    for (const ComparisonRow& row : scenario.rows) write_row(json, row);
    json.end_list();
  }
  json.end_dict();
  return json.result();
}

// os.makedirs(folder, exist_ok=True)
void make_folders(const std::string& folder) {
  struct stat info {};
  if (folder.empty() || ::stat(folder.c_str(), &info) == 0) {
    if (!folder.empty() && !S_ISDIR(info.st_mode)) python::throw_os_error(EEXIST, folder);
    return;
  }
  const std::size_t last = folder.find_last_not_of('/');
  const std::size_t slash = last == std::string::npos ? last : folder.rfind('/', last);
  if (slash != std::string::npos && slash > 0) {
    const std::string parent = folder.substr(0, slash);
    if (::stat(parent.c_str(), &info) != 0) make_folders(parent);
  }
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) python::throw_os_error(errno, folder);
}

void write_file(const std::string& path, const std::string& text) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) make_folders(path.substr(0, slash));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) python::throw_os_error(errno, path);
  ::close(descriptor);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw python::failure("OSError", "[Errno 28] No space left on device");
}

}  // namespace

void run(const Options& options, std::ostream& out, std::ostream& warnings) {
  const OpMapping mapping = load_mapping(options.data_dir);
  std::vector<Compared> compared;
  for (const Scenario& scenario : kScenarios) {
    Compared result{scenario.name, {}};
    const auto error = catch_error([&] { result.rows = compare_scenario(scenario, options, mapping, warnings); });
    constexpr std::string_view kMissing = "FileNotFoundError: ";
    if (error) {
      const std::string_view what = error->what();
      if (!what.starts_with(kMissing)) throw *error;
      out << "SKIP " << scenario.name << ": " << what.substr(kMissing.size()) << "\n";
      continue;
    }
    out << table(result);
    compared.push_back(std::move(result));
  }
  write_file(options.output, json_of(compared));
  out << "\nSaved to " << options.output << "\n";
}

}  // namespace tracedb::msmodeling
