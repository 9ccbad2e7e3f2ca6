#include "sql/file/table_builder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

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

namespace {

constexpr std::size_t kPointer = 2;  // bytes of a cell pointer
// Payloads up to this much less than the page stay on it.
constexpr std::size_t kOverflowMargin = 35;

// How a record holds an integer: by the bits it needs beside its sign.
struct IntegerForm {
  std::uint8_t type, size, shift;  // `shift` puts its first byte to the front of 64 bits
};

constexpr std::array<IntegerForm, 64> kIntegerForms = [] {
  constexpr std::array<IntegerForm, 6> kForms = {
      {{1, 1, 56}, {2, 2, 48}, {3, 3, 40}, {4, 4, 32}, {5, 6, 16}, {6, 8, 0}}};
  std::array<IntegerForm, 64> by_bits{};
  std::size_t form = 0;
  for (std::size_t bits = 0; bits < by_bits.size(); ++bits) {
    if (bits >= std::size_t{8} * kForms[form].size) ++form;
    by_bits[bits] = kForms[form];
  }
  return by_bits;
}();

// No type of a record. Stands for a cell that is a text.
constexpr IntegerForm kTextForm = {0xff, 0, 0};

// Stands for a column of doubles where texts to choose from are expected; as long as a double.
constexpr std::string_view kReal[] = {"a double"};
constexpr std::byte kRealType{7};
static_assert(kReal[0].size() == sizeof(double));

IntegerForm form_of(std::int64_t value) {
  const auto pattern = static_cast<std::uint64_t>(value);
  // 0 and 1 are types of their own, without a byte of content; so is NULL.
  if (pattern <= 1) return {static_cast<std::uint8_t>(8 + pattern), 0, 0};
  if (value < kLeastNumber) return value == kUnknownValue ? IntegerForm{0, 0, 0} : kTextForm;
  return kIntegerForms[static_cast<std::size_t>(std::bit_width(value < 0 ? ~pattern : pattern))];
}

}  // namespace

std::span<const std::string_view> TableBuilder::real() { return kReal; }

TableBuilder::TableBuilder(PageFile& file, std::uint32_t root, std::vector<std::span<const std::string_view>> texts,
                           OtherText other_text)
    : file_(file),
      root_(root),
      texts_(std::move(texts)),
      other_text_(std::move(other_text)),
      page_(file.page_size()),
      content_(file.usable_size()) {
  if (texts_.empty() || texts_.size() > kMaxColumns) {
    throw std::logic_error("a table has no columns, or too many to be built");
  }
  std::size_t largest = 2 + texts_.size();
  for (const auto& choices : texts_) {
    std::size_t size = choices.empty() ? kMaxOtherText : 0;
    for (const std::string_view text : choices) size = std::max(size, text.size());
    if (size > kMaxText) throw std::logic_error("a text is too long for a table to be built");
    largest += size;
  }
  if (largest > file.usable_size() - kOverflowMargin) throw std::logic_error("a row may not fit on a page");
  // The record starts with the size of its header and the type of its key, which is NULL: the row's number stands for
  // it.
  record_[0] = static_cast<std::byte>(2 + texts_.size());
}

void TableBuilder::insert(std::span<const std::int64_t> cells) {
  const std::size_t columns = texts_.size();
  for (std::size_t i = 0; i + columns <= cells.size(); i += columns) add_cell(encode(&cells[i]));
}

// Both return where the next body goes.
std::byte* TableBuilder::put_choice(std::size_t column, std::int64_t cell, std::byte& type, std::byte* body) const {
  if (texts_[column].data() != kReal) return put_text(texts_[column][static_cast<std::size_t>(cell)], type, body);
  type = kRealType;
  put_big64(body, static_cast<std::uint64_t>(cell));
  return body + sizeof(double);
}

std::byte* TableBuilder::put_text(std::string_view text, std::byte& type, std::byte* body) {
  type = static_cast<std::byte>(13 + 2 * text.size());
  std::memcpy(body, text.data(), text.size());
  return body + text.size();
}

// Returns the size of the record.
std::size_t TableBuilder::encode(const std::int64_t* cells) {
  const std::size_t columns = texts_.size();
  std::byte* types = record_.data() + 2;
  std::byte* body = types + columns;
  for (std::size_t i = 0; i < columns; ++i) {
    if (texts_[i].empty() || cells[i] == kUnknownValue) {
      IntegerForm form = form_of(cells[i]);
      if (form.type == kTextForm.type && !other_text_) form = kIntegerForms.back();
      if (form.type == kTextForm.type) {
        body = put_text(other_text_(static_cast<std::uint32_t>(cells[i] - kUnknownValue)), types[i], body);
        continue;
      }
      types[i] = static_cast<std::byte>(form.type);
      put_big64(body, static_cast<std::uint64_t>(cells[i]) << form.shift);
      body += form.size;
    } else {
      body = put_choice(i, cells[i], types[i], body);
    }
  }
  return static_cast<std::size_t>(body - record_.data());
}

// A cell is the record behind its size and the row's number.
void TableBuilder::add_cell(std::size_t payload) {
  const std::uint64_t row = rows_ + 1;
  const std::size_t payload_size = varint_size(payload);
  const std::size_t row_size = varint_size(row);
  const std::size_t cell = payload_size + row_size + payload;
  if (kLeafHeader + (cells_ + 1) * kPointer + cell > content_) close_leaf();
  content_ -= cell;
  std::byte* to = put_varint(&page_[content_], payload, payload_size);
  to = put_varint(to, row, row_size);
  std::memcpy(to, record_.data(), payload);
  put_big16(&page_[kLeafHeader + cells_ * kPointer], content_);
  ++cells_;
  rows_ = row;
}

// Of the open page, whose cells are there; between them and where they are listed it is zero.
void TableBuilder::write_header(std::byte kind, std::size_t size) {
  std::memset(page_.data(), 0, size);
  page_[0] = kind;
  put_big16(&page_[3], cells_);
  put_big16(&page_[5], content_);
  const std::size_t gap = size + cells_ * kPointer;
  std::memset(&page_[0] + gap, 0, content_ - gap);
}

void TableBuilder::close_leaf() {
  write_header(kLeafPage, kLeafHeader);
  leaves_.push_back({file_.append(page_), rows_});
  cells_ = 0;
  content_ = file_.usable_size();
}

// Fills the open page. The last child is in the header, the others in cells before the largest key below them.
void TableBuilder::write_interior(std::span<const Child> children) {
  cells_ = 0;
  content_ = file_.usable_size();
  for (const Child& child : children.first(children.size() - 1)) {
    const std::size_t key_size = varint_size(child.largest);
    content_ -= 4 + key_size;
    put_big32(&page_[content_], child.page);
    put_varint(&page_[content_ + 4], child.largest, key_size);
    put_big16(&page_[kInteriorHeader + cells_ * kPointer], content_);
    ++cells_;
  }
  write_header(kInteriorPage, kInteriorHeader);
  put_big32(&page_[8], children.back().page);
}

// How many of `children` fit on one page.
std::size_t TableBuilder::interior_room(std::span<const Child> children) const {
  std::size_t used = kInteriorHeader;
  std::size_t count = 0;
  for (; count < children.size(); ++count) {
    used += kPointer + 4 + varint_size(children[count].largest);
    if (used > file_.usable_size()) return count + 1;
  }
  return count;
}

std::vector<TableBuilder::Child> TableBuilder::write_level(std::span<const Child> children) {
  // SQLite keeps two keys at least on a page that is neither root nor leaf, that is three children.
  constexpr std::size_t kFewest = 3;
  std::vector<Child> parents;
  while (!children.empty()) {
    std::size_t count = interior_room(children);
    const std::size_t left = children.size() - count;
    if (left > 0 && left < kFewest) count -= kFewest - left;
    write_interior(children.first(count));
    parents.push_back({file_.append(page_), children[count - 1].largest});
    children = children.subspan(count);
  }
  return parents;
}

// The root stays where SQLite made it: the topmost page is written there.
void TableBuilder::finish() {
  if (rows_ == 0) return;
  if (leaves_.empty()) {
    write_header(kLeafPage, kLeafHeader);
  } else {
    close_leaf();
    std::vector<Child> level = std::move(leaves_);
    while (interior_room(level) < level.size()) level = write_level(level);
    write_interior(level);
  }
  file_.overwrite(root_, page_);
}

}  // namespace tracedb
