#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unknown.h"
#include "sql/file/column_scan.h"
#include "sql/tables/column_table.h"
#include "sql/user/functions.h"
#include "sql/user/user_sql.h"
#include "support/refused.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 2> kColours = {"red", "green"};

// A table as SQLite writes it; some of its rows go on to overflow pages.
std::filesystem::path table(const TempDirectory& folder, int rows, int page_size) {
  std::filesystem::path path = folder / fmt::format("{}-{}.db", rows, page_size);
  Database database(path, Database::Mode::kCreate);
  database.execute(fmt::format(
      "PRAGMA page_size = {}; CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, colour TEXT, b INTEGER, parent "
      "INTEGER, note TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 WHERE {} > 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
      "INSERT INTO t SELECT i, CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN -128 WHEN 4 THEN "
      "-32768 WHEN 5 THEN 8388607 WHEN 6 THEN -2147483648 WHEN 7 THEN -140737488355328 WHEN 8 THEN "
      "-9223372036854775807 WHEN 9 THEN 9223372036854775807 ELSE i END,"
      "CASE i % 4 WHEN 0 THEN 'red' WHEN 1 THEN 'green' WHEN 2 THEN 'blue' END, i * 1000, nullif(i / 2, 0), "
      "CASE i % 100 WHEN 7 THEN substr(hex(zeroblob(40000)), 1, i * 389 % 80000) END FROM n",
      page_size, rows, rows));
  return path;
}

const std::array<ScanColumn, 3> kAll = {ScanColumn{"b"}, ScanColumn{"colour", ScanType::kChoice, kColours},
                                        ScanColumn{"a"}};
const std::array<ScanColumn, 1> kIds = {ScanColumn{"parent", ScanType::kId}};

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
    change_by_sql(path, fmt::format("UPDATE t SET parent = {} WHERE id = 20", id));
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
  change_by_sql(path, "DELETE FROM t WHERE id = 20");
  Database database(path, Database::Mode::kReadOnly);
  CHECK_THROWS_AS(scan_columns(database, "t", kAll), Error);
}

TEST_CASE("any damage is an error or other numbers, never a crash") {
  const TempDirectory folder;
  const std::filesystem::path path = table(folder, 400, 512);
  const std::string whole = bytes_of(path);
  int refused = 0;
  for (std::size_t at = 512; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ 0xa5U);
    write_anew(path, damaged);
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

// A table over arrays answers as a table of SQLite with the same rows does.

constexpr std::size_t kRows = 5000;  // enough for the first in order to be found alone

const std::vector<TableColumn> kColumns = {
    {"id", ColumnType::kInteger, "", ""},   {"ts", ColumnType::kInteger, "", ""},
    {"dur", ColumnType::kInteger, "", ""},  {"wide", ColumnType::kInteger, "", ""},
    {"name", ColumnType::kText, "", ""},    {"phase", ColumnType::kText, "", ""},
    {"step", ColumnType::kInteger, "", ""}, {"stream", ColumnType::kInteger, "", ""},
    {"ratio", ColumnType::kReal, "", ""},   {"launch", ColumnType::kInteger, "", ""}};

struct Data {
  LargeVector<std::int64_t> ts, dur, wide;
  LargeVector<std::uint32_t> id, name, step, ratio, launch;
  std::vector<ArrayValue> names, phases, steps, streams, ratios;

  Data() {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
    std::int64_t now = 1000;
    for (std::size_t i = 0; i < kRows; ++i) {
      now += below(5);
      id.push_back(static_cast<std::uint32_t>(i) + 1);
      ts.push_back(now);
      dur.push_back(below(20) == 0 ? kUnknownValue : below(200));
      wide.push_back((std::int64_t{below(50)} << 57) - (std::int64_t{1} << 61));
      name.push_back(below(40));
      step.push_back(below(9));
      ratio.push_back(below(12));
      launch.push_back(below(3) == 0 ? 0 : below(4000000000U));
    }
    names.resize(1);
    for (int i = 1; i < 40; ++i) names.emplace_back("kernel " + std::to_string(i / 2 * 7 % 20));  // some are equal
    phases = {{}, "prefill", "decode", "decode", "decode", "prefill", "mixed", "decode", "train"};
    steps = {{}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}};  // 6 .. 8: NULL
    streams = {{}, std::int64_t{7}, "compute", std::int64_t{20}, "7a", std::int64_t{-1}};
    ratios = {{}, 0.5, 12.5, 3.0, 99.0};
  }

  [[nodiscard]] ArrayColumn column(std::size_t number) const {
    std::array columns = {ArrayColumn::of_ids(id),
                          ArrayColumn::of_numbers(ts),
                          ArrayColumn::of_numbers(dur),
                          ArrayColumn::of_numbers(wide),
                          ArrayColumn::of_values(name, names),
                          ArrayColumn::of_values(step, phases),
                          ArrayColumn::of_values(step, steps),
                          ArrayColumn::of_values(step, streams),
                          ArrayColumn::of_values(ratio, ratios),
                          ArrayColumn::of_ids(launch)};
    return std::move(columns.at(number));
  }
};

struct Fixture {
  Database database{":memory:", Database::Mode::kMemory};
  Data data;

  Fixture() {
    register_functions(database);
    add_column_table(
        database, "fast", kColumns,
        {[] { return kRows; }, [] { return kRows; }, [this](std::size_t column) { return data.column(column); }},
        "shown");
    database.execute(
        "CREATE TEMP VIEW shown AS SELECT v.*, v.dur + 1 AS more FROM fast v; "
        "CREATE TABLE plain (id INTEGER, ts INTEGER, dur INTEGER, wide INTEGER, name TEXT, phase TEXT, step INTEGER, "
        "stream INTEGER, ratio REAL, launch INTEGER); INSERT INTO plain SELECT * FROM fast");
  }

  std::vector<std::string> answer(std::string sql, const std::string& table) {
    for (std::size_t at = sql.find('@'); at != std::string::npos; at = sql.find('@')) sql.replace(at, 1, table);
    UserSql statements(database, sql);
    std::vector<std::string> rows;
    while (auto statement = statements.next({{"n", "30"}, {"t", "decode"}, {"r", "12.25"}})) {
      while (statements.step(*statement)) {
        std::string row;
        for (int c = 0; c < statement->column_count(); ++c) {
          row += fmt::format("{}:{}|", static_cast<int>(statement->type(c)), statement->text(c));
        }
        rows.push_back(row);
      }
    }
    return rows;
  }
  std::vector<std::string> plan(const std::string& sql) {
    UserSql statements(database, sql);
    const auto statement = statements.next({{"n", "30"}});
    Statement plan = statements.plan();
    std::vector<std::string> out;
    while (plan.step()) out.emplace_back(plan.text(3).substr(plan.text(3).find(':') + 1));
    return out;
  }
};

// Answers in the order of the rows.
const std::vector<std::string> kOrdered = {
    "SELECT * FROM @ ORDER BY id",
    "SELECT * FROM @ ORDER BY id DESC LIMIT 5",
    "SELECT id FROM @ ORDER BY ts DESC, id LIMIT 20",
    "SELECT id, dur FROM @ ORDER BY dur DESC, id LIMIT 20",
    "SELECT id, dur FROM @ ORDER BY dur, id DESC",
    "SELECT wide, id FROM @ ORDER BY wide DESC, id",
    "SELECT launch, id FROM @ ORDER BY launch, id",
    "SELECT name, step, id FROM @ ORDER BY name, step DESC, id",
    "SELECT stream, ratio, id FROM @ ORDER BY stream, ratio DESC, id",
    "SELECT name, phase, wide, launch, dur, id FROM @ ORDER BY name, phase DESC, wide, launch, dur, id",
    "SELECT name, count(*), sum(dur), min(ts), max(ts) FROM @ GROUP BY name ORDER BY name",
    "SELECT name, count(*) FROM @ GROUP BY name ORDER BY name DESC",
    "SELECT phase, step, count(dur), avg(dur) FROM @ GROUP BY phase, step ORDER BY phase, step",
    "SELECT phase, step, count(*) FROM @ GROUP BY phase, step ORDER BY phase DESC, step",
    "SELECT DISTINCT phase, stream FROM @ ORDER BY phase, stream",
    "SELECT DISTINCT stream FROM @ ORDER BY stream DESC LIMIT 3",
    "SELECT dur, count(*) FROM @ GROUP BY dur HAVING count(*) > 3 ORDER BY dur",
    "SELECT id, row_number() OVER (PARTITION BY name ORDER BY ts, id) FROM @ ORDER BY id",
    "SELECT id, ts - lag(ts) OVER (PARTITION BY stream ORDER BY id) FROM @ ORDER BY id",
    "SELECT id FROM @ WHERE ts BETWEEN 3000 AND 3100 ORDER BY dur DESC, id",
    "SELECT a.id FROM @ a ORDER BY a.phase, a.id LIMIT 10 OFFSET 900",
};
// Answers in any order.
const std::vector<std::string> kUnordered = {
    "SELECT name, count(*), sum(dur) FROM @ GROUP BY name",
    "SELECT wide, count(*) FROM @ GROUP BY wide",
    "SELECT stream, step, group_concat(DISTINCT ratio) IS NULL, count(DISTINCT name) FROM @ GROUP BY stream, step",
    "SELECT DISTINCT name, step FROM @",
    "SELECT count(*) FROM @ WHERE phase = 'decode'",
    "SELECT count(*) FROM @ WHERE phase = :t AND dur > :n",
    "SELECT count(*) FROM @ WHERE phase <> 'decode'",
    "SELECT count(*) FROM @ WHERE phase IN ('decode', 'train', 'nothing', NULL)",
    "SELECT count(*) FROM @ WHERE step IN (0, 3, 77, '1', 2.0)",
    "SELECT count(*) FROM @ WHERE step NOT IN (0, 3)",
    "SELECT count(*) FROM @ WHERE phase IS NULL",
    "SELECT count(*) FROM @ WHERE phase IS NOT NULL AND dur IS NULL",
    "SELECT count(*) FROM @ WHERE phase IS 'train'",
    "SELECT count(*) FROM @ WHERE phase = NULL",
    "SELECT count(*) FROM @ WHERE phase > 'decode' AND phase <= 'prefill'",
    "SELECT count(*) FROM @ WHERE phase = 'DECODE' COLLATE NOCASE",
    "SELECT count(*) FROM @ WHERE phase LIKE 'DEC%'",
    "SELECT count(*) FROM @ WHERE phase GLOB 'dec*'",
    "SELECT count(*) FROM @ WHERE phase = 7",
    "SELECT count(*) FROM @ WHERE stream = 7",
    "SELECT count(*) FROM @ WHERE stream = '7'",
    "SELECT count(*) FROM @ WHERE stream = 'compute'",
    "SELECT count(*) FROM @ WHERE stream > 7",
    "SELECT count(*) FROM @ WHERE stream >= 'a'",
    "SELECT count(*) FROM @ WHERE stream < 'a'",
    "SELECT count(*) FROM @ WHERE dur = 17.0",
    "SELECT count(*) FROM @ WHERE dur > 17.5",
    "SELECT count(*) FROM @ WHERE dur >= 17.5",
    "SELECT count(*) FROM @ WHERE dur < 17.5 OR dur > 190",
    "SELECT count(*) FROM @ WHERE dur <= -1.5",
    "SELECT count(*) FROM @ WHERE dur > '17'",
    "SELECT count(*) FROM @ WHERE dur > 'abc'",
    "SELECT count(*) FROM @ WHERE dur > x'00'",
    "SELECT count(*) FROM @ WHERE dur < 1e300 AND dur > -1e300",
    "SELECT count(*) FROM @ WHERE wide > 9223372036854775807",
    "SELECT count(*) FROM @ WHERE wide >= -9223372036854775808",
    "SELECT count(*) FROM @ WHERE wide = 0",
    "SELECT count(*) FROM @ WHERE ratio = 3",
    "SELECT count(*) FROM @ WHERE ratio = 12.5 OR ratio > 50",
    "SELECT count(*) FROM @ WHERE ratio > :r",
    "SELECT count(*) FROM @ WHERE id = 17",
    "SELECT count(*) FROM @ WHERE id BETWEEN 17 AND 19 AND ts > 0",
    "SELECT count(*) FROM @ WHERE id > 2999 AND id < 10",
    "SELECT count(*), min(id), max(id) FROM @ WHERE ts >= 2000 AND ts < 2500 AND phase = 'decode' AND dur > 100",
    "SELECT count(*) FROM @ WHERE ts < 0",
    "SELECT count(*) FROM @ WHERE rowid = 5",
    "SELECT count(*) FROM @ a JOIN @ b ON b.id = a.id + 1 WHERE b.name = a.name",
    "SELECT count(*) FROM @ a JOIN @ b ON b.launch = a.launch",
    "SELECT count(*) FROM @ a LEFT JOIN @ b ON b.wide = a.wide AND b.dur = a.dur AND b.phase = a.phase",
    "SELECT count(*) FROM @ a LEFT JOIN @ b ON b.id = a.id AND b.phase = 'decode' WHERE b.phase IS NULL",
    "SELECT count(*) FROM @ a WHERE EXISTS (SELECT 1 FROM @ b WHERE b.step = a.step AND b.dur > a.dur + 198)",
    "SELECT count(*) FROM (SELECT 'decode' AS p UNION ALL SELECT 'train') w JOIN @ a ON a.phase = w.p",
    "SELECT step, (SELECT max(b.dur) FROM @ b WHERE b.step = a.step) FROM @ a GROUP BY step",
    "SELECT max(ts), min(dur) FROM @",
    "SELECT median(dur), percentile(dur, 90) FROM @ GROUP BY phase",
    "SELECT phase, count(*) FILTER (WHERE step = 1) FROM @ GROUP BY phase UNION ALL SELECT name, 1 FROM @ WHERE dur = "
    "3",
    "WITH w AS MATERIALIZED (SELECT name, sum(dur) s FROM @ GROUP BY name) SELECT count(*), sum(s) FROM w",
};

// Groups that come from a spare column (user_sql.cc).
const std::vector<std::string> kGrouped = {
    "SELECT dur/10, count(*) FROM @ GROUP BY 1",
    "SELECT dur / 10 AS tens, count(*), sum(dur), min(ts), max(ts) FROM @ GROUP BY tens",
    "SELECT dur / 10 AS tens, count(*) FROM @ GROUP BY tens ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT count(*) FROM @ GROUP BY dur / 10 HAVING count(*) > 7",
    "SELECT t.dur % 7, phase, count(*) FROM @ AS t WHERE t.step > 0 GROUP BY phase, 1",
    "SELECT x.phase, count(*) FROM @ x WHERE dur > :n GROUP BY x.dur > 100, x.phase",
    "SELECT phase AS p, ', dur / 2' AS text, dur >= 7 AS o, count(*) FROM @ WHERE phase <> 'a GROUP BY 2' AND dur > 1 "
    "GROUP BY o, p",
    "select dur < 20, launch <= 2000000000, step = 3, count(*) from @ group by 1, 2;",
    "SELECT dur / 0, dur % 0, count(*) FROM @ GROUP BY 1, 2",
    "SELECT launch / 1000000000, wide / 3, count(*) FROM @ GROUP BY 1, 2",
    "SELECT dur/10, count(*) FROM @ GROUP BY 1; SELECT dur/20, count(*) FROM @ GROUP BY 1",
    "SELECT id/1, count(*) FROM @ GROUP BY 1 LIMIT 3; SELECT id/2, id/3, id/4, id/5 FROM @ GROUP BY 1, 2, 3, 4 LIMIT 3",
};
// Left to SQLite, and answered as ever.
const std::vector<std::string> kNotGrouped = {
    "SELECT dur / 10.0, count(*) FROM @ GROUP BY 1",
    "SELECT stream / 2, count(*) FROM @ GROUP BY 1",  // some are texts
    "SELECT ratio / 2, count(*) FROM @ GROUP BY 1",
    "SELECT wide * 1000, count(*) FROM @ GROUP BY 1",  // more than 64 bits
    "SELECT dur / :n, count(*) FROM @ GROUP BY 1",
    "SELECT length(name), count(*) FROM @ GROUP BY 1",
    "SELECT name COLLATE NOCASE, count(*) FROM @ GROUP BY 1, dur / 10",
    "SELECT t.dur / 10, count(*) FROM @ t JOIN plain u ON u.id = t.id GROUP BY 1",
    "SELECT dur / 10 AS d, count(*) FROM @ GROUP BY d + 1",
    "SELECT id/1, id/2, id/3, id/4, id/5 FROM @ GROUP BY 1, 2, 3, 4, 5 LIMIT 3",
    "WITH shown AS (SELECT 7 AS dur) SELECT dur / 2, count(*) FROM shown GROUP BY 1",
    "SELECT phase, count(*) FROM @ GROUP BY 1",
    "SELECT 1 FROM @ GROUP BY 'dur / 10'",
    "SELECT dur / 10 tens, count(*) FROM @ GROUP BY tens ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT dur / 10 ISNULL, count(*) FROM @ GROUP BY 1",
    "SELECT dur / 10 ISNULL FROM @ GROUP BY dur / 10 ISNULL",
    "SELECT ts/100 -- hundreds, GROUP BY 2\n, avg(dur) FROM @ GROUP BY ts / 100",
    "SELECT dur > 100 AS \"long\", count(*) FROM @ GROUP BY 1",
    "SELECT -(dur - 3) * 2 + id % 5 = 4, count(*) FROM @ GROUP BY 1",
    "SELECT DISTINCT dur / 50, (SELECT count(*) FROM plain) FROM @ GROUP BY 1",
    "SELECT max(n) FROM (SELECT step / 2 AS half, count(*) n FROM @ GROUP BY half)",
    "SELECT dur/9, 1 FROM @ GROUP BY 1 UNION ALL SELECT ts/9, 2 FROM @ GROUP BY 1",
    "WITH w AS (SELECT dur <= 20 s, count(*) n FROM @ GROUP BY s) SELECT * FROM w ORDER BY 1",
};

TEST_CASE("groups by an expression are those that SQLite makes, in its order") {
  Fixture fixture;
  const auto sorts = [&](std::string sql) {
    for (std::size_t at = sql.find('@'); at != sql.npos; at = sql.find('@')) sql.replace(at, 1, "shown");
    const auto plan = fixture.plan(sql);
    return std::any_of(plan.begin(), plan.end(), [](const auto& line) { return line.find("GROUP BY") != line.npos; });
  };
  for (const auto* list : {&kGrouped, &kNotGrouped}) {
    for (const std::string& sql : *list) {
      CAPTURE(sql);
      const auto answer = fixture.answer(sql, "shown");
      CHECK(!answer.empty());
      CHECK(answer == fixture.answer(sql, "plain"));
    }
  }
  for (const std::string& sql : kGrouped) {
    CAPTURE(sql);
    CHECK(!sorts(sql));
  }
  CHECK(sorts(kNotGrouped[0]));
  using Plan = std::vector<std::string>;
  CHECK(fixture.plan("SELECT t.dur/10, count(*) FROM shown t WHERE ts > 5 GROUP BY 1") == Plan{"ts>, order dur / 10"});
}

TEST_CASE("a statement grouped by an expression has the columns and errors that it has without") {
  Fixture fixture;
  UserSql sql(fixture.database, "SELECT dur/10, more, id FROM shown GROUP BY 1");
  const auto statement = sql.next({});
  CHECK(statement->column_name(0) == "dur/10");
  CHECK(statement->column_name(1) == "more");  // of the view alone
  CHECK_THROWS_WITH_AS(UserSql(fixture.database, "SELECT dru/10 FROM shown GROUP BY 1").next({}),
                       doctest::Contains("column 8: no such column: dru"), Error);
}

TEST_CASE("a table over arrays answers as a table of SQLite") {
  Fixture fixture;
  for (const std::string& sql : kOrdered) {
    CAPTURE(sql);
    const auto answer = fixture.answer(sql, "fast");
    CHECK(!answer.empty());
    CHECK(answer == fixture.answer(sql, "plain"));
  }
  for (const std::string& sql : kUnordered) {
    CAPTURE(sql);
    auto answer = fixture.answer(sql, "fast");
    auto expected = fixture.answer(sql, "plain");
    std::sort(answer.begin(), answer.end());
    std::sort(expected.begin(), expected.end());
    CHECK(answer == expected);
  }
}

TEST_CASE("groups and orders come from the table, not from a sorter") {
  Fixture fixture;
  using Plan = std::vector<std::string>;
  CHECK(fixture.plan("SELECT name, sum(dur) FROM fast GROUP BY name") == Plan{"order name"});
  CHECK(fixture.plan("SELECT phase, step, count(*) FROM fast WHERE ts > 5 GROUP BY phase, step ORDER BY phase, step") ==
        Plan{"ts>, order phase, step"});
  CHECK(fixture.plan("SELECT id FROM fast ORDER BY dur DESC LIMIT 10") == Plan{"order dur DESC"});
}

TEST_CASE("a column that cannot be made ends the statement") {
  Database database(":memory:", Database::Mode::kMemory);
  add_column_table(database, "fast", kColumns,
                   {[] { return kRows; }, [] { return kRows; },
                    [](std::size_t) -> ArrayColumn { throw Error(ErrorCode::kInput, "x.tracedb: damaged"); }});
  for (const char* sql :
       {"SELECT dur FROM fast", "SELECT count(*) FROM fast WHERE dur = 1", "SELECT 1 FROM fast GROUP BY dur"}) {
    UserSql statements(database, sql);
    auto statement = statements.next({});
    CHECK_THROWS_WITH_AS(statements.step(*statement), "x.tracedb: damaged", Error);
  }
}

TEST_CASE("a column is made once more than a few of its values were asked for") {
  constexpr std::size_t kName = 4;
  Database database(":memory:", Database::Mode::kMemory);
  const Data data;
  std::size_t made = 0, given = 0;
  int readers = 0;
  const auto make = [&](std::size_t column) {
    made += column == kName ? 1 : 0;
    return data.column(column);
  };
  const auto reader = [&]() -> ValueReader {
    const std::shared_ptr<int> lives(&++readers, [](int* count) { --*count; });
    return [&, lives](std::size_t column, std::size_t row) -> std::optional<ArrayValue> {
      if (column != kName) return std::nullopt;
      ++given;
      return data.names.at(data.name[row]);
    };
  };
  add_column_table(database, "fast", kColumns, {[] { return kRows; }, [] { return kRows; }, make, reader});
  const auto read = [&](const std::string& order) {
    std::size_t rows = 0, wrong = 0;
    for (Statement statement(database, "SELECT id, name FROM fast" + order); statement.step(); ++rows) {
      const ArrayValue& name = data.names.at(data.name[static_cast<std::size_t>(statement.int64(0)) - 1]);
      const auto* const text = std::get_if<std::string>(&name);
      wrong += (text == nullptr ? statement.is_null(1) : statement.text(1) == *text) ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(readers == 0);  // none outlives its statement
    return rows;
  };
  CHECK(read(" ORDER BY dur DESC LIMIT 30") == 30);
  CHECK(read(" LIMIT 40 OFFSET 3") == 40);
  CHECK((made == 0 && given == 70));
  CHECK(read(" ORDER BY dur") == kRows);
  CHECK((made == 1 && given == 200));
}

// A statement of ours that is wrong is never the index's fault; a table that is gone is.

std::string failure(const std::filesystem::path& path, const char* sql, ErrorCode code) {
  Database database(path, Database::Mode::kReadOnly);
  return refused(code, [&] { database.execute(sql); });
}

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

TEST_CASE("wrong statements on a sound index are internal errors") {
  const TempDirectory folder;
  const auto path = folder / "x.tracedb";
  {
    Database database(path, Database::Mode::kCreate);
    fill_small_index(database, SmallIndexContent::kRows);
  }
  for (const char* sql : {"SELECT nothing FROM kernel", "SELECT 1 FROM temp.kernel_class", "SELECT"}) {
    const std::string text = failure(path, sql, ErrorCode::kResource);
    CHECK(says(text, "internal error"));
    CHECK(says(text, sql));
    CHECK_FALSE(says(text, "damaged"));
  }
  CHECK(says(failure(path, "SELECT sum(9223372036854775807) FROM kernel", ErrorCode::kInput), "impossible value"));
  change_by_sql(path, "DROP VIEW kernels; ALTER TABLE kernel DROP COLUMN graph_id");
  const std::string text = failure(path, "SELECT graph_id FROM kernel", ErrorCode::kInput);
  CHECK(says(text, "damaged"));
  CHECK(says(text, "table kernel"));
}

}  // namespace
}  // namespace tracedb
