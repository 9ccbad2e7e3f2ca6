#include "present/baseline_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "report/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kSchema = "tracedb.baseline/1", kSetSchema = "tracedb.baseline_set/1";
constexpr const char* kNotJson = "not JSON, or cut off";
constexpr std::uint64_t kLargestFile = 256'000'000;

[[noreturn]] void fail(const std::filesystem::path& path, const char* why) {
  throw Error(ErrorCode::kInput,
              fmt::format("{}: {}: make one with trace-query compare TRACE --save-baseline FILE, of several runs "
                          "--baseline X... --save-baseline FILE",
                          printable_path(path), why));
}

std::string whole_file(const std::filesystem::path& path) {
  const InputFile file(path);
  if (!file.is_regular() || file.size() > kLargestFile) fail(path, "not a baseline file");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read_at(0, text.data(), text.size()));
  return text;
}

// Missing values would count as zeros: better no answer than one from a damaged file.
void check_samples(const std::filesystem::path& path, const KindSamples& kind) {
  const auto steps = [&](StepMetric metric) {
    const auto found = kind.samples.find(std::string(to_string(metric)));
    return found == kind.samples.end() ? 0 : static_cast<std::int64_t>(found->second.size());
  };
  for (const StepMetric metric : {StepMetric::kSpan, StepMetric::kBusy, StepMetric::kKernelTime}) {
    if (kind.steps <= 0 || steps(metric) != kind.steps) fail(path, "not one value for each step");
  }
  for (const auto& [measure, values] : kind.samples) {
    if (static_cast<std::int64_t>(values.size()) > kind.steps) fail(path, "more values than steps");
    const auto least = std::ranges::min_element(values);
    if (least != values.end() && *least < 0) fail(path, "a time below 0");
  }
}

void read_samples(Database& database, const std::string& json, const std::filesystem::path& path, KindSamples& kind) {
  Statement rows(
      database,
      "SELECT m.key, v.value, typeof(v.value) = 'integer' FROM json_each(?1, '$.samples') m, json_each(m.value) v",
      json);
  while (rows.step()) {
    if (rows.int64(2) == 0) fail(path, "a value that is no whole number");
    kind.samples[std::string(rows.text(0))].push_back(rows.int64(1));
  }
}

}  // namespace

std::string to_json(const StepSamples& samples) {
  std::string text = fmt::format("{{\"schema\": {},\n \"trace\": {},\n \"devices\": {},\n", json_string(kSchema),
                                 json_string(samples.trace), json_string(samples.devices));
  if (const auto& recording = samples.recording) {
    text += fmt::format(" \"recording\": {{\"stacks\": {}, \"shapes\": {}}},\n", recording->stacks, recording->shapes);
  }
  text += " \"kinds\": [";
  const char* separator = "\n";
  for (const KindSamples& kind : samples.kinds) {
    text += fmt::format(
        "{}  {{\"kind\": {}, \"steps\": {}, \"requests\": {}, \"tokens\": {},\n   \"waits\": {{\"gaps\": {}, "
        "\"waiting\": {}, \"calls\": {}, \"periods\": {}}},\n   \"samples\": {{",
        std::exchange(separator, ",\n"), json_string(kind.kind), kind.steps, kind.requests, kind.tokens,
        kind.waits.gaps, kind.waits.waiting, kind.waits.calls, kind.waits.periods);
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
  Statement head(database,
                 "SELECT json_extract(?1, '$.schema'), json_type(?1, '$.kinds') = 'array' AND NOT EXISTS "
                 "(SELECT 1 FROM json_each(?1, '$.kinds') WHERE type <> 'object' OR json_type(value, '$.kind') IS NOT "
                 "'text' OR json_type(value, '$.steps') IS NOT 'integer' OR json_type(value, '$.samples') IS NOT "
                 "'object'), json_extract(?1, '$.trace'), json_extract(?1, '$.devices'), json_type(?1, '$.recording') "
                 "= 'object', json_extract(?1, '$.recording.stacks'), json_extract(?1, '$.recording.shapes') "
                 "WHERE json_valid(?1)",
                 json);
  if (!head.step()) fail(path, kNotJson);
  if (head.text(0) != kSchema) fail(path, "not a baseline file");
  if (head.int64(1) != 1) fail(path, "not a baseline file: its kinds of steps are unreadable");
  StepSamples out{std::string(head.text(2)), std::string(head.text(3)), {}, {}};
  // Files of earlier versions do not say.
  if (head.int64(4) == 1) out.recording = Recording{head.int64(5) == 1, head.int64(6) == 1};
  Statement kinds(database,
                  "SELECT json_extract(value, '$.kind'), json_extract(value, '$.steps'), json_extract(value, "
                  "'$.requests'), json_extract(value, '$.tokens'), json_extract(value, '$.waits.gaps'), "
                  "json_extract(value, '$.waits.waiting'), json_extract(value, '$.waits.calls'), "
                  "json_extract(value, '$.waits.periods'), value FROM json_each(?1, '$.kinds')",
                  json);
  while (kinds.step()) {
    const HostWaits waits{kinds.int64(4), kinds.int64(5), kinds.int64(6), kinds.int64(7)};
    KindSamples kind{std::string(kinds.text(0)), kinds.int64(1), kinds.int64(2), kinds.int64(3), waits, {}};
    read_samples(database, std::string(kinds.text(8)), path, kind);
    check_samples(path, kind);
    out.kinds.push_back(std::move(kind));
  }
  return out;
}

std::string to_json(const std::vector<NamedRun>& runs) {
  std::string text = fmt::format("{{\"schema\": {},\n \"runs\": [", json_string(kSetSchema));
  const char* separator = "\n";
  for (const NamedRun& one : runs) {
    std::vector<std::string> ranks;
    for (const RollUp& rank : one.run.ranks) ranks.push_back(json_string(to_text(rank)));
    text += fmt::format(
        "{}  {{\"name\": {}, \"gpu\": {}, \"date_ns\": {}, \"trace\": {}, \"hash\": {},\n   \"ranks\": [{}]}}",
        std::exchange(separator, ",\n"), json_string(one.run.name), json_string(one.source.gpu), one.source.date_ns,
        json_string(one.source.traces.empty() ? "" : one.source.traces.front()), json_string(one.source.hash),
        fmt::join(ranks, ",\n    "));
  }
  return text + "]}\n";
}

bool is_baseline_set(const std::filesystem::path& path) {
  bool out = false;
  catch_error([&] {
    Database database(":memory:", Database::Mode::kMemory);
    const std::string json = whole_file(path);
    out = database.query_int64("SELECT json_extract(?1, '$.schema') = ?2 WHERE json_valid(?1)", json, kSetSchema) == 1;
  });
  return out;
}

std::vector<NamedRun> read_baseline_set(const std::filesystem::path& path) {
  Database database(":memory:", Database::Mode::kMemory);
  const std::string json = whole_file(path);
  if (database.query_int64("SELECT json_valid(?1)", json) != 1) fail(path, kNotJson);
  if (!is_baseline_set(path)) fail(path, "not a baseline file of a set of runs");
  Statement rows(database,
                 "SELECT r.key, json_extract(r.value, '$.name'), json_extract(r.value, '$.gpu'), json_extract(r.value, "
                 "'$.date_ns'), json_extract(r.value, '$.trace'), json_extract(r.value, '$.hash'), k.value "
                 "FROM json_each(?1, '$.runs') r, json_each(r.value, '$.ranks') k ORDER BY r.key, k.key",
                 json);
  std::vector<NamedRun> out;
  std::int64_t before = -1;
  while (rows.step()) {
    if (rows.int64(0) != std::exchange(before, rows.int64(0))) {
      NamedRun& one = out.emplace_back();
      one.run.name = one.source.name = rows.text(1);
      one.source.gpu = rows.text(2);
      one.source.date_ns = rows.int64(3);
      if (!rows.text(4).empty()) one.source.traces = {std::string(rows.text(4))};
      one.source.hash = rows.text(5);
    }
    auto rank = roll_up_of(rows.text(6));
    if (!rank) fail(path, "a run that this version cannot read: save the baseline anew");
    out.back().run.ranks.push_back(std::move(*rank));
  }
  if (out.empty()) fail(path, "a baseline without runs");
  return out;
}

}  // namespace tracedb
