// Builds the b-tree of one rowid table straight into a database file, page by page, in SQLite's documented file format
// (https://www.sqlite.org/fileformat2.html, sections 1.6 and 2.1). For tables of integers and short fixed texts that
// are loaded once, in rowid order, into a database nobody else has open: several times faster than any INSERT, because
// no statement is executed and no page is ever visited twice.
//
// Use: create the tables with SQLite (empty, committed, connection closed); add rows; finish() every builder;
// PageFile::close(); then open the database with SQLite again for everything else. The result is an ordinary database.
// SQLite sees no row: what it would check (NOT NULL, CHECK, types, unique columns) is up to the caller, and indexes
// must be made later.
//
// One thread; several builders may share a PageFile on it. Errors: those of PageFile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/files/file_descriptor.h"
#include "base/unknown.h"

namespace tracedb {

// Appends finished pages to a SQLite database that nobody has open, and keeps its header up to date. Does not know the
// content of pages (see table_builder.h), except that the page with the lock bytes must stay empty.
//
// Pages are collected and written in batches; nothing is synced. Until close() the header counts the old pages only, so
// an abandoned file is worthless: remove it. One thread. Errors: kInput when the file is no database, kResource when it
// cannot be read or written.
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

class TableBuilder {
 public:
  using OtherText = std::function<std::string_view(std::uint32_t)>;  // at most kMaxOtherText bytes
  // Cells above kUnknownValue and below kLeastNumber are texts, if other_text is given: `other_text(cell -
  // kUnknownValue)`.
  static constexpr std::size_t kMaxColumns = 32;
  static constexpr std::size_t kMaxText = 57;  // longer ones take more than a byte to describe
  static constexpr std::size_t kMaxOtherText = 20;

  // For `texts` below: cells of the column are doubles, bit for bit (std::bit_cast), stored as REAL. -0.0 is
  // kUnknownValue.
  static std::span<const std::string_view> real();

  // One entry per column, in the table's order; but the first column of the table must be its INTEGER PRIMARY KEY and
  // is not among them: rows are numbered 1, 2, 3 ... `texts[i]` not empty: cells of column i are positions in it,
  // stored as that text (borrowed). `root` is sqlite_schema.rootpage. Throws std::logic_error for more or longer
  // columns than fit.
  TableBuilder(PageFile& file, std::uint32_t root, std::vector<std::span<const std::string_view>> texts,
               OtherText other_text = {});

  void insert(std::span<const std::int64_t> cells);  // row-major, any number of rows; kUnknownValue is NULL
  void finish();                                     // once, after the last row
  [[nodiscard]] std::uint64_t rows() const { return rows_; }

 private:
  struct Child {
    std::uint32_t page;
    std::uint64_t largest;  // rowid
  };

  std::size_t encode(const std::int64_t* cells);
  std::byte* put_choice(std::size_t column, std::int64_t cell, std::byte& type, std::byte* body) const;
  static std::byte* put_text(std::string_view text, std::byte& type, std::byte* body);
  void add_cell(std::size_t payload);
  void close_leaf();
  void write_header(std::byte kind, std::size_t size);
  void write_interior(std::span<const Child> children);
  [[nodiscard]] std::size_t interior_room(std::span<const Child> children) const;
  std::vector<Child> write_level(std::span<const Child> children);

  PageFile& file_;
  std::uint32_t root_;
  std::vector<std::span<const std::string_view>> texts_;
  OtherText other_text_;
  std::uint64_t rows_ = 0;
  // The open page: cell pointers grow from its head, cells from its end.
  std::vector<std::byte> page_;
  std::size_t cells_ = 0;
  std::size_t content_;  // offset of the cell added last
  std::vector<Child> leaves_;
  // One record; whole words are written at its end, hence the room for one more.
  std::array<std::byte, 2 + kMaxColumns*(1 + kMaxText) + 8> record_{};
};

}  // namespace tracedb
