#include "base/files/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

// Repeats `transfer(done)`, which moves bytes from the `done`th on, until it moves none. False: it failed.
template <class Transfer>
bool repeat(std::size_t size, std::size_t& done, Transfer transfer) {
  while (done < size) {
    const ssize_t count = transfer(done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

template <class Transfer>
bool write_fully(std::size_t size, Transfer transfer) {
  std::size_t done = 0;
  if (!repeat(size, done, transfer)) return false;
  if (done < size) errno = ENOSPC;
  return done == size;
}

[[noreturn]] void fail(const std::filesystem::path& directory, std::string_view doing) {
  const int error = errno;
  const std::string text =
      fmt::format("{}: cannot {} a temporary file: {}", printable_path(directory), doing, std::strerror(error));
  if (is_no_space(error)) throw NoSpaceError(text);
  throw Error(ErrorCode::kResource, text + "; choose another directory with --output or --index-dir");
}

}  // namespace

bool FileDescriptor::close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

bool FileDescriptor::write(std::span<const std::byte> bytes) const {
  return write_fully(bytes.size(),
                     [&](std::size_t done) { return ::write(number_, bytes.data() + done, bytes.size() - done); });
}

bool FileDescriptor::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  return write_fully(bytes.size(), [&](std::size_t done) {
    return ::pwrite(number_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
  });
}

std::optional<std::size_t> FileDescriptor::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  const bool read = repeat(into.size(), done, [&](std::size_t at) {
    return ::pread(number_, into.data() + at, into.size() - at, static_cast<off_t>(offset + at));
  });
  return read ? std::optional(done) : std::nullopt;
}

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
