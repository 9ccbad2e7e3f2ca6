#include "sql/file/page_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "sql/database.h"
#include "sql/file/byte_order.h"
#include "sql/file/table_builder.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::uint64_t kLockByte = std::uint64_t{1} << 30;

std::uint32_t create(const std::filesystem::path& path, std::size_t page_size) {
  Database database(path, Database::Mode::kCreate);
  database.execute(fmt::format("PRAGMA page_size = {}; CREATE TABLE t(id INTEGER PRIMARY KEY, a)", page_size));
  return static_cast<std::uint32_t>(*database.query_int64("SELECT rootpage FROM sqlite_schema"));
}

void put(std::fstream& file, std::uint64_t offset, std::uint32_t value) {
  std::byte bytes[4];
  put_big32(bytes, value);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

std::uint32_t get(const std::filesystem::path& path, std::uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  std::byte bytes[4]{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes), sizeof bytes);
  return get_big32(bytes);
}

std::uint32_t first_byte(const std::filesystem::path& path, std::uint64_t offset) { return get(path, offset) >> 24; }

// Makes the database `pages` long, without its taking room on the disk: the new pages are free ones, all of them listed
// on the first.
void lengthen(const std::filesystem::path& path, std::size_t page_size, std::uint32_t pages) {
  const auto trunk = static_cast<std::uint32_t>(std::filesystem::file_size(path) / page_size + 1);
  std::filesystem::resize_file(path, std::uint64_t{pages} * page_size);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::uint64_t offset = std::uint64_t{trunk - 1} * page_size;
  put(file, offset + 4, pages - trunk);
  for (std::uint32_t page = trunk + 1; page <= pages; ++page)
    put(file, offset + 8 + std::uint64_t{4} * (page - trunk - 1), page);
  put(file, 28, pages);
  put(file, 32, trunk);
  put(file, 36, pages - trunk + 1);
}

}  // namespace

TEST_CASE("the page with the lock bytes stays empty") {
  constexpr std::size_t kPageSize = 65536;
  constexpr std::uint32_t kLockPage = kLockByte / kPageSize + 1;
  const TempDirectory directory;
  const auto path = directory / "long.db";
  const std::uint32_t root = create(path, kPageSize);
  lengthen(path, kPageSize, kLockPage - 3);
  REQUIRE(Database(path, Database::Mode::kReadOnly).query_text("PRAGMA integrity_check") == "ok");

  const std::vector<std::int64_t> cells(20000, 0x123456789abcdef);
  PageFile file(path);
  TableBuilder builder(file, root, std::vector<std::span<const std::string_view>>(1));
  builder.insert(cells);
  builder.finish();
  file.close();

  Database database(path, Database::Mode::kReadWrite);
  CHECK(database.query_int64("PRAGMA page_count") > kLockPage + 1);
  CHECK(get(path, kLockByte) == 0);
  CHECK(first_byte(path, kLockByte - kPageSize) == 0x0d);
  CHECK(first_byte(path, kLockByte + kPageSize) == 0x0d);
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  CHECK(database.query_int64("SELECT count(*) FROM t WHERE a = 0x123456789abcdef") == 20000);
}

TEST_CASE("a database whose next page holds the lock bytes ends before it") {
  constexpr std::size_t kPageSize = 65536;
  constexpr std::uint32_t kLockPage = kLockByte / kPageSize + 1;
  const TempDirectory directory;
  const auto path = directory / "long.db";
  create(path, kPageSize);
  lengthen(path, kPageSize, kLockPage - 1);
  PageFile file(path);
  CHECK(file.pages() == kLockPage - 1);
  CHECK(file.append(std::vector<std::byte>(kPageSize)) == kLockPage + 1);
  file.close();
  CHECK(get(path, 28) == kLockPage + 1);
  CHECK(std::filesystem::file_size(path) == std::uint64_t{kLockPage + 1} * kPageSize);
}

TEST_CASE("closing counts the pages and the change") {
  const TempDirectory directory;
  const auto path = directory / "t.db";
  create(path, 1024);
  const std::uint32_t change = get(path, 24);
  PageFile file(path);
  CHECK(file.page_size() == 1024);
  CHECK(file.usable_size() == 1024);
  CHECK(file.pages() == 2);
  for (std::uint32_t i = 3; i < 203; ++i) CHECK(file.append(std::vector<std::byte>(1024, std::byte{7})) == i);
  file.overwrite(202, std::vector<std::byte>(1024, std::byte{8}));
  file.close();
  CHECK(get(path, 24) == change + 1);
  CHECK(get(path, 92) == change + 1);
  CHECK(get(path, 28) == 202);
  CHECK(std::filesystem::file_size(path) == 202 * 1024);
  CHECK(get(path, std::uint64_t{200} * 1024) == 0x07070707);
  CHECK(get(path, std::uint64_t{201} * 1024) == 0x08080808);
}

TEST_CASE("what cannot be appended to") {
  const TempDirectory directory;
  CHECK_THROWS_AS(PageFile(directory / "missing.db"), Error);
  CHECK_THROWS_AS(PageFile(directory.write("text", std::string(2000, 'x'))), Error);
  CHECK_THROWS_AS(PageFile(directory.write("empty", "")), Error);
  const auto longer = directory / "longer.db";
  create(longer, 512);
  std::filesystem::resize_file(longer, 2048);
  CHECK_THROWS_AS(PageFile{longer}, Error);
  const auto vacuumed = directory / "vacuumed.db";
  Database(vacuumed, Database::Mode::kCreate).execute("PRAGMA auto_vacuum = FULL; CREATE TABLE t(a)");
  CHECK_THROWS_AS(PageFile{vacuumed}, std::logic_error);
}

}  // namespace tracedb
