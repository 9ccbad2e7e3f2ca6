#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/stream/csv_reader.h"
#include "base/text/amounts.h"
#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/regular_expression.h"
#include "base/text/sentence.h"
#include "support/cases.h"
#include "support/rows.h"

namespace tracedb {
namespace {

TEST_CASE("counted: one thing is singular, none and several are plural") {
  CHECK(counted(0, "gap") == "0 gaps");
  CHECK(counted(std::int64_t{1}, "gap") == "1 gap");
  CHECK(counted(std::size_t{2}, "gap") == "2 gaps");
  CHECK(as_lines(counted(1, "index", "indexes"), counted(-1, "index", "indexes")) == "1 index\n-1 indexes");
}

TEST_CASE("durations") {
  CHECK(as_lines(duration_text(512), duration_text(1234), duration_text(56'789'000), duration_text(1.234e9),
                 duration_text(-3)) == "512 ns\n1.234 us\n56.789 ms\n1.234 s\n-3 ns");
}

TEST_CASE("durations: cycles are no time, as long as that is said") {
  {
    const CycleWords cycles(true);
    const CycleWords inner(false);
    CHECK(as_lines(brief_time(156'016), signed_time(12.4), duration_text(-51'972.0), short_duration_text(0)) ==
          "156,016 cycles\n+12 cycles\n-51,972 cycles\n0 cycles");
  }
  CHECK(brief_time(156'016) == "156 us");
}

TEST_CASE("moments") {
  CHECK(moment_text(1'747'204'044'851'617'869) == "2025-05-14 06:27:24.851617869 UTC");
  CHECK(moment_text(1'747'204'044'000'000'005) == "2025-05-14 06:27:24.000000005 UTC");
  CHECK(moment_text(100'000) == "100000 ns");
  CHECK(moment_text(-5) == "-5 ns");
}

TEST_CASE("sequences that are UTF-8, and others") {
  using namespace std::string_view_literals;
  check_each(1, utf8_sequence_length, {"a"sv, "\0"sv, "\x7F"sv});
  check_each(2, utf8_sequence_length, {"\xC2\x80", "\xDF\xBFx"});
  check_each(3, utf8_sequence_length, {"\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF"});
  check_each(4, utf8_sequence_length, {"\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"});
  check_each(
      0, utf8_sequence_length,
      {"", "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2x", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
       "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFE", "\xFF"});
}

TEST_CASE("broken bytes are replaced, the rest stays") {
  CHECK(valid_utf8("plain \xE2\x82\xAC").text == "plain \xE2\x82\xAC");
  CHECK(valid_utf8("plain").replaced == 0);
  const ValidText broken = valid_utf8("a\xFF\xC3(\xE2\x82");
  CHECK(broken.text == "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(broken.replaced == 4);
}

TEST_CASE("every code point survives append and check") {
  for (std::uint32_t point = 1; point <= 0x10FFFF; point += point < 0x3000 ? 1 : 61) {
    std::string text;
    append_utf8(text, point);
    REQUIRE(utf8_sequence_length(text) == text.size());
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    REQUIRE((text == "\xEF\xBF\xBD") == (surrogate || point == 0xFFFD));
  }
  std::string text;
  append_utf8(text, 0x110000);
  CHECK(text == "\xEF\xBF\xBD");
}

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// The text of `value` nanoseconds as microseconds.
std::string microseconds_text(std::int64_t value) {
  const bool negative = value < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  const std::string fraction = std::to_string(magnitude % 1000);
  std::string text = negative ? "-" : "";
  text += std::to_string(magnitude / 1000);
  text += '.';
  text += std::string(3 - fraction.size(), '0');
  return text + fraction;
}

TEST_CASE("parse_microseconds") {
  check_pairs<std::int64_t>(
      parse_microseconds,
      {{"0", 0},
       {"7", 7000},
       {"7.5", 7500},
       {"1234.567", 1234567},
       {"0.001", 1},
       {"-0.001", -1},
       {"+3.25", 3250},
       {"5.", 5000},
       {".5", 500},
       {"007.1", 7100},
       // epoch times keep every digit
       {"1709839458013.123", 1709839458013123},
       {"1731428385123456.789", 1731428385123456789},
       {"1731428385123456.7894999", 1731428385123456789},
       {"1731428385123456.7895", 1731428385123456790},
       // more than three fraction digits are rounded to the nearest nanosecond, halves away from zero
       {"1234.5678", 1234568},
       {"1234.5674", 1234567},
       {"1234.56749999999999999999999", 1234567},
       {"1234.5675", 1234568},
       {"0.0009999", 1},
       {"-0.0009999", -1},
       {"0.0005", 1},
       {"-0.0005", -1},
       {"0.00049", 0},
       {"-1.9999", -2000},
       {"999.9996", 1000000},
       {"0.0000001", 0},
       // exponents
       {"1.2e3", 1200000},
       {"1E+3", 1000000},
       {"123456e-3", 123456},
       {"123456789e-6", 123457},
       {"123456489e-6", 123456},
       {"5e-4", 1},
       {"4.9e-4", 0},
       {"5e-5", 0},
       {"-0.00000000000000000000005e19", -1},
       {"-1e-9", 0},
       {"0e999999999999999999999", 0},
       {"1e-999999999999999999999", 0},
       {"1.731428385123456789e15", 1731428385123456789},
       {"0.0017e6", 1700000},
       {"0.00000000000000000000001e23", 1000},
       // range
       {"9223372036854775.807", kMax},
       {"9223372036854775.8074", kMax},
       {"-9223372036854775.8084", kMin},
       {"-9223372036854775.808", kMin},
       {"00000000000000000000000000000042.5", 42500}});
  // Beyond 64 bits, or no number.
  check_each(std::nullopt, parse_microseconds, {"", " 1", "1 "});
  check_words(std::nullopt, parse_microseconds, R"(
    9223372036854775.8075 9223372036854775.808 -9223372036854775.809 18446744073709551615 1e400 1e17
    99999999999999999999999999999999999999999 - + . -. NaN nan Infinity inf N/A 12x 1.2.3 1e 1e+ e5 1,5 0x10 --1
    1.5e3.2 1234567x 12345678: 1.2-3 1e5e5 12345678901234567890x /2345678 :2345678)");
}

TEST_CASE("parse_microseconds: text of any value reads back, fast and slow way alike") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (random() % 64)) * (i % 2 == 0 ? 1 : -1);
    const std::string text = microseconds_text(value);
    CAPTURE(text);
    CHECK(parse_microseconds(text) == value);
    CHECK(parse_microseconds(text + "e0") == value);
    CHECK(parse_microseconds(text + "49987") == value);
    if (value > 0 && value < kMax) CHECK(parse_microseconds(text + "50") == value + 1);
    CHECK(parse_microseconds(std::to_string(value) + "e-3") == value);
  }
}

TEST_CASE("parse_microseconds: a wrong byte at any place is found") {
  const std::string good = "173142838512345.6789";
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int c = 1; c < 256; ++c) {
      std::string bad = good;
      bad[i] = static_cast<char>(c);
      const bool is_digit = c >= '0' && c <= '9';
      const bool is_sign = i == 0 && (c == '+' || c == '-');
      // In place of the point, a digit or an exponent makes another number, in range or not.
      if (good[i] == '.' || c == 'e' || c == 'E') continue;
      CAPTURE(bad);
      CHECK(parse_microseconds(bad).has_value() == (is_digit || is_sign));
    }
  }
}

TEST_CASE("parse_int64 and parse_uint64") {
  check_pairs<std::int64_t>(parse_int64, {{"-42", -42}, {"9223372036854775807", kMax}, {"-9223372036854775808", kMin}});
  check_each(std::nullopt, parse_int64, {"9223372036854775808", "7.0", "7.5", "", "12 ", "stream 7"});
  CHECK(parse_uint64("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
  check_each(std::nullopt, parse_uint64, {"18446744073709551616", "-1"});
}

TEST_CASE("parse_integral: integers however they are written") {
  check_pairs<std::int64_t>(parse_integral, {{"5", 5},
                                             {"5.0", 5},
                                             {"-5.000", -5},
                                             {"0.0", 0},
                                             {"70e-1", 7},
                                             {"1.5e3", 1500},
                                             {"0.05E2", 5},
                                             {"9223372036854775807.0", kMax},
                                             {"-9223372036854775808.0", kMin}});
  check_each(std::nullopt, parse_integral,
             {"5.5", "1e-1", "0.05", "9223372036854775808.0", "1e19", "1e400", "", "x", "-", ".", "5.0.0", "5.0x", "+5",
              "NaN", "Infinity", "--5.0"});
}

TEST_CASE("parse_double") {
  check_pairs<double, std::string>(parse_double, {{"1.5", 1.5},
                                                  {"-2e3", -2000.0},
                                                  {"0", 0.0},
                                                  {"1e-400", 0.0},
                                                  {"-1e-5000", 0.0},  // below long double, too
                                                  {"0." + std::string(6000, '0') + "1", 0.0},
                                                  {"4.9e-324", std::numeric_limits<double>::denorm_min()}});
  check_each(std::nullopt, parse_double,
             {"", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e5000", "N/A", "1.5x", "0x10"});
}

std::string fault(std::string_view pattern) { return RegularExpression(pattern).fault(); }

TEST_CASE("ordinary expressions") {
  check_each(
      "", fault,
      {"", "^nccl.*(Reduce|Gather)_[0-9]+$", "gemm\\(.*\\)", "a{3}|b{2,5}|c{4,}", "[\\x41]", "[]\\\\2]", "[^]\\\\3]x",
       "[[:digit:]_]", "(a|b{1,20}){1,50}", "(|a)(b|)", "a\\(b[(]", "((a)|(b))*", "\\Q(\\E", "\\\\(a)", "[a\\]b]"});
}

TEST_CASE("expressions are found anywhere in a text") {
  CHECK(RegularExpression("Dev(Kernel|Op)").is_in("ncclDevKernel_Generic"));
  CHECK_FALSE(RegularExpression("^b").is_in("abc"));
  CHECK(RegularExpression("a.b$").is_in("xa\nb"));
  CHECK_FALSE(RegularExpression("^b").is_in("a\nb"));
  CHECK(RegularExpression("").is_in(""));
  CHECK(RegularExpression("^.$").is_in("\xC3\xA9"));
  CHECK(RegularExpression("b").is_in(std::string_view("a\0b", 3)));
  CHECK(RegularExpression("[a\\]]").is_in("]"));
}

TEST_CASE("groups have numbers and names") {
  const RegularExpression expression(R"(^(?<kind>\w+)(?: c=(\d+))?(?P<rest>.*)$)");
  REQUIRE(expression.fault().empty());
  CHECK(expression.groups() == 3);
  CHECK(expression.names() == std::map<int, std::string>{{1, "kind"}, {3, "rest"}});
  const auto found = expression.find("decode,");
  REQUIRE(found);
  CHECK((*found)[1] == "decode");
  CHECK_FALSE((*found)[2]);
  CHECK((*found)[3] == ",");
  CHECK_FALSE(expression.find(" "));
}

TEST_CASE("a search goes on behind a match") {
  const RegularExpression word("(?:^|,)(\\w+)");
  const std::string_view text = "a,bc,d";
  std::string found;
  std::size_t from = 0;
  while (const auto groups = word.find(text, from)) {
    found += std::string((*groups)[1].value_or("")) + ";";
    const std::string_view whole = (*groups)[0].value_or("");
    from = static_cast<std::size_t>(whole.data() + whole.size() - text.data());
  }
  CHECK(found == "a;bc;d;");
}

TEST_CASE("what this library does not know and what would need much memory is named") {
  const struct {
    const char* reason;
    std::vector<std::string> patterns;
  } cases[] = {
      {"references back", {"(a)\\1", "(.*)(.*)\\2\\1x", "[[:alpha:]](x)\\1", "[]](x)\\1", "\\\\(a)\\1"}},
      {"lookahead and lookbehind", {"(?=a)", "x(?!a)", "(?<=a)", "(?<!a)b"}},
      {"references back to a group are not supported at character 4 of the expression", {"(a)\\1"}},
      {"the edge of a word is \\b at character 1 of the expression", {"\\<a"}},
      {"collating", {"[[.a.]]"}},
      {"repeat", {"(a{255}){255}", "((a{30}){30}){30}", "a{30000}", "((a{200,}){10}){20}", "(a{200}){200}"}},
      {"longer than 1000 bytes", {std::string(1001, 'a')}},
      {"too large", {"(\\pL{300}){3}"}},
  };
  for (const auto& one : cases) {
    for (const std::string& pattern : one.patterns) {
      CAPTURE(pattern);
      CHECK(fault(pattern).find(one.reason) != std::string::npos);
    }
  }
}

TEST_CASE("a malformed expression has its fault where it begins") {
  struct Case {
    std::string pattern;
    std::string place;
  };
  for (const Case& c : {Case{"[", "1"},
                        {"ab[", "3"},
                        {"(a)[^]x", "4"},
                        {"(", "1"},
                        {"a(b(c)", "2"},
                        {"a(b(c", "4"},
                        {"a)b", "2"},
                        {"ab\\", "3"},
                        {"*a", "1"},
                        {"x[b-a]y", "3"},
                        {"a[[:nothing:]]", "3"},
                        {"gemm[0-9]+(a[z-a])", "14"},
                        {"[a{2,1}]a{2,1}b", "10"},
                        {"(?<a>x)(?<b>y)[z-a]", "16"},
                        {"\xC3\xA9x(", "3"}}) {
    CAPTURE(c.pattern);
    const std::string text = fault(c.pattern);
    CAPTURE(text);
    CHECK(text.ends_with(" at character " + c.place + " of the expression"));
    CHECK(text.find(" at ") > 0);
  }
}

TEST_CASE("a sentence is a template with figures, and keeps both") {
  const Sentence clause = say("clause.idle", "idles {change:time} longer{host}", {{"change", 25.6e6}, {"host", ""}});
  const Sentence told = say(
      "compare.headline", "{who} needs {time:time} where {other} needs {n:# gap}; {share:.0f%}: {why}",
      {{"who", "H100"}, {"time", 18.9e6}, {"other", std::string("A")}, {"n", 1234}, {"share", 0.54}, {"why", clause}});
  CHECK(told.text == "H100 needs 18.9 ms where A needs 1,234 gaps; 54 %: idles 25.6 ms longer");
  const Figures figures = {{"who", "H100"}, {"time", 18.9e6},       {"other", "A"},        {"n", std::int64_t{1234}},
                           {"share", 0.54}, {"why", "clause.idle"}, {"why.change", 25.6e6}};
  CHECK(told.figures == figures);
}

TEST_CASE("how figures are written") {
  const struct {
    const char* form;
    double value;
    const char* text;
  } cases[] = {{"{x:+time}", 787e3, "+787 us"}, {"{x:+time}", -787e3, "-787 us"}, {"{x:duration}", 2e6, "2 ms"},
               {"{x:count}", 1.5, "1.5"},       {"{x:count}", 10858.4, "10,858"}, {"{x:+.1f%}", -0.124, "-12.4 %"},
               {"{x:+.1fp}", -0.124, "-12.4"},  {"{x:.3f}", 1.0625, "1.062"}};
  for (const auto& [form, value, expected] : cases) CHECK(say("", form, {{"x", value}}).text == expected);
  CHECK(say("", "{x:# is|are}", {{"x", 1}}).text == "1 is");
  CHECK(say("", "{x:# is|are}", {{"x", 2}}).text == "2 are");
  CHECK(say("", "{x}", {{"x", 7}}).text == "7");
  for (const auto& [share, text] : {std::pair(0.9958, "99.6 %"),
                                    {1.0, "100 %"},
                                    {0.9996, "over 99.9 %"},
                                    {0.0042, "0.4 %"},
                                    {0.0004, "under 0.1 %"},
                                    {0.0, "0 %"},
                                    {1 - 1e-12, "100 %"}}) {
    CHECK(say("", "{x:.0f%}", {{"x", share}}).text == text);
  }
}

TEST_CASE("figures beside the text, and sentences in a row") {
  const std::vector<Sentence> parts = {say("a", "{x}", {{"x", 1}}), say("", "{x}", {{"x", 2}})};
  const Sentence told = with(joined(parts, ", "), {"phase", "decode"});
  CHECK(told.text == "1, 2");
  const Figures figures = {{"0", "a"}, {"0.x", std::int64_t{1}}, {"1.x", std::int64_t{2}}, {"phase", "decode"}};
  CHECK(told.figures == figures);
}

TEST_CASE("a place without a figure and a figure without a place are errors of the program") {
  CHECK_THROWS_AS(say("a", "{x}"), std::logic_error);
  CHECK_THROWS_AS(say("a", "none", {{"x", 1}}), std::logic_error);
}

struct Read {
  std::vector<std::vector<std::string>> records;
  std::vector<std::uint64_t> lines;
  std::vector<std::uint64_t> offsets;
  std::vector<std::size_t> broken;  // which of the records
  bool operator==(const Read&) const = default;
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
    CHECK(read_csv(text, options) == whole);
  }
  return whole;
}

using Records = std::vector<std::vector<std::string>>;

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

}  // namespace
}  // namespace tracedb
