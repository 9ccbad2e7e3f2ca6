#include "ascend/op_mapping.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/failure.h"
#include "base/stream/csv_reader.h"
#include "base/text/characters.h"
#include "base/text/split.h"

namespace tracedb {
namespace {

constexpr std::string_view kNestedRoot = "operator_mappings";

bool is_plain(const YAML::Node& node) { return node.Tag() == "?" || node.Tag().empty(); }

bool is_zero(std::string text) {
  std::erase(text, '_');
  if (text.starts_with('+') || text.starts_with('-')) text.erase(0, 1);
  if (text.starts_with("0x") || text.starts_with("0b")) text.erase(0, 2);
  return !text.empty() && text != "." && text.find_first_not_of("0.") == std::string::npos;
}

// bool(x) of what a YAML 1.1 reader makes of it.
bool is_true(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return false;
  if (!node.IsScalar()) return node.size() > 0;
  const std::string& text = node.Scalar();
  if (text.empty() || !is_plain(node)) return !text.empty();
  constexpr std::array<std::string_view, 6> kFalse = {"false", "no", "off", "null", "~", ""};
  // YAML knows false, False and FALSE.
  const std::string lower = ascii_lower(text);
  const bool one_case = text.size() < 2 || text.substr(1) == lower.substr(1) ||
                        std::ranges::none_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
  const bool is_false = one_case && std::ranges::find(kFalse, lower) != kFalse.end();
  return !is_false && !is_zero(text);
}

using Members = std::vector<std::pair<std::string, YAML::Node>>;

// Those merged in first, so that the last of equal keys counts.
Members members_of(const YAML::Node& map, int depth = 0) {
  constexpr int kDeepest = 50;
  Members out;
  if (depth > kDeepest) return out;
  const auto merge = [&](const YAML::Node& other) {
    if (!other.IsMap()) return;
    for (auto& member : members_of(other, depth + 1)) out.push_back(std::move(member));
  };
  const auto is_merge = [](const YAML::Node& key) { return key.IsScalar() && is_plain(key) && key.Scalar() == "<<"; };
  for (const auto& member : map) {
    if (!is_merge(member.first)) continue;
    if (member.second.IsSequence()) {
      for (std::size_t i = member.second.size(); i-- > 0;) merge(member.second[i]);
    } else {
      merge(member.second);
    }
  }
  for (const auto& member : map) {
    if (member.first.IsScalar() && !is_merge(member.first)) out.emplace_back(member.first.Scalar(), member.second);
  }
  return out;
}

OpMappingEntry entry_of(const YAML::Node& node) {
  OpMappingEntry entry;
  if (!node.IsMap()) return entry;
  entry.is_map = node.size() > 0;
  for (const auto& [key, value] : members_of(node)) {
    if (key == "zero_cost") entry.zero_cost = is_true(value);
    if (key == "kernel_type") entry.kernel_type = is_true(value) && value.IsScalar() ? value.Scalar() : std::string();
  }
  return entry;
}

std::optional<YAML::Node> member(const YAML::Node& map, std::string_view name) {
  std::optional<YAML::Node> found;
  if (!map.IsMap()) return found;
  for (const auto& [key, value] : members_of(map)) {
    if (key == name) found.emplace(value);
  }
  return found;
}

YAML::Node load(const std::string& text, std::string_view name) {
  std::vector<YAML::Node> documents;
  if (const auto error = catch_error([&] { documents = YAML::LoadAll(text); })) {
    if (error->code() != ErrorCode::kResource) throw *error;
    throw Error(ErrorCode::kInput, fmt::format("{}: not YAML: {}", name, error->what()));
  }
  if (documents.size() > 1) throw Error(ErrorCode::kInput, fmt::format("{}: more than one YAML document", name));
  return documents.empty() ? YAML::Node() : documents.front();
}

}  // namespace

OpMapping OpMapping::parse(const std::string& text, std::string_view name, std::string_view root) {
  YAML::Node top = load(text, name);
  OpMapping out;
  if (!is_true(top)) return out;
  std::optional<YAML::Node> chosen = top;
  if (root == kAuto) {
    const auto nested = member(top, kNestedRoot);
    if (nested && nested->IsMap()) chosen = nested;
  } else if (root != kTop) {
    chosen = member(top, root);
    if (!chosen) throw Error(ErrorCode::kInput, fmt::format("{}: has no key '{}'", name, root));
  }
  if (!chosen->IsMap()) throw Error(ErrorCode::kInput, fmt::format("{}: no mapping of operators", name));
  for (const auto& [op, value] : members_of(*chosen)) {
    if (is_true(value)) {
      out.entries_[op] = entry_of(value);
    } else {
      out.entries_.erase(op);
    }
  }
  return out;
}

const OpMappingEntry* OpMapping::find(std::string_view op) const {
  auto found = entries_.find(short_op_name(op));
  if (found == entries_.end()) found = entries_.find(op);
  return found == entries_.end() || !found->second.is_map ? nullptr : &found->second;
}

std::string short_op_name(std::string_view op) {
  constexpr std::string_view kPrefix = "torch.ops.";
  std::string out(op);
  for (std::size_t at = 0; (at = out.find(kPrefix, at)) != std::string::npos;) out.erase(at, kPrefix.size());
  return out;
}

std::vector<std::string> kernel_types_in(std::string_view text) {
  std::vector<std::string> types;
  for (const std::string_view part : split_text(text, ',')) {
    const std::string_view type = trim_space(part);
    if (!type.empty()) types.emplace_back(type);
  }
  return types;
}

}  // namespace tracedb
