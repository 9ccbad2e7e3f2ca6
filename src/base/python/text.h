// How Python prints values, and how it reads text files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tracedb::python {

// repr(x) of a float: the shortest text that reads back the same, "584.0", "1e+16", "-0.0", "inf", "nan".
std::string float_text(double number);

// repr(x) of a str. Of the characters above U+00FF, those that are invisible are escaped as far as they are common.
std::string repr(std::string_view text);

// open(path).read() in UTF-8: line ends become "\n". Throws failure(): FileNotFoundError and others of the system,
// UnicodeDecodeError.
std::string read_text(const std::filesystem::path& path);

// The OSError of a call that failed for `path`: "FileNotFoundError: [Errno 2] No such file or directory: 'x'".
[[noreturn]] void throw_os_error(int error_number, std::string_view path);
[[noreturn]] void throw_os_error(int error_number);  // of a call that names no path

// Appends the code point at `at` of the text, which moves behind it. Surrogates count as characters.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Also of a surrogate.
void append_code_point(std::string& out, char32_t code_point);

}  // namespace tracedb::python
