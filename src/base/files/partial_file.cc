#include "base/files/partial_file.h"

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
#include "base/files/input_file.h"
#include "base/files/small_file.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view doing, int error) {
  const std::string text = fmt::format("{}: cannot {}: {}", printable_path(path), doing, std::strerror(error));
  std::error_code unknown;
  const std::uintmax_t written = std::filesystem::file_size(path, unknown);
  if (is_no_space(error)) throw NoSpaceError(text, unknown ? 0 : written);
  throw Error(ErrorCode::kResource, text);
}

// Makes the names in it last.
void sync_directory(const std::filesystem::path& path) {
  const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail(path, "open", errno);
  // Some file systems cannot sync a directory; the rename is still atomic there.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) fail(path, "write", errno);
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
  do {
    path_ = name;
    path_ += partial_suffix();
    descriptor_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  } while (!descriptor_.is_open() && (errno == EEXIST || errno == EINTR));
  if (!descriptor_.is_open()) fail(path_, "create", errno);
}

PartialFile::~PartialFile() {
  if (!published_) ::unlink(path_.c_str());
}

void PartialFile::publish(const std::optional<timespec>& modified) {
  if (modified) {
    const timespec times[] = {*modified, *modified};
    if (::utimensat(AT_FDCWD, path_.c_str(), times, 0) != 0) fail(path_, "set the time of", errno);
  }
  if (::fsync(descriptor_.get()) != 0) fail(path_, "write", errno);
  if (!descriptor_.close()) fail(path_, "write", errno);
  if (::rename(path_.c_str(), name_.c_str()) != 0) fail(name_, "put the finished file in place", errno);
  published_ = true;
  sync_directory(directory_of(name_));
}

}  // namespace tracedb
