#include "report/escape.h"

#include <doctest/doctest.h>

namespace tracedb {

TEST_CASE("escape_text leaves ordinary text alone") {
  CHECK(escape_text("void k<float, 4>(a\\b) \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80") ==
        "void k<float, 4>(a\\b) \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80");
}

TEST_CASE("escape_text disarms what terminals and readers obey") {
  CHECK(escape_text("\x1b[31m\n\t\r\x7f") == "\\x1b[31m\\x0a\\x09\\x0d\\x7f");
  CHECK(escape_text(std::string_view("\0", 1)) == "\\x00");
  CHECK(escape_text("\xC2\x9B") == "\\u009b");      // U+009B, the one-character CSI
  CHECK(escape_text("\xE2\x80\xAE") == "\\u202e");  // right-to-left override
  CHECK(escape_text("\xE2\x81\xA6\xE2\x80\x8F") == "\\u2066\\u200f");
  CHECK(escape_text("a\xFFz\xC3") == "a\\xffz\\xc3");       // broken UTF-8
  CHECK(escape_text("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // a lone surrogate
}

TEST_CASE("escape_cell can be undone") {
  CHECK(escape_cell("C:\\temp\\a") == "C:\\temp\\a");
  CHECK(escape_cell("a\nb") == "a\\x0ab");
  CHECK(escape_cell("a\\x0ab\\u202e") == "a\\x5cx0ab\\x5cu202e");
  CHECK(escape_cell("\\\\x\\\n\\") == "\\\\x5cx\\\\x0a\\");
  CHECK(escape_cell("\x85") != escape_cell("\xC2\x85"));  // a broken byte and the character of that number
}

TEST_CASE("escape_json yields the inside of a JSON string") {
  CHECK(escape_json("a\"b\\c\n\t\x01") == "a\\\"b\\\\c\\n\\t\\u0001");
  CHECK(escape_json("\xE2\x80\xAE\xFF") == "\\u202e\xEF\xBF\xBD");
}

TEST_CASE("escape_markdown makes marks and HTML literal") {
  CHECK(escape_markdown("a|b<i>&_x_") == "a\\|b&lt;i>&amp;\\_x\\_");
  CHECK(escape_markdown("\x1b") == "\\\\x1b");
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
  CHECK(display_width("TC次数") == 6);
  CHECK(display_width("μs") == 2);
  CHECK(display_width("模型") == 4);
  CHECK(shorten_middle("次数次数次数", 7) == "次…次数");
  CHECK(shorten_middle("模型abcdef模型", 9) == "模型…模型");
  CHECK(shorten_middle("模型", 4) == "模型");
}

}  // namespace tracedb
