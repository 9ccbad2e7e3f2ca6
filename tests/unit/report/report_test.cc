#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "passes/tables/pass_tables.h"
#include "report/escape.h"
#include "report/renderers.h"
#include "report/sql_report.h"
#include "report/table.h"
#include "sql/scripts.h"
#include "support/cases.h"
#include "support/rows.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

TEST_CASE("escape_text disarms what terminals and readers obey, and leaves ordinary text alone") {
  using namespace std::string_view_literals;
  check_unchanged(escape_text, {"void k<float, 4>(a\\b) \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80"});
  check_pairs<std::string_view>(escape_text, {{"\x1b[31m\n\t\r\x7f", "\\x1b[31m\\x0a\\x09\\x0d\\x7f"},
                                              {"\0"sv, "\\x00"},
                                              {"\xC2\x9B", "\\u009b"},      // U+009B, the one-character CSI
                                              {"\xE2\x80\xAE", "\\u202e"},  // right-to-left override
                                              {"\xE2\x81\xA6\xE2\x80\x8F", "\\u2066\\u200f"},
                                              {"a\xFFz\xC3", "a\\xffz\\xc3"},         // broken UTF-8
                                              {"\xED\xA0\x80", "\\xed\\xa0\\x80"}});  // a lone surrogate
}

std::string escape_cell(std::string_view text) {
  std::string out;
  append_escaped_cell(out, text);
  return out;
}

TEST_CASE("escapes for cells can be undone, those for JSON and Markdown are text there") {
  check_pairs<std::string_view>(escape_cell, {{"C:\\temp\\a", "C:\\temp\\a"},
                                              {"a\nb", "a\\x0ab"},
                                              {"a\\x0ab\\u202e", "a\\x5cx0ab\\x5cu202e"},
                                              {"\\\\x\\\n\\", "\\\\x5cx\\\\x0a\\"}});
  CHECK(escape_cell("\x85") != escape_cell("\xC2\x85"));  // a broken byte and the character of that number
  check_pairs<std::string_view>(
      escape_json, {{"a\"b\\c\n\t\x01", "a\\\"b\\\\c\\n\\t\\u0001"}, {"\xE2\x80\xAE\xFF", "\\u202e\xEF\xBF\xBD"}});
  check_pairs<std::string_view>(escape_markdown, {{"a|b<i>&_x_", "a\\|b&lt;i>&amp;\\_x\\_"}, {"\x1b", "\\\\x1b"}});
}

TEST_CASE("shorten_middle keeps both ends") {
  CHECK(shorten_middle("abcdefghij", 10) == "abcdefghij");
  CHECK(shorten_middle("abcdefghij", 5) == "ab\xE2\x80\xA6ij");
  CHECK(shorten_middle("abcdefghij", 6) == "abc\xE2\x80\xA6ij");
  CHECK(display_width(shorten_middle("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4)) == 4);
}

TEST_CASE("wrapped text: broken at spaces, words that are longer lose their middle") {
  using Lines = std::vector<std::string>;
  CHECK(wrap_text("", 5) == Lines{""});
  CHECK(wrap_text("one two", 7) == Lines{"one two"});
  CHECK(wrap_text("one two", 6) == Lines{"one", "two"});
  CHECK(wrap_text("a bc def", 4) == Lines{"a bc", "def"});
  CHECK(wrap_text("über den Fluß", 8) == Lines{"über den", "Fluß"});
  CHECK(wrap_text("a abcdefgh b", 5) == Lines{"a", "ab…gh", "b"});
}

TEST_CASE("characters that take two places of a terminal") {
  CHECK(as_row(display_width("TC次数"), display_width("μs"), display_width("模型"), shorten_middle("次数次数次数", 7),
               shorten_middle("模型abcdef模型", 9), shorten_middle("模型", 4)) == "6 2 4 次…次数 模型…模型 模型");
}

const std::vector<Column> kColumns = {{"total_time", "Total Time", Unit::kTime, OthersAggregate::kSum},
                                      {"instances", "Instances", Unit::kCount, OthersAggregate::kSum},
                                      {"name", "Name", Unit::kText, OthersAggregate::kLabel}};

std::string rendered(std::string_view format, const std::vector<Row>& rows, const RenderOptions& options = {},
                     const std::vector<Column>& columns = kColumns, const std::vector<std::string>& warnings = {}) {
  std::ostringstream out;
  const auto renderer = find_renderer(format)->make(out, options);
  renderer->begin({"kernels", {"a.json"}}, columns);
  for (const Row& row : rows) renderer->row(row);
  renderer->end(warnings);
  return out.str();
}

std::string table_at(std::size_t width, const std::vector<Column>& columns, const std::vector<Row>& rows) {
  return rendered("table", rows, {.width = width}, columns);
}

Row make_row(std::int64_t total, std::int64_t n, std::string name) { return {total, n, std::move(name)}; }

TEST_CASE("table") {
  CHECK(rendered("table", {make_row(1234567, 1200, "a\x1b"), {std::monostate{}, std::int64_t{3}, std::string("b")}}) ==
        "Total Time (us)  Instances  Name\n"
        "---------------  ---------  -----\n"
        "          1,235      1,200  a\\x1b\n"
        "              -          3  b\n");
  SUBCASE("one unit for all columns") {
    CHECK(rendered("table", {make_row(1234567, 1, "a")}, {.time_unit = TimeUnit::kNs}).find("1,234,567") !=
          std::string::npos);
  }
  SUBCASE("names give way to the width of a terminal, others never") {
    const std::string text = table_at(50, kColumns, {make_row(1, 1, "void " + std::string(80, 'x') + "(int)")});
    CHECK(text.find("\xE2\x80\xA6") != std::string::npos);
    CHECK(text.find("(int)\n") != std::string::npos);
    CHECK(rendered("table", {make_row(1, 1, std::string(300, 'x'))}).find(std::string(300, 'x')) != std::string::npos);
  }
}

TEST_CASE("table: times share a unit in which the smallest can be read, unless totals have too many digits then") {
  const std::vector<Column> columns = {{"total", "Total", Unit::kTime, OthersAggregate::kSum},
                                       {"min", "Min", Unit::kTime, OthersAggregate::kMin},
                                       {"max", "Max", Unit::kTime, OthersAggregate::kMax}};
  const auto heads = [&](std::int64_t total, std::int64_t min, std::int64_t max) {
    const std::string text = rendered("markdown", {Row{total, min, max}}, {}, columns);
    return text.substr(0, text.find('\n'));
  };
  CHECK(heads(300'000'000, 500, 20'000) == "| Total (us) | Min (us) | Max (us) |");
  CHECK(heads(20'000'000'000, 500, 20'000) == "| Total (ms) | Min (us) | Max (us) |");
  CHECK(heads(900, 500, 400) == "| Total (ns) | Min (ns) | Max (ns) |");
  CHECK(heads(1, 20'000'000, 300'000'000) == "| Total (ms) | Min (ms) | Max (ms) |");
  CHECK(heads(1, 500, 300'000'000) == "| Total (us) | Min (us) | Max (us) |");
}

// The note of what is left out, in one line.
std::string note_at(std::size_t width, const std::vector<Column>& columns, const std::vector<Row>& rows) {
  const std::string text = table_at(width, columns, rows);
  const std::size_t begin = text.find("\n(no room");
  if (begin == std::string::npos) return "";
  std::string note = text.substr(begin + 1);
  std::replace(note.begin(), note.end(), '\n', ' ');
  return note;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, display_width(line));
  return longest;
}

TEST_CASE("table: a narrow terminal loses figures before names become unreadable") {
  std::vector<Column> columns(4, {"n", "Instances", Unit::kCount, OthersAggregate::kNone});
  columns.push_back({"avg", "Avg", Unit::kTime, OthersAggregate::kMean});
  columns.push_back({"name", "Name", Unit::kText, OthersAggregate::kLabel});
  const std::int64_t n = 1;
  const std::vector<Row> rows = {Row{n, n, n, n, n, std::string(60, 'x')}};
  CHECK(note_at(200, columns, rows).empty());
  CHECK(note_at(80, columns, rows) == "(no room for Avg (ns); --wide shows all) ");
  CHECK(note_at(66, columns, rows) == "(no room for Instances, Avg (ns); --wide shows all) ");
  CHECK(note_at(40, columns, rows) ==
        "(no room for Instances, Instances, Instances, Instances, Avg (ns); --wide shows all) ");
}

TEST_CASE("table: a column of unknown values goes before one that says something") {
  const std::vector<Column> columns = {{"name", "Name", Unit::kText, OthersAggregate::kLabel},
                                       {"most", "Most Important", Unit::kCount, OthersAggregate::kNone, Fit{9}},
                                       {"least", "Least Important", Unit::kCount, OthersAggregate::kNone, Fit{1}}};
  const std::vector<Row> rows = {Row{std::string(24, 'x'), Cell{}, std::int64_t{7}}};
  CHECK(note_at(44, columns, rows) == "(no room for Most Important; --wide shows all) ");
}

TEST_CASE("table: every line fits the terminal, the note of what is left out included") {
  const std::int64_t n = 1;
  const std::vector<Column> columns = {{"a", "First Text", Unit::kText},
                                       {"b", "Second Text", Unit::kText},
                                       {"change", "Change", Unit::kTime, OthersAggregate::kSum, Fit::kKept},
                                       {"c", "Third Text", Unit::kText},
                                       {"d", "Fourth Text", Unit::kText},
                                       {"e", "Fifth Text", Unit::kText},
                                       {"id", "Kernel Id"},
                                       {"f", "Sixth Text", Unit::kText}};
  const std::string long_text(40, 'x');
  const Row row = {long_text, long_text, n, long_text, long_text, long_text, n, long_text};
  for (const std::size_t width : {160U, 120U, 80U, 60U, 40U, 30U}) {
    CAPTURE(width);
    CHECK(longest_line(table_at(width, columns, {row, row})) <= width);
  }
  CHECK(note_at(80, columns, {row, row}) == "(no room for Fifth Text, Kernel Id, Sixth Text; --wide shows all) ");
  CHECK(note_at(70, columns, {row, row}) ==
        "(no room for Fourth Text, Fifth Text, Kernel Id, Sixth Text; --wide shows all) ");
}

TEST_CASE("table: on a narrow terminal columns without a value go first, those that are kept last") {
  const std::int64_t n = 1;
  const std::vector<Column> columns = {{"step", "Step"},
                                       {"requests", "Requests", Unit::kCount},
                                       {"tokens", "Tokens", Unit::kCount},
                                       {"rows", "Rows", Unit::kCount},
                                       {"span", "Span", Unit::kTime, OthersAggregate::kNone, Fit::kKept},
                                       {"name", "Name", Unit::kText}};
  const std::vector<Row> rows = {Row{n, Cell(), n, n, n, "decode"}, Row{n, Cell(), n, n, n, "prefill"}};
  CHECK(table_at(50, columns, rows).find("no room") == std::string::npos);
  CHECK(table_at(45, columns, rows).find("no room") == std::string::npos);  // heads in two lines
  CHECK(table_at(40, columns, rows).find("\n(no room for Requests; --wide") != std::string::npos);
  CHECK(note_at(32, columns, rows).starts_with("(no room for Requests, Rows; --wide"));
  CHECK(note_at(25, columns, rows).starts_with("(no room for Requests, Tokens, Rows; --wide"));
  // A table without rows has nothing to make room for.
  CHECK(table_at(25, columns, {}).find("no room") == std::string::npos);
}

TEST_CASE("table: where names are at their narrowest, ids give way") {
  std::vector<Column> columns(3, {"name", "Name", Unit::kText});
  columns.insert(columns.begin() + 1, {"id", "Kernel Id"});
  const std::vector<Row> rows = {
      Row{std::string(40, 'a'), std::int64_t{7}, std::string(40, 'b'), std::string(40, 'c')}};
  CHECK(note_at(40, columns, rows) == "(no room for Kernel Id, Name; --wide shows all) ");
  CHECK(table_at(40, columns, rows).find("aaaaaaaaa…aaaaaaaaa  bbbbbbbbb…bbbbbbbbb\n") != std::string::npos);
}

TEST_CASE("table: prose goes on in the next line, names lose their middle") {
  const std::vector<Column> columns = {{"name", "Name", Unit::kText},
                                       {"text", "Text", Unit::kText, OthersAggregate::kNone, Fit::kWrapped}};
  const Row row = {"kernel", "in 57 % of the period the device waits for a host"};
  CHECK(table_at(0, columns, {row}).find("kernel  in 57 % of the period the device waits for a host\n") !=
        std::string::npos);
  CHECK(table_at(40, columns, {row}).find("\nkernel  in 57 % of the period the device\n        waits for a host\n") !=
        std::string::npos);
}

TEST_CASE("table: the sides of a comparison share one unit") {
  const std::vector<Column> columns = {{"baseline", "Baseline", Unit::kTime, OthersAggregate::kSum},
                                       {"candidate", "Candidate", Unit::kTime, OthersAggregate::kSum}};
  CHECK(table_at(
            0, columns,
            {Row{std::int64_t{42'000'000}, std::int64_t{16'527'000}}, Row{std::int64_t{7'000'000}, std::int64_t{500}}})
            .find("Baseline (us)  Candidate (us)\n") != std::string::npos);
}

TEST_CASE("table: texts give way in turns") {
  const std::vector<Column> columns(3, {"name", "Name", Unit::kText, OthersAggregate::kNone});
  CHECK(table_at(70, columns, {Row{std::string(30, 'a'), std::string(25, 'b'), std::string(20, 'c')}})
            .find(std::string(23, '-') + "  " + std::string(23, '-') + "  " + std::string(20, '-') + "\n") !=
        std::string::npos);
}

TEST_CASE("table: names that differ still do when they are shortened") {
  const std::vector<Column> columns = {{"n", "Instances", Unit::kCount},
                                       {"name", "Name", Unit::kText, OthersAggregate::kLabel, Fit::kNames}};
  std::vector<Row> rows;
  for (const char* tile : {"64x128", "64x256", "192x64"}) {
    rows.push_back({std::int64_t{1}, "gemm_of_this_library_" + std::string(tile) + "_and_many_other_properties"});
  }
  for (const std::size_t width : {60U, 40U, 30U, 24U}) {
    std::istringstream lines(table_at(width, columns, rows));
    std::set<std::string> shown;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("\xE2\x80\xA6") != std::string::npos || line.find("gemm") != std::string::npos) shown.insert(line);
    }
    CAPTURE(width);
    CHECK(shown.size() == rows.size());
  }
}

TEST_CASE("table: three significant digits, and one number of decimals where columns add up") {
  const std::vector<Column> columns = {{"total", "Total", Unit::kTime, OthersAggregate::kSum},
                                       {"avg", "Avg", Unit::kTime, OthersAggregate::kMean},
                                       {"ratio", "Ratio", Unit::kRatio}};
  const std::vector<Row> rows = {Row{std::int64_t{1'234'567}, 150'779.0, 1.23456},
                                 Row{std::int64_t{4'184}, 4'184.4, 123.456},
                                 Row{std::int64_t{95'123}, 24'175.0, 0.0123}};
  CHECK(table_at(0, columns, rows) ==
        "Total (us)  Avg (us)  Ratio\n"
        "----------  --------  -----\n"
        "     1,235       151   1.23\n"
        "         4      4.18    123\n"
        "        95      24.2  0.012\n");
}

TEST_CASE("table: one row of many columns is a list of items and values") {
  std::vector<Column> columns = {{"device", "Device"}, {"span", "Span", Unit::kTime}, {"idle", "Idle", Unit::kTime}};
  for (const char* key : {"a", "b", "c", "d"}) columns.push_back({key, key, Unit::kCount});
  const Row row = {std::int64_t{0}, std::int64_t{5'097'356}, Cell(), std::int64_t{1234}, std::int64_t{0}, Cell(), 2.5};
  CHECK(table_at(0, columns, {row}) ==
        "Item    Value\n------  --------\nDevice  0\nSpan    5.097 ms\na       1,234\nb       0\nd       2.5\n");
  CHECK(table_at(0, columns, {row, row}).starts_with("Device  Span (us)  Idle (us)"));
}

TEST_CASE("table: what a report is about stays longest") {
  std::vector<Column> columns = {{"name", "Name", Unit::kText, OthersAggregate::kLabel}};
  for (int priority = 1; priority <= 9; ++priority) {
    const std::string key = "column_" + std::to_string(priority);
    columns.push_back({key, key, Unit::kCount, OthersAggregate::kNone, Fit{priority}});
  }
  const Row row(10, std::int64_t{1});
  std::vector<Row> rows(2, row);
  for (Row& each : rows) each[0] = std::string("kernel");
  CHECK(note_at(90, columns, rows) == "(no room for column_1; --wide shows all) ");
  CHECK(note_at(60, columns, rows) == "(no room for column_1, column_2, column_3, column_4; --wide shows all) ");
  for (std::size_t width = 20; width <= 200; width += 9) {
    CAPTURE(width);
    CHECK(longest_line(table_at(width, columns, rows)) <= width);
    CHECK(longest_line(table_at(width, columns, {})) <= width);
  }
}

TEST_CASE("the ending of a file names a format") {
  const auto format = [](std::string_view path) {
    const Renderer* found = find_renderer_of_file(path);
    return found == nullptr ? std::string_view("none") : found->name;
  };
  CHECK(as_row(format("a/b.csv"), format("b.ndjson"), format("b.md"), format("b.csv/x"), format("csv"), format("b.")) ==
        "csv jsonl markdown none none none");
}

TEST_CASE("csv") {
  CHECK(rendered("csv", {make_row(5, 1, "a,\"b\""), {2.5, std::int64_t{3}, std::monostate{}}}) ==
        "Total Time (ns),Instances,Name\n5,1,\"a,\"\"b\"\"\"\n2.5,3,\n");
  SUBCASE("cells a spreadsheet would compute are disarmed, numbers are not") {
    CHECK(rendered("csv", {make_row(-5, 1, "=cmd()")}).find("-5,1,'=cmd()") != std::string::npos);
    CHECK(rendered("csv", {make_row(5, 1, "@x")}, {.guard_formulas = false}).find(",@x\n") != std::string::npos);
  }
  SUBCASE("the asked-for time unit") {
    CHECK(rendered("csv", {make_row(1234567, 1, "a")}, {.time_unit = TimeUnit::kUs}) ==
          "Total Time (us),Instances,Name\n1234.567,1,a\n");
  }
}

TEST_CASE("tsv") {
  CHECK(rendered("tsv", {make_row(5, 1, "a\tb")}) == "Total Time (ns)\tInstances\tName\n5\t1\ta\\x09b\n");
}

TEST_CASE("json") {
  CHECK(rendered("json", {make_row(5, 1, "a\"")}, {}, kColumns, {"careful"}) ==
        "{\"schema\": \"tracedb.kernels/1\",\n \"inputs\": [\"a.json\"],\n"
        " \"units\": {\"total_time\": \"ns\", \"instances\": \"count\"},\n \"rows\": [\n"
        "  {\"total_time\": 5, \"instances\": 1, \"name\": \"a\\\"\"}\n ],\n \"warnings\": [\"careful\"]}\n");
  CHECK(rendered("json", {}).find("\"rows\": []") != std::string::npos);
}

TEST_CASE("jsonl") {
  CHECK(rendered("jsonl", {{std::monostate{}, 0.0 / 0.0, std::string("n")}}) ==
        "{\"total_time\": null, \"instances\": null, \"name\": \"n\"}\n");
}

TEST_CASE("markdown") {
  CHECK(rendered("markdown", {make_row(5, 1, "a|b")}) ==
        "| Total Time (ns) | Instances | Name |\n| ---: | ---: | --- |\n| 5 | 1 | a\\|b |\n");
}

TEST_CASE("no renderer lets a control character or a bidi control through") {
  for (const Renderer& renderer : renderers()) {
    CAPTURE(renderer.name);
    for (const char c : rendered(renderer.name, {make_row(1, 1, "\x1b[2J\x07\r\n\t\x7f\xC2\x9B\xE2\x80\xAE\xFF")})) {
      const auto byte = static_cast<unsigned char>(c);
      const bool layout = c == '\n' || (c == '\t' && renderer.name == "tsv") || (c == '\r' && renderer.name == "csv");
      CHECK((layout || (byte >= 0x20 && byte != 0x7f)));
      CHECK(byte != 0x9b);
      CHECK(byte != 0xae);
    }
  }
}

struct Fixture {
  TempDirectory folder;
  Index index;
  Database& database;
  ActiveRules rules;
  PassOptions options;
  Workload workload;
  explicit Fixture(SmallIndexContent content = SmallIndexContent::kRows)
      : index(open_small_index(folder / "small.tracedb", content)), database(index.database()), workload(index, rules) {
    add_pass_tables(workload, options);
  }
};

Report kernels(const Fixture& fixture) { return run_report(fixture.database, report_script("kernels"), {}); }

Cell at(const Report& report, std::size_t row, const std::string& key) {
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    if (report.columns[c].key == key) return report.rows.at(row).at(c);
  }
  FAIL("no column " << key);
  return {};
}

bool is(const Cell& cell, std::int64_t value) { return cell == Cell(value); }
bool is(const Cell& cell, const char* value) { return cell == Cell(std::string(value)); }

TEST_CASE("columns are read from the script") {
  const auto columns =
      report_columns("-- head\n-- column: a | A b | ns | sum\n-- column: c | C | | | 7 names | what | it is\nSELECT 1");
  REQUIRE(columns.size() == 2);
  CHECK(as_lines(columns[0].key, columns[0].head) == "a\nA b");
  CHECK(columns[0].unit == Unit::kTime);
  CHECK(columns[0].others == OthersAggregate::kSum);
  CHECK(columns[1].unit == Unit::kAny);
  CHECK(columns[1].fit == Fit{7, false, true});
  CHECK(columns[1].meaning == "what | it is");
}

TEST_CASE("a limit leaves one row that makes the columns add up") {
  Fixture fixture;
  Report report = kernels(fixture);
  limit_rows(report, 1);
  REQUIRE(report.rows.size() == 2);
  CHECK(is(at(report, 1, "name"), "[others]"));
  CHECK(is(at(report, 1, "total_time"), 150));
  CHECK(number(at(report, 1, "avg")).value() == 75);
  CHECK(is(at(report, 1, "min"), 50));
  CHECK(at(report, 1, "med") == Cell());
  CHECK(number(at(report, 0, "time_pct")).value() + number(at(report, 1, "time_pct")).value() == doctest::Approx(100));
  limit_rows(report, 2);
  CHECK(report.rows.size() == 2);
  report.whole = true;
  limit_rows(report, 1);
  CHECK(report.rows.size() == 2);
}

TEST_CASE("sorting") {
  Fixture fixture;
  Report report = kernels(fixture);
  sort_rows(report, parse_sort_key("Instances"));
  CHECK(is(at(report, 0, "instances"), 2));
  sort_rows(report, parse_sort_key("name:asc"));
  CHECK(is(at(report, 0, "name"), "gemm<float>"));
  CHECK_THROWS_AS(sort_rows(report, parse_sort_key("nme")), Error);
  CHECK_THROWS_AS(parse_sort_key("name:up"), Error);
}

TEST_CASE("texts that are whole numbers are sorted as numbers, before other texts") {
  Report report;
  report.columns.push_back({"layer", "Layer", Unit::kText});
  for (const char* layer : {"10", "[head]", "9", "0-3", "007", "7", "[tail]", "1"})
    report.rows.push_back({Cell(std::string(layer))});
  report.rows.push_back({Cell()});
  const auto sorted = [&](const char* key) {
    sort_rows(report, parse_sort_key(key));
    std::string out;
    for (const Row& row : report.rows)
      out += std::get_if<std::string>(row.data()) ? std::get<std::string>(row[0]) + " " : "-";
    return out;
  };
  CHECK(sorted("layer:asc") == "1 007 7 9 10 0-3 [head] [tail] -");
  CHECK(sorted("layer:desc") == "[tail] [head] 0-3 10 9 7 007 1 -");
}

TEST_CASE("a script says whether it is a command") {
  const auto command = report_command("-- Some.\n-- command: selection | some rows | no row\nSELECT 1;\n");
  REQUIRE(command.has_value());
  CHECK((command->takes_selection && command->summary == "some rows" && command->empty_note == "no row"));
  CHECK_FALSE(report_command("-- command: whole | some rows | no row").value().takes_selection);
  CHECK_FALSE(report_command("-- column: a | A | | | | a number\nSELECT 1;").has_value());
  for (const char* wrong : {"", "whole", "whole | some rows", "whole | | no row", "slection | some rows | no row"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(report_command(fmt::format("-- command: {}\n", wrong)), std::logic_error);
  }
}

TEST_CASE("every report answers on an empty index") {
  Fixture fixture(SmallIndexContent::kEmpty);
  for (const std::string_view name : report_names()) {
    CAPTURE(name);
    const bool says_something = name == "info" || name == "verify" || name == "warnings";
    CHECK((run_report(fixture.database, report_script(name), {}).rows.empty() || says_something));
  }
}

TEST_CASE("each script's columns match its SELECT") {
  Fixture fixture;
  for (const std::string_view name : report_names()) {
    CAPTURE(name);
    if (name == "verify") continue;  // many statements, whose rows the command words
    Statement statement(fixture.database, report_script(name));
    CHECK(static_cast<std::size_t>(statement.column_count()) == report_columns(report_script(name)).size());
  }
}

TEST_CASE("mean, min and max of several rows stay behind them") {
  Report report;
  report.columns = {
      {"device", "Device"},
      {"span", "Span", Unit::kTime},
      {"name", "Name", Unit::kText},
      {"x", "X", Unit::kPercent},
      {"stream", "Stream"},
      report_columns("-- column: busy | Busy | percent | of span | 1 | busy as a share of span\n").front()};
  report.rows = {{std::int64_t{0}, std::int64_t{10}, "a", Cell(), std::int64_t{7}, 50.0},
                 {std::int64_t{1}, std::int64_t{15}, "b", 2.5, std::int64_t{20}, 100.0},
                 {Cell(), std::int64_t{1}, "of no device", 0.5, std::int64_t{30}, 0.0}};
  add_extremes(report);
  REQUIRE(report.footer.size() == 3);
  CHECK(report.footer[0] == Row{"mean", 12.5, Cell(), 2.5, Cell(), 80.0});
  CHECK(report.footer[1] == Row{"min", std::int64_t{10}, Cell(), 2.5, Cell(), 50.0});
  CHECK(report.footer[2] == Row{"max", std::int64_t{15}, Cell(), 2.5, Cell(), 100.0});
  limit_rows(report, 1);
  CHECK(as_row(report.rows.size(), report.footer.size()) == "2 3");
  Report one{report.columns, {report.rows[0], {Cell(), std::int64_t{1}, "of no device", 0.5, std::int64_t{30}, 0.0}}};
  add_extremes(one);
  CHECK(one.footer.empty());
}

}  // namespace
}  // namespace tracedb
