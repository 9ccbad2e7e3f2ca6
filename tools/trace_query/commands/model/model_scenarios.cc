#include "trace_query/commands/model/model_scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"
#include "base/python/json.h"
#include "base/stream/csv_reader.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"

namespace tracedb {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 5> kKeys = {"name", "model", "profile", "passes", "m6"};

double positive(std::string_view what, const std::string& text) {
  constexpr double kLeast = 1e-6, kMost = 1e9;
  const auto value = parse_double(text);
  if (value && *value >= kLeast && *value <= kMost) return *value;
  throw Error(ErrorCode::kUsage, fmt::format("{} {}: give a number above 0", what, text));
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
      if (values[key].empty()) throw Error(ErrorCode::kUsage, fmt::format("{}: has no {}", what, key));
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
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals != std::string::npos && std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end()) {
      key = name;
      values[key] = part.substr(equals + 1);
    } else if (key.empty()) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("--scenario {}: '{}' is not one of {}=...{}", text, part, fmt::join(kKeys, "=, "),
                              did_you_mean(name, std::vector<std::string>(kKeys.begin(), kKeys.end()))));
    } else {
      values[key] += "," + part;
    }
    at = end + 1;
  }
  return request_of(std::move(values), "--scenario " + text);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    cells.emplace_back(trim_space(std::string_view(line).substr(at, end - at)));
    at = end + 1;
  }
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
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (trim_space(line).empty() || line.starts_with('#')) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (heads.empty()) {
      for (const std::string& cell : cells) heads.push_back(key_of_column(cell));
      for (const char* key : {"model", "profile"}) {
        if (std::find(heads.begin(), heads.end(), key) != heads.end()) continue;
        throw Error(ErrorCode::kInput,
                    fmt::format("{}: the head of the table has no column '{}'; it needs model and profile, "
                                "and may have name, passes and m6",
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

}  // namespace

void add_scenario_options(CommandLine& line) {
  line.add("scenario", OptionKind::kList,
           "name=NAME,model=FILE,profile=FILE and, if wanted, passes=N or m6=FILE; may be given several times");
  line.add("scenarios", OptionKind::kValue,
           "a table of them, with a head: TABs between name, model, profile, passes, m6");
  line.add("model", OptionKind::kValue, "the model's trace, of a single scenario");
  line.add("profile", OptionKind::kValue, "its profile");
  line.add("passes", OptionKind::kValue,
           "forward passes that a profile holds (default: n_forward_passes of the scenario's m6 file, else 1)");
}

std::vector<ScenarioRequest> requested_scenarios(const CommandLine& line) {
  std::vector<ScenarioRequest> out;
  for (const std::string& text : line.list("scenario")) out.push_back(parse_scenario(text));
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
    throw Error(
        ErrorCode::kUsage,
        fmt::format("model: give a model and a profile, or --scenario; usage: trace-query {}", line.command().usage));
  }
  return out;
}

double passes_of(const ScenarioRequest& request, const CommandLine& line) {
  if (request.passes) return *request.passes;
  if (!request.m6.empty()) {
    using python::Kind;
    const python::Value m6 = python::read_json_file(request.m6);
    const python::Value* passes = m6.find("n_forward_passes");
    if (passes == nullptr) return 1;
    const std::string what = printable_path(request.m6) + ": n_forward_passes";
    if (passes->kind == Kind::kInt || passes->kind == Kind::kFloat) return positive(what, str(*passes));
    throw Error(ErrorCode::kInput, what + " is no number");
  }
  const auto given = line.text("passes");
  return given ? positive("--passes", *given) : 1;
}

}  // namespace tracedb
