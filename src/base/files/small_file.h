// Files of settings and the like, which are read whole.
#pragma once

#include <filesystem>
#include <string>

namespace tracedb {

// All of the file. Throws Error{kInput}: it cannot be read, or is larger than 64 MiB.
std::string read_small_file(const std::filesystem::path& path);

}  // namespace tracedb
