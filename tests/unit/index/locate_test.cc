#include "index/locate.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text/characters.h"
#include "support/temp_directory.h"

namespace tracedb {

TEST_CASE("the sidecar's name is the trace's whole name and a suffix") {
  CHECK(sidecar_path("d/x.pt.trace.json.gz") == "d/x.pt.trace.json.gz.tracedb");
}

TEST_CASE("candidates: the sidecar first, then cached indexes of the same base name") {
  const TempDirectory directory;
  const auto trace = directory.write("t.json", "{}");
  const TempDirectory cache;
  CHECK(index_candidates(trace, cache.path()).empty());
  CHECK(index_candidates(trace, cache / "missing").empty());
  const auto cached = cache_path(cache.path(), ContentHash{1, 2}, trace);
  CHECK(cached.filename() == "00000000000000010000000000000002-t.json.tracedb");
  (void)cache.write(cached.filename().string(), "");
  (void)cache.write("00000000000000010000000000000002-other.json.tracedb", "");
  (void)cache.write("zz-t.json.tracedb", "");
  CHECK(index_candidates(trace, cache.path()) == std::vector<std::filesystem::path>{cached});
  const auto sidecar = directory.write("t.json.tracedb", "");
  CHECK(index_candidates(trace, cache.path()) == std::vector<std::filesystem::path>{sidecar, cached});
}

TEST_CASE("a name that is too long for a sidecar: the cache, under a part of the name") {
  const TempDirectory directory, cache;
  const std::string name(120, 'x');
  const auto short_one = directory.write(name + name.substr(0, 112), "{}");  // 232 bytes: just fits
  CHECK(new_index_path(short_one, {}) == sidecar_path(short_one));
  std::string umlauts = "xx";
  for (int i = 0; i < 120; ++i) umlauts += "\xc3\xa4";
  const auto long_one = directory.write(umlauts, "{}");
  const auto cached = new_index_path(long_one, cache.path());
  CHECK(cached.parent_path() == cache.path());
  CHECK(cached.filename().native().size() == 239);  // a whole character less than 240
  (void)cache.write(cached.filename().string(), "");
  CHECK(index_candidates(long_one, cache.path()) == std::vector<std::filesystem::path>{cached});
}

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
