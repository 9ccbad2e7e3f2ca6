#include "base/files/file_descriptor.h"

#include <unistd.h>

#include <cerrno>

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

}  // namespace tracedb
