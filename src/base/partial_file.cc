#include "base/partial_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/input_file.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view doing, int error) {
  const std::string text = fmt::format("{}: cannot {}: {}", printable_path(path), doing, std::strerror(error));
  std::error_code unknown;
  const std::uintmax_t written = std::filesystem::file_size(path, unknown);
  if (is_no_space(error)) throw NoSpaceError(text, unknown ? 0 : written);
  throw Error(ErrorCode::kResource, text);
}

void sync_path(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(path, "open", errno);
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some file systems cannot sync a directory; the rename is still atomic there.
  if (result != 0 && !(error == EINVAL && (flags & O_DIRECTORY) != 0)) fail(path, "write", error);
}

// Six letters by chance: writers that do not know of each other never share a file.
std::string partial_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device chance;
  std::string letters(6, ' ');
  for (char& letter : letters) letter = kLetters[chance() % kLetters.size()];
  return "." + letters + ".partial";
}

}  // namespace

PartialFile::PartialFile(const std::filesystem::path& name) : name_(name) {
  int descriptor = -1;
  do {
    path_ = name;
    path_ += partial_suffix();
    descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (descriptor < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor < 0) fail(path_, "create", errno);
  ::close(descriptor);
}

PartialFile::~PartialFile() {
  std::error_code ignored;
  if (!published_) std::filesystem::remove(path_, ignored);
}

void PartialFile::publish(const std::optional<timespec>& modified) {
  if (modified) {
    const timespec times[] = {*modified, *modified};
    if (::utimensat(AT_FDCWD, path_.c_str(), times, 0) != 0) fail(path_, "set the time of", errno);
  }
  sync_path(path_, O_RDONLY);
  if (::rename(path_.c_str(), name_.c_str()) != 0) fail(name_, "put the finished file in place", errno);
  published_ = true;
  sync_path(name_.has_parent_path() ? name_.parent_path() : std::filesystem::path("."), O_RDONLY | O_DIRECTORY);
}

}  // namespace tracedb
