// Tells damage from an internal error when a statement fails on an index. Other programs may have changed the file:
// broken pages, missing tables and impossible values are damage, which ingesting the trace again repairs. If the schema
// is as this version makes it, the statement itself is wrong, which is an internal error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

struct sqlite3;

namespace tracedb {

// Throws Error{kInput}: the index is damaged, with what to do.
[[noreturn]] void fail_as_damaged(const std::filesystem::path& path, std::string_view why);

// For `sqlite_code` of a statement that SQLite itself takes for wrong. Throws the same, or Error{kResource} that names
// it. `path`: of the index open in `handle`; `message`: what SQLite said.
[[noreturn]] void fail_in_index(sqlite3* handle, const std::filesystem::path& path, int sqlite_code,
                                std::string_view message, std::string_view doing);

// "what [statement]", the statement on one line and not too long.
std::string doing_text(std::string_view what, std::string_view sql);

}  // namespace tracedb
