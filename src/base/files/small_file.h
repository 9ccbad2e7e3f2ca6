// Files that are read whole: settings, rules, SQL, lists of files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tracedb {

inline constexpr std::size_t kLargestSmallFile = std::size_t{64} << 20U;

// All bytes of the file. Throws Error{kInput}: it cannot be read, or is larger than `limit` bytes (whole MiB).
std::string read_small_file(const std::filesystem::path& path, std::size_t limit = kLargestSmallFile);

// The same of an argument that names a file, or standard input as "-".
std::string read_small_file_or_input(const std::filesystem::path& path, std::size_t limit = kLargestSmallFile);

// The directory of a file named by a user.

// "." for a name without one.
inline std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace tracedb
