#include "query_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/closest_name.h"
#include "base/decimal.h"
#include "base/error.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::string& option, const std::string& value, const std::string& reason) {
  throw Error(ErrorCode::kUsage, fmt::format("--{} {}: {}", option, value, reason));
}

Cell bound(const std::string& option, const std::string& text) {
  if (text.empty()) return std::monostate{};
  const auto value = parse_int64(text);
  if (!value) fail("step", option, "give one number, A..B, A.. or ..B");
  return *value;
}

void add_steps(const std::string& text, Parameters& parameters) {
  const std::size_t dots = text.find("..");
  if (text.empty() || text == "..") fail("step", text, "give one number, A..B, A.. or ..B");
  if (dots == std::string::npos) {
    parameters["step_first"] = parameters["step_last"] = bound(text, text);
  } else {
    parameters["step_first"] = bound(text, text.substr(0, dots));
    parameters["step_last"] = bound(text, text.substr(dots + 2));
  }
}

void add_phase(const std::string& text, Parameters& parameters) {
  static const std::vector<std::string> kKinds = {"prefill", "decode", "mixed", "other", "unknown", "none"};
  if (std::find(kKinds.begin(), kKinds.end(), text) == kKinds.end()) {
    fail("phase", text, "there are prefill, decode, mixed, other, unknown and none" + did_you_mean(text, kKinds));
  }
  parameters["phase"] = text;
}

void add_name(const std::string& text, Parameters& parameters) {
  if (text.size() > 1 && text.starts_with('/') && text.ends_with('/')) {
    parameters["regex"] = text.substr(1, text.size() - 2);
  } else if (text.find_first_of("*?[") != std::string::npos) {
    parameters["glob"] = text;
  } else {
    parameters["glob"] = "*" + text + "*";
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

Parameters selection_parameters(const CommandLine& line) {
  Parameters parameters;
  if (const auto device = line.number("device")) parameters["device"] = *device;
  if (const auto stream = line.text("stream")) parameters["stream"] = *stream;
  if (const auto step = line.text("step")) add_steps(*step, parameters);
  if (const auto phase = line.text("phase")) add_phase(*phase, parameters);
  if (const auto name = line.text("name")) add_name(*name, parameters);
  if (const auto from = line.text("from")) parameters["from_ts"] = parse_time(*from);
  if (const auto to = line.text("to")) parameters["to_ts"] = parse_time(*to);
  return parameters;
}

}  // namespace tracedb
