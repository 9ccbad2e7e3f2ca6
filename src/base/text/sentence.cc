#include "base/text/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/text/amounts.h"

namespace tracedb {
namespace {

constexpr double kManyCalls = 100;  // from here on, fractions of a count say nothing

std::string count_text(double n) {
  const double nearest = std::round(n);
  const bool whole = std::abs(n - nearest) < 0.05 || std::abs(n) >= kManyCalls;
  return whole ? with_separators(fmt::format("{:.0f}", nearest)) : fmt::format("{:.1f}", n);
}

// "# layer", "# is|are".
std::string counted_text(double n, std::string_view nouns) {
  const std::size_t bar = nouns.find('|');
  const std::string one(nouns.substr(0, bar));
  const std::string many = bar == std::string_view::npos ? one + 's' : std::string(nouns.substr(bar + 1));
  const std::string number = count_text(n);
  return number + ' ' + (number == "1" ? one : many);
}

std::string number_text(double value, std::string_view form) {
  if (form == "time") return brief_time(value);
  if (form == "+time") return signed_time(value);
  if (form == "bytes") return bytes_text(value);
  if (form == "+bytes") return (value > 0 ? "+" : "") + bytes_text(value);
  if (form == "duration") return short_duration_text(value);
  if (form == "count") return count_text(value);
  if (form.starts_with("# ")) return counted_text(value, form.substr(2));
  if (form == ".0f%" || form == ".1f%") return part_text(value, form[1] - '0');
  const bool with_sign = form.ends_with('%'), percent = with_sign || form.ends_with('p');
  if (percent) form.remove_suffix(1);
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}{}", form, with_sign ? " %" : "")),
                     percent ? 100 * value : value);
}

std::string figure_text(const FigureValue& value, std::string_view form) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && form.empty()) return std::to_string(*integer);
  if (integer != nullptr) return number_text(static_cast<double>(*integer), form);
  const auto* real = std::get_if<double>(&value);
  return real != nullptr ? number_text(*real, form) : "unknown";
}

// An empty text or clause says nothing.
void keep(const Figure& figure, Figures& out) {
  const std::string name(figure.name);
  if (const auto* clause = std::get_if<Sentence>(&figure.value)) {
    if (!clause->id.empty()) out.emplace_back(name, clause->id);
    for (const auto& [inner, value] : clause->figures) out.emplace_back(fmt::format("{}.{}", name, inner), value);
    return;
  }
  const FigureValue& value = std::get<FigureValue>(figure.value);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || !text->empty()) out.emplace_back(name, value);
}

}  // namespace

Sentence say(std::string id, std::string_view text, std::initializer_list<Figure> figures) {
  Sentence out{"", std::move(id)};
  const auto wrong = [&](std::string_view name) {
    return std::logic_error(fmt::format("sentence {}: {} has no figure, or no place", out.id, name));
  };
  std::size_t filled = 0, end = 0;
  for (std::size_t begin = text.find('{'); begin != std::string_view::npos; begin = text.find('{', end)) {
    out.text += text.substr(end, begin - end);
    end = text.find('}', begin) + 1;
    const std::string_view place = text.substr(begin + 1, end - begin - 2);
    const std::size_t colon = std::min(place.find(':'), place.size());
    const auto* figure =
        std::ranges::find_if(figures, [&](const Figure& one) { return one.name == place.substr(0, colon); });
    if (figure == figures.end()) throw wrong(place);
    const auto* clause = std::get_if<Sentence>(&figure->value);
    out.text += clause != nullptr ? clause->text
                                  : figure_text(std::get<FigureValue>(figure->value),
                                                colon < place.size() ? place.substr(colon + 1) : "");
    keep(*figure, out.figures);
    ++filled;
  }
  out.text += text.substr(end);
  if (filled != figures.size()) throw wrong("a figure");
  return out;
}

Sentence with(Sentence sentence, const Figure& figure) {
  keep(figure, sentence.figures);
  return sentence;
}

Sentence joined(std::span<const Sentence> parts, std::string_view separator) {
  Sentence out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out.text += separator;
    out.text += parts[i].text;
    keep({std::to_string(i), parts[i]}, out.figures);
  }
  return out;
}

}  // namespace tracedb
