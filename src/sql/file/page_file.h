// Appends finished pages to a SQLite database that nobody has open, and keeps its header up to date. Does not know the
// content of pages (see table_builder.h), except that the page with the lock bytes must stay empty.
//
// Pages are collected and written in batches; nothing is synced. Until close() the header counts the old pages only, so
// an abandoned file is worthless: remove it. One thread. Errors: kInput when the file is no database, kResource when it
// cannot be read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"

namespace tracedb {

class PageFile {
 public:
  // Throws std::logic_error for a database with auto_vacuum, whose pointer-map pages are not written here.
  explicit PageFile(const std::filesystem::path& path);

  [[nodiscard]] std::size_t page_size() const { return page_size_; }
  [[nodiscard]] std::size_t usable_size() const { return usable_size_; }  // of each page; the rest is reserved
  [[nodiscard]] std::uint32_t pages() const { return pages_; }

  std::uint32_t append(std::span<const std::byte> page);                  // returns its number; the first page is 1
  void overwrite(std::uint32_t number, std::span<const std::byte> page);  // a page that was there or was appended
  void close();                                                           // writes what is left, then the header

 private:
  [[noreturn]] void fail(std::string_view doing, int error) const;
  void read_header();
  void push(std::span<const std::byte> page);
  void flush();
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t read_start(std::span<std::byte> into) const;

  std::filesystem::path path_;
  FileDescriptor descriptor_;
  std::size_t page_size_ = 0;
  std::size_t usable_size_ = 0;
  std::uint32_t pages_ = 0;        // those in the buffer are among them
  std::vector<std::byte> buffer_;  // the last pages, not yet written
  std::vector<std::byte> lock_page_;
};

}  // namespace tracedb
