#include "sql/file/column_scan.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <fstream>

#include "base/error.h"
#include "base/unknown.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 2> kColours = {"red", "green"};

// A table as SQLite writes it.
std::filesystem::path table(const TempDirectory& folder, int rows, int page_size) {
  std::filesystem::path path = folder / fmt::format("{}-{}.db", rows, page_size);
  Database database(path, Database::Mode::kCreate);
  database.execute(fmt::format(
      "PRAGMA page_size = {}; CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, colour TEXT, b INTEGER, parent "
      "INTEGER);"
      "WITH RECURSIVE n(i) AS (SELECT 1 WHERE {} > 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
      "INSERT INTO t SELECT i, CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN -128 WHEN 4 THEN "
      "-32768 WHEN 5 THEN 8388607 WHEN 6 THEN -2147483648 WHEN 7 THEN -140737488355328 WHEN 8 THEN "
      "-9223372036854775807 WHEN 9 THEN 9223372036854775807 ELSE i END,"
      "CASE i % 4 WHEN 0 THEN 'red' WHEN 1 THEN 'green' WHEN 2 THEN 'blue' END, i * 1000, nullif(i / 2, 0) FROM n",
      page_size, rows, rows));
  return path;
}

const std::array<ScanColumn, 3> kAll = {ScanColumn{"b"}, ScanColumn{"colour", ScanType::kChoice, kColours},
                                        ScanColumn{"a"}};
const std::array<ScanColumn, 1> kIds = {ScanColumn{"parent", ScanType::kId}};

}  // namespace

TEST_CASE("columns are what SQL says, for tables of any depth") {
  const TempDirectory folder;
  for (const int page_size : {512, 4096, 65536}) {
    for (const int rows : {0, 1, 100, 20'000}) {
      CAPTURE(page_size);
      CAPTURE(rows);
      Database database(table(folder, rows, page_size), Database::Mode::kReadOnly);
      const ScannedColumns values = scan_columns(database, "t", kAll);
      const ScannedColumns ids = scan_columns(database, "t", kIds);
      REQUIRE(values.rows == static_cast<std::size_t>(rows));
      Statement expected(database, "SELECT a, colour, b, parent FROM t ORDER BY id");
      std::size_t wrong = 0;
      for (std::size_t i = 0; expected.step(); ++i) {
        const std::int64_t a = expected.is_null(0) ? kUnknownValue : expected.int64(0);
        const unsigned colour = expected.text(1) == "red" ? 1 : expected.text(1) == "green" ? 2 : 0;
        if (values.columns[0].numbers.span()[i] != expected.int64(2)) ++wrong;
        if (values.columns[1].ids.span()[i] != colour || ids.columns[0].ids.span()[i] != expected.id(3)) ++wrong;
        if (values.columns[2].numbers.span()[i] != a) ++wrong;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("ids that the file cannot have are damage") {
  const TempDirectory folder;
  for (const char* id : {"100000", "4294967295", "4294967296", "4611686018427387904", "-1"}) {
    CAPTURE(id);
    const std::filesystem::path path = table(folder, 50, 512);
    Database(path, Database::Mode::kReadWrite).execute(fmt::format("UPDATE t SET parent = {} WHERE id = 20", id));
    Database database(path, Database::Mode::kReadOnly);
    CHECK_THROWS_AS(scan_columns(database, "t", kIds), Error);
    Statement row(database, "SELECT parent FROM t WHERE id = 20");
    REQUIRE(row.step());
    CHECK_THROWS_AS((void)row.id(0), Error);
    std::filesystem::remove(path);
  }
}

TEST_CASE("the file that was opened is read, whatever has its name now") {
  const TempDirectory folder;
  const std::filesystem::path path = table(folder, 5, 4096);
  Database database(path, Database::Mode::kReadOnly);
  std::filesystem::rename(table(folder, 7, 4096), path);
  CHECK(scan_columns(database, "t", kAll).rows == 5);
}

TEST_CASE("rows with gaps are not ours") {
  const TempDirectory folder;
  const std::filesystem::path path = table(folder, 50, 512);
  Database(path, Database::Mode::kReadWrite).execute("DELETE FROM t WHERE id = 20");
  Database database(path, Database::Mode::kReadOnly);
  CHECK_THROWS_AS(scan_columns(database, "t", kAll), Error);
}

TEST_CASE("any damage is an error or other numbers, never a crash") {
  const TempDirectory folder;
  const std::filesystem::path path = table(folder, 400, 512);
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  int refused = 0;
  for (std::size_t at = 512; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ 0xa5U);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    try {
      Database database(path, Database::Mode::kReadOnly);
      scan_columns(database, "t", kAll);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("a table or column that is not there is our own mistake") {
  const TempDirectory folder;
  Database database(table(folder, 3, 4096), Database::Mode::kReadOnly);
  const ScanColumn none[] = {{"none"}};
  CHECK_THROWS_AS(scan_columns(database, "t", none), std::logic_error);
  CHECK_THROWS_AS(scan_columns(database, "none", none), std::logic_error);
}

}  // namespace tracedb
