#include "make_trace/trace_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "base/error.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 5> kModels = {"serve", "train", "vision+text", "encoder+decoder", "diffusion"};

[[noreturn]] void reject(std::string_view option, std::string_view text, std::string_view expected) {
  throw Error(ErrorCode::kUsage, fmt::format("{}: '{}' is not {}", option, text, expected));
}

template <class Integer>
std::optional<Integer> parse_whole(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The half-step offset keeps mixed steps away from step 0, which is a prefill wherever there are any.
bool falls_on(std::int64_t step, std::int64_t ppm, std::int64_t offset) {
  return (step * ppm + offset) % kMillion < ppm;
}

}  // namespace

std::string_view to_text(Vendor vendor) { return vendor == Vendor::kAmd ? "amd" : "nvidia"; }
std::string_view to_text(Dialect dialect) { return dialect == Dialect::kNew ? "new" : "old"; }

std::string_view to_text(StepKind kind) {
  constexpr std::string_view kNames[] = {"prefill", "decode", "mixed", "train", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_text(ModelKind kind) { return kModels[static_cast<std::size_t>(kind)]; }

ModelKind parse_model(std::string_view text) {
  for (std::size_t at = 0; at < kModels.size(); ++at) {
    if (kModels[at] == text) return static_cast<ModelKind>(at);
  }
  reject("--model", text, fmt::format("one of {}", fmt::join(kModels, " ")));
}

StepKind step_kind(const TraceOptions& options, std::int64_t step) {
  if (options.model != ModelKind::kServe) {
    return options.model == ModelKind::kTrain ? StepKind::kTrain : StepKind::kOther;
  }
  if (!options.mix.empty()) return options.mix[static_cast<std::size_t>(step) % options.mix.size()];
  if (falls_on(step, options.prefill_ppm, 0)) return StepKind::kPrefill;
  return falls_on(step, options.mixed_ppm, kMillion / 2) ? StepKind::kMixed : StepKind::kDecode;
}

std::optional<std::int64_t> parse_integer(std::string_view text) { return parse_whole<std::int64_t>(text); }

std::int64_t parse_ppm(std::string_view option, std::string_view text) {
  const auto dot = text.find('.');
  const auto whole = parse_whole<std::int64_t>(text.substr(0, dot));
  std::string fraction(dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1));
  fraction.resize(6, '0');
  const auto parts = parse_whole<std::int64_t>(fraction);
  if (!whole || !parts || *whole < 0 || *whole > 1000 || *parts < 0) reject(option, text, "a number such as 1.25");
  return *whole * kMillion + *parts;
}

std::uint64_t parse_size(std::string_view option, std::string_view text) {
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (!text.empty()) {
    const char suffix = text.back();
    if (suffix == 'K' || suffix == 'k') unit = 1'000;
    if (suffix == 'M' || suffix == 'm') unit = 1'000'000;
    if (suffix == 'G' || suffix == 'g') unit = 1'000'000'000;
    if (unit > 1) digits.remove_suffix(1);
  }
  const auto value = parse_whole<std::uint64_t>(digits);
  if (!value || *value > (1ULL << 50) / unit) reject(option, text, "a size such as 200M or 1G");
  return *value * unit;
}

bool parse_switch(std::string_view option, std::string_view text) {
  if (text == "on") return true;
  if (text != "off") reject(option, text, "on or off");
  return false;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

std::vector<StepKind> parse_mix(std::string_view text) {
  std::vector<StepKind> mix;
  for (const std::string& part : split_list(text)) {
    const std::string_view item = part;
    const auto star = item.find('*');
    const std::string_view kind = item.substr(0, star);
    const auto count = star == std::string_view::npos ? std::optional(1) : parse_whole<int>(item.substr(star + 1));
    if (!count || *count < 1 || *count > 100'000) reject("--mix", part, "a step such as D*8");
    StepKind value = StepKind::kMixed;
    if (kind == "P")
      value = StepKind::kPrefill;
    else if (kind == "D")
      value = StepKind::kDecode;
    else if (kind != "M")
      reject("--mix", part, "P, D or M with an optional *COUNT");
    mix.insert(mix.end(), static_cast<std::size_t>(*count), value);
  }
  return mix;
}

LayerTarget parse_target(std::string_view option, std::string_view text, bool with_factor) {
  LayerTarget target;
  std::string_view name = text;
  if (with_factor) {
    const auto equals = name.find('=');
    if (equals == std::string_view::npos) reject(option, text, "NAME=FACTOR, e.g. dense_gemm=1.3");
    target.factor_ppm = parse_ppm(option, name.substr(equals + 1));
    if (target.factor_ppm == 0) reject(option, text, "NAME=FACTOR with a factor above 0");
    name = name.substr(0, equals);
  }
  const auto at = name.find('@');
  if (at != std::string_view::npos) {
    target.layer = parse_whole<int>(name.substr(at + 1));
    if (!target.layer) reject(option, text, "NAME@LAYER");
    name = name.substr(0, at);
  }
  target.name = std::string(name);
  return target;
}

}  // namespace tracedb
