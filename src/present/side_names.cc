#include "present/side_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text/characters.h"

namespace tracedb {
namespace {

constexpr std::size_t kShortest = 2, kLongest = 24;

std::vector<std::string> cut(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// The first word of a device's name that looks like a model (letters, then digits) and that the other has not.
std::optional<std::string> model_of(std::string_view devices, std::string_view other) {
  const std::vector<std::string> others = cut(other, " -");
  for (const std::string& word : cut(devices, " -")) {
    const bool model = is_ascii_letter(word.front()) && std::ranges::any_of(word, is_ascii_digit);
    if (model && std::ranges::find(others, word) == others.end()) return word;
  }
  return std::nullopt;
}

// Without the endings of trace files.
std::string_view stem(std::string_view label) {
  constexpr std::array<std::string_view, 7> kEndings = {".tracedb", ".gz", ".zst", ".json", ".trace", ".pt", ".chrome"};
  for (bool cut_one = true; cut_one;) {
    cut_one = false;
    for (const std::string_view ending : kEndings) {
      if (!label.ends_with(ending) || label.size() == ending.size()) continue;
      label.remove_suffix(ending.size());
      cut_one = true;
    }
  }
  return label;
}

// Tells no two traces apart, and begins no sentence.
bool is_vendor(std::string_view word) {
  constexpr std::array<std::string_view, 6> kVendors = {"unknown", "nvidia", "amd", "intel", "ascend", "meta"};
  return std::ranges::find(kVendors, word) != kVendors.end();
}

constexpr std::string_view kSeparators = "_-. /";

// What is left of labels without the words that both begin and end with.
std::optional<SideNames> different_parts(std::string_view a, std::string_view b) {
  a = stem(a);
  b = stem(b);
  const auto is_separator = [](char c) { return kSeparators.find(c) != std::string_view::npos; };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (!is_separator(a[i])) continue;
    constexpr std::string_view kNegations[] = {"no", "non", "not", "without"};  // their words mean the opposite alone
    if (std::ranges::find(kNegations, a.substr(begin, i - begin)) != std::end(kNegations)) break;
    begin = i + 1;
  }
  a.remove_prefix(begin);
  b.remove_prefix(begin);
  std::size_t end = 0;
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()) && a[a.size() - i] == b[b.size() - i]; ++i) {
    if (is_separator(a[a.size() - i])) end = i;
  }
  a.remove_suffix(end);
  b.remove_suffix(end);
  if (a == b || std::min(a.size(), b.size()) < kShortest || std::max(a.size(), b.size()) > kLongest) return {};
  if (is_vendor(a) || is_vendor(b)) return {};
  return SideNames{std::string(a), std::string(b)};
}

}  // namespace

SideNames side_names(std::string_view baseline_devices, std::string_view candidate_devices,
                     std::string_view baseline_label, std::string_view candidate_label) {
  const auto a = model_of(baseline_devices, candidate_devices);
  const auto b = model_of(candidate_devices, baseline_devices);
  if (a && b) return {*a, *b};
  if (auto names = different_parts(baseline_label, candidate_label)) return *std::move(names);
  return {"the baseline", "the candidate"};
}

}  // namespace tracedb
