// Sentences about a trace: templates with named figures, so that programs and tests read the figures by their names and
// not the English. Pure.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tracedb {

// In base units: times in ns, shares as parts of 1. monostate: not known.
using FigureValue = std::variant<std::monostate, std::int64_t, double, std::string>;

using Figures = std::vector<std::pair<std::string, FigureValue>>;

struct Sentence {
  std::string text;     // as people read it
  std::string id = {};  // what kind of sentence it is: "compare.headline"; "": it has no figures worth a name
  Figures figures = {};
};

// What fills the place of its name: a value, or a clause, whose figures come along as "name.figure", and its id as
// "name".
struct Figure {
  std::string_view name;
  std::variant<FigureValue, Sentence> value;

  Figure(std::string_view named, std::integral auto n)
      : name(named), value(FigureValue(static_cast<std::int64_t>(n))) {}
  Figure(std::string_view named, double number) : name(named), value(FigureValue(number)) {}
  Figure(std::string_view named, std::string_view text) : name(named), value(FigureValue(std::string(text))) {}
  Figure(std::string_view named, const std::string& text) : name(named), value(FigureValue(text)) {}
  Figure(std::string_view named, const char* text) : name(named), value(FigureValue(std::string(text))) {}
  Figure(std::string_view named, Sentence clause) : name(named), value(std::move(clause)) {}
};

// Fills the places of a template. How a figure is written stands behind its name:
//
//   {name}           texts, clauses and plain integers
//   {name:time}      "25.6 ms": three digits; {name:+time} with its sign
//   {name:duration}  "25.6 ms": at most three digits
//   {name:bytes}     "61.23 GB"; {name:+bytes} with its sign
//   {name:count}     "10,858", "1.5"
//   {name:# layer}   "1 layer", "10,858 layers"; {name:# is|are} "1 is", "2 are"
//   {name:.0f%}      "54 %" of 0.54, {name:.0fp} "54" of it; otherwise as fmt writes numbers: {name:.3f}
//
// std::logic_error where a place has no figure or a figure has no place: an error of the program.
Sentence say(std::string id, std::string_view text, std::initializer_list<Figure> figures = {});

// What its place on the page says of it and its text does not: "phase".
Sentence with(Sentence sentence, const Figure& figure);

// One after the other: the figures of the first are "0.figure".
Sentence joined(std::span<const Sentence> parts, std::string_view separator);

}  // namespace tracedb
