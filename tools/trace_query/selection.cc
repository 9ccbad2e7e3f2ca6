#include "trace_query/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text/closest_name.h"
#include "base/text/decimal.h"
#include "base/text/regular_expression.h"
#include "passes/columns/event_columns.h"
#include "trace_query/checked_words.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::string& option, const std::string& value, const std::string& reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--{} {}: {}", option, value, reason));
}

constexpr const char* kStepForm = "give numbers and ranges: 3, A..B, A.., ..B; 1,3,7..9";

std::optional<std::int64_t> bound(const std::string& text, const std::string& part) {
  if (part.empty()) return std::nullopt;
  const auto value = parse_int64(part);
  if (!value) fail("step", text, kStepForm);
  return value;
}

StepSpan step_span(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (text.empty() || text == "..") fail("step", text, kStepForm);
  if (dots == std::string::npos) return {bound(text, text), bound(text, text)};
  return {bound(text, text.substr(0, dots)), bound(text, text.substr(dots + 2))};
}

std::int64_t device(const std::string& text) {
  const auto value = parse_int64(text);
  if (!value || *value < 0) fail("device", text, "give a number, or several: 0,1");
  return *value;
}

void add_layer(const std::string& text, Selection& selection) {
  if (!can_name_layers(text)) {
    fail("layer", text,
         "give one number, A..B, A.., ..B, head, tail or none; where there are several stacks STACK:A..B");
  }
  selection.layer = text;
}

void add_name(const std::string& text, Selection& selection) {
  if (text.size() > 1 && text.starts_with('/') && text.ends_with('/')) {
    const std::string pattern = text.substr(1, text.size() - 2);
    if (const std::string fault = RegularExpression(pattern).fault(); !fault.empty()) fail("name", text, fault);
    selection.name_regex = pattern;
  } else if (text.find_first_of("*?[") != std::string::npos) {
    selection.name_glob = text;
  } else {
    selection.name_glob = "*" + text + "*";
  }
}

}  // namespace

std::int64_t parse_time(const std::string& text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string unit_text = end == std::string::npos ? "ns" : text.substr(end);
  const auto unit = time_unit_from(unit_text);
  const std::string digits = text.substr(0, end);
  const auto value = parse_double(digits);
  if (!unit || *unit == TimeUnit::kAuto || !value || *value * nanoseconds_per(*unit) > 9e18) {
    throw Error(ErrorCode::kUsage, fmt::format("time '{}': give a number with ns, us, ms or s", text));
  }
  if (const auto whole = parse_int64(digits)) return *whole * static_cast<std::int64_t>(nanoseconds_per(*unit));
  return std::llround(*value * nanoseconds_per(*unit));
}

Selection selection_of(const CommandLine& line) {
  Selection selection;
  for (const std::string& text : line.names("device")) selection.devices.push_back(device(text));
  for (const std::string& text : line.names("step")) selection.steps.push_back(step_span(text));
  for (const std::string& text : line.names("phase")) selection.phases.push_back(known_phase(text));
  selection.streams = line.names("stream");
  selection.ops = line.names("op");
  if (const auto layer = line.text("layer")) add_layer(*layer, selection);
  if (const auto name = line.text("name")) add_name(*name, selection);
  if (const auto from = line.text("from")) selection.from = parse_time(*from);
  if (const auto to = line.text("to")) selection.to = parse_time(*to);
  return selection;
}

std::string selection_text(const CommandLine& line) {
  std::string text;
  for (const char* option : {"device", "stream", "step", "phase", "layer", "op", "name", "from", "to"}) {
    if (!line.knows(option) || !line.has(option)) continue;
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", option, fmt::join(line.words(option), ","));
  }
  return text.empty() ? "everything" : text;
}

}  // namespace tracedb
