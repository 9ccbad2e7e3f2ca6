// Elements of a comma-separated list by looking at one byte after the other: the yardstick for cutter and parser.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/json_text.h"

namespace tracedb {

struct CutElement {
  std::size_t start = 0;  // of the text in the list, white space before it included
  std::string_view text;  // without white space around it; empty: a stray comma
  unsigned objects = 0;   // that begin in it at its top level: more than one where a comma is missing
};

struct CutList {
  std::vector<CutElement> elements;
  std::size_t size = 0;  // up to the bracket that closes the list, or all of it
  bool whole = true;     // does not end in a string or within brackets
};

inline CutList cut_elements(std::string_view list) {
  CutList out;
  CutElement element;
  int depth = 0;
  bool in_string = false;
  const auto finish = [&](std::size_t at) {
    element.text = trim_json_space(list.substr(element.start, at - element.start));
    out.elements.push_back(element);
    element = {at + 1, {}, 0};
  };
  std::size_t i = 0;
  for (; i < list.size() && depth >= 0; ++i) {
    const char c = list[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      continue;
    } else if (c == ',' && depth == 0) {
      finish(i);
    } else if (c == '{' || c == '[') {
      element.objects += depth++ == 0 && c == '{' ? 1 : 0;
    } else if (c == '}' || c == ']') {
      if (--depth < 0) break;
    }
  }
  out.size = std::min(i, list.size());
  out.whole = depth <= 0 && !in_string;
  finish(out.size);
  return out;
}

}  // namespace tracedb
