#include "base/files/file_clock.h"

#include <tuple>

#include "base/files/temp_file.h"

namespace tracedb {

timespec file_clock(const std::filesystem::path& directory) {
  timespec ours{};
  ::clock_gettime(CLOCK_REALTIME, &ours);
  const timespec theirs = TempFile(directory).changed();
  return std::tie(ours.tv_sec, ours.tv_nsec) < std::tie(theirs.tv_sec, theirs.tv_nsec) ? ours : theirs;
}

}  // namespace tracedb
