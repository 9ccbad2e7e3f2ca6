#include "trace/display_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/text/characters.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::size_t kLong = 56;        // letters of a name in one piece that are shown whole
constexpr std::size_t kBeginning = 28;   // of a longer one
constexpr std::size_t kDifference = 32;  // letters of the part in which names differ
constexpr std::size_t kVague = 10;       // a function's name shorter than this is shown with its namespace

bool is_alphanumeric(char c) { return is_ascii_digit(c) || is_ascii_letter(c); }

// "a::b::c" -> "c"; "b::c" where c alone says little.
std::string last_part(std::string_view path) {
  const std::size_t lambda = path.find("::{");
  if (lambda != std::string_view::npos && lambda > 0) path = path.substr(0, lambda);
  const std::size_t colon = path.rfind("::");
  if (colon == std::string_view::npos || colon + 2 >= path.size()) return std::string(path);
  const std::string_view own = path.substr(colon + 2);
  if (own.size() >= kVague) return std::string(own);
  const std::size_t outer = path.rfind("::", colon - 1);
  const std::string_view around = path.substr(outer == std::string_view::npos ? 0 : outer + 2);
  return std::string(around.starts_with("native::") ? own : around);
}

// A function that only runs what its template arguments name.
bool runs_another(std::string_view function) {
  constexpr std::array<std::string_view, 8> kRunners = {
      "elementwise_kernel", "reduce_kernel", "device_kernel", "Kernel2",
      "kernel_wrapper",     "for_each",      "kentry",        "Kernel3"};
  return contains_any(function, kRunners);
}

// Numbers, flags and types of elements say little about what a kernel does.
bool is_plain(std::string_view argument) {
  constexpr std::size_t kShort = 18;
  constexpr std::array<std::string_view, 14> kPlain = {"int",  "float",  "double", "half", "bool",  "char",  "long",
                                                       "bf16", "loat16", "Half",   "fp8",  "array", "Array", "true"};
  if (argument.empty() || is_ascii_digit(argument.front()) || argument.front() == '(' || argument == "false")
    return true;
  if (argument.find("Calculator") != std::string_view::npos || argument.find("memory::") != std::string_view::npos) {
    return true;
  }
  return argument.size() <= kShort && contains_any(argument, kPlain);
}

// A type that only wraps what is run: gpu_kernel_impl<FillFunctor>.
bool wraps_another(std::string_view type) {
  constexpr std::array<std::string_view, 6> kWrappers = {"_impl",        "gpu_",          "ReduceOp",
                                                         "UnaryFunctor", "BinaryFunctor", "enable_"};
  return contains_any(type, kWrappers);
}

// Of the first template argument that names something; "": none does.
std::string telling_argument(const KernelName& name) {
  for (std::string_view argument : name.argument_list) {
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    const KernelName type = split_kernel_name(argument);
    if (is_plain(type.path)) continue;
    const std::string inner = wraps_another(type.path) ? telling_argument(type) : std::string();
    return inner.empty() ? last_part(type.path) : inner;
  }
  return {};
}

// The first token that has numbers around an x, such as MT64x288x64; npos: there is none.
std::pair<std::size_t, std::size_t> find_tile(std::string_view text) {
  for (std::size_t x = text.find('x'); x != std::string_view::npos; x = text.find('x', x + 1)) {
    if (x == 0 || x + 1 >= text.size() || !is_ascii_digit(text[x - 1]) || !is_ascii_digit(text[x + 1])) continue;
    const std::size_t begin = text.rfind('_', x);
    const std::size_t end = std::min(text.find('_', x), text.size());
    return {begin == std::string_view::npos ? 0 : begin + 1, end};
  }
  return {std::string_view::npos, 0};
}

// A long name in one piece, without brackets.
std::string shortened(std::string text) {
  if (text.size() <= kLong || text.find_first_of("<( ") != std::string::npos) return text;
  std::size_t end = text.rfind('_', kBeginning);
  if (end == std::string::npos || end == 0) end = kBeginning;
  const auto [tile, tile_end] = find_tile(text);
  if (tile == std::string::npos) return text;
  if (tile <= end) end = tile_end;  // it is in the beginning
  std::string out = text.substr(0, end) + std::string(kEllipsis);
  if (tile > end) out += text.substr(tile, tile_end - tile);
  // A small one says why a product is slow.
  const std::size_t align = text.rfind("_align");
  if (align != std::string::npos && align >= std::max(end, tile_end)) {
    if (tile > end && align > tile_end) out += kEllipsis;
    out += text.substr(align, text.find('_', align + 1) - align);
  }
  return out;
}

struct Shown {
  std::string readable, text, telling;
};

Shown shown(std::string_view name) {
  if (const auto hlo = parse_hlo_kernel(name)) {
    Shown out = shown(hlo->kernel);
    out.text = hlo->op.starts_with(out.text) ? std::string(hlo->op) : fmt::format("{} @ {}", out.text, hlo->op);
    if (!hlo->shape.empty()) out.text.append(" ").append(hlo->shape);
    out.readable = name;
    out.telling.clear();
    return out;
  }
  Shown out{readable_name(name), {}, {}};
  const KernelName split = split_kernel_name(out.readable);
  if (split.path.empty() || split.path.size() == out.readable.size()) {
    out.text = shortened(out.readable.find("::") == std::string::npos ? out.readable : last_part(out.readable));
    return out;
  }
  out.text = shortened(last_part(split.path));
  out.telling = shortened(telling_argument(split));
  if (!out.telling.empty() && runs_another(out.text)) {
    out.text += fmt::format("<{}>", std::exchange(out.telling, {}));
  }
  return out;
}

// Of each, from the first word in which they differ: that word or, where it is not enough, what fits behind it.
std::vector<std::string> differences(const std::vector<const Shown*>& group) {
  const std::string& first = group.front()->readable;
  std::size_t same = first.size();
  for (const Shown* other : group) {
    const auto differ = std::mismatch(first.begin(), first.end(), other->readable.begin(), other->readable.end());
    same = std::min(same, static_cast<std::size_t>(differ.first - first.begin()));
  }
  while (same > 0 && is_alphanumeric(first[same - 1])) --same;
  std::vector<std::string> words, more;
  for (const Shown* each : group) {
    const std::string rest = each->readable.substr(std::min(same, each->readable.size()));
    std::size_t end = std::min(rest.size(), kDifference);
    while (end > 0 && end < rest.size() && (static_cast<unsigned char>(rest[end]) & 0xc0U) == 0x80U) --end;
    more.push_back(rest.substr(0, end) + (end < rest.size() ? std::string(kEllipsis) : ""));
    words.emplace_back(
        rest.begin(), std::find_if_not(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), is_alphanumeric));
  }
  const std::set<std::string> different(words.begin(), words.end());
  return different.size() == words.size() && !different.contains("") ? words : more;
}

// Those that share a text, in the order of their names.
std::vector<std::vector<Shown*>> groups_of_equal(std::vector<Shown>& all) {
  std::map<std::string, std::vector<Shown*>> by_text;
  for (Shown& each : all) by_text[each.text].push_back(&each);
  std::vector<std::vector<Shown*>> out;
  for (auto& [text, group] : by_text) {
    if (group.size() > 1) out.push_back(std::move(group));
  }
  return out;
}

void tell_apart(std::vector<Shown>& all) {
  for (const std::vector<Shown*>& group : groups_of_equal(all)) {
    for (Shown* each : group) {
      if (!each->telling.empty()) each->text += fmt::format("<{}>", each->telling);
    }
  }
  for (const std::vector<Shown*>& group : groups_of_equal(all)) {
    const std::vector<std::string> parts = differences({group.begin(), group.end()});
    for (std::size_t i = 0; i < group.size(); ++i) group[i]->text += fmt::format("{}{}", kEllipsis, parts[i]);
  }
  std::set<std::string> taken;
  for (const Shown& each : all) taken.insert(each.text);
  for (const std::vector<Shown*>& group : groups_of_equal(all)) {
    std::size_t number = 0;
    for (Shown* each : group) {
      std::string text;
      do text = fmt::format("{} #{}", each->text, ++number);
      while (!taken.insert(text).second);
      each->text = std::move(text);
    }
  }
}

}  // namespace

std::string display_name(std::string_view name) { return shown(name).text; }

std::vector<std::string> display_names(std::span<const std::string> names) {
  const std::set<std::string> different(names.begin(), names.end());
  std::vector<Shown> all;
  all.reserve(different.size());
  for (const std::string& name : different) all.push_back(shown(name));
  tell_apart(all);
  std::map<std::string_view, const std::string*> text_of;
  std::size_t i = 0;
  for (const std::string& name : different) text_of.emplace(name, &all[i++].text);
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(*text_of.at(name));
  return out;
}

}  // namespace tracedb
