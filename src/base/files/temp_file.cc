#include "base/files/temp_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

[[noreturn]] void fail(const std::filesystem::path& directory, std::string_view doing) {
  const int error = errno;
  const std::string text =
      fmt::format("{}: cannot {} a temporary file: {}", printable_path(directory), doing, std::strerror(error));
  if (is_no_space(error)) throw NoSpaceError(text);
  throw Error(ErrorCode::kResource, text + "; choose another directory with --output or --index-dir");
}

}  // namespace

TempFile::TempFile(const std::filesystem::path& directory)
    : directory_(directory), descriptor_(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (descriptor_.is_open()) return;
  // Not every file system has nameless files: make one with a name and take the name away.
  std::string name = (directory / kSpoolPrefix).string() + "XXXXXX";
  descriptor_ = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!descriptor_.is_open()) fail(directory_, "create");
  ::unlink(name.c_str());
}

timespec TempFile::changed() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) fail(directory_, "look at");
  return status.st_mtim;
}

void TempFile::append(std::span<const std::byte> bytes) {
  if (!descriptor_.write_at(size_, bytes)) fail(directory_, "write");
  size_ += bytes.size();
}

void TempFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (descriptor_.read_at(offset, into) != into.size()) fail(directory_, "read");
}

}  // namespace tracedb
