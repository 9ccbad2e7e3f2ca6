#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include "ascend/model_comparison.h"
#include "ascend/msmodeling/op_comparison.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/python/json.h"
#include "base/stream/csv_reader.h"
#include "base/text/amounts.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "present/model_tables.h"
#include "report/escape.h"
#include "report/table.h"
#include "trace_query/command.h"
#include "trace_query/help.h"
#include "trace_query/open.h"
#include "trace_query/options.h"
#include "trace_query/output.h"

namespace tracedb {
namespace {

struct ScenarioRequest {
  std::string name, model, profile;
  std::optional<double> passes;
  std::string m6;     // a JSON file that may have n_forward_passes; empty: none
  std::string error;  // one line: what is wrong with the request; empty: nothing
};

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 5> kKeys = {"name", "model", "profile", "passes", "m6"};

double positive(std::string_view what, const std::string& text) {
  constexpr double kLeast = 1e-6, kMost = 1e9;
  const auto value = parse_double(text);
  if (value && *value >= kLeast && *value <= kMost) return *value;
  throw usage_error("{} {}: give a number above 0", what, text);
}

ScenarioRequest request_of(Values values, const std::string& what) {
  ScenarioRequest request;
  request.model = values["model"];
  request.profile = values["profile"];
  request.m6 = values["m6"];
  request.name = values["name"];
  if (request.name.empty()) request.name = std::filesystem::path(request.model).stem().string();
  if (request.name.empty()) request.name = what;
  const auto error = catch_error([&] {
    for (const char* key : {"model", "profile"}) {
      if (values[key].empty()) throw usage_error("{}: has no {}", what, key);
    }
    if (!values["passes"].empty()) request.passes = positive(what + ": passes", values["passes"]);
  });
  if (error) request.error = error->what();
  return request;
}

// "name=Qwen3 PF,model=a.json,profile=b.csv,passes=2": commas divide where a known key follows, so that paths may have
// them.
ScenarioRequest parse_scenario(const std::string& text) {
  Values values;
  std::string key;
  for (const std::string& part : split_names(text)) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals != std::string::npos && std::ranges::find(kKeys, name) != kKeys.end()) {
      key = name;
      values[key] = part.substr(equals + 1);
    } else if (key.empty()) {
      throw usage_error("--scenario {}: '{}' is not one of {}=...{}", text, part, fmt::join(kKeys, "=, "),
                        did_you_mean(name, std::vector<std::string>(kKeys.begin(), kKeys.end())));
    } else {
      values[key] += "," + part;
    }
  }
  return request_of(std::move(values), "--scenario " + text);
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (const std::string_view cell : split_text(line, '\t')) cells.emplace_back(trim_space(cell));
  return cells;
}

std::string key_of_column(const std::string& name) {
  static const Values kOtherNames = {
      {"model_trace", "model"}, {"trace", "model"}, {"profile_csv", "profile"}, {"csv", "profile"}};
  const auto other = kOtherNames.find(name);
  return other == kOtherNames.end() ? name : other->second;
}

// A table with a head: columns separated by TABs. Paths are relative to the working directory.
std::vector<ScenarioRequest> read_table(const std::string& path) {
  const std::string text = read_small_file(path);
  std::vector<ScenarioRequest> out;
  std::vector<std::string> heads;
  std::size_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim_space(line).empty() || line.starts_with('#')) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (heads.empty()) {
      for (const std::string& cell : cells) heads.push_back(key_of_column(cell));
      for (const char* key : {"model", "profile"}) {
        if (std::ranges::find(heads, key) != heads.end()) continue;
        throw Error(ErrorCode::kInput, fmt::format("{}: the head of the table has no column '{}'; it needs model and "
                                                   "profile, and may have name, passes and m6",
                                                   printable_path(path), key));
      }
      continue;
    }
    Values values;
    for (std::size_t i = 0; i < std::min(cells.size(), heads.size()); ++i) values[heads[i]] = cells[i];
    out.push_back(request_of(std::move(values), fmt::format("{}, line {}", printable_path(path), number)));
  }
  if (out.empty()) throw Error(ErrorCode::kInput, fmt::format("{}: no scenario in it", printable_path(path)));
  return out;
}

void add_scenario_options(CommandLine& line) {
  line.add("scenario", OptionKind::kList,
           "name=NAME,model=FILE,profile=FILE and, if wanted, passes=N or m6=FILE; may be given several times");
  line.add("scenarios", "a table of them, with a head: TABs between name, model, profile, passes, m6");
  line.add("model", "the model's trace, of a single scenario");
  line.add("profile", "its profile");
  line.add("passes",
           "forward passes that a profile holds (default: n_forward_passes of the scenario's m6 file, else 1)");
}

std::vector<ScenarioRequest> requested_scenarios(const CommandLine& line) {
  std::vector<ScenarioRequest> out;
  for (const std::string& text : line.words("scenario")) out.push_back(parse_scenario(text));
  if (const auto table = line.text("scenarios")) {
    for (ScenarioRequest& request : read_table(*table)) out.push_back(std::move(request));
  }
  const auto& positional = line.positional();
  const auto model = line.text("model");
  const auto profile = line.text("profile");
  if (model || profile) {
    out.push_back(
        request_of({{"model", model.value_or("")}, {"profile", profile.value_or("")}}, "--model with --profile"));
  }
  if (positional.size() == 2)
    out.push_back(request_of({{"model", positional[0]}, {"profile", positional[1]}}, "scenario"));
  const bool odd = !positional.empty() && positional.size() != 2;
  if (out.empty() || odd) {
    throw usage_error("model: give a model and a profile, or --scenario; usage: trace-query {}", line.command().usage);
  }
  return out;
}

// nullopt: it is not said.
std::optional<double> passes_of(const ScenarioRequest& request, const CommandLine& line) {
  if (request.passes) return request.passes;
  if (const auto given = line.text("passes")) return positive("--passes", *given);
  if (!request.m6.empty()) {
    using python::Kind;
    const python::Value m6 = python::read_json_file(request.m6);
    const python::Value* passes = m6.find("n_forward_passes");
    const std::string what = printable_path(request.m6) + ": n_forward_passes";
    const bool is_number = passes != nullptr && (passes->kind == Kind::kInt || passes->kind == Kind::kFloat);
    if (is_number) return positive(what, str(*passes));
    if (passes != nullptr) throw Error(ErrorCode::kInput, what + " is no number");
  }
  return std::nullopt;
}

constexpr const char* kDefaultDuplicates = "window=500ns";

struct Gate {
  double percent = 0;
  double least_share = 0;
};

struct ModelRequest {
  std::vector<ScenarioRequest> scenarios;
  OpMapping mapping;
  ModelSideOptions model;
  DuplicatePolicy duplicates;
  ModelBy by = ModelBy::kKernel;
  Language language = Language::kEnglish;
  std::optional<Gate> gate;
};

OpMapping mapping_of(const CommandLine& line) {
  const auto path = line.text("op-map");
  const std::string root = line.text("mapping-root").value_or(std::string(OpMapping::kAuto));
  if (!path) {
    if (line.has("mapping-root")) throw usage_error("--mapping-root needs --op-map");
    return {};
  }
  return OpMapping::parse(read_small_file(*path), printable_path(*path), root);
}

ModelRequest model_request(const CommandLine& line) {
  ModelRequest out;
  out.scenarios = requested_scenarios(line);
  out.mapping = mapping_of(line);
  out.by = line.choice<ModelBy>(
      "by", {{"kernel", ModelBy::kKernel}, {"shape", ModelBy::kShape}, {"source", ModelBy::kSource}},
      "there are kernel, shape, source");
  out.language =
      line.choice<Language>("lang", {{"en", Language::kEnglish}, {"zh", Language::kChinese}}, "there are en, zh");
  out.model.key = out.by == ModelBy::kShape ? KeyBy::kTypeAndShapes : KeyBy::kType;
  if (const auto pattern = line.text("model-process")) out.model.process_pattern = *pattern;
  out.model.pid = line.number("model-pid");
  const std::string duplicates = line.text("hcom-dedup").value_or(kDefaultDuplicates);
  const auto policy = duplicate_policy_from(duplicates);
  if (!policy) {
    throw usage_error("--hcom-dedup {}: there are window=TIME (500ns, 1us), trunc-us, name and none", duplicates);
  }
  out.duplicates = *policy;
  const auto least_share = line.percent("min-share");
  if (const auto percent = line.percent("max-error")) out.gate = {*percent, least_share.value_or(0)};
  if (least_share && !out.gate) throw usage_error("--min-share needs --max-error");
  return out;
}

// What was wrong with a trace, as far as it changes figures: a model has no kernels, and should not.
void note_issues(const OpenedTrace& trace, const std::string& file, bool is_model, const Output& output) {
  const std::string without = is_model ? without_device(trace.index) : "";
  for (const std::string& note : trace.notes) {
    if (note != without) output.note(fmt::format("{}: {}", file, note));
  }
  Statement rows(trace.index.database(),
                 "SELECT kind, count FROM issue WHERE severity <> 'info' AND NOT (?1 AND kind IN ('no_device_events', "
                 "'foreign_format')) ORDER BY severity, kind",
                 std::int64_t{is_model});
  while (rows.step()) {
    output.note(fmt::format("{}: {} ({}); trace-query issues says more", file, rows.text(0), rows.int64(1)));
  }
}

// How many times as many kernels of most operators the profile has; 1: no such number.
std::int64_t usual_multiple(const ModelComparison& comparison) {
  std::map<double, std::size_t> rows;
  std::size_t all = 0;
  for (const ModelRow& row : comparison.rows) {
    if (row.model_count == 0 || row.profile_count == 0) continue;
    ++all;
    ++rows[row.profile_count / static_cast<double>(row.model_count)];
  }
  for (const auto& [multiple, count] : rows) {
    if (2 * count > all && multiple > 1 && multiple == std::floor(multiple)) return static_cast<std::int64_t>(multiple);
  }
  return 1;
}

void note_doubts(const ModelScenario& scenario, bool mapped, const Output& output) {
  constexpr double kManyZeros = 0.05;
  const ModelSide& model = scenario.model_side;
  const auto say = [&](const std::string& text) { output.note(fmt::format("{}: {}", scenario.name, text)); };
  if (scenario.passes_assumed) {
    const std::int64_t multiple = usual_multiple(scenario.comparison);
    say("1 pass in the profile is assumed" +
        (multiple > 1 ? fmt::format(", and its counts are mostly {0} times the model's: --passes {0}?", multiple)
                      : "; --passes says how many there are"));
  }
  if (model.unknown_duration_events > 0) {
    say(counted(model.unknown_duration_events, "event") + " of the model without a duration, counted as 0");
  }
  if (model.unknown_process_events > 0) {
    say(counted(model.unknown_process_events, "kernel or copy", "kernels and copies") +
        " in the model's trace of which the process is not known, left out");
  }
  if (model.unreadable_parts > 0) {
    say(
        fmt::format("{} of the model whose sub_kernel_durations are no list of names and durations: the time of each "
                    "is divided equally",
                    counted(model.unreadable_parts, "event")));
  }
  if (static_cast<double>(model.zero_duration_events) > kManyZeros * static_cast<double>(model.events)) {
    say(fmt::format("0 us for {} of {} of the model: models write whole microseconds, and short operators are lost",
                    model.zero_duration_events, counted(model.events, "event")));
  }
  if (!mapped && scenario.comparison.total.misses > 0) {
    say(fmt::format("{} without a measurement under the name of the model; --op-map says which kernels are meant",
                    counted(scenario.comparison.total.misses, "operator")));
  }
  if (scenario.profile_side.kernels == 0) say("the profile has no kernels");
  if (const std::int64_t devices = scenario.profile_side.devices; devices > 1) {
    say(
        fmt::format("rows and times of a pass are the mean over {} devices of the profile; kernels and what is left "
                    "out are counted "
                    "over all",
                    devices));
  }
  if (const std::int64_t idle = scenario.profile_side.idle_devices; idle > 0) {
    say(fmt::format("{} of the profile left out, with less than 5 % of the time of the busiest one: {:.1f} us",
                    counted(idle, "device"), static_cast<double>(scenario.profile_side.idle_device_ns) / 1000));
  }
  if (scenario.profile_side.unknown_durations > 0) {
    say(fmt::format("{} of the profile without a readable duration, counted as 0",
                    counted(scenario.profile_side.unknown_durations, "kernel")));
  }
  if (!scenario.profile_side.busy_ns)
    say("the profile does not say when its kernels started: busy time and duplicates of collectives are not known");
}

OpenedTrace open_timed(const std::string& path, const CommandLine& line) {
  OpenedTrace trace = open_trace(path, line);
  if (trace.index.meta("time_unit") != "cycle") return trace;
  throw Error(ErrorCode::kInput, fmt::format("{}: its times are cycles of AI Engine tiles, which cannot be compared "
                                             "with the time of kernels; 'trace-query aie' reports them",
                                             printable_path(path)));
}

// From its index, or, of a table of kernels, from the table itself.
ProfileSide profile_of(const std::string& path, const ModelRequest& request, const CommandLine& line,
                       const Output& output) {
  if (file_kind(path) == FileKind::kNotSqlite && is_profile_table(path)) {
    ProfileTable table = read_profile_table(path, request.model.key, request.duplicates);
    for (const auto& [problem, count] : table.problems) output.note(fmt::format("{}: {} ({})", path, problem, count));
    return std::move(table.side);
  }
  const OpenedTrace profile = open_timed(path, line);
  note_issues(profile, path, false, output);
  return read_profile_side(profile.index, request.model.key, request.duplicates);
}

void compare(const ScenarioRequest& wanted, const ModelRequest& request, const CommandLine& line, const Output& output,
             ModelScenario& scenario) {
  if (!wanted.error.empty()) throw Error(ErrorCode::kUsage, wanted.error);
  const auto passes = passes_of(wanted, line);
  scenario.passes = passes.value_or(1);
  scenario.passes_assumed = !passes;
  const OpenedTrace model = open_timed(wanted.model, line);
  note_issues(model, wanted.model, true, output);
  scenario.model_side = read_model_side(model.index, request.mapping, request.model);
  scenario.profile_side = profile_of(wanted.profile, request, line, output);
  scenario.comparison = compare_model(scenario.model_side, scenario.profile_side, scenario.passes, request.by);
  note_doubts(scenario, line.has("op-map"), output);
}

std::vector<ModelScenario> compare_all(const ModelRequest& request, const CommandLine& line, const Output& output) {
  std::vector<ModelScenario> out;
  for (const ScenarioRequest& wanted : request.scenarios) {
    ModelScenario& scenario = out.emplace_back();
    scenario.name = wanted.name;
    scenario.model = wanted.model;
    scenario.profile = wanted.profile;
    const auto error = catch_error([&] { compare(wanted, request, line, output, scenario); });
    if (!error) continue;
    if (error->code() == ErrorCode::kInterrupted) throw *error;
    scenario.error = error->what();
    std::cerr << "trace-query: " << escape_text(scenario.name + ": " + scenario.error) << '\n';
  }
  return out;
}

double magnitude(const Cell& cell) { return std::abs(number(cell).value_or(0)); }

// The orders that have a name besides those of columns.
void sort_operators(Report& report, const std::string& order) {
  const auto by_column = [&](const std::string& column) { sort_rows(report, parse_sort_key(column)); };
  if (order == "max") return;  // as they come
  if (order == "model") return by_column("model_time");
  if (order == "profile") return by_column("profile_time");
  if (order == "error") return by_column("error_pct");
  if (order == "name") return by_column(report.columns[report.columns[0].key == "scenario" ? 1 : 0].key + ":asc");
  if (order != "abs-error") return by_column(order);
  const std::size_t place = find_column(report.columns, "error_pct").value();
  std::ranges::stable_sort(report.rows,
                           [&](const Row& a, const Row& b) { return magnitude(a[place]) > magnitude(b[place]); });
}

// Sorted and cut as the command line says.
Report arranged(Report report, const CommandLine& line, const Output& output) {
  sort_operators(report, line.text("sort").value_or("max"));
  const std::size_t rows = report.rows.size();
  const auto top = line.number("top");
  const std::size_t limit = top ? static_cast<std::size_t>(*top) : row_limit(line);
  limit_rows(report, limit);
  if (!top && !line.has("limit") && report.rows.size() < rows) {
    output.note(fmt::format("[others] is {}; --top 0 shows all", counted(rows - limit, "more row")));
  }
  report.rows.insert(report.rows.end(), report.footer.begin(), report.footer.end());
  report.footer.clear();
  if (const auto columns = line.text("columns")) choose_columns(report, *columns);
  return report;
}

void print_for_people(const std::vector<ModelScenario>& scenarios, const ModelRequest& request, const CommandLine& line,
                      Output& output) {
  for (const ModelScenario& scenario : scenarios) {
    if (!scenario.error.empty()) continue;
    const ReportHead head{"model", {scenario.model, scenario.profile}};
    const Report operators = arranged(model_operators(scenario, request.by, request.language), line, output);
    output.separate(scenario.name);
    render(model_facts(scenario, request.language), head, {}, *output.renderer());
    output.separate("");
    render(operators, head, {}, *output.renderer());
  }
}

void print_for_machines(const std::vector<ModelScenario>& scenarios, const ModelRequest& request,
                        const CommandLine& line, Output& output) {
  std::vector<std::string> inputs, failures;
  for (const ModelScenario& scenario : scenarios) {
    inputs.insert(inputs.end(), {scenario.model, scenario.profile});
    if (!scenario.error.empty()) failures.push_back(scenario.name + ": " + scenario.error);
  }
  const Report operators = arranged(model_operators(scenarios, request.by), line, output);
  output.arranged_section(model_summary(scenarios), {"model", inputs, "summary"});
  output.arranged_section(operators, {"model", inputs, "operators"});
  output.end_sections(failures);
}

// Whether a row is off by more than --max-error; says which.
bool is_beyond(const Gate& gate, const ModelScenario& scenario, const Output& output) {
  const auto rows = rows_beyond(scenario.comparison, gate.percent, gate.least_share);
  for (const ModelRow* row : rows) {
    const std::string name = row == &scenario.comparison.total ? "all kernels" : row->key.type;
    const std::string unknown = row->profile_count > 0 ? "0 us in the profile" : "not in the profile";
    const std::string error = row->error_percent ? fmt::format("{:+.1f} %", *row->error_percent) : unknown;
    output.note(fmt::format("gate: {}: {}: {}", scenario.name, name, error));
  }
  return !rows.empty();
}

int run_own(const CommandLine& line) {
  line.refuse({"trace-dir", "data-dir"}, "--{} goes with --compat msmodeling only");
  const ModelRequest request = model_request(line);
  Output output(line);
  const std::vector<ModelScenario> scenarios = compare_all(request, line, output);
  bool failed = false, beyond = false;
  for (const ModelScenario& scenario : scenarios) {
    failed = failed || !scenario.error.empty();
    if (request.gate && scenario.error.empty()) beyond = is_beyond(*request.gate, scenario, output) || beyond;
  }
  if (line.for_people()) {
    print_for_people(scenarios, request, line, output);
  } else {
    print_for_machines(scenarios, request, line, output);
  }
  output.finish();
  if (failed) return static_cast<int>(ErrorCode::kInput);
  return beyond ? static_cast<int>(ErrorCode::kAnswerIsNo) : 0;
}

int run_msmodeling(const CommandLine& line) {
  line.refuse({"scenario", "scenarios", "model", "profile", "passes", "op-map", "mapping-root", "model-process",
               "model-pid", "hcom-dedup", "by", "sort", "top", "limit", "columns", "lang", "max-error", "min-share"},
              "--{} does not go with --compat msmodeling");
  msmodeling::Options options;
  options.trace_dir = line.text("trace-dir").value_or(options.trace_dir);
  options.data_dir = line.text("data-dir").value_or(options.data_dir);
  options.output = line.text("output").value_or(options.output);
  const std::string json = msmodeling::run(options, std::cout, std::cerr);
  std::error_code ignored;  // OutputFile says it
  std::filesystem::create_directories(std::filesystem::path(options.output).parent_path(), ignored);
  OutputFile file(options.output);
  file.stream() << json;
  file.finish();
  std::cout << "\nSaved to " << options.output << std::endl;
  return 0;
}

void add_model_options(CommandLine& line) {
  add_scenario_options(line);
  line.add("op-map", "YAML file that says which kernel an operator is, and which cost nothing");
  line.add("mapping-root",
           "where its entries are: auto (default: below operator_mappings if there is such a key), top, or a KEY");
  line.add(
      "model-process",
      "the model's process in its trace, by a REGEX of its name (default: profiling or empirical; else the only one)");
  line.add("model-pid", "the same by its pid");
  line.add("hcom-dedup",
           "which collectives (hcom_*) of a profile are one, recorded twice. window=TIME: those that start within it "
           "on different streams and are not named as different ones (default: window=500ns); name: those of one name "
           "that overlap; trunc-us: those that start in the same microsecond; none");
  line.add("by", "rows: kernel (type, default), shape (type and input shapes) or source (of the model)");
  line.add("sort",
           "max (default: the longer of model and profile), model, profile, abs-error, error, name, or COL[:asc]");
  line.add("top", "first N rows, the rest in one [others] row; 0: all. Same as --limit");
  line.add("limit", "see --top (default: 30 for a table on standard output, else 0)");
  line.add("columns", "only these columns, in this order: kernel_type,model_time,profile_time");
  line.add("lang", "words of tables for people: en (default) or zh");
  line.add("max-error",
           "exit 1 if a row, or all together, is off by more than this many percent, or is not in the profile");
  line.add("min-share", "of rows that hold at least this many percent of either side's time");
  line.add("compat",
           "msmodeling: prints and writes what its generate_op_comparison.py does, byte for byte, known errors "
           "included; with the options of that program, --output and:");
  line.add("trace-dir", "folder of the profiles");
  line.add("data-dir", "folder of op_mapping.yaml");
}

int run_model(const Command& command, std::span<const std::string> args) {
  CommandLine line(command, {OptionGroup::kOutput, OptionGroup::kNoIngest});
  add_model_options(line);
  if (!line.parse(args)) return 0;
  const auto compat = line.text("compat");
  if (!compat) return run_own(line);
  if (*compat == "msmodeling") return run_msmodeling(line);
  throw usage_error("--compat {}: there is msmodeling", *compat);
}

}  // namespace

Command model_command() {
  return {
      "model",
      "a performance model against a profile: predicted well, badly, or not at all",
      "model [options] MODEL PROFILE",
      "  trace-query model model.json kernel_details.csv --op-map op_mapping.yaml\n"
      "  trace-query model --scenario name=prefill,model=pf.json,profile=pf.csv \\\n"
      "                    --scenario name=decode,model=dc.json,profile=dc.csv,passes=4 --max-error 20 --min-share 1\n"
      "  trace-query model --scenarios scenarios.tsv --by shape --json -o model.json\n"
      "  trace-query model --compat msmodeling --trace-dir traces --data-dir db --output out/op_comparison.json",
      run_model,
      {},
      [](std::string_view name) -> std::vector<ReportShape> {
        return {{name, "model", "summary", true, model_summary({}).columns},
                {name, "model", "operators", true, model_operators({}, ModelBy::kKernel).columns}};
      }};
}

}  // namespace tracedb
