#include "sql/file/column_scan.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/parallel.h"
#include "base/unknown.h"
#include "sql/file/byte_order.h"

namespace tracedb {
namespace {

constexpr int kDeepest = 20;                   // levels of a tree; SQLite allows no more
constexpr std::size_t kPagesForAThread = 256;  // below, starting one costs more than it saves
constexpr std::size_t kPagesAtOnce = 64;

// The pages of one database file.
class Pages {
 public:
  Pages(const Database& database, std::string_view table)
      : path_(database.path()), table_(table), descriptor_(database.descriptor()) {
    std::array<std::byte, kFileHeader> header{};
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) fail();
    read(0, header);
    size_ = page_size_in(header);
    if (size_ < 512) damaged();
    usable_ = size_ - std::to_integer<std::size_t>(header[kReservedAt]);
    count_ = static_cast<std::uint64_t>(status.st_size) / size_;
  }
  [[nodiscard]] std::size_t page_size() const { return size_; }
  [[nodiscard]] std::size_t usable_size() const { return usable_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  // Pages number, number + 1 ... as many as `into` holds.
  void read_pages(std::uint32_t number, std::span<std::byte> into) const {
    if (number == 0 || number - 1 + into.size() / size_ > count_) damaged();
    read(std::uint64_t{number - 1} * size_, into);
  }

  [[noreturn]] void damaged() const {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: the table {} is damaged: build the index again (trace-ingest --force)",
                            printable_path(path_), table_));
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kResource, fmt::format("{}: cannot read: {}", printable_path(path_), std::strerror(errno)));
  }

  void read(std::uint64_t offset, std::span<std::byte> into) const {
    const std::optional<std::size_t> got = descriptor_.read_at(offset, into);
    if (!got) fail();
    if (*got < into.size()) damaged();
  }

  const std::filesystem::path& path_;
  std::string_view table_;
  const FileDescriptor& descriptor_;
  std::size_t size_ = 0, usable_ = 0;
  std::uint64_t count_ = 0;
};

// Numbers out of one page; leaving it is damage.
class Reader {
 public:
  Reader(const Pages& pages, const std::byte* at, const std::byte* end) : pages_(pages), at_(at), end_(end) {}

  std::uint64_t varint() {
    if (at_ < end_ && (*at_ & std::byte{0x80}) == std::byte{0}) return std::to_integer<std::uint64_t>(*at_++);
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      if (at_ >= end_) pages_.damaged();
      const auto byte = std::to_integer<std::uint64_t>(*at_++);
      value = value << 7 | (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    if (at_ >= end_) pages_.damaged();
    return value << 8 | std::to_integer<std::uint64_t>(*at_++);
  }
  [[nodiscard]] const std::byte* position() const { return at_; }

 private:
  const Pages& pages_;
  const std::byte* at_;
  const std::byte* end_;
};

// The leaves of a tree from left to right, those that follow each other in the file as one run.
struct LeafRun {
  std::uint32_t first;
  std::size_t pages;
};

class Leaves {
 public:
  Leaves(const Pages& pages, std::uint32_t root) : pages_(pages) { visit(root, 0); }
  [[nodiscard]] std::vector<LeafRun> take() { return std::move(runs_); }

 private:
  void visit(std::uint32_t number, int depth) {
    if (depth > kDeepest || ++visited_ > pages_.count()) pages_.damaged();
    std::vector<std::byte> page(pages_.page_size());
    pages_.read_pages(number, page);
    const std::byte* header = page.data() + (number == 1 ? kFileHeader : 0);
    if (*header == kLeafPage) return add(number);
    if (*header != kInteriorPage) pages_.damaged();
    const std::size_t cells = get_big16(header + 3);
    const std::byte* pointers = header + kInteriorHeader;
    if (pointers + 2 * cells > page.data() + page.size()) pages_.damaged();
    // All children of a page are of one kind; the first one tells whether they are leaves.
    bool leaves = false;
    for (std::size_t i = 0; i <= cells; ++i) {
      const std::size_t cell = i < cells ? get_big16(pointers + 2 * i) : 0;
      if (cell + 4 > page.size()) pages_.damaged();
      const std::uint32_t child = get_big32(i < cells ? page.data() + cell : header + 8);
      if (i == 0) leaves = is_leaf(child);
      if (leaves) {
        add(child);
      } else {
        visit(child, depth + 1);
      }
    }
  }

  [[nodiscard]] bool is_leaf(std::uint32_t number) const {
    std::vector<std::byte> page(pages_.page_size());
    pages_.read_pages(number, page);
    return page[number == 1 ? kFileHeader : 0] == kLeafPage;
  }

  void add(std::uint32_t number) {
    if (++leaves_ > pages_.count()) pages_.damaged();
    if (!runs_.empty() && runs_.back().first + runs_.back().pages == number && runs_.back().pages < kPagesAtOnce) {
      ++runs_.back().pages;
    } else {
      runs_.push_back({number, 1});
    }
  }

  const Pages& pages_;
  std::uint64_t visited_ = 0, leaves_ = 0;
  std::vector<LeafRun> runs_;
};

// Bytes of content by serial type, for those of one byte.
constexpr auto kContentSizes = [] {
  std::array<std::uint8_t, 128> sizes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  for (std::size_t type = 12; type < sizes.size(); ++type) sizes[type] = static_cast<std::uint8_t>((type - 12) / 2);
  return sizes;
}();

std::uint64_t content_size(std::uint64_t type) {
  return type < kContentSizes.size() ? kContentSizes[type] : (type - 12) / 2;
}

// Integers are big-endian, 1 to 8 bytes; 8 bytes can be read wherever one of them is (kSlack).
constexpr std::size_t kSlack = 8;

std::int64_t number_of(std::uint64_t type, const std::byte* content) {
  static constexpr std::array<std::uint8_t, 7> kUnused = {0, 56, 48, 40, 32, 16, 0};  // bits, by serial type
  if (type == 0 || type > 9 || type == 7) return kUnknownValue;
  if (type > 6) return static_cast<std::int64_t>(type) - 8;
  std::uint64_t value = 0;
  std::memcpy(&value, content, sizeof(value));
  return static_cast<std::int64_t>(__builtin_bswap64(value)) >> kUnused[type];
}

// As the bits of a double; SQLite may have stored a whole number as an integer.
std::int64_t real_of(std::uint64_t type, const std::byte* content) {
  constexpr std::uint64_t kReal = 7;
  constexpr std::uint64_t kEightBytes = 6;
  if (type == kReal) return number_of(kEightBytes, content);
  const std::int64_t number = number_of(type, content);
  return number == kUnknownValue ? kUnknownValue : std::bit_cast<std::int64_t>(static_cast<double>(number));
}

std::uint32_t choice_of(std::uint64_t type, const std::byte* content, std::span<const std::string_view> choices) {
  if (type < 13 || type % 2 == 0) return 0;  // no text
  const std::string_view text(reinterpret_cast<const char*>(content), (type - 13) / 2);
  const auto found = std::ranges::find(choices, text);
  return found == choices.end() ? 0 : static_cast<std::uint32_t>(found - choices.begin()) + 1;
}

struct WantedColumn {
  std::size_t column;  // position in the row
  const ScanColumn* how;
  std::int64_t* numbers;
  std::uint32_t* ids;
  std::uint32_t most;  // ids

  // False for an id that cannot be.
  [[nodiscard]] bool store(std::size_t row, std::uint64_t type, const std::byte* content) const {
    if (how->type == ScanType::kNumber) {
      numbers[row] = number_of(type, content);
    } else if (how->type == ScanType::kReal) {
      numbers[row] = real_of(type, content);
    } else if (how->type == ScanType::kId) {
      const std::int64_t id = number_of(type, content);
      ids[row] = id == kUnknownValue ? 0 : static_cast<std::uint32_t>(id);
      return id == kUnknownValue || (id >= 0 && id <= most);
    } else {
      ids[row] = choice_of(type, content, how->choices);
    }
    return true;
  }
};

struct RowRange {
  std::uint64_t first = 0, last = 0;  // ids; 0: no rows
};

// Calls visit(page, offset of its header).
template <class Visit>
void for_each_page(const Pages& pages, std::span<const LeafRun> runs, Visit visit) {
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(kPagesAtOnce * pages.page_size() + kSlack);
  for (const LeafRun& run : runs) {
    const std::span<std::byte> buffer(memory.get(), run.pages * pages.page_size());
    pages.read_pages(run.first, buffer);
    for (std::size_t i = 0; i < run.pages; ++i) {
      visit(buffer.subspan(i * pages.page_size(), pages.page_size()), run.first + i == 1 ? kFileHeader : 0);
    }
  }
}

// Calls visit(what follows the size of a row, that size, the end of the page).
template <class Visit>
void for_each_cell(const Pages& pages, std::span<const std::byte> page, std::size_t header, Visit visit) {
  if (page[header] != kLeafPage) pages.damaged();
  const std::size_t cells = get_big16(page.data() + header + 3);
  const std::byte* pointers = page.data() + header + kLeafHeader;
  const std::byte* end = page.data() + pages.usable_size();
  if (pointers + 2 * cells > end) pages.damaged();
  for (std::size_t i = 0; i < cells; ++i) {
    Reader cell(pages, page.data() + get_big16(pointers + 2 * i), end);
    const std::uint64_t payload = cell.varint();
    visit(cell, payload, end);
  }
}

// How much of a row is on its page, and not on overflow pages: SQLite's file format, section 1.6.
std::uint64_t payload_on_page(std::uint64_t payload, std::uint64_t usable) {
  if (payload <= usable - 35) return payload;
  const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  const std::uint64_t size = least + (payload - least) % (usable - 4);
  return size <= usable - 35 ? size : least;
}

class LeafParser {
 public:
  LeafParser(const Pages& pages, std::vector<WantedColumn> wanted, std::size_t rows)
      : pages_(pages), wanted_(std::move(wanted)), rows_(rows) {
    std::ranges::sort(wanted_, {}, &WantedColumn::column);
  }

  // The rows found, which are consecutive.
  [[nodiscard]] RowRange parse(std::span<const LeafRun> runs) const {
    RowRange range;
    for_each_page(pages_, runs,
                  [&](std::span<const std::byte> page, std::size_t header) { parse_page(page, header, range); });
    return range;
  }

 private:
  void parse_page(std::span<const std::byte> page, std::size_t header, RowRange& range) const {
    for_each_cell(pages_, page, header, [&](Reader& cell, std::uint64_t payload, const std::byte* end) {
      const std::uint64_t row = cell.varint();
      if (row == 0 || row > rows_ || (range.last != 0 && row != range.last + 1)) pages_.damaged();
      if (range.first == 0) range.first = row;
      range.last = row;
      const std::uint64_t here = payload_on_page(payload, pages_.usable_size());
      if (here > static_cast<std::uint64_t>(end - cell.position())) pages_.damaged();
      parse_record(cell.position(), cell.position() + here, static_cast<std::size_t>(row) - 1);
    });
  }

  void parse_record(const std::byte* record, const std::byte* end, std::size_t row) const {
    Reader start(pages_, record, end);
    const std::uint64_t header_size = start.varint();
    if (header_size > static_cast<std::uint64_t>(end - record)) pages_.damaged();
    const std::byte* content = record + header_size;
    Reader header(pages_, start.position(), content);
    auto wanted = wanted_.begin();
    for (std::size_t column = 0; wanted != wanted_.end(); ++column) {
      const std::uint64_t type = header.varint();
      const std::uint64_t size = content_size(type);
      if (size > static_cast<std::uint64_t>(end - content)) pages_.damaged();
      if (column == wanted->column && !(wanted++)->store(row, type, content)) pages_.damaged();
      content += size;
    }
  }

  const Pages& pages_;
  std::vector<WantedColumn> wanted_;
  std::size_t rows_;
};

std::vector<WantedColumn> wanted_columns(Database& database, std::string_view table,
                                         std::span<const ScanColumn> columns, ScannedColumns& out) {
  std::vector<WantedColumn> wanted;
  for (const ScanColumn& column : columns) {
    Statement position(database, "SELECT cid FROM pragma_table_info(?) WHERE name = ? AND pk = 0", table, column.name);
    if (!position.step()) throw std::logic_error(fmt::format("{} has no column {}", table, column.name));
    ColumnValues values;
    if (column.type == ScanType::kNumber || column.type == ScanType::kReal) {
      values.numbers = ColumnArray<std::int64_t>(out.rows);
    } else {
      values.ids = ColumnArray<std::uint32_t>(out.rows);
    }
    out.columns.push_back(std::move(values));
    wanted.push_back({static_cast<std::size_t>(position.int64(0)), &column, out.columns.back().numbers.data(),
                      out.columns.back().ids.data(), database.most_rows()});
  }
  return wanted;
}

RowRange parse_in_two(const Pages& pages, const LeafParser& parser, std::span<const LeafRun> runs) {
  RowRange second;
  Task task([&] { second = parser.parse(runs.subspan(runs.size() / 2)); }, [] {});
  const RowRange first = parser.parse(runs.first(runs.size() / 2));
  task.join();
  if (first.last + 1 != second.first) pages.damaged();
  return {first.first, second.last};
}

std::vector<LeafRun> leaves_of(Database& database, std::string_view table, const Pages& pages) {
  Statement root(database, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?", table);
  if (!root.step()) throw std::logic_error(fmt::format("there is no table {}", table));
  return Leaves(pages, static_cast<std::uint32_t>(root.int64(0))).take();
}

}  // namespace

void require_own_pages(Database& database, std::string_view table, std::uint64_t& left) {
  const Pages pages(database, table);
  for_each_page(pages, leaves_of(database, table, pages), [&](std::span<const std::byte> page, std::size_t header) {
    for_each_cell(pages, page, header, [&](Reader&, std::uint64_t payload, const std::byte*) {
      if (payload > left) pages.damaged();
      left -= payload;
    });
  });
}

ScannedColumns scan_columns(Database& database, std::string_view table, std::span<const ScanColumn> columns) {
  const Pages pages(database, table);
  const std::vector<LeafRun> runs = leaves_of(database, table, pages);
  ScannedColumns out;
  out.rows = static_cast<std::size_t>(
      std::max<std::int64_t>(database.query_int64(fmt::format("SELECT max(rowid) FROM \"{}\"", table)).value_or(0), 0));
  if (out.rows > database.most_rows()) pages.damaged();
  const LeafParser parser(pages, wanted_columns(database, table, columns, out), out.rows);
  const bool large = runs.size() * kPagesAtOnce >= kPagesForAThread;
  const RowRange range = large ? parse_in_two(pages, parser, runs) : parser.parse(runs);
  if (range.last != out.rows || (out.rows > 0 && range.first != 1)) pages.damaged();
  return out;
}

}  // namespace tracedb
