#include "passes/layers/numbered_layers.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/text/ascii.h"
#include "passes/columns/event_columns.h"

namespace tracedb {

std::optional<std::int32_t> layer_number(std::string_view name) {
  const std::string text = ascii_lower(name);
  for (const std::string_view word : {"layers", "layer", "blocks", "block", ".h"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      std::size_t begin = at + word.size();
      if (begin < text.size() && std::string_view("._ #:[/").find(text[begin]) != std::string_view::npos) ++begin;
      std::int32_t number = 0;
      const auto end = std::from_chars(text.data() + begin, text.data() + text.size(), number);
      const bool ends =
          end.ptr == text.data() + text.size() || std::string_view("._ #:]/)").find(*end.ptr) != std::string_view::npos;
      constexpr std::int32_t kMost = 10000;
      if (end.ec == std::errc{} && ends && number >= 0 && number < kMost) return number;
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> annotation_layers(const Index& index) {
  const EventColumns annotations(index, "annotation", {"name_id", "parent_id"});
  const auto names = annotations.ids("name_id");
  const auto parents = annotations.ids("parent_id");
  std::vector<std::int32_t> of_name;  // -2: not looked at
  Statement text(index.database(), "SELECT value FROM string WHERE id = ?");
  std::vector<std::int32_t> out(annotations.size() + 1, -1);
  bool any = false;
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    if (names[i] >= of_name.size()) of_name.resize(std::size_t{names[i]} * 2 + 1, -2);
    std::int32_t& layer = of_name[names[i]];
    if (layer == -2) {
      text.bind(1, std::int64_t{names[i]});
      layer = text.step() ? layer_number(text.text(0)).value_or(-1) : -1;
      text.reset();
    }
    any = any || layer >= 0;
    out[i + 1] = layer >= 0 ? layer : parents[i] <= i ? out[parents[i]] : -1;
  }
  if (!any) out.clear();
  return out;
}

namespace {

// Layers of strings that may be names of operators, by id. Few strings have a number behind one of the words, so most
// traces end here.
std::unordered_map<std::uint32_t, std::int32_t> numbered_strings(const Index& index) {
  std::unordered_map<std::uint32_t, std::int32_t> layers;
  Statement rows(index.database(), "SELECT id, value FROM string");
  while (rows.step()) {
    const std::string_view value = rows.text(1);
    if (value.find_first_of("0123456789") == std::string_view::npos || value.starts_with("nn.Module: ")) continue;
    if (const auto layer = layer_number(value)) layers.emplace(rows.id(0), *layer);
  }
  return layers;
}

// Numbers of something else are few, or anything: a size, an address, the place in a list of kernels.
bool look_like_layers(const std::vector<std::int32_t>& layers) {
  std::vector<bool> seen;
  for (const std::int32_t layer : layers) {
    if (layer < 0) continue;
    const auto place = static_cast<std::size_t>(layer);
    if (place >= seen.size()) seen.resize(place + 1);
    seen[place] = true;
  }
  const auto count = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
  constexpr std::size_t kOneMissingOf = 10;
  return count > 1 && (seen.size() - count) * kOneMissingOf <= count + kOneMissingOf;
}

}  // namespace

std::vector<std::int32_t> operator_layers(const Index& index) {
  const auto layers = numbered_strings(index);
  if (layers.empty()) return {};
  const EventColumns operators(index, "cpu_op", {"name_id", "parent_id"});
  const auto names = operators.ids("name_id");
  const auto parents = operators.ids("parent_id");
  std::vector<std::int32_t> out(operators.size() + 1, -1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int32_t outer = parents[i] <= i ? out[parents[i]] : -1;
    const auto own = outer >= 0 ? layers.end() : layers.find(names[i]);
    out[i + 1] = own != layers.end() ? own->second : outer;
  }
  if (!look_like_layers(out)) out.clear();
  return out;
}

}  // namespace tracedb
