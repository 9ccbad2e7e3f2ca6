// What time it is, for comparing with times of files: their file system may be another machine's, whose clock is not
// ours.
#pragma once

#include <ctime>
#include <filesystem>

namespace tracedb {

// Our time or that of the file system `directory` is on, whichever is behind. Throws Error{kResource} when the
// directory does not let us create a file.
timespec file_clock(const std::filesystem::path& directory);

}  // namespace tracedb
