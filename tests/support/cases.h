// Tables of cases: many inputs of one function, each named where it fails.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tracedb {

// f(input) == expected for each of the inputs.
template <class Input = std::string_view, class Expected, class Function>
void check_each(const Expected& expected, Function f, std::initializer_list<std::type_identity_t<Input>> inputs) {
  for (const Input& input : inputs) {
    CAPTURE(input);
    CHECK(f(input) == expected);
  }
}

// f(word) == expected for each word of a text.
template <class Expected, class Function>
void check_words(const Expected& expected, Function f, std::string_view text) {
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) check_each(expected, f, {word});
}

// f(input) == input for each of the inputs.
template <class Function>
void check_unchanged(Function f, std::initializer_list<std::string_view> inputs) {
  for (const std::string_view input : inputs) {
    CAPTURE(input);
    CHECK(f(input) == input);
  }
}

// f(input) == expected for each pair of input and expected.
template <class Expected, class Input = std::string_view, class Function>
void check_pairs(Function f, std::initializer_list<std::pair<Input, Expected>> pairs) {
  for (const std::pair<Input, Expected>& one : pairs) {
    const Input& input = one.first;
    CAPTURE(input);
    CHECK(f(input) == one.second);
  }
}

}  // namespace tracedb
