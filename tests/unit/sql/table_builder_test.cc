#include "sql/file/table_builder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/unknown.h"
#include "sql/database.h"
#include "sql/user/functions.h"
#include "sql/user/schema_text.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"
#include "trace/step_grammar.h"

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
  [[nodiscard]] std::string bytes() const { return bytes_of(path_); }

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
  CHECK(as_row(levels(10), levels(200), levels(10000), levels(100000)) == "1 2 3 4");
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
  CHECK(as_row(build(15), build(16), build(30), build(31)) == "2 4 4 5");
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
  CHECK(as_row(pages(56), pages(57)) == "2 4");
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

// The schema scripts: views answer on full and empty indexes, comments are where `schema` looks for them, examples run.

struct SchemaFixture {
  Database database{":memory:", Database::Mode::kMemory};
  explicit SchemaFixture(SmallIndexContent content = SmallIndexContent::kRows) { fill_small_index(database, content); }
};

TEST_CASE("views give names for ids") {
  SchemaFixture f;
  const auto text = [&](const char* sql) { return f.database.query_text(sql).value_or("NULL"); };
  CHECK(text("SELECT cpu_op || ' ' || module || ' ' || phase || ' ' || stream FROM kernels WHERE id = 1") ==
        "aten::linear Linear_0 prefill 7");
  CHECK(text("SELECT coalesce(module, 'none') FROM kernels WHERE id = 2") == "none");
  CHECK(text("SELECT path FROM stacks WHERE id = 3") == "main.py(1): main;nn.Module: Linear_0;linear.py(7): forward");
  CHECK(text("SELECT launch_delay || ' ' || queue_delay || ' ' || end_to_end FROM launches") == "50 50 80");
  CHECK(text("SELECT gb_per_s FROM memcpys") == "2.0");
  CHECK(text("SELECT kernels || ' ' || kernel_time || ' ' || gpu_ts || ' ' || gpu_ts_end FROM steps") ==
        "2 400 100 450");
  CHECK(text("SELECT timed_on FROM steps") == "cpu");
  f.database.execute("UPDATE annotation SET kind = 'gpu', stream_id = 1, thread_id = NULL");
  CHECK(text("SELECT timed_on FROM steps") == "gpu");
  CHECK(text("SELECT group_concat(ts || '-' || ts_end, ' ') FROM gaps") == "450-460 500-600");
  CHECK(text("SELECT group_concat(kernel_id) FROM collectives") == "2");
  CHECK(text("SELECT value FROM trace_info WHERE key = 'rows.kernel'") == "3");
  CHECK(text("SELECT total FROM kernel_stats WHERE short_name = 'gemm'") == "150");
  CHECK(text("SELECT value FROM trace_info WHERE key = 'rows.python_call'") == "3");
}

TEST_CASE("no sum of a view overflows") {
  SchemaFixture f;
  f.database.execute(
      "UPDATE kernel SET dur = 9223372036854775807; UPDATE kernel_name_sum SET total = 9223372036854775807");
  CHECK(f.database.query_text("SELECT kernel_time FROM steps") == "9223372036854775807");
  CHECK(f.database.query_text("SELECT time_pct FROM kernel_stats") == "50.0");
  f.database.execute("UPDATE kernel SET dur = 3000000000000000000");
  CHECK(f.database.query_text("SELECT kernel_time FROM steps") == "6000000000000000000");
}

TEST_CASE("every example has a comment and runs, on an empty index too") {
  const auto examples = example_queries(script("examples"));
  CHECK(examples.size() >= 10);
  for (const auto content : {SmallIndexContent::kRows, SmallIndexContent::kEmpty}) {
    SchemaFixture f(content);
    for (const ExampleQuery& example : examples) {
      CAPTURE(example.sql);
      CHECK_FALSE(example.comment.empty());
      Statement(f.database, example.sql).run();
    }
  }
}

TEST_CASE("the kinds of steps in the comments are those the grammar yields") {
  std::string kinds;
  for (int kind = 0; kind <= static_cast<int>(StepKind::kUnknown); ++kind) {
    kinds.append(kinds.empty() ? "" : ", ").append(to_string(static_cast<StepKind>(kind)));
  }
  CHECK(kinds == "prefill, decode, mixed, train, other, unknown");
  CHECK(schema_comments(script("core"))[{"step", "kind"}] == kinds);
  CHECK(schema_comments(script("views"))[{"steps", "phase"}] == kinds);
}

TEST_CASE("tables, views and their columns have comments") {
  SchemaComments comments = schema_comments(script("core"));
  comments.merge(schema_comments(script("views")));
  CHECK(comments[{"kernel", "correlation"}].find("unique only together") != std::string::npos);
  CHECK(comments[{"launch_config", "grid_y"}] == "blocks");
  CHECK(comments[{"kernels", "module"}].find("nn.Module") != std::string::npos);
  CHECK(comments[{"stacks", "path"}].find("outermost first") != std::string::npos);
  SchemaFixture f;
  Statement objects(f.database, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  while (objects.step()) {
    CAPTURE(objects.text(0));
    CHECK_FALSE(comments[{std::string(objects.text(0)), ""}].empty());
  }
  CHECK(usual_comment("launch_id") == "id in runtime_call");
}

struct FunctionFixture {
  Database database{":memory:", Database::Mode::kMemory};
  FunctionFixture() { register_functions(database); }
  std::string value(const std::string& expression, const std::string& values = "(1)") {
    return database.query_text("WITH v(x) AS (VALUES " + values + ") SELECT " + expression + " FROM v")
        .value_or("NULL");
  }
};

TEST_CASE("median, percentile and standard deviation") {
  FunctionFixture f;
  CHECK(f.value("median(x)", "(3), (1), (2)") == "2.0");
  CHECK(f.value("median(x)", "(4), (1), (NULL), (2), (3)") == "2.5");
  CHECK(f.value("median(x)", "(NULL), ('text')") == "NULL");
  CHECK(f.value("percentile(x, 90)", "(1),(2),(3),(4),(5),(6),(7),(8),(9),(10)") == "9.0");
  CHECK(f.value("percentile(x, 0)", "(5), (6)") == "5.0");
  CHECK(f.value("stddev(x)", "(5)") == "0.0");
  CHECK(f.value("round(stddev(x), 6)", "(1), (2), (3), (4)") == "1.290994");
  CHECK(f.value("bounded_sum(x)", "(1), (NULL), (2), ('text')") == "3");
  CHECK(f.value("bounded_sum(x)", "(NULL)") == "NULL");
  CHECK(f.value("bounded_sum(x)", "(9223372036854775807), (9223372036854775807), (-9223372036854775807)") ==
        "9223372036854775807");
  CHECK(f.value("bounded_sum(x)", "(9223372036854775807), (1)") == "9223372036854775807");
  CHECK(f.value("bounded_sum(x)", "(-9223372036854775807), (-9)") == "-9223372036854775808");
}

TEST_CASE("groups do not share their values") {
  FunctionFixture f;
  Statement statement(f.database,
                      "SELECT median(b) FROM (SELECT 1 AS a, 10 AS b UNION ALL SELECT 2, 20 UNION ALL SELECT 1, 30) "
                      "GROUP BY a ORDER BY a");
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
  REQUIRE(statement.step());
  CHECK(statement.real(0) == 20);
}

TEST_CASE("busy_ns and overlap_ns are times of the union") {
  FunctionFixture f;
  const auto of = [&](const std::string& function, const std::string& intervals) {
    return f.database
        .query_text("WITH v(ts, dur) AS (VALUES " + intervals + ") SELECT " + function + "(ts, dur) FROM v")
        .value_or("NULL");
  };
  const std::string some = "(100, 10), (0, 10), (5, 10), (8, 1), (100, 10), (50, NULL), (NULL, 5), (60, -7), ('x', 1)";
  CHECK(as_row(of("busy_ns", some), of("overlap_ns", some), of("busy_ns", "(0, NULL)"), of("overlap_ns", "(7, 3)")) ==
        "25 15 NULL 0");
  const std::string far = "(-9223372036854775807, 9223372036854775807), (9223372036854775807, 9223372036854775807)";
  CHECK(of("busy_ns", far) == "9223372036854775807");
  CHECK(of("busy_ns", "(-9223372036854775807, 9223372036854775807), (0, 9223372036854775807)") ==
        "9223372036854775807");
  CHECK(as_row(f.value("overlap_ns(0, 10, 5, 10)"), f.value("overlap_ns(5, 10, 0, 6)"),
               f.value("overlap_ns(5, 2, 0, 60)"), f.value("overlap_ns(0, 5, 5, 10)"),
               f.value("overlap_ns(0, NULL, 5, 10)")) == "5 1 2 0 NULL");
}

TEST_CASE("human_ns: a time with its unit, of what is unknown nothing") {
  FunctionFixture f;
  CHECK(as_lines(f.value("human_ns(1234567)"), f.value("human_ns(NULL)")) == "1.235 ms\nNULL");
}

TEST_CASE("every aggregate gives for a window what it gives for the rows in it as a group") {
  FunctionFixture f;
  f.database.execute(
      "CREATE TABLE v(i INTEGER PRIMARY KEY, x, ts INTEGER, dur INTEGER);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO v "
      "SELECT i, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'text' WHEN i % 13 = 0 THEN 1e18 "
      "ELSE (i * 7919 % 31) END, i * 7919 % 97, CASE WHEN i % 5 > 0 THEN i * 31 % 17 END FROM n");
  for (const std::string call :
       {"median(x)", "percentile(x, 90)", "stddev(x)", "bounded_sum(x)", "busy_ns(ts, dur)", "overlap_ns(ts, dur)"}) {
    for (const auto& window :
         {std::pair<std::string, std::string>{"4 PRECEDING AND 3 FOLLOWING", "w.i BETWEEN v.i - 4 AND v.i + 3"},
          {"UNBOUNDED PRECEDING AND CURRENT ROW", "w.i <= v.i"},
          {"2 FOLLOWING AND 5 FOLLOWING", "w.i BETWEEN v.i + 2 AND v.i + 5"},
          {"CURRENT ROW AND UNBOUNDED FOLLOWING", "w.i >= v.i"}}) {
      const std::string& frame = window.first;
      CAPTURE(call);
      CAPTURE(frame);
      const auto list = [&](const std::string& values) {
        return f.database.query_text("SELECT group_concat(coalesce(a, 'NULL')) FROM (SELECT " + values +
                                     " AS a FROM v)");
      };
      CHECK(list(call + " OVER (ORDER BY i ROWS BETWEEN " + frame + ")") ==
            list("(SELECT " + call + " FROM (SELECT * FROM v w WHERE " + window.second + " ORDER BY i))"));
    }
  }
}

TEST_CASE("a window that only grows takes no quadratic time") {
  FunctionFixture f;
  const char* rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT ";
  CHECK(f.database
            .query_int64(std::string(rows) + "max(m) FROM (SELECT median(i * 7919 % 10007) OVER (ORDER BY i) AS m "
                                             "FROM n)")
            .value_or(0) > 5000);
  CHECK(f.database.query_int64(std::string(rows) +
                               "max(b) FROM (SELECT busy_ns(i, 2) OVER (ORDER BY i) AS b FROM n)") == 100001);
}

TEST_CASE("regexp finds anywhere, and says what is wrong with a pattern") {
  FunctionFixture f;
  CHECK(as_row(f.value("'ncclDevKernel_Generic' REGEXP 'Dev(Kernel|Op)'"), f.value("'abc' REGEXP '^b'"),
               f.value("NULL REGEXP 'a'")) == "1 0 NULL");
  CHECK_THROWS_AS(f.value("'a' REGEXP '['"), Error);
}

TEST_CASE("every recipe asks a question and declares its parameters") {
  CHECK(recipes().size() >= 25);
  for (const Recipe& recipe : recipes()) {
    CAPTURE(recipe.name);
    CHECK(recipe.question.ends_with('?'));
    CHECK(recipe.sql.find("SELECT") != std::string_view::npos);
    for (const auto& value : recipe.values) {
      const std::string& name = value.first;
      CAPTURE(name);
      const std::size_t declared = recipe.sql.find(":" + name);
      CHECK(recipe.sql.find(":" + name, declared + 1) != std::string_view::npos);  // and used
    }
  }
}

TEST_CASE("recipes are found by name") {
  CHECK(find_recipe("gemm_shapes").values.at("phase") == "*");
  CHECK_THROWS_WITH_AS((void)find_recipe("gem_shapes"), doctest::Contains("did you mean 'gemm_shapes'?"), Error);
}

}  // namespace
}  // namespace tracedb
