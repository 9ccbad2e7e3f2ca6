// The words of SQL text, as SQLite tells them apart.
#pragma once

#include <string_view>
#include <vector>

namespace tracedb {

// Words, numbers, texts and names in quotes, and signs, as parts of the statement; white space and comments are left
// out. A quote within a text, which is written twice, ends one and begins another.
std::vector<std::string_view> sql_tokens(std::string_view statement);

}  // namespace tracedb
