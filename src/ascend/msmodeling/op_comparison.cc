#include "ascend/msmodeling/op_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ascend/op_mapping.h"
#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/python/json.h"
#include "base/stream/byte_source.h"
#include "base/stream/csv_reader.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"

namespace tracedb::msmodeling {
namespace {

using python::integer;
using python::Kind;
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

// A Python number: a zero that was never computed is an int.
struct Number {
  double value = 0;
  bool is_float = false;
};

// A kernel type of the model, the profile or both.
struct ComparisonRow {
  std::string kernel_type;
  std::string functions;
  Number model_us;
  std::int64_t model_count = 0;
  Number profile_us;
  double profile_count = 0;  // a whole number
  Number error_percent;
  Number count_error_percent;
  std::string status;
};

// What the model's trace has of a kernel type.
struct ModelTotal {
  double us = 0;
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::vector<std::string> functions;  // each once, in the order of the trace

  [[nodiscard]] const char* status() const { return misses == 0 ? "HIT" : hits == 0 ? "MISS" : "PARTIAL"; }
};
using ModelTotals = std::map<std::string, ModelTotal, std::less<>>;  // by kernel type

// What the profile has of it.
struct ProfileTotal {
  double us = 0;
  std::int64_t count = 0;
};
using ProfileTotals = std::map<std::string, ProfileTotal, std::less<>>;  // by kernel type

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
  if (m6.kind == Kind::kDict && passes == nullptr) return 1;
  constexpr double kLeast = 1e-9;  // less makes numbers infinite
  if (passes != nullptr && passes->is_number() && (passes->number <= 0 || passes->number >= kLeast)) {
    return passes->number;
  }
  throw Error(ErrorCode::kInput, fmt::format("{}: no object whose n_forward_passes is a number", printable_path(path)));
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
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

std::string table(std::string_view scenario, const std::vector<ComparisonRow>& rows) {
  const std::string double_line = std::string(kWidth, '=') + "\n";
  const double total_model = sum(rows, &ComparisonRow::model_us);
  const double total_profile = sum(rows, &ComparisonRow::profile_us);
  std::string out = fmt::format("\n{}{} — TC vs Profiling per-forward\n{}", double_line, scenario, double_line);
  out += fmt::format("{} {} {} {} {} {} {} {} {}\n", left("kernel_type", 35), right("TC(μs)", 12), right("TC次数", 7),
                     right("Prof(μs)", 12), right("Prof次数", 8), right("延迟误差", 9), right("次数误差", 9),
                     right("Prof占比", 8), left("状态", 6));
  out += std::string(kWidth, '-') + "\n";
  for (std::size_t i = 0; i < std::min(kRowsShown, rows.size()); ++i) {
    out += table_row(rows[i], total_profile);
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

constexpr const char* kOnlyProfile = "TC未建模";
constexpr std::size_t kFunctionsShown = 3;

// round(number, 1): the correctly rounded decimal of the exact binary value, ties to even.
Number rounded(Number number) {
  if (number.is_float) number.value = parse_double(fmt::format("{:.1f}", number.value)).value_or(number.value);
  return number;
}

Number percent_error(double model, double profile) {
  if (!(profile > 0)) return {};
  return {(model - profile) / profile * 100, true};
}

ComparisonRow row_of(const std::string& type, const ModelTotal* model, const ProfileTotal* profile, double passes) {
  const bool divides = passes > 0;
  const double model_us = model == nullptr ? 0 : model->us;
  ComparisonRow row;
  row.kernel_type = type;
  row.model_count = model == nullptr ? 0 : model->hits + model->misses;
  row.status = model == nullptr ? kOnlyProfile : model->status();
  Number profile_us;
  double count = 0;
  if (divides) {
    profile_us = {profile == nullptr ? 0 : profile->us / passes, true};
    count = profile == nullptr ? 0 : static_cast<double>(profile->count) / passes;
  }
  row.error_percent = rounded(percent_error(model_us, profile_us.value));
  row.count_error_percent = rounded(percent_error(static_cast<double>(row.model_count), count));
  row.model_us = rounded({model_us, model != nullptr});
  row.profile_us = rounded(profile_us);
  row.profile_count = std::nearbyint(count);
  if (model == nullptr) return row;
  const std::span<const std::string> functions = model->functions;
  row.functions = fmt::format("{}", fmt::join(functions.first(std::min(kFunctionsShown, functions.size())), ", "));
  return row;
}

// `passes`: n_forward_passes of the m6 file. Longest first.
std::vector<ComparisonRow> compare(const ModelTotals& model, const ProfileTotals& profile, double passes) {
  std::map<std::string, std::pair<const ModelTotal*, const ProfileTotal*>> types;
  for (const auto& [type, total] : model) types[type].first = &total;
  for (const auto& [type, total] : profile) types[type].second = &total;
  std::vector<ComparisonRow> rows;
  for (const auto& [type, totals] : types) rows.push_back(row_of(type, totals.first, totals.second, passes));
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const ComparisonRow& row) { return std::max(row.model_us.value, row.profile_us.value); });
  return rows;
}

[[noreturn]] void refuse(std::string_view what) { throw Error(ErrorCode::kInput, std::string(what)); }

// nullptr: the event has no such argument.
const Value* argument(const Value& event, std::string_view key) {
  const Value* args = event.find("args");
  if (args != nullptr && args->kind != Kind::kDict) refuse("its args are no JSON object");
  return args == nullptr ? nullptr : args->find(key);
}

bool has_text(const Value& event, std::string_view key, std::string_view text) {
  const Value* value = event.find(key);
  return value != nullptr && value->is_text(text);
}

// Whether the event names a process as the one of the model.
bool names_model(const Value& event) {
  if (!has_text(event, "ph", "M") || !has_text(event, "name", "process_name")) return false;
  const Value* process = argument(event, "name");
  if (process != nullptr && process->kind != Kind::kText) refuse("the name of a process is no text");
  const std::string lower = process == nullptr ? std::string() : ascii_lower(process->text);
  return lower.find("profiling") != std::string::npos || lower.find("empirical") != std::string::npos;
}

const Value& pid_of(const Value& event) {
  const Value* pid = event.find("pid");
  if (pid == nullptr || pid->is_sequence() || pid->kind == Kind::kDict) refuse("its pid is no number or text");
  return *pid;
}

using EventLoop = std::function<void(const python::EventVisit&)>;

// The key of the model's pid: of the first process that is named so, unless its pid is null; else of the only one.
std::string model_pid(const EventLoop& for_each, const std::string& path, std::ostream& warnings) {
  const Value* named = nullptr;
  for_each([&](const Value& event) {
    if (named == nullptr && names_model(event)) named = &pid_of(event);
  });
  if (named != nullptr && named->kind != Kind::kNone) return key_of(*named);
  std::map<std::string, std::string> pids;  // what is printed, by key
  for_each([&](const Value& event) {
    if (has_text(event, "ph", "X")) pids.try_emplace(key_of(pid_of(event)), str(pid_of(event)));
  });
  if (pids.size() != 1) {
    std::vector<std::string> found;
    for (const auto& [key, pid] : pids) found.push_back(pid);
    throw Error(ErrorCode::kInput,
                fmt::format("{}: no process is named as profiling or empirical, and slices have {} pids: {}",
                            printable_path(path), pids.size(), fmt::join(found, ", ")));
  }
  const auto& [key, pid] = *pids.begin();
  warnings << fmt::format("Warning: profiling PID not found by name in {}, using sole PID {}\n", path, pid);
  return key;
}

struct SubKernel {
  std::string name;
  double us;
};

// Empty: the event does not say.
std::vector<SubKernel> sub_kernels_of(const Value* given) {
  if (given == nullptr || given->kind != Kind::kText) return {};
  const auto literal = python::parse_literal(given->text);
  if (!literal || literal->kind != Kind::kList) return {};
  const auto is_pair = [](const Value& x) { return x.is_sequence() && x.items.size() == 2; };
  if (!std::ranges::all_of(literal->items, is_pair)) return {};
  std::vector<SubKernel> out;
  for (const Value& pair : literal->items) {
    const bool fits = pair.items[0].kind == Kind::kText && pair.items[1].is_number();
    if (!fits) refuse("its sub_kernel_durations are no pairs of a name and a number");
    out.push_back({pair.items[0].text, pair.items[1].number});
  }
  return out;
}

double duration(const Value* dur) {
  if (dur != nullptr && !dur->is_number()) refuse("its dur is no number");
  return dur == nullptr ? 0 : dur->number;
}

ModelTotal& touch(ModelTotals& totals, std::string_view type, std::string_view op) {
  ModelTotal& total = totals[std::string(type)];
  const std::string function = short_op_name(op);
  std::vector<std::string>& all = total.functions;
  if (std::ranges::find(all, function) == all.end()) all.push_back(function);
  return total;
}

void add_hit(const std::string& op, const std::string& kernel, const Value& event, ModelTotals& totals) {
  const auto hit = [&](std::string_view type, double us) {
    ModelTotal& total = touch(totals, type, op);
    ++total.hits;
    total.us += us;
  };
  const std::vector<SubKernel> parts = sub_kernels_of(argument(event, "sub_kernel_durations"));
  for (const SubKernel& part : parts) hit(part.name, part.us);
  if (!parts.empty()) return;
  const std::vector<std::string> names = kernel_types_in(kernel);
  const double each = names.empty() ? 0 : duration(event.find("dur")) / static_cast<double>(names.size());
  for (const std::string& name : names) hit(name, each);
  const bool counts_all_reduce = ascii_lower(op).find("all_reduce") != std::string::npos &&
                                 std::ranges::find(names, kAllReduceKernel) == names.end();
  if (counts_all_reduce) hit(kAllReduceKernel, 0);
}

void add_event(const Value& event, const OpMapping& mapping, ModelTotals& totals) {
  const Value* name = event.find("name");
  if (name == nullptr || name->kind != Kind::kText) refuse("its name is no text");
  const std::string& op = name->text;
  const OpMappingEntry* entry = mapping.find(op);
  if (entry != nullptr && entry->zero_cost) return;
  const Value* kernel = argument(event, "kernel_type");
  if (kernel != nullptr && kernel->is_true() && !kernel->is_text("?")) {
    if (kernel->kind == Kind::kList || kernel->kind == Kind::kDict) refuse("its kernel_type is no text");
    return add_hit(op, str(*kernel), event, totals);
  }
  ModelTotal& total = touch(totals, entry == nullptr || entry->kernel_type.empty() ? op : entry->kernel_type, op);
  ++total.misses;
  total.us += duration(event.find("dur"));
}

// `warnings`: what the original prints to standard error.
ModelTotals read_model(const std::string& path, const OpMapping& mapping, std::ostream& warnings) {
  const Value trace = python::read_json_file(path);
  const Value none = python::list({});
  const Value* given = trace.find("traceEvents");
  const Value& events = given == nullptr ? none : *given;
  require_list(events, printable_path(path));
  const EventLoop for_each = [&](const python::EventVisit& visit) {
    std::for_each(events.items.begin(), events.items.end(), numbered_events(printable_path(path), visit));
  };
  const std::string pid = model_pid(for_each, path, warnings);
  ModelTotals totals;
  for_each([&](const Value& event) {
    if (!has_text(event, "ph", "X")) return;
    const Value* own = event.find("pid");
    if (key_of(own == nullptr ? Value() : *own) == pid) add_event(event, mapping, totals);
  });
  return totals;
}

// int(float(text)), a double for want of limits; 0 where it is no number.
double start_key(std::string_view text) {
  return std::trunc(parse_double(text).value_or(0)) + 0.0;  // one zero
}

// Rows of collectives ("hcom_...") of one type that start in the same microsecond, as a binary64 has it, are one: the
// longest.
ProfileTotals read_profile(const std::string& path) {
  const auto source = open_byte_source(path);
  CsvReader reader(*source, {.byte_order_mark = ByteOrderMark::kKeep, .unclosed_quote = UnclosedQuote::kEndsWithFile});
  CsvRecord record;
  ProfileTotals totals;
  if (!reader.next(record)) return totals;
  const CsvHeader header(record.fields);
  std::map<std::pair<double, std::string>, std::size_t> known;  // by start and type: which of the collectives
  std::vector<std::pair<std::string, double>> collectives;      // types and times, in the order of their first rows
  const auto error = [&](std::string_view what) {
    return Error(ErrorCode::kInput, fmt::format("{}, line {}: {}", printable_path(path), record.line, what));
  };
  // Without white space; `otherwise` where the table has no such column.
  const auto cell = [&](std::string_view name, std::string_view otherwise) {
    const auto column = header.find({name});
    const auto text = column ? record.field(*column) : std::optional(otherwise);
    if (!text) throw error(fmt::format("no cell for the column '{}'", name));
    return trim_space(*text);
  };
  const auto add = [&](const std::string& type, double us) {
    ProfileTotal& total = totals[type];
    total.us += us;
    ++total.count;
  };
  while (reader.next(record)) {
    if (record.fields.empty()) continue;
    const std::string type(cell("Type", ""));
    if (type.empty()) continue;
    if (valid_utf8(type).replaced > 0) throw error("the type is no UTF-8");
    const std::string_view duration = cell("Duration(us)", "0");
    const auto us = parse_double(duration);
    if (!us) throw error(fmt::format("Duration(us) '{}' is no number", valid_utf8(duration).text));
    if (type.starts_with("hcom_")) {
      const double start = start_key(cell("Start Time(us)", "0"));
      const auto [entry, is_new] = known.try_emplace({start, type}, collectives.size());
      if (is_new) collectives.emplace_back(type, 0);
      double& longest = collectives[entry->second].second;
      longest = std::max(longest, *us);
    } else if (!type.ends_with("AicpuKernel")) {
      add(type, *us);
    }
  }
  for (const auto& [type, us] : collectives) add(type, us);
  return totals;
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

}  // namespace

std::string run(const Options& options, std::ostream& out, std::ostream& warnings) {
  const OpMapping mapping = load_mapping(options.data_dir);
  Value document = python::dict({});
  for (const Scenario& scenario : kScenarios) {
    std::vector<ComparisonRow> rows;
    if (const auto missing = compare_scenario(scenario, options, mapping, warnings, rows)) {
      out << fmt::format("SKIP {}: [Errno 2] No such file or directory: '{}'\n", scenario.name, *missing);
      continue;
    }
    out << table(scenario.name, rows);
    Value values = python::list({});
    for (const ComparisonRow& row : rows) values.items.push_back(row_value(row));
    document.members.push_back({scenario.name, std::move(values)});
  }
  return to_json(document, python::NonAscii::kRaw);
}

}  // namespace tracedb::msmodeling
