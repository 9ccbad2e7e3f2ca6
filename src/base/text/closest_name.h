// "Did you mean": finds the known word closest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Empty when none is near (more than a third of the letters differ).
std::string closest_name(std::string_view word, std::span<const std::string> known);

// All of them, those with the fewest edits between them and the word first. Long words are compared by their beginning.
std::vector<std::string> closest_first(std::string_view word, std::vector<std::string> known);

// "; did you mean 'kernels'?" or nothing: to be appended to an error message.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace tracedb
