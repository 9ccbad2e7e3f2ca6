#include "base/files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace tracedb {
namespace {

// Linux transfers at most 0x7ffff000 bytes a call; a page-aligned limit below keeps the offsets even.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

[[noreturn]] void throw_open_error(const std::string& name, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      throw Error(ErrorCode::kInput, fmt::format("{}: no such file: check the name", name));
    case EACCES:
    case EPERM:
      throw Error(ErrorCode::kInput, fmt::format("{}: permission denied: make it readable for this user", name));
    default:
      throw Error(ErrorCode::kInput,
                  fmt::format("{}: cannot be opened ({}): check the name and the disk", name, reason(error_number)));
  }
}

[[noreturn]] void throw_read_error(const std::string& name, int error_number) {
  throw Error(ErrorCode::kInput,
              fmt::format("{}: read error ({}): copy the file anew and try again", name, reason(error_number)));
}

// Asked before the file is opened, because opening a device can block or do something. Returns whether it is regular.
bool require_readable_kind(const std::filesystem::path& path, const std::string& name) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_open_error(name, errno);
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: is a directory: name a file inside it", name));
  }
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: not a regular file: copy its content into one", name));
  }
  return S_ISREG(status.st_mode);
}

// Repeats `transfer(done)` (a read of what is missing after `done` bytes) until `capacity` bytes are there or the end.
template <class Transfer>
std::size_t read_fully(const std::string& name, std::size_t capacity, Transfer transfer) {
  std::size_t done = 0;
  while (done < capacity) {
    const ssize_t got = transfer(done, std::min(capacity - done, kLargestTransfer));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR && errno != EAGAIN) {
      throw_read_error(name, errno);
    }
  }
  return done;
}

}  // namespace

std::string printable_path(const std::filesystem::path& path) {
  std::string text;
  for (const char c : path.native()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

InputFile::InputFile(const std::filesystem::path& path, const std::atomic<bool>* cancel)
    : cancel_(cancel), name_(printable_path(path)) {
  const bool at_once = require_readable_kind(path, name_) || cancel != nullptr;
  do {
    // Opening a FIFO would wait for its writer, where nothing can cancel it.
    descriptor_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (at_once ? O_NONBLOCK : 0)));
  } while (!descriptor_.is_open() && errno == EINTR);
  if (!descriptor_.is_open()) throw_open_error(name_, errno);
  may_block_ = !is_regular();
}

InputFile InputFile::standard_input(const std::atomic<bool>* cancel) {
  return {FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)), "standard input", cancel};
}

std::size_t InputFile::read(char* destination, std::size_t capacity) {
  return read_fully(name_, capacity, [&](std::size_t done, std::size_t wanted) {
    if (may_block_ && cancel_ != nullptr) wait_for_bytes();
    return or_pause(::read(descriptor_.get(), destination + done, wanted));
  });
}

// Some regular files have nothing yet, as pipes do (in /proc): then, too, waiting must end with the flag. poll() does
// not tell for all of them.
ssize_t InputFile::or_pause(ssize_t got) const {
  constexpr int kMilliseconds = 20;
  if (got >= 0 || errno != EAGAIN) return got;
  if (cancel_ == nullptr && is_regular()) {
    throw Error(ErrorCode::kInput, fmt::format("{}: has nothing to read yet: copy its content into a file", name_));
  }
  if (cancel_ != nullptr && cancel_->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
  ::poll(nullptr, 0, kMilliseconds);
  errno = EAGAIN;
  return got;
}

// Looks at the flag again and again: the signal behind it may have been delivered to another thread.
void InputFile::wait_for_bytes() const {
  constexpr int kMilliseconds = 100;
  pollfd wanted{descriptor_.get(), POLLIN, 0};
  do {
    if (cancel_->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
  } while (::poll(&wanted, 1, kMilliseconds) <= 0);
}

std::size_t InputFile::read_at(std::uint64_t offset, char* destination, std::size_t capacity) const {
  return read_fully(name_, capacity, [&](std::size_t done, std::size_t wanted) {
    return or_pause(::pread(descriptor_.get(), destination + done, wanted, static_cast<off_t>(offset + done)));
  });
}

bool InputFile::is_regular() const {
  struct stat status {};
  return ::fstat(descriptor_.get(), &status) == 0 && S_ISREG(status.st_mode);
}

std::uint64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) throw_read_error(name_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void InputFile::expect_sequential_reads() const { ::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_SEQUENTIAL); }

}  // namespace tracedb
