// Makes text from a trace safe for a terminal, a file or a document: no part of the result is interpreted as a command.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Control characters (C0, DEL, C1), broken UTF-8, line and paragraph separators, and the characters that reorder or
// hide text (U+200E/F, U+202A-E, U+2066-9, U+061C, U+FEFF) appear as \x1b or \u202e. All else is unchanged.
std::string escape_text(std::string_view text);
inline std::string escape_path(const std::filesystem::path& path) { return escape_text(path.native()); }

// The same, so that the text can be had back: replace each \xNN by that byte and each \uNNNN by that character. A
// backslash that would read as one of them appears as \x5c.
void append_escaped_cell(std::string& out, std::string_view text);

// The inside of a JSON string. Valid UTF-8 whatever came in: broken sequences become U+FFFD.
std::string escape_json(std::string_view text);
void append_escaped_json(std::string& out, std::string_view text);

// escape_text, and Markdown's own marks made literal.
std::string escape_markdown(std::string_view text);

// Places on a terminal: two for a character of East Asian scripts.
std::size_t display_width(std::string_view valid_text);

// At most `width` places, the middle replaced by an ellipsis: both ends of a kernel name tell something.
std::string shorten_middle(const std::string& valid_text, std::size_t width);

// Each of them shortened, and so that texts that differ still do: where they would not, the part in which they differ
// is shown instead of an end, or they are numbered.
std::vector<std::string> shorten_distinct(const std::vector<std::string>& valid_texts, std::size_t width);

// Lines of at most `width` places, broken at spaces; a word that is longer loses its middle. At least one line.
std::vector<std::string> wrap_text(std::string_view valid_text, std::size_t width);

}  // namespace tracedb
