// The directory of a file named by a user.
#pragma once

#include <filesystem>

namespace tracedb {

// "." for a name without one.
inline std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace tracedb
