#include "compare_baseline_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "report/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kSchema = "tracedb.baseline/1";
constexpr std::uint64_t kLargestFile = 256'000'000;
constexpr std::int64_t kMostSteps = 10'000'000;

[[noreturn]] void fail(const std::filesystem::path& path, const char* why) {
  throw Error(ErrorCode::kInput, fmt::format("{}: {}: make one with trace-query compare TRACE --save-baseline FILE",
                                             printable_path(path), why));
}

std::string whole_file(const std::filesystem::path& path) {
  const InputFile file(path);
  if (!file.is_regular() || file.size() > kLargestFile) fail(path, "not a baseline file");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read_at(0, text.data(), text.size()));
  return text;
}

std::string text_at(Database& database, const std::string& json, const char* path) {
  Statement row(database, "SELECT json_extract(?1, ?2)");
  row.bind(1, json).bind(2, path);
  return row.step() ? std::string(row.text(0)) : std::string();
}

void read_samples(Database& database, const std::string& json, KindSamples& kind) {
  Statement rows(database,
                 "SELECT m.key, v.value FROM json_each(?1, '$.samples') m, json_each(m.value) v "
                 "WHERE typeof(v.value) = 'integer'");
  rows.bind(1, json);
  while (rows.step()) kind.samples[std::string(rows.text(0))].push_back(rows.int64(1));
}

}  // namespace

std::string to_json(const StepSamples& samples) {
  std::string text = fmt::format("{{\"schema\": {},\n \"trace\": {},\n \"devices\": {},\n \"kinds\": [",
                                 json_string(kSchema), json_string(samples.trace), json_string(samples.devices));
  const char* separator = "\n";
  for (const KindSamples& kind : samples.kinds) {
    text +=
        fmt::format("{}  {{\"kind\": {}, \"steps\": {}, \"requests\": {}, \"tokens\": {},\n   \"samples\": {{",
                    std::exchange(separator, ",\n"), json_string(kind.kind), kind.steps, kind.requests, kind.tokens);
    const char* between = "\n";
    for (const auto& [measure, values] : kind.samples) {
      text +=
          fmt::format("{}    {}: [{}]", std::exchange(between, ",\n"), json_string(measure), fmt::join(values, ","));
    }
    text += "}}";
  }
  return text + "]}\n";
}

StepSamples read_baseline_file(Database& database, const std::filesystem::path& path) {
  const std::string json = whole_file(path);
  Statement valid(database, "SELECT json_valid(?1)");
  valid.bind(1, json);
  if (!valid.step() || valid.int64(0) != 1) fail(path, "not JSON");
  if (text_at(database, json, "$.schema") != kSchema) fail(path, "not a baseline file");
  StepSamples out{text_at(database, json, "$.trace"), text_at(database, json, "$.devices"), {}};
  Statement sound(database,
                  "SELECT json_type(?1, '$.kinds') = 'array' AND NOT EXISTS (SELECT 1 FROM json_each(?1, '$.kinds') "
                  "WHERE type <> 'object' OR json_type(value, '$.kind') IS NOT 'text' OR "
                  "json_type(value, '$.steps') IS NOT 'integer' OR json_type(value, '$.samples') IS NOT 'object')");
  sound.bind(1, json);
  if (!sound.step() || sound.int64(0) != 1) fail(path, "not a baseline file: its kinds of steps are unreadable");
  Statement kinds(database,
                  "SELECT json_extract(value, '$.kind'), json_extract(value, '$.steps'), "
                  "json_extract(value, '$.requests'), json_extract(value, '$.tokens'), value "
                  "FROM json_each(?1, '$.kinds')");
  kinds.bind(1, json);
  while (kinds.step()) {
    KindSamples kind{std::string(kinds.text(0)), kinds.int64(1), kinds.int64(2), kinds.int64(3), {}};
    if (kind.steps < 0 || kind.steps > kMostSteps) fail(path, "an impossible number of steps");
    read_samples(database, std::string(kinds.text(4)), kind);
    for (const auto& [measure, values] : kind.samples) {
      if (static_cast<std::int64_t>(values.size()) > kind.steps) fail(path, "more values than steps");
    }
    out.kinds.push_back(std::move(kind));
  }
  return out;
}

}  // namespace tracedb
