#include "base/files/file_identity.h"

#include <chrono>
#include <tuple>

#include "base/files/file_descriptor.h"

namespace tracedb {

std::optional<FileIdentity> FileIdentity::of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  constexpr std::int64_t kBillion = 1'000'000'000;
  return FileIdentity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      status.st_mtim.tv_sec * kBillion + status.st_mtim.tv_nsec,
                      status.st_ctim.tv_sec * kBillion + status.st_ctim.tv_nsec};
}

std::optional<FileIdentity> FileIdentity::of(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? of(status) : std::nullopt;
}

std::optional<FileIdentity> FileIdentity::behind_links(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? of(status) : std::nullopt;
}

std::optional<FileIdentity> FileIdentity::of(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? of(status) : std::nullopt;
}

std::int64_t now_ns() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

timespec file_clock(const std::filesystem::path& directory) {
  timespec ours{};
  ::clock_gettime(CLOCK_REALTIME, &ours);
  const timespec theirs = TempFile(directory).changed();
  return std::tie(ours.tv_sec, ours.tv_nsec) < std::tie(theirs.tv_sec, theirs.tv_nsec) ? ours : theirs;
}

}  // namespace tracedb
