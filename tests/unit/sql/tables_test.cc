#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "sql/database.h"
#include "sql/file/byte_order.h"
#include "sql/file/table_builder.h"
#include "sql/tables/set_table.h"
#include "sql/tables/table_function.h"
#include "support/refused.h"
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

// Databases in memory: member i has the values 100 i to 100 i + 99, and "even" or "odd" beside each; its label is i.
class Hundreds : public DatabaseSet {
 public:
  Hundreds(std::size_t members, std::size_t threads) : members_(members), threads_(threads) {}

  std::size_t size() const override { return members_; }
  std::span<const LabelColumn> label_columns() const override {
    static constexpr LabelColumn kSetColumns[] = {{"member", "INTEGER", ""}, {"name", "TEXT", ""}};
    return kSetColumns;
  }
  std::vector<SqlValue> known_labels(std::size_t member) const override { return {std::int64_t(member), {}}; }
  std::vector<SqlValue> labels(std::size_t member, Database&) const override {
    return {std::int64_t(member), member % 2 == 0 ? SqlValue("m" + std::to_string(member)) : SqlValue()};
  }
  std::shared_ptr<Database> open(std::size_t member) override {
    ++opened;
    if (member == broken) throw Error(ErrorCode::kInput, "broken");
    auto database = std::make_shared<Database>(":memory:", Database::Mode::kMemory);
    database->execute(fmt::format(
        "CREATE TABLE t (x INTEGER PRIMARY KEY, parity TEXT, raw); WITH RECURSIVE n(x) AS (SELECT {} UNION ALL SELECT "
        "x + 1 "
        "FROM n LIMIT 100) INSERT INTO t SELECT x, iif(x % 2, 'odd', 'even'), iif(x % 10, x'00ff', NULL) FROM n;"
        "CREATE VIEW v AS SELECT x, abs(x) + {} AS fails FROM t",
        100 * member, member == overflowing ? "9223372036854775807" : "0"));
    return database;
  }
  void leave_out(std::size_t member, const Error&) override { ++left_out[member]; }
  std::size_t threads() const override { return threads_; }
  const std::atomic<bool>* cancelled() const override { return &cancel; }

  static constexpr std::size_t kNone = 1'000'000;
  std::atomic<std::size_t> opened = 0;
  std::size_t broken = kNone, overflowing = kNone;
  std::map<std::size_t, int> left_out;
  std::atomic<bool> cancel = false;

 private:
  std::size_t members_, threads_;
};

const SetTable kTable = {"t", "", {{"x", "INTEGER"}, {"parity", "TEXT"}, {"raw", ""}}};

struct SetFixture {
  explicit SetFixture(std::size_t members, std::size_t threads = 1) : set(members, threads) {
    add_table_of_all(database, set, kTable);
  }
  std::string text(const std::string& sql) { return database.query_text(sql).value_or("NULL"); }
  std::size_t opened_by(const std::string& sql) {
    const std::size_t before = set.opened;
    database.execute(sql);
    return set.opened - before;
  }

  Hundreds set;
  Database database{":memory:", Database::Mode::kMemory};
};

TEST_CASE("a table of all has the rows of every database in order, whatever the number of threads") {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT count(*) || ' ' || sum(x) || ' ' || sum(member) FROM all_t", "2000 1999000 19000"},
      {"SELECT max(x - row) || min(x - row) FROM (SELECT x, row_number() OVER () - 1 AS row FROM all_t)", "00"},
      {"SELECT count(*) || hex(max(raw)) || count(raw) FROM all_t", "200000FF1800"},
      {"SELECT group_concat(n) FROM (SELECT count(*) n FROM all_t GROUP BY member % 3)", "700,700,600"},
      {"SELECT x FROM all_t LIMIT 1 OFFSET 1234", "1234"},
      {"SELECT count(*) || ' ' || min(n) || ' ' || max(n) || ' ' || sum(n) FROM (SELECT count(*) n FROM all_t "
       "GROUP BY member, parity)",
       "40 50 50 2000"},
      {"SELECT group_concat(member || parity) FROM (SELECT member, parity FROM all_t WHERE member < 2 GROUP BY "
       "parity, member ORDER BY member, parity DESC)",
       "0odd,0even,1odd,1even"},
      {"SELECT count(*) FROM (SELECT DISTINCT member, raw FROM all_t)", "40"},
      {"SELECT group_concat(x) FROM (SELECT x FROM all_t WHERE parity = 'odd' ORDER BY x DESC LIMIT 3)",
       "1999,1997,1995"},
      {"SELECT count(DISTINCT parity) FROM all_t", "2"},
      {"SELECT group_concat(parity) FROM (SELECT DISTINCT parity FROM all_t WHERE x > 150)", "odd,even"},
  };
  for (const std::size_t threads : {1U, 2U, 7U}) {
    SetFixture fixture(20, threads);
    for (const auto& [sql, expected] : cases) CHECK(fixture.text(sql) == expected);
  }
}

TEST_CASE("conditions give the same rows as they give of a plain table") {
  SetFixture fixture(5);
  fixture.database.execute("CREATE TABLE plain AS SELECT * FROM all_t");
  for (const char* condition : {"x = 205",
                                "x = '205'",
                                "x IN (1, 2, '3', 499, NULL)",
                                "parity = 'odd'",
                                "parity LIKE 'EV%'",
                                "parity GLOB 'EV*'",
                                "parity GLOB 'o*'",
                                "parity = 'ODD' COLLATE NOCASE",
                                "raw IS NULL",
                                "raw IS NOT NULL",
                                "raw IS x'00ff'",
                                "raw != x'00ff'",
                                "x > 450.5",
                                "x >= '450'",
                                "x BETWEEN 99 AND 101",
                                "x IS 7",
                                "member = 3",
                                "member = '3'",
                                "member > 2.5",
                                "member IN (0, 4)",
                                "name = 'm2'",
                                "name > 'm0'",
                                "name IS NULL",
                                "name IN ('m0', 'x')",
                                "name = 4",
                                "member = NULL",
                                "member IN (SELECT member FROM all_t WHERE x = 320)",
                                "rowid > 450",
                                "x = name",
                                "x = member",
                                "parity IN (SELECT 'even') AND member <= 1",
                                "NOT parity = 'even' AND x < 10",
                                "x < 3 OR x > 497"}) {
    CAPTURE(condition);
    const auto of = [&](const char* table) {
      return fixture.text(fmt::format("SELECT count(*) || ' ' || total(x) FROM {} WHERE {}", table, condition));
    };
    CHECK(of("all_t") == of("plain"));
  }
}

TEST_CASE("databases that a condition excludes are not read, and unknown ones are not opened") {
  SetFixture fixture(20);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member = 7") == 1);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member IN (7, 8) AND x > 0") == 2);
  CHECK(fixture.opened_by("SELECT * FROM all_t WHERE member >= 15") == 5);
  CHECK(fixture.opened_by("SELECT count(*) FROM all_t") == 20);
  CHECK(fixture.opened_by("SELECT * FROM all_t LIMIT 1") == 1);
}

TEST_CASE("a database that cannot be read is left out, and a statement that fails ends") {
  for (const std::size_t threads : {1U, 3U}) {
    SetFixture fixture(9, threads);
    fixture.set.broken = 4;
    CHECK(fixture.text("SELECT count(*) FROM all_t") == "800");
    CHECK(fixture.set.left_out == std::map<std::size_t, int>{{4, 1}});
    fixture.set.overflowing = 6;
    add_table_of_all(fixture.database, fixture.set, {"v", "", {{"x", "INTEGER"}, {"fails", ""}}});
    CHECK(fixture.text("SELECT sum(x) > 0 FROM all_v") == "1");
    fixture.set.cancel = true;
    CHECK_THROWS_WITH_AS(fixture.database.execute("SELECT sum(x) FROM all_t"), "interrupted", Error);
  }
}

TEST_CASE("a schema has the tables of one database") {
  class One : public Hundreds {
   public:
    One() : Hundreds(1, 1) {}
    std::span<const LabelColumn> label_columns() const override { return {}; }
    std::vector<SqlValue> known_labels(std::size_t) const override { return {}; }
    std::vector<SqlValue> labels(std::size_t, Database&) const override { return {}; }
  } one;
  Database database(":memory:", Database::Mode::kMemory);
  add_schema(database, one, "a \"b\"", std::vector{kTable});
  CHECK(database.query_int64(R"(SELECT sum(x) FROM "a ""b""".t WHERE parity = 'odd')") == 2500);
  CHECK(database.query_int64(R"(SELECT count(*) FROM "a ""b""".t a JOIN t b ON a.x = b.x + 1)") == 99);
  CHECK(database.query_text("SELECT group_concat(x) FROM (SELECT x FROM t WHERE x < 6 ORDER BY parity, x DESC)") ==
        "4,2,0,5,3,1");
  CHECK(database.query_int64("SELECT sum(n) FROM (SELECT count(*) n FROM t GROUP BY parity HAVING n = 50)") == 100);
  one.broken = 0;
  CHECK_THROWS_WITH_AS(database.execute("SELECT * FROM t"), "broken", Error);
}

constexpr std::array<TableColumn, 3> kTestColumns = {{{"id", ColumnType::kInteger, "", "number"},
                                                      {"share", ColumnType::kReal, "percent", "part"},
                                                      {"name", ColumnType::kText, "", "text"}}};

struct TableFixture {
  Database database{":memory:", Database::Mode::kMemory};
  int fills = 0;

  void add(FillTable fill) {
    add_table_function(database, "found", kTestColumns, [this, fill = std::move(fill)](TableRows& rows) {
      ++fills;
      fill(rows);
    });
  }
};

void three_rows(TableRows& rows) {
  rows.add(1).add(0.5).add("one").add(2).add_null().add(std::string("two\0x", 5));
  rows.add(std::optional<int>()).add(std::optional(2.5)).add(std::optional<std::string_view>("one"));
}

TEST_CASE("a table is filled when a statement reads it, and once") {
  TableFixture fixture;
  fixture.add(three_rows);
  const Statement prepared(fixture.database, "SELECT * FROM found");
  CHECK(fixture.fills == 0);
  CHECK(fixture.database.query_int64("SELECT count(*) FROM found") == 3);
  CHECK(fixture.database.query_text("SELECT name FROM found WHERE id = 1") == "one");
  CHECK(fixture.database.query_int64("SELECT length(CAST(name AS BLOB)) FROM found WHERE id = 2") == 5);
  CHECK(fixture.database.query_int64("SELECT count(*) FROM found a JOIN found b ON a.name = b.name") == 5);
  CHECK(fixture.database.query_text("SELECT group_concat(typeof(id) || typeof(share) || typeof(name)) FROM found") ==
        "integerrealtext,integernulltext,nullrealtext");
  CHECK(fixture.fills == 1);
}

TEST_CASE("nobody can write to it, and the database's own tables come first") {
  TableFixture fixture;
  fixture.add(three_rows);
  for (const char* sql : {"DELETE FROM found", "INSERT INTO found VALUES (1, 2, 3)", "DROP TABLE found",
                          "CREATE VIRTUAL TABLE other USING found"}) {
    CHECK_THROWS_AS(fixture.database.execute(sql), Error);
  }
  fixture.database.execute("CREATE TABLE found (own)");
  CHECK(fixture.database.query_int64("SELECT count(own) FROM found") == 0);
  CHECK(fixture.fills == 0);
}

TEST_CASE("what the filling throws is what the statement throws") {
  TableFixture fixture;
  fixture.add([](TableRows&) { throw Error(ErrorCode::kInput, "the layers are gone"); });
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK(refused(ErrorCode::kInput, [&] { fixture.database.execute("SELECT count(*) FROM found"); }) ==
          "the layers are gone");
  }
  CHECK(fixture.database.query_int64("SELECT 7") == 7);
  TableFixture torn;
  torn.add([](TableRows& rows) { rows.add(1); });
  CHECK_THROWS_AS((void)torn.database.query_int64("SELECT count(*) FROM found"), Error);
}

TEST_CASE("columns and rows that no statement reads may be left out") {
  Database database(":memory:", Database::Mode::kMemory);
  std::vector<std::size_t> fills;  // rows of each
  const auto fill = [&](TableRows& rows) {
    const std::size_t all = 9;
    const std::size_t most = rows.most();
    fills.push_back(most == 0 ? all : std::min(most, all));
    const bool name = rows.wants(2);
    for (std::size_t i = 0; i < fills.back(); ++i) {
      rows.add(all - i).add(0.5);
      name ? rows.add("x") : rows.add_null();
    }
  };
  add_table_function(database, "found", kTestColumns, fill, {{0, true}, {1}});
  const auto sum = [&](const std::string& sql) { return database.query_int64("SELECT sum(id) FROM (" + sql + ")"); };
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT 2") == 17);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC, share LIMIT 1 OFFSET 2") == 7);
  CHECK(sum("SELECT id FROM found LIMIT 1") == 9);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT 0") == std::nullopt);
  CHECK(fills == std::vector<std::size_t>{2, 3});
  CHECK(sum("SELECT id FROM found ORDER BY id LIMIT 2") == 3);  // another order: all rows, from now on
  CHECK(sum("SELECT id FROM found WHERE id < 9 ORDER BY id DESC LIMIT 2") == 15);
  CHECK(sum("SELECT id FROM found ORDER BY id DESC LIMIT -1") == 45);
  CHECK(fills == std::vector<std::size_t>{2, 3, 9});
  CHECK(sum("SELECT id, name FROM found WHERE name = 'x' ORDER BY id DESC LIMIT 2") == 17);
  CHECK(fills == std::vector<std::size_t>{2, 3, 9, 9});
  CHECK(sum("SELECT a.id FROM found a JOIN found b ON b.id = a.id - 1 ORDER BY a.id DESC LIMIT 3") == 24);
  CHECK(fills.size() == 4);
}

TEST_CASE("it may read the database that reads it") {
  TableFixture fixture;
  fixture.database.execute("CREATE TABLE own (x); INSERT INTO own VALUES (3), (4)");
  fixture.add([&](TableRows& rows) {
    Statement own(fixture.database, "SELECT x FROM own");
    while (own.step()) rows.add(own.int64(0)).add_null().add_null();
  });
  CHECK(fixture.database.query_int64("SELECT sum(id) FROM own JOIN found ON id = x") == 7);
}

}  // namespace
}  // namespace tracedb
