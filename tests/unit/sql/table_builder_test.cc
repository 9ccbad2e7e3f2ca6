#include "sql/file/table_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/unknown.h"
#include "sql/database.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

using Texts = std::vector<std::span<const std::string_view>>;

constexpr std::int64_t kNull = kUnknownValue;
constexpr std::array<std::string_view, 3> kChoices = {"red", "", "ultramarine"};

// A database with the empty table t(id, a, b, ...) of that many columns.
class BuilderFixture {
 public:
  explicit BuilderFixture(std::size_t page_size, std::size_t columns = 2) : columns_(columns) {
    Database database(path_, Database::Mode::kCreate);
    database.execute(fmt::format("PRAGMA page_size = {}", page_size));
    std::string list;
    for (std::size_t i = 0; i < columns; ++i) list += fmt::format(", {}", static_cast<char>('a' + i));
    database.execute(fmt::format("CREATE TABLE t(id INTEGER PRIMARY KEY{})", list));
    root_ = static_cast<std::uint32_t>(*database.query_int64("SELECT rootpage FROM sqlite_schema"));
  }

  void build(std::span<const std::int64_t> cells, Texts texts = {}) {
    PageFile file(path_);
    texts.resize(columns_);
    TableBuilder builder(file, root_, std::move(texts));
    builder.insert(cells);
    builder.finish();
    CHECK(builder.rows() == cells.size() / columns_);
    file.close();
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] Database open() const { return {path_, Database::Mode::kReadWrite}; }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TempDirectory directory_;
  std::filesystem::path path_ = directory_ / "t.db";
  std::size_t columns_;
  std::uint32_t root_ = 0;
};

std::vector<std::int64_t> some_cells(std::size_t rows) {
  std::vector<std::int64_t> cells;
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    cells.push_back(static_cast<std::int64_t>(i));
    cells.push_back(static_cast<std::int64_t>(random) >> (random % 61));
  }
  return cells;
}

void check_content(Database& database, std::span<const std::int64_t> cells) {
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  Statement statement(database, "SELECT id, a, b FROM t");
  std::size_t wrong = 0;
  std::size_t rows = 0;
  for (; statement.step(); ++rows) {
    if (2 * rows + 1 >= cells.size()) continue;
    const bool same = statement.int64(0) == static_cast<std::int64_t>(rows) + 1 &&
                      statement.int64(1) == cells[2 * rows] && statement.int64(2) == cells[2 * rows + 1];
    wrong += same ? 0 : 1;
  }
  CHECK(rows == cells.size() / 2);
  CHECK(wrong == 0);
}

// What SQLite must be able to do with the table, as with one that it filled itself.
void check_use(Database& database, std::size_t rows) {
  const auto count = static_cast<std::int64_t>(rows);
  database.execute("CREATE INDEX t_b ON t(b); CREATE UNIQUE INDEX t_a ON t(a)");
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  database.execute("INSERT INTO t(a, b) SELECT -1 - value, zeroblob(600) FROM (SELECT 0 AS value UNION SELECT 1)");
  CHECK(database.query_int64("SELECT max(id) FROM t") == count + 2);
  database.execute(
      "UPDATE t SET b = 'longer than it was before ' || a WHERE id % 3 = 0; DELETE FROM t WHERE id % 2 = 0");
  CHECK(database.query_int64("SELECT count(*) FROM t") == (count + 3) / 2);
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  database.execute("VACUUM");
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  CHECK(database.query_int64("SELECT count(*) FROM t WHERE b IS NOT NULL") == (count + 3) / 2);
}

std::uint8_t byte_at(const std::string& bytes, std::size_t offset) {
  return static_cast<std::uint8_t>(bytes.at(offset));
}

// Levels of the b-tree, from the types of the pages on the way to its last row.
std::size_t depth(const BuilderFixture& fixture, std::size_t page_size) {
  const std::string bytes = fixture.bytes();
  std::size_t levels = 1;
  for (std::size_t page = (fixture.root() - 1) * page_size; byte_at(bytes, page) == 0x05; ++levels) {
    std::size_t next = 0;
    for (std::size_t i = 8; i < 12; ++i) next = next << 8 | byte_at(bytes, page + i);
    page = (next - 1) * page_size;
  }
  return levels;
}

}  // namespace

TEST_CASE("a built table reads as one that SQLite filled, at every page size and depth") {
  for (const std::size_t page_size :
       std::initializer_list<std::size_t>{512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    for (const std::size_t rows : std::initializer_list<std::size_t>{0, 1, 2, 30, 127, 128, 3000, 20000}) {
      CAPTURE(page_size);
      CAPTURE(rows);
      BuilderFixture fixture(page_size);
      const std::vector<std::int64_t> cells = some_cells(rows);
      fixture.build(cells);
      Database database = fixture.open();
      check_content(database, cells);
      if (rows < 20000 || page_size == 512) check_use(database, rows);
    }
  }
}

TEST_CASE("interior levels") {
  const auto levels = [](std::size_t rows) {
    BuilderFixture fixture(512);
    const std::vector<std::int64_t> cells = some_cells(rows);
    fixture.build(cells);
    Database database = fixture.open();
    check_content(database, cells);
    return depth(fixture, 512);
  };
  CHECK(levels(10) == 1);
  CHECK(levels(200) == 2);
  CHECK(levels(10000) == 3);
  CHECK(levels(100000) == 4);
}

// Every number of leaves where a page of the next level fills up: what is left over must make a proper page, too.
TEST_CASE("exactly full pages") {
  constexpr std::size_t kPage = 512;
  // 3 columns of 8 bytes: up to row 127, cells of 31 bytes and 2 for the pointer.
  const auto build = [](std::size_t rows) {
    BuilderFixture fixture(kPage, 3);
    std::vector<std::int64_t> cells(rows * 3, std::numeric_limits<std::int64_t>::max());
    fixture.build(cells);
    Database database = fixture.open();
    CHECK(database.query_text("PRAGMA integrity_check") == "ok");
    CHECK(database.query_int64("SELECT count(*) FROM t WHERE a + b + c IS NOT NULL") == rows);
    return database.query_int64("PRAGMA page_count");
  };
  // (512 - 8) / 33 = 15 cells of 495 bytes: 9 are left over.
  CHECK(build(15) == 2);
  CHECK(build(16) == 4);
  CHECK(build(30) == 4);
  CHECK(build(31) == 5);
  for (std::size_t rows = 850; rows < 950; ++rows) build(rows);
}

TEST_CASE("a leaf without a byte to spare") {
  const auto pages = [](std::size_t rows) {
    BuilderFixture fixture(512, 1);
    fixture.build(std::vector<std::int64_t>(rows, 0x1234));
    Database database = fixture.open();
    CHECK(database.query_text("PRAGMA integrity_check") == "ok");
    CHECK(database.query_int64("SELECT sum(a) FROM t") == static_cast<std::int64_t>(rows) * 0x1234);
    return database.query_int64("PRAGMA page_count");
  };
  // Cells of 7 bytes and 2 for the pointer: (512 - 8) / 9 = 56, nothing left over.
  CHECK(pages(56) == 2);
  CHECK(pages(57) == 4);
}

TEST_CASE("integers are stored in the fewest bytes, and come back") {
  std::vector<std::int64_t> values = {
      0, 1, -1, 2, -2, std::numeric_limits<std::int64_t>::max(), -std::numeric_limits<std::int64_t>::max()};
  for (const int bits : {7, 8, 15, 16, 23, 24, 31, 32, 39, 40, 47, 48, 55, 56, 62}) {
    const std::int64_t border = std::int64_t{1} << bits;
    for (const std::int64_t value : {border - 1, border, border + 1}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  for (const std::int64_t value : values) {
    CAPTURE(value);
    BuilderFixture built(512, 1);
    built.build(std::array{value});
    BuilderFixture inserted(512, 1);
    inserted.open().execute(fmt::format("INSERT INTO t VALUES (1, {})", value));
    // The table's page, byte by byte as SQLite writes it.
    CHECK(built.bytes().substr(512) == inserted.bytes().substr(512));
    Database database = built.open();
    CHECK(database.query_int64("SELECT a FROM t") == value);
  }
}

TEST_CASE("NULL and texts") {
  const Texts texts = {{}, kChoices};
  const std::vector<std::int64_t> cells = {7, 0, kNull, 1, 8, 2, 9, kNull, kNull, kNull};
  BuilderFixture fixture(512);
  fixture.build(cells, texts);
  Database database = fixture.open();
  CHECK(database.query_text("PRAGMA integrity_check") == "ok");
  CHECK(database.query_text("SELECT group_concat(quote(a) || quote(b), ' ') FROM t") ==
        "7'red' NULL'' 8'ultramarine' 9NULL NULLNULL");
  CHECK(database.query_text("SELECT group_concat(typeof(b)) FROM t") == "text,text,text,null,null");
}

TEST_CASE("rows that may not fit are refused") {
  BuilderFixture fixture(512, 20);
  PageFile file(fixture.path());
  const std::string long_text(TableBuilder::kMaxText + 1, 'x');
  const std::array<std::string_view, 1> too_long = {long_text};
  const std::array<std::string_view, 1> longest = {std::string_view(long_text).substr(1)};
  CHECK_THROWS_AS(TableBuilder(file, fixture.root(), Texts{too_long}), std::logic_error);
  CHECK_THROWS_AS(TableBuilder(file, fixture.root(), Texts{}), std::logic_error);
  CHECK_THROWS_AS(TableBuilder(file, fixture.root(), Texts(TableBuilder::kMaxColumns + 1)), std::logic_error);
  CHECK_THROWS_AS(TableBuilder(file, fixture.root(), Texts(10, longest)), std::logic_error);
  CHECK_NOTHROW(TableBuilder(file, fixture.root(), Texts{longest, longest}));
}

TEST_CASE("the same rows give the same bytes, however they are handed over") {
  const std::vector<std::int64_t> cells = some_cells(5000);
  BuilderFixture whole(1024);
  whole.build(cells);
  BuilderFixture pieces(1024);
  {
    PageFile file(pieces.path());
    TableBuilder builder(file, pieces.root(), Texts(2));
    for (std::size_t i = 0; i < cells.size(); i += 2) builder.insert(std::span(cells).subspan(i, 2));
    builder.finish();
    file.close();
  }
  CHECK(whole.bytes() == pieces.bytes());
}

TEST_CASE("tables may grow side by side in one file") {
  BuilderFixture fixture(512);
  fixture.open().execute("CREATE TABLE u(id INTEGER PRIMARY KEY, a, b)");
  const auto other =
      static_cast<std::uint32_t>(*fixture.open().query_int64("SELECT rootpage FROM sqlite_schema WHERE name = 'u'"));
  const std::vector<std::int64_t> cells = some_cells(3000);
  PageFile file(fixture.path());
  TableBuilder first(file, fixture.root(), Texts(2));
  TableBuilder second(file, other, Texts(2));
  for (std::size_t i = 0; i < cells.size(); i += 200) {
    first.insert(std::span(cells).subspan(i, 200));
    second.insert(std::span(cells).subspan(i, 200));
  }
  second.finish();
  first.finish();
  file.close();
  Database database = fixture.open();
  check_content(database, cells);
  CHECK(database.query_int64("SELECT count(*) FROM t JOIN u USING (id, a, b)") == 3000);
}

}  // namespace tracedb
