// The list of --files-from.
#pragma once

#include <filesystem>
#include <vector>

namespace tracedb {

// The paths in a file, or on standard input for "-"; see parse_path_list(). Error{kInput} where it cannot be read.
std::vector<std::filesystem::path> read_path_list(const std::filesystem::path& list);

}  // namespace tracedb
