#include "index/source_path.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text/utf8.h"

namespace tracedb {

TEST_CASE("source paths are recorded as UTF-8 and read back, whatever their bytes") {
  for (const std::string name : {"/a/b.json", "-", "not-utf8-\xff\xfe.json", "line\nfeed", "\x7f", "\\", "\\x", "\\x4",
                                 "\\x41", "\\\\x41\\x0A", "\\x5cx41", "\xe6\x97\xa5\xe6", "", "50%20"}) {
    const std::string text = source_path_text(name);
    CHECK(valid_utf8(text).replaced == 0);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(source_path(text) == name);
  }
  CHECK(source_path_text("/\xe6\x97\xa5/a b.json") == "/\xe6\x97\xa5/a b.json");
  CHECK(source_path_text("a\xff.json") == "a\\xff.json");
  CHECK(source_path_text("a\\x41") == "a\\x5cx41");
}

}  // namespace tracedb
