// The current time by the clock of a file system, for comparison with file times: the file system may be remote, with a
// clock that differs from ours.
#pragma once

#include <ctime>
#include <filesystem>

namespace tracedb {

// Our time or that of the file system `directory` is on, whichever is behind. Throws Error{kResource} when the
// directory does not let us create a file.
timespec file_clock(const std::filesystem::path& directory);

}  // namespace tracedb
