#include "report/renderers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "report/escape.h"

namespace tracedb {
namespace {

const std::vector<Column> kColumns = {{"total_time", "Total Time", Unit::kTime, OthersAggregate::kSum},
                                      {"instances", "Instances", Unit::kCount, OthersAggregate::kSum},
                                      {"name", "Name", Unit::kText, OthersAggregate::kLabel}};

std::string rendered(std::string_view format, const std::vector<Row>& rows, const RenderOptions& options = {}) {
  std::ostringstream out;
  const auto renderer = find_renderer(format)->make(out, options);
  renderer->begin({"kernels", {"a.json"}}, kColumns);
  for (const Row& row : rows) renderer->row(row);
  const std::vector<std::string> warnings = {"careful"};
  renderer->end(warnings);
  return out.str();
}

Row make_row(std::int64_t total, std::int64_t n, std::string name) { return {total, n, std::move(name)}; }

}  // namespace

TEST_CASE("table") {
  CHECK(rendered("table", {make_row(1234567, 1200, "a\x1b"), {std::monostate{}, std::int64_t{3}, std::string("b")}}) ==
        "Total Time (us)  Instances  Name\n"
        "---------------  ---------  -----\n"
        "      1,234.567      1,200  a\\x1b\n"
        "              -          3  b\n");
  SUBCASE("one unit for all columns") {
    RenderOptions options;
    options.time_unit = TimeUnit::kNs;
    CHECK(rendered("table", {make_row(1234567, 1, "a")}, options).find("1,234,567") != std::string::npos);
  }
  SUBCASE("names give way to the width of a terminal, others never") {
    RenderOptions options;
    options.width = 50;
    const std::string text = rendered("table", {make_row(1, 1, "void " + std::string(80, 'x') + "(int)")}, options);
    CHECK(text.find("\xE2\x80\xA6") != std::string::npos);
    CHECK(text.find("(int)\n") != std::string::npos);
    CHECK(rendered("table", {make_row(1, 1, std::string(300, 'x'))}).find(std::string(300, 'x')) != std::string::npos);
  }
}

TEST_CASE("table: totals have a unit of their own, other times share one in which the smallest can be read") {
  const std::vector<Column> columns = {{"total", "Total", Unit::kTime, OthersAggregate::kSum},
                                       {"min", "Min", Unit::kTime, OthersAggregate::kMin},
                                       {"max", "Max", Unit::kTime, OthersAggregate::kMax}};
  const auto heads = [&](std::int64_t total, std::int64_t min, std::int64_t max) {
    std::ostringstream out;
    const auto renderer = find_renderer("markdown")->make(out, {});
    renderer->begin({"x", {}}, columns);
    renderer->row(Row{total, min, max});
    renderer->end({});
    return out.str().substr(0, out.str().find('\n'));
  };
  CHECK(heads(300'000'000, 500, 20'000) == "| Total (ms) | Min (us) | Max (us) |");
  CHECK(heads(900, 500, 400) == "| Total (ns) | Min (ns) | Max (ns) |");
  CHECK(heads(1, 20'000'000, 300'000'000) == "| Total (ns) | Min (ms) | Max (ms) |");
  CHECK(heads(1, 500, 300'000'000) == "| Total (ns) | Min (us) | Max (us) |");
}

namespace {

std::string table_at(std::size_t width, const std::vector<Column>& columns, const std::vector<Row>& rows) {
  std::ostringstream out;
  RenderOptions options;
  options.width = width;
  const auto renderer = find_renderer("table")->make(out, options);
  renderer->begin({"x", {}}, columns);
  for (const Row& row : rows) renderer->row(row);
  renderer->end({});
  return out.str();
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

}  // namespace

TEST_CASE("table: a narrow terminal loses figures before names become unreadable") {
  std::vector<Column> columns(4, {"n", "Instances", Unit::kCount, OthersAggregate::kNone});
  columns.push_back({"avg", "Avg", Unit::kTime, OthersAggregate::kMean});
  columns.push_back({"name", "Name", Unit::kText, OthersAggregate::kLabel});
  const std::int64_t n = 1;
  const std::vector<Row> rows = {Row{n, n, n, n, n, std::string(60, 'x')}};
  CHECK(note_at(200, columns, rows).empty());
  CHECK(note_at(80, columns, rows) == "(no room for Avg (ns); --wide shows all) ");
  CHECK(note_at(66, columns, rows) == "(no room for Instances, Avg (ns); --wide shows all) ");
  CHECK(note_at(40, columns, rows) == "(no room for Instances, Instances, Avg (ns); --wide shows all) ");
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
  for (const std::size_t width : {160, 120, 80, 60, 40, 30}) {
    CAPTURE(width);
    CHECK(longest_line(table_at(width, columns, {row})) <= width);
  }
  CHECK(note_at(80, columns, {row}) == "(no room for Kernel Id, Sixth Text; --wide shows all) ");
  CHECK(note_at(70, columns, {row}) == "(no room for Fifth Text, Kernel Id, Sixth Text; --wide shows all) ");
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
  CHECK(table_at(45, columns, rows).find("\n(no room for Requests; --wide") != std::string::npos);
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
  CHECK(note_at(40, columns, rows) == "(no room for Kernel Id; --wide shows all) ");
  CHECK(table_at(40, columns, rows).find("aaaaaa…aaaaa  bbbbbb…bbbbb  cccccc…ccccc\n") != std::string::npos);
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
  std::ostringstream out;
  const auto renderer = find_renderer("table")->make(out, {});
  renderer->begin({"compare", {}}, columns);
  renderer->row(Row{std::int64_t{42'000'000}, std::int64_t{16'527'000}});
  renderer->row(Row{std::int64_t{7'000'000}, std::int64_t{500}});
  renderer->end({});
  CHECK(out.str().find("Baseline (us)  Candidate (us)\n") != std::string::npos);
}

TEST_CASE("table: texts give way in turns") {
  const std::vector<Column> columns(3, {"name", "Name", Unit::kText, OthersAggregate::kNone});
  std::ostringstream out;
  RenderOptions options;
  options.width = 70;
  const auto renderer = find_renderer("table")->make(out, options);
  renderer->begin({"x", {}}, columns);
  renderer->row(Row{std::string(30, 'a'), std::string(25, 'b'), std::string(20, 'c')});
  renderer->end({});
  CHECK(out.str().find(std::string(23, '-') + "  " + std::string(23, '-') + "  " + std::string(20, '-') + "\n") !=
        std::string::npos);
}

TEST_CASE("csv") {
  CHECK(rendered("csv", {make_row(5, 1, "a,\"b\""), {2.5, std::int64_t{3}, std::monostate{}}}) ==
        "Total Time (ns),Instances,Name\r\n5,1,\"a,\"\"b\"\"\"\r\n2.5,3,\r\n");
  SUBCASE("cells a spreadsheet would compute are disarmed, numbers are not") {
    CHECK(rendered("csv", {make_row(-5, 1, "=cmd()")}).find("-5,1,'=cmd()") != std::string::npos);
    RenderOptions options;
    options.guard_formulas = false;
    CHECK(rendered("csv", {make_row(5, 1, "@x")}, options).find(",@x\r\n") != std::string::npos);
  }
  SUBCASE("the asked-for time unit") {
    RenderOptions options;
    options.time_unit = TimeUnit::kUs;
    CHECK(rendered("csv", {make_row(1234567, 1, "a")}, options) ==
          "Total Time (us),Instances,Name\r\n1234.567,1,a\r\n");
  }
}

TEST_CASE("tsv") {
  CHECK(rendered("tsv", {make_row(5, 1, "a\tb")}) == "Total Time (ns)\tInstances\tName\n5\t1\ta\\x09b\n");
}

TEST_CASE("json") {
  CHECK(rendered("json", {make_row(5, 1, "a\"")}) ==
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

}  // namespace tracedb
