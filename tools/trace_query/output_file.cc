#include "trace_query/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/files/directory.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

fs::path path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Where nothing can be put in its place, or must not be.
bool is_written_directly(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (!exists) return fs::is_symlink(path, error);
  return !fs::is_regular_file(path, error) || ::access(folder.c_str(), W_OK) != 0;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(path), target_(path) {
  std::error_code error;
  if (fs::is_symlink(path, error) && fs::exists(path, error)) target_ = fs::canonical(path, error);
  const fs::path folder = directory_of(target_);
  if (is_written_directly(path, folder)) {
    stream_.open(path, std::ios::binary | std::ios::trunc);
  } else {
    open_anonymous(folder);
  }
  require(stream_.is_open(), "cannot be written");
}

void OutputFile::open_anonymous(const fs::path& folder) {
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  require(!replaces || ::access(target_.c_str(), W_OK) == 0, "cannot be written");
  anonymous_fd_ = FileDescriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (anonymous_fd_.is_open()) stream_.open(path_of(anonymous_fd_.get()), std::ios::binary);
  if (!stream_.is_open()) {
    require(::access(folder.c_str(), W_OK) == 0, "cannot be written");
    partial_.emplace(target_);
    stream_.open(partial_->path(), std::ios::binary | std::ios::trunc);
  }
  if (replaces)
    ::chmod(partial_ ? partial_->path().c_str() : path_of(anonymous_fd_.get()).c_str(), old.st_mode & 07777);
}

void OutputFile::require(bool condition, const char* what) const {
  if (condition) return;
  const std::string reason = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : "";
  throw Error(ErrorCode::kResource, fmt::format("{}: {}{}", printable_path(path_), what, reason));
}

void OutputFile::finish() {
  errno = 0;
  stream_.close();
  require(!stream_.fail(), "not everything could be written");
  if (partial_) {
    partial_->publish(std::nullopt);
  } else if (anonymous_fd_.is_open()) {
    require(::fsync(anonymous_fd_.get()) == 0, "not everything could be written");
    link_into_place();
  }
}

// A link cannot replace a file, a rename can.
void OutputFile::link_into_place() {
  std::random_device chance;
  fs::path name;
  do {
    name = target_;
    name += fmt::format(".{:06x}.partial", chance() & 0xffffffU);
  } while (::linkat(AT_FDCWD, path_of(anonymous_fd_.get()).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0 &&
           errno == EEXIST);
  if (::rename(name.c_str(), target_.c_str()) == 0) return;
  const int error = errno;
  ::unlink(name.c_str());
  errno = error;
  require(false, "cannot be put in place");
}

OutputTarget::OutputTarget(const std::optional<std::string>& path) : standard_(&std::cout) {
  if (path && *path != "-") file_.emplace(*path);
}

void OutputTarget::finish() {
  stream().flush();
  if (file_) return file_->finish();
  if (!stream()) throw Error(ErrorCode::kResource, "standard output: not everything could be written");
}

}  // namespace tracedb
