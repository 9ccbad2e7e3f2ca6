// How an index records the path of its trace (meta.source_path). A path is any bytes, but text in an index is UTF-8,
// which every client can read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tracedb {

// Bytes that are no UTF-8 and control characters appear as \xNN; a backslash that would read as one of them as \x5c.
std::string source_path_text(const std::filesystem::path& path);

std::filesystem::path source_path(std::string_view text);

}  // namespace tracedb
