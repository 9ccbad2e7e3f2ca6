#include "sql/file/page_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "base/files/input_file.h"
#include "sql/file/byte_order.h"

namespace tracedb {
namespace {

constexpr std::size_t kPagesPerWrite = 64;
constexpr std::uint64_t kLockByte = std::uint64_t{1} << 30;

std::uint64_t offset_of(std::uint32_t number, std::size_t page_size) { return (std::uint64_t{number} - 1) * page_size; }

}  // namespace

PageFile::PageFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (!descriptor_.is_open()) fail("open", errno);
  read_header();
}

void PageFile::fail(std::string_view doing, int error) const {
  const std::string text =
      fmt::format("{}: cannot {} the index: {}", printable_path(path_), doing, std::strerror(error));
  if (is_no_space(error)) throw NoSpaceError(text, std::uint64_t{pages_} * page_size_ - buffer_.size());
  throw Error(ErrorCode::kResource, text);
}

void PageFile::read_header() {
  std::array<std::byte, kFileHeader> header{};
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) fail("read", errno);
  if (read_start(header) < kFileHeader || std::memcmp(header.data(), kFileMagic.data(), kFileMagic.size()) != 0) {
    throw Error(ErrorCode::kInput, fmt::format("{}: not a database", printable_path(path_)));
  }
  page_size_ = page_size_in(header);
  usable_size_ = page_size_ - std::to_integer<std::size_t>(header[kReservedAt]);
  pages_ = get_big32(&header[kPageCountAt]);
  const std::uint64_t size = std::uint64_t{pages_} * page_size_;
  if (pages_ == 0 || size != static_cast<std::uint64_t>(info.st_size)) {
    throw Error(ErrorCode::kInput, fmt::format("{}: the database is not as long as it says", printable_path(path_)));
  }
  if (get_big32(&header[kAutoVacuumAt]) != 0)
    throw std::logic_error("pages are appended to a database with auto_vacuum");
  buffer_.reserve(kPagesPerWrite * page_size_);
}

std::uint32_t PageFile::append(std::span<const std::byte> page) {
  if (offset_of(pages_ + 1, page_size_) == kLockByte) {
    lock_page_.resize(page_size_);
    push(lock_page_);
  }
  push(page);
  return pages_;
}

void PageFile::push(std::span<const std::byte> page) {
  if (page.size() != page_size_) throw std::logic_error("a page has the wrong size");
  if (pages_ >= std::numeric_limits<std::uint32_t>::max() - 1) fail("write", EFBIG);
  if (buffer_.size() == kPagesPerWrite * page_size_) flush();
  buffer_.insert(buffer_.end(), page.begin(), page.end());
  ++pages_;
}

void PageFile::overwrite(std::uint32_t number, std::span<const std::byte> page) {
  if (number < 1 || number > pages_ || page.size() != page_size_) throw std::logic_error("no such page to overwrite");
  flush();
  write(offset_of(number, page_size_), page);
}

void PageFile::flush() {
  write(std::uint64_t{pages_} * page_size_ - buffer_.size(), buffer_);
  buffer_.clear();
}

void PageFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!descriptor_.write_at(offset, bytes)) fail("write", errno);
}

std::size_t PageFile::read_start(std::span<std::byte> into) const {
  const std::optional<std::size_t> got = descriptor_.read_at(0, into);
  if (!got) fail("read", errno);
  return *got;
}

// The number of pages counts only where the change counter is the one it was written for.
void PageFile::close() {
  flush();
  std::array<std::byte, kFileHeader> header{};
  if (read_start(header) < kFileHeader) fail("read", ENODATA);
  const std::uint32_t change = get_big32(&header[kChangeCounterAt]) + 1;
  put_big32(&header[kChangeCounterAt], change);
  put_big32(&header[kVersionValidForAt], change);
  put_big32(&header[kPageCountAt], pages_);
  write(0, header);
  if (!descriptor_.close()) fail("write", errno);
}

}  // namespace tracedb
