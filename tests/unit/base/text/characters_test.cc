#include "base/text/characters.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {

TEST_CASE("sequences that are UTF-8") {
  CHECK(utf8_sequence_length("a") == 1);
  CHECK(utf8_sequence_length(std::string_view("\0", 1)) == 1);
  CHECK(utf8_sequence_length("\x7F") == 1);
  CHECK(utf8_sequence_length("\xC2\x80") == 2);
  CHECK(utf8_sequence_length("\xDF\xBFx") == 2);
  CHECK(utf8_sequence_length("\xE0\xA0\x80") == 3);
  CHECK(utf8_sequence_length("\xED\x9F\xBF") == 3);
  CHECK(utf8_sequence_length("\xEF\xBF\xBF") == 3);
  CHECK(utf8_sequence_length("\xF0\x90\x80\x80") == 4);
  CHECK(utf8_sequence_length("\xF4\x8F\xBF\xBF") == 4);
}

TEST_CASE("sequences that are not") {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2x", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFE", "\xFF"}) {
    CAPTURE(text.size());
    CHECK(utf8_sequence_length(text) == 0);
  }
  CHECK(utf8_sequence_length("") == 0);
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

}  // namespace tracedb
