#include "base/stream/csv_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace tracedb {
namespace {

struct Read {
  std::vector<std::vector<std::string>> records;
  std::vector<std::uint64_t> lines;
  std::vector<std::uint64_t> offsets;
  std::vector<std::size_t> broken;  // which of the records
};

Read read_csv(std::string_view text, const CsvOptions& options) {
  const auto source = memory_byte_source(text);
  CsvReader reader(*source, options);
  Read read;
  for (CsvRecord record; reader.next(record);) {
    if (record.broken) read.broken.push_back(read.records.size());
    read.records.emplace_back(record.fields.begin(), record.fields.end());
    read.lines.push_back(record.line);
    read.offsets.push_back(record.offset);
  }
  return read;
}

// The records must not depend on where the chunks end.
Read read_all_chunks(std::string_view text, CsvOptions options = {}) {
  const Read whole = read_csv(text, options);
  for (options.chunk = 16; options.chunk < 40; ++options.chunk) {
    const Read cut = read_csv(text, options);
    CHECK(cut.records == whole.records);
    CHECK(cut.lines == whole.lines);
    CHECK(cut.offsets == whole.offsets);
    CHECK(cut.broken == whole.broken);
  }
  return whole;
}

using Records = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("csv: plain fields and all line ends") {
  const Read read = read_all_chunks("a,b,c\n1,,3\r\n\r\n,,\r4,5");
  CHECK(read.records == Records{{"a", "b", "c"}, {"1", "", "3"}, {}, {"", "", ""}, {"4", "5"}});
  CHECK(read.lines == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
  CHECK(read.offsets == std::vector<std::uint64_t>{0, 6, 12, 14, 17});
  CHECK(read.broken.empty());
  CHECK(read_all_chunks("").records.empty());
  CHECK(read_all_chunks("a,").records == Records{{"a", ""}});
  CHECK(read_all_chunks("\n").records == Records{{}});
}

TEST_CASE("csv: quotes") {
  const Read read = read_all_chunks(
      "\"a,b\",\"16,5120;\"\"x\"\"\",\"\"\n"
      "\"1736413971558972.912\t\",\"two\r\nlines\",\"\"\"\"\"\"\n"
      "\"tail\" \"of\" it,mid\"dle,\"\"\"start\"\"\"x\n"
      "last,\"\"");
  CHECK(read.records == Records{{"a,b", "16,5120;\"x\"", ""},
                                {"1736413971558972.912\t", "two\r\nlines", "\"\""},
                                {"tail \"of\" it", "mid\"dle", "\"start\"x"},
                                {"last", ""}});
  CHECK(read.lines == std::vector<std::uint64_t>{1, 2, 4, 5});
  CHECK(read.broken.empty());
}

TEST_CASE("csv: a quote that is never closed costs its own line") {
  const std::string text = "a,b\n1,\"open\n2,x\n3,y\n";
  const Read read = read_all_chunks(text);
  CHECK(read.records == Records{{"a", "b"}, {"1", "\"open"}, {"2", "x"}, {"3", "y"}});
  CHECK(read.broken == std::vector<std::size_t>{1});
  CHECK(read.lines == std::vector<std::uint64_t>{1, 2, 3, 4});

  const Read python = read_all_chunks(text, {.unclosed_quote = UnclosedQuote::kEndsWithFile});
  CHECK(python.records == Records{{"a", "b"}, {"1", "open\n2,x\n3,y\n"}});
  CHECK(python.broken.empty());
  CHECK(read_all_chunks("x,\"", {.unclosed_quote = UnclosedQuote::kEndsWithFile}).records == Records{{"x", ""}});
}

TEST_CASE("csv: a closing quote too far away is none") {
  const std::string line = std::string(50, 'z') + "\n";
  const Read read = read_all_chunks("1,\"open\n2,x\n" + line + line + line + "3,\"q\"\n", {.longest_record = 100});
  REQUIRE(read.records.size() == 6);
  CHECK(read.broken == std::vector<std::size_t>{0});
  CHECK(read.records[0] == std::vector<std::string>{"1", "\"open"});
  CHECK(read.records[1] == std::vector<std::string>{"2", "x"});
  CHECK(read.records[5] == std::vector<std::string>{"3", "q"});
}

TEST_CASE("csv: a line too long to be a record is skipped") {
  const std::string text = "1,a\r\n" + std::string(5000, 'z') + "\r\n3,y\n";
  for (std::size_t chunk = 16; chunk < 64; ++chunk) {
    const Read read = read_csv(text, {.longest_record = 1000, .chunk = chunk});
    CHECK(read.records == Records{{"1", "a"}, {}, {"3", "y"}});
    CHECK(read.broken == std::vector<std::size_t>{1});
    CHECK(read.lines == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(read.offsets == std::vector<std::uint64_t>{0, 5, 5007});
  }
}

TEST_CASE("csv: byte order mark") {
  const std::string text = "\xEF\xBB\xBFType,x\n";
  CHECK(read_all_chunks(text).records == Records{{"Type", "x"}});
  CHECK(read_all_chunks(text).offsets == std::vector<std::uint64_t>{3});
  CHECK(read_all_chunks(text, {.byte_order_mark = ByteOrderMark::kKeep}).records == Records{{"\xEF\xBB\xBFType", "x"}});
}

TEST_CASE("csv: columns by name") {
  const std::vector<std::string_view> names = {"Type", " Name\t", "Duration(us)", "Type"};
  const CsvHeader header(names);
  CHECK(header.find({"OP Type", "Type"}) == 3);
  CHECK(header.find({"Name"}) == 1);
  CHECK(!header.find({"name", "Nam"}));
  CHECK(!CsvHeader().find({"Type"}));
}

TEST_CASE("csv: white space") {
  CHECK(trim_space(" \t x y\r\n") == "x y");
  CHECK(trim_space("\t \v").empty());
  CHECK(trim_space("").empty());
}

}  // namespace tracedb
